"""Let a framework run its own steps on the values of features that have not met.

Whatever a step does, as long as its inputs depend on one feature, so do its outputs,
and running it on the values of that feature says all about it.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import UnsupportedModelError
from nn2rules.models.tracing.tensors import CONSTANT, Columns, Tensor
from nn2rules.space import Domain, Value, text_of

Run: TypeAlias = Callable[[Sequence[NDArray[Any]]], list[NDArray[Any]]]
"""Arrays with a row for each row, one for each tensor that goes in, to such arrays."""


def owners_of(tensors: Sequence[Columns]) -> list[int]:
    """Return the features that tensors depend on."""
    return sorted({o for tensor in tensors for o in tensor.owners} - {CONSTANT})


def grid_of(tensors: Sequence[Columns]) -> NDArray[np.int64] | None:
    """Return the feature of each entry of an entry-by-entry result.

    None if features meet in one.
    """
    grid: NDArray[np.int64] = np.array(CONSTANT)
    for tensor in tensors:
        own = np.array(tensor.owners, dtype=np.int64).reshape(tensor.shape)
        grid, own = np.broadcast_arrays(grid, own)
        if ((grid != own) & (grid != CONSTANT) & (own != CONSTANT)).any():
            return None
        grid = np.maximum(grid, own)
    return grid


class ValueRows:
    """Rows in which one feature after the other goes through its values.

    Parameters
    ----------
    domain : Domain
    owners : sequence of int
        The features; without any, there is a single row.
    """

    def __init__(self, domain: Domain, owners: Sequence[int]) -> None:
        self.domain, self.owners = domain, owners or [CONSTANT]
        self.sizes = [1 if o == CONSTANT else domain.sizes[o] for o in self.owners]
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
        return np.stack(columns, axis=1).reshape(len(self), *tensor.shape)

    def whole(self, result: NDArray[Any]) -> Columns:
        """Return what was made of these rows, which have one feature at most."""
        [owner] = self.owners
        flat = result.reshape(len(result), -1)
        size, shape = flat.shape[1], result.shape[1:]
        return Columns(shape, (owner,) * size, tuple(flat[:, i] for i in range(size)))

    def entries(self, result: NDArray[Any], grid: NDArray[np.int64]) -> Columns:
        """Return what was made of these rows; `grid` has the owners of its entries.

        Each entry of the grid may have become several.
        """
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


def refuse_gaps(domain: Domain, tensor: Tensor, instead: str) -> None:
    """Refuse numbers that are missing or infinite where features are about to meet.

    `instead` says what to do about missing ones.
    """
    if not isinstance(tensor, Columns):
        return
    for owner, table in zip(tensor.owners, tensor.tables, strict=True):
        if owner == CONSTANT or table.dtype.kind != "f" or np.isfinite(table).all():
            continue
        feature = domain.features[owner]
        value = feature.values[int(np.flatnonzero(~np.isfinite(table))[0])]
        if value is None:
            raise UnsupportedModelError(
                f"feature {feature.name!r} is missing in some rows, and the model has "
                f"no step that fills it in; leave out those rows, or {instead}"
            )
        raise UnsupportedModelError(
            f"feature {feature.name!r}: the model turns its {text_of(value)!r} into a "
            f"number that is not finite",
            feature=feature.name,
        )


def mixing(domain: Domain, owners: Sequence[int]) -> UnsupportedModelError:
    """Return the error that says which features a step mixes too early."""
    names = " and ".join(repr(domain.names[owner]) for owner in owners[:4])
    return UnsupportedModelError(
        f"a step of the model mixes the features {names} before its first layer; each "
        f"number that enters the first layer must come from one feature"
    )
