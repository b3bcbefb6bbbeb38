"""Columns that are ranges of numbers, read at samples of them.

While a model is read, some numbers of each range stand for it, its two ends among them.
A network made of these has a row of weights for each. If these rows lie along a
straight line, so does what the model makes of every other number, and one column of
weights says all: a slope, by which a number is multiplied, and an offset, which goes
into the bias.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import DomainError, RowsError
from nn2rules.network import UNIT, Layer, Network
from nn2rules.space import Curve, Domain, Feature, Lookup, Rows, Shape, Value, cells_of

_INSIDE = 32
_SEEN = 96

_GOLDEN = 0.6180339887498949
"""Multiples of this, without their whole parts, are spread evenly and irregularly."""

_ROUNDINGS = 64
"""How far rows may lie off a line. It becomes a part of the bound on the error."""

_OTHERWISE = 8
"""How much farther than at the samples a model may be off the line between them."""


@dataclass(frozen=True)
class Sampled:
    """A domain with some numbers in place of each range.

    Attributes
    ----------
    real, domain : Domain
        With ranges, and with numbers in their place.
    numbers : tuple of arrays, or None
        For each feature the numbers of its range, in ascending order; of a curve,
        its values there.
    """

    real: Domain
    domain: Domain
    numbers: tuple[NDArray[np.float64] | None, ...]

    @property
    def ranges(self) -> frozenset[int]:
        """The positions of features that are ranges."""
        return frozenset(i for i, each in enumerate(self.numbers) if each is not None)

    def codes_of(self, rows: Rows) -> NDArray[np.int64]:
        """Return the codes of rows in `domain`, -1 for what is unknown.

        A number has the code of the sample that is nearest: such rows only serve as
        examples of what may occur together.
        """
        codes, found = self.real.encode(rows, unknown="mark"), self.real.numbers(rows)
        for index in self.ranges:
            numbers, column = self.numbers[index], codes[:, index]
            assert numbers is not None, "ranges have samples"
            middles = numbers[:-1] / 2 + numbers[1:] / 2
            near = np.searchsorted(middles, found[:, index])
            beside = np.where(column > 0, column + len(numbers) - 1, column)
            codes[:, index] = np.where(column == 0, near, beside)
        return codes

    def straightened(self, network: Network, unit: float) -> tuple[Network, list[str]]:
        """Return a network of the samples as one of the ranges.

        Parameters
        ----------
        network : Network
            Of `domain`.
        unit : float
            The unit roundoff that the model, and what comes before it, compute with.

        Returns
        -------
        network : Network
            Of `real`. The bound on its error allows for what is rounded on the way.
        bent : list of str
            The features whose rows are not along a line. If there are any, the network
            means nothing.
        """
        if not self.ranges:
            return network, []
        first, *rest = network.layers
        blocks = np.split(first.weights, self.domain.offsets[1:-1])
        bias, slack, bent = first.bias.copy(), np.zeros(len(first.bias)), []
        made = []
        for feature, block, numbers in zip(
            self.real.features, blocks, self.numbers, strict=True
        ):
            if numbers is None:
                made.append(block)
                continue
            line = _line(numbers, block[: len(numbers)], curve_error(feature, unit))
            if not line.is_straight(unit):
                bent.append(feature.name)
            bias += line.offset
            slack += line.slack(unit) + 4 * UNIT * np.abs(block).max(axis=0)
            made += [line.slope[np.newaxis], block[len(numbers) :] - line.offset]
        if bent:
            return network, bent
        slack += 4 * UNIT * len(blocks) * np.abs(bias)
        layer = Layer(np.concatenate(made), bias, first.activation, first.slope)
        layers = (layer, *rest)
        error = network.model_error
        if error is not None:
            error = _finite(error + _carried(layers, slack))
        return replace(network, domain=self.real, layers=layers, model_error=error), []


@dataclass(frozen=True)
class _Line:
    """A line for each unit through the rows of some numbers.

    `gap` is how far off it the farthest row is, `most` the largest of the rows, and
    `reach` that of the numbers. `error` bounds by how much a model's own numbers are
    others than these, where they are values of a curve.
    """

    slope: NDArray[np.float64]
    offset: NDArray[np.float64]
    gap: NDArray[np.float64]
    most: NDArray[np.float64]
    reach: float
    error: float

    @property
    def size(self) -> NDArray[np.float64]:
        """How large the two numbers are that it adds up."""
        return np.abs(self.slope) * self.reach + np.abs(self.offset)

    def is_straight(self, unit: float) -> bool:
        """Tell whether rounding explains how far the rows are off the line."""
        most = _ROUNDINGS * max(unit, UNIT) * self.size
        most = most + np.abs(self.slope) * self.error
        return bool((self.gap <= most).all())  # what is not finite is not

    def slack(self, unit: float) -> NDArray[np.float64]:
        """Bound how far off the line the model may be for any number of the range.

        A model rounds a number itself, its product with a factor, and what each step
        makes of it. Where it is off by more, it may be off still more elsewhere.
        """
        roundings = 2 * unit * np.abs(self.slope) * self.reach + 4 * unit * self.most
        roundings += 16 * UNIT * self.size + np.abs(self.slope) * self.error
        is_more = self.gap > roundings
        return roundings + np.where(is_more, _OTHERWISE * self.gap, self.gap)


def _line(
    numbers: NDArray[np.float64], rows: NDArray[np.float64], error: float
) -> _Line:
    """Return the simplest line through rows: of float32, or through 0, if one fits."""
    reach, column = float(np.abs(numbers).max()), numbers[:, np.newaxis]
    near = int(np.abs(numbers).argmin())
    with np.errstate(all="ignore"):  # what overflows is no line
        rise, run = rows[-1] - rows[0], numbers[-1] - numbers[0]
        slope = rise / run if run else np.zeros(rows.shape[1])
        found = []
        for steep in (slope.astype(np.float32).astype(np.float64), slope):
            through = rows[near] - steep * numbers[near]
            for offset in (np.zeros(rows.shape[1]), through):
                gap = np.abs(rows - (steep * column + offset)).max(axis=0)
                found.append((steep, offset, gap))
        # In the order of simplicity: through 0 first.
        found = [found[0], found[2], found[1], found[3]]
        gaps = np.array([gap for *_, gap in found])
        enough = 2 * np.nanmin(gaps, axis=0) + 4 * UNIT * np.abs(rows).max(axis=0)
        best = (gaps <= enough).argmax(axis=0)
        units = np.arange(rows.shape[1])
        slope, offset, gap = (
            np.array([each[part] for each in found])[best, units] for part in range(3)
        )
    return _Line(slope, offset, gap, np.abs(rows).max(axis=0), reach, error)


def _carried(layers: Sequence[Layer], error: NDArray[np.float64]) -> float:
    """Bound what an error of the first pre-activations does to the scores."""
    with np.errstate(all="ignore"):
        for before, layer in pairwise(layers):
            error = (before.function.lipschitz * error) @ np.abs(layer.weights)
    return float(error.max()) * (1 + 2.0**-20)


def _finite(error: float) -> float | None:
    return error if np.isfinite(error) else None


def sampled(domain: Domain, data: Rows) -> Sampled:
    """Return a domain with numbers in place of its ranges, some of them of the data."""
    features: list[Feature] = []
    numbers: list[NDArray[np.float64] | None] = []
    for feature in domain.features:
        if feature.limits is None:
            features.append(feature)
            numbers.append(None)
            continue
        own = feature.uncurved
        chosen = _numbers(own, _seen(own, data))
        rest = feature.values[feature.n_plain :]
        values: list[Value] = [int(n) if own.whole else n for n in chosen]
        features.append(Feature(feature.name, (*values, *rest)))
        if feature.curve is not None:
            chosen = [feature.curve(number) for number in chosen]
        numbers.append(np.array(chosen, dtype=np.float64))
    return Sampled(domain, Domain(tuple(features)), tuple(numbers))


def _seen(feature: Feature, data: Rows) -> list[float]:
    """Return some numbers of a range that occur in the data, spread over the rows."""
    if data is None:
        return []
    try:
        [cells] = cells_of(data, [feature.name])
    except RowsError:
        return []
    lookup = Lookup(feature)
    found = sorted({lookup.number(c) for c in set(cells) if lookup[c] == 0})
    places = np.linspace(0, len(found) - 1, min(_SEEN, len(found))).astype(int)
    return [found[place] for place in places]


def _numbers(feature: Feature, seen: Sequence[float]) -> list[float]:
    """Return numbers of a range, in ascending order: its ends, and some inside."""
    assert feature.limits is not None, "asked only of ranges"
    low, high = map(float, feature.limits)
    found = {low, high, *seen}
    for turn in range(1, _INSIDE + 1):
        part = turn * _GOLDEN % 1
        number = float(np.float32(low * (1 - part) + high * part))
        found.add(float(round(number)) if feature.whole else number)
    special = [v for v in feature.values[feature.n_plain :] if v is not None]
    return sorted(n + 0.0 for n in found if low <= n <= high and n not in special)


_CURVE_ROUNDINGS = 16
"""More than the units in the last place by which a library's function is off."""


