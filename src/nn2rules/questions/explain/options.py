"""The options of `explain`, read and checked before any work."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, get_args

import numpy as np

from nn2rules.errors import DomainError, OptionError
from nn2rules.extraction import other_network
from nn2rules.language import read_impossible
from nn2rules.network import Network
from nn2rules.questions.explain.case import Direction
from nn2rules.rules import RuleList
from nn2rules.space import (
    Boxes,
    Condition,
    Domain,
    Feature,
    Lookup,
    Span,
    Value,
    checked_spans,
    is_number,
    plain_number,
    refuse_parts,
)


@dataclass(frozen=True)
class Constraints:
    """What changes must not do; features by their positions.

    Attributes
    ----------
    immutable, increase, decrease : sets of int
        Features that stay as they are, that may only go up, and only down.
    codes : dict from int to set of int
        Values that a feature must not change to.
    spans : dict from int to list of spans
        The same of numbers of ranges.
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
        """Whether something may not change; what cannot occur is no such thing."""
        given = (self.immutable, self.increase, self.decrease, self.codes, self.spans)
        return any(given)


def constraints_of(
    domain: Domain,
    *,
    immutable: Any = (),
    increase: Any = (),
    decrease: Any = (),
    forbidden: Any = None,
    impossible: Any = None,
) -> Constraints:
    """Read what the user says, and refuse what makes no sense."""
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
                f"feature {name!r} is in {first} and in {second}; name it in one"
            )
    for option, features in (("increase", up), ("decrease", down)):
        for index in sorted(features):
            if not domain.features[index].ordered:
                raise OptionError(
                    f"{option}: the values of feature {domain.names[index]!r} have no "
                    f"order, so none is more than another; forbid some instead"
                )
    codes: dict[int, frozenset[int]] = {}
    spans: dict[int, list[Span]] = {}
    if forbidden is not None and not isinstance(forbidden, Mapping):
        raise OptionError(
            f"forbidden: a dict from features to values, not {forbidden!r}"
        )
    for name, values in (forbidden or {}).items():
        condition = condition_of(domain, name, values, "forbidden")
        index, feature = domain.index(name), domain.feature(name)
        listed = [v for v in condition.values if not isinstance(v, tuple)]
        codes[index] = frozenset(feature.values.index(v) for v in listed)
        spans[index] = [v for v in condition.values if isinstance(v, tuple)]
    boxes, _ = read_impossible(domain, impossible, function=False)
    return Constraints(
        kept,
        up,
        down,
        codes,
        {index: found for index, found in spans.items() if found},
        boxes,
    )


def _features(domain: Domain, option: str, given: Any) -> frozenset[int]:
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, Iterable):
        raise OptionError(f"{option}: names of features, not {given!r}")
    try:
        return frozenset(domain.index(name) for name in names)
    except DomainError as error:
        raise OptionError(f"{option}: {error}") from None


def condition_of(domain: Domain, name: Any, given: Any, option: str) -> Condition:
    """Return a condition from what a user says: a value, a span, or several."""
    try:
        feature = domain.feature(name)
        is_span = isinstance(given, tuple) and feature.limits is not None
        is_one = given is None or isinstance(given, str | int | float | np.generic)
        values = [given] if is_one or is_span else list(given)
        found = [_value_of(domain, feature, value) for value in values]
        refuse_parts(feature, values, option)
        spans = [value for value in found if isinstance(value, tuple)]
        if spans:
            checked_spans(feature, spans)
    except OptionError:
        raise
    except (DomainError, TypeError) as error:
        raise OptionError(f"{option}: {error}") from None
    if not found:
        raise OptionError(f"{option}: feature {name!r} has no value here")
    return Condition(feature.name, tuple(dict.fromkeys(found)))


def _value_of(domain: Domain, feature: Feature, value: Any) -> Value | Span:
    if feature.limits is None:
        return feature.values[domain.code(feature.name, value)]
    if isinstance(value, tuple | list):
        [span] = checked_spans(feature, [value])
        return span
    code = domain.code(feature.name, value)
    if code:
        return feature.values[code]
    number = plain_number(Lookup(feature).number(value))
    return number, number


def step_of(feature: Feature, given: Any = None) -> float:
    """Return how far a step in a range of numbers goes.

    By default 1 for whole numbers, and else the power of ten next below a thousandth
    of the range, or what parts two of its floats.

    Examples
    --------
    >>> step_of(Feature.real("income", 0, 90000)), step_of(Feature.real("share", 0, 1))
    (10.0, 0.001)
    """
    assert feature.limits is not None, "asked only of ranges"
    if given is not None:
        is_step = is_number(given) and math.isfinite(given) and given > 0
        if not is_step or (feature.whole and given != int(given)):
            kind = "whole number" if feature.whole else "number"
            raise OptionError(
                f"steps: feature {feature.name!r} has {given!r}, expected a {kind} "
                f"above 0"
            )
        return float(given)
    low, high = feature.limits
    if feature.whole or low == high:
        return 1.0
    share = (Fraction(high) - Fraction(low)) / 1000  # floats might overflow
    power = math.log10(share.numerator) - math.log10(share.denominator)
    between = math.log10(math.ulp(max(abs(low), abs(high))))  # two floats of the range
    return float(f"1e{max(math.floor(power + 1e-9), math.ceil(between))}")


