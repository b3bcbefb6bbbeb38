"""Choosing rules: greedily from a pool of boxes, then improving the whole list."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from nn2rules.cover._kernels.greedy import cover_some, make_prime
from nn2rules.cover._kernels.improve import sweep
from nn2rules.cover._kernels.rebuild import rebuild
from nn2rules.cover.effort import Effort, generator
from nn2rules.cover.packing import Rules, State
from nn2rules.engine import Meter
from nn2rules.errors import BudgetExceededError

_BATCH = 16
_SHARE, _NOISE = 0.4, 0.3
_SWEEP_BYTES = 1 << 30


def choose(
    state: State,
    want: NDArray[np.uint64],
    todo: NDArray[np.uint64],
    *,
    is_ordered: bool,
    effort: Effort,
    rng: NDArray[np.uint64],
    meter: Meter,
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
    rng : the state of the generator, changed in place
    meter : Meter
        When its budget is spent, the error carries the rules chosen so far.
    """
    pack, n_columns = state.space.pack, int(state.space.pack.offsets[-1])
    open_, want, todo = state.open.copy(), want.copy(), todo.copy()
    size = 2 * effort.tries
    boxes = np.zeros((size, n_columns), dtype=np.bool_)
    gains, classes = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    found = [np.zeros((0, n_columns), dtype=np.bool_)]
    answers = [np.zeros(0, dtype=np.int64)]
    total, n_pool, n_rules = _count(todo), 0, 0
    try:
        while True:
            rules = np.zeros((_BATCH, n_columns), dtype=np.bool_)
            labels = np.zeros(_BATCH, dtype=np.int64)
            count, n_pool = cover_some(
                (boxes, gains, classes, n_pool),
                state.live,
                open_,
                want,
                todo,
                is_ordered,
                effort.tries,
                effort.steps,
                _SHARE,
                _NOISE,
                rng,
                pack,
                rules,
                labels,
            )
            found.append(rules[:count])
            answers.append(labels[:count])
            n_rules += count
            if count < _BATCH:
                break
            meter.report(f"{n_rules:,} rules", 0.8 * (1 - _count(todo) / total))
            meter.spend()
    except (BudgetExceededError, KeyboardInterrupt) as error:
        chosen = replace(_joined(found, answers), is_complete=False)
        error.rules = chosen  # type: ignore[union-attr]
        raise
    return _joined(found, answers)


def _joined(found: list[NDArray[np.bool_]], answers: list[NDArray[np.int64]]) -> Rules:
    return Rules(np.concatenate(found), np.concatenate(answers), 0)


def _count(inputs: NDArray[np.uint64]) -> int:
    return max(int(np.bitwise_count(inputs).sum(dtype=np.int64)), 1)


def polish(
    rules: Rules,
    state: State,
    todo: NDArray[np.uint64],
    *,
    is_ordered: bool,
    effort: Effort,
    rng: NDArray[np.uint64],
    meter: Meter,
) -> Rules:
    """Improve rules by sweeps and rebuilds; never more rules.

    The rules are right at every moment, so when the budget is spent, or the user
    interrupts, the rest of the work is just left out.
    """
    boxes, classes, default = rules.boxes, rules.classes, rules.default
    pack = state.space.pack
    n_sweeps = effort.sweeps
    if 4 * (len(rules) + 1) * state.space.n_words > _SWEEP_BYTES:
        n_sweeps = 0
    try:
        for number in range(n_sweeps):
            if not len(boxes):
                break
            better = sweep(
                boxes.copy(),
                classes,
                default,
                state.live,
                state.open,
                todo,
                is_ordered,
                0.5,
                0.2,
                2.0,
                rng,
                pack,
            )
            if len(better[0]):
                rounds = min(50, effort.rebuilds // len(better[0]))
                better = rebuild(
                    better[0],
                    better[1],
                    default,
                    state.live,
                    state.open,
                    todo,
                    is_ordered,
                    rounds,
                    6,
                    4,
                    0.3,
                    rng,
                    pack,
                )
            boxes, classes = better
            share = 0.8 + 0.2 * (number + 1) / n_sweeps
            meter.report(f"{len(boxes):,} rules", share)
            meter.spend()
    except BudgetExceededError:
        pass
    except KeyboardInterrupt as error:
        error.rules = Rules(boxes, classes, default)  # type: ignore[attr-defined]
        raise
    return Rules(boxes, classes, default)


def primed(
    rules: Rules, state: State, todo: NDArray[np.uint64], *, is_ordered: bool
) -> Rules:
    """Grow every rule, in its place, until no value can be added; drop idle ones.

    Parameters
    ----------
    rules : Rules
        Complete, with boxes in the order of the features.
    todo : packed set of the inputs that must be decided
    """
    boxes, classes = make_prime(
        rules.boxes[:, state.space.columns].copy(),
        rules.classes.copy(),
        state.live,
        state.open.copy(),
        todo.copy(),
        is_ordered,
        generator(0, 0),
        state.space.pack,
    )
    return Rules(state.space.unpack(boxes), classes, rules.default)


def best_run(
    runs: Sequence[Callable[[], Rules]],
    state: State,
    n_jobs: int | None = None,
    tidy: Callable[[Rules], Rules] | None = None,
) -> Rules:
    """Return the result with the fewest rules, the first of equal ones, unpacked.

    Each is tidied before they are compared. When the budget is spent, the best of the
    runs that are done is returned; if none is, the error carries what is chosen so far.
    """
    done: list[Rules] = []
    try:
        if n_jobs in (None, 1):
            found = (run() for run in runs)
        else:
            parallel = Parallel(n_jobs, prefer="threads", return_as="generator")
            found = parallel(delayed(run)() for run in runs)
        for rules in found:
            unpacked = _unpacked(rules, state)
            done.append(unpacked if tidy is None else tidy(unpacked))
    except (BudgetExceededError, KeyboardInterrupt) as error:
        if done and isinstance(error, BudgetExceededError):
            return min(done, key=len)
        chosen = getattr(error, "rules", None)
        if done:
            error.rules = min(done, key=len)  # type: ignore[union-attr]
        elif isinstance(chosen, Rules):
            error.rules = _unpacked(chosen, state)  # type: ignore[union-attr]
        raise
    return min(done, key=len)


def _unpacked(rules: Rules, state: State) -> Rules:
    return replace(rules, boxes=state.space.unpack(rules.boxes))
