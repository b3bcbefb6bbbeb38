"""Classify all inputs of a domain in order, many at a time.

The features are cut into two groups. The contribution of the last group to the sums of
the first layer is computed once for each of its combinations. Each combination of the
first group then takes one addition per unit. The numbers of a unit are adjacent, one
for each input, so that loops over inputs are vectorised.
"""

import math

import numpy as np

from nn2rules.engine._kernels.network import RELU, activate
from nn2rules.space._kernels.compiled import inlined, kernel

_WIDE = 256
"""The most inputs that are classified at a time."""


@kernel
def table_classes(net, limit, fragile, start, classes, undecided, listed):
    """Classify consecutive inputs; the last feature changes fastest.

    Parameters
    ----------
    net : FlatNetwork
        With ``net.error`` bounding the error of every score.
    limit : float
        The score that class 1 must exceed; binary networks only.
    fragile : ndarray of shape (n_kinds,)
        An input whose margin is at most ``fragile[k]`` counts as fragile of kind k.
    start : int
        The position of the first input.
    classes : ndarray of uint8
        Filled; its size is the number of inputs.
    undecided : ndarray of int64, as long as `classes`
        Filled with the positions in `classes` that need exact arithmetic.
    listed : ndarray of int64
        Filled with the first positions that are fragile of kind 0.

    Returns
    -------
    n_undecided : int
    smallest : float
        The minimum margin: the distance of a score from `limit`, or of the largest
        score from the second.
    n_fragile : ndarray of int64
    """
    width, n_scores = net.sizes[1], net.sizes[net.sizes.size - 1]
    widest = 0
    for layer in range(1, net.sizes.size):
        widest = max(widest, net.sizes[layer])
    wide = min(_WIDE, classes.size)
    first, last = np.zeros(width), np.zeros((width, wide))
    values, scores = np.zeros((2, widest, wide)), np.zeros(n_scores)
    n_fragile = np.zeros(fragile.size, dtype=np.int64)
    n_undecided, smallest, clear = 0, np.inf, 0.0
    for kind in range(fragile.size):
        clear = max(clear, fragile[kind])
    cut, block = parted(net)
    if block <= wide:
        add_last(net, cut, 0, block, last)
    position, known = 0, -1
    while position < classes.size:
        row, column = divmod(start + position, block)
        n_columns = min(wide, block - column, classes.size - position)
        if row != known:
            add_first(net, cut, row, first)
            known = row
        if block > wide:
            add_last(net, cut, column, n_columns, last)
            column = 0
        for unit in range(width):
            before = first[unit]
            for at in range(n_columns):
                values[0, unit, at] = before + last[unit, column + at]
        now = go_forward(net, values, n_columns)
        for at in range(n_columns):
            for k in range(n_scores):
                scores[k] = values[now, k, at]
            best, margin, error = decide(scores, limit, net.error)
            classes[position + at] = best
            if margin > error and margin > clear and margin >= smallest:
                continue
            if not margin > error:
                undecided[n_undecided] = position + at
                n_undecided += 1
            if margin < smallest:  # NaN is no margin: the input is settled exactly
                smallest = margin
            for kind in range(fragile.size):
                if not margin > fragile[kind]:
                    if kind == 0 and n_fragile[0] < listed.size:
                        listed[n_fragile[0]] = position + at
                    n_fragile[kind] += 1
        position += n_columns
    return n_undecided, smallest, n_fragile


@inlined
def parted(net):
    """Return where features are cut, and how many combinations the last group has.

    They fit into the arrays, unless the last feature alone has more values.
    """
    n_features = net.offsets.size - 1
    cut, block = n_features, 1
    while cut > 0:
        size = net.offsets[cut] - net.offsets[cut - 1]
        if block * size > _WIDE and cut < n_features:
            break
        cut -= 1
        block *= size
    return cut, block


@inlined
def add_first(net, cut, number, sums):
    """Sum the bias and the contribution of the features before `cut`."""
    width, left = net.sizes[1], 1
    for unit in range(width):
        sums[unit] = net.bias[unit]
    for feature in range(cut):
        left *= net.offsets[feature + 1] - net.offsets[feature]
    for feature in range(cut):
        size = net.offsets[feature + 1] - net.offsets[feature]
        left //= size
        row = (net.offsets[feature] + number // left % size) * width
        for unit in range(width):
            sums[unit] += net.weights[row + unit]


@inlined
def add_last(net, cut, number, n_columns, sums):
    """Sum the contributions of the features from `cut` on, for several combinations."""
    width = net.sizes[1]
    for column in range(n_columns):
        for unit in range(width):
            sums[unit, column] = 0.0
        left = number + column
        for feature in range(net.offsets.size - 2, cut - 1, -1):
            size = net.offsets[feature + 1] - net.offsets[feature]
            row = (net.offsets[feature] + left % size) * width
            left //= size
            for unit in range(width):
                sums[unit, column] += net.weights[row + unit]


@inlined
def go_forward(net, values, n_columns):
    """Compute the scores from the first layer's pre-activations, in ``values[0]``.

    Returns the half of `values` that has the scores.
    """
    now = 0
    for layer in range(1, net.sizes.size - 1):
        kind, slope = net.activations[layer - 1], net.slopes[layer - 1]
        n_in, n_out = net.sizes[layer], net.sizes[layer + 1]
        at, start = net.weight_at[layer], net.unit_at[layer]
        current, following = values[now], values[1 - now]
        for unit in range(n_out):
            bias = net.bias[start + unit]
            for column in range(n_columns):
                following[unit, column] = bias
        for i in range(n_in):
            if kind == RELU:
                for column in range(n_columns):
                    current[i, column] = max(current[i, column], 0.0)
            else:
                for column in range(n_columns):
                    current[i, column] = activate(kind, slope, current[i, column])
            for unit in range(n_out):
                weight = net.weights[at + i * n_out + unit]
                for column in range(n_columns):
                    following[unit, column] += weight * current[i, column]
        now = 1 - now
    return now


@inlined
def decide(scores, limit, errors):
    """Return the class, its margin, and the margin above which it is certain."""
    if scores.size == 1:
        distance = scores[0] - limit
        return (1 if distance > 0 else 0), abs(distance), errors[0]
    best, second = 0, -1
    for k in range(1, scores.size):
        if scores[k] > scores[best]:
            best, second = k, best
        elif second < 0 or scores[k] > scores[second]:
            second = k
    largest = errors[0]
    for k in range(1, errors.size):
        if not (math.isnan(largest) or errors[k] <= largest):
            largest = errors[k]
    return best, scores[best] - scores[second], 2.0 * largest
