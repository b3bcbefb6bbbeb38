"""Ranges that a model reads along a curve, such as a logarithm in front of a line."""

import math

from nn2rules.errors import DomainError
from nn2rules.network import UNIT
from nn2rules.space import Curve, Domain, Feature, Shape

_ROUNDINGS = 16
"""More than the units in the last place by which a library's function is off."""


def along(feature: Feature, shape: Shape | None) -> Feature:
    """Return a range as one of the values of a curve, where the curve has values.

    Examples
    --------
    >>> along(Feature.real("income", 1, 64), Shape("log2")).limits
    (0, 6)
    """
    if feature.limits is None or feature.edges or shape is None:
        return feature
    try:
        return feature.along(Curve(shape, feature.limits, feature.whole))
    except DomainError:
        return feature  # the model is not asked about a line there, and says why


def curve_error(feature: Feature, unit: float) -> float:
    """Bound how far a library's value of a curve may lie from the curve's own.

    Parameters
    ----------
    feature : Feature
    unit : float
        The unit roundoff that the library computes with.

    Notes
    -----
    Logarithms and roots are off by a few units in the last place. Quantiles are
    interpolated between shares of at most 1. A power p is worked out as
    ``expm1(p * log(x)) / p`` or as ``(x ** p - 1) / p``: an error of the logarithm
    grows by ``x ** p``, and the difference cancels what lies before it.
    """
    if feature.curve is None:
        return 0.0
    shape, largest = feature.curve.shape, max(map(abs, feature.curve.limits))
    size = max(largest, 1.0) if shape.kind == "quantiles" else largest
    if shape.power is not None:
        size += _grown(shape, feature.curve.ends)
    return _ROUNDINGS * max(unit, UNIT) * size


def _grown(shape: Shape, ends: tuple[float, float]) -> float:
    """Bound what roundings before the last step of a power become on a range."""
    power, logarithms, powers = shape.power, [], []
    assert power is not None, "asked only of powers"
    for end in ends:
        is_box_cox = shape.kind == "box-cox"
        logarithms.append(math.log(end) if is_box_cox else math.log1p(abs(end)))
        powers.append(power if is_box_cox or end >= 0 else 2 - power)
    both = zip(powers, logarithms, strict=True)
    grown = max(1.0, *(math.exp(power * logarithm) for power, logarithm in both))
    cancelled = max(1 / abs(power) if power else 0.0 for power in powers)
    return (1 + grown) * (max(map(abs, logarithms)) + cancelled)


def curves_of(domain: Domain) -> dict[str, str]:
    """Return the kind of curve that each feature is read along, if it is."""
    return {f.name: f.curve.shape.kind for f in domain.features if f.curve is not None}
