"""Bound every score of a network over a box, by backward linear relaxation."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
from nn2rules.space._kernels.compiled import NOUGHT, inlined, kernel
from nn2rules.space._kernels.loops import fill

LARGEST = np.finfo(np.float64).max

# Where silu and gelu have their minimum.
SILU_LOWEST = -1.2784645427610738
GELU_LOWEST = -0.7517915246935645


@kernel
def value_at(kind, slope, y):
    """Apply an activation to one number; compiled once for all callers here."""
    return activate(kind, slope, y)


@inlined
def relax(kind, slope, low, high, lines):
    """Bound an activation by two lines on [low, high].

    Fills `lines` with the slope and intercept of the lower line, then of the upper
    one. Any slope is valid if the intercept is the extreme of f(y) - slope y, which is
    reached at an end or where f has that slope.
    """
    if (
        not -LARGEST <= low <= high <= LARGEST
    ):  # something overflowed, so there are no bounds
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
    """Return the Lipschitz constant of an activation that `relax` bounds by a chord."""
    if kind == LEAKY_RELU:
        return max(1.0, abs(slope))
    if kind == SIGMOID:
        return 0.25
    return 1.0 / 6.0 if kind == HARD_SIGMOID else 1.0


@inlined
def tangent_points(kind, chord):
    """Return where f(y) - chord y may have an extreme inside an interval.

    For smooth f these are the points where f' = chord, otherwise the kinks. NaN means
    none: no comparison with it is true.
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
    """Return the maximum gap between the lines around an activation.

    The largest number for infinite bounds, which matter most.
    """
    if kind > LEAKY_RELU:
        return min(high - low, LARGEST) if high > low else 0.0
    if not low < 0.0 < high or kind == IDENTITY:
        return 0.0
    return min(-low * high / (high - low), LARGEST) if high - low < LARGEST else LARGEST


@inlined
def activation_range(kind, slope, low, high):
    """Return the minimum and maximum of an activation on [low, high].

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


TIGHTENED = 2
"""The minimum number of units of a layer whose bounds are improved in a half."""


class Workspace(NamedTuple):
    """Scratch arrays of a search, made once: see `nn2rules.engine.flat.workspace`."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    lines: NDArray[np.float64]
    work: NDArray[np.float64]
    first: NDArray[np.float64]
    hidden: NDArray[np.float64]
    scores: NDArray[np.float64]
    columns: NDArray[np.float64]
    spread: NDArray[np.float64]
    choice: NDArray[np.int64]
    numbers: NDArray[np.float64]
    box: NDArray[np.bool_]
    ends: NDArray[np.float64]


@inlined
def columns_lower(net, space, coefficients):
    """Minimise a linear function of the first pre-activations over ``space.box``.

    The best allowed value is chosen for each feature separately; for a range it is one
    of its ends. Leaves the chosen values in ``choice`` and ``numbers``, and the
    coefficient of each column in ``columns``.
    """
    n_columns, columns = space.columns.size, space.columns
    fill(columns, 0.0)
    for unit in range(net.sizes[1]):
        c = coefficients[unit]
        if c != 0.0:
            along = net.across[unit * n_columns : (unit + 1) * n_columns]
            for column in range(n_columns):
                columns[column] += c * along[column]
    total = 0.0
    for feature in range(net.offsets.size - 1):
        start, ranged = net.offsets[feature], net.ranges[feature]
        smallest, is_first, number = np.inf, True, 1.0
        for column in range(start, net.offsets[feature + 1]):
            if space.box[column]:
                value, at = columns[column], 1.0
                if column == ranged:
                    at = space.ends[0 if value > 0.0 else 1, feature]
                    value *= at
                if is_first or not value >= smallest:
                    smallest, is_first, number = value, False, at
                    space.choice[feature] = column - start
        space.numbers[feature] = number
        total += smallest
    return total


