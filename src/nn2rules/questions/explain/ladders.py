"""What changes cost: for each feature of a row, levels that cost more and more.

The cost of a change is one for changing a feature at all, and one for each step:
a place further in the order of listed values, or a stretch of a range of numbers, of
which one that is begun counts. Costs are kept as whole numbers, so that equal ones
are equal.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import DomainError, OptionError
from nn2rules.questions.explain.asking import Block, Case
from nn2rules.space import Domain, Feature, is_number, next_number, previous_number

_MOST_LEVELS = 10_000
_MOST_COST = 1 << 40


@dataclass(frozen=True)
class Prices:
    """What changing each feature costs, and each step of it, in units of 1/`scale`."""

    change: tuple[int, ...]
    step: tuple[int, ...]
    scale: int = 1

    def amount(self, cost: int) -> int | float:
        """Return a cost as the user counts it."""
        found = Fraction(cost, self.scale)
        return int(found) if found.denominator == 1 else float(found)


def prices_of(domain: Domain, given: Any) -> Prices:
    """Read what changes cost; what is not named costs 1, however far it goes."""
    n_features = len(domain.features)
    if given is None:
        return Prices((1,) * n_features, (0,) * n_features)
    if not isinstance(given, Mapping):
        raise OptionError(f"costs: a dict from features to costs, not {given!r}")
    found = [(Fraction(1), Fraction(0))] * n_features
    for name, said in given.items():
        try:
            index = domain.index(name)
        except DomainError as error:
            raise OptionError(f"costs: {error}") from None
        found[index] = _price(domain.features[index], said)
    scale = math.lcm(*(part.denominator for price in found for part in price))
    change = tuple(int(price * scale) for price, _ in found)
    step = tuple(int(price * scale) for _, price in found)
    return Prices(change, step, scale)


def _price(feature: Feature, said: Any) -> tuple[Fraction, Fraction]:
    parts = said if isinstance(said, tuple | list) else (said, 0)
    is_right = len(parts) == 2 and all(
        is_number(part) and math.isfinite(part) and part >= 0 for part in parts
    )
    if not is_right or not any(parts):
        raise OptionError(
            f"costs: feature {feature.name!r} has {said!r}, expected a number above 0, "
            f"or two: of a change, and of each step"
        )
    if parts[1] and not feature.ordered:
        raise OptionError(
            f"costs: the values of feature {feature.name!r} have no order, so there "
            f"are no steps between them; give one number"
        )
    change, step = (Fraction(str(part)) for part in parts)
    return change, step


@dataclass(frozen=True)
class Walk:
    """Steps away from a number of a range, both ways, as far as is allowed."""

    feature: Feature
    number: float
    step: float
    low: float
    high: float

    @cached_property
    def n_steps(self) -> int:
        """How many steps lead to the farther end."""
        low, at, high = map(decimal, (self.low, self.number, self.high))
        far = max(high - at, at - low)
        return math.ceil(far / decimal(self.step))

    def at(self, steps: int) -> float:
        """Return the number so many steps above, or below if they are negative."""
        there = decimal(self.number) + steps * decimal(self.step)
        return float(min(max(there, decimal(self.low)), decimal(self.high)))

    def up(self, steps: int, after: int = 0) -> tuple[float, float]:
        """Return the numbers above, up to some steps away, behind so many others."""
        above = next_number(self.at(after), whole=self.feature.whole)
        return float(above), self.at(steps)

    def down(self, steps: int, after: int = 0) -> tuple[float, float]:
        """Return the numbers below, as `up` does."""
        below = previous_number(self.at(-after), whole=self.feature.whole)
        return self.at(-steps), float(below)


def decimal(number: float) -> Fraction:
    """Return a number as it is written."""
    return Fraction(repr(float(number)))


class Ladder:
    """The levels of one feature of a row: what they allow, and what they cost.

    Attributes
    ----------
    costs : list of int
        Of the levels from 1, each more than the last.
    """

    def __init__(
        self,
        case: Case,
        index: int,
        allowed: Block,
        price: tuple[int, int],
        step: float,
    ) -> None:
        self.feature, self.own = case.domain.features[index], case.own(index)
        self._allowed, self._blocks = allowed, dict[int, Block]()
        change, each = price
        self._values = self._value_costs(case, index, change, each)
        self.walk: Walk | None = None
        self._numbers: dict[int, int] = {}  # cost → steps
        is_free = self.feature.limits is not None and bool(allowed.values[0])
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
        found = {*self._values.values(), *self._numbers}
        found |= {self._any_number} if self._any_number else set()
        self.costs = sorted(found)
        if self.costs and self.costs[-1] > _MOST_COST:
            raise OptionError(
                f"costs: those of feature {self.feature.name!r} are too large, or have "
                f"too many digits, to be added up exactly"
            )

    def _value_costs(
        self, case: Case, index: int, change: int, each: int
    ) -> dict[int, int]:
        """Return what each listed value costs that is allowed and is not the row's."""
        feature, own = self.feature, int(case.point.codes[index])
        places = feature.places
        costs = {}
        for code in np.flatnonzero(self._allowed.values).tolist():
            if code == own or (feature.limits is not None and code == 0):
                continue
            is_in_order = feature.limits is None and {code, own} <= places.keys()
            steps = abs(places[code] - places[own]) if is_in_order else 1
            costs[code] = change + each * steps
        return costs

    def value_costs(self, size: int, forbidden: int) -> NDArray[np.int64]:
        """Return the cost of each listed value; `forbidden` where it is not allowed."""
        found = np.full(size, forbidden, dtype=np.int64)
        found[np.flatnonzero(self.own.values)] = 0
        for code, cost in self._values.items():
            found[code] = cost
        return found

    def block(self, level: int) -> Block:
        """Return all that costs no more than a level, the row's own value included."""
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
        """Return the least level that allows a value, or a number."""
        for level in range(len(self.costs) + 1):
            block = self.block(level)
            is_number = self.feature.limits is not None and code == 0
            is_in = not is_number or block.low <= number <= block.high
            if block.values[code] and is_in:
                return level
        return len(self.costs)

    def options(self, level: int) -> list[Block]:
        """Return what costs exactly a level: values, and numbers below and above."""
        cost, found = self.costs[level - 1], []
        nothing = np.zeros_like(self.own.values)
        for code, of_code in self._values.items():
            if of_code == cost:
                values = nothing.copy()
                values[code] = True
                found.append(Block(values, 1.0, 1.0))
        number = nothing.copy()
        number[:1] = True
        if cost == self._any_number:
            found.append(Block(number, self._allowed.low, self._allowed.high))
        if self.walk is not None and cost in self._numbers:
            steps = self._numbers[cost]
            after = steps - 1 if len(self._numbers) > 1 else 0
            for low, high in (
                self.walk.down(steps, after),
                self.walk.up(steps, after),
            ):
                if self.walk.low <= low <= high <= self.walk.high:
                    found.append(Block(number, low, high))
        return found


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
