"""Lists made to be short: few rules, which answer right as often as they can.

A rule may be wrong somewhere. Given what is above it and what is below, a rule with
some box and class makes some inputs right that would be wrong without it, and some
wrong; the difference, weighed, is its *gain*. A list grows by rules at the top, of the
largest gain that is found, and now and then every rule is chosen anew in its place.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import DONT_CARE
from nn2rules.extraction.describe import right_inputs
from nn2rules.extraction.from_table.packing import Rules
from nn2rules.extraction.from_table.runs import Work
from nn2rules.extraction.options import Length
from nn2rules.rules import RuleList

_PASSES = 8

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Grid:
    """The inputs of a domain, last feature fastest.

    Attributes
    ----------
    sizes : the number of values of each feature
    half : so many features make the first half; both halves have about as many parts
    """

    sizes: tuple[int, ...]
    half: int

    @property
    def blocks(self) -> list[slice]:
        """The columns of each feature."""
        ends = np.concatenate([[0], np.cumsum(self.sizes)]).tolist()
        return [slice(start, stop) for start, stop in pairwise(ends)]


def grid_of(sizes: Sequence[int]) -> Grid:
    """Return the grid of a domain with features of the given sizes."""
    logs = np.concatenate([[0], np.cumsum(np.log(sizes))])
    return Grid(tuple(sizes), int(np.argmin(np.abs(logs - logs[-1] / 2))))


def inside(grid: Grid, box: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell of every input whether it lies in the box."""
    found = np.ones(1, dtype=np.bool_)
    for block in grid.blocks:
        found = (found[:, np.newaxis] & box[block]).ravel()
    return found


def heaviest(
    grid: Grid, values: Floats, starts: NDArray[np.bool_]
) -> tuple[float, NDArray[np.bool_]]:
    """Return the largest sum of values over a box that is found, and the box.

    Each start is improved feature by feature: given the values that the box allows of
    all others, those of a feature stay that bring something, or cost nothing. No step
    makes a sum smaller.
    """
    first = range(grid.half)
    second = range(grid.half, len(grid.sizes))
    n_second = int(np.prod(grid.sizes[grid.half :]))
    table = values.reshape(-1, n_second)
    boxes, totals = starts.astype(np.float64), None
    for _ in range(_PASSES):
        _improve(grid, boxes, first, _product(grid, boxes, second) @ table.T)
        sums = _product(grid, boxes, first) @ table
        _improve(grid, boxes, second, sums)
        before, totals = totals, (sums * _product(grid, boxes, second)).sum(axis=1)
        if before is not None and (totals <= before).all():
            break
    assert totals is not None, "there is a pass"
    best = int(np.argmax(totals))
    return float(totals[best]), boxes[best] > 0


def _product(grid: Grid, boxes: Floats, features: range) -> Floats:
    """Tell for each box which parts of a half of the features it allows."""
    found = np.ones((len(boxes), 1))
    for feature in features:
        block = boxes[:, np.newaxis, grid.blocks[feature]]
        found = (found[:, :, np.newaxis] * block).reshape(len(boxes), -1)
    return found


def _improve(grid: Grid, boxes: Floats, features: range, sums: Floats) -> None:
    """Choose the values of each of these features anew, in place.

    `sums` has for each box a number for each part of the half.
    """
    for feature in features:
        block, size = grid.blocks[feature], grid.sizes[feature]
        boxes[:, block] = 1.0
        weighed = sums * _product(grid, boxes, features)
        n_after = int(np.prod(grid.sizes[feature + 1 : features.stop]))
        brings = weighed.reshape(len(boxes), -1, size, n_after).sum(axis=(1, 3))
        chosen = brings >= 0
        poor = ~(brings > 0).any(axis=1)
        chosen[poor] = False
        chosen[poor, brings[poor].argmax(axis=1)] = True
        boxes[:, block] = chosen


_STARTS = 8  # boxes that are improved for a rule, for each class
_LARGEST = 1 << 24  # inputs, each of which takes some hundred bytes
_DROPS = 8  # how often to try with fewer rules

Box = NDArray[np.bool_]
Classes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Aim:
    """What a short list is to be.

    Attributes
    ----------
    most : int
        More rules are not wanted.
    least : int
        As soon as so many inputs are right, more rules are not wanted, either.
    counts : ndarray of int, shape (n_inputs,), or None
        How often each input occurs in the data. Rows and inputs then weigh the same,
        each on the whole; otherwise inputs alone count, as for a fidelity.
    """

    most: int
    least: int
    counts: NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True)
