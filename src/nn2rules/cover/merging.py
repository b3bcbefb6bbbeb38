"""Fewer rules for the same rows: two that can be one are made one.

Of each rule only the rows count that no other one decides. If the smallest box around
such rows of two rules is of their class, a rule grown from it takes the place of both,
and others may be left with no row of their own. The rules decide every row at every
moment, so the work can be stopped anywhere.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nn2rules.cover._kernels.nearness import held_rows, holds_any
from nn2rules.cover.growing import Grower
from nn2rules.cover.searched import Cover, Found
from nn2rules.engine._kernels.boxes import Boxes
from nn2rules.errors import InternalError

_LIGHTEST = 200
"""So many rules of a class, those with the fewest rows of their own, are paired."""

_SHARED = 0.05
"""What it is worth to hold a row that several rules hold, or one of a heavy rule."""


def merge(
    grower: Grower,
    cover: Cover,
    *,
    impossible: Boxes,
    found: Found | None = None,
) -> None:
    """Make one rule of two, wherever that can be proved, until it cannot.

    Parameters
    ----------
    grower : Grower
        Its rows of positive weight stay decided.
    cover : Cover
        A set of rules, each true on its own, changed in place.
    impossible : Boxes
        Inputs inside these do not count.
    found : callable, optional
        Told how many rules there are, and that all rows are decided.
    """
    crowd, domain = grower.crowd, grower.oracle.network.domain
    holds = partial(held_rows, domain.ranges, crowd.columns, crowd.numbers)
    if not cover.answers:
        return
    rules = _Rules(cover, holds, grower.cases.weights > 0)
    decided = rules.wanted & (rules.counts > 0)
    rules.drop_idle()
    is_less = True
    while is_less:
        pairs = [
            pair
            for answer in sorted(set(cover.answers))
            for pair in _matched(_joinable(grower, rules, answer, impossible))
        ]
        n_before = len(cover.answers)
        for first, second in sorted(pairs, key=lambda pair: -pair[1]):
            own = rules.left_by(first, second)
            answer = cover.answers[first]
            worth = rules.worth((first, second))
            tries = grower.regrow(own, answer, first, worth, impossible)
            if not tries:  # rules that were joined before hold other rows than they did
                continue
            gains = [
                float(worth[holds(grown.state.box, grown.state.ends)].sum())
                for grown in tries
            ]
            best = tries[int(np.argmax(gains))]
            grower.finish([best], worth, np.ones(len(own), np.bool_), impossible)
            rules.join(first, second, best.state.box, best.state.ends)
            if found is not None:
                found(len(cover.answers), 1.0)
        is_less = rules.drop_idle() or len(cover.answers) < n_before
    if (rules.counts[decided] == 0).any():
        raise InternalError("a row that was decided is not any more")


def drop_idle(
    cover: Cover, holds: Callable[..., NDArray[np.bool_]], wanted: NDArray[np.bool_]
) -> None:
    """Drop rules of a set, in place, that decide no row which others do not."""
    if cover.answers:
        _Rules(cover, holds, wanted).drop_idle()


class _Rules:
    """The rules with the rows that they hold."""

    def __init__(
        self,
        cover: Cover,
        holds: Callable[..., NDArray[np.bool_]],
        wanted: NDArray[np.bool_],
    ) -> None:
        self.cover, self.holds, self.wanted = cover, holds, wanted
        both = zip(cover.allowed, cover.ends, strict=True)
        self.held = [holds(*box) for box in both]
        self.counts = np.sum(self.held, axis=0)

    def own(self, index: int) -> NDArray[np.bool_]:
        """Tell which rows only this rule decides."""
        own: NDArray[np.bool_] = self.held[index] & self.wanted & (self.counts == 1)
        return own

    def left_by(self, first: int, second: int) -> NDArray[np.bool_]:
        """Tell which rows no rule decides if these two are gone."""
        held = self.held[first].astype(np.int64) + self.held[second]
        left: NDArray[np.bool_] = self.wanted & (held > 0) & (self.counts == held)
        return left

    def worth(self, indices: tuple[int, int]) -> NDArray[np.float64]:
        """Return what it is worth to hold each row: more where a rule has few."""
        counts = self.counts - sum(self.held[index].astype(int) for index in indices)
        worth = np.where(counts > 1, _SHARED, 0.0)
        for index, held in enumerate(self.held):
            single = held & self.wanted & (counts == 1)
            if index not in indices and single.any():
                worth[single] = max(2.0 / int(single.sum()), _SHARED)
        worth[self.left_by(*indices)] = 1.0
        return worth

    def join(
        self,
        first: int,
        second: int,
        box: NDArray[np.bool_],
        ends: NDArray[np.float64],
    ) -> None:
        """Put a box in the place of two rules."""
        self.counts -= self.held[first]
        self.cover.allowed[first], self.cover.ends[first] = box, ends
        self.held[first] = self.holds(box, ends)
        self.counts += self.held[first]
        self._drop(second)

    def drop_idle(self) -> bool:
        """Drop rules that decide no row of their own; tell whether there were any."""
        before = len(self.held)
        order = np.argsort([int(held.sum()) for held in self.held], kind="stable")
        names = [self.held[index] for index in order]
        for name in names:
            index = next(i for i, held in enumerate(self.held) if held is name)
            if not self.own(index).any():
                self._drop(index)
        return len(self.held) < before

    def _drop(self, index: int) -> None:
        self.counts -= self.held[index]
        cover = self.cover
        del cover.allowed[index], cover.ends[index], cover.answers[index]
        del self.held[index]


def _joinable(
    grower: Grower, rules: _Rules, answer: int, impossible: Boxes
) -> dict[int, set[int]]:
    """Return for each rule of a class those that can be one with it, proved."""
    mine = [i for i, other in enumerate(rules.cover.answers) if other == answer]
    mine.sort(key=lambda index: int(rules.own(index).sum()))
    hulls = {index: grower.hull(rules.own(index)) for index in mine[:_LIGHTEST]}
    others = grower.cases.answers != answer
    ranges = grower.oracle.network.domain.ranges
    columns, numbers = grower.columns[others], grower.cases.inputs.numbers[others]
    shared = np.flatnonzero(rules.wanted & (rules.counts == 2))
    found: dict[int, set[int]] = {index: set() for index in hulls}
    for first in hulls:
        for second in hulls:
            if first >= second:
                continue
            hull = grower.joined(hulls[first], hulls[second])
            both = shared[rules.held[first][shared] & rules.held[second][shared]]
            if len(both):
                hull = grower.joined(hull, grower.hull(both.tolist()))
            box, ends = hull
            if not holds_any(ranges, columns, numbers, box, ends) and grower.proves(
                box, ends, answer, impossible
            ):
                found[first].add(second)
                found[second].add(first)
    return found


def _matched(found: dict[int, set[int]]) -> list[tuple[int, int]]:
    """Choose pairs, no rule in two: first for those that fit to the fewest."""
    left = {index: set(others) for index, others in found.items() if others}
    pairs = []
    while left:
        first = min(left, key=lambda index: (len(left[index]), index))
        second = min(left[first], key=lambda index: (len(left[index]), index))
        pairs.append((min(first, second), max(first, second)))
        for gone in (first, second):
            for other in left.pop(gone):
                if other in left:
                    left[other].discard(gone)
        left = {index: others for index, others in left.items() if others}
    return pairs
