"""What each column of a table can be: features, from data and from what the user says.

A column of words has the words that occur. A column of numbers must become finite, and
never silently: it has the numbers that occur, unless the user says what it has.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

from nn2rules.errors import DomainError, OptionError
from nn2rules.feature import Feature
from nn2rules.values import (
    Value,
    is_missing,
    is_number,
    number_of,
    plain_number,
    value_of,
)

Said: TypeAlias = Any
"""What a user says of a feature: a `Feature`, values, or one of the texts below."""

MOST_VALUES = 1000
"""A column with more different values must be said to have fewer."""

_FEWEST_NAMES, _SHARE_OF_NAMES = 100, 0.95
"""So many words, and in so large a share of the rows, are no categories."""

_TEXTS = "'observed', '17..90', '0..100:2.5', 'quantiles:10' or 'bins:25,40,65'"


@dataclass(frozen=True)
class Column:
    """What the data say of a column.

    Attributes
    ----------
    cells : iterable
        The different cells; missing ones in whatever form.
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


def feature_of(
    name: str,
    column: Column,
    said: Said = None,
    *,
    nearest: bool = False,
    known: Sequence[Value] = (),
) -> Feature:
    """Return the feature that a column of data is.

    Parameters
    ----------
    name : str
    column : Column
    said : Feature, sequence of values, or str, optional
        A Feature is taken as it is. Values replace those observed. A text says which
        numbers there are: ``"17..90"`` integers, ``"0..100:2.5"`` steps,
        ``"quantiles:10"``, ``"bins:25,40,65"`` or ``"observed"``.
    nearest : bool
        Whether other numbers stand for the nearest of these.
    known : sequence of values
        Values that the model knows, whether or not they occur.

    Examples
    --------
    >>> ages = Column([31, 25])
    >>> feature_of("age", ages)
    Feature('age', (25, 31), ordered=True)
    >>> feature_of("age", ages, "bins:30")
    Feature('age', ('(-inf, 30)', '[30, inf)'), ordered=True, edges=(30,), whole=True)
    """
    if isinstance(said, Feature):
        if said.name != name:
            raise OptionError(f"the column {name!r} is given a feature {said.name!r}")
        return said
    cells = _values(name, column.cells)
    has_missing = None in cells
    is_text = isinstance(said, str)
    if is_text and said != "observed":
        spoken = _spoken(name, said, column, has_missing=has_missing, nearest=nearest)
        is_whole = all(isinstance(edge, int) for edge in spoken.edges or [""])
        return replace(spoken, whole=is_whole and are_whole(cells))
    if said is None or is_text:
        values, ordered = _observed(column, set(cells) - {None}, known)
        _refuse_too_many(name, values, asked=is_text)
        if not is_text and column.rows is not None:
            _refuse_names(name, set(cells) - {None}, column.rows)
    else:
        values = _listed(name, said)
        ordered = _is_ascending(values)
        has_missing = has_missing or None in values
        values = [value for value in values if value is not None]
    if not values and not has_missing:
        raise DomainError(f"the column {name!r} has no values; there are no rows")
    numbers = ordered and all(is_number(value) for value in values)
    return Feature(
        name,
        (*values, None) if has_missing else tuple(values),
        ordered=ordered,
        nearest=nearest and numbers,
    )


def are_whole(cells: Iterable[object]) -> bool:
    """Tell whether a column is one of whole numbers, by the type of its cells.

    Examples
    --------
    >>> are_whole([1, 2, None]), are_whole([1.0, 2.0])
    (True, False)
    """
    numbers = [cell for cell in cells if not is_missing(cell)]
    return bool(numbers) and all(type(number) is int for number in numbers)


def _values(name: str, cells: Iterable[object]) -> list[Value]:
    try:
        return [value_of(cell) for cell in cells]
    except DomainError as error:
        raise DomainError(f"column {name!r}: {error}") from None


def _listed(name: str, said: Said) -> list[Value]:
    """Return the values that a user lists."""
    if not isinstance(said, Iterable) or isinstance(said, Mapping):
        raise OptionError(
            f"{name!r} is said to be {said!r}; expected a list of its values, a "
            f"Feature, or one of the texts {_TEXTS}"
        )
    return _values(name, said)


def said_of(
    said: Mapping[str, Said] | None, names: Sequence[str]
) -> Mapping[str, Said]:
    """Return what is said of features, refusing names that are no column."""
    if said is None:
        return {}
    if not isinstance(said, Mapping):
        raise OptionError(
            f"features are said by a dict from names to values, not a "
            f"{type(said).__name__}"
        )
    for name in said:
        if name not in names:
            known = ", ".join(repr(known) for known in names)
            raise OptionError(f"there is no column {name!r}; the columns are {known}")
    return said


