"""Columns that are ranges of numbers, read at samples of the range.

While a model is read, some numbers of each range stand for it, including its two ends.
A network of these has a row of weights for each number. If these rows lie on a straight
line, one column of weights is enough: a slope, by which a number is multiplied, and an
offset, which goes into the bias. Some ranges follow a curve, such as a logarithm,
before the line.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import DomainError, RowsError
from nn2rules.network import UNIT, Layer, Network
from nn2rules.space import (
    Curve,
    Curved,
    Domain,
    Feature,
    Lookup,
    Range,
    Rows,
    Shape,
    Value,
    cells_of,
)

_INSIDE = 32
_SEEN = 96

_GOLDEN = 0.6180339887498949
"""The fractional parts of its multiples are spread evenly but irregularly."""

_ROUNDINGS = 64
"""How far rows may lie off a line. This becomes part of the bound on the error."""

_OTHERWISE = 8
"""The factor by which a model may be farther off the line between the samples."""


@dataclass(frozen=True)
class Sampled:
    """A domain with samples in place of each range.

    Attributes
    ----------
    real, domain : Domain
        With ranges, and with samples in their place.
    numbers : tuple of arrays, or None
        For each feature, the samples of its range in ascending order; for a curve,
        the values of the curve there.
    """

    real: Domain
    domain: Domain
    numbers: tuple[NDArray[np.float64] | None, ...]

    @property
    def ranges(self) -> frozenset[int]:
        """The positions of features that are ranges."""
        return frozenset(i for i, each in enumerate(self.numbers) if each is not None)

    def codes_of(self, rows: Rows) -> NDArray[np.int64]:
        """Return the codes of rows in `domain`, -1 for unknown values.

        A number has the code of the nearest sample: these rows only show which values
        occur together.
        """
        codes, cells = (
            self.real.encode(rows, unknown="mark"),
            self.real.numbers(rows),
        )
        for index in self.ranges:
            numbers, column = self.numbers[index], codes[:, index]
            assert numbers is not None, "ranges have samples"
            middles = numbers[:-1] / 2 + numbers[1:] / 2
            near = np.searchsorted(middles, cells[:, index])
            beside = np.where(column > 0, column + len(numbers) - 1, column)
            codes[:, index] = np.where(column == 0, near, beside)
        return codes

    def with_ranges(self, network: Network, unit: float) -> tuple[Network, list[str]]:
        """Return a network on the samples as a network on the ranges.

        Parameters
        ----------
        network : Network
            Of `domain`.
        unit : float
            The unit roundoff of the model and of its preprocessing.

        Returns
        -------
        network : Network
            Of `real`. The bound on its error includes the rounding on the way.
        nonlinear : list of str
            The features whose rows are not on a line. If there are any, the network is
            not valid.
        """
        if not self.ranges:
            return network, []
        first, *rest = network.layers
        blocks = np.split(first.weights, self.domain.offsets[1:-1])
        bias, slack, nonlinear = first.bias.copy(), np.zeros(len(first.bias)), []
        joined = []
        for feature, block, numbers in zip(
            self.real.features, blocks, self.numbers, strict=True
        ):
            if numbers is None:
                joined.append(block)
                continue
            line = _line(numbers, block[: len(numbers)], curve_error(feature, unit))
            if not line.is_linear(unit):
                nonlinear.append(feature.name)
            bias += line.offset
            slack += line.slack(unit) + 4 * UNIT * np.abs(block).max(axis=0)
            joined += [
                line.slope[np.newaxis],
                block[len(numbers) :] - line.offset,
            ]
        if nonlinear:
            return network, nonlinear
        slack += 4 * UNIT * len(blocks) * np.abs(bias)
        layer = Layer(np.concatenate(joined), bias, first.activation, first.slope)
        layers = (layer, *rest)
        error = network.model_error
        if error is not None:
            error = _finite(error + _carried(layers, slack))
        return replace(network, domain=self.real, layers=layers, model_error=error), []


@dataclass(frozen=True)
class _Line:
    """A line for each unit through the rows of some numbers.

    `gap` is the largest distance of a row from the line, `most` the largest absolute
    value of the rows, and `reach` that of the numbers. `error` bounds how much a
    model's own values of a curve can differ from these.
    """

    slope: NDArray[np.float64]
    offset: NDArray[np.float64]
    gap: NDArray[np.float64]
    most: NDArray[np.float64]
    reach: float
    error: float

    @property
    def size(self) -> NDArray[np.float64]:
        """The size of the two terms of the line."""
        return np.abs(self.slope) * self.reach + np.abs(self.offset)

    def is_linear(self, unit: float) -> bool:
        """Tell whether rounding explains the distances from the line."""
        most = _ROUNDINGS * max(unit, UNIT) * self.size
        most = most + np.abs(self.slope) * self.error
        return bool((self.gap <= most).all())  # False if it is not finite

    def slack(self, unit: float) -> NDArray[np.float64]:
        """Bound the distance of the model from the line for any number of the range.

        A model rounds a number itself, its product with a factor, and the result of
        each step. If the distance is larger, it may be still larger elsewhere.
        """
        roundings = 2 * unit * np.abs(self.slope) * self.reach + 4 * unit * self.most
        roundings += 16 * UNIT * self.size + np.abs(self.slope) * self.error
        is_more = self.gap > roundings
        return roundings + np.where(is_more, _OTHERWISE * self.gap, self.gap)


def _line(
    numbers: NDArray[np.float64], rows: NDArray[np.float64], error: float
) -> _Line:
    """Return the simplest line through rows: in float32, or through 0, if possible."""
    reach, column = float(np.abs(numbers).max()), numbers[:, np.newaxis]
    near = int(np.abs(numbers).argmin())
    with np.errstate(all="ignore"):  # what overflows is not a line
        rise, run = rows[-1] - rows[0], numbers[-1] - numbers[0]
        slope = rise / run if run else np.zeros(rows.shape[1])
        lines = []
        for steep in (slope.astype(np.float32).astype(np.float64), slope):
            through = rows[near] - steep * numbers[near]
            for offset in (np.zeros(rows.shape[1]), through):
                gap = np.abs(rows - (steep * column + offset)).max(axis=0)
                lines.append((steep, offset, gap))
        # In the order of simplicity: through 0 first.
        lines = [lines[0], lines[2], lines[1], lines[3]]
        gaps = np.array([gap for *_, gap in lines])
        enough = 2 * np.nanmin(gaps, axis=0) + 4 * UNIT * np.abs(rows).max(axis=0)
        best = (gaps <= enough).argmax(axis=0)
        units = np.arange(rows.shape[1])
        slope, offset, gap = (
            np.array([each[part] for each in lines])[best, units] for part in range(3)
        )
    return _Line(slope, offset, gap, np.abs(rows).max(axis=0), reach, error)


def _carried(layers: Sequence[Layer], error: NDArray[np.float64]) -> float:
    """Bound the effect on the scores of an error in the first pre-activations."""
    with np.errstate(all="ignore"):
        for before, layer in pairwise(layers):
            error = (before.function.lipschitz * error) @ np.abs(layer.weights)
    return float(error.max()) * (1 + 2.0**-20)


def _finite(error: float) -> float | None:
    return error if np.isfinite(error) else None


def sampled(domain: Domain, data: Rows) -> Sampled:
    """Return a domain with samples in place of its ranges, some from the data."""
    features: list[Feature] = []
    numbers: list[NDArray[np.float64] | None] = []
    for feature in domain.features:
        if not isinstance(feature, Range):
            features.append(feature)
            numbers.append(None)
            continue
        plain_feature = feature.uncurved
        chosen = _numbers(plain_feature, _seen(plain_feature, data))
        rest = feature.values[feature.n_plain :]
        values: list[Value] = [int(n) if plain_feature.whole else n for n in chosen]
        features.append(Feature(feature.name, (*values, *rest)))
        if isinstance(feature, Curved):
            chosen = [feature.curve(number) for number in chosen]
        numbers.append(np.array(chosen, dtype=np.float64))
    return Sampled(domain, Domain(tuple(features)), tuple(numbers))


def _seen(feature: Feature, data: Rows) -> list[float]:
    """Return some numbers of a range that occur in the data, evenly spread."""
    if data is None:
        return []
    try:
        [cells] = cells_of(data, [feature.name])
    except RowsError:
        return []
    lookup = Lookup(feature)
    numbers = sorted({lookup.number(c) for c in set(cells) if lookup[c] == 0})
    places = np.linspace(0, len(numbers) - 1, min(_SEEN, len(numbers))).astype(int)
    return [numbers[place] for place in places]


def _numbers(feature: Feature, seen: Sequence[float]) -> list[float]:
    """Return numbers of a range in ascending order: its ends, and some between."""
    assert isinstance(feature, Range), "asked only of ranges"
    low, high = map(float, feature.limits)
    numbers = {low, high, *seen}
    for turn in range(1, _INSIDE + 1):
        part = turn * _GOLDEN % 1
        number = float(np.float32(low * (1 - part) + high * part))
        numbers.add(float(round(number)) if feature.whole else number)
    special = [v for v in feature.values[feature.n_plain :] if v is not None]
    return sorted(n + 0.0 for n in numbers if low <= n <= high and n not in special)


_CURVE_ROUNDINGS = 16
"""A bound on the error of a library's function, in units in the last place."""


