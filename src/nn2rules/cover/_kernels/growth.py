"""Grow a box from a row, each new slab proved by search."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nn2rules.engine._kernels.boxes import before, behind, holds_point, is_covered
from nn2rules.engine._kernels.search import PAUSED, PROVED, REFUTED, search


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
    """

    columns: NDArray[np.int64]
    numbers: NDArray[np.float64]
    worth: NDArray[np.float64]


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


class Near(NamedTuple):
    """The rows that a box would hold with one or two values more.

    Attributes
    ----------
    n_out, out : ndarray of int64, shape (n_rows,)
        For each row in how many features it lies outside, and the sum of these.
    rows : ndarray of int64
        Those that count and lie outside in one or two.
    size : ndarray of int64, shape (1,)
        How many these are.
    """

    n_out: NDArray[np.int64]
    out: NDArray[np.int64]
    rows: NDArray[np.int64]
    size: NDArray[np.int64]


@njit(cache=True, nogil=True)
def near_rows(net, crowd, box, ends):
    """Return the rows that are near a box."""
    n_rows, n_features = crowd.columns.shape
    n_out, out = np.zeros(n_rows, dtype=np.int64), np.zeros(n_rows, dtype=np.int64)
    near = Near(n_out, out, np.empty(n_rows, np.int64), np.zeros(1, np.int64))
    for row in range(n_rows):
        for feature in range(n_features):
            column, number = crowd.columns[row, feature], crowd.numbers[row, feature]
            if not is_in(net, box, ends, feature, column, number):
                n_out[row] += 1
                out[row] += feature
        if 1 <= n_out[row] <= 2 and crowd.worth[row] != 0.0:
            near.rows[near.size[0]] = row
            near.size[0] += 1
    return near


@njit(cache=True, nogil=True)
def reach(net, crowd, near, box, ends, walls, feature, end, halve):
    """Look along a range of numbers for rows that it could take in.

    Returns the number to try, and what the rows up to there are worth: all of them up
    to the first row of another class, or to the wall; half of them if `halve`.
    """
    ranged, sign = net.ranges[feature], 1.0 if end == 1 else -1.0
    at, stop = sign * ends[end, feature], sign * walls[end, feature]
    found, worth, n_found = np.empty(near.size[0]), np.empty(near.size[0]), 0
    for index in range(near.size[0]):
        row = near.rows[index]
        number = sign * crowd.numbers[row, feature]
        if crowd.columns[row, feature] != ranged or not at < number < stop:
            continue
        is_next = near.n_out[row] == 1
        if crowd.worth[row] < 0.0:
            if is_next:
                stop = number
        else:
            found[n_found] = number
            worth[n_found] = crowd.worth[row] * (1.0 if is_next else 0.01)
            n_found += 1
    total, target = 0.0, at
    for index in range(n_found):
        if found[index] < stop:
            total += worth[index]
            target = max(target, found[index])
    if halve and total > 0.0:
        order = np.argsort(found[:n_found], kind="mergesort")
        goal, total = 0.5 * total, 0.0
        for index in order:
            if total >= goal:
                break
            total += worth[index]
            target = found[index]
    return sign * target, total


@njit(cache=True, nogil=True)
def take_in(net, crowd, near, box, ends, feature, column, low, high):
    """Let a box grow by a slab, and find the rows that are near it now."""
    n_rows, n_out, out = crowd.worth.size, near.n_out, near.out
    is_range = column == net.ranges[feature]
    for row in range(n_rows):
        if crowd.columns[row, feature] != column:
            continue
        number = crowd.numbers[row, feature]
        if is_in(net, box, ends, feature, column, number):
            continue
        if not is_range or low <= number <= high:
            n_out[row] -= 1
            out[row] -= feature
    if is_range and box[column]:
        ends[0, feature] = min(ends[0, feature], low)
        ends[1, feature] = max(ends[1, feature], high)
    elif is_range:
        ends[0, feature], ends[1, feature] = low, high
    box[column] = True
    size = 0
    for row in range(n_rows):
        if 1 <= n_out[row] <= 2 and crowd.worth[row] != 0.0:
            near.rows[size] = row
            size += 1
    near.size[0] = size


@njit(cache=True, nogil=True)
def column_gains(net, crowd, near, box, ends, gains, barred):
    """Fill in what each column that a box lacks would bring, and which it must not."""
    gains[:] = 0.0
    for index in range(near.size[0]):
        row = near.rows[index]
        worth = crowd.worth[row]
        if near.n_out[row] == 1:
            column = crowd.columns[row, near.out[row]]
            if worth > 0.0:
                gains[column] += worth
            else:
                barred[column] = True
        elif worth > 0.0:  # worth a little: one value nearer
            for feature in range(net.ranges.size):
                column = crowd.columns[row, feature]
                number = crowd.numbers[row, feature]
                if not is_in(net, box, ends, feature, column, number):
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
    n_columns, n_features = box.size, net.ranges.size
    near = near_rows(net, crowd, box, ends)
    feature_of = np.empty(n_columns, dtype=np.int64)
    for feature in range(n_features):
        feature_of[net.offsets[feature] : net.offsets[feature + 1]] = feature
    barred, gains = box.copy(), np.empty(n_columns)
    walls = np.empty((2, n_features))
    walls[0], walls[1] = -np.inf, np.inf
    n_failed = np.zeros((2, n_features), dtype=np.int64)
    while True:
        column_gains(net, crowd, near, box, ends, gains, barred)
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
                failed = n_failed[end, feature]
                if failed > MOST_FAILURES:
                    continue
                target, gain = reach(
                    net, crowd, near, box, ends, walls, feature, end, failed > 0
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
        holds = ask(net, desk, limit) == PROVED
        if holds:
            take_in(net, crowd, near, box, ends, feature, best, low, high)
        if best_end < 0:
            barred[best] = True
        elif not holds:
            walls[best_end, feature] = best_target
            n_failed[best_end, feature] += 1
    widen(net, desk, crowd, near, limits[1], box, ends, barred, walls, bounds)
    for feature in range(n_features):
        if net.ranges[feature] >= 0 and box[net.ranges[feature]]:
            for end in range(2):
                if ends[end, feature] != bounds[end, feature]:
                    round_off(
                        net, desk, crowd, near, limits[1], box, ends, walls, feature, end
                    )


@njit(cache=True, nogil=True)
def widen(net, desk, crowd, near, limit, box, ends, barred, walls, bounds):
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
                    take_in(net, crowd, near, box, ends, feature, ranged, low, high)
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
                    take_in(net, crowd, near, box, ends, feature, column, low, high)
            left = 0


@njit(cache=True, nogil=True)
def round_off(net, desk, crowd, near, limit, box, ends, walls, feature, end):
    """Move the end of a range to the roundest number that decides the same rows."""
    ranged, sign = net.ranges[feature], 1.0 if end == 1 else -1.0
    at, stop = sign * ends[end, feature], sign * walls[end, feature]
    for index in range(near.size[0]):
        row = near.rows[index]
        number = sign * crowd.numbers[row, feature]
        if (
            crowd.columns[row, feature] == ranged
            and near.n_out[row] == 1
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


