"""Reasons: features whose values alone force the row's class.

A set of features is *sufficient* if every input that has the row's values there has
the row's class. It is a *reason* if no feature can be left out; the literature also
calls it a prime implicant or an abductive explanation. A sufficient set has a feature
in common with every set of features whose change flips the prediction. So the smallest
reason is a smallest hitting set of these, which are found one by one, when a guess is
refuted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor

import numpy as np

from nn2rules.engine import Point
from nn2rules.errors import BudgetExceededError
from nn2rules.questions.explain.case import Block, Case, is_changed, is_plain
from nn2rules.questions.explain.change_costs import Ladder, decimal
from nn2rules.questions.explain.hitting_sets import Demands
from nn2rules.questions.explain.small_changes import SmallChanges, flipping_sets
from nn2rules.space import Range


def widened(
    case: Case, reason: Sequence[int], steps: Mapping[int, float]
) -> tuple[dict[int, Block], bool]:
    """Return what a reason allows each feature, and whether it is as wide as can be."""
    blocks = {index: case.row_block(index) for index in reason}
    wide = _Widening(case, blocks)
    try:
        for index in sorted(reason, key=lambda i: not case.domain.features[i].ordered):
            if case.is_number(index):
                wide.numbers(index, steps[index])
            wide.values(index)
    except BudgetExceededError:
        wide.is_whole = False
    return blocks, wide.is_whole


class _Widening:
    def __init__(self, case: Case, blocks: dict[int, Block]) -> None:
        self.case, self.blocks, self.is_whole = case, blocks, True
        n_features = len(case.domain.features)
        self.free = {
            i: case.full_block(i) for i in range(n_features) if i not in blocks
        }

    def _holds(self, index: int, slab: Block) -> bool:
        """Tell whether the reason still holds where a feature is in a slab."""
        asked = self.case.ask({**self.free, **self.blocks, index: slab})
        self.is_whole = self.is_whole and asked.status != "undecided"
        return asked.status == "proved"

    def values(self, index: int) -> None:
        """Add listed values: ordered ones outwards, others one at a time."""
        feature, own_block = self.case.domain.features[index], self.blocks[index]
        code = int(self.case.point.codes[index])
        codes = [c for c in range(len(feature)) if c != code]
        if isinstance(feature, Range):
            codes = [c for c in codes if c]
            if code:
                self._add_range(index)
        plain = [c for c in codes if is_plain(feature, feature.values[c])]
        is_range = feature.ordered and not isinstance(feature, Range)
        is_range = is_range and is_plain(feature, feature.values[code])
        if is_range:
            order = sorted(feature.places, key=lambda c: feature.places[c])
            at = order.index(code)
            for run in (order[at + 1 :], order[:at][::-1]):
                for other in run:
                    if not self._add(index, own_block, other):
                        break
        for other in codes:
            if not is_range or other not in plain:
                self._add(index, own_block, other)

    def _add(self, index: int, own_block: Block, code: int) -> bool:
        slab = np.zeros_like(own_block.values)
        slab[code] = True
        is_true = self._holds(index, Block(slab, 1.0, 1.0))
        if is_true:
            values = self.blocks[index].values.copy()
            values[code] = True
            self.blocks[index] = self.blocks[index]._replace(values=values)
        return is_true

    def _add_range(self, index: int) -> None:
        """Add all numbers of a range, or none, to a special value."""
        whole_range, block = self.case.full_block(index), self.blocks[index]
        slab, values = np.zeros_like(block.values), block.values.copy()
        slab[0] = values[0] = True
        if self._holds(index, whole_range._replace(values=slab)):
            self.blocks[index] = whole_range._replace(values=values)

    def numbers(self, index: int, step: float) -> None:
        """Move both ends of a range outwards, to multiples of a step."""
        feature = self.case.domain.features[index]
        assert isinstance(feature, Range), "asked only of ranges"
        for end, is_up in zip(reversed(feature.limits), (True, False), strict=True):
            self._move(index, decimal(step), float(end), is_up=is_up)

    def _move(self, index: int, step: Fraction, end: float, *, is_up: bool) -> None:
        """Move one end as far as possible, by bisection."""
        block = self.blocks[index]
        start = decimal(block.high if is_up else block.low)
        sign = 1 if is_up else -1
        first = (floor(start / step) + 1 if is_up else ceil(start / step) - 1) * step
        most = max(0, floor((decimal(end) - first) * sign / step) + 1)

        def at(place: int) -> float:
            if place == most:
                return end
            return float(first + sign * place * step)

        low, high, trial = -1, most, most
        while low < high:
            to = at(trial)
            own_number = float(start)
            slab = block._replace(low=min(own_number, to), high=max(own_number, to))
            if self._holds(index, slab):
                low = trial
            else:
                high = trial - 1
            trial = (low + high + 1) // 2
        if low >= 0:
            to = at(low)
            low_end, high_end = (block.low, to) if is_up else (to, block.high)
            self.blocks[index] = Block(block.values, low_end, high_end)


_FIRST = 2
"""The size of the sets of features that flip the prediction, all found first."""


@dataclass(slots=True)
class Reasons:
    """The reasons found so far, and what is proved of them.

    Attributes
    ----------
    found : list of tuples of features
        Each is sufficient, regardless of what is undecided.
    is_minimal : bool
        No feature can be left out of any of them.
    is_smallest : bool
        No reason has fewer features than the first; they are in order of size.
    is_every : bool
        There are no other reasons.
    at_least : int
        No reason has fewer features.
    """

    found: list[tuple[int, ...]] = field(default_factory=list)
    is_minimal: bool = True
    is_smallest: bool = False
    is_every: bool = False
    at_least: int = 0


def find_reasons(
    case: Case,
    order: Sequence[int],
    number: int,
    *,
    smallest: bool,
    ladders: Sequence[Ladder],
) -> Reasons:
    """Look for `number` reasons, the smallest first if asked for.

    Parameters
    ----------
    case : Case
    order : sequence of int
        All features, starting with those that seem to matter least.
    ladders : sequence of Ladder
        Ladders that allow every change, at a cost of 1 for each feature.
    """
    reasons = Reasons()
    demands = Demands([[1]] * len(order), case.judge.meter)
    first = _minimal(case, range(len(order)), order, reasons)
    if not smallest:
        _add(reasons, demands, first)
    try:
        if smallest or number > 1:
            for flipping in flipping_sets(SmallChanges(case, ladders, None), _FIRST):
                demands.add(dict.fromkeys(flipping, 1))
        while len(reasons.found) < number and (smallest or reasons.is_minimal):
            reason = _next_reason(
                case, order, demands, reasons, first if smallest else None
            )
            if reason is None:
                break
            _add(reasons, demands, reason)
    except BudgetExceededError:
        pass  # what was found so far is true
    if not reasons.found:
        reasons.found = [first]
    elif smallest:  # no feature can be left out of a smallest set
        reasons.is_minimal = True
    reasons.is_smallest = smallest and len(reasons.found[0]) <= reasons.at_least
    return reasons


def _add(reasons: Reasons, demands: Demands, reason: tuple[int, ...]) -> None:
    reasons.found.append(reason)
    demands.block(tuple(int(f in reason) for f in range(len(demands.costs))))


def _next_reason(
    case: Case,
    order: Sequence[int],
    demands: Demands,
    reasons: Reasons,
    first: tuple[int, ...] | None,
) -> tuple[int, ...] | None:
    """Return one more reason; None if there is none, or none can be proved.

    If the smallest are wanted, `first` is a known reason. It is returned once no reason
    can be smaller.
    """
    while True:
        levels = demands.cheapest()
        if levels is None:
            reasons.is_every = True
            return None
        guess = tuple(feature for feature, level in enumerate(levels) if level)
        if not reasons.found:
            reasons.at_least = len(guess)
            if first is not None and len(first) == len(guess):
                return first
        asked = case.ask({f: case.full_block(f) for f in order if f not in guess})
        if asked.point is not None:
            needed = _differing(case, asked.point, order)
            demands.add(dict.fromkeys(needed, 1))
        elif asked.status == "proved":
            is_smallest = first is not None
            return guess if is_smallest else _minimal(case, guess, order, reasons)
        else:
            return None


def _minimal(
    case: Case, sufficient: Sequence[int], order: Sequence[int], reasons: Reasons
) -> tuple[int, ...]:
    """Remove features from a sufficient set, one by one, while it stays sufficient."""
    kept = set(sufficient)
    try:
        for feature in order:
            if feature in kept:
                free = [f for f in order if f not in kept or f == feature]
                asked = case.ask({f: case.full_block(f) for f in free})
                if asked.status == "proved":
                    kept.remove(feature)
                elif asked.status == "undecided":
                    reasons.is_minimal = False
    except BudgetExceededError:
        reasons.is_minimal = False
    return tuple(sorted(kept))


def _differing(case: Case, flipped: Point, order: Sequence[int]) -> list[int]:
    """Return features of an input that must differ from the row to flip the prediction.

    As many features as possible are reset at once, starting with those that matter
    least; the next one then has to differ.
    """
    is_other = is_changed(case, flipped.codes, flipped.numbers)
    left, kept = [feature for feature in order if is_other[feature]], []
    row, codes, numbers = case.point, flipped.codes, flipped.numbers
    while left:
        tried = np.tile(codes, (len(left), 1)), np.tile(numbers, (len(left), 1))
        for place, feature in enumerate(left):
            tried[0][place:, feature] = row.codes[feature]
            tried[1][place:, feature] = row.numbers[feature]
        places = np.flatnonzero(case.is_flipped(*tried))
        n_back = int(places[-1]) + 1 if len(places) else 0
        if n_back:
            codes, numbers = tried[0][n_back - 1], tried[1][n_back - 1]
        kept += left[n_back : n_back + 1]
        left = left[n_back + 1 :]
    return kept
