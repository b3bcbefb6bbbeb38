"""Scorecards to export: of every kind, some with names and values that hurt."""

import math
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st

from export.cases import mixed_domain
from export.exportable import _CLASSES, Keep, anything, features, rows_for, texts
from nn2rules import Domain, Feature, Layer, Network, Scorecard
from nn2rules.export.card_program import CardProgram, Rate
from nn2rules.scorecards import Scale, regions_of
from nn2rules.space import Range
from nn2rules.space.values import Value
from ranged import random_network
from strategies import matrices, numbers, thresholds

Rows = list[dict[str, Value]]

PALETTES = ("integers", "dyadic", "decimal", "zeros", "steep", "cancelling", "tiny")


def linear(domain: Domain, classes: Any, seed: int) -> Network:
    """Draw a network without a hidden layer, whose classes change within ranges."""
    network = random_network(np.random.default_rng(seed), domain, units=4)
    outputs = 1 if len(classes) == 2 else len(classes)
    first = network.layers[0]
    last = "sigmoid" if outputs == 1 else "softmax"
    layer = Layer(first.weights[:, :outputs], first.bias[:outputs], last)
    return Network(domain, (layer,), classes)


def _parts(classes: Any) -> Scorecard:
    rng = np.random.default_rng(27)
    return Scorecard.from_network(
        random_network(rng, mixed_domain(), units=3, classes=classes)
    )


def _regions(classes: Any) -> Scorecard:
    rng = np.random.default_rng(5)
    network = random_network(rng, mixed_domain(), units=3, classes=classes)
    first, last = network.layers
    middle = Layer(rng.normal(size=(3, 2)), rng.normal(size=2), "relu")
    last = Layer(last.weights[:2], last.bias, last.activation)
    deep = Network(network.domain, (first, middle, last), classes)
    return Scorecard.from_network(deep, regions=regions_of(deep, 256))


def _whole() -> Scorecard:
    """Whole points and whole numbers: one cut-off, ties, and no row too close."""
    domain = Domain(
        (
            Feature.real("age", 17, 90, whole=True, special=[999], missing=True),
            Feature("size", ("small", "big")),
        )
    )
    layer = Layer([[2.0], [-30.0], [7.0], [1.0], [-24.0]], [-50.0], "sigmoid")
    return Scorecard.from_network(Network(domain, (layer,), ("no", "yes")))


def _binned(given: Scorecard) -> Scorecard:
    """Print ranges as bins."""
    return given.replace(scale=Scale(100.0, None, 0, 9))


CARDS = {
    "single": lambda: Scorecard.from_network(linear(mixed_domain(), ("no", "yes"), 27)),
    "whole points": _whole,
    "three classes": lambda: Scorecard.from_network(
        linear(mixed_domain(), ("low", "middle", "high"), 24)
    ),
    "bins": lambda: _binned(
        Scorecard.from_network(linear(mixed_domain(), ("no", "yes"), 27))
    ),
    "parts": lambda: _parts(("no", "yes")),
    "parts, three classes": lambda: _parts(("a", "b", "c")),
    "regions": lambda: _regions(("no", "yes")),
    "regions, three classes": lambda: _regions(("a", "b", "c")),
}
"""Scorecards of every kind, by name."""

ONE_TOTAL = ("single", "whole points", "bins", "parts")
"""Those with one total and no regions."""


@cache
def card(name: str) -> Scorecard:
    """Return a scorecard, made once."""
    return CARDS[name]()


