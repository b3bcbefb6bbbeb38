"""Reasons: features whose values alone force the row's class.

A set of features is *sufficient* if every input with the row's values there is of the
row's class, and a *reason* if, besides, no feature can be left out. What turns the
class is the other side of this: a sufficient set has a feature in common with every
set of features whose change turns it. So the smallest reason is the smallest set that
hits all of these, which are found one by one, where a guess is refuted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from nn2rules.errors import BudgetExceededError
from nn2rules.explaining.asking import Case, is_changed
from nn2rules.explaining.few import Few, turning_sets
from nn2rules.explaining.hitting import Demands
from nn2rules.explaining.judges import Point
from nn2rules.explaining.ladders import Ladder

_FIRST = 2
"""All sets of so many features that turn the row are looked for first."""


@dataclass(slots=True)
class Reasons:
    """The reasons that were found, and what is proved of them.

    Attributes
    ----------
    found : list of tuples of features
        Each is sufficient, whatever else is open.
    is_minimal : bool
        No feature can be left out of any of them.
    is_smallest : bool
        There is none with fewer features than the first; they are in order of size.
    is_every : bool
        There are no others.
    at_least : int
        No reason has fewer features.
    """

    found: list[tuple[int, ...]] = field(default_factory=list)
    is_minimal: bool = True
    is_smallest: bool = False
    is_every: bool = False
    at_least: int = 0


def find_reasons(
    case: Case,
    order: Sequence[int],
    number: int,
    *,
    smallest: bool,
    ladders: Sequence[Ladder],
) -> Reasons:
    """Look for so many reasons, the smallest first if asked for.

    Parameters
    ----------
    case : Case
    order : sequence of int
        All features, those first that seem to matter least.
    ladders : sequence of Ladder
        On which everything may change, and all changes cost 1.
    """
    reasons = Reasons()
    demands = Demands([[1]] * len(order), case.judge.meter)
    first = _minimal(case, range(len(order)), order, reasons)
    if not smallest:
        _add(reasons, demands, first)
    try:
        if smallest or number > 1:
            for turning in turning_sets(Few(case, ladders, None), _FIRST):
                demands.add(dict.fromkeys(turning, 1))
        while len(reasons.found) < number and (smallest or reasons.is_minimal):
            found = _next_reason(
                case, order, demands, reasons, first if smallest else None
            )
            if found is None:
                break
            _add(reasons, demands, found)
    except BudgetExceededError:
        pass  # what was found is true
    if not reasons.found:
        reasons.found = [first]
    elif smallest:  # of the smallest sets, none can lose a feature
        reasons.is_minimal = True
    reasons.is_smallest = smallest and len(reasons.found[0]) <= reasons.at_least
    return reasons


def _add(reasons: Reasons, demands: Demands, found: tuple[int, ...]) -> None:
    reasons.found.append(found)
    demands.block(tuple(int(f in found) for f in range(len(demands.costs))))


def _next_reason(
    case: Case,
    order: Sequence[int],
    demands: Demands,
    reasons: Reasons,
    first: tuple[int, ...] | None,
) -> tuple[int, ...] | None:
    """Return one more reason; None if there is none, or none can be proved.

    If the smallest are wanted, `first` is one that is known: once none can be smaller
    it is the first of them.
    """
    while True:
        levels = demands.cheapest()
        if levels is None:
            reasons.is_every = True
            return None
        guess = tuple(feature for feature, level in enumerate(levels) if level)
        if not reasons.found:
            reasons.at_least = len(guess)
            if first is not None and len(first) == len(guess):
                return first
        asked = case.ask({f: case.whole(f) for f in order if f not in guess})
        if asked.point is not None:
            needed = _differing(case, asked.point, order)
            demands.add(dict.fromkeys(needed, 1))
        elif asked.status == "proved":
            is_smallest = first is not None
            return guess if is_smallest else _minimal(case, guess, order, reasons)
        else:
            return None


def _minimal(
    case: Case, sufficient: Sequence[int], order: Sequence[int], reasons: Reasons
) -> tuple[int, ...]:
    """Leave features out of a sufficient set, one by one, for as long as it is one."""
    kept = set(sufficient)
    try:
        for feature in order:
            if feature in kept:
                free = [f for f in order if f not in kept or f == feature]
                asked = case.ask({f: case.whole(f) for f in free})
                if asked.status == "proved":
                    kept.remove(feature)
                elif asked.status == "open":
                    reasons.is_minimal = False
    except BudgetExceededError:
        reasons.is_minimal = False
    return tuple(sorted(kept))


def _differing(case: Case, turned: Point, order: Sequence[int]) -> list[int]:
    """Return where an input differs from the row, once what need not is put back.

    As many features as can be are put back at once, those that matter least first; the
    next one then has to stay.
    """
    is_other = is_changed(case, turned.codes, turned.numbers)
    left, kept = [feature for feature in order if is_other[feature]], []
    row, codes, numbers = case.point, turned.codes, turned.numbers
    while left:
        tried = np.tile(codes, (len(left), 1)), np.tile(numbers, (len(left), 1))
        for place, feature in enumerate(left):
            tried[0][place:, feature] = row.codes[feature]
            tried[1][place:, feature] = row.numbers[feature]
        places = np.flatnonzero(case.turned(*tried))
        n_back = int(places[-1]) + 1 if len(places) else 0
        if n_back:
            codes, numbers = tried[0][n_back - 1], tried[1][n_back - 1]
        kept += left[n_back : n_back + 1]
        left = left[n_back + 1 :]
    return kept
