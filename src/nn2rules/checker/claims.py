"""What rules claim about a network: boxes on which it predicts one class."""

import numpy as np

from nn2rules.checker.parts import (
    Part,
    n_parts_of,
    nowhere,
    part_of,
    parts_of,
    whole,
)
from nn2rules.checker.read import Box, Codes, Read, holds
from nn2rules.checker.run_network import UNDECIDED
from nn2rules.checker.search import Claim, Free
from nn2rules.network import Network
from nn2rules.rules import RuleList


def read_unless(rules: RuleList) -> dict[int, list[int]]:
    """Return the positions of the rules after "unless", for each rule that has some."""
    return {
        position: [number - 1 for number in rule.unless]
        for position, rule in enumerate(rules.rules)
        if rule.unless is not None
    }


def untrue(
    read: Read, unless: dict[int, list[int]], cells: Codes, expected: Codes
) -> list[tuple[int, int]]:
    """Return an input and the rule for each rule that is wrong alone.

    A rule with "unless" must be right on every input that it covers and the named rules
    do not, even if another rule above it determines the prediction.
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


_MOST_PARTS = 1 << 12  # boxes of a rule, whose ranges may have gaps


def claims_of(
    network: Network,
    read: Read,
    impossible: list[Box],
    unless: dict[int, list[int]],
    rules: RuleList,
) -> list[Claim]:
    """Return what each rule claims, and last what the default does.

    A rule of a list claims its box without those of the rules above it, and more if it
    has an "unless". A rule of a set claims its whole box, and the default everything
    that no rule covers. A rule that consists of too many boxes has no claim that can be
    searched, and its boxes are not free for other claims. So these are larger than they
    must be, never smaller. Values of a curve that no number has are free for all.
    """
    domain, is_list = network.domain, rules.form != "set"
    parts = [part_of(domain, read, box, {}) for box in impossible]
    parts += nowhere(domain, read)
    n_impossible, places = len(parts), list[slice]()
    for rule in range(len(read.boxes)):
        few = n_parts_of(read, rule) <= _MOST_PARTS
        own = parts_of(domain, read, rule) if few else []
        places.append(slice(len(parts), len(parts) + len(own)))
        parts += own
    free, answers = Free.of(network, parts), read.answers.tolist()
    claims = []
    for rule, own_place in enumerate(places):
        if is_list and rule in unless:
            leaned_on = [
                part for other in unless[rule] for part in parts[places[other]]
            ]
            leaned = Free.of(network, [*parts[:n_impossible], *leaned_on])
            claims.append(Claim(rule, True, answers[rule], parts[own_place], leaned))
        before = free.first(own_place.start if is_list else n_impossible)
        claims.append(Claim(rule, False, answers[rule], parts[own_place], before))
    everything: list[Part] = [whole(domain)]
    claims.append(Claim(None, False, answers[-1], everything, free))
    return claims
