"""The two that are compared: a network or rules, brought to the domain of both.

A side answers with the positions of classes among those of both sides; where rules
claim nothing, with one more, which stands for *no rule*.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Meter, array_obstacle, table_of
from nn2rules.errors import DomainError
from nn2rules.network import Network
from nn2rules.questions.compare.common_domain import cut_for, network_on, rules_on
from nn2rules.rules import NO_RULE, RuleList, bit_rows, first_match
from nn2rules.space import Domain, Value, cut_codes, text_of

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
