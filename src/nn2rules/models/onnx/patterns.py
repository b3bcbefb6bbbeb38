"""Find activations that exporters write as several nodes, and make one step of them."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from nn2rules.models.onnx.graph import Graph, Node

_CLOSE = 1e-6
"""Constants are stored in float32: so far may they lie from what is meant."""

_SOFTPLUS_IS_IDENTITY = 16.0
"""From here on softplus differs from its argument by less than a float32 can tell."""

Found: TypeAlias = tuple[str, str] | None
"""The name of an activation, and the tensor that it is applied to."""


def fused(graph: Graph) -> Graph:
    """Return a graph in which activations are single steps.

    These are x · sigmoid(x), or SiLU; x / 2 · (1 + erf(x / √2)), or Gelu; and softplus
    with a shortcut for large numbers.
    """
    steps = []
    for step in graph.steps:
        found = next((f for match in _MATCHES if (f := match(graph, step))), None)
        if found is None:
            steps.append(step)
        else:
            op, name = found
            steps.append(replace(step, op=op, inputs=(name,), attributes={}))
    producers = {name: step for step in steps for name in step.outputs if name}
    return replace(graph, steps=tuple(steps), producers=producers)


def _silu(graph: Graph, step: Node) -> Found:
    if step.op != "Mul":
        return None
    for x, other in (step.inputs, step.inputs[::-1]):
        gate = _made_by(graph, other, "Sigmoid")
        if gate and graph.source(gate.inputs[0]) == graph.source(x):
            return "Silu", x
    return None


def _gelu(graph: Graph, step: Node) -> Found:
    factor, names = _factors(graph, step.outputs[0])
    if len(names) != 2 or not _is_close(factor, 0.5):
        return None
    for x, other in (names, names[::-1]):
        plus = _made_by(graph, other, "Add")
        if plus is None:
            continue
        for one, part in (plus.inputs, plus.inputs[::-1]):
            erf = _made_by(graph, part, "Erf")
            if erf is None or graph.number(one) != 1.0:
                continue
            scale, inner = _factors(graph, graph.source(erf.inputs[0]))
            if inner == [x] and _is_close(scale, math.sqrt(0.5)):
                return "Gelu", x
    return None


def _softplus(graph: Graph, step: Node) -> Found:
    if step.op != "Where":
        return None
    condition, large, small = step.inputs
    test = _made_by(graph, condition, "Greater")
    plus = _made_by(graph, small, "Softplus")
    if test is None or plus is None:
        return None
    limit = graph.number(test.inputs[1])
    sources = {graph.source(n) for n in (large, test.inputs[0], plus.inputs[0])}
    if len(sources) > 1 or limit is None or limit < _SOFTPLUS_IS_IDENTITY:
        return None
    return "Softplus", large


_MATCHES: tuple[Callable[[Graph, Node], Found], ...] = (_silu, _gelu, _softplus)


def _made_by(graph: Graph, name: str, op: str) -> Node | None:
    step = graph.producers.get(graph.source(name))
    return step if step is not None and step.op == op else None


def _factors(graph: Graph, name: str, depth: int = 4) -> tuple[float, list[str]]:
    """Return a tensor as a product: a number, and the tensors that are multiplied.

    Products of products are looked into so many times.
    """
    step = graph.producers.get(name)
    if step is None or step.op not in ("Mul", "Div") or depth == 0:
        return 1.0, [name]
    left, right = step.inputs
    number = graph.number(right)
    if step.op == "Div":
        if not number:
            return 1.0, [name]
        factor, names = _factors(graph, graph.source(left), depth - 1)
        return factor / number, names
    for constant, other in ((left, right), (right, left)):
        number = graph.number(constant)
        if number is not None:
            factor, names = _factors(graph, graph.source(other), depth - 1)
            return factor * number, names
    sides = [_factors(graph, graph.source(n), depth - 1) for n in step.inputs]
    return sides[0][0] * sides[1][0], sides[0][1] + sides[1][1]


def _is_close(number: float, expected: float) -> bool:
    return math.isclose(number, expected, rel_tol=_CLOSE)
