"""How many inputs lie in at least one of several boxes, on domains of any size.

`nn2rules.rules.uncovered` counts what boxes leave of a space. A small part of the work
goes to the whole domain at once, which may suffice. If not, the boxes are sorted by
size, and of each is counted what none before it has: few of those reach into it.

The work is counted in steps, never timed. Where they do not suffice, two bounds are
returned that hold for certain, and the steps go where these are furthest apart.
"""

import heapq
import math
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from nn2rules.boxes import intersecting
from nn2rules.domain import Domain
from nn2rules.rules.uncovered import Atoms, Uncovered, joined
from nn2rules.spans import volumes

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
