"""Read PyTorch modules, and programs exported from them."""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import fx, nn
from torch.export import ExportedProgram
from torch.nn.modules.conv import _ConvNd
from torch.nn.parameter import is_lazy
from torch.nn.utils.prune import BasePruningMethod
from torch.nn.utils.spectral_norm import SpectralNorm
from torch.nn.utils.weight_norm import WeightNorm

from nn2rules.errors import UnsupportedModelError
from nn2rules.models.confirm import Reading
from nn2rules.models.decision import decide
from nn2rules.models.features import labels_of
from nn2rules.models.options import ModelOptions
from nn2rules.models.probing import probe
from nn2rules.models.source import Source, known_of
from nn2rules.models.torch.operations import operate, reason_of
from nn2rules.models.torch.program import (
    Input,
    Program,
    export,
    exported_program,
    silence,
    traced_program,
)
from nn2rules.models.torch.steps import Call, call_of, place_of
from nn2rules.models.torch.values import Traced, to_numpy, unit_of
from nn2rules.models.tracing import Trace, reason_in, refuse_gaps
from nn2rules.space import Rows

Layout = Callable[[Input], bool]
"""Whether an input takes a number for each row, instead of a row of one number."""

_LAYOUTS: tuple[Layout, ...] = (
    lambda each: each.port.kind == "integer",
    lambda _each: True,
    lambda _each: False,
)


_NO_TABLES = (_ConvNd, nn.RNNBase, nn.MultiheadAttention)
"""Modules of models for images or sequences."""


def prepare(model: object) -> nn.Module | ExportedProgram:
    """Return the module itself, refusing one that cannot be read."""
    _refuse_global_hooks()
    if isinstance(model, ExportedProgram):
        return model
    if isinstance(model, torch.jit.ScriptModule):
        raise UnsupportedModelError(
            "the model is compiled by torch.jit, which hides its steps; pass the "
            "nn.Module that it was made from"
        )
    if not isinstance(model, nn.Module):
        raise UnsupportedModelError(
            f"{type(model).__name__} is not a model; pass the nn.Module"
        )
    while hasattr(model, "_orig_mod") or isinstance(model, nn.DataParallel):
        inner = model.module if isinstance(model, nn.DataParallel) else model._orig_mod
        assert isinstance(inner, nn.Module), "a wrapper holds a module"
        model = inner
    if model.training:
        raise UnsupportedModelError(
            "the model is in training mode, in which dropout and batch normalization "
            "are not deterministic; call model.eval() first"
        )
    for path, module in model.named_modules():
        if isinstance(module, _NO_TABLES):
            kind = type(module).__name__
            raise UnsupportedModelError(
                f"{path or 'the model'} ({kind}): {reason_of(kind)}"
            )
    for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
        _refuse_tensor(name, tensor)
    for path, module in model.named_modules():
        _refuse_hooks(path, module)
    return model


_HOOKS = {
    "_forward_pre_hooks": "a forward_pre_hook",
    "_forward_hooks": "a forward_hook",
}
"""Code that runs with a module's forward, but is not part of its steps."""


def _refuse_global_hooks() -> None:
    """Refuse hooks on all modules.

    Hooks on gradients do not change outputs, and hooks on registration ran before.
    """
    for attribute, name in _HOOKS.items():
        if getattr(torch.nn.modules.module, f"_global{attribute}", None):
            raise UnsupportedModelError(
                f"PyTorch has {name} on all modules, whose code nn2rules cannot read; "
                f"remove it with the handle that register_module_{name.split()[-1]} "
                f"returned, or write its steps in the model's forward"
            )


def _refuse_hooks(path: str, module: nn.Module) -> None:
    """Refuse hooks on a module, except those that compute its weights."""
    for attribute, name in _HOOKS.items():
        for hook in getattr(module, attribute, {}).values():
            if isinstance(hook, WeightNorm | BasePruningMethod):
                continue  # these only compute weights
            remedy = (
                f"remove it with the handle that register_{name.split()[-1]} "
                f"returned, or write its steps in forward"
            )
            if isinstance(hook, SpectralNorm):
                remedy = "call torch.nn.utils.remove_spectral_norm, which keeps weights"
            raise UnsupportedModelError(
                f"{path or 'the model'} ({type(module).__name__}) has {name}, whose "
                f"code nn2rules cannot read; {remedy}"
            )


