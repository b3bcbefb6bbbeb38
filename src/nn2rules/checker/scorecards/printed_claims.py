"""Prove what a page claims of its rounded points, on every input.

The points of a line, and the numbers that say how columns are added up, are taken from
the page as they are. How far a printed total is from a score is bounded here, feature
by feature, in fractions: at each value, and at both ends of a range; a product that is
rounded is off by at most half a step. From the total that a claim begins with, and this
bound, follows what the score must be, and from the score the class.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from nn2rules.checker.run_network import class_of_scores, class_of_sums, exact_output
from nn2rules.checker.scorecards.linear_parts import pieces_of
from nn2rules.checker.scorecards.page_reader import counted, number_text
from nn2rules.checker.scorecards.sums import ZERO, Corners, Form, Interval, Sums
from nn2rules.network import Network
from nn2rules.scorecards import CardRegion, Column, PointsTable
from nn2rules.space import Domain, Range

_MOST_STEPS = 60


@dataclass(frozen=True)
class PrintedClaim:
    """A statement of the page, and whether it is proved for every input."""

    text: str
    is_proved: bool


class Printed:
    """The printed points of a scorecard, beside the exact sums of its cards.

    Parameters
    ----------
    network : Network
        The scorecard as a network, over its own domain.
    table : PointsTable
        The printed numbers. None of them is believed.
    """

    def __init__(self, network: Network, table: PointsTable) -> None:
        self.network, self.table = network, table
        self.sums = Sums(network.domain, network.layers[0])
        self.corners = Corners(network.domain, bins=table.bins)
        self.columns = [self._printed(column) for column in table.columns]
        self.exact = [
            self.corners.values([*map(Fraction, own)])
            for own in network.layers[0].weights.T.tolist()
        ]
        self.bases = [*map(Fraction, network.layers[0].bias.tolist())]
        step = Fraction(1, 10**table.scale.digits)
        self.roundings = [
            _rounding(network.domain, table, column, step) for column in table.columns
        ]

    def _printed(self, column: Column) -> list[Fraction]:
        """Return what a column adds at each corner: a bin the same at both its ends."""
        values = self.corners.values(list(column.points))
        for place, bins in enumerate(self.table.bins):
            points = column.bins[place] if bins is not None else None
            if points is not None:
                start = self.corners.starts[place]
                twice = [each for each in points for _ in range(2)]
                values[start : start + len(twice)] = twice
        return values

    def reach(self, unit: int) -> Interval:
        """Return how small and how large the exact sum of a card can be."""
        low, high = self.corners.reach(self.exact[unit])
        return low + self.bases[unit], high + self.bases[unit]

    def added(
        self, weights: Sequence[Fraction]
    ) -> tuple[list[Fraction], Fraction, Fraction]:
        """Return weighted columns at the corners, their start, and what rounding adds.

        Rounding can add that much, or take it off, because each slope is multiplied,
        and rounded, for itself.
        """
        values = [ZERO] * len(self.corners.columns)
        start = rounding = ZERO
        for weight, own, column, most in zip(
            weights, self.columns, self.table.columns, self.roundings, strict=True
        ):
            if weight:
                values = [a + weight * b for a, b in zip(values, own, strict=True)]
                start += weight * column.start
                rounding += abs(weight) * most
        return values, start, rounding

    def form(self, form: Form) -> tuple[list[Fraction], Fraction]:
        """Return a form of the exact sums at the corners, and its base."""
        values, base = [ZERO] * len(self.corners.columns), form[-1]
        for factor, own, start in zip(form[:-1], self.exact, self.bases, strict=True):
            if factor:
                values = [a + factor * b for a, b in zip(values, own, strict=True)]
                base += factor * start
        return values, base

    def off(
        self, weights: Sequence[Fraction], form: Form, factor: Fraction
    ) -> Interval:
        """Bound the weighted columns less a form of the exact sums times a factor."""
        printed, start, rounding = self.added(weights)
        exact, base = self.form(form)
        both = [a - factor * b for a, b in zip(printed, exact, strict=True)]
        low, high = self.corners.reach(both)
        start -= factor * base
        return low + start - rounding, high + start + rounding


def _rounding(
    domain: Domain, table: PointsTable, column: Column, step: Fraction
) -> Fraction:
    """Bound how far the rounded products of a column can be from the exact ones.

    A product is off by half a step at most. One with a whole number, of a slope of p
    steps divided by q, is some q-th parts of a step; so it is off by fewer than that.
    """
    total = ZERO
    for feature, start, bins in zip(
        domain.features, domain.offsets.tolist(), table.bins, strict=False
    ):
        if not isinstance(feature, Range) or bins is not None:
            continue
        steps = column.points[start] / step
        low, high = map(Fraction, feature.limits)
        if low == high:
            total += abs((2 * steps * low + 1) // 2 - steps * low) * step
        elif feature.whole:
            total += Fraction(steps.denominator // 2, steps.denominator) * step
        elif steps:
            total += step / 2
    return total


def are_bins_complete(domain: Domain, table: PointsTable) -> bool:
    """Tell whether the bins of each range hold all of its numbers, each once."""
    for feature, bins in zip(domain.features, table.bins, strict=True):
        if bins is None:
            continue
        if not isinstance(feature, Range) or not bins:
            return False
        ends = [Fraction(end) for end in feature.limits]
        gap = Fraction(feature.whole)
        is_joined = all(b[0] - a[1] == gap for a, b in pairwise(bins))
        is_ordered = all(low <= high for low, high in bins)
        if [bins[0][0], bins[-1][1]] != ends or not (is_joined and is_ordered):
            return False
    return True


def check_printed(
    network: Network, table: PointsTable, regions: Sequence[CardRegion]
) -> Iterator[PrintedClaim]:
    """Yield each claim of a page, and whether it is proved.

    Of a scorecard with regions, it must be known that the regions are right.
    """
    if not are_bins_complete(network.domain, table):
        yield PrintedClaim("a bin for each number", False)
        return
    printed = Printed(network, table)
    if table.regions:
        yield from _of_regions(printed, regions)
    elif table.margin is not None:
        yield from _of_leads(printed)
    else:
        yield from _of_totals(printed)


def _of_totals(printed: Printed) -> Iterator[PrintedClaim]:
    """Prove which totals mean which class, where there is one total."""
    table, network = printed.table, printed.network
    [total] = table.totals
    factor = Fraction(table.scale.factor)
    upper = network.layers[1:]
    if not upper:
        form = _difference([printed.sums.unit(i) for i in _outputs(network)])
        low, high = printed.off(total.weights, form, factor)
        low, high = low + total.start, high + total.start
        reach = printed.sums.least(form), printed.sums.most(form)
    elif len(upper) == 1 and len(printed.bases) == 1:
        low, high = printed.off(total.weights, printed.sums.unit(0), factor)
        low, high = low + total.start, high + total.start
        reach = printed.reach(0)
    else:
        weights, base = _leads(network)
        low, high = _parts_off(printed, total.weights, weights, factor)
        low, high = (
            low + total.start - factor * base,
            high + total.start - factor * base,
        )
        reach = _parts_reach(printed, weights, base)
    for text, first, last, index in _spans(table):
        ends = _score_ends(first, last, (low, high), factor, reach)
        is_right = ends is None or all(_class_at(network, end) == index for end in ends)
        yield PrintedClaim(text, is_right and _is_interval(network))


def _spans(
    table: PointsTable,
) -> Iterator[tuple[str, Fraction | None, Fraction | None, int]]:
    """Yield what the page says of totals: from where, to where, and the class."""
    labels = table.card.classes
    cuts = table.cut_offs
    if not cuts:
        yield (
            f"every total: {labels[table.lowest_class]}",
            None,
            None,
            table.lowest_class,
        )
        return
    first = cuts[0]
    yield (
        f"at most {number_text(first.at_most)}: {labels[first.below]}",
        None,
        first.at_most,
        first.below,
    )
    for place, cut in enumerate(cuts):
        text, last = f"at least {number_text(cut.at_least)}", None
        if place + 1 < len(cuts):
            last = cuts[place + 1].at_most
            text += f", at most {number_text(last)}"
        yield f"{text}: {labels[cut.above]}", cut.at_least, last, cut.above


def _score_ends(
    first: Fraction | None,
    last: Fraction | None,
    off: Interval,
    factor: Fraction,
    reach: Interval,
) -> Interval | None:
    """Return the ends of the scores that totals from `first` to `last` can belong to.

    None if there are none.
    """
    low = None if first is None else (first - off[1]) / factor
    high = None if last is None else (last - off[0]) / factor
    if factor < 0:
        low, high = high, low
    low = reach[0] if low is None else max(low, reach[0])
    high = reach[1] if high is None else min(high, reach[1])
    return None if low > high else (low, high)


def _class_at(network: Network, score: Fraction) -> int:
    """Return the class that follows from what a total stands for."""
    if len(network.layers) == 2 and network.layers[0].weights.shape[1] == 1:
        return class_of_sums(network, [score])
    if len(network.layers[-1].bias) == 1:
        return class_of_scores([score], network.threshold)
    return class_of_scores([ZERO, score], network.threshold)


def _is_interval(network: Network) -> bool:
    """Tell whether between two scores of one class there is no other.

    Of a score that is so by itself. Of a sum that goes through one unit, if that never
    falls: all scores are straight lines in what it puts out, so a class wins between
    two places.
    """
    if len(network.layers) == 1 or network.layers[0].weights.shape[1] > 1:
        return True
    layer = network.layers[0]
    if layer.activation == "leaky_relu":
        return layer.slope is None or layer.slope >= 0
    return layer.activation not in ("gelu", "silu")


def _outputs(network: Network) -> range:
    return range(len(network.layers[-1].bias))


def _difference(scores: Sequence[Form]) -> Form:
    """Return the score that decides between two classes."""
    if len(scores) == 1:
        return scores[0]
    return tuple(b - a for a, b in zip(*scores, strict=True))


def _leads(network: Network) -> tuple[list[Fraction], Fraction]:
    """Return the weights of the units, and the base, of the score that decides."""
    last = network.layers[-1]
    weights = [[*map(Fraction, column)] for column in last.weights.T.tolist()]
    bases = [*map(Fraction, last.bias.tolist())]
    if len(bases) == 1:
        return weights[0], bases[0]
    return [b - a for a, b in zip(*weights, strict=True)], bases[1] - bases[0]


def _parts_reach(
    printed: Printed, weights: Sequence[Fraction], base: Fraction
) -> Interval:
    """Bound a sum of weighted units."""
    low = high = base
    for unit, weight in enumerate(weights):
        ends = _alone(printed, unit, -weight)
        low, high = low + ends[0], high + ends[1]
    return low, high


def _alone(printed: Printed, unit: int, factor: Fraction) -> Interval:
    """Bound ``-factor`` times what a unit puts out."""
    layer, reach = printed.network.layers[0], printed.reach(unit)
    places = [*reach, *(k for k in _kinks(printed.network) if reach[0] < k < reach[1])]
    values = [-factor * exact_output(layer, place) for place in places]
    return min(values), max(values)


def _kinks(network: Network) -> list[Fraction]:
    pieces = pieces_of(network.layers[0])
    assert pieces is not None, "parts are piecewise linear"
    return [piece.high for piece in pieces if piece.high is not None]


def _parts_off(
    printed: Printed,
    shown: Sequence[Fraction],
    weights: Sequence[Fraction],
    factor: Fraction,
    scales: Sequence[Fraction] | None = None,
) -> Interval:
    """Bound counted columns, weighted, less the weighted units times a factor."""
    low = high = ZERO
    found = {column.card: place for place, column in enumerate(printed.table.columns)}
    for unit, weight in enumerate(weights):
        place = found.get(unit)
        if place is None:
            ends = _alone(printed, unit, factor * weight)
        else:
            scale = _scale(printed, factor * weight, shown[place])
            ends = _part_off(
                printed,
                place,
                shown[place],
                factor * weight,
                scale if scales is None else scales[place],
            )
        low, high = low + ends[0], high + ends[1]
    return low, high


def _scale(printed: Printed, weight: Fraction, shown: Fraction) -> Fraction:
    """Return how many points a unit of a part card probably is."""
    pieces = pieces_of(printed.network.layers[0])
    assert pieces is not None, "parts are piecewise linear"
    steepest = Fraction(1, 6) if len(pieces) == 3 and pieces[1].slope != 1 else 1
    return weight * steepest / shown if shown else Fraction(1)


def _part_off(
    printed: Printed, place: int, shown: Fraction, weight: Fraction, scale: Fraction
) -> Interval:
    """Bound a counted column, weighted, less the unit that it stands for, weighted.

    With the exact sum S and the difference D between the column and ``scale`` times S,
    this is a continuous function of S and D, affine between some straight lines in the
    plane of both. So over a rectangle it is largest where two of these lines meet, or
    one of them an edge, or at a corner.
    """
    column = printed.table.columns[place]
    layer, (low, high) = printed.network.layers[0], printed.reach(column.card)
    only = [Fraction(index == place) for index in range(len(printed.columns))]
    least, most = printed.off(only, printed.sums.unit(column.card), scale)
    at = [low, high, *(kink for kink in _kinks(printed.network) if low < kink < high)]
    bends = [end for end in (column.low, column.high) if end is not None]
    bends += [ZERO] if column.below is not None else []
    if column.below is not None and column.below:
        bends += [end / column.below for end in bends]
    points = {(s, d) for s in at for d in (least, most)}
    points |= {(s, bend - scale * s) for s in at for bend in bends}
    if scale:
        points |= {((bend - d) / scale, d) for bend in bends for d in (least, most)}
    values = [
        shown * counted(column, scale * s + d) - weight * exact_output(layer, s)
        for s, d in points
        if low <= s <= high and least <= d <= most
    ]
    return min(values), max(values)


def _of_leads(printed: Printed) -> Iterator[PrintedClaim]:
    """Prove that a total which is far enough ahead of all others wins."""
    network, table = printed.network, printed.table
    assert table.margin is not None, "several totals have a margin"
    labels, factor = table.card.classes, abs(Fraction(table.scale.factor))
    for one in _outputs(network):
        most = None
        for other in _outputs(network):
            if one != other:
                bound = _lead_off(printed, one, other, factor)
                is_enough = bound < table.margin or (
                    bound == table.margin and one < other
                )
                most = is_enough if most is None else most and is_enough
        text = f"ahead by {number_text(table.margin)}: {labels[one]}"
        yield PrintedClaim(text, bool(most))


def _lead_off(printed: Printed, one: int, other: int, factor: Fraction) -> Fraction:
    """Bound how much larger a printed lead can be than the exact one in points."""
    network, table = printed.network, printed.table
    first, second = table.totals[one], table.totals[other]
    shown = [a - b for a, b in zip(first.weights, second.weights, strict=True)]
    start = first.start - second.start
    if len(network.layers) == 1:
        units = printed.sums.unit(one), printed.sums.unit(other)
        form = tuple(a - b for a, b in zip(*units, strict=True))
        return start + printed.off(shown, form, factor)[1]
    last = network.layers[-1]
    columns = [[*map(Fraction, column)] for column in last.weights.T.tolist()]
    bases = [*map(Fraction, last.bias.tolist())]
    weights = [a - b for a, b in zip(columns[one], columns[other], strict=True)]
    start -= factor * (bases[one] - bases[other])
    scales = [
        _column_scale(printed, place, columns, factor) for place in range(len(shown))
    ]
    return start + _parts_off(printed, shown, weights, factor, scales)[1]


def _column_scale(
    printed: Printed, place: int, columns: list[list[Fraction]], factor: Fraction
) -> Fraction:
    """Return how many points a unit of a column probably is, by its largest weight."""
    unit = printed.table.columns[place].card
    shown = [total.weights[place] for total in printed.table.totals]
    largest = max(range(len(shown)), key=lambda index: abs(shown[index]))
    return _scale(printed, factor * columns[largest][unit], shown[largest])


def _of_regions(
    printed: Printed, regions: Sequence[CardRegion]
) -> Iterator[PrintedClaim]:
    """Prove that rows that meet printed conditions are in a region, and its class."""
    table = printed.table
    if len(table.regions) != len(regions):
        yield PrintedClaim("a line for each region", False)
        return
    for number, (shown, exact) in enumerate(
        zip(table.regions, regions, strict=True), 1
    ):
        is_right = len(shown.conditions) == len(exact.conditions) and all(
            _implies(printed, form.weights, least, (*half.coefficients, half.constant))
            for (form, least), half in zip(
                shown.conditions, exact.conditions, strict=True
            )
        )
        is_right = is_right and _is_region_right(printed, shown, exact)
        yield PrintedClaim(f"region {number}", is_right)


def _is_region_right(printed: Printed, shown: Any, exact: CardRegion) -> bool:
    """Tell whether the class, or the totals, of a printed region are proved."""
    network = printed.network
    if not shown.totals:
        return len(exact.classes) == 1 and tuple(shown.classes) == tuple(exact.classes)
    if exact.scores is None:
        return False
    factor = abs(Fraction(printed.table.scale.factor))
    scores = [(*score.coefficients, score.constant) for score in exact.scores]
    if shown.margin is None:
        form = _difference(scores)
        [total] = shown.totals
        off = printed.off(total.weights, form, factor)
        reach = printed.sums.least(form), printed.sums.most(form)
        for first, last, index in (
            (None, shown.at_most, 0),
            (shown.at_least, None, 1),
        ):
            ends = _score_ends(first, last, off, factor, reach)
            if ends is not None and any(
                _class_at(network, end) != index for end in ends
            ):
                return False
        return True
    for one, first_total in enumerate(shown.totals):
        for other, second in enumerate(shown.totals):
            if one == other:
                continue
            weights = [
                a - b for a, b in zip(first_total.weights, second.weights, strict=True)
            ]
            form = tuple(a - b for a, b in zip(scores[one], scores[other], strict=True))
            bound = printed.off(weights, form, factor)[1]
            bound += first_total.start - second.start
            if bound > shown.margin or (bound == shown.margin and one > other):
                return False
    return True


def _implies(
    printed: Printed, weights: Sequence[Fraction], least: Fraction, form: Form
) -> bool:
    """Tell whether weighted columns of at least a number prove a form at least 0.

    They do if for some factor above 0 they exceed the form times this factor by at most
    the number. By how much they do is a convex function of the factor.
    """
    shown, start, rounding = printed.added(weights)
    exact, base = printed.form(form)
    ends = [*printed.corners.starts, len(shown)]

    def excess(factor: Fraction) -> tuple[Fraction, Fraction]:
        """Return the excess at a factor, and how it grows with the factor."""
        total, growth = start + rounding - factor * base, -base
        for first, last in pairwise(ends):
            best = max(
                range(first, last), key=lambda at: shown[at] - factor * exact[at]
            )
            total += shown[best] - factor * exact[best]
            growth -= exact[best]
        return total, growth

    spreads = [printed.corners.reach(own) for own in (shown, exact)]
    wide, exact_wide = (high - low for low, high in spreads)
    factor = wide / exact_wide if wide and exact_wide else Fraction(1)
    low, high = ZERO, None
    for _ in range(_MOST_STEPS):
        value, growth = excess(factor)
        if value <= least:
            return True
        if growth >= 0:
            high = factor
        else:
            low = factor
        if high is None:
            factor *= 2
            continue
        lines = [(end, *excess(end)) for end in (low, high)]
        (x, f, slope), (y, g, other) = lines
        if slope >= other or slope >= 0 or other <= 0:
            return bool(high > 0 and min(f, g) <= least and low > 0)
        meeting = (g - f + slope * x - other * y) / (slope - other)
        if meeting in (low, high) or not low < meeting < high:
            return False
        factor = meeting
    return False
