"""The share of inputs on which rules predict what a model does: how it is known."""

import math
from dataclasses import dataclass
from typing import Literal

from nn2rules.language import count, share


@dataclass(frozen=True, slots=True)
class DomainFidelity:
    """The share of covered inputs on which rules predict what the model predicts.

    Inputs that no rule covers have no part in the share: `uncovered` counts them.

    Attributes
    ----------
    low, high : float
        The share lies between them; where it is known exactly they are equal.
    how : {"counted", "proved", "sampled"}
        Every input was asked; or a certificate proves the number; or random inputs
        were asked, and the ends are Wilson's interval.
    same : int or None
        On how many covered inputs the predictions are the same; None if inputs cannot
        be counted. Of a sample, the number among those drawn.
    inputs : int or None
        All inputs that can occur, or those drawn, covered or not. None if all, and they
        cannot be counted, because a feature is a range of numbers.
    confidence : float
        1 for what is certain, 0.95 for a sample.
    impossible : int
        How many inputs were left out, because they cannot occur; of a sample, the
        number among those drawn.
    uncovered : int or None
        How many of `inputs` no rule covers, so that nothing is predicted there; None if
        that is not known. Rules for the whole domain cover every input, since the
        default is one of their predictions.
    """

    low: float
    high: float
    how: Literal["counted", "proved", "sampled"]
    same: int | None
    inputs: int | None
    confidence: float = 1.0
    impossible: int = 0
    uncovered: int | None = 0

    @property
    def covered(self) -> int | None:
        """How many of `inputs` a rule covers; None if that is not known."""
        if self.inputs is None or self.uncovered is None:
            return None
        return self.inputs - self.uncovered

    def __str__(self) -> str:
        if self.inputs is None or self.covered is None:
            which = "covered inputs" if self.uncovered is None else "the domain"
            return f"{share(1, 1)} of {which} ({self.how})"
        left_out = f"{self.impossible:,} declared impossible, left out"
        if self.covered == 0:
            drawn = "random input" if self.how == "sampled" else "input"
            return f"not measured: no rule covers any of {count(self.inputs, drawn)}"
        if self.how == "sampled":
            text = f"{self._range()} with 95 % confidence, from {self._drawn()}"
            return f"{text} ({left_out})" if self.impossible else text
        known = share(self.same or 0, self.covered)
        how = f"{self.how}; {left_out}" if self.impossible else self.how
        if not self.uncovered:
            return f"{known} of {count(self.inputs, 'input')} ({how})"
        return (
            f"{known} of {count(self.covered, 'covered input')} ({how}); "
            f"{share(self.covered, self.inputs)} of {count(self.inputs, 'input')} are "
            f"covered"
        )

    def _drawn(self) -> str:
        """Say which inputs a sample is of."""
        drawn = count(self.inputs or 0, "random input")
        return f"the {self.covered:,} covered of {drawn}" if self.uncovered else drawn

    def _range(self) -> str:
        """Return both ends in percent, rounded outwards, but never to 100 %."""
        floor, ceiling = math.floor(1000 * self.low), math.ceil(1000 * self.high)
        high = "> 99.9 %" if self.high < 1 and ceiling == 1000 else share(ceiling, 1000)
        return f"{share(floor, 1000)} to {high}"
