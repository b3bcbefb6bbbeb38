"""What each step of a PyTorch model does to tensors that depend on the input."""

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from nn2rules.adapters.torch.activations import ACTIVATION_STEPS, activation, softmax
from nn2rules.adapters.torch.arithmetic import (
    add,
    addmm,
    batch_norm,
    divide,
    fixed,
    linear,
    matmul,
    multiply,
    negative,
    reduce,
    traced,
)
from nn2rules.adapters.torch.refusals import reason_of
from nn2rules.adapters.torch.steps import CASTS, Step
from nn2rules.adapters.torch.values import (
    Traced,
    columns_of,
    constant,
    lookup,
    moved,
    on_tables,
)
from nn2rules.adapters.tracing import Trace, owners_of
from nn2rules.errors import UnsupportedModelError

Operation = Callable[[Trace, Step], Any]


def operate(trace: Trace, step: Step) -> Any:
    """Return the result of a step some arguments of which depend on the input."""
    operation = OPERATIONS.get(step.name)
    if operation is not None:
        return operation(trace, step)
    are_tables = all(value.is_table for value in step.traced)
    if are_tables and len(owners_of(columns_of(step.traced))) <= 1:
        return on_tables(trace, step.traced, step.run, elementwise=False)
    raise UnsupportedModelError(reason_of(step.name))


# Picking and placing -----------------------------------------------------------------


def _keep(_trace: Trace, step: Step) -> Traced:
    return traced(step)


def _dropout(_trace: Trace, step: Step) -> Traced:
    if step.option(2, "training", step.kwargs.get("train", True)):
        raise UnsupportedModelError(
            "it drops units at random in training mode; call model.eval() first, or "
            "pass training=self.training"
        )
    return traced(step)


def _move(trace: Trace, step: Step) -> Any:
    return moved(trace, step.traced, step.run)


def _join(trace: Trace, step: Step) -> Any:
    """Put tensors side by side, some of which may be constant."""
    tensors = step.option(0, "tensors")
    values = [v if isinstance(v, Traced) else constant(trace, v) for v in tensors]
    runs = {"cat": torch.cat, "hstack": torch.hstack, "stack": torch.stack}
    options = {}
    if step.name != "hstack":
        axis = step.kwargs.get("axis", 0)
        options["dim"] = step.option(1, "dim", axis)
    run = runs[step.name]
    return moved(trace, values, lambda *rows: run(rows, **options))


def _item(trace: Trace, step: Step) -> Any:
    whole, key = step.args
    if isinstance(whole, Traced):
        if any(value is not whole for value in step.traced):
            raise UnsupportedModelError("it picks entries by numbers that are computed")
        return _move(trace, step)
    return operator.getitem(whole, key)


def _facts(_trace: Trace, step: Step) -> Any:
    """Return the shape of a tensor, or its type."""
    value = traced(step)
    stand_in = torch.zeros(value.shape, dtype=value.dtype)
    return step.run(stand_in)


def _nothing(_trace: Trace, _step: Step) -> None:
    """Pass over what only checks."""


def _attribute(trace: Trace, step: Step) -> Any:
    if step.args[1] in ("T", "mT", "data"):
        return _move(trace, step)
    return _facts(trace, step)


def _cast(trace: Trace, step: Step) -> Traced:
    value = traced(step)
    stand_ins = [torch.zeros(v.shape, dtype=v.dtype) for v in step.traced]
    dtype = step.run(*stand_ins).dtype
    if value.is_table and not value.kind:
        return on_tables(trace, [value], lambda rows: rows.to(dtype), elementwise=True)
    if not dtype.is_floating_point:
        raise UnsupportedModelError(
            "it rounds numbers that depend on several features to whole ones"
        )
    return replace(value, dtype=dtype)


# Tables ------------------------------------------------------------------------------


def _each(trace: Trace, step: Step) -> Traced:
    if not all(value.is_table for value in step.traced):
        raise UnsupportedModelError(reason_of(step.name))
    return on_tables(trace, step.traced, step.run_each, elementwise=True)


def _embedding(trace: Trace, step: Step) -> Traced:
    if step.option(3, "max_norm") is not None:
        raise UnsupportedModelError(
            "an Embedding with max_norm changes its own weights as it answers; put the "
            "shortened weights into one without max_norm"
        )
    weight = step.option(1, "weight")
    fixed(weight)
    return lookup(trace, traced(step), weight, "the Embedding")


def _embedding_bag(trace: Trace, step: Step) -> Traced:
    mode, *others = step.args[2:]
    if len(step.args) != 5 or mode == "max" or any(o is not None for o in others):
        raise UnsupportedModelError(
            "of EmbeddingBag, nn2rules reads mode 'sum' and 'mean', without offsets, "
            "weights of samples, padding and max_norm"
        )
    found = lookup(trace, traced(step), step.args[1], "the EmbeddingBag")
    return Traced(trace.total(found.tensor, [0], mean=mode == "mean"), found.dtype)


def _one_hot(trace: Trace, step: Step) -> Traced:
    number = step.option(1, "num_classes", -1)
    if not isinstance(number, int) or number < 1:
        raise UnsupportedModelError(
            "one_hot counts the classes in each batch anew; say num_classes"
        )
    matrix = torch.eye(number, dtype=torch.int64)
    return lookup(trace, traced(step), matrix, "one_hot")


_MOVES = """
atleast_2d broadcast_to chunk clone contiguous detach expand expand_as flatten
flip index_select lift_fresh_copy movedim moveaxis narrow permute ravel repeat
repeat_interleave reshape reshape_as roll select slice split split_with_sizes
squeeze swapaxes swapdims t tensor_split tile transpose unbind unflatten
unsafe_chunk unsafe_split unsqueeze view view_as
"""

_EACH = """
bitwise_and bitwise_not bitwise_or ceil cos eq erf exp expm1 floor floor_divide
floordiv fmod ge gt hardswish invert isfinite isinf isnan le log log10 log1p log2
logical_and logical_not logical_or lt masked_fill maximum minimum mish mod
nan_to_num ne pow reciprocal remainder round rsqrt selu sign sin softsign sqrt
square tanhshrink threshold trunc where xlogy
"""

OPERATIONS: dict[str, Operation] = {
    **dict.fromkeys(_MOVES.split(), _move),
    **dict.fromkeys(_EACH.split(), _each),
    **dict.fromkeys(ACTIVATION_STEPS, activation),
    **dict.fromkeys(("cat", "hstack", "stack"), _join),
    **dict.fromkeys(("softmax", "log_softmax"), softmax),
    **dict.fromkeys(("add", "sub", "rsub"), add),
    **dict.fromkeys(("sum", "mean"), reduce),
    **dict.fromkeys(("dim", "ndimension", "size", "sym_size"), _facts),
    **dict.fromkeys(CASTS, _cast),
    **dict.fromkeys(("batch_norm", "_native_batch_norm_legit_no_training"), batch_norm),
    "_assert_tensor_metadata": _nothing,
    "addmm": addmm,
    "div": divide,
    "dropout": _dropout,
    "embedding": _embedding,
    "EmbeddingBag": _embedding_bag,
    "getattr": _attribute,
    "getitem": _item,
    "identity": _keep,
    "linear": linear,
    "matmul": matmul,
    "mul": multiply,
    "neg": negative,
    "one_hot": _one_hot,
}
"""What is done at each step, by its name."""
