"""Fewer rules for the same rows: two that can be one are made one.

Of each rule only the rows count that no other one decides. If the smallest box around
such rows of two rules is of their class, a rule grown from it takes the place of both,
and others may be left with no row of their own. The rules decide every row at every
moment, so the work can be stopped anywhere.
"""

from functools import partial

import numpy as np

from nn2rules.errors import InternalError
from nn2rules.extraction._kernels.nearness import held_rows, holds_any
from nn2rules.extraction.from_search.growing import Grower, Hull
from nn2rules.extraction.from_search.holding import Holding
from nn2rules.extraction.from_search.searched import Cover, Found
from nn2rules.space import Boxes

_LIGHTEST = 200
"""So many rules of a class, those with the fewest rows of their own, are looked at."""


def merge(
    grower: Grower,
    cover: Cover,
    *,
    impossible: Boxes,
    found: Found | None = None,
) -> None:
    """Make do with fewer rules, wherever that can be proved, until it cannot.

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
    if not cover.answers:
        return
    crowd, domain = grower.crowd, grower.oracle.network.domain
    holds = partial(held_rows, domain.ranges, crowd.columns, crowd.numbers)
    rules = Holding(cover, holds, grower.cases.weights > 0)
    decided = rules.wanted & (rules.counts > 0)
    rules.drop_idle()
    is_less = True
    while is_less:
        n_before = len(rules.held)
        for answer in sorted(set(cover.answers)):
            _Class(grower, rules, answer, impossible).join_pairs()
        rules.drop_idle()
        is_less = len(rules.held) < n_before
        if found is not None:
            found(len(rules.held), 1.0)
    if (rules.counts[decided] == 0).any():
        raise InternalError("a row that was decided is not any more")


class _Class:
    """The rules of one class, and what can be proved of boxes around their rows."""

    def __init__(
        self, grower: Grower, rules: Holding, answer: int, impossible: Boxes
    ) -> None:
        self.grower, self.rules, self.answer = grower, rules, answer
        self.impossible = impossible
        self.ranges = grower.oracle.network.domain.ranges
        others = grower.cases.answers != answer
        self.columns = grower.columns[others]
        self.numbers = grower.cases.inputs.numbers[others]

    def lightest(self) -> list[int]:
        """Return where the rules stand, those with the fewest rows of their own."""
        answers, rules = self.rules.cover.answers, self.rules
        mine = [index for index, other in enumerate(answers) if other == self.answer]
        mine.sort(key=lambda index: int(rules.own(index).sum()))
        return mine[:_LIGHTEST]

    def ours(self, hulls: dict[tuple[int, int], Hull]) -> list[tuple[int, int]]:
        """Return the pairs whose boxes are seen to be of the class."""
        likely = {
            pair: hull
            for pair, hull in hulls.items()
            if not holds_any(self.ranges, self.columns, self.numbers, *hull)
        }
        proved = self.grower.prove_all(
            list(likely.values()), self.answer, self.impossible
        )
        return [pair for pair, is_ours in zip(likely, proved, strict=True) if is_ours]

    def join_pairs(self) -> None:
        """Make one rule of two, for as many pairs as there are."""
        rules, grower = self.rules, self.grower
        pairs = _matched(self._joinable())
        for first, second in sorted(pairs, key=lambda pair: -pair[1]):
            # Rules that were joined before may hold other rows than they did.
            left = rules.left_by((first, second))
            if rules.grow_again(grower, left, (first, second), self.impossible):
                rules.drop(second)

    def _joinable(self) -> dict[int, set[int]]:
        """Return for each rule those that can be one with it, proved."""
        rules, grower = self.rules, self.grower
        hulls = {index: grower.hull(rules.own(index)) for index in self.lightest()}
        shared = np.flatnonzero(rules.wanted & (rules.counts == 2))
        both_hulls: dict[tuple[int, int], Hull] = {}
        for first in hulls:
            for second in hulls:
                if first >= second:
                    continue
                hull = grower.joined(hulls[first], hulls[second])
                both = shared[rules.held[first][shared] & rules.held[second][shared]]
                if len(both):
                    hull = grower.joined(hull, grower.hull(both.tolist()))
                both_hulls[first, second] = hull
        found: dict[int, set[int]] = {index: set() for index in hulls}
        for first, second in self.ours(both_hulls):
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
