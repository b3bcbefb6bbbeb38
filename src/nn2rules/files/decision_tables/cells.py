"""Cells of a decision table: read, written, and safe from spreadsheets.

The grammar is small, so that a cell has only one meaning::

    cell  =  part ("," part)*   |  part ("or" part)*   |  "all but" part ("," part)*
    part  =  VALUE  |  SIGN VALUE ("and" SIGN VALUE)*  |  "between" VALUE "and" VALUE

A text of the user is written as it is if it cannot be misread, and otherwise in
quotation marks, as in JSON. A spreadsheet takes a cell that begins with ``=``, ``+``,
``-`` or ``@`` for a formula, and in a CSV file ``1-2`` for a date and ``007`` for a
number. It does not change a cell that begins with a quotation mark.
"""

import difflib
import json
import re
from collections.abc import Sequence

from nn2rules.errors import DomainError, InternalError
from nn2rules.language import (
    Allowed,
    allowed_text,
    codes_of_words,
    common,
    compared,
    compared_place,
    everything,
    limits_text,
    plain_values,
    quoted,
    union,
    value_text,
    without,
)
from nn2rules.space import (
    Condition,
    Feature,
    Grouped,
    Range,
    Span,
    Value,
    has_bins,
    is_number,
    number_of,
    text_of,
)

Token = tuple[str, bool]
"""A part of a cell, and whether it was in quotation marks."""

_PIECE = re.compile(r'\s*("(?:[^"\\]|\\.)*"|,|\bor\b|(?:(?!\bor\b)[^",])+|")')
_BUT = re.compile(r"\s*(all\s+but|not\s+in|≠|!=|<>)\s*", re.IGNORECASE)
_SIGN = re.compile(r"(<=|>=|≤|≥|<|>)\s*")
_SPELT_SIGNS = {"<=": "≤", ">=": "≥"}
_DECIMAL_COMMA = re.compile(r"\d,\d")
_MOST_SHOWN = 12


def read_cell(feature: Feature, text: str) -> Condition | None:
    """Return the condition in a cell; None if it allows everything.

    Raises
    ------
    DomainError
        If it cannot be read, or allows nothing; one sentence, without the place.

    Examples
    --------
    >>> size = Feature("size", ("small", "medium", "big"), ordered=True)
    >>> read_cell(size, ">= medium"), read_cell(size, "all but big")
    (Condition(feature='size', values=('medium', 'big')),
     Condition(feature='size', values=('small', 'medium')))
    >>> read_cell(size, "bi")
    Traceback (most recent call last):
    ...
    nn2rules.errors.DomainError: 'bi' is not a value of this column; did you mean big?
    """
    if text.strip() in ("", "anything"):
        return None
    _refuse_decimal_comma(text)
    but = _BUT.match(text)
    rest = text[but.end() :] if but else text
    tokens = _tokens(_without_braces(rest))
    if isinstance(feature, Grouped):
        allowed = Allowed(codes=codes_of_words(feature, tokens))
    else:
        allowed = Allowed()
        for token in tokens:
            allowed = union(feature, allowed, _part(feature, token))
    if but:
        allowed = without(feature, allowed)
    if not allowed:
        raise DomainError(f"{text.strip()!r} allows no value of this column")
    return None if allowed == everything(feature) else allowed.condition(feature)


def _without_braces(text: str) -> str:
    """Return the text in braces, as rules print lists of values."""
    found = re.fullmatch(r"\s*(?:in\s*)?\{(.*)\}\s*", text, re.DOTALL)
    return found[1] if found else text


def _refuse_decimal_comma(text: str) -> None:
    """Refuse 1,5, which is 1.5 for some and 1 and 5 for others."""
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', "", text)
    found = _DECIMAL_COMMA.search(bare)
    if found is None:
        return
    number = re.search(r"[\d.]*\d,\d[\d,.]*", bare)
    shown = number[0] if number else found[0]
    raise DomainError(
        f"{shown!r} is ambiguous; write a number with a point, as in 1.5, and "
        f"a list with a space after each comma"
    )


def _tokens(text: str) -> list[Token]:
    """Split a cell at commas, or at the word "or", outside of quotation marks."""
    tokens: list[Token] = []
    place = 0
    piece: list[str] = []
    while place < len(text):
        found = _PIECE.match(text, place)
        if found is None:  # nothing but spaces is left
            break
        place = found.end()
        if found[1] == '"':
            raise DomainError("a quotation mark is not closed")
        if found[1] in (",", "or"):
            tokens.append(_token(piece))
            piece = []
        else:
            piece.append(found[1].strip())
    tokens.append(_token(piece))
    return tokens


