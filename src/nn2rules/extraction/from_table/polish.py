"""Improve a list: sweep over its rules, and rebuild parts of it."""

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Pace
from nn2rules.errors import BudgetExceededError
from nn2rules.extraction._kernels.improve import Sweep, begin, sweep_some
from nn2rules.extraction._kernels.rebuild import rebuild
from nn2rules.extraction.from_table.packing import Rules, State
from nn2rules.extraction.from_table.runs import Effort, Run

_SWEEP_BYTES = 1 << 30
_LATE, _SWEEP_NOISE, _JITTER = 0.5, 0.2, 2.0
_SIZE, _TRIES, _REBUILD_NOISE = 6, 4, 0.3
_MOST_ROUNDS, _ROUNDS_A_RULE = 50, 10


def polish(
    rules: Rules,
    state: State,
    todo: NDArray[np.uint64],
    *,
    is_ordered: bool,
    effort: Effort,
    run: Run,
) -> Rules:
    """Improve rules by sweeps and rebuilds; never more rules.

    The rules are right at every moment, so the work can stop when the budget is
    spent.
    """
    run.so_far = lambda: rules
    n_sweeps = effort.sweeps
    if 4 * (len(rules) + 1) * state.space.n_words > _SWEEP_BYTES:
        n_sweeps = 0
    paces = Pace(), Pace()
    words = np.empty((len(rules) + 1, state.space.n_words), dtype=np.int32)
    try:
        for number in range(n_sweeps):
            if not len(rules):
                break
            rules = _sweep(rules, state, todo, words, is_ordered, run, paces[0])
            rounds = _rounds(len(rules), effort)
            for start, stop in run.meter.pieces(rounds, paces[1]):
                rules = _rebuilt(rules, state, todo, is_ordered, stop - start, run)
            share = 0.8 + 0.2 * (number + 1) / n_sweeps
            run.meter.report(f"{len(rules):,} rules", share)
            run.meter.spend()
    except BudgetExceededError:
        rules = run.so_far()
    return rules


def _rounds(n_rules: int, effort: Effort) -> int:
    """Return how often to rebuild parts; few rules have few different parts."""
    rounds = effort.rebuilds // max(n_rules, 1)
    return min(rounds, _MOST_ROUNDS, _ROUNDS_A_RULE * n_rules)


def _sweep(
    rules: Rules,
    state: State,
    todo: NDArray[np.uint64],
    words: NDArray[np.int32],
    is_ordered: bool,
    run: Run,
    pace: Pace,
) -> Rules:
    """Improve each rule once."""
    pack, n, n_words = state.space.pack, len(rules), state.space.n_words
    sweep = Sweep(
        rules=rules.boxes.copy(),
        classes=np.append(rules.classes, rules.default),
        words=words[: n + 1],
        counts=np.empty(n + 1, dtype=np.int64),
        masks=np.empty(n + 1, dtype=np.uint64),
        plane=np.empty(n + 1, dtype=np.int64),
        order=np.empty(n + 1, dtype=np.int64),
        done=np.empty(n + 1, dtype=np.bool_),
        at=np.array([0, n], dtype=np.int64),
        none=np.empty(n_words, dtype=np.uint64),
        once=np.empty(n_words, dtype=np.uint64),
        want=np.empty((4, n_words), dtype=np.uint64),
    )

    def so_far() -> Rules:
        kept = sweep.order[: sweep.at[1]]
        return Rules(sweep.rules[kept], sweep.classes[kept], rules.default)

    buffer, slabs = state.space.scratch()
    begin(
        sweep,
        rules.default,
        state.live,
        state.possible,
        todo,
        _JITTER,
        run.rng,
        pack,
        buffer,
    )
    run.so_far = so_far
    for start, stop in run.meter.pieces(n, pace):
        sweep_some(
            sweep,
            stop - start,
            state.live,
            state.possible,
            todo,
            is_ordered,
            _LATE,
            _SWEEP_NOISE,
            run.rng,
            pack,
            buffer,
            slabs,
        )
    return so_far()


def _rebuilt(
    rules: Rules,
    state: State,
    todo: NDArray[np.uint64],
    is_ordered: bool,
    rounds: int,
    run: Run,
) -> Rules:
    """Rebuild parts of the list, `rounds` times."""
    boxes, classes = rebuild(
        rules.boxes.copy(),
        rules.classes.copy(),
        rules.default,
        state.live,
        state.possible,
        todo,
        is_ordered,
        rounds,
        _SIZE,
        _TRIES,
        _REBUILD_NOISE,
        run.rng,
        state.space.pack,
    )
    better = Rules(boxes, classes, rules.default)
    run.so_far = lambda: better
    return better
