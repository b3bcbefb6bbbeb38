"""Facts about each rule: inputs, probabilities, and the exceptions before it."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import DONT_CARE, Meter, score_range, widened
from nn2rules.engine.parallel import spread, until_time_is_up
from nn2rules.errors import BudgetExceededError, InternalError
from nn2rules.network import ACTIVATIONS, Network, certified
from nn2rules.rules import NO_RULE, Facts, RuleList
from nn2rules.space import Boxes, intersecting, parts_of

_CHUNK = 1 << 18


def exceptions_by_table(
    rules: RuleList, table: NDArray[np.uint8], *, meter: Meter | None = None
) -> list[tuple[int, ...] | None]:
    """Return for each rule its exceptions: the numbers, from 1, of rules before it.

    These are the rules that determine an input of its box that has another class. So a
    rule holds on its own exactly if it has none, and no rule of a set may have any.
    None for rules that are left when the budget is spent.

    Parameters
    ----------
    rules : RuleList
        They are right on every input that they cover.
    table : ndarray of uint8, shape (n_inputs,)
        The class of every input; `DONT_CARE` where it cannot occur.
    """
    domain, meter = rules.domain, meter or Meter()
    fired = np.concatenate([rules.match(c) for c in domain.inputs(chunk=_CHUNK)])
    determining, classes = fired.reshape(domain.sizes), table.reshape(domain.sizes)
    by_rule: list[tuple[int, ...] | None] = []
    for box, answer in zip(rules.boxes, rules.answers, strict=True):
        try:
            meter.spend()
        except BudgetExceededError:
            break
        inside = np.ix_(*np.split(box, domain.offsets[1:-1]))
        wrong = (classes[inside] != answer) & (classes[inside] != DONT_CARE)
        exceptions = np.unique(determining[inside][wrong])
        if rules.form == "set" and len(exceptions):
            raise InternalError("a rule of a set does not hold on its own")
        by_rule.append(tuple((exceptions + 1).tolist()))
    return by_rule + [None] * (len(rules) - len(by_rule))


def possible_exceptions(rules: RuleList) -> list[tuple[int, ...] | None]:
    """Return for each rule of a list its possible exceptions, without a table.

    These are the rules before it of another class whose boxes intersect its own. If
    there are none, the rule holds on its own.
    """
    meets = intersecting(rules.domain, rules.boxes)
    meets &= rules.answers[:, np.newaxis] != rules.answers[np.newaxis, :]
    meets = np.triu(meets, 1)  # meets[i, j]: i comes before j
    return [tuple((np.flatnonzero(above) + 1).tolist()) for above in meets.T]


_RANGE_BOXES = 2000
_RANGE_TOLERANCE = 0.01


def describe_table(
    network: Network,
    rules: RuleList,
    table: NDArray[np.uint8],
    *,
    is_exact: bool = True,
    meter: Meter | None = None,
) -> list[Facts]:
    """Return for each rule its inputs, their probabilities, and its exceptions.

    This also compares the rules with the table. Probabilities are left out when the
    budget is spent.

    Parameters
    ----------
    table : ndarray of uint8, shape (n_inputs,)
        The class of every input; `DONT_CARE` where it cannot occur.
    is_exact : bool
        Whether the rules must agree with the table.

    Raises
    ------
    InternalError
        If a rule, or the default in the scope "domain", has another class for an input.
    """
    n_rules = len(rules)
    counts = np.zeros(n_rules + 1, dtype=np.int64)
    low, high = np.full(n_rules + 1, np.inf), np.full(n_rules + 1, -np.inf)
    error = certified.error_bound(network.layers, network.domain.offsets).max()
    answers = np.append(rules.answers, rules.classes.index(rules.default))
    has_time = True
    for codes, classes, fired in _possible_inputs(rules, table):
        if is_exact:
            _refuse_different(rules, codes, classes, fired, answers)
        chosen = fired != NO_RULE
        codes, fired = codes[chosen], fired[chosen]  # noqa: PLW2901
        counts += np.bincount(fired, minlength=n_rules + 1)
        has_time = has_time and _has_time(meter)
        if not has_time:
            continue
        with np.errstate(all="ignore"):  # what overflows has the widest range
            scores = _log_odds(network, codes, answers[fired])
            below, above = scores - 2 * error, scores + 2 * error
        np.minimum.at(low, fired, np.where(np.isnan(below), -np.inf, below))
        np.maximum.at(high, fired, np.where(np.isnan(above), np.inf, above))
    ends = ACTIVATIONS["sigmoid"].floats(np.stack([low, high]))
    unless = (
        exceptions_by_table(rules, table, meter=meter) if is_exact else [None] * n_rules
    )
    return [
        Facts(
            inputs=int(counts[index]),
            probability=widened(float(ends[0, index]), float(ends[1, index]))
            if counts[index] and has_time
            else None,
            unless=unless[index],
        )
        for index in range(n_rules)
    ]


def refuse_different(
    rules: RuleList, table: NDArray[np.uint8], *, meter: Meter | None = None
) -> None:
    """Compare rules with the table on every input that can occur.

    Raises
    ------
    InternalError
        If a rule, or the default in the scope "domain", has another class for an input.
    """
    answers = np.append(rules.answers, rules.classes.index(rules.default))
    for codes, classes, fired in _possible_inputs(rules, table):
        _refuse_different(rules, codes, classes, fired, answers)
        if meter is not None:
            meter.spend()


def right_inputs(rules: RuleList, table: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return for every possible input whether the rules agree with the table."""
    right: NDArray[np.bool_] = table != DONT_CARE
    answers = np.append(rules.answers, rules.classes.index(rules.default))
    agrees = [
        answers[fired] == classes
        for _, classes, fired in _possible_inputs(rules, table)
    ]
    right[right] = np.concatenate(agrees)
    return right


