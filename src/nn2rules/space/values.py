"""Values of features, and the texts that stand for them."""

import datetime
import difflib
import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TypeAlias

import numpy as np

from nn2rules.errors import DomainError, OptionError

Value: TypeAlias = str | int | float | bool | None
"""A value of a feature, or a class label. None stands for *missing*."""

MISSING_TEXTS = frozenset(
    (
        *("#N/A", "#NA", "-NaN", "-nan", "<NA>", "N/A", "NA"),
        *("NULL", "NaN", "None", "n/a", "nan", "null"),
    )
)
"""What pandas reads as missing, in a column of numbers."""

DAYS = (
    "(pandas.to_datetime(list(frame[column]), utc=True) - "
    "pandas.Timestamp('2020-01-01', tz='UTC')).days"
)
SECONDS = "pandas.to_timedelta(list(frame[column])).total_seconds()"
"""How dates, and durations, become numbers, in pandas and Polars alike."""

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)


def value_of(item: object) -> Value:
    """Return `item` as a plain Python value; every kind of missing becomes None.

    Examples
    --------
    >>> value_of(np.int64(3)), value_of(np.str_("red")), value_of(float("nan"))
    (3, 'red', None)
    """
    if isinstance(item, np.datetime64) and not np.isnat(item):
        item = item.astype("datetime64[us]").item()  # of nanoseconds it is an integer
    if isinstance(item, np.generic):
        item = item.item()
    if item is None or isinstance(item, str | bool | int):
        return item
    if isinstance(item, float):
        if math.isinf(item):
            raise DomainError(f"{item!r} cannot be a value; values are finite")
        return None if math.isnan(item) else item
    if is_missing(item):
        return None
    if isinstance(item, datetime.date):  # pandas' Timestamp is one, too
        raise DomainError(
            f"a date ({item!r}) cannot be a value, as nothing says in which unit it is "
            f"a number; convert the column before training, as in {DAYS}, and give "
            f"these numbers as data"
        )
    if isinstance(item, datetime.timedelta):
        raise DomainError(
            f"a duration ({item!r}) cannot be a value, as nothing says in which unit "
            f"it is a number; convert the column before training, as in {SECONDS}, "
            f"and give these numbers as data"
        )
    raise DomainError(
        f"a {type(item).__name__} ({item!r}) cannot be a value; "
        f"use strings, integers, floats, booleans or None (missing)"
    )


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """Return the end of a sentence that names what is nearest to `name`, if any is.

    Examples
    --------
    >>> did_you_mean("Age", ["age", "income"]), did_you_mean("x", ["age"])
    ("; did you mean 'age'?", '')
    """
    listed = list(known)
    folded = [str(one).casefold() for one in listed]
    near = difflib.get_close_matches(str(name).casefold(), folded, n=1)
    return f"; did you mean {listed[folded.index(near[0])]!r}?" if near else ""


def is_missing(cell: object) -> bool:
    """Tell whether `cell` is None, NaN, or pandas' NA or NaT."""
    if cell is None:
        return True
    if isinstance(cell, float | np.floating):
        return math.isnan(cell)
    return type(cell).__name__ in {"NAType", "NaTType"}


SPELLING_TEXTS = {
    "empty text": ("",),
    "text 'missing'": ("missing",),
    "text 'NA'": tuple(sorted(MISSING_TEXTS)),
}
"""The texts that mean missing in a row, unless the feature lists them.

The last mean it among numbers alone.
"""

SPELLINGS = ("None", "NaN", "NA", "NaT", *SPELLING_TEXTS)
"""The ways in which a cell of a frame, or of a dict, can be missing."""

_SPELLING_OF = {text: name for name, texts in SPELLING_TEXTS.items() for text in texts}


def spelling_of(cell: object) -> str | None:
    """Return which of `SPELLINGS` a cell holds; None if it cannot mean missing.

    Examples
    --------
    >>> spelling_of(None), spelling_of(float("nan")), spelling_of(3)
    ('None', 'NaN', None)
    >>> spelling_of(""), spelling_of("null"), spelling_of("clerk")
    ('empty text', "text 'NA'", None)
    """
    if isinstance(cell, str):
        return _SPELLING_OF.get(cell)
    if not is_missing(cell):
        return None
    if cell is None:
        return "None"
    return {"NAType": "NA", "NaTType": "NaT"}.get(type(cell).__name__, "NaN")


def is_missing_text(text: str, *, among_numbers: bool) -> bool:
    """Tell whether a text stands for a missing value, in a column of numbers or not.

    Among categories only an empty text does: NA may be a country.

    Examples
    --------
    >>> is_missing_text("NA", among_numbers=True)
    True
    >>> is_missing_text("NA", among_numbers=False)
    False
    """
    return text == "" or (among_numbers and text in MISSING_TEXTS)