def along(feature: Feature, shape: Shape | None) -> Feature:
    """Return a range behind a curve, if the curve is defined on all of it.

    Examples
    --------
    >>> along(Feature.real("income", 1, 64), Shape("log2")).limits
    (0, 6)
    """
    if not isinstance(feature, Range) or feature.edges or shape is None:
        return feature
    try:
        return feature.along(Curve(shape, feature.limits, feature.whole))
    except DomainError:
        return feature  # the curve is not defined there


def curve_error(feature: Feature, unit: float) -> float:
    """Bound the difference between a library's value of a curve and the curve itself.

    Parameters
    ----------
    feature : Feature
    unit : float
        The unit roundoff that the library computes with.

    Notes
    -----
    Logarithms and roots are exact to a few units in the last place. Quantiles are
    interpolated between shares of at most 1. A power p is computed as
    ``expm1(p * log(x)) / p`` or as ``(x ** p - 1) / p``: an error of the logarithm
    grows by ``x ** p``, and the difference can cancel leading digits.
    """
    if not isinstance(feature, Curved):
        return 0.0
    shape, largest = feature.curve.shape, max(map(abs, feature.curve.limits))
    size = max(largest, 1.0) if shape.kind == "quantiles" else largest
    if shape.power is not None:
        size += _grown(shape, feature.curve.ends)
    return _CURVE_ROUNDINGS * max(unit, UNIT) * size


def _grown(shape: Shape, ends: tuple[float, float]) -> float:
    """Bound the effect of roundings before the last step of a power on a range."""
    power, logarithms, powers = shape.power, [], []
    assert power is not None, "the shape is a power"
    for end in ends:
        is_box_cox = shape.kind == "box-cox"
        logarithms.append(math.log(end) if is_box_cox else math.log1p(abs(end)))
        powers.append(power if is_box_cox or end >= 0 else 2 - power)
    both = zip(powers, logarithms, strict=True)
    grown = max(1.0, *(math.exp(power * logarithm) for power, logarithm in both))
    cancelled = max(1 / abs(power) if power else 0.0 for power in powers)
    return (1 + grown) * (max(map(abs, logarithms)) + cancelled)


def curves_of(domain: Domain) -> dict[str, str]:
    """Return the kind of curve of each feature that has one."""
    return {
        f.name: f.curve.shape.kind for f in domain.features if isinstance(f, Curved)
    }
