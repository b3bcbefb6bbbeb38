"""What differs between the two: inputs, boxes of them, and rows of data."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.language import count
from nn2rules.models import GivenRows
from nn2rules.questions.compare.common_domain import Meeting
from nn2rules.questions.compare.predictors import Side, is_different
from nn2rules.space import Domain, Rows, picked_rows

Pair: TypeAlias = tuple[int, int]
"""The answers of the old side and of the new one, which are not the same."""

Point: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float64] | None]
"""Inputs, or one: codes of the uncut domain and, where there are ranges, numbers."""


@dataclass(frozen=True, eq=False)
class Covering:
    """Boxes on which two sides differ.

    Attributes
    ----------
    domain : Domain
        Its ranges are cut where the boxes need it.
    boxes : ndarray of bool, shape (n_boxes, n_columns)
    pairs : list of Pair
        The answers to all inputs of a box.
    is_complete : bool
        Whether the boxes hold every input on which the two differ.
    """

    domain: Domain
    boxes: NDArray[np.bool_]
    pairs: list[Pair]
    is_complete: bool


@dataclass(frozen=True, eq=False)
class Found:
    """Whether two sides are equal, and where they are not.

    Attributes
    ----------
    equal : bool or None
        None if the budget was spent before that was known.
    how : {"table", "search", "weights", "rules"}
        How it was found out.
    inputs : dict from Pair to int, or None
        On how many inputs the answers differ so; None where nobody knows.
    at_least : int
        At least so many inputs differ.
    example : Point or None
        An input on which they differ.
    covering : callable
        Returns boxes on which they differ, which may take a while.
    """

    equal: bool | None
    how: str
    inputs: dict[Pair, int] | None
    at_least: int
    example: Point | None
    covering: Callable[[], Covering]


def nothing(domain: Domain, equal: bool | None, how: str) -> Found:
    """Return a result without a difference: there is none, or none was found."""
    boxes = np.zeros((0, int(domain.offsets[-1])), dtype=np.bool_)
    covering = Covering(domain, boxes, [], equal is True)
    return Found(equal, how, {} if equal else None, 0, None, partial(ready, covering))


def ready(covering: Covering) -> Covering:
    """Return boxes that are there already; by name, so that it can be pickled."""
    return covering


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
