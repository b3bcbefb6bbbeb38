"""Grow a box from a row, each new slab proved by search."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nn2rules.engine._kernels.bounds import Workspace
from nn2rules.engine._kernels.boxes import Boxes, Points, Stack, first_held
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
    order : ndarray of int64, shape (n_features, n_rows)
        The rows sorted by their column of a feature, and then by their number.
    starts : ndarray of int64, shape (n_columns + 1,)
        Where in that order the rows of a column start, and end: those of feature f and
        its last column at n_rows (f + 1).
    """

    columns: NDArray[np.int64]
    numbers: NDArray[np.float64]
    worth: NDArray[np.float64]
    order: NDArray[np.int64]
    starts: NDArray[np.int64]


class Desk(NamedTuple):
    """What a search needs at hand, made once for each thread and class.

    Attributes
    ----------
    space : Workspace
    stack : Stack
    ignored : Boxes
        What need not be of the class.
    ties, known : Points
        Ties of a search, and counterexamples that were found before.
    counts : ndarray of int64, shape (3,)
        How many counterexamples, boxes searched, and questions asked.
    """

    space: Workspace
    stack: Stack
    ignored: Boxes
    ties: Points
    known: Points
    counts: NDArray[np.int64]


class Plan(NamedTuple):
    """How boxes grow.

    Attributes
    ----------
    bounds : ndarray of float64, shape (2, n_features)
        Where the ranges of the domain end.
    lines : ndarray of int64, shape (n_columns,)
        Values with the same number from 0 on are numbers in a row, and a box keeps a
        run of them; -1 for values that come in any order.
    limits : ndarray of int64, shape (2,)
        Boxes to search for a slab that brings a row, and for one that does not.
    patience : float
        A slab is given up once it seems to take more than so many times as many.
    """

    bounds: NDArray[np.float64]
    lines: NDArray[np.int64]
    limits: NDArray[np.int64]
    patience: float


class Growth(NamedTuple):
    """A box that grows, and what was tried: calling `grow` again goes on from here.

    Attributes
    ----------
    box : ndarray of bool, shape (n_columns,)
    ends : ndarray of float64, shape (2, n_features)
        A box that is of the class. Of ranges that it lacks the ends are the domain's.
    barred : ndarray of bool, shape (n_columns,)
        Values that it has, or that were tried.
    walls : ndarray of float64, shape (2, n_features)
        Numbers that its ranges do not reach.
    failed : ndarray of int64, shape (2, n_features)
        How often an end could not be moved; -1 once it is round.
    noise : ndarray of float64, shape (n_columns + 2 n_features,)
        Factors on what a value, and the two ends of each range, would bring.
    """

    box: NDArray[np.bool_]
    ends: NDArray[np.float64]
    barred: NDArray[np.bool_]
    walls: NDArray[np.float64]
    failed: NDArray[np.int64]
    noise: NDArray[np.float64]


MOST_FAILURES = 8
ROUND_TRIES = 3


@njit(cache=True, nogil=True)
def ask(net, desk, limit, patience):
    """Tell whether the box at the bottom of the stack is of the class.

    Counterexamples that are known already come first, and new ones are kept. What
    cannot be decided within `limit` boxes, or only by exact arithmetic, is PAUSED: the
    box stays smaller than it might be, and right. So is what seems to take more than
    `patience` times as many.
    """
    space, known = desk.space, desk.known
    size = known.codes.shape[0]
    held = first_held(
        net,
        desk.stack.allowed[0],
        desk.stack.ends[0],
        known,
        min(desk.counts[0], size),
        desk.ignored,
    )
    if held >= 0:
        space.choice[:] = known.codes[held]
        space.numbers[:] = known.numbers[held]
        return REFUTED
    desk.stack.depth[0] = 0
    status, _, n_ties, n_boxes = search(
        net, space, desk.stack, 1, desk.ignored, desk.ties, limit, patience * limit
    )
    desk.counts[1] += n_boxes
    desk.counts[2] += 1
    if status == REFUTED:
        place = desk.counts[0] % size
        known.codes[place] = space.choice
        known.numbers[place] = space.numbers
        desk.counts[0] += 1
        return REFUTED
    return PROVED if status == PROVED and n_ties == 0 else PAUSED


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
    desk.stack.allowed[0] = box
    desk.stack.allowed[0, net.offsets[feature] : net.offsets[feature + 1]] = False
    desk.stack.allowed[0, column] = True
    desk.stack.ends[0] = ends
    desk.stack.ends[0, 0, feature], desk.stack.ends[0, 1, feature] = low, high


