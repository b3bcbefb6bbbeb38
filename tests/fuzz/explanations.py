"""Explanations: each reason and counterfactual, compared with the judge."""

from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.random import Generator

from fuzz.judge import Judge, class_of
from fuzz.numbers import draw_network
from fuzz.questions import demand, draw
from nn2rules import Budget, Network, UndecidedError, explain
from nn2rules.space import Range


def explain_rows(rng: Generator) -> int:
    """Ask for all reasons and all fewest changes of a row, by table and by search."""
    judge = draw(rng)
    network, n_asked = judge.network, 0
    row = judge.inputs[int(rng.integers(len(judge.inputs)))]
    [values] = network.domain.decode(np.array([row]))
    for engine in ("table", "search"):
        try:
            found = explain(network, values, reasons=99, smallest=True, engine=engine)
        except UndecidedError:
            continue
        if found.undecided:
            continue
        _judge(judge, row, found)
        n_asked += 1
    return n_asked


def _judge(judge: Judge, row: tuple[int, ...], found: Any) -> None:
    network = judge.network
    names, answer = network.domain.names, network.classes.index(found.prediction)
    truth = dict(zip(judge.inputs, judge.truth, strict=True))
    if None in truth.values():
        return
    turned = [one for one in judge.inputs if truth[one] != answer]
    moved = [tuple(i for i, c in enumerate(one) if c != row[i]) for one in turned]
    fewest = min(map(len, moved), default=None)
    demand(truth[row] == answer, f"the answer is {found.prediction}", network)
    demand(found.cost == fewest, f"fewest changes: {found.cost}", network)
    radius = len(row) if fewest is None else fewest - 1
    demand(found.radius == radius, f"radius {found.radius}", network)
    expected = {
        one for one, some in zip(turned, moved, strict=True) if len(some) == fewest
    }
    [base] = network.domain.decode(np.array([row]))
    changed = [{**base, **change} for change in found.counterfactuals]
    codes = network.domain.encode(changed) if changed else []
    demand({tuple(c.tolist()) for c in codes} == expected, "the changes", network)
    reasons: list[set[int]] = []
    for size in range(len(row) + 1):
        for some in map(set, combinations(range(len(row)), size)):
            if not any(known <= some for known in reasons) and all(
                some & set(other) for other in moved
            ):
                reasons.append(some)
    said = [{names.index(name) for name in reason} for reason in found.reasons]
    demand(
        sorted(map(sorted, said)) == sorted(map(sorted, reasons)), "reasons", network
    )
    for reason in found.reasons:
        for one in product(*(_codes(network, reason, name) for name in names)):
            demand(truth[one] == answer, f"{one} fits {reason}", network)


def _codes(network: Network, reason: dict[str, Any], name: str) -> list[int]:
    feature = network.domain.feature(name)
    if name not in reason:
        return list(range(len(feature)))
    said = reason[name] if isinstance(reason[name], list) else [reason[name]]
    return [feature.values.index(value) for value in said]


def explain_numbers(rng: Generator) -> int:
    """Ask for a reason and changes of a row with numbers, and attack both."""
    network = draw_network(rng, most_ranges=3)
    row = {f.name: _value(rng, f) for f in network.domain.features}
    try:
        found = explain(network, row, budget=Budget(boxes=2000))
    except UndecidedError:
        return 0
    answer, n_asked = network.classes.index(found.prediction), 0
    for change, outcome in zip(found.counterfactuals, found.outcomes, strict=True):
        turned = _class_of(network, {**row, **change})
        expected = {None, network.classes.index(outcome)}
        demand(turned in expected and outcome != found.prediction, f"{change}", network)
        n_asked += 1
    for _ in range(20):
        reason, one = found.reasons[0], {}
        for feature in network.domain.features:
            allowed = reason.get(feature.name, getattr(feature, "limits", None))
            allowed = [allowed] if not isinstance(allowed, list) else allowed
            if not isinstance(feature, Range) and feature.name not in reason:
                allowed = list(feature.values)
            one[feature.name] = _among(rng, feature, allowed)
        fits = _class_of(network, one) in (None, answer)
        demand(fits, f"{one} fits {reason} of {row}", network)
        some = rng.permutation(list(row))[: found.radius or 0]
        moved = {**row, **{n: _value(rng, network.domain.feature(n)) for n in some}}
        stays = _class_of(network, moved) in (None, answer)
        demand(stays, f"{moved} is within {found.radius} of {row}", network)
        n_asked += 2
    return n_asked


def _class_of(network: Network, row: dict[str, Any]) -> int | None:
    codes, numbers = network.domain.inputs_of([row])
    amounts = None if numbers is None else numbers[0].tolist()
    return class_of(network, codes[0].tolist(), amounts)


def _value(rng: Generator, feature: Any) -> Any:
    beside = feature.values[feature.n_cells :]
    if not isinstance(feature, Range) or (beside and not rng.integers(0, 4)):
        return beside[int(rng.integers(len(beside)))]
    return _among(rng, feature, [feature.limits])


def _among(rng: Generator, feature: Any, allowed: list[Any]) -> Any:
    """Draw a value, or a number of a span: an end, or one between."""
    value = allowed[int(rng.integers(len(allowed)))]
    if not isinstance(value, tuple):
        return value
    low, high = value
    share = float(rng.choice([0.0, 1.0, rng.random()]))
    number = low * (1 - share) + high * share
    number = round(number) if feature.whole else float(number)
    return min(max(number, low), high)
