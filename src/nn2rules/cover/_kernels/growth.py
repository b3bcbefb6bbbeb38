"""Grow a box value by value, each new slab proved by search."""

import numpy as np
from numba import njit

from nn2rules.engine._kernels.search import PAUSED, PROVED, search


@njit(cache=True, nogil=True)
def begin_slab(net, stack, slab, box, feature, column):
    """Put the slab that a value adds to a box on the stack.

    `slab` holds the value's column, the boxes left on the stack, and those searched.
    """
    stack[0] = box
    stack[0, net.offsets[feature] : net.offsets[feature + 1]] = False
    stack[0, column] = True
    slab[0], slab[1], slab[2] = column, 1, 0


@njit(cache=True, nogil=True)
def search_slab(net, space, stack, slab, ignored, ties, max_boxes, batch):
    """Search the slab for `batch` boxes.

    Returns whether it is done with, whether it is proved, and how many boxes it took.
    What cannot be decided within `max_boxes`, or only by exact arithmetic, counts as
    not proved: the box stays smaller than it might be, and right.
    """
    most = min(batch, max_boxes - slab[2])
    status, top, n_ties, n_boxes = search(
        net, space, stack, slab[1], ignored, ties, most
    )
    slab[1] = top
    slab[2] += n_boxes
    paused = status == PAUSED and n_ties == 0 and slab[2] < max_boxes
    return not paused, status == PROVED and n_ties == 0, n_boxes


@njit(cache=True, nogil=True)
def is_next(box, lines, column):
    """Tell whether a value may be added: on a line, only beside one that is there."""
    if lines[column] < 0:
        return True
    if column > 0 and lines[column - 1] == lines[column] and box[column - 1]:
        return True
    return (
        column + 1 < box.size and lines[column + 1] == lines[column] and box[column + 1]
    )


@njit(cache=True, nogil=True)
def look_ahead(gains, box, lines):
    """Add to what a value beside a range is worth half of what lies behind it."""
    size = box.size
    for column in range(size):
        if lines[column] < 0 or box[column] or not is_next(box, lines, column):
            continue
        step = 1 if column > 0 and box[column - 1] else -1
        behind, at = 0.0, column + step
        while 0 <= at < size and lines[at] == lines[column] and not box[at]:
            behind += gains[at]
            at += step
        gains[column] += 0.5 * behind


