"""Limits on time, boxes and memory, and what happens when one is reached."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

from nn2rules.errors import BudgetExceededError, OptionError

Progress = Callable[[str, float], None]
"""Called from time to time with the current step and the fraction done (0 to 1)."""

TABLE_INPUTS = 1 << 27
"""By default, the largest domain for which a table is built; one byte per input."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How much time, boxes and memory an exact search may use.

    Parameters
    ----------
    seconds : float, optional
        Wall-clock time.
    boxes : int, optional
        Number of boxes that branch and bound may search.
    memory : int
        Bytes for a truth table. A domain with more inputs is searched instead.

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
            if value is None and name != "memory":
                continue
            is_number = isinstance(value, Real) and not isinstance(value, bool)
            if not is_number or not float(value) >= 0:
                raise OptionError(f"budget: {name} is {value!r}, expected 0 or more")


PIECE = 0.1
"""About how many seconds compiled code runs before the clock is checked again."""


@dataclass(slots=True)
class Pace:
    """The size of the next piece of work, adapted to the time of the last one."""

    size: int = 1

    def took(self, seconds: float) -> None:
        """Adapt the size to how long the last piece took."""
        if seconds < PIECE / 2:
            self.size *= 2
        elif seconds > PIECE:
            self.size = max(1, self.size // 2)


@dataclass(slots=True)
class Stop:
    """A request to stop, shared by all threads of one task.

    While this process only waits for other processes, it can be stopped at once.
    """

    is_asked: bool = False
    is_waiting: bool = False

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Mark that this process waits for workers in other processes."""
        self.is_waiting = True
        try:
            if self.is_asked:
                raise KeyboardInterrupt
            yield
        finally:
            self.is_waiting = False


@dataclass(slots=True)
class Meter:
    """Measures how much of a budget is spent, and holds a partial result."""

    budget: Budget = field(default_factory=Budget)
    progress: Progress | None = None
    started: float = field(default_factory=time.monotonic)
    boxes: int = 0
    stop: Stop = field(default_factory=Stop)
    _partial: Callable[[], Any] | None = None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Do not count the time of this block, such as for compiling kernels."""
        began = time.monotonic()
        try:
            yield
        finally:
            self.started += time.monotonic() - began

    def count(self, boxes: int) -> None:
        """Count `boxes`; raise if there are too many, or the work is interrupted.

        Does not raise when time is up: the result so far is still to be used.
        """
        self.boxes += boxes
        if self.stop.is_asked:
            raise KeyboardInterrupt
        limit = self.budget.boxes
        if limit is not None and self.boxes > limit:
            raise BudgetExceededError(f"the budget of {limit:,} boxes is spent")

    def spend(self, boxes: int = 0) -> None:
        """Count `boxes`; raise if the budget is spent, or the work is interrupted."""
        self.count(boxes)
        seconds = self.budget.seconds
        if seconds is not None and time.monotonic() - self.started > seconds:
            raise BudgetExceededError(f"the budget of {seconds:g} seconds is spent")

    def allowance(self, most: int) -> int:
        """Return how many boxes may be searched before the clock is checked again."""
        if self.budget.boxes is None:
            return most
        return max(1, min(most, self.budget.boxes + 1 - self.boxes))

    def left(self) -> Budget:
        """Return the remaining time as a budget, for work in other processes."""
        seconds = self.budget.seconds
        if seconds is not None:
            seconds = max(0.0, seconds - (time.monotonic() - self.started))
        return Budget(seconds, memory=self.budget.memory)

    def pieces(self, total: int, pace: Pace) -> Iterator[tuple[int, int]]:
        """Yield the start and end of each piece of work.

        The clock is checked after each piece. The size of the pieces depends on the
        time they take, so the result of the work must not depend on it.
        """
        start = 0
        while start < total:
            stop = min(total, start + pace.size)
            began = time.monotonic()
            yield start, stop
            pace.took(time.monotonic() - began)
            start = stop
            self.spend()

    def part(self, boxes: int) -> "Meter":
        """Return a meter for optional work of at most `boxes` boxes.

        It shares the time limit of this meter. What it spends is not counted here.
        """
        budget = Budget(self.budget.seconds, boxes)
        return Meter(budget, started=self.started, stop=self.stop)

    @contextmanager
    def leaving(self, share: float) -> Iterator[None]:
        """Reserve a fraction of the time for work that follows this block."""
        budget = self.budget
        if budget.seconds is not None:
            self.budget = replace(budget, seconds=(1 - share) * budget.seconds)
        try:
            yield
        finally:
            self.budget = budget

    def report(self, what: str, share: float) -> None:
        """Report progress to the callback, if there is one."""
        if self.progress is not None:
            try:
                self.progress(what, share)
            except BaseException:
                self.stop.is_asked = True  # stops the other threads, too
                raise

    def keep(self, partial: Callable[[], Any]) -> None:
        """Set the function that returns the partial result if the work is stopped."""
        self._partial = partial

    def kept(self) -> Any:
        """Return the partial result of work that was stopped, or None."""
        return None if self._partial is None else self._partial()
