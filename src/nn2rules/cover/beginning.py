"""Lists that begin with what matters: first a few rules that decide most rows."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nn2rules.cover.decision_list import without_idle_end
from nn2rules.cover.effort import generator, support_effort
from nn2rules.cover.greedy import Run, choose, unpacked
from nn2rules.cover.packing import DONT_CARE, Rules, State, state_of
from nn2rules.cover.polish import polish
from nn2rules.cover.runs import Work

MORE_RULES = 0.03
"""A list that begins with rules for the rows has at most this share of rules more."""

_LEAST_SHARE = 0.005  # of the rows that a rule at the beginning must decide
_SWEEPS = 4  # the list is there already: a part of the sweeps is enough

Tidy = Callable[[NDArray[np.uint8], Rules], Rules]


def begun(
    rules: Rules,
    table: NDArray[np.uint8],
    sizes: Sequence[int],
    counts: NDArray[np.int64],
    work: Work,
    tidy: Tidy,
) -> Rules:
    """Put rules before an exact list that decide many rows, each true on its own.

    What they decide is don't-care for the list behind them, which then needs fewer
    rules. As many are put there as leave the whole at most `MORE_RULES` longer.

    Parameters
    ----------
    rules : Rules
        Equal to the table on every input.
    table, sizes
        The class of every input, and the number of values of each feature.
    counts : ndarray of int, shape (n_inputs,)
        How often each input occurs in the data.
    work : Work
    tidy : callable
        Is given what is left of the table, and the rules for that.
    """
    run = Run(
        generator(work.seed, work.effort.runs), replace(work.meter, progress=None)
    )
    most = int((1 + MORE_RULES) * len(rules))
    first = _for_rows(table, sizes, counts, work, run)
    n_first = len(first)
    while n_first > 0:
        start = Rules(first.boxes[:n_first], first.classes[:n_first], rules.default)
        left = _without(table, sizes, start.boxes)
        rest = tidy(left, _rest(rules, left, sizes, work, run))
        if n_first + len(rest) <= most:
            return _joined(start, rest)
        n_first -= max(1, n_first + len(rest) - most)
    return rules


def _for_rows(
    table: NDArray[np.uint8],
    sizes: Sequence[int],
    counts: NDArray[np.int64],
    work: Work,
    run: Run,
) -> Rules:
    """Return rules true on their own, those that decide most rows first."""
    state = state_of(table, sizes)
    counts = np.where(table != DONT_CARE, counts, 0)
    found = choose(
        state,
        state.space.planes_of(counts),
        state.space.set_of(counts > 0),
        is_ordered=False,
        effort=support_effort(work.effort, len(table)),
        run=run,
        least=max(1, int(_LEAST_SHARE * counts.sum())),
    )
    return unpacked(found, state)


def _without(
    table: NDArray[np.uint8], sizes: Sequence[int], boxes: NDArray[np.bool_]
) -> NDArray[np.uint8]:
    """Return the table with the inputs of the boxes don't-care."""
    cube = table.reshape(sizes).copy()
    starts = np.cumsum(sizes)[:-1]
    for box in boxes:
        cube[np.ix_(*np.split(box, starts))] = DONT_CARE
    return cube.ravel()


def _rest(
    rules: Rules, left: NDArray[np.uint8], sizes: Sequence[int], work: Work, run: Run
) -> Rules:
    """Return a list that is right on what is left, and has no more rules."""
    n_classes = int(max(rules.default, rules.classes.max(initial=0))) + 1
    state: State = state_of(left, sizes, at_least=n_classes)
    packed = replace(rules, boxes=rules.boxes[:, state.space.columns])
    effort = replace(work.effort, sweeps=-(-work.effort.sweeps // _SWEEPS))
    better = polish(packed, state, state.open, is_ordered=True, effort=effort, run=run)
    return unpacked(without_idle_end(better), state)


def _joined(start: Rules, rest: Rules) -> Rules:
    return without_idle_end(
        Rules(
            np.concatenate([start.boxes, rest.boxes]),
            np.concatenate([start.classes, rest.classes]),
            rest.default,
        )
    )