class Near(NamedTuple):
    """The rows that a box would hold with one or two values more, and what these bring.

    Attributes
    ----------
    n_out, out, squares : ndarray of int64, shape (n_rows,)
        For each row in how many features it lies outside, the sum of their positions,
        and that of their squares: of two features it tells which they are.
    rows : ndarray of int64
        Those that count and lie outside in one or two, and some that did.
    size : ndarray of int64, shape (1,)
        How many of them there are.
    gains : ndarray of float64, shape (n_columns,)
        What each column that the box lacks would bring.
    to, end_gains, stops : ndarray of float64, shape (2, n_features)
        How far each end of a range might move, what that would bring, and where a row
        of another class stops it.
    """

    n_out: NDArray[np.int64]
    out: NDArray[np.int64]
    squares: NDArray[np.int64]
    rows: NDArray[np.int64]
    size: NDArray[np.int64]
    gains: NDArray[np.float64]
    to: NDArray[np.float64]
    end_gains: NDArray[np.float64]
    stops: NDArray[np.float64]


@njit(cache=True, nogil=True)
def near_rows(net, crowd, box, ends):
    """Return the rows that are near a box; `appraise` fills in what they bring."""
    n_rows, n_features = crowd.columns.shape
    near = Near(
        np.zeros(n_rows, np.int64),
        np.zeros(n_rows, np.int64),
        np.zeros(n_rows, np.int64),
        np.empty(n_rows, np.int64),
        np.zeros(1, np.int64),
        np.zeros(box.size),
        np.zeros((2, n_features)),
        np.zeros((2, n_features)),
        np.zeros((2, n_features)),
    )
    for row in range(n_rows):
        for feature in range(n_features):
            column, number = crowd.columns[row, feature], crowd.numbers[row, feature]
            if not is_in(net, box, ends, feature, column, number):
                near.n_out[row] += 1
                near.out[row] += feature
                near.squares[row] += feature * feature
        if 1 <= near.n_out[row] <= 2 and crowd.worth[row] != 0.0:
            near.rows[near.size[0]] = row
            near.size[0] += 1
    return near


@njit(cache=True, nogil=True)
def outside(near, row, which):
    """Return one of the two features (or of the one) in which a row lies outside."""
    total = near.out[row]
    if near.n_out[row] == 1:
        return total
    apart = np.int64(np.sqrt(np.float64(2 * near.squares[row] - total * total)) + 0.5)
    return (total - apart) // 2 if which == 0 else (total + apart) // 2


