"""Whether a class is ever reached, and whether two inputs that differ little differ.

Both are one search, for an input all of whose scores are above 0. For a class these are
its leads over the others; for two inputs they are the scores of a twin network.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine._kernels.boxes import Boxes, is_covered
from nn2rules.engine._kernels.network import FlatNetwork
from nn2rules.engine._kernels.reaching import reach
from nn2rules.engine._kernels.search import PROVED, REFUTED, TOO_DEEP
from nn2rules.engine.answer import Answer
from nn2rules.engine.borders import Borders, corners
from nn2rules.engine.budget import Meter
from nn2rules.engine.deciding import decider_of
from nn2rules.engine.flat import (
    boxes_at_once,
    claim,
    points,
    stack_of,
    workspace,
)
from nn2rules.engine.table import settle_codes
from nn2rules.engine.twins import Pair, Twin
from nn2rules.network import Network

_TIES = 256


def find_class(
    network: Network,
    index: int,
    within: Boxes,
    ignoring: Boxes,
    meter: Meter,
) -> Answer:
    """Tell whether no input of some boxes is of class `index`; or give one.

    Parameters
    ----------
    within : Boxes
    ignoring : Boxes
        Inputs inside these do not count.

    Raises
    ------
    BudgetExceededError
        If the budget is spent before the answer is known.
    """
    net = claim(network, index)
    nothing = np.zeros((0, 2), dtype=np.int64)
    ranks = np.zeros(int(net.sizes[0]))

    def is_found(codes: NDArray[np.int64], numbers: NDArray[np.float64]) -> bool:
        return settle_codes(network, codes, numbers) == index

    decider = decider_of(network, index, meter, never=True)
    for box in range(len(within.allowed)):
        borders, order = Borders(net, decider, ignoring), (nothing, ranks, False)
        found = _search(net, within, box, ignoring, order, is_found, meter, borders)
        if found is not None:
            return Answer(False, *found)
    return Answer(True)


def find_twins(
    network: Network,
    features: Sequence[int],
    classes: tuple[int, int],
    within: Boxes,
    ignoring: Boxes,
    meter: Meter,
    *,
    ranks: NDArray[np.float64] | None = None,
) -> Pair | None:
    """Return two inputs that differ in some features alone and have two given classes.

    None is a proof that there are none.

    Parameters
    ----------
    features : sequence of int
        In which they may differ.
    classes : (int, int)
        That of the first input, and that of the second; different.
    within, ignoring : Boxes
        Where both must be, and where neither counts.
    ranks : ndarray of shape (n_columns,), optional
        If given, the first input must have the lower rank, of a single feature; that of
        a number of a range is the number.

    Raises
    ------
    BudgetExceededError
        If the budget is spent before the answer is known.
    """
    domain, twin = network.domain, Twin(network, features)
    net = twin.flat(classes)
    pairs = np.array(
        [(f, len(domain.sizes) + i) for i, f in enumerate(features)], dtype=np.int64
    )
    own = np.zeros(int(domain.offsets[-1])) if ranks is None else ranks
    order = pairs, twin.columns(own), ranks is not None
    ignored = twin.either(ignoring)

    def is_found(codes: NDArray[np.int64], numbers: NDArray[np.float64]) -> bool:
        both = twin.parted(codes, numbers)
        found = [
            settle_codes(network, both.codes[i], both.numbers[i]) == classes[i]
            for i in range(2)
        ]
        return all(found)

    doubled = twin.both(within)
    for box in range(len(within.allowed)):
        borders = Borders(net, None, ignored)
        found = _search(net, doubled, box, ignored, order, is_found, meter, borders)
        if found is not None:
            return twin.parted(*found)
    return None


def _search(
    net: FlatNetwork,
    within: Boxes,
    box: int,
    ignored: Boxes,
    order: tuple[NDArray[np.int64], NDArray[np.float64], bool],
    is_found: Callable[[NDArray[np.int64], NDArray[np.float64]], bool],
    meter: Meter,
    borders: Borders,
) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
    """Return an input of a box that is looked for, or None if there is none.

    What float64 cannot decide, `is_found` does.
    """
    space, stack, ties = workspace(net), stack_of(net), points(net, _TIES)
    stack.allowed[0], stack.ends[0] = within.allowed[box], within.ends[box]
    stack.depth[0] = 0
    top = 1
    while True:
        allowance = borders.allowance(meter.allowance(boxes_at_once(net)))
        status, top, n_ties, n_boxes = reach(
            net,
            space,
            stack,
            top,
            ignored,
            *order,
            ties,
            allowance,
            borders.is_exact,
        )
        unsure: Iterable[Any] = zip(
            ties.codes[:n_ties], ties.numbers[:n_ties], strict=True
        )
        if status == TOO_DEEP:
            is_ordered = order[2]  # then a corner need not be a pair in that order
            if not is_ordered:
                unsure = chain(unsure, corners(net, stack, top - 1))
        for codes, numbers in unsure:
            if not is_covered(net, codes, numbers, ignored) and is_found(
                codes, numbers
            ):
                return codes.copy(), numbers.copy()
        if status == REFUTED:
            return space.choice.copy(), space.numbers.copy()
        meter.spend(n_boxes)
        top, decided = borders.settle(status, n_boxes, space, stack, top)
        if decided is not None or status == PROVED:
            return decided
