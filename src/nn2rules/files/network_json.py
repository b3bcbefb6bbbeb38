"""Networks as text: the format ``nn2rules-network/1``.

::

    {"format": "nn2rules-network/1",
     "features": [{"name": "color", "values": ["red", "yellow"]}, …],
     "layers": [{"weights": [[4, 3], …], "bias": [-5, -5], "activation": "relu"}, …],
     "classes": ["unripe", "ripe"], "threshold": 0.5}
"""

import json
from typing import Any

from nn2rules.files.domain_json import (
    domain_from_node,
    domain_to_object,
    labels_from_node,
)
from nn2rules.files.json_node import Node
from nn2rules.language import count
from nn2rules.network import ACTIVATIONS, Layer, Network

FORMAT = "nn2rules-network/1"

_KEYS = (
    "format",
    "features",
    "layers",
    "classes",
    "threshold",
    "model_error",
    "origin",
)


def network_from_node(document: Node) -> Network:
    """Read a network; any mistake in it is one error that names its place."""
    document.only(_KEYS)
    domain = domain_from_node(document["features"], curves=True)
    layers: list[Layer] = []
    rows, reason = int(domain.offsets[-1]), "one for each value of the features"
    for index, node in enumerate(document["layers"].items()):
        layers.append(layer_from_node(node, rows, reason))
        rows, reason = len(layers[-1].bias), f"one for each unit of layer {index}"
    classes = labels_from_node(document["classes"])
    threshold = 0.5
    if "threshold" in document:
        threshold = document["threshold"].number()
        if len(layers) > 0 and len(layers[-1].bias) > 1:
            raise document["threshold"].error(
                "only a network with one output has a threshold"
            )
    error = document["model_error"].number() if "model_error" in document else None
    origin = document["origin"].record() if "origin" in document else None
    return Network(domain, tuple(layers), classes, threshold, error, origin)


def layer_from_node(node: Node, n_rows: int, reason: str) -> Layer:
    """Read a layer with this many rows of weights."""
    node.only(("weights", "bias", "activation", "slope"))
    activation = node["activation"].string()
    if activation not in ACTIVATIONS and activation != "softmax":
        raise node["activation"].error(
            f"unknown activation {activation!r}; the activations are "
            f"{', '.join(ACTIVATIONS)} and softmax"
        )
    slope = node["slope"].number() if "slope" in node else None
    if slope is not None and activation != "leaky_relu":
        raise node["slope"].error(f"{activation} has no slope; leaky_relu has one")
    bias = [item.number() for item in node["bias"].items()]
    if not bias:
        raise node["bias"].error("a layer needs at least one unit")
    rows = node["weights"].items()
    if len(rows) != n_rows:
        raise node["weights"].error(
            f"{count(len(rows), 'row')}, expected {n_rows}, {reason}"
        )
    weights = []
    for row in rows:
        numbers = [item.number() for item in row.items()]
        if len(numbers) != len(bias):
            raise row.error(
                f"{count(len(numbers), 'number')}, expected {len(bias)}, "
                f"one for each bias"
            )
        weights.append(numbers)
    return Layer(weights, bias, activation, slope)  # type: ignore[arg-type]


def network_to_json(network: Network) -> str:
    """Write a network; reading it gives an equal one, to the last bit.

    Examples
    --------
    >>> from nn2rules.datasets import network_file
    >>> from nn2rules.files import from_json, load
    >>> network = load(network_file("tomato"))
    >>> from_json(network_to_json(network)) == network
    True
    """
    document: dict[str, Any] = {
        "format": FORMAT,
        "features": domain_to_object(network.domain),
        "layers": [layer_to_object(layer) for layer in network.layers],
        "classes": list(network.classes),
    }
    if network.is_binary:
        document["threshold"] = network.threshold
    if network.model_error is not None:
        document["model_error"] = network.model_error
    if network.origin is not None:
        document["origin"] = dict(network.origin)
    return json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n"


def layer_to_object(layer: Layer) -> dict[str, Any]:
    """Return a layer as a JSON object."""
    document: dict[str, Any] = {
        "weights": layer.weights.tolist(),
        "bias": layer.bias.tolist(),
        "activation": layer.activation,
    }
    if layer.slope is not None:
        document["slope"] = layer.slope
    return document
