"""The user's rows in any container: a frame, a list of dicts, or one row."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import RowsError
from nn2rules.space.feature_spec import Column
from nn2rules.space.values import did_you_mean

Rows: TypeAlias = Any
"""A pandas, polars or pyarrow frame, a list of dicts, or one row as a dict."""


def listed_rows(rows: Rows) -> Rows:
    """Return one row, a dict or a pandas Series, as a list; other rows as they are."""
    if isinstance(rows, Mapping):
        return [dict(rows)]
    if getattr(rows, "ndim", 2) == 1 and hasattr(rows, "index"):
        return [rows.to_dict()]
    return rows


def picked_rows(rows: Rows, positions: NDArray[np.int64]) -> Rows:
    """Return the rows at `positions`, as rows of the same kind."""
    rows = listed_rows(rows)
    if isinstance(rows, list | tuple):
        return [rows[position] for position in positions.tolist()]
    if isinstance(rows, np.ndarray):
        return rows[positions]
    return _frame(rows)[positions.tolist()].to_native()


def columns_for(model: Any, rows: Rows) -> Rows:
    """Return the columns of `rows` that a model was trained on, where it says so."""
    names = getattr(model, "feature_names_in_", None)
    if names is None or isinstance(rows, list | tuple | np.ndarray):
        return rows
    frame, listed = _frame(rows), [str(name) for name in names]
    is_there = set(listed) <= set(frame.columns)
    return frame.select(listed).to_native() if is_there else rows


def cells_of(rows: Rows, names: Sequence[str]) -> list[Sequence[object]]:
    """Return the columns called `names` of a frame or of a list of dicts."""
    if isinstance(rows, list | tuple):
        return _columns_of_dicts(rows, names)
    frame = _frame(rows)
    _refuse_missing_columns(names, frame.columns)
    return [frame[name].to_list() for name in names]


def column_names(rows: Rows) -> list[str]:
    """Return the names of the columns of a frame or of a list of dicts."""
    if isinstance(rows, list | tuple):
        first = rows[0] if rows else {}
        return list(first) if isinstance(first, dict) else []
    return list(_frame(rows).columns)


def observed_columns(rows: Rows, names: Sequence[str]) -> list[Column]:
    """Return what the data say of the columns called `names`."""
    if isinstance(rows, list | tuple):
        listed = _columns_of_dicts(rows, names)
        return [Column(dict.fromkeys(c), rows=partial(iter, c)) for c in listed]
    frame = _frame(rows)
    _refuse_missing_columns(names, frame.columns)
    return [_observed(frame[name]) for name in names]


def _observed(series: nw.Series[Any]) -> Column:
    cells, dtype = series.unique().to_list(), getattr(series.to_native(), "dtype", None)
    categories = getattr(dtype, "categories", None)  # of pandas, or a polars Enum
    if categories is None:
        return Column(cells, rows=series.to_list)
    is_ordered = bool(getattr(dtype, "ordered", True))
    return Column(cells, list(categories), is_ordered, series.to_list)


def _frame(rows: Rows) -> nw.DataFrame[Any]:
    if isinstance(rows, np.ndarray):
        raise RowsError(
            "an array of rows has no names of columns; give a data frame, as in "
            "pandas.DataFrame(array, columns=[...]), or, where the array holds codes "
            "of the domain, call the method whose name ends with _codes"
        )
    try:
        return nw.from_native(rows, eager_only=True)
    except TypeError:
        raise RowsError(
            f"rows are a pandas, polars or pyarrow frame or a list of dicts, not a "
            f"{type(rows).__name__}"
        ) from None
    except nw.exceptions.NarwhalsError as error:  # two columns of one name
        raise RowsError(f"the frame cannot be read: {error}") from None


def _columns_of_dicts(
    rows: Sequence[dict[str, object]], names: Sequence[str]
) -> list[Sequence[object]]:
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            raise RowsError(f"row {number} is a {type(row).__name__}, not a dict")
        if any(name not in row for name in names):
            _refuse_missing_columns(names, list(row), where=f"row {number}: ")
    return [[row[name] for row in rows] for name in names]


def _refuse_missing_columns(
    names: Sequence[str], columns: Sequence[str], where: str = ""
) -> None:
    known = set(columns)
    missing = [name for name in names if name not in known]
    if missing:
        found = ", ".join(repr(column) for column in columns) or "none"
        plural = "s" if len(missing) > 1 else ""
        hint = separator_hint(columns)
        if len(missing) == 1 and not hint:
            hint = did_you_mean(missing[0], [c for c in columns if c not in names])
        raise RowsError(
            f"{where}the feature{plural} {', '.join(map(repr, missing))} "
            f"{'are' if plural else 'is'} missing; the columns found are {found}{hint}"
        )


def separator_hint(columns: Sequence[str]) -> str:
    """Guess why a table has but one column: it was split at the wrong signs."""
    for separator, name in ((";", "semicolons"), ("\t", "tabs")):
        if len(columns) == 1 and separator in str(columns[0]):
            return f"; its columns seem to be separated by {name}, expected commas"
    return ""
