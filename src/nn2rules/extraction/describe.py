"""What is known of each rule (inputs, support, probability), and their order."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import DONT_CARE, Meter, outwards, score_range
from nn2rules.engine.parallel import in_time, spread
from nn2rules.errors import BudgetExceededError, InternalError
from nn2rules.network import ACTIVATIONS, Network, certified
from nn2rules.rules import NO_RULE, Facts, RuleList
from nn2rules.space import Boxes, Feature, has_bins, intersecting, parts_of

_CHUNK = 1 << 18


def leanings(
    rules: RuleList, table: NDArray[np.uint8], *, meter: Meter | None = None
) -> list[tuple[int, ...] | None]:
    """Return for each rule the numbers, from 1, of the rules that it leans on.

    They are those that decide an input of its box which is not of its class. So a rule
    is true on its own exactly if there are none, and in a set no rule may have any.
    None where the budget is spent.

    Parameters
    ----------
    rules : RuleList
        Right on every input that a rule decides.
    table : ndarray of uint8, shape (n_inputs,)
        The class of every input; `DONT_CARE` where it cannot occur.
    """
    domain, meter = rules.domain, meter or Meter()
    fired = np.concatenate([rules.match(c) for c in domain.inputs(chunk=_CHUNK)])
    deciding, classes = fired.reshape(domain.sizes), table.reshape(domain.sizes)
    found: list[tuple[int, ...] | None] = []
    for box, answer in zip(rules.boxes, rules.answers, strict=True):
        try:
            meter.spend()
        except BudgetExceededError:
            break
        inside = np.ix_(*np.split(box, domain.offsets[1:-1]))
        wrong = (classes[inside] != answer) & (classes[inside] != DONT_CARE)
        above = np.unique(deciding[inside][wrong])
        if rules.form == "set" and len(above):
            raise InternalError("a rule of a set is not true on its own")
        found.append(tuple((above + 1).tolist()))
    return found + [None] * (len(rules) - len(found))


def met_above(rules: RuleList) -> list[tuple[int, ...] | None]:
    """Return for each rule of a list what it may lean on, where there is no table.

    Those above it of another class that have an input in common with it: if there are
    none it is true on its own.
    """
    met = intersecting(rules.domain, rules.boxes)
    met &= rules.answers[:, np.newaxis] != rules.answers[np.newaxis, :]
    met = np.triu(met, 1)  # met[i, j]: i is above j
    return [tuple((np.flatnonzero(above) + 1).tolist()) for above in met.T]


_RANGE_BOXES = 2000
_RANGE_TOLERANCE = 0.01


def in_order(
    rules: RuleList, weights: NDArray[np.float64], *, meter: Meter | None = None
) -> RuleList:
    """Put rules that decide much first, as far as the meaning of the list allows.

    Two rules that give different classes and have an input in common stay in order; all
    others may change places, since then the first rule that holds for an input always
    gives the same class as before.

    Parameters
    ----------
    rules : RuleList
    weights : ndarray of shape (n_rules,)
        What each rule decides, in the present order.
    """
    before = intersecting(rules.domain, rules.boxes)
    before &= rules.answers[:, np.newaxis] != rules.answers[np.newaxis, :]
    before = np.triu(before, 1)  # before[i, j]: i must stay before j
    waiting = before.sum(axis=0)
    order: list[int] = []
    open_ = np.ones(len(rules), dtype=np.bool_)
    for _ in range(len(rules)):
        free = np.flatnonzero(open_ & (waiting == 0))
        chosen = int(free[np.argmax(weights[free])])
        order.append(chosen)
        open_[chosen] = False
        waiting = waiting - before[chosen]
        if meter is not None:
            meter.spend()
    return rules.take(order)


def readable(
    rules: RuleList,
    possible: NDArray[np.bool_] | None = None,
    *,
    meter: Meter | None = None,
) -> RuleList:
    """Leave values out of conditions where that reads better and changes nothing.

    A rule may allow values that no input it decides has, because earlier rules decide
    all of those. Such values can stay or go. ``= high`` is said rather than ``≠ low``,
    a range of an ordered feature rather than a set, one with one end rather than with
    two, and the shorter of two sets, or else the one that names what is allowed.
    """
    domain = rules.domain
    needed = np.zeros_like(rules.boxes)
    start = 0
    for codes in domain.inputs(chunk=_CHUNK):
        fired = rules.match(codes)
        decided = fired != NO_RULE
        if possible is not None:
            decided &= possible[start : start + len(codes)]
        start += len(codes)
        columns = codes[decided] + domain.offsets[:-1]
        needed[fired[decided, np.newaxis], columns] = True
        if meter is not None:
            meter.spend()
    boxes = rules.boxes.copy()
    for index, feature in enumerate(domain.features):
        block = slice(int(domain.offsets[index]), int(domain.offsets[index + 1]))
        for rule in np.flatnonzero(~boxes[:, block].all(axis=1)):
            boxes[rule, block] = _clearest(
                feature, boxes[rule, block], needed[rule, block]
            )
    return rules.replace(boxes=boxes)


def _clearest(
    feature: Feature, allowed: NDArray[np.bool_], needed: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return the values between `needed` and `allowed` that read best."""
    if not needed.any():
        return allowed
    if needed.sum() == 1 and not has_bins(feature):
        return needed
    spans = _spans(feature, allowed, needed) if feature.ordered else []
    return spans[0] if spans else min(needed, allowed, key=_words)


