"""Load ONNX files, and refuse models that are far too large."""

import math
import os
from collections.abc import Iterable

import onnx
from onnx import external_data_helper

from nn2rules.errors import FormatError, UnsupportedModelError
from nn2rules.files import MOST_BYTES, leads_out_of, read_bytes
from nn2rules.models.tracing import reason_in

MOST_PARAMETERS = 200_000_000
"""Larger models are refused: they are not classifiers for tabular data."""

MOST_NODES = 100_000
"""The same for nodes, once functions are inlined."""


def load(path: str | os.PathLike[str]) -> onnx.ModelProto:
    """Return the ONNX model in a file, with its weights from files beside it.

    Raises
    ------
    FormatError
        If the file is not an ONNX model, is damaged, or is far too large.
    """
    try:
        model = onnx.load_model_from_string(read_bytes(path))
    except FormatError:
        raise
    except Exception:  # noqa: BLE001  protobuf's own error, which onnx does not name
        raise FormatError(f"{path} is damaged, or is not an ONNX model") from None
    try:
        refuse_large(model)
        _refuse_outside(model, os.path.dirname(path))
        external_data_helper.load_external_data_for_model(model, os.path.dirname(path))
        onnx.checker.check_model(model)
    except UnsupportedModelError as error:
        raise FormatError(f"{path}: {error}") from None
    except (OSError, onnx.checker.ValidationError) as error:
        raise FormatError(f"{path}: {_problem(model, error)}") from None
    return model


def _refuse_outside(model: onnx.ModelProto, folder: str) -> None:
    """Refuse weights in files outside the folder of the model."""
    for tensor in external_data_helper._get_all_tensors(model):
        if not external_data_helper.uses_external_data(tensor):
            continue
        place = external_data_helper.ExternalDataInfo(tensor).location
        target = os.path.join(folder, place)
        if os.path.isabs(place) or leads_out_of(folder or ".", target):
            raise UnsupportedModelError(
                f"the weights of this model are in another folder ({place!r}), which "
                f"nn2rules does not read; put them into the model's folder"
            )
        if os.path.exists(target) and os.path.getsize(target) >= MOST_BYTES:
            raise UnsupportedModelError(
                f"the file {place!r} has 2 GB or more, the most that nn2rules reads"
            )


def _problem(model: onnx.ModelProto, error: Exception) -> str:
    """Return one sentence about what is wrong with a file."""
    second = external_data(model)
    if second is not None:
        return (
            f"the weights of this model are in a second file, {second!r}, which is "
            f"missing or damaged; put it into the same folder"
        )
    return f"this is not a valid ONNX model: {reason_in(error)}"


def external_data(model: onnx.ModelProto) -> str | None:
    """Return the file with weights that were not loaded, if there is one."""
    for tensor in model.graph.initializer:
        if external_data_helper.uses_external_data(tensor):
            places = {entry.key: entry.value for entry in tensor.external_data}
            return str(places.get("location", ""))
    return None


def refuse_large(model: onnx.ModelProto) -> None:
    """Refuse a model with very many parameters or nodes."""
    stored = (*model.graph.initializer, *model.graph.sparse_initializer)
    n_parameters = sum(math.prod(tensor.dims) for tensor in stored)
    if n_parameters > MOST_PARAMETERS:
        raise UnsupportedModelError(
            f"the ONNX model has {n_parameters:,} parameters; nn2rules reads at most "
            f"{MOST_PARAMETERS:,}"
        )
    if n_inlined(model) > MOST_NODES:
        raise UnsupportedModelError(
            f"the ONNX model has a function that calls itself, or more than "
            f"{MOST_NODES:,} nodes once its functions are inlined, the most that "
            f"nn2rules reads"
        )


def n_inlined(model: onnx.ModelProto) -> float:
    """Return how many nodes a model has once its functions are inlined.

    Infinite if a function calls itself, directly or through others.
    """
    functions = {(f.domain, f.name): f.node for f in model.functions}
    counts: dict[tuple[str, str], float] = {}

    def of_function(key: tuple[str, str]) -> float:
        if key not in counts:
            counts[key] = math.inf  # as long as it is being counted
            counts[key] = of_nodes(functions[key])
        return counts[key]

    def of_nodes(nodes: Iterable[onnx.NodeProto]) -> float:
        return sum(of_node(node) for node in nodes)

    def of_node(node: onnx.NodeProto) -> float:
        key = (node.domain, node.op_type)
        inside = (g for a in node.attribute for g in (a.g, *a.graphs))
        count = of_function(key) if key in functions else 1
        return count + sum(of_nodes(graph.node) for graph in inside)

    try:
        return of_nodes(model.graph.node)
    except RecursionError:
        return math.inf
