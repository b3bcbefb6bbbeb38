"""Choosing rules: greedily from a pool of boxes, then growing each to a prime."""

from collections.abc import Callable
from dataclasses import dataclass, replace

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
from nn2rules.extraction.effort import Effort, generator
from nn2rules.extraction.from_table.packing import Rules, State

_SHARE, _NOISE = 0.4, 0.3


@dataclass(slots=True)
class Run:
    """One attempt: where its random numbers come from, and what it has so far.

    Attributes
    ----------
    rng : the state of the generator, changed in place
    meter : Meter
        Looked at every now and then; when it stops the work, `so_far` stays.
    so_far : callable or None
        Returns the rules of this moment.
    """

    rng: NDArray[np.uint64]
    meter: Meter
    so_far: Callable[[], Rules] | None = None


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
    """Choose rules, heaviest first, until they decide all of `todo`.

    Parameters
    ----------
    state : State
    want : packed bit planes of what it is worth to decide an input
    todo : packed set of the inputs that must be decided
    is_ordered : bool
        Whether what a rule decides is don't-care for the rules after it.
    effort : Effort
    run : Run
    least : int
        Stop where no rule is worth as much.
    """
    pack, n_columns = state.space.pack, int(state.space.pack.offsets[-1])
    live, open_, want, todo = state.live, state.open.copy(), want.copy(), todo.copy()
    size = 2 * effort.tries
    pool = (
        np.zeros((size, n_columns), dtype=np.bool_),
        np.zeros(size, dtype=np.int64),
        np.zeros(size, dtype=np.int64),
    )
    found: list[NDArray[np.bool_]] = []
    answers: list[int] = []
    run.so_far = lambda: _rules(found, answers, n_columns, is_complete=False)
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
        answer = take_best(
            *pool, n, want, todo, open_, is_ordered, pack, scratch[0], rule
        )
        found.append(rule)
        answers.append(int(answer))
        run.meter.report(f"{len(found):,} rules", 0.8 * (1 - _count(todo) / total))
        weigh(*pool, n, live, open_, want, pack, scratch[0])
        n = _keep_best(*pool, n, effort.tries)
        for start, stop in run.meter.pieces(n, pace):
            regrow(*pool, start, stop, live, open_, want, *last)
    return _rules(found, answers, n_columns, is_complete=True)


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
    found: list[NDArray[np.bool_]],
    answers: list[int],
    n_columns: int,
    *,
    is_complete: bool,
) -> Rules:
    n_rules = min(len(found), len(answers))  # of a moment between the two
    boxes = np.array(found[:n_rules], dtype=np.bool_).reshape(-1, n_columns)
    classes = np.array(answers[:n_rules], dtype=np.int64)
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
    todo : packed set of the inputs that must be decided
    """
    meter = meter or Meter()
    boxes, classes = rules.boxes[:, state.space.columns].copy(), rules.classes.copy()
    open_, todo, kept = state.open.copy(), todo.copy(), np.zeros(len(rules), np.bool_)
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


def unpacked(rules: Rules, state: State) -> Rules:
    """Return the rules with their columns in the order of the features."""
    return replace(rules, boxes=state.space.unpack(rules.boxes))
