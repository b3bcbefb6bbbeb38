"""Trace an ONNX graph, node by node, from the columns of a domain to its scores."""

import math
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import UnsupportedModelError
from nn2rules.models.onnx.graph import Node
from nn2rules.models.onnx.operators import (
    EACH,
    HANDLERS,
    IMPUTE,
    READABLE,
    SPREAD,
    unknown,
)
from nn2rules.models.onnx.running import Arrays, run_node
from nn2rules.models.onnx.walk import Fixed, Value, Walk
from nn2rules.models.tracing import (
    ENTRYWISE,
    Step,
    Tensor,
    moved,
    reason_in,
    refuse_gaps,
    take,
)

_PASSING = ("Dropout", "Identity")
_MOVES = (
    *("ArrayFeatureExtractor", "Concat", "Expand", "Flatten", "Gather", "Reshape"),
    *("Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"),
)
_LAST = ("LinearClassifier", "LogSoftmax", "Softmax")
_SCORES = {"LinearClassifier": 1}
"""Which output of an operator holds its scores, if it is not the first."""


def follow(walk: Walk, name: str) -> Tensor:
    """Return a tensor of the graph, after tracing the steps that it needs."""
    for constant, array in walk.graph.constants.items():
        walk.values[constant] = _stored(array)
    for node in walk.graph.needed([name]):
        try:
            walk.values.update(_made(walk, node))
        except UnsupportedModelError as error:
            if "the ONNX " in str(error):
                raise
            raise UnsupportedModelError(
                f"{node}, {node.kind}, cannot be read: {error}", feature=error.feature
            ) from None
    tensor = walk.get(name)
    if isinstance(tensor, Fixed):
        raise UnsupportedModelError(
            "the ONNX model's output does not depend on its inputs"
        )
    return tensor


def _made(walk: Walk, node: Node) -> dict[str, Value]:
    """Return the outputs of a node, by name."""
    tensors = walk.tensors(node)
    if not tensors:
        return _fixed(walk, node)
    if node.op == "Shape":
        return {node.outputs[0]: _shape(node, tensors[0])}
    if node.op in _PASSING:
        return {node.outputs[0]: tensors[0]}
    results = (_moved if _is_move(walk, node) else _taken)(walk, node)
    if len(results) == 1:
        return {node.outputs[_SCORES.get(node.op, 0)]: results[0]}
    return dict(zip(filter(None, node.outputs), results, strict=True))


def _is_move(walk: Walk, node: Node) -> bool:
    others = [walk.value(node, index) for index in range(1, len(node.inputs))]
    is_fixed = all(value is None or isinstance(value, Fixed) for value in others)
    has_first = not isinstance(walk.value(node, 0), Fixed)
    return node.op == "Concat" or (node.op in _MOVES and has_first and is_fixed)


def _moved(walk: Walk, node: Node) -> list[Tensor]:
    """Run a node that only rearranges numbers on their positions."""
    names = list(dict.fromkeys(node.inputs if node.op == "Concat" else node.inputs[:1]))

    def run(arrays: Sequence[NDArray[Any]]) -> Arrays:
        return walk.run(node, dict(zip(names, arrays, strict=True)), reference=True)

    tensors = walk.rows([walk.get(name) for name in names])
    return moved(walk.trace, tensors, run, len(node.outputs))


def _taken(walk: Walk, node: Node) -> list[Tensor]:
    """Take the step of a node, as all adapters do."""
    kind, values = _kind(walk, node), {n: walk.get(n) for n in node.inputs if n}
    inputs = {n: v for n, v in values.items() if not isinstance(v, Fixed)}
    tensors = tuple(inputs.values())
    if kind in ENTRYWISE:
        walk.rows(walk.inputs(node))  # refuses constants with an axis for rows

    def run(arrays: Sequence[NDArray[Any]]) -> Arrays:
        texts = [a.astype(object) if a.dtype.kind == "U" else a for a in arrays]
        return walk.run(node, dict(zip(inputs, texts, strict=True)))

    def read() -> Tensor:
        if node.op not in HANDLERS:
            raise unknown(node, tensors, walk.trace.domain)
        for tensor in tensors:
            refuse_gaps(walk.trace.domain, tensor, IMPUTE)
        return HANDLERS[node.op](walk, node)

    is_pattern = node.inputs != tuple(node.proto.input)
    is_batched = node.attributes.get("training_mode", 0) == 1
    is_run = not (is_pattern or is_batched or node.op in _LAST)
    name, runs = f"{node}, {node.kind},", run if is_run else None
    return take(walk.trace, Step(kind, tensors, runs, read, name, _fills_gaps(node)))


def _fills_gaps(node: Node) -> bool:
    """Tell whether a node fills in missing numbers, and leaves all others unchanged."""
    mark = node.attributes.get("replaced_value_float", math.nan)
    return node.op == "Imputer" and isinstance(mark, float) and math.isnan(mark)


def _kind(walk: Walk, node: Node) -> str:
    """Return the kind of a node; see `Step`."""
    is_lookup = node.op == "Gather" and node.attributes.get("axis", 0) == 0
    if node.op in SPREAD or (is_lookup and len(walk.tensors(node)) == 1):
        return "spread"
    if node.op in EACH:
        return "each"
    return READABLE[node.op][0] if node.op in READABLE else ""


def _fixed(walk: Walk, node: Node) -> dict[str, Value]:
    """Return the outputs of a node that depends only on the number of rows."""
    inputs = {name: walk.get(name) for name in node.inputs if name}

    @cache
    def at(n_rows: int) -> Arrays:
        feeds = {n: v.at(n_rows) for n, v in inputs.items() if isinstance(v, Fixed)}
        try:
            results = run_node(walk.graph.model, node.proto, feeds, reference=True)
        except UnsupportedModelError:
            raise
        except Exception as error:  # noqa: BLE001  the evaluator raises what it likes
            raise UnsupportedModelError(
                f"{node}, {node.kind}, fails: {reason_in(error)}"
            ) from None
        walk.keep(results)
        return results

    def picked(index: int, n_rows: int) -> NDArray[Any]:
        return at(n_rows)[index]

    return {
        name: Fixed(partial(picked, index), varies=True)
        for index, name in enumerate(filter(None, node.outputs))
    }


def _stored(array: NDArray[Any]) -> Fixed:
    return Fixed(lambda _n_rows: array)


def _shape(node: Node, tensor: Tensor) -> Fixed:
    start, end = node.attributes.get("start", 0), node.attributes.get("end")

    def at(n_rows: int) -> NDArray[Any]:
        return np.array((n_rows, *tensor.shape)[start:end], dtype=np.int64)

    return Fixed(at, varies=True)
