"""Boxes grown from rows, slab by slab, each proved by search."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.cover._kernels import growth
from nn2rules.cover._kernels.nearness import Crowd
from nn2rules.cover._kernels.proposing import Growth, Plan
from nn2rules.domain import Domain
from nn2rules.engine import Oracle
from nn2rules.engine._kernels.boxes import Boxes, Points
from nn2rules.engine._kernels.search import PROVED
from nn2rules.engine.flat import boxes_at_once, points, room, stack_of, workspace
from nn2rules.engine.threads import in_threads

_LIMITS = np.array([500, 30], dtype=np.int64)
"""Boxes to search for a slab that brings a row, and for one that brings none."""

_PATIENCE = 4.0
"""A slab is given up once it seems to take so many times as many boxes."""

_KNOWN = 1024

_NEARLY = 0.5
"""A box that brings this share of what the best one brings is taken with it."""

_BAIT, _BAIT_WORTH = 0.2, 0.15
"""This share of the rows that are decided still draws boxes on, being worth so much.

So boxes grow to where rows are, of which unseen ones come.
"""


Hull: TypeAlias = tuple[NDArray[np.bool_], NDArray[np.float64]]
"""A box: what it allows, and where its ranges end."""


@dataclass(frozen=True)
class Goal:
    """What is wanted of a cover.

    Attributes
    ----------
    is_ordered : bool
        Whether what earlier rules decide is don't-care for later ones.
    tries : int
        How many boxes are grown for each rule.
    seed : int
    n_jobs : int or None
        How many threads grow boxes; the result does not depend on it.
    """

    is_ordered: bool
    tries: int
    seed: int
    n_jobs: int | None = None


@dataclass(frozen=True)
class Cases:
    """Rows to be decided: inputs, how often each occurs, their classes, exactly.

    Attributes
    ----------
    inputs : Points
        All different.
    weights : ndarray of float64
        How much it is worth to decide a row: 0 for rows that only say where other
        classes begin.
    answers : ndarray of int64
    """

    inputs: Points
    weights: NDArray[np.float64]
    answers: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Grown:
    """A box that is proved, and can still grow.

    Attributes
    ----------
    state : Growth
    answer : int
        The position of its class.
    """

    state: Growth
    answer: int


class Grower:
    """Grows boxes from rows; a desk for each try and class, so that threads share."""

    def __init__(self, oracle: Oracle, cases: Cases, goal: Goal) -> None:
        self.goal, self.oracle, self.cases = goal, oracle, cases
        domain = oracle.network.domain
        self.columns = cases.inputs.codes + domain.offsets[:-1]
        self.plan = Plan(
            oracle.nets[0].offsets,
            oracle.nets[0].ranges,
            oracle.nets[0].whole,
            domain.limits,
            _lines(domain),
            _LIMITS,
            _PATIENCE,
        )
        self.lined = np.unique(self.plan.lines[self.plan.lines >= 0]).tolist()
        self.is_range = self.plan.ranges >= 0
        rng = np.random.default_rng([goal.seed, 1 << 33])
        sampled = rng.random(len(cases.weights)) < _BAIT
        self.bait = sampled * cases.weights * _BAIT_WORTH
        self.crowd = Crowd(
            self.columns.T.copy(),
            cases.inputs.numbers.T.copy(),
            cases.weights,
            *_sorted(self.columns, cases.inputs.numbers, domain),
        )
        self.desks = [
            [
                growth.Desk(
                    workspace(net),
                    stack_of(net),
                    room(net, 0),
                    points(net, 1),
                    points(net, _KNOWN),
                    np.zeros(3, dtype=np.int64),
                )
                for net in oracle.nets
            ]
            for _ in range(goal.tries)
        ]

    def grow(
        self,
        number: int,
        left: NDArray[np.float64],
        others: NDArray[np.bool_],
        ignored: Boxes,
    ) -> list[Grown]:
        """Grow a box from each of several rows, drawn by weight, to hold more rows.

        Rows of other classes stay outside where `others` is true.
        """
        rng = np.random.default_rng([self.goal.seed, number])
        chance = left / left.sum()
        tries = min(self.goal.tries, int(np.count_nonzero(left)))
        rows = rng.choice(len(left), size=tries, replace=False, p=chance)
        noise = self._noise(rng, tries)
        answers = self.cases.answers
        started = [
            Grown(self._start(self.hull([row]), noise[index]), int(answers[row]))
            for index, row in enumerate(rows)
        ]
        self._all(started, left, others, ignored, is_last=False)
        return started

    def regrow(
        self,
        rows: NDArray[np.bool_],
        answer: int,
        number: int,
        left: NDArray[np.float64],
        ignored: Boxes,
    ) -> list[Grown]:
        """Grow boxes from the smallest one around some rows, which is proved first.

        There are none if it is not seen to be of the class. Rows of other classes stay
        outside.
        """
        hull, others = self.hull(rows), np.ones(len(rows), dtype=np.bool_)
        if not self.proves(*hull, answer, ignored):
            return []
        rng = np.random.default_rng([self.goal.seed, number, 1 << 31])
        noise = self._noise(rng, self.goal.tries)
        started = [Grown(self._start(hull, own), answer) for own in noise]
        self._all(started, left, others, ignored, is_last=False)
        return started

    def proves(
        self,
        box: NDArray[np.bool_],
        ends: NDArray[np.float64],
        answer: int,
        ignored: Boxes,
    ) -> bool:
        """Tell whether a box is seen to be of a class, with the effort for a slab."""
        desk = self.desks[0][answer]._replace(ignored=ignored)
        desk.stack.allowed[0], desk.stack.ends[0] = box, ends
        before = int(desk.counts[1])
        net = self.oracle.nets[answer]
        status = growth.ask(net, desk, int(_LIMITS[0]), _PATIENCE)
        self.oracle.n_questions += 1
        self.oracle.meter.spend(int(desk.counts[1]) - before)
        return bool(status == PROVED)

    def finish(
        self,
        boxes: Sequence[Grown],
        left: NDArray[np.float64],
        others: NDArray[np.bool_],
        ignored: Boxes,
    ) -> None:
        """Let boxes grow by what brings no row, and make the ends of ranges round."""
        self._all(boxes, left, others, ignored, is_last=True)

    def _all(
        self,
        boxes: Sequence[Grown],
        left: NDArray[np.float64],
        others: NDArray[np.bool_],
        ignored: Boxes,
        *,
        is_last: bool,
    ) -> None:
        answers, tasks = self.cases.answers, []
        for index, grown in enumerate(boxes):
            same = answers == grown.answer
            own = np.maximum(left, self.bait)
            worth = np.where(same, own, np.where(others, -1.0, 0.0))
            crowd = self.crowd._replace(worth=worth)
            desk = self.desks[index][grown.answer]._replace(ignored=ignored)
            tasks.append(partial(self._one, desk, crowd, grown, is_last))
        meter = self.oracle.meter
        spent = list(in_threads(tasks, self.goal.n_jobs, meter.stop))
        self.oracle.n_questions += sum(n_questions for n_questions, _ in spent)
        meter.spend(sum(n_boxes for _, n_boxes in spent))

    def _one(
        self, desk: growth.Desk, crowd: Crowd, grown: Grown, is_last: bool
    ) -> tuple[int, int]:
        """Let a box grow; return how many questions and boxes it took."""
        net, before = self.oracle.nets[grown.answer], desk.counts.copy()
        most = boxes_at_once(net)
        while not growth.grow(net, desk, crowd, self.plan, grown.state, most, is_last):
            self.oracle.meter.spend()
        _, n_boxes, n_questions = (desk.counts - before).tolist()
        return n_questions, n_boxes

    def _noise(self, rng: np.random.Generator, tries: int) -> NDArray[np.float64]:
        """Return factors on what steps bring: another taste for each try but one."""
        n_columns, n_features = len(self.plan.lines), self.columns.shape[1]
        noise = rng.uniform(0.7, 1.3, size=(tries, n_columns + 2 * n_features))
        noise[0] = 1.0
        return noise

    def hull(self, rows: Sequence[int] | NDArray[np.bool_]) -> Hull:
        """Return the smallest box around some rows."""
        ends, columns = self.plan.bounds.copy(), self.columns[rows]
        numbers = self.cases.inputs.numbers[rows]
        box = np.zeros(len(self.plan.lines), dtype=np.bool_)
        box[columns] = True
        for feature, ranged in enumerate(self.plan.ranges.tolist()):
            own = numbers[columns[:, feature] == ranged, feature]
            if len(own):
                ends[:, feature] = own.min(), own.max()
        self._fill_lines(box)
        return box, ends

    def joined(
        self,
        first: Hull,
        second: Hull,
    ) -> Hull:
        """Return the smallest box around two boxes."""
        (box, ends), (other, its_ends) = first, second
        has, its = ((b[self.plan.ranges] & self.is_range) for b in (box, other))
        low = np.minimum(ends[0], its_ends[0])
        high = np.maximum(ends[1], its_ends[1])
        both = np.stack([low, high])
        both = np.where(has & ~its, ends, np.where(its & ~has, its_ends, both))
        joined = box | other
        self._fill_lines(joined)
        return joined, both

    def _fill_lines(self, box: NDArray[np.bool_]) -> None:
        """Add the numbers between those that a box has, of listed ones in a row."""
        for feature in self.lined:
            line = np.flatnonzero(box & (self.plan.lines == feature))
            if len(line):
                box[line[0] : line[-1] + 1] = True

    def _start(
        self,
        hull: Hull,
        noise: NDArray[np.float64],
    ) -> Growth:
        """Return a box that begins to grow."""
        box, ends = hull[0].copy(), hull[1].copy()
        walls = np.full_like(ends, np.inf)
        walls[0] = -np.inf
        failed = np.zeros(ends.shape, dtype=np.int64)
        return Growth(
            box,
            ends,
            box.copy(),
            walls,
            failed,
            noise,
            np.full(6, 0, dtype=np.int64),
            np.ones(2),
        )


def _sorted(
    columns: NDArray[np.int64], numbers: NDArray[np.float64], domain: Domain
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows in the order of each feature, and where each column starts."""
    n_rows, n_features = columns.shape
    order = np.empty((n_features, n_rows), dtype=np.int64)
    starts = np.full(int(domain.offsets[-1]) + 1, n_rows * n_features)
    for feature in range(n_features):
        order[feature] = np.lexsort([numbers[:, feature], columns[:, feature]])
        own = np.arange(domain.offsets[feature], domain.offsets[feature + 1])
        found = np.searchsorted(columns[order[feature], feature], own)
        starts[own] = feature * n_rows + found
    return order, starts


