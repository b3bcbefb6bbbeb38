"""The search engine: one question, answered by proof or counterexample.

*Does every input in this box get class c?* A bound on the scores over the whole box
often settles it at once. If not, the input that the bound points at is tried as a
counterexample, and the box is split in two on the feature that matters most; both
halves are asked in turn, depth first. Domains of any size can be searched.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine._kernels.search import PROVED, REFUTED, TOO_DEEP, search
from nn2rules.engine.answer import (
    Answer,
    as_boxes,
    check_box,
    check_question,
    checked_ends,
)
from nn2rules.engine.borders import Borders, corners
from nn2rules.engine.exact_boxes import Decider, decider_of
from nn2rules.engine.flat import boxes_at_once, claim, points, room, stack_of, workspace
from nn2rules.engine.limits import Meter
from nn2rules.engine.table import settle_codes
from nn2rules.errors import DomainError
from nn2rules.network import Network
from nn2rules.space import Boxes
from nn2rules.space._kernels.boxes import first_held, is_covered

_REMEMBERED = 512
_TIES = 256


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
        Questions asked, those answered without splitting the box, and inputs and boxes
        that needed exact arithmetic.

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
        self._stack, self._ties = stack_of(net), points(net, _TIES)
        self._nothing = room(net, 0)
        # For each class, inputs that were found not to be of it.
        self._known = [points(net, _REMEMBERED) for _ in network.classes]
        self._n_known = [0] * len(network.classes)
        self._deciders: dict[int, Decider | None] = {}

    def ask(
        self,
        box: NDArray[np.bool_],
        index: int,
        *,
        ends: NDArray[np.float64] | None = None,
        ignoring: Boxes | NDArray[np.bool_] | None = None,
    ) -> Answer:
        """Tell whether every input of `box` is of class `index`.

        Parameters
        ----------
        box : ndarray of bool, shape (n_columns,)
            True where a value is allowed; every feature must keep one.
        index : int
            The position of the class.
        ends : ndarray of shape (2, n_features), optional
            Where the box's ranges of numbers begin and end; by default as in the
            domain.
        ignoring : Boxes or ndarray of bool, shape (n_boxes, n_columns), optional
            Inputs inside these boxes do not count: what earlier rules decide, or what
            cannot occur. An array allows all numbers of the ranges, or none.

        Raises
        ------
        BudgetExceededError
            If the budget is spent before the answer is known.
        """
        domain = self.network.domain
        check_question(domain, len(self.nets), box, index)
        ignored = self._nothing if ignoring is None else as_boxes(domain, ignoring)
        self._stack.allowed[0], self._stack.depth[0] = box, 0
        within = domain.limits if ends is None else checked_ends(domain, box, ends)
        self._stack.ends[0] = within
        self.n_questions += 1
        net, known = self.nets[index], self._known[index]
        held = first_held(
            net,
            box,
            self._stack.ends[0],
            known,
            min(self._n_known[index], _REMEMBERED),
            ignored,
        )
        if held >= 0:
            self.n_immediate += 1
            return Answer(False, known.codes[held].copy(), known.numbers[held].copy())
        found = self._search(index, ignored)
        if found is None:
            return Answer(True)
        place = self._n_known[index] % _REMEMBERED
        known.codes[place], known.numbers[place] = found
        self._n_known[index] += 1
        return Answer(False, *found)

    def _search(
        self, index: int, ignored: Boxes
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
        """Return an input of the box on the stack that is not of a class, or None."""
        net, space, ties = self.nets[index], self._spaces[index], self._ties
        top, total, borders = 1, 0, Borders(net, self._decider(index), ignored)
        while True:
            at_once = self.meter.allowance(boxes_at_once(net))
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
                if settle_codes(self.network, codes, numbers) != index and not (
                    is_covered(net, codes, numbers, ignored)
                ):
                    self.meter.spend(n_boxes)
                    return codes.copy(), numbers.copy()
            self.meter.spend(n_boxes)
            n_decided = borders.n_decided
            top, found = borders.settle(status, n_boxes, space, self._stack, top)
            self.n_settled += borders.n_decided - n_decided
            if found is not None:
                return found
            if status in (PROVED, REFUTED):
                self.n_immediate += total == 1
                is_refuted = status == REFUTED
                return (
                    (space.choice.copy(), space.numbers.copy()) if is_refuted else None
                )

    def _decider(self, index: int) -> Decider | None:
        """Return who decides single boxes in exact arithmetic, if anybody can."""
        if index not in self._deciders:
            self._deciders[index] = decider_of(self.network, index, self.meter)
        return self._deciders[index]

    def ask_value(self, box: NDArray[np.bool_], column: int, index: int) -> Answer:
        """Tell whether `box`, known to be of class `index`, stays so with a value more.

        Only the new slab is asked about: the inputs that have the new value.
        """
        check_box(self.network.domain, box)
        if not isinstance(column, int | np.integer) or not 0 <= column < len(box):
            raise DomainError(
                f"there is no value {column!r}; they are 0 to {len(box) - 1}"
            )
        return self.ask(slab(self.network, box, column), index)


def slab(network: Network, box: NDArray[np.bool_], column: int) -> NDArray[np.bool_]:
    """Return `box` with one feature restricted to the value of `column`."""
    offsets = network.domain.offsets
    feature = int(np.searchsorted(offsets, column, side="right")) - 1
    restricted = box.copy()
    restricted[offsets[feature] : offsets[feature + 1]] = False
    restricted[column] = True
    return restricted


def box_of(
    network: Network, allowed: Mapping[str, Sequence[object]]
) -> NDArray[np.bool_]:
    """Return the box that allows some values of some features, and all of the others.

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
