"""Boxes of the largest sum, where every input has a number, above or below zero."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

_PASSES = 8

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Grid:
    """The inputs of a domain, last feature fastest.

    Attributes
    ----------
    sizes : the number of values of each feature
    half : so many features make the first half; both halves have about as many parts
    """

    sizes: tuple[int, ...]
    half: int

    @property
    def blocks(self) -> list[slice]:
        """The columns of each feature."""
        ends = np.concatenate([[0], np.cumsum(self.sizes)]).tolist()
        return [slice(start, stop) for start, stop in pairwise(ends)]


def grid_of(sizes: Sequence[int]) -> Grid:
    """Return the grid of a domain with features of the given sizes."""
    logs = np.concatenate([[0], np.cumsum(np.log(sizes))])
    return Grid(tuple(sizes), int(np.argmin(np.abs(logs - logs[-1] / 2))))


def inside(grid: Grid, box: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell of every input whether it lies in the box."""
    found = np.ones(1, dtype=np.bool_)
    for block in grid.blocks:
        found = (found[:, np.newaxis] & box[block]).ravel()
    return found


def heaviest(
    grid: Grid, values: Floats, starts: NDArray[np.bool_]
) -> tuple[float, NDArray[np.bool_]]:
    """Return the largest sum of values over a box that is found, and the box.

    Each start is improved feature by feature: given the values that the box allows of
    all others, those of a feature stay that bring something, or cost nothing. No step
    makes a sum smaller.
    """
    first = range(grid.half)
    second = range(grid.half, len(grid.sizes))
    n_second = int(np.prod(grid.sizes[grid.half :]))
    table = values.reshape(-1, n_second)
    boxes, totals = starts.astype(np.float64), None
    for _ in range(_PASSES):
        _improve(grid, boxes, first, _product(grid, boxes, second) @ table.T)
        sums = _product(grid, boxes, first) @ table
        _improve(grid, boxes, second, sums)
        before, totals = totals, (sums * _product(grid, boxes, second)).sum(axis=1)
        if before is not None and (totals <= before).all():
            break
    assert totals is not None, "there is a pass"
    best = int(np.argmax(totals))
    return float(totals[best]), boxes[best] > 0


def _product(grid: Grid, boxes: Floats, features: range) -> Floats:
    """Tell for each box which parts of a half of the features it allows."""
    found = np.ones((len(boxes), 1))
    for feature in features:
        block = boxes[:, np.newaxis, grid.blocks[feature]]
        found = (found[:, :, np.newaxis] * block).reshape(len(boxes), -1)
    return found


def _improve(grid: Grid, boxes: Floats, features: range, sums: Floats) -> None:
    """Choose the values of each of these features anew, in place.

    `sums` has for each box a number for each part of the half.
    """
    for feature in features:
        block, size = grid.blocks[feature], grid.sizes[feature]
        boxes[:, block] = 1.0
        weighed = sums * _product(grid, boxes, features)
        n_after = int(np.prod(grid.sizes[feature + 1 : features.stop]))
        brings = weighed.reshape(len(boxes), -1, size, n_after).sum(axis=(1, 3))
        chosen = brings >= 0
        poor = ~(brings > 0).any(axis=1)
        chosen[poor] = False
        chosen[poor, brings[poor].argmax(axis=1)] = True
        boxes[:, block] = chosen
