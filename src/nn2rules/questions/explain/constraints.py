"""What may change, and what cannot occur: read and checked before any work."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from nn2rules.errors import DomainError, OptionError
from nn2rules.language import read_impossible
from nn2rules.questions.explain.asking import Block, Case
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
    joined,
    next_number,
    plain_number,
    previous_number,
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


def allowed_of(case: Case, limits: Constraints) -> list[Block]:
    """Return what each feature may become; what it is, is always allowed.

    Forbidden numbers of ranges are not taken out: see `forbidden_boxes`.
    """
    blocks = []
    for index in range(len(case.domain.features)):
        block = case.whole(index)
        if index in limits.immutable:
            block = case.own(index)
        elif index in limits.increase | limits.decrease:
            block = _one_way(case, index, is_up=index in limits.increase)
        for code in limits.codes.get(index, ()):
            if code != case.point.codes[index]:
                block.values[code] = False
        blocks.append(block)
    return blocks


def _one_way(case: Case, index: int, *, is_up: bool) -> Block:
    """Return what a feature may become that only goes up, or only down.

    Values outside of the order, such as missing, stay, and nothing becomes one.
    """
    feature, own = case.domain.features[index], case.own(index)
    code = int(case.point.codes[index])
    if feature.limits is not None:
        if not case.is_number(index):
            return own
        low, high = feature.limits
        return Block(own.values, own.low if is_up else low, high if is_up else own.high)
    if not is_plain(feature, feature.values[code]):
        return own
    values, places = own.values.copy(), feature.places
    for other, place in places.items():
        if place > places[code] if is_up else place < places[code]:
            values[other] = True
    return Block(values, own.low, own.high)


def is_plain(feature: Feature, value: Value) -> bool:
    """Tell whether a value has a place in the order."""
    return value is not None and (feature.other is None or value != feature.other)


def forbidden_boxes(case: Case, limits: Constraints) -> Boxes:
    """Return what a change must not lead to: what cannot occur, forbidden numbers.

    The row's own number is left out of these: it may stay.
    """
    domain, parts = case.domain, [limits.impossible]
    for index, spans in limits.spans.items():
        feature = domain.features[index]
        allowed = np.ones((1, int(domain.offsets[-1])), dtype=np.bool_)
        start = int(domain.offsets[index])
        allowed[0, start + 1 : start + len(feature)] = False
        for low, high in _without_own(case, index, spans):
            ends = domain.limits[np.newaxis].copy()
            ends[0, :, index] = low, high
            parts.append(Boxes(allowed, ends))
    return joined(domain, parts)


def _without_own(case: Case, index: int, spans: Sequence[Span]) -> list[Span]:
    feature, found = case.domain.features[index], []
    number = float(case.point.numbers[index])
    for low, high in spans:
        if not case.is_number(index) or not low <= number <= high:
            found.append((low, high))
            continue
        below = previous_number(number, whole=feature.whole)
        above = next_number(number, whole=feature.whole)
        found += [(low, below)] if low <= below else []
        found += [(above, high)] if above <= high else []
    return found


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
