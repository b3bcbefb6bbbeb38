"""What stands in a cell of a decision table: the values that a rule allows a feature.

::

    red                     red, green              all but red, green
    ≥ 25                    ≥ 25 and < 40           < 25 or ≥ 40 or missing
    between small and big   "a value, in quotes"

An empty cell allows everything. These are the words of rules without the name of the
feature, which stands above the column.
"""

import json
import re
from collections.abc import Sequence

from nn2rules.errors import DomainError, InternalError
from nn2rules.feature import Feature
from nn2rules.formats.books.reading_cells import read_cell
from nn2rules.formats.books.spelling import in_quotes, is_formula, spelt_value
from nn2rules.spans import Span
from nn2rules.text import allowed_text
from nn2rules.values import Value, text_of

_QUOTED = r'"(?:[^"\\]|\\.)*"'
_COMMA = re.compile(rf"({_QUOTED}|[^\",]+)(?:, |$)")
_OR = re.compile(rf"((?:{_QUOTED}|(?! or )[^\"])+)(?: or |$)")
_SIGNS = ("<", "≤", "≥", ">", "between")


def cell_text(feature: Feature, values: Sequence[Value | Span]) -> str:
    """Return the values that a condition allows, as they stand in a cell.

    What is written is read back before it is handed out.

    Examples
    --------
    >>> color = Feature("color", ("red", "=1", "blue", "green", "a, b"))
    >>> cell_text(color, ("red",)), cell_text(color, ("red", "=1"))
    ('red', 'red, "=1"')
    >>> cell_text(color, ("red", "blue", "green", "=1"))
    'all but "a, b"'
    >>> age = Feature.real("age", 17, 90, whole=True, missing=True)
    >>> cell_text(age, ((17, 24), (40, 59), None))
    '≤ 24 or ≥ 40 and ≤ 59 or missing'
    """
    wanted = frozenset(values)
    for text in (_friendly(feature, values), _named(values)):
        try:
            found = read_cell(feature, text)
        except DomainError:  # it would be misread, and is said in another way
            continue
        is_same = found is not None and frozenset(found.values) == wanted
        if is_same and not is_formula(text):
            return text
    raise InternalError(
        f"a condition on feature {feature.name!r} cannot be written into a cell"
    )


def _friendly(feature: Feature, values: Sequence[Value | Span]) -> str:
    """Return what rules print, without braces and signs where none are needed."""
    text = allowed_text(feature, values)
    for begin, instead in (("in {", ""), ("all but {", "all but ")):
        if text.startswith(begin):
            inner = text[len(begin) : -1]
            return instead + ", ".join(map(_respelt, _COMMA.findall(inner)))
    for begin, instead in (("= ", ""), ("≠ ", "all but ")):
        if text.startswith(begin) and len(_OR.findall(text)) == 1:
            return instead + _respelt(text[len(begin) :])
    parts = [part.removeprefix("is ") for part in _OR.findall(text)]
    return " or ".join(map(_respelt, parts))


def _respelt(part: str) -> str:
    """Return a part of what rules print as it stands in a cell."""
    if part.startswith('"'):
        return in_quotes(json.loads(part))
    part = part.removeprefix("= ")
    is_said = part.partition(" ")[0] in _SIGNS
    return part if is_said or part in ("missing", "a number") else spelt_value(part)


def _named(values: Sequence[Value | Span]) -> str:
    """Return the values by their own texts, one by one."""
    texts = [
        f"≥ {value[0]} and ≤ {value[1]}"
        if isinstance(value, tuple)
        else "missing"
        if value is None
        else in_quotes(text_of(value))
        for value in values
    ]
    is_list = not any(isinstance(value, tuple) for value in values)
    return (", " if is_list else " or ").join(texts)
