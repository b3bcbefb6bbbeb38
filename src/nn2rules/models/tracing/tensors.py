"""Tensors of a model, as functions of its features or of hidden units.

And the ways from one form to another: tables as sums, sums as tables, several as one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import UnsupportedModelError
from nn2rules.network import activation
from nn2rules.space import Domain

CONSTANT = -1
"""The owner of an entry that does not depend on any feature."""

UNITS = {
    "bfloat16": 2.0**-8,
    "float16": 2.0**-11,
    "float32": 2.0**-24,
    "float64": 2.0**-53,
}
"""The unit roundoff of the formats that models compute in."""

FLOAT32, FLOAT64 = UNITS["float32"], UNITS["float64"]

MOST_WIDTH = 100_000
"""The most numbers that a step may make for one row."""

MOST_NUMBERS = 1 << 26
"""The largest matrix while tracing: a small file could ask for any size."""

Array: TypeAlias = NDArray[np.float64]


def refuse_wide(n_entries: int) -> None:
    """Refuse a step that makes very many numbers for one row."""
    if n_entries > MOST_WIDTH:
        raise UnsupportedModelError(
            f"it makes {n_entries:,} numbers for each row; nn2rules reads models whose "
            f"steps make at most {MOST_WIDTH:,}"
        )


def refuse_large(n_units: int, n_entries: int) -> None:
    """Refuse a matrix of weights that would need too much memory."""
    if n_units * n_entries > MOST_NUMBERS:
        raise UnsupportedModelError(
            f"it needs a matrix of {n_units:,} times {n_entries:,} numbers; nn2rules "
            f"reads models whose matrices have at most {MOST_NUMBERS:,}"
        )


@dataclass(frozen=True)
class Ending:
    """A final step that only turns scores into probabilities.

    `kind` is "sigmoid", "complement" (1 - sigmoid), "pair" (1 - sigmoid and sigmoid),
    "mirrored pair" (in reverse order), "softmax" or "log_softmax".
    """

    kind: str
    scores: "Tensor"

    @property
    def is_softmax(self) -> bool:
        """Whether these are class probabilities, or their logarithms."""
        return self.kind in ("softmax", "log_softmax")


@dataclass(frozen=True)
class Columns:
    """A tensor in which each entry depends on at most one feature.

    Attributes
    ----------
    shape : tuple of int
    owners : tuple of int
        For each entry, in C order, its feature, or `CONSTANT`.
    tables : tuple of arrays
        For each entry, its value for each value of its owner; for constants, one value.
    sizes, terms
        As in `Affine`, if the tables are not the framework's own numbers.
    """

    shape: tuple[int, ...]
    owners: tuple[int, ...]
    tables: tuple[NDArray[Any], ...]
    ending: Ending | None = None
    sizes: tuple[Array, ...] | None = None
    terms: int = 1

    def __post_init__(self) -> None:
        refuse_wide(len(self.owners))

    @property
    def is_constant(self) -> bool:
        """Whether no entry depends on any feature."""
        return all(owner == CONSTANT for owner in self.owners)

    @property
    def value(self) -> NDArray[Any]:
        """The array of a constant tensor."""
        assert self.is_constant, "only a constant has a single value"
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
        The sums of the absolute values of the terms of these. They bound the rounding
        errors of the framework.
    terms : int
        The most roundings that an entry has gone through.
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


def floats(array: Any) -> Array:
    """Return numbers as float64."""
    try:
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError):
        raise UnsupportedModelError(
            "a step of the model computes with text as if it were numbers"
        ) from None


def picked(tensor: Tensor, positions: NDArray[np.int64]) -> Tensor:
    """Return a tensor with the entries of a flat tensor at `positions`."""
    flat = positions.reshape(-1)
    refuse_wide(flat.size)
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
    refuse_large(len(tensor.weights), flat.size)
    return Affine(
        positions.shape,
        tensor.level,
        tensor.weights[:, flat],
        tensor.bias[flat],
        tensor.sizes[:, flat],
        tensor.bias_sizes[flat],
        tensor.terms,
    )


def scaled_ending(ending: Ending | None, factor: Array, shift: Array) -> Ending | None:
    """Return the ending that remains after a multiplication and a shift, if any."""
    if ending is None or ((factor == 1).all() and (shift == 0).all()):
        return ending
    kinds = {"sigmoid": "complement", "complement": "sigmoid"}
    if ending.kind not in kinds or (factor != -1).any() or (shift != 1).any():
        return None
    return Ending(kinds[ending.kind], ending.scores)


def ending_of(tensors: Sequence[Tensor], shape: tuple[int, ...]) -> Ending | None:
    """Return the ending that remains after a rearrangement, if any does.

    The size must not change: a part of a softmax is not a softmax.
    """
    endings = [tensor.ending for tensor in tensors]
    kinds = tuple(None if ending is None else ending.kind for ending in endings)
    size = int(np.prod(shape, dtype=np.int64))
    if kinds in _PAIRS and size == 2:
        [first, second] = (ending.scores for ending in endings if ending is not None)
        return Ending(_PAIRS[kinds], second) if first is second else None
    if len(tensors) != 1 or size != np.prod(tensors[0].shape, dtype=np.int64):
        return None
    return endings[0]


_PAIRS: dict[tuple[str | None, ...], str] = {
    ("complement", "sigmoid"): "pair",
    ("sigmoid", "complement"): "mirrored pair",
}


def is_softmax(tensor: Tensor) -> bool:
    """Tell whether a tensor has class probabilities, or their logarithms."""
    return tensor.ending is not None and tensor.ending.is_softmax


def refuse_softmax(*tensors: Tensor) -> None:
    """Refuse to compute with class probabilities."""
    if any(is_softmax(tensor) for tensor in tensors):
        raise UnsupportedModelError(
            "it computes with the result of a softmax, which nn2rules reads only as "
            "the last step; return the result unchanged, or the scores before it"
        )


def affine_of(domain: Domain, tensor: Columns) -> Affine:
    """Return tables as an affine function of the one-hot input."""
    weights, bias = _spread(domain, tensor.owners, tensor.tables)
    sizes, bias_sizes = np.abs(weights), np.abs(bias)
    if tensor.sizes is not None:
        sizes, bias_sizes = _spread(domain, tensor.owners, tensor.sizes)
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
    domain: Domain, owners: Sequence[int], tables: Sequence[NDArray[Any]]
) -> tuple[Array, Array]:
    """Return tables as weights of the one-hot input, and constants as a bias."""
    n_columns, size = int(domain.offsets[-1]), len(owners)
    refuse_large(n_columns, size)
    weights, bias = np.zeros((n_columns, size)), np.zeros(size)
    for entry, owner in enumerate(owners):
        numbers = floats(tables[entry])
        if owner == CONSTANT:
            bias[entry] = numbers[0]
        else:
            start, stop = domain.offsets[owner : owner + 2]
            weights[start:stop, entry] = numbers
    return weights, bias


def unmixed(domain: Domain, tensor: Tensor) -> Columns | None:
    """Return a tensor as `Columns` if each entry depends on at most one feature."""
    if isinstance(tensor, Columns):
        return tensor
    if tensor.level > 0:
        return None
    owners, tables, sizes = [], [], []
    offsets = domain.offsets
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


def activated(tensor: Columns, name: str, slope: float | None) -> Columns:
    """Return an activation of tables, with bounds on the framework's rounding."""
    function = activation(name, slope)
    tables = tuple(function.floats(floats(table)) for table in tensor.tables)
    before = tensor.sizes or tuple(np.abs(floats(t)) for t in tensor.tables)
    factor = function.rounding / tensor.terms
    sizes = tuple(
        np.abs(table) + function.lipschitz * size + factor * (1 + size)
        for table, size in zip(tables, before, strict=True)
    )
    return Columns(tensor.shape, tensor.owners, tables, sizes=sizes, terms=tensor.terms)


