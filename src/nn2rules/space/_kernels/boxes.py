"""Questions about boxes that need no network."""

import math

import numpy as np

from nn2rules.space._kernels.compiled import inlined, kernel


@inlined
def is_inside(net, box, ends, boxes):
    """Tell whether a box lies wholly inside one of several."""
    for other in range(boxes.allowed.shape[0]):
        inside = True
        for column in range(box.size):
            if box[column] and not boxes.allowed[other, column]:
                inside = False
                break
        if not inside:
            continue
        for feature in range(net.ranges.size):
            if net.ranges[feature] >= 0 and box[net.ranges[feature]]:
                inside &= boxes.ends[other, 0, feature] <= ends[0, feature]
                inside &= ends[1, feature] <= boxes.ends[other, 1, feature]
        if inside:
            return True
    return False


@inlined
def holds_point(net, box, ends, codes, numbers):
    """Tell whether a box holds an input."""
    for feature in range(codes.size):
        column = net.offsets[feature] + codes[feature]
        if not box[column]:
            return False
        if column == net.ranges[feature] and not (
            ends[0, feature] <= numbers[feature] <= ends[1, feature]
        ):
            return False
    return True


@kernel
def is_covered(net, codes, numbers, boxes):
    """Tell whether one of several boxes holds an input."""
    for other in range(boxes.allowed.shape[0]):
        if holds_point(net, boxes.allowed[other], boxes.ends[other], codes, numbers):
            return True
    return False


@kernel
def first_held(net, box, ends, points, n_points, ignored):
    """Return the first of some inputs inside a box and outside `ignored`, or -1."""
    for index in range(n_points):
        codes, numbers = points.codes[index], points.numbers[index]
        if holds_point(net, box, ends, codes, numbers) and not is_covered(
            net, codes, numbers, ignored
        ):
            return index
    return -1


@inlined
def before(number, is_whole):
    """Return the number next below: a float, or a whole number."""
    return number - 1.0 if is_whole else np.nextafter(number, -np.inf)


@inlined
def behind(number, is_whole):
    """Return the number next above: a float, or a whole number."""
    return number + 1.0 if is_whole else np.nextafter(number, np.inf)


@inlined
def halves_of(low, high, is_whole):
    """Return where the lower half of a range ends, and where the upper one begins.

    They share the number between them, so that no real number is left out; two
    neighbouring floats, or whole numbers, are parted.
    """
    middle = 0.5 * low + 0.5 * high
    if is_whole:
        return math.floor(middle) * 1.0, math.floor(middle) + 1.0
    if not low < middle < high:
        return low, high
    return middle, middle


@kernel
def first_other(table, sizes, strides, box, offsets, wanted, found):
    """Return whether a box of a truth table holds a class other than `wanted`.

    Fills `found` with the codes of the first such input. Entries of `wanted` are True
    for the classes that are fine.
    """
    n_features = sizes.size
    most = 0
    for feature in range(n_features):
        most = max(most, sizes[feature])
    allowed = np.empty((n_features, most), dtype=np.int64)
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
