"""Boxes that touch the border between two classes, where bounds cannot decide.

A depth-first search would split such boxes until its stack is full. If the network is
piecewise linear, they are decided in exact arithmetic. Boxes that this cannot decide
either are set aside, and the search continues: there may be a counterexample elsewhere.
"""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine._kernels.bounds import Workspace
from nn2rules.engine._kernels.network import FlatNetwork
from nn2rules.engine._kernels.search import PROVED, REFUTED, TOO_DEEP, TOUCHING, Stack
from nn2rules.engine.exact_boxes import MOST_NUMBERS, Decider
from nn2rules.engine.proof_or_counterexample import Answer
from nn2rules.errors import BudgetExceededError
from nn2rules.space import Boxes

_MOST_SET_ASIDE = 256
"""How often a search sets boxes aside; it would never end on a large border."""

_MOST_FAILURES = 16
"""Exact arithmetic is given up after this many more failures than successes."""

_FIRST_TRY = 256
"""After this many boxes, exact arithmetic is tried on the next waiting box; after each
failure, twice as many."""

_REGIONS, _REGION = 4, 5_000
"""How many regions of a box are examined before exact arithmetic has succeeded once;
and the work of one region of a tiny network, in numbers."""

_PATIENCE = 8
"""How many times the work of the last decided box the next box may take."""

Point: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float64]]
"""An input, as codes and numbers."""


class Borders:
    """The boxes of one search that touch a border.

    Parameters
    ----------
    net : FlatNetwork
        The network that is searched.
    decider : Decider or None
        Decides single boxes in exact arithmetic, if the network allows it.
    ignored : Boxes
        Inputs in these boxes are ignored.

    Attributes
    ----------
    n_set_aside : int
        How many times boxes were set aside.
    n_decided : int
        How many boxes were decided in exact arithmetic.
    """

    def __init__(
        self, net: FlatNetwork, decider: Decider | None, ignored: Boxes
    ) -> None:
        self._decider, self._ignored = decider, ignored
        self.n_set_aside = self.n_decided = self._n_failed = 0
        self._wait, self._n_boxes, self._cost, self._gain = _FIRST_TRY, 0, 0, 0
        self._per_box = 8 + len(net.weights) // 20  # some percent of a box's time
        n_ranges = int((net.ranges >= 0).sum())
        self._first = _REGIONS * (len(net.weights) * (1 + n_ranges) + _REGION)

    @property
    def is_exact(self) -> bool:
        """Whether exact arithmetic is worth trying on a box that touches a border."""
        n_left = _MOST_FAILURES + self.n_decided - self._n_failed
        return self._decider is not None and n_left > 0

    def allowance(self, most: int) -> int:
        """Return how many boxes may be searched before `settle` is called."""
        if self._decider is None:
            return most
        return min(most, max(1, self._wait - self._n_boxes))

    def settle(
        self, status: int, n_boxes: int, space: Workspace, stack: Stack, top: int
    ) -> tuple[int, Point | None]:
        """Handle the status in which a search of `n_boxes` stopped.

        Returns
        -------
        top : int
            How many boxes are left on the stack.
        counterexample : tuple or None

        Raises
        ------
        BudgetExceededError
            If the stack is empty but boxes were set aside.
        """
        answer = None
        self._n_boxes += n_boxes
        if status == TOUCHING:
            limit = max(self._first, self._gain)
            answer = self._decide(space.box, space.ends, limit)
            if answer is not None:
                top -= 2  # the halves of the box
        elif status == TOO_DEEP:
            top, answer = self._clear(stack, top)
        elif status == PROVED:
            self.raise_if_set_aside()
        elif status != REFUTED and self._n_boxes >= self._wait:
            top, answer = self._try(stack, top)
        if answer is not None and answer.proved:
            top, answer = self._go_on(stack, top)
        if answer is None or answer.counterexample is None or answer.numbers is None:
            return top, None
        return top, (answer.counterexample, answer.numbers)

    def _decide(
        self, allowed: NDArray[np.bool_], ends: NDArray[np.float64], limit: int
    ) -> Answer | None:
        """Decide a box in exact arithmetic; None if undecided."""
        if self._decider is None:
            return None
        begun, limit = self._decider.n_numbers, min(limit, MOST_NUMBERS)
        answer = self._decider.decide(allowed, ends, self._ignored, limit)
        self._cost = self._decider.n_numbers - begun
        self._gain += self._cost if answer is not None else -self._cost
        self.n_decided += answer is not None
        self._n_failed += answer is None
        return answer

    def _go_on(self, stack: Stack, top: int) -> tuple[int, Answer | None]:
        """Decide further boxes on a stack, up to the first undecided one.

        These are larger. Failures cost at most as much work as successes did.
        """
        answer: Answer | None = Answer(True)
        while top > 0 and answer is not None and answer.proved:
            limit = max(_PATIENCE * self._cost, self._gain)
            answer = self._decide(stack.allowed[top - 1], stack.ends[top - 1], limit)
            top -= answer is not None
        return top, answer

    def _try(self, stack: Stack, top: int) -> tuple[int, Answer | None]:
        """Decide the top box of a stack, if that takes little work."""
        limit = self._n_boxes * self._per_box
        answer = self._decide(stack.allowed[top - 1], stack.ends[top - 1], limit)
        self._wait = 2 * self._wait if answer is None else _FIRST_TRY
        self._n_boxes = 0
        return top - (answer is not None), answer

    def _clear(self, stack: Stack, top: int) -> tuple[int, Answer | None]:
        """Decide the boxes in the upper half of a stack; set aside undecided ones.

        A depth-first search splits one box again and again, so these boxes lie in a
        small part of the box in question.
        """
        half, n_undecided, answer = top // 2, 0, None
        while top > half:
            top -= 1
            answer = None
            if self.is_exact:
                answer = self._decide(stack.allowed[top], stack.ends[top], MOST_NUMBERS)
            n_undecided += answer is None
            if answer is not None and not answer.proved:
                return top, answer
        if n_undecided:
            self.n_set_aside += 1
            if self.n_set_aside == _MOST_SET_ASIDE:
                self.raise_if_set_aside()
        return top, answer

    def raise_if_set_aside(self) -> None:
        """Raise if boxes were set aside, as they may hold a counterexample."""
        if self.n_set_aside:
            raise BudgetExceededError(
                "undecided: the box touches the border between two classes, where "
                "boxes become narrower than the rounding error of the bounds"
            )


def corners(net: FlatNetwork, stack: Stack, place: int) -> Iterator[Point]:
    """Yield the two inputs at the ends of a box on the stack, as codes and numbers.

    The box is so narrow that one of them may be on the other side of a border, which is
    checked in exact arithmetic.
    """
    allowed, ends = stack.allowed[place], stack.ends[place]
    spans = zip(net.offsets[:-1], net.offsets[1:], strict=True)
    first = [int(np.flatnonzero(allowed[start:stop])[0]) for start, stop in spans]
    codes = np.array(first, dtype=np.int64)
    is_range = net.offsets[:-1] + codes == net.ranges
    for end in range(2):
        yield codes, np.where(is_range, ends[end], 1.0)
