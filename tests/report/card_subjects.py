"""Scorecards of every kind, with the rows of which reports are made."""

from functools import cache
from typing import Any

import numpy as np
from numpy.random import default_rng
from subjects import Case

import nn2rules
from nn2rules import Domain, Feature, Layer, Network
from nn2rules.space import Range
from ranged import mixed_domain, random_network, random_rows

MIXED = mixed_domain()
WORDS = Domain(tuple(Feature(name, ("a", "b", "c")) for name in ("x", "y", "z")))


class CardCase(Case):
    """A network with its scorecard instead of rules."""

    def report(self, path: Any = None, **options: Any) -> Any:
        """Make the whole report; the scorecard has its network in it."""
        given = {"data": self.rows, "labels": self.labels, "time": 2}
        return self.rules.report(path, **given | options)


def _linear(domain: Domain, classes: tuple[Any, ...], seed: int) -> Network:
    rng = default_rng(seed)
    n_out = 1 if len(classes) == 2 else len(classes)
    weights = rng.normal(size=(int(domain.offsets[-1]), n_out))
    for feature, start in zip(domain.features, domain.offsets, strict=False):
        if isinstance(feature, Range):
            weights[start] *= 2 / max(np.abs(feature.limits))
    last = Layer(
        weights, rng.normal(size=n_out) / 2, "sigmoid" if n_out == 1 else "softmax"
    )
    return Network(domain, (last,), classes)


def _leaky(seed: int) -> Network:
    network = random_network(default_rng(seed), MIXED, units=2)
    first, last = network.layers
    layers = (Layer(first.weights, first.bias, "leaky_relu", 0.25), last)
    return Network(MIXED, layers, network.classes)


NETWORKS = {
    "one sum": lambda: _linear(MIXED, ("no", "yes"), 1),
    "bins": lambda: _linear(MIXED, ("no", "yes"), 1),
    "words": lambda: _linear(WORDS, ("no", "yes"), 2),
    "classes": lambda: _linear(MIXED, ("a", "b", "c"), 3),
    "parts": lambda: random_network(default_rng(4), MIXED, units=3),
    "leaky parts": lambda: _leaky(5),
    "parts of classes": lambda: random_network(
        default_rng(6), MIXED, units=2, classes=(0, 1, 2)
    ),
    "regions": lambda: random_network(default_rng(7), MIXED, units=9),
}


@cache
def card_case(name: str) -> CardCase:
    """Return one of the cards, made once."""
    network, rng = NETWORKS[name](), default_rng(8)
    rows = random_rows(rng, network.domain, 120)
    labels = network.predict(rows).tolist()
    for place in rng.choice(len(rows), 20, replace=False).tolist():
        labels[place] = network.classes[int(rng.integers(len(network.classes)))]
    card = nn2rules.extract(
        network, rows, labels=labels, form="scorecard", max_regions=10_000
    )
    if name == "one sum":
        card = card.scaled(minimum=300, maximum=850, higher="no", rows=rows)
    if name == "bins":
        card = card.scaled(bins=200, rows=rows)
    return CardCase(network, card, rows, labels, network.domain.names[-1])
