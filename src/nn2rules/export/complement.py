"""All cells but some: what a guard tests, where an engine has no *not*."""

from collections.abc import Iterable

from nn2rules.export.cells import Cells, Interval


def complement(cells: Cells) -> Cells:
    """Return the cells that are not meant, missing ones and numbers among them.

    Examples
    --------
    >>> rest = complement(Cells(words=(999,), intervals=(Interval(17, 90),)))
    >>> for interval in rest.intervals:
    ...     print(interval)
    Interval(low=None, high=17, low_is_strict=False, high_is_strict=True)
    Interval(low=90, high=999, low_is_strict=True, high_is_strict=True)
    Interval(low=999, high=None, low_is_strict=True, high_is_strict=False)
    >>> rest.missing, complement(Cells(words=("red",))).but
    (True, True)
    """
    missing = not cells.missing
    if cells.but:
        return Cells(words=cells.words, missing=missing)
    if not cells.intervals:
        return Cells(words=cells.words, missing=missing, but=True)
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
    """Return where an interval stands among others."""
    return interval.low is not None, interval.low or 0, interval.low_is_strict


def _is_some(gap: Interval) -> bool:
    assert gap.low is not None, "asked of gaps between two"
    assert gap.high is not None, "asked of gaps between two"
    is_point = gap.low == gap.high and not (gap.low_is_strict or gap.high_is_strict)
    return gap.low < gap.high or is_point
