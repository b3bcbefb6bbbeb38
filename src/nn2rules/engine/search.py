"""The search engine: a proof or a counterexample by branch and bound.

*Does every input in this box have class c?* A bound on the scores over the box often
answers this at once. If not, the input where the bound is lowest is tried as a
counterexample, and the box is split in two on the feature that matters most. Both
halves are searched in turn, depth first. The domain can have any size.

`Halving` returns the class of all inputs of a box, or else its halves.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine._kernels.search import (
    PROVED,
    REFUTED,
    TOO_DEEP,
    search,
    sort_boxes,
)
from nn2rules.engine.borders import Borders, corners
from nn2rules.engine.exact_boxes import Decider, decider_of
from nn2rules.engine.flat import (
    boxes_per_check,
    claim,
    empty_boxes,
    empty_inputs,
    empty_stack,
    workspace,
)
from nn2rules.engine.limits import Meter
from nn2rules.engine.proof_or_counterexample import (
    Answer,
    as_boxes,
    check_box,
    check_question,
    checked_ends,
)
from nn2rules.engine.table import exact_class
from nn2rules.errors import DomainError, UndecidedError
from nn2rules.network import Network
from nn2rules.space import Box, Boxes
from nn2rules.space._kernels.boxes import first_held, is_covered

_REMEMBERED = 512
_TIES = 256
_DEEPEST = 1 << 40


class Oracle:
    """Answers questions about the boxes of a network.

    Parameters
    ----------
    network : Network
    meter : Meter, optional
        The budget to spend; shared by all questions.

    Attributes
    ----------
    n_questions, n_immediate, n_settled : int
        Questions asked; those answered without splitting the box; inputs and boxes that
        needed exact arithmetic.

    Examples
    --------
    >>> from nn2rules import datasets, load
    >>> network = load(datasets.network_file("tomato"))
    >>> oracle = Oracle(network)
    >>> red, any_size = [True, False], [True, True, True]
    >>> answer = oracle.ask(np.array(red + any_size), 1)
    >>> answer.proved, network.domain.decode([answer.counterexample])
    (False, [{'color': 'red', 'size': 'small'}])
    """

    def __init__(self, network: Network, meter: Meter | None = None) -> None:
        self.network = network
        self.meter = meter or Meter()
        self.n_questions = self.n_immediate = self.n_settled = 0
        self.nets = [claim(network, index) for index in range(len(network.classes))]
        self._spaces = [workspace(net) for net in self.nets]
        net = self.nets[0]
        self._stack, self._ties = empty_stack(net), empty_inputs(net, _TIES)
        self._nothing = empty_boxes(net, 0)
        # For each class, counterexamples of earlier questions.
        self._refuting = [empty_inputs(net, _REMEMBERED) for _ in network.classes]
        self._n_refuting = [0] * len(network.classes)
        self._deciders: dict[int, Decider | None] = {}

    def ask(
        self,
        box: NDArray[np.bool_],
        index: int,
        *,
        ends: NDArray[np.float64] | None = None,
        ignoring: Boxes | NDArray[np.bool_] | None = None,
    ) -> Answer:
        """Return whether every input of `box` has class `index`.

        Parameters
        ----------
        box : ndarray of bool, shape (n_columns,)
            True where a value is allowed; at least one for every feature.
        index : int
            The position of the class.
        ends : ndarray of shape (2, n_features), optional
            Where the box's ranges of numbers begin and end; by default as in the
            domain.
        ignoring : Boxes or ndarray of bool, shape (n_boxes, n_columns), optional
            Inputs in these boxes are ignored: those that earlier rules cover, or that
            cannot occur. An array has no limits on ranges.

        Raises
        ------
        BudgetExceededError
            If the budget is spent first.
        """
        domain = self.network.domain
        check_question(domain, len(self.nets), box, index)
        ignored = self._nothing if ignoring is None else as_boxes(domain, ignoring)
        self._stack.allowed[0], self._stack.depth[0] = box, 0
        within = domain.limits if ends is None else checked_ends(domain, box, ends)
        self._stack.ends[0] = within
        self.n_questions += 1
        net, refuting = self.nets[index], self._refuting[index]
        held = first_held(
            net,
            box,
            self._stack.ends[0],
            refuting,
            min(self._n_refuting[index], _REMEMBERED),
            ignored,
        )
        if held >= 0:
            self.n_immediate += 1
            return Answer(
                False, refuting.codes[held].copy(), refuting.numbers[held].copy()
            )
        counterexample = self._search(index, ignored)
        if counterexample is None:
            return Answer(True)
        place = self._n_refuting[index] % _REMEMBERED
        refuting.codes[place], refuting.numbers[place] = counterexample
        self._n_refuting[index] += 1
        return Answer(False, *counterexample)

    def _search(
        self, index: int, ignored: Boxes
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
        """Return an input of the box on the stack that has another class, or None."""
        net, space, ties = self.nets[index], self._spaces[index], self._ties
        top, total, borders = 1, 0, Borders(net, self._decider(index), ignored)
        while True:
            at_once = self.meter.allowance(boxes_per_check(net))
            status, top, n_ties, n_boxes = search(
                net,
                space,
                self._stack,
                top,
                ignored,
                ties,
                borders.allowance(at_once),
                np.inf,
                borders.is_exact,
            )
            total += n_boxes
            unsure: Iterable[Any] = zip(
                ties.codes[:n_ties], ties.numbers[:n_ties], strict=True
            )
            if status == TOO_DEEP:
                unsure = chain(unsure, corners(net, self._stack, top - 1))
            for codes, numbers in unsure:
                self.n_settled += 1
                if exact_class(self.network, codes, numbers) != index and not (
                    is_covered(net, codes, numbers, ignored)
                ):
                    self.meter.spend(n_boxes)
                    return codes.copy(), numbers.copy()
            self.meter.spend(n_boxes)
            n_decided = borders.n_decided
            top, counterexample = borders.settle(
                status, n_boxes, space, self._stack, top
            )
            self.n_settled += borders.n_decided - n_decided
            if counterexample is not None:
                return counterexample
            if status in (PROVED, REFUTED):
                self.n_immediate += total == 1
                is_refuted = status == REFUTED
                return (
                    (space.choice.copy(), space.numbers.copy()) if is_refuted else None
                )

    def _decider(self, index: int) -> Decider | None:
        """Return the decider in exact arithmetic, if the network allows one."""
        if index not in self._deciders:
            self._deciders[index] = decider_of(self.network, index, self.meter)
        decider = self._deciders[index]
        if decider is not None:
            decider.meter = self.meter  # the meter of this question
        return decider

    def ask_value(self, box: NDArray[np.bool_], column: int, index: int) -> Answer:
        """Return whether a box of class `index` keeps it when a value is added.

        Only the inputs with the new value are searched.
        """
        check_box(self.network.domain, box)
        if not isinstance(column, int | np.integer) or not 0 <= column < len(box):
            raise DomainError(
                f"there is no value {column!r}; values are 0 to {len(box) - 1}"
            )
        return self.ask(slab(self.network, box, column), index)


def slab(network: Network, box: NDArray[np.bool_], column: int) -> NDArray[np.bool_]:
    """Return `box` with one feature restricted to a single value."""
    offsets = network.domain.offsets
    feature = int(np.searchsorted(offsets, column, side="right")) - 1
    restricted = box.copy()
    restricted[offsets[feature] : offsets[feature + 1]] = False
    restricted[column] = True
    return restricted


def box_of(
    network: Network, allowed: Mapping[str, Sequence[object]]
) -> NDArray[np.bool_]:
    """Return the box that allows these values of these features, and all others.

    Examples
    --------
    >>> from nn2rules import datasets, load
    >>> network = load(datasets.network_file("tomato"))
    >>> box_of(network, {"size": ["medium", "big"]})
    array([ True,  True, False,  True,  True])
    """
    domain = network.domain
    box = np.ones(int(domain.offsets[-1]), dtype=np.bool_)
    for name, values in allowed.items():
        start = domain.offsets[domain.index(name)]
        box[start : start + len(domain.feature(name))] = False
        for value in values:
            box[start + domain.code(name, value)] = True
    return box


class Halving:
    """Classifies boxes by bounds, one at a time, and splits those it cannot.

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
        # One claim suffices for two classes: inputs without one have the other.
        self._claims = [1] if n_classes == 2 else [*range(n_classes)]
        self._spaces = [workspace(net) for net in self._nets]
        net = self._nets[0]
        self._stack, self._ties = empty_stack(net), empty_inputs(net, 1)
        self._decided, self._answers = empty_boxes(net, 1), np.zeros(1, dtype=np.bool_)

    def look(self, box: Box) -> tuple[int | None, list[Box]]:
        """Return the class of all inputs of a box, or else two halves of the box.

        Neither if the box is a single input whose class cannot be computed exactly.
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
            return exact_class(self.network, *tie)
        except UndecidedError:
            return None
