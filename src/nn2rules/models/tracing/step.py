"""Take a step of a model, whatever framework it comes from.

A step that only picks and places numbers is run on their places. One that acts on every
entry alone is run, as it is, on the values of each feature, as long as features have
not met; and so is any step at all that concerns one feature. What is left must be one
of the operations that a network can hold.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import Nn2RulesError, UnsupportedModelError
from nn2rules.models.tracing.operations import (
    ENTRYWISE,
    MIXED_ROWS,
    OPERATIONS,
    STRAIGHT,
)
from nn2rules.models.tracing.tensors import CONSTANT, Columns, Ending, Tensor
from nn2rules.models.tracing.trace import Trace
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


_KEEPING = frozenset({"add", "cast", "subtract"})
"""Operations on every entry that an ending outlives, as in ``1 - sigmoid``."""


@dataclass(frozen=True)
class Step:
    """One step of a model.

    Attributes
    ----------
    kind : str
        A name of `OPERATIONS`; "each", if it makes each entry of the same entries;
        "spread", if it makes one or several of each; or any other name.
    tensors : tuple of Tensor
        What it is given that depends on the input.
    run : Run or None
        The framework's own step, as a function of arrays for these; None if it is to be
        read in any case.
    read : callable
        Returns what it makes where features have met, or refuses that.
    name : str
        What it is called if it cannot take a value.
    is_straight : bool
        Whether all numbers that it makes of a range lie along a line, by its code.
    """

    kind: str
    tensors: tuple[Tensor, ...]
    run: Run | None
    read: Callable[[], Tensor]
    name: str = "this step"
    is_straight: bool = False

    @property
    def columns(self) -> list[Columns] | None:
        """The tensors, if features have not met and the framework can run on them."""
        loses = self.kind == "spread" or self.kind in ENTRYWISE - _KEEPING
        return columns_of(self.tensors, with_endings=loses)


def columns_of(
    tensors: Sequence[Tensor], *, with_endings: bool = False
) -> list[Columns] | None:
    """Return tensors as tables that the framework can run on; None if they are not.

    Those with an ending are left to the trace, unless it is lost in any case.
    """
    found = [t for t in tensors if isinstance(t, Columns) and t.sizes is None]
    is_plain = with_endings or all(tensor.ending is None for tensor in found)
    return found if is_plain and len(found) == len(tensors) else None


def take(trace: Trace, step: Step) -> list[Tensor]:
    """Return the tensors that a step makes."""
    columns, run = step.columns, step.run
    if columns is not None and run is not None:
        along = _along_lines(trace, step, columns)
        if along is not None:
            return [along]
        made = _on_entries(trace, step, columns, run)
        if made is None and len(owners_of(columns)) <= 1:
            made = [*_on_one_feature(trace, step, columns, run)]
        if made is not None:
            if not step.is_straight:
                trace.bent.update(owners_of(columns))
            return made
    return [step.read()]


def _along_lines(trace: Trace, step: Step, columns: list[Columns]) -> Tensor | None:
    """Read a step of ranges as an operation; None if there are none, or it is none.

    The framework's own numbers are rounded; an operation is along a line by its code,
    and its roundings are bounded.
    """
    if step.kind not in OPERATIONS or trace.ranges.isdisjoint(owners_of(columns)):
        return None
    if step.kind not in STRAIGHT:
        return step.read()
    try:
        return step.read()
    except UnsupportedModelError:  # such as a number times itself
        return None


def moved(
    trace: Trace, tensors: Sequence[Tensor], run: Run, n_outputs: int = 1
) -> list[Tensor]:
    """Return what a step makes that only picks and places entries."""
    found = []
    for index in range(n_outputs):

        def places(*rows: NDArray[Any], index: int = index) -> NDArray[Any]:
            return run(rows)[index]

        found.append(trace.rearrange(tensors, places))
    return found


def _on_entries(
    trace: Trace, step: Step, columns: list[Columns], run: Run
) -> list[Tensor] | None:
    """Run a step that acts on every entry; None if it does not, or if features meet."""
    is_spread = step.kind == "spread"
    same_rank = len({len(tensor.shape) for tensor in columns}) == 1
    if not (is_spread or (step.kind in ENTRYWISE and same_rank)):
        return None
    grid = grid_of(columns[:1] if is_spread else columns)
    if grid is None:
        return None
    rows = ValueRows(trace.domain, owners_of(columns))
    [result] = _ran(step, rows, [rows.of(tensor) for tensor in columns], run)
    if result.shape[:1] != (len(rows),):
        raise UnsupportedModelError(MIXED_ROWS)
    if not is_spread:
        try:  # constants may have made it wider
            grid = np.broadcast_to(grid, result.shape[1:])
        except ValueError:
            return None
    made: Tensor = rows.entries(result, grid)
    if step.kind == "sigmoid":
        made = replace(made, ending=Ending("sigmoid", columns[0]))
    return [made]


def _on_one_feature(
    trace: Trace, step: Step, columns: list[Columns], run: Run
) -> list[Columns]:
    """Run a step on the values of the only feature that it concerns."""
    rows = ValueRows(trace.domain, owners_of(columns))
    arrays = [rows.of(tensor) for tensor in columns]
    results = _ran(step, rows, arrays, run)
    if any(result.shape[:1] != (len(rows),) for result in results):
        raise UnsupportedModelError(MIXED_ROWS)
    for chosen in (slice(0, 1), slice(None, None, -1)):
        try:
            again = run([array[chosen] for array in arrays])
        except Exception:  # noqa: BLE001  it took these rows a moment ago
            again = []
        if [*map(_is_same, (r[chosen] for r in results), again)] != [True] * len(
            results
        ):
            raise UnsupportedModelError(MIXED_ROWS)
    return [rows.whole(result) for result in results]


def _ran(
    step: Step, rows: ValueRows, arrays: Sequence[NDArray[Any]], run: Run
) -> list[NDArray[Any]]:
    """Run a step; if that fails, find the value that is to blame."""
    try:
        return run(arrays)
    except Nn2RulesError:
        raise
    except Exception as error:  # noqa: BLE001  frameworks raise what they like
        reason = reason_in(error)
    blamed, is_taken = None, False
    for index, (name, value) in enumerate(rows.values()):
        try:
            run([array[index : index + 1] for array in arrays])
            is_taken = True
        except Exception as error:  # noqa: BLE001
            reason = reason_in(error)
            blamed = blamed or _refused_value(step, name, value, reason)
        if blamed is not None and is_taken:
            raise blamed
    raise UnsupportedModelError(f"it fails: {reason}")


def reason_in(error: Exception) -> str:
    """Return the part of an error message that is for people."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0].rpartition("Status Message: ")[2].rstrip(". ")


def _refused_value(
    step: Step, name: str, value: Value, reason: str
) -> UnsupportedModelError:
    if value is None:
        return UnsupportedModelError(
            f"feature {name!r} is missing in some rows, and {step.name} cannot take "
            f"that ({reason}); leave out those rows, or impute in the pipeline",
            feature=name,
        )
    return UnsupportedModelError(
        f"feature {name!r}: {step.name} cannot take the value {text_of(value)!r} "
        f"({reason})",
        feature=name,
    )


def _is_same(left: NDArray[Any], right: NDArray[Any]) -> bool:
    """Compare numbers up to rounding, which may depend on the number of rows."""
    if left.shape != right.shape or left.dtype.kind != "f":
        return np.array_equal(left, right)
    return np.allclose(left, right, rtol=1e-5, atol=1e-6, equal_nan=True)
