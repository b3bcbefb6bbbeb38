"""One step of a Keras model: what is called, and with what."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import keras
from numpy.typing import NDArray

from nn2rules.adapters.keras.tables import numpy_of, tensor_of
from nn2rules.adapters.tracing import Columns, Tensor
from nn2rules.errors import UnsupportedModelError


@dataclass(frozen=True)
class Step:
    """One use of a layer, or of an operation of `keras.ops`.

    Attributes
    ----------
    op : keras.Layer or keras.Operation
    args, kwargs
        What it is called with; tensors in them are symbolic.
    symbols : tuple of KerasTensor
        The symbolic tensors among these, in their order.
    tensors : tuple of Tensor
        What is known of each.
    n_outputs : int
    """

    op: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    symbols: tuple[Any, ...]
    tensors: tuple[Tensor, ...]
    n_outputs: int = 1

    @property
    def kind(self) -> str:
        """The name of the class, if it is one of Keras itself; else nothing."""
        cls = type(self.op)
        return cls.__name__ if cls.__module__.partition(".")[0] == "keras" else ""

    @property
    def is_layer(self) -> bool:
        """Whether this is a layer, and no bare operation."""
        return isinstance(self.op, keras.Layer)

    @property
    def columns(self) -> list[Columns] | None:
        """The tensors, if features have not met in any and Keras can run on them."""
        found = [t for t in self.tensors if isinstance(t, Columns) and t.sizes is None]
        is_plain = all(tensor.ending is None for tensor in found)
        return found if is_plain and len(found) == len(self.tensors) else None

    def run(self, arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Let Keras take this step with arrays in place of the symbolic tensors."""
        given = {
            id(symbol): tensor_of(array, symbol.dtype)
            for symbol, array in zip(self.symbols, arrays, strict=True)
        }
        return self._called(given)

    def place(self, *indices: NDArray[Any]) -> list[NDArray[Any]]:
        """Let Keras take this step with arrays of integers, whatever the formats."""
        given = {
            id(symbol): tensor_of(array, "int64")
            for symbol, array in zip(self.symbols, indices, strict=True)
        }
        return self._called(given)

    def _called(self, given: dict[int, Any]) -> list[NDArray[Any]]:
        args, kwargs = keras.tree.map_structure(
            lambda x: given.get(id(x), x), (self.args, self.kwargs)
        )
        if self.is_layer and "training" in inspect.signature(self.op.call).parameters:
            kwargs = {**kwargs, "training": False}
        try:
            made = self.op(*args, **kwargs)
        except Exception as error:  # noqa: BLE001  a layer may raise anything
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise UnsupportedModelError(
                f"Keras cannot run it on the values of the features ({reason})"
            ) from None
        return [numpy_of(tensor) for tensor in keras.tree.flatten(made)]
