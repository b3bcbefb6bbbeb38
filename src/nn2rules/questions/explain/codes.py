"""Reason codes: texts of the user's for what stands in the way of another decision."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np

from nn2rules.engine import Point
from nn2rules.errors import DomainError, OptionError
from nn2rules.extraction import other_network
from nn2rules.models import GivenRows
from nn2rules.network import Network
from nn2rules.questions.explain.explanation import HeldRule
from nn2rules.questions.explain.gains import Direction, Gain
from nn2rules.rules import RuleList
from nn2rules.space import Domain


def checked_rules(network: Network, rules: object) -> RuleList | None:
    """Return rules, once it is known that they are of the network's features."""
    if rules is None:
        return None
    if not isinstance(rules, RuleList):
        raise OptionError(f"rules: a {type(rules).__name__}, expected a RuleList")
    if different := other_network(rules, network):
        raise OptionError(f"rules: this model is not the one they are of: {different}")
    return rules


def held_rules(rules: RuleList, network: Network, point: Point) -> list[HeldRule]:
    """Return the rules that hold for a row; the first of them decides.

    Of a list that is all: what stands below it does not answer this row, and may say
    anything.
    """
    numbers = point.numbers[np.newaxis] if network.domain.has_ranges else None
    given = GivenRows(network.domain, point.codes[np.newaxis], numbers)
    columns = given.codes_in(rules.domain)[0] + rules.domain.offsets[:-1]
    holding = np.flatnonzero(rules.boxes[:, columns].all(axis=1)).tolist()
    holding = holding[:1] if rules.form == "list" else holding
    return [
        HeldRule(
            rules.names[index],
            rules.classes[rules.answers[index]],
            f"{rules.names[index]}  {rules.rule_text(rules[index])}",
            index == holding[0],
        )
        for index in holding
    ]


MOST_CODES = 4
"""Notices of adverse action name no more than four reasons."""

Codes = Mapping[tuple[int, str], str]
"""Feature and direction → text."""

_DIRECTIONS = get_args(Direction)


def codes_table(domain: Domain, given: Any) -> Codes:
    """Read a user's table: (feature, direction) → text, or feature → text."""
    if not isinstance(given, Mapping) or not given:
        raise OptionError(
            f"codes: a dict from (feature, direction) to texts, not {given!r}"
        )
    found = {}
    for key, text in given.items():
        name, direction = (key, "any") if isinstance(key, str) else _pair(key)
        try:
            index = domain.index(name)
        except DomainError as error:
            raise OptionError(f"codes: {error}") from None
        if direction not in _DIRECTIONS:
            raise OptionError(
                f"codes: feature {name!r} has the direction {direction!r}, expected "
                f"'low', 'high' or 'any'"
            )
        if direction != "any" and not domain.features[index].ordered:
            raise OptionError(
                f"codes: the values of feature {name!r} have no order, so none is "
                f"{direction!r}; use 'any'"
            )
        if not isinstance(text, str) or not text:
            raise OptionError(f"codes: feature {name!r} has no text, but {text!r}")
        found[index, direction] = text
    return found


def _pair(key: Any) -> tuple[Any, Any]:
    if not isinstance(key, tuple) or len(key) != 2:
        raise OptionError(
            f"codes: {key!r}, expected a feature and a direction, as in "
            f"('income', 'low')"
        )
    return key


def reason_codes(
    table: Codes, reason: Sequence[int], gains: Sequence[Gain]
) -> list[tuple[int, str, str]]:
    """Return at most four features of a reason, with direction and text.

    First what alone moves the score furthest towards another class; equal ones in the
    order of the features. What has no text, or moves nothing, is left out; a direction
    without a text has that of "any".
    """
    found: list[tuple[int, str, str]] = []
    for index in sorted(reason, key=lambda i: (-gains[i].amount, i)):
        gain = gains[index]
        text = table.get((index, gain.direction), table.get((index, "any")))
        is_new = text is not None and text not in [known for _, _, known in found]
        if text is not None and is_new and gain.amount > 0:
            found.append((index, gain.direction, text))
    return found[:MOST_CODES]
