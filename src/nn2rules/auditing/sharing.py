"""The time of an audit, shared out to its questions."""

from dataclasses import dataclass, field, replace
from threading import Lock
from time import monotonic

from nn2rules.engine import Budget, Meter
from nn2rules.engine.budget import Progress, Stop


@dataclass
class Sharing:
    """A budget for many questions: each has its part of the time that is left.

    Attributes
    ----------
    limits : Budget
        The seconds are for all questions, the boxes for each.
    """

    limits: Budget
    progress: Progress | None = None
    stop: Stop = field(default_factory=Stop)
    started: float = field(default_factory=monotonic)
    asked: int = 0
    left: int = 1
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    def expect(self, questions: int) -> None:
        """Say how many questions are still to come."""
        self.left = questions

    def meter(self, what: str, part: float = 1.0) -> Meter:
        """Return a meter for the next question, and say what it is about.

        It has its share of the time that is left, or a part of that.
        """
        self.tell(what)
        return self.share(part)

    def tell(self, what: str) -> None:
        """Say what is asked, to whoever listens, and how many questions are done."""
        share = self.asked / (self.asked + max(1, self.left))
        Meter(progress=self.progress, stop=self.stop).report(what, share)

    def share(self, part: float = 1.0, workers: int = 1) -> Meter:
        """Return a meter for the next question; of several at a time, each has one."""
        with self._lock:
            limits = self.limits_of(part, workers)
            self.count()
        return Meter(limits, stop=self.stop)

    def limits_of(self, part: float = 1.0, workers: int = 1) -> Budget:
        """Return what the next question may spend, if so many are asked at a time."""
        limits, left = self.limits, max(1, self.left)
        if limits.seconds is not None:
            rest = max(0.0, self.started + limits.seconds - monotonic())
            seconds = part * rest * min(workers, left) / left
            limits = replace(limits, seconds=seconds)
        return limits

    def count(self) -> None:
        """Count a question that is asked."""
        self.asked, self.left = self.asked + 1, self.left - 1

    def skip(self, questions: int) -> None:
        """Say that some questions need not be asked."""
        self.left -= questions
