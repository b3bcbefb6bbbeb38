"""Tensors of a model, as functions of its features or of hidden units."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import UnsupportedModelError

CONSTANT = -1
"""The owner of an entry that depends on no feature."""

UNITS = {
    "bfloat16": 2.0**-8,
    "float16": 2.0**-11,
    "float32": 2.0**-24,
    "float64": 2.0**-53,
}
"""The unit roundoff of the formats that models compute in."""

MOST_WIDTH = 100_000
"""No step of a model makes more numbers of one row."""

MOST_NUMBERS = 1 << 26
"""No matrix of a network in the making is larger: a small file could ask for any."""

Array: TypeAlias = NDArray[np.float64]


def refuse_wide(n_entries: int) -> None:
    """Refuse a step that makes very many numbers of one row."""
    if n_entries > MOST_WIDTH:
        raise UnsupportedModelError(
            f"it makes {n_entries:,} numbers of each row; nn2rules reads classifiers "
            f"of tables, whose steps make {MOST_WIDTH:,} at most"
        )


def refuse_large(n_units: int, n_entries: int) -> None:
    """Refuse a matrix of weights that would take very much memory, before it does."""
    if n_units * n_entries > MOST_NUMBERS:
        raise UnsupportedModelError(
            f"it needs a matrix of {n_units:,} times {n_entries:,} numbers; nn2rules "
            f"reads classifiers of tables, with {MOST_NUMBERS:,} numbers at most in "
            f"each"
        )


@dataclass(frozen=True)
class Ending:
    """What a tensor is made of by a last step that only turns scores into shares.

    `kind` is "sigmoid", "complement" (1 - sigmoid), "pair" (1 - sigmoid and sigmoid),
    "mirrored pair" (the other way round), "softmax" or "log_softmax".
    """

    kind: str
    scores: "Tensor"

    @property
    def is_softmax(self) -> bool:
        """Whether these are the shares of classes, or their logarithms."""
        return self.kind in ("softmax", "log_softmax")


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

    def __post_init__(self) -> None:
        refuse_wide(len(self.owners))

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


def floats(array: Any) -> Array:
    """Return numbers as float64."""
    try:
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError):
        raise UnsupportedModelError(
            "a step of the model computes with texts as if they were numbers"
        ) from None


def picked(tensor: Tensor, positions: NDArray[np.int64]) -> Tensor:
    """Return the tensor whose entries are those of a flat one at `positions`."""
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
    """Return what is left of an ending that is multiplied and shifted."""
    if ending is None or ((factor == 1).all() and (shift == 0).all()):
        return ending
    kinds = {"sigmoid": "complement", "complement": "sigmoid"}
    if ending.kind not in kinds or (factor != -1).any() or (shift != 1).any():
        return None
    return Ending(kinds[ending.kind], ending.scores)


def ending_of(tensors: Sequence[Tensor], shape: tuple[int, ...]) -> Ending | None:
    """Return the ending that survives a rearrangement, if any does.

    Only of tensors that keep their size: what is left of a softmax is no softmax.
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
    """Tell whether a tensor is the shares of classes, or their logarithms."""
    return tensor.ending is not None and tensor.ending.is_softmax


def refuse_shares(*tensors: Tensor) -> None:
    """Refuse to compute with the shares of classes."""
    if any(is_softmax(tensor) for tensor in tensors):
        raise UnsupportedModelError(
            "it computes with the shares of a softmax, which is read as the last step "
            "only; return them as they are, or the scores before it"
        )
