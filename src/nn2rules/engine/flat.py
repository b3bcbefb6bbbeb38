"""Networks as flat arrays for the kernels, with certified error bounds.

Two bounds are computed once for each network, by propagating magnitudes through it:

* `error`: the error of float64 when it evaluates a score at one input;
* `slack`: the error of float64 when it bounds a pre-activation over a box.

`docs/explanation/exactness.md` derives both.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine._kernels import network as kinds
from nn2rules.engine._kernels.bounds import Workspace
from nn2rules.engine._kernels.network import FlatNetwork
from nn2rules.engine._kernels.search import Stack
from nn2rules.network import LARGEST, UNDERFLOW, UNIT, Layer, Network, certified
from nn2rules.space import Boxes, Domain, Inputs

_HALVINGS = 80

KINDS = {
    "identity": kinds.IDENTITY,
    "softmax": kinds.IDENTITY,
    "relu": kinds.RELU,
    "leaky_relu": kinds.LEAKY_RELU,
    "sigmoid": kinds.SIGMOID,
    "tanh": kinds.TANH,
    "hard_tanh": kinds.HARD_TANH,
    "hard_sigmoid": kinds.HARD_SIGMOID,
    "elu": kinds.ELU,
    "softplus": kinds.SOFTPLUS,
    "silu": kinds.SILU,
    "gelu": kinds.GELU,
}


_MOST_BOXES, _WORK = 4096, 1 << 23


def boxes_per_check(net: FlatNetwork) -> int:
    """Return how many boxes to search between two checks of the clock: about 0.1 s.

    It depends on the network alone, as the result of a search may depend on it.
    """
    return max(1, min(_MOST_BOXES, _WORK // len(net.weights)))


def flatten(layers: Sequence[Layer], domain: Domain) -> FlatNetwork:
    """Return the arrays of a network whose scores are those of the last layer."""
    offsets, reach = domain.offsets, domain.reach
    sizes = [layers[0].weights.shape[0], *(len(layer.bias) for layer in layers)]
    n_weights = [layer.weights.size for layer in layers]
    slopes = [0.01 if layer.slope is None else layer.slope for layer in layers]
    return FlatNetwork(
        offsets=np.ascontiguousarray(offsets, dtype=np.int64),
        ranges=domain.ranges,
        whole=np.array([feature.whole for feature in domain.features]),
        across=layers[0].weights.T.ravel(),
        sizes=np.array(sizes, dtype=np.int64),
        weights=np.concatenate([layer.weights.ravel() for layer in layers]),
        weight_at=np.concatenate([[0], np.cumsum(n_weights)[:-1]]).astype(np.int64),
        bias=np.concatenate([layer.bias for layer in layers]),
        unit_at=np.concatenate([[0], np.cumsum(sizes[1:])[:-1]]).astype(np.int64),
        activations=np.array([KINDS[x.activation] for x in layers], dtype=np.int64),
        slopes=np.array(slopes, dtype=np.float64),
        outgoing=_outgoing(layers),
        slack=np.concatenate(_slacks(layers, offsets, reach)),
        error=certified.error_bound(layers, offsets, reach=reach),
    )


def _outgoing(layers: Sequence[Layer]) -> NDArray[np.float64]:
    """Sum the magnitudes of the weights that each unit is multiplied by."""
    with np.errstate(over="ignore"):
        sums = [np.abs(layer.weights).sum(axis=1) for layer in layers[1:]]
    return np.concatenate([*sums, np.zeros(len(layers[-1].bias))])


def _slacks(
    layers: Sequence[Layer], offsets: NDArray[np.int64], reach: NDArray[np.float64]
) -> list[NDArray[np.float64]]:
    """Bound the error of the bounds of each layer's pre-activations, on every box.

    ``size`` bounds the sum of the magnitudes of all terms that backward substitution
    adds up for a unit: a line through an activation has a slope of at most the
    Lipschitz constant, and an intercept of at most |f(0)| + 2 Lipschitz |y|. ``back``
    bounds the coefficients in backward substitution. ``lost`` bounds the loss if a
    coefficient underflows before it is multiplied by a large number, and ``wide`` the
    weights that a coefficient is multiplied by before a small number, which may
    overflow.
    """
    with np.errstate(all="ignore"):
        size = certified.first_sizes(layers[0], offsets, reach)
        operations, back = len(offsets) + 2, 1.0
        lost = UNDERFLOW * float(reach.sum())
        wide = float(np.abs(layers[0].weights[reach < 1]).max(initial=1.0))
        rough = np.zeros_like(size)
        slacks = [_slack(operations, size, rough, back)]
        for before, layer in pairwise(layers):
            function, weights = before.function, np.abs(layer.weights)
            rough = function.lipschitz * rough
            rough += 8 * (function.rounding + 4) * UNIT * (1 + size) + UNDERFLOW
            held = 3 * function.lipschitz * (size + slacks[-1])
            outputs = abs(function.at_zero) + held
            lost += UNDERFLOW * float((1 + size + outputs).sum())
            size = np.abs(layer.bias) + outputs @ weights + UNDERFLOW
            rough = rough @ weights + UNDERFLOW
            back *= max(1.0, function.lipschitz) * max(1.0, weights.sum(axis=1).max())
            operations += 3 * len(weights) + 8
            slacks.append(_slack(operations, size, rough + lost, back * wide))
    return slacks


def _slack(
    operations: int, size: NDArray[np.float64], rough: NDArray[np.float64], back: float
) -> NDArray[np.float64]:
    """Add up the parts; infinite where something may overflow, never NaN."""
    relative = operations * UNIT / (1 - operations * UNIT)
    # Doubled for the rounding of this computation itself.
    slack = 2 * (relative * size + rough) + UNDERFLOW
    safe = (size < LARGEST) & (slack < LARGEST) & (back < LARGEST)
    return np.where(safe, slack, np.inf)


def empty_boxes(net: FlatNetwork, n_boxes: int) -> Boxes:
    """Return arrays for this many boxes."""
    allowed = np.zeros((n_boxes, int(net.sizes[0])), dtype=np.bool_)
    return Boxes(allowed, np.ones((n_boxes, 2, len(net.ranges))))


def empty_stack(net: FlatNetwork) -> Stack:
    """Return the stack of a search, large enough for all waiting boxes.

    Boxes can be halved until every feature has one value and every range one number.
    That is far below the rounding error of the bounds, so a search that gets there
    gives up.
    """
    n_boxes = int(net.sizes[0]) + 2 + _HALVINGS * int((net.ranges >= 0).sum())
    n_later = int(net.sizes[2:-1].sum())
    return Stack(
        *empty_boxes(net, n_boxes),
        low=np.zeros((n_boxes, n_later)),
        high=np.zeros((n_boxes, n_later)),
        depth=np.zeros(n_boxes, dtype=np.int64),
    )


def empty_inputs(net: FlatNetwork, n_points: int) -> Inputs:
    """Return arrays for this many inputs."""
    shape = (n_points, len(net.ranges))
    return Inputs(np.zeros(shape, dtype=np.int64), np.ones(shape))


def workspace(net: FlatNetwork) -> Workspace:
    """Return the scratch arrays that a search of `net` needs."""
    n_units, n_columns = len(net.bias), int(net.sizes[0])
    n_features = len(net.ranges)
    width = int(net.sizes[1:].max())
    return Workspace(
        low=np.zeros(n_units),
        high=np.zeros(n_units),
        lines=np.zeros((n_units, 4)),
        work=np.zeros((3, width)),
        first=np.zeros(int(net.sizes[1])),
        hidden=np.zeros((2, width)),
        scores=np.zeros(int(net.sizes[-1])),
        columns=np.zeros(n_columns),
        spread=np.zeros((n_features, int(net.sizes[1]))),
        choice=np.zeros(n_features, dtype=np.int64),
        numbers=np.ones(n_features),
        box=np.zeros(n_columns, dtype=np.bool_),
        ends=np.ones((2, n_features)),
    )


class Lead(NamedTuple):
    """The lead of a class over others: a last layer of differences, with magnitudes.

    Attributes
    ----------
    weights, bias
        The differences, which are rounded.
    large, large_bias
        The sums of the magnitudes of the numbers that are subtracted.
    """

    weights: NDArray[np.float64]
    bias: NDArray[np.float64]
    large: NDArray[np.float64]
    large_bias: NDArray[np.float64]


def lead_of(network: Network, index: int) -> Lead:
    """Return a last layer whose scores are all positive exactly where a class wins.

    There is one score for a binary network, otherwise one for each other class.
    """
    last = network.layers[-1]
    with np.errstate(all="ignore"):
        if network.is_binary:
            sign, limit = (1.0 if index else -1.0), certified.logit(network.threshold)
            return Lead(
                sign * last.weights,
                sign * (last.bias - limit),
                np.abs(last.weights),
                np.abs(last.bias) + 16 * abs(limit),
            )
        others = [k for k in range(len(network.classes)) if k != index]
        return Lead(
            last.weights[:, [index]] - last.weights[:, others],
            last.bias[index] - last.bias[others],
            np.abs(last.weights[:, [index]]) + np.abs(last.weights[:, others]),
            np.abs(last.bias[index]) + np.abs(last.bias[others]),
        )


def claim(network: Network, index: int) -> FlatNetwork:
    """Return a network whose scores are all positive exactly where class `index` wins.

    A score of exactly 0 is a tie, which `nn2rules.network.certified.settle` resolves.
    """
    return ending_in(network.layers[:-1], lead_of(network, index), network.domain)


def ending_in(layers: Sequence[Layer], lead: Lead, domain: Domain) -> FlatNetwork:
    """Return the arrays of a network whose last layer is one of differences.

    Notes
    -----
    The differences are rounded. Doubling the bounds of a layer with the sums of the
    magnitudes covers that.
    """
    weights, bias, large, large_bias = lead
    huge = np.finfo(np.float64).max
    bounded = Layer(np.minimum(large, huge), np.minimum(large_bias, huge), "identity")
    flat = flatten((*layers, bounded), domain)
    last_weight, last_unit = int(flat.weight_at[-1]), int(flat.unit_at[-1])
    is_finite = np.isfinite(weights).all() and np.isfinite(bias).all()
    doubt = 2.0 if is_finite else np.inf  # a difference that overflows proves nothing
    return flat._replace(
        across=flat.across if layers else weights.T.ravel(),
        weights=np.concatenate([flat.weights[:last_weight], weights.ravel()]),
        bias=np.concatenate([flat.bias[:last_unit], bias]),
        slack=doubt * flat.slack,
        error=doubt * flat.error,
    )
