"""Rules proved by search, for domains too large for a table.

Rows say what matters: rows of data (support scope), or inputs drawn at random that no
rule decides yet (domain scope). From a row a box is grown, value by value, each proved
by the oracle; of several such boxes the one that decides most rows becomes a rule.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nn2rules.cover._kernels import growth
from nn2rules.cover.growing import Goal, Grower, Pool
from nn2rules.engine import Oracle
from nn2rules.errors import BudgetExceededError

Found = Callable[[int, float], None]
"""Called after each rule, with the number of rules and the share that is decided."""

_SAMPLE = 4096
_WITNESS_BOXES = 1 << 20
_WITNESS_WORK = 1 << 27  # comparisons of values between two looks at the clock


@dataclass(slots=True)
class Cover:
    """Rules found so far: boxes, the positions of their classes, and the default's."""

    boxes: list[NDArray[np.bool_]] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    default: int = 0

    def array(self, n_columns: int) -> NDArray[np.bool_]:
        """Return the boxes as one array."""
        return np.array(self.boxes, dtype=np.bool_).reshape(-1, n_columns)


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
    grower = Grower(oracle, codes, goal)
    columns = grower.columns
    open_ = np.ones(len(codes), dtype=np.bool_)
    for box in (*cover.boxes, *impossible):
        open_ &= ~box[columns].all(axis=1)
    total, pool = float(weights.sum()), Pool(goal.tries)
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
