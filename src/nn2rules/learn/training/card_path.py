"""Scorecards from few lines to many: trained, rounded to integer points, measured.

Everything is learned from the training rows alone, anew in each fold, and what is
measured on held-out rows are the integer points.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from nn2rules.engine import Meter
from nn2rules.extraction import extract
from nn2rules.learn.training.additive import (
    Additive,
    CardStage,
    CardTraining,
    Questions,
    card_stages,
)
from nn2rules.learn.training.columns import Cells, answer_table
from nn2rules.learn.training.learning import (
    Fold,
    TrainingTable,
    first_weights,
    measured_scores,
    questions_of,
    worked_off,
)
from nn2rules.learn.training.measures import Measures
from nn2rules.learn.training.path import Point, best_of_each_size
from nn2rules.learn.training.points import Points, points_of
from nn2rules.learn.training.targets import Floats
from nn2rules.network import Layer, Network
from nn2rules.space import Value

_SIZES = 10
"""The path has about this many cards."""


def sizes_of(max_lines: int) -> list[int]:
    """Return the numbers of lines that cards of the path have at most.

    Examples
    --------
    >>> sizes_of(30)
    [2, 3, 4, 5, 7, 9, 12, 16, 22, 30]
    """
    steps = np.geomspace(2, max(2, max_lines), _SIZES)
    return sorted({round(step) for step in steps.tolist()})


@dataclass(frozen=True, eq=False)
class PointsCard:
    """Integer points for the answers to questions.

    Attributes
    ----------
    asked : tuple of int
        The questions, as positions among those of all columns.
    points : Points
    lines : int
    """

    asked: tuple[int, ...]
    points: Points
    lines: int

    def scores(self, answers: NDArray[np.bool_]) -> Floats:
        """Return the scores of rows, given their answers to all questions."""
        return self.points.model.scores(answers[:, list(self.asked)])


def cards_of(data: CardTraining, alpha: float) -> list[PointsCard]:
    """Train cards from few lines to many, in integer points.

    Parameters
    ----------
    data : CardTraining
        Its targets may be the probabilities that a model predicts.
    alpha : float
        The penalty on the squares of the steps, for all rows together.

    Returns
    -------
    list of PointsCard
        One for each number of lines of `sizes_of`, after a constant without lines. One
        that has no more lines than the one before is the same card.
    """
    with threadpool_limits(1):  # so that the order of sums does not depend on cores
        stages = card_stages(data, alpha)
        cards = [_constant(data)]
        for size in sizes_of(data.max_lines):
            fitting = [stage for stage in stages if stage.lines <= size]
            if fitting:
                cards.append(_in_points(data, fitting[-1], alpha))
            else:
                cards.append(cards[-1])
    return cards


def _constant(data: CardTraining) -> PointsCard:
    """Return the card without lines, which predicts the most frequent class."""
    none = np.empty(0, dtype=np.int64)
    rows = data.distinct(none)
    points = points_of(Additive.constant(0, rows), rows, none, 1.0)
    return PointsCard((), points, 0)


def _in_points(data: CardTraining, stage: CardStage, alpha: float) -> PointsCard:
    """Return a card in integer points; lines with equal points become one."""
    asked = np.array(stage.asked)
    questions, signs = data.questions.part(asked), data.signs[asked]
    rows = data.distinct(asked)
    points = points_of(stage.model, rows, questions.columns, alpha, signs)
    kept = np.flatnonzero(points.weights.any(axis=1))
    points = replace(points, weights=points.weights[kept])
    return PointsCard(tuple(asked[kept].tolist()), points, questions.part(kept).n_lines)


class _Answers(NamedTuple):
    """The questions about the columns of a table, and their answers."""

    columns: list[Cells]
    data: CardTraining


def _asked(table: TrainingTable, max_lines: int) -> _Answers:
    columns, signs = questions_of(table)
    answers = answer_table(columns, table.rows)
    questions = Questions.of_columns(columns)
    return _Answers(
        columns, CardTraining(answers, table.targets, questions, signs, max_lines)
    )


def card_network(
    columns: Sequence[Cells], card: PointsCard, classes: Sequence[Value]
) -> Network:
    """Return the network of a card: no hidden layer, and its points as weights.

    Weights are points divided by a power of two, which is exact.
    """
    model = card.points.model
    asked, weights = card.asked, model.weights
    if not asked:  # a domain has a feature, here one without any effect
        asked, weights = (0,), np.zeros((1, len(model.base)))
    domain, table = first_weights(columns, asked, weights)
    last = "sigmoid" if len(model.base) == 1 else "softmax"
    return Network(domain, (Layer(table, model.base, last),), tuple(classes))


class _Task(NamedTuple):
    """The rows to train on and those held out, and the penalties to try."""

    train: NDArray[np.int64]
    test: NDArray[np.int64]
    alphas: tuple[float, ...]
    max_lines: int


def learn_cards(
    table: TrainingTable,
    folds: Sequence[Fold],
    alphas: Sequence[float],
    *,
    max_lines: int,
    n_jobs: int | None,
    progress: Callable[[str, float], None],
) -> list[Point]:
    """Return cards from few lines to many, after a constant, with what they achieve.

    Parameters
    ----------
    table : TrainingTable
    folds : sequence of pairs of positions
        The rows to train on, and those held out, for each fold.
    alphas : sequence of float
        Penalties; the one whose cards have the best probabilities on held-out rows is
        used.
    max_lines : int
        The number of lines of the largest card.
    n_jobs : int, optional
        Number of processes; the result does not depend on it.
    """
    tasks = [_Task(train, test, tuple(alphas), max_lines) for train, test in folds]
    done = worked_off(
        _measured_fold,
        table,
        tasks,
        n_jobs,
        lambda part: progress("training scorecards", 0.8 * part),
    )
    best = min(
        range(len(alphas)), key=lambda place: _error([fold[place] for fold in done])
    )
    columns, data = _asked(table, max_lines)
    points: list[Point] = []
    cards = cards_of(data, alphas[best])
    for place, card in enumerate(cards):
        progress("writing scorecards", 0.8 + 0.2 * (place + 1) / len(cards))
        if points and card.asked == cards[place - 1].asked:
            continue
        network = card_network(columns, card, table.classes)
        description = extract(
            network,
            data=table.rows,
            labels=table.labels,
            form="scorecard",
            progress=False,
        )
        measures = tuple(fold[best][place] for fold in done)
        points.append(Point(len(card.asked), measures, network, description))
    return best_of_each_size(points)


def _measured_fold(
    table: TrainingTable, task: _Task, _meter: Meter
) -> list[list[Measures]]:
    """Return how good cards are on held-out rows: for each penalty, for each size."""
    columns, data = _asked(table.part(task.train), task.max_lines)
    held = table.part(task.test)
    answers = answer_table(columns, held.rows)
    return [
        [
            measured_scores(card.scores(answers), held.targets)
            for card in cards_of(data, alpha)
        ]
        for alpha in task.alphas
    ]


def _error(folds: Sequence[list[Measures]]) -> float:
    """Return the Brier score of the best card, as a mean over folds."""
    return float(
        np.mean([[found.brier for found in fold] for fold in folds], axis=0).min()
    )
