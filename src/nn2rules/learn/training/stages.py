"""From rich to simple: a net for each number of questions that it may ask."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nn2rules.learn.training.net import (
    Floats,
    Lessons,
    Net,
    first_net,
    lessons,
    shares_of,
    trained,
)

_MOST_LESSONS = 4000
"""So many kinds of rows, those with most rows, say how the bowl is curved."""


class Surgeon:
    """Costs of questions, and the net without some of them.

    Parameters
    ----------
    net : Net
        Trained, or nearly so.
    taught : Lessons
    decay : float
        The penalty it was trained with.
    """

    def __init__(self, net: Net, taught: Lessons, decay: float) -> None:
        self._net, self._inverse = net, np.linalg.inv(_curvature(net, taught, decay))
        self._vector = _movable(net)
        self.left = [*range(len(net.first))]
        """The questions that are left, as positions among the first ones."""

    def costs(self) -> Floats:
        """Return what the loss grows by without each question that is left."""
        n_units = self._net.first.shape[1]
        size = self._net.first.size
        blocks = self._inverse[:size, :size].reshape(
            -1, n_units, size // n_units, n_units
        )
        own = blocks[self.left, :, self.left, :]
        weights = self._vector[:size].reshape(-1, n_units)[self.left]
        solved = np.linalg.solve(own, weights[:, :, np.newaxis])[:, :, 0]
        found: Floats = (weights * solved).sum(axis=1) / 2
        return found

    def drop(self, index: int) -> None:
        """Leave out one of the questions that are left; the others make up for it."""
        question = self.left.pop(index)
        own = self._own(question)
        beside, inner = self._inverse[:, own], self._inverse[own, own]
        self._vector = self._given_way(question)
        self._inverse = self._inverse - beside @ np.linalg.solve(inner, beside.T)

    def net_without(self, index: int) -> Net:
        """Return the net without one more of the questions that are left."""
        left = [*self.left]
        return self._net_of(self._given_way(left.pop(index)), left)

    @property
    def net(self) -> Net:
        """The net with the questions that are left."""
        return self._net_of(self._vector, self.left)

    def _net_of(self, vector: Floats, left: list[int]) -> Net:
        n_first, n_units = self._net.first.size, self._net.bias.size
        return replace(
            self._net,
            first=vector[:n_first].reshape(self._net.first.shape)[left],
            bias=vector[n_first : n_first + n_units],
            base=vector[n_first + n_units :],
        )

    def _given_way(self, question: int) -> Floats:
        """Return the weights where those of a question are zero."""
        own = self._own(question)
        solved = np.linalg.solve(self._inverse[own, own], self._vector[own])
        moved: Floats = self._vector - self._inverse[:, own] @ solved
        moved[own] = 0.0
        return moved

    def _own(self, question: int) -> slice:
        n_units = self._net.first.shape[1]
        return slice(question * n_units, (question + 1) * n_units)


def rough_costs(net: Net, taught: Lessons, decay: float) -> Floats:
    """Return what the loss grows by without each question, if nothing makes up for it.

    That needs no matrix, and so can be asked of thousands.
    """
    before = taught.inputs @ net.first + net.bias
    shares = shares_of(np.maximum(before, 0.0) @ net.last + net.base)
    curved = np.full(net.first.shape, decay)
    for spread in _spreads(shares):
        back = (spread @ net.last.T) * (before > 0)
        curved += (taught.inputs**2).T @ (back**2 * taught.weights[:, np.newaxis])
    found: Floats = (net.first**2 * curved).sum(axis=1) / 2
    return found


def _movable(net: Net) -> Floats:
    """Return the weights that give way."""
    return np.concatenate([net.first.ravel(), net.bias, net.base])


def _curvature(net: Net, taught: Lessons, decay: float) -> Floats:
    """Return the curvature of the loss by Gauss and Newton, with its penalty."""
    heavy = np.argsort(-taught.weights, kind="stable")[:_MOST_LESSONS]
    inputs, weights = taught.inputs[heavy], taught.weights[heavy]
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
"""Without it what no row tells would have no inverse."""


def _spreads(shares: Floats) -> list[Floats]:
    """Return columns whose squares add up to how the outputs vary around the shares."""
    if shares.shape[1] == 1:
        return [np.sqrt(shares * (1 - shares))]
    found = []
    for index in range(shares.shape[1]):
        root = np.sqrt(shares[:, index])
        spread = -shares * root[:, np.newaxis]
        spread[:, index] += root
        found.append(spread)
    return found


_STARTS = 3
_FIRST_ROUNDS, _ROUNDS, _TRIAL_ROUNDS, _LAST_ROUNDS = 150, 25, 15, 60
_MANY = 160
"""Of more questions, what they cost is only roughly known."""

_CAREFUL = 24
"""From so many questions on they are taken away one by one."""

_TRIED = 4
"""Of the questions that cost least, so many are left out on trial."""


@dataclass(frozen=True)
class Schooling:
    """How nets are trained.

    Attributes
    ----------
    units : int
        Of the hidden layer.
    alpha : float
        The penalty on the squares of the weights, for all rows together.
    most : int
        How many questions the richest net may ask.
    seed : int
    """

    units: int
    alpha: float
    most: int
    seed: int


@dataclass(frozen=True)
class Stage:
    """A trained net, and the questions that it asks."""

    asked: tuple[int, ...]
    net: Net


@dataclass(frozen=True)
class School:
    """The rows of which nets learn.

    Attributes
    ----------
    answers : ndarray of bool, shape (n_rows, n_questions)
    truth : ndarray of int, shape (n_rows,)
        The position of the class of each row.
    n_classes : int
    signs : ndarray of shape (n_questions,)
        1 where yes may only raise the output, -1 where it may only lower it, else 0.
    how : Schooling
    """

    answers: NDArray[np.bool_]
    truth: NDArray[np.int64]
    n_classes: int
    signs: Floats
    how: Schooling

    @property
    def decay(self) -> float:
        """The penalty on the squares of the weights, for one row."""
        return self.how.alpha / len(self.truth)

    def lessons(self, asked: NDArray[np.int64]) -> Lessons:
        """Return the rows as far as these questions tell them apart."""
        return lessons(self.answers[:, asked], self.truth, self.n_classes)

    def trained(
        self, net: Net, asked: NDArray[np.int64], taught: Lessons, rounds: int
    ) -> tuple[float, Net]:
        """Return the loss and the net after so many rounds."""
        signs = self.signs[asked] if self.signs.any() else None
        return trained(net, taught, self.decay, rounds, signs)


def stages(school: School) -> list[Stage]:
    """Train a net that asks everything, and take questions away, one by one.

    The first of what is returned asks one question, the next two, and so on.
    """
    asked = np.arange(school.answers.shape[1])
    taught = school.lessons(asked)
    net, most = _started(school, asked, taught), school.how.most
    found: list[Stage] = []
    while True:
        if len(asked) <= most:
            _, net = school.trained(net, asked, taught, _LAST_ROUNDS)
            found.append(Stage(tuple(asked.tolist()), net))
        if len(asked) == 1:
            return found[::-1]
        if len(asked) <= max(most, _CAREFUL):
            asked, net = _without_one(school, net, asked, taught)
            taught = school.lessons(asked)
            continue
        kept, net = _without_some(school, net, taught)
        asked = asked[kept]
        taught = school.lessons(asked)
        _, net = school.trained(net, asked, taught, _ROUNDS)


def _started(school: School, asked: NDArray[np.int64], taught: Lessons) -> Net:
    """Return the best of a few nets with other first weights."""
    rng = np.random.default_rng(school.how.seed)
    tries = []
    for _ in range(_STARTS):
        net = first_net(len(asked), school.how.units, school.n_classes, rng)
        tries.append(school.trained(net, asked, taught, _FIRST_ROUNDS))
    return min(tries, key=lambda found: found[0])[1]


def _without_some(school: School, net: Net, taught: Lessons) -> tuple[list[int], Net]:
    """Leave out an eighth of the questions, or a quarter of very many."""
    n_asked = len(net.first)
    if n_asked > _MANY:
        costs = rough_costs(net, taught, school.decay)
        kept = sorted(np.argsort(-costs, kind="stable")[: n_asked * 3 // 4].tolist())
        return kept, replace(net, first=net.first[kept])
    surgeon = Surgeon(net, taught, school.decay)
    n_few = max(school.how.most, _CAREFUL)
    for _ in range(min(n_asked - n_few, max(1, n_asked // 8))):
        surgeon.drop(int(np.argmin(surgeon.costs())))
    return surgeon.left, surgeon.net


def _without_one(
    school: School, net: Net, asked: NDArray[np.int64], taught: Lessons
) -> tuple[NDArray[np.int64], Net]:
    """Leave out the question that costs least, after some training without it."""
    surgeon = Surgeon(net, taught, school.decay)
    tries = []
    for question in np.argsort(surgeon.costs(), kind="stable")[:_TRIED].tolist():
        left, better = np.delete(asked, question), surgeon.net_without(question)
        loss, better = school.trained(better, left, school.lessons(left), _TRIAL_ROUNDS)
        tries.append((loss, left, better))
    _, left, better = min(tries, key=lambda found: found[0])
    return left, better
