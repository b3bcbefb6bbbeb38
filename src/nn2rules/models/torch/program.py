"""The steps of a PyTorch model as a graph, by ``torch.fx`` or by ``torch.export``."""

import inspect
import io
import logging
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import fx, nn
from torch.export import Dim, ExportedProgram
from torch.utils import _pytree as pytree

from nn2rules.errors import Nn2RulesError, UnsupportedModelError
from nn2rules.models.source import Port, Source
from nn2rules.models.torch.steps import CASTS, name_of
from nn2rules.models.tracing import reason_in


@dataclass(frozen=True)
class Input:
    """A tensor that the model takes.

    Attributes
    ----------
    port : Port
    dtype : torch.dtype
    node : fx.Node
        The placeholder of the graph.
    key : str or None
        The key of the tensor, if the placeholder is a dict.
    ndim : int or None
        The number of axes with the batch, if that is known.
    """

    port: Port
    dtype: torch.dtype
    node: fx.Node
    key: str | None = None
    ndim: int | None = None


@dataclass(frozen=True)
class Program:
    """A model that can be traced step by step.

    Attributes
    ----------
    graph : fx.Graph
    inputs : tuple of Input
    constants : mapping from placeholders to their constant values
    root : nn.Module or None
        The module with the submodules and attributes that nodes name.
    call : callable
        The model itself, as a function of a tensor for each of `inputs`.
    dtypes : frozenset of torch.dtype
        The formats of its floating-point numbers.
    """

    graph: fx.Graph
    inputs: tuple[Input, ...]
    constants: Mapping[fx.Node, Any]
    root: nn.Module | None
    call: Callable[[Sequence[torch.Tensor]], Any]
    dtypes: frozenset[torch.dtype]

    @property
    def modules(self) -> dict[str, nn.Module]:
        """The modules that nodes name, by path."""
        return {} if self.root is None else dict(self.root.named_modules())


@contextmanager
def silence() -> Iterator[None]:
    """Suppress PyTorch's output while it tries; nn2rules reports its errors."""
    disabled = logging.root.manager.disable
    quiet = io.StringIO()
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), redirect_stderr(quiet), redirect_stdout(quiet):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)


def float_dtype(model: nn.Module) -> torch.dtype:
    """Return the format of a model, which is that of its first parameter."""
    for tensor in tensors_of(model):
        if tensor.dtype.is_floating_point:
            return tensor.dtype
    return torch.get_default_dtype()


def tensors_of(model: nn.Module) -> Iterator[torch.Tensor]:
    """Yield the parameters and the buffers of a module."""
    yield from model.parameters()
    yield from model.buffers()


def float_dtypes(tensors: Iterable[torch.Tensor]) -> frozenset[torch.dtype]:
    """Return the formats of floating-point numbers among some tensors."""
    return frozenset(t.dtype for t in tensors if t.dtype.is_floating_point)


def traced_program(model: nn.Module, root: nn.Module, graph: fx.Graph) -> Program:
    """Return a module as a program.

    Parameters
    ----------
    model : nn.Module
        The user's module, which is run.
    root : nn.Module
        This module, or a copy of it, whose graph is `graph`.
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
    """Return the keys that are used of an input that is a dict of tensors."""
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
    """Return the width of the layer, or the lookup table, that an input goes to."""
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
    """Return the number of inputs of a sum."""
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


def export(
    model: nn.Module, root: nn.Module, source: Source, reason: Exception
) -> Program:
    """Trace a model that can only be traced with an example."""
    dtype = float_dtype(model)
    for ports in _likely_ports(root):
        encode = source.arrays(ports)
        codes = np.stack([np.arange(3) % size for size in source.domain.sizes], axis=1)
        arrays = encode(source.maker.rows(codes))
        for as_floats in (False, True):
            example = tuple(_example(a, dtype, as_floats=as_floats) for a in arrays)
            shapes = tuple({0: Dim.DYNAMIC} for _ in example)
            try:
                with silence():
                    program = torch.export.export(root, example, dynamic_shapes=shapes)
            except Nn2RulesError:
                raise
            except Exception:  # noqa: BLE001  try the next kind of example
                continue
            exported = exported_program(program)
            dtypes = exported.dtypes | {dtype}
            return replace(
                exported, call=lambda tensors: model(*tensors), dtypes=dtypes
            )
    raise UnsupportedModelError(
        f"the steps of the model's forward depend on its input ({reason_in(reason)}); "
        f"nn2rules reads models with the same steps for every input"
    ) from None


def _likely_ports(model: nn.Module) -> Iterator[list[Port]]:
    names = [
        name
        for name, parameter in inspect.signature(model.forward).parameters.items()
        if parameter.default is parameter.empty
    ]
    kinds = [type(module) for module in model.modules()]
    if nn.Embedding in kinds or nn.EmbeddingBag in kinds:
        yield [Port(name, None, "integer") for name in names]
    else:
        linear = [m.in_features for m in model.modules() if isinstance(m, nn.Linear)]
        width = linear[0] if linear and len(names) == 1 else None
        yield [Port(name, width) for name in names]


def _example(array: Any, dtype: torch.dtype, *, as_floats: bool) -> torch.Tensor:
    tensor = torch.from_numpy(np.array(array))
    if as_floats or tensor.dtype.is_floating_point:
        return tensor.to(dtype)
    return tensor.to(torch.int64)


def exported_program(program: ExportedProgram) -> Program:
    """Return an exported program as one that can be traced."""
    signature = program.graph_signature
    constants: dict[fx.Node, Any] = {}
    inputs = []
    kept = {**program.state_dict, **program.constants}
    lifted = {
        **signature.inputs_to_parameters,
        **signature.inputs_to_buffers,
        **signature.inputs_to_lifted_tensor_constants,
    }
    for node in program.graph.find_nodes(op="placeholder"):
        if node.name in lifted:
            constants[node] = kept[lifted[node.name]]
        elif node.name in signature.user_inputs:
            inputs.append(_exported_input(node))
        else:
            raise UnsupportedModelError(
                f"the exported program has an unexpected input {node.name!r}"
            )
    spec, module = program.call_spec.in_spec, program.module()

    def call(tensors: Sequence[torch.Tensor]) -> Any:
        args, kwargs = pytree.tree_unflatten(list(tensors), spec)
        return module(*args, **kwargs)

    tensors = [c for c in constants.values() if isinstance(c, torch.Tensor)]
    dtypes = float_dtypes(tensors) | {
        each.dtype for each in inputs if each.dtype.is_floating_point
    }
    dtypes = dtypes or frozenset({torch.get_default_dtype()})
    return Program(program.graph, tuple(inputs), constants, None, call, dtypes)


def _exported_input(node: fx.Node) -> Input:
    example = node.meta["val"]
    if not isinstance(example, torch.Tensor):
        raise UnsupportedModelError(f"the model's input {node.name!r} is not a tensor")
    if example.ndim == 0 or isinstance(example.shape[0], int):
        raise UnsupportedModelError(
            "the model was exported for a fixed number of rows; export it for any "
            "number of rows, with dynamic_shapes=({0: torch.export.Dim.DYNAMIC},)"
        )
    width = int(example.shape[1]) if example.ndim == 2 else None
    kind: Any = "float" if example.dtype.is_floating_point else "integer"
    return Input(Port(node.name, width, kind), example.dtype, node, ndim=example.ndim)