class _Task:
    """The class and the weight of every input, and how to look for rules.

    Weights are whole numbers, so that sums of them are exact in any order.
    """

    grid: Grid
    classes: Classes
    weights: Floats
    n_classes: int
    starts: int
    random: np.random.PCG64
    work: Work


@dataclass(frozen=True, slots=True)
class _Short:
    """Rules from the top, the default, and what they answer to every input."""

    rules: tuple[tuple[Box, int], ...]
    default: int
    answers: Classes


def aim_of(
    exact: RuleList,
    first: RuleList,
    length: Length,
    counts: NDArray[np.int64] | None,
) -> Aim | None:
    """Return what a short list is to be; None if the first rules are as wanted.

    `first` are the first rules of the exact list, as many as are needed of these.
    """
    share, total = length.fidelity, exact.n_possible
    if total > _LARGEST or (first is exact and (share is None or share == 1)):
        return None
    most = len(first) if first is not exact else len(exact) - 1
    if share is None:
        return Aim(most, total, counts)
    least = math.ceil(share * total)
    while least > 0 and (least - 1) / total >= share:  # as the share is compared
        least -= 1
    return Aim(most, least)


def worth(rules: RuleList, table: NDArray[np.uint8], aim: Aim) -> tuple[bool, int, int]:
    """Return what a list is worth: enough inputs right, then fewer rules, then more."""
    right = right_inputs(rules, table)
    is_enough = int(right.sum()) >= aim.least
    weighed = int(weights_of(table, aim.counts)[right].sum())
    return is_enough, -len(rules) if is_enough else 0, weighed


def short_list(
    table: NDArray[np.uint8],
    sizes: Sequence[int],
    aim: Aim,
    work: Work,
    *,
    passes: int = 1,
) -> Rules:
    """Return an ordered list of few rules, right on as much as can be found.

    It has the most rules that are wanted, unless fewer are enough. In the end every
    rule is chosen anew, `passes` times.
    """
    task = _task(table, sizes, aim, work)
    default = _best_default(task, np.ones(len(table), dtype=np.bool_))
    short = _Short((), default, np.full(len(table), default))
    n_rules = 2
    while _needs_more(task, short, aim):
        short = _extended(task, short)
        n_found = len(short.rules)
        work.meter.report(f"{n_found:,} rules of a short list", n_found / aim.most)
        if n_found == n_rules:
            short, n_rules = _chosen_anew(task, short), 2 * n_rules
    for _ in range(passes):
        short = _chosen_anew(task, short)
        while _needs_more(task, short, aim):
            short = _extended(task, short)
    if _right(task, short) >= aim.least:
        short = _with_fewer(task, short, aim)
    n_columns = int(np.sum(sizes))
    boxes = np.array([box for box, _ in short.rules], dtype=np.bool_)
    classes = np.array([answer for _, answer in short.rules], dtype=np.int64)
    return Rules(boxes.reshape(-1, n_columns), classes, short.default)


def weights_of(table: NDArray[np.uint8], counts: Classes | None) -> NDArray[np.int64]:
    """Return how much it is worth that each input is right."""
    possible: NDArray[np.int64] = (table != DONT_CARE).astype(np.int64)
    if counts is None:
        return possible
    rows: NDArray[np.int64] = counts * possible
    rows *= int(possible.sum())
    rows += possible * max(1, int((counts * possible).sum()))
    return rows


def _task(
    table: NDArray[np.uint8], sizes: Sequence[int], aim: Aim, work: Work
) -> _Task:
    classes = np.where(table == DONT_CARE, 0, table).astype(np.int64)
    return _Task(
        grid_of(sizes),
        classes,
        weights_of(table, aim.counts).astype(np.float64),
        int(classes.max(initial=0)) + 1,
        _STARTS,
        np.random.PCG64(work.seed),
        work,
    )


def _needs_more(task: _Task, short: _Short, aim: Aim) -> bool:
    """Tell whether a rule more is wanted, and there is one."""
    if len(short.rules) >= aim.most or _right(task, short) >= aim.least:
        return False
    return bool(task.weights[short.answers != task.classes].any())


def _right(task: _Task, short: _Short) -> int:
    """Return how many inputs that can occur are right."""
    return int(((short.answers == task.classes) & (task.weights > 0)).sum())