@njit(cache=True, nogil=True)
def grow(
    net,
    space,
    stack,
    ignored,
    ties,
    max_boxes,
    box,
    blocked,
    slab,
    columns,
    weights,
    noise,
    lines,
    work,
):
    """Grow `box`, in place, until no value can be added or so much `work` is done.

    Every step adds the value whose slab brings the most weight of rows.

    Parameters
    ----------
    net, space, stack, ignored, ties, max_boxes
        As in `nn2rules.engine._kernels.search.search`; the boxes are for each slab.
    box : ndarray of bool, shape (n_columns,)
        A box that is of the class already.
    blocked : ndarray of bool, shape (n_columns,)
        Values that are in the box or have been tried.
    slab : ndarray of int64, shape (3,)
        The slab that is being searched, as in `begin_slab`; column -1 for none.
    columns : ndarray of int64, shape (n_rows, n_features)
        The columns that each row picks.
    weights : ndarray of float64, shape (n_rows,)
        What it is worth to decide a row.
    noise : ndarray of float64, shape (n_columns,)
        Factors on the gain of each value.
    lines : ndarray of int64, shape (n_columns,)
        Values with the same number from 0 on are numbers in a row, and a box keeps a
        range of them; -1 for values that come in any order.

    work : int
        About how many multiplications to do; calling again goes on with the rest.

    Returns
    -------
    is_grown : bool
    n_slabs, n_boxes : int
        How many slabs were decided and how many boxes searched.
    """
    n_rows, n_features = columns.shape
    batch = max(1, work // net.weights.size)
    feature_of = np.empty(box.size, dtype=np.int64)
    for feature in range(n_features):
        feature_of[net.offsets[feature] : net.offsets[feature + 1]] = feature
    n_missing = np.zeros(n_rows, dtype=np.int64)
    missing = np.zeros(n_rows, dtype=np.int64)  # the sum of the columns missing
    for row in range(n_rows):
        for feature in range(n_features):
            if not box[columns[row, feature]]:
                n_missing[row] += 1
                missing[row] += columns[row, feature]
    gains = np.empty(box.size)
    n_slabs, searched, spent = 0, 0, 0
    while spent < work:
        if slab[0] < 0:
            spent += n_rows * n_features
            gains[:] = 0.0
            for row in range(n_rows):
                if n_missing[row] == 1:
                    gains[missing[row]] += weights[row]
                elif n_missing[row] == 2:  # worth a little: it is one value nearer
                    for feature in range(n_features):
                        if not box[columns[row, feature]]:
                            gains[columns[row, feature]] += 0.01 * weights[row]
            look_ahead(gains, box, lines)
            best = -1
            for column in range(box.size):
                if not blocked[column] and is_next(box, lines, column):
                    gain = (gains[column] + 1e-9) * noise[column]
                    if best < 0 or gain > gains[best]:
                        best = column
                    gains[column] = gain
            if best < 0:
                return True, n_slabs, searched
            blocked[best] = True
            begin_slab(net, stack, slab, box, feature_of[best], best)
        done, holds, n_boxes = search_slab(
            net, space, stack, slab, ignored, ties, max_boxes, batch
        )
        searched += n_boxes
        spent += n_boxes * (net.weights.size + ignored.size)
        if done:
            n_slabs += 1
            added = slab[0]
            slab[0] = -1
            if holds:
                box[added] = True
                for row in range(n_rows):
                    if columns[row, feature_of[added]] == added:
                        n_missing[row] -= 1
                        missing[row] -= added
    return False, n_slabs, searched


@njit(cache=True, nogil=True)
def first_uncovered(offsets, boxes, stack, top, found, max_boxes):
    """Find an input of the `top` boxes on a stack that lies in none of `boxes`.

    Returns 1 and fills `found`, 0 if there is none, or -1 after `max_boxes` boxes; and
    how many boxes are left on the stack.
    """
    n_features = offsets.size - 1
    n_boxes = 0
    current = np.empty(stack.shape[1], dtype=np.bool_)
    while top > 0:
        if n_boxes >= max_boxes:
            return -1, top
        top -= 1
        n_boxes += 1
        current[:] = stack[top]
        widest, fewest = -1, n_features + 1
        for index in range(boxes.shape[0]):
            n_partial = overlap(offsets, current, boxes[index])
            if n_partial == 0:
                fewest = 0
                break
            if 0 < n_partial < fewest:
                widest, fewest = index, n_partial
        if fewest == 0:
            continue
        if widest < 0:
            for feature in range(n_features):
                for column in range(offsets[feature], offsets[feature + 1]):
                    if current[column]:
                        found[feature] = column - offsets[feature]
                        break
            return 1, top
        # Cut off what the most covering box leaves out, one feature at a time.
        for feature in range(n_features):
            outside = False
            for column in range(offsets[feature], offsets[feature + 1]):
                outside |= current[column] and not boxes[widest, column]
            if outside:
                stack[top] = current
                for column in range(offsets[feature], offsets[feature + 1]):
                    stack[top, column] = current[column] and not boxes[widest, column]
                    current[column] = current[column] and boxes[widest, column]
                top += 1
    return 0, top


@njit(cache=True, nogil=True)
def overlap(offsets, inner, outer):
    """Return on how many features `inner` sticks out of `outer`; -1 if apart."""
    n_partial = 0
    for feature in range(offsets.size - 1):
        common, outside = False, False
        for column in range(offsets[feature], offsets[feature + 1]):
            if inner[column]:
                if outer[column]:
                    common = True
                else:
                    outside = True
        if not common:
            return -1
        n_partial += outside
    return n_partial
