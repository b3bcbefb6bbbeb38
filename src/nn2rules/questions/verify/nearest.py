"""Which of several inputs is nearest to the data: by the features that differ."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from nn2rules.questions.verify.tables import Judged

Point = tuple[NDArray[np.int64], NDArray[np.float64]]


def nearest_broken(judged: Judged, rows: NDArray[np.int64]) -> tuple[int, int]:
    """Return where the claim is broken nearest to some row, and how far from it.

    That is the number of features in which they differ. From the rows on, one feature
    after another may have any value, until an input is reached that breaks the claim.

    Parameters
    ----------
    rows : ndarray of int, shape (n_rows, n_features)
    """
    broken = judged.kinds > 0
    shape, starts = broken.shape, _starts(judged, rows)
    reached = np.zeros(shape, dtype=np.bool_)
    for steps in range(len(shape) + 1):
        spread = np.zeros(shape, dtype=np.bool_)
        if steps:
            for axis in range(len(shape)):
                spread |= reached.any(axis=axis, keepdims=True)
        reached |= spread
        for row in starts.get(steps, ()):
            reached[tuple(slice(None) if place is None else place for place in row)] = 1
        found = np.flatnonzero(reached & broken)
        if len(found):
            return int(found[0]), steps
    raise AssertionError("every input is reached once all features may differ")


def _starts(
    judged: Judged, rows: NDArray[np.int64]
) -> dict[int, set[tuple[int | None, ...]]]:
    """Return where rows lie, by how many of their values the region has not.

    A feature whose value it has not is different, whatever it is in the region.
    """
    starts: dict[int, set[tuple[int | None, ...]]] = {}
    places = [
        {int(code): place for place, code in enumerate(codes)}
        for codes in judged.listed
    ]
    for row in rows.tolist():
        both = zip(places, row, strict=True)
        own = tuple(known.get(code) for known, code in both)
        starts.setdefault(own.count(None), set()).add(own)
    return starts


def moved_near(
    found: Sequence[Point],
    rows: Point,
    is_broken: Callable[[Sequence[Point]], bool],
    fixed: Sequence[int] = (),
) -> tuple[list[Point], int]:
    """Return inputs moved toward the row that is nearest, while they break the claim.

    All of them take the values of the row, one feature after another, where the claim
    stays broken. Returns also in how many features the first differs from the row.

    Parameters
    ----------
    found : sequence of inputs, as codes and numbers
        One, or two that differ in the features `fixed`.
    rows : all rows, as codes and numbers
    """
    codes, numbers = rows
    differs = (codes != found[0][0]) | (numbers != found[0][1])
    nearest = int(np.argmin(differs.sum(axis=1)))
    points = [(own.copy(), amounts.copy()) for own, amounts in found]
    for index in np.flatnonzero(differs[nearest]).tolist():
        if index in fixed:
            continue
        trial = [(own.copy(), amounts.copy()) for own, amounts in points]
        for own, amounts in trial:
            own[index], amounts[index] = codes[nearest, index], numbers[nearest, index]
        if is_broken(trial):
            points = trial
    first = points[0]
    left = (codes[nearest] != first[0]) | (numbers[nearest] != first[1])
    return points, int(left.sum())
