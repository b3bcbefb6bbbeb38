"""What is known of a tensor of a PyTorch model, and how its operations act on tables.

As long as features have not met, the tables of a tensor are made by PyTorch itself, in
the format that the model computes in: they hold the very numbers of the model.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from nn2rules.adapters.tracing import (
    CONSTANT,
    Columns,
    Tensor,
    Trace,
    ValueRows,
    grid_of,
    mixing,
    owners_of,
)
from nn2rules.errors import UnsupportedModelError

BATCH = 2
"""The number of rows that shapes and constants are worked out for."""

UNITS = {
    torch.bfloat16: 2.0**-8,
    torch.float16: 2.0**-11,
    torch.float32: 2.0**-24,
    torch.float64: 2.0**-53,
}
"""The unit roundoff of the formats that models compute in."""

Run = Callable[..., Any]
"""An operation of the model, as a function of the tensors that depend on the input."""


@dataclass(frozen=True)
class Traced:
    """A tensor that depends on the input.

    Attributes
    ----------
    tensor : Columns or Affine
    dtype : torch.dtype
    """

    tensor: Tensor
    dtype: torch.dtype

    @property
    def is_table(self) -> bool:
        """Whether its tables hold the numbers that PyTorch itself computes."""
        return isinstance(self.tensor, Columns) and self.tensor.sizes is None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape, with that of a batch in front."""
        return (BATCH, *self.tensor.shape)

    @property
    def kind(self) -> str:
        """What its ending is called; empty without one."""
        return "" if self.tensor.ending is None else self.tensor.ending.kind


def to_numpy(tensor: torch.Tensor) -> NDArray[Any]:
    """Return a tensor as an array; numpy has no bfloat16, and float32 holds it."""
    tensor = tensor.detach()
    if tensor.dtype == torch.bfloat16:
        tensor = tensor.float()
    return np.asarray(tensor.numpy())


def constant(trace: Trace, value: Any) -> Traced:
    """Return a constant of a batch, such as one that was expanded to its rows."""
    rows = torch.as_tensor(value)
    first = unbatched(rows, rows.ndim)
    return Traced(trace.constant(to_numpy(first)), rows.dtype)


def unbatched(value: Any, ndim: int) -> Any:
    """Return a constant without its batch, if it has one in a tensor of `ndim` axes."""
    if not isinstance(value, torch.Tensor) or value.ndim < ndim or ndim == 0:
        return value
    is_same = value.ndim == ndim and bool((value[:1] == value).all())
    if not is_same:
        raise UnsupportedModelError("it treats the rows of a batch differently")
    return value[0]


def columns_of(values: Sequence[Traced]) -> list[Columns]:
    """Return tensors that are tables."""
    found = [value.tensor for value in values if isinstance(value.tensor, Columns)]
    assert len(found) == len(values), "all of them are tables"
    return found


def on_tables(
    trace: Trace, values: Sequence[Traced], run: Run, *, elementwise: bool
) -> Traced:
    """Return what PyTorch makes of tables.

    Parameters
    ----------
    values : sequence of Traced
        All of them tables.
    run : callable
        Takes a tensor of shape ``(n_rows, *shape)`` for each of `values`.
    elementwise : bool
        Whether an entry of the result depends on the same entries of `values` alone.
        Otherwise all of them must belong to one feature.
    """
    columns = columns_of(values)
    owners, grid = owners_of(columns), None
    if elementwise:
        grid = grid_of(columns)
        if grid is None:
            raise UnsupportedModelError(
                "features meet here before the first layer; each number that enters "
                "the first layer must come from one feature"
            )
    elif len(owners) > 1:
        raise mixing(trace.domain, owners)
    rows = ValueRows(trace.domain, owners)
    arrays = [
        torch.from_numpy(rows.of(tensor)).to(value.dtype)
        for tensor, value in zip(columns, values, strict=True)
    ]
    made = run(*arrays)
    if not isinstance(made, torch.Tensor):
        raise UnsupportedModelError("it does not make one tensor")
    result = to_numpy(made)
    tensor = rows.whole(result) if grid is None else rows.entries(result, grid)
    return Traced(tensor, made.dtype)


def lookup(trace: Trace, value: Traced, matrix: torch.Tensor, what: str) -> Traced:
    """Return, for every entry of a tensor of whole numbers, that row of `matrix`."""
    if not value.is_table or value.dtype.is_floating_point:
        raise UnsupportedModelError(
            f"{what} is given numbers that depend on several features, or that are not "
            f"whole; look up each feature on its own"
        )
    tensor, rows = value.tensor, to_numpy(matrix)
    assert isinstance(tensor, Columns), "a table is made of columns"
    parts = []
    for owner, table in zip(tensor.owners, tensor.tables, strict=True):
        _refuse_outside(trace, owner, table, len(rows), what)
        found = rows[table]
        parts.append(
            trace.constant(found[0]) if owner == CONSTANT else trace.table(owner, found)
        )
    shape = (BATCH, *tensor.shape, rows.shape[1])
    joined = trace.rearrange(parts, lambda *found: np.stack(found, 1).reshape(shape))
    return Traced(joined, matrix.dtype)


def moved(trace: Trace, values: Sequence[Traced], run: Run) -> Any:
    """Return what an operation makes of tensors whose entries it only picks and places.

    `run` takes and returns a tensor; or it returns several, and so does this.
    """
    tensors = [value.tensor for value in values]
    dtype = values[0].dtype
    for value in values[1:]:
        dtype = torch.promote_types(dtype, value.dtype)
    trial = run(*(torch.zeros(v.shape, dtype=torch.int64) for v in values))
    if isinstance(trial, torch.Tensor):
        return _moved(trace, tensors, dtype, run)
    return tuple(
        _moved(trace, tensors, dtype, lambda *rows, i=i: run(*rows)[i])
        for i in range(len(trial))
    )


def _moved(trace: Trace, tensors: list[Tensor], dtype: torch.dtype, run: Run) -> Traced:
    def function(*rows: NDArray[np.int64]) -> NDArray[Any]:
        return to_numpy(run(*(torch.from_numpy(r) for r in rows)))

    return Traced(trace.rearrange(tensors, function), dtype)


def _refuse_outside(
    trace: Trace, owner: int, table: NDArray[Any], n_rows: int, what: str
) -> None:
    outside = np.flatnonzero((table < 0) | (table >= n_rows))
    if len(outside):
        number = int(table[outside[0]])
        subject = "a constant"
        if owner != CONSTANT:
            feature = trace.domain.features[owner]
            value = feature.values[int(outside[0])]
            subject = f"the value {value!r} of feature {feature.name!r}"
        raise UnsupportedModelError(
            f"{subject} is encoded as {number}, but {what} has only the rows 0 to "
            f"{n_rows - 1}"
        )
