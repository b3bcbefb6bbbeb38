"""Conditions, and the boxes they stand for.

A box is a row of booleans with an entry for each value of each feature, True where the
value is allowed. Conditions are what people read; boxes are what everything else uses.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nn2rules.domain import Domain
from nn2rules.errors import DomainError
from nn2rules.values import Value


@dataclass(frozen=True, slots=True)
class Condition:
    """A feature and the values it may have."""

    feature: str
    values: tuple[Value, ...]


def boxes_of(domain: Domain, rules: Sequence[Sequence[Condition]]) -> NDArray[np.bool_]:
    """Return the boxes of rules, refusing conditions that do not fit the domain."""
    boxes = np.ones((len(rules), int(domain.offsets[-1])), dtype=np.bool_)
    for index, conditions in enumerate(rules):
        place = f"rules[{index}]"
        _check_conditions(conditions, place)
        names = [condition.feature for condition in conditions]
        for condition in conditions:
            name = condition.feature
            if name not in domain.names:
                raise DomainError(f"{place}: there is no feature {name!r}")
            if names.count(name) > 1:
                raise DomainError(f"{place}: feature {name!r} has two conditions")
            if not condition.values:
                raise DomainError(f"{place}: feature {name!r} allows no value")
            values, start = domain.feature(name).values, domain.offsets_of[name]
            boxes[index, start : start + len(values)] = False
            for value in condition.values:
                if value not in values:
                    raise DomainError(
                        f"{place}: feature {name!r} has no value {value!r}"
                    )
                boxes[index, start + values.index(value)] = True
    return boxes


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
                allowed = np.flatnonzero(block[number]).tolist()
                values = tuple(feature.values[code] for code in allowed)
                made[key] = Condition(feature.name, values)
            found[number].append(made[key])
    return [tuple(conditions) for conditions in found]


def intersecting(domain: Domain, boxes: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell which pairs of boxes have an input in common."""
    common = np.ones((len(boxes), len(boxes)), dtype=np.bool_)
    for index in range(len(domain.sizes)):
        block = boxes[:, domain.offsets[index] : domain.offsets[index + 1]]
        common &= (block.astype(np.float32) @ block.T.astype(np.float32)) > 0
    return common
