"""What is allowed by a cell of a decision table, as people write it.

The grammar is small, so that a cell can be read in one way only::

    cell  =  part ("," part)*   |  part ("or" part)*   |  "all but" part ("," part)*
    part  =  VALUE  |  SIGN VALUE ("and" SIGN VALUE)*  |  "between" VALUE "and" VALUE
"""

import difflib
import json
import re
from collections.abc import Sequence

from nn2rules.errors import DomainError
from nn2rules.language import (
    Allowed,
    codes_of_words,
    common,
    compared,
    compared_place,
    everything,
    limits_text,
    plain_values,
    union,
    value_text,
    without,
)
from nn2rules.space import Condition, Feature, has_bins, is_number, number_of, text_of

Token = tuple[str, bool]
"""A piece of a cell, and whether it stood in quotation marks."""

_PIECE = re.compile(r'\s*("(?:[^"\\]|\\.)*"|,|\bor\b|(?:(?!\bor\b)[^",])+|")')
_BUT = re.compile(r"\s*(all\s+but|not\s+in|≠|!=|<>)\s*", re.IGNORECASE)
_SIGN = re.compile(r"(<=|>=|≤|≥|<|>)\s*")
_SIGNS = {"<=": "≤", ">=": "≥"}
_DECIMAL_COMMA = re.compile(r"\d,\d")
_MOST_SHOWN = 12


def read_cell(feature: Feature, text: str) -> Condition | None:
    """Return the condition that a cell says; None if it allows everything.

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
    >>> read_cell(size, "smal")
    Traceback (most recent call last):
    ...
    nn2rules.errors.DomainError: 'smal' is no value of this column; did you mean small?
    """
    if text.strip() in ("", "anything"):
        return None
    _refuse_decimal_comma(text)
    but = _BUT.match(text)
    rest = text[but.end() :] if but else text
    tokens = _tokens(_without_braces(rest))
    if feature.groups is not None:
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
    """Return what stands in braces, as rules print lists of values."""
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
        f"{shown!r} is read in two ways; write a number with a point, as in 1.5, and "
        f"a list with a space behind each comma"
    )


def _tokens(text: str) -> list[Token]:
    """Part a cell at commas, or at the word "or", outside of quotation marks."""
    tokens: list[Token] = []
    place = 0
    piece: list[str] = []
    while place < len(text):
        found = _PIECE.match(text, place)
        if found is None:  # nothing but spaces is left
            break
        place = found.end()
        if found[1] == '"':
            raise DomainError("a quotation mark is never closed")
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
            "a value is missing beside a comma, or beside the word 'or'; a value that "
            "holds these stands in quotation marks"
        )
    if len(pieces) == 1 and pieces[0].startswith('"'):
        return _unquoted(pieces[0]), True
    return " ".join(pieces), False


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(text, strict=False))
    except ValueError:
        raise DomainError(
            f"{text} cannot be read; in quotation marks a backslash is written twice, "
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
    said = re.sub(r"^(=|==|is)\s+", "", text)
    if said != text:
        return _part(feature, _operand(said))
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
            pairs.append((_SIGNS.get(sign[1], sign[1]), comparison[sign.end() :]))
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
        if code is not None and feature.limits is None:
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
    if number is None or feature.limits is None:
        raise _unknown(feature, text)
    found = common(compared(feature, "≥", number), compared(feature, "≤", number))
    if not found:
        raise _unknown(feature, text)
    return found


def _code(feature: Feature, token: Token) -> int | None:
    """Return the code of the value that a text names, as it is listed."""
    text, is_quoted = token
    first = 0 if feature.limits is None else feature.n_plain
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
    """Say that a text is no value, and which there are."""
    if feature.limits is not None:
        return DomainError(
            f"{text!r} is no number of this column: {limits_text(feature)}"
        )
    if has_bins(feature):
        return DomainError(
            f"{text!r} is no value of this column, which has bins; write ≥ and < with "
            f"the numbers at which they begin"
        )
    texts = [value_text(feature, value) for value in feature.values]
    near = difflib.get_close_matches(text, texts, n=1)
    if near:
        return DomainError(
            f"{text!r} is no value of this column; did you mean {near[0]}?"
        )
    more = ", …" if len(texts) > _MOST_SHOWN else ""
    return DomainError(
        f"{text!r} is no value of this column; it has "
        f"{', '.join(texts[:_MOST_SHOWN])}{more}"
    )
