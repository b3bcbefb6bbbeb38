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

from nn2rules.adapters.tracing import CONSTANT, Columns, Tensor, Trace, mixing
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
    def is_softmax(self) -> bool:
        """Whether it is made of the shares of classes, or their logarithms."""
        return self.tensor.ending is not None and self.tensor.ending.is_softmax

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


def owners_of(values: Sequence[Traced]) -> list[int]:
    """Return the features that tensors depend on, all of which must be tables."""
    owners: set[int] = set()
    for value in values:
        assert isinstance(value.tensor, Columns), "only tables have owners"
        owners.update(value.tensor.owners)
    return sorted(owners - {CONSTANT})


def meet(values: Sequence[Traced]) -> bool:
    """Tell whether features meet in an entry-by-entry operation on tables."""
    try:
        _entry_owners(values, np.broadcast_shapes(*(v.tensor.shape for v in values)))
    except UnsupportedModelError:
        return True
    return False


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
    owners = owners_of(values)
    if len(owners) > 1 and not elementwise:
        raise mixing(trace.domain, owners)
    if not owners:
        result = _result(run(*(_rows(trace, value, None) for value in values)))
        return Traced(trace.constant(to_numpy(result)[0]), result.dtype)
    results = {
        owner: _result(run(*(_rows(trace, value, owner) for value in values)))
        for owner in owners
    }
    first = results[owners[0]]
    if not elementwise:
        return Traced(trace.table(owners[0], to_numpy(first)), first.dtype)
    shape = tuple(first.shape[1:])
    flat = {o: to_numpy(r).reshape(len(r), -1) for o, r in results.items()}
    entry_owners = _entry_owners(values, shape)
    tables = tuple(
        flat[owners[0]][:1, entry] if owner == CONSTANT else flat[owner][:, entry]
        for entry, owner in enumerate(entry_owners)
    )
    return Traced(Columns(shape, tuple(entry_owners), tables), first.dtype)


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
        return _moved(trace, values[0], tensors, dtype, run)
    return tuple(
        _moved(trace, values[0], tensors, dtype, lambda *rows, i=i: run(*rows)[i])
        for i in range(len(trial))
    )


def _moved(
    trace: Trace, first: Traced, tensors: list[Tensor], dtype: torch.dtype, run: Run
) -> Traced:
    def function(*rows: NDArray[np.int64]) -> NDArray[Any]:
        return to_numpy(run(*(torch.from_numpy(r) for r in rows)))

    result = Traced(trace.rearrange(tensors, function), dtype)
    if first.is_softmax and not result.is_softmax:
        raise UnsupportedModelError(
            "it takes softmax apart; return all shares of it, or the scores before it"
        )
    return result


def _result(value: Any) -> torch.Tensor:
    if not isinstance(value, torch.Tensor):
        raise UnsupportedModelError("it does not make one tensor")
    return value


def _rows(trace: Trace, value: Traced, owner: int | None) -> torch.Tensor:
    """Return rows in which one feature goes through its values."""
    tensor = value.tensor
    assert isinstance(tensor, Columns), "only tables have rows"
    n_values = 1 if owner is None else trace.domain.sizes[owner]
    columns = [
        table if mine == owner else np.repeat(table[:1], n_values)
        for mine, table in zip(tensor.owners, tensor.tables, strict=True)
    ]
    rows = np.stack(columns, axis=1).reshape(n_values, *tensor.shape)
    return torch.from_numpy(rows).to(value.dtype)


def _entry_owners(values: Sequence[Traced], shape: tuple[int, ...]) -> list[int]:
    """Return the feature that each entry of an elementwise result depends on."""
    found = np.full(shape, CONSTANT)
    for value in values:
        assert isinstance(value.tensor, Columns), "only tables have owners"
        owners = np.array(value.tensor.owners).reshape(value.tensor.shape)
        try:
            wide = np.broadcast_to(owners, shape)
        except ValueError:
            raise UnsupportedModelError("it changes the shape of a tensor") from None
        if ((found != CONSTANT) & (wide != CONSTANT) & (found != wide)).any():
            raise UnsupportedModelError(
                "features meet here before the first layer; each number that enters "
                "the first layer must come from one feature"
            )
        found = np.maximum(found, wide)
    return [int(owner) for owner in found.reshape(-1)]


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
