"""Answer as a network does, in plain code that shares nothing with the engine."""

import math
from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nn2rules.network import Network

UNDECIDED = -1
"""In place of a class: too near to a tie."""

_Floats = NDArray[np.float64]
_Codes = NDArray[np.int64]
_Number = tuple[Fraction, Fraction]  # a number, and a bound on its error


def classify(network: Network, codes: _Codes, numbers: _Floats | None = None) -> _Codes:
    """Return the class of each input, or `UNDECIDED`.

    The weights of a value are multiplied by its number: that of a range, 1 elsewhere.
    """
    amounts = np.ones(codes.shape) if numbers is None else numbers
    with np.errstate(all="ignore"):  # where a sum overflows, nothing is sure
        scores = _float_scores(network, codes, amounts)
        if scores.shape[1] == 1:  # class 1 must exceed what class 0 always has
            logit = math.log(network.threshold / (1 - network.threshold))
            scores = np.hstack((np.full_like(scores, logit), scores))
        classes: _Codes = scores.argmax(axis=1)
        ordered = np.sort(scores, axis=1)
        margin = ordered[:, -1] - ordered[:, -2]
        sure = margin > 1e-9 * _largest_sum(network)
    for index in np.flatnonzero(~sure):
        classes[index] = exact_class(network, codes[index], amounts[index])
    return classes


def _float_scores(network: Network, codes: _Codes, amounts: _Floats) -> _Floats:
    """Return the scores of each input in float64, one column for each output."""
    first = network.layers[0]
    scores = np.tile(first.bias, (len(codes), 1))
    for place, start in enumerate(network.domain.offsets[:-1]):
        weights = first.weights[start + codes[:, place]]
        scores += amounts[:, place, np.newaxis] * weights
    for before, layer in pairwise(network.layers):
        inputs = FLOATS[before.activation](scores, _slope(before.slope))
        scores = inputs @ layer.weights + layer.bias
    return scores


def _largest_sum(network: Network) -> float:
    """Return how large the numbers added up for the scores can be, signs aside.

    An activation f is held by ``|f(x)| <= 1.2 * (1 + |x|)``, and turns an error e into
    1.2 e at most. So errors grow from layer to layer no faster than this sum does, and
    each is born as some 1e-16 of it: 1e-9 of it is far beyond all of them.
    """
    first, weights = network.layers[0], np.abs(network.layers[0].weights)
    for feature, start in zip(
        network.domain.features, network.domain.offsets, strict=False
    ):
        if feature.limits is not None:  # its numbers are at most so large
            weights[start] *= max(abs(end) for end in feature.limits)
    tables = np.split(weights, network.domain.offsets[1:-1])
    sums = 1 + np.abs(first.bias) + sum(table.max(axis=0) for table in tables)
    for before, layer in pairwise(network.layers):
        grown = max(1.2, abs(_slope(before.slope))) * sums
        sums = 1 + np.abs(layer.bias) + grown @ np.abs(layer.weights)
    return float(sums.sum())


def _slope(slope: float | None) -> float:
    """Return the slope of a leaky_relu below 0."""
    return 0.01 if slope is None else slope


def _sigmoid(x: _Floats) -> _Floats:
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x < 0, small, 1) / (1 + small))


_erf = np.vectorize(math.erf, otypes=[np.float64])

FLOATS: dict[str, Callable[[_Floats, float], _Floats]] = {
    "elu": lambda x, _: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "gelu": lambda x, _: x * (1 + _erf(x / math.sqrt(2))) / 2,
    "hard_sigmoid": lambda x, _: np.clip(x / 6 + 0.5, 0, 1),
    "hard_tanh": lambda x, _: np.clip(x, -1, 1),
    "identity": lambda x, _: x,
    "leaky_relu": lambda x, slope: np.where(x > 0, x, slope * x),
    "relu": lambda x, _: np.maximum(x, 0),
    "sigmoid": lambda x, _: _sigmoid(x),
    "silu": lambda x, _: x * _sigmoid(x),
    "softplus": lambda x, _: np.logaddexp(0, x),
    "tanh": lambda x, _: np.tanh(x),
}


# The network in fractions, for what float64 cannot tell. Errors are 0, and ties exact,
# until a smooth activation is met: of these, 50 digits are taken as right.

