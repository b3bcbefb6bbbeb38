"""Rules proved by search, for domains too large for a table.

Rows say what matters: rows of data (support scope), or inputs drawn at random that no
rule decides yet (domain scope). From a row a box is grown, slab by slab, each proved
by search; of several such boxes the one that decides most rows becomes a rule.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nn2rules.cover._kernels import covering, growth
from nn2rules.domain import Domain
from nn2rules.engine import Oracle
from nn2rules.engine._kernels.boxes import Boxes, Points
from nn2rules.engine.flat import boxes_at_once, points, room, workspace
from nn2rules.engine.threads import in_threads
from nn2rules.errors import BudgetExceededError

Found = Callable[[int, float], None]
"""Called after each rule, with the number of rules and the share that is decided."""

_LIMITS = np.array([500, 30], dtype=np.int64)
"""Boxes to search for a slab that brings a row, and for one that brings none."""

_KNOWN = 1024
_SAMPLE = 4096
_WITNESS_BOXES = 1 << 20
_HALVES = 200
_WITNESS_WORK = 1 << 27  # comparisons of values between two looks at the clock


@dataclass(slots=True)
class Cover:
    """Rules found so far: boxes, the positions of their classes, and the default's."""

    allowed: list[NDArray[np.bool_]] = field(default_factory=list)
    ends: list[NDArray[np.float64]] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    default: int = 0

    def boxes(self, domain: Domain) -> Boxes:
        """Return the boxes in two arrays."""
        n_rules = min(len(self.ends), len(self.answers))  # if stopped between the two
        return Boxes(
            np.array(self.allowed[:n_rules], dtype=np.bool_).reshape(
                -1, int(domain.offsets[-1])
            ),
            np.array(self.ends[:n_rules]).reshape(-1, 2, len(domain.sizes)),
        )


@dataclass(frozen=True)
class Goal:
    """What is wanted of a cover.

    Attributes
    ----------
    is_ordered : bool
        Whether what earlier rules decide is don't-care for later ones.
    tries : int
        How many boxes are grown for each rule.
    seed : int
    n_jobs : int or None
        How many threads grow boxes; the result does not depend on it.
    """

    is_ordered: bool
    tries: int
    seed: int
    n_jobs: int | None = None


@dataclass(frozen=True)
class Cases:
    """Rows to be decided: inputs, how often each occurs, their classes, exactly.

    Attributes
    ----------
    inputs : Points
        All different.
    weights : ndarray of float64
        How much it is worth to decide a row: 0 for rows that only say where other
        classes begin.
    answers : ndarray of int64
    """

    inputs: Points
    weights: NDArray[np.float64]
    answers: NDArray[np.int64]


def held_by(
    domain: Domain,
    allowed: NDArray[np.bool_],
    ends: NDArray[np.float64],
    inputs: Points,
) -> NDArray[np.bool_]:
    """Tell which inputs a box holds."""
    columns = inputs.codes + domain.offsets[:-1]
    held: NDArray[np.bool_] = allowed[columns].all(axis=1)
    for feature in np.flatnonzero(domain.ranges >= 0):
        numbers = inputs.numbers[:, feature]
        inside = (ends[0, feature] <= numbers) & (numbers <= ends[1, feature])
        held &= inside | (columns[:, feature] != domain.ranges[feature])
    return held


def cover_rows(
    oracle: Oracle,
    cases: Cases,
    goal: Goal,
    *,
    cover: Cover,
    impossible: Boxes,
    found: Found | None = None,
    is_enough: Callable[[], bool] | None = None,
) -> None:
    """Add rules to `cover` until they decide every row, those that decide most first.

    Parameters
    ----------
    oracle : Oracle
    cases : Cases
    goal : Goal
    cover : Cover
        Rules found before, which are extended in place.
    impossible : Boxes
        Inputs inside these do not count.
    found : callable, optional
        Told of each rule.
    is_enough : callable, optional
        Tells whether to stop before every row is decided.
    """
    domain, weights = oracle.network.domain, cases.weights
    grower = _Grower(oracle, cases, goal)
    holds = partial(held_by, domain, inputs=cases.inputs)
    possible = np.ones(len(weights), dtype=np.bool_)
    for allowed, ends in zip(*impossible, strict=True):
        possible &= ~holds(allowed, ends)
    open_ = possible.copy()
    for allowed, ends in zip(*cover.boxes(domain), strict=True):
        open_ &= ~holds(allowed, ends)
    total, pool = float(weights.sum()), _Pool(goal.tries, holds)
    while (weights[open_] > 0).any() and not (is_enough is not None and is_enough()):
        oracle.meter.spend()
        ignored = impossible
        if goal.is_ordered:
            both = zip(impossible, cover.boxes(domain), strict=True)
            ignored = Boxes(*(np.concatenate(pair) for pair in both))
        others = open_ if goal.is_ordered else possible
        left = np.where(open_, weights, 0.0)
        new = grower.grow(len(cover.answers), left, others, ignored)
        allowed, ends, answer = pool.best(new, left)
        cover.allowed.append(allowed)
        cover.ends.append(ends)
        cover.answers.append(answer)
        open_ &= ~holds(allowed, ends)
        if found is not None:
            found(len(cover.answers), 1 - float(weights[open_].sum()) / total)


