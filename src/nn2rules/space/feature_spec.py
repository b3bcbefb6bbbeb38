"""Specifications of features as the user writes them, such as ``"bins:25,40"``."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from nn2rules.errors import DomainError, OptionError
from nn2rules.space.feature import Feature
from nn2rules.space.values import Value, is_number, number_of, plain_number, value_of

FeatureSpec: TypeAlias = Any
"""How a user specifies a feature: a `Feature`, values, or one of the texts below."""

MOST_VALUES = 1000
"""A column with more distinct values needs a specification."""

TEXTS = (
    "'range:18,100', 'range:18,100,missing,special:999', 'observed', '17..90', "
    "'0..100:2.5', 'quantiles:10', 'bins:25,40,65' or 'ordered:low,medium,high'"
)

_RANGE = re.compile(r"range(:.*|(,\s*(missing|special:[^,]*))*)", re.DOTALL)
"""A range with ends, or with those of the data; *range,oven* lists two categories."""


@dataclass(frozen=True)
class Column:
    """What the data show about a column.

    Attributes
    ----------
    cells : iterable
        The different cells; missing ones in any form.
    categories : sequence, optional
        Its categories, if the data declare them.
    is_ordered : bool
        Whether their order means something.
    rows : callable, optional
        Gives the cells of all rows, for what depends on how often a cell occurs; by
        default each of `cells` occurs once.
    """

    cells: Iterable[object]
    categories: Sequence[object] | None = None
    is_ordered: bool = False
    rows: Callable[[], Iterable[object]] | None = None


def values_of(name: str, cells: Iterable[object]) -> list[Value]:
    """Return cells as values; an error names the column."""
    try:
        return [value_of(cell) for cell in cells]
    except DomainError as error:
        raise DomainError(f"column {name!r}: {error}") from None


def is_range(spec: FeatureSpec) -> bool:
    """Tell whether a specification is that of a range."""
    if isinstance(spec, str):
        return _RANGE.fullmatch(spec) is not None
    is_pair = isinstance(spec, tuple) and len(spec) == 2
    return is_pair and all(is_number(_plain(end)) for end in spec)


def _plain(end: object) -> object:
    return end.item() if isinstance(end, np.generic) else end


@dataclass(frozen=True)
class RangeSpec:
    """A range as a user describes it.

    Attributes
    ----------
    ends : (float, float), optional
        By default those of the data.
    special : tuple of numbers
        Numbers that are not part of the range, such as 999 for *unknown*.
    has_missing : bool
        Whether it can be missing, even if it never is in the data.
    """

    ends: tuple[float, float] | None = None
    special: tuple[float, ...] = ()
    has_missing: bool = False


def range_spec(name: str, spec: FeatureSpec) -> RangeSpec:
    """Return the range that a pair of numbers or a text describes.

    Examples
    --------
    >>> range_spec("age", "range:18,100,missing,special:999")
    RangeSpec(ends=(18, 100), special=(999,), has_missing=True)
    >>> range_spec("age", "range,special:999")
    RangeSpec(ends=None, special=(999,), has_missing=False)
    """
    if not isinstance(spec, str):
        low, high = map(_plain, spec)
        return RangeSpec((low, high))  # type: ignore[arg-type]
    if spec == "range":
        return RangeSpec()
    has_ends = spec.startswith("range:")
    parts, has_missing = _without_missing(spec[len("range:") :])
    if has_ends and len(parts) < 2:
        raise _invalid(name, spec)
    n_ends = 2 if has_ends else 0
    ends = [_number(name, spec, part) for part in parts[:n_ends]]
    special = [part.removeprefix("special:") for part in parts[n_ends:]]
    numbers = tuple(_number(name, spec, part) for part in special)
    return RangeSpec((ends[0], ends[1]) if has_ends else None, numbers, has_missing)


def _without_missing(text: str) -> tuple[list[str], bool]:
    """Split a list at its commas, and tell whether it has the word *missing*."""
    parts = [part.strip() for part in text.split(",")]
    return [part for part in parts if part != "missing"], "missing" in parts


def feature_of_text(
    name: str, spec: str, column: Column, *, has_missing: bool
) -> Feature:
    """Return the feature that a text specifies."""
    kind, _, rest = spec.partition(":")
    if kind == "bins":
        edges = [_number(name, spec, text) for text in rest.split(",")]
        return Feature.bins(name, tuple(edges), missing=has_missing)
    if kind == "ordered":
        return _ordered(name, spec, rest, has_missing=has_missing)
    numbers: Sequence[float]
    if kind == "quantiles":
        numbers = _quantiles(name, spec, rest, column)
    elif ".." in kind:
        low, _, high = kind.partition("..")
        numbers = _steps(low.strip(), high.strip(), rest.strip() or "1") or []
    else:
        raise _invalid(name, spec)
    if not numbers:
        raise _invalid(name, spec)
    values = tuple(plain_number(number) for number in numbers)
    return Feature(name, (*values, None) if has_missing else values, ordered=True)


def _ordered(name: str, spec: str, rest: str, *, has_missing: bool) -> Feature:
    """Return categories in the order in which they are listed."""
    parts, is_missing = _without_missing(rest)
    if not all(parts) or not parts:
        raise _invalid(name, spec)
    numbers = [number_of(part) for part in parts]
    values: list[Value] = [*parts] if None in numbers else [*numbers]
    gaps = [None] if has_missing or is_missing else []
    return Feature(name, (*values, *gaps), ordered=True)


def _quantiles(name: str, spec: str, rest: str, column: Column) -> list[float]:
    """Return the quantiles of the rows, so that common numbers count more."""
    if not re.fullmatch(r"\d+", rest) or not 1 <= int(rest) <= MOST_VALUES:
        raise _invalid(name, spec)
    cells = values_of(name, column.cells if column.rows is None else column.rows())
    numbers: Any = [cell for cell in cells if cell is not None]
    if not numbers or not all(is_number(number) for number in numbers):
        raise DomainError(
            f"column {name!r} has no quantiles: it has values that are not numbers, or "
            f"no values"
        )
    ranked, whole = sorted(numbers), int(rest)
    return sorted({quantile(ranked, part, whole) for part in range(whole + 1)})


def quantile(numbers: Sequence[float], part: int, whole: int) -> float:
    """Return the smallest number that ``part / whole`` of all do not exceed.

    Examples
    --------
    >>> [quantile([1, 1, 2, 7], part, 4) for part in range(5)]
    [1, 1, 1, 2, 7]
    """
    rank = -(-len(numbers) * part // whole)  # rounded up, without rounding errors
    return numbers[max(rank, 1) - 1]


def _steps(low: str, high: str, step: str) -> list[float] | None:
    """Return ``low, low + step, …`` up to `high`; in decimals, so that 0.3 is 0.3."""
    if any(number_of(text) is None for text in (low, high, step)):
        return None
    first, last, width = map(Fraction, (low, high, step))
    if width <= 0 or last < first or (last - first) / width > MOST_VALUES * 100:
        return None
    numbers = [first + i * width for i in range(int((last - first) / width) + 1)]
    return [int(n) if n.denominator == 1 else float(n) for n in numbers]


def _number(name: str, spec: str, text: str) -> float:
    number = number_of(text.strip())
    if number is None:
        raise _invalid(name, spec)
    return number


def _invalid(name: str, spec: str) -> OptionError:
    return OptionError(
        f"feature {name!r}: invalid specification {spec!r}; expected {TEXTS}"
    )
