"""The forward pass: every neuron's pieces, layer by layer (section 4.2).

LinRule is used for the first layer, NeuronRule for all others. A neuron's list is
merged before the next layer uses it, which changes nothing but its length.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nn2rules.errors import BudgetExceededError, OptionError, UnsupportedModelError
from nn2rules.extraction.paper.lin_rule import Behaviour, Outcomes, Piece, lin_rule
from nn2rules.extraction.paper.neuron_rule import neuron_rule
from nn2rules.extraction.paper.prefixes import merge
from nn2rules.network import Layer, Network, logit_floor
from nn2rules.space import Domain, refuse_ranges


@dataclass(frozen=True, slots=True)
class IntegerLayer:
    """A layer whose pre-activations are whole numbers, `2**exponent` times too large.

    ``weights[unit][input]`` is the weight from an input to a unit; LinRule and
    NeuronRule take a row.
    """

    weights: tuple[tuple[int, ...], ...]
    bias: tuple[int, ...]
    exponent: int


def integer_layer(layer: Layer, inputs_exponent: int) -> IntegerLayer:
    """Return `layer` in whole numbers.

    Parameters
    ----------
    layer : Layer
    inputs_exponent : int
        Its inputs are `2**inputs_exponent` times too large.

    Examples
    --------
    >>> integer_layer(Layer([[0.5], [1.0]], [0.25]), 0)
    IntegerLayer(weights=((2, 4),), bias=(1,), exponent=2)
    """
    columns = layer.weights.T.tolist()
    bias = layer.bias.tolist()
    exponent = max(
        inputs_exponent + max(binary_places(column) for column in columns),
        binary_places(bias),
    )
    return IntegerLayer(
        tuple(_scaled(column, exponent - inputs_exponent) for column in columns),
        _scaled(bias, exponent),
        exponent,
    )


def binary_places(numbers: Sequence[float]) -> int:
    """Return how many digits after the binary point hold all `numbers` exactly."""
    return max(number.as_integer_ratio()[1].bit_length() - 1 for number in numbers)


def _scaled(numbers: Sequence[float], exponent: int) -> tuple[int, ...]:
    ratios = (number.as_integer_ratio() for number in numbers)
    return tuple(top * ((1 << exponent) // bottom) for top, bottom in ratios)


logger = logging.getLogger(__name__)

SOFT_BINARY = "soft-binary"
"""The paper's approximation of sigmoid units: 1 where active, 0 where not."""


@dataclass(frozen=True, slots=True)
class LayerPieces:
    """The pieces of every neuron of a layer.

    Attributes
    ----------
    neurons : for each neuron its pieces
    exponent : int
        Behaviours are `2**exponent` times too large.
    """

    neurons: tuple[tuple[Piece, ...], ...]
    exponent: int


def forward(
    network: Network, order: Sequence[int], approximate: str | None = None
) -> list[LayerPieces]:
    """Return the pieces of all neurons.

    Parameters
    ----------
    network : Network
    order : sequence of int
        The positions of the features, in the order that rules fix them.
    approximate : {None, "soft-binary"}
        How to treat sigmoid units.

    Raises
    ------
    UnsupportedModelError
        If the paper's algorithm cannot represent the network exactly.
    """
    check_supported(network, approximate)
    sizes = [network.domain.sizes[index] for index in order]
    result: list[LayerPieces] = []
    exponent = 0
    for index, layer in enumerate(network.layers):
        is_last = index == len(network.layers) - 1
        scaled = integer_layer(layer, exponent)
        outcomes = _score if is_last else _OUTCOMES[layer.activation](sizes)
        threshold = _threshold(network, scaled.exponent) if is_last else 0
        neurons = []
        for unit in range(len(scaled.bias)):
            logger.debug("layer %d, neuron %d", index, unit)
            try:
                if index == 0:
                    pre = _first_behaviour(scaled, unit, network.domain, order)
                    pieces = lin_rule(pre, outcomes, threshold=threshold)
                else:
                    pieces = neuron_rule(
                        scaled.weights[unit],
                        scaled.bias[unit],
                        result[-1].neurons,
                        outcomes,
                        threshold=threshold,
                    )
            except BudgetExceededError as error:
                raise BudgetExceededError(
                    f"layer {index}, neuron {unit} has {error}: the domain of "
                    f"{network.domain.n_inputs:,} inputs is too large for the paper's "
                    f"algorithm"
                ) from None
            neurons.append(_merged(pieces, sizes))
        is_binary = layer.activation == "sigmoid" and not is_last
        exponent = 0 if is_binary else scaled.exponent
        result.append(LayerPieces(tuple(neurons), exponent))
    return result


def check_supported(network: Network, approximate: str | None) -> None:
    """Refuse networks that the paper's algorithm cannot represent."""
    if approximate not in (None, SOFT_BINARY):
        raise OptionError(f"approximate: {approximate!r}, expected {SOFT_BINARY!r}")
    if not network.is_binary:
        raise UnsupportedModelError(
            f"the paper's algorithm needs a network with one output; this one has "
            f"{len(network.classes)}, one for each class"
        )
    refuse_ranges(network.domain.features, "the paper's algorithm")
    for index, layer in enumerate(network.layers[:-1]):
        if layer.activation == "sigmoid" and approximate is None:
            raise UnsupportedModelError(
                f"layers[{index}] has sigmoid units, which the paper's algorithm can "
                f"only approximate; the engines 'table' and 'search' are exact, and "
                f"approximate={SOFT_BINARY!r} asks for the approximation"
            )
        if layer.activation not in _OUTCOMES:
            raise UnsupportedModelError(
                f"layers[{index}] has {layer.activation} units; the paper's algorithm "
                f"supports relu and, approximately, sigmoid; use another engine"
            )


def _first_behaviour(
    layer: IntegerLayer, unit: int, domain: Domain, order: Sequence[int]
) -> Behaviour:
    """Split a first-layer neuron's weights into buckets, one for each feature."""
    row, offsets = layer.weights[unit], domain.offsets.tolist()
    buckets = tuple(row[offsets[index] : offsets[index + 1]] for index in order)
    return Behaviour(buckets, layer.bias[unit])


def _relu(sizes: Sequence[int]) -> Outcomes:
    zero = _constant(sizes, 0)  # one object: rules that share it can be merged
    return lambda pre: (pre, zero)


def _soft_binary(sizes: Sequence[int]) -> Outcomes:
    outcomes = _constant(sizes, 1), _constant(sizes, 0)
    return lambda _: outcomes


def _score(pre: Behaviour) -> tuple[Behaviour, Behaviour]:
    return pre, pre


def _constant(sizes: Sequence[int], value: int) -> Behaviour:
    return Behaviour(tuple((0,) * size for size in sizes), value)


_OUTCOMES: dict[str, Callable[[Sequence[int]], Outcomes]] = {
    "relu": _relu,
    "sigmoid": _soft_binary,
}


def _threshold(network: Network, exponent: int) -> int:
    """Return the whole number t such that score > logit(threshold) iff scaled > t."""
    return int(logit_floor(network.threshold, 1 << exponent) * (1 << exponent))


def _merged(pieces: Sequence[Piece], sizes: Sequence[int]) -> tuple[Piece, ...]:
    rules = ((piece.prefix, (piece.behaviour, piece.active)) for piece in pieces)
    return tuple(Piece(prefix, *payload) for prefix, payload in merge(rules, sizes))
