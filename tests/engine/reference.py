"""What the tests of the engine share: random networks, and their exact truth.

Networks are drawn with numpy, because thousands are wanted. Truth is worked out input
by input with `naive`, in fractions or in mpmath numbers of some 150 digits.
"""

import hashlib
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from mpmath import mp
from numpy.random import Generator
from numpy.typing import NDArray

import naive
from nn2rules import Layer, Network, UndecidedError
from nn2rules.engine import (
    Budget,
    Meter,
    Oracle,
    build_table,
    count_classes,
    score_range,
)
from nn2rules.network.certified import error_bound
from strategies import PALETTES, PIECEWISE_LINEAR, SMOOTH, plain_domain

BITS = 500
"""Of the reference; what it cannot tell apart is left to `naive.class_of`."""

SLOPES = [None, 0.0, 1.0, 2.0, -0.5, 0.25]
MILD = ["integers", "signs", "zeros", "dyadic", "decimal", "scaled", "floats"]
WILD = [*MILD, "cancelling", "tiny", "huge", "extreme", "steep", "largest"]
EVERY = (*PIECEWISE_LINEAR, *SMOOTH)
THRESHOLDS = [0.5, 0.5, 0.25, 0.9, 0.1, 0.5 + 2**-30, 1e-9, 1 - 2**-40]


# Networks


def random_sizes(rng: Generator, max_inputs: int, max_features: int = 5) -> list[int]:
    """Draw the numbers of values of the features; some have a single one."""
    sizes = rng.integers(1, 5, size=rng.integers(1, max_features + 1)).tolist()
    while math.prod(sizes) > max_inputs:
        sizes.remove(max(sizes))
    return sizes


def random_numbers(rng: Generator, palette: str, shape: Any) -> NDArray[np.float64]:
    """Draw weights of one kind."""
    if palette == "floats":
        return rng.normal(size=shape)
    if palette == "scaled":
        return rng.normal(size=shape) * 10.0 ** rng.integers(-20, 2)
    return rng.choice(PALETTES[palette], size=shape)


def random_layer(
    rng: Generator, palette: str, n_in: int, n_out: int, activation: str
) -> Layer:
    weights = random_numbers(rng, palette, (n_in, n_out))
    bias = random_numbers(rng, palette, n_out) * int(rng.integers(0, 2))
    slope = None
    if activation == "leaky_relu":
        slope = SLOPES[rng.integers(len(SLOPES))]
    return Layer(weights, bias, activation, slope)


def random_network(
    rng: Generator,
    *,
    activations: Sequence[str] = EVERY,
    palettes: Sequence[str] = MILD,
    max_inputs: int = 40,
    max_hidden: int = 4,
    max_units: int = 4,
    outputs: Sequence[int] = (1, 1, 1, 2, 3, 4),
    sizes: Sequence[int] | None = None,
) -> Network:
    """Draw a network of any kind, its activations mixed by layer."""
    shape = list(sizes or random_sizes(rng, max_inputs))
    n_outputs = int(rng.choice(outputs))
    palette = str(rng.choice(palettes))
    depth = int(rng.integers(0, max_hidden + 1))
    widths = [sum(shape), *rng.integers(1, max_units + 1, size=depth).tolist()]
    layers = [
        random_layer(rng, palette, n_in, n_out, str(rng.choice(activations)))
        for n_in, n_out in pairwise(widths)
    ]
    final = "sigmoid" if n_outputs == 1 else "softmax"
    layers.append(random_layer(rng, palette, widths[-1], n_outputs, final))
    classes = tuple(f"class {index}" for index in range(max(2, n_outputs)))
    threshold = float(rng.choice(THRESHOLDS)) if n_outputs == 1 else 0.5
    network = Network(plain_domain(shape), tuple(layers), classes, threshold)
    return balanced(network) if rng.integers(0, 2) else network


