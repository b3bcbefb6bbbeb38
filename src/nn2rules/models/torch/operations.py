"""What each step of a PyTorch model does to tensors that depend on the input."""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from nn2rules.errors import UnsupportedModelError
from nn2rules.models.torch.steps import CASTS, Call
from nn2rules.models.torch.values import (
    BATCH,
    Traced,
    constant,
    lookup,
    to_numpy,
    unit_of,
)
from nn2rules.models.tracing import (
    ENTRYWISE,
    FIXED,
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

Options: TypeAlias = Callable[[Call], dict[str, Any]]


def fixed(value: Any) -> Any:
    """Return an option; tensors as arrays. It must not depend on the input."""
    if isinstance(value, Traced):
        raise UnsupportedModelError(FIXED)
    return to_numpy(value) if isinstance(value, torch.Tensor) else value


def _at(**places: tuple[int, str, Any]) -> Options:
    """Find options by position, name and default."""
    return lambda call: {
        name: fixed(call.option(*place)) for name, place in places.items()
    }


def _slope(call: Call, slope: Any) -> dict[str, Any]:
    """Return the slope as the model rounds it."""
    return {"slope": float(torch.tensor(fixed(slope), dtype=call.first.dtype))}


def _leaky_relu(call: Call) -> dict[str, Any]:
    return _slope(call, call.option(1, "negative_slope", 0.01))


def _rrelu(call: Call) -> dict[str, Any]:
    if call.option(3, "training", False):
        raise UnsupportedModelError(
            "its slopes are random in training mode; call model.eval() first"
        )
    ends = call.option(1, "lower", 1 / 8), call.option(2, "upper", 1 / 3)
    return _slope(call, sum(ends) / 2)


def _elu(call: Call) -> dict[str, Any]:
    scales = call.option(2, "scale", 1.0), call.option(3, "input_scale", 1.0)
    return {"alpha": call.option(1, "alpha", 1.0), "scales": scales}


def _softplus(call: Call) -> dict[str, Any]:
    places = _at(beta=(1, "beta", 1.0), threshold=(2, "threshold", 20.0))
    return {**places(call), "unit": unit_of(call.first.dtype)}


def _softmax(call: Call) -> dict[str, Any]:
    axis = call.option(1, "dim")
    if axis is None:  # as PyTorch does
        axis = 1 if len(call.first.shape) == 2 else 0
    return {"axis": axis}


def _linear(call: Call) -> dict[str, Any]:
    weight = fixed(call.option(1, "weight"))
    return {"weights": weight.T, "bias": fixed(call.option(2, "bias"))}


def _addmm(call: Call) -> dict[str, Any]:
    if any(call.kwargs.get(name, 1) != 1 for name in ("alpha", "beta")):
        raise UnsupportedModelError(
            "it has alpha or beta different from 1; multiply instead"
        )
    weight = fixed(call.option(2, "mat2"))
    return {"weights": weight, "bias": fixed(call.args[0])}


def _divide(call: Call) -> dict[str, Any]:
    if call.kwargs.get("rounding_mode") is not None:
        raise UnsupportedModelError("it rounds a quotient once features are combined")
    return {}


_FACTOR = _at(factor=(2, "alpha", 1))
_REDUCED = _at(axes=(1, "dim", None), keep=(2, "keepdim", False))
_NORMALIZED = _at(
    mean=(1, "running_mean", None),
    variance=(2, "running_var", None),
    scale=(3, "weight", None),
    shift=(4, "bias", None),
    is_training=(5, "training", False),
    epsilon=(7, "eps", 1e-5),
)

READABLE: Mapping[str, tuple[str, Options]] = {
    "_native_batch_norm_legit_no_training": ("normalize", _NORMALIZED),
    "abs": ("abs", _at()),
    "add": ("add", _FACTOR),
    "addmm": ("linear", _addmm),
    "batch_norm": ("normalize", _NORMALIZED),
    "celu": ("celu", _at(alpha=(1, "alpha", 1.0))),
    "clamp": ("clip", _at(low=(1, "min", None), high=(2, "max", None))),
    "div": ("divide", _divide),
    "elu": ("elu", _elu),
    "gelu": ("gelu", _at(approximate=(1, "approximate", "none"))),
    "hardsigmoid": ("hard_sigmoid", _at()),
    "hardtanh": ("clip", _at(low=(1, "min_val", -1.0), high=(2, "max_val", 1.0))),
    "leaky_relu": ("leaky_relu", _leaky_relu),
    "linear": ("linear", _linear),
    "log_softmax": ("log_softmax", _softmax),
    "logsigmoid": ("log_sigmoid", _at()),
    "matmul": ("linear", _at(weights=(1, "other", np.zeros(0)))),
    "mean": ("mean", _REDUCED),
    "mul": ("multiply", _at()),
    "neg": ("negative", _at()),
    "prelu": ("prelu", _at(slopes=(1, "weight", None))),
    "relu": ("relu", _at()),
    "relu6": ("relu6", _at()),
    "rrelu": ("leaky_relu", _rrelu),
    "rsub": ("subtract", _FACTOR),
    "sigmoid": ("sigmoid", _at()),
    "silu": ("silu", _at()),
    "softmax": ("softmax", _softmax),
    "softplus": ("softplus", _softplus),
    "sub": ("subtract", _FACTOR),
    "sum": ("sum", _REDUCED),
    "tanh": ("tanh", _at()),
}
"""From each step that a network can express to its operation and options."""


_OPERATOR = "_native_batch_norm_legit_no_training"


def operate(trace: Trace, call: Call) -> Any:
    """Return the result of a step with arguments that depend on the input."""
    reader = _OWN.get(call.name)
    if reader is not None:
        return reader(trace, call)
    kind, _ = READABLE.get(call.name, ("each" if call.name in _EACH else "", None))
    formats: list[torch.dtype] = []

    def run(arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        values = zip(arrays, call.traced, strict=True)
        tensors = [torch.from_numpy(a.copy()).to(value.dtype) for a, value in values]
        result = call.run(*tensors, by_entry=kind in ENTRYWISE)
        if not isinstance(result, torch.Tensor):
            raise UnsupportedModelError("it does not return a single tensor")
        formats.append(result.dtype)
        return [to_numpy(result)]

    tensors = tuple(value.tensor for value in call.traced)
    runs = run if _is_run(call, kind) else None
    step = Step(kind, tensors, runs, lambda: _read(trace, call, step))
    [tensor] = take(trace, step)
    if not formats:
        formats.append(_format(call, kind))
    result = Traced(tensor, formats[-1])
    return (result, None, None) if call.name == _OPERATOR else result


def _format(call: Call, kind: str) -> torch.dtype:
    """Return the format of the result of a step on sums."""
    dtype = call.traced[0].dtype
    for value in call.args if kind in SEVERAL else ():
        if isinstance(value, Traced) or (torch.is_tensor(value) and value.ndim):
            dtype = torch.promote_types(dtype, value.dtype)
    return dtype if dtype.is_floating_point else torch.get_default_dtype()


def _is_run(call: Call, kind: str) -> bool:
    """Whether PyTorch runs a step itself as long as features are not combined.

    It does not if the result depends on the batch, or for sums, whose rounding is
    bounded.
    """
    if call.name == "batch_norm":
        has_own = call.option(1, "running_mean") is not None
        return has_own and not call.option(5, "training", False)
    is_sum = kind in OPERATIONS and kind not in ENTRYWISE
    return not is_sum and call.name not in ("rrelu", _OPERATOR)


def _read(trace: Trace, call: Call, step: Step) -> Tensor:
    """Read a step once features are combined."""
    if call.name not in READABLE:
        if call.name in _EACH and step.columns is not None:
            raise mixing(trace.domain, owners_of(step.columns))
        raise UnsupportedModelError(reason_of(call.name))
    kind, options = READABLE[call.name]
    operands = _both(trace, call) if kind in SEVERAL else [call.first.tensor]
    return OPERATIONS[kind](trace, *operands, **options(call))


def _both(trace: Trace, call: Call) -> list[Tensor]:
    """Return the two arguments as tensors without a batch."""
    values = [
        value.tensor if isinstance(value, Traced) else to_numpy(torch.as_tensor(value))
        for value in (call.option(0, "input"), call.option(1, "other"))
    ]
    ordered = values[::-1] if call.name == "rsub" else values
    return operands_of(trace, ordered, batch=BATCH)


# Rearranging entries -----------------------------------------------------------------


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


def _moved(
    trace: Trace, values: Sequence[Traced], rearrange: Callable[..., Any]
) -> Any:
    """Return the result of a step that only rearranges entries.

    `own` takes tensors and returns a tensor or several, and so does this.
    """
    dtype = values[0].dtype
    for value in values[1:]:
        dtype = torch.promote_types(dtype, value.dtype)
    trial = rearrange(*(value.stand_in.long() for value in values))
    is_one = isinstance(trial, torch.Tensor)

    def run(arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        result = rearrange(*(torch.from_numpy(array) for array in arrays))
        return [to_numpy(tensor) for tensor in ([result] if is_one else result)]

    tensors = tuple(value.tensor for value in values)
    moved_tensors = moved(trace, tensors, run, 1 if is_one else len(trial))
    results = tuple(Traced(tensor, dtype) for tensor in moved_tensors)
    return results[0] if is_one else results


def _join(trace: Trace, call: Call) -> Any:
    """Put tensors side by side, some of which may be constant."""
    tensors = call.option(0, "tensors")
    values = [v if isinstance(v, Traced) else constant(trace, v) for v in tensors]
    runs = {"cat": torch.cat, "hstack": torch.hstack, "stack": torch.stack}
    options = {} if call.name == "hstack" else {"dim": call.option(1, "dim", 0)}
    run = runs[call.name]
    return _moved(trace, values, lambda *rows: run(rows, **options))


def _item(trace: Trace, call: Call) -> Any:
    container, key = call.args
    if isinstance(container, Traced):
        if any(value is not container for value in call.traced):
            raise UnsupportedModelError("it selects entries by computed numbers")
        return _move(trace, call)
    return operator.getitem(container, key)


def _facts(_trace: Trace, call: Call) -> Any:
    """Return the shape of a tensor, or its type."""
    return call.run(call.first.stand_in)


def _nothing(_trace: Trace, _call: Call) -> None:
    """Skip a step that only checks."""


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

    [tensor] = take(trace, Step("cast", (value.tensor,), run, read))
    return Traced(tensor, dtype)


# Tables ------------------------------------------------------------------------------


def _embedding(trace: Trace, call: Call) -> Traced:
    if call.option(3, "max_norm") is not None:
        raise UnsupportedModelError(
            "an Embedding with max_norm changes its own weights when it runs; copy the "
            "final weights into one without max_norm"
        )
    weight = call.option(1, "weight")
    fixed(weight)
    return lookup(trace, call.first, weight, "the Embedding")


def _embedding_bag(trace: Trace, call: Call) -> Traced:
    mode, *others = call.args[2:]
    if len(call.args) != 5 or mode == "max" or any(o is not None for o in others):
        raise UnsupportedModelError(
            "nn2rules reads an EmbeddingBag with mode 'sum' or 'mean', without "
            "offsets, "
            "sample weights, padding and max_norm"
        )
    vectors = lookup(trace, call.first, call.args[1], "the EmbeddingBag")
    reduced = OPERATIONS[mode](trace, vectors.tensor, axes=1, keep=False)
    return Traced(reduced, vectors.dtype)


def _one_hot(trace: Trace, call: Call) -> Traced:
    number = call.option(1, "num_classes", -1)
    if not isinstance(number, int) or number < 1:
        raise UnsupportedModelError(
            "one_hot takes the number of classes from each batch; pass num_classes"
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
"""Steps that work on each entry alone."""

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
"""From steps that only PyTorch has to the functions that read them."""


_BY_NAME = {
    "layer_norm": (
        "it divides each unit by the spread of all units, which is not a weighted sum "
        "of the features; use BatchNorm1d, whose factors are fixed after training"
    ),
    "attention": (
        "attention multiplies numbers that all depend on the input; nn2rules reads "
        "weighted sums with fixed weights, so use Linear layers and ReLU"
    ),
    "conv": (
        "convolutions are for images and sequences; nn2rules reads networks for "
        "tabular data, so use Linear layers"
    ),
    "recurrent": (
        "recurrent layers are for sequences; nn2rules reads networks for tabular data, "
        "so use Linear layers"
    ),
    "pool": (
        "the maximum of several units is not a function of one unit; use Linear layers "
        "and activations"
    ),
    "bilinear": (
        "it multiplies two numbers that both depend on the input; nn2rules reads "
        "weighted sums with fixed weights"
    ),
    "other activation": (
        "nn2rules does not support this activation once features are combined; use "
        "ReLU, LeakyReLU, Tanh, Sigmoid, SiLU, GELU, ELU or Softplus"
    ),
}

_KINDS = {
    "attention": ("attention", "Attention", "Transformer"),
    "bilinear": ("bilinear", "Bilinear", "bmm", "einsum", "outer"),
    "conv": ("conv", "Conv"),
    "layer_norm": (
        *("layer_norm", "LayerNorm", "group_norm", "GroupNorm", "instance_norm"),
        *("InstanceNorm", "rms_norm", "RMSNorm", "normalize"),
    ),
    "other activation": (
        *("glu", "GLU", "hardshrink", "Hardshrink", "hardswish", "Hardswish", "mish"),
        *("Mish", "selu", "SELU", "softmin", "Softmin", "softshrink", "Softshrink"),
        *("softsign", "Softsign", "tanhshrink", "Tanhshrink", "threshold"),
        "Threshold",
    ),
    "pool": ("pool", "Pool", "max", "min", "topk", "sort"),
    "recurrent": ("LSTM", "lstm", "GRU", "gru", "RNN", "rnn"),
}


def reason_of(name: str) -> str:
    """Return why a step called `name` is refused.

    Examples
    --------
    >>> reason_of("Conv2d")
    'convolutions are for images and sequences; nn2rules reads networks for tabular
    data, so use Linear layers'
    """
    for kind, parts in _KINDS.items():
        if any(part in name for part in parts):
            return _BY_NAME[kind]
    return (
        f"nn2rules does not support the step {name!r} once features are combined; "
        f"leave it out, apply it to each feature before the first layer, or write it "
        f"with Linear layers and activations"
    )
