"""What a feature refuses: the checks of the kinds in `feature`, one function each.

Each takes the feature as messages name it, as in ``feature 'age'``, and returns what it
was given in its final form, or raises a `DomainError`.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from nn2rules.errors import DomainError
from nn2rules.space.values import SPELLINGS, Value, is_number, plain_number

_MOST_WHOLE = 1 << 53


def checked_labels(
    subject: str, labels: Sequence[str], values: Sequence[Value]
) -> tuple[str, ...]:
    """Return labels as texts, one for each value and all different."""
    texts = tuple(str(label) for label in labels)
    if len(texts) != len(values):
        raise DomainError(
            f"{subject} has {len(texts)} labels, expected {len(values)}, "
            f"one for each value"
        )
    if len(set(texts)) != len(texts):
        raise DomainError(f"{subject} repeats a label")
    return texts


def checked_spellings(subject: str, spellings: Sequence[str]) -> tuple[str, ...]:
    """Return spellings of missing, all of them known."""
    for spelling in spellings:
        if spelling not in SPELLINGS:
            raise DomainError(
                f"{subject}: {spelling!r} is not a spelling of missing; expected "
                f"some of {', '.join(SPELLINGS)}"
            )
    return tuple(spellings)


def checked_edges(
    subject: str, edges: Sequence[float], *, whole: bool
) -> tuple[float, ...]:
    """Return finite numbers in ascending order, whole ones as integers."""
    found = tuple(_plain(edge) for edge in edges)
    if not all(is_number(edge) and math.isfinite(edge) for edge in found):
        raise DomainError(f"{subject}: edges are one or more finite numbers")
    found = tuple(plain_number(edge) for edge in found)
    if any(a >= b for a, b in pairwise(found)):
        raise DomainError(f"{subject}: each edge must be larger than the one before")
    if whole and not all(isinstance(edge, int) for edge in found):
        raise DomainError(f"{subject}: bins of whole numbers have whole edges")
    return found


def edges_make(subject: str, n_edges: int, n_values: int) -> DomainError:
    """Return the error for a number of values that does not fit the edges."""
    return DomainError(
        f"{subject}: {n_edges} edges make {n_edges + 1} ordered values, "
        f"found {n_values}"
    )


def checked_limits(
    subject: str, limits: Sequence[float], *, whole: bool
) -> tuple[float, float]:
    """Return the two ends of a range, finite 64-bit numbers."""
    ends = tuple(_plain(end) for end in limits)
    if len(ends) != 2 or not all(is_number(end) for end in ends):
        raise DomainError(f"{subject}: a range has two ends, both numbers")
    low, high = (plain_number(float(end)) for end in ends)
    if not -math.inf < low <= high < math.inf:
        raise DomainError(
            f"{subject}: a range goes from a finite number to one that is not "
            f"smaller, not from {ends[0]} to {ends[1]}"
        )
    if (low, high) != ends:
        raise DomainError(f"{subject}: the ends of its range are not 64-bit numbers")
    if whole and not (float(low).is_integer() and float(high).is_integer()):
        raise DomainError(f"{subject}: a range of whole numbers has whole ends")
    if whole and max(abs(low), abs(high)) > _MOST_WHOLE:
        raise DomainError(
            f"{subject}: a range of whole numbers ends within ±2**53, beyond which "
            f"not every whole number is a 64-bit number"
        )
    return low, high


def check_within(
    subject: str, edges: Sequence[float], limits: tuple[float, float]
) -> None:
    """Refuse edges that do not cut a range."""
    low, high = limits
    if edges and not (low < edges[0] and edges[-1] <= high):
        raise DomainError(f"{subject}: its edges lie outside of {low} to {high}")


def check_special(
    subject: str, special: Sequence[Value], limits: tuple[float, float]
) -> None:
    """Refuse a special value that is a number of the range."""
    low, high = limits
    for value in special:
        if is_number(value) and low <= value <= high:  # type: ignore[operator]
            raise DomainError(
                f"{subject}: the special value {value} lies in its range from {low} "
                f"to {high}"
            )


def refuse_options(
    subject: str, given: Mapping[str, object], allowed: Sequence[str]
) -> None:
    """Refuse options that a kind of feature does not have."""
    for name, option in given.items():
        is_flag = isinstance(option, bool | np.bool_)
        is_given = bool(option) if is_flag else option is not None
        if name not in allowed and is_given:
            raise DomainError(f"{subject} has no {name!r}")


def _plain(number: float) -> float:
    """Return a number of NumPy as one of Python."""
    return number.item() if isinstance(number, np.generic) else number
