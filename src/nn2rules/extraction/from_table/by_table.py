"""Rule lists and sets of networks whose every input fits in a table."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import DONT_CARE, build_table
from nn2rules.errors import BudgetExceededError
from nn2rules.extraction.certifying import table_certificate
from nn2rules.extraction.describe import (
    describe_table,
    in_order,
    readable,
    refuse_different,
    right_inputs,
)
from nn2rules.extraction.effort import effort_of, generator, support_effort
from nn2rules.extraction.from_search.holding import most_first
from nn2rules.extraction.from_table.decision_list import decision_list, without_idle_end
from nn2rules.extraction.from_table.greedy import Run, choose, primed, unpacked
from nn2rules.extraction.from_table.packing import Rules, State, state_of
from nn2rules.extraction.from_table.polish import polish
from nn2rules.extraction.from_table.rule_set import lower_bound, rule_set
from nn2rules.extraction.from_table.runs import Work, best_run
from nn2rules.extraction.from_table.short_list import aim_of, short_list, worth
from nn2rules.extraction.job import Job, impossible_inputs, possible_inputs
from nn2rules.extraction.unseen_rows import counted
from nn2rules.models import GivenRows
from nn2rules.rules import RuleList, of_some, shortened
from nn2rules.space import inside_each


def support_rules(
    table: NDArray[np.uint8],
    sizes: Sequence[int],
    counts: NDArray[np.int64],
    work: Work,
    *,
    is_ordered: bool,
    wanted: Sequence[int],
    default: int,
) -> Rules:
    """Return rules that decide every input with a positive count.

    Parameters
    ----------
    table, sizes
        The class of every input, and the number of values of each feature.
    counts : ndarray of int, shape (n_inputs,)
        How often each input occurs in the data.
    work : Work
    is_ordered : bool
        Whether a rule may be false where an earlier one decides: a list, or a set.
    wanted : sequence of int
        The classes of the inputs that are to be decided.
    default : int
        The class of what no rule decides; nothing is proved about it.
    """
    state = state_of(table, sizes)
    effort = support_effort(work.effort, len(table))
    rows = (counts > 0) & np.isin(table, wanted)
    todo = state.space.set_of(rows)
    want = state.space.planes_of(np.where(rows, counts, 0))

    def attempt(run: Run) -> Rules:
        chosen = choose(
            state, want, todo, is_ordered=is_ordered, effort=effort, run=run
        )
        return replace(chosen, default=default)

    return best_run([(run, attempt) for run in range(effort.runs)], state, work)


MORE_RULES = 0.03
"""A list that begins with rules for the rows has at most this share of rules more."""

_LEAST_SHARE = 0.005  # of the rows that a rule at the beginning must decide
_SWEEPS = 4  # the list is there already: a part of the sweeps is enough

Tidy = Callable[[NDArray[np.uint8], Rules], Rules]


def begun(
    rules: Rules,
    table: NDArray[np.uint8],
    sizes: Sequence[int],
    counts: NDArray[np.int64],
    work: Work,
    tidy: Tidy,
) -> Rules:
    """Put rules before an exact list that decide many rows, each true on its own.

    What they decide is don't-care for the list behind them, which then needs fewer
    rules. As many are put there as leave the whole at most `MORE_RULES` longer.

    Parameters
    ----------
    rules : Rules
        Equal to the table on every input.
    table, sizes
        The class of every input, and the number of values of each feature.
    counts : ndarray of int, shape (n_inputs,)
        How often each input occurs in the data.
    work : Work
    tidy : callable
        Is given what is left of the table, and the rules for that.
    """
    run = Run(
        generator(work.seed, work.effort.runs), replace(work.meter, progress=None)
    )
    most = int((1 + MORE_RULES) * len(rules))
    first = _for_rows(table, sizes, counts, work, run)
    n_first = len(first)
    while n_first > 0:
        start = Rules(first.boxes[:n_first], first.classes[:n_first], rules.default)
        left = _without(table, sizes, start.boxes)
        rest = tidy(left, _rest(rules, left, sizes, work, run))
        if n_first + len(rest) <= most:
            return _joined(start, rest)
        n_first -= max(1, n_first + len(rest) - most)
    return rules


def _for_rows(
    table: NDArray[np.uint8],
    sizes: Sequence[int],
    counts: NDArray[np.int64],
    work: Work,
    run: Run,
) -> Rules:
    """Return rules true on their own, those that decide most rows first."""
    state = state_of(table, sizes)
    counts = np.where(table != DONT_CARE, counts, 0)
    found = choose(
        state,
        state.space.planes_of(counts),
        state.space.set_of(counts > 0),
        is_ordered=False,
        effort=support_effort(work.effort, len(table)),
        run=run,
        least=max(1, int(_LEAST_SHARE * counts.sum())),
    )
    return unpacked(found, state)


def _without(
    table: NDArray[np.uint8], sizes: Sequence[int], boxes: NDArray[np.bool_]
) -> NDArray[np.uint8]:
    """Return the table with the inputs of the boxes don't-care."""
    cube = table.reshape(sizes).copy()
    starts = np.cumsum(sizes)[:-1]
    for box in boxes:
        cube[np.ix_(*np.split(box, starts))] = DONT_CARE
    return cube.ravel()


