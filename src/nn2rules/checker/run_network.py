"""Predict as a network does, with code that shares nothing with the engine."""

import math
from collections.abc import Callable, Sequence
from decimal import Context, Decimal, getcontext, localcontext
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn2rules.network import Layer, Network
from nn2rules.space import Range

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
    classes = sure_classes(network, codes, amounts)
    for index in np.flatnonzero(classes == UNDECIDED):
        classes[index] = exact_class(network, codes[index], amounts[index])
    return classes


def sure_classes(network: Network, codes: _Codes, amounts: _Floats) -> _Codes:
    """Return the class of each input in float64, or `UNDECIDED` if a tie is near."""
    with np.errstate(all="ignore"):  # where a sum overflows, nothing is sure
        scores = _float_scores(network, codes, amounts)
        if scores.shape[1] == 1:  # class 1 must exceed what class 0 always has
            logit = math.log(network.threshold / (1 - network.threshold))
            scores = np.hstack((np.full_like(scores, logit), scores))
        classes: _Codes = scores.argmax(axis=1)
        ordered = np.sort(scores, axis=1)
        margin = ordered[:, -1] - ordered[:, -2]
        classes[~(margin > 1e-9 * _largest_sum(network))] = UNDECIDED
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
        if isinstance(feature, Range):  # its numbers are at most so large
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


# The network in fractions, for inputs that float64 cannot decide. Errors are 0, and
# ties exact, up to the first smooth activation. That is computed to a number of digits,
# first few and then more. More digits tell any two different numbers apart, but never
# show that two are equal: so units that cancel are left out first (`_merged`).

_DIGITS = (50, 500, 2500)


def exact_class(network: Network, codes: _Codes, amounts: _Floats) -> int:
    """Return the class of one input, or `UNDECIDED`."""
    return class_of_sums(network, exact_sums(network, codes, amounts))


def exact_sums(network: Network, codes: _Codes, amounts: _Floats) -> list[Fraction]:
    """Return the sums of the first layer for one input."""
    chosen = network.layers[0].weights[network.domain.offsets[:-1] + codes]
    given = [(Fraction(amount), Fraction(0)) for amount in amounts.tolist()]
    return [number for number, _ in _sums(chosen, network.layers[0].bias, given)]


def class_of_sums(network: Network, sums: Sequence[Fraction]) -> int:
    """Return the class that follows from the sums of the first layer."""
    first = [(number, Fraction(0)) for number in sums]
    n_classes = len(network.classes)
    for digits in _DIGITS:
        outputs = _outputs(network, first, digits)
        for best in range(n_classes):
            others = [k for k in range(n_classes) if k != best]
            if all(_beats(outputs, best, other) for other in others):
                return best
    return UNDECIDED


def class_of_scores(scores: Sequence[Fraction], threshold: float) -> int:
    """Return the class that follows from scores; of a single one by the threshold."""
    given = [(score, Fraction(0)) for score in scores]
    for digits in _DIGITS:
        bias = [_logit(Fraction(threshold), digits), *given]
        bias = bias if len(given) == 1 else given
        outputs = _Outputs([], [[] for _ in bias], bias)
        for best in range(len(bias)):
            if all(_beats(outputs, best, k) for k in range(len(bias)) if k != best):
                return best
    return UNDECIDED


def logit_between(threshold: float) -> tuple[Fraction, Fraction]:
    """Return two numbers around the score that is the threshold; equal for 1/2."""
    value, error = _logit(Fraction(threshold), _DIGITS[0])
    return value - error, value + error


def exact_output(layer: Layer, value: Fraction) -> Fraction:
    """Return a piecewise-linear activation of a number."""
    return _PIECES[layer.activation](value, Fraction(_slope(layer.slope)))


class _Outputs(NamedTuple):
    """Scores as sums: of units, times the weights that each output gives them."""

    units: list[_Number]
    weights: list[list[Fraction]]  # of each output
    bias: list[_Number]


def _outputs(network: Network, first: list[_Number], digits: int) -> _Outputs:
    """Return the scores of all classes, from the sums of the first layer."""
    *hidden, last = network.layers
    units: list[_Number] = []
    weights = [list(map(Fraction, column)) for column in last.weights.T.tolist()]
    bias = [(Fraction(number), Fraction(0)) for number in last.bias.tolist()]
    if not hidden:
        weights, bias = [[] for _ in first], first
    elif len(hidden) == 1 and hidden[0].activation in _MIRRORS:
        units, weights, bias = _merged(hidden[0].activation, first, weights, bias)
        units = [_activate(hidden[0].activation, 0.0, *n, digits) for n in units]
    else:
        units = first
        for place, layer in enumerate(hidden):
            units = _sums(layer.weights, layer.bias, units) if place else units
            name, slope = layer.activation, _slope(layer.slope)
            units = [_activate(name, slope, *unit, digits) for unit in units]
    if len(bias) == 1:  # class 1 must exceed what class 0 always has
        weights = [[Fraction(0)] * len(units), *weights]
        bias = [_logit(Fraction(network.threshold), digits), *bias]
    return _Outputs(units, weights, bias)


