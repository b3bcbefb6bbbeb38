"""Rule lists and sets of networks whose every input fits in a table."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.certificate import table_certificate
from nn2rules.cover.decision_list import decision_list, without_idle_end
from nn2rules.cover.describe import describe_table, in_order, readable
from nn2rules.cover.effort import effort_of
from nn2rules.cover.greedy import primed
from nn2rules.cover.job import Job, impossible_inputs, possible_inputs
from nn2rules.cover.packing import DONT_CARE, Rules, state_of
from nn2rules.cover.rule_set import lower_bound, rule_set
from nn2rules.cover.support import support_rules
from nn2rules.engine import build_table
from nn2rules.errors import BudgetExceededError
from nn2rules.rules import RuleList


def rules_by_table(job: Job) -> RuleList:
    """Return rules made from the class of every input, those that decide most first."""
    network = job.network
    table = build_table(network, meter=job.meter, n_jobs=job.n_jobs)
    possible = possible_inputs(job)
    classes = table.classes
    certificate = table_certificate(network, table)
    if possible is not None:
        classes = np.where(possible, classes, np.uint8(DONT_CARE))
        certificate |= _possible_counts(classes, len(network.classes))
        certificate["impossible"] = impossible_inputs(job)
    if job.scope == "support":
        del certificate["different"]
    try:
        found = _cover(job, classes, partial(_tidied, job, classes))
    except (BudgetExceededError, KeyboardInterrupt) as error:
        kept = getattr(error, "rules", None)
        if isinstance(kept, Rules):
            error.rules = _partial(job, kept, certificate)  # type: ignore[union-attr]
        raise
    if job.scope == "domain" and job.form == "set":
        certificate["fewest_rules"] = lower_bound(
            classes, network.domain.sizes, default=found.default, seed=job.seed
        )
    rules = _rule_list(job, found)
    if job.form == "list":
        rules = readable(rules, possible)
    facts = describe_table(network, rules, possible)
    return rules.replace(facts=facts, certificate=certificate)


def _tidied(job: Job, classes: NDArray[np.uint8], found: Rules) -> Rules:
    """Put the rules that decide most first, then make each prime in its place."""
    rules = _rule_list(job, found)
    rules = in_order(rules, _decided(job, rules, classes))
    state = state_of(classes, job.network.domain.sizes)
    default = rules.classes.index(rules.default)
    wanted = classes != DONT_CARE
    if job.scope == "support":
        wanted = _counts(job) > 0
    if job.form == "set":
        wanted = wanted & (classes != default)
    tidy = primed(
        Rules(rules.boxes, rules.answers, default),
        state,
        state.space.set_of(wanted),
        is_ordered=job.form == "list",
    )
    if job.form == "list" and job.scope == "domain":
        return without_idle_end(tidy)
    return tidy


def _decided(
    job: Job, rules: RuleList, classes: NDArray[np.uint8]
) -> NDArray[np.float64]:
    """Return how much each rule decides: rows of data if there are any, else inputs."""
    decided = np.zeros(len(rules))
    if job.codes is not None:
        fired = rules.match(job.codes)
        np.add.at(decided, fired[fired >= 0], job.weights[fired >= 0])  # type: ignore[index]
        return decided
    start = 0
    for codes in job.network.domain.inputs():
        fired = rules.match(codes)
        counted = (fired >= 0) & (classes[start : start + len(codes)] != DONT_CARE)
        decided += np.bincount(fired[counted], minlength=len(rules))
        start += len(codes)
    return decided


def _counts(job: Job) -> NDArray[np.int64]:
    """Return how often each input occurs in the data."""
    assert job.codes is not None, "extract has checked that there is data"
    assert job.weights is not None, "codes and weights come together"
    sizes = job.network.domain.sizes
    counts = np.zeros(job.network.domain.n_inputs, dtype=np.int64)
    counts[np.ravel_multi_index(tuple(job.codes.T), sizes)] = job.weights
    return counts


def _rule_list(job: Job, found: Rules) -> RuleList:
    network = job.network
    return RuleList.from_boxes(
        network.domain,
        found.boxes,
        found.classes,
        network.classes[found.default],
        network.classes,
        form=job.form,
        scope=job.scope,
    )


def _partial(job: Job, found: Rules, certificate: dict[str, Any]) -> RuleList:
    """Return what was found before the work was stopped, and say if it is not all."""
    rules = _rule_list(job, found)
    if found.is_complete:
        return rules.replace(certificate=certificate)
    certificate = {k: v for k, v in certificate.items() if k != "different"}
    return rules.replace(
        scope="support", certificate={**certificate, "complete": False}
    )


def _cover(
    job: Job, classes: NDArray[np.uint8], tidy: Callable[[Rules], Rules]
) -> Rules:
    """Choose the rules."""
    sizes = job.network.domain.sizes
    effort = effort_of(job.effort, len(classes))
    common: dict[str, Any] = {
        "seed": job.seed,
        "effort": effort,
        "meter": job.meter,
        "n_jobs": job.n_jobs,
        "tidy": tidy,
    }
    default = None if job.target is None else 1 - job.target
    if job.scope == "domain" and job.form == "list":
        return decision_list(classes, sizes, **common)
    if job.scope == "domain":
        return rule_set(classes, sizes, default=default, **common)
    counts = _counts(job)
    if default is None:
        known = classes != DONT_CARE
        totals = np.bincount(classes[known], counts[known], len(job.network.classes))
        default = int(np.argmax(totals))
    is_ordered = job.form == "list"
    return support_rules(
        classes, sizes, counts, is_ordered=is_ordered, default=default, **common
    )


def _possible_counts(classes: NDArray[np.uint8], n_classes: int) -> dict[str, Any]:
    """Return the counts of the certificate without the inputs that cannot occur."""
    counts = np.bincount(classes[classes != DONT_CARE], minlength=n_classes)
    return {
        "possible": int(counts.sum()),
        "class_inputs": [int(number) for number in counts],
    }
