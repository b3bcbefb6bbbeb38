"""Which feature each box is split on, and its halves.

Each function does for every box what that of the same name does in
`nn2rules.engine._kernels.search`, or `boxes`.
"""

import math

from nn2rules.engine.tensors.bounds import Bounded
from nn2rules.engine.tensors.lines import lower_of
from nn2rules.engine.tensors.nets import Tensor, TensorNet, add_rows
from nn2rules.engine.tensors.picking import Batch


def choose_feature(net: TensorNet, batch: Batch, found: Bounded) -> Tensor:
    """Return the feature to split on, or -1 if each has one value left.

    The first of those with the most influence; only the first feature is taken if its
    influence is NaN, and no other one with NaN is.
    """
    torch, layout, n_features = net.torch, net.layout, net.n_features
    influence = moved_by(net, batch, found.columns)[layout.order]
    add_rows(influence, (found.shares * found.spread).transpose(0, 1))
    influence = influence[layout.place]
    can_split, feature = is_open(net, batch), net.count(n_features)[:, None]
    first = net.where(can_split, feature, n_features).amin(0)
    counts = can_split & ~torch.isnan(influence)
    highest = net.where(counts, influence, -math.inf).amax(0)
    is_highest = counts & (influence == highest)
    chosen = net.where(is_highest, feature, n_features).amin(0)
    none = first == n_features
    its = influence.gather(0, net.where(none, 0, first)[None])[0]
    chosen = net.where(torch.isnan(its), first, chosen)
    return net.where(none, -1, chosen)


def is_open(net: TensorNet, batch: Batch) -> Tensor:
    """Tell which features have several values left, shape (n_features, n_boxes)."""
    layout = net.layout
    several = n_allowed(net, batch.box) > 1
    is_wide = batch.ends[0] < batch.ends[1]
    several[layout.ranged] |= batch.box[layout.ranged_columns] & is_wide
    return several


def n_allowed(net: TensorNet, box: Tensor) -> Tensor:
    """Return how many values of each feature boxes allow."""
    torch = net.torch
    shape = net.n_features, box.shape[1]
    counts = torch.zeros(shape, dtype=torch.int64, device=net.device)
    for features, columns in net.layout.groups:
        counts[features] = box[columns].sum(1)
    return counts


def moved_by(net: TensorNet, batch: Batch, columns: Tensor) -> Tensor:
    """Return how far each feature moves the bound; NaN moves nothing."""
    torch, layout = net.torch, net.layout
    low, high = columns.clone(), columns.clone()
    own = columns[layout.ranged_columns]
    one, other = own * batch.ends[0], own * batch.ends[1]
    nothing = torch.isnan(columns)
    low.masked_fill_(nothing, math.inf)
    high.masked_fill_(nothing, -math.inf)
    for part, none, better in (
        (low, math.inf, torch.minimum),
        (high, -math.inf, torch.maximum),
    ):
        ends = [net.where(torch.isnan(end), none, end) for end in (one, other)]
        part[layout.ranged_columns] = better(*ends)
        part.masked_fill_(~batch.box, none)
    moved = net.full((net.n_features, columns.shape[1]), 0.0)
    for features, own in layout.groups:
        moved[features] = high[own].amax(1) - low[own].amin(1)
    return moved


def halves(
    net: TensorNet, batch: Batch, columns: Tensor, feature: Tensor, numbers: Tensor
) -> tuple[Batch, Batch]:
    """Split boxes in two on a feature each; the second has the lower bound.

    `numbers` are those of the inputs that were picked.
    """
    torch, layout = net.torch, net.layout
    in_feature = layout.owner == feature
    is_single = (in_feature & batch.box).sum(0) == 1
    is_lower = lower_half(net, batch, columns, feature)
    either = ~in_feature | is_single
    one = batch.box & (either | ~is_lower)
    other = batch.box & (either | is_lower)
    if not len(layout.ranged):
        return batch._replace(box=one), batch._replace(box=other)
    place = layout.range_of[feature][None]
    low, high = (ends.gather(0, place)[0] for ends in batch.ends)
    to, at = halves_of(net, low, high, layout.whole[place[0]])
    picked = numbers.gather(0, feature[None])[0]
    own = (layout.ranged[:, None] == feature) & is_single
    begin, end = batch.ends
    below = torch.stack([begin, net.where(own, to, end)])
    above = torch.stack([net.where(own, at, begin), end])
    is_below = picked <= to
    return (
        batch._replace(box=one, ends=net.where(is_below, above, below)),
        batch._replace(box=other, ends=net.where(is_below, below, above)),
    )


def lower_half(
    net: TensorNet, batch: Batch, columns: Tensor, feature: Tensor
) -> Tensor:
    """Tell which columns are the lower half of the allowed values of a feature."""
    torch, layout = net.torch, net.layout
    values = columns.clone()
    own = columns[layout.ranged_columns]
    values[layout.ranged_columns] = lower_of(
        net, batch.ends[0] * own, batch.ends[1] * own
    )
    n_columns, n = columns.shape
    code = net.count(layout.widest)[:, None]
    column = layout.starts[feature, 0] + code
    is_own = code < layout.sizes[feature, 0]
    column = net.where(is_own, column, n_columns)  # the others share one more column
    spare = column.clamp(max=n_columns - 1)
    allowed = is_own & batch.box.gather(0, spare)
    order = stable_order(net, values.gather(0, spare), allowed)
    half = (allowed.sum(0) + 1) // 2
    is_lower = torch.zeros_like(allowed).scatter_(0, order, code < half)
    found = torch.zeros((n_columns + 1, n), dtype=torch.bool, device=net.device)
    return found.scatter_(0, column, is_lower)[:-1]


def stable_order(net: TensorNet, values: Tensor, allowed: Tensor) -> Tensor:
    """Return the order of values along axis 0: NaN after all numbers, others last.

    Adding 0 makes one zero of both, which sorting by bits might part.
    """
    torch = net.torch
    is_nan = torch.isnan(values)
    keys = net.where(allowed & ~is_nan, values + 0.0, math.inf)
    order = torch.sort(keys, dim=0, stable=True).indices
    late = net.where(allowed, is_nan.to(torch.int64), 2).gather(0, order)
    later = torch.sort(late, dim=0, stable=True).indices
    return order.gather(0, later)


def halves_of(
    net: TensorNet, low: Tensor, high: Tensor, is_whole: Tensor
) -> tuple[Tensor, Tensor]:
    """Return where the lower halves of ranges end, and where the upper ones begin."""
    torch = net.torch
    middle = 0.5 * low + 0.5 * high
    is_between = (low < middle) & (middle < high)
    floor = torch.floor(middle)
    to = net.where(is_whole, floor, net.where(is_between, middle, low))
    at = net.where(is_whole, floor + 1.0, net.where(is_between, middle, high))
    return to, at
