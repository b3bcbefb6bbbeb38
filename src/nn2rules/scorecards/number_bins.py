"""Ranges of numbers cut into bins, for cards that are read without multiplying.

The points of a bin are those of its middle. What a number of the bin can be off by is
part of the proved error of the column, so a card with bins has cut-offs that lie
further apart.
"""

from collections.abc import Sequence
from fractions import Fraction

from nn2rules.scorecards.sums import Interval, power_below, rounded
from nn2rules.space import Domain, Range

Bins = tuple[Interval, ...]
"""The ends of each bin of a range; of real numbers, one ends where the next begins."""

_STEPS = (Fraction(2), Fraction(5, 2), Fraction(2))


def bins_of(domain: Domain, most: int | None) -> tuple[Bins | None, ...]:
    """Return the bins of each range of a domain, at most this many; None for the rest.

    Edges are round numbers. Whole numbers have bins of their own if they are few.

    Examples
    --------
    >>> from nn2rules.space import Feature
    >>> [bins] = bins_of(Domain((Feature.real("age", 16, 49, whole=True),)), 8)
    >>> [(int(low), int(high)) for low, high in bins]
    [(16, 19), (20, 24), (25, 29), (30, 34), (35, 39), (40, 44), (45, 49)]
    >>> [bins] = bins_of(Domain((Feature.real("dose", 0, 1),)), 2)
    >>> [(float(low), float(high)) for low, high in bins]
    [(0.0, 0.5), (0.5, 1.0)]
    """
    return tuple(
        _bins(*feature.limits, most, whole=feature.whole)
        if isinstance(feature, Range) and most is not None
        else None
        for feature in domain.features
    )


def _bins(first: float, last: float, most: int, *, whole: bool) -> Bins:
    """Cut a range at multiples of 1, 2 or 5 times a power of ten."""
    low, high = Fraction(first), Fraction(last)
    if low == high or most == 1:  # 0 is a multiple of every width
        return ((low, high),)
    width = power_below((high - low) / most)
    width = max(width, Fraction(1)) if whole else width
    place = 0
    while len(starts := _starts(low, high, width, whole=whole)) > most:
        width *= _STEPS[place % 3]
        place += 1
    gap = Fraction(whole)
    ends = [start - gap for start in starts[1:]] + [high]
    return tuple(zip(starts, ends, strict=True))


def _starts(
    low: Fraction, high: Fraction, width: Fraction, *, whole: bool
) -> list[Fraction]:
    """Return where bins begin: at the minimum, and at multiples of a width, as floats.

    A number of a row is a float, so that is what it is compared with.
    """
    first, last = (low / width).__floor__() + 1, (high / width).__floor__()
    inside = {Fraction(float(width * place)) for place in range(first, last + 1)}
    inside = {start for start in inside if low < start < high + whole}
    return [low, *sorted(inside)]


def points_of(bins: Bins, slope: Fraction, step: Fraction) -> tuple[Fraction, ...]:
    """Return the points of each bin: those of its middle, rounded."""
    return tuple(rounded(slope * (low + high) / 2, step) for low, high in bins)


def bins_error(bins: Bins, points: Sequence[Fraction], slope: Fraction) -> Interval:
    """Return how far the points of bins can lie from a slope times the number."""
    off = [
        point - slope * end
        for point, ends in zip(points, bins, strict=True)
        for end in ends
    ]
    return min(off), max(off)