def _possible_inputs(
    rules: RuleList, table: NDArray[np.uint8]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.int64]]]:
    """Yield possible inputs, their classes, and the rules that determine them."""
    start = 0
    for codes in rules.domain.inputs(chunk=_CHUNK):
        classes = table[start : start + len(codes)]
        start += len(codes)
        possible = classes != DONT_CARE
        chosen = codes if possible.all() else codes[possible]
        yield chosen, classes[possible], rules.match(chosen)


def _refuse_different(
    rules: RuleList,
    codes: NDArray[np.int64],
    classes: NDArray[np.uint8],
    fired: NDArray[np.int64],
    answers: NDArray[np.int64],
) -> None:
    wrong = answers[fired] != classes
    if rules.scope == "support":
        wrong &= fired != NO_RULE
    elif rules.is_two_sided:
        wrong |= fired == NO_RULE
    if wrong.any():
        [row] = rules.domain.decode(codes[wrong][:1])
        raise InternalError(f"the rules and the network disagree on {row}")


def _has_time(meter: Meter | None) -> bool:
    try:
        if meter is not None:
            meter.spend()
    except BudgetExceededError:
        return False
    return True


def _log_odds(
    network: Network, codes: NDArray[np.int64], answers: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the log-odds of the predicted class."""
    scores = certified.scores(network.layers, network.domain.offsets, codes)
    if network.is_binary:
        return np.where(answers == 1, scores[:, 0], -scores[:, 0])
    rows = np.arange(len(codes))
    predicted = scores[rows, answers]
    others = scores.copy()
    others[rows, answers] = -np.inf
    top = others.max(axis=1)
    with np.errstate(all="ignore"):
        rest = top + np.log(np.exp(others - top[:, np.newaxis]).sum(axis=1))
    return np.asarray(predicted - rest)


def _minimum_probability(network: Network, answer: int) -> float:
    """Return the minimum probability of a class where it is predicted."""
    if answer == 1:
        return network.threshold
    return max(0.0, math.nextafter(1 - network.threshold, 0))


def describe_search(
    network: Network, rules: RuleList, meter: Meter, n_jobs: int | None = None
) -> list[Facts]:
    """Return for each rule of a set bounds on the probabilities in its box.

    Bounds that are not found within a fixed number of boxes, or in the remaining time,
    are left out.
    """
    facts = [Facts(unless=())] * len(rules)
    if not network.is_binary:
        return facts
    tasks = [
        (parts_of(rules.domain, box), int(answer))
        for box, answer in zip(rules.boxes, rules.answers, strict=True)
    ]
    bounds = until_time_is_up(
        spread(_probability, network, tasks, meter=meter, n_jobs=n_jobs)
    )
    for index, ends in enumerate(bounds):
        if ends is not None:
            facts[index] = Facts(probability=ends, unless=())
    return facts


def _probability(
    network: Network, task: tuple[Boxes, int], meter: Meter
) -> tuple[float, float] | None:
    """Return bounds on the probabilities in boxes; None if there is not enough time."""
    boxes, answer = task
    part = meter.part(boxes=_RANGE_BOXES)
    try:
        part.spend()  # nothing is started when time is up
        ranges = [
            score_range(
                network, allowed, ends=ends, tolerance=_RANGE_TOLERANCE, meter=part
            ).probability_of(answer)
            for allowed, ends in zip(*boxes, strict=True)
        ]
    except BudgetExceededError:
        return None
    lows, highs = zip(*ranges, strict=True)
    low = max(
        min(lows), _minimum_probability(network, answer)
    )  # because its class is proved
    return low, max(low, *highs)
