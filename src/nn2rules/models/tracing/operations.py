"""The operations of models, under one name each, regardless of the framework.

An operation takes a trace, its input tensors, and its options by name; numbers among
the options are stored in the model. An adapter has a table from the names of its
framework to these, and finds the options.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import UnsupportedModelError
from nn2rules.models.tracing.tensors import Affine, Columns, Tensor, floats
from nn2rules.models.tracing.trace import Trace

_CLOSE = 1e-6
"""Constants are stored in float32, so they differ from the exact ones this much."""


def _plain(trace: Trace, x: Tensor, *, name: str) -> Tensor:
    return trace.activate(x, name)


def _relu(
    trace: Trace, x: Tensor, *, slope: Any = 0, most: Any = None, start: Any = 0
) -> Tensor:
    """Read a ReLU, which may be leaky, or have a maximum."""
    if start:
        raise UnsupportedModelError(
            f"this ReLU has the threshold {start:g}; nn2rules reads ReLUs with "
            f"threshold 0"
        )
    if most is None:
        return _leaky_relu(trace, x, slope=slope)
    if slope:
        raise UnsupportedModelError(
            "this ReLU is leaky and has a maximum; nn2rules reads ReLUs with one of "
            "these"
        )
    return _cut(trace, x, 0.0, float(most))


def _leaky_relu(trace: Trace, x: Tensor, *, slope: Any) -> Tensor:
    if slope == 0:
        return trace.activate(x, "relu")
    return trace.activate(x, "leaky_relu", slope=float(slope))


def _prelu(trace: Trace, x: Tensor, *, slopes: Any) -> Tensor:
    """Read a PReLU whose units all have the same slope."""
    [slope, *others] = set(np.asarray(slopes).reshape(-1).tolist())
    if others:
        raise UnsupportedModelError(
            "its units have different slopes; use LeakyReLU, or a PReLU with a single "
            "slope"
        )
    return _leaky_relu(trace, x, slope=slope)


def _cut(trace: Trace, tensor: Tensor, low: float | None, high: float | None) -> Tensor:
    """Return every entry clipped at two limits, at one, or at none.

    ``clip(x, 0, 6)`` is ``3 + 3 * hard_tanh((x - 3) / 3)``.
    """
    if low is not None and high is not None:
        if not low < high:
            raise UnsupportedModelError(
                f"its limits are {low} and {high}; the first must be smaller"
            )
        middle, half = (low + high) / 2, (high - low) / 2
        inside = tensor
        if (middle, half) != (0, 1):
            inside = trace.scale(tensor, 1 / half, -middle / half)
        return trace.scale(trace.activate(inside, "hard_tanh"), half, middle)
    limit, sign = (low, 1.0) if high is None else (high, -1.0)
    if limit is None:
        return tensor
    if limit == 0 and sign == 1.0:
        return trace.activate(tensor, "relu")
    above = trace.activate(trace.scale(tensor, sign, -sign * limit), "relu")
    return trace.scale(above, sign, limit)


def _clip(trace: Trace, x: Tensor, *, low: Any = None, high: Any = None) -> Tensor:
    """Read clipping at two limits, each of which may be missing."""
    limits = []
    for limit in (low, high):
        if np.size(limit) > 1:
            raise UnsupportedModelError("its limits are arrays; use single numbers")
        number = math.inf if limit is None else float(limit)
        is_none = abs(number) >= float(np.finfo(np.float32).max)
        limits.append(None if is_none else number)
    return _cut(trace, x, *limits)


def _absolute(trace: Trace, x: Tensor) -> Tensor:
    negative = trace.activate(trace.scale(x, -1.0), "relu")
    return trace.add(trace.activate(x, "relu"), negative)


def _elu(trace: Trace, x: Tensor, *, alpha: Any = 1.0, scales: Any = ()) -> Tensor:
    """Read an ELU with alpha 1; an operator may have two more scales."""
    if alpha != 1 or any(float(scale) not in (0.0, 1.0) for scale in scales):
        raise UnsupportedModelError(
            f"its alpha is {alpha:.6g}; nn2rules reads an ELU with alpha=1, or ReLU"
        )
    return trace.activate(x, "elu")


def _celu(trace: Trace, x: Tensor, *, alpha: Any = 1.0) -> Tensor:
    alpha = float(alpha)
    return trace.scale(trace.activate(trace.scale(x, 1 / alpha), "elu"), alpha)


def _gelu(trace: Trace, x: Tensor, *, approximate: Any = False) -> Tensor:
    if approximate not in (False, "none", b"none"):
        raise UnsupportedModelError(
            "it is the tanh approximation of GELU; use the exact function, with "
            'approximate="none" (in Keras, approximate=False)'
        )
    return trace.activate(x, "gelu")


def _softplus(
    trace: Trace,
    x: Tensor,
    *,
    beta: Any = 1.0,
    threshold: Any = math.inf,
    unit: float = 1.0,
) -> Tensor:
    """Read a softplus; above a threshold the model may use x instead.

    In float64 the difference is more than rounding, so the bound on the model's error
    includes it.
    """
    beta, threshold = float(beta), float(threshold)
    if threshold < 15:
        raise UnsupportedModelError(
            f"a Softplus with threshold={threshold:g} has a jump there; use the "
            f"default threshold of 20"
        )
    scaled = x if beta == 1 else trace.scale(x, beta)
    activated = trace.activate(scaled, "softplus")
    if beta == 1 and math.isinf(threshold):
        return activated
    shortcut = math.log1p(math.exp(-threshold)) / beta
    return trace.scale(trace.scale(activated, 1 / beta), 1.0, 0.0, shortcut / unit)


def _log_sigmoid(trace: Trace, x: Tensor) -> Tensor:
    negative = trace.activate(trace.scale(x, -1.0), "softplus")
    return trace.scale(negative, -1.0)


def _hard_sigmoid(
    trace: Trace, x: Tensor, *, alpha: float = 1 / 6, beta: float = 0.5
) -> Tensor:
    if not math.isclose(alpha, 1 / 6, rel_tol=_CLOSE):
        raise UnsupportedModelError(
            f"its alpha is {alpha:.6g}; nn2rules reads {1 / 6:.6g}"
        )
    if beta != 0.5:
        raise UnsupportedModelError(f"its beta is {beta:g}; nn2rules reads 0.5")
    return trace.activate(x, "hard_sigmoid")


def _silu(trace: Trace, x: Tensor, *, alpha: float = 1.0) -> Tensor:
    if alpha != 1:
        raise UnsupportedModelError(f"its alpha is {alpha:.6g}; nn2rules reads 1")
    return trace.activate(x, "silu")


def _softmax(trace: Trace, x: Tensor, *, name: str, axis: int | None = -1) -> Tensor:
    """Read class probabilities, or their logarithms.

    `axis` counts the batch; None means all numbers of a row.
    """
    size = math.prod(x.shape)
    place = len(x.shape) if axis is None else axis % (len(x.shape) + 1)
    if place == 0 or (axis is not None and x.shape[place - 1] != size):
        raise UnsupportedModelError(
            f"a softmax must be over the last axis, that of the classes; here it is "
            f"over axis {axis}, and rows have the shape {x.shape}"
        )
    return trace.activate(x, name)


ACTIVATIONS: dict[str, Callable[..., Tensor]] = {
    "abs": _absolute,
    "celu": _celu,
    "clip": _clip,
    "elu": _elu,
    "gelu": _gelu,
    "hard_sigmoid": _hard_sigmoid,
    "hard_tanh": partial(_plain, name="hard_tanh"),
    "leaky_relu": _leaky_relu,
    "log_sigmoid": _log_sigmoid,
    "log_softmax": partial(_softmax, name="log_softmax"),
    "prelu": _prelu,
    "relu": _relu,
    "relu6": partial(_clip, low=0.0, high=6.0),
    "sigmoid": partial(_plain, name="sigmoid"),
    "silu": _silu,
    "softmax": partial(_softmax, name="softmax"),
    "softplus": _softplus,
    "tanh": partial(_plain, name="tanh"),
}
"""From a name to the function of a trace, a tensor, and options by name."""


MIXED_ROWS = "it combines rows of a batch"
"""The message about steps whose result for a row depends on other rows."""

FIXED = (
    "its weights depend on the input; nn2rules reads weighted sums with fixed weights"
)


def _add(trace: Trace, *tensors: Tensor, sign: int = 1, factor: Any = 1) -> Tensor:
    """Read a sum or, with `sign` -1, a difference of `factor` times the others."""
    first, *others = tensors
    for other in others:
        scaled = other if factor == 1 else trace.scale(other, factor)
        first = trace.add(first, scaled, sign=sign)
    return first


def _mean(trace: Trace, *tensors: Tensor) -> Tensor:
    return trace.scale(_add(trace, *tensors), 1 / len(tensors))


def _multiply(trace: Trace, left: Tensor, right: Tensor) -> Tensor:
    return trace.multiply(left, right)


def _divide(trace: Trace, left: Tensor, right: Tensor) -> Tensor:
    if not (isinstance(right, Columns) and right.is_constant):
        raise UnsupportedModelError(
            "it divides by a number that depends on the input; nn2rules reads weighted "
            "sums with fixed weights"
        )
    divisor = floats(right.value)
    if not divisor.all():
        raise UnsupportedModelError("it divides by zero")
    return trace.multiply(left, trace.constant(1.0 / divisor))


def _negative(trace: Trace, x: Tensor) -> Tensor:
    return trace.scale(x, -1.0)


def _linear(
    trace: Trace, x: Tensor, *, weights: Any, bias: Any = None, roundings: int = 0
) -> Tensor:
    """Read a product with a matrix or a vector, from the right."""
    weights = floats(weights)
    if weights.ndim not in (1, 2):
        raise UnsupportedModelError("it multiplies by several matrices at once")
    product = trace.linear(x, weights.reshape(len(weights), -1), bias)
    if weights.ndim == 1:
        product = trace.rearrange([product], lambda rows: rows[..., 0])
    return trace.rounded(product, roundings)


def _scale(
    trace: Trace, x: Tensor, *, factor: Any = 1.0, shift: Any = 0.0, roundings: int = 0
) -> Tensor:
    return trace.rounded(trace.scale(x, factor, shift), roundings)


def _normalize(
    trace: Trace,
    x: Tensor,
    *,
    mean: Any,
    variance: Any,
    epsilon: float = 1e-5,
    scale: Any = None,
    shift: Any = None,
    axis: int = 1,
    is_training: bool = False,
    roundings: int = 0,
) -> Tensor:
    """Read batch normalization after training."""
    if is_training or mean is None:
        raise UnsupportedModelError(
            "batch normalization in training mode, or without running statistics, "
            "depends on the whole batch; read or export the model after model.eval(), "
            "with track_running_stats=True"
        )
    shape = [1] * len(x.shape)
    shape[axis - 1 if axis > 0 else axis] = -1
    deviation = np.sqrt(floats(variance) + float(epsilon)).reshape(shape)
    # Step by step, as frameworks round: the bound on the error counts the steps.
    centred = trace.scale(x, 1.0, -floats(mean).reshape(shape))
    normalized = trace.scale(centred, 1 / deviation)
    factor = 1.0 if scale is None else floats(scale).reshape(shape)
    added = 0.0 if shift is None else floats(shift).reshape(shape)
    return trace.rounded(trace.scale(normalized, factor, added), roundings)


def _total(
    trace: Trace, x: Tensor, *, axes: int | Sequence[int] | None, mean: bool, keep: Any
) -> Tensor:
    """Read a sum or a mean over axes, counted with the batch.

    With `keep`, these axes remain with one entry each.
    """
    rank = len(x.shape) + 1
    listed = [axes] if isinstance(axes, int) else list(axes or range(rank))
    places = sorted(axis % rank for axis in listed)
    if 0 in places:
        raise UnsupportedModelError(
            "it sums over the rows of a batch, so its result for a row depends on "
            "other rows"
        )
    kept = [place for place in range(1, rank) if place not in places]
    sizes = (2, *x.shape)
    count = math.prod(sizes[place] for place in places)
    left = [sizes[place] for place in kept]
    shape = [1 if p in places else sizes[p] for p in range(1, rank)] if keep else left

    def aside(rows: NDArray[np.int64]) -> NDArray[np.int64]:
        return rows.transpose(0, *kept, *places).reshape(2, *left, count)

    weights = np.full((count, 1), 1 / count if mean else 1.0)
    total = trace.linear(trace.rearrange([x], aside), weights)
    return trace.rearrange([total], lambda rows: rows.reshape(2, *shape))


def _cast(trace: Trace, x: Tensor, *, is_float: bool) -> Tensor:
    if not is_float:
        raise UnsupportedModelError(
            "it rounds numbers to integers once features are combined"
        )
    return trace.rounded(x)


def _keep(_trace: Trace, x: Tensor) -> Tensor:
    return x


OPERATIONS: dict[str, Callable[..., Tensor]] = {
    **ACTIVATIONS,
    "add": _add,
    "average": _mean,
    "cast": _cast,
    "divide": _divide,
    "identity": _keep,
    "linear": _linear,
    "mean": partial(_total, mean=True),
    "multiply": _multiply,
    "negative": _negative,
    "normalize": _normalize,
    "scale": _scale,
    "subtract": partial(_add, sign=-1),
    "sum": partial(_total, mean=False),
}
"""Every operation that can be read once features are combined."""

ENTRYWISE = frozenset(
    {*OPERATIONS, "each"}
    - {"average", "identity", "linear", "mean", "softmax", "log_softmax", "sum"}
)
"""Operations on each entry alone; "each" is any that a network cannot express."""

LINEAR = frozenset(
    {
        *("add", "average", "cast", "divide", "identity", "linear", "mean", "multiply"),
        *("negative", "normalize", "scale", "subtract", "sum"),
    }
)
"""Operations that are linear, if they can be read."""

SEVERAL = ("add", "average", "divide", "multiply", "subtract")
"""Operations on several tensors, some of which may be constant."""


def operands_of(
    trace: Trace, values: Sequence[Any], *, batch: int = 1, of_any_rank: bool = False
) -> list[Tensor]:
    """Return operands for one row: tensors of one rank, and arrays as constants."""
    ranks = {len(each.shape) for each in values if isinstance(each, Columns | Affine)}
    if len(ranks) > 1 and not of_any_rank:
        raise UnsupportedModelError(MIXED_ROWS)
    return [
        each
        if isinstance(each, Columns | Affine)
        else trace.constant(unbatched(each, max(ranks), batch))
        for each in values
    ]


def unbatched(array: Any, rank: int, batch: int = 1) -> Any:
    """Return a constant without its batch axis, if it has one; rows have `rank` axes.

    `batch` is the number of rows for which constants were computed.
    """
    if array.ndim <= rank:
        return array
    is_batch = array.ndim == rank + 1 and len(array) in (1, batch)
    if not is_batch or not (array[:1] == array).all():
        raise UnsupportedModelError(MIXED_ROWS)
    return array[0]
