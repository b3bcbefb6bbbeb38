"""Take a step of a model, regardless of its framework.

A step that only rearranges numbers is run on their positions. A step on each entry
alone is run on the values of each feature, as long as features are not combined, and so
is any step that involves only one feature. All other steps must be operations that a
network can express.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import Nn2RulesError, UnsupportedModelError
from nn2rules.models.tracing.operations import (
    ENTRYWISE,
    LINEAR,
    MIXED_ROWS,
    OPERATIONS,
)
from nn2rules.models.tracing.tensors import CONSTANT, Columns, Ending, Tensor
from nn2rules.models.tracing.trace import Trace
from nn2rules.space import Domain, Value, text_of

Run: TypeAlias = Callable[[Sequence[NDArray[Any]]], list[NDArray[Any]]]
"""From one array for each input tensor, with one row per row, to such arrays."""


def owners_of(tensors: Sequence[Columns]) -> list[int]:
    """Return the features that tensors depend on."""
    return sorted({o for tensor in tensors for o in tensor.owners} - {CONSTANT})


def grid_of(tensors: Sequence[Columns]) -> NDArray[np.int64] | None:
    """Return the feature of each entry of an entry-by-entry result.

    None if an entry depends on several features.
    """
    grid: NDArray[np.int64] = np.array(CONSTANT)
    for tensor in tensors:
        owners = np.array(tensor.owners, dtype=np.int64).reshape(tensor.shape)
        grid, owners = np.broadcast_arrays(grid, owners)
        if ((grid != owners) & (grid != CONSTANT) & (owners != CONSTANT)).any():
            return None
        grid = np.maximum(grid, owners)
    return grid


class ValueRows:
    """Rows in which one feature after the other takes all its values.

    Parameters
    ----------
    domain : Domain
    owners : sequence of int
        The features; without any, there is only one row.
    """

    def __init__(self, domain: Domain, owners: Sequence[int]) -> None:
        self.domain, self.owners = domain, owners or [CONSTANT]
        self.sizes = [1 if o == CONSTANT else domain.sizes[o] for o in self.owners]
        self.starts = np.cumsum([0, *self.sizes])

    def __len__(self) -> int:
        return int(self.starts[-1])

    def of(self, tensor: Columns) -> NDArray[Any]:
        """Return the array of a tensor on these rows."""
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
        """Return the result on these rows, which have at most one feature."""
        [owner] = self.owners
        flat = result.reshape(len(result), -1)
        size, shape = flat.shape[1], result.shape[1:]
        return Columns(shape, (owner,) * size, tuple(flat[:, i] for i in range(size)))

    def entries(self, result: NDArray[Any], grid: NDArray[np.int64]) -> Columns:
        """Return the result on these rows; `grid` has the owners of its entries.

        Each entry of the grid may have several entries in the result.
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
    """Refuse missing or infinite numbers where features are about to be combined.

    `instead` is the advice for missing ones.
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
                f"feature {feature.name!r} has missing values, and the model has no "
                f"step that fills them in; leave out those rows, or {instead}"
            )
        raise UnsupportedModelError(
            f"feature {feature.name!r}: the model turns the value {text_of(value)!r} "
            f"into a number that is not finite",
            feature=feature.name,
        )


def mixing(domain: Domain, owners: Sequence[int]) -> UnsupportedModelError:
    """Return the error for a step that combines features too early."""
    names = " and ".join(repr(domain.names[owner]) for owner in owners[:4])
    return UnsupportedModelError(
        f"a step of the model combines the features {names} before its first layer; "
        f"each input of the first layer must come from one feature"
    )


_KEEPING = frozenset({"add", "cast", "subtract"})
"""Operations on each entry that keep an ending, as in ``1 - sigmoid``."""


@dataclass(frozen=True)
class Step:
    """One step of a model.

    Attributes
    ----------
    kind : str
        A name of `OPERATIONS`; "each" if it works on each entry alone; "spread" if it
        makes one or several entries from each; or any other name.
    tensors : tuple of Tensor
        Its inputs that depend on the model's input.
    run : Run or None
        The framework's own step, as a function of arrays for these; None if it must be
        read in any case.
    read : callable
        Returns its result once features are combined, or refuses that.
    name : str
        Its name in the message about a value that it does not accept.
    is_linear : bool
        Whether it is linear on ranges, by its code.
    """

    kind: str
    tensors: tuple[Tensor, ...]
    run: Run | None
    read: Callable[[], Tensor]
    name: str = "this step"
    is_linear: bool = False

    @property
    def columns(self) -> list[Columns] | None:
        """The tensors as tables, if the framework can run on them."""
        loses = self.kind == "spread" or self.kind in ENTRYWISE - _KEEPING
        return columns_of(self.tensors, with_endings=loses)


def columns_of(
    tensors: Sequence[Tensor], *, with_endings: bool = False
) -> list[Columns] | None:
    """Return tensors as tables that the framework can run on; None if they are not.

    Tensors with an ending are left to the trace, unless it is lost in any case.
    """
    tables = [t for t in tensors if isinstance(t, Columns) and t.sizes is None]
    is_plain = with_endings or all(tensor.ending is None for tensor in tables)
    return tables if is_plain and len(tables) == len(tensors) else None


def take(trace: Trace, step: Step) -> list[Tensor]:
    """Return the results of a step."""
    columns, run = step.columns, step.run
    if columns is not None and run is not None:
        along = _as_linear(trace, step, columns)
        if along is not None:
            return [along]
        results = _on_entries(trace, step, columns, run)
        if results is None and len(owners_of(columns)) <= 1:
            results = [*_on_one_feature(trace, step, columns, run)]
        if results is not None:
            if not step.is_linear:
                trace.nonlinear.update(owners_of(columns))
            return results
    return [step.read()]


def _as_linear(trace: Trace, step: Step, columns: list[Columns]) -> Tensor | None:
    """Read a step on ranges as an operation; None if there are none, or it is not one.

    The framework's own numbers are rounded; an operation is linear by its code, and its
    rounding is bounded.
    """
    if step.kind not in OPERATIONS or trace.ranges.isdisjoint(owners_of(columns)):
        return None
    if step.kind not in LINEAR:
        return step.read()
    try:
        return step.read()
    except UnsupportedModelError:  # such as a number times itself
        return None


def moved(
    trace: Trace, tensors: Sequence[Tensor], run: Run, n_outputs: int = 1
) -> list[Tensor]:
    """Return the results of a step that only rearranges entries."""
    results = []
    for index in range(n_outputs):

        def places(*rows: NDArray[Any], index: int = index) -> NDArray[Any]:
            return run(rows)[index]

        results.append(trace.rearrange(tensors, places))
    return results


def _on_entries(
    trace: Trace, step: Step, columns: list[Columns], run: Run
) -> list[Tensor] | None:
    """Run a step on each entry; None if it is not one, or combines features."""
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
        try:  # constants may make it wider
            grid = np.broadcast_to(grid, result.shape[1:])
        except ValueError:
            return None
    entries: Tensor = rows.entries(result, grid)
    if step.kind == "sigmoid":
        entries = replace(entries, ending=Ending("sigmoid", columns[0]))
    return [entries]


def _on_one_feature(
    trace: Trace, step: Step, columns: list[Columns], run: Run
) -> list[Columns]:
    """Run a step on the values of its only feature."""
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
    """Run a step; if that fails, find the value that causes it."""
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
    """Return the readable part of an error message."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0].rpartition("Status Message: ")[2].rstrip(". ")


def _refused_value(
    step: Step, name: str, value: Value, reason: str
) -> UnsupportedModelError:
    if value is None:
        return UnsupportedModelError(
            f"feature {name!r} has missing values, which {step.name} does not accept "
            f"({reason}); leave out those rows, or add an imputer to the pipeline",
            feature=name,
        )
    return UnsupportedModelError(
        f"feature {name!r}: {step.name} does not accept the value {text_of(value)!r} "
        f"({reason})",
        feature=name,
    )


def _is_same(left: NDArray[Any], right: NDArray[Any]) -> bool:
    """Compare numbers up to rounding, which can depend on the number of rows."""
    if left.shape != right.shape or left.dtype.kind != "f":
        return np.array_equal(left, right)
    return np.allclose(left, right, rtol=1e-5, atol=1e-6, equal_nan=True)
