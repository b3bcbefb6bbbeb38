"""Merge rules: fewer rules that cover the same rows.

For each rule only the rows matter that no other rule covers. If the smallest box around
these rows of two rules has their class, a rule grown from it replaces both, and other
rules may become unnecessary. The rules cover every row at every moment, so the work can
be stopped anywhere.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import InternalError
from nn2rules.extraction._kernels.near_rows import held_rows, holds_any
from nn2rules.extraction.from_search.covering import Cover, OnRule
from nn2rules.extraction.from_search.growing import BoxHull, Grower
from nn2rules.extraction.from_search.growth_context import Wave
from nn2rules.space import Boxes

Flags = NDArray[np.bool_]
RowsIn = Callable[..., Flags]
"""Returns which rows a box contains, given what it allows and its ends."""

_SHARED = 0.05
"""The weight of a row that several rules cover, or a rule with many rows."""


class CoveredRows:
    """Rules, changed in place, with the rows that each covers.

    Attributes
    ----------
    cover : Cover
        The rules, possibly none.
    covered : list of ndarray of bool
        For each rule, which rows it covers.
    counts : ndarray of int64
        For each row, how many rules cover it.
    wanted : ndarray of bool
        The rows to be covered.
    """

    def __init__(self, cover: Cover, rows_in: RowsIn, wanted: Flags) -> None:
        self.cover, self.rows_in, self.wanted = cover, rows_in, wanted
        both = zip(cover.allowed, cover.ends, strict=True)
        self.covered = [rows_in(*box) for box in both]
        self.counts: NDArray[np.int64] = np.zeros(len(wanted), dtype=np.int64)
        for held in self.covered:
            self.counts += held

    def own_rows(self, index: int) -> Flags:
        """Return which rows only this rule covers."""
        return self.left_by((index,))

    def left_by(self, indices: Sequence[int]) -> Flags:
        """Return which rows are not covered without these rules."""
        held = np.sum([self.covered[index] for index in indices], axis=0)
        left: Flags = self.wanted & (held > 0) & (self.counts == held)
        return left

    def worth(self, indices: Sequence[int]) -> NDArray[np.float64]:
        """Return the weight of each row for a rule that replaces some rules.

        Rows of rules that have few weigh more.
        """
        counts = self.counts - np.sum([self.covered[i] for i in indices], axis=0)
        worth = np.where(counts > 1, _SHARED, 0.0)
        for index, held in enumerate(self.covered):
            single = held & self.wanted & (counts == 1)
            if index not in indices and single.any():
                worth[single] = max(2.0 / int(single.sum()), _SHARED)
        worth[self.left_by(indices)] = 1.0
        return worth

    def grow_again(
        self, grower: Grower, rows: Flags, indices: Sequence[int], impossible: Boxes
    ) -> bool:
        """Replace the first of some rules by a box grown from rows.

        Returns whether that could be proved; if not, nothing changes.
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
            float(worth[self.rows_in(grown.state.box, grown.state.ends)].sum())
            for grown in tries
        ]
        [best] = grower.finish([tries[int(np.argmax(gains))]], wave)
        self.counts -= self.covered[place]
        self.cover.allowed[place] = best.state.box
        self.cover.ends[place] = best.state.ends
        self.covered[place] = self.rows_in(best.state.box, best.state.ends)
        self.counts += self.covered[place]
        return True

    def place_of(self, held: Flags) -> int:
        """Return the position of the rule with these rows."""
        return next(i for i, other in enumerate(self.covered) if other is held)

    def drop(self, index: int) -> None:
        """Drop a rule."""
        self.counts -= self.covered[index]
        cover = self.cover
        del cover.allowed[index], cover.ends[index], cover.answers[index]
        del self.covered[index]

    def drop_idle(self) -> bool:
        """Drop rules without rows of their own; return whether there were any."""
        before = len(self.covered)
        for held in sorted(self.covered, key=lambda held: int(held.sum())):
            index = self.place_of(held)
            if not self.own_rows(index).any():
                self.drop(index)
        return len(self.covered) < before


_LIGHTEST = 200
"""How many rules of a class are considered: those with the fewest rows of their own."""


