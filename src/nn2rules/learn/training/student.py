"""A small net that imitates a model: few lines, and a few hidden ReLU units.

A line is what a scorecard prints: the slope of a column of numbers, a group of
categories, or missing. Training begins with all columns and merges or drops lines, each
time those whose loss costs least, until few enough are left. The targets are the
model's probabilities, so a row says more than its class.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn2rules.learn.training.additive import entropies
from nn2rules.learn.training.net import (
    DistinctRows,
    Net,
    first_net,
    trained,
)
from nn2rules.learn.training.targets import Floats, Targets
from nn2rules.network import Layer, Network
from nn2rules.space import Domain, Feature, Value, is_missing, is_number, value_of

Columns = Sequence[Sequence[object]]
"""Cells, column by column."""

_MOST_GROUPS = 12
"""Of more categories, the rarer ones begin as one group."""

_JUDGED = 1500
"""Moves are compared on this many rows."""

_PART = 0.25
"""At most this part of the surplus lines goes before the net is trained again."""


@dataclass(frozen=True, eq=False)
class NumberLines:
    """A column of numbers: a slope, and a line for missing if some are.

    Attributes
    ----------
    name : str
    low, high : float
        The smallest and the largest number of the rows.
    center, size : float
        Their mean and standard deviation.
    has_gaps : bool
    """

    name: str
    low: float
    high: float
    center: float
    size: float
    has_gaps: bool

    @property
    def n_lines(self) -> int:
        """The number of lines."""
        return 1 + self.has_gaps

    @property
    def n_inputs(self) -> int:
        """The number of inputs of the net: one for each line."""
        return self.n_lines

    def inputs(self, cells: Sequence[object]) -> Floats:
        """Return a scaled number for each cell, and whether it is missing."""
        gaps = np.array([is_missing(cell) for cell in cells])
        numbers = np.array(
            [self.center if is_missing(cell) else float(cell) for cell in cells]  # type: ignore[arg-type]
        )
        scaled = (np.clip(numbers, self.low, self.high) - self.center) / self.size
        return np.column_stack([scaled, gaps] if self.has_gaps else [scaled])

    def feature(self) -> Feature:
        """Return the feature whose values have these lines."""
        return Feature.real(self.name, self.low, self.high, missing=self.has_gaps)

    def weights(self, first: Floats) -> tuple[Floats, Floats]:
        """Return the weights of values, and what they add to the bias of each unit."""
        slope = first[0] / self.size
        moved = -slope * self.center
        if not self.has_gaps:
            return slope[np.newaxis], moved
        return np.vstack([slope, first[1] - moved]), moved


@dataclass(frozen=True, eq=False)
class GroupLines:
    """A column of categories: a line for each group; those unknown are in the last.

    Attributes
    ----------
    name : str
    groups : tuple of tuples
        The categories of each group.
    other : int
        The group of categories that no row has; -1 if there cannot be any.
    """

    name: str
    groups: tuple[tuple[Value, ...], ...]
    other: int

    @property
    def n_lines(self) -> int:
        """The number of lines."""
        return len(self.groups)

    @property
    def n_inputs(self) -> int:
        """The number of inputs of the net: one for each line."""
        return self.n_lines

    def inputs(self, cells: Sequence[object]) -> Floats:
        """Return for each group whether a cell is in it."""
        place_of = {cell: i for i, group in enumerate(self.groups) for cell in group}
        places = [place_of.get(_category(cell), self.other) for cell in cells]
        return np.eye(len(self.groups))[places]

    def membership(self, finer: "ColumnLines") -> Floats:
        """Return for each group of a finer column in which group it is."""
        assert isinstance(finer, GroupLines), "a column keeps its kind"
        return self.inputs([group[0] for group in finer.groups])

    def merged(self, one: int, two: int) -> "GroupLines":
        """Return the column with two groups as one, in the place of the first."""
        groups = list(self.groups)
        groups[one] = (*groups[one], *groups[two])
        del groups[two]
        other = one if self.other == two else self.other - (self.other > two)
        return replace(self, groups=tuple(groups), other=other)

    def feature(self) -> Feature:
        """Return the feature whose values have these lines."""
        other = None if self.other < 0 else self.other
        return Feature.grouped(self.name, self.groups, other=other)

    def weights(self, first: Floats) -> tuple[Floats, Floats]:
        """Return the weights of values, and what they add to the bias of each unit."""
        return first, np.zeros(first.shape[1])


ColumnLines = NumberLines | GroupLines


def _category(cell: object) -> Value:
    return None if is_missing(cell) else value_of(cell)


def lines_for(name: str, cells: Sequence[object]) -> ColumnLines | None:
    """Return the lines that a column begins with; None if it has one value."""
    values = [_category(cell) for cell in cells]
    present = [value for value in values if value is not None]
    has_gaps = len(present) < len(values)
    if present and all(is_number(value) for value in present):
        numbers = np.array(present, dtype=np.float64)
        low, high = float(numbers.min()), float(numbers.max())
        if low < high:
            size = float(numbers.std()) or 1.0
            low, high = (int(end) if end.is_integer() else end for end in (low, high))
            return NumberLines(name, low, high, float(numbers.mean()), size, has_gaps)
    counts: dict[Value, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    if len(counts) < 2:
        return None
    order = sorted(counts, key=lambda value: (-counts[value], str(value)))
    groups: list[tuple[Value, ...]] = [(value,) for value in order[: _MOST_GROUPS - 1]]
    rest = tuple(order[_MOST_GROUPS - 1 :])
    groups += [rest] if rest else []
    is_closed = all(isinstance(value, bool) for value in present)
    return GroupLines(name, tuple(groups), -1 if is_closed else len(groups) - 1)


@dataclass(frozen=True, eq=False)
class Student:
    """Columns with their lines, and a net over their inputs."""

    columns: tuple[ColumnLines, ...]
    net: Net

    @property
    def n_lines(self) -> int:
        """The number of lines of all columns."""
        return sum(column.n_lines for column in self.columns)

    def classes(self, lesson: "Lesson") -> NDArray[np.int64]:
        """Return the position of the class of each row of a lesson."""
        return self.net.classes(np.hstack(self.part(lesson).inputs))

    def part(self, lesson: "Lesson") -> "Lesson":
        """Return a lesson with the lines of this student."""
        place_of = {column.name: i for i, column in enumerate(lesson.columns)}
        inputs = []
        for column in self.columns:
            place = place_of[column.name]
            table = lesson.inputs[place]
            if isinstance(column, GroupLines):
                table = table @ column.membership(lesson.columns[place])
            inputs.append(table)
        return Lesson(self.columns, tuple(inputs), lesson.targets)

    def network(self, classes: Sequence[Value]) -> Network:
        """Return the network over the values of features."""
        tables, bias, start = [], self.net.bias, 0
        for column in self.columns:
            own = self.net.first[start : start + column.n_inputs]
            table, moved = column.weights(own)
            tables.append(table)
            bias = bias + moved
            start += column.n_inputs
        # Each part is scaled so that it counts as it is.
        size = np.abs(self.net.last).max(axis=1)
        size[size == 0] = 1.0
        first = Layer(np.vstack(tables) * size, bias * size, "relu")
        outputs = len(self.net.base)
        last = Layer(
            self.net.last / size[:, np.newaxis],
            self.net.base,
            "sigmoid" if outputs == 1 else "softmax",
        )
        domain = Domain(tuple(column.feature() for column in self.columns))
        return Network(domain, (first, last), tuple(classes))


class _Move(NamedTuple):
    """A column without some of its lines, and what that costs."""

    cost: float
    saved: int
    place: int
    groups: tuple[int, int] | None


@dataclass(frozen=True, eq=False)
class Lesson:
    """Rows to learn from: the inputs of all columns, the targets."""

    columns: tuple[ColumnLines, ...]
    inputs: tuple[Floats, ...]
    targets: Targets

    @property
    def n_lines(self) -> int:
        """The number of lines of all columns."""
        return sum(column.n_lines for column in self.columns)

    @property
    def rows(self) -> DistinctRows:
        """The rows as training takes them."""
        return DistinctRows(
            np.hstack(self.inputs),
            self.targets.shares,
            self.targets.weights / self.targets.n_rows,
            self.targets.n_rows,
        )


def students(
    lesson: Lesson, units: int, max_lines: int, alpha: float, seed: int
) -> Student:
    """Train a net with at most this many lines.

    Parameters
    ----------
    units : int
        Hidden ReLU units.
    alpha : float
        The penalty on the squares of weights, for all rows together.
    """
    rng = np.random.default_rng(seed)
    rows = lesson.rows
    decay = alpha / rows.n_rows
    starts = [
        trained(
            first_net(rows.inputs.shape[1], units, lesson.targets.n_classes, rng),
            rows,
            decay,
            80,
        )
        for _ in range(3)
    ]
    net = min(starts, key=lambda pair: pair[0])[1]
    net = trained(net, rows, decay, 100)[1]
    while lesson.n_lines > max_lines:
        lesson, net = _shortened(lesson, net, max_lines, rng)
        net = trained(net, lesson.rows, decay, 60)[1]
    net = trained(net, lesson.rows, decay, 400)[1]
    return Student(lesson.columns, net)


def retrained(
    student: Student, lesson: Lesson, units: int, alpha: float, seed: int
) -> Student:
    """Return a student with the same lines and fewer units."""
    return students(student.part(lesson), units, student.n_lines, alpha, seed)


def _shortened(
    lesson: Lesson, net: Net, max_lines: int, rng: np.random.Generator
) -> tuple[Lesson, Net]:
    """Make the cheapest moves, of which no two touch the same lines."""
    surplus = lesson.n_lines - max_lines
    wanted = max(1, int(surplus * _PART))
    moves = sorted(
        _moves(lesson, net, rng), key=lambda move: (move.cost / move.saved, move.place)
    )
    chosen: dict[int, list[_Move]] = {}
    n_left = len(lesson.columns)
    for move in moves:
        if wanted <= 0:
            break
        before = chosen.get(move.place, [])
        touched = {place for other in before for place in other.groups or ()}
        if move.groups is None:
            is_free = not before and n_left > 1
        else:
            is_gone = any(other.groups is None for other in before)
            n_groups = lesson.columns[move.place].n_lines - len(before)
            is_free = not is_gone and n_groups > 2 and not touched & {*move.groups}
        if is_free:
            chosen.setdefault(move.place, []).append(move)
            n_left -= move.groups is None
            wanted -= move.saved
    return _moved(lesson, net, chosen)


def _moves(lesson: Lesson, net: Net, rng: np.random.Generator) -> Iterator[_Move]:
    """Yield each way to save lines, with what it does to the loss of some rows."""
    n_rows = len(lesson.targets)
    picked = np.arange(n_rows)
    if n_rows > _JUDGED:
        picked = np.sort(rng.choice(n_rows, _JUDGED, replace=False))
    targets = lesson.targets.part(picked)
    inputs = [own[picked] for own in lesson.inputs]
    weights = targets.weights / targets.n_rows
    before = np.hstack(inputs) @ net.first + net.bias
    shares = targets.shares[:, 1:] if len(net.base) == 1 else targets.shares

    def loss(change: Floats) -> float:
        hidden = np.maximum(before + change, 0.0)
        return float(weights @ entropies(hidden @ net.last + net.base, shares))

    now, start = loss(np.zeros_like(before)), 0
    for place, column in enumerate(lesson.columns):
        own = net.first[start : start + column.n_inputs]
        start += column.n_inputs
        table = inputs[place]
        mean = weights @ table
        if len(lesson.columns) > 1:
            gone = (mean - table) @ own
            yield _Move(loss(gone) - now, column.n_lines, place, None)
        if isinstance(column, GroupLines) and column.n_lines > 2:
            for two in range(column.n_lines):
                for one in range(two):
                    both = _between(own, mean, one, two)
                    change = np.outer(table[:, one], both - own[one])
                    change += np.outer(table[:, two], both - own[two])
                    yield _Move(loss(change) - now, 1, place, (one, two))


def _moved(
    lesson: Lesson, net: Net, chosen: dict[int, list[_Move]]
) -> tuple[Lesson, Net]:
    """Return the rows and the net with fewer lines."""
    columns: list[ColumnLines] = []
    inputs, first, bias, start = [], [], net.bias, 0
    weights = lesson.targets.weights / lesson.targets.n_rows
    for place, column in enumerate(lesson.columns):
        own = net.first[start : start + column.n_inputs]
        start += column.n_inputs
        table, moves = lesson.inputs[place], chosen.get(place, [])
        if any(move.groups is None for move in moves):
            bias = bias + weights @ table @ own
            continue
        merges = [move.groups for move in moves if move.groups is not None]
        # The later of two groups goes, so those before it keep their places.
        for one, two in sorted(merges, key=lambda pair: -pair[1]):
            assert isinstance(column, GroupLines), "only groups are merged"
            column, table, own = _merged(column, table, own, weights, one, two)  # noqa: PLW2901
        columns.append(column)
        inputs.append(table)
        first.append(own)
    net = replace(net, first=np.vstack(first), bias=bias)
    return Lesson(tuple(columns), tuple(inputs), lesson.targets), net


def _merged(
    column: GroupLines,
    table: Floats,
    own: Floats,
    weights: Floats,
    one: int,
    two: int,
) -> tuple[GroupLines, Floats, Floats]:
    """Return a column, its inputs and its weights with two groups as one."""
    table, own = table.copy(), own.copy()
    own[one] = _between(own, weights @ table, one, two)
    table[:, one] += table[:, two]
    return (
        column.merged(one, two),
        np.delete(table, two, axis=1),
        np.delete(own, two, axis=0),
    )


def _between(own: Floats, mean: Floats, one: int, two: int) -> Floats:
    """Return the weights of two groups as one: their mean over rows."""
    total = max(mean[one] + mean[two], _FLOOR)
    both: Floats = (mean[one] * own[one] + mean[two] * own[two]) / total
    return both


_FLOOR = 1e-12
"""In place of the weight of groups without rows."""
