"""Run ONNX models and single nodes: by onnxruntime, or by the reference evaluator.

onnxruntime is used if it is installed, because most models run on it. What it does not
support goes to the evaluator that comes with onnx.
"""

import importlib.util
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper, shape_inference
from onnx.reference import ReferenceEvaluator

from nn2rules.errors import UnsupportedModelError

MOST_ENTRIES = 1 << 26
"""The largest array that a node may make: a small file could ask for any size."""

_MOST_SIZES = 1024
"""Larger arrays are not shapes, and are not searched for sizes."""

Arrays: TypeAlias = list[NDArray[Any]]
Runner: TypeAlias = Callable[[Mapping[str, NDArray[Any]]], Arrays]


def runner(model: onnx.ModelProto) -> Runner:
    """Return the function from the arrays of a model's inputs to its outputs."""
    return named_runner(model)[1]


def named_runner(model: onnx.ModelProto) -> tuple[str, Runner]:
    """Return the name and version of the runtime, and its `runner`."""
    if importlib.util.find_spec("onnxruntime") is not None:
        with suppress(Exception):  # its errors have no common base
            return _by_onnxruntime(model)
    return f"onnx.reference {onnx.__version__}", reference_runner(model)


def reference_runner(model: onnx.ModelProto) -> Runner:
    """Return `runner` by the evaluator that comes with onnx."""
    evaluator = ReferenceEvaluator(model)

    def run(feeds: Mapping[str, NDArray[Any]]) -> Arrays:
        with np.errstate(all="ignore"):
            return [np.asarray(made) for made in evaluator.run(None, dict(feeds))]

    return run


def _by_onnxruntime(model: onnx.ModelProto) -> tuple[str, Runner]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # errors are raised, nothing is printed
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )

    def run(feeds: Mapping[str, NDArray[Any]]) -> Arrays:
        return [np.asarray(made) for made in session.run(None, dict(feeds))]

    return f"onnxruntime {onnxruntime.__version__}", run


def part_of(
    model: onnx.ModelProto,
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, int],
    outputs: Sequence[str],
) -> onnx.ModelProto:
    """Return a model of some nodes of another.

    Parameters
    ----------
    model : ModelProto
        Gives the versions of the operators.
    inputs : mapping from names to ONNX element types
    outputs : sequence of names
    """
    graph = helper.make_graph(
        list(nodes),
        "part",
        [helper.make_tensor_value_info(n, kind, None) for n, kind in inputs.items()],
        [onnx.ValueInfoProto(name=name) for name in outputs],
    )
    return helper.make_model(
        graph, opset_imports=list(model.opset_import), ir_version=model.ir_version
    )


def with_output(model: onnx.ModelProto, name: str) -> onnx.ModelProto:
    """Return the part of a model that computes the tensor `name`."""
    wanted, nodes = {name}, []
    for node in reversed(model.graph.node):
        if wanted.intersection(node.output):
            wanted.update(node.input)
            nodes.append(node)
    graph = helper.make_graph(
        nodes[::-1],
        "asked",
        [item for item in model.graph.input if item.name in wanted],
        [onnx.ValueInfoProto(name=name)],
        [tensor for tensor in model.graph.initializer if tensor.name in wanted],
    )
    graph.sparse_initializer.extend(model.graph.sparse_initializer)
    return helper.make_model(
        graph, opset_imports=list(model.opset_import), ir_version=model.ir_version
    )


def run_node(
    model: onnx.ModelProto,
    node: onnx.NodeProto,
    feeds: Mapping[str, NDArray[Any]],
    *,
    reference: bool = False,
) -> Arrays:
    """Return the outputs of one node; with `reference`, by the reference evaluator.

    Raises
    ------
    UnsupportedModelError
        If the node would make an array of more than `MOST_ENTRIES` entries, which is
        checked before it is run.
    """
    n_entries = most_entries(model, node, feeds)
    if n_entries is not None and n_entries > MOST_ENTRIES:
        raise too_many(node, n_entries, MOST_ENTRIES)
    outputs = [name for name in node.output if name]
    kinds = {name: element_type(array) for name, array in feeds.items()}
    part = part_of(model, [node], kinds, outputs)
    run = reference_runner(part) if reference else runner(part)
    return run(feeds)


