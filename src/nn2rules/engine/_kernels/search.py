"""Branch and bound on boxes: prove or refute, sort by class, minimise a score."""

import math

import numpy as np
from numba import njit

from nn2rules.engine._kernels.bounds import bound_worst, is_negative
from nn2rules.engine._kernels.boxes import is_covered, is_inside
from nn2rules.engine._kernels.network import point_scores

PROVED, REFUTED, PAUSED, TIES_FULL = 0, 1, 2, 3


@njit(cache=True, nogil=True)
def evaluate_choice(net, space):
    """Evaluate the network at ``space.choice``.

    Returns how much the worst score is certainly below 0 (negative if it is), and
    certainly above 0 (positive if it is). Both are NaN if a score is: nothing is sure.
    """
    point_scores(net, space.choice, space.first, space.hidden, space.scores)
    most, least = np.inf, np.inf
    for k in range(space.scores.size):
        above, below = space.scores[k] + net.error[k], space.scores[k] - net.error[k]
        if math.isnan(above) or math.isnan(below):
            return np.nan, np.nan
        most, least = min(most, above), min(least, below)
    return most, least


@njit(cache=True, nogil=True)
def descend(net, space):
    """Move ``space.choice`` to a better input of the box, one feature at a time."""
    best, _ = evaluate_choice(net, space)
    for feature in range(net.offsets.size - 1):
        start = net.offsets[feature]
        kept = space.choice[feature]
        for column in range(start, net.offsets[feature + 1]):
            if space.box[column] and column - start != kept:
                space.choice[feature] = column - start
                most, _ = evaluate_choice(net, space)
                if most < best:
                    best, kept = most, column - start
        space.choice[feature] = kept
    return best


@njit(cache=True, nogil=True)
def choose_feature(net, space):
    """Return the feature to split on, or -1 if each has one value left.

    It is the one that moves the score, and the neurons whose lines leave the widest
    gap, most.
    """
    width = net.sizes[1]
    chosen, highest = -1, -1.0
    for feature in range(net.offsets.size - 1):
        start, stop = net.offsets[feature], net.offsets[feature + 1]
        n_allowed, least, most = 0, np.inf, -np.inf
        for column in range(start, stop):
            if space.box[column]:
                n_allowed += 1
                least = min(least, space.columns[column])
                most = max(most, space.columns[column])
        if n_allowed < 2:
            continue
        influence = most - least
        if net.sizes.size > 2:
            for unit in range(width):
                influence += gap_share(net, space, unit, start, stop)
        if chosen < 0 or influence > highest:
            chosen, highest = feature, influence
    return chosen


@njit(cache=True, nogil=True)
def gap_share(net, space, unit, start, stop):
    """Return the part of a neuron's gap that the columns of one feature cause."""
    gap = space.lines[unit, 3] - space.lines[unit, 1]
    weight = abs(space.work[2, unit]) * gap
    if not weight > 0.0:
        return 0.0
    width = net.sizes[1]
    least, most = np.inf, -np.inf
    for column in range(start, stop):
        if space.box[column]:
            value = net.weights[column * width + unit]
            least, most = min(least, value), max(most, value)
    return weight * (most - least) / (space.high[unit] - space.low[unit])


@njit(cache=True, nogil=True)
def push_halves(net, space, feature, stack, top):
    """Split the box in two on a feature; the half with the lower bound comes on top."""
    start, stop = net.offsets[feature], net.offsets[feature + 1]
    allowed = np.flatnonzero(space.box[start:stop])
    order = np.argsort(space.columns[start + allowed], kind="mergesort")
    half = (allowed.size + 1) // 2
    for position in range(2):
        stack[top + position] = space.box
        stack[top + position, start:stop] = False
    for rank in range(order.size):
        position = 1 if rank < half else 0
        stack[top + position, start + allowed[order[rank]]] = True
    return top + 2


