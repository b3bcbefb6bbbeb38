"""The shortest exact decision list that can be found with a given effort."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nn2rules.cover.effort import Effort, generator
from nn2rules.cover.greedy import best_run, choose, polish
from nn2rules.cover.packing import Rules, State, state_of
from nn2rules.engine import Meter


def decision_list(
    table: NDArray[np.uint8],
    sizes: Sequence[int],
    *,
    seed: int = 0,
    effort: Effort,
    meter: Meter | None = None,
    n_jobs: int | None = None,
    tidy: Callable[[Rules], Rules] | None = None,
) -> Rules:
    """Return an ordered list of rules equal to the table on every input.

    The shortest of `effort.runs` runs; among equals the earliest. A run depends on the
    seed and its own number alone, so runs can be shared out to threads, and more runs
    never give more rules.
    """
    state, meter = state_of(table, sizes), meter or Meter()
    runs = [
        partial(_run, state, seed, run, effort, meter) for run in range(effort.runs)
    ]
    return best_run(runs, state, n_jobs, tidy)


def _run(state: State, seed: int, run: int, effort: Effort, meter: Meter) -> Rules:
    """Build one list and improve it."""
    rng = generator(seed, run)
    chosen = choose(
        state,
        state.open[np.newaxis],
        state.open,
        is_ordered=True,
        effort=effort,
        rng=rng,
        meter=meter,
    )
    better = polish(
        without_default(chosen),
        state,
        state.open,
        is_ordered=True,
        effort=effort,
        rng=rng,
        meter=meter,
    )
    return without_idle_end(better)


def without_default(rules: Rules) -> Rules:
    """Let the class of the last rule be the default, and drop the rules it answers."""
    if not len(rules):
        return rules
    return without_idle_end(Rules(rules.boxes, rules.classes, int(rules.classes[-1])))


def without_idle_end(rules: Rules) -> Rules:
    """Drop the rules at the end that say what the default says."""
    n_kept = len(rules)
    while n_kept and rules.classes[n_kept - 1] == rules.default:
        n_kept -= 1
    return Rules(rules.boxes[:n_kept], rules.classes[:n_kept], rules.default)
