"""Changes: the cheapest ways to another class, all of them, and that none is cheaper.

From a table the cost of every input is added up; beyond that `searching` looks.
"""

from collections.abc import Sequence

import numpy as np

from nn2rules.engine import Point, TableJudge
from nn2rules.errors import BudgetExceededError, InternalError
from nn2rules.questions.explain.asking import Case, is_changed
from nn2rules.questions.explain.ladders import Ladder
from nn2rules.questions.explain.searching import MOST_CHANGES, Changes, Search
from nn2rules.space import Boxes

_FORBIDDEN = 1 << 50


def find_changes(
    case: Case,
    ladders: Sequence[Ladder],
    order: Sequence[int],
    forbidden: Boxes | None = None,
    *,
    first: bool = False,
) -> Changes:
    """Look for the cheapest changes, or for the `first` of them alone."""
    if isinstance(case.judge, TableJudge):
        try:
            changes = _by_table(case, case.judge, ladders, first=first)
        except BudgetExceededError:
            return Changes(is_every=False)
    else:
        changes = Search(case, ladders, order, forbidden).find(first=first)
    changes.found.sort(key=lambda point: _place(case, point))
    return changes


def _place(case: Case, point: Point) -> tuple[object, ...]:
    """Return where a change is listed: by its features, then by what is nearer."""
    changed = np.flatnonzero(is_changed(case, point.codes, point.numbers)).tolist()
    apart = point.numbers / 2 - case.point.numbers / 2  # halves do not overflow
    away = point.codes - case.point.codes, apart
    near = [np.abs(part[changed]).tolist() for part in away]
    return tuple(changed), *near, point.codes.tolist(), point.numbers.tolist()


def _by_table(
    case: Case, judge: TableJudge, ladders: Sequence[Ladder], *, first: bool
) -> Changes:
    judge.meter.spend()
    costs = np.zeros(1, dtype=np.int64)
    for size, ladder in zip(case.domain.sizes, ladders, strict=True):
        costs = np.add.outer(costs, ladder.value_costs(size, _FORBIDDEN)).ravel()
    others = judge.others(case.index)
    reached = costs[others]
    least = int(reached.min(initial=_FORBIDDEN))
    if least >= _FORBIDDEN:
        return Changes(is_none=True)
    numbers = others[reached == least]
    is_every = len(numbers) <= MOST_CHANGES and not (first and len(numbers) > 1)
    codes = case.domain.codes_of(numbers[: 1 if first else MOST_CHANGES])
    found = [Point(row, np.ones(len(row))) for row in codes]
    return Changes(found, least, least, is_every=is_every)


def check_changes(case: Case, changes: Changes) -> None:
    """Ask the network itself about every change that is listed."""
    if changes.found:
        codes = np.array([point.codes for point in changes.found])
        numbers = np.array([point.numbers for point in changes.found])
        if not case.turned(codes, numbers).all():
            raise InternalError("a change does not turn the answer")
