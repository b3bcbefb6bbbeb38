"""Limits on exact work, and what happens when they are reached."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from numbers import Real
from types import FrameType
from typing import Any

from nn2rules.errors import BudgetExceededError, OptionError


@contextmanager
def interruptible(meter: "Meter") -> Iterator[None]:
    """Let Ctrl-C stop the work when it next looks at `meter`, and not before.

    Compiled code cannot be left with an exception: numba makes a `SystemError` of it.
    So the signal is only noted, and `Meter.spend` raises `KeyboardInterrupt`; at the
    latest it is raised at the end. A second Ctrl-C does not wait, nor does one that
    comes while other processes work. Where the program has its own handler, or in
    another thread than the main one, nothing is changed.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def note(_signal: int, _frame: FrameType | None) -> None:
        is_second, meter.stop.is_asked = meter.stop.is_asked, True
        if is_second or meter.stop.is_waiting:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, note)
    try:
        yield
    except SystemError as error:
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if meter.stop.is_asked:
        raise KeyboardInterrupt


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
            if value is None and name != "memory":
                continue
            is_number = isinstance(value, Real) and not isinstance(value, bool)
            if not is_number or not float(value) >= 0:
                raise OptionError(f"budget: {name} is {value!r}, expected 0 or more")


PIECE = 0.1
"""Seconds that compiled work takes, at most, between two looks at the clock; about."""


@dataclass(slots=True)
class Pace:
    """How much of some work makes a piece: learnt from the time that pieces took."""

    size: int = 1

    def took(self, seconds: float) -> None:
        """Make pieces larger or smaller after one that took so long."""
        if seconds < PIECE / 2:
            self.size *= 2
        elif seconds > PIECE:
            self.size = max(1, self.size // 2)


@dataclass(slots=True)
class Stop:
    """Whether the work is to stop when it next looks; all its threads share one.

    While others work and this process waits, it can be stopped at once.
    """

    is_asked: bool = False
    is_waiting: bool = False

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Wait for workers in other processes."""
        self.is_waiting = True
        try:
            if self.is_asked:
                raise KeyboardInterrupt
            yield
        finally:
            self.is_waiting = False


@dataclass(slots=True)
class Meter:
    """A budget being spent, and what is there so far if the work has to stop."""

    budget: Budget = field(default_factory=Budget)
    progress: Progress | None = None
    started: float = field(default_factory=time.monotonic)
    boxes: int = 0
    stop: Stop = field(default_factory=Stop)
    _make: Callable[[], Any] | None = None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave out of the time what is done within, as kernels that are compiled."""
        began = time.monotonic()
        try:
            yield
        finally:
            self.started += time.monotonic() - began

    def count(self, boxes: int) -> None:
        """Count `boxes`, and stop the work if they are too many, or interrupted.

        Not if the time is over: what was found until then is to be used.
        """
        self.boxes += boxes
        if self.stop.is_asked:
            raise KeyboardInterrupt
        limit = self.budget.boxes
        if limit is not None and self.boxes > limit:
            raise BudgetExceededError(f"the budget of {limit:,} boxes is spent")

    def spend(self, boxes: int = 0) -> None:
        """Count `boxes`, and stop the work if the budget is spent, or interrupted."""
        self.count(boxes)
        seconds = self.budget.seconds
        if seconds is not None and time.monotonic() - self.started > seconds:
            raise BudgetExceededError(f"the budget of {seconds:g} seconds is spent")

    def allowance(self, most: int) -> int:
        """Return how many boxes may be searched before looking at the clock again."""
        if self.budget.boxes is None:
            return most
        return max(1, min(most, self.budget.boxes + 1 - self.boxes))

    def left(self) -> Budget:
        """Return what is left of the time, for work elsewhere."""
        seconds = self.budget.seconds
        if seconds is not None:
            seconds = max(0.0, seconds - (time.monotonic() - self.started))
        return Budget(seconds, memory=self.budget.memory)

    def pieces(self, total: int, pace: Pace) -> Iterator[tuple[int, int]]:
        """Yield the beginning and the end of each piece of some work.

        The caller works while it has one; the clock is looked at after each. How the
        work is cut depends on the time it takes, so its result must not.
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
        """Return a meter for work that may be left undone: of `boxes`, in what is left.

        It ends with this one, in time; what it spends does not count here.
        """
        budget = Budget(self.budget.seconds, boxes)
        return Meter(budget, started=self.started, stop=self.stop)

    @contextmanager
    def leaving(self, share: float) -> Iterator[None]:
        """Let work end early that other work has to follow: a share of the time."""
        whole = self.budget
        if whole.seconds is not None:
            self.budget = replace(whole, seconds=(1 - share) * whole.seconds)
        try:
            yield
        finally:
            self.budget = whole

    def report(self, what: str, share: float) -> None:
        """Tell whoever listens how far the work is."""
        if self.progress is not None:
            try:
                self.progress(what, share)
            except BaseException:
                self.stop.is_asked = True  # of the other threads, too
                raise

    def keep(self, make: Callable[[], Any]) -> None:
        """Say how to get what is there so far, should the work be stopped."""
        self._make = make

    def kept(self) -> Any:
        """Return what was there when the work was stopped, or None."""
        return None if self._make is None else self._make()
