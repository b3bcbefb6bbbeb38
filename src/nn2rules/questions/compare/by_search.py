"""Where two sides differ, box by box, on domains of any size.

A box on which one side has one answer is asked of the other side; what differs all over
is a piece, and all else is divided. Where that ends, the pieces hold exactly the inputs
on which the two differ. Where the budget ends first, what was found is still true.
"""

from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Meter
from nn2rules.errors import BudgetExceededError, UndecidedError
from nn2rules.questions.compare.found import (
    Covering,
    Found,
    Pair,
    Point,
    nothing,
    ready,
)
from nn2rules.questions.compare.looking import (
    ELSEWHERE,
    Look,
    NetworkLook,
    RulesLook,
    look_of,
)
from nn2rules.questions.compare.sides import NOTHING, Side, is_different
from nn2rules.questions.compare.widening import Widening, few_boxes
from nn2rules.rules import covered
from nn2rules.space import (
    Box,
    Boxes,
    Domain,
    cut_at_ends,
    no_boxes,
    number_size,
    readable_inputs,
)

_DRAWN = 4096  # inputs that are tried before anything else


class Seeds:
    """Inputs on which two sides differ, and what they answer there."""

    def __init__(self, domain: Domain, sides: tuple[Side, Side], skipped: int) -> None:
        self.domain, self.sides, self.skipped = domain, sides, skipped
        self.points: list[Point] = []
        self.pairs: list[Pair] = []

    @property
    def first(self) -> Point | None:
        """One of them, of those that were tried last."""
        return self.points[-1] if self.points else None

    def try_inputs(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64] | None
    ) -> None:
        """Keep those of some inputs on which the two differ."""
        try:
            old, new = (side.answers(codes, numbers) for side in self.sides)
        except UndecidedError:  # no arithmetic tells the answer of one of them
            return
        for row in np.flatnonzero(is_different(old, new, self.skipped))[::-1].tolist():
            own = None if numbers is None else numbers[row]
            self.points.append((codes[row], own))
            self.pairs.append((int(old[row]), int(new[row])))

    def boxes(self) -> list[tuple[Box, Pair]]:
        """Return them as boxes, those that came last first."""
        found = []
        for (codes, numbers), pair in zip(self.points, self.pairs, strict=True):
            allowed = np.zeros(int(self.domain.offsets[-1]), dtype=np.bool_)
            allowed[self.domain.offsets[:-1] + codes] = True
            ends = self.domain.limits.copy()
            if numbers is not None:
                is_number = self.domain.offsets[:-1] + codes == self.domain.ranges
                ends[:, is_number] = numbers[is_number]
            found.append(((allowed, ends), pair))
        return found[::-1]


_WIDENING = 0.4  # of the time is left for it
_ROWS, _PIECES = 200, 200  # so many are widened where not all is known


@dataclass(eq=False)
class Pieces:
    """Boxes on which two sides differ, found so far."""

    boxes: list[Box] = field(default_factory=list)
    pairs: list[Pair] = field(default_factory=list)
    example: Point | None = None
    is_complete: bool = True


def compare_by_search(
    domain: Domain,
    sides: tuple[Side, Side],
    meter: Meter,
    *,
    seed: int,
    rows: Point | None,
    skipped: int = NOTHING,
) -> Found:
    """Compare two sides on a domain of any size; `rows` are inputs to begin with.

    Inputs to which one of them answers `skipped` are left out.
    """
    pieces, most = Pieces(), meter.budget.boxes
    seeds = Seeds(domain, sides, skipped)
    drawn = readable_inputs(domain, _DRAWN, np.random.default_rng(seed))
    seeds.try_inputs(drawn.codes, drawn.numbers if domain.has_ranges else None)
    if rows is not None:
        seeds.try_inputs(*rows)
    pieces.example = seeds.first
    try:
        looks = look_of(sides[0], meter), look_of(sides[1], meter)
    except BudgetExceededError:
        pieces.is_complete = False
        found = nothing(domain, None, "search")
        return found if seeds.first is None else _found(domain, pieces, [], [])
    try:
        with meter.leaving(_WIDENING):
            Exploring(domain, looks, pieces, meter, skipped).explore()
    except BudgetExceededError:
        pieces.is_complete = False
    if pieces.example is None:
        return nothing(domain, True if pieces.is_complete else None, "search")
    for look in looks:
        look.meter = meter.part(most or 1 << 40)
    widening = Widening(domain, looks, seed)
    if pieces.is_complete:
        boxes, pairs = few_boxes(widening, pieces.boxes, pieces.pairs)
    else:
        boxes, pairs = _some(widening, pieces, seeds)
    return _found(domain, pieces, boxes, pairs)


def _found(
    domain: Domain, pieces: Pieces, boxes: list[Box], pairs: list[Pair]
) -> Found:
    held = Boxes(np.array([box for box, _ in boxes]), np.array([e for _, e in boxes]))
    if not boxes:
        held = no_boxes(domain)
    cut, allowed = cut_at_ends(domain, held)
    sizes = [number_size(domain, box) for box in pieces.boxes]
    counts: dict[Pair, int] | None = None
    if None not in sizes:
        counts = dict.fromkeys(sorted(set(pieces.pairs)), 0)
        for pair, size in zip(pieces.pairs, sizes, strict=True):
            counts[pair] += size or 0
    at_least = _least(counts, cut, allowed)
    covering = Covering(cut, allowed, pairs, pieces.is_complete)
    return Found(
        False,
        "search",
        counts if pieces.is_complete else None,
        at_least,
        pieces.example,
        partial(ready, covering),
    )


