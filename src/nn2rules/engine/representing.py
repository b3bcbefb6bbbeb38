"""Inputs that exist, inside a part of a box that half-spaces cut out."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf, nextafter

import numpy as np
from numpy.typing import NDArray

from nn2rules.domain import Domain
from nn2rules.engine._kernels.boxes import Boxes
from nn2rules.engine.pieces import Cell, Effort, lowered
from nn2rules.engine.simplex import Row, maximise

_MOST_PARTS = 64


@dataclass(frozen=True, slots=True)
class Places:
    """Where the values of features are, and which numbers they have."""

    domain: Domain

    def codes(self, cell: Cell) -> NDArray[np.int64]:
        """Return the values of a cell as codes."""
        return np.array(cell.columns, dtype=np.int64) - self.domain.offsets[:-1]

    def is_range(self, cell: Cell, feature: int) -> bool:
        """Tell whether a cell has numbers of a range in a feature."""
        return cell.columns[feature] == int(self.domain.ranges[feature])

    def is_covered(
        self, cell: Cell, numbers: NDArray[np.float64], boxes: Boxes
    ) -> bool:
        """Tell whether one of several boxes holds an input."""
        point = Cell(cell.columns, numbers.tolist(), numbers.tolist())
        return any(self.overlap(point, boxes, other) for other in _counted(boxes))

    def overlap(
        self, cell: Cell, boxes: Boxes, other: int
    ) -> list[tuple[float, float]] | None:
        """Return the ends of what a cell has in common with a box, or None."""
        if not boxes.allowed[other, cell.columns].all():
            return None
        common = []
        for feature, (low, high) in enumerate(zip(cell.low, cell.high, strict=True)):
            begins, ends = low, high
            if self.is_range(cell, feature):
                begins = max(low, float(boxes.ends[other, 0, feature]))
                ends = min(high, float(boxes.ends[other, 1, feature]))
            if begins > ends:
                return None
            common.append((begins, ends))
        return common

    def before(self, feature: int, number: float) -> float:
        """Return the number next below."""
        is_whole = self.domain.features[feature].whole
        return number - 1 if is_whole else nextafter(number, -inf)

    def behind(self, feature: int, number: float) -> float:
        """Return the number next above."""
        is_whole = self.domain.features[feature].whole
        return number + 1 if is_whole else nextafter(number, inf)


def _counted(boxes: Boxes) -> range:
    return range(len(boxes.allowed))


def apart(places: Places, cell: Cell, ignored: Boxes) -> list[Cell] | None:
    """Return the parts of a cell outside some boxes; None if they are too many."""
    parts = [cell]
    for other in _counted(ignored):
        left: list[Cell] = []
        for part in parts:
            left += _without(places, part, ignored, other)
        parts = left
        if len(parts) > _MOST_PARTS:
            return None
    return parts


def _without(places: Places, cell: Cell, ignored: Boxes, other: int) -> list[Cell]:
    """Return the parts of a cell outside one box."""
    common = places.overlap(cell, ignored, other)
    if common is None:
        return [cell]
    low, high, parts = list(cell.low), list(cell.high), []
    for feature, (begins, ends) in enumerate(common):
        if low[feature] < begins:
            below = list(high)
            below[feature] = places.before(feature, begins)
            parts.append(Cell(cell.columns, list(low), below))
        if ends < high[feature]:
            above = list(low)
            above[feature] = places.behind(feature, ends)
            parts.append(Cell(cell.columns, above, list(high)))
        low[feature], high[feature] = begins, ends
    return parts


def number_in(
    places: Places,
    cell: Cell,
    sides: Sequence[Row],
    order: Sequence[int],
    effort: Effort,
) -> NDArray[np.float64] | None:
    """Return the numbers of an input inside half-spaces, or None if none is found.

    The features are fixed in the given order, each to the shortest number between the
    least and the largest that it can still have.
    """
    numbers, held = np.array(cell.low), list(sides)
    variables = cell.variables
    for feature in order:
        place, n = variables.index(feature), len(variables)
        low = Fraction(cell.low[feature])
        width = Fraction(cell.high[feature]) - low
        along = [int(other == place) for other in range(n)]
        highest = maximise([*along, 0], held, effort.spend)
        lowest = maximise([*(-number for number in along), 0], held, effort.spend)
        if highest is None or lowest is None:
            return None
        number = shortest(
            low - lowest.value * width,
            low + highest.value * width,
            is_whole=places.domain.features[feature].whole,
        )
        if number is None:
            return None
        numbers[feature] = number
        at = (Fraction(number) - low) / width
        fixed = lowered([*(at.denominator * a for a in along), -at.numerator])
        held += [fixed, [-number for number in fixed]]
    return numbers


def shortest(low: Fraction, high: Fraction, *, is_whole: bool) -> float | None:
    """Return the float with the fewest binary places between two numbers, or None.

    Examples
    --------
    >>> shortest(Fraction(1, 3), Fraction(2, 3), is_whole=False)
    0.5
    >>> shortest(Fraction(1, 3), Fraction(2, 3), is_whole=True) is None
    True
    """
    places = 0
    if not is_whole:
        if low == high:
            return _as_float(low)
        places = max(0, ceil(1 / (high - low)).bit_length() - 2)
    while True:
        scaled = ceil(low * 2**places)
        if scaled <= high * 2**places:
            return _as_float(Fraction(scaled, 2**places))
        if is_whole:
            return None
        places += 1


def _as_float(number: Fraction) -> float | None:
    """Return a number as a float if it is one."""
    try:
        nearest = float(number)
    except OverflowError:
        return None
    return nearest if Fraction(nearest) == number else None
