"""Questions that are being searched, all at the same time."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine._kernels.boxes import Boxes
from nn2rules.engine._kernels.search import (
    FEW,
    PAUSED,
    PROVED,
    REFUTED,
    TIES_FULL,
    TOO_DEEP,
)
from nn2rules.engine.tensors.bounds import Bounded, bound_worst
from nn2rules.engine.tensors.covered import Ignored, ignored_of, is_covered, is_inside
from nn2rules.engine.tensors.evaluate import descend, evaluate_choice
from nn2rules.engine.tensors.nets import Tensor, TensorNet
from nn2rules.engine.tensors.picking import Batch, of_boxes
from nn2rules.engine.tensors.splitting import choose_feature, halves
from nn2rules.engine.tensors.stacks import Stacks

_OPEN = -1
_HALVINGS = 2200
"""After so many at most, a range of float64 has one number left."""


class Found(NamedTuple):
    """What searches found, question by question.

    Attributes
    ----------
    status : ndarray of int64, shape (n,)
        As `nn2rules.engine._kernels.search.search` says.
    codes : ndarray of int64, shape (n, n_features)
    numbers : ndarray of float64, shape (n, n_features)
        The inputs that refute; of no meaning for other questions.
    n_boxes, n_ties : ndarray of int64, shape (n,)
        How many boxes were searched, and inputs found that float64 cannot decide.
    """

    status: NDArray[np.int64]
    codes: NDArray[np.int64]
    numbers: NDArray[np.float64]
    n_boxes: NDArray[np.int64]
    n_ties: NDArray[np.int64]


class Run:
    """Questions that are being searched; its tensors have an entry for each.

    Parameters
    ----------
    net : TensorNet
    n_questions : int
        None of them is asked yet.
    ignored : Boxes
        See `nn2rules.engine.tensors.Searcher`.
    room : int
        A question is given up when so many boxes, but one, would wait.
    """

    def __init__(
        self, net: TensorNet, n_questions: int, ignored: Boxes, room: int
    ) -> None:
        torch, n = net.torch, n_questions
        self._net, self._n_ignored = net, len(ignored.allowed)
        self._ignored: Ignored = ignored_of(net, ignored)
        self._stacks, self._room = Stacks(net, n), room
        deepest = room + _HALVINGS * len(net.layout.ranges)
        self._shares = self._tensor(0.5 ** np.arange(deepest + 1))
        shape = n, net.n_features

        def counts(shape: tuple[int, ...]) -> Tensor:
            return torch.zeros(shape, dtype=torch.int64, device=net.device)

        self._n_boxes, self._n_ties = counts((n,)), counts((n,))
        self._limits, self._patience = counts((n,)), net.full((n,), 0.0)
        self._status, self._done = counts((n,)), net.full((n,), 0.0)
        self._codes, self._numbers = counts(shape), net.full(shape, 1.0)

    def put(
        self, which: Tensor, boxes: Boxes, limits: NDArray[np.int64], patience: float
    ) -> None:
        """Ask some of the questions, or ask others in their place."""
        ends = self._tensor(boxes.ends)[:, :, self._net.layout.ranged]
        self._stacks.put(which, self._tensor(boxes.allowed), ends)
        self._limits[which] = self._tensor(limits)
        self._patience[which] = self._tensor(patience * limits.astype(np.float64))
        self._n_boxes[which], self._n_ties[which] = 0, 0
        self._status[which], self._done[which] = _OPEN, 0.0

    def _tensor(self, array: NDArray[Any]) -> Tensor:
        return self._net.torch.from_numpy(np.array(array)).to(self._net.device)

    def still_open(self, which: Tensor) -> Tensor:
        """Note how questions ended that are at their end, and return the others."""
        net, top = self._net, self._stacks.top[which]
        n_boxes = self._n_boxes[which]
        too_long = n_boxes > self._patience[which] * self._done[which]
        paused = (n_boxes >= self._limits[which]) | ((n_boxes >= FEW) & too_long)
        status = self._status[which]
        for ended, how in (  # the first one counts
            (top == 0, PROVED),
            (paused, PAUSED),
            (self._n_ties[which] == 1, TIES_FULL),
            (top + 1 >= self._room, TOO_DEEP),
        ):
            status = net.where((status == _OPEN) & ended, how, status)
        self._status[which] = status
        return which[status == _OPEN]

    def advance(self, which: Tensor, *, is_new: bool) -> None:
        """Take a box of each question, and split it if it is not decided."""
        net = self._net
        batch, depth = self._stacks.pop(which)
        self._n_boxes[which] += 1
        self._done[which] += self._shares[depth]
        if self._n_ignored:
            outside = ~is_inside(net, batch, self._ignored)
            which, batch, depth = self._some(outside, which, batch, depth)
        found = bound_worst(net, batch, is_new=is_new)
        is_left = ~(found.worst > 0.0)
        found = Bounded(*of_boxes(net, found, is_left.nonzero()[:, 0]))
        which, batch, depth = self._some(is_left, which, batch, depth)
        batch = batch._replace(low=found.low, high=found.high)
        feature = choose_feature(net, batch, found)
        at = found.choice, found.numbers
        most, least = evaluate_choice(net, at)
        if is_new:
            most, at = self._descend(batch, feature, most, at)
        is_refuted = most < 0.0
        if self._n_ignored:
            is_refuted &= ~is_covered(net, *at, self._ignored)
        self._refute(which, is_refuted, at)
        is_split = ~is_refuted & (feature >= 0)
        is_tie = ~is_refuted & (feature < 0) & ~((most < 0.0) | (least > 0.0))
        self._n_ties[which] += is_tie
        columns, feature, numbers = of_boxes(
            net, (found.columns, feature, at[1]), is_split.nonzero()[:, 0]
        )
        which, batch, depth = self._some(is_split, which, batch, depth)
        for half in halves(net, batch, columns, feature, numbers):
            self._stacks.push(which, half, depth + 1)
        self._done[which] -= self._shares[depth]

    def _some(
        self, wanted: Tensor, which: Tensor, batch: Batch, depth: Tensor
    ) -> tuple[Tensor, Batch, Tensor]:
        """Return some of the questions, their boxes, and the depths of these."""
        at = wanted.nonzero()[:, 0]
        return which[at], Batch(*of_boxes(self._net, batch, at)), depth[at]

    def _descend(
        self, batch: Batch, feature: Tensor, most: Tensor, at: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Look for better inputs where none is sure yet."""
        own = (~(most < 0.0) & (feature >= 0)).nonzero()[:, 0]
        part = Batch(*of_boxes(self._net, batch, own))
        choice, numbers = of_boxes(self._net, at, own)
        found, (codes, moved) = descend(self._net, part, (choice, numbers))
        most[own], at[0][:, own], at[1][:, own] = found, codes, moved
        return most, at

    def _refute(
        self, which: Tensor, is_refuted: Tensor, at: tuple[Tensor, Tensor]
    ) -> None:
        """Note the inputs that refute."""
        own = is_refuted.nonzero()[:, 0]
        self._status[which[own]] = REFUTED
        self._codes[which[own]] = at[0][:, own].T
        self._numbers[which[own]] = at[1][:, own].T

    def note(self, which: Tensor, found: Found) -> None:
        """Note what was found elsewhere."""
        parts = self._status, self._codes, self._numbers, self._n_boxes, self._n_ties
        for part, own in zip(parts, found, strict=True):
            part[which] = self._tensor(own)

    def found(self, which: Tensor) -> Found:
        """Return what was found of questions that are no longer open."""
        parts = self._status, self._codes, self._numbers, self._n_boxes, self._n_ties
        return Found(*(part[which].cpu().numpy() for part in parts))