def _best_default(task: _Task, left: NDArray[np.bool_]) -> int:
    weights = task.weights[left]
    return int(np.bincount(task.classes[left], weights, task.n_classes).argmax())


def _extended(task: _Task, short: _Short) -> _Short:
    """Put the rule at the top that gains most."""
    everything = np.ones(len(task.classes), dtype=np.bool_)
    found = _best_rule(task, everything, short.answers)
    assert found is not None, "some input is wrong, and a rule for it alone gains"
    box, answer = found
    answers = np.where(inside(task.grid, box), answer, short.answers)
    return _Short(((box, answer), *short.rules), short.default, answers)


def _chosen_anew(task: _Task, short: _Short) -> _Short:
    """Choose the default and, from below, every rule anew; leave out those idle."""
    above = np.zeros(len(task.classes), dtype=np.int32)
    for box, _ in short.rules:
        above += inside(task.grid, box)
    default = _best_default(task, above == 0)
    below = np.full(len(task.classes), default)
    rules: list[tuple[Box, int]] = []
    for rule in reversed(short.rules):
        above -= inside(task.grid, rule[0])
        found = _best_rule(task, above == 0, below, rule)
        if found is not None:
            below[inside(task.grid, found[0])] = found[1]
            rules.append(found)
    return _Short(tuple(reversed(rules)), default, below)


def _best_rule(
    task: _Task,
    reaching: NDArray[np.bool_],
    below: Classes,
    present: tuple[Box, int] | None = None,
) -> tuple[Box, int] | None:
    """Return the rule that gains most where the inputs that reach it are known.

    `below` is what they are answered without it. Boxes are improved that begin as an
    input that is wrong, or as the present box. None if no rule gains anything.
    """
    task.work.meter.spend()
    weights = np.where(reaching, task.weights, 0.0)
    lost = np.where(below == task.classes, weights, 0.0)
    best, found = 0.0, None
    for answer in range(task.n_classes):
        own = np.where(task.classes == answer, weights, 0.0)
        starts = _starts(task, own - np.where(task.classes == answer, lost, 0.0))
        if present is not None and present[1] == answer:
            starts = np.concatenate([starts, present[0][np.newaxis]])
        if not len(starts):
            continue
        gain, box = heaviest(task.grid, own - lost, starts)
        if gain > best:
            best, found = gain, (box, answer)
    return found


def _starts(task: _Task, wrong: Floats) -> NDArray[np.bool_]:
    """Return inputs as boxes, drawn by what it is worth to answer them right."""
    sums = np.cumsum(wrong)
    sizes = task.grid.sizes
    boxes = np.zeros((task.starts if sums[-1] > 0 else 0, sum(sizes)), dtype=np.bool_)
    if len(boxes):
        raw = task.random.random_raw(task.starts) >> np.uint64(11)
        luck = raw.astype(np.float64) / 2.0**53
        drawn = np.searchsorted(sums, luck * sums[-1], side="right")
        for block, codes in zip(
            task.grid.blocks, np.unravel_index(drawn, sizes), strict=True
        ):
            boxes[np.arange(len(boxes)), block.start + codes] = True
    return boxes


def _with_fewer(task: _Task, short: _Short, aim: Aim) -> _Short:
    """Leave out rules that gain least, as long as enough is right."""
    n_fewer = 1 + len(short.rules) // 16
    for _ in range(_DROPS):
        order = np.argsort(_gains(task, short), kind="stable")
        kept = sorted(order[n_fewer:].tolist())
        rest = tuple(short.rules[index] for index in kept)
        fewer = _chosen_anew(task, _Short(rest, short.default, short.answers))
        if len(fewer.rules) < len(short.rules) and _right(task, fewer) >= aim.least:
            short = fewer
        elif n_fewer == 1:
            break
        else:
            n_fewer //= 2
    return short


def _gains(task: _Task, short: _Short) -> list[float]:
    """Return what each rule gains in its place."""
    above = np.zeros(len(task.classes), dtype=np.int32)
    for box, _ in short.rules:
        above += inside(task.grid, box)
    below = np.full(len(task.classes), short.default)
    gains = []
    for box, answer in reversed(short.rules):
        own = inside(task.grid, box)
        above -= own
        weights = np.where(own & (above == 0), task.weights, 0.0)
        right = weights[task.classes == answer].sum()
        gains.append(float(right - weights[below == task.classes].sum()))
        below[own] = answer
    return gains[::-1]
