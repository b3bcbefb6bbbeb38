"""Sums, products and normalisations in PyTorch models."""

from typing import Any

import torch

from nn2rules.adapters.torch.steps import Step
from nn2rules.adapters.torch.values import (
    Traced,
    columns_of,
    on_tables,
    to_numpy,
    unbatched,
)
from nn2rules.adapters.tracing import Tensor, Trace, grid_of
from nn2rules.errors import UnsupportedModelError

_FIXED = (
    "its weights depend on the input; nn2rules reads sums of inputs with fixed weights"
)


def traced(step: Step, position: int = 0, name: str = "input") -> Traced:
    """Return an argument that depends on the input, as no weights may."""
    value = step.option(position, name)
    if not isinstance(value, Traced):
        raise UnsupportedModelError(_FIXED)
    return value


def fixed(value: Any) -> Any:
    """Return weights as an array."""
    if isinstance(value, Traced):
        raise UnsupportedModelError(_FIXED)
    return None if value is None else to_numpy(value)


def _promoted(step: Step) -> torch.dtype:
    dtype = step.traced[0].dtype
    for value in (*step.traced[1:], *step.args):
        if isinstance(value, Traced) or (
            isinstance(value, torch.Tensor) and value.ndim
        ):
            dtype = torch.promote_types(dtype, value.dtype)
    return dtype if dtype.is_floating_point else torch.get_default_dtype()


def _is_on_tables(step: Step) -> bool:
    same_rank = len({len(value.shape) for value in step.traced}) == 1
    are_tables = all(value.is_table for value in step.traced)
    return same_rank and are_tables and grid_of(columns_of(step.traced)) is not None


def _both(trace: Trace, step: Step) -> tuple[Tensor, Tensor]:
    """Return the two arguments as tensors without batch, of the same rank."""
    left, right = step.option(0, "input"), step.option(1, "other")
    ndims = {len(value.shape) for value in (left, right) if isinstance(value, Traced)}
    if len(ndims) > 1:
        raise UnsupportedModelError(
            "it joins tensors of different numbers of axes, which mixes the rows of a "
            "batch"
        )
    ndim = ndims.pop()

    def tensor(value: Any) -> Tensor:
        if isinstance(value, Traced):
            return value.tensor
        return trace.constant(to_numpy(unbatched(torch.as_tensor(value), ndim)))

    return tensor(left), tensor(right)


def add(trace: Trace, step: Step) -> Traced:
    """Return a sum or a difference."""
    sign = 1 if step.name == "add" else -1
    alpha = step.option(2, "alpha", 1)
    if _is_on_tables(step) and not _is_complement(step):
        return on_tables(trace, step.traced, step.run_each, elementwise=True)
    left, right = _both(trace, step)
    if step.name == "rsub":
        left, right = right, left
    if alpha != 1:
        right = trace.scale(right, alpha)
    return Traced(trace.add(left, right, sign=sign), _promoted(step))


def _is_complement(step: Step) -> bool:
    """Tell whether a sum may be 1 - sigmoid, which the decision has to know."""
    return any(value.kind == "sigmoid" for value in step.traced)


def multiply(trace: Trace, step: Step) -> Traced:
    """Return a product with a constant; of one feature, any product."""
    if _is_on_tables(step):
        return on_tables(trace, step.traced, step.run_each, elementwise=True)
    return Traced(trace.multiply(*_both(trace, step)), _promoted(step))


def divide(trace: Trace, step: Step) -> Traced:
    """Return a quotient by a constant; of one feature, any quotient."""
    if _is_on_tables(step):
        return on_tables(trace, step.traced, step.run_each, elementwise=True)
    left, right = step.option(0, "input"), step.option(1, "other")
    if isinstance(right, Traced) or step.kwargs.get("rounding_mode") is not None:
        raise UnsupportedModelError(
            "it divides by a number that depends on the input, or rounds; nn2rules "
            "reads sums of inputs with fixed weights"
        )
    divisor = unbatched(torch.as_tensor(right), len(left.shape))
    inverse = 1.0 / to_numpy(divisor).astype("float64")
    made = trace.multiply(left.tensor, trace.constant(inverse))
    return Traced(made, _promoted(step))


