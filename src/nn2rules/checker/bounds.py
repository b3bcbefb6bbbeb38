"""Bound the lead of a class over boxes, many at a time, with outward rounding.

The pre-activations of the first layer lie between sums of the minimum and the maximum
that each feature can add. Each activation lies between two lines. Multiplied back,
layer by layer, these become a linear function of the input, and each feature determines
its minimum independently. All units of all layers are bounded in this way, and finally
the lead.

Rounding errors are bounded, too. Everything that is rounded is a coefficient of a unit,
or a part of the constant. A coefficient that is off by a share e of the products it is
the sum of moves the bound by at most e times the sum of their magnitudes, each times
the largest magnitude that the unit has in the box; what comes after uses the rounded
coefficient, and adds nothing to this. So with M the sum, over all layers, of
``|coefficient| * S + |coefficient * intercept|``, where S is the sum of the magnitudes
that a unit adds up, the bound is off by at most ``N u / (1 - N u) * M``: u is 2**-53,
and N is how many operations a product passes through in its layer, and then in the sum
of the constants: the width of the layer, two for each layer, one for each feature, and
a few. Twice that is taken off.
Where a magnitude reaches 1e100 nothing is proved; so what underflows, each time less
than 1e-323, counts for less than 1e-200 in the end, which is taken off, too.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn2rules.checker.run_network import FLOATS
from nn2rules.network import Layer, Network
from nn2rules.space import Range

Floats = NDArray[np.float64]

UNIT = 2.0**-53

_ROUNDED = 64 * UNIT
"""Times (1 + |slope|)(1 + |l| + |h|): more than all that is rounded for an intercept.

