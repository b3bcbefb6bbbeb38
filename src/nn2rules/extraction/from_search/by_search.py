"""Rule lists and sets of networks whose domain is too large for a table."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Oracle, score_range, tiny_network
from nn2rules.errors import BudgetExceededError, OptionError
from nn2rules.extraction._kernels.near_rows import held_rows, holds_any
from nn2rules.extraction.certifying import search_certificate
from nn2rules.extraction.coverage import counted, kept_weights
from nn2rules.extraction.describe import describe_search, possible_exceptions
from nn2rules.extraction.from_search.checkpoints import Checkpoint, SearchState, restore
from nn2rules.extraction.from_search.covering import (
    Cover,
    cover_domain,
    cover_rows,
    find_uncovered,
)
from nn2rules.extraction.from_search.growing import Goal, Grower
from nn2rules.extraction.from_search.growth_context import Cases, Spare
from nn2rules.extraction.from_search.merging import CoveredRows, merge
from nn2rules.extraction.job import Job, impossible_inputs
from nn2rules.extraction.ordering import in_order, most_first
from nn2rules.extraction.user_units import reached
from nn2rules.rules import Facts, RuleList
from nn2rules.space import Inputs, cut_at_ends, no_boxes

TRIES = 4
"""How many boxes are grown for each rule, times the effort; one with effort 0."""

_LAST_WORK = 0.04
"""The fraction of the time reserved for ordering rules and computing their facts."""

_SECOND_ROUND = 0.2
"""The fraction of the time reserved for held-out rows while rules are merged."""


def rules_by_search(job: Job, checkpoint: Checkpoint | None = None) -> RuleList:
    """Return rules proved by search, resuming from a checkpoint if there is one."""
    if job.is_impossible is not None:
        raise OptionError(
            "impossible: a function needs a table; on a domain this large, give boxes"
        )
    oracle, cover = Oracle(job.network, job.meter), Cover()
    job.meter.keep(lambda: _unfinished(oracle, job, cover))
    if len(job.impossible.allowed) and find_uncovered(oracle, job.impossible) is None:
        raise OptionError("impossible: no possible input is left")
    limits = job.limits
    goal = Goal(job.form == "list", _tries(job), limits.seed, limits.n_jobs)
    checkpointing, is_complete = _Checkpointing(oracle, cover, checkpoint), True
    coverage = None
    try:
        if job.scope == "support":
            is_complete, coverage = _support(oracle, job, goal, cover, checkpointing)
        else:
            is_complete = _domain(oracle, job, goal, cover, checkpointing)
    finally:
        checkpointing.write()
    if job.scope == "domain" and not is_complete:
        rules = _unfinished(oracle, job, cover)
        return _described(rules, job)
    if job.scope == "domain":
        cover = _without_default(cover, job)
    certificate = search_certificate(job.network, oracle)
    if not is_complete:
        certificate["complete"] = False
    if coverage is not None:
        certificate["coverage"] = coverage
    rules = _rule_list(job, cover).replace(certificate=_certificate(job, certificate))
    return _described(rules, job)


class _Checkpointing:
    """Restores a search from a checkpoint, and records its state after each wave."""

    def __init__(
        self, oracle: Oracle, cover: Cover, checkpoint: Checkpoint | None
    ) -> None:
        self.oracle, self.cover, self.checkpoint = oracle, cover, checkpoint
        self.begun = SearchState() if checkpoint is None else checkpoint.state
        cover.allowed += self.begun.allowed
        cover.ends += self.begun.ends
        cover.answers += self.begun.answers
        restore(self.begun, oracle)

    def note(self, n_rounds: int, n_before: int, spare: Spare) -> None:
        """Record the state after a wave."""
        if self.checkpoint is not None:
            cover, oracle = self.cover, self.oracle
            self.checkpoint.note(
                SearchState(
                    list(cover.allowed),
                    list(cover.ends),
                    list(cover.answers),
                    spare,
                    n_rounds,
                    n_before,
                    oracle.n_questions,
                    oracle.n_settled,
                    oracle.meter.boxes,
                )
            )

    def write(self) -> None:
        """Write the state recorded last."""
        if self.checkpoint is not None:
            self.checkpoint.write()


def _tries(job: Job) -> int:
    """Return how many boxes to grow for each rule.

    More for rows in a smaller domain, where a table would find fewer rules in more
    time.
    """
    tries = TRIES * job.limits.effort
    domain = job.network.domain
    if job.scope == "support" and not domain.has_ranges:
        tries *= max(1, min(4, (1 << 21) // domain.n_inputs))
    return max(1, tries)


def _unfinished(oracle: Oracle, job: Job, cover: Cover) -> RuleList:
    """Return the rules so far, marked as incomplete."""
    certificate = _certificate(job, search_certificate(job.network, oracle))
    rules = _rule_list(job, cover).replace(scope="support")
    return rules.replace(certificate={**certificate, "complete": False})


def _reporter(job: Job, what: str = "rules proved") -> Any:
    def report(n_rules: int, share: float) -> None:
        job.meter.report(f"{n_rules:,} {what}", share)

    return report


def _domain(
    oracle: Oracle, job: Job, goal: Goal, cover: Cover, checkpointing: _Checkpointing
) -> bool:
    """Cover the domain; return False if the search stopped before all of it was."""
    return cover_domain(
        oracle,
        goal,
        cover=cover,
        impossible=job.impossible,
        on_rule=_reporter(job),
        is_enough=lambda: _is_enough(job, cover),
        begun=checkpointing.begun,
        note=checkpointing.note,
    )


def _is_enough(job: Job, cover: Cover) -> bool:
    """Return whether there are `max_rules` rules, of the target if there is one."""
    if job.length.max_rules is None:
        return False
    n_rules = len(cover.answers)
    if job.target is not None and job.scope == "domain":
        n_rules = len(_without_default(cover, job).answers)
    return n_rules >= job.length.max_rules


def _support(
    oracle: Oracle, job: Job, goal: Goal, cover: Cover, checkpointing: _Checkpointing
) -> tuple[bool, dict[str, Any] | None]:
    """Cover the rows of the data; with a target, those of its class.

    Returns whether all are covered, which is false if time is up, and the coverage of
    held-out rows before rules were grown for them.
    """
    assert job.rows is not None, "extract has checked that there is data"
    cases = _cases(job)
    totals = np.bincount(cases.answers, cases.weights, len(job.network.classes))
    cover.default = job.default(totals)
    cases.weights[~np.isin(cases.answers, job.wanted)] = 0.0
    work = _Rounds(oracle, job, goal, cover, checkpointing)
    with job.meter.leaving(_LAST_WORK if job.limits.time is not None else 0):
        try:
            if job.held_out is not None:
                kept = kept_weights(job.rows, job.held_out) > 0
                work.first(_picked(cases, kept))
            work.last(cases)
        except BudgetExceededError:
            if job.limits.time is None:
                raise
            return False, work.coverage()
    return True, work.coverage()


class _Rounds:
    """Covers rows in two rounds: first without held-out rows, and then all.

    The rules of the first round are made in the same way as the final rules, including
    merging, but from nine tenths of the rows. Coverage is counted for them.
    """

    def __init__(
        self,
        oracle: Oracle,
        job: Job,
        goal: Goal,
        cover: Cover,
        checkpointing: _Checkpointing,
    ) -> None:
        self.oracle, self.job, self.goal, self.cover = oracle, job, goal, cover
        self.checkpointing, self.begun = checkpointing, checkpointing.begun
        self.is_merged = True
        self.counted: dict[str, Any] | None = None

    def first(self, cases: Cases) -> None:
        """Cover the rows that are not held out, and count coverage on the others."""
        if self.begun.n_rounds == 0:
            grower = Grower(self.oracle, cases, self.goal)
            self._grow(grower, self.begun.spare, partial(self.checkpointing.note, 0, 0))
            with self.job.meter.leaving(_SECOND_ROUND):
                self.is_merged = self._join(grower)
            self.n_first = len(self.cover.answers)
        else:
            self.n_first = self.begun.n_before
        self.counted = self.coverage(self.n_first)

    def last(self, cases: Cases) -> None:
        """Cover all rows."""
        spare, note = self.begun.spare, partial(self.checkpointing.note, 0, 0)
        if self.counted is not None:
            spare = spare if self.begun.n_rounds else Spare()
            note = partial(self.checkpointing.note, 1, self.n_first)
        grower = Grower(self.oracle, cases, self.goal)
        # A checkpoint must not contain rules that time was too short to merge.
        self._grow(grower, spare, note if self.is_merged else None)
        self._join(grower)

    def _grow(
        self, grower: Grower, spare: Spare, note: Callable[[Spare], None] | None
    ) -> None:
        cover_rows(
            grower,
            cover=self.cover,
            impossible=self.job.impossible,
            on_rule=_reporter(self.job),
            is_enough=self._is_enough,
            spare=spare,
            note=note,
        )

    def _is_enough(self) -> bool:
        return _is_enough(self.job, self.cover)

    def _join(self, grower: Grower) -> bool:
        """Merge rules of a set; return whether there was time for it."""
        if self.job.form != "set" or self._is_enough():
            return True
        with suppress(BudgetExceededError):  # the rules are complete
            report = _reporter(self.job, "rules proved, merging")
            report(len(self.cover.answers), 1.0)
            merge(grower, self.cover, impossible=self.job.impossible, on_rule=report)
            return True
        return False

    def coverage(self, n_rules: int | None = None) -> dict[str, Any] | None:
        """Count the held-out rows that rules cover, unless that is done already."""
        job = self.job
        if self.counted is not None or job.rows is None or job.held_out is None:
            return self.counted
        rows_in, n_inputs = _rows_in(job)
        is_covered = np.zeros(n_inputs, dtype=np.bool_)
        boxes = (part[:n_rules] for part in self.cover.boxes(job.network.domain))
        for allowed, ends in zip(*boxes, strict=True):
            is_covered |= rows_in(allowed, ends)
        return counted(job.rows, job.held_out, is_covered)


def _cases(job: Job) -> Cases:
    """Return the distinct rows of the data, with their counts and classes."""
    assert job.rows is not None, "extract has checked that there is data"
    codes, numbers = job.rows.distinct
    inputs = Inputs(codes, np.ones(codes.shape) if numbers is None else numbers)
    weights = job.rows.weights.astype(np.float64)
    return Cases(inputs, weights, job.rows.answers(job.network))


def _picked(cases: Cases, kept: NDArray[np.bool_]) -> Cases:
    """Return some of the rows."""
    codes, numbers = cases.inputs
    return Cases(
        Inputs(codes[kept], numbers[kept]), cases.weights[kept], cases.answers[kept]
    )


def _without_default(cover: Cover, job: Job) -> Cover:
    """Drop rules that the default makes unnecessary.

    For a list, these are the rules of one class at the end; for a set with a target,
    all rules of the other class. Other sets keep all rules.
    """
    if not cover.answers:
        return cover
    if job.form == "list":
        last = cover.answers[-1]
        n_kept = len(cover.answers)
        while n_kept and cover.answers[n_kept - 1] == last:
            n_kept -= 1
        return _taken(cover, range(n_kept), last)
    counts = np.bincount(cover.answers, minlength=len(job.network.classes))
    kept = [i for i, answer in enumerate(cover.answers) if answer in job.wanted]
    return _taken(cover, kept, job.default(counts))


def _taken(cover: Cover, kept: Sequence[int], default: int) -> Cover:
    """Return some of the rules, with a default."""
    return Cover(
        [cover.allowed[i] for i in kept],
        [cover.ends[i] for i in kept],
        [cover.answers[i] for i in kept],
        default,
    )


def _certificate(job: Job, certificate: dict[str, Any]) -> dict[str, Any]:
    """Return the certificate with the inputs that cannot occur."""
    return (
        certificate | {"impossible": impossible_inputs(job)}
        if job.has_impossible
        else certificate
    )


def _rule_list(job: Job, cover: Cover) -> RuleList:
    """Return the rules of a cover, those that determine most rows first."""
    network = job.network
    is_for_rows = job.form == "set" and job.scope == "support"
    if is_for_rows:
        cover = _needed(job, cover)
    boxes, is_left = reached(network.domain, cover.boxes(network.domain))
    domain, allowed = cut_at_ends(network.domain, boxes)
    rules = RuleList.from_boxes(
        domain,
        allowed,
        [*compress(cover.answers, is_left.tolist())],
        network.classes[cover.default],
        network.classes,
        form=job.form,
        scope=job.scope,
    )
    if job.rows is not None and not is_for_rows:
        fired = rules.match(job.rows.distinct_codes(rules.domain))
        decided = np.zeros(len(rules))
        np.add.at(decided, fired[fired >= 0], job.rows.weights[fired >= 0])
        rules = in_order(rules, decided)
    return rules


def _needed(job: Job, cover: Cover) -> Cover:
    """Drop rules of a set that cover no row that the others do not cover.

    Those that cover most rows come first.
    """
    assert job.rows is not None, "rules are needed for rows"
    rows_in, n_inputs = _rows_in(job)
    n_rules = min(len(cover.ends), len(cover.answers))  # if interrupted between the two
    needed = _taken(cover, range(n_rules), cover.default)
    rules = CoveredRows(needed, rows_in, np.ones(n_inputs, dtype=np.bool_))
    rules.drop_idle()
    return _taken(needed, most_first(rules.covered, job.rows.weights), cover.default)


def _rows_in(job: Job) -> tuple[Any, int]:
    """Return a function from a box to the distinct rows in it, and their number."""
    assert job.rows is not None, "there are rows"
    domain = job.network.domain
    codes, numbers = job.rows.distinct
    columns = (codes + domain.offsets[:-1]).T.copy()
    amounts = np.ones(columns.shape) if numbers is None else numbers.T.copy()
    return partial(held_rows, domain.ranges, columns, amounts), len(codes)


def _described(rules: RuleList, job: Job) -> RuleList:
    """Add the facts of each rule; for a list these are its possible exceptions."""
    if job.form == "list":
        return rules.replace(
            facts=[Facts(unless=met) for met in possible_exceptions(rules)]
        )
    job.meter.keep(lambda: rules)
    facts = describe_search(job.network, rules, job.meter, job.limits.n_jobs)
    return rules.replace(facts=facts)


@cache
def compile_search(*, everywhere: bool) -> None:
    """Compile all kernels by searching a tiny network.

    Those that look for uncovered inputs only if rules are to cover inputs `everywhere`.
    """
    oracle = Oracle(tiny_network())
    domain, nothing = oracle.network.domain, no_boxes(oracle.network.domain)
    codes = np.array([[0, 0], [0, 1], [0, 1]])
    inputs = Inputs(codes, np.array([[1.5, 1], [7, 1], [8, 1]]))
    answers = oracle.network.predict_codes(*inputs)
    cases, cover = Cases(inputs, np.ones(3), answers), Cover()
    grower = Grower(oracle, cases, Goal(False, 1, 0, 1))
    cover_rows(grower, cover=cover, impossible=nothing)
    merge(grower, cover, impossible=nothing)
    holds_any(domain.ranges, grower.columns, inputs.numbers, *grower.hull([0]))
    if everywhere:
        find_uncovered(oracle, nothing)
    score_range(oracle.network, np.ones(3, dtype=np.bool_))
