"""Models of every kind, with the rules and the rows of which reports are made."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.random import default_rng

import nn2rules
from nn2rules import Domain, Feature, Network, RuleList
from ranged import mixed_domain, random_network, random_rows


@dataclass(frozen=True)
class Case:
    """A network, its rules, rows and their labels, and a protected feature."""

    network: Network
    rules: RuleList
    rows: list[dict[str, Any]]
    labels: list[Any]
    protected: str

    def report(self, path: Any = None, **options: Any) -> Any:
        """Make the whole report."""
        given = {"data": self.rows, "labels": self.labels, "model": self.network}
        given |= {"protected": [self.protected], "time": 3}
        return self.rules.report(path, **given | options)

    def random_rows(self, seed: int, number: int) -> list[dict[str, Any]]:
        """Draw inputs from the whole domain."""
        return random_rows(default_rng(seed), self.network.domain, number)


def _frozen(name: str, protected: str, **options: Any) -> Case:
    network = nn2rules.load(nn2rules.datasets.network_file(name))
    given = nn2rules.datasets.load(name).train
    rules = nn2rules.extract(
        network, data=given.rows, labels=given.labels, form="set", **options
    )
    return Case(network, rules, given.rows, given.labels, protected)


def _drawn(domain: Domain, classes: tuple[Any, ...], seed: int, **options: Any) -> Case:
    """Draw a network, rows, and labels that agree with it on most of them."""
    rng = default_rng(seed)
    network = random_network(rng, domain, classes=classes)
    rows = random_rows(rng, domain, 200)
    labels = network.predict(rows).tolist()
    for place in rng.choice(len(rows), 20, replace=False).tolist():
        labels[place] = classes[int(rng.integers(len(classes)))]
    rules = nn2rules.extract(network, data=rows, labels=labels, **options)
    return Case(network, rules, rows, labels, domain.names[-1])


def _words(n_features: int, n_values: int) -> Domain:
    letters = "abcdefghijklmnop"
    return Domain(
        tuple(
            Feature(letters[place], tuple(f"{v}" for v in letters[:n_values]))
            for place in range(n_features)
        )
    )


@cache
def case(name: str) -> Case:
    """Return one of the models, made once."""
    made = {
        "car": lambda: _frozen("car", "safety", scope="domain"),
        "adult": lambda: _frozen("adult", "sex", scope="support"),
        "multiclass": lambda: _drawn(_words(5, 4), ("no", "maybe", "yes"), 1),
        "numeric": lambda: _drawn(mixed_domain(), ("no", "yes"), 3, time=3),
        "numeric multiclass": lambda: _drawn(mixed_domain(), (0, 1, 2), 4, time=3),
        "large": lambda: _drawn(_words(12, 4), ("no", "yes"), 5, scope="support"),
    }
    return made[name]()


def index_of(classes: tuple[Any, ...], answers: np.ndarray) -> list[int]:
    """Return the positions of classes."""
    return [classes.index(answer) for answer in answers.tolist()]
