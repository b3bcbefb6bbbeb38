"""The nonlinear steps of PyTorch models, as activations of a network.

Many are an activation that the network has, of a number that is shifted and scaled:
``relu6(x)`` is ``3 + 3 * hardtanh((x - 3) / 3)``.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from nn2rules.adapters.torch.steps import Step
from nn2rules.adapters.torch.values import UNITS, Traced, on_tables
from nn2rules.adapters.tracing import Ending, Tensor, Trace
from nn2rules.errors import UnsupportedModelError

_PLAIN = {
    "hardsigmoid": "hard_sigmoid",
    "relu": "relu",
    "sigmoid": "sigmoid",
    "silu": "silu",
    "tanh": "tanh",
}


def activation(trace: Trace, step: Step) -> Traced:
    """Return an activation of every entry of a tensor."""
    value = _first(step)
    if value.is_table and step.name != "rrelu":
        made = on_tables(trace, step.traced, step.run_each, elementwise=True)
        if step.name != "sigmoid":
            return made
        ending = Ending("sigmoid", value.tensor)
        return replace(made, tensor=replace(made.tensor, ending=ending))
    if step.name in _PLAIN:
        tensor = trace.activate(value.tensor, _PLAIN[step.name])
    else:
        tensor = _WITH_OPTIONS[step.name](trace, step, value)
    return Traced(tensor, value.dtype)


def softmax(trace: Trace, step: Step) -> Traced:
    """Return the shares of the classes, or their logarithms."""
    value = _first(step)
    dim = step.option(1, "dim")
    if len(value.tensor.shape) != 1 or dim not in (1, -1, None):
        raise UnsupportedModelError(
            f"softmax is read along the classes of a row, as the last step; here it is "
            f"given rows of shape {value.tensor.shape}, and dim={dim}"
        )
    return Traced(trace.activate(value.tensor, step.name), value.dtype)


def _first(step: Step) -> Traced:
    value = step.option(0, "input")
    if not isinstance(value, Traced):
        raise UnsupportedModelError("its options depend on the input")
    return value


def _leaky_relu(trace: Trace, step: Step, value: Traced) -> Tensor:
    return _sloped(trace, value, step.option(1, "negative_slope", 0.01))


def _sloped(trace: Trace, value: Traced, slope: Any) -> Tensor:
    exact = float(torch.tensor(slope, dtype=value.dtype))  # as the model rounds it
    return trace.activate(value.tensor, "leaky_relu", slope=exact)


def _prelu(trace: Trace, step: Step, value: Traced) -> Tensor:
    slopes = step.option(1, "weight")
    if isinstance(slopes, Traced) or len(slopes.unique()) != 1:
        raise UnsupportedModelError(
            "its units have slopes of their own; nn2rules holds layers of one slope, "
            "as that of nn.PReLU() or nn.LeakyReLU()"
        )
    slope = float(slopes.detach().reshape(-1)[0])
    return trace.activate(value.tensor, "leaky_relu", slope=slope)


def _rrelu(trace: Trace, step: Step, value: Traced) -> Tensor:
    lower = step.option(1, "lower", 1 / 8)
    upper = step.option(2, "upper", 1 / 3)
    if step.option(3, "training", False):
        raise UnsupportedModelError("in training mode its slopes are random")
    return _sloped(trace, value, (lower + upper) / 2)


def _hardtanh(trace: Trace, step: Step, value: Traced) -> Tensor:
    low = step.option(1, "min_val", -1.0)
    return trace.clip(value.tensor, low, step.option(2, "max_val", 1.0))


def _relu6(trace: Trace, _step: Step, value: Traced) -> Tensor:
    return trace.clip(value.tensor, 0.0, 6.0)


def _clamp(trace: Trace, step: Step, value: Traced) -> Tensor:
    low = step.option(1, "min")
    high = step.option(2, "max")
    for limit in (low, high):
        if isinstance(limit, torch.Tensor | Traced):
            raise UnsupportedModelError("its limits are tensors; give numbers")
    return trace.clip(value.tensor, low, high)


def _abs(trace: Trace, _step: Step, value: Traced) -> Tensor:
    negative = trace.activate(trace.scale(value.tensor, -1.0), "relu")
    return trace.add(trace.activate(value.tensor, "relu"), negative)


def _elu(trace: Trace, step: Step, value: Traced) -> Tensor:
    alpha = step.option(1, "alpha", 1.0)
    scales = (step.option(2, "scale", 1.0), step.option(3, "input_scale", 1.0))
    if alpha != 1 or any(float(scale) not in (0.0, 1.0) for scale in scales):
        raise UnsupportedModelError(
            f"an ELU with alpha={alpha} has a kink at 0 that nn2rules does not know; "
            f"use alpha=1, or ReLU"
        )
    return trace.activate(value.tensor, "elu")


def _celu(trace: Trace, step: Step, value: Traced) -> Tensor:
    alpha = float(step.option(1, "alpha", 1.0))
    return trace.scale(
        trace.activate(trace.scale(value.tensor, 1 / alpha), "elu"), alpha
    )


def _softplus(trace: Trace, step: Step, value: Traced) -> Tensor:
    beta = float(step.option(1, "beta", 1.0))
    threshold = float(step.option(2, "threshold", 20.0))
    if threshold < 15:
        raise UnsupportedModelError(
            f"a Softplus with threshold={threshold:g} jumps there from one function to "
            f"another; leave the threshold at 20"
        )
    scaled = value.tensor if beta == 1 else trace.scale(value.tensor, beta)
    made = trace.scale(trace.activate(scaled, "softplus"), 1 / beta)
    # Beyond the threshold PyTorch takes x for softplus(x): in float64 that is more than
    # rounding, so that the bound on the model's error has to allow for it.
    shortcut = math.log1p(math.exp(-threshold)) / beta
    return trace.scale(made, 1.0, 0.0, shortcut / UNITS[value.dtype])


def _gelu(trace: Trace, step: Step, value: Traced) -> Tensor:
    if step.option(1, "approximate", "none") != "none":
        raise UnsupportedModelError(
            'approximate="tanh" is another function than GELU, close to it but not the '
            "same; use the exact nn.GELU()"
        )
    return trace.activate(value.tensor, "gelu")


def _logsigmoid(trace: Trace, _step: Step, value: Traced) -> Tensor:
    negative = trace.activate(trace.scale(value.tensor, -1.0), "softplus")
    return trace.scale(negative, -1.0)


_WITH_OPTIONS: dict[str, Callable[[Trace, Step, Traced], Tensor]] = {
    "abs": _abs,
    "celu": _celu,
    "clamp": _clamp,
    "elu": _elu,
    "gelu": _gelu,
    "hardtanh": _hardtanh,
    "leaky_relu": _leaky_relu,
    "logsigmoid": _logsigmoid,
    "prelu": _prelu,
    "relu6": _relu6,
    "rrelu": _rrelu,
    "softplus": _softplus,
}

ACTIVATION_STEPS = (*_PLAIN, *_WITH_OPTIONS)
"""The names of the steps that `activation` reads."""
