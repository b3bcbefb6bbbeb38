"""The printed card: points rounded for a pencil, and what is proved of their total.

Rounding a line changes the total by a known amount. With the errors of all lines the
total of the printed points is off by something between two rational numbers, so the
exact cut-off becomes two: from one on a class is proved, up to the other its opposite
is, and between them the points are too coarse to tell. All of this is worked out in
fractions, for every input of the domain at once.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, reduce
from operator import mul
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import OptionError
from nn2rules.network import Layer
from nn2rules.scorecards.boundaries import boundaries_of, is_monotonic
from nn2rules.scorecards.number_bins import Bins, bins_error, bins_of, points_of
from nn2rules.scorecards.regions import (
    TOO_CLOSE,
    PrintedRegion,
    RegionPrinter,
    leaders,
    leads_of,
    printed_part,
)
from nn2rules.scorecards.scale import Scale
from nn2rules.scorecards.sums import (
    ZERO,
    Block,
    Interval,
    Sum,
    blocks_of,
    plus,
    power_below,
    reach_of,
    rounded,
    rounded_down,
    rounded_products,
    rounded_up,
    sum_reach,
    times,
)
from nn2rules.scorecards.whole_arrays import (
    WholeArray,
    added,
    as_columns,
    combined,
    floats_of,
    fractions_of,
    is_at_least,
    multiplied,
    numbers_of,
    whole_array,
)

if TYPE_CHECKING:
    from nn2rules.scorecards.scorecard import Scorecard

_TOLERANCE = Fraction(1, 10**6)
"""How well a cut-off is known, in printed steps, before points are rounded."""

FLOAT64_ERROR = Fraction(1, 2**50)
"""More than a few operations in float64 can be off by, as a share of the result."""

_LARGEST_WHOLE = 2**53
"""Up to here float64 holds all whole numbers."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of printed points.

    Attributes
    ----------
    card : int
        Which card of the scorecard it shows.
    start : Fraction
        What the sum begins with.
    points : tuple of Fraction
        For each value of each feature; for a range the points of one unit.
    low, high : Fraction or None
        Of a part: what it counts at least, and at most.
    below : Fraction or None
        Of a part: below 0, its sum counts this many times.
    error : (Fraction, Fraction)
        How far the sum can lie from the exact one. If ranges are cut into bins, this
        holds for the points of bins, and for those per unit, too.
    bins : tuple of (tuple of Fraction or None)
        For each feature the points of its bins; None if it is not cut into bins.
    """

    card: int
    start: Fraction
    points: tuple[Fraction, ...]
    low: Fraction | None
    high: Fraction | None
    below: Fraction | None
    error: Interval
    bins: tuple[tuple[Fraction, ...] | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Total:
    """A printed total: a start, and the columns with their weights.

    The total of an input is ``factor * score + offset``, up to its error, where the
    score is that of the network, or the sum of its only hidden unit.
    """

    start: Fraction
    weights: tuple[Fraction, ...]
    factor: Fraction
    offset: Fraction
    error: Interval


@dataclass(frozen=True, slots=True)
class CutOff:
    """Two proved cut-offs: a total of at most `at_most` means the class `below`.

    One of at least `at_least` means `above`. Between them the points are too coarse.
    """

    at_most: Fraction
    at_least: Fraction
    below: int
    above: int


@dataclass(frozen=True)
class PointsTable:
    """The printed card.

    Attributes
    ----------
    card : Scorecard
    scale : Scale
    columns : tuple of Column
    totals : tuple of Total
        One, or one for each class.
    cut_offs : tuple of CutOff
        Of one total, in ascending order.
    lowest_class : int
        The class of the lowest totals, or of all of them.
    margin : Fraction or None
        Of several totals: one that is this far ahead of all others is proved to win.
    score_reach : (Fraction, Fraction)
        The least and the most that the score can be which the total stands for; of
        several totals, the lead of one over another.
    regions : tuple of PrintedRegion
        If there are any, they take the place of totals and cut-offs.
    bins : tuple of (tuple of (Fraction, Fraction) or None)
        For each feature the ends of its bins; None if it is not cut into bins.
    """

    card: "Scorecard"
    scale: Scale
    columns: tuple[Column, ...]
    totals: tuple[Total, ...]
    cut_offs: tuple[CutOff, ...]
    lowest_class: int
    margin: Fraction | None
    score_reach: Interval
    regions: tuple[PrintedRegion, ...] = ()
    bins: tuple[Bins | None, ...] = ()

    @property
    def step(self) -> Fraction:
        """All points but those of slopes are multiples of it."""
        return Fraction(1, 10**self.scale.digits)

    @cached_property
    def reach(self) -> Interval:
        """The least and the most that printed totals can be, or their leads."""
        if self.regions:
            low, high = (
                abs(Fraction(self.scale.factor)) * end for end in self.score_reach
            )
            return low, high
        total = self.totals[0]
        ends = [total.factor * end + total.offset for end in self.score_reach]
        low, high = total.error
        return min(ends) + low, max(ends) + high

    @cached_property
    def has_whole_totals(self) -> bool:
        """Whether all printed totals are integers, which float64 holds exactly."""
        if self.regions or self.scale.digits > 0:
            return False
        numbers = [n for total in self.totals for n in (total.start, *total.weights)]
        for column in self.columns:
            ends = (column.low, column.high, column.below)
            numbers += [end for end in ends if end is not None]
        reaches = [*map(self._counted_reach, self.columns)]
        sizes = [
            abs(total.start) + sum(map(mul, map(abs, total.weights), reaches))
            for total in self.totals
        ]
        is_whole = all(number.denominator == 1 for number in numbers)
        return is_whole and max(sizes, default=ZERO) < _LARGEST_WHOLE

    def _counted_reach(self, column: Column) -> Fraction:
        """Return a number that a column counts at most, in magnitude."""
        ends = sum_reach(Sum(column.start, column.points), self.card.domain)
        slack = len(self.blocks) * self.step  # products are rounded
        slope = 1 if column.below is None else max(Fraction(1), abs(column.below))
        reach = (max(map(abs, ends)) + slack) * slope
        bounds = (end for end in (column.low, column.high) if end is not None)
        return max(reach, *map(abs, bounds), ZERO)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Where the points of each feature are."""
        return tuple(blocks_of(self.card.domain))

    @cached_property
    def rate_steps(self) -> tuple[Fraction | None, ...]:
        """For each feature the step of its slopes; None if it has none."""
        return tuple(
            _rate_step(block, self.step) if block.limits is not None else None
            for block in self.blocks
        )

    def steps_of(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64] | None
    ) -> WholeArray:
        """Return the printed points of inputs, counted in steps, as integers.

        Of a slope, the product with the number is rounded to a whole step, halves up.

        Returns
        -------
        array of whole numbers, shape (n_rows, n_columns, n_features)
        """
        return np.stack([*self._feature_by_feature(codes, numbers)], axis=2)

    def _feature_by_feature(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64] | None
    ) -> Iterator[WholeArray]:
        for index in range(len(self.blocks)):
            own = None if numbers is None else numbers[:, index]
            yield self.feature_steps(index, codes[:, index], own)

    def feature_steps(
        self,
        index: int,
        codes: NDArray[np.int64],
        numbers: NDArray[np.float64] | None,
    ) -> WholeArray:
        """Return the printed points of values of one feature, counted in steps.

        Returns
        -------
        array of whole numbers, shape (n_values, n_columns)
        """
        block = self.blocks[index]
        slope = [0] * (block.limits is not None)
        parts = [
            whole_array(
                slope + [int(column.points[c] / self.step) for c in block.listed]
            )
            for column in self.columns
        ]
        found = as_columns(parts, block.stop - block.start)[codes]
        if block.limits is None or numbers is None:
            return found
        has_number = codes == 0
        steps = self._number_steps(index, numbers[has_number])
        found = found.astype(np.result_type(found, steps))
        found[has_number] = steps
        return found

    def _number_steps(self, index: int, numbers: NDArray[np.float64]) -> WholeArray:
        """Return the printed points of numbers of a range, counted in steps."""
        bins = self.bins[index] if self.bins else None
        if bins is not None:
            starts = [float(start) for start, _ in bins[1:]]
            places = np.searchsorted(starts, numbers, side="right")
            parts = [self._bin_steps(column, index) for column in self.columns]
            return as_columns(parts, len(bins))[places]
        distinct, places = np.unique(numbers, return_inverse=True)
        start = self.blocks[index].start
        rates = (column.points[start] / self.step for column in self.columns)
        parts = [whole_array(rounded_products(rate, distinct)) for rate in rates]
        return as_columns(parts, len(distinct))[places]

    def _bin_steps(self, column: Column, index: int) -> WholeArray:
        """Return the points of the bins of a feature, counted in steps."""
        binned = column.bins[index]
        assert binned is not None, "every column has the bins"
        return whole_array([int(points / self.step) for points in binned])

    def sums_of(self, steps: WholeArray) -> WholeArray:
        """Return the sum of each column for inputs, counted in steps."""
        return self._summed(np.moveaxis(steps, 2, 0), len(steps))

    def sums_at(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64] | None
    ) -> WholeArray:
        """Return ``sums_of(steps_of(codes, numbers))``, in less memory."""
        return self._summed(self._feature_by_feature(codes, numbers), len(codes))

    def _summed(self, parts: Iterable[WholeArray], n_rows: int) -> WholeArray:
        starts = whole_array([int(column.start / self.step) for column in self.columns])
        return reduce(added, parts, np.tile(starts, (n_rows, 1)))

    def totals_of(self, sums: WholeArray) -> NDArray[Any]:
        """Return the totals of inputs as fractions of a step, from `sums_of`.

        They are whole unless a part has a weight, or a slope below 0.
        """
        return fractions_of(*self.whole_totals(sums))

    def printed_totals(self, sums: WholeArray) -> NDArray[Any]:
        """Return the totals of inputs in points, as integers if all of them are.

        NaN where printed regions give none.
        """
        if self.regions:
            return self._totals_by_regions(sums)
        totals, denominator = self.whole_totals(sums)
        return numbers_of(totals, denominator * self.step.denominator)

    def whole_totals(self, sums: WholeArray) -> tuple[WholeArray, int]:
        """Return totals as whole numbers, and what to divide them by to get steps."""
        size = math.lcm(*(c.below.denominator for c in self.columns if c.below))
        counted = [
            _counted(column, sums[:, place], self.step, size)
            for place, column in enumerate(self.columns)
        ]
        weights = [total.weights for total in self.totals]
        starts = [total.start / self.step * size for total in self.totals]
        totals, denominator = combined(as_columns(counted, len(sums)), weights, starts)
        return totals, size * denominator

    def predict_codes(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64] | None
    ) -> NDArray[np.int64]:
        """Return the class that the printed points prove; -1 where they do not."""
        sums = self.sums_at(codes, numbers)
        return self._classes_by_regions(sums) if self.regions else self._classes(sums)

    def _classes(self, sums: WholeArray) -> NDArray[np.int64]:
        """Return the class that totals prove; -1 where they are too close."""
        totals, denominator = self.whole_totals(sums)
        if self.margin is not None:
            return leaders(totals, self.margin / self.step * denominator)
        total = totals[:, 0]
        found = np.full(len(total), self.lowest_class, dtype=np.int64)
        for cut_off in self.cut_offs:
            at_most, at_least = (
                end / self.step * denominator
                for end in (cut_off.at_most, cut_off.at_least)
            )
            found[total > math.floor(at_most)] = TOO_CLOSE
            found[is_at_least(total, at_least)] = cut_off.above
        return found

    def _classes_by_regions(self, sums: WholeArray) -> NDArray[np.int64]:
        """Return the class that printed regions prove; -1 where none does."""
        found = np.full(len(sums), TOO_CLOSE, dtype=np.int64)
        for region, here in self._in_regions(sums):
            found[here] = region.predicted(sums[here], self.step)
        return found

    def _totals_by_regions(self, sums: WholeArray) -> NDArray[np.float64]:
        """Return the totals that printed regions give; NaN where there is none."""
        n_totals = 1 if len(self.card.classes) == 2 else len(self.card.classes)
        found = np.full((len(sums), n_totals), np.nan)
        for region, here in self._in_regions(sums):
            if region.totals:
                totals, denominator = region.shown_totals(sums[here], self.step)
                found[here] = floats_of(totals, denominator * self.step.denominator)
        return found

    def _in_regions(
        self, sums: WholeArray
    ) -> Iterator[tuple[PrintedRegion, NDArray[np.int64]]]:
        """Yield each region with the rows that are proved to be in it, and only it."""
        left = np.arange(len(sums))
        for region in self.regions:
            inside = region.contains(sums[left], self.step)
            yield region, left[inside]
            left = left[~inside]


