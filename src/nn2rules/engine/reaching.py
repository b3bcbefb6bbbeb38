"""Whether a class is ever reached, and whether two inputs that differ little differ.

Both are one search, for an input all of whose scores are above 0. For a class these are
its leads over the others; for two inputs they are the scores of a twin network.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine._kernels.network import FlatNetwork
from nn2rules.engine._kernels.reaching import reach
from nn2rules.engine._kernels.search import PROVED, REFUTED, TOO_DEEP
from nn2rules.engine.answer import Answer
from nn2rules.engine.borders import Borders, corners
from nn2rules.engine.exact_boxes import decider_of
from nn2rules.engine.flat import (
    Lead,
    boxes_at_once,
    claim,
    ending_in,
    lead_of,
    points,
    stack_of,
    workspace,
)
from nn2rules.engine.limits import Meter
from nn2rules.engine.table import settle_codes
from nn2rules.language import unused
from nn2rules.network import Layer, Network
from nn2rules.space import Boxes, Domain, Feature
from nn2rules.space._kernels.boxes import is_covered


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two inputs that differ in some features alone.

    Attributes
    ----------
    codes : ndarray of int, shape (2, n_features)
    numbers : ndarray of float, of the same shape
    """

    codes: NDArray[np.int64]
    numbers: NDArray[np.float64]


