"""Propose the next question of a growing box."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn2rules.extraction._kernels.near_rows import appraise, is_next
from nn2rules.space._kernels.compiled import inlined

MOST_FAILURES = 8
ROUND_TRIES = 3

# The phases of growth (`Growth.state[0]`), in this order.
ADD_ROWS, WIDEN, ADD_MORE_ROWS, ROUND = 0, 1, 2, 3

# The kinds of questions (`Growth.state[2]`): about a column, a part of a range, or all
# untried values of a feature.
COLUMN, PART, REST = 0, 1, 2


class Plan(NamedTuple):
    """How boxes grow.

    Attributes
    ----------
    offsets, ranges, whole
        As in `FlatNetwork`.
    bounds : ndarray of float64, shape (2, n_features)
        The limits of the ranges of the domain.
    lines : ndarray of int64, shape (n_columns,)
        Values with the same entry of at least 0 are ordered numbers, of which a box
        allows a run; -1 for unordered values.
    limits : ndarray of int64, shape (2,)
        Boxes to search for a slab with rows, and for one without.
    patience : float
        A slab is given up once it seems to need more than this many times as many.
    """

    offsets: NDArray[np.int64]
    ranges: NDArray[np.int64]
    whole: NDArray[np.bool_]
    bounds: NDArray[np.float64]
    lines: NDArray[np.int64]
    limits: NDArray[np.int64]
    patience: float


class Growth(NamedTuple):
    """A growing box, and what was tried; `grow` continues from here.

    Attributes
    ----------
    box : ndarray of bool, shape (n_columns,)
    ends : ndarray of float64, shape (2, n_features)
        The box, which has the class. Ranges that it does not allow have the domain's
        ends.
    barred : ndarray of bool, shape (n_columns,)
        Values that it allows, or that were tried.
    walls : ndarray of float64, shape (2, n_features)
        Numbers that its ranges cannot reach.
    failed : ndarray of int64, shape (2, n_features)
        How often an end could not be moved; negative: how often it could not be
        rounded.
    noise : ndarray of float64, shape (n_columns + 2 n_features,)
        Factors on the gains of values and of the two ends of each range.
    state : ndarray of int64, shape (6,)
        The phase and its feature, and the question: its kind, feature, column and end.
        See `propose`.
    span : ndarray of float64, shape (2,)
        The interval of numbers of the question.
    """

    box: NDArray[np.bool_]
    ends: NDArray[np.float64]
    barred: NDArray[np.bool_]
    walls: NDArray[np.float64]
    failed: NDArray[np.int64]
    noise: NDArray[np.float64]
    state: NDArray[np.int64]
    span: NDArray[np.float64]


@inlined
def best_step(plan, near, grown):
    """Return the column with the largest gain, its feature, its end, and the gain.

    The end is -1 for a column that is not allowed yet; the column is -1 if there is no
    gain.
    """
    best, best_gain, best_end, at_feature = -1, 0.0, -1, 0
    for feature in range(plan.ranges.size):
        ranged = plan.ranges[feature]
        for column in range(plan.offsets[feature], plan.offsets[feature + 1]):
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


@inlined
def set_question(grown, kind, feature, column, end, low, high):
    """Record a question; `end` is -1 if it moves no end of a range."""
    grown.state[2], grown.state[3] = kind, feature
    grown.state[4], grown.state[5] = column, end
    grown.span[0], grown.span[1] = low, high


@inlined
def propose(plan, row_index, near, grown, is_last):
    """Record the next question; return its limit on boxes, or 0 if there is none.

    First about the value, or the end of a range, whose slab has the largest gain. If
    `is_last`, then about values without rows, about values that have rows after that,
    and about ends that are round numbers.
    """
    state = grown.state
    while True:
        if state[0] in (ADD_ROWS, ADD_MORE_ROWS):
            column, feature, end, gain = best_step(plan, near, grown)
            if column >= 0:
                low, high = span_to(plan, near, grown, feature, column, end)
                kind = COLUMN if end < 0 else PART
                set_question(grown, kind, feature, column, end, low, high)
                return plan.limits[0 if gain > 0.5 else 1]
            if state[0] == ADD_ROWS and not is_last:
                return 0
            state[0], state[1], state[2] = state[0] + 1, 0, REST
        elif state[1] == plan.ranges.size:
            if state[0] == ROUND:
                return 0
            state[0] = ADD_MORE_ROWS
            appraise(plan, row_index, near, grown)
        else:
            if state[0] == WIDEN:
                is_found = propose_wider(plan, grown, state[1])
            else:
                is_found = propose_round(plan, row_index, near, grown, state[1])
            if is_found:
                return plan.limits[1]
            state[1], state[2] = state[1] + 1, REST


@inlined
def span_to(plan, near, grown, feature, column, end):
    """Return the interval of numbers that a step adds."""
    if end == 0:
        return near.to[0, feature], grown.ends[0, feature]
    if end == 1:
        return grown.ends[1, feature], near.to[1, feature]
    if column == plan.ranges[feature]:
        return plan.bounds[0, feature], plan.bounds[1, feature]
    return 1.0, 1.0


@inlined
def propose_wider(plan, grown, feature):
    """Record a question about values of a feature without rows, if there is one.

    The ends of a range are moved as far as possible. The other values are asked about
    together or, if that failed, one by one.
    """
    ranged = plan.ranges[feature]
    if ranged >= 0 and grown.box[ranged]:
        for end in range(2):
            at, to = grown.ends[end, feature], plan.bounds[end, feature]
            if at != to and not np.isfinite(grown.walls[end, feature]):
                set_question(
                    grown, PART, feature, ranged, end, min(at, to), max(at, to)
                )
                return True
    is_single = grown.state[2] == COLUMN and grown.state[3] == feature
    for column in range(plan.offsets[feature], plan.offsets[feature + 1]):
        if not grown.barred[column]:
            if not is_single:
                set_question(grown, REST, feature, column, -1, 1.0, 1.0)
                return True
            if is_next(grown.box, plan.lines, column):
                low, high = 1.0, 1.0
                if column == ranged:
                    low, high = plan.bounds[0, feature], plan.bounds[1, feature]
                set_question(grown, COLUMN, feature, column, -1, low, high)
                return True
    return False


@inlined
def propose_round(plan, row_index, near, grown, feature):
    """Record a question about the roundest end that covers the same rows."""
    ranged = plan.ranges[feature]
    if ranged < 0 or not grown.box[ranged]:
        return False
    for end in range(2):
        at = grown.ends[end, feature]
        if (
            at == plan.bounds[end, feature]
            or grown.failed[end, feature] <= -ROUND_TRIES
        ):
            continue
        sign = 1.0 if end == 1 else -1.0
        stop = min(sign * grown.walls[end, feature], sign * plan.bounds[end, feature])
        for index in range(near.size[0]):
            row = near.rows[index]
            number = sign * row_index.numbers[feature, row]
            if (
                row_index.columns[feature, row] == ranged
                and near.n_out[row] == 1
                and sign * at < number < stop
            ):
                stop = number
        target = sign * roundest(sign * at, stop, plan.whole[feature])
        grown.failed[end, feature] = min(grown.failed[end, feature], 0) - 1
        if target != at:
            set_question(
                grown, PART, feature, ranged, end, min(at, target), max(at, target)
            )
            return True
        grown.failed[end, feature] = -ROUND_TRIES
    return False


@inlined
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
