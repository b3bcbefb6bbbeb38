"""Where the scores of a network bend and cross along a line, exactly.

All numbers of an input but one are fixed. Along that one, a piecewise-linear network
consists of straight pieces, whose ends are fractions. Wrong rules about ranges are most
likely wrong there.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise

import naive
from nn2rules import Layer, Network

Line = tuple[Fraction, Fraction]
"""Slope and intercept."""

KINKS = {"relu": [0], "leaky_relu": [0], "hard_tanh": [-1, 1], "hard_sigmoid": [-3, 3]}


def breaks(
    network: Network,
    codes: Sequence[int],
    numbers: Sequence[float],
    feature: int,
    ends: tuple[float, float],
) -> list[Fraction]:
    """Return where a score bends, or two classes tie, as one number runs over a range.

    Of a smooth network only where its first layer's units are 0.
    """
    held = [0 if index == feature else x for index, x in enumerate(numbers)]
    values = naive.one_hot(network.domain.sizes, codes, held)
    first = network.layers[0]
    along = first.weights[int(network.domain.offsets[feature])].tolist()
    start = naive._dense(first, values, Fraction)
    lines = [(Fraction(w), b) for w, b in zip(along, start, strict=True)]
    low, high = map(Fraction, ends)
    if not naive.is_piecewise_linear(network):
        return [x for x in _roots(lines, [0]) if low < x < high]
    found = []
    for a, b, scores in _pieces(network.layers, lines, low, high):
        found += [a, b, *(x for x in _ties(scores, network) if a < x < b)]
    return sorted(set(found))


def _pieces(
    layers: Sequence[Layer], lines: list[Line], low: Fraction, high: Fraction
) -> Iterator[tuple[Fraction, Fraction, list[Line]]]:
    """Yield the straight pieces of the scores."""
    if len(layers) == 1:
        yield low, high, lines
        return
    kinks = KINKS.get(layers[0].activation, [])
    inner = sorted({x for x in _roots(lines, kinks) if low < x < high})
    for a, b in pairwise([low, *inner, high]):
        bent = [_bent(layers[0], line, (a + b) / 2) for line in lines]
        following = layers[1]
        after = [
            (
                sum((Fraction(w) * s for w, (s, _) in zip(column, bent, strict=True))),
                sum(
                    (Fraction(w) * i for w, (_, i) in zip(column, bent, strict=True)),
                    Fraction(bias),
                ),
            )
            for column, bias in zip(
                following.weights.T.tolist(), following.bias.tolist(), strict=True
            )
        ]
        yield from _pieces(layers[1:], after, a, b)


def _bent(layer: Layer, line: Line, at: Fraction) -> Line:
    """Return an activation of a line, on the piece that holds a point."""
    slope, intercept = line
    value = slope * at + intercept
    name = layer.activation
    if name in ("relu", "leaky_relu"):
        factor = Fraction(0 if name == "relu" else _leak(layer))
        return line if value > 0 else (factor * slope, factor * intercept)
    if name == "hard_tanh":
        return (
            line if abs(value) <= 1 else (Fraction(0), Fraction(1 if value > 0 else -1))
        )
    if name == "hard_sigmoid":
        if abs(value) <= 3:
            return slope / 6, intercept / 6 + Fraction(1, 2)
        return Fraction(0), Fraction(int(value > 0))
    return line


def _leak(layer: Layer) -> float:
    return 0.01 if layer.slope is None else layer.slope


def _ties(scores: list[Line], network: Network) -> list[Fraction]:
    """Return where the score is at the threshold, or two scores are equal."""
    if len(scores) == 1:
        odds = network.threshold / (1 - network.threshold)
        return _roots(scores, [math.log(odds)])
    differences = [(a - c, b - d) for (a, b), (c, d) in combinations(scores, 2)]
    return _roots(differences, [0])


def _roots(lines: list[Line], levels: Sequence[float]) -> list[Fraction]:
    return [(Fraction(y) - b) / a for a, b in lines if a for y in levels]


def floats_around(
    place: Fraction, ends: tuple[float, float], whole: bool
) -> list[float]:
    """Return the numbers of a range that are nearest to a place, on both sides."""
    low, high = ends
    if whole:
        near = [float(math.floor(place) + step) for step in (-1, 0, 1, 2)]
    else:
        here = float(place)
        near = [here]
        for way in (-math.inf, math.inf):
            at = here
            for _ in range(3):
                at = math.nextafter(at, way)
                near.append(at)
    return [x for x in near if low <= x <= high]
