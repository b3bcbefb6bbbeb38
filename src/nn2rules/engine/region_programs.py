"""Regions as linear programs: points of a class in one, or a proof that it has none.

A question about a region is whether it has inputs of certain classes in a box. If its
program has a solution, inputs near to it are tried. Where the solution mixes categories
or whole numbers, the box is split.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import floor, lcm, log10
from threading import Lock
from typing import Literal, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine.exact_boxes import Lead
from nn2rules.engine.limits import Meter
from nn2rules.engine.linear_programs import Function, Hull
from nn2rules.engine.pieces import Forms, lowered
from nn2rules.engine.regions import (
    LinearRegion,
    LinearRegions,
    linear_regions,
    may_have,
    piecewise_linear_obstacle,
)
from nn2rules.engine.simplex import Row
from nn2rules.errors import BudgetExceededError
from nn2rules.network import Affine, Network
from nn2rules.space import Box, Boxes, Domain, Inputs, containing

_MOST_SPLITTING = 40
"""Where more units of the first layer split a box, regions are not looked for."""

MOST_IN_BOX, MOST_PROGRAMS = 1024, 4_000
"""How many regions a box may have, and how many linear programs it takes to find them:
some seconds."""

_MOST_PARTS, _MOST_PARTS_OF_ALL = 200, 2_000
"""How many parts of a box a region is worth, and all regions together."""

_FIRST_PARTS = 8
"""The same where there are other questions to ask."""

_MOST_KEPT = 8
"""Boxes of a network whose regions are kept for the next question."""

_MIXED = 1e-7
"""Weights nearer to 0 or 1 are taken for one of them."""

_LEVELS = 1 << 40
"""A level from which on a class wins is right to one part in this many."""

_WIDEST = 1e300
"""Numbers of wider ranges are not rounded."""


class Settled(NamedTuple):
    """No input breaks a claim, these inputs do, or regions do not tell.

    Attributes
    ----------
    status : {"proved", "refuted", "undecided"}
    inputs : Inputs or None
        One input, or two in the order of their numbers.
    """

    status: Literal["proved", "refuted", "undecided"]
    inputs: Inputs | None = None


PROVED, UNDECIDED = Settled("proved"), Settled("undecided")

_kept: WeakKeyDictionary[Network, dict[bytes, LinearRegions | None]]
_kept = WeakKeyDictionary()
_keeping = Lock()


def few_regions(
    network: Network, box: Box, meter: Meter, *, one_class: bool = True
) -> LinearRegions | None:
    """Return the linear regions of a box; None if there are none, or too many.

    They are kept for the next question.

    Raises
    ------
    BudgetExceededError
        If the budget of the meter is spent.
    """
    if not may_have_few(network, box):
        return None
    kept = _kept.setdefault(network, {})
    key = box[0].tobytes() + box[1].tobytes() + bytes([one_class])
    if key not in kept:
        part = meter.part(MOST_PROGRAMS)
        try:
            regions = linear_regions(
                network,
                box=box,
                max_regions=MOST_IN_BOX,
                one_class=one_class,
                meter=part,
            )
        except BudgetExceededError:
            meter.spend()  # raises if it is the budget that ended the work
            regions = None
        with _keeping:
            if len(kept) >= _MOST_KEPT:
                kept.pop(next(iter(kept)))
            kept[key] = regions
        return regions
    return kept[key]


def may_have_few(network: Network, box: Box) -> bool:
    """Tell whether it is worth looking for the linear regions of a box."""
    is_linear = piecewise_linear_obstacle(network) is None
    return is_linear and not _splits_often(network, box)


def _splits_often(network: Network, box: Box) -> bool:
    """Tell whether more units split a box than few regions allow."""
    first, domain = network.layers[0], network.domain
    if len(network.layers) == 1 or len(first.bias) <= _MOST_SPLITTING:
        return False
    low, high = first.bias.copy(), first.bias.copy()
    with np.errstate(all="ignore"):
        for feature, column in enumerate(domain.ranges.tolist()):
            start, stop = domain.offsets[feature : feature + 2].tolist()
            picked = start + np.flatnonzero(box[0][start:stop])
            rows = [first.weights[picked[picked != column]]]
            if column in picked:
                rows.append(np.outer(box[1][:, feature], first.weights[column]))
            values = np.concatenate(rows)
            low, high = low + values.min(axis=0), high + values.max(axis=0)
        passes = [(low < kink) & (kink < high) for kink in first.function.kinks]
    return int(np.any(passes, axis=0).sum()) > _MOST_SPLITTING


# Regions as linear programs


class Part(NamedTuple):
    """A region as the rows of a linear program.

    Attributes
    ----------
    sides : list of sequences of int
        Functions of the first sums that are at least 0 in it.
    scores : Forms or None
        None where only the class is known.
    """

    sides: list[Row]
    scores: Forms | None


class Win(NamedTuple):
    """A class wins: its leads, and the scores that they are of.

    Of a region left in one piece there are no scores, and its class wins everywhere.
    """

    leads: list[Lead]
    scores: Forms | None

    def rows(self) -> list[Row]:
        """Return functions that are at least 0 where the class wins, or about so."""
        assert self.scores is not None, "asked of classes that have scores"
        rows: list[Row] = []
        for lead in self.leads:
            factors = np.array(lead.of_scores, dtype=object)
            row = [int(number) for number in factors @ self.scores.numbers]
            level = lead.level - abs(lead.level) / _LEVELS  # surely not above it
            row[-1] -= floor(level * self.scores.scale)
            rows.append(row)
        return rows


def part_of(region: LinearRegion) -> Part:
    """Return a region as a linear program."""
    sides = [row_of(side.form) for side in region.conditions]
    if region.scores is None:
        return Part(sides, None)
    rows, scale = _whole(region.scores)
    return Part(sides, Forms(np.array(rows, dtype=object), scale))


def row_of(function: Affine) -> Row:
    """Return a function in whole numbers that is at least 0 where another one is."""
    [row], _ = _whole([function])
    return lowered(row)


def _whole(functions: Sequence[Affine]) -> tuple[list[list[int]], int]:
    """Return affine functions in whole numbers, over a common scale."""
    rows = [(*each.coefficients, each.constant) for each in functions]
    scale = lcm(*(number.denominator for row in rows for number in row))
    return [[int(number * scale) for number in row] for row in rows], scale


@dataclass(frozen=True, slots=True)
class Near:
    """Points of a part of a box, and inputs that are near to them.

    Attributes
    ----------
    domain : Domain
    box : Box
        The part.
    hull : Hull
    points : list of ndarray of float64
        Weights of the vertices of the hull.
    middle : ndarray of float64
        The point to begin at, by weights, too.
    """

    domain: Domain
    box: Box
    hull: Hull
    points: list[NDArray[np.float64]]
    middle: NDArray[np.float64]

    def amounts(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how much of each value a point has."""
        amounts = np.zeros(int(self.domain.offsets[-1]))
        np.add.at(amounts, self.hull.columns, point)
        return amounts

    def inputs(self, points: Sequence[NDArray[np.float64]]) -> Inputs:
        """Return the inputs next to points: the likeliest values and their numbers.

        Each with numbers of few digits, too.
        """
        codes, numbers = [], []
        for point in points:
            shares = np.split(self.amounts(point), self.domain.offsets[1:-1])
            chosen = np.array([int(np.argmax(share)) for share in shares])
            is_number = self.domain.offsets[:-1] + chosen == self.domain.ranges
            for digits in (2, 4, None):
                codes.append(chosen)
                numbers.append(self._numbers(point, is_number, digits))
        return Inputs(np.array(codes), np.array(numbers))

    def _numbers(
        self,
        point: NDArray[np.float64],
        is_number: NDArray[np.bool_],
        digits: int | None,
    ) -> NDArray[np.float64]:
        """Return the numbers of a point; of some digits, in relation to the range."""
        numbers = np.ones(len(self.domain.sizes))
        for feature in np.flatnonzero(is_number).tolist():
            is_end = self.hull.columns == self.domain.ranges[feature]
            weights, ends = point[is_end], self.hull.numbers[is_end]
            low, high = self.box[1][:, feature].tolist()
            if weights[-1] <= _MIXED * weights.sum():
                number = float(ends[0])
            elif weights[0] <= _MIXED * weights.sum():
                number = float(ends[-1])
            else:
                number = float((weights * ends).sum() / weights.sum())
                if self.domain.features[feature].whole:
                    number = float(round(number))
                elif digits is not None and low < high < low + _WIDEST:
                    number = round(number, digits - floor(log10(high - low)))
            numbers[feature] = min(max(number, low), high)
        return numbers

    def chosen(self) -> NDArray[np.int64]:
        """Return the value of each feature of which the points have most."""
        shares = np.split(self.amounts(self.middle), self.domain.offsets[1:-1])
        return np.array([int(np.argmax(share)) for share in shares])

    def pinned(self, fixed: int | None) -> Box | None:
        """Return the box with the values next to the points alone; None if they are.

        Of a range of whole numbers the nearest one. The feature `fixed` keeps its
        values.
        """
        mixed = self._mixed(fixed)
        if not mixed:
            return None
        allowed, ends = self.box[0].copy(), self.box[1].copy()
        chosen = self.domain.offsets[:-1] + self.chosen()
        for feature, place in mixed.items():
            start, stop = self.domain.offsets[feature : feature + 2].tolist()
            allowed[start:stop] = False
            allowed[chosen[feature]] = True
            if place is not None:
                ends[:, feature] = min(
                    max(float(round(place)), ends[0, feature]), ends[1, feature]
                )
        return allowed, ends

    def _mixed(self, fixed: int | None) -> dict[int, float | None]:
        """Return the features whose values are mixed, and where of whole numbers."""
        middle = self.middle
        amounts = self.amounts(middle)
        mixed: dict[int, float | None] = {}
        for index, feature in enumerate(self.domain.features):
            start, stop = self.domain.offsets[index : index + 2].tolist()
            column = start + int(np.argmax(amounts[start:stop]))
            place = None
            if feature.whole and column == self.domain.ranges[index]:
                is_end = self.hull.columns == column
                place = float((middle[is_end] * self.hull.numbers[is_end]).sum())
                place /= float(middle[is_end].sum())
            is_between = place is not None and abs(place - round(place)) > _MIXED
            if index != fixed and (is_between or amounts[column] < 1 - _MIXED):
                mixed[index] = place
        return mixed

    def halves(self, fixed: int | None) -> list[Box]:
        """Return the box in two, to be looked at from the last; none if it is not.

        It is split where the points mix values, but not in the feature `fixed`.
        """
        mixed, amounts = self._mixed(fixed), self.amounts(self.middle)
        allowed, ends = self.box
        values: list[tuple[float, int]] = []
        for index in mixed:
            start, stop = self.domain.offsets[index : index + 2].tolist()
            if allowed[start:stop].sum() > 1:
                values.append((float(amounts[start:stop].max()), index))
        if values:
            feature = min(values)[1]
            start, stop = self.domain.offsets[feature : feature + 2].tolist()
            best = start + int(np.argmax(amounts[start:stop]))
            alone, rest = allowed.copy(), allowed.copy()
            alone[start:stop] = False
            alone[best], rest[best] = True, False
            return [(rest, ends), (alone, ends)]
        places = {index: place for index, place in mixed.items() if place is not None}
        if not places:
            return []
        feature = max(places, key=lambda index: float(ends[1, index] - ends[0, index]))
        below = float(floor(places[feature]))
        low, high = ends.copy(), ends.copy()
        low[1, feature], high[0, feature] = below, below + 1
        return [(allowed, low), (allowed, high)]


