"""Networks described by rules: from simple to complex, measured on held-out rows.

A net is trained on all questions and pruned down to one. Small stages have few exact
rules. Of the most accurate stage, whatever its number of rules, short lists are made,
which become networks themselves (`rule_lists`).
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from nn2rules.engine import Meter
from nn2rules.extraction import extract
from nn2rules.learn.training.columns import Cells, answer_table
from nn2rules.learn.training.learning import (
    Fold,
    TrainingTable,
    constant_measures,
    constant_network,
    first_weights,
    follows,
    input_codes,
    measured_scores,
    questions_of,
    worked_off,
)
from nn2rules.learn.training.measures import Measures
from nn2rules.learn.training.path import Point, best_of_each_size
from nn2rules.learn.training.rule_lists import described, network_of_list, short_list
from nn2rules.learn.training.stages import Stage, TrainingData, stages
from nn2rules.network import Layer, Network
from nn2rules.rules import RuleList
from nn2rules.space import Value

_FEWEST_DIGITS, _MOST_DIGITS = 2, 17


def network_of(
    columns: Sequence[Cells], stage: Stage, classes: Sequence[Value]
) -> Network:
    """Return the network that predicts what a trained net does.

    It has a feature for each column that some question is about, and no others.
    """
    domain, weights = first_weights(columns, stage.asked, stage.net.first)
    first = Layer(weights, stage.net.bias, "relu")
    last = "sigmoid" if len(stage.net.base) == 1 else "softmax"
    layers = (first, Layer(stage.net.last, stage.net.base, last))
    return Network(domain, layers, tuple(classes))


def rounded(stage: Stage, answers: NDArray[np.bool_]) -> Stage:
    """Return the net with the fewest digits that predicts all rows as before."""
    inputs = np.unique(answers[:, list(stage.asked)], axis=0).astype(np.float64)
    expected = stage.net.classes(inputs)
    vector = stage.net.vector
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS):
        net = stage.net.filled(np.round(vector, digits) + 0.0)
        if np.array_equal(net.classes(inputs), expected):
            return Stage(stage.asked, net)
    return stage


MOST_INPUTS, MOST_RULES = 1 << 16, 30
"""Networks with more inputs have no rules, and those with more rules are left out."""

_LIST_FOLDS = 5
"""Short lists are made of networks of this many folds."""

_MANY_ROWS = 10_000
"""With more rows, the penalty hardly matters, and only the first one is tried."""

_NEAR = 0.002
"""Of stages that are this near to the best one, lists are made of the smallest."""


class _Task(NamedTuple):
    """The options of a net, the rows to train on, and those held out."""

    units: int
    alpha: float
    train: NDArray[np.int64]
    test: NDArray[np.int64]


class _Trained(NamedTuple):
    """The nets of a fold, and how good each is on held-out rows."""

    columns: list[Cells]
    stages: list[Stage]
    measures: list[Measures]


def learn_rules(
    table: TrainingTable,
    folds: Sequence[Fold],
    units: Sequence[int],
    alphas: Sequence[float],
    *,
    max_rules: int | None,
    n_jobs: int | None,
    progress: Callable[[str, float], None],
) -> list[Point]:
    """Return networks with few rules, after a constant, with what they achieve.

    Parameters
    ----------
    table : TrainingTable
    folds : sequence of pairs of positions
        The rows to train on, and those held out, for each fold.
    units, alphas : sequence of numbers
        The numbers of hidden units, and the penalties, to try: those are used whose
        best network is most accurate on held-out rows.
    max_rules : int, optional
        Networks with more rules are left out; by default those with more than 30.
    n_jobs : int, optional
        Number of processes; the result does not depend on it.
    """
    most = MOST_RULES if max_rules is None else max_rules
    if len(table.targets) > _MANY_ROWS:
        alphas = alphas[:1]
    options = [(n, float(alpha)) for n in units for alpha in alphas]
    tasks = [_Task(*option, *fold) for option in options for fold in folds]
    done = worked_off(
        _trained_fold,
        table,
        tasks,
        n_jobs,
        lambda part: progress("training networks", 0.6 * part),
    )
    parts = [done[i * len(folds) : (i + 1) * len(folds)] for i in range(len(options))]
    best = max(range(len(options)), key=lambda i: max(_accuracies(parts[i])))
    table = table.with_options(*options[best])
    columns, pruned = _stages(table)
    points = [_constant(table, columns, folds)]
    points += _exact(table, columns, pruned, parts[best], most)
    progress("counting rules", 0.75)
    sizes = sorted({size for size in (most // 3, most) if size})
    report = lambda part: progress("shortening rules", 0.75 + 0.25 * part)  # noqa: E731
    points += _lists(
        table,
        columns,
        pruned,
        parts[best],
        folds,
        sizes,
        n_jobs=n_jobs,
        progress=report,
    )
    return best_of_each_size(points)


def _accuracies(folds: Sequence[_Trained]) -> list[float]:
    """Return the mean accuracy over folds of the networks that all folds have."""
    n_common = min(len(fold.measures) for fold in folds)
    right = [[found.accuracy for found in fold.measures[:n_common]] for fold in folds]
    means: list[float] = np.mean(right, axis=0).tolist()
    return means


def _constant(
    table: TrainingTable, columns: Sequence[Cells], folds: Sequence[Fold]
) -> Point:
    """Return the network that predicts the most frequent class, without any rule."""
    network = constant_network(columns, table.targets, table.classes)
    return Point(0, constant_measures(table, folds), network, _rules(table, network))


def _rules(table: TrainingTable, network: Network) -> RuleList:
    rules: RuleList = extract(
        network,
        data=table.rows,
        labels=table.labels,
        form="rules",
        n_jobs=1,
        progress=False,
    )
    return rules


def _exact(
    table: TrainingTable,
    columns: Sequence[Cells],
    pruned: Sequence[Stage],
    folds: Sequence[_Trained],
    most_rules: int,
) -> list[Point]:
    """Return the networks with few exact rules."""
    points: list[Point] = []
    answers = answer_table(columns, table.rows)
    best, is_large = 0.0, False
    for index, stage in enumerate(pruned):
        measures = tuple(
            fold.measures[min(index, len(fold.measures) - 1)] for fold in folds
        )
        accuracy = sum(found.accuracy for found in measures) / len(measures)
        if is_large and accuracy <= best:  # larger and not even more accurate
            continue
        best = max(best, accuracy)
        network = network_of(columns, rounded(stage, answers), table.classes)
        if network.domain.n_inputs > _MOST_EXACT:
            break
        rules = _rules(table, network)
        is_large = len(rules) > most_rules
        if not is_large:
            points.append(Point(len(stage.asked), measures, network, rules))
    return points


_MOST_EXACT = 1 << 12
"""Networks with more inputs have more than a few exact rules."""


def _lists(
    table: TrainingTable,
    columns: Sequence[Cells],
    pruned: Sequence[Stage],
    folds: Sequence[_Trained],
    parts: Sequence[Fold],
    sizes: Sequence[int],
    *,
    n_jobs: int | None,
    progress: Callable[[float], None],
) -> list[Point]:
    """Return short lists of the most accurate stage, as networks."""
    answers = answer_table(columns, table.rows)
    means = _accuracies(folds)
    fitting = [
        index
        for index, stage in enumerate(pruned[: len(means)])
        if first_weights(columns, stage.asked, stage.net.first)[0].n_inputs
        <= MOST_INPUTS
    ]
    if not fitting or not sizes:
        return []
    best = max(means[index] for index in fitting)
    chosen = next(index for index in fitting if means[index] >= best - _NEAR)
    tasks = [
        _ListTask(fold.columns, fold.stages, chosen, *part, tuple(sizes))
        for fold, part in zip(folds, parts, strict=True)
    ][:_LIST_FOLDS]
    done = worked_off(_measured_lists, table, tasks, n_jobs, progress)
    uncut = network_of(columns, rounded(pruned[chosen], answers), table.classes)
    points = []
    for place, size in enumerate(sizes):
        rules = short_list(uncut, table.rows, table.labels, size)
        network = network_of_list(rules, uncut, table.rows, table.targets)
        rules = described(rules, network, table.rows, table.labels)
        measures = tuple(fold[place] for fold in done)
        # Fewer rules may differ from a monotonic network just where it is monotonic.
        if all(follows(network, name, sign) for name, sign in table.signs.items()):
            points.append(Point(len(pruned[chosen].asked), measures, network, rules))
        if len(rules) < size:  # the longer ones are the same
            break
    return points


class _ListTask(NamedTuple):
    """A net of a fold, and the lengths of the lists to make of it."""

    columns: list[Cells]
    stages: list[Stage]
    chosen: int
    train: NDArray[np.int64]
    test: NDArray[np.int64]
    sizes: tuple[int, ...]


def _measured_lists(
    table: TrainingTable, task: _ListTask, _meter: Meter
) -> list[Measures]:
    """Return how good lists of different lengths are on held-out rows."""
    train, held = table.part(task.train), table.part(task.test)
    answers = answer_table(task.columns, train.rows)
    for stage in task.stages[: task.chosen + 1][::-1]:
        uncut = network_of(task.columns, rounded(stage, answers), table.classes)
        if uncut.domain.n_inputs <= MOST_INPUTS:
            break
    codes = input_codes(
        task.columns, stage.asked, answer_table(task.columns, held.rows)
    )
    found = []
    for size in task.sizes:
        rules = short_list(uncut, train.rows, train.labels, size)
        network = network_of_list(rules, uncut, train.rows, train.targets)
        scores = network.scores_codes(codes).reshape(len(codes), -1)
        found.append(measured_scores(scores, held.targets))
    return found


def _stages(table: TrainingTable) -> tuple[list[Cells], list[Stage]]:
    columns, signs = questions_of(table)
    answers = answer_table(columns, table.rows)
    data = TrainingData(answers, table.targets, signs, table.options)
    with threadpool_limits(1):  # so that the order of sums does not depend on cores
        return columns, stages(data)


def _trained_fold(table: TrainingTable, task: _Task, _meter: Meter) -> _Trained:
    """Train nets, and measure each on held-out rows."""
    table = table.with_options(task.units, task.alpha)
    columns, pruned = _stages(table.part(task.train))
    held = table.part(task.test)
    answers = answer_table(columns, held.rows)
    found = [
        measured_scores(stage.net.scores(answers[:, list(stage.asked)]), held.targets)
        for stage in pruned
    ]
    return _Trained(columns, pruned, found)
