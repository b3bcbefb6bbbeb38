"""Read ONNX files, and refuse what is no model that can be read."""

import math
import os
from collections.abc import Iterable

import onnx
from onnx import external_data_helper

from nn2rules.errors import FormatError, UnsupportedModelError
from nn2rules.files import MOST_BYTES, leads_out_of, read_bytes
from nn2rules.models.tracing import reason_in

MOST_PARAMETERS = 200_000_000
"""Larger models are refused: they are no classifiers of a table."""

MOST_NODES = 100_000
"""The same of nodes, once functions are inlined."""


def load(path: str | os.PathLike[str]) -> onnx.ModelProto:
    """Return the ONNX model in a file, with the numbers that lie in files beside it.

    Raises
    ------
    FormatError
        If the file is no ONNX model, is damaged, or is far too large.
    """
    try:
        model = onnx.load_model_from_string(read_bytes(path))
    except FormatError:
        raise
    except Exception:  # noqa: BLE001  protobuf's own error, which onnx does not name
        raise FormatError(
            f"{path}: this is no ONNX model, or only a part of one"
        ) from None
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
    """Refuse numbers in files that do not lie in the folder of the model."""
    for tensor in external_data_helper._get_all_tensors(model):
        if not external_data_helper.uses_external_data(tensor):
            continue
        place = external_data_helper.ExternalDataInfo(tensor).location
        found = os.path.join(folder, place)
        if os.path.isabs(place) or leads_out_of(folder or ".", found):
            raise UnsupportedModelError(
                f"the numbers of this model are in another folder, {place!r}, which is "
                f"not read; put them into the model's own"
            )
        if os.path.exists(found) and os.path.getsize(found) >= MOST_BYTES:
            raise UnsupportedModelError(f"the file {place!r} has 2 GB or more")


def _problem(model: onnx.ModelProto, error: Exception) -> str:
    """Return in a sentence what is wrong with a file."""
    second = external_data(model)
    if second is not None:
        return (
            f"the numbers of this model are in a second file, {second!r}, which is "
            f"missing or damaged; put it into the same folder"
        )
    return f"this is no valid ONNX model: {reason_in(error)}"


def external_data(model: onnx.ModelProto) -> str | None:
    """Return the file in which numbers of a model are that were not read, if any."""
    for tensor in model.graph.initializer:
        if external_data_helper.uses_external_data(tensor):
            places = {entry.key: entry.value for entry in tensor.external_data}
            return str(places.get("location", ""))
    return None


def refuse_large(model: onnx.ModelProto) -> None:
    """Refuse a model with very many parameters, or nodes once functions are inlined."""
    stored = (*model.graph.initializer, *model.graph.sparse_initializer)
    n_parameters = sum(math.prod(tensor.dims) for tensor in stored)
    if n_parameters > MOST_PARAMETERS:
        raise UnsupportedModelError(
            f"the ONNX model has {n_parameters:,} parameters; nn2rules reads "
            f"classifiers of tables, with {MOST_PARAMETERS:,} at most"
        )
    if n_inlined(model) > MOST_NODES:
        raise UnsupportedModelError(
            f"the ONNX model has more than {MOST_NODES:,} nodes once its functions are "
            f"inlined, or a function that calls itself; nn2rules reads classifiers of "
            f"tables, which have fewer"
        )


def n_inlined(model: onnx.ModelProto) -> float:
    """Return how many nodes a model has once its functions are inlined.

    Infinite where a function calls itself, by way of others or not.
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
        own = of_function(key) if key in functions else 1
        return own + sum(of_nodes(graph.node) for graph in inside)

    try:
        return of_nodes(model.graph.node)
    except RecursionError:
        return math.inf
