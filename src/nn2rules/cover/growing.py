"""Boxes grown from rows, value by value, each value proved by search."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nn2rules.cover._kernels import growth
from nn2rules.domain import Domain
from nn2rules.engine import Oracle
from nn2rules.engine._kernels.network import FlatNetwork
from nn2rules.engine.flat import workspace
from nn2rules.engine.threads import in_threads

_SLAB_BOXES = 500
_GROWTH_WORK = 1 << 24  # multiplications between two looks at the clock


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


class Grower:
    """Grows boxes from rows; one workspace for each try, so that threads can share."""

    def __init__(self, oracle: Oracle, codes: NDArray[np.int64], goal: Goal) -> None:
        self.goal, self.oracle, self.meter = goal, oracle, oracle.meter
        self.nets: Sequence[FlatNetwork] = oracle.nets
        self.offsets = oracle.network.domain.offsets
        self.columns = codes + self.offsets[:-1]
        self.lines = _lines(oracle.network.domain)
        n_columns, n_features = int(self.offsets[-1]), codes.shape[1]
        self.spaces = [
            (
                [workspace(net) for net in self.nets],
                np.zeros((n_columns + 2, n_columns), dtype=np.bool_),
                np.zeros((1, n_features), dtype=np.int64),
            )
            for _ in range(goal.tries)
        ]

    def grow(
        self,
        number: int,
        left: NDArray[np.float64],
        answers: NDArray[np.int64],
        ignored: NDArray[np.bool_],
    ) -> list[tuple[NDArray[np.bool_], int]]:
        """Grow a box from each of several rows, drawn by weight."""
        rng = np.random.default_rng([self.goal.seed, number])
        chance = left / left.sum()
        n_open = int(np.count_nonzero(left))
        tries = min(self.goal.tries, n_open)
        rows = rng.choice(len(left), size=tries, replace=False, p=chance)
        noise = rng.uniform(0.7, 1.3, size=(tries, int(self.offsets[-1])))
        noise[0] = 1.0
        tasks = [
            partial(self._grow_one, i, int(row), noise[i], left, answers, ignored)
            for i, row in enumerate(rows)
        ]
        grown = list(in_threads(tasks, self.goal.n_jobs, self.meter.stop))
        self.oracle.n_questions += sum(n_slabs for _, _, n_slabs, _ in grown)
        self.meter.spend(sum(n_boxes for _, _, _, n_boxes in grown))
        return [(box, answer) for box, answer, _, _ in grown]

    def _grow_one(
        self,
        index: int,
        row: int,
        noise: NDArray[np.float64],
        left: NDArray[np.float64],
        answers: NDArray[np.int64],
        ignored: NDArray[np.bool_],
    ) -> tuple[NDArray[np.bool_], int, int, int]:
        """Return a box, its class, and how many slabs and boxes were searched."""
        spaces, stack, ties = self.spaces[index]
        answer = int(answers[row])
        box = np.zeros(int(self.offsets[-1]), dtype=np.bool_)
        box[self.columns[row]] = True
        blocked, same = box.copy(), answers == answer
        columns, weights = self.columns[same], left[same]
        slab = np.array([-1, 0, 0], dtype=np.int64)
        n_slabs = n_boxes = 0
        is_grown = False
        while not is_grown:
            is_grown, slabs, boxes = growth.grow(
                self.nets[answer],
                spaces[answer],
                stack,
                ignored,
                ties,
                _SLAB_BOXES,
                box,
                blocked,
                slab,
                columns,
                weights,
                noise,
                self.lines,
                _GROWTH_WORK,
            )
            n_slabs, n_boxes = n_slabs + int(slabs), n_boxes + int(boxes)
            self.meter.spend()
        return box, answer, n_slabs, n_boxes


def _lines(domain: Domain) -> NDArray[np.int64]:
    """Return which values are numbers in a row: the feature's position, or -1."""
    lines = np.full(int(domain.offsets[-1]), -1, dtype=np.int64)
    for index, feature in enumerate(domain.features):
        if feature.has_numbers:
            start = int(domain.offsets[index])
            lines[start : start + feature.n_plain] = index
    return lines


class Pool:
    """Boxes that were grown but not chosen; they stay right, so they are kept."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.boxes: list[tuple[NDArray[np.bool_], int]] = []

    def best(
        self,
        new: list[tuple[NDArray[np.bool_], int]],
        columns: NDArray[np.int64],
        left: NDArray[np.float64],
    ) -> tuple[NDArray[np.bool_], int]:
        """Take out the box that decides most, of the new ones and of those kept."""
        candidates = [*new, *self.boxes]
        gains = [float(left[box[columns].all(axis=1)].sum()) for box, _ in candidates]
        order = sorted(range(len(candidates)), key=lambda index: -gains[index])
        self.boxes = [candidates[i] for i in order[1 : self.size + 1] if gains[i] > 0]
        return candidates[order[0]]
