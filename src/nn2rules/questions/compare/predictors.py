"""What each of the two predicts: for inputs, for all inputs, and all over a box.

The two are a network or rules, brought to their common domain. They predict positions
of classes among those of both; where rules claim nothing, one more, *no rule*.
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

NOTHING = -2
"""In place of an answer: no side gives it."""

Codes: TypeAlias = NDArray[np.int64]

_MOST_DIMENSIONS = 64  # of an array, in numpy


@dataclass(frozen=True, eq=False)
class NetworkSide:
    """A network; `places` are the positions of its classes among those of both."""

    network: Network
    places: NDArray[np.int64]

    def answers(self, codes: Codes, numbers: NDArray[np.float64] | None) -> Codes:
        """Return the answers to inputs of the common domain."""
        return self.places[self.network.predict_codes(codes, numbers)]

    def table(self, meter: Meter, n_jobs: int | None) -> NDArray[np.uint8]:
        """Return the answers to every input."""
        meter.spend()  # the answer must not depend on what was asked before
        table = table_of(self.network, meter=meter, n_jobs=n_jobs)
        return self.places.astype(np.uint8)[table.classes]


@dataclass(frozen=True, eq=False)
class RulesSide:
    """Rules on a domain cut where they, or those of the other side, need it.

    Attributes
    ----------
    domain : Domain
    boxes : ndarray of bool, shape (n_rules, n_columns)
    places : ndarray of int
        For each rule its answer, among the classes of both sides.
    rest : int
        The answer where no rule holds: the default, or *no rule*.
    """

    domain: Domain
    boxes: NDArray[np.bool_]
    places: NDArray[np.int64]
    rest: int

    def answers(self, codes: Codes, numbers: NDArray[np.float64] | None) -> Codes:
        """Return the answers to inputs of the common domain."""
        cut = codes if numbers is None else cut_codes(self.domain, codes, numbers)
        fired = first_match(bit_rows(self.boxes), cut, self.domain.offsets)
        assert NO_RULE == -1, "what is left is found at the end"
        return np.append(self.places, self.rest)[fired]

    def table(self, meter: Meter, _n_jobs: int | None) -> NDArray[np.uint8]:
        """Return the answers to every input, ranges counted by their parts."""
        found = np.full(self.domain.sizes, self.rest, dtype=np.uint8)
        for box, place in zip(self.boxes[::-1], self.places[::-1], strict=True):
            meter.spend()
            parts = np.split(box, self.domain.offsets[1:-1])
            found[np.ix_(*parts)] = place
        return found.ravel()


Side: TypeAlias = NetworkSide | RulesSide


def sides_of(
    domain: Domain, given: Sequence[Network | RuleList], labels: Sequence[Value]
) -> tuple[Side, Side]:
    """Return both sides, on the domain that they have in common."""
    several = [one for one in given if isinstance(one, RuleList)]
    cut = cut_for(domain, *several)
    found: list[Side] = []
    for one in given:
        places = np.array([place_of(labels, c) for c in one.classes], dtype=np.int64)
        if isinstance(one, Network):
            found.append(NetworkSide(network_on(domain, one), places))
            continue
        boxes, answers = rules_on(cut, one)
        is_open = one.scope == "support"
        rest = len(labels) if is_open else int(places[one.classes.index(one.default)])
        found.append(RulesSide(cut, boxes, places[answers], rest))
    return found[0], found[1]


def is_different(
    old: NDArray[Any], new: NDArray[Any], skipped: int
) -> NDArray[np.bool_]:
    """Tell which answers differ, leaving out those where a side says `skipped`."""
    return np.asarray((old != new) & (old != skipped) & (new != skipped))


def labels_of(old: Sequence[Value], new: Sequence[Value]) -> tuple[Value, ...]:
    """Return the classes of both, those of the old one first.

    Classes are the same if they are equal, or read the same, as 1 and "1".
    """
    known = {text_of(label) for label in old}
    added = [label for label in new if label not in old and text_of(label) not in known]
    if len(added) == len(new):
        shown = [", ".join(map(text_of, labels)) for labels in (old, new)]
        raise DomainError(
            f"the two have no class in common: {shown[0]} in the old one, {shown[1]} "
            f"in the new one; give them the same classes (classes=)"
        )
    return (*old, *added)


def place_of(labels: Sequence[Value], label: Value) -> int:
    """Return where a class stands among those of both."""
    if label in labels:
        return labels.index(label)
    return [text_of(known) for known in labels].index(text_of(label))


def table_domain(sides: tuple[Side, Side]) -> Domain | None:
    """Return the domain whose inputs a table of both can list, or None.

    With a network no feature may be a range; ranges of rules are cut into parts.
    """
    for side in sides:
        if isinstance(side, RulesSide):
            continue
        if side.network.domain.has_ranges or array_obstacle(side.network):
            return None
    domain = next((s.domain for s in sides if isinstance(s, RulesSide)), None)
    if domain is None:
        assert isinstance(sides[0], NetworkSide), "neither has rules"
        domain = sides[0].network.domain
    n_answers = 1 + max(_most(side) for side in sides)
    is_small = len(domain.sizes) <= _MOST_DIMENSIONS and n_answers < 1 << 8
    return domain if is_small else None


def _most(side: Side) -> int:
    """Return the largest answer of a side."""
    rest = side.rest if isinstance(side, RulesSide) else 0
    return max(rest, int(side.places.max(initial=0)))


ELSEWHERE = -1
"""In place of an answer: another rule than the one that is asked about decides."""

_QUESTION = 2000  # boxes for a question that may be left without an answer


class NetworkLook:
    """Looks at boxes with the bounds of a network, and asks its oracle."""

    def __init__(self, side: NetworkSide, meter: Meter) -> None:
        self.side, self.meter = side, meter
        self.oracle = Oracle(side.network, meter)
        self.places: list[int] = side.places.tolist()
        self._halving = Halving(self.oracle)

    def look(self, box: Box) -> tuple[int | None, list[Box]]:
        """Return the answer all over a box if the bounds show it, or else two halves.

        Neither where no arithmetic tells the class of a single input.
        """
        index, halves = self._halving.look(box)
        return None if index is None else self.places[index], halves

    def is_all(self, box: Box, place: int) -> bool:
        """Tell whether every input of a box is seen to have an answer.

        A question that takes long counts as one whose answer is no.
        """
        if place not in self.places:
            return False
        self.oracle.meter = self.meter.part(_QUESTION)
        index = self.places.index(place)
        try:
            return self.oracle.ask(box[0], index, ends=box[1]).proved
        except (BudgetExceededError, UndecidedError):
            return False
        finally:
            self.meter.spend(self.oracle.meter.boxes)
            self.oracle.meter = self.meter


class RulesLook:
    """Looks at boxes with rules.

    Attributes
    ----------
    parts : Boxes
        The boxes of the rules in the uncut domain, in order; several for one rule if
        it allows several ranges.
    of_rule : ndarray of int
        The rule that each belongs to.
    only : int or None
        The one rule that is asked about; the number of rules stands for the rest.
    """

    def __init__(self, side: RulesSide, meter: Meter) -> None:
        self.side, self.meter = side, meter
        self.uncut: Domain = side.domain.uncut
        split = []
        for box in side.boxes:
            meter.spend()  # of a long list this takes a while
            split.append(parts_of(side.domain, box))
        self.parts = joined(self.uncut, split)
        lengths = [len(part.allowed) for part in split]
        self.of_rule = np.repeat(np.arange(len(split)), lengths)
        self.only: int | None = None

    def answer(self, rule: int) -> int:
        """Return the answer of a rule, or that of the rest."""
        is_rest = rule == len(self.side.places)
        return self.side.rest if is_rest else int(self.side.places[rule])

    def look(self, box: Box) -> tuple[int | None, list[Box]]:
        """Return the answer all over a box, or else the parts a rule makes of it."""
        is_met = meeting(self.uncut, self.parts, box)
        found = int(np.argmax(is_met)) if is_met.any() else -1
        if found < 0:
            return self._said(len(self.side.places)), []
        part = self.parts.allowed[found], self.parts.ends[found]
        pieces = divided(self.uncut, box, part)
        if pieces is None:
            return self._said(int(self.of_rule[found])), []
        return None, pieces

    def _said(self, rule: int) -> int:
        return self.answer(rule) if self.only in (None, rule) else ELSEWHERE

    def is_all(self, box: Box, place: int) -> bool:
        """Tell whether every input of a box is seen to have an answer.

        A question that takes long counts as one whose answer is no.
        """
        self.only, waiting, n_looks = None, [box], 0
        while waiting:
            n_looks += 1
            found, parts = self.look(waiting.pop())
            if n_looks > _QUESTION or (found is not None and found != place):
                self.meter.spend(n_looks)
                return False
            waiting += parts
        self.meter.spend(n_looks)
        return True


Look: TypeAlias = NetworkLook | RulesLook


def look_of(side: Side, meter: Meter) -> Look:
    """Return who looks at boxes for a side."""
    if isinstance(side, NetworkSide):
        return NetworkLook(side, meter)
    return RulesLook(side, meter)


def divided(domain: Domain, box: Box, part: Box) -> list[Box] | None:
    """Divide a box on one feature, so that a piece is inside of another box there.

    The feature that leaves most outside is taken. None if the box is all inside.
    """
    best, least = None, 1.0
    for feature in range(len(domain.features)):
        inside = _share_inside(domain, box, part, feature)
        if inside < least:
            best, least = feature, inside
    return None if best is None else _pieces(domain, box, part, best)


def _share_inside(domain: Domain, box: Box, part: Box, feature: int) -> float:
    """Return which share of the values that a box allows another one allows, too."""
    start, stop = domain.offsets[feature], domain.offsets[feature + 1]
    own, ranged = box[0][start:stop], int(domain.ranges[feature])
    both = float((own & part[0][start:stop]).sum())
    if ranged >= 0 and own[0] and part[0][ranged]:
        low, high = box[1][:, feature].tolist()
        first, last = max(low, part[1][0, feature]), min(high, part[1][1, feature])
        if first > low or last < high:
            both -= 1.0 - max(0.0, (last - first) / (high - low)) / 2
    return both / float(own.sum())


def _pieces(domain: Domain, box: Box, part: Box, feature: int) -> list[Box]:
    """Divide a box on a feature: numbers and other values apart, then both."""
    start, stop = int(domain.offsets[feature]), int(domain.offsets[feature + 1])
    ranged, own = int(domain.ranges[feature]), box[0][start:stop]
    if ranged >= 0 and own[0]:
        if own[1:].any():
            numbers = np.zeros_like(own)
            numbers[0] = True
            return [_with(box, start, numbers), _with(box, start, own & ~numbers)]
        return _cut(domain.features[feature], box, part, feature)
    inside = own & part[0][start:stop]
    return [_with(box, start, inside), _with(box, start, own & ~inside)]


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
    found = []
    for span in spans:
        ends = box[1].copy()
        ends[:, index] = span
        found.append((box[0].copy(), ends))
    return found
