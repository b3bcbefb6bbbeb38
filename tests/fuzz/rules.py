"""Extracted rules: lists, sets and supports predict as the judge does."""

from collections.abc import Sequence
from typing import Any

from mpmath import mp
from numpy.random import Generator

import naive
import nn2rules
from fuzz.judge import BITS, Judge
from fuzz.networks import pick
from fuzz.questions import demand, draw
from nn2rules import UndecidedError


def make_rules(rng: Generator) -> int:
    """Make a list or a set, by either engine; compare every answer and probability."""
    judge = draw(rng)
    network = judge.network
    forms = ["list", "set", "paper"] if network.is_binary else ["list", "set"]
    form, engine = pick(rng, forms), pick(rng, ["table", "search"])
    try:
        rules = nn2rules.extract(network, form=form, engine=engine, effort=0)
    except UndecidedError:
        return 0
    what = f"the {form} by {engine}"
    for codes, right in zip(judge.inputs, judge.truth, strict=True):
        [row] = network.domain.decode([list(codes)])
        answer = naive.answer(rules, row)
        fine = right is None or answer == network.classes[right]
        demand(fine, f"{what} says {answer} of {row}, {right} is right", network)
    return len(judge.inputs) + _compare_probabilities(judge, rules, what)


def make_support(rng: Generator) -> int:
    """Make rules for some rows: all rows are answered, and no rule is ever wrong."""
    judge = draw(rng)
    network = judge.network
    rows = network.domain.decode(
        [list(judge.inputs[i]) for i in rng.integers(len(judge.inputs), size=3)]
    )
    form, engine = pick(rng, ["list", "set"]), pick(rng, ["table", "search"])
    try:
        rules = nn2rules.extract(
            network, rows, form=form, engine=engine, scope="support", effort=0
        )
    except UndecidedError:
        return 0
    for codes, right in zip(judge.inputs, judge.truth, strict=True):
        [row] = network.domain.decode([list(codes)])
        index, answer = naive.first_match(rules, row), naive.answer(rules, row)
        fine = right is None or answer == network.classes[right]
        fine |= index < 0 and row not in rows
        what = f"the {form} by {engine} for {rows} says {answer} of {row}"
        demand(fine, what, network)
    return len(judge.inputs)


def _compare_probabilities(judge: Judge, rules: Any, what: str) -> int:
    """Compare the range of each rule with the probabilities of what it decides."""
    network, compared = judge.network, 0
    columns = [judge.scores(k) for k in range(len(network.layers[-1].bias))]
    with mp.workprec(BITS[0]):
        for position, codes in enumerate(judge.inputs):
            [row] = network.domain.decode([list(codes)])
            index = naive.first_match(rules, row)
            if index < 0 or rules.rules[index].probability is None:
                continue
            rule = rules.rules[index]
            found = [_mpf(column[position]) for column in columns]
            if any(off > abs(value) * 1e-30 + 1e-30 for value, off in found):
                continue
            exact = _probability(
                [v for v, _ in found], network.classes.index(rule.then)
            )
            low, high = rule.probability
            fine = low <= exact + mp.mpf("1e-25") and exact <= high + mp.mpf("1e-25")
            demand(fine, f"{what}: p {low} to {high}, {exact} for {row}", network)
            compared += 1
    return compared


def _mpf(number: tuple[Any, Any]) -> tuple[Any, Any]:
    return tuple(
        mp.mpf(x.numerator) / x.denominator if hasattr(x, "numerator") else x
        for x in number
    )


def _probability(scores: Sequence[Any], index: int) -> Any:
    if len(scores) == 1:
        sign = 1 if index == 1 else -1
        return 1 / (1 + mp.exp(-sign * scores[0]))
    return 1 / sum(mp.exp(score - scores[index]) for score in scores)
