"""Which features change the prediction, and in which direction.

With a table all questions share it. Otherwise each is a search of its own, and they
share one budget.
"""

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import product
from threading import Lock
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Budget, Meter, Progress, Stop
from nn2rules.engine.parallel import is_remote, shared_workers, spread
from nn2rules.errors import BudgetExceededError, UndecidedError
from nn2rules.extraction import DRAWN_ROWS, Influences, counted
from nn2rules.models import GivenRows
from nn2rules.network import Network
from nn2rules.questions.audit.result import (
    Direction,
    Effect,
    Influence,
    Protected,
    Trend,
)
from nn2rules.questions.claims import Claim, independent_of, monotonic
from nn2rules.questions.verify import Verdict, Verifier
from nn2rules.space import Range, Value


@dataclass
class SharedBudget:
    """A budget for many questions; each gets a part of the time that is left.

    Attributes
    ----------
    limits : Budget
        Its seconds are for all questions, its boxes for each.
    """

    limits: Budget
    progress: Progress | None = None
    stop: Stop = field(default_factory=Stop)
    started: float = field(default_factory=time.monotonic)
    asked: int = 0
    left: int = 1
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    def expect(self, questions: int) -> None:
        """Set how many questions are still to come."""
        self.left = questions

    def meter(self, what: str, part: float = 1.0) -> Meter:
        """Report the next question, and return a meter with its share of the time.

        With `part`, only a part of that share.
        """
        self.tell(what)
        return self.share(part)

    def tell(self, what: str) -> None:
        """Report which question is next, and how many are done."""
        share = self.asked / (self.asked + max(1, self.left))
        Meter(progress=self.progress, stop=self.stop).report(what, share)

    def share(self, part: float = 1.0, workers: int = 1) -> Meter:
        """Return a meter for the next question; thread-safe."""
        with self._lock:
            limits = self.limits_of(part, workers)
            self.count()
        return Meter(limits, stop=self.stop)

    def limits_of(self, part: float = 1.0, workers: int = 1) -> Budget:
        """Return the limits of the next question, with `workers` at a time."""
        limits, left = self.limits, max(1, self.left)
        if limits.seconds is not None:
            rest = max(0.0, self.started + limits.seconds - time.monotonic())
            seconds = part * rest * min(workers, left) / left
            limits = replace(limits, seconds=seconds)
        return limits

    def count(self) -> None:
        """Count a question as asked."""
        self.asked, self.left = self.asked + 1, self.left - 1

    def skip(self, questions: int) -> None:
        """Count questions that need not be asked."""
        self.left -= questions


class Question(NamedTuple):
    """A claim, and the feature that it is about."""

    name: str
    claim: Claim


@dataclass(frozen=True)
class _Search:
    """What verifies claims, and what each question may spend.

    On this machine that is a part of the time left when its turn comes; on a cluster it
    is `limits`.
    """

    verifier: Verifier
    part: float
    workers: int
    budget: SharedBudget | None
    limits: Budget


def verdicts(
    verifier: Verifier,
    questions: Sequence[Question],
    budget: SharedBudget,
    part: float = 1.0,
) -> list[Verdict]:
    """Verify claims, each in its share of the time, or in a part of that."""
    if verifier.has_table:
        return [
            verifier.verdict(claim, budget.meter(name, part))
            for name, claim in questions
        ]
    n_jobs = verifier.tables.n_jobs
    with shared_workers(n_jobs) as crew:
        workers = crew.n_workers()
    limits = budget.limits_of(part, min(workers, len(questions)))
    here = None if is_remote() else budget
    search = _Search(verifier, part, workers, here, limits)
    claims, meter = [one.claim for one in questions], Meter(stop=budget.stop)
    work = spread(_verdict, search, claims, meter=meter, n_jobs=n_jobs)
    answers, domain = list[Verdict](), verifier.network.domain
    with closing(work) as results:
        for question, verdict in zip(questions, results, strict=True):
            budget.tell(question.name)
            if here is None:
                budget.count()
            answers.append(replace(verdict, domain=domain))
    return answers


def _verdict(search: _Search, claim: Claim, meter: Meter) -> Verdict:
    own = Meter(search.limits, stop=meter.stop)
    if search.budget is not None:
        own = search.budget.share(search.part, search.workers)
    verdict = search.verifier.apart(own).verdict(claim, own)
    return replace(verdict, domain=None)  # not sent with each verdict


_EFFECTS: dict[str, Effect] = {
    "proved": "independent",
    "refuted": "flips",
    "undecided": "undecided",
}
"""What the verdict on the claim that the model is independent of a feature means."""

_SHARE = 0.4  # largest share of the time to count on all rows


