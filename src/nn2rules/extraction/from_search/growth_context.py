"""The context in which boxes grow: a network, and rows that guide the growth.

It is sent once to each worker, in compact form. Each wave of boxes then needs one bit
per row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import (
    Meter,
    boxes_per_check,
    claim,
    empty_inputs,
    empty_stack,
    workspace,
)
from nn2rules.engine._kernels.network import FlatNetwork
from nn2rules.errors import BudgetExceededError
from nn2rules.extraction._kernels import box_growth
from nn2rules.extraction._kernels.near_rows import RowIndex
from nn2rules.extraction._kernels.proposing import Growth, Plan
from nn2rules.network import Network
from nn2rules.space import Boxes, Domain, Inputs, Range

LIMITS = np.array([500, 30], dtype=np.int64)
"""Boxes to search for a slab that brings a row, and for one that brings none."""

PATIENCE = 4.0
"""A slab is given up once it seems to need this many times as many boxes."""

KNOWN = 1024
"""How many counterexamples are remembered while a box grows.

They are not reused for other boxes: to try all of them would cost more than it saves.
"""

_COVERED_ROW_SHARE, COVERED_ROW_WEIGHT = 0.2, 0.15
"""This fraction of the covered rows keeps this weight.

So boxes grow towards dense regions, where unseen rows are likely.
"""


@dataclass(frozen=True)
class Cases:
    """Rows to cover: inputs, how often each occurs, and their exact classes.

    Attributes
    ----------
    inputs : Inputs
        All distinct.
    weights : ndarray of float64
        The weight of covering a row; 0 for rows that only mark where other classes are.
    answers : ndarray of int64
    """

    inputs: Inputs
    weights: NDArray[np.float64]
    answers: NDArray[np.int64]


class Grown(NamedTuple):
    """A box that is proved and can still grow.

    Attributes
    ----------
    state : Growth
    answer : int
        The position of its class.
    """

    state: Growth
    answer: int


class Spare(NamedTuple):
    """What one wave leaves to the next.

    Attributes
    ----------
    boxes : sequence of Grown
        Grown boxes that were not chosen.
    width : int
        How many boxes to grow next; 0 before the first wave.
    """

    boxes: Sequence[Grown] = ()
    width: int = 0


class GrowthContext:
    """A network and rows, prepared for growing boxes."""

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
        sampled = rng.random(len(cases.weights)) < _COVERED_ROW_SHARE
        self.covered_row_weights = sampled * cases.weights * COVERED_ROW_WEIGHT
        self.row_index = RowIndex(
            self.columns.T.copy(),
            cases.inputs.numbers.T.copy(),
            cases.weights,
            *_sorted(self.columns, cases.inputs.numbers, domain),
        )

    def __reduce__(self) -> Any:
        cases, ranges = self.cases, self.network.domain.ranges >= 0
        largest = max(self.network.domain.sizes)
        kind = np.min_scalar_type(largest)
        return _sent_context, (
            self.network,
            cases.inputs.codes.astype(kind),
            cases.inputs.numbers[:, ranges],
            cases.weights,
            cases.answers.astype(np.min_scalar_type(len(self.nets))),
            self.seed,
        )

    def buffers(self, answer: int, ignored: Boxes) -> box_growth.SearchBuffers:
        """Return the buffers of a search for one class, without counterexamples."""
        net = self.nets[answer]
        return box_growth.SearchBuffers(
            workspace(net),
            empty_stack(net),
            ignored,
            empty_inputs(net, 1),
            empty_inputs(net, KNOWN),
            np.zeros(3, dtype=np.int64),
        )


def _sent_context(
    network: Network,
    codes: NDArray[Any],
    numbers: NDArray[np.float64],
    weights: NDArray[np.float64],
    answers: NDArray[Any],
    seed: int,
) -> GrowthContext:
    amounts = np.ones(codes.shape)
    amounts[:, network.domain.ranges >= 0] = numbers
    inputs = Inputs(codes.astype(np.int64), amounts)
    nets = [claim(network, index) for index in range(len(network.classes))]
    return GrowthContext(
        network, nets, Cases(inputs, weights, answers.astype(np.int64)), seed
    )


@dataclass(frozen=True, eq=False)
class Wave:
    """What boxes that grow at the same time have in common.

    Attributes
    ----------
    uncovered : ndarray of bool
        The rows that are not covered yet.
    others : ndarray of bool
        Rows that boxes of other classes must not contain.
    ignored : Boxes
        Inputs in these boxes are ignored.
    worth : ndarray of float64, optional
        The weight of each row; by default that of the case if it is not covered yet.
    """

    uncovered: NDArray[np.bool_]
    others: NDArray[np.bool_]
    ignored: Boxes
    worth: NDArray[np.float64] | None = None

    def __reduce__(self) -> Any:
        same = self.others is self.uncovered
        packed = [
            np.packbits(self.uncovered),
            None if same else np.packbits(self.others),
        ]
        boxes = np.packbits(self.ignored.allowed, axis=1), self.ignored.ends
        sizes = len(self.uncovered), self.ignored.allowed.shape[1]
        return _sent_wave, (*packed, *boxes, sizes, self.worth)

    @cached_property
    def _row_indexes(self) -> dict[int, RowIndex]:
        return {}

    def row_index(self, context: GrowthContext, answer: int) -> RowIndex:
        """Return the rows with their weights for a box of a class."""
        if answer not in self._row_indexes:
            left = self.worth
            if left is None:
                left = np.where(self.uncovered, context.cases.weights, 0.0)
            same = context.cases.answers == answer
            kept = np.maximum(left, context.covered_row_weights)
            worth = np.where(same, kept, np.where(self.others, -1.0, 0.0))
            self._row_indexes[answer] = context.row_index._replace(worth=worth)
        return self._row_indexes[answer]


def _sent_wave(
    uncovered: NDArray[np.uint8],
    others: NDArray[np.uint8] | None,
    allowed: NDArray[np.uint8],
    ends: NDArray[np.float64],
    sizes: tuple[int, int],
    worth: NDArray[np.float64] | None,
) -> Wave:
    n_rows, n_columns = sizes
    rows = np.unpackbits(uncovered, count=n_rows).astype(np.bool_)
    outside = rows
    if others is not None:
        outside = np.unpackbits(others, count=n_rows).astype(np.bool_)
    boxes = np.unpackbits(allowed, axis=1, count=n_columns).astype(np.bool_)
    return Wave(rows, outside, Boxes(boxes, ends), worth)


class Step(NamedTuple):
    """A box to grow: by values that cover rows, or if `is_last`, by others, too."""

    wave: Wave
    grown: Grown
    is_last: bool


def copied(state: Growth) -> Growth:
    """Return an independent copy of a growing box."""
    return Growth._make(part.copy() for part in state)


def grow(context: GrowthContext, step: Step, meter: Meter) -> tuple[Growth, int, int]:
    """Return a grown box, and how many questions and boxes it took.

    The box is proved at every moment, so it can be returned as it is when time is up.
    """
    wave, (start, answer), is_last = step
    state = copied(start)
    net, buffers = context.nets[answer], context.buffers(answer, wave.ignored)
    row_index, most = wave.row_index(context, answer), boxes_per_check(net)
    try:
        while not box_growth.grow(
            net, buffers, row_index, context.plan, state, most, is_last
        ):
            meter.spend()
    except BudgetExceededError:
        pass  # the caller checks the time, too
    return state, int(buffers.counts[2]), int(buffers.counts[1])


def _sorted(
    columns: NDArray[np.int64], numbers: NDArray[np.float64], domain: Domain
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows sorted by each feature, and where each column starts."""
    n_rows, n_features = columns.shape
    order = np.empty((n_features, n_rows), dtype=np.int64)
    starts = np.full(int(domain.offsets[-1]) + 1, n_rows * n_features)
    for feature in range(n_features):
        order[feature] = np.lexsort([numbers[:, feature], columns[:, feature]])
        block = np.arange(domain.offsets[feature], domain.offsets[feature + 1])
        first = np.searchsorted(columns[order[feature], feature], block)
        starts[block] = feature * n_rows + first
    return order, starts


def _lines(domain: Domain) -> NDArray[np.int64]:
    """Return the feature of each value that is an ordered number; -1 for others."""
    lines = np.full(int(domain.offsets[-1]), -1, dtype=np.int64)
    for index, feature in enumerate(domain.features):
        if feature.has_numbers and not isinstance(feature, Range):
            start = int(domain.offsets[index])
            lines[start : start + feature.n_plain] = index
    return lines
