"""An additive model of the answers to questions: a score is a sum of their weights.

Without hidden units the loss is convex, so Newton's method finds the one minimum in a
few steps. The penalty is on the square of each step between neighboring cells of a
column: many small steps in a row are cheap, so a trend stays a trend, and steps that
the rows do not support vanish.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.learn.training.columns import Cells
from nn2rules.learn.training.net import DistinctRows, distinct_rows, shares_of
from nn2rules.learn.training.targets import Floats, Targets

_FLOOR = 1e-9
"""Keeps the curvature invertible where the rows say nothing."""

_ENOUGH = 1e-7
"""Training ends when a step lowers the loss of a row by less than this."""

_SHORTEST = 1e-3
"""The shortest part of a Newton step that is tried."""


@dataclass(frozen=True, eq=False)
class Additive:
    """The weights of questions, and what a score begins with.

    Attributes
    ----------
    weights : ndarray of shape (n_questions, n_outputs)
        With two classes there is one output.
    base : ndarray of shape (n_outputs,)
    """

    weights: Floats
    base: Floats

    @classmethod
    def constant(cls, n_questions: int, rows: DistinctRows) -> "Additive":
        """Return the model without weights that has the shares of all classes."""
        shares = (rows.weights @ rows.shares + _FLOOR).clip(_FLOOR)
        base = np.log(shares) - np.log(shares).mean()
        if len(base) == 2:
            base = base[1:] - base[:1]
        return cls(np.zeros((n_questions, len(base))), base)

    @property
    def vector(self) -> Floats:
        """All weights, one output after another; the base of each is its last."""
        return np.vstack([self.weights, self.base]).T.ravel()

    def filled(self, vector: Floats) -> "Additive":
        """Return a model of this shape with other weights."""
        table = vector.reshape(len(self.base), -1).T
        return Additive(table[:-1], table[-1])

    def scores(self, inputs: NDArray[Any]) -> Floats:
        """Return the outputs, before sigmoid or softmax, for a table of answers."""
        scores: Floats = inputs @ self.weights + self.base
        return scores

    def only(self, kept: NDArray[np.int64]) -> "Additive":
        """Return the model with some of its questions."""
        return Additive(self.weights[kept], self.base)


def outputs_of(shares: Floats) -> Floats:
    """Return the probabilities that outputs stand for: of two classes the second."""
    return shares[:, 1:] if shares.shape[1] == 2 else shares


def loss_of(model: Additive, rows: DistinctRows, decay: float) -> float:
    """Return the mean cross entropy with its penalty."""
    scores, targets = model.scores(rows.inputs), outputs_of(rows.shares)
    penalty = decay / 2 * float((model.weights**2).sum())
    return float(rows.weights @ entropies(scores, targets)) + penalty


def entropies(scores: Floats, targets: Floats) -> Floats:
    """Return the cross entropy of each row."""
    if scores.shape[1] == 1:
        entropy: Floats = (np.logaddexp(0.0, scores) - targets * scores)[:, 0]
        return entropy
    top = scores.max(axis=1, keepdims=True)
    total = top[:, 0] + np.log(np.exp(scores - top).sum(axis=1))
    result: Floats = total - (targets * scores).sum(axis=1)
    return result


def _derivatives(
    model: Additive, rows: DistinctRows, decay: float
) -> tuple[Floats, Floats]:
    """Return the gradient of the loss, and its curvature."""
    table = np.hstack([rows.inputs, np.ones((len(rows.inputs), 1))])
    shares = shares_of(model.scores(rows.inputs))
    apart = (shares - outputs_of(rows.shares)) * rows.weights[:, np.newaxis]
    n_outputs, size = shares.shape[1], table.shape[1]
    curvature = np.zeros((n_outputs * size, n_outputs * size))
    for one in range(n_outputs):
        for other in range(one + 1):
            spread = shares[:, one] * ((one == other) - shares[:, other]) * rows.weights
            block = table.T @ (table * spread[:, np.newaxis])
            here, there = slice(one * size, None), slice(other * size, None)
            curvature[here, there][:size, :size] = block
            curvature[there, here][:size, :size] = block
    decays = np.tile(np.append(np.full(size - 1, decay), 0.0), n_outputs)
    curvature[np.diag_indices(len(curvature))] += decays + _FLOOR
    gradient: Floats = (table.T @ apart).T.ravel() + decays * model.vector
    return gradient, curvature


def curvature_of(model: Additive, rows: DistinctRows, decay: float) -> Floats:
    """Return the curvature of the loss around a model."""
    return _derivatives(model, rows, decay)[1]


def trained(
    start: Additive,
    rows: DistinctRows,
    decay: float,
    signs: Floats | None = None,
    rounds: int = 25,
) -> Additive:
    """Return the model with the smallest loss, by Newton's method.

    Parameters
    ----------
    signs : ndarray of shape (n_questions,), optional
        For each question 1 if its weight must not be negative, -1 if it must not be
        positive, 0 if it is free. Only for two classes.
    """
    bounds = _bounds(start, signs)
    vector = np.clip(start.vector, *bounds)
    loss = loss_of(start.filled(vector), rows, decay)
    for _ in range(rounds):
        gradient, curvature = _derivatives(start.filled(vector), rows, decay)
        at_low = (vector <= bounds[0]) & (gradient > 0)
        at_high = (vector >= bounds[1]) & (gradient < 0)
        free = np.flatnonzero(~(at_low | at_high))
        step = np.zeros(len(vector))
        step[free] = np.linalg.solve(curvature[np.ix_(free, free)], gradient[free])
        part = 1.0
        while part > _SHORTEST:
            moved = np.clip(vector - part * step, *bounds)
            lower = loss_of(start.filled(moved), rows, decay)
            if lower <= loss:
                break
            part /= 2
        else:
            break
        gained, vector, loss = loss - lower, moved, lower
        if gained < _ENOUGH:
            break
    return start.filled(vector)


def _bounds(model: Additive, signs: Floats | None) -> tuple[Floats, Floats]:
    """Return the minimum and the maximum of each weight."""
    size = len(model.vector)
    low, high = np.full(size, -np.inf), np.full(size, np.inf)
    if signs is not None:
        low[: len(signs)] = np.where(signs > 0, 0.0, -np.inf)
        high[: len(signs)] = np.where(signs < 0, 0.0, np.inf)
    return low, high


@dataclass(frozen=True, eq=False)
class Questions:
    """What questions are about, to count the lines that their card has.

    A column has a line for each value that its questions tell apart. Where cells are
    missing, this is a line of its own.

    Attributes
    ----------
    columns : ndarray of int, shape (n_questions,)
        The column that each question is about.
    is_gap : ndarray of bool, shape (n_questions,)
        Whether it asks if the cell is missing.
    has_gaps : ndarray of bool, shape (n_questions,)
        Whether some question about its column asks that.
    """

    columns: NDArray[np.int64]
    is_gap: NDArray[np.bool_]
    has_gaps: NDArray[np.bool_]

    @classmethod
    def of_columns(cls, cells: Sequence[Cells]) -> "Questions":
        """Return the questions about columns, one after another."""
        counts = [column.n_questions for column in cells]
        is_gap = [
            place >= column.n_cuts
            for column in cells
            for place in range(column.n_questions)
        ]
        has_gaps = [column.like is not None for column in cells]
        columns = np.repeat(np.arange(len(cells)), counts)
        return cls(columns, np.array(is_gap), np.repeat(has_gaps, counts))

    def part(self, asked: NDArray[np.integer[Any]] | NDArray[np.bool_]) -> "Questions":
        """Return some of the questions."""
        return Questions(self.columns[asked], self.is_gap[asked], self.has_gaps[asked])

    @property
    def n_lines(self) -> int:
        """The number of lines that they need."""
        columns, places = np.unique(self.columns, return_index=True)
        n_cuts, n_gaps = self._counts()
        lines = _lines(n_cuts[columns], n_gaps[columns], self.has_gaps[places])
        return int(lines.sum())

    def saved(self) -> NDArray[np.int64]:
        """Return how many lines fewer there are without each question."""
        n_cuts, n_gaps = (counts[self.columns] for counts in self._counts())
        before = _lines(n_cuts, n_gaps, self.has_gaps)
        return before - _lines(
            n_cuts - ~self.is_gap, n_gaps - self.is_gap, self.has_gaps
        )

    def _counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how many questions of each kind each column has."""
        size = int(self.columns.max(initial=-1)) + 1
        n_gaps = np.bincount(self.columns[self.is_gap], minlength=size)
        n_cuts = np.bincount(self.columns[~self.is_gap], minlength=size)
        return n_cuts.astype(np.int64), n_gaps.astype(np.int64)


