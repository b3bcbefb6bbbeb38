"""Linear regions on part cards: for networks that are wider or deeper than a few parts.

Within a region every unit of a piecewise-linear network stays on one piece, so its
scores are linear in the sums of the part cards. A `CardRegion` says where: each of its
conditions is linear in these sums, too. Printed conditions carry a margin that is
proved, as cut-offs are: a row that meets them by the printed points is in the region.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.network import Affine, Network
from nn2rules.scorecards.sums import (
    ZERO,
    Interval,
    plus,
    power_below,
    rounded,
    rounded_down,
    rounded_up,
    stretched,
)
from nn2rules.scorecards.whole_arrays import WholeArray, combined, is_at_least

if TYPE_CHECKING:
    from nn2rules.engine import LinearRegion
    from nn2rules.scorecards.printed_card import Column

TOO_CLOSE = -1
"""What an input gets instead of a class, of which the printed points prove none."""

MOST_REGIONS = 256
"""How many linear regions a scorecard has at most, unless something else is asked."""


@dataclass(frozen=True, slots=True)
class CardRegion:
    """A part of the domain on which the scores are linear in the sums of part cards.

    Attributes
    ----------
    conditions : tuple of Affine
        An input is in the region if all of them are at least 0 for its sums.
    scores : tuple of Affine or None
        The scores there; None if it is proved that there is only one class.
    classes : tuple of int
        The positions of the classes that inputs there may have.
    """

    conditions: tuple[Affine, ...]
    scores: tuple[Affine, ...] | None
    classes: tuple[int, ...]

    def plain(self) -> dict[str, Any]:
        """Return the region as plain values; fractions are texts such as "-1/3"."""
        found: dict[str, Any] = {"conditions": [*map(_plain, self.conditions)]}
        if self.scores is not None:
            found["scores"] = [*map(_plain, self.scores)]
        return found | {"classes": list(self.classes)}

    def contains(self, sums: Sequence[Fraction]) -> bool:
        """Tell whether an input is in the region, by the exact sums of its cards."""
        return all(condition.at(sums) >= 0 for condition in self.conditions)


def _plain(form: Affine) -> dict[str, Any]:
    return {"parts": [*map(str, form.coefficients)], "constant": str(form.constant)}


def regions_of(network: Network, max_regions: int) -> tuple[CardRegion, ...]:
    """Return the regions of a network, which together hold every input."""
    # Here and not above: reading a scorecard from a file must not load numba.
    from nn2rules.engine import linear_regions

    return tuple(
        _card_region(found)
        for found in linear_regions(network, max_regions=max_regions)
    )


def _card_region(found: "LinearRegion") -> CardRegion:
    conditions = tuple(half.form for half in found.conditions)
    scores = found.scores if len(found.classes) > 1 else None  # else they add nothing
    return CardRegion(conditions, scores, found.classes)


@dataclass(frozen=True, slots=True)
class PrintedForm:
    """A sum of part columns, each times a printed weight, and how far it is off.

    Attributes
    ----------
    weights : tuple of Fraction
        For each column.
    start : Fraction
    error : (Fraction, Fraction)
        How far it can lie from the exact form, times a factor above 0.
    """

    weights: tuple[Fraction, ...]
    start: Fraction
    error: Interval

    def is_at_least(self, sums: WholeArray, least: Fraction) -> NDArray[np.bool_]:
        """Tell where it is at least a number, by column sums; all counted in steps."""
        values, denominator = combined(sums, [self.weights], [ZERO])
        return is_at_least(values[:, 0], least * denominator)


@dataclass(frozen=True, slots=True)
class PrintedRegion:
    """A region as it is printed.

    Attributes
    ----------
    conditions : tuple of (PrintedForm, Fraction)
        A row is in the region if each form is at least its number.
    totals : tuple of PrintedForm
        None if there is one class only; one of two classes; or one for each class.
    at_most, at_least : Fraction or None
        Of one total: the two cut-offs.
    margin : Fraction or None
        Of several: how far one has to be ahead.
    classes : tuple of int
    """

    conditions: tuple[tuple[PrintedForm, Fraction], ...]
    totals: tuple[PrintedForm, ...]
    at_most: Fraction | None
    at_least: Fraction | None
    margin: Fraction | None
    classes: tuple[int, ...]

    def contains(self, sums: WholeArray, step: Fraction) -> NDArray[np.bool_]:
        """Tell which rows are proved to be in it, by column sums counted in steps."""
        left = np.arange(len(sums))
        for form, least in self.conditions:
            left = left[form.is_at_least(sums[left], least / step)]
        inside = np.zeros(len(sums), dtype=np.bool_)
        inside[left] = True
        return inside

    def shown_totals(self, sums: WholeArray, step: Fraction) -> tuple[WholeArray, int]:
        """Return the totals of rows in the region, one for each form.

        They are whole numbers, and what to divide them by to get steps.
        """
        starts = [form.start / step for form in self.totals]
        if self.at_least is not None:  # its start is in the cut-offs
            starts = [ZERO]
        return combined(sums, [form.weights for form in self.totals], starts)

    def predicted(self, sums: WholeArray, step: Fraction) -> NDArray[np.int64]:
        """Return the classes that are proved for rows in the region; -1 for none."""
        if not self.totals:
            return np.full(len(sums), self.classes[0], dtype=np.int64)
        totals, denominator = self.shown_totals(sums, step)
        if self.margin is not None:
            return leaders(totals, self.margin / step * denominator)
        assert self.at_most is not None, "there are two cut-offs"
        assert self.at_least is not None, "there are two cut-offs"
        found = np.full(len(sums), TOO_CLOSE, dtype=np.int64)
        found[is_at_least(-totals[:, 0], -self.at_most / step * denominator)] = 0
        found[is_at_least(totals[:, 0], self.at_least / step * denominator)] = 1
        return found


def leaders(totals: WholeArray, margin: Fraction) -> NDArray[np.int64]:
    """Return for each row the largest total if it leads by a margin; else -1."""
    ordered = np.sort(totals, axis=1)
    is_ahead = is_at_least(ordered[:, -1] - ordered[:, -2], margin)
    return np.where(is_ahead, totals.argmax(axis=1), TOO_CLOSE)


@dataclass(frozen=True, slots=True)
class PrintedPart:
    """A part column, and what forms need to know of it.

    Attributes
    ----------
    card : int
    factor : Fraction
        How many points a unit of the part card is.
    reach : (Fraction, Fraction)
        The least and the most of the exact part card, in points.
    error : (Fraction, Fraction)
        How far the printed sum can lie from the exact one.
    step : Fraction
        The step of a weight, so that its products are off by half a step of points.
    """

    card: int
    factor: Fraction
    reach: Interval
    error: Interval
    step: Fraction


def printed_part(
    column: "Column", factor: Fraction, reach: Interval, step: Fraction
) -> PrintedPart:
    """Return a part, whose reach is given in the units of the network."""
    in_points = stretched(reach, factor)
    size = max(map(abs, in_points))
    weight_step = min(power_below(step / size), Fraction(1)) if size else step
    return PrintedPart(column.card, factor, in_points, column.error, weight_step)


@dataclass(frozen=True, slots=True)
class RegionPrinter:
    """Rounds the forms of regions, over part columns that are rounded already.

    Attributes
    ----------
    parts : tuple of PrintedPart
    step : Fraction
    factor : Fraction
        Points for a unit of the score; above 0.
    logit : (Fraction, Fraction)
        Two scores around the cut-off of a single score: up to the first one the class
        is 0, and from the second one on it is 1.
    """

    parts: tuple[PrintedPart, ...]
    step: Fraction
    factor: Fraction
    logit: Interval

    def all_printed(self, regions: Sequence[CardRegion]) -> Iterator[PrintedRegion]:
        """Yield regions as they are printed; conditions that many share, once."""
        conditions = {each for region in regions for each in region.conditions}
        known = {each: self._condition(each) for each in conditions}
        for region in regions:
            shown = tuple(known[each] for each in region.conditions)
            yield self._printed(region, shown)

    def _condition(self, exact: Affine) -> tuple[PrintedForm, Fraction]:
        """Return a condition as it is printed, and what it has to be at least."""
        form = self._form(exact, self._size(exact))
        return form, rounded_up(form.error[1] - form.start, self.step)

    def _printed(
        self, region: CardRegion, shown: tuple[tuple[PrintedForm, Fraction], ...]
    ) -> PrintedRegion:
        """Return a region with its printed conditions."""
        if region.scores is None:
            return PrintedRegion(shown, (), None, None, None, region.classes)
        scores = region.scores
        if len(scores) == 2:
            scores = (_difference(scores[1], scores[0]),)
        totals = tuple(self._form(score, self.factor) for score in scores)
        if len(totals) == 1:
            [total] = totals
            # The exact total is the printed one, its start included, less its error.
            low, high = (self.factor * end - total.start for end in self.logit)
            return PrintedRegion(
                shown,
                totals,
                rounded_down(low + total.error[0], self.step),
                rounded_up(high + total.error[1], self.step),
                None,
                region.classes,
            )
        worst = max(
            one.error[1] - other.error[0]
            for one in totals
            for other in totals
            if one is not other
        )
        margin = rounded_down(worst, self.step) + self.step
        return PrintedRegion(shown, totals, None, None, margin, region.classes)

    def _size(self, exact: Affine) -> Fraction:
        """Return a factor by which the largest weight of a form becomes 1."""
        sizes = (abs(exact.coefficients[p.card]) / p.factor for p in self.parts)
        largest = max(sizes, default=ZERO)
        return 1 / largest if largest else Fraction(1)

    def _form(self, exact: Affine, factor: Fraction) -> PrintedForm:
        """Round a form, times a factor, over the printed columns."""
        exact_start = factor * exact.constant
        start = rounded(exact_start, self.step)
        weights, errors = [], [(start - exact_start, start - exact_start)]
        for part in self.parts:
            coefficient = exact.coefficients[part.card]
            if not coefficient:
                weights.append(ZERO)
                continue
            # The exact form counts ``weight`` points for a point of this column.
            weight = factor * coefficient / part.factor
            own = rounded(weight, part.step)
            errors.append(stretched(part.error, own))
            errors.append(stretched(part.reach, own - weight))
            weights.append(own)
        return PrintedForm(tuple(weights), start, plus(*errors))


def leads_of(region: CardRegion) -> list[Affine]:
    """Return what decides in a region: one score, or the leads of several."""
    scores = region.scores or ()
    if len(scores) < 2:
        return [*scores]
    return [_difference(one, other) for one in scores for other in scores[:1]][1:]


def _difference(one: Affine, other: Affine) -> Affine:
    both = zip(one.coefficients, other.coefficients, strict=True)
    return Affine(tuple(a - b for a, b in both), one.constant - other.constant)
