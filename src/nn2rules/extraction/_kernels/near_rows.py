"""The rows near a box that grows, and what its next steps would bring."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn2rules.space._kernels.compiled import inlined, kernel
from nn2rules.space._kernels.loops import copy_rows, fill, stable_order

HINT = 0.01
"""What a row is worth for each step that it is further away, of what it is worth."""

FEW = 8
"""Rows that are so far away count, too, that there are at least so many."""


class RowIndex(NamedTuple):
    """The rows that say where a box should grow.

    Attributes
    ----------
    columns : ndarray of int64, shape (n_features, n_rows)
        The columns that each row picks.
    numbers : ndarray of float64, shape (n_features, n_rows)
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


class Near(NamedTuple):
    """The rows that a box would hold with a few values more, and what these bring.

    Attributes
    ----------
    n_out, out, squares : ndarray of int64, shape (n_rows,)
        For each row in how many features it lies outside, the sum of their positions,
        and that of their squares: of two features it tells which they are.
    rows : ndarray of int64
        Those that count (see `counts_at`), and some that lie inside by now.
    size : ndarray of int64, shape (2,)
        How many of them there are, and in how many features they lie outside at most.
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


@inlined
def is_in(ranges, box, ends, feature, column, number):
    """Tell whether a box allows one value of a feature."""
    if not box[column]:
        return False
    if column == ranges[feature]:
        return ends[0, feature] <= number <= ends[1, feature]
    return True


@inlined
def counts_at(n_out, row_index, row):
    """Tell whether a row counts that lies outside in one feature, or in several.

    In several they hint at where a box might go; other classes do no harm there.
    """
    return row_index.worth[row] > 0.0 or (n_out == 1 and row_index.worth[row] != 0.0)


@inlined
def near_rows(plan, row_index, grown):
    """Return the rows that are near a box; `appraise` fills in what they bring."""
    box, ends = grown.box, grown.ends
    n_features, n_rows = row_index.columns.shape
    near = Near(
        np.zeros(n_rows, np.int64),
        np.zeros(n_rows, np.int64),
        np.zeros(n_rows, np.int64),
        np.empty(n_rows, np.int64),
        np.zeros(2, np.int64),
        np.zeros(box.size),
        np.zeros((2, n_features)),
        np.zeros((2, n_features)),
        np.zeros((2, n_features)),
    )
    for feature in range(n_features):
        for row in range(n_rows):
            column, number = (
                row_index.columns[feature, row],
                row_index.numbers[feature, row],
            )
            if not is_in(plan.ranges, box, ends, feature, column, number):
                near.n_out[row] += 1
                near.out[row] += feature
                near.squares[row] += feature * feature
    n_at = np.zeros(n_features + 1, np.int64)
    for row in range(n_rows):
        n_at[near.n_out[row]] += row_index.worth[row] > 0.0
    most, n_near = 0, 0
    while most < n_features and (most < 2 or n_near < FEW):
        most += 1
        n_near += n_at[most]
    near.size[1] = most
    for row in range(n_rows):
        if 1 <= near.n_out[row] <= most and counts_at(near.n_out[row], row_index, row):
            near.rows[near.size[0]] = row
            near.size[0] += 1
    return near


@inlined
def outside(near, row, which):
    """Return one of the two features (or the one) in which a row lies outside."""
    total = near.out[row]
    if near.n_out[row] == 1:
        return total
    apart = np.int64(np.sqrt(np.float64(2 * near.squares[row] - total * total)) + 0.5)
    return (total - apart) // 2 if which == 0 else (total + apart) // 2


@kernel
def appraise(plan, row_index, near, grown):
    """Fill in what each column and each end of a range would bring.

    Rows of other classes bar the columns that would let them in, and stop ends.
    """
    ends, size, kept = grown.ends, near.size[0], 0
    fill(near.gains, 0.0)
    for end in range(2):
        fill(near.end_gains[end], 0.0)
    copy_rows(near.to, ends)
    copy_rows(near.stops, grown.walls)
    for index in range(size):
        row = near.rows[index]
        if near.n_out[row] == 0:
            continue
        near.rows[kept] = row
        kept += 1
        if row_index.worth[row] >= 0.0 or near.n_out[row] != 1:
            continue
        feature = near.out[row]
        column, number = (
            row_index.columns[feature, row],
            row_index.numbers[feature, row],
        )
        if column != plan.ranges[feature] or not grown.box[column]:
            grown.barred[column] = True
        elif number > ends[1, feature]:
            near.stops[1, feature] = min(near.stops[1, feature], number)
        else:
            near.stops[0, feature] = max(near.stops[0, feature], number)
    near.size[0] = kept
    for index in range(kept):
        row = near.rows[index]
        if row_index.worth[row] <= 0.0:
            continue
        n_out = near.n_out[row]
        worth = row_index.worth[row] * HINT ** (n_out - 1)
        for which in range(n_out if n_out <= 2 else plan.ranges.size):
            feature = which if n_out > 2 else outside(near, row, which)
            column, number = (
                row_index.columns[feature, row],
                row_index.numbers[feature, row],
            )
            if n_out > 2 and is_in(
                plan.ranges, grown.box, ends, feature, column, number
            ):
                continue
            if column != plan.ranges[feature] or not grown.box[column]:
                near.gains[column] += worth
            elif number > ends[1, feature]:
                if number < near.stops[1, feature]:
                    near.end_gains[1, feature] += worth
                    near.to[1, feature] = max(near.to[1, feature], number)
            elif number > near.stops[0, feature]:
                near.end_gains[0, feature] += worth
                near.to[0, feature] = min(near.to[0, feature], number)
    for feature in range(plan.ranges.size):
        for end in range(2):
            if grown.failed[end, feature] > 0 or (
                near.size[1] > 2 and near.end_gains[end, feature] < 0.5
            ):
                appraise_half(plan, row_index, near, grown, feature, end)
    look_ahead(near.gains, grown.box, plan.lines)


@kernel
def appraise_half(plan, row_index, near, grown, feature, end):
    """Fill in how far an end might move to bring half of the rows up to its wall."""
    ranged, sign = plan.ranges[feature], 1.0 if end == 1 else -1.0
    at = sign * grown.ends[end, feature]
    near.stops[end, feature] = sign * min(
        sign * near.stops[end, feature], sign * grown.walls[end, feature]
    )
    stop = sign * near.stops[end, feature]
    found, worth = np.empty(near.size[0]), np.empty(near.size[0])
    n_found, total = 0, 0.0
    for index in range(near.size[0]):
        row = near.rows[index]
        number = sign * row_index.numbers[feature, row]
        if row_index.columns[feature, row] != ranged or not at < number < stop:
            continue
        n_out = near.n_out[row]
        if row_index.worth[row] <= 0.0 or not 1 <= n_out <= near.size[1]:
            continue
        found[n_found] = number
        worth[n_found] = row_index.worth[row] * HINT ** (n_out - 1)
        total += worth[n_found]
        n_found += 1
    target, gain = at, 0.0
    for index in stable_order(found[:n_found]):
        if gain >= 0.5 * total:
            break
        gain += worth[index]
        target = found[index]
    near.to[end, feature], near.end_gains[end, feature] = sign * target, gain


@inlined
def is_next(box, lines, column):
    """Tell whether a value may be added: on a line, only beside one that is there."""
    if lines[column] < 0:
        return True
    if column > 0 and lines[column - 1] == lines[column] and box[column - 1]:
        return True
    return (
        column + 1 < box.size and lines[column + 1] == lines[column] and box[column + 1]
    )


@inlined
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


@kernel
def take_in(plan, row_index, near, grown, feature, column, low, high):
    """Let a box grow by a slab, and find the rows that are near it now."""
    box, ends, order = grown.box, grown.ends, row_index.order[feature]
    at, stop = row_index.starts[column], row_index.starts[column + 1]
    offset = feature * row_index.worth.size
    is_range = column == plan.ranges[feature]
    if is_range:  # only the rows from `low` on
        first, last = at, stop
        while first < last:
            middle = (first + last) // 2
            if row_index.numbers[feature, order[middle - offset]] < low:
                first = middle + 1
            else:
                last = middle
        at = first
    for place in range(at, stop):
        row = order[place - offset]
        number = row_index.numbers[feature, row]
        if is_range and number > high:
            break
        if is_in(plan.ranges, box, ends, feature, column, number):
            continue
        near.n_out[row] -= 1
        near.out[row] -= feature
        near.squares[row] -= feature * feature
        n_out = near.n_out[row]
        is_new = n_out == near.size[1] or (
            n_out == 1 and not counts_at(2, row_index, row)
        )
        if is_new and counts_at(n_out, row_index, row):
            near.rows[near.size[0]] = row
            near.size[0] += 1
    if is_range and box[column]:
        ends[0, feature] = min(ends[0, feature], low)
        ends[1, feature] = max(ends[1, feature], high)
    elif is_range:
        ends[0, feature], ends[1, feature] = low, high
    box[column] = True


@kernel
def holds_any(ranges, columns, numbers, box, ends):
    """Tell whether a box holds any of the rows, which are rows of the arrays here."""
    for row in range(columns.shape[0]):
        held = True
        for feature in range(columns.shape[1]):
            column, number = columns[row, feature], numbers[row, feature]
            if not is_in(ranges, box, ends, feature, column, number):
                held = False
                break
        if held:
            return True
    return False


@kernel
def held_rows(ranges, columns, numbers, box, ends):
    """Tell which rows a box holds."""
    held = np.ones(columns.shape[1], dtype=np.bool_)
    for feature in range(columns.shape[0]):
        for row in range(columns.shape[1]):
            if held[row]:
                column, number = columns[feature, row], numbers[feature, row]
                held[row] = is_in(ranges, box, ends, feature, column, number)
    return held
