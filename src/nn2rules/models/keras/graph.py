"""Trace the graph of a Keras model, step by step."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import keras
import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import UnsupportedModelError
from nn2rules.models.keras.calls import Call, MixingError, Walk, rounded, spread
from nn2rules.models.keras.layers import MOVES, OWN, READABLE, REFUSED, read
from nn2rules.models.tracing import (
    UNITS,
    Affine,
    Columns,
    Tensor,
    columns_of,
    mixing,
    moved,
)
from nn2rules.models.tracing.step import owners_of


def outputs(walk: Walk, model: Any, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Return the outputs of a model for tensors, one for each of its inputs."""
    values = dict(zip(map(id, model.inputs), tensors, strict=True))
    return [_value(walk, symbol, values) for symbol in model.outputs]


def _value(walk: Walk, symbol: Any, values: dict[int, Tensor]) -> Tensor:
    if id(symbol) not in values:
        op, index, _ = symbol._keras_history
        node = op._inbound_nodes[index]
        symbols = tuple(node.input_tensors)
        call = Call(
            op,
            tuple(node.arguments.args),
            dict(node.arguments.kwargs),
            symbols,
            tuple(_value(walk, each, values) for each in symbols),
            len(node.outputs),
        )
        for output, tensor in zip(node.outputs, _taken(walk, call), strict=True):
            values[id(output)] = tensor
        if not isinstance(op, keras.Layer):
            walk.meet(symbol.dtype)
    return values[id(symbol)]


def _taken(walk: Walk, call: Call) -> list[Tensor]:
    """Take a step, or raise an error that names it."""
    if is_graph(call.op):
        return outputs(walk, call.op, _inner(walk, call))
    try:
        return _made(walk, _cast(walk, call) if call.is_layer else call)
    except UnsupportedModelError as error:
        what = "layer" if call.is_layer else "operation"
        name, cls = call.op.name, type(call.op).__name__
        raise UnsupportedModelError(
            f"{what} {name!r} ({cls}): {error}", feature=error.feature
        ) from None


def _made(walk: Walk, call: Call) -> list[Tensor]:
    if call.name in OWN:
        return OWN[call.name](walk, call)
    if call.name in READABLE:
        return read(walk, call)
    if call.name in MOVES:
        return moved(walk.trace, call.tensors, call.place, call.n_outputs)
    reason, columns = REFUSED.get(call.name), columns_of(call.tensors)
    if columns is not None:
        _refuse_own_code(walk, call, columns)
        try:
            walk.trace.nonlinear.update(owners_of(columns))
            return [*spread(walk.trace.domain, columns, call.run)]
        except MixingError as error:
            if reason is None:
                raise mixing(walk.trace.domain, error.owners) from None
    if reason is None:
        shown = {*OWN, *READABLE}.intersection(dir(keras.layers)) - {"Multiply"}
        reason = (
            f"nn2rules cannot read it once features are combined; it reads "
            f"{', '.join(sorted(shown))}"
            if call.is_layer
            else "nn2rules cannot read this operation once features are combined"
        )
    raise UnsupportedModelError(reason)


def _refuse_own_code(walk: Walk, call: Call, columns: Sequence[Columns]) -> None:
    """Refuse code that is not part of Keras, if it takes several features at once.

    That it treats them separately could only be tested on some rows, and a rule that is
    true on these alone would be called proved.
    """
    cls, owners = type(call.op), owners_of(columns)
    is_known = cls.__module__.partition(".")[0] == "keras" and cls.__name__ != "Lambda"
    if is_known or len(owners) < 2:
        return
    names = ", ".join(repr(walk.trace.domain.names[owner]) for owner in owners[:3])
    raise UnsupportedModelError(
        f"it is Python code that takes several features at once ({names}"
        f"{', …' if len(owners) > 3 else ''}), and nn2rules cannot know that it treats "
        f"them separately; use one such layer for each feature, or Keras layers"
    )


def _cast(walk: Walk, call: Call) -> Call:
    """Round the inputs of a layer to the format that it computes in."""
    dtype = call.op.compute_dtype
    if dtype not in UNITS or not getattr(call.op, "autocast", True):
        return call
    walk.meet(dtype)
    cast = []
    for tensor, symbol in zip(call.tensors, call.symbols, strict=True):
        new = tensor
        if symbol.dtype in UNITS and UNITS[symbol.dtype] < UNITS[dtype]:
            if isinstance(tensor, Affine):
                new = walk.trace.rounded(tensor)
            else:
                tables = tuple(rounded(table, dtype) for table in tensor.tables)
                new = replace(tensor, tables=tables)
        cast.append(new)
    return replace(call, tensors=tuple(cast))


def _inner(walk: Walk, call: Call) -> list[Tensor]:
    """Return the inputs of a model inside the model, in its order."""
    traced = dict(zip(map(id, call.symbols), call.tensors, strict=True))
    passed = call.args[0] if call.args else call.kwargs["inputs"]
    inputs = call.op.inputs
    if isinstance(passed, dict):
        by_name = [passed.get(symbol.name) for symbol in inputs]
        if all(symbol is not None for symbol in by_name):
            passed = by_name
    tensors = []
    for symbol, wanted in zip(keras.tree.flatten(passed), inputs, strict=True):
        shape = tuple(wanted.shape[1:])
        tensor = traced[id(symbol)]
        if len(shape) != len(tensor.shape):
            tensor = walk.trace.rearrange([tensor], fitted(shape))
        tensors.append(tensor)
    return tensors


def fitted(shape: Sequence[int | None]) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """Return a function that adds or drops a last axis of 1, as Keras itself does."""

    def fit(rows: NDArray[Any]) -> NDArray[Any]:
        if rows.ndim == len(shape) and tuple(shape[-1:]) == (1,):
            return rows[..., np.newaxis]
        if rows.ndim == len(shape) + 2 and rows.shape[-1] == 1:
            return rows[..., 0]
        return rows

    return fit


def is_graph(op: Any) -> bool:
    """Whether this is a model whose graph can be traced."""
    if not isinstance(op, keras.Model) or not op.built:
        return False
    if type(op).call.__module__.partition(".")[0] != "keras":
        return False
    try:
        return bool(op.inputs) and bool(op.outputs)
    except (AttributeError, ValueError):
        return False