@dataclass(frozen=True)
class Verifiers:
    """What verifies claims about all inputs, and about some rows."""

    everywhere: Verifier
    on_rows: Verifier | None
    impossible: Any = None

    @property
    def network(self) -> Network:
        """The network."""
        return self.everywhere.network


def influence_on_rows(
    network: Network, rows: GivenRows, meter: Meter
) -> Influences | None:
    """Count how many rows each feature flips, on a sample if that takes long."""
    seconds, began = meter.budget.seconds, time.monotonic()
    try:
        influences = counted(network, rows, meter)
    except (BudgetExceededError, UndecidedError):
        return None
    ahead = 1.5 * (time.monotonic() - began) * len(rows) / max(1, influences.rows)
    is_drawn = influences.rows <= DRAWN_ROWS < len(rows)
    if is_drawn and (seconds is None or ahead <= _SHARE * seconds):
        try:
            return counted(network, rows, meter, most=len(rows))
        except (BudgetExceededError, UndecidedError):
            return influences
    return influences


def feature_effects(
    verifiers: Verifiers,
    drawn: Influences | None,
    protected: Sequence[str],
    rows: GivenRows,
    budget: SharedBudget,
) -> tuple[dict[str, Influence], dict[str, Protected]]:
    """Return the influence of each feature, and the effects of protected ones."""
    network = verifiers.network
    verdict_of = _verdicts(verifiers, drawn, protected, budget)
    predictions: dict[str, dict[Value, dict[Value, int]]] = {}
    for name in protected:
        verdict = verdict_of.get(name)
        is_plain = verifiers.impossible is None  # or values may be impossible
        if verdict is not None and verdict.status != "proved" and is_plain:
            predictions[name] = _answers(network, rows, name)
            verdict_of[name] = _with_rows(verdict, predictions[name], len(rows))
    influence_list = [
        _influence(n, verdict, drawn) for n, verdict in verdict_of.items()
    ]
    influence_list.sort(key=lambda one: (-(one.rows or 0), -(one.inputs or 0)))
    by_name = {}
    for name in protected:
        verdict = verdict_of.get(name)
        status: Any = "unseen" if verdict is None else _EFFECTS[verdict.status]
        by_name[name] = Protected(name, status, verdict, predictions.get(name, {}))
    return {one.feature: one for one in influence_list}, by_name


def _with_rows(
    verdict: Verdict, predictions: Mapping[Value, Mapping[Value, int]], n_rows: int
) -> Verdict:
    """Add to a verdict how many rows some listed value flips."""
    if not predictions:
        return verdict
    n_flipped = sum(next(iter(predictions.values())).values())
    return replace(
        verdict, status="refuted", reason="", rows=n_flipped, total_rows=n_rows
    )


def needs_proof(name: str, drawn: Influences | None, protected: Sequence[str]) -> bool:
    """Tell whether a feature needs a proof: no row shows that it matters."""
    return name in protected or drawn is None or not drawn.of[name]


def _verdicts(
    verifiers: Verifiers,
    drawn: Influences | None,
    protected: Sequence[str],
    budget: SharedBudget,
) -> dict[str, Verdict | None]:
    """Verify independence of features; None where a row has refuted it already."""
    verdict_of: dict[str, Verdict | None] = dict.fromkeys(
        verifiers.network.domain.names
    )
    names = [name for name in verdict_of if needs_proof(name, drawn, protected)]
    for name, verdict in _ask_influence(verifiers.everywhere, names, budget).items():
        verdict_of[name] = _with_drawn(verdict, name, drawn)
    if verifiers.on_rows is None:
        return verdict_of
    protected_undecided = [name for name in names if name in protected]
    protected_undecided = [
        name for name in protected_undecided if not _is_proved(verdict_of[name])
    ]
    for name, verdict in _ask_influence(
        verifiers.on_rows, protected_undecided, budget
    ).items():
        verdict_of[name] = _with_own(verdict_of[name], verdict)
    return verdict_of


def _ask_influence(
    verifier: Verifier, names: Sequence[str], budget: SharedBudget
) -> dict[str, Verdict]:
    questions = [Question(name, independent_of(name)) for name in names]
    return dict(zip(names, verdicts(verifier, questions, budget), strict=True))


def _is_proved(verdict: Verdict | None) -> bool:
    return verdict is not None and verdict.status == "proved"


def _with_drawn(verdict: Verdict, name: str, drawn: Influences | None) -> Verdict:
    """Add to a verdict what was counted on rows."""
    if drawn is None:
        return verdict
    counted_verdict = replace(verdict, rows=drawn.of[name], total_rows=drawn.rows)
    return (
        replace(counted_verdict, status="refuted", reason="")
        if drawn.of[name]
        else counted_verdict
    )


