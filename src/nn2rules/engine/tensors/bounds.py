"""Bound the scores of a network over many boxes, by backward linear relaxation.

Each function does for every box what that of the same name, or the one that is named,
does in `nn2rules.engine._kernels.bounds`.
"""

import math
from typing import NamedTuple

from nn2rules.engine._kernels.bounds import TIGHTENED
from nn2rules.engine.tensors.lines import (
    Lines,
    activation_range,
    gap_of,
    higher_of,
    lower_of,
    relax,
)
from nn2rules.engine.tensors.nets import Tensor, TensorNet, add_products, add_rows
from nn2rules.engine.tensors.picking import Batch, numbers_at, of_boxes, pick

PAIRS = 1 << 22
"""So many numbers are worked on at a time, where units of boxes are bounded anew."""


class Bounded(NamedTuple):
    """What is known of boxes once they are bounded; the last axis is theirs.

    Attributes
    ----------
    worst : Tensor, shape (n_boxes,)
        The lowest lower bound of all scores.
    columns : Tensor, shape (n_columns, n_boxes)
        What each column contributes to it.
    shares : Tensor, shape (width, n_boxes)
        How much of a first neuron's gap one step of its sum causes.
    choice, numbers : Tensor, shape (n_features, n_boxes)
        The input that minimises it.
    spread : Tensor, shape (n_features, width, n_boxes)
        How far each feature moves each first neuron; features in `Layout.order`.
    low, high : Tensor, shape (n_later_units, n_boxes)
    """

    worst: Tensor
    columns: Tensor
    shares: Tensor
    choice: Tensor
    numbers: Tensor
    spread: Tensor
    low: Tensor
    high: Tensor


class Backward(NamedTuple):
    """A pre-activation bounded from below by a linear function of the input.

    Attributes
    ----------
    constant : Tensor, shape (n,)
    columns : Tensor, shape (n_columns, n)
    outputs : Tensor, shape (width, n)
        The coefficients of the first layer's outputs.
    """

    constant: Tensor
    columns: Tensor
    outputs: Tensor


