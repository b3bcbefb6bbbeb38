"""Numbers of ranges that turn a row, moved no further than they must be.

Of one number the fewest steps, and then a multiple of the step if one turns there, or
just beyond: so it is within two steps of the nearest number that turns. Of several that
move together: first all go the same share of their way, as little as is possible; then
each is moved back, in the order of the features, as far as the others allow.
"""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from math import ceil, floor

import numpy as np

from nn2rules.engine._kernels.boxes import Boxes
from nn2rules.explaining.asking import Block, Case
from nn2rules.explaining.judges import Point, inside
from nn2rules.explaining.ladders import Walk, decimal

_MOST_TRIED = 64


def nearest(
    case: Case,
    chosen: Mapping[int, Block],
    walks: Mapping[int, Walk],
    turned: Point,
    forbidden: Boxes | None,
) -> tuple[Point, bool]:
    """Return the nearest input that turns, and whether it is known to be.

    Parameters
    ----------
    chosen : mapping from features to blocks
        Values, or numbers on one side of the row's.
    walks : mapping from features to walks
        Steps away from the row's number, of some of these.
    turned : Point
        An input of them that turns.
    """
    near = _Nearest(case, dict(chosen), walks, turned, forbidden)
    near.shrink()
    return near.rounded(), near.is_sure


class _Nearest:
    def __init__(
        self,
        case: Case,
        chosen: dict[int, Block],
        walks: Mapping[int, Walk],
        turned: Point,
        forbidden: Boxes | None,
    ) -> None:
        self.case, self.chosen, self.turned = case, chosen, turned
        self.forbidden, self.is_sure = forbidden, True
        self.walks = {
            index: walk
            for index, walk in walks.items()
            if chosen[index].values[0] and chosen[index].low < chosen[index].high
        }
        self.is_up = {i: chosen[i].low > walk.number for i, walk in self.walks.items()}
        self.most = {i: walk.n_steps for i, walk in self.walks.items()}

    def shrink(self) -> None:
        """Take fewer steps: all together, then each alone."""
        if len(self.walks) > 1:
            self._least(max(self.most.values()), self._together)
        for index in self.walks:
            self._least(self.most[index], partial(self._alone, index))

    def _alone(self, index: int, steps: int) -> dict[int, int]:
        return {**self.most, index: steps}

    def _together(self, steps: int) -> dict[int, int]:
        most = max(self.most.values())
        return {i: ceil(steps * n / most) for i, n in self.most.items()}

    def _least(self, most: int, taken: Callable[[int], dict[int, int]]) -> None:
        """Find the fewest steps with which something turns, by halving."""
        low, high = 1, most
        while low < high:
            middle = (low + high) // 2
            within = self._within(taken(middle))
            is_empty = any(block.low > block.high for block in within.values())
            turned = None
            if not is_empty:
                asked = self.case.ask(within, self.forbidden)
                turned = asked.point
                self.is_sure = self.is_sure and asked.status != "open"
            if turned is None:
                low = middle + 1
            else:
                high, self.turned = middle, turned
        self.most = taken(high)

    def _within(self, steps: Mapping[int, int]) -> dict[int, Block]:
        blocks = dict(self.chosen)
        for index, walk in self.walks.items():
            block, end = blocks[index], walk.at(steps[index])
            low, high = block.low, min(block.high, end)
            if not self.is_up[index]:
                low, high = max(block.low, walk.at(-steps[index])), block.high
            blocks[index] = Block(block.values, low, high)
        return blocks

    def rounded(self) -> Point:
        """Return the input with round numbers instead, where these turn as well."""
        choices = []
        for index, walk in self.walks.items():
            near, is_up = self._within(self.most)[index], self.is_up[index]
            found = float(self.turned.numbers[index])
            rounded = _round(walk, near, self.chosen[index], is_up=is_up)
            choices.append([*rounded, found])
        for count, numbers in enumerate(product(*choices)):
            tried = self.turned.numbers.copy()
            tried[list(self.walks)] = numbers
            one = self.turned.codes[np.newaxis], tried[np.newaxis]
            is_in = self.forbidden is not None and bool(
                inside(self.case.domain, self.forbidden, *one)[0]
            )
            if not is_in and self.case.turned(*one)[0]:
                return Point(self.turned.codes, tried)
            if count == _MOST_TRIED:
                break
        return self.turned


def _round(walk: Walk, near: Block, whole: Block, *, is_up: bool) -> list[float]:
    """Return multiples of the step, of the last one and just beyond; then its far end.

    The one beyond only where the `whole` block that was chosen reaches so far.
    """
    step, far = decimal(walk.step), near.high if is_up else near.low
    times = decimal(far) / step
    both = [floor(times), ceil(times)] if is_up else [ceil(times), floor(times)]
    found = []
    for multiple, block in zip(both, (near, whole), strict=True):
        if decimal(block.low) <= multiple * step <= decimal(block.high):
            found.append(float(multiple * step))
    return [*dict.fromkeys([*found, far])]
