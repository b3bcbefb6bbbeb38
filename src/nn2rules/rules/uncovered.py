"""What several boxes leave uncovered of a space, counted feature by feature.

Values that the same boxes allow are one case, a case in which a box has no condition
left is covered, boxes without a feature in common are counted apart, and what was
counted once is remembered.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Atoms: TypeAlias = list[list[tuple[int, int]]]
"""Of each feature, cases: the boxes that allow it, as bits, and how much it counts."""

_ONE = 1 << 53
_DEEPEST = 200  # features fixed one inside another, for Python's own limit
_ROUNDING = 2.0**-40  # far beyond the error of a product of some thousand shares


@dataclass(frozen=True, slots=True)
class Found:
    """Bounds on what is uncovered, and the steps it took."""

    lower: int
    upper: int
    steps: int


def joined(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join cases that the same boxes allow; leave out what counts nothing."""
    found: dict[int, int] = {}
    for boxes, weight in pairs:
        if weight:
            found[boxes] = found.get(boxes, 0) + weight
    return list(found.items())


class Uncovered:
    """A space and the boxes that cover some of it; counts can be taken up again.

    Boxes are the bits of whole numbers. Features are fixed one after another, so a case
    is known by the boxes that still allow it and the features that are left.
    """

    def __init__(self, atoms: Atoms) -> None:
        self._totals = [sum(weight for _, weight in own) for own in atoms]
        self._all = 0
        for boxes, _ in atoms[0]:
            self._all |= boxes
        self._atoms = atoms = [
            joined((boxes & self._all, weight) for boxes, weight in own)
            for own in atoms
        ]
        self._free = [self._everywhere(own) for own in atoms]
        self._shares = _shares(atoms, self._totals, self._all.bit_length())
        self._known: dict[tuple[int, tuple[int, ...]], int] = {}
        self._steps = self._depth = 0

    def _everywhere(self, cases: list[tuple[int, int]]) -> int:
        """Return the boxes that have no condition on a feature."""
        free = self._all
        for boxes, _ in cases:
            free &= boxes
        return free

    def count(self, limit: int) -> Found:
        """Bound what no box covers, in about `limit` steps."""
        self._steps = self._depth = 0
        lower, upper = self._count(self._all, range(len(self._atoms)), limit)
        return Found(lower, upper, self._steps)

    def _count(
        self, boxes: int, features: Iterable[int], limit: int
    ) -> tuple[int, int]:
        self._steps += 1
        factor, covering, used = 1, boxes, []
        for feature in features:
            free = self._free[feature]
            covering &= free
            if boxes & ~free:
                used.append(feature)
            else:
                factor *= self._totals[feature]
        self._steps += len(used) // 8
        if covering:
            return 0, 0
        if not boxes:
            return factor, factor
        key = boxes, tuple(used)
        if key in self._known:
            return factor * self._known[key], factor * self._known[key]
        if self._steps >= limit or self._depth >= _DEEPEST:
            lower, upper = self._rough(boxes, used)
        else:
            groups = self._apart(boxes, used)
            if len(groups) > 1:
                lower, upper = self._each(groups, limit)
            else:
                lower, upper = self._split(boxes, used, limit)
            if lower == upper:
                self._known[key] = lower
        return factor * lower, factor * upper

    def _apart(self, boxes: int, used: list[int]) -> list[tuple[int, list[int]]]:
        """Put boxes and features into groups without a condition in common."""
        groups: list[tuple[int, list[int]]] = []
        for feature in used:
            bound, own = boxes & ~self._free[feature], [feature]
            others = []
            for group in groups:
                if group[0] & bound:
                    bound |= group[0]
                    own = group[1] + own
                else:
                    others.append(group)
            groups = [*others, (bound, own)]
        return groups

    def _each(self, groups: list[tuple[int, list[int]]], limit: int) -> tuple[int, int]:
        """Multiply what groups leave uncovered."""
        lower = upper = 1
        for index, (boxes, used) in enumerate(groups):
            part = max(0, limit - self._steps) // (len(groups) - index)
            low, high = self._count(boxes, used, self._steps + part)
            lower, upper = lower * low, upper * high
        return lower, upper

    def _split(self, boxes: int, used: list[int], limit: int) -> tuple[int, int]:
        """Add up the cases of the feature on which most boxes have a condition."""
        feature = max(used, key=lambda one: (boxes & ~self._free[one]).bit_count())
        others = [one for one in used if one != feature]
        cases = joined((own & boxes, weight) for own, weight in self._atoms[feature])
        cases.sort(key=lambda case: -case[1])
        self._steps += len(self._atoms[feature]) // 4
        self._depth += 1
        left, lower, upper = self._totals[feature], 0, 0
        for own, weight in cases:
            part = max(0, limit - self._steps) * weight // left
            left -= weight
            low, high = self._count(own, others, self._steps + part)
            lower, upper = lower + weight * low, upper + weight * high
        self._depth -= 1
        return lower, upper

    def _rough(self, boxes: int, used: list[int]) -> tuple[int, int]:
        """Bound by the largest box and by the sum of all."""
        total = math.prod(self._totals[feature] for feature in used)
        shares = self._shares[_positions(boxes)][:, used].prod(axis=1)
        self._steps += 8 + shares.size // 16
        most = min(1.0, math.fsum(shares) * (1 + _ROUNDING))
        least = float(shares.max()) * (1 - _ROUNDING)
        # What underflows is less than the one that is added.
        above = min(_ONE, math.ceil(most * _ONE) + 1)
        below = math.floor(least * _ONE)
        return total - -(-total * above // _ONE), total - total * below // _ONE


def _shares(atoms: Atoms, totals: list[int], n_boxes: int) -> NDArray[np.float64]:
    """Return which share of each feature's cases a box allows, to the last bit."""
    shares = np.zeros((n_boxes, len(atoms)))
    for index, (cases, total) in enumerate(zip(atoms, totals, strict=True)):
        sums = np.zeros(n_boxes, dtype=object)
        for boxes, weight in cases:
            sums[_positions(boxes)] += weight
        shares[:, index] = [number / total for number in sums]
    return shares


def _positions(bits: int) -> NDArray[np.intp]:
    """Return the positions of the bits that are set."""
    octets = np.frombuffer(
        bits.to_bytes(bits.bit_length() // 8 + 1, "little"), np.uint8
    )
    return np.flatnonzero(np.unpackbits(octets, bitorder="little"))