def _least(
    counts: dict[Pair, int] | None, domain: Domain, boxes: NDArray[np.bool_]
) -> int:
    """Return the minimum number of inputs that differ: in the pieces, or in the rules.

    Rules are wider than the pieces from which they were grown, and may overlap.
    """
    if counts is None or domain.n_numbers is None:
        return 1
    part = covered(domain, boxes)  # in units of its own, which divide the inputs evenly
    in_rules = part.lower * domain.n_numbers // part.total
    return max(1, sum(counts.values()), in_rules)


def _some(
    widening: Widening, pieces: Pieces, seeds: Seeds
) -> tuple[list[Box], list[Pair]]:
    """Widen differing rows, and the largest pieces, where not all is known."""
    order = sorted(
        range(len(pieces.boxes)),
        key=lambda index: -float(pieces.boxes[index][0].sum()),
    )
    starts = [*seeds.boxes()[:_ROWS]]
    starts += [(pieces.boxes[i], pieces.pairs[i]) for i in order[:_PIECES]]
    return few_boxes(widening, [box for box, _ in starts], [p for _, p in starts])


class Exploring:
    """Divides the domain until each part is the same on both sides, or different."""

    def __init__(
        self,
        domain: Domain,
        looks: tuple[Look, Look],
        pieces: Pieces,
        meter: Meter,
        skipped: int,
    ) -> None:
        self.domain, self.pieces, self.meter = domain, pieces, meter
        self.skipped = skipped
        # Rules are looked at first, for they answer at once.
        self.is_turned = isinstance(looks[1], RulesLook)
        self.first, self.second = looks[::-1] if self.is_turned else looks
        self.everything = np.ones(int(domain.offsets[-1]), dtype=np.bool_)

    def explore(self) -> None:
        """Find all pieces."""
        whole = self.everything, self.domain.limits
        first, second = self.first, self.second
        if not isinstance(first, RulesLook) or not isinstance(second, NetworkLook):
            self._divide(whole)
            return
        n_rules = len(first.side.places)
        for rule in range(n_rules + 1):
            if first.answer(rule) == self.skipped:
                continue
            roots = [whole]
            if rule < n_rules:
                own = np.flatnonzero(first.of_rule == rule)
                roots = [(first.parts.allowed[i], first.parts.ends[i]) for i in own]
            before = int((first.of_rule < rule).sum())
            for root in roots:
                if not self._is_same(first, second, rule, root, before):
                    first.only = rule
                    self._divide(root)
        first.only = None

    def _is_same(
        self, rules: RulesLook, network: NetworkLook, rule: int, root: Box, before: int
    ) -> bool:
        """Tell whether a network says what a rule does, where none before it holds."""
        place = rules.answer(rule)
        if place not in network.places:
            return False
        above = Boxes(rules.parts.allowed[:before], rules.parts.ends[:before])
        index = network.places.index(place)
        try:
            answer = network.oracle.ask(root[0], index, ends=root[1], ignoring=above)
        except (BudgetExceededError, UndecidedError):
            self.meter.spend()  # it may be no more than this one question
            return False
        if not answer.proved:
            self._note(answer.counterexample, answer.numbers)
        return answer.proved

    def _divide(self, root: Box) -> None:
        waiting: list[tuple[Box, int | None]] = [(root, None)]
        while waiting:
            self.meter.spend(1)
            box, known = waiting.pop()
            if known is None:
                known, parts = self.first.look(box)
                if known is None:
                    self.pieces.is_complete &= bool(parts)
                    waiting += [(part, None) for part in parts]
                    continue
            is_left_out = known in (ELSEWHERE, self.skipped)
            if is_left_out or self._is_equal(box, known):
                continue
            other, parts = self.second.look(box)
            if other is None:
                self.pieces.is_complete &= bool(parts)
                waiting += [(part, known) for part in parts]
            elif other not in (known, self.skipped):
                self._add(box, known, other)

    def _is_equal(self, box: Box, known: int) -> bool:
        """Tell whether a network answers as is known of the other side on a box."""
        second = self.second
        if not isinstance(second, NetworkLook) or known not in second.places:
            return False
        index = second.places.index(known)
        try:
            answer = second.oracle.ask(box[0], index, ends=box[1])
        except (BudgetExceededError, UndecidedError):
            self.meter.spend()
            return False
        if not answer.proved:
            self._note(answer.counterexample, answer.numbers)
        return answer.proved

    def _note(
        self, codes: NDArray[np.int64] | None, numbers: NDArray[np.float64] | None
    ) -> None:
        if self.pieces.example is None and codes is not None:
            self.pieces.example = codes, numbers if self.domain.has_ranges else None

    def _add(self, box: Box, first: int, second: int) -> None:
        pair = (second, first) if self.is_turned else (first, second)
        self.pieces.boxes.append(box)
        self.pieces.pairs.append(pair)
        if self.pieces.example is None:
            parts = np.split(box[0], self.domain.offsets[1:-1])
            codes = np.array([int(np.argmax(part)) for part in parts])
            is_number = self.domain.offsets[:-1] + codes == self.domain.ranges
            self._note(codes, np.where(is_number, box[1][0], 1.0))
