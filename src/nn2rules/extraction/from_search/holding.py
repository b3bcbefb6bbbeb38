"""The rules of a set with the rows that they hold, and which rows need which rule."""

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.extraction.from_search.growing import Grower
from nn2rules.extraction.from_search.growth_context import Wave
from nn2rules.extraction.from_search.searched import Cover
from nn2rules.space import Boxes

Flags = NDArray[np.bool_]
Holds = Callable[..., Flags]
"""Tells which rows a box holds, which is given as what it allows and its ends."""

_SHARED = 0.05
"""What it is worth to hold a row that several rules hold, or one of a heavy rule."""


class Holding:
    """Rules, changed in place, with the rows that each holds.

    Attributes
    ----------
    cover : Cover
        The rules; there may be none.
    held : list of ndarray of bool
        For each rule which rows it holds.
    counts : ndarray of int64
        For each row by how many rules it is held.
    wanted : ndarray of bool
        The rows that are to be decided.
    """

    def __init__(self, cover: Cover, holds: Holds, wanted: Flags) -> None:
        self.cover, self.holds, self.wanted = cover, holds, wanted
        both = zip(cover.allowed, cover.ends, strict=True)
        self.held = [holds(*box) for box in both]
        self.counts: NDArray[np.int64] = np.zeros(len(wanted), dtype=np.int64)
        for held in self.held:
            self.counts += held

    def own(self, index: int) -> Flags:
        """Tell which rows only this rule decides."""
        return self.left_by((index,))

    def left_by(self, indices: Sequence[int]) -> Flags:
        """Tell which rows no rule decides if these are gone."""
        held = np.sum([self.held[index] for index in indices], axis=0)
        left: Flags = self.wanted & (held > 0) & (self.counts == held)
        return left

    def worth(self, indices: Sequence[int]) -> NDArray[np.float64]:
        """Return what it is worth to hold each row: more where a rule has few.

        For a rule that is to take the place of some.
        """
        counts = self.counts - np.sum([self.held[i] for i in indices], axis=0)
        worth = np.where(counts > 1, _SHARED, 0.0)
        for index, held in enumerate(self.held):
            single = held & self.wanted & (counts == 1)
            if index not in indices and single.any():
                worth[single] = max(2.0 / int(single.sum()), _SHARED)
        worth[self.left_by(indices)] = 1.0
        return worth

    def grow_again(
        self, grower: Grower, rows: Flags, indices: Sequence[int], impossible: Boxes
    ) -> bool:
        """Put a box around rows, grown from them, in the place of the first of some.

        Tells whether that could be proved; if not, nothing is changed.
        """
        place, worth = indices[0], self.worth(indices)
        worth[rows] = 1.0
        answer = self.cover.answers[place]
        every = np.ones(len(rows), np.bool_)
        wave = Wave(every, every, impossible, worth)
        tries = grower.regrow(rows, answer, place, wave)
        if not tries:
            return False
        gains = [
            float(worth[self.holds(grown.state.box, grown.state.ends)].sum())
            for grown in tries
        ]
        [best] = grower.finish([tries[int(np.argmax(gains))]], wave)
        self.counts -= self.held[place]
        self.cover.allowed[place] = best.state.box
        self.cover.ends[place] = best.state.ends
        self.held[place] = self.holds(best.state.box, best.state.ends)
        self.counts += self.held[place]
        return True

    def place_of(self, held: Flags) -> int:
        """Return where a rule stands now that had just these rows."""
        return next(i for i, other in enumerate(self.held) if other is held)

    def drop(self, index: int) -> None:
        """Drop a rule."""
        self.counts -= self.held[index]
        cover = self.cover
        del cover.allowed[index], cover.ends[index], cover.answers[index]
        del self.held[index]

    def drop_idle(self) -> bool:
        """Drop rules that decide no row of their own; tell whether there were any."""
        before = len(self.held)
        for held in sorted(self.held, key=lambda held: int(held.sum())):
            index = self.place_of(held)
            if not self.own(index).any():
                self.drop(index)
        return len(self.held) < before


def most_first(held: Sequence[Flags], weights: NDArray[Any]) -> list[int]:
    """Return the order of the rules of a set: what decides most comes first.

    Always the one is next that decides most of what those before it leave; in a set any
    order will do.
    """
    left = weights.astype(np.float64)
    waiting = [(-float(left[rows].sum()), index) for index, rows in enumerate(held)]
    heapify(waiting)
    order = []
    while waiting:
        _, index = heappop(waiting)
        gain = float(left[held[index]].sum())  # it may have become less
        if waiting and (-gain, index) > waiting[0]:
            heappush(waiting, (-gain, index))
        else:
            order.append(index)
            left[held[index]] = 0.0
    return order
