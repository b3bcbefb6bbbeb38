"""Follow a model's computation from its inputs to its scores, and write it as layers.

An adapter walks through the steps of a model and calls the operations of a `Trace`,
with tensors that are known in one of two ways. As long as features have not met, every
entry of a tensor depends on one feature alone: it is a column of that feature's table
(`Columns`), and whatever the framework does to it can be done to the table. Once
features are added up, a tensor is an affine function (`Affine`) of the one-hot input or
of the units of a hidden layer; a nonlinear step on it begins the next hidden layer.

Tensors have no batch here: their `shape` is that of a single row.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules import arithmetic
from nn2rules.activations import activation
from nn2rules.domain import Domain
from nn2rules.errors import UnsupportedModelError
from nn2rules.layer import Layer
from nn2rules.network import Network
from nn2rules.values import Value

CONSTANT = -1
"""The owner of an entry that depends on no feature."""

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Ending:
    """What a tensor is made of by a last step that only turns scores into shares.

    `kind` is "sigmoid", "complement" (1 - sigmoid), "pair" (both) or "softmax".
    """

    kind: str
    scores: "Tensor"


@dataclass(frozen=True)
class Columns:
    """A tensor each entry of which depends on one feature at most.

    Attributes
    ----------
    shape : tuple of int
    owners : tuple of int
        For each entry, in C order, its feature, or `CONSTANT`.
    tables : tuple of arrays
        For each entry, its value for each value of its owner; of constants, one value.
    sizes, terms
        As those of `Affine`, where the tables are not the framework's own numbers.
    """

    shape: tuple[int, ...]
    owners: tuple[int, ...]
    tables: tuple[NDArray[Any], ...]
    ending: Ending | None = None
    sizes: tuple[Array, ...] | None = None
    terms: int = 1

    @property
    def is_constant(self) -> bool:
        """Whether no entry depends on any feature."""
        return all(owner == CONSTANT for owner in self.owners)

    @property
    def value(self) -> NDArray[Any]:
        """The array that a constant tensor is."""
        assert self.is_constant, "only a constant has one value"
        return np.array([t[0] for t in self.tables]).reshape(self.shape)


@dataclass(frozen=True)
class Affine:
    """A tensor that is an affine function of the units of one level.

    Attributes
    ----------
    shape : tuple of int
    level : int
        0 for the one-hot input, k for the units of the k-th hidden layer.
    weights : ndarray of shape (n_units, n_entries)
    bias : ndarray of shape (n_entries,)
    sizes, bias_sizes : ndarrays of the same shapes
        The sums of the absolute values of what was added up to get these: they bound
        the rounding errors of the framework.
    terms : int
        How many roundings an entry has gone through at most.
    """

    shape: tuple[int, ...]
    level: int
    weights: Array
    bias: Array
    sizes: Array
    bias_sizes: Array
    terms: int = 1
    ending: Ending | None = None


Tensor: TypeAlias = Columns | Affine


@dataclass
class _Units:
    """A hidden layer in the making: blocks of units, side by side."""

    activation: str
    slope: float | None
    blocks: list[Affine] = field(default_factory=list)

    @property
    def size(self) -> int:
        return sum(len(block.bias) for block in self.blocks)


class Trace:
    """A network in the making.

    Parameters
    ----------
    domain : Domain
    """

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self._layers: list[_Units] = []

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
        picked = np.asarray(function(*indices))
        if picked.shape[:1] != (2,) or (picked[0] + total != picked[1]).any():
            raise UnsupportedModelError("a step of the model mixes rows of a batch")
        result = _picked(self._alike(tensors), picked[0])
        in_order = np.array_equal(picked[0].reshape(-1), np.arange(total))
        ending = _ending_of(tensors, result.shape) if in_order else None
        return replace(result, ending=ending)

    def apply(
        self,
        tensor: Columns,
        function: Callable[[NDArray[Any]], Any],
        *,
        elementwise: bool = False,
    ) -> Columns:
        """Return what the framework makes of a tensor whose features have not met.

        Parameters
        ----------
        tensor : Columns
        function : callable
            Takes an array of shape ``(n_rows, *shape)`` and returns one of shape
            ``(n_rows, *new_shape)``; rows are independent.
        elementwise : bool
            Whether each entry of the result comes from the same entry of `tensor`
            alone. Other functions need a tensor of one feature.
        """
        owners = sorted({owner for owner in tensor.owners if owner != CONSTANT})
        if len(owners) > 1 and not elementwise:
            raise mixing(self.domain, owners)
        if not owners:
            rows = tensor.value[np.newaxis]
            return self.constant(np.asarray(function(rows))[0])
        results = {owner: self._applied(tensor, owner, function) for owner in owners}
        shapes = {result.shape[1:] for result in results.values()}
        if not elementwise:
            [result] = results.values()
            return self.table(owners[0], result)
        if shapes != {tensor.shape}:
            raise UnsupportedModelError("an elementwise step changes the shape")
        tables = []
        for entry, owner in enumerate(tensor.owners):
            rows = results[owners[0] if owner == CONSTANT else owner]
            column = rows.reshape(len(rows), -1)[:, entry]
            tables.append(column[:1] if owner == CONSTANT else column)
        return Columns(tensor.shape, tensor.owners, tuple(tables))

    def _applied(
        self, tensor: Columns, owner: int, function: Callable[[NDArray[Any]], Any]
    ) -> NDArray[Any]:
        """Return `function` of rows in which one feature goes through its values."""
        n_values = self.domain.sizes[owner]
        columns = [
            table if mine == owner else np.repeat(table[:1], n_values)
            for mine, table in zip(tensor.owners, tensor.tables, strict=True)
        ]
        rows = np.stack(columns, axis=1).reshape(n_values, *tensor.shape)
        return np.asarray(function(rows))

    def scale(
        self, tensor: Tensor, factor: Any, shift: Any = 0.0, shift_size: Any = None
    ) -> Tensor:
        """Return ``tensor * factor + shift``, broadcast to the shape of `tensor`.

        `shift_size` is the sum of the absolute values that make up `shift`, if it is
        itself the result of a computation.
        """
        factor = np.broadcast_to(_floats(factor), tensor.shape).reshape(-1)
        shift = np.broadcast_to(_floats(shift), tensor.shape).reshape(-1)
        size = np.abs(shift) if shift_size is None else _floats(shift_size)
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
            _complement(tensor.ending, factor, shift),
        )

    def add(self, left: Tensor, right: Tensor, *, sign: int = 1) -> Tensor:
        """Return ``left + sign * right``, broadcast as numpy does."""
        for one, other, factor, shift in (
            (left, right, 1, sign),
            (right, left, sign, 1),
        ):
            if isinstance(other, Columns) and other.is_constant:
                wide = self._broadcast(one, other.shape)
                return self.scale(wide, factor, shift * _floats(other.value))
        shape = np.broadcast_shapes(left.shape, right.shape)
        a, b = self._same_level(
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
        weights = _floats(weights)
        n_in, n_out = weights.shape
        if tensor.shape[-1:] != (n_in,):
            raise UnsupportedModelError(
                f"a linear layer of {n_in} inputs is given a tensor of shape "
                f"{tensor.shape}"
            )
        x = self.affine(tensor)
        shift = np.zeros(n_out) if bias is None else _floats(bias)
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
            A name of `ACTIVATIONS`, or softmax, which must be the last step.
        slope : float, optional
            Of leaky_relu.
        """
        if name == "identity":
            return tensor
        if name == "softmax":
            return replace(self.affine(tensor), ending=Ending("softmax", tensor))
        ending = Ending(name, tensor) if name == "sigmoid" else None
        columns = self._unmixed(tensor)
        if columns is not None:
            return replace(self._activated(columns, name, slope), ending=ending)
        x = self.affine(tensor)
        layer = self._layer(x.level, name, slope)
        start = layer.size
        layer.blocks.append(x)
        weights = np.zeros((layer.size, len(x.bias)))
        weights[start:] = np.eye(len(x.bias))
        zeros = np.zeros(len(x.bias))
        return Affine(
            x.shape, x.level + 1, weights, zeros, weights, zeros, ending=ending
        )

    def _activated(self, tensor: Columns, name: str, slope: float | None) -> Columns:
        """Return an activation of tables, with bounds on what the framework rounds."""
        function = activation(name, slope)
        made = self.apply(
            tensor, lambda rows: function.floats(_floats(rows)), elementwise=True
        )
        before = tensor.sizes or tuple(np.abs(_floats(t)) for t in tensor.tables)
        factor = function.rounding / tensor.terms
        sizes = tuple(
            np.abs(table) + function.lipschitz * size + factor * (1 + size)
            for table, size in zip(made.tables, before, strict=True)
        )
        return replace(made, sizes=sizes, terms=tensor.terms)

    def finish(
        self,
        tensor: Tensor,
        classes: Sequence[Value],
        *,
        threshold: float = 0.5,
        unit: float,
    ) -> Network:
        """Return the network whose scores are `tensor`, or what its ending is made of.

        Parameters
        ----------
        tensor : Tensor
            One score for two classes, or a score for each class.
        classes : sequence of class labels
        threshold : float
            Of a single score.
        unit : float
            The unit roundoff of the framework: 2**-24 for float32.
        """
        kind = "" if tensor.ending is None else tensor.ending.kind
        size = int(np.prod(tensor.shape, dtype=np.int64))
        if kind == "sigmoid" and size > 1:
            raise UnsupportedModelError(
                f"the model ends in {size} sigmoid units, so it answers several yes-no "
                f"questions at once (multi-label); train one model for each"
            )
        if kind == "complement":
            raise UnsupportedModelError(
                "the model's output is 1 - sigmoid, not sigmoid"
            )
        last = self.affine(tensor.ending.scores if tensor.ending else tensor)
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
        error = arithmetic.error_bound(sizes, offsets, unit=unit * terms).max()
        folding = arithmetic.error_bound(sizes, offsets).max()
        whole = float(error + terms * folding)
        longest = max(len(layer.weights) for layer in layers) + 2
        is_bound = math.isfinite(whole) and longest * unit * terms < 0.5  # see _gamma
        known = whole if is_bound else None
        return Network(self.domain, tuple(layers), tuple(classes), threshold, known)

    # Parts -----------------------------------------------------------------------

    def affine(self, tensor: Tensor) -> Affine:
        """Return a tensor as an affine function of the one-hot input, or as it is."""
        if isinstance(tensor, Affine):
            return self._padded(tensor)
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
            numbers = _floats(tables[entry])
            if owner == CONSTANT:
                bias[entry] = numbers[0]
            else:
                start, stop = self.domain.offsets[owner : owner + 2]
                weights[start:stop, entry] = numbers
        return weights, bias

    def _padded(self, tensor: Affine) -> Affine:
        """Give a tensor weights of 0 for units that its level got since it was made."""
        if tensor.level == 0:
            return tensor
        missing = self._layers[tensor.level - 1].size - len(tensor.weights)
        padding = ((0, missing), (0, 0))
        return replace(
            tensor,
            weights=np.pad(tensor.weights, padding),
            sizes=np.pad(tensor.sizes, padding),
        )

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
                    for size in c.sizes or [np.abs(_floats(t)) for t in c.tables]
                )
            terms = max((c.terms for c in columns), default=1)
            return Columns((len(owners),), owners, tables, None, bounds, terms)
        parts = self._same_level([self.affine(tensor) for tensor in tensors])
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

    def _same_level(self, tensors: Sequence[Affine]) -> list[Affine]:
        """Carry tensors of earlier levels through layers, to the last of the levels."""
        top = max(tensor.level for tensor in tensors)
        raised = [self._raised(tensor, top) for tensor in tensors]
        return [self._padded(tensor) for tensor in raised]

    def _raised(self, tensor: Affine, level: int) -> Affine:
        """Carry a tensor unchanged through ReLU layers, as ``relu(x) - relu(-x)``."""
        while tensor.level < level:
            if not (tensor.weights.any() or tensor.sizes.any()):  # a constant
                n_units = self._layers[level - 1].size
                none: Array = np.zeros((n_units, len(tensor.bias)))
                return replace(tensor, level=level, weights=none, sizes=none)
            layer = self._layers[tensor.level]
            if layer.activation != "relu":
                raise UnsupportedModelError(
                    f"the model adds or joins numbers from before and after a "
                    f"{layer.activation} layer; nn2rules can hold such a shortcut "
                    f"around ReLU layers only"
                )
            tensor = self._padded(tensor)
            negative = replace(tensor, weights=-tensor.weights, bias=-tensor.bias)
            size, start = len(tensor.bias), layer.size
            is_positive = self._is_positive(tensor)
            layer.blocks += [tensor] if is_positive else [tensor, negative]
            weights: Array = np.zeros((layer.size, size))
            weights[start : start + size] = np.eye(size)
            if not is_positive:
                weights[start + size :] = -np.eye(size)
            zeros: Array = np.zeros(size)
            tensor = Affine(
                tensor.shape, tensor.level + 1, weights, zeros, np.abs(weights), zeros
            )
        return tensor

    def _is_positive(self, tensor: Affine) -> bool:
        """Tell whether no entry can be negative: sums of ReLU units, say."""
        if tensor.level > 0 and self._layers[tensor.level - 1].activation != "relu":
            return False
        return bool((tensor.weights >= 0).all() and (tensor.bias >= 0).all())

    def _layer(self, level: int, name: str, slope: float | None) -> _Units:
        """Return the hidden layer above `level`, a new one if there is none."""
        if len(self._layers) == level:
            self._layers.append(_Units(name, slope))
        layer = self._layers[level]
        if (layer.activation, layer.slope) != (name, slope):
            raise UnsupportedModelError(
                f"the model has {layer.activation} and {name} units side by side; "
                f"nn2rules holds layers of one activation"
            )
        return layer


