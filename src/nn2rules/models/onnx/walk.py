"""A walk through an ONNX graph: what is known of its tensors so far."""

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
    batch : int or None
        How many rows the model takes, where it takes a fixed number.
    unit : float
        The coarsest unit roundoff that was met.
    n_kept : int
        How many numbers are kept that depend on the number of rows alone.
    """

    graph: Graph
    trace: Trace
    values: dict[str, Value]
    batch: int | None = None
    unit: float = FLOAT64
    n_kept: int = 0

    def keep(self, arrays: Arrays) -> None:
        """Count numbers that are kept; refuse a model for which they are too many."""
        self.n_kept += sum(array.size for array in arrays)
        if self.n_kept > _MOST_KEPT:
            raise UnsupportedModelError(
                f"the ONNX model makes more than {_MOST_KEPT:,} numbers of the number "
                f"of rows alone, the most that nn2rules reads"
            )

    def get(self, name: str) -> Value:
        """Return a tensor by its name."""
        if name not in self.values:
            raise UnsupportedModelError(f"it needs {name!r}, which cannot be read")
        return self.values[name]

    def value(self, node: Node, index: int) -> Value | None:
        """Return an input of a node; None where it is left out."""
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
        """Return an input that must be fixed numbers; None where it is left out."""
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
        """Return values as they meet in a row."""
        found: list[Any] = []
        batch = self.batch or 2
        for value in values:
            array = value.at(batch) if isinstance(value, Fixed) else value
            if isinstance(array, np.ndarray) and array.dtype.kind == "f":
                self.floats(array)
            found.append(array)
        return operands_of(self.trace, found, batch=batch)

    def run(
        self, node: Node, arrays: Mapping[str, NDArray[Any]], *, reference: bool = False
    ) -> Arrays:
        """Return what a node makes of arrays of rows, given by their names."""
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
        raise UnsupportedModelError("it computes with rows of the input as weights")
    return value
