"""Evaluate a network at inputs."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn2rules.space._kernels.compiled import inlined, kernel

IDENTITY, RELU, LEAKY_RELU, SIGMOID, TANH = 0, 1, 2, 3, 4
HARD_TANH, HARD_SIGMOID, ELU, SOFTPLUS, SILU, GELU = 5, 6, 7, 8, 9, 10


class FlatNetwork(NamedTuple):
    """A network as flat arrays, so that one compiled kernel works for every shape.

    Layer k has ``sizes[k]`` inputs and ``sizes[k + 1]`` units. Its weights, row by
    row, start at ``weights[weight_at[k]]``; its units' numbers (bias, slack) start at
    ``unit_at[k]``. The inputs of layer 0 are the columns, one for each value.

    A range has one column for all its numbers, ``ranges[feature]``, whose weights are
    multiplied by the number; -1 for other features. ``whole`` is whether a range has
    only integers. ``outgoing`` is the sum of the magnitudes of the weights by which a
    hidden unit is multiplied. ``across`` are the weights of layer 0 again, unit by
    unit, so that loops over columns read memory in order.
    """

    offsets: NDArray[np.int64]
    ranges: NDArray[np.int64]
    whole: NDArray[np.bool_]
    across: NDArray[np.float64]
    sizes: NDArray[np.int64]
    weights: NDArray[np.float64]
    weight_at: NDArray[np.int64]
    bias: NDArray[np.float64]
    unit_at: NDArray[np.int64]
    activations: NDArray[np.int64]
    slopes: NDArray[np.float64]
    outgoing: NDArray[np.float64]
    slack: NDArray[np.float64]
    error: NDArray[np.float64]


@inlined
def activate(kind, slope, y):
    """Apply an activation to one number."""
    if kind == RELU:
        return max(y, 0.0)
    if kind == IDENTITY:
        return y
    if kind == LEAKY_RELU:
        return y if y > 0 else slope * y
    if kind == SIGMOID:
        return sigmoid(y)
    if kind == TANH:
        return math.tanh(y)
    if kind == HARD_TANH:
        return min(max(y, -1.0), 1.0)
    if kind == HARD_SIGMOID:
        return min(max(y / 6.0 + 0.5, 0.0), 1.0)
    if kind == ELU:
        return y if y > 0 else math.expm1(y)
    if kind == SOFTPLUS:
        return max(y, 0.0) + math.log1p(math.exp(-abs(y)))
    if kind == SILU:
        return y * sigmoid(y)
    return 0.5 * y * (1.0 + math.erf(y / math.sqrt(2.0)))


@kernel
def sigmoid(y):
    """Return the logistic function without overflow."""
    small = math.exp(-abs(y))
    return (1.0 if y >= 0 else small) / (1.0 + small)


@inlined
def finish_forward(net, first, hidden, scores):
    """Compute the scores from the first layer's pre-activations.

    `first` is not changed; `hidden` holds two rows as wide as the widest layer.
    """
    n_layers = net.sizes.size - 1
    current, following = hidden[0], hidden[1]
    for unit in range(net.sizes[1]):
        current[unit] = first[unit]
    for layer in range(1, n_layers):
        kind, slope = net.activations[layer - 1], net.slopes[layer - 1]
        n_in, n_out = net.sizes[layer], net.sizes[layer + 1]
        at, start = net.weight_at[layer], net.unit_at[layer]
        for unit in range(n_out):
            following[unit] = net.bias[start + unit]
        for i in range(n_in):
            x = activate(kind, slope, current[i])
            if x != 0.0:
                row = at + i * n_out
                for unit in range(n_out):
                    following[unit] += x * net.weights[row + unit]
        current, following = following, current
    for unit in range(net.sizes[n_layers]):
        scores[unit] = current[unit]


@kernel
def point_scores(net, codes, numbers, first, hidden, scores):
    """Evaluate the network at one input.

    `numbers` are 1 for features that are not ranges.
    """
    width = net.sizes[1]
    for unit in range(width):
        first[unit] = net.bias[unit]
    for feature in range(codes.size):
        row = (net.offsets[feature] + codes[feature]) * width
        number = numbers[feature]
        for unit in range(width):
            first[unit] += number * net.weights[row + unit]
    finish_forward(net, first, hidden, scores)
