"""The part that both file formats share: features, values, class labels."""

from dataclasses import replace
from typing import Any

from nn2rules.errors import DomainError
from nn2rules.files.json_node import Node
from nn2rules.space import (
    Curve,
    Curved,
    Domain,
    Feature,
    Grouped,
    Intervals,
    Range,
    Shape,
    Value,
    plain_number,
)

_KEYS = (
    *("name", "values", "ordered", "labels", "edges", "other", "whole", "groups"),
    "not_missing",
)
_RANGE_KEYS = ("name", "range", "whole", "values", "not_missing")
_CURVE_KEYS = ("kind", "power", "knots")


def domain_from_node(node: Node, *, curves: bool = False) -> Domain:
    """Read the features of a file; of a network, ranges may have `curves`."""
    features = []
    for item in node.items():
        is_range = isinstance(item.value, dict) and "range" in item
        range_keys = (*_RANGE_KEYS, "curve") if curves else _RANGE_KEYS
        item.only(range_keys if is_range else _KEYS)
        try:
            feature = _range(item) if is_range else _listed(item)
            if "not_missing" in item:
                listed = [each.string() for each in item["not_missing"].items()]
                feature = replace(feature, not_missing=tuple(listed))
            features.append(feature)
        except DomainError as error:
            raise item.error(str(error)) from None
    try:
        return Domain(tuple(features))
    except DomainError as error:
        raise node.error(str(error)) from None


def _listed(item: Node) -> Feature:
    """Read a feature whose values are listed, or bins, or groups."""
    return Feature(
        item["name"].string(),
        tuple(value.scalar() for value in item["values"].items()),
        ordered=item["ordered"].boolean() if "ordered" in item else False,
        labels=_labels(item),
        edges=_edges(item),
        other=item["other"].string() if "other" in item else None,
        whole=item["whole"].boolean() if "whole" in item else False,
        groups=_groups(item),
    )


def _range(item: Node) -> Feature:
    """Read a feature that is a range of numbers, with the values beside it."""
    ends = [end.number() for end in item["range"].items()]
    if len(ends) != 2:
        raise item["range"].error("expected two numbers, the minimum and the maximum")
    beside: list[Value] = []
    if "values" in item:
        beside = [value.scalar() for value in item["values"].items()]
    if None in beside[:-1]:
        raise item["values"].error(
            "null (missing) must be the last value, and occur once"
        )
    feature = Feature.real(
        item["name"].string(),
        ends[0],
        ends[1],
        whole=item["whole"].boolean() if "whole" in item else False,
        special=[value for value in beside if value is not None],
        missing=None in beside,
    )
    if "curve" not in item:
        return feature
    assert isinstance(feature, Range), "it is a range"
    return feature.along(Curve(_shape(item["curve"]), feature.limits, feature.whole))


def _shape(node: Node) -> Shape:
    """Read the curve that a network reads a range along."""
    node.only(_CURVE_KEYS)
    knots = []
    for item in node["knots"].items() if "knots" in node else ():
        pair = [part.number() for part in item.items()]
        if len(pair) != 2:
            raise item.error("expected two numbers, a value and its share")
        knots.append((pair[0], pair[1]))
    power = node["power"].number() if "power" in node else None
    return Shape(node["kind"].string(), power, tuple(knots))


def _labels(item: Node) -> tuple[str, ...] | None:
    if "labels" not in item:
        return None
    return tuple(label.string() for label in item["labels"].items())


def _groups(item: Node) -> tuple[tuple[Value, ...], ...] | None:
    if "groups" not in item:
        return None
    return tuple(
        tuple(value.scalar() for value in group.items())
        for group in item["groups"].items()
    )


def _edges(item: Node) -> tuple[float, ...] | None:
    if "edges" not in item:
        return None
    return tuple(
        plain_number(edge.number()) if type(edge.value) is float else edge.integer()
        for edge in item["edges"].items()
    )


def domain_to_object(domain: Domain) -> list[dict[str, Any]]:
    """Return the features as JSON objects."""
    objects = []
    for feature in domain.features:
        if isinstance(feature, Range):
            objects.append(_range_object(feature) | _refused(feature))
            continue
        document: dict[str, Any] = {
            "name": feature.name,
            "values": list(feature.values),
        }
        if feature.ordered:
            document["ordered"] = True
        if feature.labels is not None:
            document["labels"] = list(feature.labels)
        if isinstance(feature, Intervals):
            document["edges"] = list(feature.edges)
        if feature.other is not None:
            document["other"] = feature.other
        if feature.whole:
            document["whole"] = True
        if isinstance(feature, Grouped):
            document["groups"] = [list(group) for group in feature.groups]
        objects.append(document | _refused(feature))
    return objects


def _refused(feature: Feature) -> dict[str, Any]:
    """Return the spellings of missing that a feature refuses, if there are any."""
    return {"not_missing": list(feature.not_missing)} if feature.not_missing else {}


def _range_object(feature: Feature) -> dict[str, Any]:
    """Return a range as a JSON object; where rules cut it follows from the rules."""
    plain = feature.uncurved
    assert isinstance(plain, Range), "asked only of ranges"
    document: dict[str, Any] = {"name": feature.name, "range": list(plain.limits)}
    if plain.whole:
        document["whole"] = True
    if feature.beside:
        document["values"] = list(feature.beside)
    if isinstance(feature, Curved):
        document["curve"] = _curve_object(feature.curve.shape)
    return document


def _curve_object(shape: Shape) -> dict[str, Any]:
    """Return a curve as a JSON object."""
    document: dict[str, Any] = {"kind": shape.kind}
    if shape.power is not None:
        document["power"] = shape.power
    if shape.knots:
        document["knots"] = [list(knot) for knot in shape.knots]
    return document


def labels_from_node(node: Node) -> tuple[Value, ...]:
    """Read the class labels of a file."""
    return tuple(item.scalar() for item in node.items())
