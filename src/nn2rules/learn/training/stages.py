"""Pruning: a net for each number of questions, from many to one."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nn2rules.learn.training.net import (
    DistinctRows,
    Net,
    distinct_rows,
    first_net,
    shares_of,
    trained,
)
from nn2rules.learn.training.targets import Floats, Targets

_MOST_ROWS = 4000
"""The curvature of the loss is taken from the most frequent distinct rows."""


class Pruner:
    """Estimates what each question contributes, and prunes questions from a net.

    Parameters
    ----------
    net : Net
        Trained, or nearly so.
    rows : DistinctRows
    decay : float
        The penalty it was trained with.
    """

    def __init__(self, net: Net, rows: DistinctRows, decay: float) -> None:
        self._net, self._inverse = net, np.linalg.inv(_curvature(net, rows, decay))
        self._vector = _movable(net)
        self.left = [*range(len(net.first))]
        """The remaining questions, as positions among the original ones."""

    def costs(self) -> Floats:
        """Return by how much the loss grows without each remaining question."""
        n_units = self._net.first.shape[1]
        size = self._net.first.size
        blocks = self._inverse[:size, :size].reshape(
            -1, n_units, size // n_units, n_units
        )
        diagonal = blocks[self.left, :, self.left, :]
        weights = self._vector[:size].reshape(-1, n_units)[self.left]
        solved = np.linalg.solve(diagonal, weights[:, :, np.newaxis])[:, :, 0]
        costs: Floats = (weights * solved).sum(axis=1) / 2
        return costs

    def drop(self, index: int) -> None:
        """Prune one of the remaining questions; the other weights compensate."""
        question = self.left.pop(index)
        block = self._block(question)
        beside, inner = self._inverse[:, block], self._inverse[block, block]
        self._vector = self._compensated(question)
        self._inverse = self._inverse - beside @ np.linalg.solve(inner, beside.T)

    def net_without(self, index: int) -> Net:
        """Return the net without one more of the remaining questions."""
        left = [*self.left]
        return self._net_of(self._compensated(left.pop(index)), left)

    @property
    def net(self) -> Net:
        """The net with the remaining questions."""
        return self._net_of(self._vector, self.left)

    def _net_of(self, vector: Floats, left: list[int]) -> Net:
        n_first, n_units = self._net.first.size, self._net.bias.size
        return replace(
            self._net,
            first=vector[:n_first].reshape(self._net.first.shape)[left],
            bias=vector[n_first : n_first + n_units],
            base=vector[n_first + n_units :],
        )

    def _compensated(self, question: int) -> Floats:
        """Return the weights with those of a question at zero, and others adjusted."""
        block = self._block(question)
        solved = np.linalg.solve(self._inverse[block, block], self._vector[block])
        moved: Floats = self._vector - self._inverse[:, block] @ solved
        moved[block] = 0.0
        return moved

    def _block(self, question: int) -> slice:
        n_units = self._net.first.shape[1]
        return slice(question * n_units, (question + 1) * n_units)


def rough_costs(net: Net, rows: DistinctRows, decay: float) -> Floats:
    """Return by how much the loss grows without each question, uncompensated.

    This needs no matrix, so it works for thousands of questions.
    """
    before = rows.inputs @ net.first + net.bias
    shares = shares_of(np.maximum(before, 0.0) @ net.last + net.base)
    curved = np.full(net.first.shape, decay)
    for spread in _spreads(shares):
        back = (spread @ net.last.T) * (before > 0)
        curved += (rows.inputs**2).T @ (back**2 * rows.weights[:, np.newaxis])
    costs: Floats = (net.first**2 * curved).sum(axis=1) / 2
    return costs


def _movable(net: Net) -> Floats:
    """Return the weights that may be adjusted, flattened."""
    return np.concatenate([net.first.ravel(), net.bias, net.base])


def _curvature(net: Net, rows: DistinctRows, decay: float) -> Floats:
    """Return the Gauss-Newton curvature of the loss, with its penalty."""
    heavy = np.argsort(-rows.weights, kind="stable")[:_MOST_ROWS]
    inputs, weights = rows.inputs[heavy], rows.weights[heavy]
    weights = weights / weights.sum()
    before = inputs @ net.first + net.bias
    hidden = np.maximum(before, 0.0)
    shares = shares_of(hidden @ net.last + net.base)
    size = _movable(net).size
    curvature = np.zeros((size, size))
    for spread in _spreads(shares):
        apart = spread * np.sqrt(weights)[:, np.newaxis]
        back = (apart @ net.last.T) * (before > 0)
        steep = np.hstack(
            [
                (inputs[:, :, np.newaxis] * back[:, np.newaxis, :]).reshape(
                    len(inputs), -1
                ),
                back,
                apart,
            ]
        )
        curvature += steep.T @ steep
    curvature[np.diag_indices(size)] += decay + _FLOOR
    return curvature


_FLOOR = 1e-8
"""Keeps the curvature invertible where the rows say nothing."""


def _spreads(shares: Floats) -> list[Floats]:
    """Return columns whose squares add up to how the outputs vary around the shares."""
    if shares.shape[1] == 1:
        return [np.sqrt(shares * (1 - shares))]
    columns = []
    for index in range(shares.shape[1]):
        root = np.sqrt(shares[:, index])
        spread = -shares * root[:, np.newaxis]
        spread[:, index] += root
        columns.append(spread)
    return columns


_STARTS = 3
_FIRST_ROUNDS, _ROUNDS, _TRIAL_ROUNDS, _LAST_ROUNDS = 150, 25, 15, 60
_MANY = 160
"""With more questions, their costs are only estimated roughly."""

_CAREFUL = 24
"""From this many questions on, they are pruned one by one."""

_TRIED = 4
"""This many of the questions with the lowest costs are pruned on trial."""


@dataclass(frozen=True)
class TrainingOptions:
    """Options for training nets.

    Attributes
    ----------
    units : int
        In the hidden layer.
    alpha : float
        The penalty on the squares of the weights, for all rows together.
    max_questions : int
        The number of questions of the largest net that is kept.
    seed : int
    """

    units: int
    alpha: float
    max_questions: int
    seed: int


@dataclass(frozen=True)
class Stage:
    """A trained net, and the questions whose answers are its inputs."""

    asked: tuple[int, ...]
    net: Net


@dataclass(frozen=True)
class TrainingData:
    """The rows that nets are trained on.

    Attributes
    ----------
    answers : ndarray of bool, shape (n_rows, n_questions)
    targets : Targets
    signs : ndarray of shape (n_questions,)
        1 where a yes may only raise the output, -1 where it may only lower it, else 0.
    options : TrainingOptions
    """

    answers: NDArray[np.bool_]
    targets: Targets
    signs: Floats
    options: TrainingOptions

    @property
    def decay(self) -> float:
        """The penalty on the squares of the weights, for one row."""
        return self.options.alpha / self.targets.n_rows

    def distinct(self, asked: NDArray[np.int64]) -> DistinctRows:
        """Return the rows that these questions can tell apart."""
        return distinct_rows(self.answers[:, asked], self.targets)

    def trained(
        self, net: Net, asked: NDArray[np.int64], rows: DistinctRows, rounds: int
    ) -> tuple[float, Net]:
        """Return the loss and the net after this many rounds."""
        signs = self.signs[asked] if self.signs.any() else None
        return trained(net, rows, self.decay, rounds, signs)


def stages(data: TrainingData) -> list[Stage]:
    """Train a net on all questions, and prune them one by one.

    The first stage returned has one question, the next two, and so on.
    """
    asked = np.arange(data.answers.shape[1])
    rows = data.distinct(asked)
    net, most = _started(data, asked, rows), data.options.max_questions
    kept_stages: list[Stage] = []
    while True:
        if len(asked) <= most:
            _, net = data.trained(net, asked, rows, _LAST_ROUNDS)
            kept_stages.append(Stage(tuple(asked.tolist()), net))
        if len(asked) == 1:
            return kept_stages[::-1]
        if len(asked) <= max(most, _CAREFUL):
            asked, net = _without_one(data, net, asked, rows)
            rows = data.distinct(asked)
            continue
        kept, net = _without_some(data, net, rows)
        asked = asked[kept]
        rows = data.distinct(asked)
        _, net = data.trained(net, asked, rows, _ROUNDS)


def _started(data: TrainingData, asked: NDArray[np.int64], rows: DistinctRows) -> Net:
    """Return the best of a few nets with different initial weights."""
    rng = np.random.default_rng(data.options.seed)
    tries = []
    for _ in range(_STARTS):
        net = first_net(len(asked), data.options.units, data.targets.n_classes, rng)
        tries.append(data.trained(net, asked, rows, _FIRST_ROUNDS))
    return min(tries, key=lambda attempt: attempt[0])[1]


def _without_some(
    data: TrainingData, net: Net, rows: DistinctRows
) -> tuple[list[int], Net]:
    """Prune an eighth of the questions, or a quarter of very many."""
    n_asked = len(net.first)
    if n_asked > _MANY:
        costs = rough_costs(net, rows, data.decay)
        kept = sorted(np.argsort(-costs, kind="stable")[: n_asked * 3 // 4].tolist())
        return kept, replace(net, first=net.first[kept])
    pruner = Pruner(net, rows, data.decay)
    n_few = max(data.options.max_questions, _CAREFUL)
    for _ in range(min(n_asked - n_few, max(1, n_asked // 8))):
        pruner.drop(int(np.argmin(pruner.costs())))
    return pruner.left, pruner.net


def _without_one(
    data: TrainingData, net: Net, asked: NDArray[np.int64], rows: DistinctRows
) -> tuple[NDArray[np.int64], Net]:
    """Prune the question with the lowest cost, after some training without it."""
    pruner = Pruner(net, rows, data.decay)
    tries = []
    for question in np.argsort(pruner.costs(), kind="stable")[:_TRIED].tolist():
        left, better = np.delete(asked, question), pruner.net_without(question)
        loss, better = data.trained(better, left, data.distinct(left), _TRIAL_ROUNDS)
        tries.append((loss, left, better))
    _, left, better = min(tries, key=lambda attempt: attempt[0])
    return left, better