def _rest(
    rules: Rules, left: NDArray[np.uint8], sizes: Sequence[int], work: Work, run: Run
) -> Rules:
    """Return a list that is right on what is left, and has no more rules."""
    n_classes = int(max(rules.default, rules.classes.max(initial=0))) + 1
    state: State = state_of(left, sizes, at_least=n_classes)
    packed = replace(rules, boxes=rules.boxes[:, state.space.columns])
    effort = replace(work.effort, sweeps=-(-work.effort.sweeps // _SWEEPS))
    better = polish(packed, state, state.open, is_ordered=True, effort=effort, run=run)
    return unpacked(without_idle_end(better), state)


def _joined(start: Rules, rest: Rules) -> Rules:
    return without_idle_end(
        Rules(
            np.concatenate([start.boxes, rest.boxes]),
            np.concatenate([start.classes, rest.classes]),
            rest.default,
        )
    )


def rules_by_table(job: Job) -> RuleList:
    """Return rules made from the class of every input, those that decide most first."""
    network, meter = job.network, job.meter
    how = job.how
    table = build_table(network, meter=meter, n_jobs=how.n_jobs)
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
        effort_of(job.how.effort, len(classes)),
        job.how.seed,
        meter,
        job.how.n_jobs,
        tidy=partial(_tidied, job, classes),
        keep=lambda so_far: meter.keep(lambda: unfinished(so_far())),
    )
    found = _cover(job, classes, work)
    meter.keep(lambda: unfinished(found))
    if job.rows is not None and job.scope == "domain" and job.form == "list":
        with suppress(BudgetExceededError):
            sizes, tidy = network.domain.sizes, partial(_tidied, job)
            found = begun(found, classes, sizes, _counts(job), work, tidy)
    if job.scope == "domain" and job.form == "set":
        certificate["fewest_rules"] = lower_bound(
            classes,
            network.domain.sizes,
            wanted=job.wanted,
            seed=job.how.seed,
            meter=meter,
        )
    rules = _rule_list(job, found)
    with suppress(BudgetExceededError):
        if job.form == "list":
            rules = readable(rules, possible, meter=meter)
        else:  # each class has its order; this is that of all
            rules = _set_in_order(job, rules, classes)
    facts = describe_table(network, rules, classes, meter=meter)
    rules = rules.replace(facts=facts, certificate=certificate)
    rules = _short(job, rules, classes, work)
    with suppress(BudgetExceededError):
        return _with_coverage(job, rules, classes)
    return rules


def _with_coverage(job: Job, rules: RuleList, classes: NDArray[np.uint8]) -> RuleList:
    """Certify how many held-out rows the same work covers that is done without them."""
    if job.held is None or job.rows is None or job.length.max_rules is not None:
        return rules
    kept = GivenRows(job.rows.domain, job.rows.codes[~job.held])
    others = replace(job, rows=kept, held=None)
    work = Work(
        effort_of(job.how.effort, len(classes)),
        job.how.seed,
        job.meter,
        job.how.n_jobs,
        tidy=partial(_tidied, others, classes),
        keep=lambda _so_far: job.meter.keep(lambda: rules),
    )
    made = _rule_list(others, _cover(others, classes, work))
    is_covered = made.match(job.rows.distinct[0]) >= 0
    coverage = counted(job.rows, job.held, is_covered)
    return rules.replace(certificate={**rules.certificate, "coverage": coverage})


def _short(
    job: Job, exact: RuleList, classes: NDArray[np.uint8], work: Work
) -> RuleList:
    """Return as few rules as are asked for: a list made short, or the first of a set.

    A list is the more faithful of one made short and the first rules of the exact one,
    counted by the very code that answers for it.
    """
    first = shortened(exact, job.length.max_rules, job.length.fidelity)
    is_list = job.form == "list" and job.scope == "domain"
    counts = None if job.rows is None else _counts(job)
    aim = aim_of(exact, first, job.length, counts)
    if not is_list or aim is None:
        return first
    try:
        sizes, passes = job.network.domain.sizes, max(1, job.how.effort)
        found = short_list(classes, sizes, aim, work, passes=passes)
    except BudgetExceededError:
        return first
    rules = _rule_list(job, found)
    rules = in_order(rules, _decided(job, rules, classes))
    rules = readable(rules, classes != DONT_CARE)
    best = max((first, rules), key=lambda r: worth(r, classes, aim))
    if best is first:
        return first
    facts = describe_table(job.network, rules, classes, is_exact=False)
    different = exact.n_possible - int(right_inputs(rules, classes).sum())
    known = of_some(exact.certificate)
    if different:
        known |= {"method": "a list made to be short", "different": different}
    return rules.replace(facts=facts, certificate=known)


def _tidied(job: Job, classes: NDArray[np.uint8], found: Rules) -> Rules:
    """Put the rules that decide most first, then make each prime in its place."""
    rules = _rule_list(job, found)
    rules = in_order(rules, _decided(job, rules, classes), meter=job.meter)
    sizes, n_classes = job.network.domain.sizes, len(job.network.classes)
    state = state_of(classes, sizes, at_least=n_classes)
    default = rules.classes.index(rules.default)
    wanted = classes != DONT_CARE
    if job.scope == "support":
        wanted &= _counts(job) > 0
    if job.form == "set":
        wanted &= np.isin(classes, found.classes)
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
    """Put the rules of a set first that decide most rows or, without data, inputs."""
    if job.rows is None:
        return in_order(rules, _decided(job, rules, classes), meter=job.meter)
    held = [*inside_each(rules.domain, rules.boxes, job.rows.distinct[0])]
    return rules.take(most_first(held, job.rows.weights))


def _decided(
    job: Job, rules: RuleList, classes: NDArray[np.uint8]
) -> NDArray[np.float64]:
    """Return how much each rule decides: rows of data if there are any, else inputs."""
    decided = np.zeros(len(rules))
    if job.rows is not None:
        counts = np.where(classes != DONT_CARE, _counts(job), 0)
        occurring = np.flatnonzero(counts)
        codes = np.stack(np.unravel_index(occurring, job.network.domain.sizes), axis=1)
        fired = rules.match(codes)
        np.add.at(decided, fired[fired >= 0], counts[occurring][fired >= 0])
        return decided
    start = 0
    for codes in job.network.domain.inputs():
        job.meter.spend()
        fired = rules.match(codes)
        counted = (fired >= 0) & (classes[start : start + len(codes)] != DONT_CARE)
        decided += np.bincount(fired[counted], minlength=len(rules))
        start += len(codes)
    return decided


def _counts(job: Job) -> NDArray[np.int64]:
    """Return how often each input occurs in the data."""
    assert job.rows is not None, "extract has checked that there is data"
    sizes = job.network.domain.sizes
    counts = np.zeros(job.network.domain.n_inputs, dtype=np.int64)
    positions = np.ravel_multi_index(tuple(job.rows.distinct[0].T), sizes)
    counts[positions] = job.rows.weights
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


def _unfinished(
    job: Job,
    classes: NDArray[np.uint8],
    certificate: dict[str, Any],
    found: Rules | None,
) -> RuleList | None:
    """Return what was found before the work was stopped, and say if it is not all."""
    if found is None:
        return None
    rules = _rule_list(job, found)
    if not found.is_complete:
        known = {k: v for k, v in certificate.items() if k != "different"}
        certificate = {**known, "complete": False}
        rules = rules.replace(scope="support")
    refuse_different(rules, classes)
    return rules.replace(certificate=certificate)


def _cover(job: Job, classes: NDArray[np.uint8], work: Work) -> Rules:
    """Choose the rules."""
    sizes = job.network.domain.sizes
    if job.scope == "domain" and job.form == "list":
        return decision_list(classes, sizes, work)
    known, n_classes = classes != DONT_CARE, len(job.network.classes)
    if job.scope == "domain":
        default = job.default(np.bincount(classes[known], minlength=n_classes))
        return rule_set(classes, sizes, work, wanted=job.wanted, default=default)
    counts = _counts(job)
    return support_rules(
        classes,
        sizes,
        counts,
        work,
        is_ordered=job.form == "list",
        wanted=job.wanted,
        default=job.default(np.bincount(classes[known], counts[known], n_classes)),
    )


def _possible_counts(classes: NDArray[np.uint8], n_classes: int) -> dict[str, Any]:
    """Return the counts of the certificate without the inputs that cannot occur."""
    counts = np.bincount(classes[classes != DONT_CARE], minlength=n_classes)
    return {
        "possible": int(counts.sum()),
        "class_inputs": [int(number) for number in counts],
    }