def is_number(value: object) -> bool:
    """Tell whether `value` is a number: True and False are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def whole_number(name: str, given: object, least: int = 0) -> int:
    """Return an option that is a whole number, of this size at least.

    Examples
    --------
    >>> whole_number("top", np.int64(3))
    3
    """
    number = given.item() if isinstance(given, np.integer) else given
    if isinstance(number, bool) or not isinstance(number, int) or number < least:
        raise OptionError(f"{name}: {given!r}, expected a whole number from {least} on")
    return number


def text_of(value: Value) -> str:
    """Return the text that stands for `value` in CSV files and in rules.

    Examples
    --------
    >>> text_of(3), text_of("red"), text_of(True), text_of(None)
    ('3', 'red', 'True', 'missing')
    """
    return "missing" if value is None else str(value)


def checked_values(kind: str, items: Sequence[object]) -> tuple[Value, ...]:
    """Return `items` as values, all different and all reading differently."""
    if isinstance(items, str):
        raise DomainError(f"{kind}: its values are one string {items!r}, not several")
    values = tuple(value_of(item) for item in items)
    if not values:
        raise DomainError(f"{kind} has no values")
    seen: dict[str, Value] = {}
    equal: set[Value] = set()
    for value in values:
        text = text_of(value)
        if value in equal:
            raise DomainError(f"{kind} repeats the value {value!r}")
        if text in seen:
            raise DomainError(
                f"{kind} has the values {seen[text]!r} and {value!r}, "
                f"which read the same in a rule; rename one of them"
            )
        seen[text] = value
        equal.add(value)
    return values


def number_of(text: str) -> int | float | None:
    """Return the number that a text spells, whole ones exactly; None if it is none.

    What has an exponent is how floats are printed, so it is read as the float: beyond
    2**53 its digits need not be those of the number.

    Examples
    --------
    >>> number_of("25"), number_of("2.50"), number_of("1e3"), number_of("x")
    (25, 2.5, 1000, None)
    >>> number_of(str(2.0**70)) == 2.0**70
    True
    """
    if not _NUMBER.fullmatch(text):
        return None
    if "e" in text.lower() and math.isfinite(float(text)):
        found = float(text)
        return int(found) if found.is_integer() else found
    number = Decimal(text)
    return int(number) if number == number.to_integral_value() else float(text)


def plain_number(number: float) -> int | float:
    """Return a whole float as an integer, which reads better; others as they are.

    Examples
    --------
    >>> plain_number(25.0), plain_number(2.5)
    (25, 2.5)
    """
    is_whole = isinstance(number, float) and number.is_integer() and abs(number) < 1e15
    return int(number) if is_whole else number


def next_number(number: float, *, whole: bool) -> int | float:
    """Return the next whole number, or the next float.

    Examples
    --------
    >>> next_number(39, whole=True), next_number(0.5, whole=False)
    (40, 0.5000000000000001)
    """
    if whole:
        return int(number) + 1
    return plain_number(math.nextafter(number, math.inf))


def previous_number(number: float, *, whole: bool) -> int | float:
    """Return the whole number before one, or the float.

    Examples
    --------
    >>> previous_number(40, whole=True), previous_number(1.0, whole=False)
    (39, 0.9999999999999999)
    """
    if whole:
        return int(number) - 1
    return plain_number(math.nextafter(number, -math.inf))


def edge_text(edge: float) -> tuple[str, bool]:
    """Return how an edge between numbers is written, and whether it is strict.

    The numbers from an edge on are those above the float before it. Where that reads
    better, as in ``> 0``, it is written, and the edge is strict.

    Examples
    --------
    >>> edge_text(25.0), edge_text(5e-324), edge_text(2.5)
    (('25', False), ('0', True), ('2.5', False))
    """
    if isinstance(edge, int):
        return str(edge), False
    below = previous_number(edge, whole=False)
    here, before = str(plain_number(edge)), str(below)
    if math.isinf(edge) or math.isinf(below):  # neither is a number that one can say
        return (before, True) if math.isinf(edge) else (here, False)
    return (before, True) if len(before) < len(here) else (here, False)


def number_texts(number: float) -> set[str]:
    """Return every text of the numbers that equal this one.

    They share one entry of a lookup, so they must find the same value.
    """
    texts = {str(number)}
    if number == int(number):
        texts |= {str(int(number)), f"{int(number)}.0"}
    if abs(number) < 1e300 and number == float(number):
        texts.add(str(float(number)))
    if number == 0:
        texts.add("-0.0")
    if number in {0, 1}:
        texts.add(str(bool(number)))
    return texts
