"""Claims beyond a table: proved, or refuted by an input, or counted, by search."""

import math
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import (
    Counts,
    Meter,
    Oracle,
    count_classes,
    find_class,
    find_classes,
    find_pair,
    find_twins,
    lead_of,
)
from nn2rules.errors import BudgetExceededError, UndecidedError
from nn2rules.language import Region
from nn2rules.questions.verify.by_table import restricted
from nn2rules.questions.verify.pairs import (
    PairQuestion,
    Partners,
    Point,
    Question,
    in_order,
)
from nn2rules.questions.verify.single_inputs import InputQuestion, Search, classes_of
from nn2rules.space import Inputs

_DRAWN, _BOXES = 256, 200

_SHORT = (1_000, 30_000)  # boxes for two classes, before the rest of the budget

_LEFT = 0.5
"""The share of the time kept for a search, where regions do not settle the claim."""

_TRIED = 20_000
"""Boxes that are searched for one class before regions are tried."""

FALLING_SOMEWHERE = frozenset(("silu", "gelu"))
"""Activations that are not monotonic."""


def search_pair(question: PairQuestion, region: Region, meter: Meter) -> list[Point]:
    """Return two inputs that violate a claim; an empty list is a proof of it."""
    if is_ignored(question, region) or is_monotonic(question, region):
        return []
    points = _drawn(question, region, meter)
    if points:
        return points
    settled = pair_by_regions(question, region, meter)
    if settled is not None:
        return settled
    left = list(question.classes())
    for boxes in (*_SHORT, None):
        still = []
        for classes in left:
            part = meter if boxes is None else meter.part(boxes)
            try:
                twins = find_twins(
                    question.network,
                    question.features,
                    classes,
                    region.within,
                    region.impossible,
                    part,
                    ranks=question.ranks,
                )
            except BudgetExceededError:
                if boxes is None:
                    raise
                still.append(classes)
                twins = None
            if part is not meter:
                meter.spend(part.boxes)
            if twins is not None:
                return [(twins.codes[i], twins.numbers[i]) for i in range(2)]
        left = still
    return []


def pair_by_regions(
    question: PairQuestion, region: Region, meter: Meter
) -> list[Point] | None:
    """Settle a claim about numbers by linear regions; None if they cannot.

    If no number alone violates it, several together do not either, because they can be
    moved one after another.
    """
    with suppress(BudgetExceededError), meter.leaving(_LEFT):
        for feature in question.features:
            answer = find_pair(
                question.network,
                feature,
                _in_order(question, feature),
                region.within,
                lambda inputs: region.holds(inputs.codes, inputs.numbers),
                meter,
                toward=question.toward,
                is_increasing=question.is_increasing,
            )
            if answer.inputs is not None:
                return _points(answer.inputs)
            if answer.status == "undecided":
                return None
        return []
    return None


def _in_order(question: PairQuestion, feature: int) -> list[int]:
    """Return the values of a feature, in its order if there is one."""
    start, stop = question.network.domain.offsets[feature : feature + 2].tolist()
    columns = [*range(start, stop)]
    ranks = question.ranks
    return columns if ranks is None else sorted(columns, key=lambda c: float(ranks[c]))


def _points(inputs: Inputs) -> list[Point]:
    return [*zip(inputs.codes, inputs.numbers, strict=True)]


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


def is_ignored(question: PairQuestion, region: Region) -> bool:
    """Tell whether the network ignores features, for all values they have here."""
    network, domain = question.network, question.network.domain
    weights = network.layers[0].weights
    if len(network.layers) > 1:
        weights = weights[:, network.layers[1].weights.any(axis=1)]
    for index in question.features:
        start, stop = domain.offsets[index : index + 2]
        allowed = region.within.allowed[:, start:stop].max(axis=0)
        rows = weights[start:stop][allowed]
        is_range = domain.ranges[index] >= 0 and allowed[0]
        if (rows != rows[0]).any() or (is_range and rows[0].any()):
            return False
    return True


