"""From rich to simple: a net for each number of questions that it may ask."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nn2rules.training.net import Floats, Lessons, Net, first_net, lessons, trained
from nn2rules.training.surgeon import Surgeon, rough_costs

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
