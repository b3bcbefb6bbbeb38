"""The nonlinear steps of models, as activations of a network.

Many are an activation that the network has, of a number that is shifted and scaled:
``relu6(x)`` is ``3 + 3 * hard_tanh((x - 3) / 3)``.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from nn2rules.adapters.tracing.tensors import Tensor
from nn2rules.adapters.tracing.trace import Trace
from nn2rules.errors import UnsupportedModelError

_CLOSE = 1e-6
"""Constants are stored in float32: so far may they lie from what is meant."""


def _plain(trace: Trace, x: Tensor, *, name: str) -> Tensor:
    return trace.activate(x, name)


def _relu(
    trace: Trace, x: Tensor, *, slope: Any = 0, most: Any = None, start: Any = 0
) -> Tensor:
    """Read a ReLU, which may leak below zero, or be cut off above."""
    if start:
        raise UnsupportedModelError(
            f"this ReLU starts at {start:g}, and nn2rules reads those that start at 0"
        )
    if most is None:
        return _leaky_relu(trace, x, slope=slope)
    if slope:
        raise UnsupportedModelError(
            "this ReLU leaks and is cut off; nn2rules reads those that do one of these"
        )
    return _cut(trace, x, 0.0, float(most))


def _leaky_relu(trace: Trace, x: Tensor, *, slope: Any) -> Tensor:
    if slope == 0:
        return trace.activate(x, "relu")
    return trace.activate(x, "leaky_relu", slope=float(slope))


def _prelu(trace: Trace, x: Tensor, *, slopes: Any) -> Tensor:
    """Read a PReLU, if all its units have one slope."""
    [slope, *others] = set(np.asarray(slopes).reshape(-1).tolist())
    if others:
        raise UnsupportedModelError(
            "its units have slopes of their own; nn2rules cannot hold different slopes "
            "side by side, so use LeakyReLU, or a PReLU none of whose units has its "
            "own slope"
        )
    return _leaky_relu(trace, x, slope=slope)


def _cut(trace: Trace, tensor: Tensor, low: float | None, high: float | None) -> Tensor:
    """Return every entry cut off at two limits, or at one, or at none.

    ``clip(x, 0, 6)`` is ``3 + 3 * hard_tanh((x - 3) / 3)``.
    """
    if low is not None and high is not None:
        if not low < high:
            raise UnsupportedModelError(f"its limits are {low} and {high}")
        middle, half = (low + high) / 2, (high - low) / 2
        inside = tensor
        if (middle, half) != (0, 1):
            inside = trace.scale(tensor, 1 / half, -middle / half)
        return trace.scale(trace.activate(inside, "hard_tanh"), half, middle)
    limit, sign = (low, 1.0) if high is None else (high, -1.0)
    if limit is None:
        return tensor
    if limit == 0 and sign == 1.0:
        return trace.activate(tensor, "relu")
    above = trace.activate(trace.scale(tensor, sign, -sign * limit), "relu")
    return trace.scale(above, sign, limit)


def _clip(trace: Trace, x: Tensor, *, low: Any = None, high: Any = None) -> Tensor:
    """Read numbers that are cut off at limits, of which each may be missing."""
    limits = []
    for limit in (low, high):
        if np.size(limit) > 1:
            raise UnsupportedModelError("its limits are arrays; give numbers")
        number = math.inf if limit is None else float(limit)
        is_none = abs(number) >= float(np.finfo(np.float32).max)
        limits.append(None if is_none else number)
    return _cut(trace, x, *limits)


def _absolute(trace: Trace, x: Tensor) -> Tensor:
    negative = trace.activate(trace.scale(x, -1.0), "relu")
    return trace.add(trace.activate(x, "relu"), negative)


def _elu(trace: Trace, x: Tensor, *, alpha: Any = 1.0, scales: Any = ()) -> Tensor:
    """Read an ELU of alpha 1; an operator may have two scales more."""
    if alpha != 1 or any(float(scale) not in (0.0, 1.0) for scale in scales):
        raise UnsupportedModelError(
            f"an ELU with alpha={alpha} has a kink at 0: its alpha is {alpha:.6g}; "
            f"nn2rules reads 1, or ReLU"
        )
    return trace.activate(x, "elu")


def _celu(trace: Trace, x: Tensor, *, alpha: Any = 1.0) -> Tensor:
    alpha = float(alpha)
    return trace.scale(trace.activate(trace.scale(x, 1 / alpha), "elu"), alpha)


def _gelu(trace: Trace, x: Tensor, *, approximate: Any = False) -> Tensor:
    if approximate not in (False, "none", b"none"):
        raise UnsupportedModelError(
            'approximate="tanh" is another function than GELU: this is the approximate '
            'one, approximated by tanh; use the exact one, of approximate="none" (in '
            "Keras, approximate=False)"
        )
    return trace.activate(x, "gelu")


def _softplus(
    trace: Trace,
    x: Tensor,
    *,
    beta: Any = 1.0,
    threshold: Any = math.inf,
    unit: float = 1.0,
) -> Tensor:
    """Read a softplus; beyond a threshold the model may take x for it.

    In float64 that is more than rounding, so that the bound on the model's error has to
    allow for it.
    """
    beta, threshold = float(beta), float(threshold)
    if threshold < 15:
        raise UnsupportedModelError(
            f"a Softplus with threshold={threshold:g} jumps there from one function to "
            f"another; leave the threshold at 20"
        )
    scaled = x if beta == 1 else trace.scale(x, beta)
    made = trace.activate(scaled, "softplus")
    if beta == 1 and math.isinf(threshold):
        return made
    shortcut = math.log1p(math.exp(-threshold)) / beta
    return trace.scale(trace.scale(made, 1 / beta), 1.0, 0.0, shortcut / unit)


def _log_sigmoid(trace: Trace, x: Tensor) -> Tensor:
    negative = trace.activate(trace.scale(x, -1.0), "softplus")
    return trace.scale(negative, -1.0)


def _hard_sigmoid(
    trace: Trace, x: Tensor, *, alpha: float = 1 / 6, beta: float = 0.5
) -> Tensor:
    if not math.isclose(alpha, 1 / 6, rel_tol=_CLOSE):
        raise UnsupportedModelError(
            f"its alpha is {alpha:.6g}; nn2rules reads {1 / 6:.6g}"
        )
    if beta != 0.5:
        raise UnsupportedModelError(f"its beta is {beta:g}; nn2rules reads 0.5")
    return trace.activate(x, "hard_sigmoid")


def _silu(trace: Trace, x: Tensor, *, alpha: float = 1.0) -> Tensor:
    if alpha != 1:
        raise UnsupportedModelError(f"its alpha is {alpha:.6g}; nn2rules reads 1")
    return trace.activate(x, "silu")


def _softmax(trace: Trace, x: Tensor, *, name: str, axis: int | None = -1) -> Tensor:
    """Read the shares of the classes, or their logarithms.

    `axis` counts the batch; None stands for all numbers of a row.
    """
    size = math.prod(x.shape)
    place = len(x.shape) if axis is None else axis % (len(x.shape) + 1)
    if place == 0 or (axis is not None and x.shape[place - 1] != size):
        raise UnsupportedModelError(
            f"a softmax is read over the last axis, that of the classes, as the last "
            f"step; here it goes over axis {axis}, and rows have the shape {x.shape}"
        )
    return trace.activate(x, name)


ACTIVATIONS: dict[str, Callable[..., Tensor]] = {
    "abs": _absolute,
    "celu": _celu,
    "clip": _clip,
    "elu": _elu,
    "gelu": _gelu,
    "hard_sigmoid": _hard_sigmoid,
    "hard_tanh": partial(_plain, name="hard_tanh"),
    "leaky_relu": _leaky_relu,
    "log_sigmoid": _log_sigmoid,
    "log_softmax": partial(_softmax, name="log_softmax"),
    "prelu": _prelu,
    "relu": _relu,
    "relu6": partial(_clip, low=0.0, high=6.0),
    "sigmoid": partial(_plain, name="sigmoid"),
    "silu": _silu,
    "softmax": partial(_softmax, name="softmax"),
    "softplus": _softplus,
    "tanh": partial(_plain, name="tanh"),
}
"""What is done for each, given a trace, a tensor, and its options by their names."""
