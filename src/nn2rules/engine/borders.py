"""Boxes that touch the border between two classes, where bounds decide nothing.

Where two classes tie along a border, bounds never settle the boxes that touch it, and
a depth-first search would split them until its stack is full. Of a piecewise-linear
network such boxes are decided in exact arithmetic. What that cannot decide either is
set aside, and the search goes on: elsewhere there may be a counterexample.
"""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine._kernels.bounds import Workspace
from nn2rules.engine._kernels.boxes import Boxes, Stack
from nn2rules.engine._kernels.network import FlatNetwork
from nn2rules.engine._kernels.search import PROVED, TIES_FULL, TOO_DEEP, TOUCHING
from nn2rules.engine.answer import Answer
from nn2rules.engine.deciding import Decider
from nn2rules.errors import BudgetExceededError

_MOST_SET_ASIDE = 256
"""So often a search goes on; a border of many dimensions would keep it for ever."""

_MOST_IN_VAIN = 16
"""So many boxes more may stay open than are decided, until exact arithmetic is left."""

Point: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float64]]
"""An input, as codes and numbers."""


class Borders:
    """The boxes of one search that touch a border.

    Parameters
    ----------
    decider : Decider or None
        Decides single boxes in exact arithmetic, where that is possible.
    ignored : Boxes
        Inputs inside these do not count.

    Attributes
    ----------
    n_set_aside : int
        How many times boxes were given up.
    n_decided : int
        How many boxes were decided in exact arithmetic.
    """

    def __init__(self, decider: Decider | None, ignored: Boxes) -> None:
        self._decider, self._ignored = decider, ignored
        self.n_set_aside = self.n_decided = self._n_in_vain = 0

    @property
    def is_exact(self) -> bool:
        """Whether exact arithmetic is worth another try."""
        n_left = _MOST_IN_VAIN + self.n_decided - self._n_in_vain
        return self._decider is not None and n_left > 0

    def decide(
        self, allowed: NDArray[np.bool_], ends: NDArray[np.float64]
    ) -> Answer | None:
        """Decide a box in exact arithmetic; None if it stays open."""
        if self._decider is None or not self.is_exact:
            return None
        answer = self._decider.decide(allowed, ends, self._ignored)
        if answer is None:
            self._n_in_vain += 1
        else:
            self.n_decided += 1
        return answer

    def settle(
        self, status: int, space: Workspace, stack: Stack, top: int
    ) -> tuple[int, Point | None]:
        """Settle what a search has come upon; return what is left, or an input.

        Raises
        ------
        BudgetExceededError
            If nothing is left to search, but boxes were set aside.
        """
        answer: Answer | None = None
        if status == TOUCHING:
            answer = self.decide(space.box, space.ends)
            if answer is not None:
                top -= 2  # the halves of the box
        elif status in (TOO_DEEP, TIES_FULL):
            top, answer = self._clear(stack, top, is_full=status == TOO_DEEP)
        elif status == PROVED:
            self.refuse_open()
        if answer is None or answer.counterexample is None or answer.numbers is None:
            return top, None
        return top, (answer.counterexample, answer.numbers)

    def _clear(self, stack: Stack, top: int, *, is_full: bool) -> tuple[int, Answer]:
        """Decide boxes on a stack, from the uppermost down to the first that is open.

        A depth-first search splits one box over and over, so the upper half of a full
        stack lies in a small part of the box that was asked about. What is open there
        is set aside.

        Returns
        -------
        top : int
            How many boxes are left.
        answer : Answer
            With an input if one of the boxes has a counterexample.
        """
        half, n_open = (top // 2 if is_full else top), 0
        while top > 0:
            answer = self.decide(stack.allowed[top - 1], stack.ends[top - 1])
            if answer is None and top <= half:
                break
            if answer is None:
                n_open += 1
            elif not answer.proved:
                return top, answer
            top -= 1
        if n_open:
            self.n_set_aside += 1
            if self.n_set_aside == _MOST_SET_ASIDE:
                self.refuse_open()
        return top, Answer(True)

    def refuse_open(self) -> None:
        """Raise an error if a search that found nothing else has set boxes aside."""
        if self.n_set_aside:
            raise BudgetExceededError(
                "the answer lies where boxes become narrower than the rounding of the "
                "bounds: the box touches the border between two classes"
            )


def corners(net: FlatNetwork, stack: Stack, place: int) -> Iterator[Point]:
    """Yield the two inputs at the ends of a box on the stack, as codes and numbers.

    The box is so narrow that either may be on the other side of a border, which exact
    arithmetic tells.
    """
    allowed, ends = stack.allowed[place], stack.ends[place]
    spans = zip(net.offsets[:-1], net.offsets[1:], strict=True)
    first = [int(np.flatnonzero(allowed[start:stop])[0]) for start, stop in spans]
    codes = np.array(first, dtype=np.int64)
    is_range = net.offsets[:-1] + codes == net.ranges
    for end in range(2):
        yield codes, np.where(is_range, ends[end], 1.0)
