"""The path: networks from simple to complex, their accuracy, and their rules.

Everything is learned from the training rows alone, anew in each fold: where columns are
cut, the order of categories, the questions that are kept, the weights.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from nn2rules.engine import Meter, build_table
from nn2rules.engine.parallel import is_remote, shared_workers, spread
from nn2rules.errors import OptionError
from nn2rules.extraction import extract
from nn2rules.learn.training.columns import Cells, answer_table, columns_of
from nn2rules.learn.training.net import Floats
from nn2rules.learn.training.path import Point
from nn2rules.learn.training.stages import Stage, TrainingData, TrainingOptions, stages
from nn2rules.network import Layer, Network
from nn2rules.space import Domain, Grouped, Rows, Value, picked_rows

_FEWEST_DIGITS, _MOST_DIGITS = 2, 17


def network_of(
    columns: Sequence[Cells], stage: Stage, classes: Sequence[Value]
) -> Network:
    """Return the network that predicts what a trained net does.

    It has a feature for each column that some question is about, and no others.
    """
    features, tables, start = [], [], 0
    weights = dict(zip(stage.asked, stage.net.first, strict=True))
    for column in columns:
        asked = range(start, start + column.n_questions)
        kept = [question - start for question in asked if question in weights]
        start += column.n_questions
        if not kept:
            continue
        feature, cells = column.feature(kept)
        answers = column.answers[cells][:, kept].astype(np.float64)
        features.append(feature)
        tables.append(_summed(answers, [weights[asked[k]] for k in kept]))
    domain = Domain(tuple(features))
    first = Layer(np.vstack(tables), stage.net.bias, "relu")
    last = "sigmoid" if len(stage.net.base) == 1 else "softmax"
    layers = (first, Layer(stage.net.last, stage.net.base, last))
    return Network(domain, layers, tuple(classes))


def _summed(answers: Floats, weights: Sequence[Floats]) -> Floats:
    """Return the weights of values: the sum over the questions answered with yes.

    They are added from first to last, so that what may only rise with each yes rises in
    floating point, too.
    """
    total = np.zeros((len(answers), len(weights[0])))
    for yes, weight in zip(answers.T, weights, strict=True):
        total = total + yes[:, np.newaxis] * weight
    return total


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


MOST_INPUTS, MOST_RULES = 1 << 16, 50
"""Networks with more are too complex to read, and not on the path."""

_SMALL = 1 << 18
"""With fewer answers than this, starting other processes does not pay off."""


@dataclass(frozen=True)
class TrainingTable:
    """A table of rows with their classes, and how to train nets on it.

    Attributes
    ----------
    rows : frame or list of dicts
    names : tuple of str
        Its columns.
    truth : ndarray of shape (n_rows,)
        The position of the class of each row.
    classes : tuple of labels
    signs : mapping from columns to 1 or -1
        Whether the second class may only become more or less likely with the number.
    how : TrainingOptions
    cuts : int
        The maximum number of cuts per column.
    """

    rows: Rows
    names: tuple[str, ...]
    truth: NDArray[np.int64]
    classes: tuple[Value, ...]
    signs: dict[str, int]
    options: TrainingOptions
    cuts: int

    def part(self, places: NDArray[np.int64]) -> "TrainingTable":
        """Return the table with these rows only."""
        rows = picked_rows(self.rows, places)
        return replace(self, rows=rows, truth=self.truth[places])

    def with_units(self, units: int) -> "TrainingTable":
        """Return the table for nets with this many hidden units."""
        return replace(self, options=replace(self.options, units=units))


class _Fold(NamedTuple):
    """Rows to train on, rows held out, and the number of hidden units."""

    units: int
    train: NDArray[np.int64]
    test: NDArray[np.int64]


@contextmanager
def _processes(table: TrainingTable, n_jobs: int | None) -> Iterator[int | None]:
    """Use other processes, unless joblib has workers or the table is small.

    Yields the number of jobs. Threads would wait for each other, since small numpy
    operations hold the interpreter lock.
    """
    n_cells = len(table.truth) * len(table.names) * table.cuts
    if is_remote() or n_cells < _SMALL:
        yield n_jobs if is_remote() else 1
        return
    with joblib.parallel_config("loky"):
        yield n_jobs


def learn(
    table: TrainingTable,
    folds: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]],
    units: Sequence[int],
    *,
    n_jobs: int | None,
    progress: Callable[[str, float], None],
    most_rules: int,
) -> list[Point]:
    """Return the path, the simplest network first.

    Parameters
    ----------
    table : TrainingTable
    folds : sequence of pairs of positions
        The rows to train on, and those held out, for each fold.
    units : sequence of int
        The numbers of hidden units to try; the path whose best network is most accurate
        on held-out rows is used.
    n_jobs : int, optional
        Number of processes; the result does not depend on it.
    most_rules : int
        Networks with more rules are left out.
    """
    tasks = [_Fold(n, train, test) for n in units for train, test in folds]
    done: list[Floats] = []
    with _processes(table, n_jobs) as wanted, shared_workers(wanted):
        for result in spread(_right, table, tasks, meter=Meter(), n_jobs=wanted):
            done.append(result)
            progress("training networks", 0.7 * len(done) / len(tasks))
    parts = [done[i * len(folds) : (i + 1) * len(folds)] for i in range(len(units))]
    best = max(range(len(units)), key=lambda i: _highest(parts[i]))
    columns, stages_found = _stages(table.with_units(units[best]))
    return _points(table, columns, stages_found, parts[best], progress, most_rules)


def _highest(right: Sequence[Floats]) -> float:
    """Return the mean over folds of the best network of a path."""
    n_common = min(map(len, right))
    return float(np.mean([fold[:n_common] for fold in right], axis=0).max())


def _points(
    table: TrainingTable,
    columns: Sequence[Cells],
    pruned: Sequence[Stage],
    right: Sequence[Floats],
    progress: Callable[[str, float], None],
    most_rules: int,
) -> list[Point]:
    points: list[Point] = []
    answers = answer_table(columns, table.rows)
    labels = [table.classes[place] for place in table.truth.tolist()]
    best, is_large = 0.0, False
    for index, stage in enumerate(pruned):
        shares = tuple(float(fold[min(index, len(fold) - 1)]) for fold in right)
        accuracy = sum(shares) / len(shares)
        progress("counting rules", 0.8 + 0.2 * (index + 1) / len(pruned))
        if is_large and accuracy <= best:  # larger and not even more accurate
            continue
        best = max(best, accuracy)
        network = network_of(columns, rounded(stage, answers), table.classes)
        if points and network.domain.n_inputs > MOST_INPUTS:
            break
        rules = extract(
            network,
            data=table.rows,
            labels=labels,
            form="rules",
            n_jobs=1,
            progress=False,
        )
        is_large = len(rules) > most_rules
        if not is_large or not points:
            points.append(Point(len(stage.asked), shares, network, rules))
    return points


def _stages(table: TrainingTable) -> tuple[list[Cells], list[Stage]]:
    columns = columns_of(table.rows, table.names, table.truth, table.cuts)
    if not columns:
        raise OptionError(
            "every column has a single value, or a different category in each row; "
            "there is nothing to learn from"
        )
    signs = np.concatenate([_signs(column, table.signs) for column in columns])
    answers = answer_table(columns, table.rows)
    data = TrainingData(answers, table.truth, len(table.classes), signs, table.options)
    with threadpool_limits(1):  # so that the order of sums does not depend on cores
        return columns, stages(data)


def _signs(column: Cells, signs: dict[str, int]) -> Floats:
    """Return the sign that each question of a column must have, or 0."""
    if column.name in signs and not column.is_ordered:
        raise OptionError(
            f"monotone: {column.name!r} has categories without an order; expected "
            f"numbers or ordered categories"
        )
    required = np.zeros(column.n_questions)
    required[: column.n_cuts] = signs.get(column.name, 0)
    return required


def _right(table: TrainingTable, fold: _Fold, _meter: Meter) -> Floats:
    """Return the share of held-out rows that each net of a path predicts correctly."""
    sized = table.with_units(fold.units)
    columns, pruned = _stages(sized.part(fold.train))
    held = sized.part(fold.test)
    answers = answer_table(columns, held.rows)
    return np.array(
        [
            (stage.net.classes(answers[:, list(stage.asked)]) == held.truth).mean()
            for stage in pruned
        ]
    )


def follows(network: Network, name: str, sign: int) -> bool:
    """Tell whether predictions are monotonic in a column, checked on every input.

    With sign 1, class 1 stays predicted as the column grows; with -1, as it falls. A
    column that is not a feature of the network has no effect. Missing and other values
    without a place in the order are not compared.
    """
    domain = network.domain
    if name not in domain.names:
        return True
    axis, feature = domain.names.index(name), domain.feature(name)
    classes = build_table(network).classes.reshape(domain.sizes)
    n_ordered = feature.n_plain if not isinstance(feature, Grouped) else len(feature)
    ordered = np.moveaxis(classes, axis, 0)[:n_ordered]
    steps = np.diff(ordered.astype(np.int64), axis=0)
    return bool((sign * steps >= 0).all())