An activation is off by 16 units of 1 + |y| at most, gelu by 32; a product by one unit.
"""

_LOWEST = {
    "silu": (-1.2784645427610738, -0.27846454276107390),
    "gelu": (-0.7517915246935645, -0.16997120747990380),
}
"""Where these two are lowest, and a number just below what they are there."""

_KINKS = {"leaky_relu": (0.0,), "hard_tanh": (-1.0, 1.0), "hard_sigmoid": (-3.0, 3.0)}


class Lines(NamedTuple):
    """The slopes and intercepts of the lines below and above, one for each unit."""

    slope_below: Floats
    below: Floats
    slope_above: Floats
    above: Floats


def output_range(
    name: str, slope: float, low: Floats, high: Floats
) -> tuple[Floats, Floats]:
    """Return numbers below and above an activation between two others."""
    if name == "identity":
        return low, high
    at_low, at_high = FLOATS[name](low, slope), FLOATS[name](high, slope)
    least, most = np.minimum(at_low, at_high), np.maximum(at_low, at_high)
    if name == "relu":
        return least, most
    if name == "leaky_relu":
        crossing = (low < 0) & (high > 0)
        least = np.where(crossing, np.minimum(least, 0.0), least)
        most = np.where(crossing, np.maximum(most, 0.0), most)
    if name in _LOWEST:
        at, value = _LOWEST[name]
        least = np.where((low < at + 1e-6) & (high > at - 1e-6), value, least)
    off = _ROUNDED * max(1.0, abs(slope)) * (1 + np.abs(low) + np.abs(high))
    return least - off, most + off


def lines_around(name: str, slope: float, low: Floats, high: Floats) -> Lines:
    """Return lines that hold an activation between two numbers, for each of many."""
    zero, one = np.zeros_like(low), np.ones_like(low)
    if name == "identity":
        return Lines(one, zero, one, zero)
    if name == "relu":
        return _relu(low, high)
    if name in _LOWEST:
        least, most = output_range(name, slope, low, high)
        return Lines(zero, least, zero, most)
    found = _chord(name, slope, low, high)
    if name == "leaky_relu":  # which is a line of its own above 0
        both = zip(found, (one, zero, one, zero), strict=True)
        found = Lines(*(np.where(low >= 0, own, other) for other, own in both))
    return found


def _relu(low: Floats, high: Floats) -> Lines:
    """Return the lines of relu: exact where it does not bend, and else a chord above.

    The chord's slope is between 0 and 1, so ``relu(y) - slope y`` is largest at an end.
    """
    is_bent = (low < 0) & (high > 0)
    is_on = np.where(low >= 0, 1.0, 0.0)
    width = np.where(is_bent, high - low, 1.0)
    chord = np.clip(high / width, 0.0, 1.0)
    above = np.maximum(-chord * low, high - chord * high)
    above += 8 * UNIT * (np.abs(low) + np.abs(high))
    return Lines(
        np.where(is_bent & (high > -low), 1.0, is_on),
        np.zeros_like(low) * (low + high),  # not a number where these are none
        np.where(is_bent, chord, is_on),
        np.where(is_bent, above, 0.0 * (low + high)),
    )


def _chord(name: str, slope: float, low: Floats, high: Floats) -> Lines:
    """Return two lines with the slope of the chord."""
    function = FLOATS[name]
    steepest = max(1.0, abs(slope)) if name == "leaky_relu" else _STEEPEST[name]
    at_low, at_high = function(low, slope), function(high, slope)
    width = np.where(high > low, high - low, 1.0)
    chord = np.clip((at_high - at_low) / width, -steepest, steepest)
    below = np.minimum(at_low - chord * low, at_high - chord * high)
    above = np.maximum(at_low - chord * low, at_high - chord * high)
    for kink in _KINKS.get(name, ()):
        is_met = (low < kink) & (kink < high)
        gap = function(np.array(kink), slope) - chord * kink
        below = np.where(is_met, np.minimum(below, gap), below)
        above = np.where(is_met, np.maximum(above, gap), above)
    if name in _BENDS:
        below, above = _by_tangents(name, chord, low, high, below, above)
    size = (1 + np.abs(low) + np.abs(high)) * (1 + np.abs(chord)) * max(1.0, steepest)
    return Lines(chord, below - _ROUNDED * size, chord, above + _ROUNDED * size)


class _Bend(NamedTuple):
    """Of a smooth activation: its slope, and where below 0 it has a given slope."""

    slope_at: Callable[[Floats], Floats]
    point_of: Callable[[Floats], Floats]
    is_concave_above: bool  # above 0, where it mirrors what it is below


def _by_tangents(
    name: str, chord: Floats, low: Floats, high: Floats, below: Floats, above: Floats
) -> tuple[Floats, Floats]:
    """Move the intercepts beyond what lies between the ends."""
    bend = _BENDS[name]
    point = np.nan_to_num(bend.point_of(np.clip(chord, 1e-300, 1 - UNIT)))
    to = np.minimum(high, 0.0) if bend.is_concave_above else high
    gap = _tangent(name, chord, np.minimum(low, to), to, point, 1.0)
    below = np.where(low < to, np.minimum(below, gap), below)
    if bend.is_concave_above:
        at = np.maximum(low, 0.0)
        gap = _tangent(name, chord, at, np.maximum(high, at), -point, -1.0)
        above = np.where(at < high, np.maximum(above, -gap), above)
    return below, above


def _tangent(
    name: str, chord: Floats, low: Floats, high: Floats, at: Floats, sign: float
) -> Floats:
    """Bound ``sign * (f(y) - chord y)``, which is convex from low to high, from below.

    It lies above its tangent at any point, whose slope is known but for 32 units.
    """
    point = np.clip(at, low, high)
    value = sign * (FLOATS[name](point, 0.0) - chord * point)
    slope = sign * (_BENDS[name].slope_at(point) - chord)
    off = 32 * UNIT
    down = np.minimum((slope + off) * (low - point), (slope - off) * (high - point))
    return np.asarray(value + np.minimum(down, 0.0))


def _sigmoid_point(slope: Floats) -> Floats:
    root = np.sqrt(np.maximum(1 - 4 * slope, 0.0))
    return -np.log(np.maximum((1 + root) / (2 * slope) - 1, 1e-300))


def _sigmoid_slope(y: Floats) -> Floats:
    share = FLOATS["sigmoid"](y, 0.0)
    return share * (1 - share)


_BENDS = {
    "elu": _Bend(lambda y: np.exp(np.minimum(y, 0.0)), np.log, False),
    "sigmoid": _Bend(_sigmoid_slope, _sigmoid_point, True),
    "softplus": _Bend(
        lambda y: FLOATS["sigmoid"](y, 0.0),
        lambda slope: np.log(slope) - np.log1p(-slope),
        False,
    ),
    "tanh": _Bend(
        lambda y: 1 - np.tanh(y) ** 2, lambda slope: -np.arccosh(slope**-0.5), True
    ),
}

_STEEPEST = {
    "elu": 1.0,
    "hard_sigmoid": 1 / 6,
    "hard_tanh": 1.0,
    "sigmoid": 0.25,
    "softplus": 1.0,
    "tanh": 1.0,
}


def logit(threshold: float) -> float:
    """Return the score that is the threshold; off by a few units of itself."""
    if 0.25 <= threshold <= 0.75:  # 2 t - 1 is exact there
        return math.log1p((2 * threshold - 1) / (1 - threshold))
    return math.log(threshold) - math.log1p(-threshold)


_LARGE = 1e100
_TINY = 1e-200
_NUMBERS = 1 << 21  # held at a time in the largest array


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of a layer's units in each of some boxes."""

    lines: Lines
    sizes: Floats  # the sum of the magnitudes that a unit adds up
    least: Floats
    most: Floats
    reach: Floats  # the largest magnitude of its output
    gap: Floats  # how far its lines are apart, for each unit of its width


