"""A network twice: its inputs are two at once, which share all features but some.

There the difference of both scores can be bounded, and what the inputs share cancels.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nn2rules.domain import Domain
from nn2rules.engine._kernels.boxes import Boxes
from nn2rules.engine._kernels.network import FlatNetwork
from nn2rules.engine.flat import Lead, ending_in, lead_of
from nn2rules.feature import Feature
from nn2rules.layer import Layer
from nn2rules.network import Network
from nn2rules.text import unused


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
