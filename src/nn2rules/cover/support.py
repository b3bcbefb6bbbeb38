"""Rules that decide every row of the data, each exact on every input it decides."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nn2rules.cover.effort import Effort, generator
from nn2rules.cover.greedy import best_run, choose
from nn2rules.cover.packing import DONT_CARE, Rules, state_of
from nn2rules.engine import Meter

_RUNS, _TRIES, _STEPS = 3, 128, 512  # rows are fewer than inputs: try harder


def support_rules(
    table: NDArray[np.uint8],
    sizes: Sequence[int],
    counts: NDArray[np.int64],
    *,
    is_ordered: bool,
    default: int,
    seed: int = 0,
    effort: Effort,
    meter: Meter | None = None,
    n_jobs: int | None = None,
    tidy: Callable[[Rules], Rules] | None = None,
) -> Rules:
    """Return rules that decide every input with a positive count.

    Parameters
    ----------
    table, sizes
        The class of every input, and the number of values of each feature.
    counts : ndarray of int, shape (n_inputs,)
        How often each input occurs in the data.
    is_ordered : bool
        A list, of rules of all classes; or a set, of all but the default.
    default : int
        The class of what no rule decides; nothing is proved about it.
    """
    state, meter = state_of(table, sizes), meter or Meter()
    effort = replace(effort, tries=_TRIES, steps=_STEPS)
    wanted = (counts > 0) & (table != DONT_CARE)
    if not is_ordered:
        wanted &= table != default
    todo = state.space.set_of(wanted)
    want = state.space.planes_of(np.where(wanted, counts, 0))

    def run(number: int) -> Rules:
        chosen = choose(
            state,
            want,
            todo,
            is_ordered=is_ordered,
            effort=effort,
            rng=generator(seed, number),
            meter=meter,
        )
        return replace(chosen, default=default)

    numbers = range(max(effort.runs, _RUNS))
    return best_run([partial(run, number) for number in numbers], state, n_jobs, tidy)
