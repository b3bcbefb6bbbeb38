"""Counterfactuals of few features, of which each can be tried."""

from collections.abc import Sequence
from itertools import combinations, product
from math import comb

import numpy as np

from nn2rules.engine import DONT_CARE, Point
from nn2rules.errors import UndecidedError
from nn2rules.questions.explain.case import Case, is_changed
from nn2rules.questions.explain.change_costs import Ladder
from nn2rules.space import Boxes, inside

_TRIED, _ASKED = 4000, 100
"""The most inputs tried, and boxes asked about, for changes of one size."""


class SmallChanges:
    """Changes of few features, each tried: listed values alone, and boxes of numbers.

    Attributes
    ----------
    size : int
        The number of features that change.
    found : list of Point
        All changes that flip the prediction and move no number of a range.
    flipping : list of (features, Point)
        Features, some of them ranges, that flip it together, and an example.
    """

    def __init__(
        self, case: Case, ladders: Sequence[Ladder], forbidden: Boxes | None
    ) -> None:
        self.case, self.forbidden, self.size = case, forbidden, 0
        self.found: list[Point] = []
        self.flipping: list[tuple[tuple[int, ...], Point]] = []
        self._ladders = ladders
        self._moving = [i for i, ladder in enumerate(ladders) if ladder.costs]
        options = {i: ladders[i].options(1) for i in self._moving}
        self._single = {
            i: [(int(np.argmax(b.values)), b.low) for b in blocks]
            for i, blocks in options.items()
            if all(block.low == block.high for block in blocks)
        }

    def take_next(self) -> bool:
        """Try all changes of one more feature; False if too many, or undecided."""
        self.size += 1
        self.found, self.flipping = [], []
        counts = [len(options) for options in self._single.values()]
        n_boxes = comb(len(self._moving), self.size) - comb(len(counts), self.size)
        is_few = _choices(counts, self.size) <= _TRIED and n_boxes <= _ASKED
        if self.size > len(self._moving) or not is_few:
            return False
        return self._try_listed() and self._ask_others()

    def leave_out(self, features: set[int]) -> None:
        """Stop trying changes of some features."""
        self._moving = [index for index in self._moving if index not in features]
        for index in features:
            self._single.pop(index, None)

    def _try_listed(self) -> bool:
        case = self.case
        case.judge.meter.spend()
        picks = [
            list(zip(some, chosen, strict=True))
            for some in combinations(self._single, self.size)
            for chosen in product(*(self._single[i] for i in some))
        ]
        codes = np.tile(case.point.codes, (len(picks), 1))
        numbers = np.tile(case.point.numbers, (len(picks), 1))
        for row, pick in enumerate(picks):
            for index, (code, number) in pick:
                codes[row, index], numbers[row, index] = code, number
        try:
            classes = case.judge.classes_of(codes, numbers)
        except UndecidedError:
            return False
        is_flipped = (classes != case.class_index) & (classes != DONT_CARE)
        if self.forbidden is not None:
            is_flipped &= ~inside(case.domain, self.forbidden, codes, numbers)
        places = np.flatnonzero(is_flipped).tolist()
        self.found = [Point(codes[i], numbers[i]) for i in places]
        return True

    def _ask_others(self) -> bool:
        for some in combinations(self._moving, self.size):
            if all(index in self._single for index in some):
                continue
            blocks = {index: self._ladders[index].block(1) for index in some}
            asked = self.case.ask(blocks, self.forbidden)
            if asked.status == "undecided":
                return False
            if asked.point is not None:
                self.flipping.append((some, asked.point))
        return True


def _choices(counts: Sequence[int], size: int) -> int:
    """Return the number of ways to choose `size` features, and a value of each."""
    ways = [1] + [0] * size
    for number in counts:
        for place in range(size, 0, -1):
            ways[place] += number * ways[place - 1]
    return ways[size]


def flipping_sets(small: SmallChanges, most: int) -> list[tuple[int, ...]]:
    """Return minimal sets of at most `most` features whose change flips the class."""
    sets_found: list[tuple[int, ...]] = []
    while small.size < most and small.take_next():
        sets = {some for some, _ in small.flipping}
        for point in small.found:
            changed = is_changed(small.case, point.codes, point.numbers)
            sets.add(tuple(np.flatnonzero(changed).tolist()))
        is_new = [s for s in sorted(sets) if not any({*k} <= {*s} for k in sets_found)]
        sets_found += is_new
        small.leave_out({some[0] for some in is_new if len(some) == 1})
    return sets_found
