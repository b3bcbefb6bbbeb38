"""The judge: a network's predictions, in exact arithmetic that shares no code with it.

Piecewise-linear networks are computed in fractions, smooth ones in numbers of many bits
with a bound on the error, which is propagated from layer to layer. If the bound is too
large to decide, more bits are used; in the end the judge may not know.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from mpmath import mp

import naive
from nn2rules import Network

BITS = (300, 2500, 10_000)
"""The last tells 1e1230 from 1e-1230 beside it."""

Number = tuple[Any, Any]
"""A number, and a bound on its error: both fractions, or both of mpmath."""


class Judge:
    """Knows the class of every input of a network, as far as it can be known.

    Attributes
    ----------
    inputs : list of tuple of int
        The codes of every input; the last feature changes fastest.
    truth : list of int or None
        The class of each, or None where a smooth network is all but tied.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.inputs = naive.inputs(network.domain.sizes)
        self.truth = [class_of(network, codes) for codes in self.inputs]

    def scores(self, output: int) -> list[Number]:
        """Return one score of every input."""
        return [scores(self.network, codes)[output] for codes in self.inputs]


def class_of(
    network: Network, codes: Sequence[int], amounts: Sequence[float] | None = None
) -> int | None:
    """Return the class of one input, or None."""
    if naive.is_piecewise_linear(network):
        return naive.class_of(network, codes, amounts)
    for bits in BITS:
        with mp.workprec(bits):
            numbers = scores(network, codes, bits, amounts)
            if len(numbers) == 1:  # class 1 must exceed what class 0 always has
                logit = naive.logit(network.threshold)
                numbers = [(logit, (1 + abs(logit)) * unit(bits)), *numbers]
            for index, (value, error) in enumerate(numbers):
                others = (*numbers[:index], *numbers[index + 1 :])
                if all(value - error > other + off for other, off in others):
                    return index
    return None


def scores(
    network: Network,
    codes: Sequence[int],
    bits: int = BITS[0],
    amounts: Sequence[float] | None = None,
) -> list[Number]:
    """Return the scores of one input, each with a bound on its error."""
    if naive.is_piecewise_linear(network):
        return [(score, Fraction(0)) for score in naive.scores(network, codes, amounts)]
    with mp.workprec(bits):
        inputs = naive.one_hot(network.domain.sizes, codes, amounts)
        numbers = [(_number(x), mp.mpf(0)) for x in inputs]
        for layer in network.layers[:-1]:
            numbers = [_activate(layer, *y, bits) for y in _dense(layer, numbers, bits)]
        return _dense(network.layers[-1], numbers, bits)


def unit(bits: int) -> Any:
    """Return far more than what one operation of so many bits is off by."""
    return mp.mpf(2) ** (50 - bits)


def _number(exact: Any) -> Any:
    fraction = Fraction(exact)
    return mp.mpf(fraction.numerator) / fraction.denominator


def _dense(layer: Any, numbers: Sequence[Number], bits: int) -> list[Number]:
    found = []
    for column, bias in zip(layer.weights.T.tolist(), layer.bias.tolist(), strict=True):
        total, size, error = _number(bias), abs(_number(bias)), mp.mpf(0)
        for weight, (value, off) in zip(map(_number, column), numbers, strict=True):
            total += weight * value
            size += abs(weight * value)
            error += abs(weight) * off
        found.append((total, error + size * unit(bits)))
    return found


def _activate(layer: Any, value: Any, error: Any, bits: int) -> Number:
    slope = _number(0.01 if layer.slope is None else layer.slope)
    if layer.activation in naive.SMOOTH:
        result = naive.SMOOTH[layer.activation](value)
    else:
        result = naive.EXACT[layer.activation](value, slope)
    steep = max(mp.mpf(2), abs(slope))
    return result, steep * error + abs(result) * unit(bits)
