"""One use of a layer or an operation in a Keras model, and what a walk has met."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import UnsupportedModelError
from nn2rules.models.confirm import FLOAT64
from nn2rules.models.keras.tables import numpy_of, plain, tensor_of, unit_of
from nn2rules.models.tracing import Tensor, Trace, operands_of, reason_in


@dataclass
class Walk:
    """A walk through a model.

    Attributes
    ----------
    trace : Trace
    unit : float
        The unit roundoff of the coarsest format that was met.
    is_masked : bool
        Whether some embedding masks its zeros.
    """

    trace: Trace
    unit: float = FLOAT64
    is_masked: bool = False

    def meet(self, dtype: str) -> None:
        """Note a format that the model computes in."""
        self.unit = max(self.unit, unit_of(dtype))


@dataclass(frozen=True)
class Call:
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
    def name(self) -> str:
        """The name of the class, if it is one of Keras itself; else nothing."""
        cls = type(self.op)
        return cls.__name__ if cls.__module__.partition(".")[0] == "keras" else ""

    @property
    def is_layer(self) -> bool:
        """Whether this is a layer, and no bare operation."""
        return isinstance(self.op, keras.Layer)

    def operands(self, trace: Trace) -> list[Tensor]:
        """Return what is added or multiplied; arrays are constants."""
        known = dict(zip(map(id, self.symbols), self.tensors, strict=True))
        values = [
            known[id(arg)] if id(arg) in known else np.asarray(plain(arg))
            for arg in keras.tree.flatten((self.args, self.kwargs))
        ]
        return operands_of(trace, values, of_any_rank=self.is_layer)

    def run(self, arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Let Keras take this step with arrays in place of the symbolic tensors."""
        return self._called(arrays, [symbol.dtype for symbol in self.symbols])

    def place(self, indices: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Let Keras take this step with arrays of integers, whatever the formats."""
        return self._called(indices, ["int64"] * len(self.symbols))

    def _called(
        self, arrays: Sequence[NDArray[Any]], formats: Sequence[str]
    ) -> list[NDArray[Any]]:
        given = {
            id(symbol): tensor_of(array, dtype)
            for symbol, array, dtype in zip(self.symbols, arrays, formats, strict=True)
        }
        args, kwargs = keras.tree.map_structure(
            lambda x: given.get(id(x), x), (self.args, self.kwargs)
        )
        if self.is_layer and "training" in inspect.signature(self.op.call).parameters:
            kwargs = {**kwargs, "training": False}
        try:
            made = self.op(*args, **kwargs)
        except Exception as error:  # noqa: BLE001  a layer may raise anything
            raise UnsupportedModelError(
                f"Keras cannot run it on the values of the features "
                f"({reason_in(error)})"
            ) from None
        return [numpy_of(tensor) for tensor in keras.tree.flatten(made)]
