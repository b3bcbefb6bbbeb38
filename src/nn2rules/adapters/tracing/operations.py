"""What models do to tensors, under one name each, whatever framework they come from.

An operation takes a trace, the tensors that it joins, and its options by their names;
numbers among the options are those that the model holds. An adapter has a table from
the names of its framework to these, and finds the options.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.adapters.tracing.activations import ACTIVATIONS
from nn2rules.adapters.tracing.tensors import Affine, Columns, Tensor, floats
from nn2rules.adapters.tracing.trace import Trace
from nn2rules.errors import UnsupportedModelError

MIXED_ROWS = "it mixes rows of a batch"
"""The refusal of steps whose result on a row depends on other rows."""

FIXED = (
    "its weights depend on the input; nn2rules reads sums of inputs with fixed weights"
)


def _add(trace: Trace, *tensors: Tensor, sign: int = 1, factor: Any = 1) -> Tensor:
    """Read a sum, or with `sign` -1 a difference, of `factor` times the others."""
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
            "it divides by a number that depends on the input; nn2rules reads sums of "
            "inputs with fixed weights"
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
    made = trace.linear(x, weights.reshape(len(weights), -1), bias)
    if weights.ndim == 1:
        made = trace.rearrange([made], lambda rows: rows[..., 0])
    return trace.rounded(made, roundings)


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
    """Read what batch normalisation makes of a tensor once it is trained."""
    if is_training or mean is None:
        raise UnsupportedModelError(
            "batch normalisation in training mode, or without running statistics, "
            "depends on the whole batch; read or export the model after model.eval(), "
            "and keep track_running_stats=True"
        )
    shape = [1] * len(x.shape)
    shape[axis - 1 if axis > 0 else axis] = -1
    deviation = np.sqrt(floats(variance) + float(epsilon)).reshape(shape)
    # One after the other, as frameworks round: the bound on the error counts the steps.
    centred = trace.scale(x, 1.0, -floats(mean).reshape(shape))
    made = trace.scale(centred, 1 / deviation)
    factor = 1.0 if scale is None else floats(scale).reshape(shape)
    added = 0.0 if shift is None else floats(shift).reshape(shape)
    return trace.rounded(trace.scale(made, factor, added), roundings)


def _total(
    trace: Trace, x: Tensor, *, axes: int | Sequence[int] | None, mean: bool, keep: Any
) -> Tensor:
    """Read a sum, or a mean, over axes, counted with that of the batch.

    With `keep`, these axes stay, with one entry each.
    """
    rank = len(x.shape) + 1
    listed = [axes] if isinstance(axes, int) else list(axes or range(rank))
    places = sorted(axis % rank for axis in listed)
    if 0 in places:
        raise UnsupportedModelError(
            "it adds up the rows of a batch; what mixes rows of a batch is no answer "
            "to one input"
        )
    kept = [place for place in range(1, rank) if place not in places]
    sizes = (2, *x.shape)
    count = math.prod(sizes[place] for place in places)
    left = [sizes[place] for place in kept]
    shape = [1 if p in places else sizes[p] for p in range(1, rank)] if keep else left

    def aside(rows: NDArray[np.int64]) -> NDArray[np.int64]:
        return rows.transpose(0, *kept, *places).reshape(2, *left, count)

    weights = np.full((count, 1), 1 / count if mean else 1.0)
    made = trace.linear(trace.rearrange([x], aside), weights)
    return trace.rearrange([made], lambda rows: rows.reshape(2, *shape))


def _cast(trace: Trace, x: Tensor, *, is_float: bool) -> Tensor:
    if not is_float:
        raise UnsupportedModelError(
            "it rounds numbers in which features have met to whole ones"
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
"""Every operation that can be read where features have met."""

ENTRYWISE = frozenset(
    {*OPERATIONS, "each"}
    - {"average", "identity", "linear", "mean", "softmax", "log_softmax", "sum"}
)
"""Operations on every entry alone; "each" is any that no network can hold."""

STRAIGHT = frozenset(
    {
        *("add", "average", "cast", "divide", "identity", "linear", "mean", "multiply"),
        *("negative", "normalize", "scale", "subtract", "sum"),
    }
)
"""Operations that keep numbers along a line, if they can be read."""

SEVERAL = ("add", "average", "divide", "multiply", "subtract")
"""Operations that join several tensors, some of which may be constant."""


def operands_of(
    trace: Trace, values: Sequence[Any], *, batch: int = 1, of_any_rank: bool = False
) -> list[Tensor]:
    """Return what meets in a row: tensors of one rank, and arrays as constants."""
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
    """Return a constant without the batch that it may have, in rows of `rank` axes.

    `batch` is the number of rows that constants were worked out for.
    """
    if array.ndim <= rank:
        return array
    is_batch = array.ndim == rank + 1 and len(array) in (1, batch)
    if not is_batch or not (array[:1] == array).all():
        raise UnsupportedModelError(MIXED_ROWS)
    return array[0]
