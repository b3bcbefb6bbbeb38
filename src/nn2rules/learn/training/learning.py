"""Learning the path: networks from simple to rich, how good they are, and their rules.

Everything is learnt from the training rows alone, in every fold anew: where columns are
cut, the order of words, the questions that are kept, the weights.
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
from nn2rules.learn.training.columns import Cells, columns_of, questions
from nn2rules.learn.training.net import Floats
from nn2rules.learn.training.path import Point
from nn2rules.learn.training.stages import School, Schooling, Stage, stages
from nn2rules.network import Layer, Network
from nn2rules.space import Domain, Rows, Value, picked_rows

_FEWEST_DIGITS, _MOST_DIGITS = 2, 17


def network_of(
    columns: Sequence[Cells], stage: Stage, classes: Sequence[Value]
) -> Network:
    """Return the network that answers as a trained net does.

    A feature for each column that it asks something of; the others are gone.
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
        said = column.answers[cells][:, kept].astype(np.float64)
        features.append(feature)
        tables.append(_summed(said, [weights[asked[k]] for k in kept]))
    domain = Domain(tuple(features))
    first = Layer(np.vstack(tables), stage.net.bias, "relu")
    last = "sigmoid" if len(stage.net.base) == 1 else "softmax"
    layers = (first, Layer(stage.net.last, stage.net.base, last))
    return Network(domain, layers, tuple(classes))


def _summed(said: Floats, weights: Sequence[Floats]) -> Floats:
    """Return the weights of values: those of every question they say yes to.

    They are added from the first to the last, so that what may only rise with each yes
    does so in floats, too.
    """
    total = np.zeros((len(said), len(weights[0])))
    for yes, own in zip(said.T, weights, strict=True):
        total = total + yes[:, np.newaxis] * own
    return total


def rounded(stage: Stage, answers: NDArray[np.bool_]) -> Stage:
    """Return the net with the fewest digits that answers all rows as before."""
    inputs = np.unique(answers[:, list(stage.asked)], axis=0).astype(np.float64)
    wanted = stage.net.classes(inputs)
    vector = stage.net.vector
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS):
        net = stage.net.filled(np.round(vector, digits) + 0.0)
        if np.array_equal(net.classes(inputs), wanted):
            return Stage(stage.asked, net)
    return stage


MOST_INPUTS, MOST_RULES = 1 << 16, 50
"""Networks with more are too rich to be read, and not on the path."""

_SMALL = 1 << 18
"""With fewer answers than that, other processes are not worth their start."""


@dataclass(frozen=True)
class Taught:
    """A table of rows with their classes, and how nets are to learn from it.

    Attributes
    ----------
    rows : frame or list of dicts
    names : tuple of str
        Its columns.
    truth : ndarray of shape (n_rows,)
        The position of the class of each row.
    classes : tuple of labels
    signs : mapping from columns to 1 or -1
        Where the second class may only become more likely, or less, with the number.
    how : Schooling
    cuts : int
        How often a column may be cut at most.
    """

    rows: Rows
    names: tuple[str, ...]
    truth: NDArray[np.int64]
    classes: tuple[Value, ...]
    signs: dict[str, int]
    how: Schooling
    cuts: int

    def part(self, places: NDArray[np.int64]) -> "Taught":
        """Return the same with these rows only."""
        rows = picked_rows(self.rows, places)
        return replace(self, rows=rows, truth=self.truth[places])

    def with_units(self, units: int) -> "Taught":
        """Return the same with nets of so many hidden units."""
        return replace(self, how=replace(self.how, units=units))


class _Fold(NamedTuple):
    """Rows to train on, and rows held out, with so many hidden units."""

    units: int
    train: NDArray[np.int64]
    test: NDArray[np.int64]


@contextmanager
def _processes(taught: Taught, n_jobs: int | None) -> Iterator[int | None]:
    """Let other processes work, unless joblib was given workers, or it is not worth it.

    Says how many.

    Threads would wait for each other: numpy's small steps are not compiled.
    """
    n_cells = len(taught.truth) * len(taught.names) * taught.cuts
    if is_remote() or n_cells < _SMALL:
        yield n_jobs if is_remote() else 1
        return
    with joblib.parallel_config("loky"):
        yield n_jobs


