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
    """Return an option as it is, and tensors as arrays; no input may decide it."""
    if isinstance(value, Traced):
        raise UnsupportedModelError(FIXED)
    return to_numpy(value) if isinstance(value, torch.Tensor) else value


def _at(**places: tuple[int, str, Any]) -> Options:
    """Find options by their positions, their names and their defaults."""
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
        raise UnsupportedModelError("in training mode its slopes are random")
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
    if axis is None:  # as PyTorch guesses
        axis = 1 if len(call.first.shape) == 2 else 0
    return {"axis": axis}


def _linear(call: Call) -> dict[str, Any]:
    weight = fixed(call.option(1, "weight"))
    return {"weights": weight.T, "bias": fixed(call.option(2, "bias"))}


def _addmm(call: Call) -> dict[str, Any]:
    if any(call.kwargs.get(name, 1) != 1 for name in ("alpha", "beta")):
        raise UnsupportedModelError("it scales by alpha or beta; multiply instead")
    weight = fixed(call.option(2, "mat2"))
    return {"weights": weight, "bias": fixed(call.args[0])}


def _divide(call: Call) -> dict[str, Any]:
    if call.kwargs.get("rounding_mode") is not None:
        raise UnsupportedModelError("it rounds a quotient in which features have met")
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
"""For each step that networks can hold: its operation, and how to find its options."""


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


_BY_NAME = {
    "layer_norm": (
        "each unit is divided by the spread of all units, so it is no longer a sum of "
        "the features; use BatchNorm1d, whose factors are fixed once it is trained"
    ),
    "attention": (
        "attention multiplies numbers that all depend on the input; nn2rules reads "
        "sums of inputs with fixed weights, so use Linear layers and ReLU"
    ),
    "conv": (
        "convolutions are for images and sequences; nn2rules reads networks on tables, "
        "so use Linear"
    ),
    "recurrent": (
        "recurrent layers multiply numbers that all depend on the input; nn2rules "
        "reads networks on tables, so use Linear layers"
    ),
    "pool": (
        "the largest of several units is not an activation of one; nn2rules reads "
        "networks on tables, so use Linear"
    ),
    "bilinear": (
        "it multiplies two numbers that both depend on the input; nn2rules reads sums "
        "of inputs with fixed weights"
    ),
    "other activation": (
        "nn2rules does not know this activation of numbers that depend on several "
        "features; use ReLU, LeakyReLU, Tanh, Sigmoid, SiLU, GELU, ELU or Softplus"
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
    'convolutions are for images and sequences; nn2rules reads networks on tables, so
    use Linear'
    """
    for kind, parts in _KINDS.items():
        if any(part in name for part in parts):
            return _BY_NAME[kind]
    return (
        f"nn2rules does not know the step {name!r} of numbers that depend on several "
        f"features; leave it out, do it to each feature before the first layer, or "
        f"write it with Linear layers and activations"
    )
