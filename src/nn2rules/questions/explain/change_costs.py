"""What a row may change to, and what that costs: levels, for each feature.

A change costs one amount for changing a feature at all, and another for each step: one
place in the order of listed values, or one step size in a range of numbers (a part of a
step counts as a whole one). Costs are whole numbers, so that equal costs are equal.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import OptionError
from nn2rules.questions.explain.case import Block, Case, is_plain
from nn2rules.questions.explain.options import Constraints, Prices
from nn2rules.space import (
    Boxes,
    Feature,
    Range,
    Span,
    joined,
    next_number,
    previous_number,
)


def allowed_of(case: Case, limits: Constraints) -> list[Block]:
    """Return what each feature may become; the row's own value is always allowed.

    Forbidden numbers of ranges are not removed here: see `forbidden_boxes`.
    """
    blocks = []
    for index in range(len(case.domain.features)):
        block = case.full_block(index)
        if index in limits.immutable:
            block = case.row_block(index)
        elif index in limits.increase | limits.decrease:
            block = _one_way(case, index, is_up=index in limits.increase)
        for code in limits.codes.get(index, ()):
            if code != case.point.codes[index]:
                block.values[code] = False
        blocks.append(block)
    return blocks


def _one_way(case: Case, index: int, *, is_up: bool) -> Block:
    """Return what a feature may become that can only increase, or only decrease.

    A value outside the order, such as missing, stays, and no value becomes one.
    """
    feature, own_block = case.domain.features[index], case.row_block(index)
    code = int(case.point.codes[index])
    if isinstance(feature, Range):
        if not case.is_number(index):
            return own_block
        low, high = feature.limits
        return Block(
            own_block.values,
            own_block.low if is_up else low,
            high if is_up else own_block.high,
        )
    if not is_plain(feature, feature.values[code]):
        return own_block
    values, places = own_block.values.copy(), feature.places
    for other, place in places.items():
        if place > places[code] if is_up else place < places[code]:
            values[other] = True
    return Block(values, own_block.low, own_block.high)


def forbidden_boxes(case: Case, limits: Constraints) -> Boxes:
    """Return what a change must not lead to: impossible inputs, forbidden numbers.

    The row's own number is never forbidden.
    """
    domain, parts = case.domain, [limits.impossible]
    for index, spans in limits.spans.items():
        feature = domain.features[index]
        allowed = np.ones((1, int(domain.offsets[-1])), dtype=np.bool_)
        start = int(domain.offsets[index])
        allowed[0, start + 1 : start + len(feature)] = False
        for low, high in _without_own(case, index, spans):
            ends = domain.limits[np.newaxis].copy()
            ends[0, :, index] = low, high
            parts.append(Boxes(allowed, ends))
    return joined(domain, parts)


def _without_own(case: Case, index: int, spans: Sequence[Span]) -> list[Span]:
    feature, spans_left = case.domain.features[index], []
    number = float(case.point.numbers[index])
    for low, high in spans:
        if not case.is_number(index) or not low <= number <= high:
            spans_left.append((low, high))
            continue
        below = previous_number(number, whole=feature.whole)
        above = next_number(number, whole=feature.whole)
        spans_left += [(low, below)] if low <= below else []
        spans_left += [(above, high)] if above <= high else []
    return spans_left


_MOST_LEVELS = 10_000

_MOST_COST = 1 << 40


@dataclass(frozen=True)
class Walk:
    """Steps away from a number of a range, in both directions, as far as allowed."""

    feature: Feature
    number: float
    step: float
    low: float
    high: float

    @cached_property
    def n_steps(self) -> int:
        """The number of steps to the farther end."""
        low, at, high = map(decimal, (self.low, self.number, self.high))
        far = max(high - at, at - low)
        return math.ceil(far / decimal(self.step))

    def at(self, steps: int) -> float:
        """Return the number this many steps above, or below if negative."""
        there = decimal(self.number) + steps * decimal(self.step)
        return float(min(max(there, decimal(self.low)), decimal(self.high)))

    def up(self, steps: int, after: int = 0) -> tuple[float, float]:
        """Return the numbers more than `after` and at most `steps` steps above."""
        above = next_number(self.at(after), whole=self.feature.whole)
        return float(above), self.at(steps)

    def down(self, steps: int, after: int = 0) -> tuple[float, float]:
        """Return the numbers below, like `up`."""
        below = previous_number(self.at(-after), whole=self.feature.whole)
        return self.at(-steps), float(below)


def decimal(number: float) -> Fraction:
    """Return a number exactly as its decimal text."""
    return Fraction(repr(float(number)))


class Ladder:
    """The levels of one feature of a row: what each allows and costs.

    Attributes
    ----------
    costs : list of int
        The costs of the levels from 1, in increasing order.
    """

    def __init__(
        self,
        case: Case,
        index: int,
        allowed: Block,
        price: tuple[int, int],
        step: float,
    ) -> None:
        self.feature, self.own = case.domain.features[index], case.row_block(index)
        self._allowed, self._blocks = allowed, dict[int, Block]()
        change, each = price
        self._values = self._value_costs(case, index, change, each)
        self.walk: Walk | None = None
        self._numbers: dict[int, int] = {}  # cost → steps
        is_free = isinstance(self.feature, Range) and bool(allowed.values[0])
        self._any_number = change + each if is_free else 0
        if case.is_number(index):
            number = float(case.point.numbers[index])
            self.walk = Walk(self.feature, number, step, allowed.low, allowed.high)
            n_steps = self.walk.n_steps
            self._any_number = 0
            if each and n_steps > _MOST_LEVELS:
                raise OptionError(
                    f"costs: feature {self.feature.name!r} has {n_steps:,} steps of "
                    f"{step:g}; give larger ones, as in "
                    f"steps={{{self.feature.name!r}: {100 * step:g}}}"
                )
            if each:
                self._numbers = {change + each * s: s for s in range(1, n_steps + 1)}
            elif n_steps:
                self._numbers = {change: n_steps}
        costs = {*self._values.values(), *self._numbers}
        costs |= {self._any_number} if self._any_number else set()
        self.costs = sorted(costs)
        if self.costs and self.costs[-1] > _MOST_COST:
            raise OptionError(
                f"costs: those of feature {self.feature.name!r} are too large, or have "
                f"too many digits, to be added up exactly"
            )

    def _value_costs(
        self, case: Case, index: int, change: int, each: int
    ) -> dict[int, int]:
        """Return the cost of each allowed value other than the row's."""
        feature, own_code = self.feature, int(case.point.codes[index])
        places = feature.places
        costs = {}
        for code in np.flatnonzero(self._allowed.values).tolist():
            if code == own_code or (isinstance(feature, Range) and code == 0):
                continue
            is_in_order = {code, own_code} <= places.keys()  # a range has no places
            steps = abs(places[code] - places[own_code]) if is_in_order else 1
            costs[code] = change + each * steps
        return costs

    def value_costs(self, size: int, forbidden: int) -> NDArray[np.int64]:
        """Return the cost of each listed value, or `forbidden` if it is not allowed."""
        costs = np.full(size, forbidden, dtype=np.int64)
        costs[np.flatnonzero(self.own.values)] = 0
        for code, cost in self._values.items():
            costs[code] = cost
        return costs

    def block(self, level: int) -> Block:
        """Return everything that costs at most a level, and the row's own value."""
        if level not in self._blocks:
            self._blocks[level] = self._block(level)
        return self._blocks[level]

    def _block(self, level: int) -> Block:
        if not level:
            return self.own
        most, values = self.costs[level - 1], self.own.values.copy()
        for code, cost in self._values.items():
            values[code] |= cost <= most
        low, high = self.own.low, self.own.high
        if self.walk is not None:
            steps = max((s for c, s in self._numbers.items() if c <= most), default=0)
            low, high = self.walk.at(-steps), self.walk.at(steps)
        elif self._any_number and self._any_number <= most:
            values[0], low, high = True, self._allowed.low, self._allowed.high
        return Block(values, low, high)

    def level_of(self, code: int, number: float) -> int:
        """Return the lowest level that allows a value, or a number."""
        for level in range(len(self.costs) + 1):
            block = self.block(level)
            is_number = isinstance(self.feature, Range) and code == 0
            is_in = not is_number or block.low <= number <= block.high
            if block.values[code] and is_in:
                return level
        return len(self.costs)

    def options(self, level: int) -> list[Block]:
        """Return what costs exactly a level: values, and numbers below and above."""
        cost, blocks = self.costs[level - 1], []
        nothing = np.zeros_like(self.own.values)
        for code, of_code in self._values.items():
            if of_code == cost:
                values = nothing.copy()
                values[code] = True
                blocks.append(Block(values, 1.0, 1.0))
        number = nothing.copy()
        number[:1] = True
        if cost == self._any_number:
            blocks.append(Block(number, self._allowed.low, self._allowed.high))
        if self.walk is not None and cost in self._numbers:
            steps = self._numbers[cost]
            after = steps - 1 if len(self._numbers) > 1 else 0
            for low, high in (
                self.walk.down(steps, after),
                self.walk.up(steps, after),
            ):
                if self.walk.low <= low <= high <= self.walk.high:
                    blocks.append(Block(number, low, high))
        return blocks


def ladders_of(
    case: Case,
    allowed: Sequence[Block],
    prices: Prices,
    steps: Mapping[int, float],
) -> list[Ladder]:
    """Return the ladder of each feature of a row."""
    return [
        Ladder(
            case,
            index,
            block,
            (prices.change[index], prices.step[index]),
            steps.get(index, 1.0),
        )
        for index, block in enumerate(allowed)
    ]
