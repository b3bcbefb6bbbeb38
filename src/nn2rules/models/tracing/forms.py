"""Tensors in other forms: tables as sums, sums as tables, several as one."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.models.tracing.tensors import (
    CONSTANT,
    Affine,
    Array,
    Columns,
    Tensor,
    floats,
    refuse_large,
)
from nn2rules.network import activation
from nn2rules.space import Domain


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
    """Return a tensor as `Columns` if each entry depends on one feature at most."""
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
    """Return an activation of tables, with bounds on what the framework rounds."""
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
    """Return ``x @ weights + bias`` along the last axis, with so many terms more."""
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
    """Return how many of `n_in` numbers that are added up can be other than 0.

    Of the columns of a one-hot feature only one is: adding zeros rounds nothing.
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