@njit(cache=True, nogil=True)
def appraise(net, crowd, near, grown):
    """Fill in what each column and each end of a range would bring.

    Rows of other classes bar the columns that would let them in, and stop ends.
    """
    ends, size, kept = grown.ends, near.size[0], 0
    near.gains[:] = 0.0
    near.end_gains[:] = 0.0
    near.to[:] = ends
    near.stops[:] = grown.walls
    for index in range(size):
        row = near.rows[index]
        if near.n_out[row] == 0:
            continue
        near.rows[kept] = row
        kept += 1
        if crowd.worth[row] >= 0.0 or near.n_out[row] != 1:
            continue
        feature = near.out[row]
        column, number = crowd.columns[row, feature], crowd.numbers[row, feature]
        if column != net.ranges[feature] or not grown.box[column]:
            grown.barred[column] = True
        elif number > ends[1, feature]:
            near.stops[1, feature] = min(near.stops[1, feature], number)
        else:
            near.stops[0, feature] = max(near.stops[0, feature], number)
    near.size[0] = kept
    for index in range(kept):
        row = near.rows[index]
        if crowd.worth[row] <= 0.0:
            continue
        n_out = near.n_out[row]
        worth = crowd.worth[row] if n_out == 1 else 0.01 * crowd.worth[row]
        for which in range(n_out):
            feature = outside(near, row, which)
            column, number = crowd.columns[row, feature], crowd.numbers[row, feature]
            if column != net.ranges[feature] or not grown.box[column]:
                near.gains[column] += worth
            elif number > ends[1, feature]:
                if number < near.stops[1, feature]:
                    near.end_gains[1, feature] += worth
                    near.to[1, feature] = max(near.to[1, feature], number)
            elif number > near.stops[0, feature]:
                near.end_gains[0, feature] += worth
                near.to[0, feature] = min(near.to[0, feature], number)
    for feature in range(net.ranges.size):
        for end in range(2):
            if grown.failed[end, feature] > 0:
                appraise_half(crowd, near, grown, feature, end, net.ranges[feature])


@njit(cache=True, nogil=True)
def appraise_half(crowd, near, grown, feature, end, ranged):
    """Fill in how far an end might move to bring half of the rows up to its wall."""
    sign = 1.0 if end == 1 else -1.0
    at = sign * grown.ends[end, feature]
    near.stops[end, feature] = sign * min(
        sign * near.stops[end, feature], sign * grown.walls[end, feature]
    )
    stop = sign * near.stops[end, feature]
    found, worth = np.empty(near.size[0]), np.empty(near.size[0])
    n_found, total = 0, 0.0
    for index in range(near.size[0]):
        row = near.rows[index]
        number = sign * crowd.numbers[row, feature]
        if crowd.columns[row, feature] != ranged or not at < number < stop:
            continue
        n_out = near.n_out[row]
        if crowd.worth[row] <= 0.0 or not 1 <= n_out <= 2:
            continue
        found[n_found] = number
        worth[n_found] = crowd.worth[row] if n_out == 1 else 0.01 * crowd.worth[row]
        total += worth[n_found]
        n_found += 1
    target, gain = at, 0.0
    for index in np.argsort(found[:n_found], kind="mergesort"):
        if gain >= 0.5 * total:
            break
        gain += worth[index]
        target = found[index]
    near.to[end, feature], near.end_gains[end, feature] = sign * target, gain


@njit(cache=True, nogil=True)
def take_in(net, crowd, near, box, ends, feature, column, low, high):
    """Let a box grow by a slab, and find the rows that are near it now."""
    order = crowd.order[feature]
    at, stop = crowd.starts[column], crowd.starts[column + 1]
    offset = feature * crowd.worth.size
    is_range = column == net.ranges[feature]
    if is_range:  # only the rows from `low` on
        first, last = at, stop
        while first < last:
            middle = (first + last) // 2
            if crowd.numbers[order[middle - offset], feature] < low:
                first = middle + 1
            else:
                last = middle
        at = first
    for place in range(at, stop):
        row = order[place - offset]
        number = crowd.numbers[row, feature]
        if is_range and number > high:
            break
        if is_in(net, box, ends, feature, column, number):
            continue
        near.n_out[row] -= 1
        near.out[row] -= feature
        near.squares[row] -= feature * feature
        if near.n_out[row] == 2 and crowd.worth[row] != 0.0:
            near.rows[near.size[0]] = row
            near.size[0] += 1
    if is_range and box[column]:
        ends[0, feature] = min(ends[0, feature], low)
        ends[1, feature] = max(ends[1, feature], high)
    elif is_range:
        ends[0, feature], ends[1, feature] = low, high
    box[column] = True


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
    """Add to what a value beside a run is worth half of what lies behind it."""
    size = box.size
    for column in range(size):
        if lines[column] < 0 or box[column] or not is_next(box, lines, column):
            continue
        step = 1 if column > 0 and box[column - 1] else -1
        further, at = 0.0, column + step
        while 0 <= at < size and lines[at] == lines[column] and not box[at]:
            further += gains[at]
            at += step
        gains[column] += 0.5 * further