@kernel
def backward_lower(net, space, layer, unit, sign):
    """Bound ``sign`` times one pre-activation from below, over a box.

    The lines that bound the activations of the earlier layers are multiplied back,
    layer by layer, to a linear function of the input. Leaves the coefficients of the
    first layer's outputs in the last row of ``space.work``.
    """
    lines, work = space.lines, space.work
    start = net.unit_at[layer]
    n_in, n_out = net.sizes[layer], net.sizes[layer + 1]
    at = net.weight_at[layer]
    constant = sign * net.bias[start + unit]
    current, following, outputs = work[0], work[1], work[2]
    if layer == 0:  # no hidden layer: the unit is a first pre-activation itself
        for i in range(n_out):
            current[i] = sign if i == unit else 0.0
            outputs[i] = current[i]
    else:
        for i in range(n_in):
            current[i] = sign * net.weights[at + i * n_out + unit]
    for k in range(layer - 1, -1, -1):
        begin = net.unit_at[k]
        n_units = net.sizes[k + 1]
        for i in range(n_units):
            c = current[i]
            if k == 0:
                outputs[i] = c
            if c != 0.0:
                line = 0 if c > 0 else 2
                constant += c * lines[begin + i, line + 1]
                c *= lines[begin + i, line]
                constant += c * net.bias[begin + i]
                current[i] = c
        if k > 0:
            n_before, back = net.sizes[k], net.weight_at[k]
            for p in range(n_before):
                total = 0.0
                row = back + p * n_units
                for i in range(n_units):
                    total += current[i] * net.weights[row + i]
                following[p] = total
            current, following = following, current
    return constant + columns_lower(net, space, current)


@inlined
def bound_first(net, space):
    """Bound the pre-activations of the first layer, and the range of each feature.

    Both bounds are tight except for rounding, as features are independent.
    """
    width = net.sizes[1]
    low, high, spread = space.low, space.high, space.spread
    least, most = space.work[0], space.work[1]
    for unit in range(width):
        low[unit] = high[unit] = net.bias[unit]
    for feature in range(net.offsets.size - 1):
        is_first = True
        for column in range(net.offsets[feature], net.offsets[feature + 1]):
            if not space.box[column]:
                continue
            weights = net.weights[column * width : (column + 1) * width]
            at, to = 1.0, 1.0
            if column == net.ranges[feature]:
                at, to = space.ends[0, feature], space.ends[1, feature]
            if is_first:
                for unit in range(width):
                    one, other = at * weights[unit], to * weights[unit]
                    least[unit], most[unit] = min(one, other), max(one, other)
                is_first = False
            else:
                for unit in range(width):
                    one, other = at * weights[unit], to * weights[unit]
                    least[unit] = min(least[unit], one, other)
                    most[unit] = max(most[unit], one, other)
        for unit in range(width):
            low[unit] += least[unit]
            high[unit] += most[unit]
            spread[feature, unit] = most[unit] - least[unit]
    for unit in range(width):
        low[unit] -= net.slack[unit]
        high[unit] += net.slack[unit]


@kernel
def bound_layers(net, space, is_new):
    """Bound every pre-activation of the hidden layers, and relax their activations.

    Unless the box `is_new`, ``space`` has bounds of the later layers for a box that
    contains it; they are improved where it matters most.
    """
    bound_first(net, space)
    if is_new and net.sizes.size > 3:
        for unit in range(net.unit_at[1], space.low.size):
            space.low[unit], space.high[unit] = -np.inf, np.inf
    for layer in range(net.sizes.size - 2):
        kind, slope = net.activations[layer], net.slopes[layer]
        start = net.unit_at[layer]
        if layer > 0:
            add_intervals(net, space, layer)
            tighten(net, space, layer, is_new)
        for unit in range(start, start + net.sizes[layer + 1]):
            relax(kind, slope, space.low[unit], space.high[unit], space.lines[unit])


