"""Boxes that were grown, and which of them become rules."""

from collections.abc import Sequence
from contextlib import closing
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from nn2rules.cover._kernels.nearness import held_rows
from nn2rules.cover.ground import Grown, Spare
from nn2rules.cover.growing import Grower
from nn2rules.engine.budget import Meter
from nn2rules.engine.spreading import in_threads

Rows = NDArray[np.int64]
"""The numbers of rows."""

_NEARLY = 0.2
"""A box that brings this share of what the best one brings is taken with it."""

_WIDER = 1.5
"""So many boxes grow in the next wave for each that was chosen of the last.

At first boxes are large, and of many that grow at the same time few are of use beside
each other; later each decides few rows, and hardly any overlap.
"""

_FEW_CELLS = 1 << 22
"""With fewer values to compare, threads are not worth their start."""


class Pool:
    """Boxes that were grown but not chosen; they stay right, so they are kept.

    `width` is how many are to grow next.
    """

    def __init__(self, grower: Grower, spare: Spare) -> None:
        self.grower, self.width = grower, spare.width or grower.goal.tries
        self.kept = list(zip(spare.boxes, self.held(spare.boxes), strict=True))

    @property
    def spare(self) -> Spare:
        """What the next wave needs of this one."""
        return Spare([grown for grown, _ in self.kept], self.width)

    def held(self, boxes: Sequence[Grown]) -> list[Rows]:
        """Tell of each box which rows it holds."""
        grower = self.grower
        is_small = len(boxes) * grower.columns.size < _FEW_CELLS
        n_jobs = 1 if is_small else grower.goal.n_jobs
        meter = grower.oracle.meter
        with closing(
            in_threads(_held, grower, boxes, meter=meter, n_jobs=n_jobs)
        ) as found:
            return list(found)

    def choose(self, new: Sequence[Grown], left: NDArray[np.float64]) -> list[Grown]:
        """Take out the box that decides most, and those that decide nearly as much.

        Of the new ones and of those kept; each is worth what those before it leave, and
        that only becomes less, so few of them are counted anew.
        """
        boxes = [*zip(new, self.held(new), strict=True), *self.kept]
        left, least = left.copy(), 0.0
        waiting = [(-_gain(left, held), index) for index, (_, held) in enumerate(boxes)]
        heapify(waiting)
        chosen: list[int] = []
        while waiting and len(chosen) < len(new):
            _, index = heappop(waiting)
            gain = _gain(left, boxes[index][1])
            if waiting and (-gain, index) > waiting[0]:
                heappush(waiting, (-gain, index))
                continue
            if chosen and gain < least:
                break
            least = least or _NEARLY * gain
            chosen.append(index)
            left[boxes[index][1]] = 0.0
        taken = set(chosen)
        others = [box for index, box in enumerate(boxes) if index not in taken]
        gains = [_gain(left, held) for _, held in others]
        order = sorted(range(len(others)), key=lambda at: -gains[at])
        self.kept = [others[at] for at in order[: self.width] if gains[at] > 0]
        wider = min(self.grower.widest, int(_WIDER * len(chosen)))
        self.width = max(self.grower.goal.tries, wider)
        return [boxes[index][0] for index in chosen]


def _gain(left: NDArray[np.float64], held: Rows) -> float:
    return float(left[held].sum())


def _held(grower: Grower, grown: Grown, _meter: Meter) -> Rows:
    crowd, ranges = grower.crowd, grower.plan.ranges
    return np.flatnonzero(
        held_rows(
            ranges, crowd.columns, crowd.numbers, grown.state.box, grown.state.ends
        )
    )
