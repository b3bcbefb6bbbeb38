"""Scores of many inputs at once in PyTorch, in float32 or float64, with their errors.

A network that is narrow enough is written out unit by unit, so that PyTorch's compiler
makes one kernel of it; a wider one multiplies matrices. Both run on any device.

`Format.error` says how clear a decision must be to be certain (`float32_bound`).
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules import arithmetic
from nn2rules.layer import Layer
from nn2rules.network import Network

UNDECIDED = 255
"""In place of a class: nearer to another than the error."""

UNIT_32 = 2.0**-24
_LEAST_32, _MOST_32 = 2.0**-100, 2.0**120  # of weights; smaller ones count as 0
_LOST_32 = 1e-37  # more than three numbers below the least normal one of float32
_DOUBT = 4  # CUDA and compilers may be so much less accurate than `rounding` says
_MOST_UNITS, _MOST_WEIGHTS = 16, 1024  # of what is written out unit by unit

Decide = Callable[..., tuple[Any, Any]]


@dataclass(frozen=True, slots=True)
class Format:
    """A network in one format of numbers, on a device.

    Attributes
    ----------
    dtype : torch.dtype
    layers : list of (weights, bias), all of them tensors
    limit : tensor
        The score that class 1 must exceed, where one score decides.
    error : float
        A margin above it is certain; infinite if nothing is.
    """

    dtype: Any
    layers: list[tuple[Any, Any]]
    limit: Any
    error: float


def format_of(network: Network, torch: Any, device: Any, *, single: bool) -> Format:
    """Return a network in float32 (`single`) or float64, with its certain margin."""
    layers, offsets = network.layers, network.domain.offsets
    unit = UNIT_32 if single else arithmetic.UNIT
    dtype = torch.float32 if single else torch.float64
    if single:
        bound = float32_bound(layers, offsets)
    else:
        bound = arithmetic.error_bound(layers, offsets)
    limit = arithmetic.logit(network.threshold) if network.is_binary else 0.0
    # Sixteen units for the logit itself, and for the difference; see `engine.table`.
    slack = float(bound.max()) * (1 if network.is_binary else 2)
    kept = [(_kept(x.weights, single), _kept(x.bias, single)) for x in layers]
    as_tensor = partial(torch.tensor, dtype=dtype, device=device)
    return Format(
        dtype,
        [(as_tensor(weights), as_tensor(bias)) for weights, bias in kept],
        as_tensor(limit),
        slack + 16 * unit * abs(limit),
    )


def _kept(numbers: NDArray[np.float64], single: bool) -> NDArray[np.float64]:
    """Return numbers without those that are too small for float32."""
    return np.where(np.abs(numbers) < _LEAST_32, 0.0, numbers) if single else numbers


def float32_bound(
    layers: Sequence[Layer], offsets: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Bound the error of float32 scores of a network whose weights are float64.

    Notes
    -----
    As `arithmetic.error_bound` does, this follows the magnitudes A of what is added up,
    and errors e, from layer to layer, with u = 2**-24 and γ(n) = n u / (1 - n u):

    * Weights and biases are rounded first, one more operation on each product: a sum of
      n products and a bias is off by at most γ(n + 3) A, in whatever order, fused or
      not. For m features the first sums, made of two parts, are off by γ(m + 2) A.
    * What is below 2**-100 counts as 0, which moves a sum by at most its magnitude
      times that of what it multiplies. That is added, for all such weights.
    * An activation turns e into L e, and is itself off by ``4 r u (1 + |y|)``: r is
      what float64 is allowed (`Activation.rounding`, 16 or 32 for smooth ones). CUDA
      documents 2 ulp, which are 4 u, for each of expf, tanhf, erff and log1pf, and
      compiled kernels divide to 2 ulp; they are combined by a few operations. The
      slope of a leaky_relu is rounded, too; r is 1 + |slope| there.
    * Numbers below 2**-126 may be flushed to 0, three times for each product: as
      operand, as product, as sum. Each time 1.2e-38 are lost.

    The last e is doubled for the rounding of this computation and of the margin. Where
    a magnitude reaches 3e38, a weight 2**120, or a slope leaves 2**-100 to 2**100, the
    bound is infinite.
    """
    first, largest = layers[0], arithmetic.LARGEST_32
    small = Layer(_lost(first.weights), _lost(first.bias))
    with np.errstate(all="ignore"):
        size = arithmetic.first_sizes(first, offsets)
        error = _gamma(len(offsets) + 1) * size
        error += arithmetic.first_sizes(small, offsets) + _LOST_32 * len(offsets)
        error = np.where((size < largest) & _fits(first), error, np.inf)
        for before, layer in pairwise(layers):
            function, n_in = before.function, len(layer.weights)
            own = _DOUBT * function.rounding * UNIT_32 * (1 + size + error)
            error = function.lipschitz * error * (1 + 4 * UNIT_32) + own + _LOST_32
            size = abs(function.at_zero) + function.lipschitz * size + error
            lost = size @ _lost(layer.weights) + _lost(layer.bias)
            error = error @ np.abs(layer.weights) + lost + _LOST_32 * (n_in + 4)
            size = np.abs(layer.bias) + size @ np.abs(layer.weights)
            error += _gamma(n_in + 3) * size
            error = np.where((size < largest) & _fits(layer), error, np.inf)
    bound: NDArray[np.float64] = 2 * error + _LOST_32
    return np.where(np.isnan(bound), np.inf, bound)


