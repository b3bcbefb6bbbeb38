"""Several runs for the same rules, of which the shortest result is taken.

The amount of work for an `effort` is counted, not timed, so that results are
reproducible.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Meter
from nn2rules.engine.parallel import in_threads
from nn2rules.errors import BudgetExceededError
from nn2rules.extraction.from_table.packing import Rules, State


@dataclass(frozen=True, slots=True)
class Effort:
    """The amount of work.

    Attributes
    ----------
    runs : int
        Independent runs; the shortest result is taken.
    tries, steps : int
        For each rule: candidates grown, and improvements tried.
    sweeps : int
        Passes over the whole list, each improving every rule.
    rebuilds : int
        Parts of the list rebuilt after each sweep, divided by its length, as they help
        short lists only.
    """

    runs: int
    tries: int
    steps: int
    sweeps: int
    rebuilds: int


def effort_of(level: int, n_inputs: int) -> Effort:
    """Return the work of an effort level for a table of this size.

    Higher levels make more runs, and more sweeps in the same runs, which can only
    shorten their results. So a higher level never gives more rules.
    """
    if n_inputs <= 15_000:
        runs = 4 if n_inputs <= 5_000 else 1
        once = Effort(runs=runs, tries=32, steps=64, sweeps=10, rebuilds=2000)
    elif n_inputs <= 50_000:
        once = Effort(runs=1, tries=64, steps=192, sweeps=60, rebuilds=1000)
    else:
        once = Effort(runs=1, tries=64, steps=192, sweeps=20, rebuilds=1000)
    if level == 0:
        return replace(once, runs=1, sweeps=0)
    return replace(once, runs=level * once.runs, sweeps=level * once.sweeps)


_SUPPORT_RUNS, _SUPPORT_TRIES, _SUPPORT_STEPS = 3, 128, 512
_SUPPORT_INPUTS = 1 << 17


def support_effort(effort: Effort, n_inputs: int) -> Effort:
    """Return the work for rules that cover rows only: fewer rules, but more tries.

    On large tables each try takes longer, so there are fewer tries. An effort of 0 has
    no sweeps and one run.
    """
    share = min(1.0, _SUPPORT_INPUTS / n_inputs)
    runs = max(1, round(_SUPPORT_RUNS * share))
    scale = min(1.0, _SUPPORT_RUNS * share / runs)
    return replace(
        effort,
        runs=max(effort.runs, runs) if effort.sweeps else 1,
        tries=max(1, round(scale * _SUPPORT_TRIES)),
        steps=max(1, round(scale * _SUPPORT_STEPS)),
    )


def generator(seed: int, run: int) -> NDArray[np.uint64]:
    """Return the state of a generator that depends only on the seed and the run."""
    sequence = np.random.SeedSequence([seed, run])
    return sequence.generate_state(1, np.uint64) | np.uint64(1)


@dataclass(slots=True)
class Run:
    """One run: its random numbers, and its rules so far.

    Attributes
    ----------
    rng : the state of the generator, changed in place
    meter : Meter
        Checked regularly; when it stops the work, `so_far` remains.
    so_far : callable or None
        Returns the current rules.
    """

    rng: NDArray[np.uint64]
    meter: Meter
    so_far: Callable[[], Rules] | None = None


def unpacked(rules: Rules, state: State) -> Rules:
    """Return the rules with their columns in the order of the features."""
    return replace(rules, boxes=state.space.unpack(rules.boxes))


@dataclass(frozen=True, slots=True)
class Work:
    """How rules are made from a table.

    Attributes
    ----------
    effort : Effort
    seed : int
        A run depends only on it and on its own number.
    meter : Meter
    n_jobs : int or None
        Number of threads; the result does not depend on it.
    tidy : callable, optional
        Applied to each result before results are compared.
    keep : callable, optional
        Called with a function that returns the best rules so far; by default
        ``meter.keep``.
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
    """Return the result with the fewest rules, or the first of these, unpacked.

    Each attempt comes with the number of its run. When the budget is spent, the best
    complete result is returned, if there is one.
    """
    runs = [Run(generator(work.seed, number), work.meter) for number, _ in attempts]
    done: list[Rules] = []

    def so_far() -> Rules | None:
        if done:
            return min(done, key=len)
        drafts = [run.so_far() for run in runs if run.so_far is not None]
        complete = [draft for draft in drafts if draft.is_complete]
        if complete:
            return unpacked(min(complete, key=len), state)
        return unpacked(max(drafts, key=len), state) if drafts else None

    (work.keep or work.meter.keep)(so_far)
    tasks = [(run, attempts[i][1]) for i, run in enumerate(runs)]
    many = in_threads(_finished, None, tasks, meter=work.meter, n_jobs=work.n_jobs)
    try:
        with closing(many) as results:
            done.extend(_tidied(unpacked(rules, state), work) for rules in results)
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
    """Tidy rules; without time for it, they are right as they are."""
    if work.tidy is None:
        return rules
    try:
        return work.tidy(rules)
    except BudgetExceededError:
        return rules