@dataclass(frozen=True, slots=True)
class Question:
    """Whether a region has inputs that break a claim.

    Attributes
    ----------
    sides : sequence of sequences of int
        The constraints: functions of the first sums that are at least 0.
    wins : sequence of Win
        The claim breaks only where each of these is possible.
    attempt : callable
        Looks for inputs that break the claim.
    box : Box
        Where.
    fixed : int or None
        The feature in which two inputs differ.
    between : Win or None
        Of one class against another: both tie where the claim breaks.
    refined : callable or None
        Returns questions to ask instead if this one stays undecided.
    """

    sides: Sequence[Row]
    wins: Sequence[Win]
    attempt: Callable[[Near], Inputs | None]
    box: Box
    fixed: int | None = None
    between: Win | None = None
    refined: "Callable[[], Iterator[Question]] | None" = None

    def near(self, network: Network, box: Box) -> Near | None:
        """Return points of each class in a part of a box; None proves one has none.

        They are no points at all where a solver finds none.
        """
        hull = Hull(network, box)
        sides, points = [hull.function(row) for row in self.sides], []
        for win in self.wins:
            if win.scores is None:
                bound = hull.bound(hull.function([0] * (hull.n_sums + 1)), sides)
                possible = None if bound.value is None else bound
            else:
                possible = may_have(hull, win.leads, win.scores, sides)
            if possible is None:
                return None
            if possible.point is not None:
                points.append(possible.point)
        if len(points) < len(self.wins):
            return Near(network.domain, box, hull, [], np.zeros(0))
        middle = np.mean(points, axis=0)
        if self.between is not None:
            middle = self._border(hull, sides, points, self.between)
        return Near(network.domain, box, hull, points, middle)

    def _border(
        self,
        hull: Hull,
        sides: Sequence[Function],
        points: Sequence[NDArray[np.float64]],
        between: Win,
    ) -> NDArray[np.float64]:
        """Return a point where two classes tie, inside the region if possible."""
        [row] = between.rows()
        lead = hull.function(row)
        above, below = (float(lead.at(point)) for point in points)
        share = above / (above - below) if above > 0 > below else 0.5
        ties = [(1 - share) * points[0] + share * points[1]]
        longest = max((side.shift for side in sides), default=0)
        slack = np.zeros(hull.n_sums + 1, dtype=object)
        for side in sides:
            slack += np.array(side.row, dtype=object) << (longest - side.shift)
        border = [lead, hull.function([-number for number in row])]
        bound = hull.bound(hull.function(slack.tolist()), [*sides, *border])
        if bound.point is not None:
            ties.append(bound.point)
        return np.asarray(np.mean(ties, axis=0))


