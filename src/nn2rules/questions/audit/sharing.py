"""Questions that are put to all inputs: beyond a table each is a search of its own."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from threading import Lock
from time import monotonic
from typing import NamedTuple

from nn2rules.engine import Budget, Meter, Progress, Stop
from nn2rules.engine.parallel import is_away, spread, workers_kept
from nn2rules.questions.claims import Claim
from nn2rules.questions.verify import Asker, Verdict


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


class Question(NamedTuple):
    """A claim, and the feature that it is about."""

    name: str
    claim: Claim


@dataclass(frozen=True)
class _Search:
    """Who is asked, and what each question may spend.

    Here that is its part of the time when its turn comes, and elsewhere `limits`.
    """

    asker: Asker
    part: float
    workers: int
    sharing: Sharing | None
    limits: Budget


def verdicts(
    asker: Asker, questions: Sequence[Question], sharing: Sharing, part: float = 1.0
) -> list[Verdict]:
    """Ask questions, each in its share of the time, or in a part of that."""
    if asker.has_table:
        return [
            asker.verdict(claim, sharing.meter(name, part)) for name, claim in questions
        ]
    n_jobs = asker.tables.n_jobs
    with workers_kept(n_jobs) as crew:
        workers = crew.n_workers()
    limits = sharing.limits_of(part, min(workers, len(questions)))
    here = None if is_away() else sharing
    search = _Search(asker, part, workers, here, limits)
    claims, meter = [one.claim for one in questions], Meter(stop=sharing.stop)
    work = spread(_verdict, search, claims, meter=meter, n_jobs=n_jobs)
    found, domain = list[Verdict](), asker.network.domain
    with closing(work) as results:
        for question, verdict in zip(questions, results, strict=True):
            sharing.tell(question.name)
            if here is None:
                sharing.count()
            found.append(replace(verdict, domain=domain))
    return found


def _verdict(search: _Search, claim: Claim, meter: Meter) -> Verdict:
    own = Meter(search.limits, stop=meter.stop)
    if search.sharing is not None:
        own = search.sharing.share(search.part, search.workers)
    verdict = search.asker.apart(own).verdict(claim, own)
    return replace(verdict, domain=None)  # it would be sent with each
