"""Which cells of a column a condition allows, as any engine can test it.

An engine has columns of one kind: texts, numbers, or true and false. A `Cells` is a set
of them: those equal to a word, those in an interval of numbers, the missing ones, and
those that are not listed. Exporters turn it into their own language.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from nn2rules.space import Value, plain_number, previous_number

Kind: TypeAlias = Literal["text", "number", "truth"]
"""What the cells of a column are, apart from missing ones."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Numbers from one end to the other; an end that is None is left open.

    An end belongs to the interval unless it is strict.
    """

    low: float | None = None
    high: float | None = None
    low_is_strict: bool = False
    high_is_strict: bool = False

    def __contains__(self, number: float) -> bool:
        is_above = self.low is None or (
            number > self.low if self.low_is_strict else number >= self.low
        )
        is_below = self.high is None or (
            number < self.high if self.high_is_strict else number <= self.high
        )
        return is_above and is_below


@dataclass(frozen=True, slots=True)
class Cells:
    """Some cells of a column.

    Attributes
    ----------
    words : tuple of values
        Cells that equal one of these: texts, numbers, or true and false, after the
        kind of the column.
    intervals : tuple of Interval
        Numbers in one of these.
    missing : bool
        Whether missing cells match.
    negated : bool
        Whether all cells *except* those of `words` match; `missing` has its own
        meaning, and there are no intervals.

    Examples
    --------
    >>> Cells(words=("red",), negated=True).matches("blue")
    True
    >>> Cells(intervals=(Interval(25, 40, high_is_strict=True),)).matches(40)
    False
    """

    words: tuple[Value, ...] = ()
    intervals: tuple[Interval, ...] = ()
    missing: bool = False
    negated: bool = False

    def matches(self, cell: Value) -> bool:
        """Tell whether a cell matches: what an exported program must do, in Python.

        The cell is of the column's kind, or None for missing.
        """
        if cell is None:
            return self.missing
        is_among = cell in self.words
        if self.negated:
            return not is_among
        return is_among or any(cell in interval for interval in self.intervals)  # type: ignore[operator]

    @property
    def is_empty(self) -> bool:
        """Whether no cell matches."""
        return not (self.words or self.intervals or self.missing or self.negated)


LARGEST = math.nextafter(math.inf, 0)
"""The largest finite number."""


def interval(low: float | None, edge: float | None, *, whole: bool) -> Interval:
    """Return the numbers from `low` on to below `edge`, ends written shortly.

    Numbers below an edge are those up to the float before it; whichever of the two
    has fewer digits is written.

    Examples
    --------
    >>> interval(25, 40, whole=True)
    Interval(low=25, high=39, low_is_strict=False, high_is_strict=False)
    >>> interval(None, 2.5, whole=False).high, interval(5e-324, None, whole=False).low
    (2.5, 0)
    """
    first, first_strict = _short(low)
    last, last_is_before = _short(edge)
    if edge is not None and whole:
        last, last_is_before = previous_number(edge, whole=True), True
    return Interval(first, last, first_strict, edge is not None and not last_is_before)


def _short(edge: float | None) -> tuple[float | None, bool]:
    """Return an edge, or the float before it if that is shorter, and whether it is."""
    if edge is None or isinstance(edge, int):
        return edge, False
    before = previous_number(edge, whole=False)
    here = plain_number(edge)
    is_shorter = math.isfinite(before) and len(str(before)) < len(str(here))
    return (before, True) if is_shorter else (here, False)


def complement(cells: Cells) -> Cells:
    """Return the cells that do not match, missing ones and numbers included.

    Examples
    --------
    >>> rest = complement(Cells(words=(999,), intervals=(Interval(17, 90),)))
    >>> for interval in rest.intervals:
    ...     print(interval)
    Interval(low=None, high=17, low_is_strict=False, high_is_strict=True)
    Interval(low=90, high=999, low_is_strict=True, high_is_strict=True)
    Interval(low=999, high=None, low_is_strict=True, high_is_strict=False)
    >>> rest.missing, complement(Cells(words=("red",))).negated
    (True, True)
    """
    missing = not cells.missing
    if cells.negated:
        return Cells(words=cells.words, missing=missing)
    if not cells.intervals:
        return Cells(words=cells.words, missing=missing, negated=True)
    points = [Interval(word, word) for word in cells.words]  # type: ignore[arg-type]
    return Cells(intervals=_between([*cells.intervals, *points]), missing=missing)


def _between(taken: Iterable[Interval]) -> tuple[Interval, ...]:
    """Return the numbers that lie in none of the intervals."""
    found = []
    at, at_is_taken, is_started = None, False, False
    for each in sorted(taken, key=_start):
        if each.low is not None:
            gap = Interval(at, each.low, at_is_taken, not each.low_is_strict)
            if not is_started or _is_some(gap):
                found.append(gap)
        if each.high is None:
            return tuple(found)
        is_further = at is None or each.high > at
        if is_further or (each.high == at and not each.high_is_strict):
            at, at_is_taken = each.high, not each.high_is_strict
        is_started = True
    return (*found, Interval(at, None, at_is_taken))


def _start(interval: Interval) -> tuple[bool, float, bool]:
    """Return the sort key of an interval."""
    return interval.low is not None, interval.low or 0, interval.low_is_strict


def _is_some(gap: Interval) -> bool:
    assert gap.low is not None, "asked of gaps between two"
    assert gap.high is not None, "asked of gaps between two"
    is_point = gap.low == gap.high and not (gap.low_is_strict or gap.high_is_strict)
    return gap.low < gap.high or is_point
