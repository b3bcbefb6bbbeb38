"""Rule lists and sets of networks whose domain is too large for a table."""

from typing import Any

import numpy as np

from nn2rules.certificate import search_certificate
from nn2rules.cover.describe import describe_search, in_order
from nn2rules.cover.job import Job, impossible_inputs
from nn2rules.cover.searched import (
    Cover,
    Goal,
    cover_domain,
    cover_rows,
    find_uncovered,
)
from nn2rules.engine import Oracle
from nn2rules.errors import BudgetExceededError, OptionError
from nn2rules.rules import RuleList

TRIES = 4
"""How many boxes are grown for each rule, times the effort."""


def rules_by_search(job: Job) -> RuleList:
    """Return rules proved box by box."""
    if job.is_impossible is not None:
        raise OptionError(
            "impossible: on a domain this large give boxes, not a function"
        )
    oracle = Oracle(job.network, job.meter)
    if len(job.impossible) and find_uncovered(oracle, job.impossible) is None:
        raise OptionError("impossible: no input is left that can occur")
    goal = Goal(job.form == "list", TRIES * max(job.effort, 1), job.seed, job.n_jobs)
    try:
        if job.scope == "support":
            cover = _support(oracle, job, goal)
        else:
            cover = cover_domain(
                oracle, goal, impossible=job.impossible, found=_reporter(job)
            )
            cover = _without_default(cover, job)
    except (BudgetExceededError, KeyboardInterrupt) as error:
        partial = getattr(error, "rules", None)
        if isinstance(partial, Cover):
            rules = _finish(oracle, job, partial)
            certificate = {**_certificate(oracle, job), "complete": False}
            error.rules = rules.replace(scope="support", certificate=certificate)  # type: ignore[union-attr]
        raise
    return _finish(oracle, job, cover)


def _reporter(job: Job) -> Any:
    def report(n_rules: int, share: float) -> None:
        job.meter.report(f"{n_rules:,} rules proved", share)

    return report


def _support(oracle: Oracle, job: Job, goal: Goal) -> Cover:
    """Cover the rows of the data; in a set, those of every class but the default."""
    assert job.codes is not None, "extract has checked that there is data"
    assert job.weights is not None, "codes and weights come together"
    answers = job.network.predict_codes(job.codes)
    wanted = np.ones(len(answers), dtype=np.bool_)
    cover = Cover(default=_default(job, answers))
    if job.form == "set":
        wanted = answers != cover.default
    try:
        return cover_rows(
            oracle,
            job.codes[wanted],
            job.weights[wanted].astype(np.float64),
            answers[wanted],
            goal,
            cover=cover,
            impossible=job.impossible,
            found=_reporter(job),
        )
    except (BudgetExceededError, KeyboardInterrupt) as error:
        error.rules = cover  # type: ignore[union-attr]
        raise


def _default(job: Job, answers: Any) -> int:
    """Return the class without rules: the other than the target, or the most common."""
    if job.target is not None:
        return 1 - job.target
    weights = np.bincount(answers, job.weights, minlength=len(job.network.classes))
    return int(np.argmax(weights))


def _without_default(cover: Cover, job: Job) -> Cover:
    """Leave the rules at the end that all give one class to the default.

    In a set all rules of one class go: the target's other, or the one with most rules.
    """
    if not cover.answers:
        return cover
    if job.form == "list":
        last = cover.answers[-1]
        n_kept = len(cover.answers)
        while n_kept and cover.answers[n_kept - 1] == last:
            n_kept -= 1
        return Cover(cover.boxes[:n_kept], cover.answers[:n_kept], last)
    counts = np.bincount(cover.answers, minlength=len(job.network.classes))
    default = int(np.argmax(counts)) if job.target is None else 1 - job.target
    kept = [i for i, answer in enumerate(cover.answers) if answer != default]
    boxes, answers = cover.boxes, cover.answers
    return Cover([boxes[i] for i in kept], [answers[i] for i in kept], default)


def _finish(oracle: Oracle, job: Job, cover: Cover) -> RuleList:
    """Return the rule list of a cover, with what is known of its rules."""
    network = job.network
    rules = RuleList.from_boxes(
        network.domain,
        cover.array(int(network.domain.offsets[-1])),
        cover.answers,
        network.classes[cover.default],
        network.classes,
        form=job.form,
        scope=job.scope,
    )
    if job.codes is not None:
        fired = rules.match(job.codes)
        decided = np.zeros(len(rules))
        np.add.at(decided, fired[fired >= 0], job.weights[fired >= 0])  # type: ignore[index]
        rules = in_order(rules, decided)
    facts = None
    if job.form == "set":  # in a list, a box also holds what rules above it decide
        facts = describe_search(network, rules)
    return rules.replace(facts=facts, certificate=_certificate(oracle, job))


def _certificate(oracle: Oracle, job: Job) -> dict[str, Any]:
    certificate = search_certificate(job.network, oracle)
    if len(job.impossible):
        certificate["impossible"] = impossible_inputs(job)
    return certificate