def _token(pieces: Sequence[str]) -> Token:
    if not pieces:
        raise DomainError(
            "a value is missing next to a comma, or next to the word 'or'; put a value "
            "that contains these in quotation marks"
        )
    if len(pieces) == 1 and pieces[0].startswith('"'):
        return _unquoted(pieces[0]), True
    return " ".join(pieces), False


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(text, strict=False))
    except ValueError:
        raise DomainError(
            f"{text} cannot be read; in quotation marks, write a backslash twice, "
            f'and a quotation mark as \\"'
        ) from None


def _part(feature: Feature, token: Token) -> Allowed:
    """Return what one part of a cell allows."""
    text, is_quoted = token
    code = _code(feature, token)
    if code is not None:
        return Allowed(codes=frozenset([code]))
    if is_quoted:
        raise _unknown(feature, text)
    operand = re.sub(r"^(=|==|is)\s+", "", text)
    if operand != text:
        return _part(feature, _operand(operand))
    if text == "a number":
        return plain_values(feature)
    if text.startswith("between "):
        low, _, high = text.removeprefix("between ").partition(" and ")
        return _both(feature, [("≥", low), ("≤", high)], text)
    if _SIGN.match(text):
        pairs = []
        for comparison in re.split(r"\s+and\s+(?=[<>≤≥])", text):
            sign = _SIGN.match(comparison)
            if sign is None:
                raise _unknown(feature, text)
            pairs.append((_SPELT_SIGNS.get(sign[1], sign[1]), comparison[sign.end() :]))
        return _both(feature, pairs, text)
    return _one_number(feature, text)


def _operand(text: str) -> Token:
    text = text.strip()
    return (_unquoted(text), True) if text.startswith('"') else (text, False)


def _both(feature: Feature, pairs: Sequence[tuple[str, str]], text: str) -> Allowed:
    """Return what all of several comparisons allow."""
    allowed = everything(feature)
    for sign, operand in pairs:
        token = _operand(operand)
        code, number = _code(feature, token), number_of(token[0])
        if code is not None and not isinstance(feature, Range):
            found = compared_place(feature, sign, code)
        elif number is not None:
            found = compared(feature, sign, number)
        else:
            raise _unknown(feature, operand)
        allowed = common(allowed, found)
    if not allowed:
        hint = "; are its ends the wrong way round?" if len(pairs) > 1 else ""
        raise DomainError(f"{text!r} allows no value of this column{hint}")
    return allowed


def _one_number(feature: Feature, text: str) -> Allowed:
    """Return the one number of a range that a text spells."""
    number = number_of(text)
    if number is None or not isinstance(feature, Range):
        raise _unknown(feature, text)
    found = common(compared(feature, "≥", number), compared(feature, "≤", number))
    if not found:
        raise _unknown(feature, text)
    return found


def _code(feature: Feature, token: Token) -> int | None:
    """Return the code of the value that a text names, as it is listed."""
    text, is_quoted = token
    first = feature.n_cells
    listed = [*enumerate(feature.values)][first:]
    if feature.labels is not None and text in feature.labels:
        return feature.labels.index(text)
    for code, value in listed:
        if value is None:
            if text == "missing" and not is_quoted and feature.labels is None:
                return code
        elif text_of(value) == text:
            return code
    if is_quoted:
        return None
    number = number_of(text)
    for code, value in listed:
        if value is None and text == "missing":
            return code
        if is_number(value) and number is not None and value == number:
            return code
        if isinstance(value, bool) and text.lower() == str(value).lower():
            return code
    return None


def _unknown(feature: Feature, text: str) -> DomainError:
    """Return the error for a text that is not a value; it lists the values."""
    if isinstance(feature, Range):
        return DomainError(
            f"{text!r} is not a number of this column: {limits_text(feature)}"
        )
    if has_bins(feature):
        return DomainError(
            f"{text!r} is not a value of this column, which has bins; write ≥ and < "
            f"with the edges of the bins"
        )
    texts = [value_text(feature, value) for value in feature.values]
    near = difflib.get_close_matches(text, texts, n=1)
    if near:
        return DomainError(
            f"{text!r} is not a value of this column; did you mean {near[0]}?"
        )
    more = ", …" if len(texts) > _MOST_SHOWN else ""
    return DomainError(
        f"{text!r} is not a value of this column; it has "
        f"{', '.join(texts[:_MOST_SHOWN])}{more}"
    )


