"""Networks and boxes for the benchmarks, made from a seed."""

from collections.abc import Iterator, Sequence

import numpy as np

from nn2rules import Domain, Feature, Layer, Network


def random_network(
    sizes: Sequence[int], widths: Sequence[int], seed: int = 0
) -> Network:
    """Return a ReLU network with normal weights, scaled as before training."""
    rng = np.random.default_rng(seed)
    domain = Domain(
        tuple(Feature(f"f{i}", tuple(range(size))) for i, size in enumerate(sizes))
    )
    layers, n_in, fan_in = [], sum(sizes), len(sizes)
    for width in widths:
        weights = rng.normal(size=(n_in, width)) * np.sqrt(2 / fan_in)
        layers.append(Layer(weights, rng.normal(size=width) * 0.1, "relu"))
        n_in = fan_in = width
    weights = rng.normal(size=(n_in, 1)) * np.sqrt(2 / fan_in)
    layers.append(Layer(weights, rng.normal(size=1) * 0.1, "sigmoid"))
    return Network(domain, tuple(layers), (0, 1))


def random_boxes(
    domain: Domain, count: int, chance: float, seed: int = 0
) -> Iterator[np.ndarray]:
    """Yield boxes that allow each value with a `chance`, and one of each feature."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        box = rng.random(int(domain.offsets[-1])) < chance
        for start, size in zip(domain.offsets, domain.sizes):
            box[start + rng.integers(size)] = True
        yield box


def one_hot(domain: Domain, codes: np.ndarray) -> np.ndarray:
    """Return inputs as the matrix that a framework would be given."""
    matrix = np.zeros((len(codes), int(domain.offsets[-1])))
    rows = np.arange(len(codes))[:, np.newaxis]
    matrix[rows, domain.offsets[:-1] + codes] = 1.0
    return matrix


def plain_scores(network: Network, matrix: np.ndarray) -> np.ndarray:
    """Evaluate a ReLU network on one-hot rows with plain matrix products."""
    values = matrix
    for layer in network.layers[:-1]:
        values = np.maximum(values @ layer.weights + layer.bias, 0.0)
    last = network.layers[-1]
    return values @ last.weights + last.bias
