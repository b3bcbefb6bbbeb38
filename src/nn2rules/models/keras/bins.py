"""Bins of numbers that a model makes itself, compared with those of the domain.

The model is traced with numbers from every bin in place of the bins. If it treats the
numbers of each bin alike, so do its weights, and they can be put together again.
"""

from bisect import bisect_right
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import UnsupportedModelError
from nn2rules.network import Layer, Network
from nn2rules.space import Domain, Feature, Value

_INSIDE = 9
_DISTANCES = tuple(2.0**power for power in range(-4, 33, 2))


@dataclass(frozen=True)
class Finer:
    """A domain with numbers in place of bins.

    Attributes
    ----------
    coarse, domain : Domain
        With bins, and with numbers.
    codes : tuple of arrays
        For each feature, the code in `coarse` of each value in `domain`.
    """

    coarse: Domain
    domain: Domain
    codes: tuple[NDArray[np.int64], ...]

    def put_together(self, network: Network) -> Network:
        """Return a network on the finer domain as one on the coarse domain.

        Raises
        ------
        UnsupportedModelError
            If it tells numbers of one bin apart.
        """
        if self.domain == self.coarse:
            return network
        first, *rest = network.layers
        blocks = np.split(first.weights, self.domain.offsets[1:-1])
        weights = [
            self._merged(index, block, codes)
            for index, (block, codes) in enumerate(zip(blocks, self.codes, strict=True))
        ]
        whole = np.concatenate(weights)
        merged = Layer(whole, first.bias, first.activation, first.slope)
        return replace(network, domain=self.coarse, layers=(merged, *rest))

    def _merged(
        self, index: int, block: NDArray[np.float64], codes: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        places = np.searchsorted(codes, np.arange(self.coarse.sizes[index]))
        merged: NDArray[np.float64] = block[places]
        # Equal rows may differ in last bits: a matrix product goes in blocks of rows.
        slack = 2.0**-46 * np.abs(block).max(axis=0)
        wrong = np.flatnonzero((np.abs(block - merged[codes]) > slack).any(axis=1))
        if len(wrong):
            feature, values = self.coarse.features[index], self.domain.features[index]
            one, other = values.values[places[codes[wrong[0]]]], values.values[wrong[0]]
            raise UnsupportedModelError(
                f"feature {feature.name!r}: the model tells numbers of one bin apart, "
                f"such as {one:g} and {other:g}; only bins that the model itself makes "
                f"can be values, so give its own edges, or single numbers"
            )
        return merged


def finer(domain: Domain, unit: float) -> Finer:
    """Return a domain with some numbers of every bin in place of the bins.

    Parameters
    ----------
    domain : Domain
    unit : float
        The unit roundoff of the numbers that the model takes: one that takes float32
        cannot tell a number just below an edge from the edge.
    """
    features, codes = [], []
    for feature in domain.features:
        if feature.edges is None:
            features.append(feature)
            codes.append(np.arange(len(feature)))
            continue
        numbers = _numbers(feature.edges, unit)
        values: list[Value] = [*numbers]
        found = [bisect_right(feature.edges, number) for number in numbers]
        if None in feature.values:
            values.append(None)
            found.append(feature.values.index(None))
        features.append(Feature(feature.name, tuple(values)))
        codes.append(np.array(found))
    return Finer(domain, Domain(tuple(features)), tuple(codes))


def _numbers(edges: tuple[float, ...], unit: float) -> list[float]:
    """Return numbers from every bin, in ascending order."""
    below = [float(e) - max(abs(e) * 4 * unit, 1e-30) for e in edges]
    found = {below[0] - distance for distance in _DISTANCES}
    found |= {float(edges[-1]) + distance for distance in _DISTANCES}
    for low, high in zip(edges, below[1:], strict=False):
        found |= set(np.linspace(float(low), max(low, high), _INSIDE).tolist())
    return sorted(found | set(below) | set(map(float, edges)))
