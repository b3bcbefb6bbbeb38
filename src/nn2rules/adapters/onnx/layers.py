"""The ONNX operators that can be read where features have met.

Each is a function of a `Walk` and a `Node` that returns the tensor the node makes.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from nn2rules.adapters.onnx.graph import Node
from nn2rules.adapters.onnx.readable import READABLE
from nn2rules.adapters.onnx.walk import Fixed, Walk, first_input
from nn2rules.adapters.tracing import OPERATIONS, SEVERAL, Columns, Tensor
from nn2rules.errors import UnsupportedModelError

Handler: TypeAlias = Callable[[Walk, Node], Tensor]
"""Reads a step on numbers in which features have met."""


def _operation(walk: Walk, node: Node) -> Tensor:
    """Read an operator that other frameworks have, too."""
    kind, options = READABLE[node.op]
    several = walk.rows(walk.inputs(node)) if kind in SEVERAL else None
    operands = several or [first_input(walk, node)]
    return OPERATIONS[kind](walk.trace, *operands, **options(walk, node))


def _gemm(walk: Walk, node: Node) -> Tensor:
    made, added = _operation(walk, node), walk.value(node, 2)
    if added is None:
        return made
    (made, row), beta = walk.rows([made, added]), node.attributes.get("beta", 1.0)
    if isinstance(row, Columns) and row.is_constant:
        return walk.trace.add(made, walk.trace.constant(beta * row.value))
    return walk.trace.add(made, walk.trace.scale(row, beta))


def _max(walk: Walk, node: Node) -> Tensor:
    fixed = [v for n in node.inputs if isinstance(v := walk.get(n), Fixed)]
    tensors = walk.tensors(node)
    if len(tensors) != 1 or len(fixed) != 1 or fixed[0].value.any():
        raise UnsupportedModelError("nn2rules reads the maximum of a number and 0 only")
    return walk.trace.activate(tensors[0], "relu")


def _log(walk: Walk, node: Node) -> Tensor:
    x = first_input(walk, node)
    if x.ending is None or x.ending.kind != "softmax":
        raise UnsupportedModelError("nn2rules reads Log right after Softmax only")
    return walk.trace.activate(x.ending.scores, "log_softmax")


def _normalizer(walk: Walk, node: Node) -> Tensor:
    x = first_input(walk, node)
    is_share = x.ending is not None and x.ending.kind in ("softmax", "pair")
    is_sum = node.attributes.get("norm") == b"L1" or node.attributes.get("p") == 1
    if is_sum and is_share:
        return x  # shares add up to one as they are
    raise UnsupportedModelError(
        "it divides a row by its own size, which mixes the features; leave it out "
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
        f"it turns {n_rows} score{'s' if n_rows > 1 else ''} into shares by "
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
"""Every operator that can be read where features have met."""
