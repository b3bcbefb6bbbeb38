"""The shortest exact decision list that can be found with a given effort."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nn2rules.extraction.effort import Effort
from nn2rules.extraction.from_table.greedy import Run, choose
from nn2rules.extraction.from_table.packing import Rules, State, state_of
from nn2rules.extraction.from_table.polish import polish
from nn2rules.extraction.from_table.runs import Work, best_run


def decision_list(table: NDArray[np.uint8], sizes: Sequence[int], work: Work) -> Rules:
    """Return an ordered list of rules equal to the table on every input.

    The shortest of `work.effort.runs` runs; among equals the earliest. A run depends on
    the seed and its own number alone, so runs can be shared out to threads, and more
    runs never give more rules.
    """
    state = state_of(table, sizes)
    attempt = partial(_attempt, state, work.effort)
    return best_run([(run, attempt) for run in range(work.effort.runs)], state, work)


def _attempt(state: State, effort: Effort, run: Run) -> Rules:
    """Build one list and improve it."""
    chosen = choose(
        state,
        state.open[np.newaxis],
        state.open,
        is_ordered=True,
        effort=effort,
        run=run,
    )
    better = polish(
        without_default(chosen),
        state,
        state.open,
        is_ordered=True,
        effort=effort,
        run=run,
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