def _observed(
    column: Column, present: set[Value], known: Sequence[Value]
) -> tuple[list[Value], bool]:
    """Return the values of a column, in order, and whether the order means something.

    Categories of the data keep their order, and so do those that the model knows.
    """
    if column.categories is not None:
        return [value_of(item) for item in column.categories], column.is_ordered
    if present and all(isinstance(value, bool) for value in present):
        return [False, True], False
    listed = [value for value in known if value is not None]
    extra = present - set(listed)
    numbers: Any = [*listed, *extra]
    if numbers and all(is_number(number) for number in numbers):
        if all(float(number).is_integer() for number in numbers):
            numbers = [plain_number(number) for number in numbers]
        return sorted(number + 0 for number in numbers), True  # 0.0, and never -0.0
    return [*listed, *_sorted(extra)], False


def _sorted(values: set[Value]) -> list[Value]:
    return sorted(values, key=lambda value: (not is_number(value), value))


def _is_ascending(values: Sequence[Value]) -> bool:
    numbers: Any = [value for value in values if value is not None]
    return all(is_number(n) for n in numbers) and list(numbers) == sorted(numbers)


def _refuse_too_many(name: str, values: Sequence[Value], *, asked: bool) -> None:
    if len(values) <= MOST_VALUES or asked:
        return
    if all(is_number(value) for value in values):
        raise DomainError(
            f"the column {name!r} has {len(values):,} different numbers; if it is no "
            f"number of a case, say which are to be told apart: with "
            f"domain={{{name!r}: 'quantiles:20'}} and nearest=True, on the command "
            f"line --values {name}=quantiles:20 --nearest"
        )
    raise DomainError(
        f"the column {name!r} has {len(values):,} different values, like a name or the "
        f"number of a case; train without it, or list its values by domain= (--values)"
    )


def _refuse_names(
    name: str, words: set[Value], rows: Callable[[], Iterable[object]]
) -> None:
    """Refuse words that are another in nearly every row, such as names."""
    if len(words) < _FEWEST_NAMES or not all(isinstance(w, str) for w in words):
        return
    n_rows = sum(1 for _ in rows())
    if len(words) >= _SHARE_OF_NAMES * n_rows:
        raise DomainError(
            f"the column {name!r} has another value in nearly every row "
            f"({len(words):,} in {n_rows:,}), like a name or the number of a case; "
            f"train without it, or, if it is none, say so by "
            f"domain={{{name!r}: 'observed'}} (--values {name}=observed)"
        )


def _spoken(
    name: str, said: str, column: Column, *, has_missing: bool, nearest: bool
) -> Feature:
    """Return the feature that a text describes."""
    kind, _, rest = said.partition(":")
    if kind == "bins":
        edges = [_number(name, said, text) for text in rest.split(",")]
        return Feature.bins(name, tuple(edges), missing=has_missing)
    numbers: Sequence[float]
    if kind == "quantiles":
        numbers = _quantiles(name, said, rest, column)
    elif ".." in kind:
        low, _, high = kind.partition("..")
        numbers = _steps(low.strip(), high.strip(), rest.strip() or "1") or []
    else:
        raise _misspoken(name, said)
    if not numbers:
        raise _misspoken(name, said)
    values = tuple(plain_number(number) for number in numbers)
    return Feature(
        name, (*values, None) if has_missing else values, ordered=True, nearest=nearest
    )


def _quantiles(name: str, said: str, rest: str, column: Column) -> list[float]:
    """Return the quantiles of the rows, so that common numbers count more."""
    if not re.fullmatch(r"\d+", rest) or not 1 <= int(rest) <= MOST_VALUES:
        raise _misspoken(name, said)
    cells = _values(name, column.cells if column.rows is None else column.rows())
    numbers: Any = [cell for cell in cells if cell is not None]
    if not numbers or not all(is_number(number) for number in numbers):
        raise DomainError(
            f"the column {name!r} has no quantiles: it has values that are no numbers, "
            f"or none at all"
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


def _number(name: str, said: str, text: str) -> float:
    number = number_of(text.strip())
    if number is None:
        raise _misspoken(name, said)
    return number


def _misspoken(name: str, said: str) -> OptionError:
    return OptionError(f"{name!r} is said to be {said!r}; expected {_TEXTS}")
