"""Boxes that grow side by side, their questions asked together on a device."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nn2rules.cover._kernels import growth
from nn2rules.cover._kernels.nearness import Crowd
from nn2rules.cover._kernels.proposing import Growth, Plan
from nn2rules.cover.ground import KNOWN
from nn2rules.engine._kernels.boxes import Boxes, Points
from nn2rules.engine._kernels.network import FlatNetwork
from nn2rules.engine._kernels.search import PAUSED, PROVED, REFUTED
from nn2rules.engine.flat import boxes_at_once, room
from nn2rules.engine.tensors import Found, Searcher

_FEW = 16
"""Room for counterexamples of one box at first; it grows until there is for `KNOWN`."""

_SHARE = 4
"""Boxes go on once a quarter of the questions that are open are answered."""


def grow_side_by_side(
    searchers: Mapping[int, Searcher],
    nets: Sequence[FlatNetwork],
    plan: Plan,
    growths: Sequence[tuple[Growth, int, Crowd]],
    ignored: Boxes,
    *,
    is_last: bool,
    look: Callable[[], None],
) -> tuple[int, int]:
    """Let several boxes grow at the same time, until nothing can be added to any.

    Each becomes what it would become alone, with the counterexamples that were found
    for it and no others.

    Parameters
    ----------
    searchers : mapping of int to Searcher
        For the position of each class that occurs.
    nets : sequence of FlatNetwork
        For each class.
    plan : Plan
    growths : sequence of (Growth, int, Crowd)
        Boxes, which are changed, with the positions of their classes and their rows.
    ignored : Boxes
        What need not be of the class.
    is_last : bool
        Whether they also grow by what brings no row.
    look : callable
        Called every so often, to look at the clock; what it raises goes on to the
        caller, and the boxes are right as they are by then.

    Returns
    -------
    n_questions, n_boxes : int
        How many questions were asked, and boxes searched.

    Notes
    -----
    All boxes of one class ask at the same time. Those whose questions are answered go
    on while others still wait, but a few together: a question that is new takes many
    more steps than one that is under way. A box takes room for four whole numbers a
    row of its crowd.
    """
    growing = [
        _Growing(
            plan, crowd, grown, ignored, answer, boxes_at_once(nets[answer]), is_last
        )
        for grown, answer, crowd in growths
    ]
    n_questions, n_boxes = 0, 0
    for answer in sorted({one.answer for one in growing}):
        own = [one for one in growing if one.answer == answer]
        session = searchers[answer].session(len(own), plan.patience, ignored, look)
        asked, left = room(nets[answer], len(own)), np.arange(len(own))
        n_waiting = 0
        while True:
            left, limits = _next_questions(own, left, asked)
            boxes = Boxes._make(part[left] for part in asked)
            session.put(left, boxes, limits)
            n_waiting += len(left)
            n_questions += len(left)
            if n_waiting == 0:
                break
            left, found = session.wait(-(-n_waiting // _SHARE))
            for index, which in enumerate(left.tolist()):
                own[which].hear(found, index)
            n_waiting -= len(left)
            n_boxes += int(found.n_boxes.sum())
            look()
    return n_questions, n_boxes


def _next_questions(
    growing: Sequence["_Growing"], left: NDArray[np.int64], asked: Boxes
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Fill in questions about boxes that can still grow; return which, and limits."""
    which = left.tolist()
    limits = np.array(
        [growing[k].ask(asked.allowed[k], asked.ends[k]) for k in which], dtype=np.int64
    )
    return left[limits > 0], limits[limits > 0]


@dataclass(eq=False)
class _Growing:
    """A box that grows: its questions, and what was found out for it."""

    plan: Plan
    crowd: Crowd
    grown: Growth
    ignored: Boxes
    answer: int
    most: int
    is_last: bool

    def __post_init__(self) -> None:
        self.n_boxes = 0  # since it last looked around
        near = growth.look_around(self.plan, self.crowd, self.grown)
        n_features = len(self.plan.ranges)
        known = Points(
            np.zeros((_FEW, n_features), dtype=np.int64), np.ones((_FEW, n_features))
        )
        self.notes = growth.Notes(near, known, np.zeros(1, dtype=np.int64))

    def ask(self, allowed: NDArray[np.bool_], ends: NDArray[np.float64]) -> int:
        """Fill in the box of the next question; return what it is worth, 0 if none.

        After so many boxes it looks around anew, as it does where kernels pause.
        """
        if self.n_boxes >= self.most:
            self.n_boxes = 0
            near = growth.look_around(self.plan, self.crowd, self.grown)
            self.notes = self.notes._replace(near=near)
        return int(
            growth.question(
                self.plan,
                self.crowd,
                self.notes,
                self.grown,
                self.ignored,
                self.is_last,
                allowed,
                ends,
            )
        )

    def hear(self, found: Found, index: int) -> None:
        """Note the answer to the question."""
        self.n_boxes += int(found.n_boxes[index])
        status = int(found.status[index])
        if status != REFUTED and (status != PROVED or found.n_ties[index]):
            status = PAUSED
        known, n_known = self.notes.known, int(self.notes.n_known[0])
        if status == REFUTED and n_known == len(known.codes) < KNOWN:
            more = Points(*(np.concatenate([part, part]) for part in known))
            self.notes = self.notes._replace(known=more)
        growth.answered(
            self.plan,
            self.crowd,
            self.notes,
            self.grown,
            status,
            found.codes[index],
            found.numbers[index],
        )