@njit(cache=True, nogil=True)
def search(net, space, stack, top, ignored, ties, max_boxes):
    """Look for an input whose worst score is not above 0, in the boxes on a stack.

    Parameters
    ----------
    stack : ndarray of bool, shape (n_columns + 2, n_columns)
        The first `top` rows are boxes still to be searched.
    ignored : ndarray of bool, shape (n_boxes, n_columns)
        Inputs inside these do not count.
    ties : ndarray of int64, shape (n, n_features)
        Filled with inputs that float64 cannot decide; they count as fine here, and the
        caller settles them.
    max_boxes : int
        Stop after so many boxes.

    Returns
    -------
    status : PROVED, REFUTED (the input is ``space.choice``), PAUSED or TIES_FULL
    top : int
        How many boxes are left on the stack.
    n_ties, n_boxes : int
    """
    n_boxes, n_ties = 0, 0
    while top > 0:
        if n_boxes >= max_boxes:
            return PAUSED, top, n_ties, n_boxes
        if n_ties == ties.shape[0]:
            return TIES_FULL, top, n_ties, n_boxes
        top -= 1
        n_boxes += 1
        space.box[:] = stack[top]
        if is_inside(space.box, ignored):
            continue
        if bound_worst(net, space) > 0.0:
            continue
        feature = choose_feature(net, space)
        most, least = evaluate_choice(net, space)
        if not most < 0.0 and n_boxes == 1 and feature >= 0:
            most = descend(net, space)
        if most < 0.0 and not is_covered(net.offsets, space.choice, ignored):
            return REFUTED, top, n_ties, n_boxes
        if feature >= 0:
            top = push_halves(net, space, feature, stack, top)
        elif not (most < 0.0 or least > 0.0):
            ties[n_ties] = space.choice
            n_ties += 1
    return PROVED, top, n_ties, n_boxes


@njit(cache=True, nogil=True)
def sort_boxes(net, space, stack, top, ties, decided, answers, max_boxes):
    """Split the boxes on a stack until each is wholly positive or wholly not.

    An input is positive if all its scores are above 0.

    Parameters
    ----------
    stack, top, ties, max_boxes
        As in `search`.
    decided : ndarray of bool, shape (n, n_columns)
        Filled with boxes that are decided.
    answers : ndarray of bool, shape (n,)
        Filled with whether they are positive.

    Returns
    -------
    top, n_ties, n_decided, n_boxes : int
    """
    n_boxes, n_ties, n_decided = 0, 0, 0
    while (
        top > 0
        and n_boxes < max_boxes
        and n_ties < ties.shape[0]
        and n_decided < answers.size
    ):
        top -= 1
        n_boxes += 1
        space.box[:] = stack[top]
        if bound_worst(net, space) > 0.0:
            decided[n_decided] = space.box
            answers[n_decided] = True
            n_decided += 1
            continue
        feature = choose_feature(net, space)
        if feature < 0:
            most, least = evaluate_choice(net, space)
            if most < 0.0 or least > 0.0:
                decided[n_decided] = space.box
                answers[n_decided] = least > 0.0
                n_decided += 1
            else:
                ties[n_ties] = space.choice
                n_ties += 1
            continue
        top = push_halves(net, space, feature, stack, top)
        if is_negative(net, space):
            top -= 2
            decided[n_decided] = space.box
            answers[n_decided] = False
            n_decided += 1
    return top, n_ties, n_decided, n_boxes


@njit(cache=True, nogil=True)
def minimise(net, space, stack, top, tolerance, best, floor, best_input, max_boxes):
    """Find the smallest value of the only score, in the boxes on a stack.

    Returns
    -------
    best : float
        The smallest score evaluated so far, at `best_input`.
    floor : float
        No input that has been searched scores less.
    top, n_boxes : int
    """
    n_boxes = 0
    while top > 0 and n_boxes < max_boxes:
        top -= 1
        n_boxes += 1
        space.box[:] = stack[top]
        below = bound_worst(net, space)
        if below >= best - tolerance:
            floor = lower_of(floor, below)
            continue
        feature = choose_feature(net, space)
        evaluate_choice(net, space)
        if space.scores[0] < best:
            best = space.scores[0]
            best_input[:] = space.choice
        if feature >= 0:
            top = push_halves(net, space, feature, stack, top)
        else:
            floor = lower_of(floor, space.scores[0] - net.error[0])
    return best, floor, top, n_boxes


@njit(cache=True, nogil=True)
def lower_of(one, other):
    """Return the smaller of two numbers; NaN if either is."""
    return one if math.isnan(one) or one <= other else other
