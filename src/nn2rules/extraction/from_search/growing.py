"""Boxes grown from rows, slab by slab, each proved by search."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Meter, Oracle
from nn2rules.engine._kernels.search import PROVED
from nn2rules.engine.parallel import in_threads, spread, until_time_is_up
from nn2rules.extraction._kernels import box_growth
from nn2rules.extraction._kernels.proposing import Growth
from nn2rules.extraction.from_search.growth_context import (
    LIMITS,
    PATIENCE,
    Cases,
    Grown,
    GrowthContext,
    Step,
    Wave,
    grow,
)
from nn2rules.space import Boxes

_WIDEST, _ROWS_EACH = 1024, 512
"""The most boxes grown side by side, and the number of rows for each."""

_ASKED = 64
"""How many boxes are proved together; counterexamples of one help with others."""


BoxHull: TypeAlias = tuple[NDArray[np.bool_], NDArray[np.float64]]
"""A box: what it allows, and where its ranges end."""


@dataclass(frozen=True)
class Goal:
    """How rules are to be grown.

    Attributes
    ----------
    is_ordered : bool
        Whether later rules may be wrong on inputs that earlier rules cover: a list.
    tries : int
        How many boxes are grown for each rule; more if there are many rows.
    seed : int
    n_jobs : int or None
        Number of threads or workers; the result does not depend on it.
    """

    is_ordered: bool
    tries: int
    seed: int
    n_jobs: int | None = None


class Grower:
    """Grows boxes from rows, many side by side and independent of each other."""

    def __init__(self, oracle: Oracle, cases: Cases, goal: Goal) -> None:
        self.goal, self.oracle, self.cases = goal, oracle, cases
        self.context = GrowthContext(oracle.network, oracle.nets, cases, goal.seed)
        self.plan, self.row_index = self.context.plan, self.context.row_index
        self.columns = self.context.columns
        self.lined = np.unique(self.plan.lines[self.plan.lines >= 0]).tolist()
        self.is_range = self.plan.ranges >= 0
        at_once = min(_WIDEST, len(cases.weights) // _ROWS_EACH)
        self.widest = max(goal.tries, at_once) if goal.tries > 1 else 1

    def grow(self, number: int, wave: Wave, width: int) -> list[Grown]:
        """Draw `width` rows by weight, and grow a box from each to cover more rows.

        Rows of other classes stay outside, as far as the wave requires.
        """
        rng = np.random.default_rng([self.goal.seed, number])
        left = np.where(wave.uncovered, self.cases.weights, 0.0)
        chance = left / left.sum()
        tries = min(width, int(np.count_nonzero(left)))
        rows = rng.choice(len(left), size=tries, replace=False, p=chance)
        noise = self._noise(rng, tries)
        answers = self.cases.answers
        started = [
            Grown(self._start(self.hull([row]), noise[index]), int(answers[row]))
            for index, row in enumerate(rows)
        ]
        return self._all(started, wave, is_last=False)

    def regrow(
        self, rows: NDArray[np.bool_], answer: int, number: int, wave: Wave
    ) -> list[Grown]:
        """Grow boxes from the smallest box around some rows, which is proved first.

        Returns no boxes if it cannot be proved.
        """
        hull = self.hull(rows)
        if not self.proves(*hull, answer, wave.ignored):
            return []
        rng = np.random.default_rng([self.goal.seed, number, 1 << 31])
        noise = self._noise(rng, self.goal.tries)
        started = [Grown(self._start(hull, factors), answer) for factors in noise]
        return self._all(started, wave, is_last=False)

    def proves(
        self,
        box: NDArray[np.bool_],
        ends: NDArray[np.float64],
        answer: int,
        ignored: Boxes,
    ) -> bool:
        """Return whether a box provably has a class, within the limit for a slab."""
        [is_proved] = self.prove_all([(box, ends)], answer, ignored)
        return is_proved

    def prove_all(
        self, hulls: Sequence[BoxHull], answer: int, ignored: Boxes
    ) -> list[bool]:
        """Return for each box whether it is proved to have a class."""
        tasks = [
            (hulls[at : at + _ASKED], answer, ignored)
            for at in range(0, len(hulls), _ASKED)
        ]
        meter, n_jobs = self.oracle.meter, self.goal.n_jobs
        share = in_threads if len(tasks) == 1 else spread
        many = share(_proved, self.context, tasks, meter=meter, n_jobs=n_jobs)
        results: list[bool] = []
        with closing(many) as replies:
            for proved, n_boxes in replies:
                results += proved
                self.oracle.n_questions += len(proved)
                meter.spend(n_boxes)
        return results

    def finish(self, boxes: Sequence[Grown], wave: Wave) -> list[Grown]:
        """Grow boxes by values without rows, and round the ends of ranges."""
        return self._all(boxes, wave, is_last=True)

    def _all(self, boxes: Sequence[Grown], wave: Wave, *, is_last: bool) -> list[Grown]:
        """Grow boxes, as many at a time as there are workers.

        If the weights of rows are more than a bit each, this process does the work.
        When time is up, boxes without a result stay as they are.
        """
        steps = [Step(wave, grown, is_last) for grown in boxes]
        meter, n_jobs = self.oracle.meter, self.goal.n_jobs
        share = spread if wave.worth is None else in_threads
        back = until_time_is_up(
            share(grow, self.context, steps, meter=meter, n_jobs=n_jobs)
        )
        self.oracle.n_questions += sum(n_questions for _, n_questions, _ in back)
        meter.count(sum(n_boxes for *_, n_boxes in back))
        grown = [
            Grown(state, box.answer)
            for (state, *_), box in zip(back, boxes, strict=False)
        ]
        return [*grown, *boxes[len(grown) :]]

    def _noise(self, rng: np.random.Generator, tries: int) -> NDArray[np.float64]:
        """Return random factors on the gains of steps, for every try but the first."""
        n_columns, n_features = len(self.plan.lines), self.columns.shape[1]
        noise = rng.uniform(0.7, 1.3, size=(tries, n_columns + 2 * n_features))
        noise[0] = 1.0
        return noise

    def hull(self, rows: Sequence[int] | NDArray[np.bool_]) -> BoxHull:
        """Return the smallest box around some rows."""
        ends, columns = self.plan.bounds.copy(), self.columns[rows]
        numbers = self.cases.inputs.numbers[rows]
        box = np.zeros(len(self.plan.lines), dtype=np.bool_)
        box[columns] = True
        for feature, ranged in enumerate(self.plan.ranges.tolist()):
            values = numbers[columns[:, feature] == ranged, feature]
            if len(values):
                ends[:, feature] = values.min(), values.max()
        self._fill_lines(box)
        return box, ends

    def joined(
        self,
        first: BoxHull,
        second: BoxHull,
    ) -> BoxHull:
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
        """Add the listed numbers between those that a box has."""
        for feature in self.lined:
            line = np.flatnonzero(box & (self.plan.lines == feature))
            if len(line):
                box[line[0] : line[-1] + 1] = True

    def _start(
        self,
        hull: BoxHull,
        noise: NDArray[np.float64],
    ) -> Growth:
        """Return the initial state of a box that grows."""
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


def _proved(
    context: GrowthContext, task: tuple[Sequence[BoxHull], int, Boxes], meter: Meter
) -> tuple[list[bool], int]:
    """Return for each box whether it provably has a class, and the boxes searched."""
    hulls, answer, ignored = task
    net, buffers = context.nets[answer], context.buffers(answer, ignored)
    proved = []
    for box, ends in hulls:
        buffers.stack.allowed[0], buffers.stack.ends[0] = box, ends
        status = box_growth.ask(net, buffers, int(LIMITS[0]), PATIENCE)
        proved.append(bool(status == PROVED))
        meter.spend()
    return proved, int(buffers.counts[1])
