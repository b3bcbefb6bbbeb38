"""Follow an ONNX graph, step by step, from the columns of a domain to its scores.

A step whose inputs each depend on one feature is run as it is, on the values of that
feature, whatever operator it is. Steps that only pick and place numbers are run on the
places. What is left, steps on numbers in which features have met, must be one of
`LINEAR` or an activation.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.adapters.confirm import FLOAT32, FLOAT64
from nn2rules.adapters.onnx.graph import Graph, Step
from nn2rules.adapters.onnx.refusals import IMPUTE, unknown
from nn2rules.adapters.onnx.running import Arrays, in_batches, run_node
from nn2rules.adapters.onnx.values import run_on_values
from nn2rules.adapters.tracing import Columns, Tensor, Trace, refuse_gaps
from nn2rules.errors import UnsupportedModelError

_PASSING = ("Dropout", "Identity")
_STRUCTURAL = (
    *("ArrayFeatureExtractor", "Concat", "Expand", "Flatten", "Gather", "Reshape"),
    *("Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"),
)
_LAST = ("LinearClassifier", "LogSoftmax", "Softmax")
_SCORES = {"LinearClassifier": 1}
"""Which output of an operator holds its scores, if it is not the first."""

_MIXED_ROWS = "it mixes rows of a batch"

UNITS = {"float16": 2.0**-11, "float32": FLOAT32, "float64": FLOAT64}
"""The unit roundoff of each type that a model may compute in."""


@dataclass(frozen=True)
class Fixed:
    """An array without rows: the same for all, but it may depend on their number.

    Attributes
    ----------
    at : callable
        The number of rows to the array.
    varies : bool
        Whether it may depend on that number.
    """

    at: Callable[[int], NDArray[Any]]
    varies: bool = False

    @property
    def value(self) -> NDArray[Any]:
        """The array, whatever the number of rows."""
        found = self.at(2)
        if self.varies and not np.array_equal(found, self.at(3)):
            raise UnsupportedModelError("a number depends on how many rows there are")
        return found


Value: TypeAlias = Tensor | Fixed


@dataclass
class Walk:
    """A walk through a graph.

    Attributes
    ----------
    values : dict
        What the tensors are that were met so far, by their names.
    handlers : mapping
        The operators that can be read where features have met.
    batch : int or None
        How many rows the model takes, where it takes a fixed number.
    unit : float
        The coarsest unit roundoff that was met.
    """

    graph: Graph
    trace: Trace
    values: dict[str, Value]
    handlers: Mapping[str, "Handler"]
    batch: int | None = None
    unit: float = FLOAT64

    def tensor(self, name: str) -> Tensor:
        """Return a tensor of the graph, after the steps that it needs."""
        for constant, array in self.graph.constants.items():
            self.values[constant] = _stored(array)
        for step in self.graph.needed([name]):
            try:
                self.values.update(self._made(step))
            except UnsupportedModelError as error:
                if "the ONNX " in str(error):
                    raise
                raise UnsupportedModelError(
                    f"{step}, {step.kind}, cannot be read: {error}"
                ) from None
        found = self.get(name)
        if isinstance(found, Fixed):
            raise UnsupportedModelError(
                "the ONNX model's answer does not depend on its inputs"
            )
        return found

    # What handlers ask for -------------------------------------------------------

    def get(self, name: str) -> Value:
        """Return a tensor by its name."""
        if name not in self.values:
            raise UnsupportedModelError(f"it needs {name!r}, which cannot be read")
        return self.values[name]

    def value(self, step: Step, index: int) -> Value | None:
        """Return an input of a step; None where it is left out."""
        if index >= len(step.inputs) or not step.inputs[index]:
            return None
        return self.get(step.inputs[index])

    def tensors(self, step: Step) -> list[Tensor]:
        """Return the inputs of a step that depend on rows."""
        found = [self.get(name) for name in step.inputs if name]
        return [value for value in found if not isinstance(value, Fixed)]

    def weights(self, step: Step, index: int) -> NDArray[np.float64] | None:
        """Return an input that must be fixed numbers; None where it is left out."""
        value = self.value(step, index)
        if value is None:
            return None
        if not isinstance(value, Fixed):
            raise UnsupportedModelError(
                "its weights depend on the input; nn2rules reads fixed ones"
            )
        return self.floats(value.value)

    def floats(self, array: Any) -> NDArray[np.float64]:
        """Return numbers that the model computes with, and note their type."""
        numbers = np.asarray(array)
        name = numbers.dtype.name
        if name in UNITS:
            self.unit = max(self.unit, UNITS[name])
        elif numbers.dtype.kind not in "iub":
            raise UnsupportedModelError(f"it computes in {name}")
        return numbers.astype(np.float64)

    def row(self, value: Value, rank: int) -> Tensor:
        """Return a value as it meets the rows of a tensor of so many dimensions."""
        if not isinstance(value, Fixed):
            if len(value.shape) != rank:
                raise UnsupportedModelError(_MIXED_ROWS)
            return value
        n_rows = self.batch or 2
        array = value.at(n_rows)
        if array.ndim > rank:
            is_same = len(array) > 0 and (array == array[:1]).all()
            if array.ndim > rank + 1 or len(array) not in (1, n_rows) or not is_same:
                raise UnsupportedModelError(_MIXED_ROWS)
            array = array[0]
        if array.dtype.kind == "f":
            self.floats(array)
        return self.trace.constant(array)

    def run(
        self, step: Step, arrays: Mapping[str, NDArray[Any]], *, reference: bool = False
    ) -> Arrays:
        """Return what a step makes of arrays of rows, given by their names."""
        values = {name: self.get(name) for name in step.inputs if name}

        def run(*rows: NDArray[Any]) -> Arrays:
            feeds = dict(zip(arrays, rows, strict=True))
            for name, value in values.items():
                if isinstance(value, Fixed) and name not in feeds:
                    feeds[name] = value.at(len(rows[0]))
            return run_node(self.graph.model, step.node, feeds, reference=reference)

        return in_batches(run, list(arrays.values()), self.batch)

    # The kinds of steps ----------------------------------------------------------

    def _made(self, step: Step) -> dict[str, Value]:
        """Return the outputs of a step, by their names."""
        tensors = self.tensors(step)
        if step.op == "Shape" and tensors:
            return {step.outputs[0]: _shape(step, tensors[0])}
        if not tensors:
            return self._fixed(step)
        if step.op in _PASSING:
            return {step.outputs[0]: tensors[0]}
        if self._is_structural(step):
            return self._rearranged(step)
        is_node = step.inputs == tuple(step.node.input) and step.op not in _LAST
        if is_node and not any(t.ending for t in tensors):
            columns = [t for t in tensors if isinstance(t, Columns)]
            if len(columns) == len(tensors):
                found = run_on_values(self, step, columns)
                if found is not None:
                    return dict(found)
        handler = self.handlers.get(step.op)
        if handler is None:
            raise unknown(step, tensors, self.trace.domain)
        for tensor in tensors:
            refuse_gaps(self.trace.domain, tensor, IMPUTE)
        return {step.outputs[_SCORES.get(step.op, 0)]: handler(self, step)}

    def _fixed(self, step: Step) -> dict[str, Value]:
        """Return what a step makes of the number of rows."""
        names = [name for name in step.inputs if name]
        inputs = {name: self.get(name) for name in names}

        @cache
        def at(n_rows: int) -> Arrays:
            feeds = {n: v.at(n_rows) for n, v in inputs.items() if isinstance(v, Fixed)}
            return run_node(self.graph.model, step.node, feeds, reference=True)

        def picked(index: int, n_rows: int) -> NDArray[Any]:
            return at(n_rows)[index]

        outputs = [name for name in step.outputs if name]
        return {
            name: Fixed(partial(picked, index), varies=True)
            for index, name in enumerate(outputs)
        }

    def _is_structural(self, step: Step) -> bool:
        if step.op == "Concat":
            return True
        others = [self.value(step, index) for index in range(1, len(step.inputs))]
        is_first = not isinstance(self.value(step, 0), Fixed)
        is_fixed = all(value is None or isinstance(value, Fixed) for value in others)
        return step.op in _STRUCTURAL and is_first and is_fixed

    def _rearranged(self, step: Step) -> dict[str, Value]:
        """Run a step on places instead of numbers."""
        rank = max(len(tensor.shape) for tensor in self.tensors(step))
        inputs = step.inputs if step.op == "Concat" else step.inputs[:1]
        names = list(dict.fromkeys(inputs))
        tensors = [self.row(self.get(name), rank) for name in names]
        made: dict[str, Value] = {}
        for index, name in enumerate(step.outputs):

            def places(*rows: NDArray[np.int64], index: int = index) -> NDArray[Any]:
                feeds = dict(zip(names, rows, strict=True))
                return self.run(step, feeds, reference=True)[index]

            made[name] = self.trace.rearrange(tensors, places)
        return made


Handler: TypeAlias = Callable[[Walk, Step], Tensor]
"""Reads a step on numbers in which features have met."""


def first_input(walk: Walk, step: Step) -> Tensor:
    """Return the first input of a step, which must depend on rows."""
    value = walk.value(step, 0)
    if value is None or isinstance(value, Fixed):
        raise UnsupportedModelError("it computes with rows of the input as weights")
    return value


def _stored(array: NDArray[Any]) -> Fixed:
    return Fixed(lambda _n_rows: array)


def _shape(step: Step, tensor: Tensor) -> Fixed:
    start, end = step.attributes.get("start", 0), step.attributes.get("end")

    def at(n_rows: int) -> NDArray[Any]:
        return np.array((n_rows, *tensor.shape)[start:end], dtype=np.int64)

    return Fixed(at, varies=True)
