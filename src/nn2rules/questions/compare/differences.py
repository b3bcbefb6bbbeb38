"""What differs between two models: the inputs, boxes and rows that engines find."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.language import count
from nn2rules.models import GivenRows
from nn2rules.questions.compare.common_domain import SharedDomain
from nn2rules.questions.compare.predictors import Predictor, is_different
from nn2rules.space import Domain, Rows, picked_rows

Pair: TypeAlias = tuple[int, int]
"""The old prediction and the new one, which differ."""

Point: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float64] | None]
"""One or several inputs: codes of the uncut domain and, with ranges, numbers."""


@dataclass(frozen=True, eq=False)
class DifferenceBoxes:
    """Boxes on which the two differ.

    Attributes
    ----------
    domain : Domain
        A domain whose ranges are cut where the boxes need it.
    boxes : ndarray of bool, shape (n_boxes, n_columns)
    pairs : list of Pair
        The predictions for all inputs of each box.
    is_complete : bool
        Whether the boxes contain every input on which the two differ.
    """

    domain: Domain
    boxes: NDArray[np.bool_]
    pairs: list[Pair]
    is_complete: bool


@dataclass(frozen=True, eq=False)
class EngineResult:
    """Whether the two are equal, and where they are not.

    Attributes
    ----------
    equal : bool or None
        None if the budget was spent first.
    how : {"table", "search", "regions", "weights", "rules"}
        How the result is known.
    inputs : dict from Pair to int, or None
        The number of inputs with each pair of predictions; None if not counted.
    at_least : int
        The minimum number of inputs that differ.
    example : Point or None
        An input on which they differ.
    covering : callable
        Returns the boxes on which they differ; this may take a while.
    """

    equal: bool | None
    how: str
    inputs: dict[Pair, int] | None
    at_least: int
    example: Point | None
    covering: Callable[[], DifferenceBoxes]


def no_difference(domain: Domain, equal: bool | None, how: str) -> EngineResult:
    """Return a result without differences: there are none, or none was found."""
    boxes = np.zeros((0, int(domain.offsets[-1])), dtype=np.bool_)
    covering = DifferenceBoxes(domain, boxes, [], equal is True)
    return EngineResult(
        equal, how, {} if equal else None, 0, None, partial(ready, covering)
    )


def ready(covering: DifferenceBoxes) -> DifferenceBoxes:
    """Return boxes that exist already; a named function, so that it can be pickled."""
    return covering


@dataclass(frozen=True, eq=False)
class DifferentRows:
    """The distinct rows of data on which the two differ, out of `n_rows`.

    Attributes
    ----------
    n_rows : int
    codes, numbers
        The distinct rows, as from `Domain.inputs_of`.
    weights : ndarray of int
        How often each row occurs.
    pairs : list of Pair
    """

    n_rows: int
    codes: NDArray[np.int64]
    numbers: NDArray[np.float64] | None
    weights: NDArray[np.int64]
    pairs: list[Pair]


def rows_on(shared: SharedDomain, data: Rows) -> tuple[GivenRows, int]:
    """Read rows; those outside the shared domain are left out and counted."""
    if not shared.differences:
        return GivenRows(shared.domain, *shared.domain.inputs_of(data)), 0
    codes = shared.domain.encode(data, unknown="mark")
    inside = np.flatnonzero((codes >= 0).all(axis=1))
    if len(inside) < len(codes):
        data = picked_rows(data, inside)
    rows = GivenRows(shared.domain, *shared.domain.inputs_of(data))
    return rows, len(codes) - len(inside)


def left_out(outside: int, rows: GivenRows | None) -> str:
    """Return a sentence on the rows that were left out."""
    n_rows = outside + (0 if rows is None else len(rows))
    return (
        f"{outside:,} of {count(n_rows, 'row')} are outside the shared domain and left "
        f"out."
    )


def different_rows(
    predictors: tuple[Predictor, Predictor], rows: GivenRows, skipped: int
) -> DifferentRows:
    """Return the rows on which the two differ."""
    codes, numbers = rows.distinct
    if not len(codes):
        return DifferentRows(0, codes, numbers, rows.weights, [])
    old, new = (one.predict(codes, numbers) for one in predictors)
    where = np.flatnonzero(is_different(old, new, skipped))
    pairs = [*zip(old[where].tolist(), new[where].tolist(), strict=True)]
    row_numbers = None if numbers is None else numbers[where]
    return DifferentRows(
        len(rows), codes[where], row_numbers, rows.weights[where], pairs
    )
