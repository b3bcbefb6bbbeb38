"""The operations with which adapters trace a model, and the layers they build."""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import UnsupportedModelError
from nn2rules.models.tracing.tensors import (
    CONSTANT,
    Affine,
    Array,
    Columns,
    Ending,
    Tensor,
    activated,
    affine_of,
    ending_of,
    flat_affine,
    flat_columns,
    floats,
    is_softmax,
    mapped,
    picked,
    refuse_large,
    refuse_softmax,
    refuse_wide,
    scaled_ending,
    summands,
    unmixed,
)
from nn2rules.network import Layer, Network, certified
from nn2rules.space import Domain, Value


@dataclass
class Units:
    """A hidden layer under construction: blocks of units, side by side."""

    activation: str
    slope: float | None
    blocks: list[Affine] = field(default_factory=list)

    @property
    def size(self) -> int:
        """The number of units."""
        return sum(len(block.bias) for block in self.blocks)


class HiddenLayers:
    """The hidden layers of a network under construction, from the first on."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self._layers: list[Units] = []

    def above(self, level: int, name: str, slope: float | None) -> Units:
        """Return the hidden layer above `level`, creating it if needed."""
        if len(self._layers) == level:
            self._layers.append(Units(name, slope))
        layer = self._layers[level]
        if (layer.activation, layer.slope) != (name, slope):
            raise UnsupportedModelError(
                f"the model has {layer.activation} and {name} units in the same layer; "
                f"nn2rules reads layers with one activation"
            )
        return layer

    def padded(self, tensor: Affine) -> Affine:
        """Add weights of 0 for units that were added to its level after the tensor."""
        if tensor.level == 0:
            return tensor
        missing = self._layers[tensor.level - 1].size - len(tensor.weights)
        if missing == 0:
            return tensor
        refuse_large(self._layers[tensor.level - 1].size, len(tensor.bias))
        padding = ((0, missing), (0, 0))
        return replace(
            tensor,
            weights=np.pad(tensor.weights, padding),
            sizes=np.pad(tensor.sizes, padding),
        )

    def same_level(self, tensors: Sequence[Affine]) -> list[Affine]:
        """Raise tensors to the highest of their levels."""
        top = max(tensor.level for tensor in tensors)
        raised = [self._raised(tensor, top) for tensor in tensors]
        return [self.padded(tensor) for tensor in raised]

    def _raised(self, tensor: Affine, level: int) -> Affine:
        """Pass a tensor through ReLU layers unchanged, as ``relu(x) - relu(-x)``."""
        while tensor.level < level:
            if not (tensor.weights.any() or tensor.sizes.any()):  # a constant
                n_units = self._layers[level - 1].size
                none: Array = np.zeros((n_units, len(tensor.bias)))
                return replace(tensor, level=level, weights=none, sizes=none)
            layer = self._layers[tensor.level]
            if layer.activation != "relu":
                raise UnsupportedModelError(
                    f"the model has a shortcut around a {layer.activation} layer; "
                    f"nn2rules reads shortcuts around ReLU layers only"
                )
            tensor = self.padded(tensor)
            negative = replace(tensor, weights=-tensor.weights, bias=-tensor.bias)
            size, start = len(tensor.bias), layer.size
            is_positive = self._is_positive(tensor)
            layer.blocks += [tensor] if is_positive else [tensor, negative]
            refuse_large(layer.size, size)
            weights: Array = np.zeros((layer.size, size))
            np.fill_diagonal(weights[start : start + size], 1.0)
            if not is_positive:
                np.fill_diagonal(weights[start + size :], -1.0)
            zeros: Array = np.zeros(size)
            tensor = Affine(
                tensor.shape, tensor.level + 1, weights, zeros, np.abs(weights), zeros
            )
        return tensor

    def _is_positive(self, tensor: Affine) -> bool:
        """Tell whether no entry can be negative, as in sums of ReLU units."""
        if tensor.level > 0 and self._layers[tensor.level - 1].activation != "relu":
            return False
        return bool((tensor.weights >= 0).all() and (tensor.bias >= 0).all())

    def network(
        self,
        last: Affine,
        classes: Sequence[Value],
        *,
        threshold: float,
        unit: float,
        has_probabilities: bool,
    ) -> Network:
        """Return the network whose scores are `last`; see `Trace.network`."""
        hidden = self._layers[: last.level]
        output = "sigmoid" if len(last.bias) == 1 else "softmax"
        layers, sizes, terms = [], [], 1.0
        n_rows = int(self.domain.offsets[-1])
        names = [(units.activation, units.slope) for units in hidden]
        for (name, slope), blocks in zip(
            [*names, (output, None)],
            [*(units.blocks for units in hidden), [last]],
            strict=True,
        ):
            layers.append(_layer(blocks, n_rows, name, slope, sizes=False))
            sizes.append(_layer(blocks, n_rows, name, slope, sizes=True))
            usual = (n_rows if len(layers) > 1 else len(self.domain.sizes)) + 1
            terms = max(terms, max(block.terms for block in blocks) / usual)
            n_rows = len(layers[-1].bias)
        offsets = self.domain.offsets
        error = certified.error_bound(sizes, offsets, unit=unit * terms).max()
        folding = certified.error_bound(sizes, offsets).max()
        total = float(error + terms * folding)
        if has_probabilities:
            n_outputs = len(last.bias)
            total += certified.share_error(threshold, unit, n_outputs, folding)
        longest = max(len(layer.weights) for layer in layers) + 2
        is_bound = math.isfinite(total) and longest * unit * terms < 0.5  # see _gamma
        model_error = total if is_bound else None
        return Network(
            self.domain, tuple(layers), tuple(classes), threshold, model_error
        )


def _layer(
    blocks: Sequence[Affine],
    n_rows: int,
    name: str,
    slope: float | None,
    *,
    sizes: bool,
) -> Layer:
    """Join blocks of units to a layer; with `sizes`, the bounds on their terms."""
    weights = [block.sizes if sizes else block.weights for block in blocks]
    bias = [block.bias_sizes if sizes else block.bias for block in blocks]
    padded = [np.pad(w, ((0, n_rows - len(w)), (0, 0))) for w in weights]
    return Layer(np.concatenate(padded, axis=1), np.concatenate(bias), name, slope)


class Trace:
    """A network under construction.

    Parameters
    ----------
    domain : Domain
    ranges : set of int
        Features whose values are samples of a range. They are not looked up in tables
        if a layer can be read instead, so that they stay linear.

    Attributes
    ----------
    nonlinear : set of int
        Features with steps that are not known to be linear.
    """

    def __init__(self, domain: Domain, ranges: Collection[int] = ()) -> None:
        self.domain, self.ranges = domain, frozenset(ranges)
        self.nonlinear: set[int] = set()
        self._hidden = HiddenLayers(domain)

    # Tensors ---------------------------------------------------------------------

    def constant(self, array: Any) -> Columns:
        """Return a tensor that is the same for every input."""
        values = np.asarray(array)
        refuse_wide(values.size)
        flat = tuple(values.reshape(-1)[i : i + 1] for i in range(values.size))
        return Columns(values.shape, (CONSTANT,) * values.size, flat)

    def table(self, feature: int, array: Any) -> Columns:
        """Return a tensor that depends on one feature.

        Parameters
        ----------
        feature : int
        array : array of shape (n_values, *shape)
            The tensor for each value of the feature.
        """
        values = np.asarray(array)
        flat = values.reshape(len(values), -1)
        size = flat.shape[1]
        refuse_wide(size)
        tables = tuple(flat[:, entry] for entry in range(size))
        return Columns(values.shape[1:], (feature,) * size, tables)

    # Operations ------------------------------------------------------------------

    def rearrange(
        self, tensors: Sequence[Tensor], function: Callable[..., Any]
    ) -> Tensor:
        """Return a tensor that rearranges entries of others.

        Parameters
        ----------
        tensors : sequence of Tensor
        function : callable
            Given one integer array for each tensor, of shape ``(2, *shape)``: a batch
            of two rows. Returns such an array: a slice, a reshape, a concatenation, …

        Examples
        --------
        >>> from nn2rules import Feature
        >>> trace = Trace(Domain((Feature("size", ("small", "big")),)))
        >>> x = trace.table(0, [[1, 2, 3], [4, 5, 6]])
        >>> trace.rearrange([x], lambda rows: rows[:, 1:]).tables
        (array([2, 5]), array([3, 6]))
        """
        counts = [int(np.prod(t.shape, dtype=np.int64)) for t in tensors]
        total, starts = sum(counts), np.cumsum([0, *counts])
        indices = []
        for tensor, start, size in zip(tensors, starts, counts, strict=False):
            one = np.arange(start, start + size).reshape(tensor.shape)
            indices.append(np.stack([one, one + total]))
        positions = np.asarray(function(*indices))
        if positions.shape[:1] != (2,) or (positions[0] + total != positions[1]).any():
            raise UnsupportedModelError("a step of the model combines rows of a batch")
        result = picked(self._side_by_side(tensors), positions[0])
        in_order = np.array_equal(positions[0].reshape(-1), np.arange(total))
        ending = ending_of(tensors, result.shape) if in_order else None
        if ending is None and any(is_softmax(tensor) for tensor in tensors):
            raise UnsupportedModelError(
                "it selects or reorders results of a softmax; return all of them "
                "unchanged, or the scores before it"
            )
        return replace(result, ending=ending)

    def scale(
        self, tensor: Tensor, factor: Any, shift: Any = 0.0, size: float | None = None
    ) -> Tensor:
        """Return ``tensor * factor + shift``, broadcast to the shape of `tensor`.

        `size` is added to the bound instead of the size of `shift`.
        """
        refuse_softmax(tensor)
        factor = np.broadcast_to(floats(factor), tensor.shape).reshape(-1)
        shift = np.broadcast_to(floats(shift), tensor.shape).reshape(-1)
        added = np.abs(shift) if size is None else size
        x = self.affine(tensor)
        return Affine(
            x.shape,
            x.level,
            x.weights * factor,
            x.bias * factor + shift,
            x.sizes * np.abs(factor),
            x.bias_sizes * np.abs(factor) + added,
            x.terms + 2,
            scaled_ending(tensor.ending, factor, shift),
        )

    def add(self, left: Tensor, right: Tensor, *, sign: int = 1) -> Tensor:
        """Return ``left + sign * right``, broadcast as numpy does."""
        refuse_softmax(left, right)
        for one, other, factor, shift in (
            (left, right, 1, sign),
            (right, left, sign, 1),
        ):
            if isinstance(other, Columns) and other.is_constant:
                wide = self._broadcast(one, other.shape)
                return self.scale(wide, factor, shift * floats(other.value))
        shape = np.broadcast_shapes(left.shape, right.shape)
        both = [self.affine(self._broadcast(each, shape)) for each in (left, right)]
        a, b = self._hidden.same_level(both)
        return Affine(
            shape,
            a.level,
            a.weights + sign * b.weights,
            a.bias + sign * b.bias,
            a.sizes + b.sizes,
            a.bias_sizes + b.bias_sizes,
            max(a.terms, b.terms) + 1,
        )

    def multiply(self, left: Tensor, right: Tensor) -> Tensor:
        """Return the product; one of the two must be constant."""
        refuse_softmax(left, right)
        for one, other in ((left, right), (right, left)):
            if isinstance(other, Columns) and other.is_constant:
                return self.scale(self._broadcast(one, other.shape), other.value)
        raise UnsupportedModelError(
            "the model multiplies two numbers that both depend on the input; "
            "nn2rules reads weighted sums with fixed weights"
        )

    def linear(self, tensor: Tensor, weights: Any, bias: Any = None) -> Tensor:
        """Return ``tensor @ weights + bias`` along the last axis.

        Parameters
        ----------
        weights : array of shape (n_in, n_out)
        bias : array of shape (n_out,), optional
        """
        refuse_softmax(tensor)
        weights = floats(weights)
        n_in, n_out = weights.shape
        if tensor.shape[-1:] != (n_in,):
            raise UnsupportedModelError(
                f"a linear layer with {n_in} inputs gets a tensor of shape "
                f"{tensor.shape}"
            )
        x = self.affine(tensor)
        shift = np.zeros(n_out) if bias is None else floats(bias)
        return mapped(x, weights, shift, summands(self.domain, x, n_in) + 1)

    def activate(
        self, tensor: Tensor, name: str, *, slope: float | None = None
    ) -> Tensor:
        """Return an activation of each entry.

        Parameters
        ----------
        name : str
            A name of `ACTIVATIONS`; or softmax or log_softmax, which must be the last
            step.
        slope : float, optional
            Of leaky_relu.
        """
        if name == "identity":
            return tensor
        refuse_softmax(tensor)
        if name in ("softmax", "log_softmax"):
            if tensor.shape[-1:] == (1,):
                raise UnsupportedModelError(
                    "the softmax of a single score is always 1; use a sigmoid, or one "
                    "score per class"
                )
            return replace(self.affine(tensor), ending=Ending(name, tensor))
        ending = Ending(name, tensor) if name == "sigmoid" else None
        columns = unmixed(self.domain, tensor)
        if columns is not None and not self.ranges.intersection(columns.owners):
            return replace(activated(columns, name, slope), ending=ending)
        x = self.affine(tensor)
        layer = self._hidden.above(x.level, name, slope)
        start = layer.size
        layer.blocks.append(x)
        refuse_large(layer.size, len(x.bias))
        weights = np.zeros((layer.size, len(x.bias)))
        np.fill_diagonal(weights[start:], 1.0)
        zeros = np.zeros(len(x.bias))
        return Affine(
            x.shape, x.level + 1, weights, zeros, weights, zeros, ending=ending
        )

    def pair(self, scores: Tensor) -> Tensor:
        """Return the probabilities of two classes from the score of the second."""
        share = self.activate(scores, "sigmoid")
        rest = self.scale(share, -1.0, 1.0)
        return self.rearrange([rest, share], lambda *rows: np.concatenate(rows, -1))

    def rounded(self, tensor: Tensor, times: int = 1) -> Tensor:
        """Return a tensor that the framework rounds this many times more."""
        if times == 0:
            return tensor
        x = self.affine(tensor)
        return replace(x, terms=x.terms + times)

    def network(
        self,
        tensor: Tensor,
        classes: Sequence[Value],
        *,
        threshold: float = 0.5,
        unit: float,
        has_probabilities: bool = False,
    ) -> Network:
        """Return the network whose scores are `tensor`.

        Parameters
        ----------
        tensor : Tensor
            One score for two classes, or a score for each class.
        classes : sequence of class labels
        threshold : float
            Of a single score.
        unit : float
            The unit roundoff of the framework: 2**-24 for float32.
        has_probabilities : bool
            Whether the model predicts from rounded probabilities instead of scores.
        """
        scores = self.affine(tensor)
        return self._hidden.network(
            scores,
            classes,
            threshold=threshold,
            unit=unit,
            has_probabilities=has_probabilities,
        )

    # Parts -----------------------------------------------------------------------

    def affine(self, tensor: Tensor) -> Affine:
        """Return a tensor as an affine function; a table, of the one-hot input."""
        if isinstance(tensor, Affine):
            return self._hidden.padded(tensor)
        return affine_of(self.domain, tensor)

    def _broadcast(self, tensor: Tensor, shape: tuple[int, ...]) -> Tensor:
        shape = np.broadcast_shapes(tensor.shape, shape)
        if shape == tensor.shape:
            return tensor
        lead = (1,) * (len(shape) - len(tensor.shape))

        def widened(rows: NDArray[np.int64]) -> NDArray[np.int64]:
            return np.broadcast_to(rows.reshape(2, *lead, *tensor.shape), (2, *shape))

        return self.rearrange([tensor], widened)

    def _side_by_side(self, tensors: Sequence[Tensor]) -> Tensor:
        """Return the entries of all tensors, in one flat tensor."""
        columns = [tensor for tensor in tensors if isinstance(tensor, Columns)]
        if len(columns) == len(tensors):
            return flat_columns(columns)
        parts = [self.affine(tensor) for tensor in tensors]
        return flat_affine(self._hidden.same_level(parts))
