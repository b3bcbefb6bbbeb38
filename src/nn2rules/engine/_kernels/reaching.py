"""Branch and bound for the opposite question: whether all scores can be above 0.

An input of a twin network is a pair of inputs that share all features but some, which
come in pairs.
"""

import numpy as np

from nn2rules.engine._kernels.bounds import bound_layers, score_lower
from nn2rules.engine._kernels.search import (
    PAUSED,
    PROVED,
    REFUTED,
    ROUNDING,
    TIES_FULL,
    TOO_DEEP,
    TOUCHING,
    choose_feature,
    evaluate_choice,
    is_open,
    note,
    pop,
    push_halves,
)
from nn2rules.space._kernels.boxes import is_covered, is_inside
from nn2rules.space._kernels.compiled import NOUGHT, inlined, kernel


@inlined
def ranks_of(net, space, feature, ranks):
    """Return the minimum and the maximum rank of a feature in the box."""
    low, high = np.inf, -np.inf
    for column in range(net.offsets[feature], net.offsets[feature + 1]):
        if space.box[column]:
            first = last = ranks[column]
            if column == net.ranges[feature]:
                first, last = space.ends[0, feature], space.ends[1, feature]
            low, high = min(low, first), max(high, last)
    return low, high


@inlined
def is_idle(net, space, pairs, ranks, is_ordered):
    """Return whether no input of the box is a pair of different inputs in order."""
    for index in range(pairs.shape[0]):
        one, other = pairs[index, 0], pairs[index, 1]
        if is_ordered:
            least, _ = ranks_of(net, space, one, ranks)
            _, most = ranks_of(net, space, other, ranks)
            return least >= most
        if is_open(net, space, one) or is_open(net, space, other):
            return False
        code, same = only_code(net, space, one), only_code(net, space, other)
        if code != same:
            return False
        is_number = net.offsets[one] + code == net.ranges[one]
        if is_number and space.ends[0, one] != space.ends[0, other]:
            return False
    return pairs.shape[0] > 0


@inlined
def only_code(net, space, feature):
    """Return the first value of a feature in the box."""
    start = net.offsets[feature]
    for column in range(start, net.offsets[feature + 1]):
        if space.box[column]:
            return column - start
    return 0


@inlined
def is_pair(net, space, pairs, ranks, is_ordered):
    """Return whether the chosen input is a pair of different inputs in order."""
    for index in range(pairs.shape[0]):
        one, other = pairs[index, 0], pairs[index, 1]
        if is_ordered:
            here = rank_at(net, space, one, ranks)
            return here < rank_at(net, space, other, ranks)
        is_other = space.choice[one] != space.choice[other]
        if is_other or space.numbers[one] != space.numbers[other]:
            return True
    return pairs.shape[0] == 0


@inlined
def rank_at(net, space, feature, ranks):
    """Return the rank of a feature at the chosen input."""
    column = net.offsets[feature] + space.choice[feature]
    if column == net.ranges[feature]:
        return space.numbers[feature]
    return ranks[column]


@inlined
def highest_bounds(net, space):
    """Return the lowest upper bound of the scores, and its slack, after `bound_layers`.

    Leaves in ``space`` what belongs to that score, as `bound_worst` does.
    """
    last = net.sizes.size - 2
    lowest, lowest_at = np.inf, NOUGHT
    n_scores = net.sizes[last + 1]
    for k in range(n_scores):
        above = net.slack[net.unit_at[last] + k] - score_lower(net, space, k, -1.0)
        if above < lowest:
            lowest, lowest_at = above, k
    score_lower(net, space, lowest_at, -1.0)
    return lowest, net.slack[net.unit_at[last] + lowest_at]


@kernel
def reach(
    net, space, stack, top, ignored, pairs, ranks, is_ordered, ties, limit, touching
):
    """Look for an input whose scores are all above 0, in the boxes on a stack.

    Parameters
    ----------
    stack, top, ignored, ties, limit, touching
        As in `search`.
    pairs : ndarray of int64, shape (n_pairs, 2)
        Of a twin network, the features that the two inputs do not share.
    ranks : ndarray of float64, shape (n_columns,)
        The rank of each value; numbers of a range are their own rank.
    is_ordered : bool
        Whether the first input must have the lower rank; for a single pair only.
        Otherwise the inputs must be different, and ranks have no meaning.

    Returns
    -------
    status : PROVED if there is none, REFUTED if one is chosen in `space`, PAUSED,
        TIES_FULL, TOO_DEEP or TOUCHING
    top, n_ties, n_boxes : int
    """
    n_boxes, n_ties = 0, 0
    while top > 0:
        if n_boxes >= limit:
            return PAUSED, top, n_ties, n_boxes
        if n_ties == ties.codes.shape[0]:
            return TIES_FULL, top, n_ties, n_boxes
        if top + 1 >= stack.allowed.shape[0]:
            return TOO_DEEP, top, n_ties, n_boxes
        top -= 1
        n_boxes += 1
        is_new = pop(net, space, stack, top)
        if is_inside(net, space.box, space.ends, ignored):
            continue
        if is_idle(net, space, pairs, ranks, is_ordered):
            continue
        bound_layers(net, space, is_new)
        above, slack = highest_bounds(net, space)
        if above < 0.0:
            continue
        feature = choose_feature(net, space)
        most, least = evaluate_choice(net, space)
        is_found = not most < 0.0 and (least > 0.0 or feature < 0)
        is_found = is_found and is_pair(net, space, pairs, ranks, is_ordered)
        if is_found and not is_covered(net, space.choice, space.numbers, ignored):
            if least > 0.0:
                return REFUTED, top, n_ties, n_boxes
            note(ties, n_ties, space)
            n_ties += 1
        if feature >= 0:
            top = push_halves(net, space, feature, stack, top)
            if touching and above < ROUNDING * slack:
                return TOUCHING, top, n_ties, n_boxes
    return PROVED, top, n_ties, n_boxes
