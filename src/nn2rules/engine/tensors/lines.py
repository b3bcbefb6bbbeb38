"""Activations of many units at once, and the lines that hold them.

Each function does with every element what that of the same name does in
`nn2rules.engine._kernels.relaxation`, or `network`.

Of smooth activations only the last bits may differ. `Activation.rounding` lets every
one of them be off by 16 units of 2**-53 (1 + |y|), silu and gelu by 32. The formulas
are the kernels', and their own operations take half a unit each; so there is room for
an exp, expm1, log1p, tanh or erf that is off by 5 ulp, which are 10 units. On a
processor, PyTorch 2.13's are off by 1.8 units in all at most, as measured against
mpmath at 7,500 places. For CUDA, NVIDIA's programming guide says how many ulp its
functions are off, but as what tests have found: it is no proof. Where a line touches, a
logarithm or a root only says where to look; being off there by e changes the line by
e times e.
"""

import math
from typing import Any, NamedTuple

from nn2rules.engine._kernels import network as kinds
from nn2rules.engine._kernels.relaxation import GELU_LOWEST, LARGEST, SILU_LOWEST
from nn2rules.engine.tensors.nets import Tensor, TensorNet

Number = Any
"""A number, or a tensor of them."""

_LARGEST = float(LARGEST)

_STEEPEST = {kinds.SIGMOID: 0.25, kinds.HARD_SIGMOID: 1.0 / 6.0}
"""The Lipschitz constants of activations that chords hold, but for 1."""


class Lines(NamedTuple):
    """Lines that hold activations, each of shape (n_units, n_boxes).

    Attributes
    ----------
    low_slope, low_at : Tensor
        The slope and intercept of the lower line.
    high_slope, high_at : Tensor
        Those of the upper one.
    """

    low_slope: Tensor
    low_at: Tensor
    high_slope: Tensor
    high_at: Tensor


def lower_of(net: TensorNet, one: Tensor, other: Number) -> Tensor:
    """Return ``min(one, other)`` as Python says it: the first, if one is NaN."""
    return net.where(other < one, other, one)


def higher_of(net: TensorNet, one: Tensor, other: Number) -> Tensor:
    """Return ``max(one, other)`` as Python says it: the first, if one is NaN."""
    return net.where(other > one, other, one)


def sigmoid(net: TensorNet, y: Tensor) -> Tensor:
    """Return the logistic function without overflow."""
    small = net.torch.exp(-net.torch.abs(y))
    return net.where(y >= 0, 1.0, small) / (1.0 + small)


def activate(net: TensorNet, kind: int, slope: float, y: Tensor) -> Tensor:
    """Apply an activation to numbers."""
    if kind == kinds.RELU:
        return higher_of(net, y, 0.0)
    if kind == kinds.IDENTITY:
        return y
    if kind == kinds.LEAKY_RELU:
        return net.where(y > 0, y, slope * y)
    if kind == kinds.HARD_TANH:
        return lower_of(net, higher_of(net, y, -1.0), 1.0)
    if kind == kinds.HARD_SIGMOID:
        # CUDA multiplies by 1 / 6 where 6 is a number and no tensor of its own.
        sixth = y / net.torch.full_like(y, 6.0) + 0.5
        return lower_of(net, higher_of(net, sixth, 0.0), 1.0)
    return activate_smoothly(net, kind, y)


def activate_smoothly(net: TensorNet, kind: int, y: Tensor) -> Tensor:
    """Apply a smooth activation to numbers."""
    if kind == kinds.SIGMOID:
        return sigmoid(net, y)
    if kind == kinds.TANH:
        return net.torch.tanh(y)
    if kind == kinds.ELU:
        return net.where(y > 0, y, net.torch.expm1(y))
    if kind == kinds.SOFTPLUS:
        small = net.torch.exp(-net.torch.abs(y))
        return higher_of(net, y, 0.0) + net.torch.log1p(small)
    if kind == kinds.SILU:
        return y * sigmoid(net, y)
    return 0.5 * y * (1.0 + net.torch.erf(y / math.sqrt(2.0)))


def relax(net: TensorNet, kind: int, slope: float, low: Tensor, high: Tensor) -> Lines:
    """Hold activations between two lines on [low, high]; NaN if they overflowed."""
    at_low = activate(net, kind, slope, low)
    at_high = activate(net, kind, slope, high)
    if kind == kinds.IDENTITY:
        lines = _straight(net, low)
    elif kind == kinds.RELU:
        lines = _relu_lines(net, low, high)
    elif kind in (kinds.SILU, kinds.GELU):
        zero = net.torch.zeros_like(low)
        smallest, largest = _range_of(net, kind, low, high, at_low, at_high)
        lines = Lines(zero, smallest, zero, largest)
    else:
        lines = _chords(net, kind, slope, low, high)
    if kind in (kinds.RELU, kinds.LEAKY_RELU):
        lines = _where(net, low >= 0, _straight(net, low), lines)
    smallest, zero = lower_of(net, at_low, at_high), net.torch.zeros_like(low)
    point = Lines(zero, smallest, zero, higher_of(net, at_low, at_high))
    lines = _where(net, low == high, point, lines)
    sure = is_finite(low, high)
    return Lines(*(net.where(sure, part, math.nan) for part in lines))


