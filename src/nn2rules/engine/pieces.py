"""The linear pieces of a network over a box, in whole numbers of any size.

Every number of a range is written as ``low + t (high - low)`` with t from 0 to 1. As
long as no unit of a piecewise-linear network passes a kink, its scores are affine
functions of these t. Where units do, the box consists of several regions, each defined
by half-spaces. On the border of two regions both functions have the same value.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine.simplex import Row, maximise
from nn2rules.network import Activation, Layer


class Effort(Protocol):
    """Counts the work for a box; both methods may raise an error to stop it."""

    def spend(self, numbers: int) -> None:
        """Count numbers that are computed."""

    def open_region(self) -> None:
        """Count a region."""


class Forms(NamedTuple):
    """Affine functions of t.

    Attributes
    ----------
    numbers : ndarray of int, shape (n_functions, n_variables + 1)
        Coefficients, and a constant in the last column; Python's whole numbers.
    scale : int
        By which all of them are to be divided; above 0.
    """

    numbers: NDArray[Any]
    scale: int

    def lowest(self) -> NDArray[Any]:
        """Return the smallest value of each function, times the scale."""
        return self._extreme(np.minimum)

    def highest(self) -> NDArray[Any]:
        """Return the largest value of each function, times the scale."""
        return self._extreme(np.maximum)

    def _extreme(self, one_of: Any) -> NDArray[Any]:
        slopes, constants = self.numbers[:, :-1], self.numbers[:, -1]
        return constants + one_of(slopes, 0).sum(axis=1) if slopes.size else constants


class Region(NamedTuple):
    """A part of a box where all scores are affine.

    Attributes
    ----------
    scores : Forms
    sides : list of sequences of int
        Affine functions that are all at least 0 exactly in the region.
    """

    scores: Forms
    sides: list[Row]


@dataclass(frozen=True, slots=True)
class Cell:
    """A box with one value for each feature, which may be a range of numbers.

    Attributes
    ----------
    columns : list of int
        The rows of the first layer's weights that its inputs use.
    low, high : list of float
        Where the number of each feature begins and ends; twice the same for values.
    """

    columns: list[int]
    low: list[float]
    high: list[float]

    @property
    def variables(self) -> list[int]:
        """The features whose numbers vary; each has a t."""
        both = zip(self.low, self.high, strict=True)
        return [feature for feature, (low, high) in enumerate(both) if low < high]


class Pieces:
    """A piecewise-linear network in whole numbers."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        self._layers = [WholeLayer(layer) for layer in layers]

    def regions(self, cell: Cell, effort: Effort) -> Iterator[Region]:
        """Yield the regions of a box, which cover it."""
        return self._regions(0, self._first(cell), [], effort)

    def _first(self, cell: Cell) -> Forms:
        """Return the sums of the first layer."""
        first, variables = self._layers[0], cell.variables
        low = [Fraction(number) for number in cell.low]
        widths = [Fraction(cell.high[f]) - low[f] for f in variables]
        scale = math.lcm(*(number.denominator for number in (*low, *widths)))
        numbers = np.zeros((len(first.bias), len(variables) + 1), dtype=object)
        numbers[:, -1] = first.bias * scale
        for column, number in zip(cell.columns, low, strict=True):
            numbers[:, -1] += first.weights[:, column] * int(number * scale)
        for place, (feature, width) in enumerate(zip(variables, widths, strict=True)):
            column = cell.columns[feature]
            numbers[:, place] = first.weights[:, column] * int(width * scale)
        return _reduced(numbers, first.scale * scale)

    def _regions(
        self, index: int, sums: Forms, sides: list[Row], effort: Effort
    ) -> Iterator[Region]:
        """Yield the regions of a part of a box; `sums` are those of a layer."""
        if index + 1 == len(self._layers):
            effort.open_region()
            yield Region(sums, sides)
            return
        layer, following = self._layers[index], self._layers[index + 1]
        for pieces, narrowed in _patterns(layer, sums, sides, effort):
            effort.spend(following.weights.size * sums.numbers.shape[1])
            outputs = layer.applied(pieces, sums)
            yield from self._regions(
                index + 1, following.added_up(outputs), narrowed, effort
            )


