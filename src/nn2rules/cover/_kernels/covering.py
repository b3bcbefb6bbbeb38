"""Find an input that none of several boxes holds."""

import numpy as np
from numba import njit

from nn2rules.engine._kernels.boxes import before, behind


@njit(cache=True, nogil=True)
def first_uncovered(net, boxes, all_ends, stack, ends, top, found, numbers, limit):
    """Find an input of the `top` boxes on a stack that lies in none of `boxes`.

    Parameters
    ----------
    net : FlatNetwork
        Says which columns a feature has, and which is its range of numbers.
    boxes, all_ends
        The boxes, and the two ends of their ranges.
    stack, ends, top
        The boxes that are still to be looked at.
    found, numbers
        Filled with the input.

    Returns
    -------
    status : int
        1 if there is one, 0 if there is none, -1 after `limit` boxes, and -2 if the
        stack is full.
    top : int
        How many boxes are left on the stack.
    """
    n_features, n_boxes = net.ranges.size, 0
    current = np.empty(stack.shape[1], dtype=np.bool_)
    own = np.empty((2, n_features))
    while top > 0:
        if n_boxes >= limit:
            return -1, top
        if top + 3 * n_features >= stack.shape[0]:
            return -2, top
        top -= 1
        n_boxes += 1
        current[:] = stack[top]
        own[:] = ends[top]
        widest, fewest = -1, n_features + 1
        for index in range(boxes.shape[0]):
            n_partial = overlap(net, current, own, boxes[index], all_ends[index])
            if n_partial == 0:
                fewest = 0
                break
            if 0 < n_partial < fewest:
                widest, fewest = index, n_partial
        if fewest == 0:
            continue
        if widest < 0:
            pick_first(net, current, own, found, numbers)
            return 1, top
        top = cut_off(
            net, current, own, boxes[widest], all_ends[widest], stack, ends, top
        )
    return 0, top


@njit(cache=True, nogil=True)
def pick_first(net, box, ends, found, numbers):
    """Pick the first value of each feature, and the least number of each range."""
    for feature in range(net.ranges.size):
        numbers[feature] = 1.0
        for column in range(net.offsets[feature], net.offsets[feature + 1]):
            if box[column]:
                found[feature] = column - net.offsets[feature]
                if column == net.ranges[feature]:
                    numbers[feature] = ends[0, feature]
                break


@njit(cache=True, nogil=True)
def cut_off(net, box, ends, other, other_ends, stack, all_ends, top):
    """Put the parts of a box outside of another on the stack; the box is changed."""
    for feature in range(net.ranges.size):
        start, stop = net.offsets[feature], net.offsets[feature + 1]
        outside = False
        for column in range(start, stop):
            outside |= box[column] and not other[column]
        if outside:
            stack[top] = box
            all_ends[top] = ends
            for column in range(start, stop):
                stack[top, column] = box[column] and not other[column]
                box[column] = box[column] and other[column]
            top += 1
        ranged, whole = net.ranges[feature], net.whole[feature]
        if ranged < 0 or not box[ranged]:
            continue
        for end in range(2):
            at = other_ends[end, feature]
            if (end == 0 and ends[0, feature] < at) or (
                end == 1 and ends[1, feature] > at
            ):
                stack[top] = box
                stack[top, start:stop] = False
                stack[top, ranged] = True
                all_ends[top] = ends
                all_ends[top, 1 - end, feature] = (
                    before(at, whole) if end == 0 else behind(at, whole)
                )
                ends[end, feature] = at
                top += 1
    return top


@njit(cache=True, nogil=True)
def overlap(net, box, ends, other, other_ends):
    """Return on how many features a box sticks out of another; -1 if apart."""
    n_partial = 0
    for feature in range(net.ranges.size):
        common, outside = False, False
        for column in range(net.offsets[feature], net.offsets[feature + 1]):
            if not box[column]:
                continue
            if not other[column]:
                outside = True
            elif column == net.ranges[feature]:
                low, high = ends[0, feature], ends[1, feature]
                least, most = other_ends[0, feature], other_ends[1, feature]
                common |= low <= most and least <= high
                outside |= low < least or most < high
            else:
                common = True
        if not common:
            return -1
        n_partial += outside
    return n_partial
