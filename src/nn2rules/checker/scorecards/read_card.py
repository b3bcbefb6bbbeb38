"""A scorecard's numbers as networks that the checker runs by its own code."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nn2rules.checker.read import (
    listed_values,
    positions,
    refuse_other_groups,
    refuse_other_rows,
)
from nn2rules.errors import DomainError
from nn2rules.network import Layer, Network
from nn2rules.scorecards import Scorecard
from nn2rules.space import Curved, Domain, Range

_HAS = "the scorecard has"


@dataclass(frozen=True)
class ReadCard:
    """What a scorecard computes.

    Attributes
    ----------
    own : Network
        Over the features, and with the classes, in the scorecard's order.
    same : Network
        Over the features in the order of the network that it is compared with; the
        classes are still in the scorecard's order.
    places : list of int
        Where each class of the scorecard is among those of the network.
    """

    own: Network
    same: Network
    places: list[int]


def read_card(network: Network, card: Scorecard) -> ReadCard:
    """Return what a scorecard computes; refuse one that is about other inputs."""
    classes = positions("classes", network.classes, card.classes, _HAS)
    columns = _columns(network.domain, card.domain)
    own = network_of(card)
    first, *rest = own.layers
    weights = np.empty_like(first.weights)
    weights[columns] = first.weights
    moved = Layer(weights, first.bias, first.activation, first.slope)
    same = Network(network.domain, (moved, *rest), own.classes, own.threshold)
    return ReadCard(own, same, [classes[label] for label in card.classes])


def network_of(card: Scorecard) -> Network:
    """Return the function that the numbers of a scorecard stand for."""
    name: str = card.activation
    if not card.upper:
        name = "sigmoid" if len(card.cards) == 1 else "softmax"
    first = Layer(
        np.array([one.points.tolist() for one in card.cards]).T,
        np.array([one.base for one in card.cards]),
        name,
        card.slope,
    )
    layers = (first, *card.upper)
    return Network(card.domain, layers, card.classes, card.threshold)


def _columns(ours: Domain, theirs: Domain) -> list[int]:
    """Return where each column of a scorecard is among those of the network."""
    places = positions("features", ours.names, theirs.names, _HAS)
    found: list[int] = []
    for feature in theirs.features:
        own = ours.feature(feature.name)
        if isinstance(own, Curved):
            raise DomainError(
                f"feature {feature.name!r}: the network reads its numbers along a "
                f"curve, which no scorecard does"
            )
        refuse_other_rows(own, feature, _HAS)
        what = f"feature {feature.name!r}"
        codes = positions(what, listed_values(own), listed_values(feature), _HAS)
        refuse_other_groups(own, feature, codes, _HAS)
        start = int(ours.offsets[places[feature.name]])
        if isinstance(feature, Range):
            found.append(start)
            start += 1
        found += [start + codes[value] for value in listed_values(feature)]
    return found


def differing_numbers(network: Network, card: ReadCard) -> list[str]:
    """Say which numbers of a scorecard are not those of the network.

    The two are then written differently, and may compute the same nevertheless. An
    empty list means that they are written the same, so that they are the same.
    """
    same = card.same
    if card.places != [*range(len(card.places))]:
        return ["the classes are in another order"]
    if len(network.layers) != len(same.layers):
        return [
            f"{len(same.layers)} layers of cards and units, in the network "
            f"{len(network.layers)}"
        ]
    found = []
    if len(network.layers[-1].bias) == 1 and network.threshold != same.threshold:
        found.append(f"threshold {same.threshold}, in the network {network.threshold}")
    for depth, (ours, theirs) in enumerate(
        zip(network.layers, same.layers, strict=True)
    ):
        found += _differing(network, depth, ours, theirs)
    return found


def _differing(network: Network, depth: int, ours: Layer, theirs: Layer) -> list[str]:
    """Say where two layers differ."""
    where = "the cards" if not depth else f"layer {depth} above the cards"
    if ours.weights.shape != theirs.weights.shape:
        return [
            f"{where}: {theirs.weights.shape[1]} sums, in the network "
            f"{ours.weights.shape[1]}"
        ]
    kinds = [(layer.activation, _slope(layer)) for layer in (theirs, ours)]
    if kinds[0] != kinds[1]:
        shown = [name + ("" if leak is None else f" {leak}") for name, leak in kinds]
        return [f"activation of {where}: {shown[0]}, in the network {shown[1]}"]
    found = [
        f"{_unit(depth, unit)}: base {theirs.bias[unit]}, in the network "
        f"{ours.bias[unit]}"
        for unit in np.flatnonzero(theirs.bias != ours.bias).tolist()
    ]
    for row, unit in np.argwhere(theirs.weights != ours.weights).tolist():
        what = _value(network.domain, row) if not depth else f"unit {row + 1}"
        found.append(
            f"{_unit(depth, unit)}, {what}: {theirs.weights[row, unit]}, in the "
            f"network {ours.weights[row, unit]}"
        )
    return found


def _slope(layer: Layer) -> float | None:
    if layer.activation != "leaky_relu":
        return None
    return 0.01 if layer.slope is None else layer.slope


def _unit(depth: int, unit: int) -> str:
    return f"card {unit + 1}" if not depth else f"layer {depth}, unit {unit + 1}"


def _value(domain: Domain, column: int) -> str:
    """Return which value of which feature a column is for."""
    place = int(np.searchsorted(domain.offsets, column, side="right")) - 1
    feature = domain.features[place]
    code = column - int(domain.offsets[place])
    if isinstance(feature, Range) and not code:
        return f"{feature.name}, slope"
    shown: Any = feature.values[code]
    return f"{feature.name} {shown!r}"