def columns(_model: object, encode: object = None) -> Mapping[str, Any] | None:
    """Return what `encode` knows of the columns; the model itself knows nothing."""
    return known_of(encode)


def read(
    model: nn.Module | ExportedProgram, source: Source, options: ModelOptions
) -> Reading:
    """Return the network of a module, and how to run the module itself."""
    program = _program(model, source)
    if not program.inputs:
        raise UnsupportedModelError("the model's forward takes no tensor as input")
    is_free = source.encode is None and len(program.inputs) > 1
    errors = []
    for layout in _LAYOUTS if is_free else _LAYOUTS[-1:]:
        feed = Feed(program, source, layout)
        try:
            return _read(program, feed, options)
        except UnsupportedModelError as error:
            errors.append(error)
    raise errors[0]


def _program(model: nn.Module | ExportedProgram, source: Source) -> Program:
    """Return the steps of a model; rows of the `source` serve as examples.

    ``torch.fx`` keeps submodules visible, so it comes first. What it cannot trace, such
    as a test of a shape, is left to ``torch.export``.
    """
    if isinstance(model, ExportedProgram):
        return exported_program(model)
    try:
        root: nn.Module = copy.deepcopy(model)  # tracing a model runs its own code
    except Exception:  # noqa: BLE001  tensors in the middle of a computation, locks, …
        root = model
    try:
        with silence():
            graph = fx.Tracer().trace(root)
    except Exception as error:  # noqa: BLE001  the model's own code may raise anything
        return export(model, root, source, error)
    return traced_program(model, root, graph)


@dataclass(frozen=True)
class Feed:
    """From rows to the model's input: the user's encoding in the model's formats."""

    program: Program
    source: Source
    layout: Layout

    def tensors(self, rows: Rows) -> list[torch.Tensor]:
        """Return a tensor for each input of the model."""
        inputs = self.program.inputs
        arrays = self.source.arrays([each.port for each in inputs])(rows)
        tensors = []
        for each, array in zip(inputs, arrays, strict=True):
            tensor = _as_tensor(each, array)
            is_column = tensor.ndim == 2 and tensor.shape[1] == 1
            has_one = each.ndim == 1 or (each.ndim is None and self.layout(each))
            tensors.append(tensor[:, 0] if is_column and has_one else tensor)
        return tensors

    def arrays(self, rows: Rows) -> list[NDArray[Any]]:
        """Return the same tensors as arrays."""
        return [to_numpy(tensor) for tensor in self.tensors(rows)]

    def name(self, index: int, entry: int) -> str:
        """Return the name of an entry of an array, for messages."""
        if len(self.program.inputs) == 1:
            return f"column {entry}"
        return f"column {entry} of {self.program.inputs[index].port.name!r}"


def _read(program: Program, feed: Feed, options: ModelOptions) -> Reading:
    trace = Trace(feed.source.domain, feed.source.ranges)
    tensors = probe(feed.arrays, feed.source.maker, names=feed.name)
    values = []
    for each, tensor in zip(program.inputs, tensors, strict=True):
        refuse_gaps(trace.domain, tensor, "fill them in encode=")
        values.append(Traced(tensor, each.dtype))
    result, dtypes = follow(program, trace, values)
    unit = max(unit_of(dtype) for dtype in program.dtypes | dtypes)
    labels = labels_of(options.classes, result.tensor.shape)
    decision = decide(trace, result.tensor, labels, options, unit=unit)

    def outputs(rows: Rows) -> NDArray[Any]:
        with torch.no_grad():
            array = to_numpy(program.call(feed.tensors(rows)))
        return array.reshape(len(array), -1)

    origin = {"framework": "torch", "version": str(torch.__version__)}
    return Reading(decision, outputs, unit, origin, frozenset(trace.nonlinear))


