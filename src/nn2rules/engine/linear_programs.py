"""Linear programs over the inputs of a box, with bounds that are proved.

The first layer of a network adds up one row of weights for each feature. Over a box its
sums are therefore a convex hull: each feature has a vertex for every value, and two for
the ends of a range. A program maximises an affine function of these sums where others
are at least 0. It is solved in float64 by the dual simplex method, and nothing that the
solver returns is believed: any multipliers of the constraints give an upper bound (weak
duality, or Farkas' lemma where there is no solution), and that bound is worked out
again in whole numbers of any size.

References
----------
V. Chvátal, *Linear Programming*, 1983.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nn2rules.engine.simplex import Row
from nn2rules.network import Network
from nn2rules.space import Box

TOLERANCE = 1e-9
"""What counts as 0 in rows that are scaled to at most 1."""

_PIVOT = 1e-7
"""Smaller entries are pivots only where there is no larger one."""

_CLOSE = 1e-6
"""A bound this close to a level is worked out as the basis has it, without rounding."""

_BITS = 48
"""Multipliers are rounded to this many bits, so that numbers stay short."""

_MOST_EXACT = 16
"""At most this many multipliers are worked out without rounding."""


class Function(NamedTuple):
    """An affine function of the first sums, over a hull.

    Attributes
    ----------
    row : sequence of int
        The coefficients of the sums, and a constant at the end.
    exact : ndarray of int, shape (n_vertices,)
        What each vertex adds, in the unit of the hull; Python's whole numbers.
    constant : int
        What is added to that, in the same unit.
    floats : ndarray of float64, shape (n_vertices + 1,)
        Both divided by ``2**shift``, the constant at the end.
    shift : int
    """

    row: Row
    exact: NDArray[Any]
    constant: int
    floats: NDArray[np.float64]
    shift: int

    def at(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return about the values at points, divided by ``2**shift``."""
        return np.asarray(points @ self.floats[:-1] + self.floats[-1])


@dataclass(frozen=True, slots=True)
class Bound:
    """What is proved of the largest value of a function where others are at least 0.

    Attributes
    ----------
    value : Fraction or None
        The function is at most this; None if nothing satisfies the constraints.
    point : ndarray of float64 or None
        The weights of the vertices at a point where the function is about that large
        and the constraints hold, or about so. Not proved; None if there may be none.
    """

    value: Fraction | None
    point: NDArray[np.float64] | None


