"""Integer points: an additive model whose weights are multiples of a unit.

Weights are not rounded one by one. Starting from rounded points, the points of a line,
of all lines from one on, or of the base go up or down by one as long as that lowers
the loss; the other lines compensate for what one of them was rounded by. The unit is a
power of two, so that points divided by it are floating-point numbers without error.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn2rules.learn.training.additive import (
    Additive,
    curvature_of,
    loss_of,
)
from nn2rules.learn.training.net import DistinctRows
from nn2rules.learn.training.targets import Floats

_UNITS = tuple(2**power for power in range(1, 11))
"""How many points make one unit of the score, which is a log-odds."""

_NATS = 0.5
"""Points are fine enough if rounding costs the likelihood of all rows this much …"""

_PART = 0.002
"""… or this part of what the model gains over the shares of the classes."""

_MOST_MOVES = 10_000


@dataclass(frozen=True, eq=False)
class Points:
    """An additive model in whole points.

    Attributes
    ----------
    weights : ndarray of int, shape (n_questions, n_outputs)
    base : ndarray of int, shape (n_outputs,)
    unit : int
        The points that make one unit of the score; a power of two.
    """

    weights: NDArray[np.int64]
    base: NDArray[np.int64]
    unit: int

    @property
    def model(self) -> Additive:
        """The additive model that these points are, without rounding."""
        return Additive(self.weights / self.unit, self.base / self.unit)


def points_of(
    model: Additive,
    rows: DistinctRows,
    columns: NDArray[np.int64],
    alpha: float,
    signs: Floats | None = None,
) -> Points:
    """Return a model in as few whole points as its loss allows.

    Parameters
    ----------
    model : Additive
        Trained.
    rows : DistinctRows
    columns : ndarray of shape (n_questions,)
        The column that each question is about.
    alpha : float
        The penalty that the model was trained with.
    signs : ndarray of shape (n_questions,), optional
        As in training.
    """
    decay = alpha / rows.n_rows
    curvature = curvature_of(model, rows, decay)
    loss = loss_of(model, rows, decay)
    constant = loss_of(Additive.constant(len(model.weights), rows), rows, decay)
    allowed = max(_NATS / rows.n_rows, _PART * (constant - loss))
    search = _Search.over(_moves(columns, len(model.base)), curvature, signs)
    for unit in _UNITS:
        start = _rounded(model, columns, unit)
        vector = search.nearest(start, model.vector * unit)
        points = _as_points(model, vector, unit)
        if loss_of(points.model, rows, decay) - loss <= allowed:
            break
    return points


def _as_points(model: Additive, vector: NDArray[np.int64], unit: int) -> Points:
    table = vector.reshape(len(model.base), -1).T
    return Points(table[:-1], table[-1], unit)


def _rounded(
    model: Additive, columns: NDArray[np.int64], unit: int
) -> NDArray[np.int64]:
    """Round the points of lines, so that errors of steps do not add up."""
    weights = np.zeros(model.weights.shape, dtype=np.int64)
    for column in np.unique(columns):
        own = columns == column
        values = np.rint(np.cumsum(model.weights[own], axis=0) * unit)
        weights[own] = np.diff(values, axis=0, prepend=0).astype(np.int64)
    base = np.rint(model.base * unit).astype(np.int64)
    return np.vstack([weights, base]).T.ravel()


def _moves(columns: NDArray[np.int64], n_outputs: int) -> NDArray[np.int64]:
    """Return what may change by one: a step, a line alone, or the base."""
    size = len(columns) + 1
    steps = np.eye(size, dtype=np.int64)
    alone = [
        steps[place] - steps[place + 1]
        for place in range(len(columns) - 1)
        if columns[place] == columns[place + 1]
    ]
    lines = np.array([*steps, *alone])
    firsts = [np.flatnonzero(columns == column)[0] for column in np.unique(columns)]
    against_base = [steps[first] - steps[-1] for first in firsts]
    lines = np.array([*lines, *against_base])
    blocks = np.zeros((n_outputs * len(lines), n_outputs * size), dtype=np.int64)
    for output in range(n_outputs):
        rows = slice(output * len(lines), (output + 1) * len(lines))
        blocks[rows, output * size : (output + 1) * size] = lines
    return np.vstack([blocks, -blocks])


class _Search(NamedTuple):
    """Moves between whole numbers, and what they do to the loss around its minimum."""

    moves: Floats
    bent: Floats
    sizes: Floats
    steepness: Floats
    signs: Floats | None

    @classmethod
    def over(
        cls, moves: NDArray[np.int64], curvature: Floats, signs: Floats | None
    ) -> "_Search":
        floats = moves.astype(np.float64)
        bent = floats @ curvature
        sizes = (bent * floats).sum(axis=1) / 2
        has_signs = signs is not None and bool(signs.any())
        return cls(floats, bent, sizes, bent @ floats.T, signs if has_signs else None)

    def nearest(self, start: NDArray[np.int64], wanted: Floats) -> NDArray[np.int64]:
        """Return whole numbers with nearly the smallest loss.

        Each time the move is made that lowers the loss most.
        """
        vector = start.astype(np.float64)
        if self.signs is not None:
            own = vector[: len(self.signs)]
            own[self.signs * own < 0] = 0.0
        slopes = self.bent @ (vector - wanted)
        for _ in range(_MOST_MOVES):
            gains = slopes + self.sizes
            if self.signs is not None:
                after = vector[: len(self.signs)] + self.moves[:, : len(self.signs)]
                gains[(after * self.signs < 0).any(axis=1)] = np.inf
            best = int(np.argmin(gains))
            if gains[best] >= -_LEAST * self.sizes[best]:
                break
            vector += self.moves[best]
            slopes += self.steepness[best]
        return vector.astype(np.int64)


_LEAST = 1e-6
"""A move must gain more than rounding errors may pretend."""
