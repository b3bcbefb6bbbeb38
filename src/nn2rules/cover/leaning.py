"""What a rule leans on: the rules above it without which it would be wrong."""

import numpy as np
from numpy.typing import NDArray

from nn2rules.boxes import intersecting
from nn2rules.cover.packing import DONT_CARE
from nn2rules.engine import Meter
from nn2rules.errors import BudgetExceededError, InternalError
from nn2rules.rules import RuleList

_CHUNK = 1 << 18


def leanings(
    rules: RuleList, table: NDArray[np.uint8], *, meter: Meter | None = None
) -> list[tuple[int, ...] | None]:
    """Return for each rule the numbers, from 1, of the rules that it leans on.

    They are those that decide an input of its box which is not of its class. So a rule
    is true on its own exactly if there are none, and in a set no rule may have any.
    None where the budget is spent.

    Parameters
    ----------
    rules : RuleList
        Right on every input that a rule decides.
    table : ndarray of uint8, shape (n_inputs,)
        The class of every input; `DONT_CARE` where it cannot occur.
    """
    domain, meter = rules.domain, meter or Meter()
    fired = np.concatenate([rules.match(c) for c in domain.inputs(chunk=_CHUNK)])
    deciding, classes = fired.reshape(domain.sizes), table.reshape(domain.sizes)
    found: list[tuple[int, ...] | None] = []
    for box, answer in zip(rules.boxes, rules.answers, strict=True):
        try:
            meter.spend()
        except BudgetExceededError:
            break
        inside = np.ix_(*np.split(box, domain.offsets[1:-1]))
        wrong = (classes[inside] != answer) & (classes[inside] != DONT_CARE)
        above = np.unique(deciding[inside][wrong])
        if rules.form == "set" and len(above):
            raise InternalError("a rule of a set is not true on its own")
        found.append(tuple((above + 1).tolist()))
    return found + [None] * (len(rules) - len(found))


def met_above(rules: RuleList) -> list[tuple[int, ...] | None]:
    """Return for each rule of a list what it may lean on, where there is no table.

    Those above it of another class that have an input in common with it: if there are
    none it is true on its own.
    """
    met = intersecting(rules.domain, rules.boxes)
    met &= rules.answers[:, np.newaxis] != rules.answers[np.newaxis, :]
    met = np.triu(met, 1)  # met[i, j]: i is above j
    return [tuple((np.flatnonzero(above) + 1).tolist()) for above in met.T]
