"""The cheapest levels that meet every demand: hitting sets, with steps.

Each feature has levels, from 0 up, and higher levels cost more. A *demand* is that one
of several features reaches its level. Solutions found are *blocked*, and with them
everything at the same levels or above. With one level for each feature, a solution is a
smallest hitting set.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from nn2rules.engine import Meter

_LOOKS = 256  # steps between two looks at the clock

Levels: TypeAlias = tuple[int, ...]
"""A level for each feature."""


class Demands:
    """Demands on levels, and the cheapest levels that meet all of them.

    Levels are kept as bits: a feature at level 2 has the first two of its bits set.

    Parameters
    ----------
    costs : for each feature, the costs of its levels from 1, in increasing order
    meter : Meter, optional
        The budget to spend.

    Examples
    --------
    >>> demands = Demands([[1], [1], [1]])
    >>> demands.add({0: 1, 1: 1})
    >>> demands.add({1: 1, 2: 1})
    >>> demands.cheapest()
    (0, 1, 0)
    >>> demands.block((0, 1, 0))
    >>> demands.cheapest()
    (1, 0, 1)
    """

    def __init__(
        self, costs: Sequence[Sequence[int]], meter: Meter | None = None
    ) -> None:
        self._meter, self._n_visits = meter or Meter(), 0
        self.costs = [list(levels) for levels in costs]
        self._first: list[int] = []
        n_bits = 0
        self._feature: list[int] = []
        self._cost: list[int] = []
        for feature, levels in enumerate(self.costs):
            self._first.append(n_bits)
            self._feature += [feature] * len(levels)
            self._cost += levels
            n_bits += len(levels)
        self._is_plain = all(levels in ([], [1]) for levels in self.costs)
        self._demands: list[int] = []
        self._blocked: list[int] = []
        self._least = 0

    def add(self, needed: Mapping[int, int]) -> None:
        """Demand that one of several features reaches its level, from 1."""
        mask = 0
        for feature, level in needed.items():
            mask |= 1 << (self._first[feature] + level - 1)
        self._demands.append(mask)

    def block(self, levels: Levels) -> None:
        """Exclude these levels and everything above them."""
        self._blocked.append(self._bits(levels))

    def start_at(self, cost: int) -> None:
        """Do not search in order of cost below this cost.

        Cheaper levels may then be returned in any order.
        """
        self._least = max(self._least, cost)

    def cost(self, levels: Levels) -> int:
        """Return what levels cost."""
        return sum(self.costs[f][level - 1] for f, level in enumerate(levels) if level)

    def cheapest(self) -> Levels | None:
        """Return the cheapest levels that meet all demands; None if none do.

        Demands are only added, so the cost never falls: the search starts at the last
        cost and goes up.
        """
        while True:
            self._next: int | None = None
            start = [0] * len(self.costs)
            levels = self._visit(0, 0, start, 0)
            if levels is not None:
                return tuple(levels)
            if self._next is None:
                return None
            self._least = self._next

    def _bits(self, levels: Levels) -> int:
        mask = 0
        for first, level in zip(self._first, levels, strict=True):
            mask |= ((1 << level) - 1) << first
        return mask

    def _visit(
        self, bits: int, banned: int, levels: list[int], cost: int
    ) -> list[int] | None:
        self._n_visits += 1
        if self._n_visits % _LOOKS == 0:
            self._meter.spend()
        if any(bits & blocked == blocked for blocked in self._blocked):
            return None
        left = [d & ~banned for d in self._demands if not bits & d]
        left.sort(key=int.bit_count)
        if left and not left[0]:
            return None
        bound = cost + self._at_least(left, levels)
        if bound > self._least:
            if self._next is None or bound < self._next:
                self._next = bound
            return None
        if not left:
            return levels
        for bit in sorted(bits_of(left[0]), key=lambda b: (self._more(b, levels), b)):
            feature = self._feature[bit]
            first = self._first[feature]
            raised = levels.copy()
            raised[feature] = bit - first + 1
            upto = ((1 << raised[feature]) - 1) << first
            answer = self._visit(
                bits | upto, banned, raised, cost + self._more(bit, levels)
            )
            if answer is not None:
                return answer
            beyond = first + len(self.costs[feature]) - bit
            banned |= ((1 << beyond) - 1) << bit
        return None

    def _more(self, bit: int, levels: Sequence[int]) -> int:
        """Return what it costs to raise a feature from its level to that of a bit."""
        feature = self._feature[bit]
        level = levels[feature]
        return self._cost[bit] - (self.costs[feature][level - 1] if level else 0)

    def _at_least(self, left: Iterable[int], levels: Sequence[int]) -> int:
        """Bound the cost of demands: those without a common feature add up."""
        if self._is_plain:
            return _disjoint(left)
        used: set[int] = set()
        total = 0
        for demand in left:
            features = {self._feature[bit] for bit in bits_of(demand)}
            if not features & used:
                used |= features
                total += min(self._more(bit, levels) for bit in bits_of(demand))
        return total


def _disjoint(demands: Iterable[int]) -> int:
    """Return how many demands, taken greedily, have no bit in common."""
    used = total = 0
    for demand in demands:
        if not demand & used:
            used |= demand
            total += 1
    return total


def bits_of(mask: int) -> list[int]:
    """Return the positions of the bits that are set."""
    places = []
    while mask:
        low = mask & -mask
        places.append(low.bit_length() - 1)
        mask ^= low
    return places
