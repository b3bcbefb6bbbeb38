"""How each ONNX operator is read, and why some cannot be."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import onnx

from nn2rules.errors import UnsupportedModelError
from nn2rules.models.onnx.graph import FLOATS, Node
from nn2rules.models.onnx.walk import Fixed, Walk, first_input
from nn2rules.models.tracing import (
    CONSTANT,
    MIXED_ROWS,
    OPERATIONS,
    SEVERAL,
    Columns,
    Tensor,
)
from nn2rules.space import Domain

Options: TypeAlias = Callable[[Walk, Node], dict[str, Any]]


def _at(**places: int | tuple[str, Any]) -> Options:
    """Find options among the inputs by position, or among the attributes by name."""

    def options(walk: Walk, node: Node) -> dict[str, Any]:
        return {
            name: walk.weights(node, place)
            if isinstance(place, int)
            else node.attributes.get(*place)
            for name, place in places.items()
        }

    return options


def _clip(walk: Walk, node: Node) -> dict[str, Any]:
    """Find the limits: inputs, or attributes in older models."""
    inputs = [walk.weights(node, index) for index in (1, 2)]
    named = [node.attributes.get(name) for name in ("min", "max")]
    low, high = (b if a is None else a for a, b in zip(inputs, named, strict=True))
    return {"low": low, "high": high}


def _gemm_weights(walk: Walk, node: Node) -> dict[str, Any]:
    if node.attributes.get("transA", 0):
        raise UnsupportedModelError(MIXED_ROWS)
    weights = walk.weights(node, 1)
    assert weights is not None, "the checker asks for two inputs"
    matrix = weights.T if node.attributes.get("transB", 0) else weights
    return {"weights": node.attributes.get("alpha", 1.0) * matrix}


def _scaler(walk: Walk, node: Node) -> dict[str, Any]:
    """Find the options of ai.onnx.ml's Scaler, ``(x - offset) * scale``."""
    offset, scale = (
        walk.floats(np.array(node.attributes.get(name, [default]), np.float32))
        for name, default in (("offset", 0.0), ("scale", 1.0))
    )
    return {"factor": scale, "shift": -offset * scale}


def _reduced(walk: Walk, node: Node) -> dict[str, Any]:
    axes: Any = node.attributes.get("axes")
    axes_input = walk.value(node, 1)
    if isinstance(axes_input, Fixed):
        axes = axes_input.value.tolist()
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
    "Gemm": ("linear", _gemm_weights),
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
"""From each operator that a network can express to its operation and options."""

EACH = (
    *("Abs", "Acos", "Acosh", "And", "Asin", "Asinh", "Atan", "Atanh", "BitShift"),
    *("BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "Ceil", "Cos", "Cosh"),
    *("Equal", "Erf", "Exp", "Floor", "Greater", "GreaterOrEqual", "HardSwish"),
    *("IsInf", "IsNaN", "Less", "LessOrEqual", "Log", "Max", "Mean", "Min", "Mish"),
    *("Mod", "Not", "Or", "Pow", "Reciprocal", "Round", "Selu", "Shrink", "Sign"),
    *("Sin", "Sinh", "Softsign", "Sqrt", "Tan", "ThresholdedRelu", "Where", "Xor"),
)
"""Other operators that work on each entry alone."""

SPREAD = (
    *("Binarizer", "CastLike", "Imputer", "LabelEncoder", "OneHot", "OneHotEncoder"),
)
"""Operators that make one or several entries from each entry of the input."""


Handler: TypeAlias = Callable[[Walk, Node], Tensor]
"""Reads a step on numbers in which features are combined."""


def _operation(walk: Walk, node: Node) -> Tensor:
    """Read an operator that other frameworks also have."""
    kind, options = READABLE[node.op]
    several = walk.rows(walk.inputs(node)) if kind in SEVERAL else None
    operands = several or [first_input(walk, node)]
    return OPERATIONS[kind](walk.trace, *operands, **options(walk, node))


def _gemm(walk: Walk, node: Node) -> Tensor:
    product, added = _operation(walk, node), walk.value(node, 2)
    if added is None:
        return product
    (product, row), beta = walk.rows([product, added]), node.attributes.get("beta", 1.0)
    if isinstance(row, Columns) and row.is_constant:
        return walk.trace.add(product, walk.trace.constant(beta * row.value))
    return walk.trace.add(product, walk.trace.scale(row, beta))


def _max(walk: Walk, node: Node) -> Tensor:
    fixed = [v for n in node.inputs if isinstance(v := walk.get(n), Fixed)]
    tensors = walk.tensors(node)
    if len(tensors) != 1 or len(fixed) != 1 or fixed[0].value.any():
        raise UnsupportedModelError(
            "nn2rules reads Max only as the maximum of a number and 0"
        )
    return walk.trace.activate(tensors[0], "relu")


def _log(walk: Walk, node: Node) -> Tensor:
    x = first_input(walk, node)
    if x.ending is None or x.ending.kind != "softmax":
        raise UnsupportedModelError("nn2rules reads Log only directly after Softmax")
    return walk.trace.activate(x.ending.scores, "log_softmax")


def _normalizer(walk: Walk, node: Node) -> Tensor:
    x = first_input(walk, node)
    is_share = x.ending is not None and x.ending.kind in ("softmax", "pair")
    is_sum = node.attributes.get("norm") == b"L1" or node.attributes.get("p") == 1
    if is_sum and is_share:
        return x  # probabilities add up to 1 already
    raise UnsupportedModelError(
        "it divides each row by its norm, which is not a linear step; leave it out "
        "of the pipeline"
    )


def _linear_classifier(walk: Walk, node: Node) -> Tensor:
    x = first_input(walk, node)
    transform = node.attributes.get("post_transform", b"NONE").decode()
    numbers = walk.floats(np.array(node.attributes["coefficients"], np.float32))
    weights = numbers.reshape(-1, x.shape[-1])
    n_rows = len(weights)
    bias = np.array(node.attributes.get("intercepts", np.zeros(n_rows)), np.float32)
    scores = walk.trace.linear(x, weights.T, walk.floats(bias))
    if n_rows > 1 and transform == "NONE":
        return scores
    if n_rows > 1 and transform == "SOFTMAX":
        return walk.trace.activate(scores, "softmax")
    if transform == "LOGISTIC" and n_rows == 1:
        return walk.trace.pair(scores)
    is_mirror = (
        n_rows == 2 and (weights[0] == -weights[1]).all() and bias[0] == -bias[1]
    )
    if transform == "LOGISTIC" and is_mirror:
        second = walk.trace.rearrange([scores], lambda rows: rows[..., 1:])
        return walk.trace.pair(second)
    raise UnsupportedModelError(
        f"it turns {n_rows} score{'s' if n_rows > 1 else ''} into probabilities with "
        f"{transform}; nn2rules reads NONE and SOFTMAX, and LOGISTIC for two classes"
    )


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(READABLE, _operation),
    "Gemm": _gemm,
    "LinearClassifier": _linear_classifier,
    "Log": _log,
    "LpNormalization": _normalizer,
    "Max": _max,
    "Normalizer": _normalizer,
}
"""Every operator that can be read once features are combined."""


