"""Derive features from the columns of a table and the user's specifications.

A column of text has the categories that occur. A column of numbers is a range, from the
minimum to the maximum, unless it has few whole numbers without gaps, or the user
specifies it.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from nn2rules.errors import DomainError, OptionError, SpecialValueWarning
from nn2rules.space.feature import Feature
from nn2rules.space.feature_kinds import Binned, Range
from nn2rules.space.feature_spec import (
    MOST_VALUES,
    TEXTS,
    Column,
    FeatureSpec,
    RangeSpec,
    feature_of_text,
    is_range,
    range_spec,
    values_of,
)
from nn2rules.space.values import (
    Value,
    did_you_mean,
    is_missing,
    is_number,
    plain_number,
    value_of,
)

_FEWEST_NAMES, _SHARE_OF_NAMES = 100, 0.95
"""Texts this many, in this large a share of the rows, are not categories."""

_LONGEST_RUN = 20
"""So many whole numbers without gaps are listed, and are no range."""

_LARGEST_WHOLE = 2**53
"""Up to here floats hold every whole number."""

_CODES = (9, 99, 999, 9999, 99999, 999999, -1, -9, -99, -999, -9999)
"""Numbers that often stand for *unknown* or *does not apply*."""

_FEWEST_ROWS, _FEWEST_OTHERS, _FREQUENT = 20, 10, 5
"""A code, unlike an outlier, is in at least this many rows, beside other numbers."""


def feature_of(
    name: str,
    column: Column,
    spec: FeatureSpec = None,
    *,
    known: Sequence[Value] = (),
    special: Sequence[float] = (),
    listed: bool = False,
) -> Feature:
    """Return the feature that a column of data is.

    Parameters
    ----------
    name : str
    column : Column
    spec : Feature, tuple of two numbers, sequence of values, or str, optional
        A Feature is taken as it is. Two numbers are the ends of a range. Values replace
        those observed. A text says which numbers there are: ``"range:18,100"``, with
        ``missing`` and special values such as ``special:999`` behind the ends, or
        ``"range"`` from the least to the largest; ``"17..90"`` integers,
        ``"0..100:2.5"`` steps, ``"quantiles:10"``, ``"bins:25,40,65"`` or
        ``"observed"``. ``"ordered:low,medium,high"`` lists categories in order.
    known : sequence of values
        Values that the model knows, whether or not they occur.
    special : sequence of numbers
        Those beside a range, as they mean something else.
    listed : bool
        Whether numbers are those that occur, and no range.

    Examples
    --------
    >>> ages = Column([31, 25])
    >>> feature_of("age", ages).values, feature_of("age", ages, "observed").values
    (('[25, 31]',), (25, 31))
    >>> feature_of("age", ages, "bins:30")
    Feature('age', ('(-inf, 30)', '[30, inf)'), ordered=True, edges=(30,), whole=True)
    """
    if isinstance(spec, Feature):
        if spec.name != name:
            raise OptionError(
                f"column {name!r}: the specification is a feature named {spec.name!r}"
            )
        return spec
    cells = values_of(name, column.cells)
    has_missing = None in cells
    is_text = isinstance(spec, str)
    if is_range(spec):
        ends = range_spec(name, spec)
        return _range(name, cells, replace(ends, special=(*special, *ends.special)))
    if (
        spec is None
        and not (listed or known)
        and _is_continuous(column, cells, special)
    ):
        return _range(name, cells, RangeSpec(special=tuple(special)))
    if is_text and spec != "observed":
        made = feature_of_text(name, spec, column, has_missing=has_missing)
        if not isinstance(made, Binned):
            return made
        is_whole = all(isinstance(edge, int) for edge in made.edges)
        return replace(made, whole=is_whole and are_whole(cells))
    if spec is None or is_text:
        values, ordered = _observed(column, set(cells) - {None}, known)
        _refuse_too_many(name, values, asked=is_text)
        if not is_text and column.rows is not None:
            _refuse_names(name, set(cells) - {None}, column.rows)
    else:
        values = _listed(name, spec)
        ordered = _is_ascending(values)
        has_missing = has_missing or None in values
        values = [value for value in values if value is not None]
    if not values and not has_missing:
        raise DomainError(f"column {name!r} has no values; there are no rows")
    return Feature(
        name, (*values, None) if has_missing else tuple(values), ordered=ordered
    )


def are_whole(cells: Iterable[object]) -> bool:
    """Tell whether a column is one of whole numbers, by the type of its cells.

    Where cells are missing, frames hold whole numbers as floats.

    Examples
    --------
    >>> are_whole([1, 2, None]), are_whole([1.0, 2.0]), are_whole([1.0, 2.0, None])
    (True, False, True)
    """
    listed = list(cells)
    numbers = [cell for cell in listed if not is_missing(cell)]
    if len(numbers) < len(listed) and all(type(n) is float for n in numbers):
        return bool(numbers) and all(number.is_integer() for number in numbers)  # type: ignore[attr-defined]
    return bool(numbers) and all(type(number) is int for number in numbers)


def _is_continuous(
    column: Column, cells: Sequence[Value], special: Sequence[float]
) -> bool:
    """Tell whether a column of data is a range of numbers where nobody says it.

    Few whole numbers without gaps are listed, and so is a single one. A number among
    the others that means something else is no part of a range.
    """
    numbers: Any = {cell for cell in cells if cell is not None and cell not in special}
    if column.categories is not None or len(numbers) < 2:
        return False
    if not all(is_number(number) for number in numbers):
        return False
    if any(isinstance(n, int) and abs(n) > _LARGEST_WHOLE for n in numbers):
        return False
    low, high = min(numbers), max(numbers)
    if any(low <= mark <= high for mark in special):
        return False
    is_run = high - low == len(numbers) - 1 < _LONGEST_RUN
    return not (is_run and all(float(number).is_integer() for number in numbers))


def _range(name: str, cells: Sequence[Value], spec: RangeSpec) -> Feature:
    """Return a range of numbers: those of the data, or with the ends that are given."""
    ends = spec.ends
    beside = [plain_number(number) for number in dict.fromkeys(spec.special)]
    numbers: Any = [cell for cell in cells if cell is not None and cell not in beside]
    if not all(is_number(number) for number in numbers):
        raise DomainError(f"column {name!r} is not a range: it has words")
    if ends is None and not numbers:
        raise DomainError(
            f"column {name!r} has no numbers; specify the range, (low, high)"
        )
    low, high = ends or (min(numbers), max(numbers))
    whole = are_whole([*numbers, None] if None in cells else numbers)
    if whole and math.isfinite(low) and math.isfinite(high):
        low, high = math.ceil(low), math.floor(high)
    has_missing = spec.has_missing or None in cells
    return Feature.real(
        name, low, high, whole=whole, special=beside, missing=has_missing
    )


def special_value_warnings(
    features: Iterable[Feature], columns: Iterable[Column], declared: Iterable[str]
) -> list[SpecialValueWarning]:
    """Return a warning for each range whose ends look like codes, such as 999.

    Features in `declared` were specified by the user, and get none.
    """
    specified = set(declared)
    hints = []
    for feature, column in zip(features, columns, strict=True):
        if not isinstance(feature, Range) or feature.name in specified:
            continue
        if column.rows is None:
            continue
        low, high = feature.limits
        cells: Any = values_of(feature.name, column.cells)
        numbers = sorted({c for c in cells if is_number(c) and low <= c <= high})
        if not _isolated_ends(numbers):
            continue  # most columns: their rows need not be counted
        counts = Counter(values_of(feature.name, column.rows()))
        codes, others = _split_codes(numbers, counts)
        if codes:
            hints.append(_special_value_warning(feature.name, codes, others, counts))
    return hints


def _split_codes(
    numbers: list[float], counts: Counter[Value]
) -> tuple[list[float], list[float]]:
    """Return the numbers that look like codes, and the others."""
    codes: list[float] = []
    others = numbers
    if counts.total() < _FEWEST_ROWS:
        return [], numbers
    while True:
        frequent = [end for end in _isolated_ends(others) if _is_code(end, counts)]
        if not frequent:
            return sorted(codes), others
        codes.append(frequent[0].number)
        others = frequent[0].others


@dataclass(frozen=True)
class _End:
    """The minimum or the maximum of a column, and its other numbers in order."""

    number: float
    others: list[float]

    @property
    def gap(self) -> float:
        return max(self.number - self.others[-1], self.others[0] - self.number)

    @property
    def is_far(self) -> bool:
        """Whether it is farther from the others than they are from each other."""
        return self.gap > self.others[-1] - self.others[0]

    @property
    def is_lone(self) -> bool:
        """Whether only this end is far; in 1, 10, 100, … the next one is, too."""
        next_one = _ends(self.others)[self.number < self.others[0]]
        return self.is_far and not next_one.is_far

    @property
    def is_isolated(self) -> bool:
        """Whether it is apart from the others; a typical code needs less for that."""
        if self.number in _CODES:
            return self.gap > max(b - a for a, b in pairwise(self.others))
        return len(self.others) >= _FEWEST_OTHERS and self.is_lone


def _ends(numbers: list[float]) -> tuple[_End, _End]:
    """Return the maximum and the minimum."""
    return _End(numbers[-1], numbers[:-1]), _End(numbers[0], numbers[1:])


def _isolated_ends(numbers: list[float]) -> list[_End]:
    if len(numbers) < 3:
        return []
    return [end for end in _ends(numbers) if end.is_isolated]


def _is_code(end: _End, counts: Counter[Value]) -> bool:
    """Tell whether an isolated number occurs too often to be an outlier.

    Of typical codes that are far from all others, a single one is enough; but 9 and -1
    are common numbers, too.
    """
    count = counts[end.number]
    if not end.is_far:
        return count >= _FREQUENT
    if end.number in _CODES and abs(end.number) > 9:
        return True
    return count >= _FREQUENT or count >= max(2, 0.01 * counts.total())


def _special_value_warning(
    name: str, codes: list[float], others: list[float], counts: Counter[Value]
) -> SpecialValueWarning:
    low, high = plain_number(others[0]), plain_number(others[-1])
    shown = [plain_number(code) for code in codes]
    text = ",".join([f"range:{low},{high}", *(f"special:{code}" for code in shown)])
    occurring = " and ".join(
        f"{code} (in {counts[code]:,} row{'' if counts[code] == 1 else 's'})"
        for code in shown
    )
    are, they = ("is", "it is a code") if len(codes) == 1 else ("are", "they are codes")
    return SpecialValueWarning(
        f"column {name!r}: {occurring} {are} apart from all other numbers ({low} to "
        f"{high}), but part of the range; if {they}, such as for unknown, declare this "
        f"by domain={{{name!r}: {text!r}}} (--values {name}={text})"
    )


def _listed(name: str, spec: FeatureSpec) -> list[Value]:
    """Return the values that a user lists."""
    if not isinstance(spec, Iterable) or isinstance(spec, Mapping):
        raise OptionError(
            f"feature {name!r}: invalid specification {spec!r}; expected a list of its "
            f"values, a "
            f"Feature, or one of the texts {TEXTS}"
        )
    return values_of(name, spec)


def checked_specs(
    specs: Mapping[str, FeatureSpec] | None, names: Sequence[str]
) -> Mapping[str, FeatureSpec]:
    """Return the specifications; refuse names that are not columns."""
    if specs is None:
        return {}
    if not isinstance(specs, Mapping):
        raise OptionError(
            f"features are specified by a dict from names to values, not a "
            f"{type(specs).__name__}"
        )
    for name in specs:
        if name not in names:
            known = ", ".join(repr(known) for known in names)
            raise OptionError(
                f"there is no column {name!r}; the columns are {known}"
                f"{did_you_mean(name, names)}"
            )
    return specs


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
            f"column {name!r} has {len(values):,} distinct numbers, and cannot be a "
            f"range, because the model is not linear in it; put them into bins in the "
            f"model, leave out the non-linear step, or choose a few of them, by "
            f"domain={{{name!r}: 'quantiles:20'}} (--values {name}=quantiles:20)"
        )
    raise DomainError(
        f"column {name!r} has {len(values):,} distinct values, like a name or an id; "
        f"train without it, or list its values by domain= (--values)"
    )


def _refuse_names(
    name: str, words: set[Value], rows: Callable[[], Iterable[object]]
) -> None:
    """Refuse texts that differ in nearly every row, such as names."""
    if len(words) < _FEWEST_NAMES or not all(isinstance(w, str) for w in words):
        return
    n_rows = sum(1 for _ in rows())
    if len(words) >= _SHARE_OF_NAMES * n_rows:
        raise DomainError(
            f"column {name!r} has a different value in nearly every row "
            f"({len(words):,} in {n_rows:,}), like a name or an id; train without it, "
            f"or, if it is not one, declare this by "
            f"domain={{{name!r}: 'observed'}} (--values {name}=observed)"
        )
