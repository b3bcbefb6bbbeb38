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
"""Tells which inputs take a number for each row, instead of a row of one number."""

_LAYOUTS: tuple[Layout, ...] = (
    lambda each: each.port.kind == "integer",
    lambda _each: True,
    lambda _each: False,
)


_NO_TABLES = (_ConvNd, nn.RNNBase, nn.MultiheadAttention)
"""Modules that say that a model is for images or for series."""


def prepare(model: object) -> nn.Module | ExportedProgram:
    """Return the module that answers, refusing what cannot be read."""
    _refuse_global_hooks()
    if isinstance(model, ExportedProgram):
        return model
    if isinstance(model, torch.jit.ScriptModule):
        raise UnsupportedModelError(
            "the model is compiled by torch.jit, and its steps are no longer in sight; "
            "give the nn.Module that it was made from"
        )
    if not isinstance(model, nn.Module):
        raise UnsupportedModelError(
            f"a {type(model).__name__} is not a model; give the nn.Module"
        )
    while hasattr(model, "_orig_mod") or isinstance(model, nn.DataParallel):
        inner = model.module if isinstance(model, nn.DataParallel) else model._orig_mod
        assert isinstance(inner, nn.Module), "a wrapper holds a module"
        model = inner
    if model.training:
        raise UnsupportedModelError(
            "the model is in training mode, where dropout and batch normalisation "
            "answer at random; call model.eval() first"
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
"""Code that runs with a module's forward, and that no trace of its steps shows."""


def _refuse_global_hooks() -> None:
    """Refuse code around every module there is.

    Hooks of gradients change no answer, and those of registration have done their work.
    """
    for attribute, name in _HOOKS.items():
        if getattr(torch.nn.modules.module, f"_global{attribute}", None):
            raise UnsupportedModelError(
                f"PyTorch has {name} for all modules, whose code nn2rules cannot read; "
                f"remove it with the handle that register_module_{name.split()[-1]} "
                f"returned, or write its steps in the model's forward"
            )


def _refuse_hooks(path: str, module: nn.Module) -> None:
    """Refuse code around a module, except that which computes its weights."""
    for attribute, name in _HOOKS.items():
        for hook in getattr(module, attribute, {}).values():
            if isinstance(hook, WeightNorm | BasePruningMethod):
                continue  # they only compute weights
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
    """Return what the model knows of its columns: nothing; but `encode` may."""
    return known_of(encode)


def read(
    model: nn.Module | ExportedProgram, source: Source, how: ModelOptions
) -> Reading:
    """Return the network of a module, with the module's own answers."""
    program = _program(model, source)
    if not program.inputs:
        raise UnsupportedModelError("the model's forward takes no tensor")
    is_free = source.encode is None and len(program.inputs) > 1
    errors = []
    for layout in _LAYOUTS if is_free else _LAYOUTS[-1:]:
        feed = Feed(program, source, layout)
        try:
            return _read(program, feed, how)
        except UnsupportedModelError as error:
            errors.append(error)
    raise errors[0]


def _program(model: nn.Module | ExportedProgram, source: Source) -> Program:
    """Return the steps of a model; rows of the `source` serve as examples.

    ``torch.fx`` keeps submodules in sight, so it comes first. What it cannot follow,
    such as a test of a shape, is left to ``torch.export``.
    """
    if isinstance(model, ExportedProgram):
        return exported_program(model)
    try:
        root: nn.Module = copy.deepcopy(model)  # following a model runs its own code
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
    """Rows to what the model takes: the user's encoding, in the model's own formats."""

    program: Program
    source: Source
    layout: Layout

    def tensors(self, rows: Rows) -> list[torch.Tensor]:
        """Return a tensor for each input of the model."""
        inputs = self.program.inputs
        arrays = self.source.arrays([each.port for each in inputs])(rows)
        made = []
        for each, array in zip(inputs, arrays, strict=True):
            tensor = _as_tensor(each, array)
            is_column = tensor.ndim == 2 and tensor.shape[1] == 1
            has_one = each.ndim == 1 or (each.ndim is None and self.layout(each))
            made.append(tensor[:, 0] if is_column and has_one else tensor)
        return made

    def arrays(self, rows: Rows) -> list[NDArray[Any]]:
        """Return the same as arrays."""
        return [to_numpy(tensor) for tensor in self.tensors(rows)]

    def name(self, index: int, entry: int) -> str:
        """Return what an entry of an array is called in messages."""
        if len(self.program.inputs) == 1:
            return f"column {entry}"
        return f"column {entry} of {self.program.inputs[index].port.name!r}"


def _read(program: Program, feed: Feed, how: ModelOptions) -> Reading:
    trace = Trace(feed.source.domain, feed.source.ranges)
    tensors = probe(feed.arrays, feed.source.maker, names=feed.name)
    values = []
    for each, tensor in zip(program.inputs, tensors, strict=True):
        refuse_gaps(trace.domain, tensor, "fill the gaps in encode=")
        values.append(Traced(tensor, each.dtype))
    result, dtypes = follow(program, trace, values)
    unit = max(unit_of(dtype) for dtype in program.dtypes | dtypes)
    labels = labels_of(how.classes, result.tensor.shape)
    decision = decide(trace, result.tensor, labels, how, unit=unit)

    def outputs(rows: Rows) -> NDArray[Any]:
        with torch.no_grad():
            made = to_numpy(program.call(feed.tensors(rows)))
        return made.reshape(len(made), -1)

    origin = {"framework": "torch", "version": str(torch.__version__)}
    return Reading(decision, outputs, unit, origin, frozenset(trace.bent))


def _as_tensor(each: Input, array: NDArray[Any]) -> torch.Tensor:
    """Return an array in the format that the model takes."""
    try:
        tensor = torch.from_numpy(np.array(array))  # a copy, which may be written to
    except TypeError:
        try:
            tensor = torch.from_numpy(array.astype(np.float64))
        except (TypeError, ValueError):
            raise UnsupportedModelError(
                f"encode= gives texts for the model's input {each.port.name!r}, which "
                f"takes numbers"
            ) from None
    if each.port.kind == "integer" and tensor.dtype.is_floating_point:
        broken = tensor[tensor != tensor.round()]
        if len(broken):
            raise UnsupportedModelError(
                f"the model looks up its input {each.port.name!r} in an Embedding, "
                f"which takes whole numbers, not {float(broken[0]):g}"
            )
    return tensor.to(each.dtype)


def _refuse_tensor(name: str, tensor: torch.Tensor) -> None:
    if is_lazy(tensor):
        raise UnsupportedModelError(
            f"{name} has no shape yet; the model was never run, so train it first"
        )
    device = tensor.device.type
    if device == "meta":
        raise UnsupportedModelError(
            f"{name} is on the device 'meta', which holds no numbers; load the trained "
            f"weights into a model on the CPU (model.cpu())"
        )
    if device != "cpu":
        raise UnsupportedModelError(
            f"the model is on the device {device!r}; call model.cpu() first"
        )


def follow(
    program: Program, trace: Trace, inputs: Sequence[Traced]
) -> tuple[Traced, set[torch.dtype]]:
    """Go through the steps; return the output and the formats met on the way."""
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
                made = operate(trace, call) if call.traced else call.run()
            except UnsupportedModelError as error:
                place = place_of(node, modules)
                raise UnsupportedModelError(
                    f"{place}: {error}", feature=error.feature
                ) from None
            except (RuntimeError, IndexError, TypeError, ValueError) as error:
                raise UnsupportedModelError(
                    f"{place_of(node, modules)}: PyTorch refuses what reaches it "
                    f"({reason_in(error)})"
                ) from None
            _set(values, node, call, made)
            if isinstance(made, Traced) and made.dtype.is_floating_point:
                dtypes.add(made.dtype)
    raise UnsupportedModelError("the model returns nothing")


def _set(values: dict[Any, Any], node: Any, call: Call, made: Any) -> None:
    """Keep the result of a step; one in place changes what was there before."""
    if call.is_in_place and call.args and isinstance(call.args[0], Traced):
        for key, value in values.items():
            if value is call.args[0]:
                values[key] = made
    values[node] = made


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
            f"the model's forward returns a {kind}; nn2rules reads models that return "
            f"one tensor, so wrap it in a module that returns its scores only"
        )
    result = values.get(returned)
    if not isinstance(result, Traced):
        raise UnsupportedModelError("the model's output does not depend on its input")
    if max([*result.tensor.shape, 1]) != int(np.prod(result.tensor.shape)):
        raise UnsupportedModelError(
            f"the model's output for a row has the shape {result.tensor.shape}; "
            f"nn2rules reads one score, or one for each class"
        )
    return result
