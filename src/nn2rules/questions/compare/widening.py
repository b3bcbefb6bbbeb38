"""Boxes on which two sides differ, made wide, so that few of them say all."""

import numpy as np

from nn2rules.errors import BudgetExceededError
from nn2rules.questions.compare.found import Pair
from nn2rules.questions.compare.looking import Look
from nn2rules.space import (
    Box,
    Boxes,
    Domain,
    Feature,
    containing,
    next_number,
    previous_number,
)

_HALVINGS = 8  # of what is left of a range, on the way to where it ends


class Widening:
    """Widens boxes, feature by feature, as long as both sides keep their answers."""

    def __init__(self, domain: Domain, looks: tuple[Look, Look], seed: int) -> None:
        self.domain, self.looks = domain, looks
        self.order = np.random.default_rng(seed).permutation(len(domain.features))

    def widened(self, box: Box, pair: Pair) -> Box:
        """Return a box around one, all of whose inputs have the same pair of answers.

        First features are freed altogether, then single values are added, and ranges
        are made longer.
        """
        box = box[0].copy(), box[1].copy()
        for feature in self.order.tolist():
            self._free(box, pair, feature)
        for feature in self.order.tolist():
            self._add_values(box, pair, feature)
            self._lengthen(box, pair, feature)
        return box

    def _is_pair(self, box: Box, pair: Pair) -> bool:
        both = zip(self.looks, pair, strict=True)
        return all(look.is_all(box, place) for look, place in both)

    def _free(self, box: Box, pair: Pair, feature: int) -> None:
        block, limits = self._block(feature), self.domain.limits[:, feature]
        is_range = self.domain.ranges[feature] >= 0
        if box[0][block].all() and (
            not is_range or (box[1][:, feature] == limits).all()
        ):
            return
        slab = box[0].copy(), box[1].copy()
        slab[0][block] = True if is_range else ~box[0][block]
        slab[1][:, feature] = limits
        if self._is_pair(slab, pair):
            box[0][block] = True
            box[1][:, feature] = limits

    def _add_values(self, box: Box, pair: Pair, feature: int) -> None:
        start = int(self.domain.offsets[feature])
        block, limits = self._block(feature), self.domain.limits[:, feature]
        for code in np.flatnonzero(~box[0][block]).tolist():
            slab = box[0].copy(), box[1].copy()
            slab[0][block] = False
            slab[0][start + code] = True
            slab[1][:, feature] = limits
            if self._is_pair(slab, pair):
                box[0][start + code] = True
                if start + code == self.domain.ranges[feature]:
                    box[1][:, feature] = limits

    def _lengthen(self, box: Box, pair: Pair, feature: int) -> None:
        """Move both ends of a range outwards, by ever smaller steps."""
        ranged = int(self.domain.ranges[feature])
        if ranged < 0 or not box[0][ranged]:
            return
        own = self.domain.features[feature]
        for end, step in ((0, -1), (1, 1)):
            wall = float(self.domain.limits[end, feature])
            for _ in range(_HALVINGS):
                at = float(box[1][end, feature])
                if at == wall:
                    break
                aim = at / 2 + wall / 2
                aim = roundest(aim, aim / 2 + wall / 2)
                if own.whole:
                    aim = float(np.floor(aim) if step < 0 else np.ceil(aim))
                aim = wall if aim == at else aim  # no number lies between
                slab = box[0].copy(), box[1].copy()
                slab[0][self._block(feature)] = False
                slab[0][ranged] = True
                slab[1][end, feature] = aim
                slab[1][1 - end, feature] = _next_to(own, at, step)
                if self._is_pair(slab, pair):
                    box[1][end, feature] = aim
                else:
                    wall = _next_to(own, aim, -step)

    def _block(self, feature: int) -> slice:
        return slice(
            int(self.domain.offsets[feature]), int(self.domain.offsets[feature + 1])
        )


def roundest(one: float, other: float) -> float:
    """Return a number from one to another that has few digits.

    Examples
    --------
    >>> roundest(11941.398, 12377.656), roundest(-0.126, -0.124), roundest(2.5, 2.5)
    (12000.0, -0.125, 2.5)
    """
    low, high = min(one, other), max(one, other)
    if not low < high:
        return one
    first = -int(np.floor(np.log10(max(abs(low), abs(high))))) - 1
    for digits in range(first, first + 17):
        found = round(low / 2 + high / 2, digits)
        if low <= found <= high:
            return float(found)
    return one


def few_boxes(
    widening: Widening, boxes: list[Box], pairs: list[Pair]
) -> tuple[list[Box], list[Pair]]:
    """Return few boxes that hold all of the given ones, and their pairs of answers.

    If the budget ends first, the rest stay as they are.
    """
    found: list[Box] = []
    kept: list[Pair] = []
    order = sorted(range(len(boxes)), key=lambda index: -int(boxes[index][0].sum()))
    is_spent = False
    for index in order:
        box, pair = boxes[index], pairs[index]
        if found and containing(widening.domain, _stacked(found), box).any():
            continue
        if not is_spent:
            try:
                box = widening.widened(box, pair)
            except BudgetExceededError:
                is_spent = True
        found.append(box)
        kept.append(pair)
    needed = _needed(widening.domain, found, [boxes[index] for index in order])
    return [found[i] for i in needed], [kept[i] for i in needed]


def _needed(domain: Domain, found: list[Box], boxes: list[Box]) -> list[int]:
    """Return which boxes are needed to hold all that are given; the last go first."""
    if not found:
        return []
    stacked = _stacked(found)
    held = np.array([containing(domain, stacked, box) for box in boxes])
    counts, needed = held.sum(axis=1), []
    for index in reversed(range(len(found))):
        own = held[:, index]
        if (counts[own] > 1).all():
            counts -= own
        else:
            needed.append(index)
    return needed[::-1]


def _stacked(boxes: list[Box]) -> Boxes:
    return Boxes(np.array([box for box, _ in boxes]), np.array([e for _, e in boxes]))


def _next_to(feature: Feature, number: float, step: int) -> float:
    """Return the number of a range next above one, or below if `step` is negative."""
    following = next_number if step > 0 else previous_number
    return float(following(number, whole=feature.whole))
