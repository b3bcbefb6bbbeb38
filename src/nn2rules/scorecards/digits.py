"""How many digits points have: the fewest that tell the rows apart."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import OptionError
from nn2rules.language import count
from nn2rules.scorecards.printed_card import (
    PointsTable,
    is_one_unit,
    score_reach,
    table_of,
)
from nn2rules.scorecards.scale import Scale
from nn2rules.space import is_number

if TYPE_CHECKING:
    from nn2rules.scorecards.scorecard import Scorecard

Inputs = tuple[NDArray[np.int64], NDArray[np.float64] | None]

MOST_BETWEEN = Fraction(1, 200)
"""The largest share of rows that may lie between two cut-offs."""

_SIZES = (100, 300, 1000, 3000, 10**4, 30_000, 10**5, 10**6)
_REGION_SIZES = (1000, 10**4, 10**5, 10**6)
_DIGITS = range(7)


def fitting_digits(card: "Scorecard", scale: Scale, inputs: Inputs | None) -> int:
    """Return the fewest digits with which a printed card tells inputs apart.

    Without inputs: enough digits to keep the gap between the cut-offs small, compared
    with what totals reach.
    """
    for digits in _DIGITS:
        if _is_fine(table_of(card, replace(scale, digits=digits)), inputs):
            break
    return digits


_BINS = (5, 10, 20, 50, 100)
_FEW, _MANY = Fraction(1, 20), Fraction(1, 4)


def with_bins(
    card: "Scorecard", scale: Scale, bins: int | Literal["auto"], inputs: Inputs | None
) -> Scale:
    """Return a scale with bins for ranges of numbers.

    "auto" takes the fewest bins that leave hardly any, or else few, of the inputs
    between two cut-offs. Bins that leave many are refused.
    """
    if bins != "auto" and not is_number(bins):
        raise OptionError(f"bins: {bins!r}, expected a number or 'auto'")
    if not card.domain.has_ranges:
        raise OptionError("bins are for ranges of numbers, and this scorecard has none")
    tried = [replace(scale, bins=n) for n in (_BINS if bins == "auto" else (bins,))]
    shares = []
    for one in tried:
        shares.append(_between(table_of(card, one), inputs))
        if shares[-1] <= MOST_BETWEEN:
            return one
    few = [one for one, part in zip(tried, shares, strict=True) if part <= _FEW]
    if few:
        return few[0]
    if bins == "auto" or min(shares) > _MANY:
        what = "the rows" if inputs is not None else "all totals"
        bins_text = count(tried[-1].bins or 0, "bin")
        raise OptionError(
            f"bins: with {bins_text}, {float(min(shares)):.0%} of {what} would lie "
            f"between two proved cut-offs; leave bins out: a number then has points "
            f"per unit"
        )
    return tried[0]


def _between(table: PointsTable, inputs: Inputs | None) -> Fraction:
    """Return the share of inputs, or else of the scale, that is too close."""
    if inputs is None:
        low, high = table.reach
        widths = [cut.at_least - cut.at_most for cut in table.cut_offs]
        widths += [table.margin] if table.margin is not None else []
        return sum(widths, Fraction(0)) / max(high - low, table.step)
    found = table.predict_codes(*inputs)
    return Fraction(int((found < 0).sum()), max(len(found), 1))


def default_table(card: "Scorecard", inputs: Inputs | None) -> PointsTable:
    """Return the card printed with whole points, with as few digits as suffice.

    A card that was trained in whole points has these. Of others, totals cover some
    hundred points, of the rows or else of all inputs.
    """
    factor = _whole_factor(card)
    if factor is not None:
        return table_of(card, Scale(factor))
    spread = _spread(card, inputs)
    sizes = _REGION_SIZES if card.regions else _SIZES
    for size in sizes:
        factor = 1.0
        if math.isfinite(spread) and spread > 0:
            factor = _round_factor(size / spread)
        factor *= _sign(card)
        table = table_of(card, Scale(factor))
        if _is_fine(table, inputs):
            break
    return table


def _sign(card: "Scorecard") -> int:
    """Return −1 if all parts count against the second class, so that they are added."""
    if card.kind != "parts" or len(card.classes) > 2 or is_one_unit(card):
        return 1
    weights = card.upper[0].weights
    leads = weights[:, -1] - (weights[:, 0] if weights.shape[1] == 2 else 0.0)
    return -1 if (leads <= 0).all() and (leads < 0).any() else 1


_MOST_POINTS, _MOST_HALVINGS = 1000, 10


def _whole_factor(card: "Scorecard") -> float | None:
    """Return what makes all points of a card whole, and not too large; or None.

    Weights of trained scorecards are whole points divided by a power of two.
    """
    if card.upper or card.domain.has_ranges:
        return None
    numbers = np.array([*(c.points for c in card.cards)]).ravel()
    numbers = np.append(numbers, [one.base for one in card.cards])
    for power in range(_MOST_HALVINGS + 1):
        points = numbers * 2.0**power
        if np.abs(points).max() > _MOST_POINTS:
            return None
        if (points == np.floor(points)).all():
            return 2.0**power
    return None


def _is_fine(table: PointsTable, inputs: Inputs | None) -> bool:
    """Tell whether few inputs are too close to a cut-off for rounded points."""
    if inputs is None:
        low, high = table.reach
        widths = [cut.at_least - cut.at_most for cut in table.cut_offs]
        widths += [table.margin] if table.margin is not None else []
        return sum(widths) <= max(MOST_BETWEEN * (high - low), table.step)
    found = table.predict_codes(*inputs)
    return int((found < 0).sum()) <= MOST_BETWEEN * len(found)


def _spread(card: "Scorecard", inputs: Inputs | None) -> float:
    """Return how far scores lie apart, of rows or else of all inputs."""
    if inputs is None or not len(inputs[0]):
        low, high = score_reach(card)
        try:
            return float(high - low)
        except OverflowError:
            return math.inf
    first = card.network.layers[0]
    if card.upper and len(card.cards) > 1:
        scores = card.network.scores_codes(*inputs).reshape(len(inputs[0]), -1)
    else:
        picked = first.weights[inputs[0] + card.domain.offsets[:-1]]
        if inputs[1] is not None:
            picked = picked * inputs[1][:, :, np.newaxis]
        scores = picked.sum(axis=1)
    if scores.shape[1] > 1:
        scores = scores - scores.mean(axis=1, keepdims=True)
    return float(np.ptp(scores))


def _round_factor(factor: float) -> float:
    """Return a factor with one digit: points stay what they are, and read better.

    Examples
    --------
    >>> _round_factor(37.2), _round_factor(0.00123)
    (40.0, 0.001)
    """
    return float(f"{factor:.0e}") or factor
