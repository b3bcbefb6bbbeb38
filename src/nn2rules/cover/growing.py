"""Boxes grown from rows, slab by slab, each proved by search."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nn2rules.cover._kernels import growth
from nn2rules.domain import Domain
from nn2rules.engine import Oracle
from nn2rules.engine._kernels.boxes import Boxes, Points
from nn2rules.engine.flat import boxes_at_once, points, room, workspace
from nn2rules.engine.threads import in_threads

_LIMITS = np.array([500, 30], dtype=np.int64)
"""Boxes to search for a slab that brings a row, and for one that brings none."""

_KNOWN = 1024


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


def held_by(
    domain: Domain,
    allowed: NDArray[np.bool_],
    ends: NDArray[np.float64],
    inputs: Points,
) -> NDArray[np.bool_]:
    """Tell which inputs a box holds."""
    columns = inputs.codes + domain.offsets[:-1]
    held: NDArray[np.bool_] = allowed[columns].all(axis=1)
    for feature in np.flatnonzero(domain.ranges >= 0):
        numbers = inputs.numbers[:, feature]
        inside = (ends[0, feature] <= numbers) & (numbers <= ends[1, feature])
        held &= inside | (columns[:, feature] != domain.ranges[feature])
    return held


Grown = tuple[NDArray[np.bool_], NDArray[np.float64], int]
"""What a box allows, the ends of its ranges, and the position of its class."""


class Grower:
    """Grows boxes from rows; a desk for each try and class, so that threads share."""

    def __init__(self, oracle: Oracle, cases: Cases, goal: Goal) -> None:
        self.goal, self.oracle, self.cases = goal, oracle, cases
        domain = oracle.network.domain
        self.columns = cases.inputs.codes + domain.offsets[:-1]
        self.plan = growth.Plan(domain.limits, _lines(domain), _LIMITS)
        self.desks = [
            [
                growth.Desk(
                    workspace(net),
                    room(net),
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
        """Grow a box from each of several rows, drawn by weight.

        Rows of other classes stay outside where `others` is true.
        """
        rng = np.random.default_rng([self.goal.seed, number])
        chance = left / left.sum()
        tries = min(self.goal.tries, int(np.count_nonzero(left)))
        rows = rng.choice(len(left), size=tries, replace=False, p=chance)
        n_columns, n_features = len(self.plan.lines), self.columns.shape[1]
        noise = rng.uniform(0.7, 1.3, size=(tries, n_columns + 2 * n_features))
        noise[0] = 1.0
        answers = self.cases.answers
        tasks = []
        for index, row in enumerate(rows):
            same = answers == answers[row]
            worth = np.where(same, left, np.where(others, -1.0, 0.0))
            tasks.append(
                partial(self._grow_one, index, int(row), noise[index], worth, ignored)
            )
        meter = self.oracle.meter
        grown = list(in_threads(tasks, self.goal.n_jobs, meter.stop))
        self.oracle.n_questions += sum(n_questions for _, n_questions, _ in grown)
        meter.spend(sum(n_boxes for _, _, n_boxes in grown))
        return [box for box, _, _ in grown]

    def _grow_one(
        self,
        index: int,
        row: int,
        noise: NDArray[np.float64],
        worth: NDArray[np.float64],
        ignored: Boxes,
    ) -> tuple[Grown, int, int]:
        """Return a box with its class, and how many questions and boxes it took."""
        answer = int(self.cases.answers[row])
        net, desk = self.oracle.nets[answer], self.desks[index][answer]
        desk = desk._replace(ignored=ignored)
        start = self._start(row, noise)
        crowd = growth.Crowd(self.columns, self.cases.inputs.numbers, worth)
        before = desk.counts.copy()
        while not growth.grow(net, desk, crowd, self.plan, start, boxes_at_once(net)):
            self.oracle.meter.spend()
        _, n_boxes, n_questions = (desk.counts - before).tolist()
        return (start.box, start.ends, answer), n_questions, n_boxes

    def _start(self, row: int, noise: NDArray[np.float64]) -> growth.Growth:
        """Return the box of one row."""
        ranges, ends = self.oracle.network.domain.ranges, self.plan.bounds.copy()
        is_number = self.columns[row] == ranges
        ends[:, is_number] = self.cases.inputs.numbers[row, is_number]
        box = np.zeros(len(self.plan.lines), dtype=np.bool_)
        box[self.columns[row]] = True
        walls = np.full_like(ends, np.inf)
        walls[0] = -np.inf
        failed = np.zeros(ends.shape, dtype=np.int64)
        return growth.Growth(box, ends, box.copy(), walls, failed, noise)


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

    def __init__(
        self,
        size: int,
        holds: Callable[[NDArray[np.bool_], NDArray[np.float64]], NDArray[np.bool_]],
    ) -> None:
        self.size, self.holds = size, holds
        self.kept: list[Grown] = []

    def best(self, new: list[Grown], left: NDArray[np.float64]) -> Grown:
        """Take out the box that decides most, of the new ones and of those kept."""
        candidates = [*new, *self.kept]
        gains = [
            float(left[self.holds(box, ends)].sum()) for box, ends, _ in candidates
        ]
        order = sorted(range(len(candidates)), key=lambda index: -gains[index])
        self.kept = [candidates[i] for i in order[1 : self.size + 1] if gains[i] > 0]
        return candidates[order[0]]