class Hull:
    """The convex hull of the first sums of a network over a box.

    Parameters
    ----------
    network : Network
    box : Box
        Its values, and the ends of its ranges.

    Attributes
    ----------
    columns : ndarray of int, shape (n_vertices,)
        The row of the first weights that each vertex is a multiple of.
    numbers : ndarray of float64, shape (n_vertices,)
        The number by which that row is multiplied.
    starts : ndarray of int, shape (n_features,)
        Where the vertices of each feature begin.
    n_sums : int
        How many units the first layer has.
    """

    def __init__(self, network: Network, box: Box) -> None:
        domain, first = network.domain, network.layers[0]
        vertices: list[tuple[int, float]] = []
        starts: list[int] = []
        for feature, column in enumerate(domain.ranges.tolist()):
            starts.append(len(vertices))
            begin, end = domain.offsets[feature : feature + 2].tolist()
            for place in (begin + np.flatnonzero(box[0][begin:end])).tolist():
                ends = box[1][:, feature].tolist() if place == column else [1.0]
                vertices += [(place, number) for number in dict.fromkeys(ends)]
        self.columns = np.array([column for column, _ in vertices], dtype=np.int64)
        self.numbers = np.array([number for _, number in vertices])
        self.starts = np.array(starts, dtype=np.int64)
        sizes = np.diff([*starts, len(vertices)])
        self._features = np.repeat(np.arange(len(starts)), sizes)
        weights, weights_scale = whole_numbers(first.weights[self.columns])
        numbers, numbers_scale = whole_numbers(self.numbers)
        bias, bias_scale = whole_numbers(first.bias)
        self.n_sums = len(first.bias)
        product = weights_scale * numbers_scale
        self._scale = max(product, bias_scale)  # these are powers of two
        factors = numbers * (self._scale // product)
        self._weights = weights * factors[:, np.newaxis]
        self._bias = bias * (self._scale // bias_scale)

    def function(self, row: Row) -> Function:
        """Return an affine function of the first sums."""
        slopes = np.array(row[:-1], dtype=object)
        exact = self._weights.dot(slopes)
        constant = row[-1] * self._scale + int(self._bias.dot(slopes))
        numbers = [*exact.tolist(), constant]
        shift = max(abs(number) for number in numbers).bit_length()
        floats = np.array([number / (1 << shift) for number in numbers])
        return Function(row, exact, constant, floats, shift)

    def highest(self, function: Function) -> Fraction:
        """Return the largest value of a function over the hull, exactly."""
        return Fraction(self._most(function.exact, function.constant), self._scale)

    def lowest(self, function: Function) -> Fraction:
        """Return the smallest value of a function over the hull, exactly."""
        return -Fraction(self._most(-function.exact, -function.constant), self._scale)

    def level(self, function: Function, value: Fraction | int) -> float:
        """Return a value of a function as `Function.at` would return it, about.

        One beyond the largest 64-bit number is infinite: no value reaches it.
        """
        scaled = value * self._scale / Fraction(2) ** function.shift
        try:
            return float(scaled)
        except OverflowError:
            return math.inf if scaled > 0 else -math.inf

    def bound(
        self,
        function: Function,
        sides: Sequence[Function],
        levels: Sequence[Fraction | int] = (),
    ) -> Bound:
        """Bound a function from above where others are at least 0.

        Parameters
        ----------
        function : Function
        sides : sequence of Function
            The constraints: functions that must be at least 0.
        levels : sequence of numbers
            Where the bound lies just above one of these, it is worked out without any
            rounding, so that a function that only reaches a level is not said to pass
            it. If the function passes all of them, the bound need not be close.
        """
        rows = np.array([*(side.floats for side in sides), function.floats])
        program = _Program(rows, self.starts, self._features)
        is_solved = program.solve()
        if is_solved is None:
            return Bound(self.highest(function), None)
        if not is_solved:
            multipliers = self._rounded(program.multipliers, 0, sides)
            if self.proves_empty(sides, multipliers):
                return Bound(None, None)
            return Bound(self.highest(function), None)
        if self._passes(program.value, function, levels):
            return Bound(self.highest(function), program.point())
        multipliers = self._rounded(program.multipliers, function.shift, sides)
        value = self.weighed(function, sides, multipliers)
        if self._is_close(value, function, levels):
            exact = self._at_basis(program, function, sides)
            value = min(value, value if exact is None else exact)
        return Bound(min(value, self.highest(function)), program.point())

    def weighed(
        self,
        function: Function,
        sides: Sequence[Function],
        multipliers: Sequence[Fraction],
    ) -> Fraction:
        """Return the largest value of a function plus multiples of others, exactly.

        With multipliers of at least 0 the function is at most that where the others
        are at least 0.
        """
        return self._combined(function.exact, function.constant, sides, multipliers)

    def proves_empty(
        self, sides: Sequence[Function], multipliers: Sequence[Fraction]
    ) -> bool:
        """Tell whether multipliers prove that some side is below 0 everywhere.

        They do if they are at least 0, and the sum of the sides, so multiplied, is
        below 0 all over the hull.
        """
        if any(number < 0 for number in multipliers):
            return False
        return self._combined(0 * self._weights[:, 0], 0, sides, multipliers) < 0

    def _combined(
        self,
        exact: NDArray[Any],
        constant: int,
        sides: Sequence[Function],
        multipliers: Sequence[Fraction],
    ) -> Fraction:
        below = lcm(*(number.denominator for number in multipliers))
        exact, constant = below * exact, below * constant
        for side, number in zip(sides, multipliers, strict=True):
            factor = int(number * below)
            if factor:
                exact = exact + factor * side.exact
                constant += factor * side.constant
        return Fraction(self._most(exact, constant), self._scale * below)

    def _most(self, exact: NDArray[Any], constant: int) -> int:
        return constant + int(np.maximum.reduceat(exact, self.starts).sum())

    def _rounded(
        self, multipliers: NDArray[np.float64], shift: int, sides: Sequence[Function]
    ) -> list[Fraction]:
        """Return multipliers of scaled rows as those of the functions, rounded."""
        exact = [
            Fraction(max(number, 0.0)) * Fraction(2) ** (shift - side.shift)
            for number, side in zip(multipliers.tolist(), sides, strict=True)
        ]
        return [_short(number) for number in exact]

    def _is_close(
        self, value: Fraction, function: Function, levels: Sequence[Fraction | int]
    ) -> bool:
        unit = Fraction(_CLOSE) * Fraction(2) ** function.shift / self._scale
        return any(0 < value - level <= unit for level in levels)

    def _passes(
        self, value: float, function: Function, levels: Sequence[Fraction | int]
    ) -> bool:
        """Tell whether a value that the solver found is above all levels, or about."""
        return bool(levels) and value > self.level(function, max(levels)) + _CLOSE

    def _at_basis(
        self, program: "_Program", function: Function, sides: Sequence[Function]
    ) -> Fraction | None:
        """Return the bound by the multipliers that the basis has before rounding."""
        active, pairs = program.basis()
        if not 0 < len(active) <= _MOST_EXACT or len(pairs) != len(active):
            return None
        equations = [
            [
                *(int(sides[i].exact[a]) - int(sides[i].exact[b]) for i in active),
                int(function.exact[b]) - int(function.exact[a]),
            ]
            for a, b in pairs
        ]
        solution = _solution(equations)
        if solution is None or any(number < 0 for number in solution):
            return None
        return self.weighed(function, [sides[i] for i in active], solution)


class _Program:
    """The dual simplex method on a dictionary of basic variables.

    Variables are the weights of vertices, which add up to 1 for each feature, and the
    slack of each constraint. At first the best vertex of each feature is basic.
    """

    def __init__(
        self,
        rows: NDArray[np.float64],
        starts: NDArray[np.int64],
        features: NDArray[np.int64],
    ) -> None:
        self._n, self._features = len(features), features
        n_sides, n_features = len(rows) - 1, len(starts)
        values, constants = rows[:, :-1], rows[:, -1]
        best = _best_of_each(values[-1], starts, features)
        others = np.setdiff1d(np.arange(self._n), best)
        table = np.zeros((n_features + n_sides + 1, len(others) + 1))
        table[features[others], np.arange(len(others))] = -1.0
        table[:n_features, -1] = 1.0
        table[n_features:, :-1] = values[:, others] - values[:, best[features[others]]]
        table[n_features:, -1] = constants + values[:, best].sum(axis=1)
        self._table = table
        self._basic = np.array([*best, *range(self._n, self._n + n_sides)])
        self._others = others
        self.multipliers = np.zeros(n_sides)

    def solve(self) -> bool | None:
        """Tell whether there is a solution; None if that is not found out."""
        with np.errstate(all="ignore"):
            found = self._solve()
        return found if np.isfinite(self.multipliers).all() else None

    def _solve(self) -> bool | None:
        table = self._table
        for _ in range(50 + 10 * len(table)):
            row = int(np.argmin(table[:-1, -1]))
            if not np.isfinite(table[row, -1]) or not np.isfinite(table[-1, -1]):
                return None
            if table[row, -1] >= -TOLERANCE:
                self._set_multipliers(-table[-1, :-1])
                return True
            entries = table[row, :-1]
            column = self._entering(entries)
            if column is None:
                self._set_multipliers(-entries)
                if self._basic[row] >= self._n:
                    self.multipliers[self._basic[row] - self._n] = 1.0
                return False
            self._pivot(row, column)
        return None

    def _entering(self, entries: NDArray[np.float64]) -> int | None:
        """Return which variable may grow to mend a row, or None if none can."""
        for least in (_PIVOT, TOLERANCE):
            rising = np.flatnonzero(entries > least)
            if len(rising):
                ratios = np.maximum(-self._table[-1, rising], 0.0) / entries[rising]
                smallest = ratios.min()
                tied = rising[ratios <= smallest + TOLERANCE]
                return int(tied[np.argmax(entries[tied])])
        return None

    def _pivot(self, row: int, column: int) -> None:
        """Exchange a basic variable for another one."""
        table = self._table
        source = table[row] / -table[row, column]
        source[column] = 1.0 / table[row, column]
        factors = table[:, column].copy()
        table[:, column] = 0.0
        table += np.outer(factors, source)
        table[row] = source
        self._basic[row], self._others[column] = self._others[column], self._basic[row]

    def _set_multipliers(self, numbers: NDArray[np.float64]) -> None:
        is_slack = self._others >= self._n
        self.multipliers[self._others[is_slack] - self._n] = numbers[is_slack]

    @property
    def value(self) -> float:
        """The value of the function at the solution."""
        return float(self._table[-1, -1])

    def point(self) -> NDArray[np.float64] | None:
        """Return the weights of the vertices at the solution, if they make sense."""
        weights = np.zeros(self._n)
        is_weight = self._basic < self._n
        amounts = self._table[:-1, -1][is_weight]
        weights[self._basic[is_weight]] = np.clip(amounts, 0.0, 1.0)
        sums = np.bincount(self._features, weights)
        return weights / sums[self._features] if (sums > 0).all() else None

    def basis(self) -> tuple[list[int], list[tuple[int, int]]]:
        """Return which constraints are active, and pairs of vertices that tie."""
        active = sorted((self._others[self._others >= self._n] - self._n).tolist())
        first: dict[int, int] = {}
        pairs = []
        for vertex in sorted(self._basic[self._basic < self._n].tolist()):
            feature = int(self._features[vertex])
            if feature in first:
                pairs.append((first[feature], vertex))
            first.setdefault(feature, vertex)
        return active, pairs


def _best_of_each(
    values: NDArray[np.float64], starts: NDArray[np.int64], features: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the first vertex of each feature at which a function is largest."""
    largest = np.maximum.reduceat(values, starts)
    places = np.flatnonzero(values >= largest[features])
    _, first = np.unique(features[places], return_index=True)
    return np.asarray(places[first], dtype=np.int64)


def whole_numbers(floats: ArrayLike) -> tuple[NDArray[Any], int]:
    """Return floats as whole numbers and the power of two to divide them by.

    Examples
    --------
    >>> whole_numbers([0.5, 3.0])
    (array([1, 6], dtype=object), 2)
    """
    array = np.asarray(floats, dtype=np.float64)
    ratios = [number.as_integer_ratio() for number in array.ravel().tolist()]
    scale = max((below for _, below in ratios), default=1)
    found = np.empty(len(ratios), dtype=object)
    found[:] = [above * (scale // below) for above, below in ratios]
    return found.reshape(array.shape), scale


def _short(number: Fraction) -> Fraction:
    """Round a number to few bits."""
    shift = number.denominator.bit_length() - number.numerator.bit_length() + _BITS
    unit = Fraction(2) ** shift
    return Fraction(round(number * unit)) / unit


def _solution(equations: list[list[int]]) -> list[Fraction] | None:
    """Solve linear equations exactly; None if there is no single solution."""
    rows = [[Fraction(number) for number in equation] for equation in equations]
    for place in range(len(rows)):
        pivot = next((r for r in range(place, len(rows)) if rows[r][place]), None)
        if pivot is None:
            return None
        rows[place], rows[pivot] = rows[pivot], rows[place]
        head = [number / rows[place][place] for number in rows[place]]
        rows = [
            head
            if r == place
            else [a - row[place] * b for a, b in zip(row, head, strict=True)]
            for r, row in enumerate(rows)
        ]
    return [row[-1] for row in rows]
