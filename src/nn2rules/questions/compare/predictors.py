"""What each of the two predicts: for some inputs, for all inputs, and for a box.

Each is a network or rules, on the common domain. Predictions are positions among the
classes of both, and one more for *no rule*, where rules claim nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Halving, Meter, Oracle, array_obstacle, table_of
from nn2rules.errors import BudgetExceededError, DomainError, UndecidedError
from nn2rules.network import Network
from nn2rules.questions.compare.common_domain import cut_for, network_on, rules_on
from nn2rules.rules import NO_RULE, RuleList, bit_rows, first_match
from nn2rules.space import (
    Box,
    Domain,
    Feature,
    Value,
    cut_codes,
    joined,
    meeting,
    next_number,
    parts_of,
    previous_number,
    text_of,
)

NEVER = -2
"""In place of a prediction that neither one ever makes."""

Codes: TypeAlias = NDArray[np.int64]

_MOST_DIMENSIONS = 64  # of an array, in numpy


@dataclass(frozen=True, eq=False)
class NetworkPredictor:
    """A network; `positions` are those of its classes among the classes of both."""

    network: Network
    positions: NDArray[np.int64]

    def predict(self, codes: Codes, numbers: NDArray[np.float64] | None) -> Codes:
        """Return the predictions for inputs of the common domain."""
        return self.positions[self.network.predict_codes(codes, numbers)]

    def table(self, meter: Meter, n_jobs: int | None) -> NDArray[np.uint8]:
        """Return the prediction for every input."""
        meter.spend()  # results must not depend on what was asked before
        table = table_of(self.network, meter=meter, n_jobs=n_jobs)
        return self.positions.astype(np.uint8)[table.classes]


@dataclass(frozen=True, eq=False)
class RulesPredictor:
    """Rules on a domain whose ranges are cut where the rules of either one need it.

    Attributes
    ----------
    domain : Domain
    boxes : ndarray of bool, shape (n_rules, n_columns)
    positions : ndarray of int
        The class of each rule, among the classes of both.
    uncovered : int
        The prediction where no rule applies: the default, or *no rule*.
    """

    domain: Domain
    boxes: NDArray[np.bool_]
    positions: NDArray[np.int64]
    uncovered: int

    def predict(self, codes: Codes, numbers: NDArray[np.float64] | None) -> Codes:
        """Return the predictions for inputs of the common domain."""
        cut = codes if numbers is None else cut_codes(self.domain, codes, numbers)
        fired = first_match(bit_rows(self.boxes), cut, self.domain.offsets)
        assert NO_RULE == -1, "inputs that no rule covers use the last entry"
        return np.append(self.positions, self.uncovered)[fired]

    def table(self, meter: Meter, _n_jobs: int | None) -> NDArray[np.uint8]:
        """Return the prediction for every input; a part of a range is one input."""
        predictions = np.full(self.domain.sizes, self.uncovered, dtype=np.uint8)
        for box, place in zip(self.boxes[::-1], self.positions[::-1], strict=True):
            meter.spend()
            parts = np.split(box, self.domain.offsets[1:-1])
            predictions[np.ix_(*parts)] = place
        return predictions.ravel()


Predictor: TypeAlias = NetworkPredictor | RulesPredictor


def predictors_of(
    domain: Domain, models: Sequence[Network | RuleList], labels: Sequence[Value]
) -> tuple[Predictor, Predictor]:
    """Return both predictors, on the common domain."""
    several = [one for one in models if isinstance(one, RuleList)]
    cut = cut_for(domain, *several)
    predictors: list[Predictor] = []
    for one in models:
        positions = np.array(
            [position_of(labels, c) for c in one.classes], dtype=np.int64
        )
        if isinstance(one, Network):
            predictors.append(NetworkPredictor(network_on(domain, one), positions))
            continue
        boxes, answers = rules_on(cut, one)
        uncovered = len(labels)
        if one.scope == "domain":
            uncovered = int(positions[one.classes.index(one.default)])
        predictors.append(RulesPredictor(cut, boxes, positions[answers], uncovered))
    return predictors[0], predictors[1]


def is_different(
    old: NDArray[Any], new: NDArray[Any], skipped: int
) -> NDArray[np.bool_]:
    """Tell which predictions differ; those that are `skipped` never do."""
    return np.asarray((old != new) & (old != skipped) & (new != skipped))


def labels_of(old: Sequence[Value], new: Sequence[Value]) -> tuple[Value, ...]:
    """Return the classes of both, those of the old one first.

    Classes are the same if they are equal, or equal as text, such as 1 and "1".
    """
    texts = {text_of(label) for label in old}
    added = [label for label in new if label not in old and text_of(label) not in texts]
    if len(added) == len(new):
        shown = [", ".join(map(text_of, labels)) for labels in (old, new)]
        raise DomainError(
            f"the two have no class in common: {shown[0]} in the old one, {shown[1]} "
            f"in the new one; give them the same classes (classes=)"
        )
    return (*old, *added)


def position_of(labels: Sequence[Value], label: Value) -> int:
    """Return the position of a class among those of both."""
    if label in labels:
        return labels.index(label)
    return [text_of(other) for other in labels].index(text_of(label))


def table_domain(predictors: tuple[Predictor, Predictor]) -> Domain | None:
    """Return the domain whose inputs a table can list for both, or None.

    A network must not have ranges; ranges of rules are cut into parts.
    """
    for one in predictors:
        if isinstance(one, RulesPredictor):
            continue
        if one.network.domain.has_ranges or array_obstacle(one.network):
            return None
    domain = next((s.domain for s in predictors if isinstance(s, RulesPredictor)), None)
    if domain is None:
        assert isinstance(predictors[0], NetworkPredictor), "neither has rules"
        domain = predictors[0].network.domain
    n_answers = 1 + max(_most(one) for one in predictors)
    is_small = len(domain.sizes) <= _MOST_DIMENSIONS and n_answers < 1 << 8
    return domain if is_small else None


def _most(predictor: Predictor) -> int:
    """Return the largest prediction of a predictor."""
    uncovered = predictor.uncovered if isinstance(predictor, RulesPredictor) else 0
    return max(uncovered, int(predictor.positions.max(initial=0)))


OTHER_RULE = -1
"""In place of a prediction: another rule than the one asked about determines it."""

_QUESTION = 2000  # boxes for a question that may stay undecided


class NetworkBoxPredictor:
    """Predicts boxes with the bounds of a network, and with a search."""

    def __init__(self, predictor: NetworkPredictor, meter: Meter) -> None:
        self.predictor, self.meter = predictor, meter
        self.oracle = Oracle(predictor.network, meter)
        self.positions: list[int] = predictor.positions.tolist()
        self._halving = Halving(self.oracle)

    def predict_box(self, box: Box) -> tuple[int | None, list[Box]]:
        """Return the prediction for a whole box if the bounds show it, or two halves.

        Neither if no arithmetic can tell the class of a single input.
        """
        index, halves = self._halving.look(box)
        return None if index is None else self.positions[index], halves

    def is_all(self, box: Box, place: int) -> bool:
        """Tell whether every input of a box is proved to have a prediction.

        A question that takes too long counts as no.
        """
        if place not in self.positions:
            return False
        self.oracle.meter = self.meter.part(_QUESTION)
        index = self.positions.index(place)
        try:
            return self.oracle.ask(box[0], index, ends=box[1]).proved
        except (BudgetExceededError, UndecidedError):
            return False
        finally:
            self.meter.spend(self.oracle.meter.boxes)
            self.oracle.meter = self.meter


class RulesBoxPredictor:
    """Predicts boxes with rules.

    Attributes
    ----------
    parts : Boxes
        The boxes of the rules in the uncut domain, in order; a rule that allows several
        ranges has several.
    of_rule : ndarray of int
        The rule of each box.
    only : int or None
        The one rule that is asked about; the number of rules means that none covers.
    """

    def __init__(self, predictor: RulesPredictor, meter: Meter) -> None:
        self.predictor, self.meter = predictor, meter
        self.uncut: Domain = predictor.domain.uncut
        split = []
        for box in predictor.boxes:
            meter.spend()  # this takes a while for a long list
            split.append(parts_of(predictor.domain, box))
        self.parts = joined(self.uncut, split)
        lengths = [len(part.allowed) for part in split]
        self.of_rule = np.repeat(np.arange(len(split)), lengths)
        self.only: int | None = None

    def prediction_of(self, rule: int) -> int:
        """Return the prediction of a rule, or that where no rule covers."""
        is_rest = rule == len(self.predictor.positions)
        return (
            self.predictor.uncovered if is_rest else int(self.predictor.positions[rule])
        )

    def predict_box(self, box: Box) -> tuple[int | None, list[Box]]:
        """Return the prediction for a whole box, or parts cut off by a rule."""
        is_met = meeting(self.uncut, self.parts, box)
        first_met = int(np.argmax(is_met)) if is_met.any() else -1
        if first_met < 0:
            return self._prediction_unless_other(len(self.predictor.positions)), []
        part = self.parts.allowed[first_met], self.parts.ends[first_met]
        pieces = divided(self.uncut, box, part)
        if pieces is None:
            return self._prediction_unless_other(int(self.of_rule[first_met])), []
        return None, pieces

    def _prediction_unless_other(self, rule: int) -> int:
        return self.prediction_of(rule) if self.only in (None, rule) else OTHER_RULE

    def is_all(self, box: Box, place: int) -> bool:
        """Tell whether every input of a box is proved to have a prediction.

        A question that takes too long counts as no.
        """
        self.only, waiting, n_looks = None, [box], 0
        while waiting:
            n_looks += 1
            predicted, parts = self.predict_box(waiting.pop())
            if n_looks > _QUESTION or (predicted is not None and predicted != place):
                self.meter.spend(n_looks)
                return False
            waiting += parts
        self.meter.spend(n_looks)
        return True


BoxPredictor: TypeAlias = NetworkBoxPredictor | RulesBoxPredictor


def box_predictor_of(predictor: Predictor, meter: Meter) -> BoxPredictor:
    """Return what predicts boxes for a predictor."""
    if isinstance(predictor, NetworkPredictor):
        return NetworkBoxPredictor(predictor, meter)
    return RulesBoxPredictor(predictor, meter)


def divided(domain: Domain, box: Box, part: Box) -> list[Box] | None:
    """Divide a box on one feature, so that a piece is inside another box there.

    The feature with the largest part outside is taken. None if the box is all inside.
    """
    best, least = None, 1.0
    for feature in range(len(domain.features)):
        inside = _share_inside(domain, box, part, feature)
        if inside < least:
            best, least = feature, inside
    return None if best is None else _pieces(domain, box, part, best)


def _share_inside(domain: Domain, box: Box, part: Box, feature: int) -> float:
    """Return the share of the values of a box that another box allows as well."""
    start, stop = domain.offsets[feature], domain.offsets[feature + 1]
    allowed, ranged = box[0][start:stop], int(domain.ranges[feature])
    both = float((allowed & part[0][start:stop]).sum())
    if ranged >= 0 and allowed[0] and part[0][ranged]:
        low, high = box[1][:, feature].tolist()
        first, last = max(low, part[1][0, feature]), min(high, part[1][1, feature])
        if first > low or last < high:
            both -= 1.0 - max(0.0, (last - first) / (high - low)) / 2
    return both / float(allowed.sum())


def _pieces(domain: Domain, box: Box, part: Box, feature: int) -> list[Box]:
    """Divide a box on a feature: numbers from other values first, then either."""
    start, stop = int(domain.offsets[feature]), int(domain.offsets[feature + 1])
    ranged, allowed = int(domain.ranges[feature]), box[0][start:stop]
    if ranged >= 0 and allowed[0]:
        if allowed[1:].any():
            numbers = np.zeros_like(allowed)
            numbers[0] = True
            return [_with(box, start, numbers), _with(box, start, allowed & ~numbers)]
        return _cut(domain.features[feature], box, part, feature)
    inside = allowed & part[0][start:stop]
    return [_with(box, start, inside), _with(box, start, allowed & ~inside)]


def _with(box: Box, start: int, block: NDArray[np.bool_]) -> Box:
    allowed = box[0].copy()
    allowed[start : start + len(block)] = block
    return allowed, box[1].copy()


def _cut(feature: Feature, box: Box, part: Box, index: int) -> list[Box]:
    """Cut the numbers of a box where those of another begin and end."""
    low, high = box[1][:, index].tolist()
    first, last = part[1][:, index].tolist()
    spans = [(max(low, first), min(high, last))]
    if low < first:
        spans.append((low, previous_number(first, whole=feature.whole)))
    if last < high:
        spans.append((next_number(last, whole=feature.whole), high))
    parts = []
    for span in spans:
        ends = box[1].copy()
        ends[:, index] = span
        parts.append((box[0].copy(), ends))
    return parts