_DIGITS = Context(prec=60)
_ERROR = Fraction(1, 10**50)


def exact_class(network: Network, codes: _Codes, amounts: _Floats) -> int:
    """Return the class of one input, or `UNDECIDED`."""
    chosen = network.layers[0].weights[network.domain.offsets[:-1] + codes]
    weights = [chosen, *(layer.weights for layer in network.layers[1:])]
    numbers = [(Fraction(amount), Fraction(0)) for amount in amounts.tolist()]
    for layer, matrix in zip(network.layers, weights, strict=True):
        columns = zip(matrix.T.tolist(), layer.bias.tolist(), strict=True)
        numbers = [_sum(column, bias, numbers) for column, bias in columns]
        if layer is not network.layers[-1]:
            slope = _slope(layer.slope)
            numbers = [_activate(layer.activation, slope, *n) for n in numbers]
    if len(numbers) == 1:
        numbers = [_logit(Fraction(network.threshold)), *numbers]
    for best in range(len(numbers)):
        if all(_beats(numbers, best, k) for k in range(len(numbers)) if k != best):
            return best
    return UNDECIDED


def _sum(weights: list[float], bias: float, inputs: list[_Number]) -> _Number:
    total, error = Fraction(bias), Fraction(0)
    for weight, (value, off) in zip(map(Fraction, weights), inputs, strict=True):
        total, error = total + weight * value, error + abs(weight) * off
    return total, error


def _beats(numbers: list[_Number], best: int, other: int) -> bool:
    """Tell whether one class surely has the higher score, or comes first in a tie."""
    lead = numbers[best][0] - numbers[other][0]
    error = numbers[best][1] + numbers[other][1]
    return lead > error or (lead == error == 0 and best < other)


def _activate(name: str, slope: float, value: Fraction, error: Fraction) -> _Number:
    error *= max(Fraction(6, 5), abs(Fraction(slope)))
    if name in _PIECES:
        return _PIECES[name](value, Fraction(slope)), error
    if name == "elu" and value >= 0:
        return value, error
    with localcontext(_DIGITS):
        result = Fraction(_SMOOTH[name](_decimal(value)))
    is_exact = value == 0 and name != "softplus"
    return result, error if is_exact else error + _ERROR * (1 + abs(value))


def _logit(threshold: Fraction) -> _Number:
    if threshold == Fraction(1, 2):
        return Fraction(0), Fraction(0)
    with localcontext(_DIGITS):
        logit = Fraction(_decimal(threshold / (1 - threshold)).ln())
    return logit, _ERROR * (1 + abs(logit))


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _exp(x: Decimal) -> Decimal:
    """Return exp(x) for x <= 0; what is below 1e-130 is as good as 0."""
    return x.exp() if x > -300 else Decimal(0)


def _decimal_sigmoid(x: Decimal) -> Decimal:
    return (_exp(x) if x < 0 else 1) / (1 + _exp(-abs(x)))


def _decimal_gelu(x: Decimal) -> Decimal:
    """Return x times the normal distribution function, by its series around 0."""
    if abs(x) > 20:  # where the distribution function is 0 or 1, but for 1e-88
        return max(x, Decimal(0))
    term, total, odd = x, x, 1
    while abs(term) > Decimal("1e-70"):
        odd += 2
        term *= x * x / odd
        total += term
    return x / 2 + x * total * _exp(-x * x / 2) / (2 * _PI).sqrt()


_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230782")

_PIECES: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "hard_sigmoid": lambda x, _: min(max((x + 3) / 6, Fraction(0)), Fraction(1)),
    "hard_tanh": lambda x, _: min(max(x, Fraction(-1)), Fraction(1)),
    "identity": lambda x, _: x,
    "leaky_relu": lambda x, slope: x if x > 0 else slope * x,
    "relu": lambda x, _: max(x, Fraction(0)),
}

_SMOOTH: dict[str, Callable[[Decimal], Decimal]] = {
    "elu": lambda x: _exp(x) - 1,
    "gelu": _decimal_gelu,
    "sigmoid": _decimal_sigmoid,
    "silu": lambda x: x * _decimal_sigmoid(x),
    "softplus": lambda x: max(x, Decimal(0)) + (1 + _exp(-abs(x))).ln(),
    "tanh": lambda x: 2 * _decimal_sigmoid(2 * x) - 1,
}