def _merged(
    name: str,
    sums: list[_Number],
    weights: list[list[Fraction]],
    bias: list[_Number],
) -> tuple[list[_Number], list[list[Fraction]], list[_Number]]:
    """Let units with the same sum, but for its sign, be one.

    With ``f(-y) = sign * f(y) + shift + slope * y`` both are told by ``f(y)``.
    """
    sign, shift, slope = _MIRRORS[name]
    places: dict[Fraction, int] = {}
    found = [list[Fraction]() for _ in weights]
    added = [number for number, _ in bias]
    for unit, (value, _) in enumerate(sums):
        place = places.setdefault(abs(value), len(places))
        for output, column in enumerate(weights):
            if place == len(found[output]):
                found[output].append(Fraction(0))
            factor = column[unit]
            if value < 0:
                added[output] += factor * (shift - slope * value)
                factor *= sign
            found[output][place] += factor
    units = [(value, Fraction(0)) for value in places]
    return units, found, [(number, Fraction(0)) for number in added]


def _sums(weights: _Floats, bias: _Floats, inputs: list[_Number]) -> list[_Number]:
    """Return what a layer adds up."""
    columns = zip(weights.T.tolist(), bias.tolist(), strict=True)
    return [
        _sum(list(map(Fraction, column)), (Fraction(start), Fraction(0)), inputs)
        for column, start in columns
    ]


def _sum(weights: list[Fraction], bias: _Number, inputs: list[_Number]) -> _Number:
    total, error = bias
    for weight, (value, off) in zip(weights, inputs, strict=True):
        total, error = total + weight * value, error + abs(weight) * off
    return total, error


def _beats(outputs: _Outputs, best: int, other: int) -> bool:
    """Tell whether one class surely has the higher score, or comes first in a tie."""
    pairs = zip(outputs.weights[best], outputs.weights[other], strict=True)
    (high, off), (low, also_off) = outputs.bias[best], outputs.bias[other]
    bias = (high - low, off + also_off)
    lead, error = _sum([one - two for one, two in pairs], bias, outputs.units)
    return lead > error or (lead == error == 0 and best < other)


def _activate(
    name: str, slope: float, value: Fraction, error: Fraction, digits: int = _DIGITS[0]
) -> _Number:
    error *= max(Fraction(6, 5), abs(Fraction(slope)))
    if name in _PIECES:
        return _PIECES[name](value, Fraction(slope)), error
    if name == "elu" and value >= 0:
        return value, error
    if value == 0 and name != "softplus":
        return (Fraction(1, 2) if name == "sigmoid" else Fraction(0)), error
    with localcontext(_context(digits)):
        result = Fraction(_SMOOTH[name](_decimal(value)))
    return result, error + (1 + abs(value)) / Fraction(10**digits)


def _logit(threshold: Fraction, digits: int) -> _Number:
    if threshold == Fraction(1, 2):
        return Fraction(0), Fraction(0)
    with localcontext(_context(digits)):
        logit = Fraction(_decimal(threshold / (1 - threshold)).ln())
    return logit, (1 + abs(logit)) / Fraction(10**digits)


def _context(digits: int) -> Context:
    return Context(prec=digits + 10)


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _far() -> int:
    """Return a number x of which exp(-x) is as good as 0, with digits to spare."""
    return 5 * getcontext().prec


def _exp(x: Decimal) -> Decimal:
    """Return exp(x) for x <= 0."""
    return x.exp() if x > -_far() else Decimal(0)


def _decimal_sigmoid(x: Decimal) -> Decimal:
    return (_exp(x) if x < 0 else 1) / (1 + _exp(-abs(x)))


def _decimal_gelu(x: Decimal) -> Decimal:
    """Return x times the normal distribution function, by its series around 0."""
    if x * x > 2 * _far():  # where the distribution function is 0 or 1
        return max(x, Decimal(0))
    term, total, odd = x, x, 1
    smallest = Decimal(10) ** (-10 - getcontext().prec)
    while abs(term) > smallest:
        odd += 2
        term *= x * x / odd
        total += term
    return x / 2 + x * total * _exp(-x * x / 2) / (2 * _pi(getcontext().prec)).sqrt()


@cache
def _pi(digits: int) -> Decimal:
    """Return pi = 16 atan(1/5) - 4 atan(1/239), which is Machin's formula."""
    with localcontext(Context(prec=digits + 10)):
        return 16 * _atan_of_inverse(5) - 4 * _atan_of_inverse(239)


def _atan_of_inverse(number: int) -> Decimal:
    term = total = Decimal(1) / number
    odd, smallest = 1, Decimal(10) ** -getcontext().prec
    while abs(term) > smallest:
        odd += 2
        term /= -number * number
        total += term / odd
    return total


_MIRRORS: dict[str, tuple[int, int, int]] = {
    "gelu": (1, 0, -1),
    "sigmoid": (-1, 1, 0),
    "silu": (1, 0, -1),
    "softplus": (1, 0, -1),
    "tanh": (-1, 0, 0),
}
"""What f(-y) is in terms of f(y): its sign, a shift, and a multiple of y."""

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
