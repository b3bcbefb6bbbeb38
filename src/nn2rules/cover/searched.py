"""Rules proved by search, for domains too large for a table.

Rows say what matters: rows of data (support scope), or inputs drawn at random that no
rule decides yet (domain scope). From a row a box is grown, value by value, each proved
by the oracle; of several such boxes the one that decides most rows becomes a rule.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nn2rules.cover._kernels import growth
from nn2rules.domain import Domain
from nn2rules.engine import Oracle
from nn2rules.engine._kernels.network import FlatNetwork
from nn2rules.engine.flat import workspace
from nn2rules.engine.threads import in_threads
from nn2rules.errors import BudgetExceededError

Found = Callable[[int, float], None]
"""Called after each rule, with the number of rules and the share that is decided."""

_SLAB_BOXES = 500
_SAMPLE = 4096
_WITNESS_BOXES = 1 << 20
_WITNESS_WORK = 1 << 27  # comparisons of values between two looks at the clock
_GROWTH_WORK = 1 << 24  # the same, of multiplications


@dataclass(slots=True)
class Cover:
    """Rules found so far: boxes, the positions of their classes, and the default's."""

    boxes: list[NDArray[np.bool_]] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    default: int = 0

    def array(self, n_columns: int) -> NDArray[np.bool_]:
        """Return the boxes as one array."""
        return np.array(self.boxes, dtype=np.bool_).reshape(-1, n_columns)


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


def cover_rows(
    oracle: Oracle,
    codes: NDArray[np.int64],
    weights: NDArray[np.float64],
    answers: NDArray[np.int64],
    goal: Goal,
    *,
    cover: Cover | None = None,
    impossible: NDArray[np.bool_] | None = None,
    found: Found | None = None,
    is_enough: Callable[[], bool] | None = None,
) -> Cover:
    """Return rules that decide every row, the ones that decide most first.

    Parameters
    ----------
    oracle : Oracle
    codes : ndarray of shape (n_rows, n_features)
        Different rows.
    weights : ndarray of shape (n_rows,)
        How often each occurs.
    answers : ndarray of shape (n_rows,)
        The positions of their classes, exactly.
    goal : Goal
    cover : Cover, optional
        Rules found before, which are extended in place.
    impossible : ndarray of bool, shape (n_boxes, n_columns), optional
        Boxes of inputs that do not count.
    found : callable, optional
        Told of each rule.
    is_enough : callable, optional
        Tells whether to stop before every row is decided.
    """
    cover = Cover() if cover is None else cover
    n_columns = int(oracle.network.domain.offsets[-1])
    if impossible is None:
        impossible = np.zeros((0, n_columns), dtype=np.bool_)
    grower = _Grower(oracle, codes, goal)
    columns = grower.columns
    open_ = np.ones(len(codes), dtype=np.bool_)
    for box in (*cover.boxes, *impossible):
        open_ &= ~box[columns].all(axis=1)
    total, pool = float(weights.sum()), _Pool(goal.tries)
    while open_.any() and not (is_enough is not None and is_enough()):
        oracle.meter.spend()
        ignored = np.concatenate([impossible, cover.array(n_columns)])
        ignored = ignored if goal.is_ordered else impossible
        left = np.where(open_, weights, 0.0)
        new = grower.grow(len(cover.boxes), left, answers, ignored)
        box, answer = pool.best(new, columns, left)
        cover.boxes.append(box)
        cover.answers.append(answer)
        open_ &= ~box[columns].all(axis=1)
        if found is not None:
            found(len(cover.boxes), 1 - float(weights[open_].sum()) / total)
    return cover


class _Grower:
    """Grows boxes from rows; one workspace for each try, so that threads can share."""

    def __init__(self, oracle: Oracle, codes: NDArray[np.int64], goal: Goal) -> None:
        self.goal, self.oracle, self.meter = goal, oracle, oracle.meter
        self.nets: Sequence[FlatNetwork] = oracle.nets
        self.offsets = oracle.network.domain.offsets
        self.columns = codes + self.offsets[:-1]
        self.lines = _lines(oracle.network.domain)
        n_columns, n_features = int(self.offsets[-1]), codes.shape[1]
        self.spaces = [
            (
                [workspace(net) for net in self.nets],
                np.zeros((n_columns + 2, n_columns), dtype=np.bool_),
                np.zeros((1, n_features), dtype=np.int64),
            )
            for _ in range(goal.tries)
        ]

    def grow(
        self,
        number: int,
        left: NDArray[np.float64],
        answers: NDArray[np.int64],
        ignored: NDArray[np.bool_],
    ) -> list[tuple[NDArray[np.bool_], int]]:
        """Grow a box from each of several rows, drawn by weight."""
        rng = np.random.default_rng([self.goal.seed, number])
        chance = left / left.sum()
        n_open = int(np.count_nonzero(left))
        tries = min(self.goal.tries, n_open)
        rows = rng.choice(len(left), size=tries, replace=False, p=chance)
        noise = rng.uniform(0.7, 1.3, size=(tries, int(self.offsets[-1])))
        noise[0] = 1.0
        tasks = [
            partial(self._grow_one, i, int(row), noise[i], left, answers, ignored)
            for i, row in enumerate(rows)
        ]
        grown = list(in_threads(tasks, self.goal.n_jobs, self.meter.stop))
        self.oracle.n_questions += sum(n_slabs for _, _, n_slabs, _ in grown)
        self.meter.spend(sum(n_boxes for _, _, _, n_boxes in grown))
        return [(box, answer) for box, answer, _, _ in grown]

    def _grow_one(
        self,
        index: int,
        row: int,
        noise: NDArray[np.float64],
        left: NDArray[np.float64],
        answers: NDArray[np.int64],
        ignored: NDArray[np.bool_],
    ) -> tuple[NDArray[np.bool_], int, int, int]:
        """Return a box, its class, and how many slabs and boxes were searched."""
        spaces, stack, ties = self.spaces[index]
        answer = int(answers[row])
        box = np.zeros(int(self.offsets[-1]), dtype=np.bool_)
        box[self.columns[row]] = True
        blocked, same = box.copy(), answers == answer
        columns, weights = self.columns[same], left[same]
        slab = np.array([-1, 0, 0], dtype=np.int64)
        n_slabs = n_boxes = 0
        is_grown = False
        while not is_grown:
            is_grown, slabs, boxes = growth.grow(
                self.nets[answer],
                spaces[answer],
                stack,
                ignored,
                ties,
                _SLAB_BOXES,
                box,
                blocked,
                slab,
                columns,
                weights,
                noise,
                self.lines,
                _GROWTH_WORK,
            )
            n_slabs, n_boxes = n_slabs + int(slabs), n_boxes + int(boxes)
            self.meter.spend()
        return box, answer, n_slabs, n_boxes


