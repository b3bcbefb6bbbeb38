"""Which operation each ONNX operator is, and where its options stand."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from nn2rules.errors import UnsupportedModelError
from nn2rules.models.onnx.graph import FLOATS, Node
from nn2rules.models.onnx.walk import Fixed, Walk
from nn2rules.models.tracing import MIXED_ROWS

Options: TypeAlias = Callable[[Walk, Node], dict[str, Any]]


def _at(**places: int | tuple[str, Any]) -> Options:
    """Find options: by the place among the inputs, or by attribute and default."""

    def options(walk: Walk, node: Node) -> dict[str, Any]:
        return {
            name: walk.weights(node, place)
            if isinstance(place, int)
            else node.attributes.get(*place)
            for name, place in places.items()
        }

    return options


def _clip(walk: Walk, node: Node) -> dict[str, Any]:
    """Find the bounds: inputs, in older models attributes."""
    given = [walk.weights(node, index) for index in (1, 2)]
    named = [node.attributes.get(name) for name in ("min", "max")]
    low, high = (b if a is None else a for a, b in zip(given, named, strict=True))
    return {"low": low, "high": high}


def _gemm(walk: Walk, node: Node) -> dict[str, Any]:
    if node.attributes.get("transA", 0):
        raise UnsupportedModelError(MIXED_ROWS)
    weights = walk.weights(node, 1)
    assert weights is not None, "the checker asks for two inputs"
    turned = weights.T if node.attributes.get("transB", 0) else weights
    return {"weights": node.attributes.get("alpha", 1.0) * turned}


def _scaler(walk: Walk, node: Node) -> dict[str, Any]:
    """Find those of ai.onnx.ml's Scaler, ``(x - offset) * scale``."""
    offset, scale = (
        walk.floats(np.array(node.attributes.get(name, [default]), np.float32))
        for name, default in (("offset", 0.0), ("scale", 1.0))
    )
    return {"factor": scale, "shift": -offset * scale}


def _reduced(walk: Walk, node: Node) -> dict[str, Any]:
    axes: Any = node.attributes.get("axes")
    given = walk.value(node, 1)
    if isinstance(given, Fixed):
        axes = given.value.tolist()
    return {"axes": axes, "keep": node.attributes.get("keepdims", 1)}


def _cast(walk: Walk, node: Node) -> dict[str, Any]:
    kind = node.attributes["to"]
    if kind in FLOATS:
        names = dict(zip(FLOATS, ("float32", "float64", "float16"), strict=True))
        walk.floats(np.zeros(0, dtype=names[kind]))
    return {"is_float": kind in FLOATS}


def _softmax(walk: Walk, node: Node) -> dict[str, Any]:
    if walk.graph.opset >= 13:
        return {"axis": node.attributes.get("axis", -1)}
    axis = node.attributes.get("axis", 1)
    return {"axis": None if axis == 1 else axis}  # all that follows the first axis


_NORMALIZED = _at(
    scale=1,
    shift=2,
    mean=3,
    variance=4,
    epsilon=("epsilon", 1e-5),
    is_training=("training_mode", 0),
)

READABLE: dict[str, tuple[str, Options]] = {
    "Add": ("add", _at()),
    "BatchNormalization": ("normalize", _NORMALIZED),
    "Cast": ("cast", _cast),
    "Celu": ("celu", _at(alpha=("alpha", 1.0))),
    "Clip": ("clip", _clip),
    "Div": ("divide", _at()),
    "Elu": ("elu", _at(alpha=("alpha", 1.0))),
    "Gelu": ("gelu", _at(approximate=("approximate", b"none"))),
    "Gemm": ("linear", _gemm),
    "HardSigmoid": ("hard_sigmoid", _at(alpha=("alpha", 0.2), beta=("beta", 0.5))),
    "LeakyRelu": ("leaky_relu", _at(slope=("alpha", 0.01))),
    "LogSoftmax": ("log_softmax", _softmax),
    "MatMul": ("linear", _at(weights=1)),
    "Mul": ("multiply", _at()),
    "Neg": ("negative", _at()),
    "PRelu": ("prelu", _at(slopes=1)),
    "ReduceMean": ("mean", _reduced),
    "ReduceSum": ("sum", _reduced),
    "Relu": ("relu", _at()),
    "Scaler": ("scale", _scaler),
    "Sigmoid": ("sigmoid", _at()),
    "Silu": ("silu", _at()),
    "Softmax": ("softmax", _softmax),
    "Softplus": ("softplus", _at()),
    "Sub": ("subtract", _at()),
    "Sum": ("add", _at()),
    "Swish": ("silu", _at(alpha=("alpha", 1.0))),
    "Tanh": ("tanh", _at()),
}
"""For each operator that networks can hold, its operation and where its options are."""

EACH = (
    *("Abs", "Acos", "Acosh", "And", "Asin", "Asinh", "Atan", "Atanh", "BitShift"),
    *("BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "Ceil", "Cos", "Cosh"),
    *("Equal", "Erf", "Exp", "Floor", "Greater", "GreaterOrEqual", "HardSwish"),
    *("IsInf", "IsNaN", "Less", "LessOrEqual", "Log", "Max", "Mean", "Min", "Mish"),
    *("Mod", "Not", "Or", "Pow", "Reciprocal", "Round", "Selu", "Shrink", "Sign"),
    *("Sin", "Sinh", "Softsign", "Sqrt", "Tan", "ThresholdedRelu", "Where", "Xor"),
)
"""Other operators that make each entry of their result of the same entries."""

SPREAD = (
    *("Binarizer", "CastLike", "Imputer", "LabelEncoder", "OneHot", "OneHotEncoder"),
)
"""Operators that make each entry of the result, or several, from one of the input."""
