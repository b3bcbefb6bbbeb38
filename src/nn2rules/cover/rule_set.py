"""Rules of every class but the default, in any order, and a lower bound on them."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nn2rules.cover._kernels.greedy import independent
from nn2rules.cover.effort import Effort, generator
from nn2rules.cover.greedy import best_run, choose, polish
from nn2rules.cover.packing import DONT_CARE, Rules, State, state_of
from nn2rules.engine import Meter


def rule_set(
    table: NDArray[np.uint8],
    sizes: Sequence[int],
    *,
    default: int | None = None,
    seed: int = 0,
    effort: Effort,
    meter: Meter | None = None,
    n_jobs: int | None = None,
    tidy: Callable[[Rules], Rules] | None = None,
) -> Rules:
    """Return rules whose boxes each hold inputs of their own class only.

    `default` is the class without rules; if None every class is tried and the one that
    leaves the fewest rules is taken.
    """
    at_least = 1 if default is None else default + 1  # kernels read the default's set
    state, meter = state_of(table, sizes, at_least=at_least), meter or Meter()
    present = np.unique(table[table != DONT_CARE]).tolist() or [0]
    defaults = present if default is None else [default]
    runs = [
        partial(_run, state, index, seed, run, effort, meter)
        for run in range(effort.runs)
        for index in defaults
    ]
    return best_run(runs, state, n_jobs, tidy)


def _run(
    state: State, default: int, seed: int, run: int, effort: Effort, meter: Meter
) -> Rules:
    """Build one cover of the other classes and improve it."""
    rng = generator(seed, run)
    todo = _others(state, default)
    chosen = choose(
        state,
        todo[np.newaxis],
        todo,
        is_ordered=False,
        effort=effort,
        rng=rng,
        meter=meter,
    )
    return polish(
        Rules(chosen.boxes, chosen.classes, default),
        state,
        todo,
        is_ordered=False,
        effort=effort,
        rng=rng,
        meter=meter,
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
) -> int:
    """Return a number of rules that no rule set with this default can go below.

    The best of `rounds` random families of inputs, no two of which fit in one pure box:
    each needs a rule of its own.
    """
    state = state_of(table, sizes, at_least=default + 1)
    todo = _others(state, default)
    rng = generator(seed, 0)
    if rounds is None:
        rounds = 200 if len(table) <= 15_000 else 20
    found = (
        int(independent(state.live, state.open, todo, rng, state.space.pack))
        for _ in range(rounds)
    )
    return max(found, default=0)
