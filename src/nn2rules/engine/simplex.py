"""Small linear programs, solved exactly in whole numbers.

The variables are numbers from 0 to 1. Dictionaries are pivoted without fractions: all
entries share one denominator, and every division by it is exact (Edmonds). The entering
and the leaving variable are the first possible ones (Bland), so pivoting always ends.

References
----------
V. Chvátal, *Linear Programming*, 1983. J. Edmonds, "Systems of distinct representatives
and linear algebra", 1967. R. G. Bland, "New finite pivoting rules for the simplex
method", 1977.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

Row: TypeAlias = Sequence[int]
"""The coefficients of an affine function, and its constant at the end."""


class Optimum(NamedTuple):
    """The maximum of a function, and a point where it is reached."""

    value: Fraction
    point: list[Fraction]


def maximise(
    objective: Row, constraints: Sequence[Row], spend: Callable[[int], None]
) -> Optimum | None:
    """Maximise an affine function where others are at least 0, in the unit cube.

    Parameters
    ----------
    objective : sequence of int
    constraints : sequence of sequences of int
        Functions that must be at least 0.
    spend : callable
        Called with the number of numbers computed; may raise an error to stop.

    Returns
    -------
    Optimum or None
        None if no point satisfies all constraints.

    Examples
    --------
    x + 2 y is largest, below the line x + y = 1, at y = 1:

    >>> maximise([1, 2, 0], [[-1, -1, 1]], lambda numbers: None)
    Optimum(value=Fraction(2, 1), point=[Fraction(0, 1), Fraction(1, 1)])
    >>> maximise([1, 2, 0], [[-1, -1, -1]], lambda numbers: None) is None
    True
    """
    table = _Dictionary(objective, constraints, spend)
    for row in range(table.n_constraints):
        if not table.reaches_zero(row):
            return None
    table.climb(table.n_constraints)
    return table.optimum()


class _Dictionary:
    """Basic variables as affine functions of the others, times a common denominator.

    After the variables of the program, each constraint has a variable, its slack. The
    last row is the objective.
    """

    def __init__(
        self,
        objective: Row,
        constraints: Sequence[Row],
        spend: Callable[[int], None],
    ) -> None:
        n = len(objective) - 1
        below_one = [[-(i == j) for j in range(n)] + [1] for i in range(n)]
        self.rows = [*below_one, *(list(row) for row in constraints), list(objective)]
        self.n_constraints = len(self.rows) - 1
        self.basic = [n + row for row in range(self.n_constraints)]
        self.others = list(range(n))
        self.denominator = 1
        self._spend = spend

    def reaches_zero(self, row: int) -> bool:
        """Move to a point that satisfies a constraint and those before it, if any.

        Later constraints may become violated. Returns whether there is such a point.
        """
        if self.rows[row][-1] < 0:
            self.climb(row)
        return self.rows[row][-1] >= 0

    def climb(self, row: int) -> None:
        """Increase a row as far as all constraints before it allow.

        A violated constraint is increased only until it is satisfied.
        """
        is_constraint = row < self.n_constraints
        while not (is_constraint and self.rows[row][-1] >= 0):
            rising = [j for j in range(len(self.others)) if self.rows[row][j] > 0]
            if not rising:
                return
            enters = min(rising, key=lambda j: self.others[j])
            self._pivot(self._leaving(enters, row), enters)

    def _leaving(self, enters: int, before: int) -> int:
        """Return the constraint that limits the entering variable; one always does."""
        falling = [i for i in range(before) if self.rows[i][enters] < 0]
        return min(
            falling,
            key=lambda i: (
                Fraction(self.rows[i][-1], -self.rows[i][enters]),
                self.basic[i],
            ),
        )

    def _pivot(self, leaves: int, enters: int) -> None:
        """Exchange a basic variable for another one."""
        self._spend(len(self.rows) * len(self.rows[0]))
        old, source = self.denominator, self.rows[leaves]
        pivot = -source[enters]
        for i, row in enumerate(self.rows):
            factor = row[enters]
            if i != leaves:
                moved = [
                    (factor * a + pivot * b) // old
                    for a, b in zip(source, row, strict=True)
                ]
                moved[enters] = -factor
                self.rows[i] = moved
        self.rows[leaves] = [-old if j == enters else a for j, a in enumerate(source)]
        self.denominator = pivot
        self.basic[leaves], self.others[enters] = (
            self.others[enters],
            self.basic[leaves],
        )

    def optimum(self) -> Optimum:
        """Return the current point and the value of the objective."""
        n = len(self.others)
        point = [Fraction(0)] * n
        for variable, row in zip(self.basic, self.rows[:-1], strict=True):
            if variable < n:
                point[variable] = Fraction(row[-1], self.denominator)
        return Optimum(Fraction(self.rows[-1][-1], self.denominator), point)