def _lines(domain: Domain) -> NDArray[np.int64]:
    """Return which values are numbers in a row: the feature's position, or -1."""
    lines = np.full(int(domain.offsets[-1]), -1, dtype=np.int64)
    for index, feature in enumerate(domain.features):
        if feature.has_numbers:
            start = int(domain.offsets[index])
            lines[start : start + feature.n_plain] = index
    return lines


class _Pool:
    """Boxes that were grown but not chosen; they stay right, so they are kept."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.boxes: list[tuple[NDArray[np.bool_], int]] = []

    def best(
        self,
        new: list[tuple[NDArray[np.bool_], int]],
        columns: NDArray[np.int64],
        left: NDArray[np.float64],
    ) -> tuple[NDArray[np.bool_], int]:
        """Take out the box that decides most, of the new ones and of those kept."""
        candidates = [*new, *self.boxes]
        gains = [float(left[box[columns].all(axis=1)].sum()) for box, _ in candidates]
        order = sorted(range(len(candidates)), key=lambda index: -gains[index])
        self.boxes = [candidates[i] for i in order[1 : self.size + 1] if gains[i] > 0]
        return candidates[order[0]]


def cover_domain(
    oracle: Oracle,
    goal: Goal,
    *,
    cover: Cover,
    impossible: NDArray[np.bool_] | None = None,
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
    n_columns = int(network.domain.offsets[-1])
    given = (
        np.zeros((0, n_columns), dtype=np.bool_) if impossible is None else impossible
    )
    while True:
        taken = np.concatenate([given, cover.array(n_columns)])
        codes = _undecided(oracle, taken, rng)
        if codes is None:
            return True
        if is_enough is not None and is_enough():
            return False
        cover_rows(
            oracle,
            codes,
            np.ones(len(codes)),
            network.predict_codes(codes),
            goal,
            cover=cover,
            impossible=given,
            found=found,
            is_enough=is_enough,
        )


def _undecided(
    oracle: Oracle, taken: NDArray[np.bool_], rng: np.random.Generator
) -> NDArray[np.int64] | None:
    """Return inputs that lie in none of `taken`, or None if there are none."""
    domain = oracle.network.domain
    sizes = np.array(domain.sizes)
    codes = rng.integers(sizes, size=(_SAMPLE, len(sizes)))
    columns = codes + domain.offsets[:-1]
    open_ = np.ones(_SAMPLE, dtype=np.bool_)
    for box in taken:
        open_ &= ~box[columns].all(axis=1)
    if open_.any():
        return np.unique(codes[open_], axis=0)
    witness = find_uncovered(oracle, taken)
    return None if witness is None else witness[np.newaxis]


def find_uncovered(
    oracle: Oracle, boxes: NDArray[np.bool_]
) -> NDArray[np.int64] | None:
    """Return an input that lies in none of `boxes`, or None: there is none, proved.

    Raises
    ------
    BudgetExceededError
        If neither is found within the search's limit.
    """
    domain = oracle.network.domain
    n_columns, n_features = int(domain.offsets[-1]), len(domain.sizes)
    stack = np.zeros((n_columns * n_features + 2, n_columns), dtype=np.bool_)
    found = np.zeros(n_features, dtype=np.int64)
    stack[0], top = True, 1
    batch = max(1, _WITNESS_WORK // (n_columns * max(1, len(boxes))))
    for _ in range(0, _WITNESS_BOXES, batch):
        status, top = growth.first_uncovered(
            domain.offsets, boxes, stack, top, found, batch
        )
        oracle.meter.spend()
        if status >= 0:
            return found if status else None
    raise BudgetExceededError(
        f"whether the {len(boxes):,} rules decide every input is still open after "
        f"{_WITNESS_BOXES:,} boxes"
    )
