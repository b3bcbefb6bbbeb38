"""Branch and bound on boxes: prove or refute, sort by class, minimise a score."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine._kernels.bounds import bound_worst, is_negative
from nn2rules.engine._kernels.network import finish_forward, point_scores
from nn2rules.space._kernels.boxes import halves_of, is_covered, is_inside
from nn2rules.space._kernels.compiled import inlined, kernel
from nn2rules.space._kernels.loops import copy_rows, copy_to, stable_order

PROVED, REFUTED, PAUSED, TIES_FULL, TOO_DEEP, TOUCHING = 0, 1, 2, 3, 4, 5

ROUNDING = 2.0
"""A score may reach 0 if its bound is within this many times its slack."""

FEW = 16
"""After this many boxes a search may stop because it would take too long."""


class Stack(NamedTuple):
    """Boxes that wait to be searched, with bounds of the boxes they are part of.

    Attributes
    ----------
    allowed, ends
        As in `Boxes`.
    low, high : ndarray of float64, shape (n_boxes, n_later_units)
        Bounds of the hidden units after the first layer.
    depth : ndarray of int64, shape (n_boxes,)
        How often it was split; 0 means that there are no bounds yet.
    """

    allowed: NDArray[np.bool_]
    ends: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    depth: NDArray[np.int64]


@kernel
def evaluate_choice(net, space):
    """Evaluate the network at ``space.choice``.

    Returns an upper and a lower bound of the worst score: it is certainly below 0 if
    the former is negative, and above 0 if the latter is positive. Both are NaN if a
    score is.
    """
    point_scores(
        net, space.choice, space.numbers, space.first, space.hidden, space.scores
    )
    return worst_score(net, space)


@inlined
def worst_score(net, space):
    """Return the same as `evaluate_choice`, for the scores in ``space``."""
    most, least = np.inf, np.inf
    for k in range(space.scores.size):
        above, below = space.scores[k] + net.error[k], space.scores[k] - net.error[k]
        if math.isnan(above) or math.isnan(below):
            return np.nan, np.nan
        most, least = min(most, above), min(least, below)
    return most, least


@inlined
def descend(net, space):
    """Improve the chosen input, one feature at a time.

    For a range the two ends are tried. The first pre-activations are updated, so a step
    costs no more than the later layers. Its rounding affects only the path; the last
    input is evaluated again.
    """
    width, weights = net.sizes[1], net.weights
    best, _ = evaluate_choice(net, space)
    around, trial = space.work[0], space.work[1]
    for feature in range(net.offsets.size - 1):
        start, ranged = net.offsets[feature], net.ranges[feature]
        kept, number = space.choice[feature], space.numbers[feature]
        row = (start + kept) * width
        for unit in range(width):
            around[unit] = space.first[unit] - number * weights[row + unit]
        for column in range(start, net.offsets[feature + 1]):
            if not space.box[column]:
                continue
            for end in range(2 if column == ranged else 1):
                at = space.ends[end, feature] if column == ranged else 1.0
                row = column * width
                for unit in range(width):
                    trial[unit] = around[unit] + at * weights[row + unit]
                finish_forward(net, trial, space.hidden, space.scores)
                most, _ = worst_score(net, space)
                if most < best:
                    best, kept, number = most, column - start, at
        space.choice[feature], space.numbers[feature] = kept, number
        row = (start + kept) * width
        for unit in range(width):
            space.first[unit] = around[unit] + number * weights[row + unit]
    return evaluate_choice(net, space)[0]


@kernel
def choose_feature(net, space):
    """Return the feature to split on, or -1 if each has one value left.

    It is the feature with the most effect on the score, and on the neurons with the
    widest gap between their lines.
    """
    width = net.sizes[1]
    shares = space.first
    for unit in range(width):  # the share of a neuron's gap per unit of its sum
        shares[unit] = 0.0
        if net.sizes.size > 2:
            gap = space.lines[unit, 3] - space.lines[unit, 1]
            weight = abs(space.work[2, unit]) * gap
            if weight > 0.0:
                shares[unit] = weight / (space.high[unit] - space.low[unit])
    chosen, highest = -1, -1.0
    for feature in range(net.offsets.size - 1):
        if not is_open(net, space, feature):
            continue
        influence = moved_by(net, space, feature)
        for unit in range(width):
            influence += shares[unit] * space.spread[feature, unit]
        if chosen < 0 or influence > highest:
            chosen, highest = feature, influence
    return chosen


@inlined
def is_open(net, space, feature):
    """Return whether a feature has several values left."""
    n_allowed = 0
    for column in range(net.offsets[feature], net.offsets[feature + 1]):
        if space.box[column]:
            n_allowed += 1
            if (
                column == net.ranges[feature]
                and space.ends[0, feature] < space.ends[1, feature]
            ):
                return True
    return n_allowed > 1


@inlined
def moved_by(net, space, feature):
    """Return how far a feature moves the bound."""
    least, most = np.inf, -np.inf
    for column in range(net.offsets[feature], net.offsets[feature + 1]):
        if space.box[column]:
            one = other = space.columns[column]
            if column == net.ranges[feature]:
                one *= space.ends[0, feature]
                other *= space.ends[1, feature]
            least, most = min(least, one, other), max(most, one, other)
    return most - least


@kernel
def pop(net, space, stack, top):
    """Take a box from a stack; return whether it has no bounds yet."""
    copy_to(space.box, stack.allowed[top])
    copy_rows(space.ends, stack.ends[top])
    for unit in range(stack.low.shape[1]):
        later = net.unit_at[1] + unit
        space.low[later] = stack.low[top, unit]
        space.high[later] = stack.high[top, unit]
    return stack.depth[top] == 0


@inlined
def allowed_codes(net, space, feature):
    """Return the values of a feature that the box allows."""
    start, stop = net.offsets[feature], net.offsets[feature + 1]
    n_allowed = 0
    for column in range(start, stop):
        n_allowed += space.box[column]
    allowed, place = np.empty(n_allowed, np.int64), 0
    for column in range(start, stop):
        if space.box[column]:
            allowed[place] = column - start
            place += 1
    return allowed


@inlined
def note(points, place, space):
    """Store the chosen input."""
    copy_to(points.codes[place], space.choice)
    copy_to(points.numbers[place], space.numbers)


@inlined
def by_bound(net, space, feature, allowed):
    """Return the order of the allowed values of a feature, the lowest bound first."""
    start, values = net.offsets[feature], np.empty(allowed.size)
    for rank in range(allowed.size):
        values[rank] = space.columns[start + allowed[rank]]
        if start + allowed[rank] == net.ranges[feature]:
            one, other = space.ends[0, feature], space.ends[1, feature]
            values[rank] = min(one * values[rank], other * values[rank])
    return stable_order(values)


@kernel
def push_halves(net, space, feature, stack, top):
    """Split the box in two on a feature; the half with the lower bound is on top."""
    start, stop = net.offsets[feature], net.offsets[feature + 1]
    allowed = allowed_codes(net, space, feature)
    depth, n_later = stack.depth[top] + 1, stack.low.shape[1]
    for position in range(top, top + 2):
        copy_to(stack.allowed[position], space.box)
        copy_rows(stack.ends[position], space.ends)
        stack.depth[position] = depth
        for unit in range(n_later):
            later = net.unit_at[1] + unit
            stack.low[position, unit] = space.low[later]
            stack.high[position, unit] = space.high[later]
    if allowed.size == 1:
        low, high = space.ends[0, feature], space.ends[1, feature]
        to, at = halves_of(low, high, net.whole[feature])
        lower = 1 if space.numbers[feature] <= to else 0
        stack.ends[top + lower, 1, feature] = to
        stack.ends[top + 1 - lower, 0, feature] = at
        return top + 2
    order, half = by_bound(net, space, feature, allowed), (allowed.size + 1) // 2
    for position in range(top, top + 2):
        for column in range(start, stop):
            stack.allowed[position, column] = False
    for rank in range(order.size):
        position = 1 if rank < half else 0
        stack.allowed[top + position, start + allowed[order[rank]]] = True
    return top + 2


@inlined
def largest_slack(net):
    """Return the largest slack of a score."""
    start, largest = net.unit_at[net.sizes.size - 2], 0.0
    for unit in range(start, start + net.sizes[net.sizes.size - 1]):
        largest = max(largest, net.slack[unit])
    return largest


@kernel
def search(net, space, stack, top, ignored, ties, limit, patience, touching):
    """Look for an input whose worst score is not above 0, in the boxes on a stack.

    Parameters
    ----------
    stack : Stack
        The first `top` are still to be searched.
    ignored : Boxes
        Inputs in these boxes are ignored.
    ties : Inputs
        Filled with inputs that float64 cannot decide; they count as positive here, and
        the caller decides them.
    limit : int
        Stop after this many boxes.
    patience : float
        Stop early if the progress so far suggests that more boxes than this are needed.
    touching : bool
        Whether to stop at a box that seems to touch the border between two classes, so
        that no bound can decide it.

    Returns
    -------
    status : PROVED, REFUTED (the input is chosen in `space`), PAUSED, TIES_FULL,
        TOO_DEEP (the boxes have become so narrow that the stack is full), or
        TOUCHING (the box is in `space`, and its halves are the uppermost boxes)
    top : int
        How many boxes are left on the stack.
    n_ties, n_boxes : int
    """
    n_boxes, n_ties, done = 0, 0, 0.0
    while top > 0:
        if n_boxes >= limit or (n_boxes >= FEW and n_boxes > patience * done):
            return PAUSED, top, n_ties, n_boxes
        if n_ties == ties.codes.shape[0]:
            return TIES_FULL, top, n_ties, n_boxes
        if top + 1 >= stack.allowed.shape[0]:
            return TOO_DEEP, top, n_ties, n_boxes
        top -= 1
        n_boxes += 1
        is_new = pop(net, space, stack, top)
        share = 0.5 ** stack.depth[top]
        done += share
        if is_inside(net, space.box, space.ends, ignored):
            continue
        worst = bound_worst(net, space, is_new)
        if worst > 0.0:
            continue
        feature = choose_feature(net, space)
        most, least = evaluate_choice(net, space)
        if not most < 0.0 and n_boxes == 1 and feature >= 0:
            most = descend(net, space)
        if most < 0.0 and not is_covered(net, space.choice, space.numbers, ignored):
            return REFUTED, top, n_ties, n_boxes
        if feature >= 0:
            top = push_halves(net, space, feature, stack, top)
            done -= share
            if touching and worst > -ROUNDING * largest_slack(net):
                return TOUCHING, top, n_ties, n_boxes
        elif not (most < 0.0 or least > 0.0):
            note(ties, n_ties, space)
            n_ties += 1
    return PROVED, top, n_ties, n_boxes


@kernel
def sort_boxes(net, space, stack, top, ties, decided, answers, limit, deepest):
    """Split the boxes on a stack until the inputs of each are all positive or all not.

    An input is positive if all its scores are above 0.

    Parameters
    ----------
    stack, top, ties, limit
        As in `search`.
    deepest : int
        Boxes that are undecided after this many splits are left out.
    decided : Boxes
        Filled with boxes that are decided.
    answers : ndarray of bool, shape (n,)
        Filled with whether they are positive.

    Returns
    -------
    top, n_ties, n_decided, n_boxes, n_left_out : int
        It stops early, with boxes left, when an array or the stack is full.
    """
    n_boxes, n_ties, n_decided, n_left_out = 0, 0, 0, 0
    while (
        top > 0
        and top + 1 < stack.allowed.shape[0]
        and n_boxes < limit
        and n_ties < ties.codes.shape[0]
        and n_decided < answers.size
    ):
        top -= 1
        n_boxes += 1
        is_new = pop(net, space, stack, top)
        is_in = bound_worst(net, space, is_new) > 0.0
        is_out = False
        if not is_in:
            feature = choose_feature(net, space)
            if feature < 0:
                most, least = evaluate_choice(net, space)
                is_in, is_out = least > 0.0, most < 0.0
                if not (is_in or is_out):
                    note(ties, n_ties, space)
                    n_ties += 1
                    continue
            else:
                top = push_halves(net, space, feature, stack, top)
                is_out = is_negative(net, space)
                is_last = stack.depth[top - 1] > deepest
                if is_out or is_last:
                    top -= 2
                    n_left_out += not is_out
        if is_in or is_out:
            copy_to(decided.allowed[n_decided], space.box)
            copy_rows(decided.ends[n_decided], space.ends)
            answers[n_decided] = is_in
            n_decided += 1
    return top, n_ties, n_decided, n_boxes, n_left_out


@kernel
def minimise(net, space, stack, top, tolerance, best, floor, best_at, limit):
    """Find the minimum of the only score, in the boxes on a stack.

    Returns
    -------
    best : float
        The minimum score evaluated so far; its input is the first of `best_at`.
    floor : float
        No searched input has a lower score.
    top, n_boxes : int
    """
    n_boxes = 0
    while top > 0 and n_boxes < limit and top + 1 < stack.allowed.shape[0]:
        top -= 1
        n_boxes += 1
        is_new = pop(net, space, stack, top)
        below = bound_worst(net, space, is_new)
        if below >= best - tolerance:
            floor = lower_of(floor, below)
            continue
        feature = choose_feature(net, space)
        evaluate_choice(net, space)
        if space.scores[0] < best:
            best = space.scores[0]
            note(best_at, 0, space)
        if feature >= 0:
            top = push_halves(net, space, feature, stack, top)
        else:
            floor = lower_of(floor, space.scores[0] - net.error[0])
    return best, floor, top, n_boxes


@inlined
def lower_of(one, other):
    """Return the smaller of two numbers; NaN if either is."""
    return one if math.isnan(one) or one <= other else other
