"""Two lines around an activation, of which it is certain that they hold it.

On an interval from l to h, each activation f lies between two lines. Any slope will do,
if the line's intercept is beyond all of ``g(y) = f(y) - slope y``. Where f is made of
straight pieces, g is extreme at an end or at a kink. A smooth f is convex on one part
of the interval and concave on the other; where it is convex, g lies above each of its
tangents, and where it is concave below: so a tangent bounds g there whatever the point
it is taken at, and is near to g if that is where g is extreme.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn2rules.checker.evaluate import FLOATS

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
