"""A row, and questions about the inputs around it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import DONT_CARE, Judge, Judgement, Point
from nn2rules.errors import UndecidedError
from nn2rules.network import Network
from nn2rules.space import Boxes, Domain


class Block(NamedTuple):
    """What a box allows one feature: values, and the numbers from `low` to `high`."""

    values: NDArray[np.bool_]
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Case:
    """A row, its class, and who is asked about the inputs around it."""

    network: Network
    judge: Judge
    point: Point
    index: int

    @property
    def domain(self) -> Domain:
        """The network's domain."""
        return self.network.domain

    def own(self, feature: int) -> Block:
        """Return what allows a feature the row's value alone."""
        values = np.zeros(self.domain.sizes[feature], dtype=np.bool_)
        values[self.point.codes[feature]] = True
        number = float(self.point.numbers[feature])
        return Block(values, number, number)

    def whole(self, feature: int) -> Block:
        """Return what allows a feature everything."""
        low, high = self.domain.limits[:, feature].tolist()
        return Block(np.ones(self.domain.sizes[feature], dtype=np.bool_), low, high)

    def is_number(self, feature: int) -> bool:
        """Tell whether the row's value of a feature is a number of a range."""
        is_range = self.domain.features[feature].limits is not None
        return is_range and int(self.point.codes[feature]) == 0

    def ask(
        self, blocks: Mapping[int, Block], ignoring: Boxes | None = None
    ) -> Judgement:
        """Ask about the box around the row that allows some features these blocks."""
        offsets = self.domain.offsets
        box = np.zeros(int(offsets[-1]), dtype=np.bool_)
        box[offsets[:-1] + self.point.codes] = True
        ends = np.stack([self.point.numbers, self.point.numbers])
        for feature, block in blocks.items():
            box[offsets[feature] : offsets[feature + 1]] = block.values
            ends[:, feature] = block.low, block.high
        return self.judge.ask(box, ends, self.index, ignoring)

    def turned(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Tell which inputs can occur and are of another class than the row.

        One that no arithmetic can decide counts as not turned.
        """
        try:
            found = self.judge.classes_of(codes, numbers)
        except UndecidedError:
            halves = [slice(0, len(codes) // 2), slice(len(codes) // 2, None)]
            if len(codes) == 1:
                return np.zeros(1, dtype=np.bool_)
            both = [self.turned(codes[half], numbers[half]) for half in halves]
            return np.concatenate(both)
        return np.asarray((found != self.index) & (found != DONT_CARE))


def is_changed(
    case: Case, codes: NDArray[np.int64], numbers: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Tell which features of an input, or of several, differ from the row."""
    is_number = (case.domain.ranges >= 0) & (codes == 0)
    is_other = is_number & (numbers != case.point.numbers)
    return np.asarray((codes != case.point.codes) | is_other)
