"""Which rules hold for a row."""

import numpy as np

from nn2rules.errors import OptionError
from nn2rules.explaining.explanation import HeldRule
from nn2rules.explaining.judges import Point
from nn2rules.given_rows import GivenRows
from nn2rules.network import Network
from nn2rules.other_network import other_network
from nn2rules.rules import RuleList


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