def mixing(domain: Domain, owners: Sequence[int]) -> UnsupportedModelError:
    """Return the error that says which features a step mixes too early."""
    names = " and ".join(repr(domain.names[owner]) for owner in owners[:4])
    return UnsupportedModelError(
        f"a step of the model mixes the features {names} before its first layer; each "
        f"number that enters the first layer must come from one feature"
    )


def _floats(array: Any) -> Array:
    try:
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError):
        raise UnsupportedModelError(
            "a step of the model computes with texts as if they were numbers"
        ) from None


def _picked(tensor: Tensor, positions: NDArray[np.int64]) -> Tensor:
    """Return the tensor whose entries are those of a flat one at `positions`."""
    flat = positions.reshape(-1)
    if isinstance(tensor, Columns):
        return Columns(
            positions.shape,
            tuple(tensor.owners[i] for i in flat),
            tuple(tensor.tables[i] for i in flat),
            sizes=None
            if tensor.sizes is None
            else tuple(tensor.sizes[i] for i in flat),
            terms=tensor.terms,
        )
    return Affine(
        positions.shape,
        tensor.level,
        tensor.weights[:, flat],
        tensor.bias[flat],
        tensor.sizes[:, flat],
        tensor.bias_sizes[flat],
        tensor.terms,
    )


