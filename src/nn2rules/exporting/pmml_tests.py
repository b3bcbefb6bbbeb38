"""Which cells of a column are meant, as predicates of PMML.

A predicate is true, false or *unknown*, which it is of missing cells, and only a true
one selects a rule. Engines do not agree on lists of words with quotes or backslashes,
so such words are compared one by one; and a column of true and false is one of the
texts ``true`` and ``false``, as an engine takes a missing truth for false.
"""

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element

from nn2rules.exporting.cells import Cells, Interval
from nn2rules.exporting.columns import Column
from nn2rules.exporting.complement import complement
from nn2rules.exporting.xml_text import refuse_beyond
from nn2rules.values import Value

_TAME = re.compile(r"[\w.+/%-]+( [\w.+/%-]+)*", re.ASCII)


def text_of(value: Value) -> str:
    """Return a value as it stands in an attribute."""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = value if isinstance(value, str) else repr(value)
    refuse_beyond(text, "the value")
    return text


def predicate(column: Column, cells: Cells, *, closed: bool) -> Element:
    """Return what is true of some cells of a column.

    Unless it is closed, it is taken that the cell is known.
    """
    gaps = column.gaps
    if cells.but:
        is_gap_out = not cells.missing and (closed or column.known.missing)
        inside = _outside(column, (*cells.words, *(gaps if is_gap_out else ())))
        return either([_is(column, "isMissing"), inside]) if cells.missing else inside
    parts = [_is(column, "isMissing")] if cells.missing else []
    words = (*cells.words, *(gaps if cells.missing else ()))
    parts += _among(column, words)
    parts += [_within(column, interval) for interval in cells.intervals]
    return either(parts)


def known(column: Column, fraction: str) -> Element:
    """Return what is true of the cells on the domain.

    `fraction` is the field that holds what numbers have behind the point.
    """
    cells = column.known
    if not column.whole:
        return predicate(column, cells, closed=True)
    is_whole = _compare(fraction, "equal", "0")
    within = [_within(column, interval) for interval in cells.intervals]
    numbers = both([either(within), is_whole])
    rest = Cells(words=cells.words, missing=cells.missing)
    if rest.is_nothing:
        return numbers
    return either([predicate(column, rest, closed=True), numbers])


def strange(column: Column, fraction: str) -> Element | None:
    """Return what is true of the cells off the domain; None if there are none."""
    rest = complement(column.known)
    if column.kind == "truth":
        words = tuple(w for w in (False, True) if w not in column.known.words)
        rest = Cells(words=words, missing=rest.missing)
    parts = [] if rest.is_nothing else [predicate(column, rest, closed=True)]
    if column.whole:
        is_broken = _compare(fraction, "notEqual", "0")
        special = [
            _compare(column.name, "notEqual", text_of(word))
            for word in column.known.words
        ]
        parts.append(both([is_broken, *special]))
    return either(parts) if parts else None


def both(parts: Sequence[Element]) -> Element:
    """Return what is true if all parts are."""
    return _joined("and", parts) if parts else Element("True")


def either(parts: Sequence[Element]) -> Element:
    """Return what is true if one of the parts is."""
    return _joined("or", parts) if parts else Element("False")


def _joined(how: str, parts: Sequence[Element]) -> Element:
    if len(parts) == 1:
        return parts[0]
    made = Element("CompoundPredicate", booleanOperator=how)
    for part in parts:
        is_same = part.tag == made.tag and part.attrib == made.attrib
        made.extend(list(part) if is_same else [part])
    return made


def _compare(field: str, operator: str, value: str) -> Element:
    return Element("SimplePredicate", field=field, operator=operator, value=value)


def _is(column: Column, operator: str) -> Element:
    return Element("SimplePredicate", field=column.name, operator=operator)


def _among(column: Column, words: Sequence[Value]) -> list[Element]:
    tame, others = _parted(column, words)
    parts = [_set(column, "isIn", tame)] if tame else []
    return [*parts, *(_compare(column.name, "equal", text) for text in others)]


def _outside(column: Column, words: Sequence[Value]) -> Element:
    if not words:
        return _is(column, "isNotMissing")
    tame, others = _parted(column, words)
    parts = [_set(column, "isNotIn", tame)] if tame else []
    parts += [_compare(column.name, "notEqual", text) for text in others]
    return both(parts)


def _parted(column: Column, words: Sequence[Value]) -> tuple[list[str], list[str]]:
    """Return the words that can stand in a list, and those that are compared."""
    texts = [text_of(word) for word in words]
    is_text = column.kind != "number"
    tame = [text for text in texts if is_text and _TAME.fullmatch(text)]
    if len(tame) < 2:
        return [], texts
    return tame, [text for text in texts if text not in tame]


def _set(column: Column, operator: str, words: Sequence[str]) -> Element:
    made = Element("SimpleSetPredicate", field=column.name, booleanOperator=operator)
    listed = Element("Array", type="string", n=str(len(words)))
    listed.text = " ".join(f'"{word}"' for word in words)
    made.append(listed)
    return made


def _within(column: Column, interval: Interval) -> Element:
    """Return the numbers from one end to another."""
    ends = []
    if interval.low is not None:
        operator = "greaterThan" if interval.low_is_strict else "greaterOrEqual"
        ends.append(_compare(column.name, operator, text_of(interval.low)))
    if interval.high is not None:
        operator = "lessThan" if interval.high_is_strict else "lessOrEqual"
        ends.append(_compare(column.name, operator, text_of(interval.high)))
    return both(ends) if ends else _is(column, "isNotMissing")
