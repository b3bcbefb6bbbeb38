"""Boxes of a domain sorted: wholly of a class, or wholly not.

A first search cuts the domain into tiles, which workers sort each on their own. The
cut follows from the network alone, so what is found does not depend on who works.
"""

import math
from collections import deque
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn2rules.domain import box_sizes
from nn2rules.engine._kernels.boxes import Boxes, Stack
from nn2rules.engine._kernels.search import sort_boxes
from nn2rules.engine.budget import Meter
from nn2rules.engine.chances import masses_of
from nn2rules.engine.flat import boxes_at_once, claim, points, room, stack_of, workspace
from nn2rules.engine.table import settle_codes
from nn2rules.errors import BudgetExceededError
from nn2rules.network import Network

_BATCH = 4096
_TILES, _CUTS = 64, 256
_ROUNDING = Fraction(1, 1 << 40)  # far beyond the error of a product of float64


@dataclass(slots=True)
class Tally:
    """What is decided of one class: inputs, and their probability from below."""

    positive: int = 0
    negative: int = 0
    likely: Fraction = Fraction(0)
    unlikely: Fraction = Fraction(0)

    def add(
        self, box_sizes: list[int], masses: NDArray[np.float64], *, is_in: bool
    ) -> None:
        """Count boxes that are wholly of the class, or wholly not."""
        mass = Fraction(math.fsum(masses)) * (1 - _ROUNDING)
        if is_in:
            self.positive += sum(box_sizes)
            self.likely += mass
        else:
            self.negative += sum(box_sizes)
            self.unlikely += mass

    def raised_to(self, other: "Tally") -> "Tally":
        """Keep the better of both, in each part; return what that adds."""
        better = Tally(
            max(self.positive, other.positive),
            max(self.negative, other.negative),
            max(self.likely, other.likely),
            max(self.unlikely, other.unlikely),
        )
        gain = Tally(
            better.positive - self.positive,
            better.negative - self.negative,
            better.likely - self.likely,
            better.unlikely - self.unlikely,
        )
        self.join(gain)
        return gain

    def join(self, other: "Tally") -> None:
        """Add what is decided of other inputs."""
        self.positive += other.positive
        self.negative += other.negative
        self.likely += other.likely
        self.unlikely += other.unlikely


class Weighed(NamedTuple):
    """A network, and how likely each value is: what all tiles share."""

    network: Network
    chances: NDArray[np.float64]


class Tile(NamedTuple):
    """A box to sort for a class, and what is known of it: a place of a stack."""

    of_class: int
    box: Stack


class Sorted(NamedTuple):
    """What came of a tile.

    Attributes
    ----------
    tally : Tally
    n_boxes : int
    is_open : bool
        Whether more splits would decide more.
    is_spent : bool
        Whether the budget ended the work.
    """

    tally: Tally
    n_boxes: int
    is_open: bool
    is_spent: bool


def cut(weighed: Weighed, index: int, tally: Tally, meter: Meter) -> list[Tile]:
    """Cut the domain into tiles, and count what is decided on the way.

    Of the boxes that are open, the widest is halved next.
    """
    sorting = _Sorting(weighed, index, tally, size=1)
    stack = sorting.stack
    stack.allowed[0], stack.ends[0] = True, weighed.network.domain.limits
    open_ = deque([_taken(stack, 0)])
    for _ in range(_CUTS):
        if not 0 < len(open_) < _TILES:
            break
        _put(stack, open_.popleft())
        top, n_boxes, _ = sorting.step(1, 1, sorting.deepest)
        open_.extend(_taken(stack, place) for place in range(top))
        meter.spend(n_boxes)
    return [Tile(index, box) for box in open_]


def sort_tile(weighed: Weighed, task: tuple[Tile, int], meter: Meter) -> Sorted:
    """Split a tile into boxes of a class and boxes of others, and count them.

    Boxes are open after so many splits; as narrow as they can be, they stay so.
    """
    (index, box), splits = task
    own = replace(meter, progress=None)
    sorting = _Sorting(weighed, index, Tally())
    _put(sorting.stack, box)
    top, n_boxes, n_open = 1, 0, 0
    try:
        own.spend()
        while top > 0:
            limit = own.allowance(sorting.at_once)
            top, n_sorted, n_left = sorting.step(top, limit, splits)
            n_boxes, n_open = n_boxes + n_sorted, n_open + n_left
            own.spend(n_sorted)
    except BudgetExceededError:
        return Sorted(sorting.tally, n_boxes, is_open=True, is_spent=True)
    is_open = n_open > 0 and splits < sorting.deepest
    return Sorted(sorting.tally, n_boxes, is_open, is_spent=False)


def _taken(stack: Stack, place: int) -> Stack:
    parts: list[Any] = [part[place : place + 1].copy() for part in stack]
    return Stack(*parts)


def _put(stack: Stack, box: Stack) -> None:
    for part, own in zip(stack, box, strict=True):
        part[:1] = own


class _Sorting:
    """Sorts the boxes of a stack for one class, `size` at a time."""

    def __init__(
        self, weighed: Weighed, index: int, tally: Tally, *, size: int = _BATCH
    ) -> None:
        self.weighed, self.index, self.tally = weighed, index, tally
        self.net = claim(weighed.network, index)
        self.stack, self._space = stack_of(self.net), workspace(self.net)
        self.deepest = len(self.stack.depth) - 3
        self.at_once = min(size, boxes_at_once(self.net))
        self._decided, self._ties = room(self.net, size), points(self.net, size)
        self._answers = np.zeros(size, dtype=np.bool_)

    def step(self, top: int, limit: int, deepest: int) -> tuple[int, int, int]:
        """Sort at most so many boxes, and count those that are decided.

        Returns what is left on the stack, how many boxes were sorted, and how many of
        them are open, and as deep as they may be.
        """
        top, n_ties, n_decided, n_boxes, n_left = sort_boxes(
            self.net,
            self._space,
            self.stack,
            top,
            self._ties,
            self._decided,
            self._answers,
            limit,
            min(deepest, self.deepest),
        )
        self._add(self._decided, self._answers[:n_decided])
        for codes, numbers in zip(
            self._ties.codes[:n_ties], self._ties.numbers[:n_ties], strict=True
        ):
            self._settle(codes, numbers)
        return top, n_boxes, n_left

    def _add(self, decided: Boxes, answers: NDArray[np.bool_]) -> None:
        """Count boxes that were decided."""
        domain, chances = self.weighed.network.domain, self.weighed.chances
        for is_in in (False, True):
            chosen = np.flatnonzero(answers == is_in)
            boxes = Boxes(decided.allowed[chosen], decided.ends[chosen])
            masses = masses_of(domain, boxes, chances)
            self.tally.add(box_sizes(domain, boxes.allowed), masses, is_in=is_in)

    def _settle(self, codes: NDArray[np.int64], numbers: NDArray[np.float64]) -> None:
        """Count one input, by exact arithmetic."""
        network, chances = self.weighed
        is_in = settle_codes(network, codes, numbers) == self.index
        allowed = np.zeros((1, len(chances)), dtype=np.bool_)
        allowed[0, network.domain.offsets[:-1] + codes] = True
        one = Boxes(allowed, np.stack([numbers, numbers])[np.newaxis])
        self.tally.add([1], masses_of(network.domain, one, chances), is_in=is_in)
