"""Grow a box value by value, each new slab proved by search."""

import numpy as np
from numba import njit

from nn2rules.engine._kernels.search import PROVED, search


@njit(cache=True, nogil=True)
def slab_holds(net, space, stack, ignored, ties, max_boxes, box, feature, column):
    """Tell whether the slab that a value adds to a box is proved to be of the class.

    Returns that, and how many boxes it took.

    What cannot be decided within `max_boxes`, or only by exact arithmetic, counts as
    not proved: the box stays smaller than it might be, and right.
    """
    stack[0] = box
    stack[0, net.offsets[feature] : net.offsets[feature + 1]] = False
    stack[0, column] = True
    status, _, n_ties, n_boxes = search(net, space, stack, 1, ignored, ties, max_boxes)
    return status == PROVED and n_ties == 0, n_boxes


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
    net, space, stack, ignored, ties, max_boxes, box, columns, weights, noise, lines
):
    """Grow `box`, in place, until no value can be added.

    Every step adds the value whose slab brings the most weight of rows.

    Parameters
    ----------
    net, space, stack, ignored, ties, max_boxes
        As in `nn2rules.engine._kernels.search.search`.
    box : ndarray of bool, shape (n_columns,)
        A box that is of the class already.
    columns : ndarray of int64, shape (n_rows, n_features)
        The columns that each row picks.
    weights : ndarray of float64, shape (n_rows,)
        What it is worth to decide a row.
    noise : ndarray of float64, shape (n_columns,)
        Factors on the gain of each value.
    lines : ndarray of int64, shape (n_columns,)
        Values with the same number from 0 on are numbers in a row, and a box keeps a
        range of them; -1 for values that come in any order.

    Returns
    -------
    int
        How many boxes were searched.
    """
    n_rows, n_features = columns.shape
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
    blocked = box.copy()
    gains = np.empty(box.size)
    searched = 0
    while True:
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
            break
        blocked[best] = True
        holds, n_boxes = slab_holds(
            net, space, stack, ignored, ties, max_boxes, box, feature_of[best], best
        )
        searched += n_boxes
        if holds:
            box[best] = True
            for row in range(n_rows):
                if columns[row, feature_of[best]] == best:
                    n_missing[row] -= 1
                    missing[row] -= best
    return searched


@njit(cache=True, nogil=True)
def first_uncovered(offsets, boxes, stack, within, found, max_boxes):
    """Find an input of `within` that lies in none of `boxes`.

    Returns 1 and fills `found`, 0 if there is none, or -1 after `max_boxes` boxes.
    """
    n_features = offsets.size - 1
    stack[0] = within
    top, n_boxes = 1, 0
    current = np.empty(within.size, dtype=np.bool_)
    while top > 0:
        if n_boxes >= max_boxes:
            return -1
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
            return 1
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
    return 0


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
