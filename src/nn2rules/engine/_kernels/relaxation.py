"""Hold one activation between two lines, or between two numbers."""

import math

import numpy as np

from nn2rules.engine._kernels.compiled import inlined, kernel
from nn2rules.engine._kernels.network import (
    ELU,
    GELU,
    HARD_SIGMOID,
    HARD_TANH,
    IDENTITY,
    LEAKY_RELU,
    RELU,
    SIGMOID,
    SILU,
    TANH,
    activate,
)

LARGEST = np.finfo(np.float64).max

# Where silu and gelu turn from falling to rising.
SILU_LOWEST = -1.2784645427610738
GELU_LOWEST = -0.7517915246935645


@kernel
def value_at(kind, slope, y):
    """Apply an activation to one number; compiled once for all that ask here."""
    return activate(kind, slope, y)


@inlined
def relax(kind, slope, low, high, lines):
    """Hold an activation between two lines on [low, high].

    Fills `lines` with the slope and intercept of the lower line, then of the upper
    one. Any slope is right as long as its intercept is the extreme of f(y) - slope y,
    which is looked for at the ends and where f has that slope.
    """
    if not -LARGEST <= low <= high <= LARGEST:  # something overflowed: nothing is sure
        lines[:] = np.nan
        return
    at_low, at_high = value_at(kind, slope, low), value_at(kind, slope, high)
    if low == high:
        smallest, largest = min(at_low, at_high), max(at_low, at_high)
        lines[0], lines[1], lines[2], lines[3] = 0.0, smallest, 0.0, largest
        return
    if kind == IDENTITY or (kind <= LEAKY_RELU and low >= 0):
        lines[0], lines[1], lines[2], lines[3] = 1.0, 0.0, 1.0, 0.0
        return
    if kind == RELU:
        if high <= 0:
            lines[0], lines[1], lines[2], lines[3] = 0.0, 0.0, 0.0, 0.0
            return
        lines[0], lines[1] = (1.0, 0.0) if high > -low else (0.0, 0.0)
        chord = high / (high - low)
        lines[2] = chord
        lines[3] = max(-chord * low, high - chord * high)
        return
    if kind in (SILU, GELU):  # interval only
        lowest = SILU_LOWEST if kind == SILU else GELU_LOWEST
        smallest = min(at_low, at_high)
        if low < lowest < high:
            smallest = value_at(kind, slope, lowest)
        lines[0], lines[1], lines[2], lines[3] = (
            0.0,
            smallest,
            0.0,
            max(at_low, at_high),
        )
        return
    steep = steepest(kind, slope)  # rounding makes chords of narrow intervals steeper
    chord = min(max((at_high - at_low) / (high - low), -steep), steep)
    first, second = tangent_points(kind, chord)
    smallest = min(at_low - chord * low, at_high - chord * high)
    largest = max(at_low - chord * low, at_high - chord * high)
    for point in (first, second):
        if low < point < high:
            gap = value_at(kind, slope, point) - chord * point
            smallest, largest = min(smallest, gap), max(largest, gap)
    lines[0], lines[1], lines[2], lines[3] = chord, smallest, chord, largest


@inlined
def steepest(kind, slope):
    """Return the Lipschitz constant of an activation that `relax` holds by a chord."""
    if kind == LEAKY_RELU:
        return max(1.0, abs(slope))
    if kind == SIGMOID:
        return 0.25
    return 1.0 / 6.0 if kind == HARD_SIGMOID else 1.0


@inlined
def tangent_points(kind, chord):
    """Return where f(y) - chord y may have an extreme inside an interval.

    For smooth f these are the points where f' = chord, for others the kinks. NaN
    stands for none: no comparison with it is true.
    """
    if kind == LEAKY_RELU:
        return 0.0, np.nan
    if kind == HARD_TANH:
        return -1.0, 1.0
    if kind == HARD_SIGMOID:
        return -3.0, 3.0
    if not 0.0 < chord < 1.0:
        return np.nan, np.nan
    if kind == SIGMOID:
        if chord > 0.25:
            return 0.0, np.nan
        root = math.sqrt(1.0 - 4.0 * chord)
        point = math.log((1.0 + root) / (2.0 * chord) - 1.0)
        return -point, point
    if kind == TANH:
        point = math.acosh(1.0 / math.sqrt(chord))
        return -point, point
    if kind == ELU:
        return math.log(chord), np.nan
    return math.log(chord) - math.log1p(-chord), np.nan  # softplus


@inlined
def gap_of(kind, low, high):
    """Return how wide the lines around an activation may stand apart; 0 if not at all.

    Of infinite bounds that is the largest number: nothing matters more.
    """
    if kind > LEAKY_RELU:
        return min(high - low, LARGEST) if high > low else 0.0
    if not low < 0.0 < high or kind == IDENTITY:
        return 0.0
    return min(-low * high / (high - low), LARGEST) if high - low < LARGEST else LARGEST


@inlined
def activation_range(kind, slope, low, high):
    """Return the smallest and largest value of an activation on [low, high].

    NaN where something overflowed: no comparison with it is true.
    """
    if not -LARGEST <= low <= high <= LARGEST:
        return np.nan, np.nan
    at_low, at_high = value_at(kind, slope, low), value_at(kind, slope, high)
    smallest, largest = min(at_low, at_high), max(at_low, at_high)
    if kind == SILU and low < SILU_LOWEST < high:
        smallest = value_at(kind, slope, SILU_LOWEST)
    elif kind == GELU and low < GELU_LOWEST < high:
        smallest = value_at(kind, slope, GELU_LOWEST)
    elif kind == LEAKY_RELU and low < 0 < high:
        smallest, largest = min(smallest, 0.0), max(largest, 0.0)
    return smallest, largest
