"""Boxes that become narrower than rounding before a search can decide them.

Where two classes tie along a border, bounds never settle the boxes that touch it, and
a depth-first search would split them until its stack is full. Such boxes are set
aside, and the search goes on: elsewhere there may be a counterexample.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine._kernels.boxes import Stack
from nn2rules.engine._kernels.network import FlatNetwork
from nn2rules.errors import BudgetExceededError

_MOST_SET_ASIDE = 256
"""So often a search goes on; a border of many dimensions would keep it for ever."""


class Borders:
    """The boxes that one search has set aside.

    Attributes
    ----------
    n_set_aside : int
        How many times the stack was full.
    """

    def __init__(self) -> None:
        self.n_set_aside = 0

    def set_aside(self, top: int) -> int:
        """Give up the upper half of a full stack; return how many boxes are left.

        A depth-first search splits one box over and over, so the upper half lies in a
        small part of the box that was asked about.
        """
        self.n_set_aside += 1
        if self.n_set_aside == _MOST_SET_ASIDE:
            self.refuse_open()
        return top // 2

    def refuse_open(self) -> None:
        """Raise an error if a search that found nothing else has set boxes aside."""
        if self.n_set_aside:
            raise BudgetExceededError(
                "the answer lies where boxes become narrower than the rounding of the "
                "bounds: the box touches the border between two classes"
            )


def corners(
    net: FlatNetwork, stack: Stack, place: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
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
