"""Rules that decide every row of the data, each exact on every input it decides."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nn2rules.cover.effort import support_effort
from nn2rules.cover.greedy import Run, choose
from nn2rules.cover.packing import Rules, state_of
from nn2rules.cover.runs import Work, best_run


def support_rules(
    table: NDArray[np.uint8],
    sizes: Sequence[int],
    counts: NDArray[np.int64],
    work: Work,
    *,
    is_ordered: bool,
    wanted: Sequence[int],
    default: int,
) -> Rules:
    """Return rules that decide every input with a positive count.

    Parameters
    ----------
    table, sizes
        The class of every input, and the number of values of each feature.
    counts : ndarray of int, shape (n_inputs,)
        How often each input occurs in the data.
    work : Work
    is_ordered : bool
        Whether a rule may be false where an earlier one decides: a list, or a set.
    wanted : sequence of int
        The classes of the inputs that are to be decided.
    default : int
        The class of what no rule decides; nothing is proved about it.
    """
    state = state_of(table, sizes)
    effort = support_effort(work.effort, len(table))
    rows = (counts > 0) & np.isin(table, wanted)
    todo = state.space.set_of(rows)
    want = state.space.planes_of(np.where(rows, counts, 0))

    def attempt(run: Run) -> Rules:
        chosen = choose(
            state, want, todo, is_ordered=is_ordered, effort=effort, run=run
        )
        return replace(chosen, default=default)

    return best_run([(run, attempt) for run in range(effort.runs)], state, work)
