"""Cells that are each value of a column, and cells that are none.

Numbers are taken where mistakes are made: at both ends of a bin, and between.
"""

import math

from nn2rules.exporting.cells import LARGEST
from nn2rules.exporting.columns import Column
from nn2rules.values import Value, plain_number

_UNLISTED = ("unlisted", "unlisted_", "Unlisted value")


def examples(column: Column) -> list[list[Value]]:
    """Return, for each value of the feature, some cells that are this value.

    Examples
    --------
    >>> from nn2rules.exporting.columns import column_of
    >>> from nn2rules.feature import Feature
    >>> examples(column_of(Feature.bins("age", [25, 40], whole=True, missing=True)))
    [[24, 23], [25, 39, 32], [40, 41], [None]]
    """
    feature = column.feature
    found: list[list[Value]] = []
    for code, value in enumerate(feature.values):
        if feature.edges is not None and code < feature.n_plain:
            found.append(_numbers(column, code))
        elif feature.groups is not None:
            found.append(list(feature.groups[code]))
        else:
            found.append([] if value == feature.other is not None else [value])
        if None in found[-1]:
            found[-1] += column.gaps
        if feature.other is not None and value == feature.other:
            found[-1] += _unlisted(column)
    return found


def strangers(column: Column) -> list[Value]:
    """Return cells of the column's kind that are off the domain.

    Missing cells are among them, if they are off the domain, in every spelling.
    """
    cells: list[Value] = [None]
    if column.kind == "text":
        cells += [*_unlisted(column), *column.gaps]
    if column.kind == "number":
        cells += [*_beyond(column), 0.5, -(2.0**60), 2.0**60, *_unlisted(column)]
    return [
        cell
        for cell in dict.fromkeys(cells)
        if not column.knows(None if cell in column.gaps else cell)
    ]


def _beyond(column: Column) -> list[Value]:
    """Return the numbers next to the limits of a range."""
    if column.feature.limits is None:
        return []
    low, high = column.feature.limits
    if column.whole:
        return [low - 1, high + 1, low + 0.5]
    return [math.nextafter(low, -math.inf), math.nextafter(high, math.inf)]


def _unlisted(column: Column) -> list[Value]:
    """Return cells that nobody listed."""
    feature = column.feature
    known: set[Value] = {*feature.words, *feature.values}
    if column.kind == "truth":
        return []
    if column.kind == "text":
        return [next(text for text in _UNLISTED if text not in known)]
    free = (n for n in range(-1_000_003, -1_000_003 + len(known) + 2))
    return [next(number for number in free if number not in known)]


def _numbers(column: Column, code: int) -> list[Value]:
    """Return the first, the last and a middle number of a bin."""
    feature = column.feature
    assert feature.edges is not None, "asked only of bins"
    least, most = feature.limits or (None, None)
    starts: list[float | None] = [least, *feature.edges]
    low, above = starts[code], [*feature.edges, None][code]
    high = most if above is None else _before(above, whole=feature.whole)
    step = 1 if feature.whole else 0.5
    cells: list[float] = [0]
    if low is None and high is not None:
        cells = [high, max(high - step, -LARGEST)]
    elif low is not None and high is None:
        cells = [low, min(low + step, LARGEST)]
    elif low is not None and high is not None:
        middle = low + (high - low) / 2
        cells = [low, high, math.floor(middle) if feature.whole else middle]
    inside = [plain_number(cell) for cell in cells]
    return list(dict.fromkeys(inside))


def _before(edge: float, *, whole: bool) -> float:
    return edge - 1 if whole else plain_number(math.nextafter(edge, -math.inf))
