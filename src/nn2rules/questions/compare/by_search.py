"""Compare two models box by box, on domains of any size.

Where one model makes a single prediction on a box, the other one is asked about it. A
box on which they differ everywhere is a piece; other boxes are divided. Once that ends,
the pieces contain exactly the inputs on which the two differ. If the budget ends first,
the pieces found are still correct. Finally, pieces are widened, so that few boxes
contain all of them.
"""

from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Meter
from nn2rules.errors import BudgetExceededError, UndecidedError
from nn2rules.questions.compare.differences import (
    DifferenceBoxes,
    EngineResult,
    Pair,
    Point,
    no_difference,
    ready,
)
from nn2rules.questions.compare.predictors import (
    NEVER,
    OTHER_RULE,
    BoxPredictor,
    NetworkBoxPredictor,
    Predictor,
    RulesBoxPredictor,
    box_predictor_of,
    is_different,
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

_HALVINGS = 8  # steps in which the end of a range is searched


class Widening:
    """Widens boxes, feature by feature, while both predictions stay the same."""

    def __init__(
        self,
        domain: Domain,
        box_predictors: tuple[BoxPredictor, BoxPredictor],
        seed: int,
    ) -> None:
        self.domain, self.box_predictors = domain, box_predictors
        self.order = np.random.default_rng(seed).permutation(len(domain.features))

    def widened(self, box: Box, pair: Pair) -> Box:
        """Return a larger box whose inputs all have the same pair of predictions.

        Features are freed entirely if possible; then single values are added, and
        ranges are extended.
        """
        box = box[0].copy(), box[1].copy()
        for feature in self.order.tolist():
            self._free(box, pair, feature)
        for feature in self.order.tolist():
            self._add_values(box, pair, feature)
            self._lengthen(box, pair, feature)
        return box

    def _is_pair(self, box: Box, pair: Pair) -> bool:
        both = zip(self.box_predictors, pair, strict=True)
        return all(predict_box.is_all(box, place) for predict_box, place in both)

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
        """Move both ends of a range outwards, in smaller and smaller steps."""
        ranged = int(self.domain.ranges[feature])
        if ranged < 0 or not box[0][ranged]:
            return
        feature_of_range = self.domain.features[feature]
        for end, step in ((0, -1), (1, 1)):
            wall = float(self.domain.limits[end, feature])
            for _ in range(_HALVINGS):
                at = float(box[1][end, feature])
                if at == wall:
                    break
                aim = at / 2 + wall / 2
                aim = roundest(aim, aim / 2 + wall / 2)
                if feature_of_range.whole:
                    aim = float(np.floor(aim) if step < 0 else np.ceil(aim))
                aim = wall if aim == at else aim  # there is no number in between
                slab = box[0].copy(), box[1].copy()
                slab[0][self._block(feature)] = False
                slab[0][ranged] = True
                slab[1][end, feature] = aim
                slab[1][1 - end, feature] = _next_to(feature_of_range, at, step)
                if self._is_pair(slab, pair):
                    box[1][end, feature] = aim
                else:
                    wall = _next_to(feature_of_range, aim, -step)

    def _block(self, feature: int) -> slice:
        return slice(
            int(self.domain.offsets[feature]), int(self.domain.offsets[feature + 1])
        )


def roundest(one: float, other: float) -> float:
    """Return a number between two numbers that has few digits.

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
        candidate = round(low / 2 + high / 2, digits)
        if low <= candidate <= high:
            return float(candidate)
    return one


def few_boxes(
    widening: Widening, boxes: list[Box], pairs: list[Pair]
) -> tuple[list[Box], list[Pair]]:
    """Return few boxes that contain all of these, and their pairs of predictions.

    If the budget ends first, the remaining boxes are not widened.
    """
    domain, widened = widening.domain, list[Box]()
    kept: list[Pair] = []
    order = sorted(range(len(boxes)), key=lambda index: -int(boxes[index][0].sum()))
    is_spent = False
    for index in order:
        box, pair = boxes[index], pairs[index]
        if containing(domain, _stacked(domain, widened), box).any():
            continue
        if not is_spent:
            try:
                box = widening.widened(box, pair)
            except BudgetExceededError:
                is_spent = True
        widened.append(box)
        kept.append(pair)
    needed = _needed(domain, widened, [boxes[index] for index in order])
    return [widened[i] for i in needed], [kept[i] for i in needed]


def _needed(domain: Domain, widened: list[Box], boxes: list[Box]) -> list[int]:
    """Return which boxes are needed to contain all; the last are dropped first."""
    if not widened:
        return []
    stacked = _stacked(domain, widened)
    is_contained = np.array([containing(domain, stacked, box) for box in boxes])
    counts, needed = is_contained.sum(axis=1), []
    for index in reversed(range(len(widened))):
        is_inside = is_contained[:, index]
        if (counts[is_inside] > 1).all():
            counts -= is_inside
        else:
            needed.append(index)
    return needed[::-1]


def _stacked(domain: Domain, boxes: list[Box]) -> Boxes:
    several = [Boxes(allowed[np.newaxis], ends[np.newaxis]) for allowed, ends in boxes]
    return joined(domain, several)


def _next_to(feature: Feature, number: float, step: int) -> float:
    """Return the next number above in a range, or below if `step` is negative."""
    following = next_number if step > 0 else previous_number
    return float(following(number, whole=feature.whole))


_DRAWN = 4096  # random inputs that are tried first


class DifferingInputs:
    """Inputs on which the two differ, and both predictions there."""

    def __init__(
        self, domain: Domain, predictors: tuple[Predictor, Predictor], skipped: int
    ) -> None:
        self.domain, self.predictors, self.skipped = domain, predictors, skipped
        self.points: list[Point] = []
        self.pairs: list[Pair] = []

    @property
    def first(self) -> Point | None:
        """One of the inputs that were tried last."""
        return self.points[-1] if self.points else None

    def try_inputs(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64] | None
    ) -> None:
        """Keep the inputs on which the two differ."""
        try:
            old, new = (one.predict(codes, numbers) for one in self.predictors)
        except UndecidedError:  # no arithmetic can predict one of them
            return
        for row in np.flatnonzero(is_different(old, new, self.skipped))[::-1].tolist():
            row_numbers = None if numbers is None else numbers[row]
            self.points.append((codes[row], row_numbers))
            self.pairs.append((int(old[row]), int(new[row])))

    def boxes(self) -> list[tuple[Box, Pair]]:
        """Return them as boxes, the last ones first."""
        boxes = []
        for (codes, numbers), pair in zip(self.points, self.pairs, strict=True):
            allowed = np.zeros(int(self.domain.offsets[-1]), dtype=np.bool_)
            allowed[self.domain.offsets[:-1] + codes] = True
            ends = self.domain.limits.copy()
            if numbers is not None:
                is_number = self.domain.offsets[:-1] + codes == self.domain.ranges
                ends[:, is_number] = numbers[is_number]
            boxes.append(((allowed, ends), pair))
        return boxes[::-1]


_WIDENING = 0.4  # share of the time that is kept for it

_ROWS, _PIECES = 200, 200  # most that are widened if pieces are missing


@dataclass(eq=False)
class Pieces:
    """The boxes found so far on which the two differ."""

    boxes: list[Box] = field(default_factory=list)
    pairs: list[Pair] = field(default_factory=list)
    example: Point | None = None
    is_complete: bool = True


def compare_by_search(
    domain: Domain,
    predictors: tuple[Predictor, Predictor],
    meter: Meter,
    *,
    seed: int,
    rows: Point | None,
    skipped: int = NEVER,
) -> EngineResult:
    """Compare two predictors on a domain of any size; `rows` are tried first.

    Inputs for which one of them predicts `skipped` are left out.
    """
    pieces, most = Pieces(), meter.budget.boxes
    differing = DifferingInputs(domain, predictors, skipped)
    drawn = readable_inputs(domain, _DRAWN, np.random.default_rng(seed))
    differing.try_inputs(drawn.codes, drawn.numbers if domain.has_ranges else None)
    if rows is not None:
        differing.try_inputs(*rows)
    pieces.example = differing.first
    try:
        box_predictors = (
            box_predictor_of(predictors[0], meter),
            box_predictor_of(predictors[1], meter),
        )
    except BudgetExceededError:
        pieces.is_complete = False
        result = no_difference(domain, None, "search")
        return result if differing.first is None else _found(domain, pieces, [], [])
    try:
        with meter.leaving(_WIDENING):
            BoxSearch(domain, box_predictors, pieces, meter, skipped).explore()
    except BudgetExceededError:
        pieces.is_complete = False
    if pieces.example is None:
        return no_difference(domain, True if pieces.is_complete else None, "search")
    for predict_box in box_predictors:
        predict_box.meter = meter.part(most or 1 << 40)
    widening = Widening(domain, box_predictors, seed)
    if pieces.is_complete:
        boxes, pairs = few_boxes(widening, pieces.boxes, pieces.pairs)
    else:
        boxes, pairs = _widened_sample(widening, pieces, differing)
    return _found(domain, pieces, boxes, pairs)


def _found(
    domain: Domain, pieces: Pieces, boxes: list[Box], pairs: list[Pair]
) -> EngineResult:
    cut, allowed = cut_at_ends(domain, _stacked(domain, boxes))
    sizes = [number_size(domain, box) for box in pieces.boxes]
    counts: dict[Pair, int] | None = None
    if None not in sizes:
        counts = dict.fromkeys(sorted(set(pieces.pairs)), 0)
        for pair, size in zip(pieces.pairs, sizes, strict=True):
            counts[pair] += size or 0
    at_least = _least(counts, cut, allowed)
    covering = DifferenceBoxes(cut, allowed, pairs, pieces.is_complete)
    return EngineResult(
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

    Rules are wider than the pieces they were grown from, and may overlap.
    """
    if counts is None or domain.n_numbers is None:
        return 1
    part = covered(domain, boxes)  # in units that divide the inputs evenly
    in_rules = part.lower * domain.n_numbers // part.total
    return max(1, sum(counts.values()), in_rules)


def _widened_sample(
    widening: Widening, pieces: Pieces, differing: DifferingInputs
) -> tuple[list[Box], list[Pair]]:
    """Widen differing rows and the largest pieces, if pieces are missing."""
    order = sorted(
        range(len(pieces.boxes)),
        key=lambda index: -float(pieces.boxes[index][0].sum()),
    )
    starts = [*differing.boxes()[:_ROWS]]
    starts += [(pieces.boxes[i], pieces.pairs[i]) for i in order[:_PIECES]]
    return few_boxes(widening, [box for box, _ in starts], [p for _, p in starts])


class BoxSearch:
    """Divides the domain until each part is equal for both, or different."""

    def __init__(
        self,
        domain: Domain,
        box_predictors: tuple[BoxPredictor, BoxPredictor],
        pieces: Pieces,
        meter: Meter,
        skipped: int,
    ) -> None:
        self.domain, self.pieces, self.meter = domain, pieces, meter
        self.skipped = skipped
        # Rules come first, because they are fast.
        self.is_reversed = isinstance(box_predictors[1], RulesBoxPredictor)
        self.first, self.second = (
            box_predictors[::-1] if self.is_reversed else box_predictors
        )
        self.everything = np.ones(int(domain.offsets[-1]), dtype=np.bool_)

    def explore(self) -> None:
        """Find all pieces."""
        domain_box = self.everything, self.domain.limits
        first, second = self.first, self.second
        if not isinstance(first, RulesBoxPredictor) or not isinstance(
            second, NetworkBoxPredictor
        ):
            self._divide(domain_box)
            return
        n_rules = len(first.predictor.positions)
        for rule in range(n_rules + 1):
            if first.prediction_of(rule) == self.skipped:
                continue
            roots = [domain_box]
            if rule < n_rules:
                parts = np.flatnonzero(first.of_rule == rule)
                roots = [(first.parts.allowed[i], first.parts.ends[i]) for i in parts]
            before = int((first.of_rule < rule).sum())
            for root in roots:
                if not self._is_same(first, second, rule, root, before):
                    first.only = rule
                    self._divide(root)
        first.only = None

    def _is_same(
        self,
        rules: RulesBoxPredictor,
        network: NetworkBoxPredictor,
        rule: int,
        root: Box,
        before: int,
    ) -> bool:
        """Tell whether a network agrees with a rule, where no rule before it covers."""
        place = rules.prediction_of(rule)
        if place not in network.positions:
            return False
        above = Boxes(rules.parts.allowed[:before], rules.parts.ends[:before])
        index = network.positions.index(place)
        try:
            answer = network.oracle.ask(root[0], index, ends=root[1], ignoring=above)
        except (BudgetExceededError, UndecidedError):
            self.meter.spend()  # raises if the whole budget is spent
            return False
        if not answer.proved:
            self._note(answer.counterexample, answer.numbers)
        return answer.proved

    def _divide(self, root: Box) -> None:
        waiting: list[tuple[Box, int | None]] = [(root, None)]
        while waiting:
            self.meter.spend(1)
            box, first_class = waiting.pop()
            if first_class is None:
                first_class, parts = self.first.predict_box(box)
                if first_class is None:
                    self.pieces.is_complete &= bool(parts)
                    waiting += [(part, None) for part in parts]
                    continue
            is_left_out = first_class in (OTHER_RULE, self.skipped)
            if is_left_out or self._is_equal(box, first_class):
                continue
            second_class, parts = self.second.predict_box(box)
            if second_class is None:
                self.pieces.is_complete &= bool(parts)
                waiting += [(part, first_class) for part in parts]
            elif second_class not in (first_class, self.skipped):
                self._add(box, first_class, second_class)

    def _is_equal(self, box: Box, expected: int) -> bool:
        """Tell whether a network predicts what the other one does on a box."""
        second = self.second
        if (
            not isinstance(second, NetworkBoxPredictor)
            or expected not in second.positions
        ):
            return False
        index = second.positions.index(expected)
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
        pair = (second, first) if self.is_reversed else (first, second)
        self.pieces.boxes.append(box)
        self.pieces.pairs.append(pair)
        if self.pieces.example is None:
            parts = np.split(box[0], self.domain.offsets[1:-1])
            codes = np.array([int(np.argmax(part)) for part in parts])
            is_number = self.domain.offsets[:-1] + codes == self.domain.ranges
            self._note(codes, np.where(is_number, box[1][0], 1.0))
