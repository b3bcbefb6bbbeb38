"""The options of `explain`, read and checked before any work."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from nn2rules.errors import DomainError, OptionError
from nn2rules.extraction import other_network
from nn2rules.language import Allowed, read_impossible, values_for
from nn2rules.network import Network
from nn2rules.questions.explain.points import CardReasons
from nn2rules.questions.explain.reason_codes import ReasonCodes
from nn2rules.rules import RuleList
from nn2rules.space import (
    Boxes,
    Domain,
    Feature,
    Range,
    Span,
    Value,
    is_number,
)


@dataclass(frozen=True)
class Constraints:
    """What counterfactuals must respect; features by their positions.

    Attributes
    ----------
    immutable, increase, decrease : sets of int
        Features that must not change, may only increase, or may only decrease.
    codes : dict from int to set of int
        Values that a feature must not change to.
    spans : dict from int to list of spans
        Numbers of a range that a feature must not change to.
    impossible : Boxes
        Inputs that cannot occur.
    """

    immutable: frozenset[int]
    increase: frozenset[int]
    decrease: frozenset[int]
    codes: Mapping[int, frozenset[int]]
    spans: Mapping[int, Sequence[Span]]
    impossible: Boxes = field(compare=False)

    @property
    def has_any(self) -> bool:
        """Whether any change is restricted; impossible inputs do not count."""
        limits = (self.immutable, self.increase, self.decrease, self.codes, self.spans)
        return any(limits)


def constraints_of(
    domain: Domain,
    *,
    immutable: Any = (),
    increase: Any = (),
    decrease: Any = (),
    forbidden: Any = None,
    impossible: Any = None,
) -> Constraints:
    """Read what may change, and refuse options that conflict or are invalid."""
    kept = _features(domain, "immutable", immutable)
    up = _features(domain, "increase", increase)
    down = _features(domain, "decrease", decrease)
    for one, other, first, second in (
        (up, down, "increase", "decrease"),
        (kept, up, "immutable", "increase"),
        (kept, down, "immutable", "decrease"),
    ):
        if one & other:
            name = domain.names[min(one & other)]
            raise OptionError(
                f"feature {name!r} is in both {first} and {second}; keep it in one"
            )
    for option, features in (("increase", up), ("decrease", down)):
        for index in sorted(features):
            if not domain.features[index].ordered:
                raise OptionError(
                    f"{option}: the values of feature {domain.names[index]!r} have no "
                    f"order; use forbidden to exclude some of them"
                )
    excluded = _values_left_out(domain, forbidden)
    boxes, _ = read_impossible(domain, impossible, function=False)
    return Constraints(
        kept,
        up,
        down,
        {index: allowed.codes for index, allowed in excluded.items()},
        {index: allowed.spans for index, allowed in excluded.items() if allowed.spans},
        boxes,
    )


def _values_left_out(domain: Domain, forbidden: Any) -> dict[int, Allowed]:
    """Read the values that features must not change to."""
    if forbidden is None:
        return {}
    if not isinstance(forbidden, Mapping):
        raise OptionError(
            f"forbidden: {forbidden!r}, expected a dict from features to values"
        )
    try:
        return values_for(domain, forbidden, "forbidden")
    except DomainError as error:
        raise OptionError(f"forbidden: {error}") from None


def _features(domain: Domain, option: str, names: Any) -> frozenset[int]:
    listed = [names] if isinstance(names, str) else names
    if not isinstance(listed, Iterable):
        raise OptionError(f"{option}: {names!r}, expected names of features")
    try:
        return frozenset(domain.index(name) for name in listed)
    except DomainError as error:
        raise OptionError(f"{option}: {error}") from None


def step_of(feature: Feature, step: Any = None) -> float:
    """Return the size of a step in a range of numbers.

    By default 1 for whole numbers. Otherwise the largest power of ten that is at most a
    thousandth of the range, but not less than the gap between two of its floats.

    Examples
    --------
    >>> step_of(Feature.real("income", 0, 90000)), step_of(Feature.real("share", 0, 1))
    (10.0, 0.001)
    """
    assert isinstance(feature, Range), "asked only of ranges"
    if step is not None:
        is_step = is_number(step) and math.isfinite(step) and step > 0
        if not is_step or (feature.whole and step != int(step)):
            kind = "whole number" if feature.whole else "number"
            raise OptionError(
                f"steps: feature {feature.name!r} has {step!r}, expected a {kind} "
                f"above 0"
            )
        return float(step)
    low, high = feature.limits
    if feature.whole or low == high:
        return 1.0
    share = (Fraction(high) - Fraction(low)) / 1000  # floats might overflow
    power = math.log10(share.numerator) - math.log10(share.denominator)
    between = math.log10(math.ulp(max(abs(low), abs(high))))  # two floats of the range
    return float(f"1e{max(math.floor(power + 1e-9), math.ceil(between))}")


def steps_of(domain: Domain, steps: Any) -> dict[int, float]:
    """Return the step size of each range of numbers."""
    named_steps = steps or {}
    if not isinstance(named_steps, Mapping):
        raise OptionError(f"steps: {steps!r}, expected a dict from features to numbers")
    for name in named_steps:
        try:
            feature = domain.feature(name)
        except DomainError as error:
            raise OptionError(f"steps: {error}") from None
        if not isinstance(feature, Range):
            raise OptionError(
                f"steps: feature {name!r} has listed values, and each of them is one "
                f"step; only ranges of numbers have a step size"
            )
    return {
        index: step_of(feature, named_steps.get(feature.name))
        for index, feature in enumerate(domain.features)
        if isinstance(feature, Range)
    }


@dataclass(frozen=True)
class Prices:
    """The cost of changing each feature, and of each step, in units of 1/`scale`."""

    change: tuple[int, ...]
    step: tuple[int, ...]
    scale: int = 1

    def amount(self, cost: int) -> int | float:
        """Return a cost in the user's units."""
        exact = Fraction(cost, self.scale)
        return int(exact) if exact.denominator == 1 else float(exact)


