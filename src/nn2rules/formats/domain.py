"""The part that both file formats share: features, values, class labels."""

from typing import Any

from nn2rules.domain import Domain
from nn2rules.errors import DomainError
from nn2rules.feature import Feature
from nn2rules.formats.node import Node
from nn2rules.values import Value, plain_number

_KEYS = (*("name", "values", "ordered", "labels", "edges", "other", "whole"),)


def domain_from_node(node: Node) -> Domain:
    """Read the features of a file."""
    features = []
    for item in node.items():
        item.only(_KEYS)
        try:
            features.append(
                Feature(
                    item["name"].string(),
                    tuple(value.scalar() for value in item["values"].items()),
                    ordered=item["ordered"].boolean() if "ordered" in item else False,
                    labels=_labels(item),
                    edges=_edges(item),
                    other=item["other"].string() if "other" in item else None,
                    whole=item["whole"].boolean() if "whole" in item else False,
                )
            )
        except DomainError as error:
            raise item.error(str(error)) from None
    try:
        return Domain(tuple(features))
    except DomainError as error:
        raise node.error(str(error)) from None


def _labels(item: Node) -> tuple[str, ...] | None:
    if "labels" not in item:
        return None
    return tuple(label.string() for label in item["labels"].items())


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
        document: dict[str, Any] = {
            "name": feature.name,
            "values": list(feature.values),
        }
        if feature.ordered:
            document["ordered"] = True
        if feature.labels is not None:
            document["labels"] = list(feature.labels)
        if feature.edges is not None:
            document["edges"] = list(feature.edges)
        if feature.other is not None:
            document["other"] = feature.other
        if feature.whole:
            document["whole"] = True
        objects.append(document)
    return objects


def labels_from_node(node: Node) -> tuple[Value, ...]:
    """Read the class labels of a file."""
    return tuple(item.scalar() for item in node.items())
