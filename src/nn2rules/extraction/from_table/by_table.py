"""Rule lists and sets of networks whose inputs fit in a table."""

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import DONT_CARE, build_table
from nn2rules.errors import BudgetExceededError
from nn2rules.extraction.certifying import table_certificate
from nn2rules.extraction.coverage import counted
from nn2rules.extraction.describe import describe_table, refuse_different, right_inputs
from nn2rules.extraction.from_table.beginning import with_row_rules
from nn2rules.extraction.from_table.covers import (
    decision_list,
    lower_bound,
    rule_set,
    support_rules,
    without_idle_end,
)
from nn2rules.extraction.from_table.greedy import primed
from nn2rules.extraction.from_table.packing import Rules, state_of
from nn2rules.extraction.from_table.runs import Work, effort_of
from nn2rules.extraction.from_table.short_list import aim_of, short_list, worth
from nn2rules.extraction.job import Job, impossible_inputs, possible_inputs
from nn2rules.extraction.ordering import in_order, most_first, readable
from nn2rules.models import GivenRows
from nn2rules.rules import RuleList, of_some, shortened
from nn2rules.space import inside_each


def rules_by_table(job: Job) -> RuleList:
    """Return rules made from a table; those that determine most inputs come first."""
    network, meter = job.network, job.meter
    limits = job.limits
    table = build_table(network, meter=meter, n_jobs=limits.n_jobs)
    possible = possible_inputs(job)
    classes = table.classes
    certificate = table_certificate(network, table)
    if possible is not None:
        classes = np.where(possible, classes, np.uint8(DONT_CARE))
        certificate |= _possible_counts(classes, len(network.classes))
        certificate["impossible"] = impossible_inputs(job)
    if job.scope == "support":
        del certificate["different"]
    unfinished = partial(_unfinished, job, classes, certificate)
    work = Work(
        effort_of(job.limits.effort, len(classes)),
        job.limits.seed,
        meter,
        job.limits.n_jobs,
        tidy=partial(_tidied, job, classes),
        keep=lambda so_far: meter.keep(lambda: unfinished(so_far())),
    )
    chosen = _cover(job, classes, work)
    meter.keep(lambda: unfinished(chosen))
    if job.rows is not None and job.scope == "domain" and job.form == "list":
        with suppress(BudgetExceededError):
            sizes, tidy = network.domain.sizes, partial(_tidied, job)
            chosen = with_row_rules(chosen, classes, sizes, _counts(job), work, tidy)
    if job.scope == "domain" and job.form == "set":
        certificate["fewest_rules"] = lower_bound(
            classes,
            network.domain.sizes,
            wanted=job.wanted,
            seed=job.limits.seed,
            meter=meter,
        )
    rules = _rule_list(job, chosen)
    with suppress(BudgetExceededError):
        if job.form == "list":
            rules = readable(rules, possible, meter=meter)
        else:  # so far each class has its own order
            rules = _set_in_order(job, rules, classes)
    facts = describe_table(network, rules, classes, meter=meter)
    rules = rules.replace(facts=facts, certificate=certificate)
    rules = _short(job, rules, classes, work)
    with suppress(BudgetExceededError):
        return _with_coverage(job, rules, classes)
    return rules


def _with_coverage(job: Job, rules: RuleList, classes: NDArray[np.uint8]) -> RuleList:
    """Certify how many held-out rows are covered by rules made without them."""
    if job.held_out is None or job.rows is None or job.length.max_rules is not None:
        return rules
    kept = GivenRows(job.rows.domain, job.rows.codes[~job.held_out])
    others = replace(job, rows=kept, held_out=None)
    work = Work(
        effort_of(job.limits.effort, len(classes)),
        job.limits.seed,
        job.meter,
        job.limits.n_jobs,
        tidy=partial(_tidied, others, classes),
        keep=lambda _so_far: job.meter.keep(lambda: rules),
    )
    comparable = _rule_list(others, _cover(others, classes, work))
    is_covered = comparable.match(job.rows.distinct[0]) >= 0
    coverage = counted(job.rows, job.held_out, is_covered)
    return rules.replace(certificate={**rules.certificate, "coverage": coverage})


def _short(
    job: Job, exact: RuleList, classes: NDArray[np.uint8], work: Work
) -> RuleList:
    """Return as few rules as requested: a short list, or the first rules of a set.

    For lists this is the better of a list made short and the first rules of the exact
    list, measured by the code that makes predictions.
    """
    first = shortened(exact, job.length.max_rules, job.length.fidelity)
    is_list = job.form == "list" and job.scope == "domain"
    counts = None if job.rows is None else _counts(job)
    aim = aim_of(exact, first, job.length, counts)
    if not is_list or aim is None:
        return first
    try:
        sizes, passes = job.network.domain.sizes, max(1, job.limits.effort)
        chosen = short_list(classes, sizes, aim, work, passes=passes)
    except BudgetExceededError:
        return first
    rules = _rule_list(job, chosen)
    rules = in_order(rules, _determined(job, rules, classes))
    rules = readable(rules, classes != DONT_CARE)
    best = max((first, rules), key=lambda r: worth(r, classes, aim))
    if best is first:
        return first
    facts = describe_table(job.network, rules, classes, is_exact=False)
    different = exact.n_possible - int(right_inputs(rules, classes).sum())
    certificate = of_some(exact.certificate)
    if different:
        certificate |= {"method": "a short list", "different": different}
    return rules.replace(facts=facts, certificate=certificate)


