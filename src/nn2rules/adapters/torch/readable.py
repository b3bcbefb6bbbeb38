"""Which operation each step of a PyTorch model is, and where its options stand."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import torch

from nn2rules.adapters.torch.steps import Call
from nn2rules.adapters.torch.values import Traced, to_numpy, unit_of
from nn2rules.adapters.tracing import FIXED
from nn2rules.errors import UnsupportedModelError

Options: TypeAlias = Callable[[Call], dict[str, Any]]


def fixed(value: Any) -> Any:
    """Return an option as it is, and tensors as arrays; no input may decide it."""
    if isinstance(value, Traced):
        raise UnsupportedModelError(FIXED)
    return to_numpy(value) if isinstance(value, torch.Tensor) else value


def _at(**places: tuple[int, str, Any]) -> Options:
    """Find options by their positions, their names and their defaults."""
    return lambda call: {
        name: fixed(call.option(*place)) for name, place in places.items()
    }


def _slope(call: Call, slope: Any) -> dict[str, Any]:
    """Return the slope as the model rounds it."""
    return {"slope": float(torch.tensor(fixed(slope), dtype=call.first.dtype))}


def _leaky_relu(call: Call) -> dict[str, Any]:
    return _slope(call, call.option(1, "negative_slope", 0.01))


def _rrelu(call: Call) -> dict[str, Any]:
    if call.option(3, "training", False):
        raise UnsupportedModelError("in training mode its slopes are random")
    ends = call.option(1, "lower", 1 / 8), call.option(2, "upper", 1 / 3)
    return _slope(call, sum(ends) / 2)


def _elu(call: Call) -> dict[str, Any]:
    scales = call.option(2, "scale", 1.0), call.option(3, "input_scale", 1.0)
    return {"alpha": call.option(1, "alpha", 1.0), "scales": scales}


def _softplus(call: Call) -> dict[str, Any]:
    places = _at(beta=(1, "beta", 1.0), threshold=(2, "threshold", 20.0))
    return {**places(call), "unit": unit_of(call.first.dtype)}


def _softmax(call: Call) -> dict[str, Any]:
    axis = call.option(1, "dim")
    if axis is None:  # as PyTorch guesses
        axis = 1 if len(call.first.shape) == 2 else 0
    return {"axis": axis}


def _linear(call: Call) -> dict[str, Any]:
    weight = fixed(call.option(1, "weight"))
    return {"weights": weight.T, "bias": fixed(call.option(2, "bias"))}


def _addmm(call: Call) -> dict[str, Any]:
    if any(call.kwargs.get(name, 1) != 1 for name in ("alpha", "beta")):
        raise UnsupportedModelError("it scales by alpha or beta; multiply instead")
    weight = fixed(call.option(2, "mat2"))
    return {"weights": weight, "bias": fixed(call.args[0])}


def _divide(call: Call) -> dict[str, Any]:
    if call.kwargs.get("rounding_mode") is not None:
        raise UnsupportedModelError("it rounds a quotient in which features have met")
    return {}


_FACTOR = _at(factor=(2, "alpha", 1))
_REDUCED = _at(axes=(1, "dim", None), keep=(2, "keepdim", False))
_NORMALIZED = _at(
    mean=(1, "running_mean", None),
    variance=(2, "running_var", None),
    scale=(3, "weight", None),
    shift=(4, "bias", None),
    is_training=(5, "training", False),
    epsilon=(7, "eps", 1e-5),
)

READABLE: Mapping[str, tuple[str, Options]] = {
    "_native_batch_norm_legit_no_training": ("normalize", _NORMALIZED),
    "abs": ("abs", _at()),
    "add": ("add", _FACTOR),
    "addmm": ("linear", _addmm),
    "batch_norm": ("normalize", _NORMALIZED),
    "celu": ("celu", _at(alpha=(1, "alpha", 1.0))),
    "clamp": ("clip", _at(low=(1, "min", None), high=(2, "max", None))),
    "div": ("divide", _divide),
    "elu": ("elu", _elu),
    "gelu": ("gelu", _at(approximate=(1, "approximate", "none"))),
    "hardsigmoid": ("hard_sigmoid", _at()),
    "hardtanh": ("clip", _at(low=(1, "min_val", -1.0), high=(2, "max_val", 1.0))),
    "leaky_relu": ("leaky_relu", _leaky_relu),
    "linear": ("linear", _linear),
    "log_softmax": ("log_softmax", _softmax),
    "logsigmoid": ("log_sigmoid", _at()),
    "matmul": ("linear", _at(weights=(1, "other", np.zeros(0)))),
    "mean": ("mean", _REDUCED),
    "mul": ("multiply", _at()),
    "neg": ("negative", _at()),
    "prelu": ("prelu", _at(slopes=(1, "weight", None))),
    "relu": ("relu", _at()),
    "relu6": ("relu6", _at()),
    "rrelu": ("leaky_relu", _rrelu),
    "rsub": ("subtract", _FACTOR),
    "sigmoid": ("sigmoid", _at()),
    "silu": ("silu", _at()),
    "softmax": ("softmax", _softmax),
    "softplus": ("softplus", _softplus),
    "sub": ("subtract", _FACTOR),
    "sum": ("sum", _REDUCED),
    "tanh": ("tanh", _at()),
}
"""For each step that networks can hold: its operation, and how to find its options."""