def settle_all(
    network: Network, questions: Iterable[Question], ignoring: Boxes, meter: Meter
) -> Settled:
    """Settle questions one by one, until one is refuted.

    Inputs inside the boxes `ignoring` do not count.
    """
    n_parts, status = 0, PROVED
    try:
        for question in questions:
            part = meter.part(_MOST_PARTS if question.refined is None else _FIRST_PARTS)
            settled = _settle_in(network, question, ignoring, part)
            if settled.status == "undecided" and question.refined is not None:
                settled = settle_all(network, question.refined(), ignoring, meter)
            if settled.status == "refuted":
                return settled
            status = UNDECIDED if settled.status == "undecided" else status
            n_parts += part.boxes
            meter.spend()
            if n_parts > _MOST_PARTS_OF_ALL:
                return UNDECIDED
    except BudgetExceededError:
        meter.spend()  # raises if it is the budget that ended the work
        return UNDECIDED
    return status


def _settle_in(
    network: Network, question: Question, ignoring: Boxes, meter: Meter
) -> Settled:
    """Settle a question in the budget of a meter."""
    try:
        return _settle(network, question, ignoring, meter)
    except BudgetExceededError:
        return UNDECIDED


def _settle(
    network: Network, question: Question, ignoring: Boxes, meter: Meter
) -> Settled:
    """Settle a question about a region; the box is split where points mix values."""
    domain, stack, is_undecided = network.domain, [question.box], False
    while stack:
        box = stack.pop()
        meter.spend(1)
        if containing(domain, ignoring, box).any():
            continue
        near = question.near(network, box)
        if near is None:
            continue
        if not near.points:
            is_undecided = True
            continue
        pinned = near.pinned(question.fixed)
        closer = near if pinned is None else question.near(network, pinned)
        if closer is not None and closer.points:
            inputs = question.attempt(closer)
            if inputs is not None:
                return Settled("refuted", inputs)
        halves = near.halves(question.fixed)
        is_undecided |= not halves
        stack += halves
    return UNDECIDED if is_undecided else PROVED


def rows_of(inputs: Inputs, places: list[int]) -> Inputs:
    """Return some of several inputs."""
    return Inputs(inputs.codes[places], inputs.numbers[places])


def classes_of(network: Network, inputs: Inputs) -> NDArray[np.int64]:
    """Return the classes of inputs, exactly."""
    numbers = inputs.numbers if network.domain.has_ranges else None
    return network.predict_codes(inputs.codes, numbers)