def balanced(network: Network) -> Network:
    """Shift the last bias so that some inputs are near the decision, or tied."""
    codes = np.array(naive.inputs(network.domain.sizes))
    with np.errstate(all="ignore"):
        shift = np.median(numpy_scores(network, codes), axis=0)
    last = network.layers[-1]
    with np.errstate(all="ignore"):
        bias = last.bias - shift
    if not np.isfinite(bias).all():
        return network
    moved = Layer(last.weights, bias, last.activation)
    layers = (*network.layers[:-1], moved)
    return Network(network.domain, layers, network.classes, network.threshold)


def binary(
    sizes: Sequence[int], *layers: Layer, threshold: float = 0.5, classes: Any = None
) -> Network:
    """Return a network over a plain domain; its classes follow from the last layer."""
    n_classes = max(2, len(layers[-1].bias))
    classes = classes or tuple(f"class {index}" for index in range(n_classes))
    return Network(plain_domain(list(sizes)), layers, classes, threshold)


# Boxes


def whole(network: Network) -> NDArray[np.bool_]:
    return np.ones(int(network.domain.offsets[-1]), dtype=np.bool_)


def random_box(rng: Generator, sizes: Sequence[int]) -> NDArray[np.bool_]:
    """Draw a box: of each feature all values, some, or a single one."""
    parts = []
    for size in sizes:
        kind = rng.integers(0, 3)
        part = np.ones(size, dtype=np.bool_)
        if kind == 1:
            part = rng.random(size) < 0.6
        elif kind == 2:
            part = np.zeros(size, dtype=np.bool_)
        if not part.any():
            part[rng.integers(size)] = True
        parts.append(part)
    return np.concatenate(parts)


def random_boxes(
    rng: Generator, sizes: Sequence[int], number: int
) -> NDArray[np.bool_]:
    boxes = [random_box(rng, sizes) for _ in range(number)]
    return np.array(boxes, dtype=np.bool_).reshape(number, sum(sizes))


