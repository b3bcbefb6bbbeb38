"""Several attempts at the same rules: the shortest result is taken."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from nn2rules.engine import Meter
from nn2rules.engine.parallel import in_threads
from nn2rules.errors import BudgetExceededError
from nn2rules.extraction.effort import Effort, generator
from nn2rules.extraction.from_table.greedy import Run, unpacked
from nn2rules.extraction.from_table.packing import Rules, State


@dataclass(frozen=True, slots=True)
class Work:
    """How rules are looked for in a table, and what becomes of them.

    Attributes
    ----------
    effort : Effort
    seed : int
        A run depends on it and on its own number alone.
    meter : Meter
    n_jobs : int or None
        How many threads share out the runs; the result does not depend on it.
    tidy : callable, optional
        What is done to each result before they are compared.
    keep : callable, optional
        Is told how to get the best rules of any moment; by default the meter is.
    """

    effort: Effort
    seed: int = 0
    meter: Meter = field(default_factory=Meter)
    n_jobs: int | None = None
    tidy: Callable[[Rules], Rules] | None = None
    keep: Callable[[Callable[[], Rules | None]], None] | None = None


def best_run(
    attempts: Sequence[tuple[int, Callable[[Run], Rules]]], state: State, work: Work
) -> Rules:
    """Return the result with the fewest rules, the first of equal ones, unpacked.

    Each attempt comes with the number of its run. When the budget is spent, the best
    that is complete is returned, if any is.
    """
    runs = [Run(generator(work.seed, number), work.meter) for number, _ in attempts]
    done: list[Rules] = []

    def so_far() -> Rules | None:
        if done:
            return min(done, key=len)
        drafts = [run.so_far() for run in runs if run.so_far is not None]
        whole = [draft for draft in drafts if draft.is_complete]
        if whole:
            return unpacked(min(whole, key=len), state)
        return unpacked(max(drafts, key=len), state) if drafts else None

    (work.keep or work.meter.keep)(so_far)
    tasks = [(run, attempts[i][1]) for i, run in enumerate(runs)]
    many = in_threads(_finished, None, tasks, meter=work.meter, n_jobs=work.n_jobs)
    try:
        with closing(many) as found:
            done.extend(_tidied(unpacked(rules, state), work) for rules in found)
    except BudgetExceededError:
        best = so_far()
        if best is None or not best.is_complete:
            raise
        return best
    return min(done, key=len)


def _finished(
    _: None, task: tuple[Run, Callable[[Run], Rules]], _meter: Meter
) -> Rules:
    run, attempt = task
    rules = attempt(run)
    run.so_far = lambda: rules
    return rules


def _tidied(rules: Rules, work: Work) -> Rules:
    """Tidy rules; if there is no time for it, they are as right as they are."""
    if work.tidy is None:
        return rules
    try:
        return work.tidy(rules)
    except BudgetExceededError:
        return rules
