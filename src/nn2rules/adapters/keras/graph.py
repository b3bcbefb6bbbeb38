"""Walk through the graph of a Keras model, step by step, with a trace."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import keras
import numpy as np
from numpy.typing import NDArray

from nn2rules.adapters.confirm import FLOAT64
from nn2rules.adapters.keras.step import Step
from nn2rules.adapters.keras.tables import (
    UNITS,
    MixingError,
    elementwise,
    rounded,
    spread,
    unit_of,
)
from nn2rules.adapters.tracing import Affine, Tensor, Trace, mixing
from nn2rules.errors import UnsupportedModelError


class Walk:
    """A walk through a model.

    Parameters
    ----------
    trace : Trace
    readable : Readable

    Attributes
    ----------
    unit : float
        The unit roundoff of the coarsest format that was met.
    is_masked : bool
        Whether some embedding masks its zeros.
    """

    def __init__(self, trace: Trace, readable: "Readable") -> None:
        self.trace, self.readable = trace, readable
        self.unit = FLOAT64
        self.is_masked = False

    def outputs(self, model: Any, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Return what a model makes of tensors, one for each of its inputs."""
        values = {
            id(symbol): tensor
            for symbol, tensor in zip(model.inputs, tensors, strict=True)
        }
        return [self._value(symbol, values) for symbol in model.outputs]

    def _value(self, symbol: Any, values: dict[int, Tensor]) -> Tensor:
        if id(symbol) not in values:
            op, index, _ = symbol._keras_history
            node = op._inbound_nodes[index]
            symbols = tuple(node.input_tensors)
            step = Step(
                op,
                tuple(node.arguments.args),
                dict(node.arguments.kwargs),
                symbols,
                tuple(self._value(each, values) for each in symbols),
                len(node.outputs),
            )
            for output, tensor in zip(node.outputs, self._taken(step), strict=True):
                values[id(output)] = tensor
            if not isinstance(op, keras.Layer):
                self._meet(symbol.dtype)
        return values[id(symbol)]

    def _taken(self, step: Step) -> list[Tensor]:
        """Take a step, or say what keeps us from it."""
        if is_graph(step.op):
            return self.outputs(step.op, self._inner(step))
        try:
            found = self._step(step)
        except UnsupportedModelError as error:
            what = "layer" if step.is_layer else "operation"
            name, cls = step.op.name, type(step.op).__name__
            raise UnsupportedModelError(f"{what} {name!r} ({cls}): {error}") from None
        return found if isinstance(found, list) else [found]

    def _step(self, step: Step) -> Tensor | list[Tensor]:
        known = self.readable
        handlers = known.layers if step.is_layer else known.operations
        if step.is_layer:
            step = self._cast(step)
        if step.kind in known.moves:
            return self._moved(step)
        if step.kind in handlers:
            return handlers[step.kind](self, step)
        reason = known.refused.get(step.kind)
        if step.columns is not None:
            return self.spread(step, reason)
        if reason is None:
            shown = ", ".join(sorted(known.layers))
            reason = (
                f"nn2rules cannot read it once features have met; it reads {shown}"
                if step.is_layer
                else "nn2rules cannot read this operation once features have met"
            )
        raise UnsupportedModelError(reason)

    def spread(self, step: Step, reason: str | None = None) -> list[Tensor]:
        """Let Keras take a step on the tables of features, if it keeps them apart."""
        columns = step.columns
        assert columns is not None, "features have not met"
        try:
            return [*spread(self.trace.domain, columns, step.run)]
        except MixingError as error:
            if reason is not None:
                raise UnsupportedModelError(reason) from None
            raise mixing(self.trace.domain, error.owners) from None

    def elementwise(self, step: Step) -> Tensor | None:
        """Let Keras take a step on every entry; None where features have met."""
        columns = step.columns
        if columns is None or len(columns) != 1:
            return None
        return elementwise(columns[0], step.run)

    def _moved(self, step: Step) -> list[Tensor]:
        """Take a step that only picks and places entries."""
        found = []
        for index in range(step.n_outputs):

            def move(*rows: NDArray[Any], index: int = index) -> NDArray[Any]:
                return step.place(*rows)[index]

            found.append(self.trace.rearrange(step.tensors, move))
        return found

    def _cast(self, step: Step) -> Step:
        """Round what goes into a layer to the format that it computes in."""
        dtype = step.op.compute_dtype
        if dtype not in UNITS or not getattr(step.op, "autocast", True):
            return step
        self._meet(dtype)
        cast = []
        for tensor, symbol in zip(step.tensors, step.symbols, strict=True):
            new = tensor
            if symbol.dtype in UNITS and UNITS[symbol.dtype] < UNITS[dtype]:
                if isinstance(tensor, Affine):
                    new = replace(tensor, terms=tensor.terms + 1)
                else:
                    tables = tuple(rounded(table, dtype) for table in tensor.tables)
                    new = replace(tensor, tables=tables)
            cast.append(new)
        return replace(step, tensors=tuple(cast))

    def _meet(self, dtype: str) -> None:
        self.unit = max(self.unit, unit_of(dtype))

    def _inner(self, step: Step) -> list[Tensor]:
        """Return the tensors that a model inside the model is given, in its order."""
        known = dict(zip(map(id, step.symbols), step.tensors, strict=True))
        given = step.args[0] if step.args else step.kwargs["inputs"]
        inputs = step.op.inputs
        if isinstance(given, dict):
            by_name = [given.get(symbol.name) for symbol in inputs]
            if all(symbol is not None for symbol in by_name):
                given = by_name
        tensors = []
        for symbol, wanted in zip(keras.tree.flatten(given), inputs, strict=True):
            shape = tuple(wanted.shape[1:])
            tensor = known[id(symbol)]
            if len(shape) != len(tensor.shape):
                tensor = self.trace.rearrange([tensor], fitted(shape))
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
    """Whether this is a model whose graph can be walked through."""
    if not isinstance(op, keras.Model) or not op.built:
        return False
    if type(op).call.__module__.partition(".")[0] != "keras":
        return False
    try:
        return bool(op.inputs) and bool(op.outputs)
    except (AttributeError, ValueError):
        return False


Handler: TypeAlias = Callable[[Walk, Step], Tensor | list[Tensor]]
"""Takes a step of one kind."""


@dataclass(frozen=True)
class Readable:
    """What can be read.

    Attributes
    ----------
    layers, operations : dict
        By the name of the class: what can be read even where features have met.
    moves : set
        Classes of both that pick and place entries, and compute nothing.
    refused : dict
        Why others cannot be read where features have met.
    """

    layers: dict[str, Handler]
    operations: dict[str, Handler]
    moves: frozenset[str]
    refused: dict[str, str]
