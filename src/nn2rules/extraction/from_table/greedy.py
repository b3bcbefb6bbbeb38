"""Choose rules greedily from a pool of boxes, and grow each to a prime."""

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Meter, Pace
from nn2rules.extraction._kernels.greedy import (
    climb,
    make_prime,
    regrow,
    seed_pool,
    take_best,
    weigh,
)
from nn2rules.extraction.from_table.packing import Rules, State
from nn2rules.extraction.from_table.runs import Effort, Run, generator

_SHARE, _NOISE = 0.4, 0.3


def choose(
    state: State,
    want: NDArray[np.uint64],
    todo: NDArray[np.uint64],
    *,
    is_ordered: bool,
    effort: Effort,
    run: Run,
    least: int = 0,
) -> Rules:
    """Choose rules, heaviest first, until they cover all of `todo`.

    Parameters
    ----------
    state : State
    want : packed bit planes of the weights of inputs
    todo : packed set of the inputs to cover
    is_ordered : bool
        Whether inputs that a rule covers are don't-care for the rules after it.
    effort : Effort
    run : Run
    least : int
        Stop when no rule has this weight.
    """
    pack, n_columns = state.space.pack, int(state.space.pack.offsets[-1])
    live, open_, want, todo = (
        state.live,
        state.possible.copy(),
        want.copy(),
        todo.copy(),
    )
    size = 2 * effort.tries
    pool = (
        np.zeros((size, n_columns), dtype=np.bool_),
        np.zeros(size, dtype=np.int64),
        np.zeros(size, dtype=np.int64),
    )
    boxes: list[NDArray[np.bool_]] = []
    classes: list[int] = []
    run.so_far = lambda: _rules(boxes, classes, n_columns, is_complete=False)
    scratch = state.space.scratch()
    last = (_NOISE, run.rng, pack, *scratch)
    total, n, pace = _count(todo), 0, Pace()
    while todo.any():
        for start, stop in run.meter.pieces(effort.tries, pace):
            n = seed_pool(*pool, n, stop - start, live, open_, want, todo, *last)
        for start, stop in run.meter.pieces(effort.steps, pace):
            climb(*pool, n, stop - start, _SHARE, live, open_, want, *last)
        if pool[1][:n].max() < least:
            break
        rule = np.zeros(n_columns, dtype=np.bool_)
        index = take_best(
            *pool, n, want, todo, open_, is_ordered, pack, scratch[0], rule
        )
        boxes.append(rule)
        classes.append(int(index))
        run.meter.report(f"{len(boxes):,} rules", 0.8 * (1 - _count(todo) / total))
        weigh(*pool, n, live, open_, want, pack, scratch[0])
        n = _keep_best(*pool, n, effort.tries)
        for start, stop in run.meter.pieces(n, pace):
            regrow(*pool, start, stop, live, open_, want, *last)
    return _rules(boxes, classes, n_columns, is_complete=True)


def _keep_best(
    boxes: NDArray[np.bool_],
    gains: NDArray[np.int64],
    classes: NDArray[np.int64],
    n: int,
    size: int,
) -> int:
    """Keep the `size` best of a pool in front, heaviest first; return their number."""
    order = np.argsort(-gains[:n], kind="stable")[:size]
    order = order[gains[order] > 0]
    boxes[: len(order)], classes[: len(order)] = boxes[order], classes[order]
    return len(order)


def _rules(
    chosen: list[NDArray[np.bool_]],
    positions: list[int],
    n_columns: int,
    *,
    is_complete: bool,
) -> Rules:
    n_rules = min(len(chosen), len(positions))  # if interrupted in between
    boxes = np.array(chosen[:n_rules], dtype=np.bool_).reshape(-1, n_columns)
    classes = np.array(positions[:n_rules], dtype=np.int64)
    return Rules(boxes, classes, 0, is_complete)


def _count(inputs: NDArray[np.uint64]) -> int:
    return max(int(np.bitwise_count(inputs).sum(dtype=np.int64)), 1)


def primed(
    rules: Rules,
    state: State,
    todo: NDArray[np.uint64],
    *,
    is_ordered: bool,
    meter: Meter | None = None,
) -> Rules:
    """Grow every rule, in its place, until no value can be added; drop idle ones.

    Parameters
    ----------
    rules : Rules
        Complete, with boxes in the order of the features.
    todo : packed set of the inputs to cover
    """
    meter = meter or Meter()
    boxes, classes = rules.boxes[:, state.space.columns].copy(), rules.classes.copy()
    open_, todo, kept = (
        state.possible.copy(),
        todo.copy(),
        np.zeros(len(rules), np.bool_),
    )
    scratch = state.space.scratch()
    for start, stop in meter.pieces(len(rules), Pace()):
        make_prime(
            boxes,
            classes,
            start,
            stop,
            kept,
            state.live,
            open_,
            todo,
            is_ordered,
            generator(0, 0),
            state.space.pack,
            *scratch,
        )
    return Rules(state.space.unpack(boxes[kept]), classes[kept], rules.default)
