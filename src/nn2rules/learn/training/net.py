"""A small net with one hidden layer, trained on answers to yes-or-no questions.

There are few distinct rows of such answers, so training uses all of them at once,
weighted by how often they occur, with L-BFGS. That is quick and reproducible.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.learn.training.targets import Floats, Targets


@dataclass(frozen=True)
class DistinctRows:
    """The distinct rows of a training table, with the classes of each.

    Attributes
    ----------
    inputs : ndarray of float, shape (n, n_questions)
    shares : ndarray of shape (n, n_classes)
        The share of each class among the rows with these answers.
    weights : ndarray of shape (n,)
        The share of all rows that have these answers.
    n_rows : float
        The weight of all rows.
    """

    inputs: Floats
    shares: Floats
    weights: Floats
    n_rows: float


def distinct_rows(answers: NDArray[np.bool_], targets: Targets) -> DistinctRows:
    """Return each distinct row once, with the shares of its classes."""
    keys = np.packbits(answers, axis=1)
    _, first, kinds = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    counts = np.zeros((len(first), targets.n_classes))
    np.add.at(counts, kinds.ravel(), targets.shares * targets.weights[:, np.newaxis])
    totals = counts.sum(axis=1)
    return DistinctRows(
        answers[first].astype(np.float64),
        counts / totals[:, np.newaxis],
        totals / targets.n_rows,
        targets.n_rows,
    )


@dataclass(frozen=True)
class Net:
    """The weights of a net: hidden ReLU units, and one output or one per class.

    Attributes
    ----------
    first : ndarray of shape (n_questions, n_units)
    bias : ndarray of shape (n_units,)
    last : ndarray of shape (n_units, n_outputs)
        With two classes there is one output.
    base : ndarray of shape (n_outputs,)
    """

    first: Floats
    bias: Floats
    last: Floats
    base: Floats

    @property
    def vector(self) -> Floats:
        """All weights, flattened."""
        parts = (self.first, self.bias, self.last, self.base)
        return np.concatenate([part.ravel() for part in parts])

    def filled(self, vector: Floats) -> "Net":
        """Return a net of this shape with other weights."""
        parts, start = [], 0
        for part in (self.first, self.bias, self.last, self.base):
            parts.append(vector[start : start + part.size].reshape(part.shape))
            start += part.size
        return Net(*parts)

    def without(self, question: int) -> "Net":
        """Return the net without a question."""
        return replace(self, first=np.delete(self.first, question, axis=0))

    def scores(self, inputs: NDArray[Any]) -> Floats:
        """Return the outputs, before sigmoid or softmax, for a table of answers."""
        hidden = np.maximum(inputs @ self.first + self.bias, 0.0)
        scores: Floats = hidden @ self.last + self.base
        return scores

    def classes(self, inputs: NDArray[Any]) -> NDArray[np.int64]:
        """Return the position of the class of each row of answers."""
        scores = self.scores(inputs)
        if scores.shape[1] == 1:
            return (scores[:, 0] > 0).astype(np.int64)
        largest: NDArray[np.int64] = np.argmax(scores, axis=1)
        return largest


def first_net(
    n_questions: int, n_units: int, n_classes: int, rng: np.random.Generator
) -> Net:
    """Return a net with small random weights."""
    n_outputs = 1 if n_classes == 2 else n_classes
    return Net(
        rng.normal(0, np.sqrt(2 / (n_questions + n_units)), (n_questions, n_units)),
        rng.uniform(-0.1, 0.5, n_units),
        rng.normal(0, np.sqrt(2 / (n_units + n_outputs)), (n_units, n_outputs)),
        np.zeros(n_outputs),
    )


def shares_of(scores: Floats) -> Floats:
    """Return the probability of each output: of class 1, or of every class."""
    if scores.shape[1] == 1:
        return 0.5 * (1 + np.tanh(0.5 * scores))
    shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Floats = shifted / shifted.sum(axis=1, keepdims=True)
    return shares


def targets_of(rows: DistinctRows, n_outputs: int) -> Floats:
    """Return the class shares that the outputs should have."""
    return rows.shares[:, 1:] if n_outputs == 1 else rows.shares


def loss_of(net: Net, rows: DistinctRows, decay: float) -> tuple[float, Floats]:
    """Return the mean cross entropy with its penalty, and its gradient."""
    before = rows.inputs @ net.first + net.bias
    hidden = np.maximum(before, 0.0)
    scores = hidden @ net.last + net.base
    targets = targets_of(rows, scores.shape[1])
    if scores.shape[1] == 1:
        entropy = (np.logaddexp(0.0, scores) - targets * scores)[:, 0]
    else:
        top = scores.max(axis=1, keepdims=True)
        total = top[:, 0] + np.log(np.exp(scores - top).sum(axis=1))
        entropy = total - (targets * scores).sum(axis=1)
    apart = (shares_of(scores) - targets) * rows.weights[:, np.newaxis]
    back = (apart @ net.last.T) * (before > 0)
    gradient = np.concatenate(
        [
            (rows.inputs.T @ back + decay * net.first).ravel(),
            back.sum(axis=0),
            (hidden.T @ apart + decay * net.last).ravel(),
            apart.sum(axis=0),
        ]
    )
    size = float((net.first**2).sum() + (net.last**2).sum())
    return float(rows.weights @ entropy) + decay / 2 * size, gradient


def trained(
    net: Net, rows: DistinctRows, decay: float, rounds: int, signs: Floats | None = None
) -> tuple[float, Net]:
    """Return the loss and the net after at most this many rounds of L-BFGS.

    Parameters
    ----------
    signs : ndarray of shape (n_questions,), optional
        For each question 1 if its weights must not be negative, -1 if they must not be
        positive, 0 if they are free. The weights of the last layer are then not
        negative, so that the output follows these signs.
    """
    from scipy.optimize import minimize

    bounds = None if signs is None else bounds_of(net, signs)
    start = net.vector
    if bounds is not None:
        start = np.clip(start, bounds[:, 0], bounds[:, 1])
    result = minimize(
        lambda vector: loss_of(net.filled(vector), rows, decay),
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": rounds, "maxcor": 20},
    )
    return float(result.fun), net.filled(result.x)


def bounds_of(net: Net, signs: Floats) -> Floats:
    """Return the minimum and maximum of each weight, so that signs are kept."""
    first = np.repeat(signs[:, np.newaxis], net.first.shape[1], axis=1).ravel()
    rest = np.concatenate(
        [np.zeros(net.bias.size), np.ones(net.last.size), np.zeros(net.base.size)]
    )
    signs = np.concatenate([first, rest])
    return np.stack(
        [np.where(signs > 0, 0.0, -np.inf), np.where(signs < 0, 0.0, np.inf)], axis=1
    )