def prices_of(domain: Domain, costs: Any) -> Prices:
    """Read the costs of changes; a feature not named costs 1, however far it moves."""
    n_features = len(domain.features)
    if costs is None:
        return Prices((1,) * n_features, (0,) * n_features)
    if not isinstance(costs, Mapping):
        raise OptionError(f"costs: {costs!r}, expected a dict from features to costs")
    prices = [(Fraction(1), Fraction(0))] * n_features
    for name, cost in costs.items():
        try:
            index = domain.index(name)
        except DomainError as error:
            raise OptionError(f"costs: {error}") from None
        prices[index] = _price(domain.features[index], cost)
    scale = math.lcm(*(part.denominator for price in prices for part in price))
    change = tuple(int(price * scale) for price, _ in prices)
    step = tuple(int(price * scale) for _, price in prices)
    return Prices(change, step, scale)


def _price(feature: Feature, cost: Any) -> tuple[Fraction, Fraction]:
    parts = cost if isinstance(cost, tuple | list) else (cost, 0)
    is_right = len(parts) == 2 and all(
        is_number(part) and math.isfinite(part) and part >= 0 for part in parts
    )
    if not is_right or not any(parts):
        raise OptionError(
            f"costs: feature {feature.name!r} has {cost!r}, expected a number above 0, "
            f"or a pair: the cost of a change and of each step"
        )
    if parts[1] and not feature.ordered:
        raise OptionError(
            f"costs: the values of feature {feature.name!r} have no order, so steps "
            f"cannot be counted; give one number"
        )
    change, step = (Fraction(str(part)) for part in parts)
    return change, step


def checked_rules(network: Network, rules: object) -> RuleList | None:
    """Return rules after checking that they are for this network's features."""
    if rules is None:
        return None
    if not isinstance(rules, RuleList):
        raise OptionError(f"rules: a {type(rules).__name__}, expected a RuleList")
    if different := other_network(rules, network):
        raise OptionError(f"rules: they were made from another model: {different}")
    return rules


@dataclass(frozen=True)
class Request:
    """What to explain and how; see `explain`."""

    n_reasons: int
    smallest: bool
    widen: bool
    counterfactuals: bool
    constraints: Constraints
    prices: Prices
    steps: Mapping[int, float]
    reason_codes: ReasonCodes | None
    adverse: Value
    rules: RuleList | None
    has_costs: bool
    points: CardReasons | None = None
