"""How many inputs break a claim where they are too many for a table."""

import math
from collections.abc import Collection
from dataclasses import dataclass

from nn2rules.engine import Counts, Meter, count_classes
from nn2rules.errors import BudgetExceededError, UndecidedError
from nn2rules.language import Region
from nn2rules.questions.verify.pairs import Paired
from nn2rules.questions.verify.questions import Plain
from nn2rules.questions.verify.tables import restricted


@dataclass(frozen=True, slots=True)
class Amount:
    """At least and at most so many inputs of all break a claim; both are certain."""

    least: int
    most: int
    total: int


def amount_of(
    question: Plain | Paired,
    region: Region,
    meter: Meter,
    *,
    is_proved: bool,
    n_jobs: int | None = None,
) -> Amount | None:
    """Count what breaks a claim in what is left of a budget.

    None where inputs cannot be counted: among ranges of numbers, and where some cannot
    occur; or where a claim is no matter of classes alone.
    """
    listed = region.listed
    is_whole = not region.has_impossible
    if listed is None or not is_whole:
        return None
    total = math.prod(len(codes) for codes in listed)
    if is_proved:
        return Amount(0, 0, total)
    if isinstance(question, Paired) or not question.breaking:
        return None
    least = most = 0
    try:
        for network, classes in question.breaking:
            small = restricted(network, listed)
            found = count_classes(small, meter=meter, n_jobs=n_jobs)
            low, high = _bounds(found, classes, total)
            least, most = least + low, most + high
    except (BudgetExceededError, UndecidedError):
        most = total
    return Amount(max(least, 1), min(most, total), total)


def _bounds(found: Counts, classes: Collection[int], total: int) -> tuple[int, int]:
    """Return at least and at most how many inputs are of some classes."""
    assert found.lower is not None, "there are no ranges"
    assert found.upper is not None, "there are no ranges"
    both = [*zip(found.lower, found.upper, strict=True)]
    own = [both[k] for k in classes]
    rest = [pair for k, pair in enumerate(both) if k not in classes]
    least = max(sum(low for low, _ in own), total - sum(high for _, high in rest))
    most = min(sum(high for _, high in own), total - sum(low for low, _ in rest))
    return least, most
