"""The rows near a growing box, and the gains of its next steps."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn2rules.space._kernels.compiled import inlined, kernel
from nn2rules.space._kernels.loops import copy_rows, fill, stable_order

HINT = 0.01
"""The factor on the weight of a row for each further feature in which it is outside."""

FEW = 8
"""More distant rows count until there are at least this many."""


class RowIndex(NamedTuple):
    """The rows that guide the growth of a box.

    Attributes
    ----------
    columns : ndarray of int64, shape (n_features, n_rows)
        The column of each row for each feature.
    numbers : ndarray of float64, shape (n_features, n_rows)
        The numbers of the rows; 1 for values that are not in a range.
    worth : ndarray of float64, shape (n_rows,)
        The weight of covering a row; -1 for rows of another class, which must stay
        outside.
    order : ndarray of int64, shape (n_features, n_rows)
        The rows sorted by their column, and then by their number.
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
    """The rows that a box would contain with a few more values, and the gains of these.

    Attributes
    ----------
    n_out, out, squares : ndarray of int64, shape (n_rows,)
        For each row: in how many features it lies outside, the sum of their positions,
        and the sum of their squares, which identify two features.
    rows : ndarray of int64
        Those that count (see `counts_at`), and some that are inside by now.
    size : ndarray of int64, shape (2,)
        Their number, and the maximum number of features in which they lie outside.
    gains : ndarray of float64, shape (n_columns,)
        The gain of each column that the box does not allow.
    to, end_gains, stops : ndarray of float64, shape (2, n_features)
        How far each end of a range might move, its gain, and where a row of another
        class stops it.
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
    """Return whether a box allows one value of a feature."""
    if not box[column]:
        return False
    if column == ranges[feature]:
        return ends[0, feature] <= number <= ends[1, feature]
    return True


@inlined
def counts_at(n_out, row_index, row):
    """Return whether a row counts that lies outside in this many features.

    Rows that lie outside in several features are hints; those of other classes do not
    matter then.
    """
    return row_index.worth[row] > 0.0 or (n_out == 1 and row_index.worth[row] != 0.0)


@inlined
def near_rows(plan, row_index, grown):
    """Return the rows near a box; `appraise` fills in the gains."""
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
    """Return one of the one or two features in which a row lies outside."""
    total = near.out[row]
    if near.n_out[row] == 1:
        return total
    apart = np.int64(np.sqrt(np.float64(2 * near.squares[row] - total * total)) + 0.5)
    return (total - apart) // 2 if which == 0 else (total + apart) // 2


@kernel
def appraise(plan, row_index, near, grown):
    """Fill in the gain of each column and each end of a range.

    Rows of other classes bar columns that would include them, and stop ends.
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
    """Fill in how far an end must move to gain half of the rows up to its wall."""
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
    """Return whether a value may be added: on a line, only next to an allowed one."""
    if lines[column] < 0:
        return True
    if column > 0 and lines[column - 1] == lines[column] and box[column - 1]:
        return True
    return (
        column + 1 < box.size and lines[column + 1] == lines[column] and box[column + 1]
    )


@inlined
def look_ahead(gains, box, lines):
    """Add half of the gains behind a value to the gain of a value next to a run."""
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
    """Add a slab to a box, and update the rows near it."""
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
    """Return whether a box contains any row; here rows are rows of the arrays."""
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
    """Return which rows a box contains."""
    held = np.ones(columns.shape[1], dtype=np.bool_)
    for feature in range(columns.shape[0]):
        for row in range(columns.shape[1]):
            if held[row]:
                column, number = columns[feature, row], numbers[feature, row]
                held[row] = is_in(ranges, box, ends, feature, column, number)
    return held
