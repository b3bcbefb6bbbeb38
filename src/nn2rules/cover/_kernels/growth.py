"""Grow a box from a row, each new slab proved by search."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nn2rules.engine._kernels.boxes import before, behind, holds_point, is_covered
from nn2rules.engine._kernels.search import PROVED, REFUTED, search


class Crowd(NamedTuple):
    """The rows that say where a box should grow.

    Attributes
    ----------
    columns : ndarray of int64, shape (n_rows, n_features)
        The columns that each row picks.
    numbers : ndarray of float64, shape (n_rows, n_features)
        Its numbers; 1 where a value is a column alone.
    worth : ndarray of float64, shape (n_rows,)
        What it is worth to decide a row; -1 for rows that must stay outside, since
        they are of another class.
    order : ndarray of int64, shape (n_features, n_rows)
        For each range of numbers the rows in ascending order.
    """

    columns: NDArray[np.int64]
    numbers: NDArray[np.float64]
    worth: NDArray[np.float64]
    order: NDArray[np.int64]


class Desk(NamedTuple):
    """What a search needs at hand, made once for each thread."""

    space: tuple  # type: ignore[type-arg]
    stack: NDArray[np.bool_]
    all_ends: NDArray[np.float64]
    ignored: NDArray[np.bool_]
    ignored_ends: NDArray[np.float64]
    ties: NDArray[np.int64]
    tied: NDArray[np.float64]
    known: NDArray[np.int64]
    known_numbers: NDArray[np.float64]
    state: NDArray[np.int64]
    """How many counterexamples are known, and how many boxes were searched."""


MOST_FAILURES = 8
ROUND_TRIES = 3


@njit(cache=True, nogil=True)
def ask(net, desk, limit):
    """Tell whether the box at the bottom of the stack is of the class.

    Counterexamples that are known already come first, and new ones are kept. What
    cannot be decided within `limit` boxes, or only by exact arithmetic, is PAUSED: the
    box stays smaller than it might be, and right.
    """
    space, size = desk.space, desk.known.shape[0]
    for index in range(min(desk.state[0], size)):
        if holds_point(
            desk.stack[0],
            desk.all_ends[0],
            net.offsets,
            net.ranges,
            desk.known[index],
            desk.known_numbers[index],
        ) and not is_covered(
            net.offsets,
            net.ranges,
            desk.known[index],
            desk.known_numbers[index],
            desk.ignored,
            desk.ignored_ends,
        ):
            space.choice[:] = desk.known[index]
            space.numbers[:] = desk.known_numbers[index]
            return REFUTED
    status, _, n_ties, n_boxes = search(
        net,
        space,
        desk.stack,
        desk.all_ends,
        1,
        desk.ignored,
        desk.ignored_ends,
        desk.ties,
        desk.tied,
        limit,
    )
    desk.state[1] += n_boxes
    desk.state[2] += 1
    if status == REFUTED:
        place = desk.state[0] % size
        desk.known[place] = space.choice
        desk.known_numbers[place] = space.numbers
        desk.state[0] += 1
    if status == PROVED and n_ties == 0:
        return PROVED
    return REFUTED if status == REFUTED else PAUSED


@njit(cache=True, nogil=True)
def is_in(net, box, ends, feature, column, number):
    """Tell whether a box allows one value of a feature."""
    if not box[column]:
        return False
    if column == net.ranges[feature]:
        return ends[0, feature] <= number <= ends[1, feature]
    return True


@njit(cache=True, nogil=True)
def lay_out(net, desk, box, ends, feature, column, low, high):
    """Put the slab of one column, and of a range of its numbers, on the stack."""
    desk.stack[0] = box
    desk.stack[0, net.offsets[feature] : net.offsets[feature + 1]] = False
    desk.stack[0, column] = True
    desk.all_ends[0] = ends
    desk.all_ends[0, 0, feature], desk.all_ends[0, 1, feature] = low, high


@njit(cache=True, nogil=True)
def reach(crowd, n_out, out, feature, ranged, end, wall, upwards, halve):
    """Look along a range of numbers for rows that it could take in.

    Returns the number to try, and what the rows up to there are worth: all of them up
    to the first row of another class, or to `wall`; half of them if `halve`.
    """
    order, n_rows = crowd.order[feature], crowd.worth.size
    total, target, goal = 0.0, end, np.inf
    for turn in range(2 if halve else 1):
        gained, target = 0.0, end
        position = 0 if upwards else n_rows - 1
        while 0 <= position < n_rows:
            row = order[position]
            position += 1 if upwards else -1
            number = crowd.numbers[row, feature]
            if crowd.columns[row, feature] != ranged or crowd.worth[row] == 0.0:
                continue
            if (upwards and number <= end) or (not upwards and number >= end):
                continue
            if n_out[row] > 2 or gained >= goal:
                continue
            if (upwards and number >= wall) or (not upwards and number <= wall):
                break
            if crowd.worth[row] < 0.0:
                if n_out[row] == 1:
                    break
                continue
            gained += crowd.worth[row] * (1.0 if n_out[row] == 1 else 0.01)
            target = number
        if turn == 0:
            total, goal = gained, 0.5 * gained
    return target, total if not halve else gained


@njit(cache=True, nogil=True)
def take_in(net, crowd, n_out, out, box, ends, feature, column, low, high):
    """Let a box grow by a slab, and count the rows that are nearer to it now."""
    ranged = net.ranges[feature]
    for row in range(n_out.size):
        if crowd.columns[row, feature] == column and not is_in(
            net, box, ends, feature, column, crowd.numbers[row, feature]
        ):
            if column == ranged and not low <= crowd.numbers[row, feature] <= high:
                continue
            n_out[row] -= 1
            out[row] -= feature
    if column == ranged and box[column]:
        ends[0, feature] = min(ends[0, feature], low)
        ends[1, feature] = max(ends[1, feature], high)
    elif column == ranged:
        ends[0, feature], ends[1, feature] = low, high
    box[column] = True


@njit(cache=True, nogil=True)
def column_gains(net, crowd, n_out, out, box, ends, gains, barred):
    """Fill in what each column that a box lacks would bring, and which it must not."""
    gains[:] = 0.0
    n_features = net.ranges.size
    for row in range(n_out.size):
        worth = crowd.worth[row]
        if n_out[row] == 1 and worth != 0.0:
            column = crowd.columns[row, out[row]]
            if worth > 0.0:
                gains[column] += worth
            else:
                barred[column] = True
        elif n_out[row] == 2 and worth > 0.0:  # worth a little: one value nearer
            for feature in range(n_features):
                column = crowd.columns[row, feature]
                if not is_in(
                    net, box, ends, feature, column, crowd.numbers[row, feature]
                ):
                    gains[column] += 0.01 * worth


@njit(cache=True, nogil=True)
def grow(net, desk, crowd, limits, box, ends, noise, bounds):
    """Grow a box, in place, until nothing can be added to it.

    Every step adds the value, or moves the end of a range, whose slab brings the most
    worth of rows; then what brings no row is added; then ends become round numbers.

    Parameters
    ----------
    limits : (int, int)
        Boxes to search for a slab that brings a row, and for one that does not.
    box : ndarray of bool, shape (n_columns,)
    ends : ndarray of shape (2, n_features)
        A box that is of the class already. Of ranges that it lacks the whole.
    noise : ndarray of shape (n_columns + 2 n_features,)
        Factors on what a column, and the two ends of each range, would bring.
    bounds : ndarray of shape (2, n_features)
        Where the ranges of the domain end.
    """
    n_rows, n_features = crowd.columns.shape
    n_columns = box.size
    n_out, out = np.zeros(n_rows, dtype=np.int64), np.zeros(n_rows, dtype=np.int64)
    for row in range(n_rows):
        for feature in range(n_features):
            if not is_in(
                net,
                box,
                ends,
                feature,
                crowd.columns[row, feature],
                crowd.numbers[row, feature],
            ):
                n_out[row] += 1
                out[row] += feature
    feature_of = np.empty(n_columns, dtype=np.int64)
    for feature in range(n_features):
        feature_of[net.offsets[feature] : net.offsets[feature + 1]] = feature
    barred, gains = box.copy(), np.empty(n_columns)
    walls = np.empty((2, n_features))
    walls[0], walls[1] = -np.inf, np.inf
    n_failed = np.zeros((2, n_features), dtype=np.int64)
    while True:
        column_gains(net, crowd, n_out, out, box, ends, gains, barred)
        best, best_gain, best_end, best_target = -1, 0.0, -1, 0.0
        for column in range(n_columns):
            gain = gains[column] * noise[column]
            if not barred[column] and gain > best_gain:
                best, best_gain, best_end = column, gain, -1
        for feature in range(n_features):
            ranged = net.ranges[feature]
            if ranged < 0 or not box[ranged]:
                continue
            for end in range(2):
                if n_failed[end, feature] > MOST_FAILURES:
                    continue
                target, gain = reach(
                    crowd,
                    n_out,
                    out,
                    feature,
                    ranged,
                    ends[end, feature],
                    walls[end, feature],
                    end == 1,
                    n_failed[end, feature] > 0,
                )
                gain *= noise[n_columns + 2 * feature + end]
                if gain > best_gain:
                    best, best_gain, best_end = ranged, gain, end
                    best_target = target
        if best < 0:
            break
        feature = feature_of[best]
        low, high = 1.0, 1.0
        if best_end == 0:
            low, high = best_target, ends[0, feature]
        elif best_end == 1:
            low, high = ends[1, feature], best_target
        elif best == net.ranges[feature]:
            low, high = bounds[0, feature], bounds[1, feature]
        lay_out(net, desk, box, ends, feature, best, low, high)
        limit = limits[0] if best_gain > 0.5 else limits[1]
        if ask(net, desk, limit) == PROVED:
            take_in(net, crowd, n_out, out, box, ends, feature, best, low, high)
            barred[best] = True
        elif best_end < 0:
            barred[best] = True
        else:
            walls[best_end, feature] = best_target
            n_failed[best_end, feature] += 1
    widen(net, desk, crowd, n_out, out, limits[1], box, ends, barred, walls, bounds)
    for feature in range(n_features):
        if net.ranges[feature] >= 0 and box[net.ranges[feature]]:
            for end in range(2):
                if ends[end, feature] != bounds[end, feature]:
                    round_off(net, desk, crowd, n_out, limits[1], box, ends, walls, feature, end)


@njit(cache=True, nogil=True)
def widen(net, desk, crowd, n_out, out, limit, box, ends, barred, walls, bounds):
    """Add what brings no row: the rest of a feature at once, then what can be had."""
    for feature in range(net.ranges.size):
        start, stop = net.offsets[feature], net.offsets[feature + 1]
        ranged = net.ranges[feature]
        if ranged >= 0 and box[ranged]:
            for end in range(2):
                at, to = ends[end, feature], bounds[end, feature]
                if at == to or np.isfinite(walls[end, feature]):
                    continue
                low, high = min(at, to), max(at, to)
                lay_out(net, desk, box, ends, feature, ranged, low, high)
                if ask(net, desk, limit) == PROVED:
                    take_in(
                        net, crowd, n_out, out, box, ends, feature, ranged, low, high
                    )
        left = 0
        for column in range(start, stop):
            left += not barred[column]
        while left > 0:
            desk.stack[0] = box
            desk.all_ends[0] = ends
            desk.stack[0, start:stop] = ~barred[start:stop]
            if ranged >= 0 and not barred[ranged]:
                desk.all_ends[0, 0, feature] = bounds[0, feature]
                desk.all_ends[0, 1, feature] = bounds[1, feature]
            status = ask(net, desk, limit)
            if status == REFUTED:
                barred[start + desk.space.choice[feature]] = True
                left -= 1
                continue
            for column in range(start, stop):
                if barred[column]:
                    continue
                barred[column] = True
                low, high = 1.0, 1.0
                if column == ranged:
                    low, high = bounds[0, feature], bounds[1, feature]
                holds = status == PROVED
                if not holds and left > 1:
                    lay_out(net, desk, box, ends, feature, column, low, high)
                    holds = ask(net, desk, limit) == PROVED
                if holds:
                    take_in(
                        net, crowd, n_out, out, box, ends, feature, column, low, high
                    )
            left = 0


@njit(cache=True, nogil=True)
def round_off(net, desk, crowd, n_out, limit, box, ends, walls, feature, end):
    """Move the end of a range to the roundest number that decides the same rows."""
    ranged, sign = net.ranges[feature], 1.0 if end == 1 else -1.0
    at, stop = sign * ends[end, feature], sign * walls[end, feature]
    for row in range(n_out.size):
        number = sign * crowd.numbers[row, feature]
        if (
            crowd.columns[row, feature] == ranged
            and crowd.worth[row] != 0.0
            and n_out[row] == 1
            and at < number < stop
        ):
            stop = number
    for _ in range(ROUND_TRIES):
        target = sign * roundest(at, stop, net.whole[feature])
        if target == ends[end, feature]:
            return
        low, high = min(target, ends[end, feature]), max(target, ends[end, feature])
        lay_out(net, desk, box, ends, feature, ranged, low, high)
        if ask(net, desk, limit) == PROVED:
            ends[end, feature] = target
            return
        stop = sign * target


@njit(cache=True, nogil=True)
def roundest(low, high, is_whole):
    """Return the number from `low` to below `high` with the fewest digits."""
    if low <= 0.0 < high:
        return 0.0
    for power in range(17, -1 if is_whole else -8, -1):
        for digit in (1.0, 5.0, 2.0):
            # Powers of ten from 1 on are exact, and so is one rounding of a quotient.
            if power >= 0:
                step = digit * 10.0**power
                number = np.ceil(low / step) * step
            else:
                number = np.ceil(low * 10.0**-power / digit) * digit / 10.0**-power
            if low <= number < high:
                return number
    return low


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
