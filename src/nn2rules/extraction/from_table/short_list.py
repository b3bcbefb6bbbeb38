"""Short lists: few rules that agree with the network as often as possible.

A rule may be wrong on some inputs. Given the rules before and after it, a rule with a
box and a class makes some inputs right that would be wrong without it, and some wrong.
The weighted difference is its *gain*. A list grows by rules at the top, with the
largest gain found, and from time to time each rule is replaced in its place.
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
    half : the number of features in the first half; both halves have similar sizes
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
    """Return for every input whether it lies in the box."""
    is_inside = np.ones(1, dtype=np.bool_)
    for block in grid.blocks:
        is_inside = (is_inside[:, np.newaxis] & box[block]).ravel()
    return is_inside


def heaviest(
    grid: Grid, values: Floats, starts: NDArray[np.bool_]
) -> tuple[float, NDArray[np.bool_]]:
    """Return the largest sum of values over a box that is found, and the box.

    Each start is improved feature by feature: given the allowed values of all other
    features, those values of a feature are kept that do not reduce the sum. No step
    makes the sum smaller.
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
    """Return for each box which combinations of half of the features it allows."""
    product = np.ones((len(boxes), 1))
    for feature in features:
        block = boxes[:, np.newaxis, grid.blocks[feature]]
        product = (product[:, :, np.newaxis] * block).reshape(len(boxes), -1)
    return product


def _improve(grid: Grid, boxes: Floats, features: range, sums: Floats) -> None:
    """Choose the values of each of these features again, in place.

    `sums` has for each box a number for each combination of the half.
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


_STARTS = 8  # boxes improved for a rule, per class
_LARGEST = 1 << 24  # inputs, each of which needs a few hundred bytes
_DROPS = 8  # how often fewer rules are tried

Box = NDArray[np.bool_]
Classes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Aim:
    """The goal of a short list.

    Attributes
    ----------
    most : int
        The maximum number of rules.
    least : int
        No more rules are added once this many inputs are right.
    counts : ndarray of int, shape (n_inputs,), or None
        How often each input occurs in the data. Rows and inputs then have the same
        total weight; otherwise only inputs count, as for a fidelity.
    """

    most: int
    least: int
    counts: NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True)
class _Task:
    """The class and the weight of every input, and how to search for rules.

    Weights are integers, so that their sums are exact in any order.
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
    """Rules from the top, the default, and their prediction for every input."""

    rules: tuple[tuple[Box, int], ...]
    default: int
    answers: Classes


def aim_of(
    exact: RuleList,
    first: RuleList,
    length: Length,
    counts: NDArray[np.int64] | None,
) -> Aim | None:
    """Return the goal of a short list; None if the exact list needs no shortening.

    `first` are the first rules of the exact list, as many as are needed.
    """
    share, total = length.fidelity, exact.n_possible
    if total > _LARGEST or (first is exact and (share is None or share == 1)):
        return None
    most = len(first) if first is not exact else len(exact) - 1
    if share is None:
        return Aim(most, total, counts)
    least = math.ceil(share * total)
    while (
        least > 0 and (least - 1) / total >= share
    ):  # consistent with how fidelity is compared
        least -= 1
    return Aim(most, least)


