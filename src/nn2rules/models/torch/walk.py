"""Follow a PyTorch program from its inputs to its scores."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from nn2rules.errors import UnsupportedModelError
from nn2rules.models.torch.operations import operate
from nn2rules.models.torch.program import Program
from nn2rules.models.torch.steps import Call, call_of, place_of
from nn2rules.models.torch.values import Traced
from nn2rules.models.tracing import Trace, reason_in


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