@njit(cache=True, nogil=True)
def grow(net, desk, crowd, plan, grown, most, is_last):
    """Let a box grow until nothing can be added to it, or `most` boxes are searched.

    Every step adds the value, or moves the end of a range, whose slab brings the most
    worth of rows. If `is_last`, then what brings no row is added, and ends become round
    numbers. Returns whether the box is grown; if not, calling again goes on.
    """
    stop = desk.counts[1] + most
    near = near_rows(net, crowd, grown.box, grown.ends)
    add_rows(net, desk, crowd, near, plan, grown, stop)
    if not is_last:
        return desk.counts[1] < stop
    for feature in range(net.ranges.size):
        if desk.counts[1] < stop:
            widen(net, desk, crowd, near, plan, grown, feature)
    add_rows(net, desk, crowd, near, plan, grown, stop)
    for feature in range(net.ranges.size):
        for end in range(2):
            if desk.counts[1] < stop and grown.failed[end, feature] >= 0:
                round_off(net, desk, crowd, near, plan, grown, feature, end)
    return desk.counts[1] < stop


@njit(cache=True, nogil=True)
def add_rows(net, desk, crowd, near, plan, grown, stop):
    """Add what brings rows, the most first."""
    appraise(net, crowd, near, grown)
    look_ahead(near.gains, grown.box, plan.lines)
    while desk.counts[1] < stop:
        if not add_best(net, desk, crowd, near, plan, grown):
            break


@njit(cache=True, nogil=True)
def best_step(net, near, plan, grown):
    """Return the column, its feature, and the end of it if it is there, to try next.

    The last is -1 for a column that is not; the column is -1 if nothing is to be had.
    """
    best, best_gain, best_end, at_feature = -1, 0.0, -1, 0
    for feature in range(net.ranges.size):
        ranged = net.ranges[feature]
        for column in range(net.offsets[feature], net.offsets[feature + 1]):
            gain = near.gains[column] * grown.noise[column]
            if (
                gain > best_gain
                and not grown.barred[column]
                and is_next(grown.box, plan.lines, column)
            ):
                best, best_gain, best_end, at_feature = column, gain, -1, feature
        if ranged < 0 or not grown.box[ranged]:
            continue
        for end in range(2):
            failed = grown.failed[end, feature]
            noise = grown.noise[grown.box.size + 2 * feature + end]
            gain = near.end_gains[end, feature] * noise
            if gain > best_gain and 0 <= failed <= MOST_FAILURES:
                best, best_gain, best_end, at_feature = ranged, gain, end, feature
    return best, at_feature, best_end, best_gain


@njit(cache=True, nogil=True)
def add_best(net, desk, crowd, near, plan, grown):
    """Try what would bring most; tell whether there was anything to try."""
    box, ends = grown.box, grown.ends
    column, feature, end, gain = best_step(net, near, plan, grown)
    if column < 0:
        return False
    low, high = whole_of(net, plan, feature, column)
    if end == 0:
        low, high = near.to[0, feature], ends[0, feature]
    elif end == 1:
        low, high = ends[1, feature], near.to[1, feature]
    lay_out(net, desk, box, ends, feature, column, low, high)
    holds = ask(net, desk, plan.limits[0 if gain > 0.5 else 1], plan.patience) == PROVED
    if end < 0:
        grown.barred[column] = True
    if holds:
        take_in(net, crowd, near, box, ends, feature, column, low, high)
        appraise(net, crowd, near, grown)
        look_ahead(near.gains, box, plan.lines)
    elif end >= 0:
        grown.walls[end, feature] = near.to[end, feature]
        grown.failed[end, feature] += 1
        appraise_half(crowd, near, grown, feature, end, column)
    return True


