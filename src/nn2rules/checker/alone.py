"""Whether rules are true where they say so: on their own, or unless others hold."""

import numpy as np

from nn2rules.checker.evaluate import UNDECIDED
from nn2rules.checker.read import Codes, Read, holds
from nn2rules.rules import RuleList


def read_unless(rules: RuleList) -> dict[int, list[int]]:
    """Return the positions of the rules that each rule leans on, where it says so."""
    return {
        position: [number - 1 for number in rule.unless]
        for position, rule in enumerate(rules.rules)
        if rule.unless is not None
    }


def untrue(
    read: Read, unless: dict[int, list[int]], cells: Codes, expected: Codes
) -> list[tuple[int, int]]:
    """Return an input, and the rule, for each rule that is not as true as it says.

    It must be right wherever it holds and none of those does that it leans on, even if
    another rule above it answers.
    """
    found = []
    for position, others in unless.items():
        other_class = (expected != read.answers[position]) & (expected != UNDECIDED)
        wrong = np.flatnonzero(other_class)
        wrong = wrong[holds(read.boxes[position], cells[wrong])]
        for other in others:
            if not len(wrong):
                break
            wrong = wrong[~holds(read.boxes[other], cells[wrong])]
        if len(wrong):
            found.append((int(wrong[0]), position))
    return found
