"""Cells of a decision table in FEEL, the language of DMN: literals and unary tests.

A unary test is the content of a cell of a decision table, ``"red", "blue"`` or
``[25..40)``; the value of the column is ``?`` where it must be named. Only what all
engines support is used: numbers are plain decimals, because some misread exponents, and
``in`` is not used within expressions.
"""

import re
from collections.abc import Sequence
from decimal import Decimal
from string import hexdigits

from nn2rules.export.cells import LARGEST, Cells, Interval, complement
from nn2rules.export.columns import Column
from nn2rules.space import Value

ANYTHING = "-"
"""The test that every cell passes."""

_SIGNS = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def literal(value: Value) -> str:
    r"""Return a value in FEEL.

    Examples
    --------
    >>> print(literal('say "no"\n'), literal(1e-7), literal(True), literal(None))
    "say \"no\"\n" 0.0000001 true null
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{_written(value)}"'
    return format(Decimal(repr(value)), "f")


def _written(text: str) -> str:
    r"""Return the text between the quotes; invisible characters are numbers.

    Some engines take a digit after ``\u0008`` for a part of the number; so such a digit
    is written as a number itself. After another number they take ``\U01239a`` for four
    digits and a text; so there are two numbers, as in UTF-16.
    """
    signs: list[str] = []
    for sign in text:
        is_after_number = bool(signs) and signs[-1].startswith("\\u")
        if sign in _SIGNS:
            signs.append(_SIGNS[sign])
        elif sign.isprintable() and not (is_after_number and sign in hexdigits):
            signs.append(sign)
        else:
            units = sign.encode("utf-16-be", "surrogatepass").hex()
            signs.append("".join(f"\\u{unit}" for unit in re.findall("....", units)))
    return "".join(signs)


def unary_test(column: Column, cells: Cells, *, closed: bool) -> str:
    """Return the unary test of some cells of a column.

    Parameters
    ----------
    column : Column
    cells : Cells
    closed : bool
        Whether the test alone must leave out cells outside the domain.
    """
    known = column.known
    if cells == known and not (closed and _has_unknown(column)):
        return ANYTHING
    if closed and column.whole and cells.intervals:
        return _whole_test(cells)
    empty = [literal(text) for text in (None, *column.gaps)]
    if cells.negated:
        left_out = [literal(word) for word in cells.words]
        if not cells.missing and (closed or known.missing):
            left_out += empty
        return f"not({', '.join(left_out)})" if left_out else ANYTHING
    parts = [literal(word) for word in cells.words]
    parts += [_inside(interval) for interval in cells.intervals]
    if cells.missing:
        parts += empty
    if ANYTHING in parts:
        return ANYTHING if cells.missing else "not(null)"
    return ", ".join(parts)


def unknown_test(column: Column) -> str | None:
    """Return the unary test of all cells outside the domain; None if there are none."""
    if not _has_unknown(column):
        return None
    rest = complement(_opened(column.known))
    if column.kind == "truth":
        words = tuple(w for w in (False, True) if w not in column.known.words)
        rest = Cells(words=words, missing=rest.missing)
    test = "" if rest.is_empty else unary_test(column, rest, closed=True)
    if not column.whole:
        return test
    special = "".join(f" and ? != {literal(w)}" for w in _broken(column.known.words))
    fraction = f"if ? = null then false else ? != floor(?){special}"
    return f"{test}, {fraction}" if test else fraction


def _has_unknown(column: Column) -> bool:
    if column.kind == "truth":
        return not (column.known.missing and len(column.known.words) == 2)
    rest = complement(_opened(column.known))
    return column.whole or not rest.is_empty


def _opened(cells: Cells) -> Cells:
    """Return cells whose numbers may be of any size: FEEL knows no infinity."""
    intervals = tuple(_open(interval) for interval in cells.intervals)
    return Cells(cells.words, intervals, cells.missing, cells.negated)


def _open(interval: Interval) -> Interval:
    return Interval(
        None if interval.low == -LARGEST else interval.low,
        None if interval.high == LARGEST else interval.high,
        interval.low_is_strict,
        interval.high_is_strict,
    )


def _broken(words: Sequence[Value]) -> list[Value]:
    """Return the numbers that are not whole."""
    return [word for word in words if isinstance(word, float) and word != int(word)]


def _inside(interval: Interval) -> str:
    """Return the test of numbers from one end to another."""
    given = _open(interval)
    if given.low is None and given.high is None:
        return ANYTHING
    if given.low is None:
        return f"{'<' if given.high_is_strict else '<='} {literal(given.high)}"
    if given.high is None:
        return f"{'>' if given.low_is_strict else '>='} {literal(given.low)}"
    if given.low == given.high:
        return literal(given.low)
    first, last = "[("[given.low_is_strict], "])"[given.high_is_strict]
    return f"{first}{literal(given.low)}..{literal(given.high)}{last}"


def _whole_test(cells: Cells) -> str:
    """Return the test of whole numbers in intervals, and of words beside them."""
    inside = " or ".join(_between(interval) for interval in cells.intervals)
    parts = [f"? = {literal(word)}" for word in cells.words]
    parts.append(f"({inside}) and ? = floor(?)")
    missing = literal(cells.missing)
    return f"if ? = null then {missing} else {' or '.join(parts)}"


def _between(interval: Interval) -> str:
    given, ends = _open(interval), []
    if given.low is not None:
        ends.append(f"? {'>' if given.low_is_strict else '>='} {literal(given.low)}")
    if given.high is not None:
        ends.append(f"? {'<' if given.high_is_strict else '<='} {literal(given.high)}")
    return " and ".join(ends) or "true"


_LONGEST = 40

_WORDS = """
abs after all and any answer answers append before between boolean ceiling class
coincides concatenate contains context count date day days decimal decision duration
during else even every exp external false finishes flatten floor for function hours
if in includes insert instance is item list log lower matches max mean median meets
min minutes mode modulo months not now null number odd of or overlaps partial
product range remove replace return reverse round rule satisfies seconds some sort
split sqrt starts stddev string sublist substring sum then time today true union
upper years
"""
_RESERVED = frozenset(re.findall(r"\w+", _WORDS))
"""Words of FEEL, its functions and types, and what the file itself calls things."""


def variables(names: Sequence[str]) -> tuple[str, ...]:
    """Return a name for each column that every engine takes for a variable.

    Examples
    --------
    >>> variables(["safety", "income (USD)", "if", "x", "X", "日本"])
    ('safety', 'income_USD', 'if_', 'x', 'X_5', 'column_6')
    """
    made: list[str] = []
    taken: set[str] = set()
    for number, name in enumerate(names, 1):
        short = re.sub("[^A-Za-z0-9]+", "_", name).strip("_")[:_LONGEST]
        if not short or short[0].isdigit():
            short = f"column_{number}"
        if short.lower() in _RESERVED:
            short += "_"
        while short.lower() in taken:
            short = f"{short.rstrip('_')}_{number}"
        taken.add(short.lower())
        made.append(short)
    return tuple(made)