@njit(cache=True, nogil=True)
def whole_of(net, plan, feature, column):
    """Return the ends of all numbers of a column."""
    if column == net.ranges[feature]:
        return plan.bounds[0, feature], plan.bounds[1, feature]
    return 1.0, 1.0


@njit(cache=True, nogil=True)
def widen(net, desk, crowd, near, plan, grown, feature):
    """Add what brings no row: the rest of a feature at once, then what can be had."""
    box, ends, barred = grown.box, grown.ends, grown.barred
    start, stop, limit = net.offsets[feature], net.offsets[feature + 1], plan.limits[1]
    ranged = net.ranges[feature]
    if ranged >= 0 and box[ranged]:
        for end in range(2):
            at, to = ends[end, feature], plan.bounds[end, feature]
            if at == to or np.isfinite(grown.walls[end, feature]):
                continue
            low, high = min(at, to), max(at, to)
            lay_out(net, desk, box, ends, feature, ranged, low, high)
            if ask(net, desk, limit, plan.patience) == PROVED:
                take_in(net, crowd, near, box, ends, feature, ranged, low, high)
            else:
                grown.walls[end, feature] = to
    left = 0
    for column in range(start, stop):
        left += not barred[column]
    while left > 0:
        desk.stack.allowed[0] = box
        desk.stack.ends[0] = ends
        desk.stack.allowed[0, start:stop] = ~barred[start:stop]
        if ranged >= 0 and not barred[ranged]:
            desk.stack.ends[0, :, feature] = plan.bounds[:, feature]
        status = ask(net, desk, limit, plan.patience)
        if status == REFUTED:
            barred[start + desk.space.choice[feature]] = True
            left -= 1
            continue
        add_rest(net, desk, crowd, near, plan, grown, feature, status == PROVED)
        return


@njit(cache=True, nogil=True)
def add_rest(net, desk, crowd, near, plan, grown, feature, is_proved):
    """Add the values of a feature that are left: all, or those that can be proved."""
    box, ends, barred = grown.box, grown.ends, grown.barred
    added = True
    while added:  # on a line, one value after the other comes within reach
        added = False
        for column in range(net.offsets[feature], net.offsets[feature + 1]):
            if barred[column] or not is_next(box, plan.lines, column):
                continue
            barred[column] = True
            low, high = whole_of(net, plan, feature, column)
            holds = is_proved
            if not holds:
                lay_out(net, desk, box, ends, feature, column, low, high)
                holds = ask(net, desk, plan.limits[1], plan.patience) == PROVED
            if holds:
                take_in(net, crowd, near, box, ends, feature, column, low, high)
                added = True
    barred[net.offsets[feature] : net.offsets[feature + 1]] = True


@njit(cache=True, nogil=True)
def round_off(net, desk, crowd, near, plan, grown, feature, end):
    """Move the end of a range to the roundest number that decides the same rows."""
    ranged, ends = net.ranges[feature], grown.ends
    grown.failed[end, feature] = -1
    if ranged < 0 or not grown.box[ranged]:
        return
    if ends[end, feature] == plan.bounds[end, feature]:
        return
    sign = 1.0 if end == 1 else -1.0
    at, stop = sign * ends[end, feature], sign * grown.walls[end, feature]
    stop = min(stop, sign * plan.bounds[end, feature])
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
        lay_out(net, desk, grown.box, ends, feature, ranged, low, high)
        if ask(net, desk, plan.limits[1], plan.patience) == PROVED:
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
