"""The class all over a box, where bounds show it; or else two halves of the box."""

import numpy as np

from nn2rules.engine._kernels.search import sort_boxes
from nn2rules.engine.flat import points, room, stack_of, workspace
from nn2rules.engine.search import Oracle
from nn2rules.engine.table import settle_codes
from nn2rules.errors import UndecidedError
from nn2rules.space import Box

_DEEPEST = 1 << 40


class Halving:
    """Looks at boxes with the bounds of a network, one box at a time.

    Examples
    --------
    >>> from nn2rules import datasets, load
    >>> network = load(datasets.network_file("tomato"))
    >>> halving = Halving(Oracle(network))
    >>> index, halves = halving.look((np.ones(5, dtype=np.bool_), np.ones((2, 2))))
    >>> index, len(halves)
    (None, 2)
    """

    def __init__(self, oracle: Oracle) -> None:
        self.network, self._nets = oracle.network, oracle.nets
        n_classes = len(self.network.classes)
        # Of two classes one claim suffices: what is not of one is of the other.
        self._claims = [1] if n_classes == 2 else [*range(n_classes)]
        self._spaces = [workspace(net) for net in self._nets]
        net = self._nets[0]
        self._stack, self._ties = stack_of(net), points(net, 1)
        self._decided, self._answers = room(net, 1), np.zeros(1, dtype=np.bool_)

    def look(self, box: Box) -> tuple[int | None, list[Box]]:
        """Return the class all over a box if the bounds show it, or else two halves.

        Neither where no arithmetic tells the class of a single input.
        """
        stack = self._stack
        for index in self._claims:
            stack.allowed[0], stack.ends[0] = box
            stack.depth[0] = 0
            top, n_ties, n_decided, _, _ = sort_boxes(
                self._nets[index],
                self._spaces[index],
                stack,
                1,
                self._ties,
                self._decided,
                self._answers,
                1,
                _DEEPEST,
            )
            if n_ties:
                return self._settled(), []
            if not n_decided:
                pairs = zip(stack.allowed[:top], stack.ends[:top], strict=True)
                return None, [(allowed.copy(), ends.copy()) for allowed, ends in pairs]
            if self._answers[0]:
                return index, []
        assert len(self._nets) == 2, "one of several classes has the largest score"
        return 0, []

    def _settled(self) -> int | None:
        tie = self._ties.codes[0], self._ties.numbers[0]
        try:
            return settle_codes(self.network, *tie)
        except UndecidedError:
            return None
