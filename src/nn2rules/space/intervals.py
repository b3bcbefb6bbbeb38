"""Intervals of numbers between edges: how they are written, and which has a number."""

from collections.abc import Sequence

from nn2rules.space.values import edge_text, plain_number


def texts_of_bins(edges: Sequence[float]) -> list[str]:
    """Return how bins are written: the intervals between edges, and those outside.

    Examples
    --------
    >>> texts_of_bins([25, 40])
    ['(-inf, 25)', '[25, 40)', '[40, inf)']
    """
    return _texts("(-inf", edges, "inf)")


def texts_of_parts(low: float, high: float, edges: Sequence[float] = ()) -> list[str]:
    """Return how the parts of a range are written.

    Examples
    --------
    >>> texts_of_parts(17.0, 90, [25])
    ['[17, 25)', '[25, 90]']
    """
    return _texts(f"[{plain_number(low)}", edges, f"{plain_number(high)}]")


def _texts(first: str, edges: Sequence[float], last: str) -> list[str]:
    ends = [edge_text(edge) for edge in edges]
    lows = [first, *(f"{'(' if strict else '['}{end}" for end, strict in ends)]
    highs = [*(f"{end}{']' if strict else ')'}" for end, strict in ends), last]
    return [f"{low}, {high}" for low, high in zip(lows, highs, strict=True)]