Grown = tuple[NDArray[np.bool_], NDArray[np.float64], int]
"""A box, as what it allows and the ends of its ranges, and the position of its class."""


class _Grower:
    """Grows boxes from rows; a desk for each try and class, so that threads can share."""

    def __init__(self, oracle: Oracle, cases: Cases, goal: Goal) -> None:
        self.goal, self.oracle, self.cases = goal, oracle, cases
        domain = oracle.network.domain
        self.columns = cases.inputs.codes + domain.offsets[:-1]
        self.plan = growth.Plan(domain.limits, _lines(domain), _LIMITS)
        self.desks = [
            [
                growth.Desk(
                    workspace(net),
                    room(net),
                    room(net, 0),
                    points(net, 1),
                    points(net, _KNOWN),
                    np.zeros(3, dtype=np.int64),
                )
                for net in oracle.nets
            ]
            for _ in range(goal.tries)
        ]

    def grow(
        self,
        number: int,
        left: NDArray[np.float64],
        others: NDArray[np.bool_],
        ignored: Boxes,
    ) -> list[Grown]:
        """Grow a box from each of several rows, drawn by weight.

        Rows of other classes stay outside where `others` is true.
        """
        rng = np.random.default_rng([self.goal.seed, number])
        chance = left / left.sum()
        tries = min(self.goal.tries, int(np.count_nonzero(left)))
        rows = rng.choice(len(left), size=tries, replace=False, p=chance)
        n_columns, n_features = len(self.plan.lines), self.columns.shape[1]
        noise = rng.uniform(0.7, 1.3, size=(tries, n_columns + 2 * n_features))
        noise[0] = 1.0
        answers = self.cases.answers
        tasks = []
        for index, row in enumerate(rows):
            same = answers == answers[row]
            worth = np.where(same, left, np.where(others, -1.0, 0.0))
            tasks.append(
                partial(self._grow_one, index, int(row), noise[index], worth, ignored)
            )
        meter = self.oracle.meter
        grown = list(in_threads(tasks, self.goal.n_jobs, meter.stop))
        self.oracle.n_questions += sum(n_questions for _, n_questions, _ in grown)
        meter.spend(sum(n_boxes for _, _, n_boxes in grown))
        return [box for box, _, _ in grown]

    def _grow_one(
        self,
        index: int,
        row: int,
        noise: NDArray[np.float64],
        worth: NDArray[np.float64],
        ignored: Boxes,
    ) -> tuple[Grown, int, int]:
        """Return a box with its class, and how many questions and boxes it took."""
        answer = int(self.cases.answers[row])
        net, desk = self.oracle.nets[answer], self.desks[index][answer]
        desk = desk._replace(ignored=ignored)
        start = self._start(row, noise)
        crowd = growth.Crowd(self.columns, self.cases.inputs.numbers, worth)
        before = desk.counts.copy()
        while not growth.grow(net, desk, crowd, self.plan, start, boxes_at_once(net)):
            self.oracle.meter.spend()
        _, n_boxes, n_questions = (desk.counts - before).tolist()
        return (start.box, start.ends, answer), n_questions, n_boxes

    def _start(self, row: int, noise: NDArray[np.float64]) -> growth.Growth:
        """Return the box of one row."""
        ranges, ends = self.oracle.network.domain.ranges, self.plan.bounds.copy()
        is_number = self.columns[row] == ranges
        ends[:, is_number] = self.cases.inputs.numbers[row, is_number]
        box = np.zeros(len(self.plan.lines), dtype=np.bool_)
        box[self.columns[row]] = True
        walls = np.full_like(ends, np.inf)
        walls[0] = -np.inf
        failed = np.zeros(ends.shape, dtype=np.int64)
        return growth.Growth(box, ends, box.copy(), walls, failed, noise)


def _lines(domain: Domain) -> NDArray[np.int64]:
    """Return which values are numbers in a row: the feature's position, or -1."""
    lines = np.full(int(domain.offsets[-1]), -1, dtype=np.int64)
    for index, feature in enumerate(domain.features):
        if feature.has_numbers and feature.limits is None:
            start = int(domain.offsets[index])
            lines[start : start + feature.n_plain] = index
    return lines


