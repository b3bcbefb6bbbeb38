"""What a condition allows of a feature, and what comparisons mean for it."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from nn2rules.errors import DomainError
from nn2rules.language.text import condition_text
from nn2rules.space import (
    Condition,
    Feature,
    Intervals,
    Range,
    Span,
    cut_above,
    has_bins,
    is_number,
    next_number,
)

COMPARISONS = ("<", "≤", "≥", ">")


@dataclass(frozen=True, slots=True)
class Allowed:
    """Some values of a feature: spans of its range, if it is one, and codes.

    Spans are in order, and no two of them touch. Codes are those of values that are
    listed, or special values beside the range.
    """

    spans: tuple[Span, ...] = ()
    codes: frozenset[int] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.spans or self.codes)

    def condition(self, feature: Feature) -> Condition:
        """Return the condition that allows this."""
        listed = [feature.values[code] for code in sorted(self.codes)]
        return Condition(feature.name, (*self.spans, *listed))


def everything(feature: Feature) -> Allowed:
    """Return all values of a feature."""
    if not isinstance(feature, Range):
        return Allowed(codes=frozenset(range(len(feature))))
    beside = frozenset(range(feature.n_plain, len(feature)))
    return Allowed((feature.limits,), beside)


def plain_values(feature: Feature) -> Allowed:
    """Return the values that have a place in the order: no missing, no others."""
    if isinstance(feature, Range):
        return Allowed((feature.limits,))
    return Allowed(codes=frozenset(plain_codes(feature)))


def plain_codes(feature: Feature) -> list[int]:
    """Return the codes of values that are neither missing nor the one for others."""
    return [
        code for code, value in enumerate(feature.values) if feature.is_ordinary(value)
    ]


def union(feature: Feature, one: Allowed, other: Allowed) -> Allowed:
    """Return what either allows."""
    return Allowed(
        _joined(feature, [*one.spans, *other.spans])
        if isinstance(feature, Range)
        else (),
        one.codes | other.codes,
    )


def common(one: Allowed, other: Allowed) -> Allowed:
    """Return what both allow."""
    spans = [
        (max(a, c), min(b, d))
        for a, b in one.spans
        for c, d in other.spans
        if max(a, c) <= min(b, d)
    ]
    return Allowed(tuple(sorted(spans)), one.codes & other.codes)


def without(feature: Feature, some: Allowed) -> Allowed:
    """Return all values but some."""
    whole = everything(feature)
    if not isinstance(feature, Range):
        return Allowed(codes=whole.codes - some.codes)
    start, last = feature.limits
    spans: list[Span] = []
    for low, high in some.spans:
        if start < low:
            spans.append((start, feature.before(low)))
        start = feature.after(high)
    if start <= last:
        spans.append((start, last))
    return Allowed(tuple(spans), whole.codes - some.codes)


def _joined(feature: Range, spans: Iterable[Span]) -> tuple[Span, ...]:
    found: list[Span] = []
    for span in sorted(spans):
        if found and span[0] <= feature.after(found[-1][1]):
            low, high = found.pop()
            found.append((low, max(high, span[1])))
        else:
            found.append(span)
    return tuple(found)


def compared(feature: Feature, sign: str, number: float) -> Allowed:
    """Return the values of a feature that are below, or above, a number.

    Raises
    ------
    DomainError
        If the feature has no numbers, or the number parts one of its bins.
    """
    if isinstance(feature, Range):
        return _part_of_range(feature, sign, number)
    plain = plain_codes(feature)
    if has_bins(feature):
        edges, is_whole = _edges(feature, plain)
        edge = _edge(sign, number, whole=is_whole)
        if edge not in edges:
            raise _parted(feature, number, edges)
        place = edges.index(edge) + 1
        chosen = plain[:place] if sign in "<≤" else plain[place:]
        return Allowed(codes=frozenset(chosen))
    values: list[Any] = [feature.values[code] for code in plain]
    if not feature.ordered or not all(is_number(value) for value in values):
        raise DomainError(
            f"feature {feature.name!r} has words, not numbers; {number} is none of them"
        )
    both = zip(plain, values, strict=True)
    return Allowed(codes=frozenset(c for c, v in both if _holds(v, sign, number)))


def compared_place(feature: Feature, sign: str, code: int) -> Allowed:
    """Return the values before, or after, one in the order."""
    if not feature.ordered:
        raise DomainError(f"feature {feature.name!r} has no order, only =, ≠ and in")
    plain = plain_codes(feature)
    if code not in plain:
        raise DomainError(
            f"this value of feature {feature.name!r} is outside of its order"
        )
    values: list[Any] = [feature.values[each] for each in plain]
    place = plain.index(code)
    if all(is_number(value) for value in values):
        keys, key = values, values[place]
    else:
        keys, key = list(range(len(plain))), place
    both = zip(plain, keys, strict=True)
    return Allowed(codes=frozenset(c for c, k in both if _holds(k, sign, key)))


def _part_of_range(feature: Range, sign: str, number: float) -> Allowed:
    """Return the numbers of a range, and special ones, on one side of a number."""
    first, last = feature.limits
    edge = _edge(sign, number, whole=feature.whole)
    spans: tuple[Span, ...] = ()
    if sign in "<≤" and edge > first:
        spans = ((first, min(last, feature.before(edge))),)
    elif sign in "≥>" and edge <= last:
        spans = ((max(first, edge), last),)
    beside: list[tuple[int, Any]] = [*enumerate(feature.values)][feature.n_plain :]
    codes = [c for c, v in beside if is_number(v) and _holds(v, sign, number)]
    return Allowed(spans, frozenset(codes))


def _holds(one: float, sign: str, other: float) -> bool:
    return {"<": one < other, "≤": one <= other, "≥": one >= other, ">": one > other}[
        sign
    ]


def _edge(sign: str, number: float, *, whole: bool) -> float:
    """Return the first number of the upper side, where a comparison cuts in two."""
    is_above = sign in "≤>"  # the number itself is on the lower side
    if whole:
        return math.floor(number) + 1 if is_above else math.ceil(number)
    return next_number(number, whole=False) if is_above else number


def _edges(feature: Feature, plain: Sequence[int]) -> tuple[list[float], bool]:
    """Return the first number of each bin but the lowest, and whether all are whole."""
    if feature.labels is None:
        assert isinstance(feature, Intervals), "asked only of bins"
        return list(feature.edges), feature.whole
    lasts = [cut_above(feature, place)[0] for place in range(len(plain) - 1)]
    return [int(last) + 1 for last in lasts], True


def _parted(feature: Feature, number: float, edges: Sequence[float]) -> DomainError:
    place = sum(edge <= number for edge in edges)
    code = plain_codes(feature)[place]
    said = condition_text(feature, (feature.values[code],))
    fact = f"{number} lies inside a bin of feature {feature.name!r}; the model "
    fact += f"only distinguishes {said}"
    starts = ", ".join(str(edge) for edge in edges[:8])
    more = ", …" if len(edges) > 8 else ""
    return DomainError(f"{fact}; bins begin at {starts}{more}")
