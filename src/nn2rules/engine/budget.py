"""Limits on exact work, and what happens when they are reached."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from nn2rules.errors import BudgetExceededError, OptionError

Progress = Callable[[str, float], None]
"""Called now and then with what is being done and the share that is done (0 to 1)."""

TABLE_INPUTS = 1 << 27
"""The largest domain that is written out as a table, by default: a byte an input."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How much an exact search may spend.

    Parameters
    ----------
    seconds : float, optional
        Of wall-clock time.
    boxes : int, optional
        Boxes searched by branch and bound.
    memory : int
        Bytes of the truth table; a domain with more inputs is searched instead.

    Examples
    --------
    >>> Budget(seconds=60).seconds
    60
    """

    seconds: float | None = None
    boxes: int | None = None
    memory: int = TABLE_INPUTS

    def __post_init__(self) -> None:
        for name in ("seconds", "boxes", "memory"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise OptionError(f"budget: {name} is {value}, expected 0 or more")


@dataclass(slots=True)
class Meter:
    """A budget being spent."""

    budget: Budget = field(default_factory=Budget)
    progress: Progress | None = None
    started: float = field(default_factory=time.monotonic)
    boxes: int = 0

    def spend(self, boxes: int = 0) -> None:
        """Count `boxes`, and stop the work if the budget is exceeded."""
        self.boxes += boxes
        limit = self.budget.boxes
        if limit is not None and self.boxes > limit:
            raise BudgetExceededError(f"the budget of {limit:,} boxes is spent")
        seconds = self.budget.seconds
        if seconds is not None and time.monotonic() - self.started > seconds:
            raise BudgetExceededError(f"the budget of {seconds:g} seconds is spent")

    def allowance(self, most: int) -> int:
        """Return how many boxes may be searched before looking at the clock again."""
        if self.budget.boxes is None:
            return most
        return max(1, min(most, self.budget.boxes + 1 - self.boxes))

    def report(self, what: str, share: float) -> None:
        """Tell whoever listens how far the work is."""
        if self.progress is not None:
            self.progress(what, share)
