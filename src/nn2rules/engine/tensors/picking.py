"""The best value of each feature, as far as a line tells."""

import math
from typing import NamedTuple

from nn2rules.engine.tensors.nets import Tensor, TensorNet, add_rows


class Batch(NamedTuple):
    """Boxes that are worked on together; the last axis is theirs.

    Attributes
    ----------
    box : Tensor of bool, shape (n_columns, n_boxes)
    ends : Tensor, shape (2, n_ranges, n_boxes)
        Where the numbers of each range begin and end.
    low, high : Tensor, shape (n_later_units, n_boxes)
        Bounds of the hidden units after the first layer, of boxes around these.
    """

    box: Tensor
    ends: Tensor
    low: Tensor
    high: Tensor


def of_boxes(net: TensorNet, parts: tuple[Tensor, ...], at: Tensor) -> list[Tensor]:
    """Return what belongs to some of the boxes, of several tensors."""
    return [net.torch.index_select(part, -1, at) for part in parts]


def best_numbers(net: TensorNet, ends: Tensor, columns: Tensor) -> Tensor:
    """Return the end of each range at which a line is lowest."""
    value = columns[net.layout.ranged_columns]
    return net.where(value > 0.0, ends[0], ends[1])


def pick(
    net: TensorNet, box: Tensor, ends: Tensor, columns: Tensor
) -> tuple[Tensor, Tensor]:
    """Let every feature pick its best allowed value on its own.

    Parameters
    ----------
    columns : Tensor, shape (n_columns, n_boxes)
        What each column contributes, for each unit of its number.

    Returns
    -------
    total : Tensor, shape (n_boxes,)
        The sum of what is picked, in the order of the features.
    choice : Tensor of int64, shape (n_features, n_boxes)
    """
    torch, layout = net.torch, net.layout
    values = columns.clone()
    at = best_numbers(net, ends, columns)
    values[layout.ranged_columns] = values[layout.ranged_columns] * at
    shape = net.n_features, columns.shape[1]
    smallest = net.full(shape, math.inf)
    choice = torch.zeros(shape, dtype=torch.int64, device=net.device)
    for features, own in layout.groups:
        smallest[features], choice[features] = _first_smallest(
            net, values[own], box[own]
        )
    return add_rows(net.full(shape[1:], 0.0), smallest), choice


def _first_smallest(
    net: TensorNet, values: Tensor, allowed: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the smallest of the allowed values along axis 1, and where it is first.

    The kernels take one value after the other unless it is at least the smallest so
    far: so they take NaN, and whatever comes next. What counts is behind the last NaN,
    if there is anything.
    """
    torch, size = net.torch, values.shape[1]
    position = net.count(size)[None, :, None]
    is_nan = allowed & torch.isnan(values)
    last_nan = net.where(is_nan, position, -1).amax(1, keepdim=True)
    counts = allowed & (position > last_nan)
    smallest = net.where(counts, values, math.inf).amin(1, keepdim=True)
    is_smallest = counts & (values == smallest)
    first = net.where(is_smallest, position, size).amin(1)
    smallest, last_nan = smallest.squeeze(1), last_nan.squeeze(1)
    found = first < size
    return net.where(found, smallest, math.nan), net.where(found, first, last_nan)


def numbers_at(net: TensorNet, ends: Tensor, columns: Tensor, choice: Tensor) -> Tensor:
    """Return the numbers of what was picked: ends of ranges, and 1 for the others."""
    layout = net.layout
    numbers = net.full(tuple(choice.shape), 1.0)
    at = best_numbers(net, ends, columns)
    own = layout.ranged_columns[:, None] - layout.starts[layout.ranged]
    numbers[layout.ranged] = net.where(choice[layout.ranged] == own, at, 1.0)
    return numbers