def _complement(ending: Ending | None, factor: Array, shift: Array) -> Ending | None:
    """Return the ending of ``1 - sigmoid``, if that is what was computed."""
    is_sigmoid = ending is not None and ending.kind == "sigmoid"
    if ending is None or not is_sigmoid or (factor != -1).any() or (shift != 1).any():
        return None
    return Ending("complement", ending.scores)


def _ending_of(tensors: Sequence[Tensor], shape: tuple[int, ...]) -> Ending | None:
    """Return the ending that survives a rearrangement, if any does.

    Only of tensors that keep their size: what is left of a softmax is no softmax.
    """
    endings = [tensor.ending for tensor in tensors]
    kinds = [None if ending is None else ending.kind for ending in endings]
    size = int(np.prod(shape, dtype=np.int64))
    if kinds == ["complement", "sigmoid"] and size == 2:
        [first, second] = (ending.scores for ending in endings if ending is not None)
        return Ending("pair", second) if first is second else None
    if len(tensors) != 1 or size != np.prod(tensors[0].shape, dtype=np.int64):
        return None
    return endings[0]


def _layer(
    blocks: Sequence[Affine],
    n_rows: int,
    name: str,
    slope: float | None,
    *,
    sizes: bool,
) -> Layer:
    """Put blocks of units side by side; with `sizes`, the bounds on their terms."""
    weights = [block.sizes if sizes else block.weights for block in blocks]
    bias = [block.bias_sizes if sizes else block.bias for block in blocks]
    padded = [np.pad(w, ((0, n_rows - len(w)), (0, 0))) for w in weights]
    return Layer(np.concatenate(padded, axis=1), np.concatenate(bias), name, slope)