def is_finite(low: Tensor, high: Tensor) -> Tensor:
    """Tell where bounds are numbers, and in order."""
    return (low >= -_LARGEST) & (low <= high) & (high <= _LARGEST)


def _where(net: TensorNet, condition: Tensor, one: Lines, other: Lines) -> Lines:
    pairs = zip(one, other, strict=True)
    return Lines(*(net.where(condition, *pair) for pair in pairs))


def _straight(net: TensorNet, like: Tensor) -> Lines:
    one, zero = net.torch.ones_like(like), net.torch.zeros_like(like)
    return Lines(one, zero, one, zero)


def _relu_lines(net: TensorNet, low: Tensor, high: Tensor) -> Lines:
    """Hold relu where `low` is below 0."""
    chord = high / (high - low)
    above = higher_of(net, -chord * low, high - chord * high)
    slope, zero = (high > -low).to(net.torch.float64), net.torch.zeros_like(low)
    lines = Lines(slope, zero, chord, above)
    return _where(net, high <= 0, Lines(zero, zero, zero, zero), lines)


def _chords(
    net: TensorNet, kind: int, slope: float, low: Tensor, high: Tensor
) -> Lines:
    """Hold an activation between two lines whose slope is that of its chord."""
    at_low = activate(net, kind, slope, low)
    at_high = activate(net, kind, slope, high)
    steep = _STEEPEST.get(kind, 1.0)
    if kind == kinds.LEAKY_RELU:
        steep = max(1.0, abs(slope))
    chord = higher_of(net, (at_high - at_low) / (high - low), -steep)
    chord = lower_of(net, chord, steep)
    one, other = at_low - chord * low, at_high - chord * high
    smallest, largest = lower_of(net, one, other), higher_of(net, one, other)
    for point in tangent_points(net, kind, chord):
        gap = activate(net, kind, slope, point) - chord * point
        inside = (low < point) & (point < high)
        smallest = net.where(inside, lower_of(net, smallest, gap), smallest)
        largest = net.where(inside, higher_of(net, largest, gap), largest)
    return Lines(chord, smallest, chord, largest)


def tangent_points(net: TensorNet, kind: int, chord: Tensor) -> list[Tensor]:
    """Return where f(y) - chord y may have an extreme inside an interval."""
    if kind == kinds.LEAKY_RELU:
        return [net.torch.zeros_like(chord)]
    if kind in (kinds.HARD_TANH, kinds.HARD_SIGMOID):
        kink = 1.0 if kind == kinds.HARD_TANH else 3.0
        return [net.torch.full_like(chord, -kink), net.torch.full_like(chord, kink)]
    chord = net.where((chord > 0.0) & (chord < 1.0), chord, math.nan)
    if kind == kinds.SIGMOID:
        root = net.torch.sqrt(1.0 - 4.0 * chord)
        point = net.torch.log((1.0 + root) / (2.0 * chord) - 1.0)
        return [-point, point]
    if kind == kinds.TANH:
        point = net.torch.acosh(1.0 / net.torch.sqrt(chord))
        return [-point, point]
    if kind == kinds.ELU:
        return [net.torch.log(chord)]
    return [net.torch.log(chord) - net.torch.log1p(-chord)]  # softplus


def gap_of(net: TensorNet, kind: int, low: Tensor, high: Tensor) -> Tensor:
    """Return how wide the lines around activations may stand apart; 0 if not at all."""
    wide = high - low
    if kind > kinds.LEAKY_RELU:
        return net.where(high > low, lower_of(net, wide, _LARGEST), 0.0)
    if kind == kinds.IDENTITY:
        return net.torch.zeros_like(low)
    gap = lower_of(net, -low * high / wide, _LARGEST)
    gap = net.where(wide < _LARGEST, gap, _LARGEST)
    return net.where((low < 0.0) & (high > 0.0), gap, 0.0)


def activation_range(
    net: TensorNet, kind: int, slope: float, low: Tensor, high: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the smallest and largest values of activations; NaN if they overflowed."""
    at_low = activate(net, kind, slope, low)
    at_high = activate(net, kind, slope, high)
    smallest, largest = _range_of(net, kind, low, high, at_low, at_high)
    sure = is_finite(low, high)
    nan = math.nan
    return net.where(sure, smallest, nan), net.where(sure, largest, nan)


def _range_of(
    net: TensorNet,
    kind: int,
    low: Tensor,
    high: Tensor,
    at_low: Tensor,
    at_high: Tensor,
) -> tuple[Tensor, Tensor]:
    smallest = lower_of(net, at_low, at_high)
    largest = higher_of(net, at_low, at_high)
    if kind in (kinds.SILU, kinds.GELU):
        lowest = SILU_LOWEST if kind == kinds.SILU else GELU_LOWEST
        bottom = activate(net, kind, 0.0, net.torch.full_like(low, lowest))
        inside = (low < lowest) & (lowest < high)
        smallest = net.where(inside, bottom, smallest)
    elif kind == kinds.LEAKY_RELU:
        inside = (low < 0) & (high > 0)
        smallest = net.where(inside, lower_of(net, smallest, 0.0), smallest)
        largest = net.where(inside, higher_of(net, largest, 0.0), largest)
    return smallest, largest
