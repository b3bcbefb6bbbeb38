"""Where two differ, box by box, on domains of any size.

A box on which one side has one answer is asked of the other side; what differs all over
is a piece, and all else is divided. Where that ends, the pieces hold exactly the inputs
on which the two differ. Where the budget ends first, what was found is still true. Then
the pieces are made wide, so that few boxes hold all of them.
"""

from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Meter
from nn2rules.errors import BudgetExceededError, UndecidedError
from nn2rules.questions.compare.differences import (
    Covering,
    Found,
    Pair,
    Point,
    nothing,
    ready,
)
from nn2rules.questions.compare.predictors import (
    ELSEWHERE,
    NOTHING,
    Look,
    NetworkLook,
    RulesLook,
    Side,
    is_different,
    look_of,
)
from nn2rules.rules import covered
from nn2rules.space import (
    Box,
    Boxes,
    Domain,
    Feature,
    containing,
    cut_at_ends,
    joined,
    next_number,
    number_size,
    previous_number,
    readable_inputs,
)

_HALVINGS = 8  # of what is left of a range, on the way to where it ends


class Widening:
    """Widens boxes, feature by feature, as long as both sides keep their answers."""

    def __init__(self, domain: Domain, looks: tuple[Look, Look], seed: int) -> None:
        self.domain, self.looks = domain, looks
        self.order = np.random.default_rng(seed).permutation(len(domain.features))

    def widened(self, box: Box, pair: Pair) -> Box:
        """Return a box around one, all of whose inputs have the same pair of answers.

        First features are freed altogether, then single values are added, and ranges
        are made longer.
        """
        box = box[0].copy(), box[1].copy()
        for feature in self.order.tolist():
            self._free(box, pair, feature)
        for feature in self.order.tolist():
            self._add_values(box, pair, feature)
            self._lengthen(box, pair, feature)
        return box

    def _is_pair(self, box: Box, pair: Pair) -> bool:
        both = zip(self.looks, pair, strict=True)
        return all(look.is_all(box, place) for look, place in both)

    def _free(self, box: Box, pair: Pair, feature: int) -> None:
        block, limits = self._block(feature), self.domain.limits[:, feature]
        is_range = self.domain.ranges[feature] >= 0
        if box[0][block].all() and (
            not is_range or (box[1][:, feature] == limits).all()
        ):
            return
        slab = box[0].copy(), box[1].copy()
        slab[0][block] = True if is_range else ~box[0][block]
        slab[1][:, feature] = limits
        if self._is_pair(slab, pair):
            box[0][block] = True
            box[1][:, feature] = limits

    def _add_values(self, box: Box, pair: Pair, feature: int) -> None:
        start = int(self.domain.offsets[feature])
        block, limits = self._block(feature), self.domain.limits[:, feature]
        for code in np.flatnonzero(~box[0][block]).tolist():
            slab = box[0].copy(), box[1].copy()
            slab[0][block] = False
            slab[0][start + code] = True
            slab[1][:, feature] = limits
            if self._is_pair(slab, pair):
                box[0][start + code] = True
                if start + code == self.domain.ranges[feature]:
                    box[1][:, feature] = limits

    def _lengthen(self, box: Box, pair: Pair, feature: int) -> None:
        """Move both ends of a range outwards, by ever smaller steps."""
        ranged = int(self.domain.ranges[feature])
        if ranged < 0 or not box[0][ranged]:
            return
        own = self.domain.features[feature]
        for end, step in ((0, -1), (1, 1)):
            wall = float(self.domain.limits[end, feature])
            for _ in range(_HALVINGS):
                at = float(box[1][end, feature])
                if at == wall:
                    break
                aim = at / 2 + wall / 2
                aim = roundest(aim, aim / 2 + wall / 2)
                if own.whole:
                    aim = float(np.floor(aim) if step < 0 else np.ceil(aim))
                aim = wall if aim == at else aim  # no number lies between
                slab = box[0].copy(), box[1].copy()
                slab[0][self._block(feature)] = False
                slab[0][ranged] = True
                slab[1][end, feature] = aim
                slab[1][1 - end, feature] = _next_to(own, at, step)
                if self._is_pair(slab, pair):
                    box[1][end, feature] = aim
                else:
                    wall = _next_to(own, aim, -step)

    def _block(self, feature: int) -> slice:
        return slice(
            int(self.domain.offsets[feature]), int(self.domain.offsets[feature + 1])
        )


def roundest(one: float, other: float) -> float:
    """Return a number from one to another that has few digits.

    Examples
    --------
    >>> roundest(11941.398, 12377.656), roundest(-0.126, -0.124), roundest(2.5, 2.5)
    (12000.0, -0.125, 2.5)
    """
    low, high = min(one, other), max(one, other)
    if not low < high:
        return one
    first = -int(np.floor(np.log10(max(abs(low), abs(high))))) - 1
    for digits in range(first, first + 17):
        found = round(low / 2 + high / 2, digits)
        if low <= found <= high:
            return float(found)
    return one


def few_boxes(
    widening: Widening, boxes: list[Box], pairs: list[Pair]
) -> tuple[list[Box], list[Pair]]:
    """Return few boxes that hold all of the given ones, and their pairs of answers.

    If the budget ends first, the rest stay as they are.
    """
    domain, found = widening.domain, list[Box]()
    kept: list[Pair] = []
    order = sorted(range(len(boxes)), key=lambda index: -int(boxes[index][0].sum()))
    is_spent = False
    for index in order:
        box, pair = boxes[index], pairs[index]
        if containing(domain, _stacked(domain, found), box).any():
            continue
        if not is_spent:
            try:
                box = widening.widened(box, pair)
            except BudgetExceededError:
                is_spent = True
        found.append(box)
        kept.append(pair)
    needed = _needed(domain, found, [boxes[index] for index in order])
    return [found[i] for i in needed], [kept[i] for i in needed]


def _needed(domain: Domain, found: list[Box], boxes: list[Box]) -> list[int]:
    """Return which boxes are needed to hold all that are given; the last go first."""
    if not found:
        return []
    stacked = _stacked(domain, found)
    held = np.array([containing(domain, stacked, box) for box in boxes])
    counts, needed = held.sum(axis=1), []
    for index in reversed(range(len(found))):
        own = held[:, index]
        if (counts[own] > 1).all():
            counts -= own
        else:
            needed.append(index)
    return needed[::-1]


def _stacked(domain: Domain, boxes: list[Box]) -> Boxes:
    several = [Boxes(allowed[np.newaxis], ends[np.newaxis]) for allowed, ends in boxes]
    return joined(domain, several)


def _next_to(feature: Feature, number: float, step: int) -> float:
    """Return the number of a range next above one, or below if `step` is negative."""
    following = next_number if step > 0 else previous_number
    return float(following(number, whole=feature.whole))


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
    cut, allowed = cut_at_ends(domain, _stacked(domain, boxes))
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
