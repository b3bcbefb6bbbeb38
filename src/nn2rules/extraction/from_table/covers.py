"""The three covers of a table: decision lists, rule sets, and rules for rows only.

A decision list is read from the top. Each rule of a set holds on its own, in any order;
for sets there is a lower bound on the number of rules, too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Meter, Pace
from nn2rules.errors import BudgetExceededError
from nn2rules.extraction._kernels.greedy import independent
from nn2rules.extraction.from_table.greedy import choose
from nn2rules.extraction.from_table.packing import Rules, State, state_of
from nn2rules.extraction.from_table.polish import polish
from nn2rules.extraction.from_table.runs import (
    Effort,
    Run,
    Work,
    best_run,
    generator,
    support_effort,
)


def decision_list(table: NDArray[np.uint8], sizes: Sequence[int], work: Work) -> Rules:
    """Return an ordered list of rules equal to the table on every input.

    The shortest of `work.effort.runs` runs, or the first of these. A run depends only
    on the seed and its own number, so runs can be distributed to threads, and more runs
    never give more rules.
    """
    state = state_of(table, sizes)
    attempt = partial(_list_attempt, state, work.effort)
    return best_run([(run, attempt) for run in range(work.effort.runs)], state, work)


def _list_attempt(state: State, effort: Effort, run: Run) -> Rules:
    """Build one list and improve it."""
    chosen = choose(
        state,
        state.possible[np.newaxis],
        state.possible,
        is_ordered=True,
        effort=effort,
        run=run,
    )
    better = polish(
        without_default(chosen),
        state,
        state.possible,
        is_ordered=True,
        effort=effort,
        run=run,
    )
    return without_idle_end(better)


def without_default(rules: Rules) -> Rules:
    """Make the class of the last rule the default, and drop the rules it replaces."""
    if not len(rules):
        return rules
    return without_idle_end(Rules(rules.boxes, rules.classes, int(rules.classes[-1])))


def without_idle_end(rules: Rules) -> Rules:
    """Drop the rules at the end that have the default class."""
    n_kept = len(rules)
    while n_kept and rules.classes[n_kept - 1] == rules.default:
        n_kept -= 1
    return Rules(rules.boxes[:n_kept], rules.classes[:n_kept], rules.default)


def rule_set(
    table: NDArray[np.uint8],
    sizes: Sequence[int],
    work: Work,
    *,
    wanted: Sequence[int],
    default: int,
) -> Rules:
    """Return rules whose boxes contain only inputs of their own class.

    Each of the classes `wanted` is covered by itself. `default` is the class of the
    remaining inputs, if there are any.
    """
    state = state_of(table, sizes, at_least=max(1, *wanted) + 1)
    done: list[Rules] = []
    keep = work.keep or work.meter.keep

    def so_far(rules: Rules | None) -> Rules:
        is_last = len(done) + 1 == len(wanted)
        parts = done if rules is None else [*done, rules]
        return _joined(parts, state, default, is_complete=is_last and rules is not None)

    for index in wanted:
        class_work = replace(
            work, keep=lambda partial_rules: keep(lambda: so_far(partial_rules()))
        )
        attempt = partial(_set_attempt, state, index, work.effort)
        attempts = [(run, attempt) for run in range(work.effort.runs)]
        done.append(best_run(attempts, state, class_work))
    return _joined(done, state, default, is_complete=True)


def _joined(
    parts: Sequence[Rules], state: State, default: int, *, is_complete: bool
) -> Rules:
    """Return the rules of several classes as one."""
    nothing = np.zeros((0, int(state.space.pack.offsets[-1])), dtype=np.bool_)
    return Rules(
        np.concatenate([nothing, *(part.boxes for part in parts)]),
        np.concatenate([np.zeros(0, np.int64), *(part.classes for part in parts)]),
        default,
        is_complete and all(part.is_complete for part in parts),
    )


def _set_attempt(state: State, wanted: int, effort: Effort, run: Run) -> Rules:
    """Build one cover of a class and improve it; the default is another class."""
    todo = _inputs_of(state, [wanted])
    chosen = choose(
        state, todo[np.newaxis], todo, is_ordered=False, effort=effort, run=run
    )
    return polish(
        replace(chosen, default=int(wanted == 0)),
        state,
        todo,
        is_ordered=False,
        effort=effort,
        run=run,
    )


def _inputs_of(state: State, wanted: Sequence[int]) -> NDArray[np.uint64]:
    """Return the inputs of some classes."""
    inputs: NDArray[np.uint64] = np.bitwise_or.reduce(state.live[list(wanted)])
    return state.possible & inputs


def lower_bound(
    table: NDArray[np.uint8],
    sizes: Sequence[int],
    *,
    wanted: Sequence[int],
    seed: int = 0,
    rounds: int | None = None,
    meter: Meter | None = None,
) -> int:
    """Return a lower bound on the number of rules of a set for the classes `wanted`.

    It is the size of the best of `rounds` random families of inputs, no two of which
    lie in one pure box, so that each needs its own rule. When the budget is spent, this
    is the best family so far.
    """
    state, meter = state_of(table, sizes, at_least=max(wanted) + 1), meter or Meter()
    todo = _inputs_of(state, wanted)
    rng = generator(seed, 0)
    if rounds is None:
        rounds = 200 if len(table) <= 15_000 else 20
    best, pace = 0, Pace()
    try:
        for _ in range(rounds):
            for size in _family(state, todo.copy(), rng, meter, pace):
                best = max(best, size)
    except BudgetExceededError:
        pass
    return best


def _family(
    state: State,
    left: NDArray[np.uint64],
    rng: NDArray[np.uint64],
    meter: Meter,
    pace: Pace,
) -> Iterator[int]:
    """Collect inputs of `left`, no two of which lie in one pure box; yield how many."""
    words, _ = state.space.scratch()
    n_columns = int(state.space.pack.offsets[-1])
    chosen = np.zeros((0, n_columns), dtype=np.bool_)
    labels, count = np.zeros(0, dtype=np.int64), 0
    nothing = np.zeros((1, len(left)), dtype=np.uint64)
    n_left = int(np.bitwise_count(left).sum(dtype=np.int64))
    for start, stop in meter.pieces(n_left + 1, pace):  # the last one finds none
        more = max(0, count + stop - start - len(labels))
        chosen = np.concatenate([chosen, np.zeros((more, n_columns), np.bool_)])
        labels = np.concatenate([labels, np.zeros(more, np.int64)])
        count = independent(
            state.live,
            state.possible,
            left,
            chosen,
            labels,
            count,
            stop - start,
            nothing,
            rng,
            state.space.pack,
            words,
        )
        yield count


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
    """Return rules that cover every input with a positive count.

    Parameters
    ----------
    table, sizes
        The class of every input, and the number of values of each feature.
    counts : ndarray of int, shape (n_inputs,)
        How often each input occurs in the data.
    work : Work
    is_ordered : bool
        Whether a rule may be wrong on inputs that earlier rules cover: a list.
    wanted : sequence of int
        The classes of the inputs to cover.
    default : int
        The class of inputs that no rule covers; nothing is proved about it.
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
