"""Claims beyond a table: proved, or refuted by an input, by search."""

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Meter, Oracle, find_class, find_twins, lead_of
from nn2rules.errors import BudgetExceededError
from nn2rules.language import Region
from nn2rules.questions.verify.nearest import Point
from nn2rules.questions.verify.pairs import Paired
from nn2rules.questions.verify.partners import Partners
from nn2rules.questions.verify.points import classes_of, in_order
from nn2rules.questions.verify.questions import Plain

_DRAWN, _BOXES = 256, 200
_SHORT = (1_000, 30_000)  # boxes for two classes, before the rest of the budget

FALLING_SOMEWHERE = frozenset(("silu", "gelu"))
"""Activations that do not only grow."""


def search_pair(paired: Paired, region: Region, meter: Meter) -> list[Point]:
    """Return two inputs that break a claim; none is a proof that there are none."""
    if is_dead(paired, region) or is_growing(paired, region):
        return []
    found = _drawn(paired, region, meter)
    if found:
        return found
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
    oracles: dict[int, Oracle] = {}
    for search in plain.searches(region):
        network = search.network
        if search.is_never:
            found = find_class(
                network, search.index, search.within, search.ignoring, meter
            )
            if found.counterexample is not None and found.numbers is not None:
                return [(found.counterexample, found.numbers)]
            continue
        oracle = oracles.setdefault(id(network), Oracle(network, meter))
        for box, ends in zip(search.within.allowed, search.within.ends, strict=True):
            found = oracle.ask(box, search.index, ends=ends, ignoring=search.ignoring)
            if found.counterexample is not None and found.numbers is not None:
                return [(found.counterexample, found.numbers)]
    return []