def _with_own(verdict: Verdict | None, row_verdict: Verdict) -> Verdict | None:
    """Add to a verdict the row that violates the claim, if there is one."""
    if verdict is None or row_verdict.status != "refuted":
        return verdict
    return replace(
        verdict,
        status="refuted",
        reason="",
        counterexample=row_verdict.counterexample,
        prediction=row_verdict.prediction,
        distance=row_verdict.distance,
        boxes=verdict.boxes + row_verdict.boxes,
        seconds=verdict.seconds + row_verdict.seconds,
    )


def _influence(
    name: str, verdict: Verdict | None, drawn: Influences | None
) -> Influence:
    if verdict is None:
        assert drawn is not None, "a row shows it"
        return Influence(name, "flips", None, None, drawn.of[name], drawn.rows)
    return Influence(
        name,
        _EFFECTS[verdict.status],
        verdict.count,
        verdict.total,
        verdict.rows,
        verdict.total_rows,
    )


def _answers(
    network: Network, rows: GivenRows, name: str
) -> dict[Value, dict[Value, int]]:
    """Count the predictions, for each value, of the rows that a feature flips."""
    index = network.domain.index(name)
    feature = network.domain.features[index]
    if isinstance(feature, Range):
        return {}
    codes, numbers = rows.distinct
    predictions_by_code: list[NDArray[np.int64]] = []
    for code in range(len(feature)):
        changed = codes.copy()
        changed[:, index] = code
        predictions_by_code.append(network.predict_codes(changed, numbers))
    predictions = np.stack(predictions_by_code)
    is_flipped = (predictions != predictions[0]).any(axis=0)
    weights, n_classes = rows.weights[is_flipped], len(network.classes)
    if not is_flipped.any():
        return {}
    return {
        value: dict(
            zip(
                network.classes,
                np.bincount(classes[is_flipped], weights, n_classes)
                .astype(int)
                .tolist(),
                strict=True,
            )
        )
        for value, classes in zip(feature.values, predictions, strict=True)
    }


_Key: TypeAlias = tuple[str, Value, bool]
"""A feature, a class, and whether the claim is that growing never loses it."""

_SHORT = 0.25  # part of its share of the time, in the first round


def ordered_features(network: Network) -> dict[str, tuple[Value, ...]]:
    """Return the features that have an order, and the classes to follow.

    Of two classes, the second is enough.
    """
    classes = network.classes[1:] if len(network.classes) == 2 else network.classes
    return {f.name: classes for f in network.domain.features if f.ordered}


def trends(
    verifier: Verifier, influence: Mapping[str, Influence], budget: SharedBudget
) -> dict[str, dict[Value, Trend]]:
    """Return the monotonicity of the model in each ordered feature, for each class.

    What is undecided after a short time is verified again in the time that is left.
    """
    keys: list[_Key] = []
    for name, classes in ordered_features(verifier.network).items():
        keys_of_feature = [(name, *rest) for rest in product(classes, (True, False))]
        if influence[name].status == "independent":
            budget.skip(len(keys_of_feature))
        else:
            keys += keys_of_feature
    verdict_of = _ask_trends(verifier, keys, budget, _SHORT)
    undecided = [
        key for key, verdict in verdict_of.items() if verdict.status == "undecided"
    ]
    if budget.limits.seconds is not None:
        budget.expect(len(undecided) + 1)
        verdict_of |= _ask_trends(verifier, undecided, budget)
    return {
        name: {label: _trend(verdict_of, name, label) for label in classes}
        for name, classes in ordered_features(verifier.network).items()
    }


def _ask_trends(
    verifier: Verifier, keys: list[_Key], budget: SharedBudget, part: float = 1.0
) -> dict[_Key, Verdict]:
    questions = [
        Question(name, monotonic(name, increasing=is_up, toward=label))
        for name, label, is_up in keys
    ]
    return dict(zip(keys, verdicts(verifier, questions, budget, part), strict=True))


def _trend(asked: Mapping[_Key, Verdict], name: str, label: Value) -> Trend:
    if (name, label, True) not in asked:
        return Trend(name, label, "constant")
    both = asked[name, label, True], asked[name, label, False]
    return Trend(name, label, direction_of(*both), *both)


def direction_of(increasing: Verdict, decreasing: Verdict) -> Direction:
    """Return the direction that follows from two verdicts.

    "Increasing" is returned if proved, even if it is undecided whether it is constant.
    """
    up, down = increasing.status, decreasing.status
    if (up, down) == ("refuted", "refuted"):
        return "neither"
    if up == "proved":
        return "constant" if down == "proved" else "increasing"
    return "decreasing" if down == "proved" else "undecided"