class WholeLayer:
    """A layer whose weights and biases are whole numbers, over a common scale."""

    def __init__(self, layer: Layer) -> None:
        entries = [*layer.weights.ravel().tolist(), *layer.bias.tolist()]
        ratios = [entry.as_integer_ratio() for entry in entries]
        self.scale = max(below for _, below in ratios)  # they are powers of two
        whole = np.empty(len(ratios), dtype=object)
        whole[:] = [above * (self.scale // below) for above, below in ratios]
        self.weights = whole[: layer.weights.size].reshape(layer.weights.shape).T
        self.bias = whole[layer.weights.size :]
        self._function = layer.function

    @property
    def kinks(self) -> tuple[int, ...]:
        """Where the activation changes its slope."""
        return self._function.kinks

    @cached_property
    def lines(self) -> list[tuple[Fraction, Fraction]]:
        """The slope and the intercept of each piece of the activation."""
        return [_line(self._function, piece) for piece in range(len(self.kinks) + 1)]

    def applied(self, pieces: Sequence[int], sums: Forms) -> Forms:
        """Return the outputs of the layer where each unit is on a given piece."""
        lines = [self.lines[piece] for piece in pieces]
        below = math.lcm(*(part.denominator for line in lines for part in line))
        slopes, intercepts = (
            np.array([int(part * below) for part in parts], dtype=object)
            for parts in zip(*lines, strict=True)
        )
        numbers = sums.numbers * slopes[:, np.newaxis]
        numbers[:, -1] += intercepts * sums.scale
        return Forms(numbers, sums.scale * below)

    def added_up(self, inputs: Forms) -> Forms:
        """Return the sums of this layer."""
        numbers = self.weights.dot(inputs.numbers)
        numbers[:, -1] += self.bias * inputs.scale
        return _reduced(numbers, inputs.scale * self.scale)

    def possible(self, sums: Forms) -> list[list[int]]:
        """Return the pieces that each unit may be on; one if it passes no kink.

        Where a unit only touches a kink, both pieces have the same value.
        """
        by_unit = []
        for low, high in zip(sums.lowest(), sums.highest(), strict=True):
            first = sum(low >= kink * sums.scale for kink in self.kinks)
            last = sum(high > kink * sums.scale for kink in self.kinks)
            by_unit.append(list(range(first, max(first, last) + 1)))
        return by_unit

    def sides(self, sums: Forms, unit: int, piece: int) -> list[Row]:
        """Return the half-spaces in which a unit is on a piece."""
        row, sides = sums.numbers[unit].tolist(), []
        if piece > 0:
            below = self.kinks[piece - 1] * sums.scale
            sides.append([*row[:-1], row[-1] - below])
        if piece < len(self.kinks):
            above = self.kinks[piece] * sums.scale
            sides.append([*(-number for number in row[:-1]), above - row[-1]])
        return [lowered(side) for side in sides]


def _line(function: Activation, piece: int) -> tuple[Fraction, Fraction]:
    """Return the slope and the intercept of a piece of an activation."""
    assert function.exact is not None, "every activation is piecewise linear here"
    kinks = function.kinks or (0,)
    start = kinks[piece - 1] if piece > 0 else kinks[0] - 1
    stop = kinks[piece] if piece < len(function.kinks) else start + 1
    low, high = function.exact(Fraction(start)), function.exact(Fraction(stop))
    slope = (high - low) / (stop - start)
    return slope, low - slope * start


def _patterns(
    layer: WholeLayer, sums: Forms, sides: list[Row], effort: Effort
) -> Iterator[tuple[list[int], list[Row]]]:
    """Yield each combination of pieces for the units of a layer, with its region."""
    possible = layer.possible(sums)
    doubtful = [unit for unit, pieces in enumerate(possible) if len(pieces) > 1]
    waiting = [([pieces[0] for pieces in possible], sides, 0)]
    while waiting:
        pieces, held, n_fixed = waiting.pop()
        if n_fixed == len(doubtful):
            yield pieces, held
            continue
        unit = doubtful[n_fixed]
        for piece in possible[unit]:
            narrowed = [*held, *layer.sides(sums, unit, piece)]
            if not held or is_possible(narrowed, effort):
                chosen = [*pieces[:unit], piece, *pieces[unit + 1 :]]
                waiting.append((chosen, narrowed, n_fixed + 1))


def is_possible(sides: Sequence[Row], effort: Effort) -> bool:
    """Return whether some point of the box satisfies all constraints."""
    n_variables = len(sides[0]) - 1
    return maximise([0] * (n_variables + 1), sides, effort.spend) is not None


def lowered(row: Row) -> Row:
    """Divide a constraint by the common divisor of its numbers."""
    common = math.gcd(*row)
    return [number // common for number in row] if common > 1 else row


def _reduced(numbers: NDArray[Any], scale: int) -> Forms:
    """Divide functions by the common divisor of all their numbers."""
    common = math.gcd(scale, *numbers.ravel().tolist())
    return Forms(numbers // common, scale // common)
