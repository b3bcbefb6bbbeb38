"""What one side answers on a box: one class all over it, or parts to look at next."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import (
    Halving,
    Meter,
    Oracle,
)
from nn2rules.errors import BudgetExceededError, UndecidedError
from nn2rules.questions.compare.sides import NetworkSide, RulesSide, Side
from nn2rules.space import (
    Box,
    Domain,
    Feature,
    joined,
    meeting,
    next_number,
    parts_of,
    previous_number,
)

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
