"""Random networks, with ordinary numbers and with every magnitude of float64."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

import naive
from nn2rules import Domain, Feature, Layer, Network
from strategies import PIECEWISE_LINEAR, SMOOTH

THRESHOLDS = (0.5, 0.5, 0.5, 0.25, 0.9, 0.999, 0.5 + 2**-30, 1e-300, 1 - 2**-53)
SLOPES = (None, 0.0, 1.0, -0.5, 0.25, 1e300, -1e-300)
MAGNITUDES = (-320, -310, -300, -200, -150, -100, -20, 0, 0, 20, 100, 150, 200, 300)


def pick(rng: Generator, items: Sequence[Any]) -> Any:
    """Return one of `items`."""
    return items[int(rng.integers(len(items)))]


def ordinary_network(rng: Generator, **options: int) -> Network:
    """Draw a network whose numbers are all near 1, many of them equal."""

    def numbers(shape: tuple[int, ...]) -> NDArray[np.float64]:
        if rng.integers(0, 2):
            return rng.integers(-3, 4, size=shape).astype(np.float64)
        return np.round(rng.normal(size=shape), int(rng.integers(1, 17)))

    return _network(rng, numbers, slopes=SLOPES[:-2], **options)


def extreme_network(rng: Generator, **options: int) -> Network:
    """Draw a network of all magnitudes: by layer, or all mixed."""
    mixed = not rng.integers(0, 3)

    def numbers(shape: tuple[int, ...]) -> NDArray[np.float64]:
        powers = rng.choice(MAGNITUDES, size=shape if mixed else 1)
        if not rng.integers(0, 4):
            powers = rng.uniform(-320, 308, size=shape if mixed else 1)
        signs = rng.choice([-1.0, 0.0, 1.0, 1.0, 2.0, 0.5, 1.7], size=shape)
        with np.errstate(all="ignore"):
            found = signs * 10.0**powers
        return np.where(np.isfinite(found), found, np.sign(signs) * 1.7e308)

    return _network(rng, numbers, slopes=SLOPES, **options)


def _network(rng, numbers, *, slopes, max_inputs=12, max_units=3, max_hidden=3):
    sizes = rng.integers(1, 4, size=rng.integers(1, 4)).tolist()
    while np.prod(sizes) > max_inputs:
        sizes.remove(max(sizes))
    outputs = int(rng.choice([1, 1, 1, 2, 3, 4]))
    units = rng.integers(1, max_units + 1, size=rng.integers(0, max_hidden + 1))
    widths = [sum(sizes), *units.tolist()]
    kinds = PIECEWISE_LINEAR if rng.integers(0, 2) else [*PIECEWISE_LINEAR, *SMOOTH]
    if not rng.integers(0, 4):
        kinds = ["relu"]
    layers = []
    for n_in, n_out in pairwise(widths):
        name = str(rng.choice(kinds))
        slope = slopes[rng.integers(len(slopes))] if name == "leaky_relu" else None
        bias = numbers((n_out,)) * rng.integers(0, 2)
        layers.append(Layer(numbers((n_in, n_out)), bias, name, slope))
    final = "sigmoid" if outputs == 1 else "softmax"
    weights = numbers((widths[-1], outputs))
    layers.append(Layer(weights, numbers((outputs,)) * rng.integers(0, 2), final))
    threshold = float(rng.choice(THRESHOLDS)) if outputs == 1 else 0.5
    classes = tuple(f"class {index}" for index in range(max(2, outputs)))
    network = Network(plain_domain(sizes), tuple(layers), classes, threshold)
    return near_ties(rng, network) if rng.integers(0, 2) else network


def plain_domain(sizes: list[int]) -> Domain:
    """Return a domain with dull names."""
    return Domain(
        tuple(
            Feature(f"f{index}", tuple(f"v{code}" for code in range(size)))
            for index, size in enumerate(sizes)
        )
    )


def near_ties(rng: Generator, network: Network) -> Network:
    """Move the last bias so that a score, as exact as can be, is near the decision."""
    from fuzz.judge import scores

    inputs = naive.inputs(network.domain.sizes)
    found = scores(network, inputs[rng.integers(len(inputs))])
    factor = float(rng.choice([0.5, 1.0, 1.0, 1 + 1e-9, 2.0]))
    last, bias = network.layers[-1], []
    for (value, _), old in zip(found, last.bias.tolist(), strict=True):
        try:
            bias.append(old - factor * float(value))
        except OverflowError:
            bias.append(old)
    if not np.isfinite(bias).all():
        return network
    moved = Layer(last.weights, bias, last.activation)
    layers = (*network.layers[:-1], moved)
    return Network(network.domain, layers, network.classes, network.threshold)


def code_of(network: Network) -> str:
    """Return Python code that makes the network."""
    layers = "".join(
        f"\n    Layer({layer.weights.tolist()}, {layer.bias.tolist()}, "
        f"{layer.activation!r}, {layer.slope!r}),"
        for layer in network.layers
    )
    features = "".join(f"\n    {f!r}," for f in network.domain.features)
    return (
        f"from nn2rules import Domain, Feature, Layer, Network\n"
        f"domain = Domain(({features}\n))\n"
        f"layers = ({layers}\n)\n"
        f"network = Network(domain, layers, {network.classes!r}, {network.threshold!r})"
    )
