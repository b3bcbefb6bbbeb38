"""Take a step of a model, whatever framework it comes from.

A step that only picks and places numbers is run on their places. One that acts on every
entry alone is run, as it is, on the values of each feature, as long as features have
not met; and so is any step at all that concerns one feature. What is left must be one
of the operations that a network can hold.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import Nn2RulesError, UnsupportedModelError
from nn2rules.models.tracing.operations import (
    ENTRYWISE,
    MIXED_ROWS,
    OPERATIONS,
    STRAIGHT,
)
from nn2rules.models.tracing.tables import Run, ValueRows, grid_of, owners_of
from nn2rules.models.tracing.tensors import Columns, Ending, Tensor
from nn2rules.models.tracing.trace import Trace
from nn2rules.space import Value, text_of

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
