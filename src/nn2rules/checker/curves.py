"""Ranges that the network reads along a curve: their values, computed independently.

The network sees values ``z = curve(x)``, the rules are about the numbers x, and only
some values belong to a number. Curves never fall, so a span of numbers has the values
from that of its first number to that of its last. No other number has one of these,
unless it has the same value as an end. Such rules tell numbers apart that the network
reads as one, and are refused.
"""

import decimal
import math
from bisect import bisect_left, bisect_right
from decimal import Decimal
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import DomainError
from nn2rules.space import Curve, Curved, Domain, Shape

_DIGITS = (32, 160)
"""Digits to which a value is computed; more if they do not determine its float."""

_SURE = 8  # digits of these that may be wrong

Span = tuple[float, float]
Knots = tuple[tuple[float, float], ...]


@cache
def _context(digits: int) -> decimal.Context:
    return decimal.Context(prec=digits, Emin=-999999, Emax=999999)


_EXACT = _context(1200)


def value_at(curve: Curve, number: float) -> float:
    """Return the value at a number: that of the real function, to the nearest float."""
    if curve.shape.kind == "quantiles":
        return float(_share(curve.shape.knots, float(number)))
    found = 0.0
    for digits in _DIGITS:
        value = _value(curve.shape, Decimal(number), digits)
        context = _context(digits + _SURE)
        error = context.scaleb(context.abs(value), _SURE - digits)
        low = float(context.subtract(value, error))
        found, high = float(value), float(context.add(value, error))
        if low == high:
            break
    return found + 0.0


def _value(shape: Shape, x: Decimal, digits: int) -> Decimal:
    """Return a value of a function, to about this many digits."""
    if shape.kind == "log10":
        return _context(digits).log10(x)
    if shape.kind == "sqrt":
        return _context(digits).sqrt(x)
    is_moved = shape.kind in ("log1p", "yeo-johnson")
    spare = max(0, -x.adjusted()) if is_moved and x else 0  # 1 + x holds all of x
    context = _context(digits + spare)
    logarithm = context.ln(context.add(1, x.copy_abs()) if is_moved else x)
    if shape.kind == "log1p" and x < 0:
        logarithm = context.ln(context.add(1, x))
    if shape.kind == "log2":
        return context.divide(logarithm, context.ln(Decimal(2)))
    if shape.power is None:
        return logarithm
    is_below = is_moved and x < 0
    power = Decimal(shape.power)
    power = _EXACT.subtract(2, power) if is_below else power
    value = _grown(logarithm, power, context)
    return value.copy_negate() if is_below else value


def _grown(logarithm: Decimal, power: Decimal, context: decimal.Context) -> Decimal:
    """Return ``(exp(power * logarithm) - 1) / power``; of the power 0 its limit."""
    if not power or not logarithm:
        return logarithm
    product = context.multiply(power, logarithm)
    spare = max(0, -product.adjusted())  # what the 1 cancels
    wide = _context(context.prec + spare)
    return wide.divide(wide.subtract(wide.exp(product), 1), power)


def _share(knots: Knots, number: float) -> Fraction:
    """Return the share of a number: on the lines between knots, or the mean at them."""
    if number <= knots[0][0] or number >= knots[-1][0]:
        return Fraction(knots[0 if number <= knots[0][0] else -1][1])
    below = bisect_left(knots, (number, -math.inf)) - 1
    above = bisect_right(knots, (number, math.inf))
    if above - below > 1:  # there are knots at the number
        return (Fraction(knots[below + 1][1]) + Fraction(knots[above - 1][1])) / 2
    (x, low), (end, high) = (map(Fraction, knots[at]) for at in (below, above))
    return low + (Fraction(number) - x) * (high - low) / (end - x)


def beside(curve: Curve, number: float, step: int) -> float:
    """Return the number before (-1) or behind (1) another one."""
    return number + step if curve.whole else math.nextafter(number, step * math.inf)


def values_of_span(feature: Curved, span: Span) -> Span:
    """Return the span of the values of a span of numbers, which no other number has."""
    curve = feature.curve
    low, high = (value_at(curve, end) for end in span)
    first = number_from(curve, low)
    last = number_from(curve, math.nextafter(high, math.inf))
    if value_at(curve, last) > high:
        last = beside(curve, last, -1)
    for end, moved in zip(span, (first, last), strict=True):
        if end != moved:
            raise DomainError(
                f"feature {feature.name!r}: the rules tell {end} apart from numbers "
                f"beside it that the network reads as the same one; end the condition "
                f"at {moved}"
            )
    return low, high


def number_from(curve: Curve, value: float) -> float:
    """Return the first number whose value is not below this, or else the last one."""
    low, high = curve.ends
    if value_at(curve, low) >= value:
        return low
    while True:  # the value at `low` is below
        middle = (low + high) // 2 if curve.whole else low / 2 + high / 2
        if not low < middle < high:
            return high
        if value_at(curve, middle) >= value:
            high = middle
        else:
            low = middle


def near_ends(curve: Curve, spans: list[Span]) -> NDArray[np.float64]:
    """Return the values at the ends of spans of numbers, and next to there."""
    numbers = {*curve.ends}
    for end in (end for span in spans for end in span):
        numbers |= {end, beside(curve, end, -1), beside(curve, end, 1)}
    low, high = curve.ends
    inside = [number for number in numbers if low <= number <= high]
    return np.unique([value_at(curve, number) for number in inside])


def values_of_none(
    curve: Curve, spans: list[Span], starts: NDArray[np.float64]
) -> list[Span]:
    """Return cells of values, behind spans of numbers, that no number has."""
    found = []
    for last in sorted({last for _, last in spans if last < curve.ends[1]}):
        first = math.nextafter(value_at(curve, last), math.inf)
        place = int(np.searchsorted(starts, first, side="right"))
        if place == len(starts):
            continue
        after = value_at(curve, beside(curve, last, 1))
        if after >= starts[place]:
            found.append((first, math.nextafter(float(starts[place]), -math.inf)))
    return found


def along_curves(domain: Domain, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return rows of numbers with the values of those that are read along curves."""
    found = numbers.copy()
    for place, feature in enumerate(domain.features):
        if isinstance(feature, Curved):
            different, back = np.unique(numbers[:, place], return_inverse=True)
            values = [
                value_at(feature.curve, number) if feature.curve.takes(number) else 1.0
                for number in different.tolist()
            ]
            found[:, place] = np.array(values)[back]
    return found


def to_numbers(
    domain: Domain, codes: NDArray[np.int64], numbers: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return inputs with values that belong to numbers.

    A value that does not belong to any is replaced by the next one that does. That is
    another input, and may be predicted differently.
    """
    found = numbers.copy()
    for place, feature in enumerate(domain.features):
        if not isinstance(feature, Curved):
            continue
        for row in np.flatnonzero(codes[:, place] == 0).tolist():
            number = number_from(feature.curve, float(numbers[row, place]))
            found[row, place] = value_at(feature.curve, number)
    return found