def _counted(column: Column, sums: WholeArray, step: Fraction, size: int) -> WholeArray:
    """Return what sums of a column count, in steps times a size."""
    counted = multiplied(sums, size)
    if column.below is not None:
        counted = np.where(
            sums < 0, multiplied(sums, int(column.below * size)), counted
        )
    if column.low is not None:
        counted = np.maximum(counted, whole_array([int(column.low / step * size)]))
    if column.high is not None:
        counted = np.minimum(counted, whole_array([int(column.high / step * size)]))
    return counted


def table_of(card: "Scorecard", scale: Scale) -> PointsTable:
    """Return the printed card of a scorecard, on a scale."""
    return _Printer(card, scale).table()


class _Printer:
    """The steps from exact cards to printed ones."""

    def __init__(self, card: "Scorecard", scale: Scale) -> None:
        self.card, self.scale = card, scale
        self.step = Fraction(1, 10**scale.digits)
        self.factor = Fraction(scale.factor)
        self.blocks = tuple(blocks_of(card.domain))
        self.bins = bins_of(card.domain, scale.bins)
        self.sums = [
            Sum(Fraction(one.base), tuple(map(Fraction, one.points.tolist())))
            for one in card.cards
        ]

    def table(self) -> PointsTable:
        """Return the printed card."""
        return replace(self._table(), bins=self.bins)

    def _table(self) -> PointsTable:
        """Return the printed card, by the form of the scorecard."""
        if not self.card.upper:
            if len(self.card.classes) > 2:
                return self._of_classes()
            first = self.sums[-1]
            score = first if len(self.sums) == 1 else first.minus(self.sums[0])
            return self._of_one_sum(score, _THROUGH_SIGMOID, self.card.threshold)
        if is_one_unit(self.card):
            unit = Layer([[1.0]], [0.0], self.card.activation, self.card.slope)  # type: ignore[arg-type]
            layers = (unit, *self.card.upper)
            return self._of_one_sum(self.sums[0], layers, self.card.threshold)
        return self._of_parts()

    def _of_one_sum(
        self, score: Sum, layers: Sequence[Layer], threshold: float
    ) -> PointsTable:
        """Print one sum, whose class changes at some places along it."""
        scaled = score.scaled(self.factor)
        shifted = self._shifted(scaled)
        offset = -shifted.base
        if self.scale.offset is not None:
            offset = Fraction(self.scale.offset)
        shifted = replace(shifted, base=shifted.base + offset)
        column = self._column(0, shifted)
        total = Total(ZERO, (Fraction(1),), self.factor, offset, column.error)
        reach = sum_reach(score, self.card.domain)
        return self._with_cut_offs((column,), total, layers, threshold, reach)

    def _with_cut_offs(
        self,
        columns: tuple[Column, ...],
        total: Total,
        layers: Sequence[Layer],
        threshold: float,
        reach: Interval,
    ) -> PointsTable:
        """Find the cut-offs of one total, proved with its error."""
        tolerance = _TOLERANCE * self.step / abs(total.factor)
        lowest, found = boundaries_of(layers, threshold, reach, tolerance)
        low_error, high_error = total.error
        cut_offs = []
        for one in found:
            ends = [total.factor * end + total.offset for end in (one.last, one.first)]
            below, above = one.below, one.above
            if total.factor < 0:
                ends, below, above = ends[::-1], above, below
            cut_offs.append(
                CutOff(
                    rounded_down(ends[0] + low_error, self.step),
                    rounded_up(ends[1] + high_error, self.step),
                    below,
                    above,
                )
            )
        if total.factor < 0:
            cut_offs.reverse()
            lowest = cut_offs[0].below if cut_offs else lowest
        return PointsTable(
            self.card,
            self.scale,
            columns,
            (total,),
            tuple(cut_offs),
            lowest,
            None,
            reach,
        )

    def _of_classes(self) -> PointsTable:
        """Print a card for each class: of each line, the smallest is 0."""
        self._refuse_offset()
        scaled = [one.scaled(abs(self.factor)) for one in self.sums]
        lows = [
            min(points) for points in zip(*(one.points for one in scaled), strict=True)
        ]
        base = min(one.base for one in scaled)
        common = Sum(base, tuple(lows))
        columns = [
            self._column(index, one.minus(common)) for index, one in enumerate(scaled)
        ]
        n_classes = len(columns)
        totals = []
        for index, column in enumerate(columns):
            weights = tuple(Fraction(index == place) for place in range(n_classes))
            totals.append(Total(ZERO, weights, abs(self.factor), ZERO, column.error))
        worst = max(
            self._lead_error(one, columns[one], other, columns[other], scaled)
            for one in range(n_classes)
            for other in range(n_classes)
            if one != other
        )
        leads = [
            sum_reach(one.minus(other), self.card.domain)
            for one in self.sums
            for other in self.sums
        ]
        reach = min(low for low, _ in leads), max(high for _, high in leads)
        return self._with_margin(tuple(columns), tuple(totals), worst, reach)

    def _lead_error(
        self, one: int, column: Column, other: int, second: Column, exact: list[Sum]
    ) -> Fraction:
        """Bound how far the printed lead of a class can exceed the exact one."""
        lead = exact[one].minus(exact[other])
        printed = Sum(column.start, column.points)
        printed = printed.minus(Sum(second.start, second.points))
        return self._error(printed.minus(lead), lead, column, second)[1]

    def _with_margin(
        self,
        columns: tuple[Column, ...],
        totals: tuple[Total, ...],
        worst: Fraction,
        reach: Interval,
    ) -> PointsTable:
        """Return the table of several totals, by how far a lead can be wrong."""
        margin = max(rounded_down(worst, self.step) + self.step, self.step)
        return PointsTable(self.card, self.scale, columns, totals, (), 0, margin, reach)

    def _of_parts(self) -> PointsTable:
        """Print part cards, and how the totals are made of them."""
        if self.card.regions:
            return self._of_regions()
        if len(self.card.upper) > 1 or (self.card.cards and not self._is_piecewise):
            raise OptionError(
                "points are printed for cards below which there is no hidden layer, or "
                "one of piecewise-linear units"
            )
        last = self.card.upper[0]
        weights = [list(map(Fraction, row)) for row in last.weights.T.tolist()]
        bases = list(map(Fraction, last.bias.tolist()))
        if len(self.card.classes) > 2:
            return self._of_several_totals(weights, bases)
        if len(weights) == 2:
            weights = [[b - a for a, b in zip(*weights, strict=True)]]
            bases = [bases[1] - bases[0]]
        return self._of_one_total(weights[0], bases[0])

    @property
    def _is_piecewise(self) -> bool:
        return self.card.network.layers[0].function.exact is not None

    def _of_one_total(self, weights: list[Fraction], base: Fraction) -> PointsTable:
        """Print part cards that already have their weights in them."""
        exact_start, reach = self.factor * base, (base, base)
        columns: list[Column] = []
        signs: list[Fraction] = []
        for index, weight in enumerate(weights):
            factor = self.factor * weight
            counted = self._counted_reach(index)
            reach = plus(reach, times((weight, weight), counted))
            if counted[0] == counted[1] or not weight:
                exact_start += factor * counted[0]
                continue
            columns.append(self._part(index, abs(factor)))
            signs.append(Fraction(1 if factor > 0 else -1))
        offset = -exact_start
        if self.scale.offset is not None:
            offset = Fraction(self.scale.offset)
        exact_start += offset
        start = rounded(exact_start, self.step)
        error: Interval = (start - exact_start, start - exact_start)
        for column, sign in zip(columns, signs, strict=True):
            error = plus(error, times((sign, sign), column.error))
        total = Total(start, tuple(signs), self.factor, offset, error)
        return self._with_cut_offs(
            tuple(columns), total, _THROUGH_SIGMOID, self.card.threshold, reach
        )

    def _of_several_totals(
        self, weights: list[list[Fraction]], bases: list[Fraction]
    ) -> PointsTable:
        """Print part cards, and their weights for the total of each class."""
        self._refuse_offset()
        size = abs(self.factor)
        exact_starts = [size * (base - min(bases)) for base in bases]
        columns: list[Column] = []
        exact: list[list[Fraction]] = [[] for _ in weights]
        printed: list[list[Fraction]] = [[] for _ in weights]
        counted: list[Interval] = []
        for index in range(len(self.sums)):
            most = max(abs(row[index]) for row in weights)
            ends = self._counted_reach(index)
            if ends[0] == ends[1] or not most:
                for place, row in enumerate(weights):
                    exact_starts[place] += size * row[index] * ends[0]
                continue
            columns.append(self._part(index, size * most))
            counted.append(times((size * most, size * most), ends))
            step = _weight_step(counted[-1], self.step)
            for place, row in enumerate(weights):
                exact[place].append(row[index] / most)
                printed[place].append(rounded(row[index] / most, step))
        starts = [rounded(start, self.step) for start in exact_starts]
        totals = [
            Total(start, tuple(own), size, ZERO, (ZERO, ZERO))
            for start, own in zip(starts, printed, strict=True)
        ]

        def lead_error(one: int, other: int) -> Fraction:
            """Bound how far the printed lead of a class can exceed the exact one."""
            bound = starts[one] - exact_starts[one]
            bound -= starts[other] - exact_starts[other]
            for place, column in enumerate(columns):
                lead = printed[one][place] - printed[other][place]
                off = lead - exact[one][place] + exact[other][place]
                bound += times((lead, lead), column.error)[1]
                bound += times((off, off), counted[place])[1]
            return bound

        places = range(len(totals))
        worst = max(lead_error(a, b) for a in places for b in places if a != b)
        most = max(base - min(bases) for base in bases)
        most += sum((2 * max(map(abs, ends)) / size for ends in counted), ZERO)
        return self._with_margin(tuple(columns), tuple(totals), worst, (-most, most))

    def _of_regions(self) -> PointsTable:
        """Print part cards, and regions with conditions and totals on them."""
        self._refuse_offset()
        size = abs(self.factor)
        reaches = [sum_reach(one, self.card.domain) for one in self.sums]
        leads = [lead for region in self.card.regions for lead in leads_of(region)]
        weights = [
            max((abs(lead.coefficients[i]) for lead in leads), default=ZERO)
            for i in range(len(self.sums))
        ]
        usual = max(weights, default=ZERO) or Fraction(1)
        factors = [size * (weight or usual) for weight in weights]
        columns = tuple(
            self._column(index, self._shifted(one.scaled(factor)))
            for index, (one, factor) in enumerate(zip(self.sums, factors, strict=True))
        )
        wide = Fraction(-1000), Fraction(1000)  # no logit of a float lies beyond
        tolerance = _TOLERANCE * self.step / size
        _, [boundary] = boundaries_of(
            _THROUGH_SIGMOID, self.card.threshold, wide, tolerance
        )
        parts = zip(columns, factors, reaches, strict=True)
        printer = RegionPrinter(
            tuple(printed_part(*part, self.step) for part in parts),
            self.step,
            size,
            (boundary.last, boundary.first),
        )
        printed = tuple(printer.all_printed(self.card.regions))
        ends = [
            plus(
                (lead.constant, lead.constant),
                *(
                    times((a, a), reach)
                    for a, reach in zip(lead.coefficients, reaches, strict=True)
                ),
            )
            for lead in leads
        ]
        low = min((end[0] for end in ends), default=ZERO)
        high = max((end[1] for end in ends), default=ZERO)
        return PointsTable(
            self.card, self.scale, columns, (), (), 0, None, (low, high), printed
        )

    def _refuse_offset(self) -> None:
        if self.scale.offset is not None:
            raise OptionError(
                "a base score, and a minimum and maximum, are for two classes; of "
                "more, only the differences between totals mean something"
            )

    def _counted_reach(self, index: int) -> Interval:
        """Return the least and the most that a part counts, in the network's units."""
        function = self.card.network.layers[0].function.exact
        assert function is not None, "parts are piecewise linear here"
        low, high = sum_reach(self.sums[index], self.card.domain)
        ends = [function(low), function(high)]
        ends += [function(ZERO)] if low < 0 < high else []
        return min(ends), max(ends)

    def _part(self, index: int, factor: Fraction) -> Column:
        """Print a part card, with its weight already in its points."""
        name, exact = self.card.activation, self.sums[index].scaled(factor)
        low: Fraction | None = None
        high: Fraction | None = None
        below: Fraction | None = None
        if name == "relu":
            low = ZERO
        elif name == "hard_tanh":
            low, high = -factor, factor
        elif name == "hard_sigmoid":
            exact = exact.scaled(Fraction(1, 6))
            exact = replace(exact, base=exact.base + factor / 2)
            low, high = ZERO, factor
        elif name == "leaky_relu":
            slope = self.card.slope
            below = Fraction(0.01 if slope is None else slope)
        least, most = sum_reach(exact, self.card.domain)
        low = None if low is None or least >= low else low
        high = None if high is None or most <= high else high
        below = None if least >= 0 else below
        column = self._column(index, self._shifted(exact))
        return self._clipped(column, low, high, below, least)

    def _clipped(
        self,
        column: Column,
        low: Fraction | None,
        high: Fraction | None,
        below: Fraction | None,
        least: Fraction,
    ) -> Column:
        """Let a column count between two bounds, which are rounded, too.

        A clipped sum is off by no more than the sum or one of its bounds is.
        """
        ends = [*column.error]
        if below is not None:
            printed = Fraction(repr(float(below)))
            slopes = (min(printed, Fraction(1)), max(printed, Fraction(1)))
            ends = list(
                plus(
                    times(column.error, slopes),
                    times((printed - below,) * 2, (least, ZERO)),
                )
            )
            below = printed
        if low is not None:
            ends.append(rounded(low, self.step) - low)
            low = rounded(low, self.step)
        if high is not None:
            ends.append(rounded(high, self.step) - high)
            high = rounded(high, self.step)
        error = (min(ends), max(ends))
        return replace(column, low=low, high=high, below=below, error=error)

    def _shifted(self, exact: Sum) -> Sum:
        """Move points between lines and the base, so that the smallest line is 0."""
        points, base = list(exact.points), exact.base
        for block in self.blocks:
            if block.limits is None:
                least, _ = reach_of(points, block)
                base += least
                for column in block.listed:
                    points[column] -= least
        return Sum(base, tuple(points))

    def _column(self, card: int, exact: Sum) -> Column:
        """Round a sum to points."""
        points = [rounded(point, self.step) for point in exact.points]
        for block in self.blocks:
            if block.limits is not None:
                step = _rate_step(block, self.step)
                points[block.start] = rounded(exact.points[block.start], step)
        start = rounded(exact.base, self.step)
        printed = Sum(start, tuple(points))
        bins = tuple(
            None
            if ends is None
            else points_of(ends, exact.points[block.start], self.step)
            for block, ends in zip(self.blocks, self.bins, strict=True)
        )
        column = Column(
            card, start, printed.points, None, None, None, (ZERO, ZERO), bins
        )
        return replace(column, error=self._error(printed.minus(exact), exact, column))

    def _error(self, off: Sum, exact: Sum, *columns: Column) -> Interval:
        """Bound how far printed points lie from exact ones, over all inputs.

        They are those of a column, or of one less those of another. The product of a
        slope and a number may be rounded to a step, or not; of a range with bins, a
        number may have the points of its bin, or those of its slope: the bound holds
        either way.
        """
        low = high = off.base
        for index, block in enumerate(self.blocks):
            least, most = reach_of(off.points, block)
            if block.limits is not None:
                slopes = (column.points[block.start] for column in columns)
                rounding = sum(
                    (_rounding(slope, block, self.step) for slope in slopes), ZERO
                )
                least, most = least - rounding, most + rounding
                ends = self.bins[index]
                if ends is not None:
                    slope = exact.points[block.start]
                    first, last = bins_error(ends, _binned(index, *columns), slope)
                    least, most = min(least, first), max(most, last)
            low, high = low + least, high + most
        return low, high


