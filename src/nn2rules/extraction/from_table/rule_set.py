"""Rules that are each true on their own, in any order, and a lower bound on them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Meter, Pace
from nn2rules.errors import BudgetExceededError
from nn2rules.extraction._kernels.greedy import independent
from nn2rules.extraction.effort import Effort, generator
from nn2rules.extraction.from_table.greedy import Run, choose
from nn2rules.extraction.from_table.packing import Rules, State, state_of
from nn2rules.extraction.from_table.polish import polish
from nn2rules.extraction.from_table.runs import Work, best_run


def rule_set(
    table: NDArray[np.uint8],
    sizes: Sequence[int],
    work: Work,
    *,
    wanted: Sequence[int],
    default: int,
) -> Rules:
    """Return rules whose boxes each hold inputs of their own class only.

    They are those of the classes `wanted`, each covered for itself. `default` is the
    class of what they leave, if they leave anything.
    """
    state = state_of(table, sizes, at_least=max(1, *wanted) + 1)
    done: list[Rules] = []
    keep = work.keep or work.meter.keep

    def so_far(rules: Rules | None) -> Rules:
        is_last = len(done) + 1 == len(wanted)
        parts = done if rules is None else [*done, rules]
        return _joined(parts, state, default, is_complete=is_last and rules is not None)

    for index in wanted:
        own = replace(work, keep=lambda found: keep(lambda: so_far(found())))
        attempt = partial(_attempt, state, index, work.effort)
        attempts = [(run, attempt) for run in range(work.effort.runs)]
        done.append(best_run(attempts, state, own))
    return _joined(done, state, default, is_complete=True)


def _joined(
    parts: Sequence[Rules], state: State, default: int, *, is_complete: bool
) -> Rules:
    """Return the rules of several classes as one."""
    nothing = np.zeros((0, int(state.space.pack.offsets[-1])), dtype=np.bool_)
    return Rules(
        np.concatenate([nothing, *(part.boxes for part in parts)]),
        np.concatenate([np.zeros(0, np.int64), *(part.classes for part in parts)]),
        default,
        is_complete and all(part.is_complete for part in parts),
    )


def _attempt(state: State, wanted: int, effort: Effort, run: Run) -> Rules:
    """Build one cover of a class and improve it; the default is of any other."""
    todo = _inputs_of(state, [wanted])
    chosen = choose(
        state, todo[np.newaxis], todo, is_ordered=False, effort=effort, run=run
    )
    return polish(
        replace(chosen, default=int(wanted == 0)),
        state,
        todo,
        is_ordered=False,
        effort=effort,
        run=run,
    )


def _inputs_of(state: State, wanted: Sequence[int]) -> NDArray[np.uint64]:
    """Return the inputs of some classes."""
    inputs: NDArray[np.uint64] = np.bitwise_or.reduce(state.live[list(wanted)])
    return state.open & inputs


def lower_bound(
    table: NDArray[np.uint8],
    sizes: Sequence[int],
    *,
    wanted: Sequence[int],
    seed: int = 0,
    rounds: int | None = None,
    meter: Meter | None = None,
) -> int:
    """Return a number of rules that no set for the classes `wanted` can go below.

    The best of `rounds` random families of inputs, no two of which fit in one pure box:
    each needs a rule of its own. When the budget is spent, the best so far.
    """
    state, meter = state_of(table, sizes, at_least=max(wanted) + 1), meter or Meter()
    todo = _inputs_of(state, wanted)
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