@inlined
def add_intervals(net, space, layer):
    """Bound the pre-activations of a later layer by the ranges of earlier units."""
    kind, slope = net.activations[layer - 1], net.slopes[layer - 1]
    before, start = net.unit_at[layer - 1], net.unit_at[layer]
    n_in, n_out = net.sizes[layer], net.sizes[layer + 1]
    at = net.weight_at[layer]
    smallest, largest = space.work[0, :n_out], space.work[1, :n_out]
    for unit in range(n_out):
        smallest[unit] = largest[unit] = net.bias[start + unit]
    for i in range(n_in):
        low, high = space.low[before + i], space.high[before + i]
        least, most = activation_range(kind, slope, low, high)
        weights = net.weights[at + i * n_out : at + (i + 1) * n_out]
        for unit in range(n_out):
            one, other = weights[unit] * least, weights[unit] * most
            smallest[unit] += one if weights[unit] >= 0.0 else other
            largest[unit] += other if weights[unit] >= 0.0 else one
    for unit in range(n_out):
        slack = net.slack[start + unit]
        below, above = smallest[unit] - slack, largest[unit] + slack
        if not space.low[start + unit] >= below:
            space.low[start + unit] = below
        if not space.high[start + unit] <= above:
            space.high[start + unit] = above


@inlined
def tighten(net, space, layer, is_new):
    """Bound pre-activations of a later layer by the lines of earlier layers.

    If the box `is_new`, all that may change sign; otherwise those with the widest gaps.
    """
    start, n_out = net.unit_at[layer], net.sizes[layer + 1]
    kind, low, high = net.activations[layer], space.low, space.high
    costs = space.hidden[0]
    for unit in range(n_out):
        costs[unit] = gap_of(kind, low[start + unit], high[start + unit])
        if costs[unit] > 0.0 and not is_new:
            costs[unit] *= net.outgoing[start + unit]
    n_left = n_out if is_new else max(TIGHTENED, n_out // 8)
    for _ in range(n_left):
        unit = NOUGHT
        for other in range(1, n_out):
            if costs[other] > costs[unit]:
                unit = other
        if not costs[unit] > 0.0:
            break
        costs[unit] = 0.0
        slack = net.slack[start + unit]
        below = backward_lower(net, space, layer, unit, 1.0) - slack
        above = -backward_lower(net, space, layer, unit, -1.0) + slack
        if below > low[start + unit]:
            low[start + unit] = below
        if above < high[start + unit]:
            high[start + unit] = above


@inlined
def bound_worst(net, space, is_new):
    """Return the lowest lower bound of all scores over ``space.box``.

    Unless the box `is_new`, later layers have bounds already: see `bound_layers`.

    Leaves in ``space`` what belongs to that score: its minimiser ``choice``, the
    coefficients of the columns, and those of the first layer's outputs. NaN, from an
    overflow, counts as the lowest.
    """
    bound_layers(net, space, is_new)
    last = net.sizes.size - 2
    n_scores, start = net.sizes[last + 1], net.unit_at[last]
    worst, worst_at = np.inf, NOUGHT
    for k in range(n_scores):
        below = score_lower(net, space, k, 1.0) - net.slack[start + k]
        if not below >= worst:
            worst, worst_at = below, k
            if math.isnan(below):
                break
    if worst_at != n_scores - 1:
        score_lower(net, space, worst_at, 1.0)
    return worst


@inlined
def score_lower(net, space, k, sign):
    """Bound ``sign`` times one score from below, after `bound_layers`."""
    return backward_lower(net, space, net.sizes.size - 2, k, sign)


@kernel
def is_negative(net, space):
    """Return whether some score is below 0 on the whole box, after `bound_layers`."""
    last = net.sizes.size - 2
    for k in range(net.sizes[last + 1]):
        slack = net.slack[net.unit_at[last] + k]
        if -score_lower(net, space, k, -1.0) + slack < 0.0:
            return True
    return False
