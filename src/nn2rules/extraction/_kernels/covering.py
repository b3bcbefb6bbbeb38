"""Find an input that lies in none of several boxes."""

import numpy as np

from nn2rules.space._kernels.boxes import before, behind
from nn2rules.space._kernels.compiled import inlined, kernel
from nn2rules.space._kernels.loops import copy_rows, copy_to


@kernel
def first_uncovered(net, boxes, stack, top, found, limit):
    """Find an input of the `top` boxes on a stack that lies in none of `boxes`.

    Parameters
    ----------
    net : FlatNetwork
        Defines the columns of each feature, and which one is a range of numbers.
    boxes : Boxes
    stack : Boxes
        The first `top` are still to be examined.
    found : Inputs
        The first is filled with the input.

    Returns
    -------
    status : int
        1 if there is one, 0 if there is none, -1 after `limit` boxes, and -2 if the
        stack is full.
    top : int
        How many boxes are left on the stack.
    """
    n_features, n_boxes = net.ranges.size, 0
    current = np.empty(stack.allowed.shape[1], dtype=np.bool_)
    own = np.empty((2, n_features))
    while top > 0:
        if n_boxes >= limit:
            return -1, top
        if top + 3 * n_features >= stack.allowed.shape[0]:
            return -2, top
        top -= 1
        n_boxes += 1
        copy_to(current, stack.allowed[top])
        copy_rows(own, stack.ends[top])
        widest, fewest = -1, n_features + 1
        for index in range(boxes.allowed.shape[0]):
            n_partial = overlap(
                net, current, own, boxes.allowed[index], boxes.ends[index]
            )
            if n_partial == 0:
                fewest = 0
                break
            if 0 < n_partial < fewest:
                widest, fewest = index, n_partial
        if fewest == 0:
            continue
        if widest < 0:
            pick_first(net, current, own, found.codes[0], found.numbers[0])
            return 1, top
        top = cut_off(
            net, current, own, boxes.allowed[widest], boxes.ends[widest], stack, top
        )
    return 0, top


@inlined
def pick_first(net, box, ends, codes, numbers):
    """Pick the first value of each feature, and the minimum of each range."""
    for feature in range(net.ranges.size):
        numbers[feature] = 1.0
        for column in range(net.offsets[feature], net.offsets[feature + 1]):
            if box[column]:
                codes[feature] = column - net.offsets[feature]
                if column == net.ranges[feature]:
                    numbers[feature] = ends[0, feature]
                break


@inlined
def cut_off(net, box, ends, other, other_ends, stack, top):
    """Put the parts of a box outside of another on the stack; the box is changed."""
    for feature in range(net.ranges.size):
        start, stop = net.offsets[feature], net.offsets[feature + 1]
        ranged, whole = net.ranges[feature], net.whole[feature]
        is_apart = ranged >= 0 and (
            ends[1, feature] < other_ends[0, feature]
            or other_ends[1, feature] < ends[0, feature]
        )
        outside = False
        for column in range(start, stop):
            shared = other[column] and not (is_apart and column == ranged)
            outside |= box[column] and not shared
        if outside:
            copy_to(stack.allowed[top], box)
            copy_rows(stack.ends[top], ends)
            for column in range(start, stop):
                shared = other[column] and not (is_apart and column == ranged)
                stack.allowed[top, column] = box[column] and not shared
                box[column] = box[column] and shared
            top += 1
        if ranged < 0 or not box[ranged]:
            continue
        for end in range(2):
            at = other_ends[end, feature]
            if (end == 0 and ends[0, feature] < at) or (
                end == 1 and ends[1, feature] > at
            ):
                copy_to(stack.allowed[top], box)
                for column in range(start, stop):
                    stack.allowed[top, column] = column == ranged
                copy_rows(stack.ends[top], ends)
                stack.ends[top, 1 - end, feature] = (
                    before(at, whole) if end == 0 else behind(at, whole)
                )
                ends[end, feature] = at
                top += 1
    return top


@inlined
def overlap(net, box, ends, other, other_ends):
    """Return in how many features a box exceeds another; -1 if they are disjoint."""
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
