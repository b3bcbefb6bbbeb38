"""What boxes grow on: a network, and the rows that say where they should go.

It is sent once to whoever grows boxes, as what it is made from; a wave of boxes then
takes a bit for each row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Meter, boxes_at_once, claim, points, stack_of, workspace
from nn2rules.engine._kernels.network import FlatNetwork
from nn2rules.errors import BudgetExceededError
from nn2rules.extraction._kernels import growth
from nn2rules.extraction._kernels.nearness import Crowd
from nn2rules.extraction._kernels.proposing import Growth, Plan
from nn2rules.network import Network
from nn2rules.space import Boxes, Domain, Inputs

LIMITS = np.array([500, 30], dtype=np.int64)
"""Boxes to search for a slab that brings a row, and for one that brings none."""

PATIENCE = 4.0
"""A slab is given up once it seems to take so many times as many boxes."""

KNOWN = 1024
"""So many counterexamples are remembered while a box grows, and then forgotten.

Other boxes lie elsewhere: to try those of all boxes takes longer than it saves.
"""

_BAIT, _BAIT_WORTH = 0.2, 0.15
"""This share of the rows that are decided still draws boxes on, being worth so much.

So boxes grow to where rows are, of which unseen ones come.
"""


@dataclass(frozen=True)
class Cases:
    """Rows to be decided: inputs, how often each occurs, their classes, exactly.

    Attributes
    ----------
    inputs : Inputs
        All different.
    weights : ndarray of float64
        How much it is worth to decide a row: 0 for rows that only say where other
        classes begin.
    answers : ndarray of int64
    """

    inputs: Inputs
    weights: NDArray[np.float64]
    answers: NDArray[np.int64]


class Grown(NamedTuple):
    """A box that is proved, and can still grow.

    Attributes
    ----------
    state : Growth
    answer : int
        The position of its class.
    """

    state: Growth
    answer: int


class Spare(NamedTuple):
    """What a wave leaves to the next one.

    Attributes
    ----------
    boxes : sequence of Grown
        Those that were not chosen.
    width : int
        How many boxes grow next; 0 if none have grown yet.
    """

    boxes: Sequence[Grown] = ()
    width: int = 0


class Ground:
    """A network and rows, laid out for boxes to grow; the same for all of them."""

    def __init__(
        self, network: Network, nets: list[FlatNetwork], cases: Cases, seed: int
    ) -> None:
        self.network, self.nets, self.cases, self.seed = network, nets, cases, seed
        domain = network.domain
        self.columns = cases.inputs.codes + domain.offsets[:-1]
        self.plan = Plan(
            nets[0].offsets,
            nets[0].ranges,
            nets[0].whole,
            domain.limits,
            _lines(domain),
            LIMITS,
            PATIENCE,
        )
        rng = np.random.default_rng([seed, 1 << 33])
        sampled = rng.random(len(cases.weights)) < _BAIT
        self.bait = sampled * cases.weights * _BAIT_WORTH
        self.crowd = Crowd(
            self.columns.T.copy(),
            cases.inputs.numbers.T.copy(),
            cases.weights,
            *_sorted(self.columns, cases.inputs.numbers, domain),
        )

    def __reduce__(self) -> Any:
        cases, ranges = self.cases, self.network.domain.ranges >= 0
        largest = max(self.network.domain.sizes)
        kind = np.min_scalar_type(largest)
        return _sent_ground, (
            self.network,
            cases.inputs.codes.astype(kind),
            cases.inputs.numbers[:, ranges],
            cases.weights,
            cases.answers.astype(np.min_scalar_type(len(self.nets))),
            self.seed,
        )

    def desk(self, answer: int, ignored: Boxes) -> growth.Desk:
        """Return what a search for one class needs, knowing nothing yet."""
        net = self.nets[answer]
        return growth.Desk(
            workspace(net),
            stack_of(net),
            ignored,
            points(net, 1),
            points(net, KNOWN),
            np.zeros(3, dtype=np.int64),
        )


def _sent_ground(
    network: Network,
    codes: NDArray[Any],
    numbers: NDArray[np.float64],
    weights: NDArray[np.float64],
    answers: NDArray[Any],
    seed: int,
) -> Ground:
    amounts = np.ones(codes.shape)
    amounts[:, network.domain.ranges >= 0] = numbers
    inputs = Inputs(codes.astype(np.int64), amounts)
    nets = [claim(network, index) for index in range(len(network.classes))]
    return Ground(network, nets, Cases(inputs, weights, answers.astype(np.int64)), seed)


@dataclass(frozen=True, eq=False)
class Wave:
    """What boxes that grow at the same time have in common.

    Attributes
    ----------
    open : ndarray of bool
        The rows that are to be decided still.
    others : ndarray of bool
        Where rows of other classes must stay outside.
    ignored : Boxes
        Inputs inside these do not count.
    worth : ndarray of float64, optional
        What each row is worth; by default its weight if it is open.
    """

    open: NDArray[np.bool_]
    others: NDArray[np.bool_]
    ignored: Boxes
    worth: NDArray[np.float64] | None = None

    def __reduce__(self) -> Any:
        same = self.others is self.open
        packed = [np.packbits(self.open), None if same else np.packbits(self.others)]
        boxes = np.packbits(self.ignored.allowed, axis=1), self.ignored.ends
        sizes = len(self.open), self.ignored.allowed.shape[1]
        return _sent_wave, (*packed, *boxes, sizes, self.worth)

    @cached_property
    def _crowds(self) -> dict[int, Crowd]:
        return {}

    def crowd(self, ground: Ground, answer: int) -> Crowd:
        """Return the rows, with what they are worth to a box of a class."""
        if answer not in self._crowds:
            left = self.worth
            if left is None:
                left = np.where(self.open, ground.cases.weights, 0.0)
            same = ground.cases.answers == answer
            own = np.maximum(left, ground.bait)
            worth = np.where(same, own, np.where(self.others, -1.0, 0.0))
            self._crowds[answer] = ground.crowd._replace(worth=worth)
        return self._crowds[answer]


def _sent_wave(
    open_: NDArray[np.uint8],
    others: NDArray[np.uint8] | None,
    allowed: NDArray[np.uint8],
    ends: NDArray[np.float64],
    sizes: tuple[int, int],
    worth: NDArray[np.float64] | None,
) -> Wave:
    n_rows, n_columns = sizes
    rows = np.unpackbits(open_, count=n_rows).astype(np.bool_)
    outside = rows
    if others is not None:
        outside = np.unpackbits(others, count=n_rows).astype(np.bool_)
    boxes = np.unpackbits(allowed, axis=1, count=n_columns).astype(np.bool_)
    return Wave(rows, outside, Boxes(boxes, ends), worth)


class Step(NamedTuple):
    """A box that is to grow: by what brings rows, or, `is_last`, by the rest, too."""

    wave: Wave
    grown: Grown
    is_last: bool


def copied(state: Growth) -> Growth:
    """Return a box that can grow on its own."""
    return Growth._make(part.copy() for part in state)


def grow(ground: Ground, step: Step, meter: Meter) -> tuple[Growth, int, int]:
    """Return a box that has grown, and how many questions and boxes that took.

    When the time is over it stays as it is: it is proved at every moment.
    """
    wave, (given, answer), is_last = step
    state = copied(given)
    net, desk = ground.nets[answer], ground.desk(answer, wave.ignored)
    crowd, most = wave.crowd(ground, answer), boxes_at_once(net)
    try:
        while not growth.grow(net, desk, crowd, ground.plan, state, most, is_last):
            meter.spend()
    except BudgetExceededError:
        pass  # whoever asked for it sees so, too
    return state, int(desk.counts[2]), int(desk.counts[1])


def _sorted(
    columns: NDArray[np.int64], numbers: NDArray[np.float64], domain: Domain
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows in the order of each feature, and where each column starts."""
    n_rows, n_features = columns.shape
    order = np.empty((n_features, n_rows), dtype=np.int64)
    starts = np.full(int(domain.offsets[-1]) + 1, n_rows * n_features)
    for feature in range(n_features):
        order[feature] = np.lexsort([numbers[:, feature], columns[:, feature]])
        own = np.arange(domain.offsets[feature], domain.offsets[feature + 1])
        found = np.searchsorted(columns[order[feature], feature], own)
        starts[own] = feature * n_rows + found
    return order, starts


def _lines(domain: Domain) -> NDArray[np.int64]:
    """Return which values are numbers in a row: the feature's position, or -1."""
    lines = np.full(int(domain.offsets[-1]), -1, dtype=np.int64)
    for index, feature in enumerate(domain.features):
        if feature.has_numbers and feature.limits is None:
            start = int(domain.offsets[index])
            lines[start : start + feature.n_plain] = index
    return lines
