"""The boxes that wait, question by question."""

from typing import Any, NamedTuple

from nn2rules.engine.tensors.nets import Tensor, TensorNet
from nn2rules.engine.tensors.picking import Batch

_ROOM = 8
"""A stack has room for so many boxes at first, and twice as many when it is full."""


class _Waiting(NamedTuple):
    """As `Batch`, with two axes first: the question, and the place on its stack."""

    box: Tensor
    ends: Tensor
    low: Tensor
    high: Tensor


class Stacks:
    """A stack of boxes for each question, on the device.

    Attributes
    ----------
    top : Tensor of int64, shape (n_questions,)
        How many boxes wait.
    """

    def __init__(self, net: TensorNet, n_questions: int) -> None:
        torch, shape = net.torch, (n_questions, _ROOM)
        self._net, self._room = net, _ROOM

        def zeros(shape: tuple[int, ...], dtype: Any) -> Tensor:
            return torch.zeros(shape, dtype=dtype, device=net.device)

        self.top = zeros(shape[:1], torch.int64)
        self._depth = zeros(shape, torch.int64)
        n_ranges, n_later = len(net.layout.ranges), sum(net.sizes[2:-1])
        self._waiting = _Waiting(
            zeros((*shape, net.sizes[0]), torch.bool),
            zeros((*shape, 2, n_ranges), torch.float64),
            zeros((*shape, n_later), torch.float64),
            zeros((*shape, n_later), torch.float64),
        )

    def put(self, which: Tensor, box: Tensor, ends: Tensor) -> None:
        """Put one box on some of the stacks, and drop what was there."""
        self._waiting.box[which, 0], self._waiting.ends[which, 0] = box, ends
        self._depth[which, 0], self.top[which] = 0, 1

    def _grow(self, room: int) -> None:
        """Make room for so many boxes on each stack."""
        torch = self._net.torch

        def longer(part: Tensor) -> Tensor:
            more = part.new_zeros((len(part), room - self._room, *part.shape[2:]))
            return torch.cat([part, more], 1)

        self._waiting = _Waiting(*map(longer, self._waiting))
        self._depth, self._room = longer(self._depth), room

    def pop(self, which: Tensor) -> tuple[Batch, Tensor]:
        """Take a box from some of the stacks; return them, and their depths."""
        top = self.top[which] - 1
        self.top[which] = top
        parts = (part[which, top] for part in self._waiting)
        batch = Batch(*(part.movedim(0, -1).contiguous() for part in parts))
        return batch, self._depth[which, top]

    def push(self, which: Tensor, batch: Batch, depth: Tensor) -> None:
        """Put a box on some of the stacks."""
        top = self.top[which]
        if len(which) and int(top.max()) >= self._room:
            self._grow(2 * self._room)
        for waiting, part in zip(self._waiting, batch, strict=True):
            waiting[which, top] = part.movedim(-1, 0)
        self._depth[which, top] = depth
        self.top[which] = top + 1
