"""The tensors of a PyTorch model while it is traced.

As long as features are not combined, PyTorch itself computes the tables of a tensor, in
the format of the model, so they hold exactly the numbers of the model.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from nn2rules.errors import UnsupportedModelError
from nn2rules.models.tracing import CONSTANT, UNITS, Columns, Tensor, Trace, unbatched

BATCH = 2
"""The number of rows for which shapes and constants are computed."""

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
        """The shape with a batch in front."""
        return (BATCH, *self.tensor.shape)

    @property
    def stand_in(self) -> torch.Tensor:
        """A tensor of the same shape and format."""
        return torch.zeros(self.shape, dtype=self.dtype)


def unit_of(dtype: torch.dtype) -> float:
    """Return the unit roundoff of a format; 0 for integers."""
    return UNITS.get(str(dtype).removeprefix("torch."), 0.0)


def to_numpy(tensor: torch.Tensor) -> NDArray[Any]:
    """Return a tensor as an array; numpy has no bfloat16, and float32 holds it."""
    tensor = tensor.detach()
    if tensor.dtype == torch.bfloat16:
        tensor = tensor.float()
    return np.asarray(tensor.numpy())


def constant(trace: Trace, value: Any) -> Traced:
    """Return a constant that may have a batch, all of whose rows are equal."""
    rows = torch.as_tensor(value)
    first = unbatched(to_numpy(rows), max(rows.ndim - 1, 0), BATCH)
    return Traced(trace.constant(first), rows.dtype)


def lookup(trace: Trace, value: Traced, matrix: torch.Tensor, what: str) -> Traced:
    """Return the row of `matrix` for each entry of a tensor of integers."""
    if not value.is_table or value.dtype.is_floating_point:
        raise UnsupportedModelError(
            f"{what} gets numbers that depend on several features, or that are not "
            f"integers; look up each feature separately"
        )
    tensor, rows = value.tensor, to_numpy(matrix)
    assert isinstance(tensor, Columns), "a table is made of columns"
    parts = []
    for owner, table in zip(tensor.owners, tensor.tables, strict=True):
        _refuse_outside(trace, owner, table, len(rows), what)
        table_rows = rows[table]
        parts.append(
            trace.constant(table_rows[0])
            if owner == CONSTANT
            else trace.table(owner, table_rows)
        )
    shape = (BATCH, *tensor.shape, rows.shape[1])
    joined = trace.rearrange(
        parts, lambda *table_rows: np.stack(table_rows, 1).reshape(shape)
    )
    return Traced(joined, matrix.dtype)


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
            f"{subject} is encoded as {number}, but {what} has only rows 0 to "
            f"{n_rows - 1}"
        )
