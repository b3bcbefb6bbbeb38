"""Canonical forms: whether two models are equal by their weights or rules alone.

The form of a network is computed in exact fractions. Networks with the same form are
equal everywhere, even where no table or search would ever end. The converse does not
hold: networks with different forms may be equal.

The form does not depend on the order of hidden units, duplicate units, units without an
effect, the scale of units whose activation is homogeneous, signs where the activation
is odd, a constant that all values of a feature add, or the scale of the scores.
"""

from fractions import Fraction
from typing import TypeAlias

import numpy as np

from nn2rules.network import Network
from nn2rules.questions.compare.predictors import (
    NetworkPredictor,
    Predictor,
    RulesPredictor,
)
from nn2rules.space import Domain, Range

Row: TypeAlias = tuple[Fraction, ...]

Form: TypeAlias = tuple[object, ...]

_SCALED = ("relu", "leaky_relu", "identity")

_ODD = ("identity", "tanh", "hard_tanh")

_MOST_WEIGHTS = 1 << 18


def is_seen_equal(old: Predictor, new: Predictor) -> bool:
    """Tell whether two predictors are equal by their weights or rules."""
    if isinstance(old, NetworkPredictor) and isinstance(new, NetworkPredictor):
        return is_same_function(old.network, new.network)
    if isinstance(old, RulesPredictor) and isinstance(new, RulesPredictor):
        same = np.array_equal(old.boxes, new.boxes) and old.uncovered == new.uncovered
        return same and np.array_equal(old.positions, new.positions)
    return False


def is_same_function(old: Network, new: Network) -> bool:
    """Tell whether two networks on one domain have the same form."""
    n_weights = sum(layer.weights.size for n in (old, new) for layer in n.layers)
    same_kind = old.classes == new.classes and len(old.layers) == len(new.layers)
    if old.layers == new.layers and old.threshold == new.threshold and same_kind:
        return True
    return same_kind and n_weights <= _MOST_WEIGHTS and form_of(old) == form_of(new)


def form_of(network: Network) -> Form:
    """Return the form of a network."""
    into, bias = _fractions(network, 0)
    into, bias = _without_gauge(network.domain, into, bias)
    layers: list[object] = []
    for index, layer in enumerate(network.layers[:-1]):
        after, after_bias = _fractions(network, index + 1)
        kind = layer.activation, layer.slope
        units: dict[tuple[Row, Fraction], Row] = {}
        for unit, unit_bias in enumerate(bias):
            column = tuple(row[unit] for row in into)
            out = after[unit]
            if not any(out):
                continue
            scale = _scale(layer.activation, (*column, unit_bias))
            key = tuple(number / scale for number in column), unit_bias / scale
            passed = _passed(layer.activation, scale, out)
            total = units.get(key, tuple(Fraction(0) for _ in out))
            units[key] = tuple(a + b for a, b in zip(total, passed, strict=True))
        kept = sorted(item for item in units.items() if any(item[1]))
        layers.append((kind, tuple(key for key, _ in kept)))
        into, bias = [out for _, out in kept], after_bias
    return (*layers, _decision(network, into, bias))


def _fractions(network: Network, index: int) -> tuple[list[Row], list[Fraction]]:
    layer = network.layers[index]
    rows = [tuple(map(Fraction, row)) for row in layer.weights.tolist()]
    return rows, [*map(Fraction, layer.bias.tolist())]


def _without_gauge(
    domain: Domain, rows: list[Row], bias: list[Fraction]
) -> tuple[list[Row], list[Fraction]]:
    """Move the contribution of the first value of each feature into the bias.

    Ranges are left alone, because their weights multiply numbers.
    """
    centred, total = list(rows), list(bias)
    for feature, start in zip(domain.features, domain.offsets.tolist(), strict=False):
        if not isinstance(feature, Range):
            first = rows[start]
            total = [a + b for a, b in zip(total, first, strict=True)]
            for column in range(start, start + len(feature)):
                both = zip(rows[column], first, strict=True)
                centred[column] = tuple(a - b for a, b in both)
    return centred, total


def _scale(activation: str, numbers: Row) -> Fraction:
    """Return the factor of a unit's weights that can be moved behind its activation.

    This is the largest magnitude, and the sign of the first number that is not 0, where
    the activation permits it.
    """
    first = next((number for number in numbers if number), None)
    if first is None:
        return Fraction(1)
    size = max(map(abs, numbers)) if activation in _SCALED else Fraction(1)
    return -size if activation in _ODD and first < 0 else size


def _passed(activation: str, scale: Fraction, out: Row) -> Row:
    """Return the outgoing weights of a unit whose own are divided by a scale."""
    if activation in _SCALED or activation in _ODD:
        return tuple(scale * weight for weight in out)
    return out


def _decision(network: Network, rows: list[Row], bias: list[Fraction]) -> Form:
    """Return the output layer in canonical form: differences of scores."""
    limit = None
    lines = [*rows, tuple(bias)]
    if not network.is_binary:
        lines = [tuple(score - row[0] for score in row[1:]) for row in lines]
    elif network.threshold != 0.5:
        limit = network.threshold  # its logit is not a fraction
    numbers = [number for row in lines for number in row]
    size = max(map(abs, numbers), default=Fraction(0))
    if limit is None and size:
        lines = [tuple(number / size for number in row) for row in lines]
    return limit, tuple(lines)
