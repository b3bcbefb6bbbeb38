"""The simplex method, for programs that only suggest a proof.

Nothing rests on its results: multipliers are verified in whole numbers by those who
ask. It works in float64 or, slowly, in fractions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

_SURE = 1e-11
_MOST_STEPS = 2000
_BLAND = 100  # steps after which columns are chosen by their order, to end in any case


@dataclass(frozen=True)
class Solution:
    """The solution of a linear program.

    Attributes
    ----------
    multipliers : list
        Of the conditions. Where these cannot all be met, they show it.
    is_feasible : bool
        Whether the conditions can all be met.
    weights : array
        Of the corners; where that can be.
    least : number
        The minimum of the first row.
    """

    multipliers: list[Any]
    is_feasible: bool
    weights: NDArray[Any]
    least: Any


def solve(
    table: NDArray[Any], starts: Sequence[int], *, exact: bool
) -> Solution | None:
    """Minimise the first row where all others are at least 0; None if that fails.

    Rows are sums over weights of the corners, which add up to 1 for each feature.

    Parameters
    ----------
    table : array, shape (1 + n_conditions, n_corners + 1)
        Values at the corners, and constants.
    starts : sequence of int
        Where the corners of each feature begin.
    exact : bool
        Whether the numbers are fractions.

    Notes
    -----
    The columns of the tableau are the corners, by how much each condition exceeds 0, by
    how much it is missed, and the right side. The first of two rows of costs counts
    what is missed; the second is the goal.
    """
    n_rows, n_features = len(table) - 1, len(starts)
    n_corners = table.shape[1] - 1
    n_open = n_corners + n_rows
    zero: Any = Fraction(0) if exact else 0.0
    kind = object if exact else np.float64
    body = np.full((n_features + n_rows, n_open + n_rows + 1), zero, dtype=kind)
    ends = [*starts[1:], n_corners]
    for place, (start, stop) in enumerate(zip(starts, ends, strict=True)):
        body[place, start:stop] = body[place, -1] = zero + 1
    body[n_features:, :n_corners] = -table[1:, :-1]
    body[n_features:, -1] = table[1:, -1]
    costs = np.full((2, n_open + n_rows + 1), zero, dtype=kind)
    costs[1, :n_corners], costs[1, -1] = table[0, :-1], -table[0, -1]
    for place, start in enumerate(starts):
        body[n_features:] -= np.outer(body[n_features:, start], body[place])
        costs[1] -= costs[1, start] * body[place]
    basis = [*starts, *range(n_corners, n_open)]
    for index in range(n_rows):
        row = body[n_features + index]
        row[n_corners + index] = zero + 1
        if row[-1] < 0:
            np.negative(row, out=row)
            row[n_open + index] = zero + 1
            basis[n_features + index] = n_open + index
            costs[0] -= row
            costs[0, n_open + index] = zero
    sure = zero if exact else _SURE
    if not _pivot(body, basis, costs, 0, n_open, sure):
        return None
    is_feasible = bool(-costs[0, -1] <= 10 * sure)
    if is_feasible and not _pivot(body, basis, costs, 1, n_open, sure):
        return None
    weights = np.full(n_open + n_rows, zero, dtype=kind)
    weights[basis] = body[:, -1]
    multipliers = costs[int(is_feasible), n_corners:n_open].tolist()
    if is_feasible:
        multipliers = _with_first(costs, n_open, sure)[n_corners:].tolist()
    return Solution(multipliers, is_feasible, weights[:n_corners], -costs[1, -1])


def _with_first(costs: NDArray[Any], n_open: int, sure: Any) -> NDArray[Any]:
    """Return the costs of the goal, with so much of phase one that none is below 0."""
    first, goal = costs[:, :n_open]
    is_held = (first > 10 * sure).astype(bool) & (goal < 0).astype(bool)
    if not is_held.any():
        return np.asarray(goal)
    return np.asarray(goal + max(-goal[is_held] / first[is_held]) * first)


def _pivot(
    body: NDArray[Any],
    basis: list[int],
    costs: NDArray[Any],
    goal: int,
    n_open: int,
    sure: Any,
) -> bool:
    """Exchange columns until no cost is below 0; Bland's rule after a while."""
    for step in range(_MOST_STEPS):
        own = costs[goal, :n_open]
        below = np.flatnonzero((own < -sure).astype(bool))
        if goal == 1:  # what phase one needs stays 0
            below = below[~(costs[0, below] > 10 * sure).astype(bool)]
        if not len(below):
            return True
        column = int(below[0] if step > _BLAND else below[np.argmin(own[below])])
        candidates = np.flatnonzero((body[:, column] > sure).astype(bool))
        if not len(candidates):
            return False
        ratios = body[candidates, -1] / body[candidates, column]
        least = min(ratios)
        tied = candidates[(ratios == least).astype(bool)].tolist()
        row = min(tied, key=lambda one: basis[one])
        body[row] /= body[row, column]
        others = np.flatnonzero((body[:, column] != 0).astype(bool))
        for other in others.tolist():
            if other != row:
                body[other] -= body[other, column] * body[row]
        costs -= np.outer(costs[:, column], body[row])
        basis[row] = column
    return False