class _Pool:
    """Boxes that were grown but not chosen; they stay right, so they are kept."""

    def __init__(
        self,
        size: int,
        holds: Callable[[NDArray[np.bool_], NDArray[np.float64]], NDArray[np.bool_]],
    ) -> None:
        self.size, self.holds = size, holds
        self.kept: list[Grown] = []

    def best(self, new: list[Grown], left: NDArray[np.float64]) -> Grown:
        """Take out the box that decides most, of the new ones and of those kept."""
        candidates = [*new, *self.kept]
        gains = [
            float(left[self.holds(box, ends)].sum()) for box, ends, _ in candidates
        ]
        order = sorted(range(len(candidates)), key=lambda index: -gains[index])
        self.kept = [candidates[i] for i in order[1 : self.size + 1] if gains[i] > 0]
        return candidates[order[0]]


def cover_domain(
    oracle: Oracle,
    goal: Goal,
    *,
    cover: Cover,
    impossible: Boxes,
    found: Found | None = None,
    is_enough: Callable[[], bool] | None = None,
) -> bool:
    """Add rules to `cover` until they decide every input of the domain.

    Random inputs that no rule decides are covered like rows; when none can be drawn any
    more, a search looks for one, until it proves that there is none. Returns whether it
    did: false if there were rules enough before.
    """
    network = oracle.network
    rng = np.random.default_rng([goal.seed, 1 << 32])
    while True:
        both = zip(impossible, cover.boxes(network.domain), strict=True)
        inputs = _undecided(
            oracle, Boxes(*(np.concatenate(pair) for pair in both)), rng
        )
        if inputs is None:
            return True
        if is_enough is not None and is_enough():
            return False
        answers = network.predict_codes(*inputs)
        cover_rows(
            oracle,
            Cases(inputs, np.ones(len(answers)), answers),
            goal,
            cover=cover,
            impossible=impossible,
            found=found,
            is_enough=is_enough,
        )


def _undecided(oracle: Oracle, taken: Boxes, rng: np.random.Generator) -> Points | None:
    """Return inputs that lie in none of the boxes, or None if there are none."""
    domain = oracle.network.domain
    inputs = random_inputs(domain, _SAMPLE, rng)
    open_ = np.ones(_SAMPLE, dtype=np.bool_)
    for allowed, ends in zip(*taken, strict=True):
        open_ &= ~held_by(domain, allowed, ends, inputs)
    if open_.any():
        both = np.hstack([inputs.codes[open_], inputs.numbers[open_]])
        _, first = np.unique(both, axis=0, return_index=True)
        return Points(inputs.codes[open_][first], inputs.numbers[open_][first])
    return find_uncovered(oracle, taken)


def random_inputs(domain: Domain, number: int, rng: np.random.Generator) -> Points:
    """Return inputs drawn at random: values alike, numbers alike in their ranges."""
    sizes = np.array(domain.sizes)
    codes = rng.integers(sizes, size=(number, len(sizes)))
    numbers = np.ones(codes.shape)
    for index, feature in enumerate(domain.features):
        if feature.limits is not None:
            low, high = feature.limits
            drawn = rng.uniform(low, high, size=number)
            if feature.whole:
                drawn = np.clip(np.floor(drawn + 0.5), low, high)
            numbers[:, index] = np.where(codes[:, index] == 0, drawn, 1.0)
    return Points(codes, numbers)


def find_uncovered(oracle: Oracle, boxes: Boxes) -> Points | None:
    """Return an input that lies in none of `boxes`, or None: there is none, proved.

    Raises
    ------
    BudgetExceededError
        If neither is found within the search's limit.
    """
    domain, net = oracle.network.domain, oracle.nets[0]
    n_columns, n_features = int(domain.offsets[-1]), len(domain.sizes)
    depth = n_columns + _HALVES * int((domain.ranges >= 0).sum())
    stack, found = room(net, depth * n_features + 2), points(net, 1)
    stack.allowed[0], stack.ends[0], top = True, domain.limits, 1
    batch = max(1, _WITNESS_WORK // (n_columns * max(1, len(boxes.allowed))))
    for _ in range(0, _WITNESS_BOXES, batch):
        status, top = covering.first_uncovered(net, boxes, stack, top, found, batch)
        oracle.meter.spend()
        if status == -2:
            break
        if status >= 0:
            return found if status else None
    raise BudgetExceededError(
        f"whether the {len(boxes.allowed):,} rules decide every input is still open "
        f"after {_WITNESS_BOXES:,} boxes"
    )