_QUOTED = r'"(?:[^"\\]|\\.)*"'
_COMMA = re.compile(rf"({_QUOTED}|[^\",]+)(?:, |$)")
_OR = re.compile(rf"((?:{_QUOTED}|(?! or )[^\"])+)(?: or |$)")
_SIGNS = ("<", "≤", "≥", ">", "between")


def condition_cell(feature: Feature, values: Sequence[Value | Span]) -> str:
    """Return the values that a condition allows, as the text of a cell.

    The text is read back before it is returned.

    Examples
    --------
    >>> color = Feature("color", ("red", "=1", "blue", "green", "a, b"))
    >>> condition_cell(color, ("red",)), condition_cell(color, ("red", "=1"))
    ('red', 'red, "=1"')
    >>> condition_cell(color, ("red", "blue", "green", "=1"))
    'all but "a, b"'
    >>> age = Feature.real("age", 17, 90, whole=True, missing=True)
    >>> condition_cell(age, ((17, 24), (40, 59), None))
    '≤ 24 or ≥ 40 and ≤ 59 or missing'
    """
    wanted = frozenset(values)
    for text in (_friendly(feature, values), _named(values)):
        try:
            found = read_cell(feature, text)
        except DomainError:  # it would be misread, so it is written in another way
            continue
        is_same = found is not None and frozenset(found.values) == wanted
        if is_same and not is_formula(text):
            return text
    raise InternalError(
        f"a condition on feature {feature.name!r} cannot be written into a cell"
    )


def _friendly(feature: Feature, values: Sequence[Value | Span]) -> str:
    """Return what rules print, without braces and signs if they are not needed."""
    text = allowed_text(feature, values)
    for begin, instead in (("in {", ""), ("all but {", "all but ")):
        if text.startswith(begin):
            inner = text[len(begin) : -1]
            return instead + ", ".join(map(_part_text, _COMMA.findall(inner)))
    for begin, instead in (("= ", ""), ("≠ ", "all but ")):
        if text.startswith(begin) and len(_OR.findall(text)) == 1:
            return instead + _part_text(text[len(begin) :])
    parts = [part.removeprefix("is ") for part in _OR.findall(text)]
    return " or ".join(map(_part_text, parts))


def _part_text(part: str) -> str:
    """Return a part of what rules print, as the text of a cell."""
    if part.startswith('"'):
        return in_quotes(json.loads(part))
    part = part.removeprefix("= ")
    has_sign = part.partition(" ")[0] in _SIGNS
    return part if has_sign or part in ("missing", "a number") else value_cell(part)


def _named(values: Sequence[Value | Span]) -> str:
    """Return the values one by one."""
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


_FORMULA = re.compile(r"""['\s]*[=+\-@|%'#]""")
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d*[1-9])?", re.ASCII)
_HIDDEN = re.compile(r""";(?=["'\s]*[=+\-@|%])""")
_LETTERS = re.compile(r"[^\W\d_]+")
_DIGITS = 15  # the number that a spreadsheet keeps
_MONTHS = frozenset(
    (
        *("jan", "feb", "mar", "apr", "may", "jun"),
        *("jul", "aug", "sep", "oct", "nov", "dec"),
    )
)
_PARTS_OF_NUMBERS = frozenset(("e", "am", "pm", "a", "p"))


def in_quotes(text: str) -> str:
    r"""Return a text in quotation marks, on one line; `text_in_cell` undoes it.

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


def name_cell(text: str) -> str:
    """Return a name or a label as it is written in a cell of its own.

    Examples
    --------
    >>> name_cell("age, in years"), name_cell("=1+1"), name_cell(" x")
    ('age, in years', '"=1+1"', '" x"')
    """
    is_plain = text.isprintable() and text == text.strip() and text[:1] not in ("", '"')
    if is_plain and not _HIDDEN.search(text) and not may_change(text):
        return text
    return in_quotes(text)


def value_cell(text: str) -> str:
    """Return a value as it is written in a cell, where it may be one of several.

    Examples
    --------
    >>> value_cell("car (new)"), value_cell("a, b"), value_cell("-2+3")
    ('car (new)', '"a, b"', '"-2+3"')
    """
    if quoted(text) == text and not may_change(text):
        return text
    return in_quotes(text)


def text_in_cell(cell: str) -> str:
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
