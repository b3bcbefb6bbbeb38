"""The time of an audit, shared out to its questions."""

from dataclasses import dataclass, field, replace
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

    def expect(self, questions: int) -> None:
        """Say how many questions are still to come."""
        self.left = questions

    def meter(self, what: str, part: float = 1.0) -> Meter:
        """Return a meter for the next question, and say what it is about.

        It has its share of the time that is left, or a part of that.
        """
        limits, left = self.limits, max(1, self.left)
        if limits.seconds is not None:
            rest = self.started + limits.seconds - monotonic()
            limits = replace(limits, seconds=part * max(0.0, rest) / left)
        meter = Meter(limits, self.progress, stop=self.stop)
        meter.report(what, self.asked / (self.asked + left))
        meter.progress = None
        self.asked, self.left = self.asked + 1, self.left - 1
        return meter

    def skip(self, questions: int) -> None:
        """Say that some questions need not be asked."""
        self.left -= questions
