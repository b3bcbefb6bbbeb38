"""Boxes decided in exact arithmetic: the last resort where two classes tie.

Bounds in float64 never decide a box that touches the border between two classes. For a
piecewise-linear network, the minimum lead of a class over such a box is computed
exactly, region by region, and compared with 0 by the rule for ties.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine.limits import Meter
from nn2rules.engine.pieces import Cell, Effort, Pieces, Region, lowered
from nn2rules.engine.proof_or_counterexample import Answer
from nn2rules.engine.simplex import Row, maximise
from nn2rules.engine.table import exact_class
from nn2rules.network import Network, certified, exceeds_logit
from nn2rules.space import Boxes, Domain, next_number, previous_number

_MOST_PARTS = 64


@dataclass(frozen=True, slots=True)
class Places:
    """Translates between cells, codes and the numbers of a domain."""

    domain: Domain

    def codes(self, cell: Cell) -> NDArray[np.int64]:
        """Return the codes of the values of a cell."""
        return np.array(cell.columns, dtype=np.int64) - self.domain.offsets[:-1]

    def is_range(self, cell: Cell, feature: int) -> bool:
        """Return whether a feature of a cell is a range of numbers."""
        return cell.columns[feature] == int(self.domain.ranges[feature])

    def is_covered(
        self, cell: Cell, numbers: NDArray[np.float64], boxes: Boxes
    ) -> bool:
        """Return whether an input lies in one of several boxes."""
        point = Cell(cell.columns, numbers.tolist(), numbers.tolist())
        return any(self.overlap(point, boxes, other) for other in _counted(boxes))

    def overlap(
        self, cell: Cell, boxes: Boxes, other: int
    ) -> list[tuple[float, float]] | None:
        """Return the ends of the intersection of a cell and a box; None if empty."""
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
        """Return the next smaller number."""
        is_whole = self.domain.features[feature].whole
        return float(previous_number(number, whole=is_whole))

    def behind(self, feature: int, number: float) -> float:
        """Return the next larger number."""
        is_whole = self.domain.features[feature].whole
        return float(next_number(number, whole=is_whole))


def _counted(boxes: Boxes) -> range:
    return range(len(boxes.allowed))


def apart(places: Places, cell: Cell, ignored: Boxes) -> list[Cell] | None:
    """Return the parts of a cell outside some boxes; None if there are too many."""
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
    """Return the numbers of an input inside half-spaces; None if none is found.

    The features are fixed in the given order, each to the shortest number between its
    remaining minimum and maximum.
    """
    numbers, constraints = np.array(cell.low), list(sides)
    variables = cell.variables
    for feature in order:
        place, n = variables.index(feature), len(variables)
        low = Fraction(cell.low[feature])
        width = Fraction(cell.high[feature]) - low
        along = [int(other == place) for other in range(n)]
        highest = maximise([*along, 0], constraints, effort.spend)
        lowest = maximise(
            [*(-number for number in along), 0], constraints, effort.spend
        )
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
        constraints += [fixed, [-number for number in fixed]]
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


_MOST_CELLS = 64
_MOST_REGIONS = 256
_MOST_VARIABLES = 32
MOST_NUMBERS = 5_000_000
"""The most work for one box, about a second. Then it stays undecided."""

_STEP = 500
"""The overhead of a step, in numbers."""


class _TooLargeError(Exception):
    """A box needs more work than its limit."""


@dataclass(slots=True)
class _Effort:
    """The work for one box, with the meter of the search that asks."""

    meter: Meter
    limit: int
    n_numbers: int = 0
    n_regions: int = 0

    def spend(self, numbers: int) -> None:
        """Count the numbers computed in one step."""
        self.n_numbers += numbers + _STEP
        if self.n_numbers > self.limit:
            raise _TooLargeError

    def open_region(self) -> None:
        """Count a region, and check the clock."""
        self.meter.spend()
        self.n_regions += 1
        if self.n_regions > _MOST_REGIONS:
            raise _TooLargeError


class Lead(NamedTuple):
    """A function of the scores that a class needs positive, or not negative, to win.

    Attributes
    ----------
    of_scores : list of int
        The factor of each score.
    is_behind : callable
        Whether the class loses where the function has this value.
    level : Fraction
        Approximately the value above which it wins.
    is_strict : bool
        Whether the class loses a tie.
    """

    of_scores: list[int]
    is_behind: Callable[[Fraction], bool]
    level: Fraction
    is_strict: bool


def leads_of(network: Network, index: int) -> list[Lead]:
    """Return the functions that decide between a class and each other class."""
    if network.is_binary:
        sign, threshold = (1 if index else -1), network.threshold

        def is_behind(value: Fraction) -> bool:
            return exceeds_logit(sign * value, threshold) != bool(index)

        level = sign * Fraction(certified.logit(threshold))
        return [Lead([sign], is_behind, level, bool(index))]
    n_classes = len(network.classes)
    leads = []
    for other in range(n_classes):
        if other != index:
            of_scores = [(k == index) - (k == other) for k in range(n_classes)]
            is_strict = other < index
            behind = _loses_ties if is_strict else _wins_ties
            leads.append(Lead(of_scores, behind, Fraction(0), is_strict))
    return leads


def _loses_ties(value: Fraction) -> bool:
    return value <= 0


def _wins_ties(value: Fraction) -> bool:
    return value < 0


def decider_of(
    network: Network, index: int, meter: Meter, *, never: bool = False
) -> "Decider | None":
    """Return a decider for a network; None if it is not piecewise linear."""
    if any(layer.function.exact is None for layer in network.layers[:-1]):
        return None
    return Decider(network, index, meter, never=never)


class Decider:
    """Decides whether all inputs of a box, or none, have a class.

    Parameters
    ----------
    network : Network
        Its hidden activations must be piecewise linear.
    index : int
        The position of the class.
    meter : Meter
        The budget of the search that asks.
    never : bool
        Whether to show that no input has the class, instead of all.

    Attributes
    ----------
    n_numbers : int
        The work so far: about how many numbers were computed.
    """

    def __init__(
        self, network: Network, index: int, meter: Meter, *, never: bool = False
    ) -> None:
        self._never, self._index = never, index
        if never and network.is_binary:  # every input is of the other class
            self._never, self._index = False, 1 - index
        self._network, self.meter, self.n_numbers = network, meter, 0
        self._pieces = Pieces(network.layers)
        self._leads = leads_of(network, self._index)

    def decide(
        self,
        box: NDArray[np.bool_],
        ends: NDArray[np.float64],
        ignored: Boxes,
        limit: int = MOST_NUMBERS,
    ) -> Answer | None:
        """Return a proof or a counterexample for a box; None if undecided.

        A proof holds for all real numbers between the ends of a range, except those
        between the end of an ignored box and the next float. A box that needs more than
        `limit` numbers is undecided.
        """
        effort, is_undecided = _Effort(self.meter, limit), False
        cells = cells_of(self._network, box, ends)
        if cells is None:
            return None
        try:
            for cell in cells:
                answer = self._decide_cell(cell, ignored, effort)
                if answer is None:
                    is_undecided = True
                elif not answer.proved:
                    return answer
        except _TooLargeError:
            return None
        finally:
            self.n_numbers += effort.n_numbers
        return None if is_undecided else Answer(True)

    def _decide_cell(
        self, cell: Cell, ignored: Boxes, effort: _Effort
    ) -> Answer | None:
        answer = self._search(cell, ignored, effort)
        if answer is not None or len(ignored.allowed) == 0:
            return answer
        places = Places(self._network.domain)
        parts = apart(places, cell, ignored)
        if parts is None:
            return None
        answers = [self._search(part, ignored, effort) for part in parts]
        refuted = [each for each in answers if each is not None and not each.proved]
        if refuted:
            return refuted[0]
        return Answer(True) if all(answers) else None

    def _search(self, cell: Cell, ignored: Boxes, effort: _Effort) -> Answer | None:
        """Check the regions of a cell."""
        if len(cell.variables) > _MOST_VARIABLES:
            return None
        is_undecided = False
        effort.spend(0)
        for region in self._pieces.regions(cell, effort):
            for sides in self._broken(region, effort):
                is_undecided = True
                answer = self._counterexample(cell, sides, ignored, effort)
                if answer is not None:
                    return answer
        return None if is_undecided else Answer(True)

    def _broken(self, region: Region, effort: _Effort) -> Iterator[list[Row]]:
        """Yield parts of a region where the claim is false, as half-spaces.

        There are none exactly if the claim is true in the whole region.
        """
        scores = region.scores
        rows = [
            [int(n) for n in np.array(lead.of_scores, dtype=object) @ scores.numbers]
            for lead in self._leads
        ]
        if self._never:
            yield from self._all_ahead(rows, region, effort)
            return
        for lead, row in zip(self._leads, rows, strict=True):
            lowest = row[-1] + sum(min(0, number) for number in row[:-1])
            if not lead.is_behind(Fraction(lowest, scores.scale)):
                continue
            downwards = [-number for number in row]
            optimum = maximise(downwards, region.sides, effort.spend)
            if optimum is None or not lead.is_behind(-optimum.value / scores.scale):
                continue
            value = -optimum.value / scores.scale
            halfway = (value + lead.level) / 2
            limit = halfway if lead.is_behind(halfway) else value
            yield [*region.sides, _at_least(downwards, -limit * scores.scale)]

    def _all_ahead(
        self, rows: list[list[int]], region: Region, effort: _Effort
    ) -> Iterator[list[Row]]:
        """Yield the part of a region where a class wins, if there is one.

        An additional variable is its lead over the classes to which it loses ties.
        """
        scale = region.scores.scale
        sides: list[Row] = [[*side[:-1], 0, side[-1]] for side in region.sides]
        for lead, row in zip(self._leads, rows, strict=True):
            step = -scale if lead.is_strict else 0
            sides.append(lowered([*row[:-1], step, row[-1]]))
        objective = [*(0 for _ in rows[0][:-1]), 1, 0]
        optimum = maximise(objective, sides, effort.spend)
        is_strict = any(lead.is_strict for lead in self._leads)
        if optimum is None or (is_strict and optimum.value == 0):
            return
        half = optimum.value / 2
        ahead = [
            _at_least(row, half * scale if lead.is_strict else Fraction(0))
            for lead, row in zip(self._leads, rows, strict=True)
        ]
        yield [*region.sides, *ahead]

    def _counterexample(
        self, cell: Cell, sides: Sequence[Row], ignored: Boxes, effort: _Effort
    ) -> Answer | None:
        """Return an input for which a claim is false; None if none is found.

        The features are fixed one after the other, each to a short number.
        """
        places = Places(self._network.domain)
        for order in (cell.variables, cell.variables[::-1]):
            numbers = number_in(places, cell, sides, order, effort)
            if numbers is None:
                continue
            codes = places.codes(cell)
            is_broken = self._is_broken(codes, numbers)
            if is_broken and not places.is_covered(cell, numbers, ignored):
                return Answer(False, codes, numbers)
        return None

    def _is_broken(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64]
    ) -> bool:
        is_of_class = exact_class(self._network, codes, numbers) == self._index
        return is_of_class == self._never


def _at_least(row: Sequence[int], value: Fraction) -> Row:
    """Return the constraint that an affine function is at least some value."""
    below = value.denominator
    return lowered([*(n * below for n in row[:-1]), row[-1] * below - value.numerator])


def cells_of(
    network: Network, box: NDArray[np.bool_], ends: NDArray[np.float64]
) -> list[Cell] | None:
    """Return the cells of a box, one for each choice of values; None if too many."""
    domain = network.domain
    columns = [
        (start + np.flatnonzero(box[start:stop])).tolist()
        for start, stop in zip(domain.offsets[:-1], domain.offsets[1:], strict=True)
    ]
    if math.prod(len(values) for values in columns) > _MOST_CELLS:
        return None
    cells = []
    for picked in product(*columns):
        is_range = np.array(picked) == domain.ranges
        low, high = np.where(is_range, ends, 1.0).tolist()
        cells.append(Cell(list(picked), low, high))
    return cells
