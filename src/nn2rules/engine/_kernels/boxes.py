"""Questions about boxes that need no network."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def is_inside(box, boxes):
    """Tell whether `box` lies wholly inside one of `boxes`."""
    for other in range(boxes.shape[0]):
        inside = True
        for column in range(box.size):
            if box[column] and not boxes[other, column]:
                inside = False
                break
        if inside:
            return True
    return False


@njit(cache=True, nogil=True)
def holds_point(box, offsets, codes):
    """Tell whether a box holds an input."""
    for feature in range(codes.size):
        if not box[offsets[feature] + codes[feature]]:
            return False
    return True


@njit(cache=True, nogil=True)
def is_covered(offsets, codes, boxes):
    """Tell whether one of `boxes` holds an input."""
    for other in range(boxes.shape[0]):
        if holds_point(boxes[other], offsets, codes):
            return True
    return False


@njit(cache=True, nogil=True)
def first_held(box, offsets, points, n_points, ignored):
    """Return the first of `points` inside the box and outside `ignored`, or -1."""
    for index in range(n_points):
        if holds_point(box, offsets, points[index]) and not is_covered(
            offsets, points[index], ignored
        ):
            return index
    return -1


@njit(cache=True, nogil=True)
def first_other(table, sizes, strides, box, offsets, wanted, found):
    """Return whether a box of a truth table holds a class other than `wanted`.

    Fills `found` with the codes of the first such input. Entries of `wanted` are True
    for the classes that are fine.
    """
    n_features = sizes.size
    allowed = np.empty((n_features, sizes.max()), dtype=np.int64)
    n_allowed = np.zeros(n_features, dtype=np.int64)
    for feature in range(n_features):
        for code in range(sizes[feature]):
            if box[offsets[feature] + code]:
                allowed[feature, n_allowed[feature]] = code
                n_allowed[feature] += 1
    position = np.zeros(n_features, dtype=np.int64)
    last = n_features - 1
    base = 0
    for feature in range(last):
        base += allowed[feature, 0] * strides[feature]
    while True:
        for index in range(n_allowed[last]):
            if not wanted[table[base + allowed[last, index]]]:
                position[last] = index
                for feature in range(n_features):
                    found[feature] = allowed[feature, position[feature]]
                return True
        feature = last - 1
        while feature >= 0:
            base -= allowed[feature, position[feature]] * strides[feature]
            position[feature] += 1
            if position[feature] < n_allowed[feature]:
                base += allowed[feature, position[feature]] * strides[feature]
                break
            position[feature] = 0
            base += allowed[feature, 0] * strides[feature]
            feature -= 1
        if feature < 0:
            return False
