"""How much of the domain rules decide.

Numbers are taken as evenly spread over their ranges, values as alike.
"""

import heapq
import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import compress
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.language import share
from nn2rules.space import Domain, intersecting, volumes

if TYPE_CHECKING:
    from nn2rules.rules.rule_list import RuleList

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


_STEPS = 100_000  # about a second
_AT_ONCE = 8  # the part of them that goes to the whole domain
_FIRST, _MORE = 256, 8  # steps for a box, and how many times more when it is its turn
_ENTRIES = 64  # of boxes that are prepared in the time of a step
_MOST = 4096  # boxes that are compared with each other


@dataclass(frozen=True, slots=True)
class Covered:
    """Bounds on what boxes cover, of a total; equal where it is known exactly.

    These are numbers of inputs where inputs can be counted. Of a range of numbers the
    lengths of its cells count, in a unit that makes them all whole.
    """

    lower: int
    upper: int
    total: int


def covered(
    domain: Domain, boxes: NDArray[np.bool_], *, steps: int = _STEPS
) -> Covered:
    """Return how much of the domain lies in at least one of `boxes`.

    Parameters
    ----------
    domain : Domain
    boxes : ndarray of bool, shape (n_boxes, n_columns)
    steps : int
        About how much work may be done: values looked at, and boxes compared.

    Examples
    --------
    >>> from nn2rules import Feature
    >>> domain = Domain([Feature("color", ("red", "green")), Feature("size", (1, 2))])
    >>> covered(domain, np.array([[1, 0, 1, 1], [1, 1, 0, 1]], dtype=bool))
    Covered(lower=3, upper=3, total=4)
    """
    weights = _weights(domain)
    total = math.prod(map(sum, weights))
    boxes, sizes = _sorted(domain, np.unique(boxes, axis=0), weights)
    if not sizes:
        return Covered(0, 0, total)
    beyond = sum(sizes[_MOST:])  # these are small, and only bound from above
    boxes, sizes = boxes[:_MOST], sizes[:_MOST]
    everything = np.ones(boxes.shape[1], dtype=np.bool_)
    whole = Uncovered(_atoms(domain, weights, everything, boxes))
    left = whole.count(steps // _AT_ONCE)
    lower, upper = total - left.upper, total - left.lower
    if lower < upper:
        space = _Space(domain, weights, boxes, sizes)
        low, high = space.one_by_one(steps - left.steps)
        lower, upper = max(lower, low), min(upper, high)
    return Covered(lower, min(upper + beyond, total), total)


@dataclass(frozen=True, slots=True)
class _Space:
    """Boxes, the largest first, and how much each covers."""

    domain: Domain
    weights: list[list[int]]
    boxes: NDArray[np.bool_]
    sizes: list[int]

    def one_by_one(self, steps: int) -> tuple[int, int]:
        """Bound the sum of what each box has and none before it."""
        common = np.tril(intersecting(self.domain, self.boxes), -1)
        reached: list[int] = np.flatnonzero(common.any(axis=1)).tolist()
        exact = sum(self.sizes) - sum(self.sizes[index] for index in reached)
        waiting = [
            (-self.sizes[index], index, 0, 0, self.sizes[index]) for index in reached
        ]
        heapq.heapify(waiting)
        parts: dict[int, Uncovered] = {}
        while waiting and steps > 0:
            _, index, limit, low, high = heapq.heappop(waiting)
            if index not in parts:
                parts[index] = self._part(index, common[index])
                steps -= int(common[index].sum()) * self.boxes.shape[1] // _ENTRIES
            limit = limit * _MORE or _FIRST
            found = parts[index].count(min(limit, steps))
            steps -= found.steps
            low, high = max(low, found.lower), min(high, found.upper)
            if low < high:
                heapq.heappush(waiting, (low - high, index, limit, low, high))
            else:
                exact += low
                del parts[index]
        lower = exact + sum(low for *_, low, _ in waiting)
        return lower, exact + sum(high for *_, high in waiting)

    def _part(self, index: int, common: NDArray[np.bool_]) -> Uncovered:
        box, others = self.boxes[index], self.boxes[common]
        return Uncovered(_atoms(self.domain, self.weights, box, others))


def _weights(domain: Domain) -> list[list[int]]:
    """Return how much each value of each feature counts, in whole numbers."""
    found = []
    for feature in domain.features:
        shares = volumes(feature)
        unit = math.lcm(*(share.denominator for share in shares))
        whole = [int(share * unit) for share in shares]
        divisor = math.gcd(*whole)
        found.append([number // divisor for number in whole])
    return found


def _sorted(
    domain: Domain, boxes: NDArray[np.bool_], weights: list[list[int]]
) -> tuple[NDArray[np.bool_], list[int]]:
    """Return boxes and what each covers, the largest first; those of nothing never."""
    sizes = np.ones(len(boxes), dtype=object)
    for index, own in enumerate(weights):
        block = boxes[:, domain.offsets[index] : domain.offsets[index + 1]]
        sizes *= np.array([sum(compress(own, row)) for row in block.tolist()], object)
    order = np.argsort(-sizes, kind="stable")
    order = order[: int((sizes > 0).sum())]
    return boxes[order], [int(size) for size in sizes[order]]


def _atoms(
    domain: Domain,
    weights: list[list[int]],
    box: NDArray[np.bool_],
    others: NDArray[np.bool_],
) -> Atoms:
    """Return which of `others` allow each value in `box`, as bits, with its weight.

    Values that the same boxes allow are joined.
    """
    bits = np.packbits(others, axis=0, bitorder="little").T
    found = []
    for index, own in enumerate(weights):
        start = int(domain.offsets[index])
        codes = np.flatnonzero(box[start : start + len(own)]).tolist()
        found.append(
            joined(
                (int.from_bytes(bits[start + code].tobytes(), "little"), own[code])
                for code in codes
            )
        )
    return found


@dataclass(frozen=True, slots=True)
class Volume:
    """A share of the domain, or certain bounds on it.

    Attributes
    ----------
    lower, upper : Fraction
        Equal where the share is known exactly.
    """

    lower: Fraction
    upper: Fraction

    @property
    def is_exact(self) -> bool:
        """Whether the share is known exactly."""
        return self.lower == self.upper

    def __str__(self) -> str:
        ends = [
            share(part.numerator, part.denominator) for part in (self.lower, self.upper)
        ]
        return " to ".join(dict.fromkeys(ends))


def volume_of(rules: "RuleList") -> Volume:
    """Return the share of the domain that rules decide, and not the default."""
    found = covered(rules.domain, rules.boxes)
    return Volume(
        Fraction(found.lower, found.total), Fraction(found.upper, found.total)
    )
