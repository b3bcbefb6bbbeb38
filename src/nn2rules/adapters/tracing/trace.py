"""The operations that adapters follow a model with."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.activations import activation
from nn2rules.adapters.tracing.hidden import HiddenLayers
from nn2rules.adapters.tracing.tensors import (
    CONSTANT,
    Affine,
    Array,
    Columns,
    Ending,
    Tensor,
    ending_of,
    floats,
    picked,
    scaled_ending,
)
from nn2rules.domain import Domain
from nn2rules.errors import UnsupportedModelError
from nn2rules.network import Network
from nn2rules.values import Value


class Trace:
    """A network in the making.

    Parameters
    ----------
    domain : Domain
    """

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self._hidden = HiddenLayers(domain)

    # Tensors ---------------------------------------------------------------------

    def constant(self, array: Any) -> Columns:
        """Return a tensor that is the same for every input."""
        values = np.asarray(array)
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
        tables = tuple(flat[:, entry] for entry in range(size))
        return Columns(values.shape[1:], (feature,) * size, tables)

    # Operations ------------------------------------------------------------------

    def rearrange(
        self, tensors: Sequence[Tensor], function: Callable[..., Any]
    ) -> Tensor:
        """Return the tensor that picks and places entries of others.

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
            raise UnsupportedModelError("a step of the model mixes rows of a batch")
        result = picked(self._alike(tensors), positions[0])
        in_order = np.array_equal(positions[0].reshape(-1), np.arange(total))
        ending = ending_of(tensors, result.shape) if in_order else None
        if ending is None and any(_is_softmax(tensor) for tensor in tensors):
            raise UnsupportedModelError(
                "it takes some of the shares of a softmax, or changes their order; "
                "return all of them as they are, or the scores before it"
            )
        return replace(result, ending=ending)

    def scale(
        self, tensor: Tensor, factor: Any, shift: Any = 0.0, shift_size: Any = None
    ) -> Tensor:
        """Return ``tensor * factor + shift``, broadcast to the shape of `tensor`.

        `shift_size` is the sum of the absolute values that make up `shift`, if it is
        itself the result of a computation.
        """
        _refuse_shares(tensor)
        factor = np.broadcast_to(floats(factor), tensor.shape).reshape(-1)
        shift = np.broadcast_to(floats(shift), tensor.shape).reshape(-1)
        size = np.abs(shift) if shift_size is None else floats(shift_size)
        size = np.broadcast_to(size, tensor.shape if size.ndim != 1 else shift.shape)
        x = self.affine(tensor)
        return Affine(
            x.shape,
            x.level,
            x.weights * factor,
            x.bias * factor + shift,
            x.sizes * np.abs(factor),
            x.bias_sizes * np.abs(factor) + size.reshape(-1),
            x.terms + 2,
            scaled_ending(tensor.ending, factor, shift),
        )

    def add(self, left: Tensor, right: Tensor, *, sign: int = 1) -> Tensor:
        """Return ``left + sign * right``, broadcast as numpy does."""
        _refuse_shares(left, right)
        for one, other, factor, shift in (
            (left, right, 1, sign),
            (right, left, sign, 1),
        ):
            if isinstance(other, Columns) and other.is_constant:
                wide = self._broadcast(one, other.shape)
                return self.scale(wide, factor, shift * floats(other.value))
        shape = np.broadcast_shapes(left.shape, right.shape)
        a, b = self._hidden.same_level(
            [
                self.affine(self._broadcast(left, shape)),
                self.affine(self._broadcast(right, shape)),
            ]
        )
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
        """Return the product; one of the two must be a constant."""
        _refuse_shares(left, right)
        for one, other in ((left, right), (right, left)):
            if isinstance(other, Columns) and other.is_constant:
                return self.scale(self._broadcast(one, other.shape), other.value)
        raise UnsupportedModelError(
            "the model multiplies two numbers that both depend on the input; "
            "nn2rules reads sums of inputs with fixed weights"
        )

    def linear(self, tensor: Tensor, weights: Any, bias: Any = None) -> Tensor:
        """Return ``tensor @ weights + bias`` along the last axis.

        Parameters
        ----------
        weights : array of shape (n_in, n_out)
        bias : array of shape (n_out,), optional
        """
        _refuse_shares(tensor)
        weights = floats(weights)
        n_in, n_out = weights.shape
        if tensor.shape[-1:] != (n_in,):
            raise UnsupportedModelError(
                f"a linear layer of {n_in} inputs is given a tensor of shape "
                f"{tensor.shape}"
            )
        x = self.affine(tensor)
        shift = np.zeros(n_out) if bias is None else floats(bias)
        shift = np.broadcast_to(shift, (*x.shape[:-1], n_out)).reshape(-1)
        shape = (*x.shape[:-1], n_out)

        def mapped(rows: Array, matrix: Array) -> Array:
            return (rows.reshape(-1, n_in) @ matrix).reshape(-1, shift.size)

        return Affine(
            shape,
            x.level,
            mapped(x.weights, weights),
            mapped(x.bias[np.newaxis], weights)[0] + shift,
            mapped(x.sizes, np.abs(weights)),
            mapped(x.bias_sizes[np.newaxis], np.abs(weights))[0] + np.abs(shift),
            x.terms + self._summands(x, n_in) + 1,
        )

    def total(
        self, tensor: Tensor, axes: Sequence[int], *, mean: bool, keep: bool = False
    ) -> Tensor:
        """Return the sum, or the mean, over some axes of a row.

        With `keep`, these axes stay, with one entry each.
        """
        shape = tensor.shape
        kept = [axis for axis in range(len(shape)) if axis not in axes]
        count = int(np.prod([shape[axis] for axis in axes], dtype=np.int64))

        def aside(rows: NDArray[np.int64]) -> NDArray[np.int64]:
            moved = rows.transpose(0, *(axis + 1 for axis in [*kept, *axes]))
            return moved.reshape(2, *(shape[axis] for axis in kept), count)

        together = self.rearrange([tensor], aside)
        weights = np.full((count, 1), 1 / count if mean else 1.0)
        made = self.linear(together, weights)
        left = [shape[axis] for axis in kept]
        if keep:
            left = [1 if a in axes else size for a, size in enumerate(shape)]
        return self.rearrange([made], lambda rows: rows.reshape(2, *left))

    def _summands(self, x: Affine, n_in: int) -> int:
        """Return how many of `n_in` numbers that are added up can be other than 0.

        Of the columns of a one-hot feature only one is: adding zeros rounds nothing.
        """
        if x.level > 0:
            return n_in
        groups = (x.sizes != 0).reshape(len(x.sizes), -1, n_in).sum(axis=2)
        most = np.maximum.reduceat(groups, self.domain.offsets[:-1], axis=0).sum(axis=0)
        fixed = (x.bias_sizes != 0).reshape(-1, n_in).sum(axis=1)
        return min(n_in, int((most + fixed).max()))

    def activate(
        self, tensor: Tensor, name: str, *, slope: float | None = None
    ) -> Tensor:
        """Return an activation of every entry.

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
        _refuse_shares(tensor)
        if name in ("softmax", "log_softmax"):
            if tensor.shape[-1:] == (1,):
                raise UnsupportedModelError(
                    "the softmax of a single score is always 1; use a sigmoid, or a "
                    "score for each class"
                )
            return replace(self.affine(tensor), ending=Ending(name, tensor))
        ending = Ending(name, tensor) if name == "sigmoid" else None
        columns = self._unmixed(tensor)
        if columns is not None:
            return replace(self._activated(columns, name, slope), ending=ending)
        x = self.affine(tensor)
        layer = self._hidden.above(x.level, name, slope)
        start = layer.size
        layer.blocks.append(x)
        weights = np.zeros((layer.size, len(x.bias)))
        weights[start:] = np.eye(len(x.bias))
        zeros = np.zeros(len(x.bias))
        return Affine(
            x.shape, x.level + 1, weights, zeros, weights, zeros, ending=ending
        )

    def clip(self, tensor: Tensor, low: float | None, high: float | None) -> Tensor:
        """Return every entry cut off at two limits, or at one, or at none.

        ``clip(x, 0, 6)`` is ``3 + 3 * hard_tanh((x - 3) / 3)``.
        """
        if low is not None and high is not None:
            if not low < high:
                raise UnsupportedModelError(f"its limits are {low} and {high}")
            middle, half = (low + high) / 2, (high - low) / 2
            inside = tensor
            if (middle, half) != (0, 1):
                inside = self.scale(tensor, 1 / half, -middle / half)
            return self.scale(self.activate(inside, "hard_tanh"), half, middle)
        limit, sign = (low, 1.0) if high is None else (high, -1.0)
        if limit is None:
            return tensor
        if limit == 0 and sign == 1.0:
            return self.activate(tensor, "relu")
        above = self.activate(self.scale(tensor, sign, -sign * limit), "relu")
        return self.scale(above, sign, limit)

    def pair(self, scores: Tensor) -> Tensor:
        """Return the shares of two classes, of the score of the second."""
        share = self.activate(scores, "sigmoid")
        rest = self.scale(share, -1.0, 1.0)
        return self.rearrange([rest, share], lambda *rows: np.concatenate(rows, -1))

    def rounded(self, tensor: Tensor, times: int = 1) -> Tensor:
        """Return a tensor that the framework rounds so many times more."""
        if times == 0:
            return tensor
        x = self.affine(tensor)
        return replace(x, terms=x.terms + times)

    def _activated(self, tensor: Columns, name: str, slope: float | None) -> Columns:
        """Return an activation of tables, with bounds on what the framework rounds."""
        function = activation(name, slope)
        tables = tuple(function.floats(floats(table)) for table in tensor.tables)
        before = tensor.sizes or tuple(np.abs(floats(t)) for t in tensor.tables)
        factor = function.rounding / tensor.terms
        sizes = tuple(
            np.abs(table) + function.lipschitz * size + factor * (1 + size)
            for table, size in zip(tables, before, strict=True)
        )
        return Columns(
            tensor.shape, tensor.owners, tables, sizes=sizes, terms=tensor.terms
        )

    def network(
        self,
        tensor: Tensor,
        classes: Sequence[Value],
        *,
        threshold: float = 0.5,
        unit: float,
        has_shares: bool = False,
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
        has_shares : bool
            Whether the model decides by shares that it makes of the scores, and rounds.
        """
        return self._hidden.network(
            self.affine(tensor),
            classes,
            threshold=threshold,
            unit=unit,
            has_shares=has_shares,
        )

    # Parts -----------------------------------------------------------------------

    def affine(self, tensor: Tensor) -> Affine:
        """Return a tensor as an affine function of the one-hot input, or as it is."""
        if isinstance(tensor, Affine):
            return self._hidden.padded(tensor)
        weights, bias = self._spread(tensor.owners, tensor.tables)
        sizes, bias_sizes = np.abs(weights), np.abs(bias)
        if tensor.sizes is not None:
            sizes, bias_sizes = self._spread(tensor.owners, tensor.sizes)
        return Affine(
            tensor.shape,
            0,
            weights,
            bias,
            sizes,
            bias_sizes,
            tensor.terms,
            tensor.ending,
        )

    def _spread(
        self, owners: Sequence[int], tables: Sequence[NDArray[Any]]
    ) -> tuple[Array, Array]:
        """Return tables as weights of the one-hot input, and constants as a bias."""
        n_columns, size = int(self.domain.offsets[-1]), len(owners)
        weights, bias = np.zeros((n_columns, size)), np.zeros(size)
        for entry, owner in enumerate(owners):
            numbers = floats(tables[entry])
            if owner == CONSTANT:
                bias[entry] = numbers[0]
            else:
                start, stop = self.domain.offsets[owner : owner + 2]
                weights[start:stop, entry] = numbers
        return weights, bias

    def _unmixed(self, tensor: Tensor) -> Columns | None:
        """Return a tensor as `Columns` if each entry depends on one feature at most."""
        if isinstance(tensor, Columns):
            return tensor
        if tensor.level > 0:
            return None
        owners, tables, sizes = [], [], []
        offsets = self.domain.offsets
        starts = offsets[:-1]
        used = np.logical_or.reduceat(tensor.sizes != 0, starts, axis=0)
        if (used.sum(axis=0) > 1).any():
            return None
        for entry in range(len(tensor.bias)):
            features = np.flatnonzero(used[:, entry])
            owner = int(features[0]) if len(features) else CONSTANT
            numbers: Array = np.zeros(1)
            bounds: Array = np.zeros(1)
            if owner != CONSTANT:
                rows = slice(offsets[owner], offsets[owner + 1])
                numbers, bounds = tensor.weights[rows, entry], tensor.sizes[rows, entry]
            owners.append(owner)
            tables.append(numbers + tensor.bias[entry])
            sizes.append(bounds + tensor.bias_sizes[entry])
        return Columns(
            tensor.shape,
            tuple(owners),
            tuple(tables),
            tensor.ending,
            tuple(sizes),
            tensor.terms + 1,
        )

    def _broadcast(self, tensor: Tensor, shape: tuple[int, ...]) -> Tensor:
        shape = np.broadcast_shapes(tensor.shape, shape)
        if shape == tensor.shape:
            return tensor
        lead = (1,) * (len(shape) - len(tensor.shape))

        def widened(rows: NDArray[np.int64]) -> NDArray[np.int64]:
            return np.broadcast_to(rows.reshape(2, *lead, *tensor.shape), (2, *shape))

        return self.rearrange([tensor], widened)

    def _alike(self, tensors: Sequence[Tensor]) -> Tensor:
        """Return the entries of all tensors, in one flat tensor."""
        columns = [tensor for tensor in tensors if isinstance(tensor, Columns)]
        if len(columns) == len(tensors):
            owners = tuple(owner for c in columns for owner in c.owners)
            tables = tuple(table for c in columns for table in c.tables)
            bounds: tuple[Array, ...] | None = None
            if any(c.sizes is not None for c in columns):
                bounds = tuple(
                    size
                    for c in columns
                    for size in c.sizes or [np.abs(floats(t)) for t in c.tables]
                )
            terms = max((c.terms for c in columns), default=1)
            return Columns((len(owners),), owners, tables, None, bounds, terms)
        parts = self._hidden.same_level([self.affine(tensor) for tensor in tensors])
        size = sum(len(part.bias) for part in parts)
        return Affine(
            (size,),
            parts[0].level,
            np.concatenate([part.weights for part in parts], axis=1),
            np.concatenate([part.bias for part in parts]),
            np.concatenate([part.sizes for part in parts], axis=1),
            np.concatenate([part.bias_sizes for part in parts]),
            max(part.terms for part in parts),
        )


def _is_softmax(tensor: Tensor) -> bool:
    return tensor.ending is not None and tensor.ending.is_softmax


def _refuse_shares(*tensors: Tensor) -> None:
    """Refuse to compute with the shares of classes."""
    if any(_is_softmax(tensor) for tensor in tensors):
        raise UnsupportedModelError(
            "it computes with the shares of a softmax, which is read as the last step "
            "only; return them as they are, or the scores before it"
        )


def mixing(domain: Domain, owners: Sequence[int]) -> UnsupportedModelError:
    """Return the error that says which features a step mixes too early."""
    names = " and ".join(repr(domain.names[owner]) for owner in owners[:4])
    return UnsupportedModelError(
        f"a step of the model mixes the features {names} before its first layer; each "
        f"number that enters the first layer must come from one feature"
    )