def members(network: Network, box: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell of every input, in order, whether it lies in the box."""
    inside = np.ones(1, dtype=np.bool_)
    for start, stop in pairwise(network.domain.offsets.tolist()):
        inside = (inside[:, np.newaxis] & box[start:stop]).ravel()
    return inside


def codes_in(network: Network, box: NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """Return the inputs of a box."""
    inside = members(network, box)
    inputs = naive.inputs(network.domain.sizes)
    return [codes for codes, is_in in zip(inputs, inside, strict=True) if is_in]


def number_of(network: Network, codes: Sequence[int]) -> int:
    """Return the position of an input in the order of `naive.inputs`."""
    number = 0
    for size, code in zip(network.domain.sizes, codes, strict=True):
        assert 0 <= code < size
        number = number * size + int(code)
    return number


# Truth


def numpy_scores(network: Network, codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Evaluate in float64, as any framework does: the wrong way for near-ties."""
    first = network.layers[0]
    with np.errstate(all="ignore"):
        columns = codes + network.domain.offsets[:-1]
        values = first.weights[columns].sum(axis=1) + first.bias
        for before, layer in pairwise(network.layers):
            values = before.function.floats(values) @ layer.weights + layer.bias
    return values


def numpy_classes(network: Network, codes: NDArray[np.int64]) -> NDArray[np.int64]:
    scores = numpy_scores(network, codes)
    if scores.shape[1] > 1:
        return scores.argmax(axis=1)
    threshold = network.threshold
    limit = math.log(threshold / (1 - threshold))
    return (scores[:, 0] > limit).astype(np.int64)


def number(value: Any) -> Any:
    """Return a fraction or float as an mpmath number, inside `mp.workprec`."""
    exact = Fraction(value)
    return mp.mpf(exact.numerator) / exact.denominator


def pre_activations(network: Network, codes: Sequence[int]) -> list[list[Any]]:
    """Return the pre-activations of every layer; the last ones are the scores.

    They are fractions if the network is piecewise linear, else mpmath numbers. Call it
    inside `mp.workprec`.
    """
    exact = naive.is_piecewise_linear(network)
    kind = Fraction if exact else number
    values = [kind(x) for x in naive.one_hot(network.domain.sizes, codes)]
    found = []
    for layer in network.layers:
        found.append(naive._dense(layer, values, kind))
        if layer is network.layers[-1]:
            break
        slope = kind(0.01 if layer.slope is None else layer.slope)
        if layer.activation in naive.SMOOTH:
            values = [naive.SMOOTH[layer.activation](y) for y in found[-1]]
        else:
            values = [naive.EXACT[layer.activation](y, slope) for y in found[-1]]
    return found


def scores(network: Network, codes: Sequence[int]) -> list[Any]:
    return pre_activations(network, codes)[-1]


def class_of(network: Network, codes: Sequence[int]) -> int | None:
    """Return the class of an input; None where a smooth network is all but tied."""
    codes = [int(code) for code in codes]
    if naive.is_piecewise_linear(network):
        return naive.class_of(network, codes)
    with mp.workprec(BITS):
        values = scores(network, codes)
        size = 1 + max(abs(value) for value in values)
        sure = size * mp.mpf(2) ** (100 - BITS)
        if len(values) == 1:
            distance = values[0] - naive.logit(network.threshold)
            if abs(distance) > sure:
                return int(distance > 0)
        else:
            best = values.index(max(values))
            others = values[:best] + values[best + 1 :]
            if values[best] - max(others) > sure:
                return best
    return naive.class_of(network, codes)


def truth(network: Network) -> list[int | None]:
    """Return the exact class of every input, in order."""
    return [class_of(network, codes) for codes in naive.inputs(network.domain.sizes)]


def margin(network: Network, codes: Sequence[int]) -> Any:
    """Return the exact distance of an input from the decision."""
    with mp.workprec(BITS):
        values = [
            z if isinstance(z, mp.mpf) else number(z) for z in scores(network, codes)
        ]
        if len(values) == 1:
            return abs(values[0] - naive.logit(network.threshold))
        first, second = sorted(values, reverse=True)[:2]
        return first - second


def mixed_network(rng: Generator, **options: Any) -> Network:
    """Draw a mild network of any activations, or a wild piecewise-linear one.

    Wild smooth ones are left out: their exact scores need billions of digits.
    """
    if rng.integers(0, 3):
        return random_network(rng, **options)
    options["max_inputs"] = 12  # all of them may have to be settled exactly
    return random_network(rng, activations=PIECEWISE_LINEAR, palettes=WILD, **options)


# A fixed set of questions, for runs in other processes


def fixed_answers(n_networks: int) -> Iterator[str]:
    """Put every kind of question to some networks; yield the answers as text."""
    for seed in range(n_networks):
        rng = np.random.default_rng([2024, seed])
        network = mixed_network(rng, max_inputs=24, max_units=3)
        yield from _answers(rng, network)


def _answers(rng: Generator, network: Network) -> Iterator[str]:
    sizes = network.domain.sizes
    try:
        table = build_table(network)
        yield repr((table.classes.tolist(), table.n_settled, table.fragile))
        oracle = Oracle(network)
        ignoring = random_boxes(rng, sizes, 2)
        for index in range(len(network.classes)):
            box = random_box(rng, sizes)
            for answer in (
                oracle.ask(box, index),
                oracle.ask(box, index, ignoring=ignoring),
                table.ask(box, index),
            ):
                found = answer.counterexample
                yield repr((answer.proved, None if found is None else found.tolist()))
        yield repr((oracle.n_questions, oracle.n_immediate, oracle.n_settled))
        counts = count_classes(network, meter=Meter(Budget(memory=0)))
        yield repr((counts.lower, counts.upper, counts.boxes))
        if np.isfinite(error_bound(network.layers, network.domain.offsets)).all():
            ends = score_range(network, random_box(rng, sizes))
            yield repr((ends.at_low, ends.at_high))
    except UndecidedError as error:
        yield repr(error)


def digest(n_networks: int) -> str:
    text = "\n".join(fixed_answers(n_networks))
    return hashlib.sha256(text.encode()).hexdigest()
