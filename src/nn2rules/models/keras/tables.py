"""Let Keras itself run a step on the tables of features that have not met."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import keras
import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import UnsupportedModelError
from nn2rules.models.tracing import (
    CONSTANT,
    MIXED_ROWS,
    UNITS,
    Columns,
    Run,
    ValueRows,
    owners_of,
)
from nn2rules.space import Domain

_CHECKED_ROWS = 256
_SLACK = 16  # roundings that may depend on which rows go in together


def format_of(dtype: str) -> str:
    """Return the format that sums are really made in.

    On most backends Keras adds up float32 numbers even where float64 is asked for.
    """
    if dtype != "float64":
        return dtype
    return str(keras.backend.result_type("float64", "float64"))


def unit_of(dtype: str) -> float:
    """Return the unit roundoff of sums of a format; 0 of whole numbers and words."""
    return UNITS.get(format_of(dtype), 0.0)


class MixingError(Exception):
    """A step makes an entry of several features; `owners` are these."""

    def __init__(self, owners: Sequence[int]) -> None:
        super().__init__(owners)
        self.owners = tuple(owners)


def numpy_of(tensor: Any) -> NDArray[Any]:
    """Return a tensor of any backend as an array; numpy has no bfloat16."""
    if hasattr(tensor, "dtype") and "bfloat16" in str(tensor.dtype):
        tensor = keras.ops.cast(tensor, "float32")
    return np.asarray(keras.ops.convert_to_numpy(tensor))


def plain(value: Any) -> Any:
    """Return tensors and variables as arrays, and anything else as it is."""
    return numpy_of(value) if hasattr(value, "dtype") else value


def tensor_of(array: NDArray[Any], dtype: str) -> Any:
    """Return an array as a tensor of the backend, in the given format."""
    return keras.ops.convert_to_tensor(array, dtype=dtype)


def rounded(array: NDArray[Any], dtype: str) -> NDArray[Any]:
    """Return an array as it is after it has been stored in the given format."""
    return numpy_of(tensor_of(array, dtype))


def spread(domain: Domain, tensors: Sequence[Columns], run: Run) -> list[Columns]:
    """Return what a step makes of tables, finding out what depends on which feature.

    The step is run on rows in which all features have their first value but one, which
    goes through its values; and then on random rows, which must agree.

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
    found = []
    for result, other in zip(results, checked, strict=True):
        if len(result) != len(rows) or len(other) != len(sample):
            raise UnsupportedModelError(MIXED_ROWS)
        blocks = np.split(result.reshape(len(result), -1), rows.starts[1:-1])
        columns = _columns(blocks, owners, result.shape[1:])
        found.append(_checked(columns, other.reshape(len(other), -1), owners, sample))
    return found


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
    """Compare random rows with what the tables say of them."""
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
    """Compare numbers up to their last bits, and anything else exactly."""
    if left.dtype.kind != "f":
        return np.asarray(left == right, dtype=np.bool_)
    slack = _SLACK * float(np.finfo(left.dtype).eps)
    with np.errstate(all="ignore"):
        size = np.nan_to_num(np.abs(left), posinf=0.0).max(axis=0, initial=0.0)
        near = np.abs(left - right) <= slack * size
        both = np.isnan(left) & np.isnan(right)
        same: NDArray[np.bool_] = near | both | (left == right)
    return same
