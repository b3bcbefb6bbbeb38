"""The share of inputs on which rules answer as a model does, and how it is known."""

import math
from dataclasses import dataclass
from typing import Literal

from nn2rules.text import count, share


@dataclass(frozen=True, slots=True)
class DomainFidelity:
    """The share of inputs of the domain on which rules answer as the model does.

    Attributes
    ----------
    low, high : float
        The share lies between them; where it is known exactly they are equal.
    how : {"counted", "proved", "bounded", "sampled"}
        Every input was asked; or a certificate proves the number, or two bounds on it;
        or random inputs were asked, and the ends are Wilson's interval.
    same : int or None
        On how many inputs the answers are the same; None if only bounds are known. Of
        a sample, the number among those drawn.
    inputs : int or None
        Of how many: all inputs that can occur, or those drawn. None if all, and they
        cannot be counted, because a feature is a range of numbers.
    confidence : float
        1 for what is certain, 0.95 for a sample.
    impossible : int
        How many inputs were left out, because they cannot occur; of a sample, the
        number among those drawn.
    """

    low: float
    high: float
    how: Literal["counted", "proved", "bounded", "sampled"]
    same: int | None
    inputs: int | None
    confidence: float = 1.0
    impossible: int = 0

    def __str__(self) -> str:
        if self.inputs is None:
            return f"{share(1, 1)} of the domain ({self.how})"
        left_out = f"{self.impossible:,} declared impossible, left out"
        if self.how == "sampled":
            drawn = count(self.inputs, "random input")
            text = f"{self._range()} with 95 % confidence, from {drawn}"
            return f"{text} ({left_out})" if self.impossible else text
        known = self._range() if self.same is None else share(self.same, self.inputs)
        how = f"{self.how}; {left_out}" if self.impossible else self.how
        return f"{known} of {count(self.inputs, 'input')} ({how})"

    def _range(self) -> str:
        """Return both ends in percent, rounded outwards, but never to 100 %."""
        floor, ceiling = math.floor(1000 * self.low), math.ceil(1000 * self.high)
        high = "> 99.9 %" if self.high < 1 and ceiling == 1000 else share(ceiling, 1000)
        return f"{share(floor, 1000)} to {high}"
