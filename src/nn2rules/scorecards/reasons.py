"""Why a row gets its class: the features that cost it most points."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import OptionError
from nn2rules.language import label_text
from nn2rules.scorecards.printed_card import Column, PointsTable
from nn2rules.scorecards.sums import Block
from nn2rules.space import Feature, Range, Rows, Value, plain_number, whole_number

if TYPE_CHECKING:
    from nn2rules.scorecards.scorecard import Scorecard


@dataclass(frozen=True, slots=True)
class Reason:
    """What a feature costs a row.

    Attributes
    ----------
    feature : str
    value : str, int, float, bool or None
        What the row has.
    points : int or float
        How many points it would gain towards the wanted class, all other features as
        they are, if it had `instead`.
    instead : str, int, float, bool or None
        The best value of the feature for this row, or the typical one.
    """

    feature: str
    value: Value
    points: float
    instead: Value


def reasons_of(
    card: "Scorecard", rows: Rows, *, wanted: Value, against: str, most: int
) -> list[tuple[Reason, ...]]:
    """Return what `Scorecard.reasons` does."""
    if against not in ("best", "typical"):
        raise OptionError(f"against: {against!r}, expected 'best' or 'typical'")
    if against == "typical" and card.profile is None:
        raise OptionError(
            "the typical values are not known; extract the card with data"
        )
    if wanted is not None and wanted not in card.classes:
        known = ", ".join(map(label_text, card.classes))
        raise OptionError(f"wanted: {wanted!r}, expected one of the classes {known}")
    if card.regions:
        raise OptionError(
            "reasons are for cards with one way to a total; nn2rules.explain has those "
            "of a network with regions"
        )
    most = whole_number("most", most)
    codes, numbers = card.domain.inputs_of(rows)
    predicted = card.predict_codes(codes, numbers)
    finder = _Finder(card, card.table)
    typical = None
    if against == "typical":
        assert card.profile is not None, "refused above"
        row = dict(zip(card.domain.names, card.profile.typical, strict=True))
        typical = card.domain.inputs_of([row])
    target = None if wanted is None else card.classes.index(wanted)
    found = []
    for index in range(len(codes)):
        one = codes[index], None if numbers is None else numbers[index]
        reasons = finder.reasons(one, int(predicted[index]), target, typical)
        found.append(tuple(reasons[:most]))
    return found


class _Finder:
    """Looks for the value of a feature that would gain most points."""

    def __init__(self, card: "Scorecard", table: PointsTable) -> None:
        self.card, self.table = card, table

    def reasons(
        self,
        one: tuple[NDArray[np.int64], NDArray[np.float64] | None],
        predicted: int,
        target: int | None,
        typical: Any,
    ) -> list[Reason]:
        """Return the reasons of an input, those that cost most points first."""
        codes, numbers = one
        table = self.table
        batch = codes[np.newaxis], None if numbers is None else numbers[np.newaxis]
        steps = table.steps_of(*batch)[0].astype(object)
        sums = table.sums_of(steps[np.newaxis])[0]
        gain = self._direction(sums, predicted, target)
        now = gain(sums)
        found = []
        for index, feature in enumerate(self.card.domain.features):
            others = sums - steps[:, index]
            choices = self._choices(index, others)
            if typical is not None:
                kept = None if typical[1] is None else typical[1][0, index]
                choices = [(int(typical[0][0, index]), kept)]
            best = max(
                ((gain(others + self._steps(index, *c)) - now, c) for c in choices),
                key=lambda pair: pair[0],
            )
            points = best[0] * table.step
            if points <= 0:
                continue
            number = None if numbers is None else float(numbers[index])
            value = self._value(feature, int(codes[index]), number)
            instead = self._value(feature, *best[1])
            plain = points.numerator if points.denominator == 1 else float(points)
            found.append(Reason(feature.name, value, plain, instead))
        return sorted(found, key=lambda reason: -reason.points)

    def _direction(self, sums: Any, predicted: int, target: int | None) -> Any:
        """Return a function of column sums: how far they lead to the wanted class."""
        table = self.table
        totals = table.totals_of(sums[np.newaxis])[0]
        if table.margin is None:
            sign = self._sign(predicted, target)
            return lambda s: Fraction(sign * table.totals_of(s[np.newaxis])[0, 0])
        wanted = target
        if wanted is None:
            order = sorted(range(len(totals)), key=lambda place: -totals[place])
            wanted = next(place for place in order if place != predicted)
        rival = predicted
        if rival == wanted:
            order = sorted(range(len(totals)), key=lambda place: -totals[place])
            rival = next(place for place in order if place != wanted)

        def lead(one: Any) -> Fraction:
            found = table.totals_of(one[np.newaxis])[0]
            return Fraction(found[wanted] - found[rival])

        return lead

    def _sign(self, predicted: int, target: int | None) -> int:
        """Return 1 if a larger total leads to the wanted class, and -1 if a smaller.

        By default the wanted class is a neighbour of the predicted one.
        """
        order = [self.table.lowest_class, *(c.above for c in self.table.cut_offs)]
        own = order.index(predicted) if predicted in order else 0
        wanted = own if target is None or target not in order else order.index(target)
        if wanted != own:
            return 1 if wanted > own else -1
        is_last = own == len(order) - 1
        return 1 if is_last == (target is not None) else -1

    def _choices(self, index: int, others: Any) -> list[tuple[int, float | None]]:
        """Return the values of a feature among which the best one is.

        Along a range these are its ends, and where a part begins or stops to count.
        """
        block, table = self.table.blocks[index], self.table
        feature = self.card.domain.features[index]
        first = block.limits is not None
        choices: list[tuple[int, float | None]] = [
            (code, 1.0) for code in range(int(first), len(feature))
        ]
        if block.limits is None:
            return choices
        low, high = block.limits
        bins = table.bins[index]
        if bins is not None:
            return choices + [(0, float(start)) for start, _ in bins]
        places = {low, high}
        for column, rest in zip(table.columns, others.tolist(), strict=True):
            places |= set(_kinks(column, block, rest * table.step))
        for place in places:
            if low <= place <= high:
                near = [float(place)]
                if feature.whole:
                    near = [float(place.__floor__()), float(place.__ceil__())]
                choices += [(0, number) for number in near if low <= number <= high]
        return choices

    def _steps(self, index: int, code: int, number: float | None) -> Any:
        """Return the points of one value of a feature in each column, in steps."""
        own = None if number is None else np.array([number])
        return self.table.feature_steps(index, np.array([code]), own)[0].astype(object)

    def _value(self, feature: Feature, code: int, number: float | None) -> Value:
        if isinstance(feature, Range) and code == 0:
            assert number is not None, "a range has numbers"
            cell = feature.cell_of(number)
            return plain_number(cell) if isinstance(cell, int | float) else cell
        return feature.values[code]


def _kinks(column: Column, block: Block, rest: Fraction) -> list[Fraction]:
    """Return the numbers of a range at which a column begins or stops to count."""
    rate = column.points[block.start]
    ends = [end for end in (column.low, column.high) if end is not None]
    ends += [Fraction(0)] * (column.below is not None)
    return [(end - rest) / rate for end in ends] if rate else []
