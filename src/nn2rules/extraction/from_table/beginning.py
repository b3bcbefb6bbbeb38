"""Lists that begin with rules for the rows of the data, which hold on their own."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import DONT_CARE
from nn2rules.extraction.from_table.covers import without_idle_end
from nn2rules.extraction.from_table.greedy import choose
from nn2rules.extraction.from_table.packing import Rules, State, state_of
from nn2rules.extraction.from_table.polish import polish
from nn2rules.extraction.from_table.runs import (
    Run,
    Work,
    generator,
    support_effort,
    unpacked,
)

MORE_RULES = 0.03
"""The most additional rules, as a fraction, of a list that begins with such rules."""

_LEAST_SHARE = 0.005  # of the rows; the minimum that a rule at the beginning covers
_SWEEPS = 4  # the list exists already, so a fraction of the sweeps is enough

Tidy = Callable[[NDArray[np.uint8], Rules], Rules]


def with_row_rules(
    rules: Rules,
    table: NDArray[np.uint8],
    sizes: Sequence[int],
    counts: NDArray[np.int64],
    work: Work,
    tidy: Tidy,
) -> Rules:
    """Put rules that cover many rows, and hold on their own, before an exact list.

    The inputs that they cover are don't-care for the rest of the list, which then needs
    fewer rules. As many are added as keep the list at most `MORE_RULES` longer.

    Parameters
    ----------
    rules : Rules
        They equal the table on every input.
    table, sizes
        The class of every input, and the number of values of each feature.
    counts : ndarray of int, shape (n_inputs,)
        How often each input occurs in the data.
    work : Work
    tidy : callable
        Called with the rest of the table, and the rules for it.
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
    """Return rules that hold on their own, those that cover most rows first."""
    state = state_of(table, sizes)
    counts = np.where(table != DONT_CARE, counts, 0)
    packed = choose(
        state,
        state.space.planes_of(counts),
        state.space.set_of(counts > 0),
        is_ordered=False,
        effort=support_effort(work.effort, len(table)),
        run=run,
        least=max(1, int(_LEAST_SHARE * counts.sum())),
    )
    return unpacked(packed, state)


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
    """Return a list that is right on the rest of the table, with no more rules."""
    n_classes = int(max(rules.default, rules.classes.max(initial=0))) + 1
    state: State = state_of(left, sizes, at_least=n_classes)
    packed = replace(rules, boxes=rules.boxes[:, state.space.columns])
    effort = replace(work.effort, sweeps=-(-work.effort.sweeps // _SWEEPS))
    better = polish(
        packed, state, state.possible, is_ordered=True, effort=effort, run=run
    )
    return unpacked(without_idle_end(better), state)


def _joined(start: Rules, rest: Rules) -> Rules:
    return without_idle_end(
        Rules(
            np.concatenate([start.boxes, rest.boxes]),
            np.concatenate([start.classes, rest.classes]),
            rest.default,
        )
    )
