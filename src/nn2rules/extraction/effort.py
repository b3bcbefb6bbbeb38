"""What `effort` buys: work, counted, never timed, so that results can be repeated."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Effort:
    """How much work to do.

    Attributes
    ----------
    runs : int
        Independent starts; the shortest result is taken.
    tries, steps : int
        For each rule, new candidates grown and candidates improved.
    sweeps : int
        Passes over the whole list, each improving every rule.
    rebuilds : int
        Parts of the list decided anew after each sweep, divided by its length: they pay
        on short lists only.
    """

    runs: int
    tries: int
    steps: int
    sweeps: int
    rebuilds: int


def effort_of(level: int, n_inputs: int) -> Effort:
    """Return the work of an effort level for a table of this size.

    Higher levels make more runs, and more sweeps of the very same runs, whose results
    only get shorter; so a higher level never gives more rules.
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
    """Return the work for rules that decide rows, of which there are fewer: try harder.

    On a large table each try takes longer, so that there are fewer of them. An effort
    of 0, without sweeps, makes one run.
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
    """Return the state of a generator that depends on seed and run alone."""
    sequence = np.random.SeedSequence([seed, run])
    return sequence.generate_state(1, np.uint64) | np.uint64(1)
