"""Claims beyond a table: proved, or refuted by an input, or counted, by search."""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from nn2rules.engine import (
    Counts,
    Meter,
    Oracle,
    PairQuestion,
    Settled,
    count_classes,
    holds_by_weights,
    network_of_listed,
    settle_class,
    settle_pair,
)
from nn2rules.errors import BudgetExceededError, UndecidedError
from nn2rules.language import Region
from nn2rules.questions.verify.pairs import (
    Partners,
    Point,
    Question,
    in_order,
)
from nn2rules.questions.verify.single_inputs import InputQuestion, classes_of

_DRAWN, _BOXES = 256, 200


def search_pair(question: PairQuestion, region: Region, meter: Meter) -> list[Point]:
    """Return two inputs that violate a claim; an empty list is a proof of it."""
    if holds_by_weights(question, region.within):
        return []
    points = _drawn(question, region, meter)
    if points:
        return points
    settled = settle_pair(
        question,
        region.within,
        region.impossible,
        lambda inputs: region.holds(inputs.codes, inputs.numbers),
        meter,
    )
    return _points(settled)


def _points(settled: Settled) -> list[Point]:
    return [] if settled.inputs is None else [*zip(*settled.inputs, strict=True)]


def _drawn(question: PairQuestion, region: Region, meter: Meter) -> list[Point]:
    """Draw inputs of the region, and look for a partner for each."""
    codes, numbers = region.drawn(_DRAWN)
    inside = region.holds(codes, numbers)
    codes, numbers = codes[inside], numbers[inside]
    answers = classes_of(question.network, codes, numbers).tolist()
    oracle = Oracle(question.network, meter)
    partners = Partners(question, region, oracle)
    for index, answer in enumerate(answers):
        oracle.meter = meter.part(_BOXES)
        point = codes[index], numbers[index]
        try:
            partner = partners.partner(*point, answer)
        except BudgetExceededError:
            partner = None
        meter.spend(oracle.meter.boxes)
        if partner is not None:
            return in_order(question, [point, partner])
    return []


def search(question: Question, region: Region, meter: Meter) -> list[Point]:
    """Return inputs that violate a claim; an empty list is a proof of it."""
    if isinstance(question, InputQuestion):
        return _search_plain(question, meter, region)
    return search_pair(question, region, meter)


def _search_plain(question: InputQuestion, meter: Meter, region: Region) -> list[Point]:
    for search in question.searches(region):
        settled = settle_class(
            Oracle(search.network, meter),
            search.index,
            search.within,
            search.ignoring,
            meter,
            is_never=search.is_never,
        )
        if settled.status == "refuted":
            return _points(settled)
    return []


def moved_near(
    start: Sequence[Point],
    rows: Point,
    is_violated: Callable[[Sequence[Point]], bool],
    fixed: Sequence[int] = (),
) -> tuple[list[Point], int]:
    """Return inputs moved towards the nearest row, as long as they violate the claim.

    All of them take the values of the row, one feature at a time, where the claim stays
    violated. Also returns in how many features the first differs from the row.

    Parameters
    ----------
    start : sequence of inputs, as codes and numbers
        One, or two that differ in the features `fixed`.
    rows : all rows, as codes and numbers
    """
    codes, numbers = rows
    differs = (codes != start[0][0]) | (numbers != start[0][1])
    nearest = int(np.argmin(differs.sum(axis=1)))
    points = [(point_codes.copy(), amounts.copy()) for point_codes, amounts in start]
    for index in np.flatnonzero(differs[nearest]).tolist():
        if index in fixed:
            continue
        trial = [
            (point_codes.copy(), amounts.copy()) for point_codes, amounts in points
        ]
        for point_codes, amounts in trial:
            point_codes[index], amounts[index] = (
                codes[nearest, index],
                numbers[nearest, index],
            )
        if is_violated(trial):
            points = trial
    first = points[0]
    left = (codes[nearest] != first[0]) | (numbers[nearest] != first[1])
    return points, int(left.sum())


@dataclass(frozen=True, slots=True)
class Amount:
    """Certain bounds on the number of violating inputs, and the number of all."""

    at_least: int
    at_most: int
    total: int


def amount_of(
    question: Question,
    region: Region,
    meter: Meter,
    *,
    is_proved: bool,
    n_jobs: int | None = None,
) -> Amount | None:
    """Count the inputs that violate a claim, in the rest of a budget.

    None where inputs cannot be counted: with ranges of numbers or impossible inputs, or
    for a claim that is not about classes alone.
    """
    listed = region.listed
    is_whole = not region.has_impossible
    if listed is None or not is_whole:
        return None
    total = math.prod(len(codes) for codes in listed)
    if is_proved:
        return Amount(0, 0, total)
    if isinstance(question, PairQuestion) or not question.breaking:
        return None
    least = most = 0
    try:
        for network, classes in question.breaking:
            small = network_of_listed(network, listed)
            counts = count_classes(small, meter=meter, n_jobs=n_jobs)
            low, high = _bounds(counts, classes, total)
            least, most = least + low, most + high
    except (BudgetExceededError, UndecidedError):
        most = total
    return Amount(max(least, 1), min(most, total), total)


def _bounds(counts: Counts, classes: Collection[int], total: int) -> tuple[int, int]:
    """Return bounds on the number of inputs of some classes."""
    assert counts.lower is not None, "there are no ranges"
    assert counts.upper is not None, "there are no ranges"
    both = [*zip(counts.lower, counts.upper, strict=True)]
    violating = [both[k] for k in classes]
    rest = [pair for k, pair in enumerate(both) if k not in classes]
    least = max(sum(low for low, _ in violating), total - sum(high for _, high in rest))
    most = min(sum(high for _, high in violating), total - sum(low for low, _ in rest))
    return least, most
