"""Certified arithmetic: the class of an input, never decided by a rounding error.

Float64 comes first, with one bound on its error that holds for every input of the
domain (`error_bound`). A score further from the decision than the bound has the
right sign whatever was rounded on the way. What is left is settled input by input:
in fractions when every activation is piecewise linear, and otherwise in intervals of
growing precision.

`docs/explanation/exactness.md` derives the bound.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.layer import Layer

UNIT = 2.0**-53
"""The unit roundoff of float64."""

UNDECIDED = -1
"""What `classify` gives an input that no arithmetic we have can decide."""

_CHUNK = 1 << 16
_PRECISIONS = (128, 512, 2048, 8192)


def scores(
    layers: Sequence[Layer], offsets: NDArray[np.int64], codes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the float64 scores of `codes`, of shape (n_rows, n_outputs)."""
    first = layers[0]
    result = np.empty((len(codes), len(layers[-1].bias)))
    with np.errstate(all="ignore"):  # what overflows is settled exactly
        for start in range(0, len(codes), _CHUNK):
            chunk = codes[start : start + _CHUNK]
            values = np.tile(first.bias, (len(chunk), 1))
            for feature in range(chunk.shape[1]):
                values += first.weights[offsets[feature] + chunk[:, feature]]
            for before, layer in pairwise(layers):
                values = before.function.floats(values) @ layer.weights + layer.bias
            result[start : start + _CHUNK] = values
    return result


def error_bound(
    layers: Sequence[Layer], offsets: NDArray[np.int64], *, unit: float = UNIT
) -> NDArray[np.float64]:
    """Bound the error of `scores`, one number for each output, on every input.

    `unit` is the unit roundoff; another one bounds the error of a framework that
    computes in another format.

    Notes
    -----
    Runs once for a network, in the time of one evaluation. Infinite when some
    intermediate number may overflow.
    """
    first = layers[0]
    with np.errstate(all="ignore"):
        blocks = [np.abs(first.weights[a:b]).max(axis=0) for a, b in pairwise(offsets)]
        size = np.abs(first.bias) + np.sum(blocks, axis=0)
        error = _gamma(len(blocks) + 1, unit) * size
        for before, layer in pairwise(layers):
            function = before.function
            error = function.lipschitz * error * (1 + 4 * unit)
            error += function.rounding * unit * (1 + size)
            size = abs(function.at_zero) + function.lipschitz * size + error
            weights = np.abs(layer.weights)
            size = np.abs(layer.bias) + size @ weights
            error = error @ weights + _gamma(len(weights) + 2, unit) * size
    # Twice, for the rounding of this very computation; the last term for underflow.
    bound: NDArray[np.float64] = 2 * error + 1e-290
    return bound


def _gamma(operations: int, unit: float) -> float:
    """Bound the relative error of a sum of products, in whatever order it is made."""
    return operations * unit / (1 - operations * unit)


