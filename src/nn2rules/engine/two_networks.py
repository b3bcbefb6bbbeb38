"""Whether two networks with few linear regions differ anywhere, region by region.

Both are affine on each part that a region of the one and a region of the other have in
common. Where one network has class i and the other has class j, both classes win in
such a part; if a linear program proves for all of them that they do not, nowhere.
"""

from collections.abc import Collection, Iterator
from itertools import groupby

import numpy as np

from nn2rules.engine.exact_boxes import leads_of
from nn2rules.engine.limits import Meter
from nn2rules.engine.linear_programs import Hull
from nn2rules.engine.region_programs import (
    MOST_IN_BOX,
    MOST_PROGRAMS,
    UNDECIDED,
    Near,
    Question,
    Settled,
    Win,
    classes_of,
    may_have_few,
    part_of,
    rows_of,
    settle_all,
)
from nn2rules.engine.regions import Constraints, LinearRegion, regions_with
from nn2rules.engine.simplex import Row
from nn2rules.network import Layer, Network
from nn2rules.space import Box, Inputs, no_boxes

_MIXES = (0.0, 0.5, 1.0)
"""By which shares of the way a point in the middle is moved to where a class wins."""

Differences = Collection[tuple[int, int]]
"""The classes of the one network and of the other that count as a difference."""


def find_difference(
    one: Network,
    other: Network,
    differences: Differences,
    meter: Meter,
    *,
    most_programs: int = MOST_PROGRAMS,
) -> Settled:
    """Tell whether two networks differ on no input, or give one on which they do.

    Parameters
    ----------
    one, other : Network
        On the same domain.
    differences : collection of (int, int)
        The classes of the one and of the other that count as a difference.
    meter : Meter
        The budget to spend.
    most_programs : int
        How many linear programs may be solved to find regions.

    Examples
    --------
    abs(x) > 1, and the same by two units that begin further out:

    >>> from nn2rules import Domain, Feature
    >>> domain = Domain((Feature.real("x", -2, 2),))
    >>> hidden = Layer([[1, -1]], [0, 0], "relu"), Layer([[1, -1]], [-1, -1], "relu")
    >>> last = Layer([[1], [1]], [-1], "sigmoid"), Layer([[1], [1]], [0], "sigmoid")
    >>> one, other = (
    ...     Network(domain, both, (0, 1)) for both in zip(hidden, last, strict=True)
    ... )
    >>> find_difference(one, other, [(0, 1), (1, 0)], Meter()).status
    'proved'
    """
    domain = one.domain
    box = np.ones(int(domain.offsets[-1]), dtype=np.bool_), domain.limits
    if not (may_have_few(one, box) and may_have_few(other, box)):
        return UNDECIDED
    both = _Both(one, other, box, differences, meter.part(most_programs))
    return settle_all(both.joined, both.questions(), no_boxes(domain), meter)


class _Both:
    """Two networks whose first units are seen as those of one layer."""

    def __init__(
        self,
        one: Network,
        other: Network,
        box: Box,
        differences: Differences,
        meter: Meter,
    ) -> None:
        self._one, self._other, self._box, self._meter = one, other, box, meter
        self._differences = sorted(differences)
        first = [network.layers[0] for network in (one, other)]
        weights = np.hstack([layer.weights for layer in first])
        bias = np.concatenate([layer.bias for layer in first])
        nothing = Layer(np.zeros((len(bias), 1)), np.zeros(1), "sigmoid")
        layers = Layer(weights, bias, "identity"), nothing
        self.joined = Network(one.domain, layers, (0, 1))
        self._hull = Hull(self.joined, box)

    def questions(self) -> Iterator[Question]:
        """Yield questions; the networks are equal if none of them has such inputs."""
        by_class = [
            (index, [pair[1] for pair in pairs])
            for index, pairs in groupby(self._differences, lambda pair: pair[0])
        ]
        for index, others in by_class:
            for region in self._regions(self._one, [index], ()):
                part = part_of(region)
                win = Win(leads_of(self._one, index), part.scores)
                yield from self._within([*part.sides, *win.rows()], win, others)

    def _within(
        self, sides: list[Row], win: Win, others: Collection[int]
    ) -> Iterator[Question]:
        """Yield questions where a class of the one network wins."""
        for region in self._regions(self._other, others, sides):
            part = part_of(region)
            for index in region.classes:
                second = Win(leads_of(self._other, index), part.scores)
                every = [*sides, *part.sides, *second.rows()]
                yield Question(every, [win, second], self._attempt, self._box)

    def _regions(
        self, network: Network, classes: Collection[int], sides: Collection[Row]
    ) -> Iterator[LinearRegion]:
        start = 0 if network is self._one else len(self._one.layers[0].bias)
        yield from regions_with(
            network,
            classes,
            self._box,
            max_regions=MOST_IN_BOX,
            meter=self._meter,
            within=Constraints(self._hull, start, tuple(sides)),
        )

    def _attempt(self, near: Near) -> Inputs | None:
        """Return an input on which the networks differ."""
        inputs = near.inputs(
            [
                (1 - mix) * near.middle + mix * point
                for mix in _MIXES
                for point in near.points
            ]
        )
        pairs = zip(
            classes_of(self._one, inputs).tolist(),
            classes_of(self._other, inputs).tolist(),
            strict=True,
        )
        for place, pair in enumerate(pairs):
            if pair in self._differences:
                return rows_of(inputs, [place])
        return None