class Look(NamedTuple):
    """What the bounds say of some boxes; all but the first is a hint where to cut.

    Attributes
    ----------
    lowest : ndarray of shape (n_boxes,)
        A number below the lead of the class.
    slopes : ndarray of shape (n_boxes, n_columns)
        What each value adds to that bound; of a range, each unit of its numbers.
    blur : ndarray of shape (n_boxes, n_units)
        How much the bound loses for each unit of width that a first neuron has.
    """

    lowest: Floats
    slopes: Floats
    blur: Floats


class Leads:
    """Bounds how far a class is ahead of all others.

    Parameters
    ----------
    network : Network
    index : int
        The position of the class.
    """

    def __init__(self, network: Network, index: int) -> None:
        self.network, self.domain = network, network.domain
        with np.errstate(all="ignore"):  # what overflows proves nothing
            self.weights, self.bias, self.large, self.large_bias = _leads(
                network, index
            )
        hidden = [layer.weights.shape[1] for layer in network.layers[:-1]]
        n_steps = max([0, *hidden]) + 2 * len(hidden) + len(self.domain.sizes) + 6
        self._share = 2 * n_steps * UNIT / (1 - n_steps * UNIT)
        widest = max([*hidden, int(self.domain.offsets[-1])])
        targets = max([*(2 * width for width in hidden[1:]), len(self.bias)])
        self.at_once = max(1, min(1 << 10, _NUMBERS // (widest * targets)))

    def lowest(self, allowed: NDArray[np.bool_], ends: Floats) -> Floats:
        """Return a number below the lead of the class on each of some boxes.

        Parameters
        ----------
        allowed : ndarray of bool, shape (n_boxes, n_columns)
        ends : ndarray of shape (n_boxes, 2, n_features)
            Where the numbers of ranges begin and end.
        """
        return self.look(allowed, ends).lowest

    def look(self, allowed: NDArray[np.bool_], ends: Floats) -> Look:
        """Bound the lead on each of some boxes, and tell what the bound is made of."""
        parts = [
            self._look(
                allowed[at : at + self.at_once],
                ends[at : at + self.at_once],
            )
            for at in range(0, len(allowed), self.at_once)
        ]
        return Look(*(np.concatenate(several) for several in zip(*parts, strict=True)))

    def widths(self, allowed: NDArray[np.bool_], ends: Floats, feature: int) -> Floats:
        """Return how far apart the first neurons' sums can be by a feature alone."""
        start, stop = self.domain.offsets[feature : feature + 2].tolist()
        least, most = self._added(allowed, ends, feature, start, stop)
        return most - least

    def _look(self, allowed: NDArray[np.bool_], ends: Floats) -> Look:
        layers = self.network.layers
        with np.errstate(all="ignore"):  # what is not a number proves nothing
            known: list[_Known] = []
            if len(layers) == 1:
                constant, sizes = self._columns(
                    allowed, ends, self.weights.T[np.newaxis], self.large.T
                )
                lead = self._outward(constant + self.bias, sizes + self.large_bias)
                worst = lead.argmin(axis=1)
                return Look(
                    lead.min(axis=1), self.weights.T[worst], np.zeros((len(lead), 0))
                )
            for place in range(len(layers) - 1):
                low, high, sizes = (
                    self._next(allowed, ends, known)
                    if known
                    else self._first(allowed, ends)
                )
                known.append(_known(layers[place], low, high, sizes))
            sizes = known[-1].reach @ self.large + self.large_bias
            coefficients = np.broadcast_to(
                self.weights.T, (len(allowed), *self.weights.T.shape)
            )
            lead, columns, first = self._back(
                allowed, ends, known, coefficients, self.bias, sizes
            )
            worst = (np.arange(len(lead)), lead.argmin(axis=1))
            blur = np.abs(first[worst]) * known[0].gap
            return Look(lead.min(axis=1), columns[worst], blur)

    def _outward(self, bound: Floats, sizes: Floats) -> Floats:
        """Take off what rounding can be; minus infinity where nothing is sure."""
        safe = bound - self._share * sizes - _TINY
        return np.where(sizes < _LARGE, safe, -np.inf)

    def _first(
        self, allowed: NDArray[np.bool_], ends: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Bound the pre-activations of the first layer, and their magnitudes."""
        first = self.network.layers[0]
        low = np.tile(first.bias, (len(allowed), 1))
        high, sizes = low.copy(), np.abs(low)
        for feature, start in enumerate(self.domain.offsets[:-1].tolist()):
            stop = int(self.domain.offsets[feature + 1])
            least, most = self._added(allowed, ends, feature, start, stop)
            low += least
            high += most
            sizes += np.maximum(np.abs(least), np.abs(most))
        low, high = self._outward(low, sizes), -self._outward(-high, sizes)
        return low, high, sizes

    def _added(
        self,
        allowed: NDArray[np.bool_],
        ends: Floats,
        feature: int,
        start: int,
        stop: int,
    ) -> tuple[Floats, Floats]:
        """Return the least and the most that a feature adds to each unit."""
        weights = self.network.layers[0].weights
        is_range = isinstance(self.domain.features[feature], Range)
        listed = allowed[:, start + is_range : stop]
        where, which = _kinds(listed)
        rows = weights[start + is_range : stop]
        kinds = listed[where][:, :, np.newaxis]
        least = np.where(kinds, rows, np.inf).min(axis=1, initial=np.inf)[which]
        most = np.where(kinds, rows, -np.inf).max(axis=1, initial=-np.inf)[which]
        if is_range:
            has_numbers = allowed[:, start, np.newaxis]
            one = ends[:, 0, feature, np.newaxis] * weights[start]
            other = ends[:, 1, feature, np.newaxis] * weights[start]
            lower, upper = np.minimum(one, other), np.maximum(one, other)
            least = np.where(has_numbers, np.minimum(least, lower), least)
            most = np.where(has_numbers, np.maximum(most, upper), most)
        return least, most

    def _next(
        self, allowed: NDArray[np.bool_], ends: Floats, known: list[_Known]
    ) -> tuple[Floats, Floats, Floats]:
        """Bound the pre-activations of the layer after those that are known."""
        layer, before = self.network.layers[len(known)], known[-1]
        sizes = before.reach @ np.abs(layer.weights) + np.abs(layer.bias)
        up, down = np.maximum(layer.weights, 0.0), np.minimum(layer.weights, 0.0)
        low = before.least @ up + before.most @ down + layer.bias
        high = before.most @ up + before.least @ down + layer.bias
        both = np.concatenate([layer.weights.T, -layer.weights.T])
        coefficients = np.broadcast_to(both, (len(allowed), *both.shape))
        bias = np.concatenate([layer.bias, -layer.bias])
        twice = np.concatenate([sizes, sizes], axis=1)
        found, _, _ = self._back(allowed, ends, known, coefficients, bias, twice)
        n_units = len(layer.bias)
        low = np.maximum(self._outward(low, sizes), found[:, :n_units])
        high = np.minimum(-self._outward(-high, sizes), -found[:, n_units:])
        return low, high, sizes

    def _back(
        self,
        allowed: NDArray[np.bool_],
        ends: Floats,
        known: list[_Known],
        coefficients: Floats,
        constant: Floats,
        sizes: Floats,
    ) -> tuple[Floats, Floats, Floats]:
        """Bound linear functions of the last known layer's outputs from below.

        Returns the bounds, and their coefficients of columns and of first neurons.
        """
        first = coefficients
        for place in range(len(known) - 1, -1, -1):
            layer, lines = self.network.layers[place], known[place].lines
            first = coefficients
            up, down = np.maximum(coefficients, 0.0), np.minimum(coefficients, 0.0)
            constant = constant + _dot(up, lines.below) + _dot(down, lines.above)
            sizes = sizes + _dot(up, np.abs(lines.below))
            sizes = sizes - _dot(down, np.abs(lines.above))
            coefficients = up * lines.slope_below[:, np.newaxis]
            coefficients += down * lines.slope_above[:, np.newaxis]
            constant = constant + coefficients @ layer.bias
            sizes = sizes + _dot(np.abs(coefficients), known[place].sizes)
            if place:
                coefficients = coefficients @ layer.weights.T
        columns = coefficients @ self.network.layers[0].weights.T
        bound = constant + self._picked(allowed, ends, columns)
        return self._outward(bound, sizes), columns, first

    def _picked(
        self, allowed: NDArray[np.bool_], ends: Floats, columns: Floats
    ) -> Floats:
        """Add up what each feature adds at least, by the coefficients of the values."""
        columns = np.array(np.broadcast_to(columns, (len(allowed), *columns.shape[1:])))
        for feature, column in enumerate(self.domain.ranges.tolist()):
            if column >= 0:
                one = columns[:, :, column] * ends[:, 0, feature, np.newaxis]
                other = columns[:, :, column] * ends[:, 1, feature, np.newaxis]
                columns[:, :, column] = np.minimum(one, other)
        columns = np.where(allowed[:, np.newaxis], columns, np.inf)
        least = np.minimum.reduceat(columns, self.domain.offsets[:-1], axis=2)
        return np.asarray(least.sum(axis=2))

    def _columns(
        self,
        allowed: NDArray[np.bool_],
        ends: Floats,
        columns: Floats,
        magnitudes: Floats,
    ) -> tuple[Floats, Floats]:
        """Bound a network without hidden layers: the columns are the weights."""
        large = np.broadcast_to(magnitudes, (len(allowed), *magnitudes.shape)).copy()
        reach = np.abs(ends).max(axis=1)
        for feature, column in enumerate(self.domain.ranges.tolist()):
            if column >= 0:
                large[:, :, column] *= reach[:, feature, np.newaxis]
        large = np.where(allowed[:, np.newaxis], large, 0.0)
        sizes = np.maximum.reduceat(large, self.domain.offsets[:-1], axis=2)
        return self._picked(allowed, ends, columns), sizes.sum(axis=2)


def _leads(network: Network, index: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Return a layer whose sums are the leads of a class, and its magnitudes.

    They are of what is subtracted, so that they bound the rounding of differences. The
    logit of the threshold is off by a few units.
    """
    last = network.layers[-1]
    weights, bias = last.weights, last.bias
    if len(bias) == 1:
        sign, limit = (1.0 if index else -1.0), logit(network.threshold)
        large, large_bias = np.abs(weights), np.abs(bias) + 16 * abs(limit)
        return sign * weights, sign * (bias - limit), large, large_bias
    others = [k for k in range(len(bias)) if k != index]
    large = np.abs(weights[:, [index]]) + np.abs(weights[:, others])
    large_bias = np.abs(bias[index]) + np.abs(bias[others])
    ahead = weights[:, [index]] - weights[:, others]
    return ahead, bias[index] - bias[others], large, large_bias


def _kinds(rows: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each kind of row comes first, and which kind each row is."""
    packed = np.packbits(rows, axis=1)
    width = packed.shape[1]
    if width == 0:
        return np.zeros(1, dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
    keys = packed.ravel() if width == 1 else packed.view(f"S{width}").ravel()
    _, where, which = np.unique(keys, return_index=True, return_inverse=True)
    return where, which


def _dot(coefficients: Floats, values: Floats) -> Floats:
    """Multiply the coefficients of each box with the values of its units."""
    return np.asarray((coefficients @ values[:, :, np.newaxis])[:, :, 0])


def _known(layer: Layer, low: Floats, high: Floats, sizes: Floats) -> _Known:
    """Return what is known of a layer's units once they are bounded."""
    name = layer.activation
    slope = 0.01 if layer.slope is None else layer.slope
    least, most = output_range(name, slope, low, high)
    reach = np.maximum(np.abs(least), np.abs(most)) * (1 + 1e-12)
    lines, middle = lines_around(name, slope, low, high), 0.5 * low + 0.5 * high
    apart = (lines.slope_above - lines.slope_below) * middle + lines.above - lines.below
    gap = np.where(high > low, apart / np.maximum(high - low, _TINY), 0.0)
    return _Known(lines, sizes, least, most, reach, gap)
