"""Groups of words, as they are said: by all of their words, or by their names."""

from collections.abc import Sequence

from nn2rules.errors import DomainError
from nn2rules.feature import Feature
from nn2rules.text import label_text
from nn2rules.values import text_of

_OTHERS = object()  # what stands for the words in no group

Token = tuple[str, bool]
"""A text, and whether it stood in quotation marks."""


def codes_of_words(feature: Feature, said: Sequence[Token]) -> frozenset[int]:
    """Return the groups whose words, or names, are said.

    A word finds its group; what is no word of any may be the name of a group; and
    ``missing`` and ``other``, without quotation marks, are what rules print for these.

    Raises
    ------
    DomainError
        If a text is none of these, or if only some words of a group are said: whatever
        is said of these would be said of the rest, too.

    Examples
    --------
    >>> job = Feature.grouped("job", [["clerk", "cook"], ["judge"]], other=1)
    >>> codes_of_words(job, [("cook", False), ("clerk", False)])
    frozenset({0})
    >>> codes_of_words(job, [("clerk", False)])
    Traceback (most recent call last):
    ...
    nn2rules.errors.DomainError: clerk is only a part of {clerk, cook}, which the model
    does not tell apart; name all of it
    """
    named: dict[int, set[object]] = {}
    for token in said:
        code, words = _found(feature, token)
        named.setdefault(code, set()).update(words)
    for code, words in named.items():
        if _all_words(feature, code) - words:
            first = next(t for t, q in said if _found(feature, (t, q))[0] == code)
            raise DomainError(
                f"{first} is only a part of {{{', '.join(_texts(feature, code))}}}, "
                f"which the model does not tell apart; name all of it"
            )
    return frozenset(named)


def _found(feature: Feature, token: Token) -> tuple[int, set[object]]:
    """Return the group that a text belongs to, and the words of it that are said."""
    text, is_quoted = token
    assert feature.groups is not None, "asked only of groups"
    is_missing = text == "missing" and not is_quoted
    for code, group in enumerate(feature.groups):
        if is_missing and None in group:
            return code, {None}
    for code, group in enumerate(feature.groups):
        for word in group:
            if word is not None and text_of(word) == text:
                return code, {word}
    for code, value in enumerate(feature.values):
        if value is not None and text_of(value) == text:
            return code, _all_words(feature, code)
    if feature.other is not None and text == "other" and not is_quoted:
        return feature.values.index(feature.other), {_OTHERS}
    known = [text for code in range(len(feature)) for text in _texts(feature, code)]
    raise DomainError(
        f"feature {feature.name!r} has no value {text}; it has {', '.join(known[:12])}"
        f"{', …' if len(known) > 12 else ''}"
    )


def _all_words(feature: Feature, code: int) -> set[object]:
    assert feature.groups is not None, "asked only of groups"
    words: set[object] = set(feature.groups[code])
    return words | {_OTHERS} if _is_for_others(feature, code) else words


def _is_for_others(feature: Feature, code: int) -> bool:
    return feature.other is not None and feature.values[code] == feature.other


def _texts(feature: Feature, code: int) -> list[str]:
    assert feature.groups is not None, "asked only of groups"
    texts = [label_text(word) for word in feature.groups[code]]
    if _is_for_others(feature, code):
        texts.append("other" if texts else label_text(feature.other))
    return texts
