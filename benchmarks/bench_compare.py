"""Two networks compared: in multiples of the time of one table, and by search."""

import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from timing import best_of, markdown

import nn2rules
from nn2rules import Budget, Layer, Network, datasets
from nn2rules.engine import build_table

SECONDS = 30


def compare() -> str:
    """Adult networks: two seeds, rounded copies, the same written differently."""
    adult = datasets.load("adult")
    bundled = nn2rules.load(datasets.network_file("adult"))
    first, second = (_trained(adult, seed) for seed in range(2))
    pairs = {
        "two seeds": (first, second),
        "rounded to 2 digits": (bundled, _rounded(bundled, 2)),
        "rounded to 3 digits": (bundled, _rounded(bundled, 3)),
        "units in another order": (bundled, _turned(bundled)),
    }
    table = best_of(lambda: build_table(bundled))
    rows = [(name, *_measured(old, new, table)) for name, (old, new) in pairs.items()]
    header = ("networks", "inputs differ", "compare", "with rules", "rules")
    return (
        f"Networks on the {bundled.domain.n_inputs:,} inputs of Adult; one table of "
        f"them takes {1000 * table:.0f} ms, and the time of a comparison is given in "
        f"such tables. The search has {SECONDS} seconds, rules included.\n\n"
        + markdown((*header, "by search", "inputs differ by search"), rows)
    )


def _measured(old: Network, new: Network, table: float) -> tuple[Any, ...]:
    found = nn2rules.compare(old, new)
    seconds = best_of(lambda: nn2rules.compare(old, new))
    started = time.perf_counter()
    n_rules = len(found.rules)
    rules = time.perf_counter() - started
    started = time.perf_counter()
    budget = Budget(seconds=SECONDS)
    searched = nn2rules.compare(old, new, engine="search", budget=budget)
    search = time.perf_counter() - started
    counted = "undecided" if searched.inputs is None else f"{searched.inputs:,}"
    assert searched.inputs in (None, found.inputs), "both engines count the same"
    return (
        f"{found.inputs:,}",
        f"{seconds / table:.1f} tables",
        f"{seconds + rules:.2f} s",
        f"{n_rules:,}",
        f"{search:.2f} s",
        counted,
    )


def _rounded(network: Network, digits: int) -> Network:
    layers = [
        Layer(layer.weights.round(digits), layer.bias.round(digits), layer.activation)
        for layer in network.layers
    ]
    return replace(network, layers=tuple(layers))


def _turned(network: Network) -> Network:
    """Put the hidden units of the first layer in another order."""
    first, second, *others = network.layers
    order = np.arange(len(first.bias))[::-1]
    turned = Layer(first.weights[:, order], first.bias[order], first.activation)
    after = Layer(second.weights[order], second.bias, second.activation)
    return replace(network, layers=(turned, after, *others))


def _trained(dataset: datasets.Dataset, seed: int) -> Network:
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    frame = dataset.train.to_frame()
    labels = frame.pop("label")
    values = [list(feature.values) for feature in dataset.domain.features]
    model = make_pipeline(
        OneHotEncoder(categories=values),
        MLPClassifier((6, 3), max_iter=10, random_state=seed),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ten rounds are enough here
        model.fit(frame, labels)
    return nn2rules.read_network(model, domain=dataset.domain)
