"""Proofs that others can follow: the steps by which a box is shown to be of a class."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nn2rules import arithmetic
from nn2rules.engine._kernels.boxes import Boxes
from nn2rules.engine._kernels.proving import DONE, PAUSED, TAPE_FULL, TIES_FULL, record
from nn2rules.engine.budget import Meter
from nn2rules.engine.flat import boxes_at_once, claim, points, stack_of, workspace
from nn2rules.engine.table import settle_codes
from nn2rules.errors import UndecidedError
from nn2rules.network import Network

MOST_BOXES = 100_000
"""A proof has at most so many boxes."""

_MOST_TIES = 4096
_TIES = 256
_TAPE = 1 << 16
_LARGE, _SMALL = 1e90, 1e-190  # where readers fear neither overflow nor underflow


class Prover:
    """Finds proofs for the boxes of a network.

    Parameters
    ----------
    network : Network
    meter : Meter
        The budget to spend.

    Notes
    -----
    Every box is bounded afresh: a reader who sees the box alone finds the same bound.
    A bound counts only if it exceeds twice its slack, which leaves room for the
    reader's own rounding.
    """

    def __init__(self, network: Network, meter: Meter) -> None:
        self.network, self.meter = network, meter
        self._nets = [claim(network, index) for index in range(len(network.classes))]
        self._spaces = [workspace(net) for net in self._nets]
        stack = stack_of(self._nets[0])
        self._stack = Boxes(stack.allowed, stack.ends)
        self._tape = np.zeros(_TAPE, dtype=np.uint8)
        self._ties = points(self._nets[0], _TIES)
        self._is_bounded = _is_mild(network)

    def prove(
        self, box: Boxes, index: int, ignoring: Boxes, which: NDArray[np.int64]
    ) -> bytes | None:
        """Return the steps of a proof that one box is of class `index`, or None.

        Parameters
        ----------
        box : Boxes
            A single one.
        index : int
            The position of the class.
        ignoring : Boxes
            Inputs inside these do not count.
        which : ndarray of int
            The numbers by which the proof calls them.

        Raises
        ------
        BudgetExceededError
            If the budget is spent.
        """
        self.meter.spend()
        near = _meeting(self.network, box, ignoring)
        ignored = Boxes(ignoring.allowed[near], ignoring.ends[near])
        net, space = self._nets[index], self._spaces[index]
        margin = max(_SMALL, float(net.slack[net.unit_at[-1] :].max()))
        margin = margin if self._is_bounded else np.inf
        self._stack.allowed[0], self._stack.ends[0] = box.allowed[0], box.ends[0]
        parts: list[bytes] = []
        top, total, n_settled = 1, 0, 0
        while total <= MOST_BOXES and n_settled <= _MOST_TIES:
            status, top, used, n_ties, n_boxes = record(
                net,
                space,
                self._stack,
                top,
                ignored,
                which[near],
                margin,
                self._tape,
                self._ties,
                self.meter.allowance(boxes_at_once(net)),
            )
            self.meter.spend(n_boxes)
            total, n_settled = total + n_boxes, n_settled + n_ties
            parts.append(self._tape[:used].tobytes())
            if not self._is_settled(index, n_ties):
                return None
            if status == DONE:
                return b"".join(parts)
            if status not in (PAUSED, TAPE_FULL, TIES_FULL):
                return None
        return None

    def _is_settled(self, index: int, n_ties: int) -> bool:
        """Tell whether inputs that float64 cannot decide are of a class."""
        ties = zip(self._ties.codes[:n_ties], self._ties.numbers[:n_ties], strict=True)
        try:
            return all(settle_codes(self.network, *tie) == index for tie in ties)
        except UndecidedError:
            return False


def _meeting(network: Network, box: Boxes, others: Boxes) -> NDArray[np.int64]:
    """Return which of several boxes have an input in common with one."""
    domain = network.domain
    common = others.allowed & box.allowed[0]
    for feature, column in enumerate(domain.ranges.tolist()):
        if column >= 0:
            low = np.maximum(others.ends[:, 0, feature], box.ends[0, 0, feature])
            high = np.minimum(others.ends[:, 1, feature], box.ends[0, 1, feature])
            common[:, column] &= low <= high
    starts = domain.offsets[:-1]
    return np.flatnonzero(np.logical_or.reduceat(common, starts, axis=1).all(axis=1))


def _is_mild(network: Network) -> bool:
    """Tell whether no number of a proof comes near to an overflow.

    Elsewhere proofs end at single inputs, which exact arithmetic decides.
    """
    layers, domain = network.layers, network.domain
    with np.errstate(all="ignore"):
        size = arithmetic.first_sizes(layers[0], domain.offsets, domain.reach)
        largest, back = float(size.max()), 1.0
        for layer_before, layer in pairwise(layers):
            function, weights = layer_before.function, np.abs(layer.weights)
            size = abs(function.at_zero) + 3 * function.lipschitz * size
            size = np.abs(layer.bias) + size @ weights
            back *= max(1.0, function.lipschitz) * max(1.0, weights.sum(axis=1).max())
            largest = max(largest, float(size.max()))
        wide = max(1.0, float(np.abs(layers[0].weights).max()))
        return largest < _LARGE and back * wide * 2 < _LARGE
