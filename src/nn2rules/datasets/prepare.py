"""Turn the columns of a survey into a few values each, the way the paper does.

Every function takes a column as a list and returns a new one.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from nn2rules.space import Value

BINS = ("low", "mid", "high")
"""The values of a binned number, in order."""


def fill_missing(column: Sequence[Value]) -> list[Value]:
    """Replace None by the most frequent value of the column.

    Examples
    --------
    >>> fill_missing(["Sales", None, "Craft", "Sales"])
    ['Sales', 'Sales', 'Craft', 'Sales']
    """
    counts = Counter(value for value in column if value is not None)
    ((most_frequent, _),) = counts.most_common(1)
    return [most_frequent if value is None else value for value in column]


def cut_points(numbers: Sequence[float]) -> tuple[float, float]:
    """Return the two numbers between which a value is neither low nor high.

    Where more than a third of the numbers are the smallest one (most people have no
    capital gain), the cuts are the 33rd and 67th percentile of the others; likewise
    for the largest. Otherwise they lie at 33% and 67% of the range.

    Examples
    --------
    >>> cut_points([0, 50, 100])
    (33.0, 67.0)
    >>> cut_points([0, 0, 0, 10, 11, 12, 13])
    (10.99, 12.01)
    """
    smallest, largest = min(numbers), max(numbers)
    for extreme in (smallest, largest):
        others = [number for number in numbers if number != extreme]
        if 3 * (len(numbers) - len(others)) > len(numbers):
            first, second = np.percentile(others, (33, 67))
            return float(first), float(second)
    width = largest - smallest
    return smallest + 0.33 * width, smallest + 0.67 * width


def bin_numbers(numbers: Sequence[float]) -> list[Value]:
    """Replace numbers by low, mid and high; a number on a cut is mid.

    Examples
    --------
    >>> bin_numbers([0, 33, 67, 68, 100])
    ['low', 'mid', 'mid', 'high', 'high']
    """
    first, second = cut_points(numbers)
    low, mid, high = BINS
    return [
        low if number < first else high if number > second else mid
        for number in numbers
    ]


def merge_values(
    column: Sequence[Value],
    groups: Mapping[str, Sequence[str]],
    *,
    others: str | None = None,
) -> list[Value]:
    """Replace every value by the name of the group that lists it.

    A value that no group lists becomes `others`, or stays as it is if that is None.

    Examples
    --------
    >>> merge_values(["9th", "10th", "Masters"], {"School": ("9th", "10th")})
    ['School', 'School', 'Masters']
    """
    group_of: dict[Value, str] = {
        value: group for group, values in groups.items() for value in values
    }
    if others is None:
        return [group_of.get(value, value) for value in column]
    return [group_of.get(value, others) for value in column]
