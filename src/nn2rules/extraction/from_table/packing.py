"""Truth tables and boxes, packed as 64-bit words.

A *table* has the class of every input, last feature fastest; `DONT_CARE` marks inputs
that cannot occur. ``_kernels.packed`` has the operations.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import DONT_CARE


class Packing(NamedTuple):
    """Where an input is stored: head features give the word, tail features the bit."""

    offsets: NDArray[np.int64]  # first column of each feature, head features first
    n_head: int
    strides: NDArray[np.int64]  # of words (head) or bits (tail)
    masks: NDArray[np.uint64]  # the bits of each tail column


@dataclass(frozen=True, slots=True)
class Space:
    """The packed inputs of a domain, with conversions.

    Attributes
    ----------
    sizes : the number of values of each feature
    order : the features in packed order, head features first
    pack : Packing
    columns : for each packed column the original column
    """

    sizes: tuple[int, ...]
    order: tuple[int, ...]
    pack: Packing
    columns: NDArray[np.int64]

    @property
    def n_words(self) -> int:
        """The number of words of a set of inputs."""
        return int(np.prod(np.diff(self.pack.offsets)[: self.pack.n_head]))

    def scratch(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return arrays for a list of words and for a number per column."""
        return np.empty(self.n_words, np.int64), np.empty(len(self.columns), np.int64)

    def set_of(self, chosen: NDArray[np.bool_]) -> NDArray[np.uint64]:
        """Return the packed set of the inputs where `chosen` is true."""
        cube = chosen.reshape(self.sizes).transpose(self.order)
        bits = cube.reshape(self.n_words, -1)
        padded = np.zeros((self.n_words, 64), dtype=np.bool_)
        padded[:, : bits.shape[1]] = bits
        packed = np.packbits(padded, axis=1, bitorder="little")
        return packed.view("<u8").ravel().astype(np.uint64)

    def planes_of(self, weights: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return the packed bit planes of non-negative integer weights."""
        n_planes = max(1, int(weights.max(initial=0)).bit_length())
        return np.stack([self.set_of((weights >> p) & 1 == 1) for p in range(n_planes)])

    def unpack(self, boxes: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return boxes of packed column order in the order of the features."""
        result = np.zeros_like(boxes)
        result[:, self.columns] = boxes
        return result


def space(sizes: Sequence[int]) -> Space:
    """Return the packed space of a domain with features of the given sizes.

    Examples
    --------
    >>> space((3, 40, 2)).n_words
    6
    """
    sizes = tuple(int(size) for size in sizes)
    tail = _tail_features(sizes)
    head = [feature for feature in range(len(sizes)) if feature not in tail]
    order = (*head, *tail)
    inner = np.array([sizes[feature] for feature in order], dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum(inner)]).astype(np.int64)
    n_head = len(head)
    strides = np.concatenate([_strides(inner[:n_head]), _strides(inner[n_head:])])
    masks = np.zeros(int(offsets[-1]), dtype=np.uint64)
    bits = np.arange(int(np.prod(inner[n_head:])), dtype=np.int64)
    for index in range(n_head, len(order)):
        code = (bits // strides[index]) % inner[index]
        for value in range(inner[index]):
            ones = np.uint64(1) << bits[code == value].astype(np.uint64)
            masks[offsets[index] + value] = np.bitwise_or.reduce(ones)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    columns = np.concatenate([np.arange(starts[f], starts[f + 1]) for f in order])
    pack = Packing(offsets, n_head, strides, masks)
    return Space(sizes, order, pack, columns.astype(np.int64))


def _tail_features(sizes: tuple[int, ...]) -> list[int]:
    """Choose the features whose combinations fill most of the 64 bits of a word."""
    best: dict[int, list[int]] = {1: []}
    for feature, size in enumerate(sizes):
        for product, chosen in list(best.items()):
            larger = product * size
            if larger <= 64 and len(chosen) >= len(best.get(larger, [])):
                best[larger] = [*chosen, feature]
    return best[max(best)]


def _strides(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the strides of an array of the given sizes, last fastest."""
    strides = np.concatenate([np.cumprod(sizes[::-1])[::-1][1:], [1]])
    return strides[: sizes.size].astype(np.int64)


@dataclass(frozen=True, slots=True)
class State:
    """A packed table: the inputs of each class, and all possible inputs."""

    space: Space
    live: NDArray[np.uint64]
    possible: NDArray[np.uint64]


def state_of(
    table: NDArray[np.uint8], sizes: Sequence[int], *, at_least: int = 1
) -> State:
    """Return the packed table, with `at_least` this many classes."""
    inputs = space(sizes)
    n_classes = max(at_least, int(table[table != DONT_CARE].max(initial=0)) + 1)
    live = np.stack([inputs.set_of(table == index) for index in range(n_classes)])
    return State(inputs, live, np.bitwise_or.reduce(live, axis=0))


@dataclass(frozen=True, slots=True)
class Rules:
    """Boxes with the positions of their classes, in order, and of the default.

    Incomplete if the work was stopped before all inputs were covered.
    """

    boxes: NDArray[np.bool_]
    classes: NDArray[np.int64]
    default: int
    is_complete: bool = True

    def __len__(self) -> int:
        return len(self.boxes)
