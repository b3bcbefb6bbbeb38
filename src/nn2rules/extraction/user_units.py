"""Rules of a network that reads ranges along curves, in the units of the user's rows.

Such a network, and the rules extracted from it, are about the values of curves. Curves
never fall, so an interval of values is an interval of numbers: each interval of a rule
is translated, and the rule covers the same rows.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from nn2rules.rules import RuleList
from nn2rules.space import (
    Boxes,
    Condition,
    Curve,
    Curved,
    Domain,
    Span,
    Value,
    plain_number,
)


def reached(domain: Domain, boxes: Boxes) -> tuple[Boxes, NDArray[np.bool_]]:
    """Return boxes whose ranges end at values of curves, and which boxes remain.

    Most floats between two values of a curve are not values of it. A box whose range
    contains no value has no row, unless it also allows special values.
    """
    if not domain.has_curves:
        return boxes, np.ones(len(boxes.allowed), dtype=np.bool_)
    allowed, ends = boxes.allowed.copy(), boxes.ends.copy()
    is_left = np.ones(len(allowed), dtype=np.bool_)
    for index, feature in enumerate(domain.features):
        if not isinstance(feature, Curved):
            continue
        start, stop = domain.offsets[index : index + 2].tolist()
        for box in np.flatnonzero(allowed[:, start]).tolist():
            span = _numbers(feature.curve, ends[box, :, index].tolist())
            if span is None:
                allowed[box, start] = False
            else:
                ends[box, :, index] = [feature.curve(end) for end in span]
        is_left &= allowed[:, start:stop].any(axis=1)
    return Boxes(allowed[is_left], ends[is_left]), is_left


def in_user_units(rules: RuleList) -> RuleList:
    """Translate rules about values of curves into rules about the numbers of rows.

    Proofs and facts of the former are true of the latter.
    """
    if not rules.domain.has_curves:
        return rules
    in_units = cache(partial(_in_units, rules.domain))
    listed = [
        replace(rule, conditions=tuple(map(in_units, rule.conditions)))
        for rule in rules.rules
    ]
    translated = RuleList(
        rules.domain.uncurved.uncut,
        listed,
        rules.default,
        rules.classes,
        rules.form,
        rules.scope,
    )
    certificate = {k: v for k, v in rules.certificate.items() if k != "rules"}
    return translated.replace(certificate=certificate)


def _in_units(domain: Domain, condition: Condition) -> Condition:
    """Translate a condition on the values of a curve into one on numbers."""
    feature = domain.feature(condition.feature)
    if not isinstance(feature, Curved):
        return condition
    values: list[Value | Span] = []
    for value in condition.values:
        if not isinstance(value, tuple):
            values.append(value)
        elif (span := _numbers(feature.curve, value)) is not None:
            values.append(span)
    return Condition(condition.feature, tuple(values))


def _numbers(curve: Curve, values: Sequence[float]) -> Span | None:
    """Return the first and last number with a value in a span; None if none has."""
    first, last = curve.first_from(values[0]), curve.last_to(values[1])
    if first is None or last is None or first > last:
        return None
    return plain_number(first), plain_number(last)
