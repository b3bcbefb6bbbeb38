"""The ONNX operators that can be read where features have met.

Each is a function of a `Walk` and a `Step` that returns the tensor the step makes.
"""

import math
from typing import Any

import numpy as np

from nn2rules.adapters.onnx.activations import ACTIVATIONS
from nn2rules.adapters.onnx.graph import FLOATS, Step
from nn2rules.adapters.onnx.walk import Fixed, Handler, Walk, first_input
from nn2rules.adapters.tracing import Columns, Tensor
from nn2rules.errors import UnsupportedModelError

# Sums and products ---------------------------------------------------------------


def _both(walk: Walk, step: Step) -> tuple[Tensor, Tensor]:
    """Return the two inputs of a step, as they meet in a row."""
    rank = max(len(tensor.shape) for tensor in walk.tensors(step))
    left, right = (walk.row(walk.get(name), rank) for name in step.inputs)
    return left, right


def _add(walk: Walk, step: Step) -> Tensor:
    return walk.trace.add(*_both(walk, step))


def _sub(walk: Walk, step: Step) -> Tensor:
    return walk.trace.add(*_both(walk, step), sign=-1)


def _sum(walk: Walk, step: Step) -> Tensor:
    rank = max(len(tensor.shape) for tensor in walk.tensors(step))
    first, *others = (walk.row(walk.get(name), rank) for name in step.inputs)
    for other in others:
        first = walk.trace.add(first, other)
    return first


def _mul(walk: Walk, step: Step) -> Tensor:
    return walk.trace.multiply(*_both(walk, step))


def _div(walk: Walk, step: Step) -> Tensor:
    left, right = _both(walk, step)
    if not (isinstance(right, Columns) and right.is_constant):
        raise UnsupportedModelError("it divides by a number that depends on the input")
    divisor = right.value.astype(np.float64)
    if not divisor.all():
        raise UnsupportedModelError("it divides by zero")
    return walk.trace.multiply(left, walk.trace.constant(1.0 / divisor))


def _neg(walk: Walk, step: Step) -> Tensor:
    return walk.trace.scale(first_input(walk, step), -1.0)


def _gemm(walk: Walk, step: Step) -> Tensor:
    options = step.attributes
    x, weights = first_input(walk, step), walk.weights(step, 1)
    if options.get("transA", 0):
        raise UnsupportedModelError("it mixes rows of a batch")
    assert weights is not None, "the checker asks for two inputs"
    matrix = weights.T if options.get("transB", 0) else weights
    made = walk.trace.linear(x, options.get("alpha", 1.0) * matrix)
    added = walk.value(step, 2)
    if added is None:
        return made
    row, beta = walk.row(added, len(x.shape)), options.get("beta", 1.0)
    if isinstance(row, Columns) and row.is_constant:
        return walk.trace.add(made, walk.trace.constant(beta * row.value))
    return walk.trace.add(made, walk.trace.scale(row, beta))


def _matmul(walk: Walk, step: Step) -> Tensor:
    x, weights = first_input(walk, step), walk.weights(step, 1)
    assert weights is not None, "the checker asks for two inputs"
    if weights.ndim > 2:
        raise UnsupportedModelError("it multiplies by a stack of matrices")
    if weights.ndim == 2:
        return walk.trace.linear(x, weights)
    made = walk.trace.linear(x, weights[:, np.newaxis])
    return walk.trace.rearrange([made], lambda rows: rows[..., 0])


def _batch_normalization(walk: Walk, step: Step) -> Tensor:
    if step.attributes.get("training_mode", 0):
        raise UnsupportedModelError(
            "it is in training mode; export the model after model.eval()"
        )
    x = first_input(walk, step)
    scale, bias, mean, variance = (walk.weights(step, index) for index in range(1, 5))
    assert scale is not None, "the checker asks for five inputs"
    assert bias is not None
    assert mean is not None
    assert variance is not None
    factor = scale / np.sqrt(variance + step.attributes.get("epsilon", 1e-5))
    shape = (-1, *(1,) * (len(x.shape) - 1))
    size = np.abs(bias) + np.abs(mean * factor)
    return walk.trace.scale(
        x,
        factor.reshape(shape),
        (bias - mean * factor).reshape(shape),
        np.broadcast_to(size.reshape(shape), x.shape).reshape(-1),
    )