def is_monotonic(question: PairQuestion, region: Region) -> bool:
    """Tell whether every unit is monotonic in a feature, so that the scores are.

    Only the signs of weights are used, and those are exact.
    """
    if question.ranks is None or question.toward is None:
        return False
    network = question.network
    if any(layer.activation in FALLING_SOMEWHERE for layer in network.layers[:-1]):
        return False
    if any((layer.slope or 0) < 0 for layer in network.layers[:-1]):
        return False
    lead = lead_of(network, question.toward)
    steps = _steps(question, region, lead.weights if len(network.layers) == 1 else None)
    for layer in network.layers[1:-1]:
        steps = _pulled(steps, layer.weights)
    if len(network.layers) > 1:
        steps = _pulled(steps, lead.weights)
    ups, downs = steps
    return not (downs if question.is_increasing else ups).any()


Steps = tuple[NDArray[np.bool_], NDArray[np.bool_]]
"""Whether each unit may rise, and whether it may fall, as a feature grows."""


def _steps(
    question: PairQuestion, region: Region, weights: NDArray[np.float64] | None
) -> Steps:
    """Return how the first units move along an ordered feature."""
    domain, [index] = question.network.domain, question.features
    assert question.ranks is not None, "asked only where there is an order"
    first_weights = question.network.layers[0].weights if weights is None else weights
    start, stop = domain.offsets[index : index + 2]
    allowed = region.within.allowed[:, start:stop].max(axis=0)
    if domain.ranges[index] >= 0:
        return first_weights[start] > 0, first_weights[start] < 0
    order = np.argsort(question.ranks[start:stop][allowed], kind="stable")
    rows = first_weights[start:stop][allowed][order]
    grows, falls = rows[1:] > rows[:-1], rows[1:] < rows[:-1]
    return np.logical_or.reduce(grows), np.logical_or.reduce(falls)


def _pulled(steps: Steps, weights: NDArray[np.float64]) -> Steps:
    """Return how units move that depend on others with these weights."""
    ups, downs = (each[:, np.newaxis] for each in steps)
    up = ((weights > 0) & ups) | ((weights < 0) & downs)
    down = ((weights > 0) & downs) | ((weights < 0) & ups)
    return np.logical_or.reduce(up), np.logical_or.reduce(down)


def search(question: Question, region: Region, meter: Meter) -> list[Point]:
    """Return inputs that violate a claim; an empty list is a proof of it."""
    if isinstance(question, InputQuestion):
        return _search_plain(question, meter, region)
    return search_pair(question, region, meter)


def _search_plain(question: InputQuestion, meter: Meter, region: Region) -> list[Point]:
    methods = [_look]
    if meter.budget.boxes is None:
        methods = [_look_briefly, _look_by_regions, _look]
    for search in question.searches(region):
        for method in methods:
            points = method(search, meter)
            if points:
                return points
            if points is not None:
                break
    return []


def _look(search: Search, meter: Meter) -> list[Point] | None:
    """Return an input that violates a claim; an empty list is a proof of it."""
    network, within, ignoring = search.network, search.within, search.ignoring
    if search.is_never:
        answers = iter([find_class(network, search.index, within, ignoring, meter)])
    else:
        oracle = Oracle(network, meter)
        answers = (
            oracle.ask(box, search.index, ends=ends, ignoring=ignoring)
            for box, ends in zip(within.allowed, within.ends, strict=True)
        )
    for answer in answers:
        if answer.counterexample is not None and answer.numbers is not None:
            return [(answer.counterexample, answer.numbers)]
    return []


def _look_briefly(search: Search, meter: Meter) -> list[Point] | None:
    """Search like `_look`, in few boxes; None if that does not settle it."""
    part = meter.part(_TRIED)
    try:
        return _look(search, part)
    except (BudgetExceededError, UndecidedError):
        return None
    finally:
        meter.spend(part.boxes)


def _look_by_regions(search: Search, meter: Meter) -> list[Point] | None:
    """Search like `_look`, by linear regions; None if they do not settle it."""
    every = {*range(len(search.network.classes))}
    classes = {search.index} if search.is_never else every - {search.index}
    with suppress(BudgetExceededError), meter.leaving(_LEFT):
        answer = find_classes(
            search.network, classes, search.within, search.ignoring, meter
        )
        if answer.inputs is not None:
            return _points(answer.inputs)
        return None if answer.status == "undecided" else []
    return None


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
            small = restricted(network, listed)
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