def mapped(x: Affine, weights: Array, bias: Array, terms: int) -> Affine:
    """Return ``x @ weights + bias`` along the last axis; it rounds `terms` times."""
    n_in, n_out = weights.shape
    shape = (*x.shape[:-1], n_out)
    refuse_large(len(x.weights), math.prod(shape))
    shift = np.broadcast_to(bias, shape).reshape(-1)

    def along(rows: Array, matrix: Array) -> Array:
        return (rows.reshape(-1, n_in) @ matrix).reshape(-1, shift.size)

    return Affine(
        shape,
        x.level,
        along(x.weights, weights),
        along(x.bias[np.newaxis], weights)[0] + shift,
        along(x.sizes, np.abs(weights)),
        along(x.bias_sizes[np.newaxis], np.abs(weights))[0] + np.abs(shift),
        x.terms + terms,
    )


def summands(domain: Domain, x: Affine, n_in: int) -> int:
    """Return how many of the `n_in` numbers in a sum can be different from 0.

    Only one of the columns of a one-hot feature is, and adding zeros rounds nothing.
    """
    if x.level > 0:
        return n_in
    groups = (x.sizes != 0).reshape(len(x.sizes), -1, n_in).sum(axis=2)
    most = np.maximum.reduceat(groups, domain.offsets[:-1], axis=0).sum(axis=0)
    fixed = (x.bias_sizes != 0).reshape(-1, n_in).sum(axis=1)
    return min(n_in, int((most + fixed).max()))


def flat_columns(columns: Sequence[Columns]) -> Columns:
    """Return the entries of tables, in one flat tensor."""
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


def flat_affine(parts: Sequence[Affine]) -> Affine:
    """Return the entries of tensors of one level, in one flat tensor."""
    n_entries = sum(len(part.bias) for part in parts)
    refuse_large(len(parts[0].weights), n_entries)
    return Affine(
        (n_entries,),
        parts[0].level,
        np.concatenate([part.weights for part in parts], axis=1),
        np.concatenate([part.bias for part in parts]),
        np.concatenate([part.sizes for part in parts], axis=1),
        np.concatenate([part.bias_sizes for part in parts]),
        max(part.terms for part in parts),
    )
