"""Which rule decides a row: bit rows, a feature at a time.

Bit r of ``bits[column]`` says that rule r allows the value of that column. The rules
that a row satisfies are the AND of the bit rows of its values, and the lowest set bit
is the first of them. Rules are taken 64 at a time, and rows that are decided drop
out, so a list whose first rules decide most rows is fast however long it is.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

NO_RULE = -1
"""What `first_match` gives where no rule fires."""

_CHUNK = 1 << 15


def bit_rows(
    boxes: Sequence[Sequence[Sequence[int] | None]], sizes: Sequence[int]
) -> NDArray[np.uint64]:
    """Return the bit rows of rules.

    Parameters
    ----------
    boxes : one for each rule
        For each feature the allowed codes, or None for all of them.
    sizes : sequence of int
        The number of values of each feature.

    Returns
    -------
    ndarray of uint64, shape (n_words, n_columns)
    """
    n_words = -(-len(boxes) // 64)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    bits = np.zeros((n_words, int(offsets[-1])), dtype=np.uint64)
    for rule, box in enumerate(boxes):
        word, bit = rule // 64, np.uint64(1 << rule % 64)
        for feature, codes in enumerate(box):
            start, stop = int(offsets[feature]), int(offsets[feature + 1])
            if codes is None:
                bits[word, start:stop] |= bit
            else:
                for code in codes:
                    bits[word, start + code] |= bit
    return bits


def first_match(
    bits: NDArray[np.uint64], codes: NDArray[np.int64], offsets: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the index of the first rule that each row satisfies, or -1.

    Notes
    -----
    Equal rows are matched once. Takes O(rows × features) for each 64 rules, over the
    rows not decided before.
    """
    distinct, positions = _distinct_rows(codes, np.diff(offsets))
    matched = np.full(len(distinct), NO_RULE, dtype=np.int64)
    for start in range(0, len(distinct), _CHUNK):
        columns = distinct[start : start + _CHUNK] + offsets[:-1]
        pending = np.arange(start, start + len(columns))
        for word, row in enumerate(bits):
            found = row[columns[:, 0]]
            for feature in range(1, columns.shape[1]):
                found &= row[columns[:, feature]]
            hit = found != 0
            if hit.any():
                lowest = found[hit] & (~found[hit] + np.uint64(1))
                index = np.bitwise_count(lowest - np.uint64(1)).astype(np.int64)
                matched[pending[hit]] = 64 * word + index
                pending, columns = pending[~hit], columns[~hit]
            if not len(pending):
                break
    return matched if positions is None else matched[positions]


def _distinct_rows(
    codes: NDArray[np.int64], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """Return the distinct rows, and for each row which of them it is.

    Where the domain is too large for rows to be numbered in 64 bits, the rows
    themselves, and None.
    """
    if np.prod(sizes.astype(object)) >= 1 << 62:
        return codes, None
    shape = tuple(int(size) for size in sizes)
    numbers = np.ravel_multi_index(tuple(codes.T), shape)
    distinct, positions = np.unique(numbers, return_inverse=True)
    return np.stack(np.unravel_index(distinct, shape), axis=1), positions