def worth(rules: RuleList, table: NDArray[np.uint8], aim: Aim) -> tuple[bool, int, int]:
    """Return a key to compare lists: enough inputs right, few rules, total weight."""
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
    """Return an ordered list of few rules that is right as often as possible.

    It has the maximum number of rules, unless fewer are enough. At the end every rule
    is replaced, `passes` times.
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
            short, n_rules = _rechosen(task, short), 2 * n_rules
    for _ in range(passes):
        short = _rechosen(task, short)
        while _needs_more(task, short, aim):
            short = _extended(task, short)
    if _right(task, short) >= aim.least:
        short = _with_fewer(task, short, aim)
    n_columns = int(np.sum(sizes))
    boxes = np.array([box for box, _ in short.rules], dtype=np.bool_)
    classes = np.array([answer for _, answer in short.rules], dtype=np.int64)
    return Rules(boxes.reshape(-1, n_columns), classes, short.default)


def weights_of(table: NDArray[np.uint8], counts: Classes | None) -> NDArray[np.int64]:
    """Return the weight of each input."""
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
    """Return whether another rule is wanted, and can help."""
    if len(short.rules) >= aim.most or _right(task, short) >= aim.least:
        return False
    return bool(task.weights[short.answers != task.classes].any())


def _right(task: _Task, short: _Short) -> int:
    """Return how many possible inputs are right."""
    return int(((short.answers == task.classes) & (task.weights > 0)).sum())


def _best_default(task: _Task, left: NDArray[np.bool_]) -> int:
    weights = task.weights[left]
    return int(np.bincount(task.classes[left], weights, task.n_classes).argmax())


def _extended(task: _Task, short: _Short) -> _Short:
    """Put the rule with the largest gain at the top."""
    everything = np.ones(len(task.classes), dtype=np.bool_)
    best = _best_rule(task, everything, short.answers)
    assert best is not None, "some input is wrong, and a rule for it alone gains"
    box, answer = best
    answers = np.where(inside(task.grid, box), answer, short.answers)
    return _Short(((box, answer), *short.rules), short.default, answers)


def _rechosen(task: _Task, short: _Short) -> _Short:
    """Replace the default and, from the bottom, every rule; drop useless rules."""
    above = np.zeros(len(task.classes), dtype=np.int32)
    for box, _ in short.rules:
        above += inside(task.grid, box)
    default = _best_default(task, above == 0)
    below = np.full(len(task.classes), default)
    rules: list[tuple[Box, int]] = []
    for rule in reversed(short.rules):
        above -= inside(task.grid, rule[0])
        better = _best_rule(task, above == 0, below, rule)
        if better is not None:
            below[inside(task.grid, better[0])] = better[1]
            rules.append(better)
    return _Short(tuple(reversed(rules)), default, below)


def _best_rule(
    task: _Task,
    reaching: NDArray[np.bool_],
    below: Classes,
    present: tuple[Box, int] | None = None,
) -> tuple[Box, int] | None:
    """Return the rule with the largest gain, given which inputs reach it.

    `below` is the prediction without it. The search starts from inputs that are wrong,
    and from the present box. None if no rule has a gain.
    """
    task.work.meter.spend()
    weights = np.where(reaching, task.weights, 0.0)
    lost = np.where(below == task.classes, weights, 0.0)
    best_gain, best_rule = 0.0, None
    for answer in range(task.n_classes):
        of_class = np.where(task.classes == answer, weights, 0.0)
        starts = _starts(task, of_class - np.where(task.classes == answer, lost, 0.0))
        if present is not None and present[1] == answer:
            starts = np.concatenate([starts, present[0][np.newaxis]])
        if not len(starts):
            continue
        gain, box = heaviest(task.grid, of_class - lost, starts)
        if gain > best_gain:
            best_gain, best_rule = gain, (box, answer)
    return best_rule


def _starts(task: _Task, wrong: Floats) -> NDArray[np.bool_]:
    """Return random inputs as boxes, drawn by the gain of getting them right."""
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
    """Drop rules with the smallest gain, as long as enough inputs are right."""
    n_fewer = 1 + len(short.rules) // 16
    for _ in range(_DROPS):
        order = np.argsort(_gains(task, short), kind="stable")
        kept = sorted(order[n_fewer:].tolist())
        rest = tuple(short.rules[index] for index in kept)
        fewer = _rechosen(task, _Short(rest, short.default, short.answers))
        if len(fewer.rules) < len(short.rules) and _right(task, fewer) >= aim.least:
            short = fewer
        elif n_fewer == 1:
            break
        else:
            n_fewer //= 2
    return short


def _gains(task: _Task, short: _Short) -> list[float]:
    """Return the gain of each rule in its place."""
    above = np.zeros(len(task.classes), dtype=np.int32)
    for box, _ in short.rules:
        above += inside(task.grid, box)
    below = np.full(len(task.classes), short.default)
    gains = []
    for box, answer in reversed(short.rules):
        covered = inside(task.grid, box)
        above -= covered
        weights = np.where(covered & (above == 0), task.weights, 0.0)
        right = weights[task.classes == answer].sum()
        gains.append(float(right - weights[below == task.classes].sum()))
        below[covered] = answer
    return gains[::-1]
