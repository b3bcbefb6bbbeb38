"""How much of the domain rules decide, where inputs cannot be counted.

Numbers are taken as evenly spread over their ranges, values as alike.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nn2rules.boxes import intersecting
from nn2rules.matching import NO_RULE
from nn2rules.spans import volumes
from nn2rules.text import share

if TYPE_CHECKING:
    from nn2rules.rules.rule_list import RuleList

_SAMPLES = 100_000
_COMPARED = 500  # rules of which it is asked whether any two have inputs in common


@dataclass(frozen=True, slots=True)
class Volume:
    """A share of the domain.

    Attributes
    ----------
    share : float
    is_exact : bool
        Or else it is an estimate, from inputs drawn at random, always the same.
    """

    share: float
    is_exact: bool

    def __str__(self) -> str:
        part = Fraction(self.share)
        text = share(part.numerator, part.denominator)
        return text if self.is_exact else f"about {text}"


def volume_of(rules: "RuleList") -> Volume:
    """Return the share of the domain that rules decide, and not the default."""
    shares = [volumes(feature) for feature in rules.domain.features]
    boxes = [_volume(shares, box) for box in rules.boxes]
    if len(rules) <= 1:
        return Volume(float(sum(boxes)), True)
    if len(rules) <= _COMPARED:
        common = intersecting(rules.domain, rules.boxes)
        if not np.triu(common, 1).any():
            return Volume(float(sum(boxes)), True)
    random = np.random.default_rng(0)
    codes = np.stack(
        [
            random.choice(len(parts), _SAMPLES, p=np.array(parts, dtype=np.float64))
            for parts in shares
        ],
        axis=1,
    )
    return Volume(float((rules.match(codes) != NO_RULE).mean()), False)


def _volume(shares: list[list[Fraction]], box: NDArray[np.bool_]) -> Fraction:
    """Return the share of one box, exactly."""
    volume, start = Fraction(1), 0
    for parts in shares:
        allowed = box[start : start + len(parts)].tolist()
        volume *= sum(
            (part for part, is_in in zip(parts, allowed, strict=True) if is_in),
            Fraction(0),
        )
        start += len(parts)
    return volume
