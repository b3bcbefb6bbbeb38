"""One use of a layer or an operation in a Keras model, and how Keras itself runs it."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import keras
import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import UnsupportedModelError
from nn2rules.models.tracing import (
    CONSTANT,
    FLOAT64,
    MIXED_ROWS,
    UNITS,
    Columns,
    Run,
    Tensor,
    Trace,
    ValueRows,
    operands_of,
    owners_of,
    reason_in,
)
from nn2rules.space import Domain

_CHECKED_ROWS = 256
_SLACK = 16  # roundings that may depend on which rows go in together


def format_of(dtype: str) -> str:
    """Return the format in which sums are actually computed.

    On most backends Keras sums in float32 even if float64 is requested.
    """
    if dtype != "float64":
        return dtype
    return str(keras.backend.result_type("float64", "float64"))


def unit_of(dtype: str) -> float:
    """Return the unit roundoff of sums in a format; 0 for integers and text."""
    return UNITS.get(format_of(dtype), 0.0)


class MixingError(Exception):
    """A step combines several features in one entry; `owners` are these."""

    def __init__(self, owners: Sequence[int]) -> None:
        super().__init__(owners)
        self.owners = tuple(owners)


def numpy_of(tensor: Any) -> NDArray[Any]:
    """Return a tensor of any backend as an array; numpy has no bfloat16."""
    if hasattr(tensor, "dtype") and "bfloat16" in str(tensor.dtype):
        tensor = keras.ops.cast(tensor, "float32")
    return np.asarray(keras.ops.convert_to_numpy(tensor))


def plain(value: Any) -> Any:
    """Return tensors and variables as arrays, and anything else unchanged."""
    return numpy_of(value) if hasattr(value, "dtype") else value


def tensor_of(array: NDArray[Any], dtype: str) -> Any:
    """Return an array as a tensor of the backend, in the given format."""
    return keras.ops.convert_to_tensor(array, dtype=dtype)


def rounded(array: NDArray[Any], dtype: str) -> NDArray[Any]:
    """Return an array after storing it in the given format."""
    return numpy_of(tensor_of(array, dtype))


def spread(domain: Domain, tensors: Sequence[Columns], run: Run) -> list[Columns]:
    """Return the result of a step on tables, and find which feature each entry needs.

    The step is run on rows in which all features but one have their first value, and
    that one takes all its values; and then on random rows, which must agree.

    Raises
    ------
    MixingError
        If an entry of the result depends on several features.
    """
    owners = owners_of(tensors)
    rows, sizes = ValueRows(domain, owners), [domain.sizes[owner] for owner in owners]
    sample = np.random.default_rng(0).integers(
        sizes, size=(_CHECKED_ROWS, len(owners)), dtype=np.int64
    )
    results = run([rows.of(tensor) for tensor in tensors])
    checked = run([_rows(tensor, owners, sample) for tensor in tensors])
    tables = []
    for result, other in zip(results, checked, strict=True):
        if len(result) != len(rows) or len(other) != len(sample):
            raise UnsupportedModelError(MIXED_ROWS)
        blocks = np.split(result.reshape(len(result), -1), rows.starts[1:-1])
        columns = _columns(blocks, owners, result.shape[1:])
        tables.append(_checked(columns, other.reshape(len(other), -1), owners, sample))
    return tables


def _rows(
    tensor: Columns, owners: Sequence[int], codes: NDArray[np.int64]
) -> NDArray[Any]:
    """Return a tensor for rows of codes, one for each of the owners."""
    columns = [
        np.repeat(table, len(codes))
        if owner == CONSTANT
        else table[codes[:, owners.index(owner)]]
        for owner, table in zip(tensor.owners, tensor.tables, strict=True)
    ]
    return np.stack(columns, axis=1).reshape(len(codes), *tensor.shape)


def _columns(
    blocks: Sequence[NDArray[Any]], owners: Sequence[int], shape: tuple[int, ...]
) -> Columns:
    first = blocks[0][:1]
    differs = [np.any(~_same(block, first), axis=0).tolist() for block in blocks]
    who, tables = [], []
    for entry in range(first.shape[1]):
        places = [place for place, different in enumerate(differs) if different[entry]]
        if len(places) > 1:
            raise MixingError([owners[place] for place in places])
        who.append(owners[places[0]] if places else CONSTANT)
        tables.append((blocks[places[0]] if places else first)[:, entry])
    return Columns(shape, tuple(who), tuple(tables))


def _checked(
    columns: Columns,
    array: NDArray[Any],
    owners: Sequence[int],
    sample: NDArray[np.int64],
) -> Columns:
    """Compare random rows with the tables."""
    if not columns.owners:
        return columns
    flat = Columns((len(columns.owners),), columns.owners, columns.tables)
    expected = _rows(flat, owners, sample)
    if not _same(array, expected).all():
        if len(owners) > 1:
            raise MixingError(owners)
        raise UnsupportedModelError(MIXED_ROWS)
    if array.dtype.kind != "f" or np.array_equal(array, expected, equal_nan=True):
        return columns
    sizes = [np.full(len(t), 2 * _SLACK * np.abs(t).max()) for t in columns.tables]
    return replace(columns, sizes=tuple(sizes))


def _same(left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.bool_]:
    """Compare numbers up to their last bits, and everything else exactly."""
    if left.dtype.kind != "f":
        return np.asarray(left == right, dtype=np.bool_)
    slack = _SLACK * float(np.finfo(left.dtype).eps)
    with np.errstate(all="ignore"):
        size = np.nan_to_num(np.abs(left), posinf=0.0).max(axis=0, initial=0.0)
        near = np.abs(left - right) <= slack * size
        both = np.isnan(left) & np.isnan(right)
        same: NDArray[np.bool_] = near | both | (left == right)
    return same


@dataclass
class Walk:
    """The state of tracing a model.

    Attributes
    ----------
    trace : Trace
    unit : float
        The unit roundoff of the coarsest format so far.
    is_masked : bool
        Whether some embedding masks its zeros.
    """

    trace: Trace
    unit: float = FLOAT64
    is_masked: bool = False

    def meet(self, dtype: str) -> None:
        """Record a format that the model computes in."""
        self.unit = max(self.unit, unit_of(dtype))


@dataclass(frozen=True)
class Call:
    """One use of a layer, or of an operation of `keras.ops`.

    Attributes
    ----------
    op : keras.Layer or keras.Operation
    args, kwargs
        Its arguments; tensors among them are symbolic.
    symbols : tuple of KerasTensor
        The symbolic tensors among these, in order.
    tensors : tuple of Tensor
        The traced tensor for each.
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
        """The name of the class if it is part of Keras, else an empty text."""
        cls = type(self.op)
        return cls.__name__ if cls.__module__.partition(".")[0] == "keras" else ""

    @property
    def is_layer(self) -> bool:
        """Whether this is a layer, not a bare operation."""
        return isinstance(self.op, keras.Layer)

    def operands(self, trace: Trace) -> list[Tensor]:
        """Return the operands; arrays are constants."""
        traced = dict(zip(map(id, self.symbols), self.tensors, strict=True))
        values = [
            traced[id(arg)] if id(arg) in traced else np.asarray(plain(arg))
            for arg in keras.tree.flatten((self.args, self.kwargs))
        ]
        return operands_of(trace, values, of_any_rank=self.is_layer)

    def run(self, arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Let Keras run this step with arrays in place of the symbolic tensors."""
        return self._called(arrays, [symbol.dtype for symbol in self.symbols])

    def place(self, indices: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Let Keras run this step with arrays of integers, regardless of formats."""
        return self._called(indices, ["int64"] * len(self.symbols))

    def _called(
        self, arrays: Sequence[NDArray[Any]], formats: Sequence[str]
    ) -> list[NDArray[Any]]:
        values = {
            id(symbol): tensor_of(array, dtype)
            for symbol, array, dtype in zip(self.symbols, arrays, formats, strict=True)
        }
        args, kwargs = keras.tree.map_structure(
            lambda x: values.get(id(x), x), (self.args, self.kwargs)
        )
        if self.is_layer and "training" in inspect.signature(self.op.call).parameters:
            kwargs = {**kwargs, "training": False}
        try:
            outputs = self.op(*args, **kwargs)
        except Exception as error:  # noqa: BLE001  a layer may raise anything
            raise UnsupportedModelError(
                f"Keras cannot run it on the values of the features "
                f"({reason_in(error)})"
            ) from None
        return [numpy_of(tensor) for tensor in keras.tree.flatten(outputs)]