def steps_of(domain: Domain, given: Any) -> dict[int, float]:
    """Return how far a step goes in each range of numbers."""
    said = given or {}
    if not isinstance(said, Mapping):
        raise OptionError(f"steps: a dict from features to numbers, not {given!r}")
    for name in said:
        try:
            feature = domain.feature(name)
        except DomainError as error:
            raise OptionError(f"steps: {error}") from None
        if feature.limits is None:
            raise OptionError(
                f"steps: feature {name!r} has listed values, of which each is a step; "
                f"a size is for ranges of numbers"
            )
    return {
        index: step_of(feature, said.get(feature.name))
        for index, feature in enumerate(domain.features)
        if feature.limits is not None
    }


@dataclass(frozen=True)
class Prices:
    """What changing each feature costs, and each step of it, in units of 1/`scale`."""

    change: tuple[int, ...]
    step: tuple[int, ...]
    scale: int = 1

    def amount(self, cost: int) -> int | float:
        """Return a cost as the user counts it."""
        found = Fraction(cost, self.scale)
        return int(found) if found.denominator == 1 else float(found)


def prices_of(domain: Domain, given: Any) -> Prices:
    """Read what changes cost; what is not named costs 1, however far it goes."""
    n_features = len(domain.features)
    if given is None:
        return Prices((1,) * n_features, (0,) * n_features)
    if not isinstance(given, Mapping):
        raise OptionError(f"costs: a dict from features to costs, not {given!r}")
    found = [(Fraction(1), Fraction(0))] * n_features
    for name, said in given.items():
        try:
            index = domain.index(name)
        except DomainError as error:
            raise OptionError(f"costs: {error}") from None
        found[index] = _price(domain.features[index], said)
    scale = math.lcm(*(part.denominator for price in found for part in price))
    change = tuple(int(price * scale) for price, _ in found)
    step = tuple(int(price * scale) for _, price in found)
    return Prices(change, step, scale)


def _price(feature: Feature, said: Any) -> tuple[Fraction, Fraction]:
    parts = said if isinstance(said, tuple | list) else (said, 0)
    is_right = len(parts) == 2 and all(
        is_number(part) and math.isfinite(part) and part >= 0 for part in parts
    )
    if not is_right or not any(parts):
        raise OptionError(
            f"costs: feature {feature.name!r} has {said!r}, expected a number above 0, "
            f"or two: of a change, and of each step"
        )
    if parts[1] and not feature.ordered:
        raise OptionError(
            f"costs: the values of feature {feature.name!r} have no order, so there "
            f"are no steps between them; give one number"
        )
    change, step = (Fraction(str(part)) for part in parts)
    return change, step


Codes = Mapping[tuple[int, str], str]
"""Feature and direction → text."""

_DIRECTIONS = get_args(Direction)


def codes_table(domain: Domain, given: Any) -> Codes:
    """Read a user's table: (feature, direction) → text, or feature → text."""
    if not isinstance(given, Mapping) or not given:
        raise OptionError(
            f"codes: a dict from (feature, direction) to texts, not {given!r}"
        )
    found = {}
    for key, text in given.items():
        name, direction = (key, "any") if isinstance(key, str) else _pair(key)
        try:
            index = domain.index(name)
        except DomainError as error:
            raise OptionError(f"codes: {error}") from None
        if direction not in _DIRECTIONS:
            raise OptionError(
                f"codes: feature {name!r} has the direction {direction!r}, expected "
                f"'low', 'high' or 'any'"
            )
        if direction != "any" and not domain.features[index].ordered:
            raise OptionError(
                f"codes: the values of feature {name!r} have no order, so none is "
                f"{direction!r}; use 'any'"
            )
        if not isinstance(text, str) or not text:
            raise OptionError(f"codes: feature {name!r} has no text, but {text!r}")
        found[index, direction] = text
    return found


def _pair(key: Any) -> tuple[Any, Any]:
    if not isinstance(key, tuple) or len(key) != 2:
        raise OptionError(
            f"codes: {key!r}, expected a feature and a direction, as in "
            f"('income', 'low')"
        )
    return key


def checked_rules(network: Network, rules: object) -> RuleList | None:
    """Return rules, once it is known that they are of the network's features."""
    if rules is None:
        return None
    if not isinstance(rules, RuleList):
        raise OptionError(f"rules: a {type(rules).__name__}, expected a RuleList")
    if different := other_network(rules, network):
        raise OptionError(f"rules: this model is not the one they are of: {different}")
    return rules


@dataclass(frozen=True)
class Wanted:
    """What is asked for; see `explain`."""

    number: int
    smallest: bool
    widen: bool
    changes: bool
    limits: Constraints
    prices: Prices
    steps: Mapping[int, float]
    codes: Codes | None
    adverse: Value
    rules: RuleList | None
    has_costs: bool