def stepwise_runner(model: onnx.ModelProto, *, reference: bool = False) -> Runner:
    """Return `runner` by one node after the other, each within `MOST_ENTRIES`.

    For steps that were not traced, so that their sizes are unknown. Results that no
    later node needs are dropped.
    """
    stored = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    outputs = [item.name for item in model.graph.output]
    nodes = list(model.graph.node)
    last_use = {name: at for at, node in enumerate(nodes) for name in node.input}

    def run(feeds: Mapping[str, NDArray[Any]]) -> Arrays:
        values = {**stored, **feeds}
        for at, node in enumerate(nodes):
            inputs = {name: values[name] for name in node.input if name}
            made = run_node(model, node, inputs, reference=reference)
            values.update(zip(filter(None, node.output), made, strict=True))
            for name in [*values]:
                if last_use.get(name, -1) <= at and name not in outputs:
                    del values[name]
        return [values[name] for name in outputs]

    return run


def too_many(node: onnx.NodeProto, n_entries: int, most: int) -> UnsupportedModelError:
    """Return the error for a node that would make very many numbers."""
    return UnsupportedModelError(
        f"the ONNX node for {node.output[0]!r}, a {node.op_type}, makes {n_entries:,} "
        f"numbers; nn2rules runs steps that make at most {most:,}"
    )


def most_entries(
    model: onnx.ModelProto, node: onnx.NodeProto, feeds: Mapping[str, NDArray[Any]]
) -> int | None:
    """Return the size of the largest output of a node without running it.

    None if ONNX cannot infer its shapes from its inputs.
    """
    kinds = {name: element_type(array) for name, array in feeds.items()}
    part = part_of(model, [node], kinds, [name for name in node.output if name])
    for item in part.graph.input:
        for size in feeds[item.name].shape:
            item.type.tensor_type.shape.dim.add().dim_value = size
        item.type.tensor_type.shape.SetInParent()
    part.graph.initializer.extend(
        numpy_helper.from_array(array, name)
        for name, array in feeds.items()
        if array.size <= _MOST_SIZES and array.dtype.kind in "iuf"
    )
    try:
        outputs = shape_inference.infer_shapes(part, data_prop=True).graph.output
    except Exception:  # noqa: BLE001  a node may be anything
        return None
    sizes = []
    for item in outputs:
        tensor = item.type.tensor_type
        dims = list(tensor.shape.dim)
        if not tensor.HasField("shape") or not all(
            dim.HasField("dim_value") for dim in dims
        ):
            return None
        sizes.append(math.prod(dim.dim_value for dim in dims))
    return max(sizes, default=0)


def element_type(array: NDArray[Any]) -> int:
    """Return the ONNX type of an array's entries; texts may be objects."""
    if array.dtype.kind in "OU":
        return int(onnx.TensorProto.STRING)
    return int(helper.np_dtype_to_tensor_dtype(array.dtype))


def row_by_row(run: Callable[..., Arrays], arrays: Sequence[NDArray[Any]]) -> Arrays:
    """Run a function that takes one row, without an axis for rows, on many."""
    parts = [run(*row) for row in zip(*arrays, strict=True)]
    return [np.stack(part) for part in zip(*parts, strict=True)]


def in_batches(
    run: Callable[..., Arrays], arrays: Sequence[NDArray[Any]], batch: int | None
) -> Arrays:
    """Run a function of rows with as many rows at a time as it takes.

    Parameters
    ----------
    run : callable
        Takes arrays of rows, and returns such.
    batch : int or None
        The number of rows that a model with a fixed batch takes; the last batch is
        filled up.
    """
    n_rows = len(arrays[0])
    if batch is None or batch == n_rows:
        return run(*arrays)
    parts = []
    for start in range(0, n_rows, batch):
        chosen = np.minimum(np.arange(start, start + batch), n_rows - 1)
        parts.append(run(*(array[chosen] for array in arrays)))
    return [np.concatenate(part)[:n_rows] for part in zip(*parts, strict=True)]
