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
from nn2rules.adapters.tracing import (
    Columns,
    Ending,
    Tensor,
    Trace,
    ValueRows,
    grid_of,
    owners_of,
)
from nn2rules.errors import UnsupportedModelError

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
    owners = owners_of(tensors)
    grid = _grid(walk, step, tensors)
    if grid is None and len(owners) > 1:
        return None
    rows = ValueRows(walk.trace.domain, owners)
    arrays = {
        name: _texts_as_objects(rows.of(tensor))
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
            made[name] = rows.whole(result)
        else:
            made[name] = rows.entries(result, grid)
    if step.op == "Sigmoid":
        [name] = made
        made[name] = replace(made[name], ending=Ending("sigmoid", tensors[0]))
    return made


def _texts_as_objects(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(object) if array.dtype.kind == "U" else array


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
    columns = [tensor for tensor in inputs if isinstance(tensor, Columns)]
    assert len(columns) == len(inputs), "only columns come here"
    return grid_of(columns)


def _ran(
    walk: Runs, step: Step, arrays: Mapping[str, NDArray[Any]], rows: ValueRows
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
