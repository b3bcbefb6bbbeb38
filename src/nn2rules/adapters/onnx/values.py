"""Run the steps of an ONNX graph on the values of features, as long as these are apart.

Whatever a step does, if its inputs depend on one feature, then so do its outputs, and
running it on the values of that feature says all about it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nn2rules.adapters.onnx.graph import Step
from nn2rules.adapters.onnx.refusals import refused_value
from nn2rules.adapters.onnx.running import Arrays
from nn2rules.adapters.tracing import CONSTANT, Columns, Ending, Tensor, Trace
from nn2rules.domain import Domain
from nn2rules.errors import UnsupportedModelError
from nn2rules.values import Value

_ELEMENTWISE = (
    *("Abs", "Acos", "Acosh", "Add", "And", "Asin", "Asinh", "Atan", "Atanh"),
    *("BitShift", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "Cast"),
    *("Ceil", "Celu", "Clip", "Cos", "Cosh", "Div", "Elu", "Equal", "Erf", "Exp"),
    *("Floor", "Gelu", "Greater", "GreaterOrEqual", "HardSigmoid", "HardSwish"),
    *("IsInf", "IsNaN", "LeakyRelu", "Less", "LessOrEqual", "Log", "Max", "Mean"),
    *("Min", "Mish", "Mod", "Mul", "Neg", "Not", "Or", "PRelu", "Pow"),
    *("Reciprocal", "Relu", "Round", "Selu", "Shrink", "Sigmoid", "Sign", "Silu"),
    *("Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Sub", "Sum", "Swish", "Tan"),
    *("Tanh", "ThresholdedRelu", "Where", "Xor"),
)
"""Operators each entry of whose result comes from the same entry of each input."""

_BY_ENTRY = (
    *("Binarizer", "CastLike", "Imputer", "LabelEncoder", "OneHot", "OneHotEncoder"),
    "Scaler",
)
"""Operators that make each entry of the result, or several, from one of the input."""


class Runs(Protocol):
    """What is asked of a walk; see `nn2rules.adapters.onnx.walk.Walk`."""

    trace: Trace

    def run(self, step: Step, arrays: Mapping[str, NDArray[Any]]) -> Arrays:
        """Run a step."""

    def row(self, value: Any, rank: int) -> Tensor:
        """Return a value as it meets rows."""

    def get(self, name: str) -> Any:
        """Return a tensor by its name."""


def run_on_values(
    walk: Runs, step: Step, tensors: Sequence[Columns]
) -> dict[str, Tensor] | None:
    """Return the outputs of a step on features that are apart; None if they meet.

    Parameters
    ----------
    tensors : sequence of Columns
        The inputs that depend on features.
    """
    owners = sorted({o for t in tensors for o in t.owners if o != CONSTANT})
    grid = _grid(walk, step, tensors)
    if grid is None and len(owners) > 1:
        return None
    rows = _Rows(walk.trace.domain, owners or [CONSTANT])
    arrays = {
        name: rows.of(tensor)
        for name in step.inputs
        if name and isinstance(tensor := walk.get(name), Columns)
    }
    results = _ran(walk, step, arrays, rows)
    if grid is None:
        _refuse_mixed_rows(walk, step, arrays, results)
    made: dict[str, Tensor] = {}
    for name, result in zip(filter(None, step.outputs), results, strict=True):
        if len(result) != len(rows):
            raise UnsupportedModelError("it mixes rows of a batch")
        if grid is None:
            made[name] = _table(walk.trace, owners, result)
        else:
            made[name] = rows.columns(result, grid)
    if step.op == "Sigmoid":
        [name] = made
        made[name] = replace(made[name], ending=Ending("sigmoid", tensors[0]))
    return made


def _table(trace: Trace, owners: Sequence[int], result: NDArray[Any]) -> Columns:
    return trace.table(owners[0], result) if owners else trace.constant(result[0])


def _grid(
    walk: Runs, step: Step, tensors: Sequence[Columns]
) -> NDArray[np.int64] | None:
    """Return the feature of each entry of a result; None if that cannot be told."""
    is_lookup = step.op == "Gather" and step.attributes.get("axis", 0) == 0
    if step.op in _BY_ENTRY or (is_lookup and len(tensors) == 1):
        owners = np.array(tensors[0].owners, dtype=np.int64)
        return owners.reshape(tensors[0].shape)
    if step.op not in _ELEMENTWISE:
        return None
    rank = max(len(tensor.shape) for tensor in tensors)
    inputs = [walk.row(walk.get(name), rank) for name in step.inputs if name]
    grid: NDArray[np.int64] = np.array(CONSTANT)
    for tensor in inputs:
        assert isinstance(tensor, Columns), "only columns come here"
        own = np.array(tensor.owners, dtype=np.int64).reshape(tensor.shape)
        grid, own = np.broadcast_arrays(grid, own)
        if ((grid != own) & (grid != CONSTANT) & (own != CONSTANT)).any():
            return None
        grid = np.maximum(grid, own)
    return grid


class _Rows:
    """Rows in which one feature after the other goes through its values."""

    def __init__(self, domain: Domain, owners: Sequence[int]) -> None:
        self.domain, self.owners = domain, owners
        self.sizes = [1 if o == CONSTANT else domain.sizes[o] for o in owners]
        self.starts = np.cumsum([0, *self.sizes])

    def __len__(self) -> int:
        return int(self.starts[-1])

    def of(self, tensor: Columns) -> NDArray[Any]:
        """Return the array that a tensor is on these rows."""
        columns = []
        for mine, table in zip(tensor.owners, tensor.tables, strict=True):
            parts = [
                table if mine == owner else np.repeat(table[:1], size)
                for owner, size in zip(self.owners, self.sizes, strict=True)
            ]
            columns.append(np.concatenate(parts))
        if not columns:
            return np.zeros((len(self), *tensor.shape), np.float32)
        array = np.stack(columns, axis=1).reshape(len(self), *tensor.shape)
        return array.astype(object) if array.dtype.kind == "U" else array

    def columns(self, result: NDArray[Any], grid: NDArray[np.int64]) -> Columns:
        """Return what was made of these rows; `grid` has the owners of its entries."""
        shape = result.shape[1:]
        if shape[: grid.ndim] != grid.shape:
            raise UnsupportedModelError("its result has an unexpected shape")
        flat = result.reshape(len(result), -1)
        repeats = flat.shape[1] // max(grid.size, 1)
        owners = np.repeat(grid.reshape(-1), repeats).tolist()
        tables = []
        for entry, owner in enumerate(owners):
            block = self.owners.index(owner) if owner != CONSTANT else 0
            rows = flat[self.starts[block] : self.starts[block + 1], entry]
            tables.append(rows[:1] if owner == CONSTANT else rows)
        return Columns(shape, tuple(owners), tuple(tables))

    def values(self) -> list[tuple[str, Value]]:
        """Return, for each row, the feature and its value."""
        features = [self.domain.features[o] for o in self.owners if o != CONSTANT]
        return [(f.name, value) for f in features for value in f.values]


def _ran(
    walk: Runs, step: Step, arrays: Mapping[str, NDArray[Any]], rows: _Rows
) -> Arrays:
    """Run a step; if that fails, find the value that is to blame."""
    try:
        return walk.run(step, arrays)
    except Exception as error:  # noqa: BLE001  onnxruntime's errors have no base
        reason = _reason(error)
    for index, (name, value) in enumerate(rows.values()):
        one = {key: array[index : index + 1] for key, array in arrays.items()}
        try:
            walk.run(step, one)
        except Exception as error:  # noqa: BLE001
            raise refused_value(step, name, value, _reason(error)) from None
    raise UnsupportedModelError(f"{step}, {step.kind}, fails: {reason}")


def _reason(error: Exception) -> str:
    """Return the part of an error message that is for people."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0].rpartition("Status Message: ")[2].rstrip(". ")


def _refuse_mixed_rows(
    walk: Runs, step: Step, arrays: Mapping[str, NDArray[Any]], results: Arrays
) -> None:
    """Refuse an operator whose result on a row depends on other rows."""

    def same(chosen: Callable[[NDArray[Any]], NDArray[Any]]) -> bool:
        again = walk.run(step, {name: chosen(array) for name, array in arrays.items()})
        return all(
            np.allclose(chosen(a), b, rtol=1e-5, atol=1e-6, equal_nan=True)
            if a.dtype.kind == "f"
            else np.array_equal(chosen(a), b)
            for a, b in zip(results, again, strict=True)
        )

    if not (same(lambda rows: rows[:1]) and same(lambda rows: rows[::-1])):
        raise UnsupportedModelError("it mixes rows of a batch")