def _as_tensor(each: Input, array: NDArray[Any]) -> torch.Tensor:
    """Return an array in the format that the model takes."""
    try:
        tensor = torch.from_numpy(np.array(array))  # a copy, which may be written to
    except TypeError:
        try:
            tensor = torch.from_numpy(array.astype(np.float64))
        except (TypeError, ValueError):
            raise UnsupportedModelError(
                f"the model's input {each.port.name!r} takes numbers, but encode= "
                f"returns text"
            ) from None
    if each.port.kind == "integer" and tensor.dtype.is_floating_point:
        broken = tensor[tensor != tensor.round()]
        if len(broken):
            raise UnsupportedModelError(
                f"the model looks up its input {each.port.name!r} in an Embedding, "
                f"which takes integers, not {float(broken[0]):g}"
            )
    return tensor.to(each.dtype)


def _refuse_tensor(name: str, tensor: torch.Tensor) -> None:
    if is_lazy(tensor):
        raise UnsupportedModelError(
            f"{name} has no shape yet, because the model was never run; train it first"
        )
    device = tensor.device.type
    if device == "meta":
        raise UnsupportedModelError(
            f"{name} is on the device 'meta', which stores no numbers; load the "
            f"trained weights into a model on the CPU"
        )
    if device != "cpu":
        raise UnsupportedModelError(
            f"the model is on the device {device!r}; call model.cpu() first"
        )


def follow(
    program: Program, trace: Trace, inputs: Sequence[Traced]
) -> tuple[Traced, set[torch.dtype]]:
    """Trace the steps; return the output and the formats on the way."""
    values: dict[Any, Any] = dict(program.constants)
    for each, tensor in zip(program.inputs, inputs, strict=True):
        if each.key is None:
            values[each.node] = tensor
        else:
            values.setdefault(each.node, {})[each.key] = tensor
    modules, dtypes = program.modules, set[torch.dtype]()
    for node in program.graph.nodes:
        if node.op == "output":
            return _output(node.args[0], values), dtypes
        if node.op == "get_attr":
            values[node] = _attribute(program.root, str(node.target))
        elif node.op != "placeholder":
            try:
                call = call_of(node, values, modules)
                result = operate(trace, call) if call.traced else call.run()
            except UnsupportedModelError as error:
                place = place_of(node, modules)
                raise UnsupportedModelError(
                    f"{place}: {error}", feature=error.feature
                ) from None
            except (RuntimeError, IndexError, TypeError, ValueError) as error:
                raise UnsupportedModelError(
                    f"{place_of(node, modules)}: PyTorch does not accept its input "
                    f"({reason_in(error)})"
                ) from None
            _set(values, node, call, result)
            if isinstance(result, Traced) and result.dtype.is_floating_point:
                dtypes.add(result.dtype)
    raise UnsupportedModelError("the model returns nothing")


def _set(values: dict[Any, Any], node: Any, call: Call, result: Any) -> None:
    """Store the result of a step; an in-place step changes its input, too."""
    if call.is_in_place and call.args and isinstance(call.args[0], Traced):
        for key, value in values.items():
            if value is call.args[0]:
                values[key] = result
    values[node] = result


def _attribute(root: nn.Module | None, path: str) -> Any:
    value: Any = root
    for name in path.split("."):
        value = getattr(value, name)
    return value


def _output(returned: Any, values: Mapping[Any, Any]) -> Traced:
    if isinstance(returned, tuple) and len(returned) == 1:  # as exported programs do
        [returned] = returned
    if isinstance(returned, Mapping | list | tuple):
        kind = "dict" if isinstance(returned, Mapping) else type(returned).__name__
        kind = kind if kind in ("dict", "tuple") else "list"
        raise UnsupportedModelError(
            f"the model's forward returns a {kind}; wrap the model in a module that "
            f"returns one tensor with its scores"
        )
    result = values.get(returned)
    if not isinstance(result, Traced):
        raise UnsupportedModelError("the model's output does not depend on its input")
    if max([*result.tensor.shape, 1]) != int(np.prod(result.tensor.shape)):
        raise UnsupportedModelError(
            f"the model's output for a row has the shape {result.tensor.shape}; a "
            f"classifier returns one score, or one for each class"
        )
    return result
