"""Texts of the user's in cells of a spreadsheet, so that none is taken for another.

A text stands as it is where it cannot be misread, and in quotation marks, as JSON has
them, where it could: by whoever reads the table back, or by a spreadsheet. That takes
a cell that begins with ``=``, ``+``, ``-`` or ``@`` for a formula, and in a CSV file
``1-2`` for a date and ``007`` for a number. What begins with a quotation mark it leaves
alone.
"""

import json
import re

from nn2rules.language import quoted

_FORMULA = re.compile(r"""['\s]*[=+\-@|%'#]""")
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d*[1-9])?", re.ASCII)
_HIDDEN = re.compile(r""";(?=["'\s]*[=+\-@|%])""")
_LETTERS = re.compile(r"[^\W\d_]+")
_DIGITS = 15  # so many does a spreadsheet keep
_MONTHS = frozenset(
    (
        *("jan", "feb", "mar", "apr", "may", "jun"),
        *("jul", "aug", "sep", "oct", "nov", "dec"),
    )
)
_PARTS_OF_NUMBERS = frozenset(("e", "am", "pm", "a", "p"))


def in_quotes(text: str) -> str:
    r"""Return a text in quotation marks, on one line; `unspelt` undoes it.

    A semicolon before a sign is written by its number: a spreadsheet that parts a file
    at semicolons would else begin a formula there.

    Examples
    --------
    >>> print(in_quotes("=1"), in_quotes("a;=1"))
    "=1" "a\u003b=1"
    """
    return json_cell(text)


def json_cell(value: object) -> str:
    r"""Return JSON on one line, of signs that every file can hold.

    Examples
    --------
    >>> print(json_cell({"name": "a;=1"}))
    {"name": "a\u003b=1"}
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if not text.isprintable():
        text = json.dumps(value, allow_nan=False)
    return _HIDDEN.sub(r"\\u003b", text)


def spelt(text: str) -> str:
    """Return a name or a label as it stands in a cell of its own.

    Examples
    --------
    >>> spelt("age, in years"), spelt("=1+1"), spelt(" x")
    ('age, in years', '"=1+1"', '" x"')
    """
    is_plain = text.isprintable() and text == text.strip() and text[:1] not in ("", '"')
    if is_plain and not _HIDDEN.search(text) and not may_change(text):
        return text
    return in_quotes(text)


def spelt_value(text: str) -> str:
    """Return a value as it stands in a cell, where it may be one of several.

    Examples
    --------
    >>> spelt_value("car (new)"), spelt_value("a, b"), spelt_value("-2+3")
    ('car (new)', '"a, b"', '"-2+3"')
    """
    if quoted(text) == text and not may_change(text):
        return text
    return in_quotes(text)


def unspelt(cell: str) -> str:
    """Return the text that a cell spells.

    Raises
    ------
    ValueError
        If it begins with a quotation mark and does not end with another.
    """
    cell = cell.strip()
    if not cell.startswith('"'):
        return cell
    found = json.loads(cell, strict=False)
    assert isinstance(found, str), "what begins with a quotation mark is a text"
    return found


def may_change(text: str) -> bool:
    """Tell whether a spreadsheet might take a text for something else.

    That is a formula, a date, or a number that it would write in another way.

    Examples
    --------
    >>> [may_change(text) for text in ("=1", "007", "1-2", "2 May", "1e5", "+1")]
    [True, True, True, True, True, True]
    >>> [may_change(text) for text in ("2", "-0.5", "5more", "17–41", ">50K")]
    [False, False, False, False, False]
    """
    if _NUMBER.fullmatch(text):
        return sum(sign.isdigit() for sign in text) > _DIGITS or text == "-0"
    if is_formula(text):
        return True
    if not any(sign.isdigit() for sign in text) or text[:1] in "<>":
        return False
    words = [word.lower() for word in _LETTERS.findall(text)]
    is_date = all(w in _PARTS_OF_NUMBERS or w[:3] in _MONTHS for w in words)
    return is_date and re.fullmatch(r"\d+–\d+", text) is None


def is_formula(text: str) -> bool:
    """Tell whether a spreadsheet might take a text for a formula.

    Examples
    --------
    >>> is_formula("-1, unknown"), is_formula("-1"), is_formula("≥ -1")
    (True, False, False)
    """
    return bool(_FORMULA.match(text)) and not _NUMBER.fullmatch(text)
