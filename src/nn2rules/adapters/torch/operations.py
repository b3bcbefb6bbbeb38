"""What each step of a PyTorch model does to tensors that depend on the input."""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from numpy.typing import NDArray

from nn2rules.adapters.torch.readable import READABLE, fixed
from nn2rules.adapters.torch.refusals import reason_of
from nn2rules.adapters.torch.steps import CASTS, Call
from nn2rules.adapters.torch.values import BATCH, Traced, constant, lookup, to_numpy
from nn2rules.adapters.tracing import (
    ENTRYWISE,
    OPERATIONS,
    SEVERAL,
    Step,
    Tensor,
    Trace,
    mixing,
    moved,
    operands_of,
    owners_of,
    take,
)
from nn2rules.errors import UnsupportedModelError

_OPERATOR = "_native_batch_norm_legit_no_training"


def operate(trace: Trace, call: Call) -> Any:
    """Return the result of a step some arguments of which depend on the input."""
    own = _OWN.get(call.name)
    if own is not None:
        return own(trace, call)
    kind, _ = READABLE.get(call.name, ("each" if call.name in _EACH else "", None))
    formats: list[torch.dtype] = []

    def run(arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        values = zip(arrays, call.traced, strict=True)
        given = [torch.from_numpy(a.copy()).to(value.dtype) for a, value in values]
        made = call.run(*given, by_entry=kind in ENTRYWISE)
        if not isinstance(made, torch.Tensor):
            raise UnsupportedModelError("it does not make one tensor")
        formats.append(made.dtype)
        return [to_numpy(made)]

    tensors = tuple(value.tensor for value in call.traced)
    runs = run if _is_run(call, kind) else None
    step = Step(kind, tensors, runs, lambda: _read(trace, call, step))
    [made] = take(trace, step)
    if not formats:
        formats.append(_format(call, kind))
    result = Traced(made, formats[-1])
    return (result, None, None) if call.name == _OPERATOR else result


def _format(call: Call, kind: str) -> torch.dtype:
    """Return the format of what a step makes of sums."""
    dtype = call.traced[0].dtype
    for value in call.args if kind in SEVERAL else ():
        if isinstance(value, Traced) or (torch.is_tensor(value) and value.ndim):
            dtype = torch.promote_types(dtype, value.dtype)
    return dtype if dtype.is_floating_point else torch.get_default_dtype()


def _is_run(call: Call, kind: str) -> bool:
    """Whether PyTorch is to take a step of features that have not met.

    Not where the result depends on the batch, or is a sum, whose rounding is bounded.
    """
    if call.name == "batch_norm":
        has_own = call.option(1, "running_mean") is not None
        return has_own and not call.option(5, "training", False)
    is_sum = kind in OPERATIONS and kind not in ENTRYWISE
    return not is_sum and call.name not in ("rrelu", _OPERATOR)


def _read(trace: Trace, call: Call, step: Step) -> Tensor:
    """Read a step where features have met."""
    if call.name not in READABLE:
        if call.name in _EACH and step.columns is not None:
            raise mixing(trace.domain, owners_of(step.columns))
        raise UnsupportedModelError(reason_of(call.name))
    kind, options = READABLE[call.name]
    operands = _both(trace, call) if kind in SEVERAL else [call.first.tensor]
    return OPERATIONS[kind](trace, *operands, **options(call))


def _both(trace: Trace, call: Call) -> list[Tensor]:
    """Return the two arguments as tensors without batch."""
    values = [
        value.tensor if isinstance(value, Traced) else to_numpy(torch.as_tensor(value))
        for value in (call.option(0, "input"), call.option(1, "other"))
    ]
    ordered = values[::-1] if call.name == "rsub" else values
    return operands_of(trace, ordered, batch=BATCH)


# Picking and placing -----------------------------------------------------------------


def _keep(_trace: Trace, call: Call) -> Traced:
    return call.first


def _dropout(_trace: Trace, call: Call) -> Traced:
    if call.option(2, "training", True):
        raise UnsupportedModelError(
            "it drops units at random in training mode; call model.eval() first, or "
            "pass training=self.training"
        )
    return call.first


def _move(trace: Trace, call: Call) -> Any:
    return _moved(trace, call.traced, call.run)


def _moved(trace: Trace, values: Sequence[Traced], own: Callable[..., Any]) -> Any:
    """Return what a step makes of tensors whose entries it only picks and places.

    `own` takes and returns a tensor; or it returns several, and so does this.
    """
    dtype = values[0].dtype
    for value in values[1:]:
        dtype = torch.promote_types(dtype, value.dtype)
    trial = own(*(value.stand_in.long() for value in values))
    is_one = isinstance(trial, torch.Tensor)

    def run(arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        made = own(*(torch.from_numpy(array) for array in arrays))
        return [to_numpy(tensor) for tensor in ([made] if is_one else made)]

    tensors = tuple(value.tensor for value in values)
    found = moved(trace, tensors, run, 1 if is_one else len(trial))
    made = tuple(Traced(tensor, dtype) for tensor in found)
    return made[0] if is_one else made


def _join(trace: Trace, call: Call) -> Any:
    """Put tensors side by side, some of which may be constant."""
    tensors = call.option(0, "tensors")
    values = [v if isinstance(v, Traced) else constant(trace, v) for v in tensors]
    runs = {"cat": torch.cat, "hstack": torch.hstack, "stack": torch.stack}
    options = {} if call.name == "hstack" else {"dim": call.option(1, "dim", 0)}
    run = runs[call.name]
    return _moved(trace, values, lambda *rows: run(rows, **options))


def _item(trace: Trace, call: Call) -> Any:
    whole, key = call.args
    if isinstance(whole, Traced):
        if any(value is not whole for value in call.traced):
            raise UnsupportedModelError("it picks entries by numbers that are computed")
        return _move(trace, call)
    return operator.getitem(whole, key)


def _facts(_trace: Trace, call: Call) -> Any:
    """Return the shape of a tensor, or its type."""
    return call.run(call.first.stand_in)


def _nothing(_trace: Trace, _call: Call) -> None:
    """Pass over what only checks."""


def _attribute(trace: Trace, call: Call) -> Any:
    if call.args[1] in ("T", "mT", "data"):
        return _move(trace, call)
    return _facts(trace, call)


def _cast(trace: Trace, call: Call) -> Traced:
    value = call.first
    dtype = call.run(*(each.stand_in for each in call.traced)).dtype

    def run(arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        return [to_numpy(torch.from_numpy(arrays[0]).to(value.dtype).to(dtype))]

    def read() -> Tensor:
        is_float = dtype.is_floating_point
        return OPERATIONS["cast"](trace, value.tensor, is_float=is_float)

    [made] = take(trace, Step("cast", (value.tensor,), run, read))
    return Traced(made, dtype)


# Tables ------------------------------------------------------------------------------


def _embedding(trace: Trace, call: Call) -> Traced:
    if call.option(3, "max_norm") is not None:
        raise UnsupportedModelError(
            "an Embedding with max_norm changes its own weights as it answers; put the "
            "shortened weights into one without max_norm"
        )
    weight = call.option(1, "weight")
    fixed(weight)
    return lookup(trace, call.first, weight, "the Embedding")


def _embedding_bag(trace: Trace, call: Call) -> Traced:
    mode, *others = call.args[2:]
    if len(call.args) != 5 or mode == "max" or any(o is not None for o in others):
        raise UnsupportedModelError(
            "of EmbeddingBag, nn2rules reads mode 'sum' and 'mean', without offsets, "
            "weights of samples, padding and max_norm"
        )
    found = lookup(trace, call.first, call.args[1], "the EmbeddingBag")
    made = OPERATIONS[mode](trace, found.tensor, axes=1, keep=False)
    return Traced(made, found.dtype)


def _one_hot(trace: Trace, call: Call) -> Traced:
    number = call.option(1, "num_classes", -1)
    if not isinstance(number, int) or number < 1:
        raise UnsupportedModelError(
            "one_hot counts the classes in each batch anew; say num_classes"
        )
    matrix = torch.eye(number, dtype=torch.int64)
    return lookup(trace, call.first, matrix, "one_hot")


_MOVES = """
atleast_2d broadcast_to chunk clone contiguous detach expand expand_as flatten
flip index_select lift_fresh_copy movedim moveaxis narrow permute ravel repeat
repeat_interleave reshape reshape_as roll select slice split split_with_sizes
squeeze swapaxes swapdims t tensor_split tile transpose unbind unflatten
unsafe_chunk unsafe_split unsqueeze view view_as
"""

_EACH = (
    *("bitwise_and", "bitwise_not", "bitwise_or", "ceil", "cos", "eq", "erf", "exp"),
    *("expm1", "floor", "floor_divide", "floordiv", "fmod", "ge", "gt", "hardswish"),
    *("invert", "isfinite", "isinf", "isnan", "le", "log", "log10", "log1p", "log2"),
    *("logical_and", "logical_not", "logical_or", "lt", "masked_fill", "maximum"),
    *("minimum", "mish", "mod", "nan_to_num", "ne", "pow", "reciprocal", "remainder"),
    *("round", "rsqrt", "selu", "sign", "sin", "softsign", "sqrt", "square"),
    *("tanhshrink", "threshold", "trunc", "where", "xlogy"),
)
"""Steps that make each entry of the same entries of what they are given."""

_OWN: dict[str, Callable[[Trace, Call], Any]] = {
    **dict.fromkeys(_MOVES.split(), _move),
    **dict.fromkeys(CASTS, _cast),
    **dict.fromkeys(("cat", "hstack", "stack"), _join),
    **dict.fromkeys(("dim", "ndimension", "size", "sym_size"), _facts),
    "_assert_tensor_metadata": _nothing,
    "dropout": _dropout,
    "embedding": _embedding,
    "EmbeddingBag": _embedding_bag,
    "getattr": _attribute,
    "getitem": _item,
    "identity": _keep,
    "one_hot": _one_hot,
}
"""What is done at steps that only PyTorch has, by their names."""