def card_rows(program: CardProgram, number: int = 60, seed: int = 0) -> Rows:
    """Return rows of all kinds, on the domain and off it, and rows that are close.

    In some of them a number is moved to where the class of the network changes, or to
    where rounded points do, and to the numbers beside.
    """
    rows = rows_for(program, number, seed)
    rng = np.random.default_rng(seed)
    ranges = [
        (place, column)
        for place, column in enumerate(program.columns)
        if isinstance(column.feature, Range)
    ]
    known = [row for row in rows if _is_known(program, row)]
    close: Rows = []
    for row in known[: max(4, number // 8)]:
        for place, column in ranges:
            spots = [_crossing(program, row, column), _half(program, place, rng)]
            for spot in spots:
                if spot is not None:
                    close += [
                        {**row, column.name: near} for near in _beside(column, spot)
                    ]
    return rows + close


def _is_known(program: CardProgram, row: Any) -> bool:
    cells = [None if row[c.name] in c.gaps else row[c.name] for c in program.columns]
    return all(c.knows(x) for c, x in zip(program.columns, cells, strict=True))


def _crossing(program: CardProgram, row: Any, column: Any) -> float | None:
    """Return a number at which the class of the network changes, if there is one."""
    network = program.card.network

    def label(number: float) -> Any:
        return network.predict([{**row, column.name: number}])[0]

    low, high = map(float, column.feature.limits)
    first = label(low)
    if label(high) == first:
        return None
    while True:
        middle = low + (high - low) / 2
        if column.whole:
            middle = float(math.floor(middle))
        if not low < middle < high:
            return low
        low, high = (middle, high) if label(middle) == first else (low, middle)


def _half(program: CardProgram, place: int, rng: Any) -> float | None:
    """Return a number whose product with a rate is halfway between two units."""
    rates = [
        points
        for line in program.lines[place]
        for points in line.points
        if isinstance(points, Rate) and not points.whole
    ]
    if not rates:
        return None
    rate = rates[int(rng.integers(len(rates)))]
    low, high = program.columns[place].feature.limits
    aim = rate.at(float(rng.uniform(low, high)))
    return float(((aim + 0.5) * rate.bottom) / rate.top)


def _beside(column: Any, spot: float) -> list[float]:
    """Return a number of a range and its neighbors."""
    low, high = column.feature.limits
    found = [math.nextafter(spot, -math.inf), spot, math.nextafter(spot, math.inf)]
    if column.whole:
        found = [math.floor(spot), math.floor(spot) + 1]
    return [number for number in found if low <= number <= high]


@st.composite
def drawn_cards(
    draw: st.DrawFn,
    keep: Keep = anything,
    kinds: tuple[str, ...] = ("single", "parts", "classes", "regions"),
) -> Scorecard:
    """Draw a scorecard with names, values and weights that hurt."""
    names = draw(st.lists(texts(keep), min_size=1, max_size=3, unique=True))
    domain = Domain(tuple(draw(features(name, keep)) for name in names))
    classes = draw(st.sampled_from(_CLASSES))
    if draw(st.booleans()):
        labels = st.lists(texts(keep), min_size=2, max_size=3, unique=True)
        classes = tuple(draw(labels))
    kind = draw(st.sampled_from(kinds))
    if kind in ("single", "parts"):
        classes = classes[:2]
    outputs = 1 if len(classes) == 2 else len(classes)
    elements = draw(numbers(PALETTES))
    units = outputs if kind in ("single", "classes") else draw(st.integers(1, 3))
    width = int(domain.offsets[-1])
    weights = draw(matrices(width, units, elements))
    if draw(st.booleans()):  # numbers as large as their range is small
        weights = weights / np.maximum(domain.reach, 1)[:, np.newaxis]
    bias = np.array(draw(st.lists(elements, min_size=units, max_size=units)))
    last = "sigmoid" if outputs == 1 else "softmax"
    layers = [Layer(weights, bias, last)]
    if kind in ("parts", "regions"):
        names = ["relu", "leaky_relu", "hard_tanh", "identity"]
        activation = draw(st.sampled_from(names)) if kind == "parts" else "relu"
        slope = draw(st.sampled_from([None, 0.25])) if "leaky" in activation else None
        layers = [Layer(weights, bias, activation, slope)]
        above = numbers(("integers", "dyadic", "decimal"))
        if kind == "regions":
            made = draw(matrices(units, 2, draw(above)))
            layers.append(Layer(made, np.array([0.5, -1.0]), "relu"))
            units = 2
        made = draw(matrices(units, outputs, draw(above)))
        base = st.lists(
            st.sampled_from([-1.0, 0.0, 0.1]), min_size=outputs, max_size=outputs
        )
        layers.append(Layer(made, np.array(draw(base)), last))
    threshold = draw(thresholds) if outputs == 1 else 0.5
    network = Network(domain, tuple(layers), classes, threshold)
    regions = regions_of(network, 64) if kind == "regions" else ()
    return Scorecard.from_network(network, regions=regions)
