"""Which rule is the first to cover a row: bit rows, one feature at a time.

Bit r of ``bits[column]`` is set if rule r allows the value of that column. The rules
that cover a row are the AND of the bit rows of its values, and the lowest set bit is
the first of them. Rules are tried 64 at a time, and rows drop out once they are
matched, so a list whose first rules cover most rows is fast even if it is long.
"""

import numpy as np
from numpy.typing import NDArray

NO_RULE = -1
"""What `first_match` returns where no rule covers a row."""

_CHUNK = 1 << 15


def bit_rows(boxes: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return the bit rows of rules.

    Parameters
    ----------
    boxes : ndarray of bool, shape (n_rules, n_columns)

    Returns
    -------
    ndarray of uint64, shape (n_words, n_columns)
    """
    n_words = -(-len(boxes) // 64)
    padded = np.zeros((n_words * 64, boxes.shape[1]), dtype=np.bool_)
    padded[: len(boxes)] = boxes
    packed = np.packbits(
        padded.reshape(n_words, 8, 8, boxes.shape[1]), axis=2, bitorder="little"
    )
    shifts = np.arange(0, 64, 8, dtype=np.uint64)[:, np.newaxis]
    shifted = packed[:, :, 0].astype(np.uint64) << shifts
    bits: NDArray[np.uint64] = np.bitwise_or.reduce(shifted, axis=1)
    return bits


def first_match(
    bits: NDArray[np.uint64], codes: NDArray[np.int64], offsets: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the index of the first rule that covers each row, or -1.

    Notes
    -----
    Equal rows are matched once. Takes O(rows × features) for each 64 rules, over the
    rows that are not matched yet.
    """
    distinct, positions = _distinct_rows(codes, np.diff(offsets))
    matched = np.full(len(distinct), NO_RULE, dtype=np.int64)
    for start in range(0, len(distinct), _CHUNK):
        columns = distinct[start : start + _CHUNK] + offsets[:-1]
        pending = np.arange(start, start + len(columns))
        for word, row in enumerate(bits):
            covering = row[columns[:, 0]]
            for feature in range(1, columns.shape[1]):
                covering &= row[columns[:, feature]]
            hit = covering != 0
            if hit.any():
                lowest = covering[hit] & (~covering[hit] + np.uint64(1))
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

    If the domain is too large to number its inputs in 64 bits, return the rows
    themselves, and None.
    """
    if np.prod(sizes.astype(object)) >= 1 << 62:
        return codes, None
    steps = np.concatenate([np.cumprod(sizes[:0:-1])[::-1], [1]])
    distinct, positions = np.unique(codes @ steps, return_inverse=True)
    return distinct[:, np.newaxis] // steps % sizes, positions