def _scaler(walk: Walk, step: Step) -> Tensor:
    """Read ai.onnx.ml's Scaler, ``(x - offset) * scale``."""
    attributes = step.attributes
    offset = walk.floats(np.array(attributes.get("offset", [0.0]), np.float32))
    scale = walk.floats(np.array(attributes.get("scale", [1.0]), np.float32))
    return walk.trace.scale(first_input(walk, step), scale, -offset * scale)


def _reduced(walk: Walk, step: Step) -> Tensor:
    """Read ReduceSum and ReduceMean along dimensions of a row."""
    x = first_input(walk, step)
    axes = _axes(walk, step, len(x.shape))
    if 0 in axes:
        raise UnsupportedModelError("it mixes rows of a batch")
    return walk.trace.total(
        x,
        [axis - 1 for axis in axes],
        mean=step.op == "ReduceMean",
        keep=bool(step.attributes.get("keepdims", 1)),
    )


def _axes(walk: Walk, step: Step, rank: int) -> list[int]:
    listed: Any = step.attributes.get("axes")
    given = walk.value(step, 1)
    if isinstance(given, Fixed):
        listed = given.value.tolist()
    if listed is None:
        listed = range(rank + 1)
    return sorted(axis % (rank + 1) for axis in listed)


# Types and shares ----------------------------------------------------------------


def _cast(walk: Walk, step: Step) -> Tensor:
    kind = step.attributes["to"]
    if kind not in FLOATS:
        raise UnsupportedModelError("it rounds numbers in which features have met")
    names = dict(zip(FLOATS, ("float32", "float64", "float16"), strict=True))
    walk.floats(np.zeros(0, dtype=names[kind]))
    return first_input(walk, step)


def _softmax(walk: Walk, step: Step) -> Tensor:
    x = first_input(walk, step)
    axis = step.attributes.get("axis", -1 if walk.graph.opset >= 13 else 1)
    axis = axis % (len(x.shape) + 1)
    size = math.prod(x.shape)
    is_whole = axis > 0 and (x.shape[axis - 1] == size or walk.graph.opset < 13)
    if not is_whole or size < 2:
        raise UnsupportedModelError("its shares are not those of the classes")
    name = "softmax" if step.op == "Softmax" else "log_softmax"
    return walk.trace.activate(x, name)


def _log(walk: Walk, step: Step) -> Tensor:
    x = first_input(walk, step)
    if x.ending is None or x.ending.kind != "softmax":
        raise UnsupportedModelError("nn2rules reads Log right after Softmax only")
    return walk.trace.activate(x.ending.scores, "log_softmax")


def _normalizer(walk: Walk, step: Step) -> Tensor:
    x = first_input(walk, step)
    is_share = x.ending is not None and x.ending.kind in ("softmax", "pair")
    is_sum = step.attributes.get("norm") == b"L1" or step.attributes.get("p") == 1
    if is_sum and is_share:
        return x  # shares add up to one as they are
    raise UnsupportedModelError(
        "it divides a row by its own size, which mixes the features; leave it out "
        "of the pipeline"
    )


def _linear_classifier(walk: Walk, step: Step) -> Tensor:
    x = first_input(walk, step)
    transform = step.attributes.get("post_transform", b"NONE").decode()
    numbers = walk.floats(np.array(step.attributes["coefficients"], np.float32))
    weights = numbers.reshape(-1, x.shape[-1])
    n_rows = len(weights)
    bias = np.array(step.attributes.get("intercepts", np.zeros(n_rows)), np.float32)
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
        f"it turns {n_rows} score{'s' if n_rows > 1 else ''} into shares by "
        f"{transform}; nn2rules reads NONE and SOFTMAX, and LOGISTIC for two classes"
    )


HANDLERS: dict[str, Handler] = {
    **ACTIVATIONS,
    "Add": _add,
    "BatchNormalization": _batch_normalization,
    "Cast": _cast,
    "Div": _div,
    "Gemm": _gemm,
    "LinearClassifier": _linear_classifier,
    "Log": _log,
    "LogSoftmax": _softmax,
    "LpNormalization": _normalizer,
    "MatMul": _matmul,
    "Mul": _mul,
    "Neg": _neg,
    "Normalizer": _normalizer,
    "ReduceMean": _reduced,
    "ReduceSum": _reduced,
    "Scaler": _scaler,
    "Softmax": _softmax,
    "Sub": _sub,
    "Sum": _sum,
}
"""Every operator that can be read where features have met."""
