"""Which operation each layer and operation of Keras is, and where its options are."""

from collections.abc import Callable
from typing import Any, TypeAlias

import keras
import numpy as np

from nn2rules.errors import UnsupportedModelError
from nn2rules.models.keras.step import Call, Walk
from nn2rules.models.keras.tables import numpy_of, plain
from nn2rules.models.tracing import FIXED

Options: TypeAlias = Callable[[Walk, Call], dict[str, Any]]

_NORMALIZING = 8
"""How often a normalization rounds: a sum, a root, a quotient, two products, …"""


def _at(**attributes: str) -> Options:
    """Find options by the attributes of a layer or an operation."""
    return lambda _walk, call: {
        name: plain(getattr(call.op, attribute))
        for name, attribute in attributes.items()
    }


def _softmax(walk: Walk, call: Call) -> dict[str, Any]:
    if walk.is_masked or len(call.tensors) > 1:
        raise UnsupportedModelError("a softmax with a mask is none of all units")
    return {"axis": call.op.axis}


def _clip(_walk: Walk, call: Call) -> dict[str, Any]:
    """Find the limits, as Keras rounds them."""
    limits = (keras.ops.convert_to_tensor(x) for x in (call.op.x_min, call.op.x_max))
    return dict(zip(("low", "high"), map(numpy_of, limits), strict=True))


def _cast(_walk: Walk, call: Call) -> dict[str, Any]:
    return {"is_float": str(call.op.dtype).startswith(("float", "bfloat"))}


def _matmul(_walk: Walk, call: Call) -> dict[str, Any]:
    left, right = (*call.args, *call.kwargs.values())
    if len(call.tensors) > 1 or left is not call.symbols[0]:
        raise UnsupportedModelError(FIXED)
    matrix = numpy_of(keras.ops.convert_to_tensor(right))
    return {"weights": matrix, "roundings": 2}  # formats may differ


def _batch_normalization(_walk: Walk, call: Call) -> dict[str, Any]:
    layer = call.op
    return {
        "mean": numpy_of(layer.moving_mean),
        "variance": numpy_of(layer.moving_variance),
        "epsilon": layer.epsilon,
        "scale": numpy_of(layer.gamma) if layer.scale else None,
        "shift": numpy_of(layer.beta) if layer.center else None,
        "axis": layer.axis,
        "roundings": _NORMALIZING // 2,
    }


def _normalization(_walk: Walk, call: Call) -> dict[str, Any]:
    mean, variance = (
        numpy_of(numbers).astype(np.float64)[0]
        for numbers in (call.op.mean, call.op.variance)
    )
    spread = np.maximum(np.sqrt(variance), keras.config.epsilon())
    factor, shift = 1 / spread, -mean / spread
    if call.op.invert:
        factor, shift = spread, mean
    return {"factor": factor, "shift": shift, "roundings": _NORMALIZING}


def _rescaling(_walk: Walk, call: Call) -> dict[str, Any]:
    options = {"factor": call.op.scale, "shift": call.op.offset}
    return {**options, "roundings": _NORMALIZING}


_KEPT = (
    *("ActivityRegularization", "AlphaDropout", "Dropout", "GaussianDropout"),
    *("GaussianNoise", "Identity", "SpatialDropout1D", "SpatialDropout2D"),
)
_ALPHA, _SLOPE = _at(alpha="alpha"), _at(slope="negative_slope")
_REDUCED = _at(axes="axis", keep="keepdims")

READABLE: dict[str, tuple[str, Options]] = {
    **dict.fromkeys(_KEPT, ("identity", _at())),
    **dict.fromkeys(
        ("Absolute", "Exp", "Log", "Log1p", "Sqrt", "Square"), ("each", _at())
    ),
    "Add": ("add", _at()),
    "Average": ("average", _at()),
    "BatchNormalization": ("normalize", _batch_normalization),
    "Cast": ("cast", _cast),
    "Clip": ("clip", _clip),
    "Divide": ("divide", _at()),
    "ELU": ("elu", _ALPHA),
    "Elu": ("elu", _ALPHA),
    "Gelu": ("gelu", _at(approximate="approximate")),
    "HardSigmoid": ("hard_sigmoid", _at()),
    "HardTanh": ("hard_tanh", _at()),
    "LeakyReLU": ("leaky_relu", _SLOPE),
    "LeakyRelu": ("leaky_relu", _SLOPE),
    "LogSoftmax": ("log_softmax", _softmax),
    "Matmul": ("linear", _matmul),
    "Mean": ("mean", _REDUCED),
    "Multiply": ("multiply", _at()),
    "Negative": ("negative", _at()),
    "Normalization": ("scale", _normalization),
    "PReLU": ("prelu", _at(slopes="alpha")),
    "ReLU": (
        "relu",
        _at(slope="negative_slope", most="max_value", start="threshold"),
    ),
    "Relu": ("relu", _at()),
    "Relu6": ("relu6", _at()),
    "Rescaling": ("scale", _rescaling),
    "Sigmoid": ("sigmoid", _at()),
    "Silu": ("silu", _at()),
    "Softmax": ("softmax", _softmax),
    "Softplus": ("softplus", _at()),
    "Subtract": ("subtract", _at()),
    "Sum": ("sum", _REDUCED),
    "Tanh": ("tanh", _at()),
    "TrueDivide": ("divide", _at()),
}
"""For each that networks can hold, its operation and where its options are."""

MOVES = (
    *("Concatenate", "Cropping1D", "ExpandDims", "Flatten", "Flip", "GetItem"),
    *("Moveaxis", "Permute", "Repeat", "RepeatVector", "Reshape", "Split"),
    *("Squeeze", "Stack", "Swapaxes", "Transpose"),
)
"""Layers and operations that pick and place entries, and compute nothing."""
