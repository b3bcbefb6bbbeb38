"""Spans: the numbers from one to another of a range, as rules speak of them.

The edges of a range cut it into cells, each of which begins at an edge and ends before
the next. A *span* is a pair of numbers, both included: ``(25, 39)``. Rules say spans,
their boxes are made of cells, and this module goes from each to the other.
"""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import DomainError, UnsupportedModelError
from nn2rules.space.feature import Feature
from nn2rules.space.feature_kinds import Curved, Range
from nn2rules.space.values import (
    is_number,
    plain_number,
)

Span: TypeAlias = tuple[float, float]
"""The first and the last number, both included."""


def spans_of(feature: Range, allowed: NDArray[np.bool_]) -> list[Span]:
    """Return the spans of the cells that are allowed, neighbours joined.

    Examples
    --------
    >>> age = Feature.real("age", 17, 90, whole=True, edges=[25, 40, 65])
    >>> spans_of(age, np.array([True, True, False, True]))
    [(17, 39), (65, 90)]
    """
    edges = feature.edges
    flags = np.zeros(len(edges) + 3, dtype=np.int8)
    flags[1:-1] = allowed[: len(edges) + 1]
    turns = np.flatnonzero(np.diff(flags)).tolist()  # into a run of cells, and out
    low, high = feature.limits
    starts, lasts = (low, *edges), (*edges, high)
    return [
        (
            starts[first],
            high if stop > len(edges) else feature.before(lasts[stop - 1]),
        )
        for first, stop in zip(turns[::2], turns[1::2], strict=True)
    ]


def edges_of(feature: Range, spans: Iterable[Span]) -> list[float]:
    """Return the edges of a range, and those at which spans begin and end."""
    first, last = feature.limits
    found = set(feature.edges)
    for low, high in spans:
        if low > first:
            found.add(int(low) if feature.whole else plain_number(low))
        if high < last:
            found.add(feature.after(high))
    return sorted(found)


def codes_in(feature: Range, spans: Iterable[Span]) -> NDArray[np.bool_]:
    """Tell which cells lie in one of several spans that end where cells do."""
    starts = np.array([low for low, _ in feature.spans])
    inside = np.zeros(len(starts), dtype=np.bool_)
    for low, high in spans:
        inside |= (low <= starts) & (starts <= high)
    return inside


def checked_spans(feature: Range, spans: Sequence[object]) -> list[Span]:
    """Return spans of a range, with whole floats as integers."""
    first, last = feature.limits
    kind, found = f"feature {feature.name!r}", []
    for span in spans:
        if not isinstance(span, list | tuple) or len(span) != 2:
            raise DomainError(f"{kind}: {span!r}, expected a pair [low, high]")
        text = f"[{span[0]!r}, {span[1]!r}]"
        ends = [e.item() if isinstance(e, np.generic) else e for e in span]
        if not all(is_number(end) and math.isfinite(end) for end in ends):
            raise DomainError(f"{kind}: {text}, expected two finite numbers")
        low, high = ends
        if low > high:
            raise DomainError(f"{kind}: {text} is reversed, expected [low, high]")
        if low < first or high > last:
            raise DomainError(f"{kind}: {text} lies outside of {first} to {last}")
        if any(float(end) != end for end in ends):
            raise DomainError(f"{kind}: {text}, expected 64-bit numbers")
        if feature.whole and any(end != int(end) for end in ends):
            raise DomainError(f"{kind}: {text}, expected whole numbers")
        found.append((plain_number(low), plain_number(high)))
    for before, after in pairwise(sorted(found)):
        if after[0] <= before[1]:
            raise DomainError(f"{kind}: {list(before)} and {list(after)} overlap")
    return found


def volumes(feature: Feature) -> list[Fraction]:
    """Return the share of each value, with numbers evenly spread over their range.

    All values of a list are alike. A whole number counts as much as a special value or
    missing; beside real numbers these count nothing.

    Examples
    --------
    >>> volumes(Feature("job", ("a", "b")))
    [Fraction(1, 2), Fraction(1, 2)]
    >>> age = Feature.real("age", 21, 29, whole=True, edges=[24], missing=True)
    >>> [str(share) for share in volumes(age)]
    ['3/10', '3/5', '1/10']
    """
    parts = [Fraction(1)] * len(feature)
    if isinstance(feature, Range):
        low, high = (Fraction(end) for end in feature.limits)
        if feature.whole:
            cells = [Fraction(count) for count in feature.counts or ()]
        elif low < high:
            starts = [low, *map(Fraction, feature.edges), high]
            cells = [after - before for before, after in pairwise(starts)]
            parts = [Fraction(0)] * len(feature)
        else:
            cells = [Fraction(1)]
        parts[: len(cells)] = cells
    total = sum(parts, Fraction(0))
    return [part / total for part in parts]


def refuse_ranges(features: Iterable[Feature], what: str, instead: str = "") -> None:
    """Refuse a range of numbers, for `what` lists every value."""
    for feature in features:
        if isinstance(feature, Range):
            raise UnsupportedModelError(
                f"{what} lists every value, and feature {feature.name!r} is a range of "
                f"numbers; {instead}put them into bins, as in "
                f"domain={{{feature.name!r}: 'quantiles:10'}}"
            )


def refuse_curves(features: Iterable[Feature], what: str, instead: str = "") -> None:
    """Refuse a range that is read along a curve: `what` takes straight lines only."""
    for feature in features:
        if isinstance(feature, Curved):
            name = feature.name
            instead = instead or (
                f"read the model with the numbers that occur, by domain="
                f"{{{name!r}: 'observed'}} (--values {name}=observed)"
            )
            raise UnsupportedModelError(
                f"{what} takes ranges that a model reads along a straight line, and it "
                f"reads {name!r} along a curve ({feature.curve.shape.kind}); {instead}"
            )