def _tidied(job: Job, classes: NDArray[np.uint8], chosen: Rules) -> Rules:
    """Put the rules that determine most first, then grow each in its place."""
    rules = _rule_list(job, chosen)
    rules = in_order(rules, _determined(job, rules, classes), meter=job.meter)
    sizes, n_classes = job.network.domain.sizes, len(job.network.classes)
    state = state_of(classes, sizes, at_least=n_classes)
    default = rules.classes.index(rules.default)
    wanted = classes != DONT_CARE
    if job.scope == "support":
        wanted &= _counts(job) > 0
    if job.form == "set":
        wanted &= np.isin(classes, chosen.classes)
    tidy = primed(
        Rules(rules.boxes, rules.answers, default),
        state,
        state.space.set_of(wanted),
        is_ordered=job.form == "list",
        meter=job.meter,
    )
    if job.form == "list" and job.scope == "domain":
        return without_idle_end(tidy)
    return tidy


def _set_in_order(job: Job, rules: RuleList, classes: NDArray[np.uint8]) -> RuleList:
    """Order the rules of a set by the rows or, without data, inputs that they cover."""
    if job.rows is None:
        return in_order(rules, _determined(job, rules, classes), meter=job.meter)
    held = [*inside_each(rules.domain, rules.boxes, job.rows.distinct[0])]
    return rules.take(most_first(held, job.rows.weights))


def _determined(
    job: Job, rules: RuleList, classes: NDArray[np.uint8]
) -> NDArray[np.float64]:
    """Return how many rows, or without data how many inputs, each rule determines."""
    determined = np.zeros(len(rules))
    if job.rows is not None:
        counts = np.where(classes != DONT_CARE, _counts(job), 0)
        occurring = np.flatnonzero(counts)
        codes = np.stack(np.unravel_index(occurring, job.network.domain.sizes), axis=1)
        fired = rules.match(codes)
        np.add.at(determined, fired[fired >= 0], counts[occurring][fired >= 0])
        return determined
    start = 0
    for codes in job.network.domain.inputs():
        job.meter.spend()
        fired = rules.match(codes)
        counted = (fired >= 0) & (classes[start : start + len(codes)] != DONT_CARE)
        determined += np.bincount(fired[counted], minlength=len(rules))
        start += len(codes)
    return determined


def _counts(job: Job) -> NDArray[np.int64]:
    """Return how often each input occurs in the data."""
    assert job.rows is not None, "extract has checked that there is data"
    sizes = job.network.domain.sizes
    counts = np.zeros(job.network.domain.n_inputs, dtype=np.int64)
    positions = np.ravel_multi_index(tuple(job.rows.distinct[0].T), sizes)
    counts[positions] = job.rows.weights
    return counts


def _rule_list(job: Job, chosen: Rules) -> RuleList:
    network = job.network
    return RuleList.from_boxes(
        network.domain,
        chosen.boxes,
        chosen.classes,
        network.classes[chosen.default],
        network.classes,
        form=job.form,
        scope=job.scope,
    )


def _unfinished(
    job: Job,
    classes: NDArray[np.uint8],
    certificate: dict[str, Any],
    chosen: Rules | None,
) -> RuleList | None:
    """Return the rules chosen before the work was stopped, marked if incomplete."""
    if chosen is None:
        return None
    rules = _rule_list(job, chosen)
    if not chosen.is_complete:
        rest = {k: v for k, v in certificate.items() if k != "different"}
        certificate = {**rest, "complete": False}
        rules = rules.replace(scope="support")
    refuse_different(rules, classes)
    return rules.replace(certificate=certificate)


def _cover(job: Job, classes: NDArray[np.uint8], work: Work) -> Rules:
    """Make the rules."""
    sizes = job.network.domain.sizes
    if job.scope == "domain" and job.form == "list":
        return decision_list(classes, sizes, work)
    possible, n_classes = classes != DONT_CARE, len(job.network.classes)
    if job.scope == "domain":
        default = job.default(np.bincount(classes[possible], minlength=n_classes))
        return rule_set(classes, sizes, work, wanted=job.wanted, default=default)
    counts = _counts(job)
    return support_rules(
        classes,
        sizes,
        counts,
        work,
        is_ordered=job.form == "list",
        wanted=job.wanted,
        default=job.default(
            np.bincount(classes[possible], counts[possible], n_classes)
        ),
    )


def _possible_counts(classes: NDArray[np.uint8], n_classes: int) -> dict[str, Any]:
    """Return the counts of the certificate for possible inputs."""
    counts = np.bincount(classes[classes != DONT_CARE], minlength=n_classes)
    return {
        "possible": int(counts.sum()),
        "class_inputs": [int(number) for number in counts],
    }
