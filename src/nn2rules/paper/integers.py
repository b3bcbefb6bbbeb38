"""The network in whole numbers, so that the algorithm never rounds.

Every float is a whole number divided by a power of two. Multiplying each layer by a
large enough power of two leaves only whole numbers, and ReLU commutes with such a
factor, so the signs of all pre-activations, and with them every rule, stay the same.
Python's integers have no size limit: nothing here is ever approximate.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from nn2rules.layer import Layer


@dataclass(frozen=True, slots=True)
class IntegerLayer:
    """A layer whose pre-activations are whole numbers, `2**exponent` times too large.

    ``weights[unit][input]`` goes from an input to a unit: a row is what LinRule and
    NeuronRule take.
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
