"""The rows of data on which two sides differ."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nn2rules.language import count
from nn2rules.models import GivenRows
from nn2rules.questions.compare.common_domain import Meeting
from nn2rules.questions.compare.found import Pair
from nn2rules.questions.compare.sides import Side, is_different
from nn2rules.space import Rows, picked_rows


@dataclass(frozen=True, eq=False)
class DifferentRows:
    """The different rows of data on which two differ, out of `n_rows`.

    Attributes
    ----------
    n_rows : int
    codes, numbers
        As `Domain.inputs_of` gives them, each row once.
    weights : ndarray of int
        How often each occurs.
    pairs : list of Pair
    """

    n_rows: int
    codes: NDArray[np.int64]
    numbers: NDArray[np.float64] | None
    weights: NDArray[np.int64]
    pairs: list[Pair]


def rows_on(met: Meeting, data: Rows) -> tuple[GivenRows, int]:
    """Read rows; those outside of what both know are left out, and counted."""
    if not met.differences:
        return GivenRows(met.domain, *met.domain.inputs_of(data)), 0
    codes = met.domain.encode(data, unknown="mark")
    inside = np.flatnonzero((codes >= 0).all(axis=1))
    if len(inside) < len(codes):
        data = picked_rows(data, inside)
    rows = GivenRows(met.domain, *met.domain.inputs_of(data))
    return rows, len(codes) - len(inside)


def left_out(outside: int, rows: GivenRows | None) -> str:
    """Say how many rows were left out."""
    n_rows = outside + (0 if rows is None else len(rows))
    return (
        f"{outside:,} of {count(n_rows, 'row')} lie outside of what both know, and are "
        f"left out."
    )


def different_rows(
    sides: tuple[Side, Side], rows: GivenRows, skipped: int
) -> DifferentRows:
    """Return the rows on which two sides differ."""
    codes, numbers = rows.distinct
    if not len(codes):
        return DifferentRows(0, codes, numbers, rows.weights, [])
    old, new = (side.answers(codes, numbers) for side in sides)
    where = np.flatnonzero(is_different(old, new, skipped))
    pairs = [*zip(old[where].tolist(), new[where].tolist(), strict=True)]
    own = None if numbers is None else numbers[where]
    return DifferentRows(len(rows), codes[where], own, rows.weights[where], pairs)