class Twin:
    """A network twice, with some features of its own for the second."""

    def __init__(self, network: Network, features: Sequence[int]) -> None:
        self.network, self.features = network, list(features)
        domain = network.domain
        copies = [_renamed(domain.features[f], domain.names) for f in self.features]
        self.domain = Domain((*domain.features, *copies))
        self._parts = [
            np.arange(domain.offsets[f], domain.offsets[f + 1]) for f in self.features
        ]

    def columns(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what there is for each value, with that of the copies behind it."""
        return np.concatenate([values, *(values[part] for part in self._parts)])

    def both(self, boxes: Boxes) -> Boxes:
        """Return the boxes in which both inputs lie in a box."""
        copies = [boxes.allowed[:, part] for part in self._parts]
        ends = boxes.ends[:, :, self.features]
        return Boxes(
            np.ascontiguousarray(np.hstack([boxes.allowed, *copies])),
            np.ascontiguousarray(np.concatenate([boxes.ends, ends], axis=2)),
        )

    def either(self, boxes: Boxes) -> Boxes:
        """Return the boxes in which one of both inputs lies in a box."""
        doubled, limits = self.both(boxes), self.domain.limits
        n_columns = boxes.allowed.shape[1]
        n_features = boxes.ends.shape[2]
        first, second = doubled.allowed.copy(), doubled.allowed.copy()
        starts, stops = doubled.ends.copy(), doubled.ends.copy()
        first[:, n_columns:] = True
        starts[:, :, n_features:] = limits[:, n_features:]
        for part in self._parts:
            second[:, part] = True
        stops[:, :, self.features] = limits[:, self.features]
        return Boxes(np.vstack([first, second]), np.concatenate([starts, stops]))

    def parted(self, codes: NDArray[np.int64], numbers: NDArray[np.float64]) -> Pair:
        """Return the two inputs that one is."""
        n_features = len(self.network.domain.sizes)
        values = np.stack([codes[:n_features]] * 2)
        amounts = np.stack([numbers[:n_features]] * 2)
        values[1, self.features] = codes[n_features:]
        amounts[1, self.features] = numbers[n_features:]
        return Pair(values, amounts)

    def flat(self, classes: tuple[int, int]) -> FlatNetwork:
        """Return the network whose scores are positive where both classes are right.

        The last is how far the first input is ahead of the second, which follows from
        the others, and is bounded far better.
        """
        network = self.network
        one, other = (lead_of(network, index) for index in classes)
        place = 0
        if not network.is_binary:
            others = [k for k in range(len(network.classes)) if k != classes[0]]
            place = others.index(classes[1])
        ahead, large = one.weights[:, [place]], one.large[:, [place]]
        zero = np.zeros(1)
        with np.errstate(over="ignore", invalid="ignore"):
            weights, larges = (
                np.hstack(
                    [self._on(a, 0), self._on(b, 1), self._on(c, 0) + self._on(d, 1)]
                )
                for a, b, c, d in (
                    (one.weights, other.weights, ahead, -ahead),
                    (one.large, other.large, large, large),
                )
            )
        lead = Lead(
            weights,
            np.concatenate([one.bias, other.bias, zero]),
            larges,
            np.concatenate([one.large_bias, other.large_bias, zero]),
        )
        return ending_in(self._layers(), lead, self.domain)

    def _layers(self) -> list[Layer]:
        """Return the layers before the last, each twice side by side."""
        layers: list[Layer] = []
        for index, layer in enumerate(self.network.layers[:-1]):
            n_units = len(layer.bias)
            if index == 0:
                weights = np.hstack(
                    [self._first(layer.weights, copy) for copy in range(2)]
                )
            else:
                weights = np.zeros((2 * len(layer.weights), 2 * n_units))
                weights[: len(layer.weights), :n_units] = layer.weights
                weights[len(layer.weights) :, n_units:] = layer.weights
            bias = np.concatenate([layer.bias, layer.bias])
            layers.append(Layer(weights, bias, layer.activation, layer.slope))
        return layers

    def _first(self, weights: NDArray[np.float64], copy: int) -> NDArray[np.float64]:
        """Return the weights of the first or the second input."""
        copies = [weights[part] for part in self._parts]
        if copy == 0:
            return np.vstack([weights, *(np.zeros_like(each) for each in copies)])
        shared = weights.copy()
        for part in self._parts:
            shared[part] = 0.0
        return np.vstack([shared, *copies])

    def _on(self, weights: NDArray[np.float64], copy: int) -> NDArray[np.float64]:
        """Return last weights that see one of both inputs alone."""
        if len(self.network.layers) == 1:
            return self._first(weights, copy)
        nothing = np.zeros_like(weights)
        return np.vstack([nothing, weights] if copy else [weights, nothing])


def _renamed(feature: Feature, taken: Sequence[str]) -> Feature:
    """Return a feature by another name."""
    name = unused(feature.name, taken)
    if feature.limits is None:
        return Feature(name, feature.values)
    beside = feature.values[feature.n_plain :]
    return Feature.real(
        name,
        *feature.limits,
        whole=feature.whole,
        special=[value for value in beside if value is not None],
        missing=None in beside,
    )


_TIES = 256


def find_class(
    network: Network,
    index: int,
    within: Boxes,
    ignoring: Boxes,
    meter: Meter,
) -> Answer:
    """Tell whether no input of some boxes is of class `index`; or give one.

    Parameters
    ----------
    within : Boxes
    ignoring : Boxes
        Inputs inside these do not count.

    Raises
    ------
    BudgetExceededError
        If the budget is spent before the answer is known.
    """
    net = claim(network, index)
    nothing = np.zeros((0, 2), dtype=np.int64)
    ranks = np.zeros(int(net.sizes[0]))

    def is_found(codes: NDArray[np.int64], numbers: NDArray[np.float64]) -> bool:
        return settle_codes(network, codes, numbers) == index

    decider = decider_of(network, index, meter, never=True)
    for box in range(len(within.allowed)):
        borders, order = Borders(net, decider, ignoring), (nothing, ranks, False)
        found = _search(net, within, box, ignoring, order, is_found, meter, borders)
        if found is not None:
            return Answer(False, *found)
    return Answer(True)


def find_twins(
    network: Network,
    features: Sequence[int],
    classes: tuple[int, int],
    within: Boxes,
    ignoring: Boxes,
    meter: Meter,
    *,
    ranks: NDArray[np.float64] | None = None,
) -> Pair | None:
    """Return two inputs that differ in some features alone and have two given classes.

    None is a proof that there are none.

    Parameters
    ----------
    features : sequence of int
        In which they may differ.
    classes : (int, int)
        That of the first input, and that of the second; different.
    within, ignoring : Boxes
        Where both must be, and where neither counts.
    ranks : ndarray of shape (n_columns,), optional
        If given, the first input must have the lower rank, of a single feature; that of
        a number of a range is the number.

    Raises
    ------
    BudgetExceededError
        If the budget is spent before the answer is known.
    """
    domain, twin = network.domain, Twin(network, features)
    net = twin.flat(classes)
    pairs = np.array(
        [(f, len(domain.sizes) + i) for i, f in enumerate(features)], dtype=np.int64
    )
    own = np.zeros(int(domain.offsets[-1])) if ranks is None else ranks
    order = pairs, twin.columns(own), ranks is not None
    ignored = twin.either(ignoring)

    def is_found(codes: NDArray[np.int64], numbers: NDArray[np.float64]) -> bool:
        both = twin.parted(codes, numbers)
        found = [
            settle_codes(network, both.codes[i], both.numbers[i]) == classes[i]
            for i in range(2)
        ]
        return all(found)

    doubled = twin.both(within)
    for box in range(len(within.allowed)):
        borders = Borders(net, None, ignored)
        found = _search(net, doubled, box, ignored, order, is_found, meter, borders)
        if found is not None:
            return twin.parted(*found)
    return None


def _search(
    net: FlatNetwork,
    within: Boxes,
    box: int,
    ignored: Boxes,
    order: tuple[NDArray[np.int64], NDArray[np.float64], bool],
    is_found: Callable[[NDArray[np.int64], NDArray[np.float64]], bool],
    meter: Meter,
    borders: Borders,
) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
    """Return an input of a box that is looked for, or None if there is none.

    What float64 cannot decide, `is_found` does.
    """
    space, stack, ties = workspace(net), stack_of(net), points(net, _TIES)
    stack.allowed[0], stack.ends[0] = within.allowed[box], within.ends[box]
    stack.depth[0] = 0
    top = 1
    while True:
        allowance = borders.allowance(meter.allowance(boxes_at_once(net)))
        status, top, n_ties, n_boxes = reach(
            net,
            space,
            stack,
            top,
            ignored,
            *order,
            ties,
            allowance,
            borders.is_exact,
        )
        unsure: Iterable[Any] = zip(
            ties.codes[:n_ties], ties.numbers[:n_ties], strict=True
        )
        if status == TOO_DEEP:
            is_ordered = order[2]  # then a corner need not be a pair in that order
            if not is_ordered:
                unsure = chain(unsure, corners(net, stack, top - 1))
        for codes, numbers in unsure:
            if not is_covered(net, codes, numbers, ignored) and is_found(
                codes, numbers
            ):
                return codes.copy(), numbers.copy()
        if status == REFUTED:
            return space.choice.copy(), space.numbers.copy()
        meter.spend(n_boxes)
        top, decided = borders.settle(status, n_boxes, space, stack, top)
        if decided is not None or status == PROVED:
            return decided
