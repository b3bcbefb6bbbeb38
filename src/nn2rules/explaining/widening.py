"""Reasons said as widely as they are true: ranges and sets of values.

Each feature of a reason is given more values, one after the other, for as long as every
input keeps the row's class. Values in an order, and numbers, are added from the row's
own outwards, so that they stay a range; where the row's value stands beside a range,
such as missing, all numbers are added or none. In the end no value more could be. Ends
of ranges of real numbers are multiples of a step, and a step further it is no longer
true.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, floor

import numpy as np

from nn2rules.errors import BudgetExceededError
from nn2rules.explaining.asking import Block, Case
from nn2rules.explaining.constraints import is_plain
from nn2rules.explaining.ladders import decimal


def widened(
    case: Case, reason: Sequence[int], steps: Mapping[int, float]
) -> tuple[dict[int, Block], bool]:
    """Return what a reason allows each of its features, and whether that is all."""
    blocks = {index: case.own(index) for index in reason}
    wide = _Widening(case, blocks)
    try:
        for index in sorted(reason, key=lambda i: not case.domain.features[i].ordered):
            if case.is_number(index):
                wide.numbers(index, steps[index])
            wide.values(index)
    except BudgetExceededError:
        wide.is_whole = False
    return blocks, wide.is_whole


class _Widening:
    def __init__(self, case: Case, blocks: dict[int, Block]) -> None:
        self.case, self.blocks, self.is_whole = case, blocks, True
        n_features = len(case.domain.features)
        self.free = {i: case.whole(i) for i in range(n_features) if i not in blocks}

    def _holds(self, index: int, slab: Block) -> bool:
        """Tell whether the reason stays true where a feature is in a slab."""
        asked = self.case.ask({**self.free, **self.blocks, index: slab})
        self.is_whole = self.is_whole and asked.status != "open"
        return asked.status == "proved"

    def values(self, index: int) -> None:
        """Add listed values: in an order outwards, others each alone."""
        feature, own = self.case.domain.features[index], self.blocks[index]
        code = int(self.case.point.codes[index])
        codes = [c for c in range(len(feature)) if c != code]
        if feature.limits is not None:
            codes = [c for c in codes if c]
            if code:
                self._add_range(index)
        plain = [c for c in codes if is_plain(feature, feature.values[c])]
        is_range = feature.ordered and feature.limits is None
        is_range = is_range and is_plain(feature, feature.values[code])
        if is_range:
            order = sorted(feature.places, key=lambda c: feature.places[c])
            at = order.index(code)
            for run in (order[at + 1 :], order[:at][::-1]):
                for other in run:
                    if not self._add(index, own, other):
                        break
        for other in codes:
            if not is_range or other not in plain:
                self._add(index, own, other)

    def _add(self, index: int, own: Block, code: int) -> bool:
        slab = np.zeros_like(own.values)
        slab[code] = True
        is_true = self._holds(index, Block(slab, 1.0, 1.0))
        if is_true:
            values = self.blocks[index].values.copy()
            values[code] = True
            self.blocks[index] = self.blocks[index]._replace(values=values)
        return is_true

    def _add_range(self, index: int) -> None:
        """Add all numbers of a range, or none, to a value that stands beside it."""
        whole, block = self.case.whole(index), self.blocks[index]
        slab, values = np.zeros_like(block.values), block.values.copy()
        slab[0] = values[0] = True
        if self._holds(index, whole._replace(values=slab)):
            self.blocks[index] = whole._replace(values=values)

    def numbers(self, index: int, step: float) -> None:
        """Move the two ends of a range outwards, to multiples of a step."""
        limits = self.case.domain.features[index].limits
        assert limits is not None, "asked only of ranges"
        for end, is_up in zip(reversed(limits), (True, False), strict=True):
            self._move(index, decimal(step), float(end), is_up=is_up)

    def _move(self, index: int, step: Fraction, end: float, *, is_up: bool) -> None:
        """Move one end as far as it goes, by halving between the row's and the last."""
        block = self.blocks[index]
        start = decimal(block.high if is_up else block.low)
        sign = 1 if is_up else -1
        first = (floor(start / step) + 1 if is_up else ceil(start / step) - 1) * step
        most = max(0, floor((decimal(end) - first) * sign / step) + 1)

        def at(place: int) -> float:
            if place == most:
                return end
            return float(first + sign * place * step)

        low, high, trial = -1, most, most
        while low < high:
            to = at(trial)
            own = float(start)
            slab = block._replace(low=min(own, to), high=max(own, to))
            if self._holds(index, slab):
                low = trial
            else:
                high = trial - 1
            trial = (low + high + 1) // 2
        if low >= 0:
            to = at(low)
            low_end, high_end = (block.low, to) if is_up else (to, block.high)
            self.blocks[index] = Block(block.values, low_end, high_end)
