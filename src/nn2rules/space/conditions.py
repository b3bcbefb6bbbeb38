"""Conditions, and the boxes they stand for.

A box is a row of booleans with an entry for each value of each feature, True where the
value is allowed. Conditions are what people read; boxes are what everything else uses.
Of a feature that is a range of numbers, conditions say spans, and boxes have the cells
into which the range is cut: at the ends of all spans, and nowhere else.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import DomainError, OptionError
from nn2rules.space.domain import Domain
from nn2rules.space.feature import Feature
from nn2rules.space.feature_kinds import Range
from nn2rules.space.lookup import Lookup
from nn2rules.space.spans import (
    Span,
    checked_spans,
    codes_in,
    edges_of,
    spans_of,
)
from nn2rules.space.values import Value, did_you_mean


@dataclass(frozen=True, slots=True)
class Condition:
    """A feature and the values it may have.

    Of a range of numbers these are spans, as in ``((17, 24), (40, 90), None)``: pairs
    of numbers, both included, and values beside the range.
    """

    feature: str
    values: tuple[Value | Span, ...]


def boxes_of(
    domain: Domain, rules: Sequence[Sequence[Condition]]
) -> tuple[Domain, NDArray[np.bool_]]:
    """Return the boxes of rules, and the domain cut where their spans begin and end.

    Conditions that do not fit the domain are refused.
    """
    _check_rules(domain, rules)
    domain = _cut_for(domain, rules)
    boxes = np.ones((len(rules), int(domain.offsets[-1])), dtype=np.bool_)
    for index, conditions in enumerate(rules):
        for condition in conditions:
            feature = domain.feature(condition.feature)
            start = domain.offsets_of[feature.name]
            boxes[index, start : start + len(feature)] = _allowed(feature, condition)
    return domain, boxes


def _cut_for(domain: Domain, rules: Sequence[Sequence[Condition]]) -> Domain:
    if not domain.has_ranges:
        return domain
    spans: dict[str, list[Span]] = {name: [] for name in domain.names}
    for condition in (one for conditions in rules for one in conditions):
        spans[condition.feature] += _spans(condition)
    return domain.cut(
        {
            f.name: edges_of(f, spans[f.name])
            for f in domain.features
            if isinstance(f, Range)
        }
    )


def _spans(condition: Condition) -> list[Span]:
    return [value for value in condition.values if isinstance(value, list | tuple)]


def _allowed(feature: Feature, condition: Condition) -> NDArray[np.bool_]:
    """Tell which values of a feature a condition allows."""
    allowed = np.zeros(len(feature), dtype=np.bool_)
    if isinstance(feature, Range):
        allowed[: feature.n_cells] = codes_in(feature, _spans(condition))
    for value in condition.values:
        if not isinstance(value, list | tuple):
            allowed[feature.values.index(value)] = True
    return allowed


def _check_rules(domain: Domain, rules: Sequence[Sequence[Condition]]) -> None:
    for index, conditions in enumerate(rules):
        place = f"rules[{index}]"
        _check_conditions(conditions, place)
        names = [condition.feature for condition in conditions]
        for condition in conditions:
            name = condition.feature
            if name not in domain.names:
                hint = did_you_mean(name, domain.names)
                raise DomainError(f"{place}: there is no feature {name!r}{hint}")
            if names.count(name) > 1:
                raise DomainError(f"{place}: feature {name!r} has two conditions")
            if not condition.values:
                raise DomainError(f"{place}: feature {name!r} allows no value")
            try:
                _check_values(domain.feature(name), condition)
            except DomainError as error:
                raise DomainError(f"{place}: {error}") from None


def _check_values(feature: Feature, condition: Condition) -> None:
    known, hint = feature.values, ""
    if isinstance(feature, Range):
        known, hint = feature.beside, "; its numbers are allowed by pairs [low, high]"
        checked_spans(feature, _spans(condition))
    for value in condition.values:
        if isinstance(feature, Range) and isinstance(value, list | tuple):
            continue
        if value not in known:
            raise DomainError(f"feature {feature.name!r} has no value {value!r}{hint}")


def _check_conditions(conditions: object, place: str) -> None:
    if not isinstance(conditions, list | tuple):
        raise DomainError(f"{place}: {conditions!r}, expected a tuple of Condition")
    for condition in conditions:
        if not isinstance(condition, Condition):
            raise DomainError(f"{place}: {condition!r}, expected a Condition")
        if not isinstance(condition.values, list | tuple):
            raise DomainError(
                f"{place}: feature {condition.feature!r} allows {condition.values!r}, "
                f"expected a tuple of values"
            )


def conditions_of(
    domain: Domain, boxes: NDArray[np.bool_]
) -> list[tuple[Condition, ...]]:
    """Return the conditions of each box; a feature that allows everything has none."""
    found: list[list[Condition]] = [[] for _ in range(len(boxes))]
    for index, feature in enumerate(domain.features):
        block = boxes[:, domain.offsets[index] : domain.offsets[index + 1]]
        made: dict[bytes, Condition] = {}
        for number in np.flatnonzero(~block.all(axis=1)).tolist():
            key = block[number].tobytes()
            if key not in made:
                made[key] = Condition(feature.name, _values(feature, block[number]))
            found[number].append(made[key])
    return [tuple(conditions) for conditions in found]


def _values(feature: Feature, allowed: NDArray[np.bool_]) -> tuple[Value | Span, ...]:
    """Return the values that are allowed, those of a range as spans."""
    first = feature.n_cells
    spans = spans_of(feature, allowed) if isinstance(feature, Range) else []
    codes = np.flatnonzero(allowed[first:]).tolist()
    return (*spans, *(feature.values[first + code] for code in codes))


def without_idle_edges(
    domain: Domain, boxes: NDArray[np.bool_]
) -> tuple[Domain, NDArray[np.bool_]]:
    """Return the domain without edges on both sides of which every box is the same.

    So rules that say the same are the same, however they came about.
    """
    kept, edges = np.ones(int(domain.offsets[-1]), dtype=np.bool_), {}
    for feature, start in zip(domain.features, domain.offsets.tolist(), strict=False):
        if isinstance(feature, Range):
            stop = start + feature.n_cells
            needed = boxes[:, start : stop - 1] != boxes[:, start + 1 : stop]
            kept[start + 1 : stop] = is_needed = needed.any(axis=0)
            both = zip(feature.edges, is_needed.tolist(), strict=True)
            edges[feature.name] = [edge for edge, is_kept in both if is_kept]
    if kept.all():
        return domain, boxes
    return domain.cut(edges), boxes[:, kept]


def intersecting(domain: Domain, boxes: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell which pairs of boxes have an input in common."""
    common = np.ones((len(boxes), len(boxes)), dtype=np.bool_)
    for index in range(len(domain.sizes)):
        block = boxes[:, domain.offsets[index] : domain.offsets[index + 1]]
        common &= (block.astype(np.float32) @ block.T.astype(np.float32)) > 0
    return common


def refuse_parts(feature: Feature, values: Sequence[object], option: str) -> None:
    """Refuse a part of a value: a number of a bin, or a category of a group.

    The model does not distinguish the part from the rest. A group is named by its value
    or by all of its categories.

    Examples
    --------
    >>> job = Feature.grouped("job", [["clerk", "cook"], ["judge"]])
    >>> refuse_parts(job, ["clerk", "cook"], "impossible")
    """
    if isinstance(feature, Range):
        return
    lookup = Lookup(feature)
    categories = Lookup(Feature(feature.name, feature.categories or ("",)))
    named = {categories[value] for value in values}
    for value in values:
        code = lookup[value]
        name = feature.values[code]
        rest = {categories[each] for each in feature.categories_at(code)}
        is_bin = code < feature.n_intervals
        is_part = is_bin or feature.is_other(name) or not rest <= named
        if is_part and value != name:
            raise OptionError(
                f"{option}: {value!r} is only a part of what the value {name!r} of "
                f"feature {feature.name!r} stands for, and the model does not "
                f"distinguish it from the rest; name all of it, or the value"
            )
