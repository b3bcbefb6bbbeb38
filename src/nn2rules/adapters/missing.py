"""Which spellings of a missing cell a model takes for missing, by asking it.

A cell can be missing as None, NaN, pandas' NA or NaT. scikit-learn's imputers fill NaN
and pass None on, so that a model may predict one class for NaN and another for None.
One value stands for missing in rules: that which the user's rows hold. Every other
spelling is tried in its place, and refused where the model's output changes. Where the
model itself fails on a spelling, it predicts nothing that could be contradicted, and
the cell counts as missing.
"""

import importlib.util
from collections.abc import Callable, Iterator
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from nn2rules.adapters.rows import RowMaker
from nn2rules.feature import Feature
from nn2rules.frames import Rows, cells_of
from nn2rules.values import SPELLINGS, Value, spelling_of

_BASES = 64

Outputs = Callable[[Rows], NDArray[Any]]


def refused_spellings(outputs: Outputs, maker: RowMaker) -> dict[str, list[str]]:
    """Return, by feature, the spellings that a model tells from its missing value."""
    found = {}
    for index, feature in enumerate(maker.domain.features):
        if None in feature.words:
            told = _told_apart(outputs, maker, index)
            if told:
                found[feature.name] = told
    return found


def _told_apart(outputs: Outputs, maker: RowMaker, index: int) -> list[str]:
    name = maker.domain.names[index]
    usual = maker.frame(_columns(maker, index))
    expected = _outputs(outputs, usual)
    if expected is None:
        return []
    kept = set()
    if not isinstance(usual, list):  # rows hold this one, and were asked about as such
        kept = {spelling_of(cell) for cell in cells_of(usual, [name])[0]}
    return [
        spelling
        for spelling, cell in _cells().items()
        if spelling not in kept
        and any(
            not np.array_equal(given, expected, equal_nan=True)
            for rows in _spelled(usual, name, cell)
            if (given := _outputs(outputs, rows)) is not None
        )
    ]


def _columns(maker: RowMaker, index: int) -> list[list[Value]]:
    """Return random cells in which one feature is missing, and no other if it can."""
    rng, columns = np.random.default_rng(13), []
    for place, feature in enumerate(maker.domain.features):
        present = [code for code in range(len(feature)) if not _is_gap(feature, code)]
        codes = rng.choice(present or [0], size=_BASES).tolist()
        columns.append([maker.examples(place, code)[0] for code in codes])
    columns[index] = [None] * _BASES
    return columns


def _is_gap(feature: Feature, code: int) -> bool:
    if feature.groups is not None:
        return None in feature.groups[code]
    return feature.values[code] is None


def _cells() -> dict[str, Any]:
    """Return a cell of each spelling that there can be."""
    cells: dict[str, Any] = {"None": None, "NaN": float("nan")}
    if importlib.util.find_spec("pandas") is not None:
        import pandas as pd

        cells |= {"NA": pd.NA, "NaT": pd.NaT}
    return {spelling: cells[spelling] for spelling in SPELLINGS if spelling in cells}


def _spelled(usual: Rows, name: str, cell: object) -> Iterator[Rows]:
    """Yield rows whose column `name` holds a cell, as a frame of objects has it."""
    if isinstance(usual, list):
        yield [row | {name: cell} for row in usual]
    if importlib.util.find_spec("pandas") is None:
        return
    import pandas as pd

    try:
        frame = (
            pd.DataFrame(usual)
            if isinstance(usual, list)
            else nw.from_native(usual, eager_only=True).to_pandas()
        )
    except Exception:  # noqa: BLE001  each library has its own errors
        return
    column = pd.Series([cell] * len(frame), dtype=object, index=frame.index)
    yield frame.assign(**{name: column})


def _outputs(outputs: Outputs, rows: Rows) -> NDArray[Any] | None:
    """Return what a model gives for rows; None if it fails."""
    try:
        return np.asarray(outputs(rows), dtype=np.float64)
    except Exception:  # noqa: BLE001  a model may raise anything
        return None
