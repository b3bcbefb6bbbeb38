"""Which features change the prediction, and in which direction.

Beyond a table every question is a search of its own; all of them share one budget.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import product
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Budget, Meter, Progress, Stop
from nn2rules.engine.parallel import is_remote, shared_workers, spread
from nn2rules.errors import BudgetExceededError, UndecidedError
from nn2rules.extraction import DRAWN_ROWS, Influences, counted
from nn2rules.models import GivenRows
from nn2rules.network import Network
from nn2rules.questions.audit.result import Direction, Influence, Protected, Trend
from nn2rules.questions.claims import Claim, independent_of, monotone
from nn2rules.questions.verify import Asker, Verdict
from nn2rules.space import Value


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
    with shared_workers(n_jobs) as crew:
        workers = crew.n_workers()
    limits = sharing.limits_of(part, min(workers, len(questions)))
    here = None if is_remote() else sharing
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


_SHARE = 0.4  # of the time, at most, to count on all rows


@dataclass(frozen=True)
class Askers:
    """Who is asked: about all inputs (and rows, by a table), and about some rows."""

    everywhere: Asker
    on_rows: Asker | None
    impossible: Any = None

    @property
    def network(self) -> Network:
        """The network."""
        return self.everywhere.network


def count_rows(network: Network, rows: GivenRows, meter: Meter) -> Influences | None:
    """Count on all rows what each feature turns, or on some if that takes long."""
    whole, began = meter.budget.seconds, monotonic()
    try:
        found = counted(network, rows, meter)
    except (BudgetExceededError, UndecidedError):
        return None
    ahead = 1.5 * (monotonic() - began) * len(rows) / max(1, found.rows)
    is_drawn = found.rows <= DRAWN_ROWS < len(rows)
    if is_drawn and (whole is None or ahead <= _SHARE * whole):
        try:
            return counted(network, rows, meter, most=len(rows))
        except (BudgetExceededError, UndecidedError):
            return found
    return found


def turning(
    askers: Askers,
    drawn: Influences | None,
    protected: Sequence[str],
    rows: GivenRows,
    sharing: Sharing,
) -> tuple[dict[str, Influence], dict[str, Protected]]:
    """Return what each feature turns, and what the protected ones do."""
    network = askers.network
    found_of = _verdicts(askers, drawn, protected, sharing)
    answers: dict[str, dict[Value, dict[Value, int]]] = {}
    for name in protected:
        verdict = found_of.get(name)
        is_plain = askers.impossible is None  # or some values would be none
        if verdict is not None and verdict.status != "proved" and is_plain:
            answers[name] = _answers(network, rows, name)
            found_of[name] = _with_rows(verdict, answers[name], len(rows))
    found = [_influence(n, verdict, drawn) for n, verdict in found_of.items()]
    found.sort(key=lambda one: (-(one.rows or 0), -(one.inputs or 0)))
    words = {"proved": "never", "refuted": "turns", "open": "open"}
    by_name = {}
    for name in protected:
        verdict = found_of.get(name)
        status: Any = "unseen" if verdict is None else words[verdict.status]
        by_name[name] = Protected(name, status, verdict, answers.get(name, {}))
    return {one.feature: one for one in found}, by_name


def _with_rows(
    verdict: Verdict, answers: Mapping[Value, Mapping[Value, int]], n_rows: int
) -> Verdict:
    """Tell a verdict what every value makes of all rows, where values are listed."""
    if not answers:
        return verdict
    turned = sum(next(iter(answers.values())).values())
    return replace(verdict, status="refuted", reason="", rows=turned, total_rows=n_rows)


def is_asked(name: str, drawn: Influences | None, protected: Sequence[str]) -> bool:
    """Tell whether a feature needs a proof: no row says that it matters."""
    return name in protected or drawn is None or not drawn.of[name]


def _verdicts(
    askers: Askers,
    drawn: Influences | None,
    protected: Sequence[str],
    sharing: Sharing,
) -> dict[str, Verdict | None]:
    """Ask whether features matter; None if some row says so and no more is asked."""
    found: dict[str, Verdict | None] = dict.fromkeys(askers.network.domain.names)
    asked = [name for name in found if is_asked(name, drawn, protected)]
    for name, verdict in _ask_influence(askers.everywhere, asked, sharing).items():
        found[name] = _with_drawn(verdict, name, drawn)
    if askers.on_rows is None:
        return found
    full = [name for name in asked if name in protected]
    full = [name for name in full if not _is_proved(found[name])]
    for name, own in _ask_influence(askers.on_rows, full, sharing).items():
        found[name] = _with_own(found[name], own)
    return found


def _ask_influence(
    asker: Asker, names: Sequence[str], sharing: Sharing
) -> dict[str, Verdict]:
    questions = [Question(name, independent_of(name)) for name in names]
    return dict(zip(names, verdicts(asker, questions, sharing), strict=True))


def _is_proved(verdict: Verdict | None) -> bool:
    return verdict is not None and verdict.status == "proved"


def _with_drawn(verdict: Verdict, name: str, drawn: Influences | None) -> Verdict:
    """Tell a verdict what was counted on rows."""
    if drawn is None:
        return verdict
    known = replace(verdict, rows=drawn.of[name], total_rows=drawn.rows)
    return replace(known, status="refuted", reason="") if drawn.of[name] else known


def _with_own(verdict: Verdict | None, own: Verdict) -> Verdict | None:
    """Tell a verdict which row breaks the claim, if one does."""
    if verdict is None or own.status != "refuted":
        return verdict
    return replace(
        verdict,
        status="refuted",
        reason="",
        counterexample=own.counterexample,
        answer=own.answer,
        distance=own.distance,
        boxes=verdict.boxes + own.boxes,
        seconds=verdict.seconds + own.seconds,
    )


def _influence(
    name: str, verdict: Verdict | None, drawn: Influences | None
) -> Influence:
    if verdict is None:
        assert drawn is not None, "a row said so"
        return Influence(name, "turns", None, None, drawn.of[name], drawn.rows)
    words = {"proved": "dead", "refuted": "turns", "open": "open"}
    return Influence(
        name,
        words[verdict.status],  # type: ignore[arg-type]
        verdict.count,
        verdict.total,
        verdict.rows,
        verdict.total_rows,
    )


def _answers(
    network: Network, rows: GivenRows, name: str
) -> dict[Value, dict[Value, int]]:
    """Count the classes that the rows a feature turns would get with each value."""
    index = network.domain.index(name)
    feature = network.domain.features[index]
    if feature.limits is not None:
        return {}
    codes, numbers = rows.distinct
    found: list[NDArray[np.int64]] = []
    for code in range(len(feature)):
        changed = codes.copy()
        changed[:, index] = code
        found.append(network.predict_codes(changed, numbers))
    answers = np.stack(found)
    turned = (answers != answers[0]).any(axis=0)
    weights, n_classes = rows.weights[turned], len(network.classes)
    if not turned.any():
        return {}
    return {
        value: dict(
            zip(
                network.classes,
                np.bincount(own[turned], weights, n_classes).astype(int).tolist(),
                strict=True,
            )
        )
        for value, own in zip(feature.values, answers, strict=True)
    }


_Key: TypeAlias = tuple[str, Value, bool]
"""A feature, a class, and whether the answer is asked to go there as it grows."""

_SHORT = 0.25  # of its share of the time, before the others had theirs


def followed(network: Network) -> dict[str, tuple[Value, ...]]:
    """Return the features that have an order, and the classes they are followed to.

    Of two classes the second says all.
    """
    classes = network.classes[1:] if len(network.classes) == 2 else network.classes
    return {f.name: classes for f in network.domain.features if f.ordered}


def trends(
    asker: Asker, influence: Mapping[str, Influence], sharing: Sharing
) -> dict[str, dict[Value, Trend]]:
    """Return which way the answer goes along each ordered feature, to each class.

    What is open after a short time is asked again in the time that is left.
    """
    keys: list[_Key] = []
    for name, classes in followed(asker.network).items():
        own = [(name, *rest) for rest in product(classes, (True, False))]
        if influence[name].status == "dead":
            sharing.skip(len(own))
        else:
            keys += own
    asked = _ask_trends(asker, keys, sharing, _SHORT)
    still = [key for key, verdict in asked.items() if verdict.status == "open"]
    if sharing.limits.seconds is not None:
        sharing.expect(len(still) + 1)
        asked |= _ask_trends(asker, still, sharing)
    return {
        name: {label: _trend(asked, name, label) for label in classes}
        for name, classes in followed(asker.network).items()
    }


def _ask_trends(
    asker: Asker, keys: list[_Key], sharing: Sharing, part: float = 1.0
) -> dict[_Key, Verdict]:
    questions = [
        Question(name, monotone(name, increasing=is_up, toward=label))
        for name, label, is_up in keys
    ]
    return dict(zip(keys, verdicts(asker, questions, sharing, part), strict=True))


def _trend(asked: Mapping[_Key, Verdict], name: str, label: Value) -> Trend:
    if (name, label, True) not in asked:
        return Trend(name, label, "constant")
    both = asked[name, label, True], asked[name, label, False]
    return Trend(name, label, direction_of(*both), *both)


def direction_of(increasing: Verdict, decreasing: Verdict) -> Direction:
    """Return the direction that two verdicts make.

    What is proved to be increasing is called so, even where it is open whether it is
    constant.
    """
    up, down = increasing.status, decreasing.status
    if (up, down) == ("refuted", "refuted"):
        return "neither"
    if up == "proved":
        return "constant" if down == "proved" else "increasing"
    return "decreasing" if down == "proved" else "open"
