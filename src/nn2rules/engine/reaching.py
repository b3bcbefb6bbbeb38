"""Whether a class is reachable, and whether changing some features changes the class.

Both are searches for an input whose scores are all above 0. For a class the scores are
its leads over the other classes; for two inputs they are the scores of a twin network.
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
from nn2rules.engine.borders import Borders, corners
from nn2rules.engine.exact_boxes import decider_of
from nn2rules.engine.flat import (
    Lead,
    boxes_per_check,
    claim,
    empty_inputs,
    empty_stack,
    ending_in,
    lead_of,
    workspace,
)
from nn2rules.engine.limits import Meter
from nn2rules.engine.proof_or_counterexample import Answer
from nn2rules.engine.table import exact_class
from nn2rules.language import unused
from nn2rules.network import Layer, Network
from nn2rules.space import Boxes, Domain, Feature, Range
from nn2rules.space._kernels.boxes import is_covered


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two inputs that differ only in some features.

    Attributes
    ----------
    codes : ndarray of int, shape (2, n_features)
    numbers : ndarray of float, of the same shape
    """

    codes: NDArray[np.int64]
    numbers: NDArray[np.float64]


class Twin:
    """Two copies of a network that share all features but some."""

    def __init__(self, network: Network, features: Sequence[int]) -> None:
        self.network, self.features = network, list(features)
        domain = network.domain
        copies = [_renamed(domain.features[f], domain.names) for f in self.features]
        self.domain = Domain((*domain.features, *copies))
        self._parts = [
            np.arange(domain.offsets[f], domain.offsets[f + 1]) for f in self.features
        ]

    def columns(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return an array over values, extended by the values of copied features."""
        return np.concatenate([values, *(values[part] for part in self._parts)])

    def both(self, boxes: Boxes) -> Boxes:
        """Return the boxes of pairs of which both inputs lie in a box."""
        copies = [boxes.allowed[:, part] for part in self._parts]
        ends = boxes.ends[:, :, self.features]
        return Boxes(
            np.ascontiguousarray(np.hstack([boxes.allowed, *copies])),
            np.ascontiguousarray(np.concatenate([boxes.ends, ends], axis=2)),
        )

    def either(self, boxes: Boxes) -> Boxes:
        """Return the boxes of pairs of which one input lies in a box."""
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
        """Return the two inputs that an input of the twin network stands for."""
        n_features = len(self.network.domain.sizes)
        values = np.stack([codes[:n_features]] * 2)
        amounts = np.stack([numbers[:n_features]] * 2)
        values[1, self.features] = codes[n_features:]
        amounts[1, self.features] = numbers[n_features:]
        return Pair(values, amounts)

    def flat(self, classes: tuple[int, int]) -> FlatNetwork:
        """Return the network whose scores are positive where both inputs have a class.

        The last score is the lead of the first input over the second. It follows from
        the others, but its bounds are far tighter.
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
        """Return the layers before the last, each as two copies side by side."""
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
        """Return the first layer's weights of one copy."""
        copies = [weights[part] for part in self._parts]
        if copy == 0:
            return np.vstack([weights, *(np.zeros_like(each) for each in copies)])
        shared = weights.copy()
        for part in self._parts:
            shared[part] = 0.0
        return np.vstack([shared, *copies])

    def _on(self, weights: NDArray[np.float64], copy: int) -> NDArray[np.float64]:
        """Return last weights that depend on one copy only."""
        if len(self.network.layers) == 1:
            return self._first(weights, copy)
        nothing = np.zeros_like(weights)
        return np.vstack([nothing, weights] if copy else [weights, nothing])


def _renamed(feature: Feature, taken: Sequence[str]) -> Feature:
    """Return a copy of a feature with an unused name."""
    name = unused(feature.name, taken)
    if not isinstance(feature, Range):
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
    """Prove that no input of some boxes has class `index`, or return one that has.

    Parameters
    ----------
    within : Boxes
    ignoring : Boxes
        Inputs in these boxes are ignored.

    Raises
    ------
    BudgetExceededError
        If the budget is spent first.
    """
    net = claim(network, index)
    nothing = np.zeros((0, 2), dtype=np.int64)
    ranks = np.zeros(int(net.sizes[0]))

    def is_match(codes: NDArray[np.int64], numbers: NDArray[np.float64]) -> bool:
        return exact_class(network, codes, numbers) == index

    decider = decider_of(network, index, meter, never=True)
    for box in range(len(within.allowed)):
        borders, order = Borders(net, decider, ignoring), (nothing, ranks, False)
        match = _search(net, within, box, ignoring, order, is_match, meter, borders)
        if match is not None:
            return Answer(False, *match)
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
    """Return two inputs that differ only in some features and have two given classes.

    None is a proof that there are no such inputs.

    Parameters
    ----------
    features : sequence of int
        The features in which they may differ.
    classes : (int, int)
        The classes of the first and the second input; they are different.
    within, ignoring : Boxes
        Both inputs lie in the former, and none in the latter.
    ranks : ndarray of shape (n_columns,), optional
        If given, the first input must have the lower rank, for a single feature. The
        rank of a number of a range is the number.

    Raises
    ------
    BudgetExceededError
        If the budget is spent first.
    """
    domain, twin = network.domain, Twin(network, features)
    net = twin.flat(classes)
    pairs = np.array(
        [(f, len(domain.sizes) + i) for i, f in enumerate(features)], dtype=np.int64
    )
    by_column = np.zeros(int(domain.offsets[-1])) if ranks is None else ranks
    order = pairs, twin.columns(by_column), ranks is not None
    ignored = twin.either(ignoring)

    def is_match(codes: NDArray[np.int64], numbers: NDArray[np.float64]) -> bool:
        both = twin.parted(codes, numbers)
        return all(
            exact_class(network, both.codes[i], both.numbers[i]) == classes[i]
            for i in range(2)
        )

    doubled = twin.both(within)
    for box in range(len(within.allowed)):
        borders = Borders(net, None, ignored)
        match = _search(net, doubled, box, ignored, order, is_match, meter, borders)
        if match is not None:
            return twin.parted(*match)
    return None


def _search(
    net: FlatNetwork,
    within: Boxes,
    box: int,
    ignored: Boxes,
    order: tuple[NDArray[np.int64], NDArray[np.float64], bool],
    is_match: Callable[[NDArray[np.int64], NDArray[np.float64]], bool],
    meter: Meter,
    borders: Borders,
) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
    """Return an input of a box whose scores are all above 0; None if there is none.

    Inputs that float64 cannot decide are left to `is_match`.
    """
    space, stack, ties = workspace(net), empty_stack(net), empty_inputs(net, _TIES)
    stack.allowed[0], stack.ends[0] = within.allowed[box], within.ends[box]
    stack.depth[0] = 0
    top = 1
    while True:
        allowance = borders.allowance(meter.allowance(boxes_per_check(net)))
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
            is_ordered = order[2]  # then corners may not be in that order
            if not is_ordered:
                unsure = chain(unsure, corners(net, stack, top - 1))
        for codes, numbers in unsure:
            if not is_covered(net, codes, numbers, ignored) and is_match(
                codes, numbers
            ):
                return codes.copy(), numbers.copy()
        if status == REFUTED:
            return space.choice.copy(), space.numbers.copy()
        meter.spend(n_boxes)
        top, decided = borders.settle(status, n_boxes, space, stack, top)
        if decided is not None or status == PROVED:
            return decided
