"""The scale on which points are printed, and the ways to say which one is meant."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from nn2rules.errors import OptionError
from nn2rules.language import label_text
from nn2rules.scorecards.sums import Interval
from nn2rules.space import Value, is_number, whole_number

if TYPE_CHECKING:
    from nn2rules.scorecards.scorecard import Scorecard

_MOST_DIGITS = 12
MOST_BINS = 1000


@dataclass(frozen=True, slots=True)
class Scale:
    """How points are printed: ``factor * score + offset``, rounded.

    Attributes
    ----------
    factor : float
        Points for each unit of the network's score; below 0, more points mean the first
        class.
    offset : float or None
        The points of the score 0. None: chosen so that nothing is added at the start:
        the total is the sum of the lines.
    digits : int
        How many digits behind the point are kept.
    bins : int or None
        Into how many bins at most a range of numbers is cut, each with points of its
        own. None: a range has points per unit.
    """

    factor: float
    offset: float | None = None
    digits: int = 0
    bins: int | None = None

    def __post_init__(self) -> None:
        if not math.isfinite(self.factor) or not self.factor:
            raise OptionError(f"factor: {self.factor}, expected a number other than 0")
        if self.offset is not None and not math.isfinite(self.offset):
            raise OptionError(f"offset: {self.offset}, expected a finite number")
        if not 0 <= self.digits <= _MOST_DIGITS:
            raise OptionError(f"digits: {self.digits}, expected 0 to {_MOST_DIGITS}")
        if (
            self.bins is not None
            and not 1 <= whole_number("bins", self.bins) <= MOST_BINS
        ):
            raise OptionError(f"bins: {self.bins}, expected 1 to {MOST_BINS}")


def wished_scale(
    card: "Scorecard",
    *,
    points_to_double_odds: float | None,
    odds: float | None,
    base_score: float | None,
    minimum: float | None,
    maximum: float | None,
    higher: Value,
    reach: Callable[[], Interval],
) -> Scale:
    """Return the scale that these options of `Scorecard.scaled` describe.

    `reach` gives the least and the most that a score can be.
    """
    given: dict[str, Any] = {
        "points_to_double_odds": points_to_double_odds,
        "odds": odds,
        "base_score": base_score,
        "minimum": minimum,
        "maximum": maximum,
    }
    for name, number in given.items():
        if number is not None and not (is_number(number) and math.isfinite(number)):
            raise OptionError(f"{name}: {number!r}, expected a number")
    sign = _sign(card, higher)
    if points_to_double_odds is not None:
        if minimum is not None or maximum is not None:
            raise OptionError(
                "give points_to_double_odds, or minimum and maximum, not both"
            )
        return _by_odds(card, sign, points_to_double_odds, odds, base_score)
    if odds is not None or base_score is not None:
        raise OptionError("odds and base_score go with points_to_double_odds")
    if minimum is None or maximum is None:
        raise OptionError("expected points_to_double_odds, or minimum and maximum")
    if not minimum < maximum:
        raise OptionError(f"minimum: {minimum}, expected less than maximum ({maximum})")
    low, high = reach()
    if low == high:
        raise OptionError("all inputs have the same score, which no scale spreads")
    factor = sign * float((Fraction(maximum) - Fraction(minimum)) / (high - low))
    start = low if sign > 0 else high
    return Scale(factor, float(Fraction(minimum) - Fraction(factor) * start))


def _by_odds(
    card: "Scorecard",
    sign: int,
    points: float,
    odds: float | None,
    base_score: float | None,
) -> Scale:
    if not card.has_probabilities:
        raise OptionError(
            "points_to_double_odds needs a model with probabilities; of this one the "
            "scores are not log-odds"
        )
    if card.upper and len(card.cards) == 1:
        raise OptionError(
            "points_to_double_odds: the total is the sum of a hidden unit, which is "
            "not log-odds; give minimum and maximum"
        )
    if points <= 0:
        raise OptionError(f"points_to_double_odds: {points}, expected more than 0")
    size = points / math.log(2)
    if (odds is None) != (base_score is None):
        raise OptionError("odds and base_score belong together: give both or neither")
    if odds is None or base_score is None:
        return Scale(sign * size)
    if odds <= 0:
        raise OptionError(f"odds: {odds}, expected more than 0, such as 50 for 50 : 1")
    return Scale(sign * size, base_score - size * math.log(odds))


def _sign(card: "Scorecard", higher: Value) -> int:
    """Return 1 if more points mean the second class, and -1 for the first."""
    if higher is None:
        return 1
    if higher not in card.classes:
        known = ", ".join(map(label_text, card.classes))
        raise OptionError(f"higher: {higher!r}, expected one of the classes {known}")
    if len(card.classes) > 2:
        raise OptionError("higher is for two classes; each of more has its own total")
    return 1 if card.classes.index(higher) == 1 else -1