def _binned(index: int, first: Column, *others: Column) -> tuple[Fraction, ...]:
    """Return the points of the bins of a feature, less those of another column."""
    points = first.bins[index]
    assert points is not None, "the feature has bins"
    for other in others:
        less = other.bins[index]
        assert less is not None, "columns have the same bins"
        points = tuple(a - b for a, b in zip(points, less, strict=True))
    return points


def score_reach(card: "Scorecard") -> Interval:
    """Return the least and the most that the score can be which totals stand for."""
    return table_of(card, Scale(1.0)).score_reach


def is_one_unit(card: "Scorecard") -> bool:
    """Tell whether a scorecard is one hidden unit, whose activation never falls."""
    is_single = len(card.cards) == 1 and len(card.upper) == 1
    return is_single and is_monotonic(card.network.layers[0])


def _rate_step(block: Block, step: Fraction) -> Fraction:
    """Return the step of a slope, so that its products are off by half a step."""
    return power_below(step / block.reach) if block.reach else step


def _rounding(slope: Fraction, block: Block, step: Fraction) -> Fraction:
    """Bound how far the rounded product of a slope and a number can be off.

    Half a step, and a little more for programs that work it out in float64; nothing
    where every product is a whole number of steps.
    """
    largest = abs(slope) * block.reach
    is_short = largest < _LARGEST_WHOLE * step
    if block.whole and is_short and (slope / step).denominator == 1:
        return ZERO
    return step / 2 + (largest + step) * FLOAT64_ERROR


def _weight_step(counted: Interval, step: Fraction) -> Fraction:
    """Return the step of a weight, so that its products are off by half a step."""
    return min(power_below(step / max(map(abs, counted))), Fraction(1))


_THROUGH_SIGMOID = (Layer([[1.0]], [0.0], "sigmoid"),)  # type: ignore[arg-type]
"""A network whose score is its input."""