def _lines(domain: Domain) -> NDArray[np.int64]:
    """Return which values are numbers in a row: the feature's position, or -1."""
    lines = np.full(int(domain.offsets[-1]), -1, dtype=np.int64)
    for index, feature in enumerate(domain.features):
        if feature.has_numbers and feature.limits is None:
            start = int(domain.offsets[index])
            lines[start : start + feature.n_plain] = index
    return lines


class Pool:
    """Boxes that were grown but not chosen; they stay right, so they are kept."""

    def __init__(self, size: int, holds: Callable[[Grown], NDArray[np.bool_]]) -> None:
        self.size, self.holds = size, holds
        self.kept: list[tuple[Grown, NDArray[np.bool_]]] = []

    def choose(self, new: Sequence[Grown], left: NDArray[np.float64]) -> list[Grown]:
        """Take out the box that decides most, and those that decide nearly as much.

        Of the new ones and of those kept; each is worth what those before it leave.
        """
        waiting = [*((grown, self.holds(grown)) for grown in new), *self.kept]
        chosen: list[Grown] = []
        left, least = left.copy(), 0.0
        while waiting and len(chosen) < len(new):
            gains = [float(left[held].sum()) for _, held in waiting]
            best = int(np.argmax(gains))
            if chosen and gains[best] < least:
                break
            least = least or _NEARLY * gains[best]
            grown, held = waiting.pop(best)
            chosen.append(grown)
            left[held] = 0.0
        gains = [float(left[held].sum()) for _, held in waiting]
        order = sorted(range(len(waiting)), key=lambda index: -gains[index])
        self.kept = [waiting[i] for i in order[: self.size] if gains[i] > 0]
        return chosen
