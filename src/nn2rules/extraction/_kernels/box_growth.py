"""Grow a box from a row; each new slab is proved by search.

A step is a question that is proposed, asked and recorded. Only the kernel that asks has
the network, and only those that propose and record have the rows, because the time to
compile a kernel grows with the number of its arrays.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine._kernels.bounds import Workspace
from nn2rules.engine._kernels.network import FlatNetwork
from nn2rules.engine._kernels.search import PAUSED, PROVED, REFUTED, Stack, search
from nn2rules.extraction._kernels.near_rows import (
    appraise,
    appraise_half,
    is_next,
    near_rows,
    take_in,
)
from nn2rules.extraction._kernels.proposing import (
    ADD_MORE_ROWS,
    ADD_ROWS,
    COLUMN,
    PART,
    REST,
    propose,
)
from nn2rules.space._kernels.boxes import first_held
from nn2rules.space._kernels.compiled import ONE, inlined, kernel
from nn2rules.space._kernels.loops import copy_rows, copy_to
from nn2rules.space.boxes import Boxes, Inputs


class SearchBuffers(NamedTuple):
    """The arrays of a search, made once for each thread and class.

    Attributes
    ----------
    space : Workspace
    stack : Stack
    ignored : Boxes
        Inputs that need not have the class.
    ties, known : Inputs
        Ties of a search, and earlier counterexamples.
    counts : ndarray of int64, shape (3,)
        The numbers of counterexamples, boxes searched, and questions asked.
    """

    space: Workspace
    stack: Stack
    ignored: Boxes
    ties: Inputs
    known: Inputs
    counts: NDArray[np.int64]


def ask(net: FlatNetwork, buffers: SearchBuffers, limit: int, patience: float) -> int:
    """Return whether the box at the bottom of the stack has the class.

    Python calls this function directly, and `grow` inlines it: a separate kernel would
    contain the whole search a second time.

    Earlier counterexamples are tried first, and new ones are kept. The result is PAUSED
    if the question is undecided within `limit` boxes, needs exact arithmetic, or seems
    to need more than `patience` times as many boxes. The box then stays smaller than
    possible, but right.
    """
    space, known = buffers.space, buffers.known
    size = known.codes.shape[0]
    held = first_held(
        net,
        buffers.stack.allowed[0],
        buffers.stack.ends[0],
        known,
        min(buffers.counts[0], size),
        buffers.ignored,
    )
    if held >= 0:
        for feature in range(space.choice.size):
            space.choice[feature] = known.codes[held, feature]
            space.numbers[feature] = known.numbers[held, feature]
        return REFUTED
    buffers.stack.depth[0] = 0
    status, _, n_ties, n_boxes = search(
        net,
        space,
        buffers.stack,
        ONE,
        buffers.ignored,
        buffers.ties,
        limit,
        patience * limit,
        False,
    )
    buffers.counts[1] += n_boxes
    buffers.counts[2] += 1
    if status == REFUTED:
        place = buffers.counts[0] % size
        for feature in range(space.choice.size):
            known.codes[place, feature] = space.choice[feature]
            known.numbers[place, feature] = space.numbers[feature]
        buffers.counts[0] += 1
        return REFUTED
    return PROVED if status == PROVED and n_ties == 0 else PAUSED


asked = inlined(ask)


@inlined
def lay_out(plan, grown, allowed, ends):
    """Fill in the box of the question."""
    kind, feature, column = grown.state[2], grown.state[3], grown.state[4]
    start, stop, ranged = (
        plan.offsets[feature],
        plan.offsets[feature + 1],
        plan.ranges[feature],
    )
    copy_to(allowed, grown.box)
    copy_rows(ends, grown.ends)
    for own in range(start, stop):
        allowed[own] = not grown.barred[own] if kind == REST else own == column
    if kind == REST:
        if ranged >= 0 and not grown.barred[ranged]:
            for end in range(2):
                ends[end, feature] = plan.bounds[end, feature]
    else:
        ends[0, feature], ends[1, feature] = grown.span[0], grown.span[1]


@inlined
def record(plan, row_index, near, grown, status, choice):
    """Record the answer: grow the box if proved, otherwise bar the question.

    `choice` is the counterexample's value of the feature.
    """
    kind, feature, column = grown.state[2], grown.state[3], grown.state[4]
    end, low, high = grown.state[5], grown.span[0], grown.span[1]
    if kind == REST:
        record_rest(plan, row_index, near, grown, status, choice)
        return
    if kind == COLUMN:
        grown.barred[column] = True
    if status == PROVED:
        take_in(plan, row_index, near, grown, feature, column, low, high)
        if grown.state[0] in (ADD_ROWS, ADD_MORE_ROWS):
            appraise(plan, row_index, near, grown)
    elif kind == PART:
        grown.walls[end, feature] = low if end == 0 else high
        if grown.state[0] in (ADD_ROWS, ADD_MORE_ROWS):
            grown.failed[end, feature] += 1
            appraise_half(plan, row_index, near, grown, feature, end)


@inlined
def record_rest(plan, row_index, near, grown, status, choice):
    """Record the answer about all untried values of a feature.

    If proved, they are added. If refuted, the value of the counterexample is barred. If
    undecided, the values are asked about one by one from now on.
    """
    feature, barred = grown.state[3], grown.barred
    start, stop = plan.offsets[feature], plan.offsets[feature + 1]
    if status == REFUTED:
        barred[start + choice] = True
        return
    grown.state[2] = COLUMN
    added = status == PROVED
    while added:  # on a line, values are added one after the other
        added = False
        for column in range(start, stop):
            if not barred[column] and is_next(grown.box, plan.lines, column):
                barred[column] = True
                low, high = 1.0, 1.0
                if column == plan.ranges[feature]:
                    low, high = plan.bounds[0, feature], plan.bounds[1, feature]
                take_in(plan, row_index, near, grown, feature, column, low, high)
                added = True
    if status == PROVED:
        for column in range(start, stop):
            barred[column] = True


@kernel
def grow(net, buffers, row_index, plan, grown, most, is_last):
    """Grow a box until nothing can be added, or `most` boxes are searched.

    If `is_last`, also add values without rows. Returns whether growth is complete; if
    not, another call continues.
    """
    stop = buffers.counts[1] + most
    near = near_rows(plan, row_index, grown)
    appraise(plan, row_index, near, grown)
    while buffers.counts[1] < stop:
        limit = propose(plan, row_index, near, grown, is_last)
        if limit == 0:
            return True
        lay_out(plan, grown, buffers.stack.allowed[0], buffers.stack.ends[0])
        status = asked(net, buffers, limit, plan.patience)
        choice = buffers.space.choice[grown.state[3]]
        record(plan, row_index, near, grown, status, choice)
    return False
