"""Scorecards as text: the format ``nn2rules-scorecard/1``.

::

    {"format": "nn2rules-scorecard/1",
     "features": [{"name": "color", "values": ["red", "yellow"]}, …],
     "classes": ["unripe", "ripe"], "threshold": 0.5, "probabilities": true,
     "cards": [{"name": "total", "base": -2.0,
                "points": {"color": [1.5, -1.0], "weight": {"slope": 0.01}}}],
     "scale": {"factor": 20.0, "offset": null, "digits": 0}, "certificate": {}}

A card adds up its base and the points of each feature: of the value that a row has, in
the order of the feature's values, or the slope times the number. Part cards have an
"activation", and the layers above them in "upper", as networks have them.
"""

import json
import re
from fractions import Fraction
from typing import Any

from nn2rules.errors import DomainError, OptionError
from nn2rules.files.domain_json import (
    domain_from_node,
    domain_to_object,
    labels_from_node,
)
from nn2rules.files.json_node import Node
from nn2rules.files.network_json import layer_from_node, layer_to_object
from nn2rules.files.rules_json import certificate_from_node
from nn2rules.network import ACTIVATIONS, Affine, Layer
from nn2rules.scorecards import Card, CardRegion, Profile, Scale, Scorecard
from nn2rules.space import Domain, Feature, Range, Value

FORMAT = "nn2rules-scorecard/1"

_FRACTION = re.compile(r"-?[0-9]+(/[1-9][0-9]*)?", re.ASCII)
_MOST_DIGITS = 4000

_KEYS = (
    *("format", "features", "classes", "threshold", "probabilities", "cards"),
    *("activation", "slope", "upper", "regions", "scale", "profile", "certificate"),
)


def scorecard_from_node(document: Node) -> Scorecard:
    """Read a scorecard; any mistake in it is one error that names its place."""
    document.only(_KEYS)
    domain = domain_from_node(document["features"])
    cards = tuple(_card(item, domain) for item in document["cards"].items())
    has_upper = "upper" in document
    try:
        return Scorecard(
            domain,
            labels_from_node(document["classes"]),
            cards,
            activation=_activation(document) if has_upper else "identity",
            slope=document["slope"].number() if "slope" in document else None,
            upper=_layers(document["upper"], len(cards)) if has_upper else (),
            regions=tuple(
                _region(item, len(cards), labels_from_node(document["classes"]))
                for item in document["regions"].items()
            )
            if "regions" in document
            else (),
            threshold=document["threshold"].number()
            if "threshold" in document
            else 0.5,
            has_probabilities=document["probabilities"].boolean(),
            scale=_scale(document["scale"]) if "scale" in document else None,
            profile=_profile(document["profile"], domain)
            if "profile" in document
            else None,
            certificate=certificate_from_node(document["certificate"])
            if "certificate" in document
            else {},
        )
    except (DomainError, OptionError) as error:
        raise document.error(str(error)) from None


def _activation(document: Node) -> str:
    name = document["activation"].string()
    if name not in ACTIVATIONS:
        known = ", ".join(ACTIVATIONS)
        raise document["activation"].error(f"{name!r}, expected one of {known}")
    return name


def _layers(node: Node, n_cards: int) -> tuple[Layer, ...]:
    layers: list[Layer] = []
    rows, reason = n_cards, "one for each card"
    for item in node.items():
        layers.append(layer_from_node(item, rows, reason))
        rows, reason = len(layers[-1].bias), "one for each unit of the layer before"
    if not layers:
        raise node.error("a scorecard of parts has a layer above them")
    return tuple(layers)


def _card(item: Node, domain: Domain) -> Card:
    item.only(("name", "base", "points"))
    if "name" in item:  # for readers: it follows from the place of the card
        item["name"].string()
    points: list[float] = []
    node = item["points"]
    for name, _ in node.entries():
        if name not in domain.names:
            raise node.error(f"there is no feature {name!r}")
    for feature in domain.features:
        points += _points(node[feature.name], feature)
    return Card(item["base"].number(), points)  # type: ignore[arg-type]


def _points(node: Node, feature: Feature) -> list[float]:
    """Read the points of a feature: of its values, and before them its slope."""
    if not isinstance(feature, Range):
        return _numbers(node, len(feature))
    node.only(("slope", "values"))
    n_beside = len(feature.beside)
    beside = _numbers(node["values"], n_beside) if n_beside else []
    return [node["slope"].number(), *beside]


def _numbers(node: Node, expected: int) -> list[float]:
    numbers = [item.number() for item in node.items()]
    if len(numbers) != expected:
        raise node.error(
            f"{len(numbers)} numbers, expected {expected}, one for each value"
        )
    return numbers


