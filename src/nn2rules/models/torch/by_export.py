"""Programs of ``torch.export``, and modules that only it can follow."""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import fx, nn
from torch.export import Dim, ExportedProgram
from torch.utils import _pytree as pytree

from nn2rules.errors import Nn2RulesError, UnsupportedModelError
from nn2rules.models.source import Port, Source
from nn2rules.models.torch.program import (
    Input,
    Program,
    float_dtype,
    float_dtypes,
    silence,
)
from nn2rules.models.tracing import reason_in


def export(
    model: nn.Module, root: nn.Module, source: Source, reason: Exception
) -> Program:
    """Follow a model with an example, since it cannot be followed without."""
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
            made = exported_program(program)
            dtypes = made.dtypes | {dtype}
            return replace(made, call=lambda tensors: model(*tensors), dtypes=dtypes)
    raise UnsupportedModelError(
        f"the steps of the model's forward cannot be told beforehand "
        f"({reason_in(reason)}); nn2rules reads models that do the same to every "
        f"input, so replace decisions that depend on its numbers"
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
    """Return an exported program as one that can be followed."""
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
            raise UnsupportedModelError(f"the exported program takes {node.name!r}")
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
            "the model was exported for a fixed number of rows at a time; export it "
            "for any number of rows, with dynamic_shapes="
            "({0: torch.export.Dim.DYNAMIC},)"
        )
    width = int(example.shape[1]) if example.ndim == 2 else None
    kind: Any = "float" if example.dtype.is_floating_point else "integer"
    return Input(Port(node.name, width, kind), example.dtype, node, ndim=example.ndim)