def along(feature: Feature, shape: Shape | None) -> Feature:
    """Return a range as one of the values of a curve, where the curve has values.

    Examples
    --------
    >>> along(Feature.real("income", 1, 64), Shape("log2")).limits
    (0, 6)
    """
    if feature.limits is None or feature.edges or shape is None:
        return feature
    try:
        return feature.along(Curve(shape, feature.limits, feature.whole))
    except DomainError:
        return feature  # the model is not asked about a line there, and says why


def curve_error(feature: Feature, unit: float) -> float:
    """Bound how far a library's value of a curve may lie from the curve's own.

    Parameters
    ----------
    feature : Feature
    unit : float
        The unit roundoff that the library computes with.

    Notes
    -----
    Logarithms and roots are off by a few units in the last place. Quantiles are
    interpolated between shares of at most 1. A power p is worked out as
    ``expm1(p * log(x)) / p`` or as ``(x ** p - 1) / p``: an error of the logarithm
    grows by ``x ** p``, and the difference cancels what lies before it.
    """
    if feature.curve is None:
        return 0.0
    shape, largest = feature.curve.shape, max(map(abs, feature.curve.limits))
    size = max(largest, 1.0) if shape.kind == "quantiles" else largest
    if shape.power is not None:
        size += _grown(shape, feature.curve.ends)
    return _CURVE_ROUNDINGS * max(unit, UNIT) * size


def _grown(shape: Shape, ends: tuple[float, float]) -> float:
    """Bound what roundings before the last step of a power become on a range."""
    power, logarithms, powers = shape.power, [], []
    assert power is not None, "asked only of powers"
    for end in ends:
        is_box_cox = shape.kind == "box-cox"
        logarithms.append(math.log(end) if is_box_cox else math.log1p(abs(end)))
        powers.append(power if is_box_cox or end >= 0 else 2 - power)
    both = zip(powers, logarithms, strict=True)
    grown = max(1.0, *(math.exp(power * logarithm) for power, logarithm in both))
    cancelled = max(1 / abs(power) if power else 0.0 for power in powers)
    return (1 + grown) * (max(map(abs, logarithms)) + cancelled)


def curves_of(domain: Domain) -> dict[str, str]:
    """Return the kind of curve that each feature is read along, if it is."""
    return {f.name: f.curve.shape.kind for f in domain.features if f.curve is not None}
