"""Random piecewise-linear networks with ranges of numbers, and inputs that hurt."""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.random import Generator

import naive
from nn2rules import Domain, Feature, Layer, Network
from nn2rules.space import Range

ACTIVATIONS = ("relu", "relu", "leaky_relu", "hard_tanh", "hard_sigmoid", "identity")
THRESHOLDS = (0.5, 0.5, 0.25, 0.9, 0.5 + 2**-30)

Input = tuple[tuple[int, ...], tuple[float, ...]]
"""Codes and numbers."""


def random_domain(rng: Generator, n_features: int, *, ranges: float = 0.5) -> Domain:
    """Draw categories, and real and whole numbers with values beside them."""
    features = []
    for index in range(n_features):
        if rng.random() >= ranges:
            size = int(rng.integers(1, 5))
            features.append(Feature(f"f{index}", tuple("abcd"[:size])))
            continue
        is_whole = bool(rng.random() < 0.4)
        low, high = sorted(rng.normal(size=2) * 3)
        if is_whole:
            low, high = math.floor(low), math.ceil(high)
        features.append(
            Feature.real(
                f"f{index}",
                low,
                high,
                whole=is_whole,
                special=[999] if rng.random() < 0.2 else [],
                missing=bool(rng.random() < 0.3),
            )
        )
    return Domain(tuple(features))


def random_pieces(
    rng: Generator,
    domain: Domain,
    *,
    max_units: int = 4,
    max_layers: int = 3,
    n_scores: int | None = None,
) -> Network:
    """Draw a network; half of them have small whole weights, so that scores tie."""
    is_whole = bool(rng.random() < 0.5)
    n_scores = int(rng.choice([1, 1, 2, 3])) if n_scores is None else n_scores
    widths = rng.integers(1, max_units + 1, size=rng.integers(0, max_layers + 1))
    layers, n_in = [], int(domain.offsets[-1])
    for place, width in enumerate([*widths.tolist(), n_scores]):
        weights, bias = rng.normal(size=(n_in, width)), rng.normal(size=width)
        if is_whole:
            weights, bias = np.round(1.2 * weights), np.round(1.2 * bias)
        name = str(rng.choice(ACTIVATIONS))
        if place == len(widths):
            name = "sigmoid" if n_scores == 1 else "softmax"
        slope = float(rng.choice([0.01, 0.25, -0.5])) if name == "leaky_relu" else None
        layers.append(Layer(weights, bias, name, slope))
        n_in = width
    classes = tuple(f"class {index}" for index in range(max(2, n_scores)))
    threshold = float(rng.choice(THRESHOLDS)) if n_scores == 1 else 0.5
    return Network(domain, tuple(layers), classes, threshold)


def random_input(rng: Generator, domain: Domain) -> Input:
    """Draw an input; some of its numbers are ends of ranges."""
    codes, numbers = [], []
    for feature in domain.features:
        code, number = int(rng.integers(len(feature))), 1.0
        if isinstance(feature, Range) and rng.random() < 0.7:
            code = 0
        if isinstance(feature, Range) and code == 0:
            low, high = feature.limits
            number = float(rng.choice([low, high]))
            if rng.random() < 0.7:
                number = float(rng.uniform(low, high))
            if feature.whole:
                number = float(min(max(round(number), low), high))
        codes.append(code)
        numbers.append(number)
    return tuple(codes), tuple(numbers)


def first_sums(network: Network, codes: Any, numbers: Any) -> list[Fraction]:
    """Return the exact first pre-activations of an input."""
    values = naive.one_hot(network.domain.sizes, codes, numbers)
    return naive._dense(network.layers[0], values, Fraction)


def next_to(
    rng: Generator, network: Network, codes: Any, numbers: Any, forms: Any
) -> Iterator[Input]:
    """Yield inputs on both sides of where functions are 0, along one number."""
    domain = network.domain
    ranged = [
        f
        for f, code in enumerate(codes)
        if isinstance(domain.features[f], Range) and not code
    ]
    for form in forms if ranged else ():
        feature = int(rng.choice(ranged))
        low, high = domain.features[feature].limits
        ends = []
        for end in (low, high):
            moved = [*numbers[:feature], end, *numbers[feature + 1 :]]
            ends.append(form.at(first_sums(network, codes, moved)))
        if ends[0] * ends[1] >= 0:
            continue
        share = ends[0] / (ends[0] - ends[1])
        middle = float(Fraction(low) + share * (Fraction(high) - Fraction(low)))
        near = (
            math.nextafter(middle, -math.inf),
            middle,
            math.nextafter(middle, math.inf),
        )
        if domain.features[feature].whole:
            near = (float(math.floor(middle)), float(math.ceil(middle)))
        for number in near:
            if low <= number <= high:
                yield codes, (*numbers[:feature], number, *numbers[feature + 1 :])