def merge(
    grower: Grower,
    cover: Cover,
    *,
    impossible: Boxes,
    on_rule: OnRule | None = None,
) -> None:
    """Merge rules wherever that can be proved, until no two can be merged.

    Parameters
    ----------
    grower : Grower
        Its rows of positive weight stay covered.
    cover : Cover
        A set of rules, each of which holds on its own, changed in place.
    impossible : Boxes
        Inputs in these boxes are ignored.
    on_rule : callable, optional
        Called with the number of rules, and 1.0 as all rows are covered.
    """
    if not cover.answers:
        return
    row_index, domain = grower.row_index, grower.oracle.network.domain
    rows_in = partial(held_rows, domain.ranges, row_index.columns, row_index.numbers)
    rules = CoveredRows(cover, rows_in, grower.cases.weights > 0)
    covered = rules.wanted & (rules.counts > 0)
    rules.drop_idle()
    is_less = True
    while is_less:
        n_before = len(rules.covered)
        for answer in sorted(set(cover.answers)):
            _Class(grower, rules, answer, impossible).join_pairs()
        rules.drop_idle()
        is_less = len(rules.covered) < n_before
        if on_rule is not None:
            on_rule(len(rules.covered), 1.0)
    if (rules.counts[covered] == 0).any():
        raise InternalError("a row is not covered any more after merging")


class _Class:
    """The rules of one class, and proofs for boxes around their rows."""

    def __init__(
        self, grower: Grower, rules: CoveredRows, answer: int, impossible: Boxes
    ) -> None:
        self.grower, self.rules, self.answer = grower, rules, answer
        self.impossible = impossible
        self.ranges = grower.oracle.network.domain.ranges
        others = grower.cases.answers != answer
        self.columns = grower.columns[others]
        self.numbers = grower.cases.inputs.numbers[others]

    def lightest(self) -> list[int]:
        """Return the positions of the rules with the fewest rows of their own."""
        answers, rules = self.rules.cover.answers, self.rules
        mine = [index for index, other in enumerate(answers) if other == self.answer]
        mine.sort(key=lambda index: int(rules.own_rows(index).sum()))
        return mine[:_LIGHTEST]

    def proved_pairs(
        self, hulls: dict[tuple[int, int], BoxHull]
    ) -> list[tuple[int, int]]:
        """Return the pairs whose boxes are proved to have the class."""
        likely = {
            pair: hull
            for pair, hull in hulls.items()
            if not holds_any(self.ranges, self.columns, self.numbers, *hull)
        }
        proved = self.grower.prove_all(
            list(likely.values()), self.answer, self.impossible
        )
        return [
            pair for pair, is_proved in zip(likely, proved, strict=True) if is_proved
        ]

    def join_pairs(self) -> None:
        """Merge as many pairs as possible."""
        rules, grower = self.rules, self.grower
        pairs = _matched(self._joinable())
        for first, second in sorted(pairs, key=lambda pair: -pair[1]):
            # Earlier merges may have changed which rows the rules cover.
            left = rules.left_by((first, second))
            if rules.grow_again(grower, left, (first, second), self.impossible):
                rules.drop(second)

    def _joinable(self) -> dict[int, set[int]]:
        """Return for each rule the rules that provably can be merged with it."""
        rules, grower = self.rules, self.grower
        hulls = {index: grower.hull(rules.own_rows(index)) for index in self.lightest()}
        shared = np.flatnonzero(rules.wanted & (rules.counts == 2))
        both_hulls: dict[tuple[int, int], BoxHull] = {}
        for first in hulls:
            for second in hulls:
                if first >= second:
                    continue
                hull = grower.joined(hulls[first], hulls[second])
                both = shared[
                    rules.covered[first][shared] & rules.covered[second][shared]
                ]
                if len(both):
                    hull = grower.joined(hull, grower.hull(both.tolist()))
                both_hulls[first, second] = hull
        partners: dict[int, set[int]] = {index: set() for index in hulls}
        for first, second in self.proved_pairs(both_hulls):
            partners[first].add(second)
            partners[second].add(first)
        return partners


def _matched(partners: dict[int, set[int]]) -> list[tuple[int, int]]:
    """Choose disjoint pairs, first for rules with the fewest partners."""
    left = {index: set(others) for index, others in partners.items() if others}
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
