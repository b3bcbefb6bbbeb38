"""Certified arithmetic: the class of an input, never decided by a rounding error.

Float64 comes first, with one bound on its error that holds for every input of the
domain (`error_bound`). A score further from the decision than the bound has the
right sign regardless of rounding. What is left is settled input by input, by
`nn2rules.network.exact`.

`docs/explanation/exactness.md` derives the bound.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nn2rules.network.exact import settle
from nn2rules.network.layer import Layer

UNIT = 2.0**-53
"""The unit roundoff of float64."""

LARGEST = 2.0**1000
LARGEST_32 = 3e38
"""Numbers from here on count as overflows, in float64 and in float32.

Both are below the largest numbers by more than all roundings together.
"""

UNDERFLOW = 1e-300
UNDERFLOW_32 = 1e-35
"""More than what all underflows of a layer add up to, in float64 and in float32."""

_SHARE_ROUNDINGS = 16
"""How many units a share of a class may be off; frameworks were seen to be off by 4."""

_CHUNK = 1 << 16
_MOST_AT_ONCE = 1 << 25
"""Numbers of a layer that are worked out at once: as many rows as that allows."""


def scores(
    layers: Sequence[Layer],
    offsets: NDArray[np.int64],
    codes: NDArray[np.int64],
    numbers: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the float64 scores of inputs, of shape (n_rows, n_outputs).

    `numbers` multiply the weights that the codes pick; by default all are 1.
    """
    first = layers[0]
    widest = max(len(layer.bias) for layer in layers)
    n_rows = max(1, min(_CHUNK, _MOST_AT_ONCE // widest))
    result = np.empty((len(codes), len(layers[-1].bias)))
    with np.errstate(all="ignore"):  # what overflows is settled exactly
        for start in range(0, len(codes), n_rows):
            chunk = codes[start : start + n_rows]
            values = np.tile(first.bias, (len(chunk), 1))
            for feature in range(chunk.shape[1]):
                picked = first.weights[offsets[feature] + chunk[:, feature]]
                if numbers is not None:
                    picked = picked * numbers[start : start + n_rows, [feature]]
                values += picked
            for before, layer in pairwise(layers):
                values = before.function.floats(values) @ layer.weights + layer.bias
            result[start : start + n_rows] = values
    return result


def error_bound(
    layers: Sequence[Layer],
    offsets: NDArray[np.int64],
    *,
    reach: NDArray[np.float64] | None = None,
    unit: float = UNIT,
) -> NDArray[np.float64]:
    """Bound the error of `scores`, one number for each output, on every input.

    `reach` is the largest magnitude of each value's number, 1 by default. `unit` is the
    unit roundoff; another one bounds the error of a framework that computes in another
    format.

    Notes
    -----
    Runs once for a network, in the time of one evaluation. Infinite when some
    intermediate number may overflow; never NaN.
    """
    tiny, largest = (UNDERFLOW, LARGEST) if unit == UNIT else (UNDERFLOW_32, LARGEST_32)
    with np.errstate(all="ignore"):
        size = first_sizes(layers[0], offsets, reach)
        error = _gamma(len(offsets) + 1, unit) * size + tiny
        error = np.where(size < largest, error, np.inf)
        for before, layer in pairwise(layers):
            function = before.function
            error = function.lipschitz * error * (1 + 4 * unit) + tiny
            error += function.rounding * unit * (1 + size)
            size = abs(function.at_zero) + function.lipschitz * size + error
            weights = np.abs(layer.weights)
            size = np.abs(layer.bias) + size @ weights
            error = error @ weights + _gamma(len(weights) + 2, unit) * size + tiny
            error = np.where(size < largest, error, np.inf)
    # Twice, for the rounding of this very computation.
    bound: NDArray[np.float64] = 2 * error + tiny
    return bound


def share_error(
    threshold: float, unit: float, n_outputs: int = 1, bound: float = math.inf
) -> float:
    """Bound, in units of the score, what rounding the shares of classes can do.

    A framework that decides by probabilities rounds these, too, and the threshold: a
    score that is nearer to the decision than this may get another class.

    Parameters
    ----------
    threshold : float
    unit : float
        The unit roundoff of the framework.
    n_outputs : int
        One, of a sigmoid, or that of the shares of a softmax.
    bound : float
        What `error_bound` says of the scores. Where shares cannot be told from 0 or 1,
        this keeps the result finite: it is at least 2 u times any score.
    """
    slack = _SHARE_ROUNDINGS * unit
    if n_outputs > 1:
        return slack * n_outputs
    low, high = threshold - slack, threshold + slack
    farthest = abs(logit(threshold)) + bound / (2 * UNIT)
    if low <= 0 or high >= 1:
        return farthest
    return min(slack / min(low * (1 - low), high * (1 - high)), farthest)


def first_sizes(
    first: Layer, offsets: NDArray[np.int64], reach: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Bound the sum of the magnitudes that each first pre-activation adds up."""
    weights = np.abs(first.weights)
    if reach is not None:
        weights = weights * reach[:, np.newaxis]
    blocks = [weights[a:b].max(axis=0) for a, b in pairwise(offsets)]
    size: NDArray[np.float64] = np.abs(first.bias) + np.sum(blocks, axis=0)
    return size


def _gamma(operations: int, unit: float) -> float:
    """Bound the relative error of a sum of products, regardless of its order."""
    share = operations * unit
    return share / (1 - share) if share < 1 else math.inf


def classify(
    layers: Sequence[Layer],
    offsets: NDArray[np.int64],
    threshold: float,
    codes: NDArray[np.int64],
    numbers: NDArray[np.float64] | None = None,
    reach: NDArray[np.float64] | None = None,
) -> NDArray[np.int64]:
    """Return the index of the class of every input, exactly.

    An input that cannot be decided is given `UNDECIDED`; see `nn2rules.network.exact`.
    """
    values = scores(layers, offsets, codes, numbers)
    bound = error_bound(layers, offsets, reach=reach)
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
        amounts = [1.0] * len(columns) if numbers is None else numbers[row].tolist()
        picks = list(zip(columns, amounts, strict=True))
        classes[row] = settle(layers, threshold, picks)
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
    if 0.25 <= threshold <= 0.75:
        return 2 * math.atanh(2 * threshold - 1)  # 2 t - 1 is exact; logs would cancel
    return math.log(threshold) - math.log1p(-threshold)
