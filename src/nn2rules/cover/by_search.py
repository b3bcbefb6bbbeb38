"""Rule lists and sets of networks whose domain is too large for a table."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from nn2rules.certificate import search_certificate
from nn2rules.cover._kernels.nearness import held_rows
from nn2rules.cover.checkpoints import Checkpoint, Moment, restore
from nn2rules.cover.describe import describe_search, in_order
from nn2rules.cover.ground import Cases, Spare
from nn2rules.cover.growing import Goal, Grower
from nn2rules.cover.holding import Holding, most_first
from nn2rules.cover.job import Job, impossible_inputs
from nn2rules.cover.leaning import met_above
from nn2rules.cover.merging import merge
from nn2rules.cover.searched import Cover, cover_domain, cover_rows, find_uncovered
from nn2rules.cover.thresholds import cut_at_ends
from nn2rules.engine import Oracle
from nn2rules.engine._kernels.boxes import Boxes, Points
from nn2rules.errors import BudgetExceededError, OptionError
from nn2rules.rules import Facts, RuleList

TRIES = 4
"""How many boxes are grown for each rule, times the effort; with effort 0 just one."""

_LAST_WORK = 0.04
"""The share of the time that putting rules in order and counting for them may take."""


def rules_by_search(job: Job, checkpoint: Checkpoint | None = None) -> RuleList:
    """Return rules proved box by box, going on from a checkpoint if there is one."""
    if job.is_impossible is not None:
        raise OptionError(
            "impossible: on a domain this large give boxes, not a function"
        )
    oracle, cover = Oracle(job.network, job.meter), Cover()
    job.meter.keep(lambda: _unfinished(oracle, job, cover))
    if len(job.impossible) and find_uncovered(oracle, _impossible(job)) is None:
        raise OptionError("impossible: no input is left that can occur")
    how = job.how
    goal = Goal(job.form == "list", _tries(job), how.seed, how.n_jobs, how.device)
    going_on, is_complete = _GoingOn(oracle, cover, checkpoint), True
    try:
        if job.scope == "support":
            is_complete = _support(oracle, job, goal, cover, going_on)
        else:
            is_complete = _domain(oracle, job, goal, cover, going_on)
    finally:
        going_on.write()
    if job.scope == "domain" and not is_complete:
        rules = _unfinished(oracle, job, cover)
        return _described(rules, job)
    if job.scope == "domain":
        cover = _without_default(cover, job)
    known = search_certificate(job.network, oracle)
    if not is_complete:
        known["complete"] = False
    rules = _rule_list(job, cover).replace(certificate=_certificate(job, known))
    return _described(rules, job)


class _GoingOn:
    """Where a search begins, and what is noted of it after each wave."""

    def __init__(
        self, oracle: Oracle, cover: Cover, checkpoint: Checkpoint | None
    ) -> None:
        self.oracle, self.cover, self.checkpoint = oracle, cover, checkpoint
        self.begun = Moment() if checkpoint is None else checkpoint.moment
        cover.allowed += self.begun.allowed
        cover.ends += self.begun.ends
        cover.answers += self.begun.answers
        restore(self.begun, oracle)

    def note(self, n_rounds: int, n_before: int, spare: Spare) -> None:
        """Keep what is there after a wave."""
        if self.checkpoint is not None:
            cover, oracle = self.cover, self.oracle
            self.checkpoint.note(
                Moment(
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
        """Write what was noted last."""
        if self.checkpoint is not None:
            self.checkpoint.write()


def _tries(job: Job) -> int:
    """Return how many boxes to grow for each rule.

    More for rows in a domain that is not very large: there a table would be the other
    way, and finds fewer rules in more time.
    """
    tries = TRIES * job.how.effort
    domain = job.network.domain
    if job.scope == "support" and not domain.has_ranges:
        tries *= max(1, min(4, (1 << 21) // domain.n_inputs))
    return max(1, tries)


def _unfinished(oracle: Oracle, job: Job, cover: Cover) -> RuleList:
    """Return the rules so far, and say that they are not all."""
    certificate = _certificate(job, search_certificate(job.network, oracle))
    rules = _rule_list(job, cover).replace(scope="support")
    return rules.replace(certificate={**certificate, "complete": False})


def _impossible(job: Job) -> Boxes:
    """Return the boxes of what cannot occur; of ranges all numbers, or none."""
    limits = job.network.domain.limits
    return Boxes(job.impossible, np.tile(limits, (len(job.impossible), 1, 1)))


def _reporter(job: Job, what: str = "rules proved") -> Any:
    def report(n_rules: int, share: float) -> None:
        job.meter.report(f"{n_rules:,} {what}", share)

    return report


def _domain(
    oracle: Oracle, job: Job, goal: Goal, cover: Cover, going_on: _GoingOn
) -> bool:
    """Cover the domain; tell whether all of it is, or else as many rules as asked."""
    return cover_domain(
        oracle,
        goal,
        cover=cover,
        impossible=_impossible(job),
        found=_reporter(job),
        is_enough=lambda: _is_enough(job, cover),
        begun=going_on.begun,
        note=going_on.note,
    )


def _is_enough(job: Job, cover: Cover) -> bool:
    """Tell whether there are as many rules as wanted, of the target if there is one."""
    if job.length.max_rules is None:
        return False
    n_rules = len(cover.answers)
    if job.target is not None and job.scope == "domain":
        n_rules = len(_without_default(cover, job).answers)
    return n_rules >= job.length.max_rules


def _support(
    oracle: Oracle, job: Job, goal: Goal, cover: Cover, going_on: _GoingOn
) -> bool:
    """Cover the rows of the data; with a target, those of its class.

    Returns whether it is done: false if the time that the user gave is over.
    """
    assert job.rows is not None, "extract has checked that there is data"
    codes, numbers = job.rows.distinct
    answers = job.rows.answers(job.network)
    inputs = Points(codes, np.ones(codes.shape) if numbers is None else numbers)
    weights = job.rows.weights.astype(np.float64)
    cover.default = job.default(np.bincount(answers, weights, len(job.network.classes)))
    weights[~np.isin(answers, job.wanted)] = 0.0
    grower = Grower(oracle, Cases(inputs, weights, answers), goal)
    impossible, found = _impossible(job), _reporter(job)
    with job.meter.leaving(_LAST_WORK if job.how.time is not None else 0):
        try:
            cover_rows(
                grower,
                cover=cover,
                impossible=impossible,
                found=found,
                is_enough=lambda: _is_enough(job, cover),
                spare=going_on.begun.spare,
                note=partial(going_on.note, 0, 0),
            )
        except BudgetExceededError:
            if job.how.time is None:
                raise
            return False
        if job.form == "set" and not _is_enough(job, cover):
            with suppress(BudgetExceededError):  # they are complete, if not the fewest
                found = _reporter(job, "rules proved, some are joined")
                found(len(cover.answers), 1.0)
                merge(grower, cover, impossible=impossible, found=found)
    return True


def _without_default(cover: Cover, job: Job) -> Cover:
    """Leave what can be left to the default.

    Of a list the rules at the end that all give one class, of a set with a target all
    rules of the other class, and of other sets nothing: the default is a mere name.
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


