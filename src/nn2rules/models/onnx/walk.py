"""The tensors of an ONNX graph that are known so far."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import UnsupportedModelError
from nn2rules.models.onnx.graph import Graph, Node
from nn2rules.models.onnx.running import Arrays, in_batches, run_node
from nn2rules.models.tracing import FIXED, FLOAT64, UNITS, Tensor, Trace, operands_of

_MOST_KEPT = 1 << 25


@dataclass(frozen=True)
class Fixed:
    """An array that is the same for all rows, but may depend on their number.

    Attributes
    ----------
    at : callable
        From the number of rows to the array.
    varies : bool
        Whether it can depend on that number.
    """

    at: Callable[[int], NDArray[Any]]
    varies: bool = False

    @property
    def value(self) -> NDArray[Any]:
        """The array, if it is the same for every number of rows."""
        array = self.at(2)
        if self.varies and not np.array_equal(array, self.at(3)):
            raise UnsupportedModelError(
                "one of its numbers depends on the number of rows"
            )
        return array


Value: TypeAlias = Tensor | Fixed


@dataclass
class Walk:
    """A walk through a graph.

    Attributes
    ----------
    values : dict
        The tensors so far, by name.
    batch : int or None
        The number of rows that the model takes, if it is fixed.
    unit : float
        The coarsest unit roundoff so far.
    n_kept : int
        The count of stored numbers that depend only on the number of rows.
    """

    graph: Graph
    trace: Trace
    values: dict[str, Value]
    batch: int | None = None
    unit: float = FLOAT64
    n_kept: int = 0

    def keep(self, arrays: Arrays) -> None:
        """Count stored numbers; refuse a model that needs too many."""
        self.n_kept += sum(array.size for array in arrays)
        if self.n_kept > _MOST_KEPT:
            raise UnsupportedModelError(
                f"the ONNX model computes more than {_MOST_KEPT:,} numbers from the "
                f"number of rows alone, the most that nn2rules reads"
            )

    def get(self, name: str) -> Value:
        """Return a tensor by its name."""
        if name not in self.values:
            raise UnsupportedModelError(f"it needs {name!r}, which cannot be read")
        return self.values[name]

    def value(self, node: Node, index: int) -> Value | None:
        """Return an input of a node; None if it is left out."""
        if index >= len(node.inputs) or not node.inputs[index]:
            return None
        return self.get(node.inputs[index])

    def inputs(self, node: Node) -> list[Value]:
        """Return all inputs of a step that are not left out."""
        return [self.get(name) for name in node.inputs if name]

    def tensors(self, node: Node) -> list[Tensor]:
        """Return the inputs of a step that depend on rows."""
        return [v for v in self.inputs(node) if not isinstance(v, Fixed)]

    def weights(self, node: Node, index: int) -> NDArray[np.float64] | None:
        """Return an input that must be constant; None if it is left out."""
        value = self.value(node, index)
        if value is None:
            return None
        if not isinstance(value, Fixed):
            raise UnsupportedModelError(FIXED)
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

    def rows(self, values: Sequence[Value]) -> list[Tensor]:
        """Return values as operands of one row."""
        operands: list[Any] = []
        batch = self.batch or 2
        for value in values:
            array = value.at(batch) if isinstance(value, Fixed) else value
            if isinstance(array, np.ndarray) and array.dtype.kind == "f":
                self.floats(array)
            operands.append(array)
        return operands_of(self.trace, operands, batch=batch)

    def run(
        self, node: Node, arrays: Mapping[str, NDArray[Any]], *, reference: bool = False
    ) -> Arrays:
        """Run a node on arrays of rows, which are given by name."""
        values = {name: self.get(name) for name in node.inputs if name}

        def run(*rows: NDArray[Any]) -> Arrays:
            feeds = dict(zip(arrays, rows, strict=True))
            for name, value in values.items():
                if isinstance(value, Fixed) and name not in feeds:
                    feeds[name] = value.at(len(rows[0]))
            return run_node(self.graph.model, node.proto, feeds, reference=reference)

        return in_batches(run, list(arrays.values()), self.batch)


def first_input(walk: Walk, node: Node) -> Tensor:
    """Return the first input of a node, which must depend on rows."""
    value = walk.value(node, 0)
    if value is None or isinstance(value, Fixed):
        raise UnsupportedModelError("it uses rows of the input as weights")
    return value
