"""Disjoint boxes: each keeps the inputs that no box before it has.

Tables in which only *one* row may match need rows that never match together. A box
minus another is at most one box for each feature: the inputs that the other does not
allow in this feature, while they agree with it in the features before. The rest of a
box may consist of many pieces, so their number is limited.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import BudgetExceededError

Boxes = NDArray[np.bool_]


def disjoint(boxes: Boxes, offsets: Sequence[int], *, limit: int) -> list[Boxes]:
    """Return, for each box, pieces with its inputs that no earlier box has.

    Parameters
    ----------
    boxes : ndarray of bool, shape (n_boxes, n_values)
    offsets : sequence of int
        Where the values of each feature begin, and the end of the last.
    limit : int
        How many pieces there may be in all, at any time.

    Raises
    ------
    BudgetExceededError
        If there are more.

    Examples
    --------
    Two features with two values each; the second box is all inputs:

    >>> boxes = np.array([[1, 0, 1, 0], [1, 1, 1, 1]], dtype=bool)
    >>> for pieces in disjoint(boxes, [0, 2, 4], limit=10):
    ...     print(pieces.astype(int).tolist())
    [[1, 0, 1, 0]]
    [[0, 1, 1, 1], [1, 0, 0, 1]]
    """
    found: list[Boxes] = []
    room = limit
    for index in range(len(boxes)):
        pieces = without(boxes[index], boxes[:index], offsets, limit=room)
        room -= len(pieces)
        found.append(pieces)
    return found


def without(box: Boxes, others: Boxes, offsets: Sequence[int], *, limit: int) -> Boxes:
    """Return disjoint pieces with the inputs of a box that no other box has."""
    blocks = [slice(a, b) for a, b in pairwise(offsets)]
    pieces = box[None]
    for other in others:
        pieces = _joined(_minus(pieces, other, blocks), blocks)
        if len(pieces) > limit:
            raise BudgetExceededError(
                f"the rest of a rule consists of more than {limit:,} pieces"
            )
    return pieces


def _minus(pieces: Boxes, other: Boxes, blocks: Sequence[slice]) -> Boxes:
    """Return what is left of disjoint pieces without the inputs of another box."""
    common = pieces & other
    meets = np.ones(len(pieces), dtype=np.bool_)
    for block in blocks:
        meets &= common[:, block].any(axis=1)
    if not meets.any():
        return pieces
    made, rest = [pieces[~meets]], pieces[meets]
    for block in blocks:
        outside = rest.copy()
        outside[:, block] &= ~other[block]
        made.append(outside[outside[:, block].any(axis=1)])
        rest = rest.copy()
        rest[:, block] &= other[block]
    return np.concatenate(made)


def _joined(pieces: Boxes, blocks: Sequence[slice]) -> Boxes:
    """Return the same inputs in fewer pieces, where two differ in one feature alone."""
    number = None
    while number != len(pieces):
        number = len(pieces)
        for block in blocks:
            pieces = _joined_along(pieces, block)
    return pieces


def _joined_along(pieces: Boxes, block: slice) -> Boxes:
    apart = pieces.copy()
    apart[:, block] = False
    places: dict[bytes, int] = {}
    rows = [places.setdefault(row.tobytes(), len(places)) for row in apart]
    if len(places) == len(pieces):
        return pieces
    joined = np.zeros((len(places), pieces.shape[1]), dtype=np.bool_)
    np.logical_or.at(joined, rows, pieces)
    return joined
