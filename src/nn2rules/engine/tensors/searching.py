"""Branch and bound for many questions at once."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from nn2rules.device import torch_device
from nn2rules.engine._kernels import search as kernels
from nn2rules.engine._kernels.boxes import Boxes
from nn2rules.engine._kernels.compiled import ONE
from nn2rules.engine._kernels.network import FlatNetwork
from nn2rules.engine.flat import points, stack_of, workspace
from nn2rules.engine.tensors.nets import as_tensors
from nn2rules.engine.tensors.running import Found, Run

_AT_ONCE = {"cpu": 1 << 18, "cuda": 1 << 27}
"""Numbers in the largest tensor: what a processor's cache holds, or a GPU's memory."""


class Searcher:
    """Searches boxes for inputs whose worst score is not above 0, on a device.

    Parameters
    ----------
    net : FlatNetwork
        All of whose scores are above 0 where the class wins.
    device : str
        As PyTorch says it: "cuda", "cuda:1" or "cpu".

    Examples
    --------
    >>> from nn2rules import Domain, Feature, Layer, Network
    >>> from nn2rules.engine.flat import claim, room
    >>> domain = Domain((Feature("size", ("S", "M", "L")),))
    >>> layer = Layer([[1], [2], [-3]], [0], "sigmoid")
    >>> net = claim(Network(domain, (layer,), ("no", "yes")), 1)
    >>> boxes = Boxes(np.array([[1, 1, 0], [1, 1, 1]], dtype=bool), np.ones((2, 2, 1)))
    >>> limits = np.array([100, 100])
    >>> found = Searcher(net, "cpu").search(boxes, limits, 4.0, room(net, 0))
    >>> found.status.tolist(), found.codes[1].tolist()  # proved, and refuted by L
    ([0, 1], [2])
    """

    def __init__(self, net: FlatNetwork, device: str) -> None:
        torch, self.device = torch_device(device)
        self.flat, self.net = net, as_tensors(net, torch, self.device)
        self.is_finite = bool(np.isfinite(net.weights).all())
        self.room = len(stack_of(net).depth)
        largest = max(len(net.ranges) * int(net.sizes[1]), int(net.sizes[0]))
        self.at_once = max(1, _AT_ONCE[self.device.type] // largest)

    def search(
        self,
        boxes: Boxes,
        limits: NDArray[np.int64],
        patience: float,
        ignored: Boxes,
        look: Callable[[], None] | None = None,
    ) -> Found:
        """Search each of several boxes, as if it were alone.

        Parameters
        ----------
        boxes : Boxes
            Each has a value for every feature.
        limits : ndarray of int64, shape (n,)
            Give a box up after so many parts of it.
        patience : float
            Give it up early if it seems to take more than so many times as many.
        ignored : Boxes
            Inputs inside these do not count.
        look : callable, optional
            Called every so often, to look at the clock; what it raises ends the search.
        """
        session = self.session(len(limits), patience, ignored, look)
        session.put(np.arange(len(limits)), boxes, limits)
        return session.wait(len(limits))[1]

    def session(
        self,
        n_questions: int,
        patience: float,
        ignored: Boxes,
        look: Callable[[], None] | None = None,
    ) -> "Session":
        """Return room for so many questions at a time; the rest is as in `search`."""
        return Session(self, n_questions, patience, ignored, look)

    def one_by_one(
        self,
        boxes: Boxes,
        limits: NDArray[np.int64],
        patience: float,
        ignored: Boxes,
    ) -> Found:
        """Do what `search` does by the kernel: for weights that are not finite.

        No box is proved then, but what is evaluated may still refute.
        """
        net, n = self.flat, len(limits)
        space, stack, ties = workspace(net), stack_of(net), points(net, 1)
        found = Found(
            np.zeros(n, np.int64),
            *points(net, n),
            np.zeros(n, np.int64),
            np.zeros(n, np.int64),
        )
        for index, limit in enumerate(limits):
            stack.allowed[0], stack.ends[0] = boxes.allowed[index], boxes.ends[index]
            stack.depth[0] = 0
            status, _, n_ties, n_boxes = kernels.search(
                net, space, stack, ONE, ignored, ties, limit, patience * limit
            )
            found.status[index], found.n_ties[index] = status, n_ties
            found.n_boxes[index] = n_boxes
            found.codes[index], found.numbers[index] = space.choice, space.numbers
        return found


class Session:
    """Questions that are searched at the same time, and come and go.

    Each has a number, from 0 to `n_questions` - 1, which a later one may take over.
    """

    def __init__(
        self,
        searcher: Searcher,
        n_questions: int,
        patience: float,
        ignored: Boxes,
        look: Callable[[], None] | None,
    ) -> None:
        self._searcher, self._net, self._torch = (
            searcher,
            searcher.net,
            searcher.net.torch,
        )
        self._patience, self._ignored, self._look = patience, ignored, look
        with self._torch.inference_mode():
            self._run = Run(self._net, n_questions, ignored, searcher.room)
            self._new = self._old = self._net.count(0)
        self._asked = np.zeros(n_questions, dtype=np.bool_)

    def put(
        self, which: NDArray[np.int64], boxes: Boxes, limits: NDArray[np.int64]
    ) -> None:
        """Ask questions: see `Searcher.search`. None of their numbers is in use."""
        torch = self._torch
        self._asked[which] = True
        with torch.inference_mode():
            at = torch.from_numpy(which).to(self._net.device)
            if not self._searcher.is_finite:
                found = self._searcher.one_by_one(
                    boxes, limits, self._patience, self._ignored
                )
                self._run.note(at, found)
                return
            self._run.put(at, boxes, limits, self._patience)
            self._new = torch.cat([self._new, self._run.still_open(at)])

    def wait(self, n_wanted: int) -> tuple[NDArray[np.int64], Found]:
        """Search until so many questions have an answer, or all that there are.

        Returns their numbers, in order, and what was found; they are free again.
        """
        n_asked = int(self._asked.sum())
        with self._torch.inference_mode():
            while len(self._new) + len(self._old) > max(0, n_asked - n_wanted):
                self._round()
            is_open = np.zeros_like(self._asked)
            for left in (self._new, self._old):
                is_open[left.cpu().numpy()] = True
            ended = np.flatnonzero(self._asked & ~is_open)
            self._asked[ended] = False
            at = self._torch.from_numpy(ended).to(self._net.device)
            return ended, self._run.found(at)

    def _round(self) -> None:
        """Take a box of each question; those that are new go by themselves."""
        for left, is_new in ((self._new, True), (self._old, False)):
            for some in left.split(self._searcher.at_once) if len(left) else ():
                self._run.advance(some, is_new=is_new)
                if self._look is not None:
                    self._look()
        both = self._torch.cat([self._new, self._old])
        self._new, self._old = both[:0], self._run.still_open(both)