def learn(
    taught: Taught,
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
    taught : Taught
    folds : sequence of pairs of positions
        The rows to train on, and those held out, for each fold.
    units : sequence of int
        How many hidden units are tried; the path whose best network is best on the rows
        held out is taken.
    n_jobs : int, optional
        How many processes; the result is the same whatever their number.
    most_rules : int
        Networks that need more are left out.
    """
    tasks = [_Fold(n, train, test) for n in units for train, test in folds]
    done: list[Floats] = []
    with _processes(taught, n_jobs) as wanted, shared_workers(wanted):
        for result in spread(_right, taught, tasks, meter=Meter(), n_jobs=wanted):
            done.append(result)
            progress("training networks", 0.7 * len(done) / len(tasks))
    parts = [done[i * len(folds) : (i + 1) * len(folds)] for i in range(len(units))]
    best = max(range(len(units)), key=lambda i: _highest(parts[i]))
    columns, found = _stages(taught.with_units(units[best]))
    return _points(taught, columns, found, parts[best], progress, most_rules)


def _highest(right: Sequence[Floats]) -> float:
    """Return the mean over folds of the best network of a path."""
    n_common = min(len(own) for own in right)
    return float(np.mean([own[:n_common] for own in right], axis=0).max())


def _points(
    taught: Taught,
    columns: Sequence[Cells],
    found: Sequence[Stage],
    right: Sequence[Floats],
    progress: Callable[[str, float], None],
    most_rules: int,
) -> list[Point]:
    points: list[Point] = []
    answers = questions(columns, taught.rows)
    labels = [taught.classes[place] for place in taught.truth.tolist()]
    best, is_rich = 0.0, False
    for index, stage in enumerate(found):
        shares = tuple(float(own[min(index, len(own) - 1)]) for own in right)
        accuracy = sum(shares) / len(shares)
        progress("counting rules", 0.8 + 0.2 * (index + 1) / len(found))
        if is_rich and accuracy <= best:  # more of what is not even better
            continue
        best = max(best, accuracy)
        network = network_of(columns, rounded(stage, answers), taught.classes)
        if points and network.domain.n_inputs > MOST_INPUTS:
            break
        rules = extract(
            network,
            data=taught.rows,
            labels=labels,
            form="rules",
            n_jobs=1,
            progress=False,
        )
        is_rich = len(rules) > most_rules
        if not is_rich or not points:
            points.append(Point(len(stage.asked), shares, network, rules))
    return points


def _stages(taught: Taught) -> tuple[list[Cells], list[Stage]]:
    columns = columns_of(taught.rows, taught.names, taught.truth, taught.cuts)
    if not columns:
        raise OptionError(
            "every column has one value only, or a different word in each row; there "
            "is nothing to learn from"
        )
    signs = np.concatenate([_signs(column, taught.signs) for column in columns])
    answers = questions(columns, taught.rows)
    school = School(answers, taught.truth, len(taught.classes), signs, taught.how)
    with threadpool_limits(1):  # the number of cores must not change the order of sums
        return columns, stages(school)


def _signs(column: Cells, signs: dict[str, int]) -> Floats:
    """Return which way each question of a column may turn the answer."""
    if column.name in signs and not column.is_ordered:
        raise OptionError(
            f"monotone: {column.name!r} has words without an order; give numbers, or "
            f"categories in order"
        )
    found = np.zeros(column.n_questions)
    found[: column.n_cuts] = signs.get(column.name, 0)
    return found


def _right(taught: Taught, fold: _Fold, _meter: Meter) -> Floats:
    """Return the share of held-out rows that each network of a path gets right."""
    way = taught.with_units(fold.units)
    columns, found = _stages(way.part(fold.train))
    held = way.part(fold.test)
    answers = questions(columns, held.rows)
    return np.array(
        [
            (stage.net.classes(answers[:, list(stage.asked)]) == held.truth).mean()
            for stage in found
        ]
    )


def follows(network: Network, name: str, sign: int) -> bool:
    """Tell whether class 1 never goes away as a column grows, or with -1, falls.

    A column that the network does not look at turns no answer. Missing, and whatever
    else has no place in the order, is not compared.
    """
    domain = network.domain
    if name not in domain.names:
        return True
    axis, feature = domain.names.index(name), domain.feature(name)
    classes = build_table(network).classes.reshape(domain.sizes)
    n_ordered = feature.n_plain if feature.groups is None else len(feature)
    ordered = np.moveaxis(classes, axis, 0)[:n_ordered]
    steps = np.diff(ordered.astype(np.int64), axis=0)
    return bool((sign * steps >= 0).all())
