"""Inputs on which two sides differ, found by trying: a search begins with them."""

import numpy as np
from numpy.typing import NDArray

from nn2rules.comparing.found import Pair, Point
from nn2rules.comparing.looking import Box
from nn2rules.comparing.sides import Side, is_different
from nn2rules.domain import Domain
from nn2rules.errors import UndecidedError

_DRAWN = 4096  # inputs that are tried before anything else
_DIGITS = 3  # of the numbers among them


class Seeds:
    """Inputs on which two sides differ, and what they answer there."""

    def __init__(self, domain: Domain, sides: tuple[Side, Side], skipped: int) -> None:
        self.domain, self.sides, self.skipped = domain, sides, skipped
        self.points: list[Point] = []
        self.pairs: list[Pair] = []

    @property
    def first(self) -> Point | None:
        """One of them, of those that were tried last."""
        return self.points[-1] if self.points else None

    def try_inputs(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64] | None
    ) -> None:
        """Keep those of some inputs on which the two differ."""
        try:
            old, new = (side.answers(codes, numbers) for side in self.sides)
        except UndecidedError:  # no arithmetic tells the answer of one of them
            return
        for row in np.flatnonzero(is_different(old, new, self.skipped))[::-1].tolist():
            own = None if numbers is None else numbers[row]
            self.points.append((codes[row], own))
            self.pairs.append((int(old[row]), int(new[row])))

    def boxes(self) -> list[tuple[Box, Pair]]:
        """Return them as boxes, those that came last first."""
        found = []
        for (codes, numbers), pair in zip(self.points, self.pairs, strict=True):
            allowed = np.zeros(int(self.domain.offsets[-1]), dtype=np.bool_)
            allowed[self.domain.offsets[:-1] + codes] = True
            ends = self.domain.limits.copy()
            if numbers is not None:
                is_number = self.domain.offsets[:-1] + codes == self.domain.ranges
                ends[:, is_number] = numbers[is_number]
            found.append(((allowed, ends), pair))
        return found[::-1]


def drawn_inputs(
    domain: Domain, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    """Draw inputs of a domain."""
    codes = rng.integers(0, domain.sizes, size=(_DRAWN, len(domain.sizes)))
    if not domain.has_ranges:
        return codes, None
    low, high = domain.limits
    wide = np.maximum(high - low, np.finfo(np.float64).tiny)
    step = 10.0 ** np.floor(np.log10(wide) - _DIGITS)  # so that numbers are readable
    whole = np.array([feature.whole for feature in domain.features])
    step = np.where(whole, 1.0, np.maximum(step, np.finfo(np.float64).tiny))
    drawn = rng.uniform(low, high, size=codes.shape)
    with np.errstate(over="ignore"):  # a range of one number has a step of almost 0
        numbers = np.clip(np.round(drawn / step) * step, low, high)
    is_number = domain.offsets[:-1] + codes == domain.ranges
    return codes, np.where(is_number, numbers, 1.0)
