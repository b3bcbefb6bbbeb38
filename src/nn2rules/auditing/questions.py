"""Questions that are put to all inputs: beyond a table each is a search of its own."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import NamedTuple

from nn2rules.auditing.sharing import Sharing
from nn2rules.claims import Claim
from nn2rules.engine import Budget, Meter
from nn2rules.engine.spreading import is_away, spread, workers_kept
from nn2rules.verifying import Verdict
from nn2rules.verifying.asking import Asker


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
