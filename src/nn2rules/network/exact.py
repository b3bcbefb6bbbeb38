"""The class of one input by exact arithmetic alone: the last resort for near-ties.

When every activation is piecewise linear the scores are fractions, and there is
nothing left to decide. Otherwise they are enclosed in intervals of growing precision.
Intervals can tell two different numbers apart, but never find two to be equal, so what
can be cancelled by algebra is cancelled first (`_collect`).
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

from nn2rules.network.activations import widened
from nn2rules.network.layer import Layer

UNDECIDED = -1
"""What `settle` gives an input that no arithmetic we have can decide."""

_PRECISIONS = (128, 512, 2048, 8192)
_SMALLEST = 100_000


Picks: TypeAlias = Sequence[tuple[int, float]]
"""What an input picks of the first layer: rows of its weights, and their numbers."""


def settle(layers: Sequence[Layer], threshold: float, columns: Picks) -> int:
    """Return the index of the class of one input.

    Parameters
    ----------
    layers, threshold
        Of the network.
    columns : sequence of (int, float)
        The rows of the first layer's weights that the input picks, and the numbers by
        which they are multiplied.

    Returns
    -------
    int
        `UNDECIDED` if a network with smooth activations is so near to a tie that
        intervals of 8,192 bits cannot tell. No piecewise-linear network ever is, and no
        network with one smooth hidden layer and a threshold of 1/2.
    """
    last = layers[-1]
    if all(layer.function.exact for layer in layers[:-1]):
        exact = exact_scores(layers, columns)
        if len(exact) == 1:
            return int(exceeds_logit(exact[0], threshold))
        return max(range(len(exact)), key=lambda index: exact[index])
    weights = [[Fraction(w) for w in column] for column in last.weights.T.tolist()]
    bias = [Fraction(b) for b in last.bias.tolist()]
    if len(bias) == 1:
        return _is_positive(layers[:-1], columns, weights[0], bias[0], threshold)

    def exceeds(one: int, other: int) -> int:
        ahead = [a - b for a, b in zip(weights[one], weights[other], strict=True)]
        lead = bias[one] - bias[other]
        return _is_positive(layers[:-1], columns, ahead, lead, 0.5)

    left = _contenders(layers, columns)
    for best in left:  # of equal scores the first wins: it need not exceed later ones
        if all(
            exceeds(best, other) == 1 if other < best else exceeds(other, best) == 0
            for other in left
            if other != best
        ):
            return best
    return UNDECIDED


def _contenders(layers: Sequence[Layer], columns: Picks) -> list[int]:
    """Return the outputs that may have the largest score, the likeliest first."""
    context = _interval_context(_PRECISIONS[0])
    units = _interval_units(context, layers[:-1], columns)
    ends = [_ends(score) for score in _interval_sums(context, layers[-1], units)]
    highest = max(low for low, _ in ends)
    left = [index for index, (_, high) in enumerate(ends) if high >= highest]
    return sorted(left, key=lambda index: sum(ends[index]), reverse=True)


def exact_scores(layers: Sequence[Layer], columns: Picks) -> list[Fraction]:
    """Return the scores of one input of a piecewise-linear network."""
    values = first_values(layers[0], columns)
    for before, layer in pairwise(layers):
        function = before.function.exact
        assert function is not None, "every activation is piecewise linear here"
        hidden = [function(value) for value in values]
        values = [
            sum(
                (Fraction(w) * x for w, x in zip(column, hidden, strict=True) if x),
                Fraction(bias),
            )
            for column, bias in zip(layer.weights.T.tolist(), layer.bias, strict=True)
        ]
    return values


def first_values(first: Layer, columns: Picks) -> list[Fraction]:
    """Return the pre-activations of the first layer."""
    return [
        sum(
            (Fraction(first.weights[c, unit]) * Fraction(x) for c, x in columns),
            Fraction(bias),
        )
        for unit, bias in enumerate(first.bias)
    ]


def exceeds_logit(score: Fraction, threshold: float) -> bool:
    """Tell whether ``sigmoid(score) > threshold``.

    The logit of a rational other than 1/2 is irrational (Lindemann), so intervals
    narrow enough always tell.
    """
    return score > logit_floor(threshold, score.denominator)


def logit_floor(threshold: float, scale: int) -> Fraction:
    """Return the largest multiple of 1/`scale` that is at most logit(`threshold`)."""
    if threshold == 0.5:
        return Fraction(0)
    precision = 64 + scale.bit_length()
    while True:
        bounds = scale * _logit_interval(_interval_context(precision), threshold)
        low, high = (math.floor(end) for end in _ends(bounds))
        if low == high:
            return Fraction(low, scale)
        precision *= 2


def _is_positive(
    hidden: Sequence[Layer],
    columns: Picks,
    weights: Sequence[Fraction],
    constant: Fraction,
    threshold: float,
) -> int:
    """Tell whether a combination of the last hidden layer exceeds logit(`threshold`).

    Returns 1, 0 or `UNDECIDED`.
    """
    groups: dict[Fraction, Fraction] = {}
    if len(hidden) == 1:
        values = first_values(hidden[0], columns)
        constant, groups = _collect(hidden[0], values, weights, constant)
        if not groups:
            return int(exceeds_logit(constant, threshold))
    for precision in _PRECISIONS:
        context = _interval_context(precision)
        if len(hidden) == 1:
            terms = [
                (c, _apply(hidden[0], _make(context, y))) for y, c in groups.items()
            ]
        else:
            units = _interval_units(context, hidden, columns)
            terms = list(zip(weights, units, strict=True))
        total = _make(context, constant) - _logit_interval(context, threshold)
        for coefficient, unit in terms:
            total += _make(context, coefficient) * unit
        low, high = _ends(total)
        if low > 0:
            return 1
        if high <= 0:
            return 0
    return UNDECIDED


def _collect(
    layer: Layer,
    values: Sequence[Fraction],
    weights: Sequence[Fraction],
    constant: Fraction,
) -> tuple[Fraction, dict[Fraction, Fraction]]:
    """Write Σ weight · f(value) + constant with each f(y), y > 0, just once.

    f(-y) = s f(y) + a + b y for all our smooth activations but elu; `mirror` holds
    (s, a, b). Terms that cancel are gone afterwards, and by the argument in
    docs/explanation/exactness.md what is left of a tanh or sigmoid layer is no tie.
    """
    function = layer.function
    groups: dict[Fraction, Fraction] = {}
    for value, weight in zip(values, weights, strict=True):
        y, coefficient = value, weight
        if value == 0 and function.at_zero_exact is not None:
            constant += weight * function.at_zero_exact
            continue
        if value < 0 and function.mirror is not None:
            factor, shift, linear = function.mirror
            constant += weight * (shift + linear * -value)
            y, coefficient = -value, weight * factor
        if function.exact is not None:
            constant += coefficient * function.exact(y)
        else:
            groups[y] = groups.get(y, Fraction(0)) + coefficient
    return constant, {y: c for y, c in groups.items() if c}


def _interval_units(context: Any, hidden: Sequence[Layer], columns: Picks) -> list[Any]:
    """Enclose the outputs of the last hidden layer."""
    values = [_make(context, value) for value in first_values(hidden[0], columns)]
    for before, layer in pairwise(hidden):
        outputs = [_apply(before, value) for value in values]
        values = _interval_sums(context, layer, outputs)
    return [_apply(hidden[-1], value) for value in values]


def _interval_sums(context: Any, layer: Layer, inputs: Sequence[Any]) -> list[Any]:
    """Enclose what a layer adds up."""
    return [
        sum((w * x for w, x in zip(column, inputs, strict=True)), context.mpf(bias))
        for column, bias in zip(
            layer.weights.T.tolist(), layer.bias.tolist(), strict=True
        )
    ]


def _apply(layer: Layer, value: Any) -> Any:
    """Enclose the activation of `layer` over an interval."""
    function = layer.function
    if function.interval is not None:
        at_zero = function.at_zero_exact
        if at_zero is not None and not any(_ends(value)):
            return _make(value.ctx, at_zero)  # no rounding, so that ties stay ties
        return function.interval(value)
    assert function.exact is not None, "an activation is exact or has intervals"
    images = [function.exact(end) for end in _ends(value)]
    low, high = _ends(value)
    images += [function.exact(Fraction(0))] if low < 0 < high else []  # a leaky kink
    below, above = _make(value.ctx, min(images)), _make(value.ctx, max(images))
    return value.ctx.make_mpf((below._mpi_[0], above._mpi_[1]))


def _logit_interval(context: Any, threshold: float) -> Any:
    if threshold == 0.5:
        return context.mpf(0)
    odds = Fraction(threshold) / (1 - Fraction(threshold))
    return widened(context.log(_make(context, odds)))


def _make(context: Any, number: Fraction) -> Any:
    """Return the interval of a fraction."""
    return context.mpf(number.numerator) / context.mpf(number.denominator)


def _interval_context(precision: int) -> Any:
    """Return a context of its own, so that mpmath's global one stays untouched."""
    from mpmath.ctx_iv import MPIntervalContext

    context = MPIntervalContext()
    context.prec = precision
    return context


def _ends(interval: Any) -> tuple[Fraction, Fraction]:
    """Return the two ends of an mpmath interval, exactly.

    Ends nearer to 0 than 2**-100_000 are moved outwards, to 0 or to that.
    """
    ends = []
    for is_high, (sign, mantissa, exponent, _) in enumerate(interval._mpi_):
        number = -int(mantissa) if sign else int(mantissa)
        if exponent < -_SMALLEST and number:
            outwards = 1 if is_high and number > 0 else 0
            outwards = -1 if not is_high and number < 0 else outwards
            ends.append(Fraction(outwards, 1 << _SMALLEST))
        else:
            ends.append(Fraction(number) * Fraction(2) ** exponent)
    return ends[0], ends[1]