def _region(node: Node, n_cards: int, labels: tuple[Value, ...]) -> CardRegion:
    node.only(("conditions", "scores", "classes"))
    scores = None
    if "scores" in node:
        scores = tuple(_form(item, n_cards) for item in node["scores"].items())
        if len(scores) not in ((1, 2) if len(labels) == 2 else (len(labels),)):
            raise node["scores"].error("expected one score, or one for each class")
    classes = tuple(item.integer() for item in node["classes"].items())
    if not classes or not all(0 <= c < len(labels) for c in classes):
        raise node["classes"].error("expected positions of classes")
    conditions = tuple(_form(item, n_cards) for item in node["conditions"].items())
    return CardRegion(conditions, scores, classes)


def _form(node: Node, n_cards: int) -> Affine:
    node.only(("parts", "constant"))
    parts = tuple(_fraction(item) for item in node["parts"].items())
    if len(parts) != n_cards:
        raise node["parts"].error(f"{len(parts)} fractions, expected {n_cards}")
    return Affine(parts, _fraction(node["constant"]))


def _fraction(node: Node) -> Fraction:
    text = node.string()
    if _FRACTION.fullmatch(text) is None or len(text) > _MOST_DIGITS:
        raise node.error(f'{text[:40]!r}, expected a fraction such as "-1/3"')
    return Fraction(text)


def _scale(node: Node) -> Scale:
    node.only(("factor", "offset", "digits", "bins"))
    offset = node["offset"]
    return Scale(
        node["factor"].number(),
        None if offset.value is None else offset.number(),
        node["digits"].integer(),
        node["bins"].integer() if "bins" in node else None,
    )


def _profile(node: Node, domain: Domain) -> Profile:
    node.only(("rows", "typical", "importance", "between"))
    between = None
    if "between" in node:
        counts = [item.integer() for item in node["between"].items()]
        if len(counts) != 2:
            raise node["between"].error("expected two numbers of rows")
        between = counts[0], counts[1]
    return Profile(
        node["rows"].integer(),
        tuple(node["typical"][name].scalar() for name in domain.names),
        tuple(node["importance"][name].number() for name in domain.names),
        between,
    )


def scorecard_to_object(card: Scorecard) -> dict[str, Any]:
    """Return a scorecard as a JSON object; reading it gives an equal one."""
    document: dict[str, Any] = {
        "format": FORMAT,
        "features": domain_to_object(card.domain),
        "classes": list(card.classes),
        "threshold": card.threshold,
        "probabilities": card.has_probabilities,
        "cards": [
            {
                "name": name,
                "base": one.base,
                "points": _points_object(one, card.domain),
            }
            for name, one in zip(card.names, card.cards, strict=True)
        ],
    }
    if card.upper:
        document["activation"] = card.activation
        if card.slope is not None:
            document["slope"] = card.slope
        document["upper"] = [layer_to_object(layer) for layer in card.upper]
    if card.regions:
        document["regions"] = [region.plain() for region in card.regions]
    if card.scale is not None:
        document["scale"] = {
            "factor": card.scale.factor,
            "offset": card.scale.offset,
            "digits": card.scale.digits,
        }
        if card.scale.bins is not None:
            document["scale"]["bins"] = card.scale.bins
    if card.profile is not None:
        names, known = card.domain.names, card.profile
        document["profile"] = {
            "rows": known.rows,
            "typical": dict(zip(names, known.typical, strict=True)),
            "importance": dict(zip(names, known.importance, strict=True)),
        }
        if known.between is not None:
            document["profile"]["between"] = list(known.between)
    return document | {"certificate": dict(card.certificate)}


def _points_object(card: Card, domain: Domain) -> dict[str, Any]:
    points: dict[str, Any] = {}
    for index, feature in enumerate(domain.features):
        start, stop = domain.offsets[index : index + 2]
        numbers = card.points[start:stop].tolist()
        if not isinstance(feature, Range):
            points[feature.name] = numbers
        else:
            points[feature.name] = {"slope": numbers[0]}
            if numbers[1:]:
                points[feature.name]["values"] = numbers[1:]
    return points


def scorecard_to_json(card: Scorecard) -> str:
    """Write a scorecard, a card to a line; reading it gives an equal one."""
    document = scorecard_to_object(card)
    entries = []
    for key, value in document.items():
        text = _dumps(value)
        if key in ("cards", "regions"):
            lines = ",\n  ".join(map(_dumps, value))
            text = f"[\n  {lines}\n ]"
        entries.append(f"{_dumps(key)}: {text}")
    return "{" + ",\n ".join(entries) + "}\n"


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
