"""How likely inputs are: the probabilities of values, and of boxes."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import DomainError
from nn2rules.space import Boxes, Domain, Feature, Value, volumes

_LARGE = 1e300


def masses_of(
    domain: Domain, boxes: Boxes, chances: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the probability of each of `boxes`, within a relative error of 2**-41."""
    parts = boxes.allowed * chances
    for index, feature in enumerate(domain.features):
        if feature.limits is not None:
            low, high = boxes.ends[:, 0, index], boxes.ends[:, 1, index]
            parts[:, domain.ranges[index]] *= _width(feature, low, high)
    masses: NDArray[np.float64] = np.add.reduceat(
        parts, domain.offsets[:-1], axis=1
    ).prod(axis=1)
    return masses


def _width(
    feature: Feature, low: NDArray[np.float64], high: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return which shares of a range of numbers lie between its ends."""
    assert feature.limits is not None, "asked only of ranges"
    first, last = map(float, feature.limits)
    if feature.whole:
        return (high - low + 1) / (last - first + 1)
    if first == last:
        return np.ones_like(low)
    scale = 0.5 if max(-first, last) > _LARGE else 1.0  # so that nothing overflows
    return (scale * high - scale * low) / (scale * last - scale * first)


def value_chances(
    domain: Domain, probabilities: Mapping[str, Mapping[Value, float]] | None
) -> NDArray[np.float64]:
    """Return the probability of every value; of each feature they add up to 1."""
    chances: list[float] = []
    given = dict(probabilities or {})
    for feature in domain.features:
        if feature.name not in given:
            chances += [float(part) for part in volumes(feature)]
            continue
        if feature.limits is not None:
            raise DomainError(
                f"probabilities: feature {feature.name!r} is a range of numbers, which "
                f"are taken as evenly spread"
            )
        own = dict(given.pop(feature.name))
        chances += _checked_chances(feature.name, feature.values, own)
    if given:
        raise DomainError(f"probabilities: there is no feature {next(iter(given))!r}")
    return np.array(chances)


def _checked_chances(
    name: str, values: Sequence[Value], own: dict[Value, float]
) -> list[float]:
    for value, chance in own.items():
        if value not in values:
            raise DomainError(f"probabilities: feature {name!r} has no value {value!r}")
        if not 0 <= chance <= 1:
            raise DomainError(
                f"probabilities: {chance} for {name!r} = {value!r}, expected 0 to 1"
            )
    total = math.fsum(own.values())
    if abs(total - 1) > 1e-9:
        raise DomainError(
            f"probabilities of feature {name!r} add up to {total:g}, expected 1"
        )
    return [own.get(value, 0.0) / total for value in values]