def classify(
    layers: Sequence[Layer],
    offsets: NDArray[np.int64],
    threshold: float,
    codes: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the index of the class of every input, exactly.

    An input that cannot be decided is given `UNDECIDED`; see `settle`.
    """
    values, bound = scores(layers, offsets, codes), error_bound(layers, offsets)
    with np.errstate(all="ignore"):
        if len(bound) == 1:
            limit = logit(threshold)
            distance = values[:, 0] - limit
            slack = bound[0] + 16 * UNIT * abs(limit)
            classes = (distance > 0).astype(np.int64)
            decided = np.abs(distance) > slack
        else:
            classes = values.argmax(axis=1)
            decided = _is_clear_maximum(values, classes, bound)
    for row in np.flatnonzero(~decided):
        columns = (offsets[:-1] + codes[row]).tolist()
        classes[row] = settle(layers, threshold, columns)
    return classes


def _is_clear_maximum(
    values: NDArray[np.float64], best: NDArray[np.int64], bound: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Tell where the score of `best` exceeds all others beyond their errors."""
    rows = np.arange(len(values))
    low = values[rows, best] - bound[best]
    high = values + bound
    high[rows, best] = -np.inf
    clear: NDArray[np.bool_] = low * (1 - 4 * UNIT * np.sign(low)) > high.max(axis=1)
    return clear


def logit(threshold: float) -> float:
    """Return the score at which ``sigmoid(score) == threshold``, in float64."""
    return math.log(threshold) - math.log1p(-threshold) if threshold != 0.5 else 0.0


def settle(layers: Sequence[Layer], threshold: float, columns: Sequence[int]) -> int:
    """Return the index of the class of one input, by exact arithmetic alone.

    Parameters
    ----------
    layers, threshold
        Of the network.
    columns : sequence of int
        The rows of the first layer's weights that the input picks.

    Returns
    -------
    int
        `UNDECIDED` if a network with smooth activations is so near to a tie that
        intervals of 8,192 bits cannot tell. No piecewise-linear network ever is.
    """
    if all(layer.function.exact for layer in layers[:-1]):
        exact = exact_scores(layers, columns)
        if len(exact) == 1:
            return int(exceeds_logit(exact[0], threshold))
        return max(range(len(exact)), key=lambda index: exact[index])
    for precision in _PRECISIONS:
        winner = _settle_by_intervals(layers, threshold, columns, precision)
        if winner is not None:
            return winner
    return UNDECIDED


def exact_scores(layers: Sequence[Layer], columns: Sequence[int]) -> list[Fraction]:
    """Return the scores of one input of a piecewise-linear network, exactly."""
    first = layers[0]
    values = [
        sum((Fraction(first.weights[c, unit]) for c in columns), Fraction(bias))
        for unit, bias in enumerate(first.bias)
    ]
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


def exceeds_logit(score: Fraction, threshold: float) -> bool:
    """Tell whether ``sigmoid(score) > threshold``, exactly.

    The logit of a rational other than 1/2 is irrational (Lindemann), so intervals
    narrow enough always tell.
    """
    if threshold == 0.5:
        return score > 0
    return score > logit_floor(threshold, score.denominator)


def logit_floor(threshold: float, scale: int) -> Fraction:
    """Return the largest multiple of 1/`scale` that is at most logit(`threshold`)."""
    if threshold == 0.5:
        return Fraction(0)
    precision = 64 + scale.bit_length()
    while True:
        context = _interval_context(precision)
        bounds = scale * _logit_interval(context, threshold)
        low, high = (math.floor(end) for end in _ends(bounds))
        if low == high:
            return Fraction(low, scale)
        precision *= 2


def _settle_by_intervals(
    layers: Sequence[Layer], threshold: float, columns: Sequence[int], precision: int
) -> int | None:
    """Return the index of the class, or None if this `precision` cannot tell."""
    context = _interval_context(precision)
    values = _interval_scores(context, layers, columns)
    if len(values) == 1:
        low, high = _ends(values[0] - _logit_interval(context, threshold))
        return 1 if low > 0 else 0 if high <= 0 else None
    ends = [_ends(value) for value in values]
    best = max(range(len(ends)), key=lambda index: ends[index][0])
    for index, (_, high) in enumerate(ends):
        low = ends[best][0]
        if index != best and (high > low or (high == low and index < best)):
            return None
    return best


def _interval_scores(
    context: Any, layers: Sequence[Layer], columns: Sequence[int]
) -> list[Any]:
    """Enclose the scores of one input."""
    zero = context.mpf(0)
    first = layers[0]
    values = [
        sum((context.mpf(first.weights[c, unit]) for c in columns), context.mpf(bias))
        for unit, bias in enumerate(first.bias)
    ]
    for before, layer in pairwise(layers):
        hidden = [_apply(before, value) for value in values]
        values = [
            sum((w * x for w, x in zip(column, hidden, strict=True)), zero + bias)
            for column, bias in zip(layer.weights.T.tolist(), layer.bias, strict=True)
        ]
    return values


def _apply(layer: Layer, value: Any) -> Any:
    """Enclose the activation of `layer` over an interval."""
    function = layer.function
    if function.interval is not None:
        return function.interval(value)
    assert function.exact is not None, "an activation is exact or has intervals"
    ends = [function.exact(end) for end in _ends(value)]  # all of these are monotone
    context = value.ctx
    below, above = (context.mpf(e.numerator) / e.denominator for e in sorted(ends))
    return context.make_mpf((below._mpi_[0], above._mpi_[1]))


def _logit_interval(context: Any, threshold: float) -> Any:
    if threshold == 0.5:
        return context.mpf(0)
    odds = Fraction(threshold) / (1 - Fraction(threshold))
    return context.log(context.mpf(odds.numerator) / odds.denominator)


def _interval_context(precision: int) -> Any:
    """Return a context of its own, so that mpmath's global one stays untouched."""
    from mpmath.ctx_iv import MPIntervalContext

    context = MPIntervalContext()
    context.prec = precision
    return context


def _ends(interval: Any) -> tuple[Fraction, Fraction]:
    """Return the two ends of an mpmath interval, exactly."""
    low, high = (
        Fraction(-int(mantissa) if sign else int(mantissa)) * Fraction(2) ** exponent
        for sign, mantissa, exponent, _ in interval._mpi_
    )
    return low, high
