"""A row to explain: the boxes around it, its margin, and what moves its score.

Margins and gains are computed in float64. They only rank features; nothing that is
reported as proved depends on them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import DONT_CARE, Judge, Judgement, Point
from nn2rules.errors import UndecidedError
from nn2rules.network import Network, certified
from nn2rules.space import Boxes, Domain, Feature, Range, Value


class Block(NamedTuple):
    """The part of a box for one feature: values, and numbers from `low` to `high`."""

    values: NDArray[np.bool_]
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Case:
    """A row, its class, and the judge that is asked about the inputs around it."""

    network: Network
    judge: Judge
    point: Point
    class_index: int

    @property
    def domain(self) -> Domain:
        """The network's domain."""
        return self.network.domain

    def row_block(self, feature: int) -> Block:
        """Return the block that allows a feature only the row's value."""
        values = np.zeros(self.domain.sizes[feature], dtype=np.bool_)
        values[self.point.codes[feature]] = True
        number = float(self.point.numbers[feature])
        return Block(values, number, number)

    def full_block(self, feature: int) -> Block:
        """Return the block that allows a feature everything."""
        low, high = self.domain.limits[:, feature].tolist()
        return Block(np.ones(self.domain.sizes[feature], dtype=np.bool_), low, high)

    def is_number(self, feature: int) -> bool:
        """Tell whether the row's value of a feature is a number of a range."""
        is_range = isinstance(self.domain.features[feature], Range)
        return is_range and int(self.point.codes[feature]) == 0

    def ask(
        self, blocks: Mapping[int, Block], ignoring: Boxes | None = None
    ) -> Judgement:
        """Ask about the box around the row in which some features have these blocks."""
        offsets = self.domain.offsets
        box = np.zeros(int(offsets[-1]), dtype=np.bool_)
        box[offsets[:-1] + self.point.codes] = True
        ends = np.stack([self.point.numbers, self.point.numbers])
        for feature, block in blocks.items():
            box[offsets[feature] : offsets[feature + 1]] = block.values
            ends[:, feature] = block.low, block.high
        return self.judge.ask(box, ends, self.class_index, ignoring)

    def is_flipped(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Tell which inputs can occur and have another class than the row.

        An input whose class no arithmetic can tell counts as not flipped.
        """
        try:
            classes = self.judge.classes_of(codes, numbers)
        except UndecidedError:
            halves = [slice(0, len(codes) // 2), slice(len(codes) // 2, None)]
            if len(codes) == 1:
                return np.zeros(1, dtype=np.bool_)
            both = [self.is_flipped(codes[half], numbers[half]) for half in halves]
            return np.concatenate(both)
        return np.asarray((classes != self.class_index) & (classes != DONT_CARE))


def is_changed(
    case: Case, codes: NDArray[np.int64], numbers: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Tell which features of one or several inputs differ from the row."""
    is_number = (case.domain.ranges >= 0) & (codes == 0)
    is_other = is_number & (numbers != case.point.numbers)
    return np.asarray((codes != case.point.codes) | is_other)


def is_plain(feature: Feature, value: Value) -> bool:
    """Tell whether a value has a place in the order."""
    return feature.is_ordinary(value)


_TRIED = 33  # numbers of a range, including both ends

Direction: TypeAlias = Literal["low", "high", "any"]
"""What is wrong with a row's value: too low, too high, or just this value."""


@dataclass(frozen=True, slots=True)
class Gain:
    """How far a feature alone can move the score towards another class."""

    amount: float
    direction: Direction


def margins(
    network: Network, index: int, scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return how far scores are from a prediction other than class `index`."""
    with np.errstate(all="ignore"):
        if network.is_binary:
            lead = scores - certified.logit(network.threshold)
            return lead if index == 1 else -lead
        others = np.delete(scores, index, axis=1).max(axis=1)
        return np.asarray(scores[:, index] - others)


def probability(network: Network, index: int, scores: NDArray[np.float64]) -> float:
    """Return the network's probability of a class, from the scores of one row."""
    with np.errstate(all="ignore"):
        if network.is_binary:
            one = float(1 / (1 + np.exp(-scores[0])))
            return one if index == 1 else 1 - one
        shares = np.exp(scores[0] - scores[0].max())
        return float(shares[index] / shares.sum())


def gains_of(case: Case) -> tuple[float, float, list[Gain]]:
    """Return the margin and the probability of a row, and the gain of each feature.

    Every listed value is tried; of a range of numbers, both ends and some in between.
    """
    tried = [_tried(case, index) for index in range(len(case.domain.features))]
    starts = np.cumsum([0, *(len(codes) for codes, _ in tried)])
    codes = np.tile(case.point.codes, (1 + int(starts[-1]), 1))
    numbers = np.tile(case.point.numbers, (len(codes), 1))
    for index, (some, amounts) in enumerate(tried):
        part = slice(1 + int(starts[index]), 1 + int(starts[index + 1]))
        codes[part, index], numbers[part, index] = some, amounts
    scores = case.network.scores_codes(codes, numbers)
    margins_of = np.nan_to_num(margins(case.network, case.class_index, scores))
    gains = []
    for index, (some, amounts) in enumerate(tried):
        margins_with = margins_of[1 + starts[index] : 1 + starts[index + 1]]
        best = int(np.argmin(margins_with))
        amount = max(0.0, float(margins_of[0]) - float(margins_with[best]))
        before = int(case.point.codes[index]), float(case.point.numbers[index])
        after = int(some[best]), float(amounts[best])
        direction = direction_of(case.domain.features[index], before, after)
        gains.append(Gain(amount, direction))
    share = probability(case.network, case.class_index, scores[:1])
    return max(0.0, float(margins_of[0])), share, gains


def _tried(case: Case, index: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    feature = case.domain.features[index]
    if not isinstance(feature, Range):
        return np.arange(len(feature)), np.ones(len(feature))
    (low, high), shares = feature.limits, np.linspace(0, 1, _TRIED)
    numbers = np.clip(low * (1 - shares) + high * shares, low, high)
    numbers = np.unique(np.round(numbers)) if feature.whole else numbers
    beside = np.arange(1, len(feature))
    codes = np.append(np.zeros(len(numbers), dtype=np.int64), beside)
    return codes, np.append(numbers, np.ones(len(beside)))


def direction_of(
    feature: Feature, before: tuple[int, float], after: tuple[int, float]
) -> Direction:
    """Tell what is wrong with a value if another one is better, by code and number."""
    both = [code for code, _ in (before, after)]
    in_order = [is_plain(feature, feature.values[code]) for code in both]
    if isinstance(feature, Range):
        in_order = [code == 0 for code in both]
    if not feature.ordered or not all(in_order):
        return "any"
    own, other = ((feature.places.get(c, 0), number) for c, number in (before, after))
    return "low" if other > own else "high"
