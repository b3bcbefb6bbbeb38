"""Boxes grown from rows, slab by slab, each proved by search."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Meter, Oracle
from nn2rules.engine._kernels.search import PROVED
from nn2rules.engine.parallel import in_threads, in_time, spread
from nn2rules.extraction._kernels import growth
from nn2rules.extraction._kernels.proposing import Growth
from nn2rules.extraction.from_search.growth_context import (
    LIMITS,
    PATIENCE,
    Cases,
    Ground,
    Grown,
    Step,
    Wave,
    grow,
)
from nn2rules.space import Boxes

_WIDEST, _ROWS_EACH = 1024, 512
"""So many boxes at most are grown side by side, and one for so many rows."""

_ASKED = 64
"""So many boxes are asked about together; what is found of one helps with others."""


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
        How many boxes are grown for each rule; more side by side where there are many
        rows.
    seed : int
    n_jobs : int or None
        How many threads or workers grow boxes; the result does not depend on it.
    """

    is_ordered: bool
    tries: int
    seed: int
    n_jobs: int | None = None


class Grower:
    """Grows boxes from rows, many side by side: each on its own, wherever that is."""

    def __init__(self, oracle: Oracle, cases: Cases, goal: Goal) -> None:
        self.goal, self.oracle, self.cases = goal, oracle, cases
        self.ground = Ground(oracle.network, oracle.nets, cases, goal.seed)
        self.plan, self.crowd = self.ground.plan, self.ground.crowd
        self.columns = self.ground.columns
        self.lined = np.unique(self.plan.lines[self.plan.lines >= 0]).tolist()
        self.is_range = self.plan.ranges >= 0
        at_once = min(_WIDEST, len(cases.weights) // _ROWS_EACH)
        self.widest = max(goal.tries, at_once) if goal.tries > 1 else 1

    def grow(self, number: int, wave: Wave, width: int) -> list[Grown]:
        """Grow a box from each of `width` rows, drawn by weight, to hold more rows.

        Rows of other classes stay outside where the wave says so.
        """
        rng = np.random.default_rng([self.goal.seed, number])
        left = np.where(wave.open, self.cases.weights, 0.0)
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
        """Grow boxes from the smallest one around some rows, which is proved first.

        There are none if it is not seen to be of the class.
        """
        hull = self.hull(rows)
        if not self.proves(*hull, answer, wave.ignored):
            return []
        rng = np.random.default_rng([self.goal.seed, number, 1 << 31])
        noise = self._noise(rng, self.goal.tries)
        started = [Grown(self._start(hull, own), answer) for own in noise]
        return self._all(started, wave, is_last=False)

    def proves(
        self,
        box: NDArray[np.bool_],
        ends: NDArray[np.float64],
        answer: int,
        ignored: Boxes,
    ) -> bool:
        """Tell whether a box is seen to be of a class, with the effort for a slab."""
        [is_seen] = self.prove_all([(box, ends)], answer, ignored)
        return is_seen

    def prove_all(
        self, hulls: Sequence[Hull], answer: int, ignored: Boxes
    ) -> list[bool]:
        """Tell of each box whether it is seen to be of a class."""
        tasks = [
            (hulls[at : at + _ASKED], answer, ignored)
            for at in range(0, len(hulls), _ASKED)
        ]
        meter, n_jobs = self.oracle.meter, self.goal.n_jobs
        share = in_threads if len(tasks) == 1 else spread
        many = share(_proved, self.ground, tasks, meter=meter, n_jobs=n_jobs)
        seen: list[bool] = []
        with closing(many) as found:
            for proved, n_boxes in found:
                seen += proved
                self.oracle.n_questions += len(proved)
                meter.spend(n_boxes)
        return seen

    def finish(self, boxes: Sequence[Grown], wave: Wave) -> list[Grown]:
        """Let boxes grow by what brings no row, and make the ends of ranges round."""
        return self._all(boxes, wave, is_last=True)

    def _all(self, boxes: Sequence[Grown], wave: Wave, *, is_last: bool) -> list[Grown]:
        """Let boxes grow, as many at a time as there are workers for it.

        What each row is worth is known here alone if it is more than a bit. When the
        time is over, boxes that are not back stay as they are.
        """
        steps = [Step(wave, grown, is_last) for grown in boxes]
        meter, n_jobs = self.oracle.meter, self.goal.n_jobs
        share = spread if wave.worth is None else in_threads
        back = in_time(share(grow, self.ground, steps, meter=meter, n_jobs=n_jobs))
        self.oracle.n_questions += sum(n_questions for _, n_questions, _ in back)
        meter.count(sum(n_boxes for *_, n_boxes in back))
        grown = [
            Grown(state, own.answer)
            for (state, *_), own in zip(back, boxes, strict=False)
        ]
        return [*grown, *boxes[len(grown) :]]

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


def _proved(
    ground: Ground, task: tuple[Sequence[Hull], int, Boxes], meter: Meter
) -> tuple[list[bool], int]:
    """Tell of boxes whether each is seen to be of a class, and how much that took."""
    hulls, answer, ignored = task
    net, desk = ground.nets[answer], ground.desk(answer, ignored)
    proved = []
    for box, ends in hulls:
        desk.stack.allowed[0], desk.stack.ends[0] = box, ends
        status = growth.ask(net, desk, int(LIMITS[0]), PATIENCE)
        proved.append(bool(status == PROVED))
        meter.spend()
    return proved, int(desk.counts[1])
