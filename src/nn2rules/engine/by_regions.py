"""Questions about networks with few linear regions, settled region by region.

A third engine beside the table and the search: on a linear region scores are affine, so
a question about it is a linear program. A proof is one whose certificates were verified
in whole numbers (`linear_programs`). A counterexample is an input of which the network
itself says, in exact arithmetic, that it is one. What is left stays undecided.

Two inputs that differ in one feature
-------------------------------------
Let x and x' differ in a single feature, and let x be of class c and x' not. If the
feature is listed, c is lost between two neighbouring values. On the straight way from
one to the other, or along the numbers of a range, the network leaves c somewhere. As
regions are closed, convex and finitely many, one of them has, on this way, both a point
of class c and a point at which another class k wins; so in it the lead of c over k
falls along the way. A claim that there are no such inputs is proved where every region
with two such classes has a lead that goes the other way, or stays.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine.exact_boxes import Lead, leads_of
from nn2rules.engine.limits import Meter
from nn2rules.engine.region_programs import (
    MOST_IN_BOX,
    MOST_PROGRAMS,
    PROVED,
    UNDECIDED,
    Near,
    Question,
    Settled,
    Win,
    classes_of,
    few_regions,
    may_have_few,
    part_of,
    row_of,
    rows_of,
    settle_all,
)
from nn2rules.engine.regions import (
    LinearRegion,
    LinearRegions,
    regions_with,
    regions_within,
)
from nn2rules.network import Affine, Network
from nn2rules.space import Box, Boxes, Domain, Inputs, inside

_STEPS = 0.5 ** np.arange(1, 25)
"""By which shares of its range a number is moved to either side."""

_MIXES = (2**-10, 2**-5, 0.1, 0.4)
"""By which shares of the way a point on a border is moved to either side of it."""

Accepts: TypeAlias = Callable[[Inputs], NDArray[np.bool_]]
"""Tells which inputs count."""


def find_classes(
    network: Network,
    classes: Collection[int],
    within: Boxes,
    ignoring: Boxes,
    meter: Meter,
    *,
    most_programs: int = MOST_PROGRAMS,
) -> Settled:
    """Tell whether no input of some boxes has one of several classes; or give one.

    Parameters
    ----------
    within : Boxes
    ignoring : Boxes
        Inputs inside these do not count.
    meter : Meter
        The budget to spend.
    most_programs : int
        How many linear programs may be solved to find the regions of a box.

    Examples
    --------
    >>> from nn2rules import Domain, Feature, Layer
    >>> from nn2rules.space import no_boxes, whole_boxes
    >>> domain = Domain((Feature.real("x", -2, 2),))
    >>> hidden = Layer([[1, -1]], [0, 0], "relu")
    >>> network = Network(
    ...     domain, (hidden, Layer([[1], [1]], [-3], "sigmoid")), ("no", "yes")
    ... )
    >>> everything = whole_boxes(domain, np.ones((1, 1), dtype=bool))
    >>> find_classes(network, [1], everything, no_boxes(domain), Meter()).status
    'proved'
    """
    domain, status = network.domain, PROVED

    def attempt(near: Near) -> Inputs | None:
        inputs = near.inputs(near.points)
        is_broken = np.isin(classes_of(network, inputs), [*classes])
        is_broken &= ~inside(domain, ignoring, *inputs)
        return rows_of(inputs, [int(np.argmax(is_broken))]) if is_broken.any() else None

    def questions(box: Box) -> Iterator[Question]:
        finding = meter.part(most_programs)
        for region in regions_with(
            network, classes, box, max_regions=MOST_IN_BOX, meter=finding
        ):
            for index in region.classes:
                part = part_of(region)
                win = Win(leads_of(network, index), part.scores)
                yield Question(part.sides, [win], attempt, box)

    for box in zip(within.allowed, within.ends, strict=True):
        if not may_have_few(network, box):
            return UNDECIDED
        settled = settle_all(network, questions(box), ignoring, meter)
        if settled.status == "refuted":
            return settled
        status = UNDECIDED if settled.status == "undecided" else status
    return status


def find_pair(
    network: Network,
    feature: int,
    columns: Sequence[int],
    within: Boxes,
    accepts: Accepts,
    meter: Meter,
    *,
    toward: int | None = None,
    is_increasing: bool = True,
) -> Settled:
    """Tell whether no two inputs that differ in one feature break a claim; or give two.

    Parameters
    ----------
    feature : int
    columns : sequence of int
        The values of that feature, in its order if there is one.
    within : Boxes
        Where both inputs must be.
    accepts : callable
        Tells which inputs count.
    meter : Meter
        The budget to spend.
    toward : int, optional
        The class that must not be lost on the way up, or, if not `is_increasing`, on
        the way down. If not given any two classes break the claim.

    Examples
    --------
    >>> from nn2rules import Domain, Feature, Layer
    >>> from nn2rules.space import whole_boxes
    >>> domain = Domain((Feature.real("x", -2, 2), Feature.real("y", -2, 2)))
    >>> hidden = Layer([[1, -1], [1, 0]], [0, 0], "relu")
    >>> network = Network(
    ...     domain, (hidden, Layer([[1], [1]], [-1], "sigmoid")), ("no", "yes")
    ... )
    >>> every = whole_boxes(domain, np.ones((1, 2), dtype=bool))
    >>> def all_count(inputs):
    ...     return np.ones(len(inputs.codes), dtype=bool)
    >>> [
    ...     find_pair(network, i, [i], every, all_count, Meter(), toward=1).status
    ...     for i in range(2)
    ... ]
    ['refuted', 'proved']
    """
    box = _hull_box(network.domain, within)
    regions = few_regions(network, box, meter)
    if regions is None:
        return UNDECIDED
    line = _Line(network, feature, [c for c in columns if box[0][c]], box)
    pairs = _Pairs(line, _Claim(toward, is_increasing), accepts, meter)
    nothing = Boxes(within.allowed[:0], within.ends[:0])
    return settle_all(network, pairs.questions(regions), nothing, meter)


@dataclass(frozen=True, slots=True)
class _Claim:
    """Which classes two inputs must not have, in the order of their feature."""

    toward: int | None
    is_increasing: bool

    def classes(self, possible: Collection[int]) -> Iterator[tuple[int, int]]:
        """Yield two classes of a region between which the claim may break."""
        for one in sorted(possible):
            for other in sorted(possible):
                is_first = one < other if self.toward is None else one == self.toward
                if is_first and other != one:
                    yield one, other

    def may_break(self, slope: Fraction) -> bool:
        """Tell whether it may where the first class is ahead with some slope."""
        if self.toward is None:
            return slope != 0
        return slope < 0 if self.is_increasing else slope > 0

    def broken_by(
        self, lower: Collection[int], upper: Collection[int]
    ) -> Iterator[tuple[int, int]]:
        """Yield the classes of two inputs that break it, the lower one first."""
        for one in lower:
            for other in upper:
                first, last = (one, other) if self.is_increasing else (other, one)
                is_lost = first == self.toward or self.toward is None
                if is_lost and first != last:
                    yield one, other

    def broken(self, classes: NDArray[np.int64]) -> list[int] | None:
        """Return which two inputs of a line break it; -1 does not count."""
        counted = np.flatnonzero(classes >= 0)
        if len(counted) == 0:
            return None
        if self.toward is None:
            others = counted[classes[counted] != classes[counted[0]]]
            return [int(counted[0]), int(others[0])] if len(others) else None
        is_toward = classes[counted] == self.toward
        if not self.is_increasing:
            is_toward = ~is_toward
        first, last = counted[is_toward], counted[~is_toward]
        if len(first) == 0 or len(last) == 0 or first[0] > last[-1]:
            return None
        return [int(first[0]), int(last[-1])]


class _Step(NamedTuple):
    """From one value of a feature to the next, or along its range.

    Attributes
    ----------
    box : Box
        With these two values alone.
    direction : list of Fraction
        What the step adds to the first sums.
    """

    box: Box
    direction: list[Fraction]


@dataclass(frozen=True, slots=True)
class _Line:
    """All values of a feature in a box, one after another."""

    network: Network
    feature: int
    columns: list[int]
    box: Box

    def steps(self) -> Iterator[_Step]:
        """Yield the steps. A claim that breaks between two values breaks in a step."""
        last: tuple[int, float] | None = None
        for column in self.columns:
            low, high = 1.0, 1.0
            if column == self.network.domain.ranges[self.feature]:
                low, high = self.box[1][:, self.feature].tolist()
            if last is not None:
                yield self._step(last, (column, low))
            if low < high:
                yield self._step((column, low), (column, high))
            last = column, high

    def _step(self, one: tuple[int, float], other: tuple[int, float]) -> _Step:
        domain, (allowed, ends) = self.network.domain, self.box
        start, stop = domain.offsets[self.feature : self.feature + 2].tolist()
        allowed, ends = allowed.copy(), ends.copy()
        allowed[start:stop] = False
        allowed[[one[0], other[0]]] = True
        if one[0] != other[0]:  # between a range and a value beside it
            for column, number in (one, other):
                if column == domain.ranges[self.feature]:
                    ends[:, self.feature] = number
        weights = self.network.layers[0].weights
        direction = [
            Fraction(b) * Fraction(other[1]) - Fraction(a) * Fraction(one[1])
            for a, b in zip(weights[one[0]], weights[other[0]], strict=True)
        ]
        return _Step((allowed, ends), direction)

    def through(self, inputs: Inputs, place: int) -> Inputs:
        """Return inputs that differ from one in this feature alone, in its order."""
        domain, here = self.network.domain, inputs.numbers[place, self.feature]
        start = int(domain.offsets[self.feature])
        codes, numbers = [], []
        for column in self.columns:
            values = np.ones(1)
            if column == domain.ranges[self.feature]:
                low, high = self.box[1][:, self.feature].tolist()
                steps = (high - low) * _STEPS
                values = np.concatenate([[low, high, here], here - steps, here + steps])
                if domain.features[self.feature].whole:
                    values = np.round(values)
                values = np.unique(np.clip(values, low, high))
            codes += [column - start] * len(values)
            numbers += values.tolist()
        line = Inputs(
            np.repeat(inputs.codes[[place]], len(codes), axis=0),
            np.repeat(inputs.numbers[[place]], len(codes), axis=0),
        )
        line.codes[:, self.feature], line.numbers[:, self.feature] = codes, numbers
        return line


def _slope(region: LinearRegion, lead: Lead, direction: Sequence[Fraction]) -> Fraction:
    """Return how much a lead grows by a step."""
    assert region.scores is not None, "a region of several classes has scores"
    return sum(
        (
            factor * _moved(score, direction)
            for factor, score in zip(lead.of_scores, region.scores, strict=True)
        ),
        Fraction(0),
    )


def _moved(function: Affine, direction: Sequence[Fraction]) -> Fraction:
    """Return by how much a function grows when the first sums are moved."""
    terms = zip(function.coefficients, direction, strict=True)
    return sum((a * moved for a, moved in terms if a), Fraction(0))


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Asks region by region for two inputs that break a claim."""

    line: _Line
    claim: _Claim
    accepts: Accepts
    meter: Meter

    def questions(self, regions: LinearRegions) -> Iterator[Question]:
        """Yield questions; the claim is proved if none of them has such inputs."""
        network, feature = self.line.network, self.line.feature
        for region in regions:
            part = part_of(region)
            for one, other in self.claim.classes(region.classes):
                wins = [Win(leads_of(network, c), part.scores) for c in (one, other)]
                place = 0 if network.is_binary else other - (other > one)
                lead = wins[0].leads[place]
                for step in self.line.steps():
                    if self.claim.may_break(_slope(region, lead, step.direction)):
                        refined = partial(self._refined, region, step)
                        yield Question(
                            part.sides,
                            wins,
                            self.attempt,
                            step.box,
                            feature,
                            Win([lead], part.scores),
                            refined if self._is_whole(step) else None,
                        )

    def _is_whole(self, step: _Step) -> bool:
        """Tell whether a step is along more than one whole number."""
        network, feature = self.line.network, self.line.feature
        column = network.domain.ranges[feature]
        low, high = step.box[1][:, feature].tolist()
        is_range = column >= 0 and bool(step.box[0][column])
        return is_range and network.domain.features[feature].whole and low < high

    def _refined(self, region: LinearRegion, step: _Step) -> Iterator[Question]:
        """Yield questions about two whole numbers, one after the other.

        The claim may break between them where the way from one to the other passes a
        region. Each of them lies in a region of its own.
        """
        network, feature = self.line.network, self.line.feature
        allowed, ends = step.box[0], step.box[1].copy()
        width = Fraction(ends[1, feature]) - Fraction(ends[0, feature])
        shift = [moved / width for moved in step.direction]
        ends[1, feature] -= 1
        near = [
            Affine(
                side.form.coefficients,
                side.form.constant + max(Fraction(0), _moved(side.form, shift)),
            )
            for side in region.conditions
        ]
        around = [row_of(form) for form in near]
        box = allowed, ends
        for first in regions_within(network, box, around, meter=self.meter):
            lower = part_of(first)
            sides = [*around, *lower.sides]
            for second in regions_within(
                network, box, sides, shift=shift, meter=self.meter
            ):
                upper = part_of(second)
                for one, other in self.claim.broken_by(first.classes, second.classes):
                    wins = [
                        Win(leads_of(network, one), lower.scores),
                        Win(leads_of(network, other), upper.scores),
                    ]
                    rows = [row for win in wins for row in win.rows()]
                    every = [*sides, *upper.sides, *rows]
                    yield Question(every, wins, self.attempt, box)

    def attempt(self, near: Near) -> Inputs | None:
        """Return two inputs that break the claim."""
        bases = near.inputs(self._near_tie(near))
        lines = [self.line.through(bases, place) for place in range(len(bases.codes))]
        inputs = Inputs(
            np.concatenate([line.codes for line in lines]),
            np.concatenate([line.numbers for line in lines]),
        )
        counts = self.accepts(inputs)
        classes = np.where(counts, classes_of(self.line.network, inputs), -1)
        start = 0
        for line in lines:
            stop = start + len(line.codes)
            pair = self.claim.broken(classes[start:stop])
            if pair is not None:
                return rows_of(line, pair)
            start = stop
        return None

    def _near_tie(self, near: Near) -> list[NDArray[np.float64]]:
        """Return points where two classes tie, and to both sides of there."""
        return [
            near.middle,
            *(
                (1 - mix) * near.middle + mix * point
                for mix in _MIXES
                for point in near.points
            ),
        ]


def _hull_box(domain: Domain, boxes: Boxes) -> Box:
    """Return the smallest box that contains several."""
    allowed = np.logical_or.reduce(boxes.allowed)
    ends = domain.limits.copy()
    for feature, column in enumerate(domain.ranges.tolist()):
        if column >= 0 and allowed[column]:
            spans = boxes.ends[boxes.allowed[:, column], :, feature]
            ends[:, feature] = spans[:, 0].min(), spans[:, 1].max()
    return allowed, ends
