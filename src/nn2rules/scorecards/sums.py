"""Sums of points in exact arithmetic: what a card is, and how far it reaches."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.space import Domain, Range

Interval: TypeAlias = tuple[Fraction, Fraction]
"""The two ends of what a number may be, both included."""

ZERO = Fraction(0)

_PRODUCT_ERROR = 2.0**-50
"""More than two roundings in float64 can be off by, as a share of the result."""

_PLAIN_PRODUCTS = 2.0**48
"""Below this, a product of 64-bit floats has room for the digits behind the point."""


@dataclass(frozen=True, slots=True)
class Sum:
    """A base, and points for each value of each feature, as exact fractions.

    Attributes
    ----------
    base : Fraction
    points : tuple of Fraction
        In the order of `Domain.offsets`; the first value of a range has its slope.
    """

    base: Fraction
    points: tuple[Fraction, ...]

    def scaled(self, factor: Fraction) -> "Sum":
        """Return this sum times a factor."""
        points = tuple(factor * point for point in self.points)
        return Sum(factor * self.base, points)

    def minus(self, other: "Sum") -> "Sum":
        """Return the difference of two sums."""
        both = zip(self.points, other.points, strict=True)
        return Sum(self.base - other.base, tuple(a - b for a, b in both))


@dataclass(frozen=True, slots=True)
class Block:
    """Where the points of a feature are, and the ends of its numbers if it has some.

    Whole numbers are `whole`.
    """

    start: int
    stop: int
    limits: Interval | None
    whole: bool

    @property
    def listed(self) -> range:
        """The columns of values that are listed: all but that of a slope."""
        return range(self.start + (self.limits is not None), self.stop)

    @property
    def reach(self) -> Fraction:
        """The largest magnitude of its numbers; 0 if it has none."""
        return max(map(abs, self.limits)) if self.limits is not None else ZERO


def blocks_of(domain: Domain) -> Iterator[Block]:
    """Yield the block of each feature of a domain."""
    offsets = domain.offsets.tolist()
    for feature, start, stop in zip(
        domain.features, offsets[:-1], offsets[1:], strict=True
    ):
        ends = None
        if isinstance(feature, Range):
            ends = (Fraction(feature.limits[0]), Fraction(feature.limits[1]))
        yield Block(start, stop, ends, feature.whole)


def reach_of(points: Sequence[Fraction], block: Block) -> Interval:
    """Return the least and the most points that a feature can give."""
    values = [points[column] for column in block.listed]
    if block.limits is not None:
        values += [points[block.start] * end for end in block.limits]
    return min(values), max(values)


def sum_reach(total: Sum, domain: Domain) -> Interval:
    """Return the least and the most that a sum can be, over all inputs.

    Both are reached, if the ends of ranges are: features are independent.
    """
    low = high = total.base
    for block in blocks_of(domain):
        least, most = reach_of(total.points, block)
        low, high = low + least, high + most
    return low, high


def times(one: Interval, other: Interval) -> Interval:
    """Return an interval that holds all products of two numbers.

    Examples
    --------
    >>> [str(end) for end in times((Fraction(-1), Fraction(2)), (Fraction(-3), ZERO))]
    ['-6', '3']
    """
    products = [a * b for a in one for b in other]
    return min(products), max(products)


def stretched(interval: Interval, factor: Fraction) -> Interval:
    """Return an interval that holds a factor times each of its numbers.

    Examples
    --------
    >>> [str(end) for end in stretched((Fraction(1), Fraction(2)), Fraction(-3))]
    ['-6', '-3']
    """
    low, high = (factor * end for end in interval)
    return (low, high) if low <= high else (high, low)


def plus(*intervals: Interval) -> Interval:
    """Return an interval that holds all sums of a number of each."""
    lows, highs = zip(*intervals, strict=True)
    return sum(lows, ZERO), sum(highs, ZERO)


def rounded(number: Fraction, step: Fraction) -> Fraction:
    """Return the nearest multiple of a step; halves go up, as on paper.

    Examples
    --------
    >>> [str(rounded(Fraction(n, 2), Fraction(1))) for n in (5, -5)]
    ['3', '-2']
    """
    return step * ((number / step + Fraction(1, 2)).__floor__())


def rounded_products(rate: Fraction, numbers: NDArray[np.float64]) -> list[int]:
    """Return the products of a rate and numbers, rounded to integers, halves up.

    They are exact: where float64 does not tell to which side a product is rounded,
    fractions do.

    Examples
    --------
    >>> rounded_products(Fraction(5), np.array([0.1, 0.3, 0.5]))
    [1, 1, 3]
    """
    try:
        top = float(rate)
    except OverflowError:
        top = math.inf
    with np.errstate(over="ignore", invalid="ignore"):  # infinite ones are not sure
        products = top * numbers
        shifted = products + 0.5
        off = (np.abs(products) + 1) * _PRODUCT_ERROR
        is_sure = np.abs(shifted - np.rint(shifted)) > off
    is_sure &= np.abs(products) < _PLAIN_PRODUCTS
    found = np.floor(np.where(is_sure, shifted, 0)).astype(np.int64).astype(object)
    unsure = np.flatnonzero(~is_sure)
    distinct, places = np.unique(numbers[unsure], return_inverse=True)
    exact = [int(rounded(rate * Fraction(x), Fraction(1))) for x in distinct.tolist()]
    found[unsure] = np.array(exact, object)[places]
    whole: list[int] = found.tolist()
    return whole


def rounded_up(number: Fraction, step: Fraction) -> Fraction:
    """Return the smallest multiple of a step that is not below a number."""
    return step * (number / step).__ceil__()


def rounded_down(number: Fraction, step: Fraction) -> Fraction:
    """Return the largest multiple of a step that is not above a number."""
    return step * (number / step).__floor__()


def power_below(number: Fraction) -> Fraction:
    """Return the largest power of ten that is at most a number above 0.

    Examples
    --------
    >>> str(power_below(Fraction(1, 90))), str(power_below(Fraction(250)))
    ('1/100', '100')
    """
    exponent = len(str(number.numerator)) - len(str(number.denominator))
    power = Fraction(10) ** exponent
    return power if power <= number else power / 10
