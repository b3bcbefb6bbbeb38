"""The table that networks are trained on, its questions, and work in processes.

`rule_path` and `card_path` train the networks: everything is learned from the training
rows alone, anew in each fold: where columns are cut, the order of categories, the
questions that are kept, the weights.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

import joblib
import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Meter, build_table
from nn2rules.engine.parallel import is_remote, shared_workers, spread
from nn2rules.errors import OptionError
from nn2rules.learn.training.columns import Cells, columns_of
from nn2rules.learn.training.measures import Measures, measured
from nn2rules.learn.training.net import shares_of
from nn2rules.learn.training.stages import TrainingOptions
from nn2rules.learn.training.targets import Floats, Targets
from nn2rules.network import Layer, Network
from nn2rules.space import Domain, Grouped, Rows, Value, picked_rows


def first_weights(
    columns: Sequence[Cells], asked: Sequence[int], weights: Floats
) -> tuple[Domain, Floats]:
    """Return the features that questions are about, and the weights of their values.

    Parameters
    ----------
    asked : sequence of int
        Questions, as positions among those of all columns.
    weights : ndarray of shape (n_asked, n_units)
    """
    features, tables, start = [], [], 0
    weight_of = dict(zip(asked, weights, strict=True))
    for column in columns:
        own = range(start, start + column.n_questions)
        kept = [question - start for question in own if question in weight_of]
        start += column.n_questions
        if not kept:
            continue
        feature, cells = column.feature(kept)
        answers = column.answers[cells][:, kept].astype(np.float64)
        features.append(feature)
        tables.append(_summed(answers, [weight_of[own[k]] for k in kept]))
    return Domain(tuple(features)), np.vstack(tables)


def _summed(answers: Floats, weights: Sequence[Floats]) -> Floats:
    """Return the weights of values: the sum over the questions answered with yes.

    They are added from first to last, so that what may only rise with each yes rises in
    floating point, too.
    """
    total = np.zeros((len(answers), len(weights[0])))
    for yes, weight in zip(answers.T, weights, strict=True):
        total = total + yes[:, np.newaxis] * weight
    return total


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
    targets : Targets
        What is to be predicted for each row.
    classes : tuple of labels
    signs : mapping from columns to 1 or -1
        Whether the second class may only become more or less likely with the number.
    options : TrainingOptions
        Those of nets with hidden units.
    cuts : int
        The maximum number of cuts per column.
    """

    rows: Rows
    names: tuple[str, ...]
    targets: Targets
    classes: tuple[Value, ...]
    signs: dict[str, int]
    options: TrainingOptions
    cuts: int

    def part(self, places: NDArray[np.int64]) -> "TrainingTable":
        """Return the table with these rows only."""
        rows = picked_rows(self.rows, places)
        return replace(self, rows=rows, targets=self.targets.part(places))

    @property
    def labels(self) -> list[Value]:
        """The class of each row."""
        return [self.classes[place] for place in self.targets.truth.tolist()]

    def with_options(self, units: int, alpha: float) -> "TrainingTable":
        """Return the table for nets with this many hidden units, and this penalty."""
        return replace(self, options=replace(self.options, units=units, alpha=alpha))


Fold: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]
"""The rows to train on, and those held out, as positions."""

Task = TypeVar("Task")
Result = TypeVar("Result")


def worked_off(
    work: Callable[[TrainingTable, Task, Meter], Result],
    table: TrainingTable,
    tasks: Sequence[Task],
    n_jobs: int | None,
    progress: Callable[[float], None],
) -> list[Result]:
    """Return the results of tasks, in other processes where that is quicker.

    Progress is a number from 0 to 1.
    """
    results: list[Result] = []
    with _processes(table, n_jobs) as wanted, shared_workers(wanted):
        for result in spread(work, table, tasks, meter=Meter(), n_jobs=wanted):
            results.append(result)
            progress(len(results) / len(tasks))
    return results


@contextmanager
def _processes(table: TrainingTable, n_jobs: int | None) -> Iterator[int | None]:
    """Use other processes, unless joblib has workers or the table is small.

    Yields the number of jobs. Threads would wait for each other, since small numpy
    operations hold the interpreter lock.
    """
    n_cells = len(table.targets) * len(table.names) * table.cuts
    if is_remote() or n_cells < _SMALL:
        yield n_jobs if is_remote() else 1
        return
    with joblib.parallel_config("loky"):
        yield n_jobs


def questions_of(table: TrainingTable) -> tuple[list[Cells], Floats]:
    """Return the cells of columns, and the sign that each question must have, or 0."""
    columns = columns_of(table.rows, table.names, table.targets, table.cuts)
    if not columns:
        raise OptionError(
            "every column has a single value, or a different category in each row; "
            "there is nothing to learn from"
        )
    return columns, np.concatenate([_signs(column, table.signs) for column in columns])


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


def input_codes(
    columns: Sequence[Cells], asked: Sequence[int], answers: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return rows as inputs of the network that asks these questions, by their answers.

    Its features are those of `first_weights`.
    """
    codes, start = [], 0
    for column in columns:
        own = np.arange(start, start + column.n_questions)
        kept = np.flatnonzero(np.isin(own, asked))
        start += column.n_questions
        if len(kept):
            _, cells = column.feature(kept.tolist())
            values = column.answers[cells][:, kept]
            given = answers[:, own[kept]]
            matches = (given[:, np.newaxis, :] == values).all(axis=2)
            codes.append(matches.argmax(axis=1))
    return np.stack(codes, axis=1).astype(np.int64)


def constant_network(
    columns: Sequence[Cells], targets: Targets, classes: Sequence[Value]
) -> Network:
    """Return the network that predicts the most frequent class, whatever the input.

    A domain has a feature; here it has no effect.
    """
    shares = np.log((targets.total + 1) / (targets.total + 1).sum())
    base = shares if len(shares) > 2 else shares[1:] - shares[:1]
    domain, weights = first_weights(columns, (0,), np.zeros((1, len(base))))
    last = "sigmoid" if len(base) == 1 else "softmax"
    return Network(domain, (Layer(weights, base, last),), tuple(classes))


def constant_measures(
    table: TrainingTable, folds: Sequence[Fold]
) -> tuple[Measures, ...]:
    """Return how good it is to predict the class shares of the training rows."""
    found = []
    for train, test in folds:
        total = table.targets.part(train).total
        shares = np.tile(total / total.sum(), (len(test), 1))
        classes = np.full(len(test), int(np.argmax(total)))
        found.append(measured(shares, classes, table.targets.part(test)))
    return tuple(found)


def measured_scores(scores: Floats, targets: Targets) -> Measures:
    """Return how good the scores of a net, before sigmoid or softmax, are."""
    shares = shares_of(scores)
    if scores.shape[1] == 1:
        shares, classes = (
            np.hstack([1 - shares, shares]),
            (scores[:, 0] > 0).astype(int),
        )
    else:
        classes = np.argmax(scores, axis=1)
    return measured(shares, classes, targets)


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
    n_ordered = feature.n_plain if not isinstance(feature, Grouped) else len(feature)
    if len(network.layers) == 1:  # one score, and the feature's part of it
        start = int(domain.offsets[axis])
        points = network.layers[0].weights[start : start + n_ordered]
        return bool((sign * np.diff(points, axis=0) >= 0).all())
    classes = build_table(network).classes.reshape(domain.sizes)
    ordered = np.moveaxis(classes, axis, 0)[:n_ordered]
    steps = np.diff(ordered.astype(np.int64), axis=0)
    return bool((sign * steps >= 0).all())