def _lines(
    n_cuts: NDArray[np.int64], n_gaps: NDArray[np.int64], has_gaps: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the lines of columns about which this many questions are asked."""
    return np.where(n_cuts > 0, n_cuts + 1 + has_gaps, 2 * n_gaps)


class AdditivePruner:
    """Prunes questions from a trained model; the others compensate.

    Parameters
    ----------
    model : Additive
    curvature : ndarray
        Of the loss around the model.
    questions : Questions
    """

    def __init__(
        self, model: Additive, curvature: Floats, questions: Questions
    ) -> None:
        self._model, self._questions = model, questions
        self._inverse, self._vector = np.linalg.inv(curvature), model.vector
        self._outputs = np.arange(len(model.base)) * (len(model.weights) + 1)
        self.left = np.arange(len(model.weights))
        """The remaining questions."""

    @property
    def model(self) -> Additive:
        """The model with the remaining questions."""
        return self._model.filled(self._vector).only(self.left)

    @property
    def n_lines(self) -> int:
        """The number of lines that the remaining questions need."""
        return self._questions.part(self.left).n_lines

    def prune(self) -> None:
        """Prune the question, or the column, that costs least for each line saved."""
        questions = self._questions.part(self.left)
        saved = np.maximum(questions.saved(), _HARDLY)
        costs = self._costs(self.left[:, np.newaxis] + self._outputs) / saved
        best = int(np.argmin(costs))
        least, dropped = costs[best], self.left[[best]]
        for column in np.unique(questions.columns):
            own = questions.columns == column
            places = (self.left[own, np.newaxis] + self._outputs).ravel()
            lines = questions.part(own).n_lines
            cost = self._costs(places[np.newaxis])[0] / lines
            if cost < least:
                least, dropped = cost, self.left[own]
        self._drop((dropped[:, np.newaxis] + self._outputs).ravel())
        self.left = np.setdiff1d(self.left, dropped)

    def _costs(self, places: NDArray[np.int64]) -> Floats:
        """Return by how much the loss grows without these weights, row by row."""
        weights = self._vector[places]
        blocks = self._inverse[places[:, :, np.newaxis], places[:, np.newaxis, :]]
        solved = np.linalg.solve(blocks, weights[:, :, np.newaxis])[:, :, 0]
        costs: Floats = (weights * solved).sum(axis=1) / 2
        return costs

    def _drop(self, places: NDArray[np.int64]) -> None:
        beside = self._inverse[:, places]
        inner = beside[places]
        self._vector = self._vector - beside @ np.linalg.solve(
            inner, self._vector[places]
        )
        self._inverse = self._inverse - beside @ np.linalg.solve(inner, beside.T)
        # What was pruned is out of the way: it has no effect on the others any more.
        self._vector[places] = 0.0
        self._inverse[places], self._inverse[:, places] = 0.0, 0.0


_HARDLY = 0.25
"""What a question saves that has no line of its own, in lines."""


@dataclass(frozen=True)
class CardStage:
    """A trained model, and the questions that it asks.

    Attributes
    ----------
    asked : tuple of int
    model : Additive
    lines : int
        The number of lines of its card.
    """

    asked: tuple[int, ...]
    model: Additive
    lines: int


@dataclass(frozen=True)
class CardTraining:
    """Rows to train additive models on.

    Attributes
    ----------
    answers : ndarray of bool, shape (n_rows, n_questions)
    targets : Targets
    questions : Questions
    signs : ndarray of shape (n_questions,)
        1 where a yes may only raise the output, -1 where it may only lower it, else 0.
    max_lines : int
    """

    answers: NDArray[np.bool_]
    targets: Targets
    questions: Questions
    signs: Floats
    max_lines: int

    def distinct(self, asked: NDArray[np.int64]) -> DistinctRows:
        """Return the rows that these questions can tell apart."""
        return distinct_rows(self.answers[:, asked], self.targets)

    def trained(
        self,
        start: Additive,
        asked: NDArray[np.int64],
        rows: DistinctRows,
        decay: float,
    ) -> Additive:
        """Return the best model that asks these questions."""
        signs = self.signs[asked] if self.signs.any() else None
        return trained(start, rows, decay, signs)


def card_stages(data: CardTraining, alpha: float) -> list[CardStage]:
    """Train a model on all questions, and prune them until one line less is left.

    Parameters
    ----------
    alpha : float
        The penalty on the squares of the weights, for all rows together.

    Returns
    -------
    list of CardStage
        From few lines to at most `max_lines`.
    """
    decay = alpha / data.targets.n_rows
    asked, rows = _promising(data, decay)
    model = data.trained(Additive.constant(len(asked), rows), asked, rows, decay)
    stages: list[CardStage] = []
    while len(asked):
        lines = data.questions.part(asked).n_lines
        if lines <= data.max_lines:
            stages.append(CardStage(tuple(asked.tolist()), model, lines))
        wanted = max(data.max_lines, lines * 3 // 4) if lines > data.max_lines else 0
        curvature = curvature_of(model, rows, decay)
        pruner = AdditivePruner(model, curvature, data.questions.part(asked))
        pruner.prune()
        while pruner.n_lines > wanted > 0:
            pruner.prune()
        asked, model = asked[pruner.left], pruner.model
        rows = data.distinct(asked)
        model = data.trained(model, asked, rows, decay)
    return stages[::-1]


_MOST_WEIGHTS = 240
"""Of more weights, the curvature would be too large to invert again and again."""


def _promising(
    data: CardTraining, decay: float
) -> tuple[NDArray[np.int64], DistinctRows]:
    """Return the questions to begin with: those that say most, one by one, if many."""
    n_outputs = outputs_of(data.targets.shares).shape[1]
    asked = np.arange(len(data.signs))
    most = max(data.max_lines, _MOST_WEIGHTS // n_outputs)
    if len(asked) > most:
        targets = outputs_of(data.targets.shares)
        weights = data.targets.weights / data.targets.n_rows
        mean = weights @ targets
        table = data.answers.astype(np.float64)
        share = weights @ table
        slopes = table.T @ (weights[:, np.newaxis] * (targets - mean))
        spread = mean * (1 - mean) * (share * (1 - share))[:, np.newaxis] + decay
        gains = (slopes**2 / spread).sum(axis=1)
        asked = np.sort(np.argsort(-gains, kind="stable")[:most])
    return asked, data.distinct(asked)