def _spans(
    feature: Feature, allowed: NDArray[np.bool_], needed: NDArray[np.bool_]
) -> list[NDArray[np.bool_]]:
    """Return the ranges that may be said, those with one end before that with two."""
    n_plain, beside = feature.n_plain, {None, feature.other}
    ends = np.flatnonzero(needed[:n_plain])
    if not len(ends) or beside & set(feature.values[:n_plain]):
        return []
    first, last = int(ends[0]), int(ends[-1])
    found = []
    for low, high in ((0, last), (first, n_plain - 1), (first, last)):
        span = needed.copy()
        span[low : high + 1] = True
        if not (span & ~allowed).any():
            found.append(span)
    return found


def _words(values: NDArray[np.bool_]) -> int:
    """Return how many values a condition must name, allowed or excluded."""
    return int(min(values.sum(), (~values).sum()))


def describe_table(
    network: Network,
    rules: RuleList,
    table: NDArray[np.uint8],
    *,
    is_exact: bool = True,
    meter: Meter | None = None,
) -> list[Facts]:
    """Return for each rule the inputs it decides, their probabilities, and `unless`.

    On the way the rules are compared with the table: nothing that differs is described.
    Probabilities are left out when the budget is spent.

    Parameters
    ----------
    table : ndarray of uint8, shape (n_inputs,)
        The class of every input; `DONT_CARE` where it cannot occur.
    is_exact : bool
        Whether the rules must answer as the table does.

    Raises
    ------
    InternalError
        If a rule, or in the scope "domain" the default, gives an input another class.
    """
    n_rules = len(rules)
    counts = np.zeros(n_rules + 1, dtype=np.int64)
    low, high = np.full(n_rules + 1, np.inf), np.full(n_rules + 1, -np.inf)
    error = certified.error_bound(network.layers, network.domain.offsets).max()
    answers = np.append(rules.answers, rules.classes.index(rules.default))
    has_time = True
    for codes, classes, fired in _decided_inputs(rules, table):
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
    unless = leanings(rules, table, meter=meter) if is_exact else [None] * n_rules
    return [
        Facts(
            inputs=int(counts[index]),
            probability=outwards(float(ends[0, index]), float(ends[1, index]))
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
        If a rule, or in the scope "domain" the default, gives an input another class.
    """
    answers = np.append(rules.answers, rules.classes.index(rules.default))
    for codes, classes, fired in _decided_inputs(rules, table):
        _refuse_different(rules, codes, classes, fired, answers)
        if meter is not None:
            meter.spend()


def right_inputs(rules: RuleList, table: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Tell of every input that can occur whether the rules answer it as the table."""
    right: NDArray[np.bool_] = table != DONT_CARE
    answers = np.append(rules.answers, rules.classes.index(rules.default))
    found = [
        answers[fired] == classes for _, classes, fired in _decided_inputs(rules, table)
    ]
    right[right] = np.concatenate(found)
    return right


def _decided_inputs(
    rules: RuleList, table: NDArray[np.uint8]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.int64]]]:
    """Yield inputs that can occur, their classes, and the rules that decide them."""
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
        raise InternalError(f"the rules do not answer {row} as the network does")


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
    """Return the log-odds of the class that is answered."""
    scores = certified.scores(network.layers, network.domain.offsets, codes)
    if network.is_binary:
        return np.where(answers == 1, scores[:, 0], -scores[:, 0])
    rows = np.arange(len(codes))
    own = scores[rows, answers]
    others = scores.copy()
    others[rows, answers] = -np.inf
    top = others.max(axis=1)
    with np.errstate(all="ignore"):
        rest = top + np.log(np.exp(others - top[:, np.newaxis]).sum(axis=1))
    return np.asarray(own - rest)


def _least(network: Network, answer: int) -> float:
    """Return the probability that a class has at least, wherever it is the answer."""
    if answer == 1:
        return network.threshold
    return max(0.0, math.nextafter(1 - network.threshold, 0))


def describe_search(
    network: Network, rules: RuleList, meter: Meter, n_jobs: int | None = None
) -> list[Facts]:
    """Return for each rule of a set a range that holds the probabilities of its box.

    Where a range is not found within a fixed number of boxes, or within the time that
    is left, it is left out.
    """
    facts = [Facts(unless=())] * len(rules)
    if not network.is_binary:
        return facts
    tasks = [
        (parts_of(rules.domain, box), int(answer))
        for box, answer in zip(rules.boxes, rules.answers, strict=True)
    ]
    found = in_time(spread(_probability, network, tasks, meter=meter, n_jobs=n_jobs))
    for index, ends in enumerate(found):
        if ends is not None:
            facts[index] = Facts(probability=ends, unless=())
    return facts


def _probability(
    network: Network, task: tuple[Boxes, int], meter: Meter
) -> tuple[float, float] | None:
    """Return a range that holds the probabilities of boxes, or None: not in time."""
    boxes, answer = task
    part = meter.part(boxes=_RANGE_BOXES)
    try:
        part.spend()  # no range is begun when the time is over
        ranges = [
            score_range(
                network, allowed, ends=ends, tolerance=_RANGE_TOLERANCE, meter=part
            ).probability_of(answer)
            for allowed, ends in zip(*boxes, strict=True)
        ]
    except BudgetExceededError:
        return None
    lows, highs = zip(*ranges, strict=True)
    low = max(min(lows), _least(network, answer))  # as its class is proved
    return low, max(low, *highs)
