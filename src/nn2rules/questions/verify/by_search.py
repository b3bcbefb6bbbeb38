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
from nn2rules.questions.verify.pairs import Paired, Partners, Point, in_order
from nn2rules.questions.verify.single_inputs import Plain, Search, classes_of
from nn2rules.space import Inputs

_DRAWN, _BOXES = 256, 200

_SHORT = (1_000, 30_000)  # boxes for two classes, before the rest of the budget

_LEFT = 0.5
"""The share of the time that is left for a search where regions do not tell."""

_TRIED = 20_000
"""Boxes that are searched for one class before regions are tried."""

FALLING_SOMEWHERE = frozenset(("silu", "gelu"))
"""Activations that do not only grow."""


def search_pair(paired: Paired, region: Region, meter: Meter) -> list[Point]:
    """Return two inputs that break a claim; none is a proof that there are none."""
    if is_dead(paired, region) or is_growing(paired, region):
        return []
    found = _drawn(paired, region, meter)
    if found:
        return found
    settled = pair_by_regions(paired, region, meter)
    if settled is not None:
        return settled
    left = list(paired.classes())
    for boxes in (*_SHORT, None):
        still = []
        for classes in left:
            part = meter if boxes is None else meter.part(boxes)
            try:
                twins = find_twins(
                    paired.network,
                    paired.features,
                    classes,
                    region.within,
                    region.impossible,
                    part,
                    ranks=paired.ranks,
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


def pair_by_regions(paired: Paired, region: Region, meter: Meter) -> list[Point] | None:
    """Settle a claim about numbers by linear regions; None if that does not tell.

    Where no number alone breaks it, several together do not, as one after another can
    be moved.
    """
    with suppress(BudgetExceededError), meter.leaving(_LEFT):
        for feature in paired.features:
            found = find_pair(
                paired.network,
                feature,
                _in_order(paired, feature),
                region.within,
                lambda inputs: region.holds(inputs.codes, inputs.numbers),
                meter,
                toward=paired.toward,
                is_increasing=paired.is_increasing,
            )
            if found.inputs is not None:
                return _points(found.inputs)
            if found.status == "undecided":
                return None
        return []
    return None


def _in_order(paired: Paired, feature: int) -> list[int]:
    """Return the values of a feature, in its order if there is one."""
    start, stop = paired.network.domain.offsets[feature : feature + 2].tolist()
    columns = [*range(start, stop)]
    ranks = paired.ranks
    return columns if ranks is None else sorted(columns, key=lambda c: float(ranks[c]))


def _points(inputs: Inputs) -> list[Point]:
    return [*zip(inputs.codes, inputs.numbers, strict=True)]


def _drawn(paired: Paired, region: Region, meter: Meter) -> list[Point]:
    """Draw inputs of the region, and look for a partner of each."""
    codes, numbers = region.drawn(_DRAWN)
    inside = region.holds(codes, numbers)
    codes, numbers = codes[inside], numbers[inside]
    answers = classes_of(paired.network, codes, numbers).tolist()
    oracle = Oracle(paired.network, meter)
    partners = Partners(paired, region, oracle)
    for index, answer in enumerate(answers):
        oracle.meter = meter.part(_BOXES)
        own = codes[index], numbers[index]
        try:
            partner = partners.partner(*own, answer)
        except BudgetExceededError:
            partner = None
        meter.spend(oracle.meter.boxes)
        if partner is not None:
            return in_order(paired, [own, partner])
    return []


def is_dead(paired: Paired, region: Region) -> bool:
    """Tell whether features reach no unit that counts, in any value they have here."""
    network, domain = paired.network, paired.network.domain
    weights = network.layers[0].weights
    if len(network.layers) > 1:
        weights = weights[:, network.layers[1].weights.any(axis=1)]
    for index in paired.features:
        start, stop = domain.offsets[index : index + 2]
        allowed = region.within.allowed[:, start:stop].max(axis=0)
        rows = weights[start:stop][allowed]
        is_range = domain.ranges[index] >= 0 and allowed[0]
        if (rows != rows[0]).any() or (is_range and rows[0].any()):
            return False
    return True


def is_growing(paired: Paired, region: Region) -> bool:
    """Tell whether every unit goes one way along a feature, so that the scores do.

    Signs of weights are exact. A unit that others pull both ways goes no way.
    """
    if paired.ranks is None or paired.toward is None:
        return False
    network = paired.network
    if any(layer.activation in FALLING_SOMEWHERE for layer in network.layers[:-1]):
        return False
    if any((layer.slope or 0) < 0 for layer in network.layers[:-1]):
        return False
    lead = lead_of(network, paired.toward)
    steps = _steps(paired, region, lead.weights if len(network.layers) == 1 else None)
    for layer in network.layers[1:-1]:
        steps = _pulled(steps, layer.weights)
    if len(network.layers) > 1:
        steps = _pulled(steps, lead.weights)
    ups, downs = steps
    return not (downs if paired.is_increasing else ups).any()


Steps = tuple[NDArray[np.bool_], NDArray[np.bool_]]
"""Of each unit whether it may go up, and whether it may go down, as a feature grows."""


def _steps(
    paired: Paired, region: Region, weights: NDArray[np.float64] | None
) -> Steps:
    """Return which way the first units go along an ordered feature."""
    domain, [index] = paired.network.domain, paired.features
    assert paired.ranks is not None, "asked only where there is an order"
    own = paired.network.layers[0].weights if weights is None else weights
    start, stop = domain.offsets[index : index + 2]
    allowed = region.within.allowed[:, start:stop].max(axis=0)
    if domain.ranges[index] >= 0:
        return own[start] > 0, own[start] < 0
    order = np.argsort(paired.ranks[start:stop][allowed], kind="stable")
    rows = own[start:stop][allowed][order]
    grows, falls = rows[1:] > rows[:-1], rows[1:] < rows[:-1]
    return np.logical_or.reduce(grows), np.logical_or.reduce(falls)


def _pulled(steps: Steps, weights: NDArray[np.float64]) -> Steps:
    """Return which way units go that others pull by these weights."""
    ups, downs = (each[:, np.newaxis] for each in steps)
    up = ((weights > 0) & ups) | ((weights < 0) & downs)
    down = ((weights > 0) & downs) | ((weights < 0) & ups)
    return np.logical_or.reduce(up), np.logical_or.reduce(down)


def search(question: Plain | Paired, region: Region, meter: Meter) -> list[Point]:
    """Return inputs that break a claim; none is a proof that there are none."""
    if isinstance(question, Plain):
        return _search_plain(question, meter, region)
    return search_pair(question, region, meter)


def _search_plain(plain: Plain, meter: Meter, region: Region) -> list[Point]:
    looks = [_look]
    if meter.budget.boxes is None:
        looks = [_look_briefly, _look_by_regions, _look]
    for search in plain.searches(region):
        for look in looks:
            points = look(search, meter)
            if points:
                return points
            if points is not None:
                break
    return []


def _look(search: Search, meter: Meter) -> list[Point] | None:
    """Return an input that breaks a claim, or none as a proof that there is none."""
    network, within, ignoring = search.network, search.within, search.ignoring
    if search.is_never:
        answers = iter([find_class(network, search.index, within, ignoring, meter)])
    else:
        oracle = Oracle(network, meter)
        answers = (
            oracle.ask(box, search.index, ends=ends, ignoring=ignoring)
            for box, ends in zip(within.allowed, within.ends, strict=True)
        )
    for found in answers:
        if found.counterexample is not None and found.numbers is not None:
            return [(found.counterexample, found.numbers)]
    return []


def _look_briefly(search: Search, meter: Meter) -> list[Point] | None:
    """Look as `_look` does, in few boxes; None if that does not tell."""
    part = meter.part(_TRIED)
    try:
        return _look(search, part)
    except (BudgetExceededError, UndecidedError):
        return None
    finally:
        meter.spend(part.boxes)


def _look_by_regions(search: Search, meter: Meter) -> list[Point] | None:
    """Look as `_look` does, by linear regions; None if these do not tell."""
    every = {*range(len(search.network.classes))}
    classes = {search.index} if search.is_never else every - {search.index}
    with suppress(BudgetExceededError), meter.leaving(_LEFT):
        found = find_classes(
            search.network, classes, search.within, search.ignoring, meter
        )
        if found.inputs is not None:
            return _points(found.inputs)
        return None if found.status == "undecided" else []
    return None


def moved_near(
    found: Sequence[Point],
    rows: Point,
    is_broken: Callable[[Sequence[Point]], bool],
    fixed: Sequence[int] = (),
) -> tuple[list[Point], int]:
    """Return inputs moved toward the row that is nearest, while they break the claim.

    All of them take the values of the row, one feature after another, where the claim
    stays broken. Returns also in how many features the first differs from the row.

    Parameters
    ----------
    found : sequence of inputs, as codes and numbers
        One, or two that differ in the features `fixed`.
    rows : all rows, as codes and numbers
    """
    codes, numbers = rows
    differs = (codes != found[0][0]) | (numbers != found[0][1])
    nearest = int(np.argmin(differs.sum(axis=1)))
    points = [(own.copy(), amounts.copy()) for own, amounts in found]
    for index in np.flatnonzero(differs[nearest]).tolist():
        if index in fixed:
            continue
        trial = [(own.copy(), amounts.copy()) for own, amounts in points]
        for own, amounts in trial:
            own[index], amounts[index] = codes[nearest, index], numbers[nearest, index]
        if is_broken(trial):
            points = trial
    first = points[0]
    left = (codes[nearest] != first[0]) | (numbers[nearest] != first[1])
    return points, int(left.sum())


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
