"""An ONNX graph as a list of steps, with its constants computed."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, inliner, numpy_helper

from nn2rules.errors import UnsupportedModelError
from nn2rules.models.onnx.running import most_entries, run_node, too_many

FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16)
_INTEGERS = (
    TensorProto.BOOL,
    *(TensorProto.INT8, TensorProto.INT16, TensorProto.INT32, TensorProto.INT64),
    *(TensorProto.UINT8, TensorProto.UINT16, TensorProto.UINT32, TensorProto.UINT64),
)
_OLDEST = 7
"""Before this opset, operators had other broadcasting rules."""

_MOST_MADE = 1 << 25
"""The most numbers in all computed constants, unless a model stores many."""

_PASSING = ("Identity", "Dropout", "Cast")
_SHRINKING = ("Compress", "NonZero", "Shape", "Size", "StringNormalizer", "Unique")
"""Operators whose result is not much larger than their inputs."""


@dataclass(frozen=True)
class Node:
    """A node of a graph, with its attributes as Python values."""

    op: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    proto: onnx.NodeProto

    @property
    def kind(self) -> str:
        """Its operator, with an article."""
        has_vowel = self.op[0] in "AEIU" and not self.op.startswith("Uni")
        return f"an {self.op}" if has_vowel else f"a {self.op}"

    def __str__(self) -> str:
        if self.name:
            return f"the ONNX node {self.name!r}"
        return f"the ONNX node for {self.outputs[0]!r}"


@dataclass(frozen=True)
class Input:
    """An input of a graph; `shape` is the shape of a row, None if it is not stated."""

    name: str
    kind: int
    shape: tuple[int | None, ...] | None
    batch: int | None

    @property
    def is_vector(self) -> bool:
        """Whether it has several numbers, and no axis for rows."""
        return self.shape == () and (self.batch or 1) > 1

    @property
    def width(self) -> int | None:
        """The number of entries for each row, if it is known."""
        if self.shape is None or None in self.shape:
            return None
        return int(np.prod([size or 1 for size in self.shape], dtype=np.int64))


@dataclass(frozen=True)
class Graph:
    """The steps of a model, in an order in which they can be run.

    `takes_one_row` says that the model itself takes a single row, as a vector. The
    steps are then those of the same model for many rows.
    """

    model: onnx.ModelProto
    steps: tuple[Node, ...]
    constants: Mapping[str, NDArray[Any]]
    inputs: tuple[Input, ...]
    producers: Mapping[str, Node] = field(repr=False)
    takes_one_row: bool = False

    @property
    def opset(self) -> int:
        """The version of ONNX's own operators."""
        versions = {item.domain: item.version for item in self.model.opset_import}
        return int(versions.get("", versions.get("ai.onnx", 1)))

    def source(self, name: str) -> str:
        """Return the tensor that `name` equals, before steps that change nothing."""
        while name in self.producers:
            step = self.producers[name]
            is_passing = step.op in _PASSING and step.outputs[0] == name
            if not is_passing or step.attributes.get("to", FLOATS[0]) not in FLOATS:
                break
            name = step.inputs[0]
        return name

    def number(self, name: str) -> float | None:
        """Return the number of a constant, if it has only one."""
        array = self.constants.get(name)
        if array is None or array.size != 1 or array.dtype.kind not in "fiu":
            return None
        return float(array.reshape(-1)[0])

    def needed(self, outputs: Iterable[str]) -> list[Node]:
        """Return the steps that tensors depend on, in order."""
        wanted, steps = set(outputs), []
        for step in reversed(self.steps):
            if wanted.intersection(step.outputs):
                wanted.update(step.inputs)
                steps.append(step)
        return steps[::-1]


def graph_of(model: onnx.ModelProto) -> Graph:
    """Return the graph of a model."""
    _refuse_old(model)
    if model.functions:
        model = inliner.inline_local_functions(model)
    constants = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    stored = sum(array.size for array in constants.values())
    left, steps = max(_MOST_MADE, 4 * stored), []
    needed = _needed(model.graph)
    for node in model.graph.node:
        step = _step(node)
        is_needed = any(name in needed for name in node.output)
        folded = _folded(model, step, constants, left) if is_needed else None
        if folded is None:
            steps.append(step)
        else:
            constants.update(folded)
            left -= sum(array.size for array in folded.values())
    inputs = [_input(i) for i in model.graph.input if i.name not in constants]
    takes_one_row = len(inputs) == 1 and inputs[0].is_vector
    if takes_one_row:
        [vector] = inputs
        steps = _steps_of_rows(vector.name, steps, constants)
        inputs = [replace(vector, shape=(vector.batch,), batch=None)]
    producers = {name: step for step in steps for name in step.outputs if name}
    return Graph(
        model, tuple(steps), constants, tuple(inputs), producers, takes_one_row
    )


_SAME_FOR_ROWS = frozenset(
    (
        *(
            "Add",
            "Cast",
            "Celu",
            "Clip",
            "Div",
            "Dropout",
            "Elu",
            "Gelu",
            "HardSigmoid",
        ),
        *("Identity", "LeakyRelu", "Mul", "Neg", "PRelu", "Relu", "Sigmoid", "Silu"),
        *("Softplus", "Sub", "Tanh"),
    )
)
"""Operators that treat every entry alone, so that they do the same to many rows."""


