"""Linear regions on part cards: for networks that are wider or deeper than a few parts.

Within a region every unit of a piecewise-linear network stays on one piece, so its
scores are linear in the sums of the part cards. A `CardRegion` says where: each of its
conditions is linear in these sums, too. Printed conditions carry a margin that is
proved, as cut-offs are: a row that meets them by the printed points is in the region.
"""

from collections.abc import Sequence
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
    times,
)

if TYPE_CHECKING:
    from nn2rules.engine import LinearRegion
    from nn2rules.scorecards.printed_card import Column

_NEAR = 1e-9
"""Floats that are nearer to each other than this share are compared as fractions."""

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

    def at(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Return its values for column sums in points, without the start."""
        weights = np.array(self.weights, object)
        values: NDArray[Any] = (columns * weights).sum(axis=1)
        return values

    def is_at_least(self, columns: NDArray[Any], least: Fraction) -> NDArray[np.bool_]:
        """Tell where it is at least a number: in fractions where floats are near."""
        try:
            weights = np.array([float(weight) for weight in self.weights])
            floats, near_least = columns.astype(np.float64), float(least)
        except OverflowError:  # points beyond what a float can be
            return (self.at(columns) >= least).astype(bool)
        ahead = floats @ weights - near_least
        size = np.abs(floats) @ np.abs(weights) + abs(near_least)
        found: NDArray[np.bool_] = ahead > 0
        near = np.flatnonzero(np.abs(ahead) <= _NEAR * size)
        if len(near):
            found[near] = (self.at(columns[near]) >= least).astype(bool)
        return found


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

    def contains(self, columns: NDArray[Any]) -> NDArray[np.bool_]:
        """Tell which rows are proved to be in it, by their column sums in points."""
        inside = np.ones(len(columns), dtype=np.bool_)
        for form, least in self.conditions:
            inside &= form.is_at_least(columns, least)
        return inside

    def shown_totals(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Return the totals of rows in the region, one for each form."""
        if self.at_least is not None:  # its start is in the cut-offs
            return self.totals[0].at(columns)[:, np.newaxis]
        return np.stack([form.at(columns) + form.start for form in self.totals], axis=1)

    def predicted(self, columns: NDArray[Any]) -> NDArray[np.int64]:
        """Return the classes that are proved for rows in the region; -1 for none."""
        found = np.full(len(columns), -1, dtype=np.int64)
        if not self.totals:
            found[:] = self.classes[0]
        elif self.at_least is not None:
            assert self.at_most is not None, "there are two cut-offs"
            total = self.totals[0]
            minus = PrintedForm(tuple(-w for w in total.weights), ZERO, total.error)
            found[minus.is_at_least(columns, -self.at_most)] = 0
            found[total.is_at_least(columns, self.at_least)] = 1
        else:
            totals = self.shown_totals(columns)
            best = np.array([int(np.argmax(row)) for row in totals], np.int64)
            rest = np.sort(totals, axis=1)
            ahead = (rest[:, -1] - rest[:, -2] >= self.margin).astype(bool)
            found[ahead] = best[ahead]
        return found


@dataclass(frozen=True, slots=True)
class RegionPrinter:
    """Rounds the forms of regions, over part columns that are rounded already.

    Attributes
    ----------
    columns : tuple of Column
    factors : tuple of Fraction
        How many points a unit of each part card is.
    reaches : tuple of (Fraction, Fraction)
        The least and the most of each part card, in the units of the network.
    step : Fraction
    factor : Fraction
        Points for a unit of the score; above 0.
    logit : (Fraction, Fraction)
        Two scores around the cut-off of a single score: up to the first one the class
        is 0, and from the second one on it is 1.
    """

    columns: "tuple[Column, ...]"
    factors: tuple[Fraction, ...]
    reaches: tuple[Interval, ...]
    step: Fraction
    factor: Fraction
    logit: Interval

    def printed(self, region: CardRegion) -> PrintedRegion:
        """Return a region as it is printed."""
        conditions = []
        for condition in region.conditions:
            form = self._form(condition, self._size(condition))
            least = rounded_up(form.error[1] - form.start, self.step)
            conditions.append((form, least))
        shown = tuple(conditions)
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
        sizes = [
            abs(exact.coefficients[column.card]) / factor
            for column, factor in zip(self.columns, self.factors, strict=True)
        ]
        largest = max(sizes, default=ZERO)
        return 1 / largest if largest else Fraction(1)

    def _form(self, exact: Affine, factor: Fraction) -> PrintedForm:
        """Round a form, times a factor, over the printed columns."""
        weights, error = [], (ZERO, ZERO)
        for place, column in enumerate(self.columns):
            # The exact form counts ``weight`` points for a point of this column.
            weight = factor * exact.coefficients[column.card] / self.factors[place]
            size = max(map(abs, self.reaches[place])) * self.factors[place]
            step = (
                min(power_below(self.step / size), Fraction(1)) if size else self.step
            )
            own = rounded(weight, step)
            off = own - weight
            exact_sum = times((self.factors[place],) * 2, self.reaches[place])
            error = plus(error, times((own, own), column.error))
            error = plus(error, times((off, off), exact_sum))
            weights.append(own)
        exact_start = factor * exact.constant
        start = rounded(exact_start, self.step)
        off = start - exact_start
        return PrintedForm(tuple(weights), start, plus(error, (off, off)))


def leads_of(region: CardRegion) -> list[Affine]:
    """Return what decides in a region: one score, or the leads of several."""
    scores = region.scores or ()
    if len(scores) < 2:
        return [*scores]
    return [_difference(one, other) for one in scores for other in scores[:1]][1:]


def _difference(one: Affine, other: Affine) -> Affine:
    both = zip(one.coefficients, other.coefficients, strict=True)
    return Affine(tuple(a - b for a, b in both), one.constant - other.constant)