def _certificate(job: Job, known: dict[str, Any]) -> dict[str, Any]:
    """Return what is known of the search, with what cannot occur."""
    return (
        known | {"impossible": impossible_inputs(job)} if len(job.impossible) else known
    )


def _rule_list(job: Job, cover: Cover) -> RuleList:
    """Return the rules of a cover, those that decide most rows first."""
    network = job.network
    is_for_rows = job.form == "set" and job.scope == "support"
    if is_for_rows:
        cover = _needed(job, cover)
    boxes = cover.boxes(network.domain)
    domain, allowed = cut_at_ends(network.domain, boxes)
    rules = RuleList.from_boxes(
        domain,
        allowed,
        cover.answers[: len(allowed)],
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
    """Leave out rules of a set that decide no row which the others do not.

    Those that decide most come first.
    """
    assert job.rows is not None, "rules are needed for rows"
    domain = job.network.domain
    codes, numbers = job.rows.distinct
    columns = (codes + domain.offsets[:-1]).T.copy()
    amounts = np.ones(columns.shape) if numbers is None else numbers.T.copy()
    holds = partial(held_rows, domain.ranges, columns, amounts)
    n_rules = min(len(cover.ends), len(cover.answers))  # if stopped between the two
    needed = _taken(cover, range(n_rules), cover.default)
    rules = Holding(needed, holds, np.ones(len(codes), dtype=np.bool_))
    rules.drop_idle()
    return _taken(needed, most_first(rules.held, job.rows.weights), cover.default)


def _described(rules: RuleList, job: Job) -> RuleList:
    """Add what is known of each rule; a list's box holds what rules above decide."""
    if job.form == "list":
        return rules.replace(facts=[Facts(unless=met) for met in met_above(rules)])
    job.meter.keep(lambda: rules)
    facts = describe_search(job.network, rules, job.meter, job.how.n_jobs)
    return rules.replace(facts=facts)
