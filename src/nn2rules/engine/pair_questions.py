"""Questions about two inputs that differ only in some features.

Does the prediction depend on these features? Is it monotonic in one of them? The signs
of the weights alone answer many of these questions with yes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine.flat import lead_of
from nn2rules.network import Network
from nn2rules.space import Boxes

FALLING_SOMEWHERE = frozenset(("silu", "gelu"))
"""Activations that are not monotonic."""


@dataclass(frozen=True)
class PairQuestion:
    """Whether two inputs that differ only in some features violate a claim.

    Attributes
    ----------
    network : Network
    features : tuple of int
        The features in which they may differ.
    toward : int or None
        For monotonicity, the class that must not be lost. Otherwise any two classes
        violate the claim.
    ranks : ndarray of float or None
        For monotonicity, the place of each value in the order in which the prediction
        may only change to `toward`; a number of a range is its own place.
    is_increasing : bool
        Whether numbers are in that order, and not in the reverse one.
    """

    network: Network
    features: tuple[int, ...]
    toward: int | None = None
    ranks: NDArray[np.float64] | None = None
    is_increasing: bool = True

    def classes(self) -> Iterator[tuple[int, int]]:
        """Yield the pairs of classes of the two inputs that violate it.

        Where there is an order, the first input has the lower rank.
        """
        every = range(len(self.network.classes))
        if self.toward is None:
            yield from combinations(every, 2)
            return
        for other in every:
            if other != self.toward:
                both = self.toward, other
                yield both if self.is_increasing else both[::-1]

    def is_violated_by(self, one: int, other: int) -> bool:
        """Tell whether the classes of two inputs, in their order, violate the claim."""
        if self.toward is None:
            return one != other
        return (one, other) in set(self.classes())

    def columns(self, feature: int) -> list[int]:
        """Return the values of a feature, in its order if there is one."""
        start, stop = self.network.domain.offsets[feature : feature + 2].tolist()
        columns, ranks = [*range(start, stop)], self.ranks
        if ranks is None:
            return columns
        return sorted(columns, key=lambda column: float(ranks[column]))


def holds_by_weights(question: PairQuestion, within: Boxes) -> bool:
    """Tell whether the weights show that no two inputs of some boxes violate a claim.

    Either the network ignores the features, or every unit is monotonic in the one
    feature, so that the scores are. Only the signs of weights are used, and those are
    exact.
    """
    return _is_ignored(question, within) or _is_monotonic(question, within)


def _is_ignored(question: PairQuestion, within: Boxes) -> bool:
    """Tell whether the network ignores features, for all values they have here."""
    network, domain = question.network, question.network.domain
    weights = network.layers[0].weights
    if len(network.layers) > 1:
        weights = weights[:, network.layers[1].weights.any(axis=1)]
    for index in question.features:
        start, stop = domain.offsets[index : index + 2]
        allowed = within.allowed[:, start:stop].max(axis=0)
        rows = weights[start:stop][allowed]
        is_range = domain.ranges[index] >= 0 and allowed[0]
        if (rows != rows[0]).any() or (is_range and rows[0].any()):
            return False
    return True


def _is_monotonic(question: PairQuestion, within: Boxes) -> bool:
    """Tell whether every unit is monotonic in a feature, so that the scores are."""
    if question.ranks is None or question.toward is None:
        return False
    network = question.network
    if any(layer.activation in FALLING_SOMEWHERE for layer in network.layers[:-1]):
        return False
    if any((layer.slope or 0) < 0 for layer in network.layers[:-1]):
        return False
    lead = lead_of(network, question.toward)
    steps = _steps(question, within, lead.weights if len(network.layers) == 1 else None)
    for layer in network.layers[1:-1]:
        steps = _pulled(steps, layer.weights)
    if len(network.layers) > 1:
        steps = _pulled(steps, lead.weights)
    ups, downs = steps
    return not (downs if question.is_increasing else ups).any()


_Steps: TypeAlias = tuple[NDArray[np.bool_], NDArray[np.bool_]]
"""Whether each unit may rise, and whether it may fall, as a feature grows."""


def _steps(
    question: PairQuestion, within: Boxes, weights: NDArray[np.float64] | None
) -> _Steps:
    """Return how the first units move along an ordered feature."""
    domain, [index] = question.network.domain, question.features
    assert question.ranks is not None, "asked only where there is an order"
    first_weights = question.network.layers[0].weights if weights is None else weights
    start, stop = domain.offsets[index : index + 2]
    allowed = within.allowed[:, start:stop].max(axis=0)
    if domain.ranges[index] >= 0:
        return first_weights[start] > 0, first_weights[start] < 0
    order = np.argsort(question.ranks[start:stop][allowed], kind="stable")
    rows = first_weights[start:stop][allowed][order]
    grows, falls = rows[1:] > rows[:-1], rows[1:] < rows[:-1]
    return np.logical_or.reduce(grows), np.logical_or.reduce(falls)


def _pulled(steps: _Steps, weights: NDArray[np.float64]) -> _Steps:
    """Return how units move that depend on others with these weights."""
    ups, downs = (each[:, np.newaxis] for each in steps)
    up = ((weights > 0) & ups) | ((weights < 0) & downs)
    down = ((weights > 0) & downs) | ((weights < 0) & ups)
    return np.logical_or.reduce(up), np.logical_or.reduce(down)