IMPUTE = "add an imputer to the pipeline"
"""The advice for missing numbers."""

_READ = (
    "dense layers (Gemm, MatMul, Add, Sub, Mul, Div by constants, BatchNormalization) "
    "with Relu, LeakyRelu, PRelu, Elu, Gelu, SiLU, Softplus, Sigmoid, HardSigmoid, "
    "Tanh or Clip, and Softmax last"
)


_NO_TABLES = {
    **dict.fromkeys(("Conv", "ConvInteger", "ConvTranspose"), "images or sequences"),
    **dict.fromkeys(("GRU", "LSTM", "RNN"), "sequences"),
}


def refuse_kind(step: Node) -> None:
    """Refuse a step of a model that is not a network for tabular data."""
    if step.op.startswith("TreeEnsemble"):
        raise UnsupportedModelError(
            f"{step} is {step.kind}. The model is an ensemble of trees, not a neural "
            f"network; nn2rules reads networks and linear classifiers"
        )
    if step.op.startswith("SVM"):
        raise UnsupportedModelError(
            f"{step} is {step.kind}. A support vector machine with a kernel is not a "
            f"neural network; train a LinearSVC or an MLPClassifier"
        )
    if step.op == "LinearRegressor":
        raise UnsupportedModelError(
            f"{step} is a LinearRegressor. The model predicts a number; nn2rules reads "
            f"classifiers"
        )
    if step.op in _NO_TABLES:
        raise UnsupportedModelError(
            f"{step} is {step.kind}. The model is for {_NO_TABLES[step.op]}; nn2rules "
            f"reads networks for tabular data, made of {_READ}"
        )
    if step.op in ("If", "Loop", "Scan"):
        raise UnsupportedModelError(
            f"{step} is {step.kind}. The model has branches or loops; export it "
            f"without them, for example with fixed shapes"
        )


def refuse_bfloat16(model: onnx.ModelProto) -> None:
    """Refuse bfloat16, which neither numpy nor most runtimes support."""
    kinds = [tensor.data_type for tensor in model.graph.initializer]
    values = (*model.graph.input, *model.graph.output)
    kinds += [value.type.tensor_type.elem_type for value in values]
    if onnx.TensorProto.BFLOAT16 in kinds:
        raise UnsupportedModelError(
            "the ONNX model has bfloat16 numbers; nn2rules reads float16, float32 and "
            "float64, so export the model after model.float()"
        )


def unknown(
    step: Node, tensors: Sequence[Tensor], domain: Domain
) -> UnsupportedModelError:
    """Return the error for an operator that is not read once features are combined."""
    owners: set[int] = set()
    for tensor in tensors:
        if not isinstance(tensor, Columns):
            return UnsupportedModelError(
                f"{step} is {step.kind}; once features are combined, nn2rules reads "
                f"{_READ}"
            )
        owners.update(owner for owner in tensor.owners if owner != CONSTANT)
    names = " and ".join(repr(domain.names[owner]) for owner in sorted(owners)[:3])
    return UnsupportedModelError(
        f"{step} is {step.kind}, which combines features such as {names}; for that, "
        f"nn2rules reads {_READ}"
    )
