"""Boxes and inputs that do not count, since they lie in others.

Each function does for every box what that of the same name does in
`nn2rules.engine._kernels.boxes`.
"""

from typing import NamedTuple

from nn2rules.engine._kernels.boxes import Boxes
from nn2rules.engine.tensors.nets import Tensor, TensorNet
from nn2rules.engine.tensors.picking import Batch


class Ignored(NamedTuple):
    """Boxes whose inputs do not count.

    Attributes
    ----------
    allowed : Tensor of bool, shape (n_boxes, n_columns)
    ends : Tensor, shape (n_boxes, 2, n_ranges)
    """

    allowed: Tensor
    ends: Tensor


def ignored_of(net: TensorNet, boxes: Boxes) -> Ignored:
    """Return boxes as tensors."""
    ends = net.torch.from_numpy(boxes.ends.copy()).to(net.device)
    allowed = net.torch.from_numpy(boxes.allowed.copy()).to(net.device)
    return Ignored(allowed, ends[:, :, net.layout.ranged])


def is_inside(net: TensorNet, batch: Batch, ignored: Ignored) -> Tensor:
    """Tell which boxes lie wholly inside one of those that are ignored."""
    torch, layout = net.torch, net.layout
    # Sums of ones are exact in any order.
    missing = (~ignored.allowed).to(torch.float32) @ batch.box.to(torch.float32)
    inside = missing == 0.0
    for place, (_, column) in enumerate(layout.ranges):
        ends, begins = ignored.ends[:, :, place], batch.ends[:, place]
        is_held = (ends[:, :1] <= begins[0]) & (begins[1] <= ends[:, 1:])
        inside &= is_held | ~batch.box[column]
    return inside.any(0)


def is_covered(
    net: TensorNet, choice: Tensor, numbers: Tensor, ignored: Ignored
) -> Tensor:
    """Tell which inputs one of the boxes that are ignored holds."""
    layout, columns = net.layout, net.layout.starts + choice
    held = net.torch.ones_like(ignored.allowed[:, columns[0]])
    for own in columns:
        held &= ignored.allowed[:, own]
    for place, (feature, column) in enumerate(layout.ranges):
        ends, number = ignored.ends[:, :, place], numbers[feature]
        is_in = (ends[:, :1] <= number) & (number <= ends[:, 1:])
        held &= is_in | (columns[feature] != column)
    return held.any(0)