def negative(trace: Trace, step: Step) -> Traced:
    """Return the negative of a tensor."""
    value = traced(step)
    if value.is_table:
        return on_tables(trace, step.traced, step.run_each, elementwise=True)
    return Traced(trace.scale(value.tensor, -1.0), value.dtype)


def linear(trace: Trace, step: Step) -> Traced:
    """Return ``x @ weight.T + bias``."""
    value = traced(step)
    weight = fixed(step.option(1, "weight"))
    bias = fixed(step.option(2, "bias"))
    return Traced(trace.linear(value.tensor, weight.T, bias), value.dtype)


def matmul(trace: Trace, step: Step) -> Traced:
    """Return the product with a fixed matrix or vector."""
    value = traced(step)
    weight = fixed(step.option(1, "other", step.kwargs.get("mat2")))
    if weight.ndim == 1:
        made = trace.linear(value.tensor, weight[:, None])
        return Traced(trace.rearrange([made], lambda rows: rows[..., 0]), value.dtype)
    if weight.ndim != 2:
        raise UnsupportedModelError("it multiplies by several matrices at once")
    return Traced(trace.linear(value.tensor, weight), value.dtype)


def addmm(trace: Trace, step: Step) -> Traced:
    """Return ``bias + x @ weight``."""
    value = traced(step, 1, "mat1")
    bias, weight = fixed(step.args[0]), fixed(step.option(2, "mat2"))
    if any(step.kwargs.get(name, 1) != 1 for name in ("alpha", "beta")):
        raise UnsupportedModelError("it scales by alpha or beta; multiply instead")
    return Traced(trace.linear(value.tensor, weight, bias), value.dtype)


def reduce(trace: Trace, step: Step) -> Traced:
    """Return the sum or the mean over some axes."""
    value = traced(step)
    dims = step.option(1, "dim", step.kwargs.get("axis"))
    ndim = len(value.shape)
    axes = [dims] if isinstance(dims, int) else list(dims or range(ndim))
    axes = [axis % ndim for axis in axes]
    if 0 in axes:
        raise UnsupportedModelError("it adds up the rows of a batch")
    keep = bool(step.option(2, "keepdim", False))
    rest = [axis - 1 for axis in axes]
    made = trace.total(value.tensor, rest, mean=step.name == "mean", keep=keep)
    return Traced(made, _promoted(step))


def batch_norm(trace: Trace, step: Step) -> Any:
    """Return what batch normalisation makes of a tensor once it is trained."""
    value = traced(step)
    mean = fixed(step.option(1, "running_mean"))
    variance = fixed(step.option(2, "running_var"))
    if step.option(5, "training", False) or mean is None:
        raise UnsupportedModelError(
            "batch normalisation in training mode, or without running statistics, "
            "depends on the whole batch; call model.eval(), and keep "
            "track_running_stats=True"
        )
    is_operator = step.name == "_native_batch_norm_legit_no_training"
    if value.is_table and not is_operator:
        return on_tables(trace, step.traced, step.run_each, elementwise=True)
    made = _normed(trace, step, value, mean, variance)
    return (made, None, None) if is_operator else made


def _normed(
    trace: Trace, step: Step, value: Traced, mean: Any, variance: Any
) -> Traced:
    weight, bias = fixed(step.option(3, "weight")), fixed(step.option(4, "bias"))
    shape = (-1,) + (1,) * (len(value.tensor.shape) - 1)
    deviation = (variance.astype("float64") + float(step.option(7, "eps", 1e-5))) ** 0.5
    # One after the other, as PyTorch rounds: the bound on its error counts the steps.
    centred = trace.scale(value.tensor, 1.0, -mean.astype("float64").reshape(shape))
    made = trace.scale(centred, (1 / deviation).reshape(shape))
    factor = 1.0 if weight is None else weight.reshape(shape)
    shift = 0.0 if bias is None else bias.reshape(shape)
    return Traced(trace.scale(made, factor, shift), value.dtype)
