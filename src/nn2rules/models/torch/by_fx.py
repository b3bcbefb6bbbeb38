"""PyTorch modules that ``torch.fx`` can follow: most of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import fx, nn

from nn2rules.errors import UnsupportedModelError
from nn2rules.models.source import Port
from nn2rules.models.torch.program import (
    Input,
    Program,
    float_dtype,
    float_dtypes,
    tensors_of,
)
from nn2rules.models.torch.steps import CASTS, name_of


def traced_program(model: nn.Module, root: nn.Module, graph: fx.Graph) -> Program:
    """Return a module as a program.

    Parameters
    ----------
    model : nn.Module
        That of the user, which answers.
    root : nn.Module
        It, or a copy of it, whose graph is given.
    graph : fx.Graph
    """
    modules, dtype = dict(root.named_modules()), float_dtype(model)
    inputs: list[Input] = []
    constants: dict[fx.Node, Any] = {}
    for node in graph.find_nodes(op="placeholder"):
        if str(node.target).startswith("*"):
            raise UnsupportedModelError(
                f"the model's forward takes {node.target}; give its inputs names"
            )
        if node.args:
            constants[node] = node.args[0]
            continue
        keys: list[str | None] = [*_keys(node)] or [None]
        for key in keys:
            starts = [node] if key is None else _users_of_key(node, key)
            port = _port(key or str(node.target), starts, modules)
            kind = torch.int64 if port.kind == "integer" else dtype
            inputs.append(Input(port, kind, node, key))

    def call(tensors: Sequence[torch.Tensor]) -> Any:
        named: dict[str, Any] = {}
        for each, tensor in zip(inputs, tensors, strict=True):
            if each.key is None:
                named[str(each.node.target)] = tensor
            else:
                named.setdefault(str(each.node.target), {})[each.key] = tensor
        return model(**named)

    dtypes = float_dtypes(tensors_of(model)) | {dtype}
    return Program(graph, tuple(inputs), constants, root, call, dtypes)


def _keys(node: fx.Node) -> list[str]:
    """Return the keys that are taken from an input that is a dict of tensors."""
    keys = [
        user.args[1]
        for user in node.users
        if user.op == "call_function" and name_of(user, {})[0] == "getitem"
    ]
    is_dict = bool(keys) and all(isinstance(key, str) for key in keys)
    return list(dict.fromkeys(map(str, keys))) if is_dict else []


def _users_of_key(node: fx.Node, key: str) -> list[fx.Node]:
    return [user for user in node.users if user.args[1:2] == (key,)]


_SAME_WIDTH = (
    *CASTS,
    "batch_norm",
    "clone",
    "contiguous",
    "dropout",
    "flatten",
    "identity",
    "relu",
    "sigmoid",
    "tanh",
)


def _port(
    name: str, starts: Sequence[fx.Node], modules: Mapping[str, nn.Module]
) -> Port:
    """Return what an input feeds: a layer of a width, or a table of whole numbers."""
    width: int | None = None
    is_integer = False
    queue, seen = [(start, True, False) for start in starts], set(starts)
    while queue:
        node, is_whole, is_cast = queue.pop(0)
        for user in node.users:
            if user.op not in ("call_module", "call_function", "call_method"):
                continue
            step, extra = name_of(user, modules)
            if step in ("embedding", "EmbeddingBag", "one_hot"):
                is_integer |= not is_cast
                continue
            if step in ("linear", "matmul"):
                if is_whole and width is None:
                    width = _n_inputs(step, user, extra, modules)
                continue
            if step == "batch_norm" and extra and is_whole and width is None:
                width = int(extra[0].shape[0]) if extra[0] is not None else None
            if user not in seen:
                seen.add(user)
                same = step in _SAME_WIDTH
                queue.append((user, is_whole and same, is_cast or step in CASTS))
    return Port(name, width, "integer" if is_integer else "float")


def _n_inputs(
    step: str, node: fx.Node, extra: Sequence[Any], modules: Mapping[str, nn.Module]
) -> int | None:
    """Return how many numbers a sum takes for each row."""
    weight: Any = extra[0] if extra else None
    if weight is None and len(node.args) > 1:
        argument = node.args[1]
        if isinstance(argument, fx.Node) and argument.op == "get_attr":
            weight = modules[""]
            for part in str(argument.target).split("."):
                weight = getattr(weight, part)
    if weight is None or weight.ndim != 2:
        return None
    return int(weight.shape[1 if step == "linear" else 0])