def _gamma(operations: int) -> float:
    share = operations * UNIT_32
    return share / (1 - share) if share < 1 else math.inf


def _lost(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the magnitudes of the numbers that count as 0 in float32."""
    sizes = np.abs(numbers)
    return np.where(sizes < _LEAST_32, sizes, 0.0)


def _fits(layer: Layer) -> bool:
    """Tell whether float32 can hold the numbers of a layer."""
    slope = abs(layer.slope or 1.0)
    most = max(np.abs(layer.weights).max(), np.abs(layer.bias).max())
    return bool(most < _MOST_32 and _LEAST_32 < slope < 1 / _LEAST_32)


@contextmanager
def plain_arithmetic(torch: Any, device: Any) -> Iterator[None]:
    """Let products of matrices be those of float32, not of fewer bits, for a while."""
    backends = torch.backends
    places = [backends.cuda.matmul, getattr(backends.mkldnn, "matmul", None)]
    if not all(hasattr(place, "fp32_precision") for place in places):
        places = []  # before PyTorch 2.9
    before = [place.fp32_precision for place in places]
    for place in places:
        place.fp32_precision = "ieee"
    # Both ways to say it must agree, or PyTorch refuses to work; the older one warns.
    older = torch.get_float32_matmul_precision()
    if older != "highest":
        torch.set_float32_matmul_precision("highest")
    try:
        with torch.no_grad(), torch.autocast(device.type, enabled=False):
            yield
    finally:
        if older != "highest":
            torch.set_float32_matmul_precision(older)
        for place, name in zip(places, before, strict=True):
            place.fp32_precision = name


def is_narrow(network: Network) -> bool:
    """Tell whether a network is small enough to be written out unit by unit."""
    later = network.layers[1:]
    widest = max(len(layer.bias) for layer in network.layers)
    n_weights = sum(layer.weights.size for layer in later)
    return widest <= _MOST_UNITS and n_weights <= _MOST_WEIGHTS


def by_units(network: Network, torch: Any) -> Decide:
    """Return a function from the first sums of inputs to their classes and margins.

    It takes the sums of the first features, of shape (n_rows, n_units), those of the
    last, of shape (n_units, n_columns), and a `Format`'s numbers; and gives two tensors
    of shape (n_rows, n_columns). All is elementwise.
    """
    functions = [activation(layer, torch) for layer in network.layers[:-1]]

    def decide(first: Any, last: Any, limit: Any, *numbers: Any) -> tuple[Any, Any]:
        units = [first[:, j, None] + last[None, j] for j in range(len(last))]
        for at, function in enumerate(functions):
            weights, bias = numbers[2 * at], numbers[2 * at + 1]
            values, units = [function(unit) for unit in units], []
            for j in range(len(bias)):
                total = bias[j] + values[0] * weights[0, j]
                for i in range(1, len(values)):
                    total = torch.addcmul(total, values[i], weights[i, j])
                units.append(total)
        return _decide(units, limit, torch)

    return decide


def _decide(scores: list[Any], limit: Any, torch: Any) -> tuple[Any, Any]:
    """Return classes and margins; a margin that is not a number stays so."""
    if len(scores) == 1:
        distance = scores[0] - limit
        return distance > 0, distance.abs()
    top, second = scores[0], torch.full_like(scores[0], -math.inf)
    best = torch.zeros_like(top, dtype=torch.uint8)
    for k, score in enumerate(scores[1:], 1):
        is_better = score > top
        second = torch.where(is_better, top, torch.maximum(second, score))
        top = torch.where(is_better, score, top)
        best = torch.where(is_better, k, best)
    return best, top - second


def by_matrices(network: Network, torch: Any) -> Decide:
    """Return a function from first sums, of shape (n_inputs, n_units), to classes.

    The margins come with them, as in `by_units`.
    """
    functions = [activation(layer, torch) for layer in network.layers[:-1]]

    def decide(sums: Any, limit: Any, *numbers: Any) -> tuple[Any, Any]:
        for at, function in enumerate(functions):
            weights, bias = numbers[2 * at], numbers[2 * at + 1]
            sums = torch.addmm(bias, function(sums), weights)
        if sums.shape[1] == 1:
            return _decide([sums[:, 0]], limit, torch)
        two = sums.topk(2, dim=1)  # what is not a number counts as the largest
        return two.indices[:, 0], two.values[:, 0] - two.values[:, 1]

    return decide


def on_tiles(network: Network, torch: Any) -> Decide:
    """Return what decides a tile, in the way that suits the network."""
    if is_narrow(network):
        return by_units(network, torch)
    decide_rows = by_matrices(network, torch)

    def decide(first: Any, last: Any, limit: Any, *numbers: Any) -> tuple[Any, Any]:
        sums = first[:, None] + last.T[None]
        return decide_rows(sums.reshape(-1, len(last)), limit, *numbers)

    return decide


def clear_classes(decide: Decide, torch: Any) -> Callable[..., Any]:
    """Return a function to classes where the margin is above a third argument."""

    def classes(first: Any, last: Any, clear: Any, *rest: Any) -> Any:
        best, margin = decide(first, last, *rest)
        return torch.where(margin > clear, best.to(torch.uint8), UNDECIDED)

    return classes


def activation(layer: Layer, torch: Any) -> Callable[[Any], Any]:
    """Return the activation of a layer as a function of tensors."""
    slope = 0.01 if layer.slope is None else layer.slope
    functions: dict[str, Callable[[Any], Any]] = {
        "elu": lambda y: torch.where(y > 0, y, torch.expm1(y.clamp(max=0))),
        "gelu": lambda y: 0.5 * y * (1 + torch.erf(y * math.sqrt(0.5))),
        "hard_sigmoid": lambda y: (y / 6 + 0.5).clamp(0, 1),
        "hard_tanh": lambda y: y.clamp(-1, 1),
        "identity": lambda y: y,
        "leaky_relu": lambda y: torch.where(y > 0, y, slope * y),
        "relu": torch.relu,
        "sigmoid": torch.sigmoid,
        "silu": lambda y: y * torch.sigmoid(y),
        "softplus": lambda y: y.clamp(min=0) + torch.log1p(torch.exp(-y.abs())),
        "tanh": torch.tanh,
    }
    return functions[layer.activation]