def _steps_of_rows(
    vector: str, steps: Sequence[Node], constants: dict[str, NDArray[Any]]
) -> list[Node]:
    """Return the steps of a model of one vector as steps of a matrix of rows.

    A matrix on the left becomes its transpose on the right; steps on every entry stay
    as they are. Transposed matrices are added to `constants`.
    """
    vectors, steps_of_rows = {vector}, []
    for step in steps:
        fixed = [n for n in step.inputs if n and n not in vectors]
        ranks = [constants[n].ndim if n in constants else None for n in fixed]
        is_product = step.op == "MatMul" and ranks == [2]
        if not is_product and (step.op not in _SAME_FOR_ROWS or not {0, 1} >= {*ranks}):
            raise _single_row(vector)
        vectors.update(step.outputs)
        if is_product and step.inputs[0] == fixed[0]:
            transposed = f"{fixed[0]} transposed"
            constants[transposed] = constants[fixed[0]].T
            inputs = [step.inputs[1], transposed]
            proto = helper.make_node("MatMul", inputs, step.outputs, name=step.name)
            steps_of_rows.append(_step(proto))
        else:
            steps_of_rows.append(step)
    if not any(step.op == "MatMul" for step in steps):
        raise _single_row(vector)  # its entries could be rows, too
    return steps_of_rows


def _needed(graph: onnx.GraphProto) -> set[str]:
    """Return the names of all tensors that the outputs of a graph need."""
    wanted = {output.name for output in graph.output}
    for node in reversed(graph.node):
        if wanted.intersection(node.output):
            wanted.update(node.input)
    return wanted


def _refuse_old(model: onnx.ModelProto) -> None:
    for item in model.opset_import:
        if item.domain in ("", "ai.onnx") and item.version < _OLDEST:
            raise UnsupportedModelError(
                f"the ONNX model has opset {item.version}; nn2rules reads opset "
                f"{_OLDEST} and later, so export it again"
            )


def _step(node: onnx.NodeProto) -> Node:
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    if node.op_type == "FeatureVectorizer":  # joins columns, as Concat does
        node = helper.make_node(
            "Concat", list(node.input), list(node.output), name=node.name, axis=1
        )
    is_standard = node.domain in ("", "ai.onnx", "ai.onnx.ml")
    return Node(
        node.op_type if is_standard else f"{node.domain}.{node.op_type}",
        node.name,
        tuple(node.input),
        tuple(node.output),
        attributes,
        node,
    )


def _folded(
    model: onnx.ModelProto,
    step: Node,
    constants: Mapping[str, NDArray[Any]],
    most: int,
) -> dict[str, NDArray[Any]] | None:
    """Return the results of a step on constants; None if it has other inputs.

    A step that would make more than `most` numbers is refused.
    """
    names = [name for name in step.inputs if name]
    if not all(name in constants for name in names) or step.op.startswith("Random"):
        return None
    if any(a.type == onnx.AttributeProto.GRAPH for a in step.proto.attribute):
        return None
    feeds = {name: constants[name] for name in names}
    n_entries = most_entries(model, step.proto, feeds)
    if n_entries is None and step.op not in _SHRINKING:
        return None  # the size of its result is unknown
    if n_entries is not None and n_entries > most:
        raise too_many(step.proto, n_entries, most)
    try:
        results = run_node(model, step.proto, feeds, reference=True)
    except UnsupportedModelError:
        raise
    except Exception:  # noqa: BLE001  a step may be anything
        return None
    return dict(zip([name for name in step.outputs if name], results, strict=True))


def _input(value: onnx.ValueInfoProto) -> Input:
    tensor = value.type.tensor_type
    kind = tensor.elem_type
    if kind not in (*FLOATS, *_INTEGERS, TensorProto.STRING):
        raise UnsupportedModelError(
            f"the ONNX model's input {value.name!r} is not a tensor of numbers or texts"
        )
    if not tensor.HasField("shape"):
        return Input(value.name, kind, None, None)
    sizes = [dim.dim_value or None for dim in tensor.shape.dim]
    if not sizes:
        raise _single_row(value.name)
    return Input(value.name, kind, tuple(sizes[1:]), sizes[0])


def _single_row(name: str) -> UnsupportedModelError:
    return UnsupportedModelError(
        f"the ONNX model's input {name!r} has no dimension for rows; export the model "
        f"with a batch of rows, whose first dimension is dynamic"
    )


_CLOSE = 1e-6
"""Constants are stored in float32, so they differ from the exact ones this much."""

_SOFTPLUS_IS_IDENTITY = 16.0
"""Above this, softplus and its argument are equal in float32."""

Found: TypeAlias = tuple[str, str] | None
"""The name of an activation, and its argument."""


def fused(graph: Graph) -> Graph:
    """Return a graph in which activations are single steps.

    These are x · sigmoid(x), which is SiLU; x / 2 · (1 + erf(x / √2)), which is Gelu;
    and softplus with a shortcut for large numbers.
    """
    steps = []
    for step in graph.steps:
        pattern = next((f for match in _MATCHES if (f := match(graph, step))), None)
        if pattern is None:
            steps.append(step)
        else:
            op, name = pattern
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

    `depth` is how many products within products are followed.
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
