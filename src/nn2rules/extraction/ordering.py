"""The order of rules, and the choice among equivalent conditions.

Nothing here changes a prediction.
"""

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Meter
from nn2rules.rules import NO_RULE, RuleList
from nn2rules.space import Feature, has_bins, intersecting

_CHUNK = 1 << 18


def in_order(
    rules: RuleList, weights: NDArray[np.float64], *, meter: Meter | None = None
) -> RuleList:
    """Put rules with large weights first, as far as the meaning of the list allows.

    Two rules of different classes whose boxes intersect keep their order; all others
    may change places. The first rule that covers an input then always has the same
    class as before.

    Parameters
    ----------
    rules : RuleList
    weights : ndarray of shape (n_rules,)
        How much each rule determines, in the present order.
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


def most_first(held: Sequence[NDArray[np.bool_]], weights: NDArray[Any]) -> list[int]:
    """Return an order for the rules of a set: those that cover most rows come first.

    The next rule is always the one that covers most of the remaining rows. The order
    has no meaning in a set.
    """
    left = weights.astype(np.float64)
    waiting = [(-float(left[rows].sum()), index) for index, rows in enumerate(held)]
    heapify(waiting)
    order = []
    while waiting:
        _, index = heappop(waiting)
        gain = float(left[held[index]].sum())  # it may have decreased
        if waiting and (-gain, index) > waiting[0]:
            heappush(waiting, (-gain, index))
        else:
            order.append(index)
            left[held[index]] = 0.0
    return order


def readable(
    rules: RuleList,
    possible: NDArray[np.bool_] | None = None,
    *,
    meter: Meter | None = None,
) -> RuleList:
    """Drop values from conditions where that is easier to read and changes nothing.

    A rule may allow values that none of the inputs it determines has, because earlier
    rules determine all of those. Such values are optional. ``= high`` is preferred to
    ``≠ low``, a range of an ordered feature to a set, a range with one end to one with
    two, and the shorter of two sets, or else the set of allowed values.
    """
    domain = rules.domain
    needed = np.zeros_like(rules.boxes)
    start = 0
    for codes in domain.inputs(chunk=_CHUNK):
        fired = rules.match(codes)
        covered = fired != NO_RULE
        if possible is not None:
            covered &= possible[start : start + len(codes)]
        start += len(codes)
        columns = codes[covered] + domain.offsets[:-1]
        needed[fired[covered, np.newaxis], columns] = True
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
    """Return the values between `needed` and `allowed` that are easiest to read."""
    if not needed.any():
        return allowed
    if needed.sum() == 1 and not has_bins(feature):
        return needed
    spans = _spans(feature, allowed, needed) if feature.ordered else []
    return spans[0] if spans else min(needed, allowed, key=_listed_values)


def _spans(
    feature: Feature, allowed: NDArray[np.bool_], needed: NDArray[np.bool_]
) -> list[NDArray[np.bool_]]:
    """Return the possible ranges, those with one end before those with two."""
    n_plain, beside = feature.n_plain, {None, feature.other}
    ends = np.flatnonzero(needed[:n_plain])
    if not len(ends) or beside & set(feature.values[:n_plain]):
        return []
    first, last = int(ends[0]), int(ends[-1])
    spans = []
    for low, high in ((0, last), (first, n_plain - 1), (first, last)):
        span = needed.copy()
        span[low : high + 1] = True
        if not (span & ~allowed).any():
            spans.append(span)
    return spans


def _listed_values(values: NDArray[np.bool_]) -> int:
    """Return how many values a condition must list, allowed or excluded."""
    return int(min(values.sum(), (~values).sum()))
