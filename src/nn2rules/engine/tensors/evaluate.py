"""Evaluate a network at many inputs, and look for better ones near them.

Each function does for every input what that of the same name does in
`nn2rules.engine._kernels.search`, or `network`.
"""

import math

from nn2rules.engine.tensors.lines import activate
from nn2rules.engine.tensors.nets import Tensor, TensorNet, add_products
from nn2rules.engine.tensors.picking import Batch

Input = tuple[Tensor, Tensor]
"""Codes and numbers, both of shape (n_features, n_inputs)."""


def finish_forward(net: TensorNet, first: Tensor) -> Tensor:
    """Go from the first layer's pre-activations to the scores."""
    current = first
    for layer in range(1, len(net.sizes) - 1):
        kind, slope = net.kinds[layer - 1], net.slopes[layer - 1]
        outputs = activate(net, kind, slope, current)
        following = net.bias[layer].repeat(1, first.shape[1])
        current = add_products(net, following, outputs, net.rows[layer])
    return current


def first_sums(net: TensorNet, choice: Tensor, numbers: Tensor) -> Tensor:
    """Return the first layer's pre-activations."""
    first = net.bias[0].repeat(1, choice.shape[1])
    for feature in range(net.n_features):
        first.add_(numbers[feature] * weights_of(net, feature, choice[feature]))
    return first


def weights_of(net: TensorNet, feature: int, codes: Tensor) -> Tensor:
    """Return the first weights of some values of a feature, shape (width, n_codes)."""
    return net.weights[0][net.layout.offsets[feature] + codes].T


def worst_score(net: TensorNet, scores: Tensor) -> tuple[Tensor, Tensor]:
    """Return how much the worst score is certainly below 0, and certainly above.

    Both are NaN if a score is.
    """
    torch, above, below = net.torch, scores + net.error, scores - net.error
    unsure = (torch.isnan(above) | torch.isnan(below)).any(0)
    most = net.where(unsure, math.nan, above.amin(0))
    return most, net.where(unsure, math.nan, below.amin(0))


def evaluate_choice(net: TensorNet, at: Input) -> tuple[Tensor, Tensor]:
    """Evaluate the network at inputs; return what `worst_score` does."""
    return worst_score(net, finish_forward(net, first_sums(net, *at)))


def descend(net: TensorNet, batch: Batch, at: Input) -> tuple[Tensor, Input]:
    """Move inputs to better ones, one feature at a time, each in its box.

    Returns how much the worst score is certainly below 0 there, and the inputs.
    """
    choice, numbers = at[0].clone(), at[1].clone()
    first = first_sums(net, choice, numbers)
    best, _ = worst_score(net, finish_forward(net, first))
    for feature in range(net.n_features):
        kept, number = choice[feature], numbers[feature]
        around = first - number * weights_of(net, feature, kept)
        best, kept, number = _best_value(
            net, batch, feature, around, (best, kept, number)
        )
        choice[feature], numbers[feature] = kept, number
        first = around + number * weights_of(net, feature, kept)
    return evaluate_choice(net, (choice, numbers))[0], (choice, numbers)


def _best_value(
    net: TensorNet,
    batch: Batch,
    feature: int,
    around: Tensor,
    known: tuple[Tensor, Tensor, Tensor],
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the score, code and number of a feature's first best value.

    All values are tried at once; `known` stays where none is better.
    """
    torch, n = net.torch, around.shape[1]
    codes, tried = _values_to_try(net, batch, feature)
    weights = weights_of(net, feature, codes).unsqueeze(2)  # (width, n_tried, 1)
    trials = around.unsqueeze(1) + tried * weights
    most, _ = worst_score(net, finish_forward(net, trials.flatten(1)))
    most = most.reshape(len(codes), n)
    allowed = batch.box[net.layout.offsets[feature] + codes]
    most = net.where(allowed & ~torch.isnan(most), most, math.inf)
    least = most.amin(0)
    place = net.count(len(codes))[:, None]
    first = net.where(most == least, place, len(codes)).amin(0)
    best, kept, number = known
    is_better = least < best
    return (
        net.where(is_better, least, best),
        net.where(is_better, codes[first], kept),
        net.where(is_better, tried[first, net.count(n)], number),
    )


def _values_to_try(net: TensorNet, batch: Batch, feature: int) -> tuple[Tensor, Tensor]:
    """Return the codes of a feature, the range twice, and the number for each box."""
    codes, before = net.layout.tries[feature]
    numbers = net.full((len(codes), batch.box.shape[1]), 1.0)
    if before >= 0:
        place = [feature for feature, _ in net.layout.ranges].index(feature)
        numbers[before : before + 2] = batch.ends[:, place]
    return codes, numbers
