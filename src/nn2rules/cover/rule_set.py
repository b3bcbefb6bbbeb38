"""Rules of every class but the default, in any order, and a lower bound on them."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nn2rules.cover._kernels.greedy import independent
from nn2rules.cover.effort import Effort, generator
from nn2rules.cover.greedy import Run, choose
from nn2rules.cover.packing import DONT_CARE, Rules, State, state_of
from nn2rules.cover.polish import polish
from nn2rules.cover.runs import Work, best_run
from nn2rules.engine import Meter
from nn2rules.engine.budget import Pace
from nn2rules.errors import BudgetExceededError


def rule_set(
    table: NDArray[np.uint8],
    sizes: Sequence[int],
    work: Work,
    *,
    default: int | None = None,
) -> Rules:
    """Return rules whose boxes each hold inputs of their own class only.

    `default` is the class without rules; if None every class is tried and the one that
    leaves the fewest rules is taken.
    """
    at_least = 1 if default is None else default + 1  # kernels read the default's set
    state = state_of(table, sizes, at_least=at_least)
    present = np.unique(table[table != DONT_CARE]).tolist() or [0]
    defaults = present if default is None else [default]
    attempts = [
        (run, partial(_attempt, state, index, work.effort))
        for run in range(work.effort.runs)
        for index in defaults
    ]
    return best_run(attempts, state, work)


def _attempt(state: State, default: int, effort: Effort, run: Run) -> Rules:
    """Build one cover of the other classes and improve it."""
    todo = _others(state, default)
    chosen = choose(
        state, todo[np.newaxis], todo, is_ordered=False, effort=effort, run=run
    )
    return polish(
        Rules(chosen.boxes, chosen.classes, default),
        state,
        todo,
        is_ordered=False,
        effort=effort,
        run=run,
    )


def _others(state: State, default: int) -> NDArray[np.uint64]:
    """Return the inputs of every class but the default."""
    others: NDArray[np.uint64] = state.open & ~state.live[default]
    return others


def lower_bound(
    table: NDArray[np.uint8],
    sizes: Sequence[int],
    *,
    default: int,
    seed: int = 0,
    rounds: int | None = None,
    meter: Meter | None = None,
) -> int:
    """Return a number of rules that no rule set with this default can go below.

    The best of `rounds` random families of inputs, no two of which fit in one pure box:
    each needs a rule of its own. When the budget is spent, the best so far.
    """
    state, meter = state_of(table, sizes, at_least=default + 1), meter or Meter()
    todo = _others(state, default)
    rng = generator(seed, 0)
    if rounds is None:
        rounds = 200 if len(table) <= 15_000 else 20
    best, pace = 0, Pace()
    try:
        for _ in range(rounds):
            for size in _family(state, todo.copy(), rng, meter, pace):
                best = max(best, size)
    except BudgetExceededError:
        pass
    return best


def _family(
    state: State,
    left: NDArray[np.uint64],
    rng: NDArray[np.uint64],
    meter: Meter,
    pace: Pace,
) -> Iterator[int]:
    """Collect inputs of `left`, no two of which fit in one pure box; yield how many."""
    words, _ = state.space.scratch()
    n_columns = int(state.space.pack.offsets[-1])
    chosen = np.zeros((0, n_columns), dtype=np.bool_)
    labels, count = np.zeros(0, dtype=np.int64), 0
    nothing = np.zeros((1, len(left)), dtype=np.uint64)
    n_left = int(np.bitwise_count(left).sum(dtype=np.int64))
    for start, stop in meter.pieces(n_left + 1, pace):  # the last finds none
        more = max(0, count + stop - start - len(labels))
        chosen = np.concatenate([chosen, np.zeros((more, n_columns), np.bool_)])
        labels = np.concatenate([labels, np.zeros(more, np.int64)])
        count = independent(
            state.live,
            state.open,
            left,
            chosen,
            labels,
            count,
            stop - start,
            nothing,
            rng,
            state.space.pack,
            words,
        )
        yield count
