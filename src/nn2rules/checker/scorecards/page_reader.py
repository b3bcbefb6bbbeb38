"""Read a printed page as a person with a pencil does, for single inputs."""

from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction

from nn2rules.scorecards import Column, PointsTable
from nn2rules.space import Domain, Range


class PageReader:
    """Adds up printed points.

    Parameters
    ----------
    domain : Domain
    table : PointsTable
        The numbers on the page.
    """

    def __init__(self, domain: Domain, table: PointsTable) -> None:
        self.domain, self.table = domain, table
        self.step = Fraction(1, 10**table.scale.digits)

    def class_of(
        self, codes: Sequence[int], numbers: Sequence[float]
    ) -> tuple[int | None, str]:
        """Return the class that the page states, if any; and the total in words."""
        sums = [self._sum(column, codes, numbers) for column in self.table.columns]
        if self.table.regions:
            return self._by_regions(sums)
        parts = [
            counted(column, points)
            for column, points in zip(self.table.columns, sums, strict=True)
        ]
        totals = [
            _added(total.weights, parts) + total.start for total in self.table.totals
        ]
        if self.table.margin is not None:
            return _ahead(totals, self.table.margin), _totals_text(totals)
        return self._by_cut_offs(totals[0]), _totals_text(totals)

    def _sum(
        self, column: Column, codes: Sequence[int], numbers: Sequence[float]
    ) -> Fraction:
        """Add up a column; a product is rounded, halves up."""
        total = column.start
        offsets = self.domain.offsets.tolist()
        for place, feature in enumerate(self.domain.features):
            points = column.points[offsets[place] + codes[place]]
            bins, own = self.table.bins[place], column.bins[place]
            is_number = isinstance(feature, Range) and codes[place] == 0
            if is_number and bins is not None and own is not None:
                number = Fraction(numbers[place])
                passed = sum(low <= number for low, _ in bins)
                points = own[passed - 1] if 0 < passed <= len(own) else Fraction(0)
            elif is_number:
                product = points * Fraction(numbers[place]) / self.step
                points = self.step * ((2 * product + 1) // 2)
            total += points
        return total

    def _by_cut_offs(self, total: Fraction) -> int | None:
        cuts = self.table.cut_offs
        if not cuts:
            return self.table.lowest_class
        if total <= cuts[0].at_most:
            return cuts[0].below
        for place, cut in enumerate(cuts):
            last = cuts[place + 1].at_most if place + 1 < len(cuts) else total
            if cut.at_least <= total <= last:
                return cut.above
        return None

    def _by_regions(self, sums: list[Fraction]) -> tuple[int | None, str]:
        """Return the class of the first region whose conditions are met."""
        for number, region in enumerate(self.table.regions, 1):
            if any(_added(f.weights, sums) < least for f, least in region.conditions):
                continue
            if not region.totals:
                return region.classes[0], f"region {number}"
            totals = [_added(form.weights, sums) for form in region.totals]
            if region.margin is not None:
                starts = [form.start for form in region.totals]
                totals = [a + b for a, b in zip(totals, starts, strict=True)]
                index = _ahead(totals, region.margin)
            else:
                assert region.at_least is not None, "one total has cut-offs"
                assert region.at_most is not None, "one total has cut-offs"
                index = 0 if totals[0] <= region.at_most else None
                index = 1 if totals[0] >= region.at_least else index
            return index, f"region {number}, {_totals_text(totals)}"
        return None, "no region"


def counted(column: Column, points: Fraction) -> Fraction:
    """Return what the sum of a part counts."""
    if column.below is not None and points < 0:
        points *= column.below
    points = points if column.low is None else max(points, column.low)
    return points if column.high is None else min(points, column.high)


def _added(weights: Sequence[Fraction], numbers: Sequence[Fraction]) -> Fraction:
    both = zip(weights, numbers, strict=True)
    return sum((a * b for a, b in both), Fraction(0))


def _ahead(totals: Sequence[Fraction], margin: Fraction) -> int | None:
    best = max(range(len(totals)), key=lambda place: totals[place])
    rest = [total for place, total in enumerate(totals) if place != best]
    return best if totals[best] - max(rest) >= margin else None


def _totals_text(totals: Sequence[Fraction]) -> str:
    shown = ", ".join(number_text(total) for total in totals)
    return f"total{'s' if len(totals) > 1 else ''} {shown}"


def number_text(number: Fraction) -> str:
    """Return a number with up to twelve digits, however large it is."""
    if number.denominator == 1 and abs(number) < 10**12:
        return f"{number.numerator:,}"
    with localcontext(Context(prec=30)):
        return f"{Decimal(number.numerator) / Decimal(number.denominator):,.12g}"
