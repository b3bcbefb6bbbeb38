"""Reason codes: the user's texts for adverse action notices."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from nn2rules.errors import DomainError, OptionError
from nn2rules.questions.explain.case import Direction, Gain
from nn2rules.space import Domain

ReasonCodes = Mapping[tuple[int, str], str]
"""Texts by feature and direction."""

_DIRECTIONS = get_args(Direction)


def read_reason_codes(domain: Domain, reason_codes: Any) -> ReasonCodes:
    """Read texts by (feature, direction), or by feature alone."""
    if not isinstance(reason_codes, Mapping) or not reason_codes:
        raise OptionError(
            f"reason_codes: {reason_codes!r}, expected a dict from (feature, "
            f"direction) to texts"
        )
    texts = {}
    for key, text in reason_codes.items():
        name, direction = (key, "any") if isinstance(key, str) else _pair(key)
        try:
            index = domain.index(name)
        except DomainError as error:
            raise OptionError(f"reason_codes: {error}") from None
        if direction not in _DIRECTIONS:
            raise OptionError(
                f"reason_codes: feature {name!r} has the direction {direction!r}, "
                f"expected 'low', 'high' or 'any'"
            )
        if direction != "any" and not domain.features[index].ordered:
            raise OptionError(
                f"reason_codes: the values of feature {name!r} have no order, so "
                f"{direction!r} does not apply; use 'any'"
            )
        if not isinstance(text, str) or not text:
            raise OptionError(
                f"reason_codes: feature {name!r} has {text!r}, expected a text"
            )
        texts[index, direction] = text
    return texts


def _pair(key: Any) -> tuple[Any, Any]:
    if not isinstance(key, tuple) or len(key) != 2:
        raise OptionError(
            f"reason_codes: {key!r}, expected a feature and a direction, as in "
            f"('income', 'low')"
        )
    return key


MOST_CODES = 4
"""Adverse action notices name at most four reasons."""


def reason_codes(
    table: ReasonCodes, reason: Sequence[int], gains: Sequence[Gain]
) -> list[tuple[int, str, str]]:
    """Return at most four features of a reason, with direction and text.

    Features that alone move the score furthest towards another class come first; ties
    keep the order of the features. Features without a text, or without an effect, are
    left out. A direction without a text has the text of "any".
    """
    chosen: list[tuple[int, str, str]] = []
    for index in sorted(reason, key=lambda i: (-gains[i].amount, i)):
        gain = gains[index]
        text = table.get((index, gain.direction), table.get((index, "any")))
        is_new = text is not None and text not in [taken for _, _, taken in chosen]
        if text is not None and is_new and gain.amount > 0:
            chosen.append((index, gain.direction, text))
    return chosen[:MOST_CODES]
