"""Rules that every export is tried on, with their networks, by name."""

from dataclasses import dataclass
from functools import cache

import numpy as np

import nn2rules
from nn2rules import Domain, Feature, Network, RuleList
from nn2rules.export.program import Program
from nn2rules.space.values import Value
from ranged import random_network, random_rows


@dataclass(frozen=True)
class Case:
    """Rules, and the network that they were extracted from."""

    rules: RuleList
    network: Network


def _network(name: str) -> Network:
    network = nn2rules.load(nn2rules.datasets.network_file(name))
    assert isinstance(network, Network)
    return network


def mixed_domain() -> Domain:
    """Ranges, bins, order, groups, others, true and false, and missing values."""
    return Domain(
        (
            Feature.real("age", 17, 90, whole=True, special=[999], missing=True),
            Feature.real("amount", -0.5, 2000.25, missing=True),
            Feature.bins("rate", [0.1, 2.5], missing=True),
            Feature("size", ("small", "medium", "big"), ordered=True),
            Feature.grouped("job", [["clerk", "cook", None], ["judge"], []], other=2),
            Feature("member", (False, True)),
        )
    )


def _mixed(scope: str, form: str) -> Case:
    network = random_network(np.random.default_rng(27), mixed_domain(), units=3)
    rows = random_rows(np.random.default_rng(8), network.domain, 60)
    rules = nn2rules.extract(network, rows, scope=scope, form=form, progress=False)
    return Case(rules, network)


def _three_classes(form: str) -> Case:
    domain = Domain(
        (
            Feature("shape", ("round", "square", "star")),
            Feature("weight", (1, 2, 3, 5), ordered=True),
            Feature("country", ("AT", "NA", None)),
        )
    )
    labels = ("low", "middle", "high")
    network = random_network(np.random.default_rng(24), domain, classes=labels)
    return Case(nn2rules.extract(network, form=form, progress=False), network)


def _frozen(name: str, form: str) -> Case:
    network = _network(name)
    return Case(nn2rules.extract(network, form=form, progress=False), network)


CASES = {
    "car list": lambda: _frozen("car", "list"),
    "car set": lambda: _frozen("car", "set"),
    "nursery list": lambda: _frozen("nursery", "list"),
    "three classes, list": lambda: _three_classes("list"),
    "three classes, set": lambda: _three_classes("set"),
    "numbers, set for rows": lambda: _mixed("support", "set"),
    "numbers, list for rows": lambda: _mixed("support", "list"),
}


@cache
def case(name: str) -> Case:
    """Return a case, extracted once."""
    return CASES[name]()


def network_answers(given: Case, rows: list[dict[str, Value]]) -> list[Value]:
    """Return what the network answers to rows of the domain."""
    return [*given.network.predict(rows).tolist()]


def known_rows(
    program: Program, rows: list[dict[str, Value]]
) -> list[dict[str, Value]]:
    """Return the rows that lie on the domain."""
    return [
        row
        for row in rows
        if all(
            c.knows(None if row[c.name] in c.gaps else row[c.name])
            for c in program.columns
        )
    ]