def bound_first(net: TensorNet, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    """Bound the first pre-activations, and what each feature adds: see `Bounded`."""
    torch, layout, weights = net.torch, net.layout, net.weights[0].unsqueeze(2)
    shape = net.n_features, net.sizes[1], batch.box.shape[1]
    least, most = net.full(shape, math.inf), net.full(shape, -math.inf)
    barred = net.where(batch.box, 0.0, math.inf)  # weights are finite: it outdoes them
    for columns, own in zip(layout.steps, net.step_weights, strict=True):
        n_features = len(columns)
        bar = barred[columns].unsqueeze(1)
        below, above = least[:n_features], most[:n_features]
        torch.minimum(below, own + bar, out=below)
        torch.maximum(above, own - bar, out=above)
    for (feature, column), ends in zip(
        layout.ranges, batch.ends.unbind(1), strict=True
    ):
        place = layout.places[feature]
        one, other = ends[0] * weights[column], ends[1] * weights[column]
        below = net.where(batch.box[column], lower_of(net, one, other), math.inf)
        above = net.where(batch.box[column], higher_of(net, one, other), -math.inf)
        least[place] = torch.minimum(least[place], below)
        most[place] = torch.maximum(most[place], above)
    low, high = (net.bias[0].repeat(1, shape[2]) for _ in range(2))
    for place in layout.places:
        low.add_(least[place])
        high.add_(most[place])
    return low - net.slack[0], high + net.slack[0], most.sub_(least)


def through_lines(
    net: TensorNet, layer: int, lines: Lines, current: Tensor, constant: Tensor
) -> Tensor:
    """Multiply coefficients of outputs back to ones of sums; adds to `constant`."""
    torch = net.torch
    used, is_up = current != 0.0, current > 0
    held = current * net.where(is_up, lines.low_at, lines.high_at)
    onward = current * net.where(is_up, lines.low_slope, lines.high_slope)
    onward = net.where(used, onward, current)
    held = net.where(used, held, 0.0)  # a line may be NaN
    moved = net.where(used, onward * net.bias[layer], 0.0)
    add_rows(constant, torch.stack([held, moved], 1).flatten(0, 1))
    return onward


def backward(
    net: TensorNet,
    lines: list[Lines],
    units: Tensor,
    sign: Tensor,
    at: Tensor,
) -> Backward:
    """Bound pre-activations of the layer behind `lines` from below.

    ``sign[k]`` times that of ``units[k]`` over the box ``at[k]``, as `backward_lower`
    does, up to what each column contributes.
    """
    layer, n = len(lines), len(units)
    constant = sign * net.bias[layer][units, 0]
    if layer == 0:
        current = net.full((net.sizes[1], n), 0.0)
        current[units, net.count(n)] = sign
    else:
        current = sign * net.weights[layer][:, units]
    outputs = current
    for k in range(layer - 1, -1, -1):
        outputs = current
        own = Lines(*of_boxes(net, lines[k], at))
        current = through_lines(net, k, own, current, constant)
        if k > 0:
            none = net.full((net.sizes[k], n), 0.0)
            current = add_products(net, none, current, net.across[k])
    none = net.full((net.sizes[0], n), 0.0)
    columns = add_products(net, none, current, net.across[0])
    return Backward(constant, columns, outputs)


def bound_layers(
    net: TensorNet, batch: Batch, low: Tensor, high: Tensor, *, is_new: bool
) -> tuple[list[Lines], Tensor, Tensor]:
    """Relax the activations of all hidden layers; `low` and `high` are the first's.

    Returns the lines, and the bounds of the later layers.
    """
    lines: list[Lines] = []
    lows, highs, begin = [batch.low[:0]], [batch.high[:0]], 0
    for layer in range(len(net.sizes) - 2):
        if layer > 0:
            before, own = (low, high), slice(begin, begin + net.sizes[layer + 1])
            low, high, begin = batch.low[own], batch.high[own], own.stop
            if is_new:
                shape = tuple(low.shape)
                low, high = net.full(shape, -math.inf), net.full(shape, math.inf)
            low, high = add_intervals(net, layer, before, (low, high))
            low, high = tighten(net, batch, lines, low, high, is_new=is_new)
            lows.append(low)
            highs.append(high)
        lines.append(relax(net, net.kinds[layer], net.slopes[layer], low, high))
    return lines, net.torch.cat(lows), net.torch.cat(highs)


def add_intervals(
    net: TensorNet,
    layer: int,
    before: tuple[Tensor, Tensor],
    known: tuple[Tensor, Tensor],
) -> tuple[Tensor, Tensor]:
    """Bound the pre-activations of a later layer by the ranges of the units before."""
    low, high = known
    kind, slope = net.kinds[layer - 1], net.slopes[layer - 1]
    least, most = activation_range(net, kind, slope, *before)
    smallest, largest = (net.bias[layer].repeat(1, low.shape[1]) for _ in range(2))
    for weights, one, other in zip(
        net.rows[layer], least.unbind(0), most.unbind(0), strict=True
    ):
        is_up = weights >= 0.0
        smallest.add_(weights * net.where(is_up, one, other))
        largest.add_(weights * net.where(is_up, other, one))
    below, above = smallest - net.slack[layer], largest + net.slack[layer]
    return net.where(low >= below, low, below), net.where(high <= above, high, above)


def tighten(
    net: TensorNet,
    batch: Batch,
    lines: list[Lines],
    low: Tensor,
    high: Tensor,
    *,
    is_new: bool,
) -> tuple[Tensor, Tensor]:
    """Bound pre-activations of a later layer by the lines of the layers before.

    Units of one layer do not depend on each other, so all are bounded at once: those
    that may change sign if the boxes are new, and otherwise those that cost most.
    """
    layer, torch = len(lines), net.torch
    costs = gap_of(net, net.kinds[layer], low, high)
    if is_new:
        units, at = torch.nonzero(costs > 0.0, as_tuple=True)
    else:
        costs = costs * net.outgoing[layer]
        n_left = max(TIGHTENED, len(costs) // 8)
        costs, order = torch.sort(costs, dim=0, descending=True, stable=True)
        ranks, at = torch.nonzero(costs[:n_left] > 0.0, as_tuple=True)
        units = order[ranks, at]
    low, high = low.clone(), high.clone()
    some = max(1, PAIRS // max(net.sizes[:2]))
    for own_units, own_at in zip(units.split(some), at.split(some), strict=True):
        slack = net.slack[layer][own_units, 0]
        box, ends = of_boxes(net, (batch.box, batch.ends), own_at)
        bounds = []
        for sign in (1.0, -1.0):
            signs = net.full((len(own_at),), sign)
            found = backward(net, lines, own_units, signs, own_at)
            bounds.append(found.constant + pick(net, box, ends, found.columns)[0])
        below, above = bounds[0] - slack, -bounds[1] + slack
        known, limit = low[own_units, own_at], high[own_units, own_at]
        low[own_units, own_at] = net.where(below > known, below, known)
        high[own_units, own_at] = net.where(above < limit, above, limit)
    return low, high


def bound_worst(net: TensorNet, batch: Batch, *, is_new: bool) -> Bounded:
    """Bound the lowest score of each box from below.

    Unless the boxes are new, ``batch`` has bounds of the layers after the first that
    hold for boxes around them.
    """
    torch, n, last = net.torch, batch.box.shape[1], len(net.sizes) - 2
    low, high, spread = bound_first(net, batch)
    lines, lows, highs = bound_layers(net, batch, low, high, is_new=is_new)
    n_scores, each = net.sizes[-1], net.count(n)
    at, units = each.repeat(n_scores), net.count(n_scores).repeat_interleave(n)
    found = backward(net, lines, units, net.full((len(at),), 1.0), at)
    box, ends = of_boxes(net, (batch.box, batch.ends), at)
    total, choice = pick(net, box, ends, found.columns)
    below = (found.constant + total).reshape(n_scores, n) - net.slack[last]
    worst, worst_at = net.full((n,), math.inf), torch.zeros_like(each)
    for k in range(n_scores):
        is_lower = ~(below[k] >= worst) & ~torch.isnan(worst)
        worst = net.where(is_lower, below[k], worst)
        worst_at = net.where(is_lower, k, worst_at)
    columns, outputs, choice = of_boxes(
        net, (found.columns, found.outputs, choice), worst_at * n + each
    )
    shares = torch.zeros_like(outputs)
    if lines:
        weight = torch.abs(outputs) * (lines[0].high_at - lines[0].low_at)
        shares = net.where(weight > 0.0, weight / (high - low), 0.0)
    numbers = numbers_at(net, batch.ends, columns, choice)
    return Bounded(worst, columns, shares, choice, numbers, spread, lows, highs)
