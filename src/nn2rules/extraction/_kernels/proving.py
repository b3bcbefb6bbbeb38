"""Branch and bound that records its steps as a proof.

The steps are bytes: the nodes of a tree of boxes, each before its two halves. See
`docs/reference/formats.md`.
"""

from nn2rules.engine._kernels.bounds import bound_worst
from nn2rules.engine._kernels.search import (
    allowed_codes,
    by_bound,
    choose_feature,
    evaluate_choice,
    moved_by,
    note,
)
from nn2rules.space._kernels.boxes import before, behind, halves_of, holds_point
from nn2rules.space._kernels.compiled import inlined, kernel
from nn2rules.space._kernels.loops import copy_rows, copy_to

DONE, REFUTED, PAUSED, TAPE_FULL, TIES_FULL, TOO_DEEP = 0, 1, 2, 3, 4, 5

BOUND, EXACT, INSIDE, APART, SPLIT = 0, 1, 2, 3, 4


@kernel
def record(net, space, stack, top, ignored, which, margin, tape, ties, limit):
    """Prove that all scores are positive on the boxes of a stack, and record the proof.

    Parameters
    ----------
    stack : Boxes
        The first `top` are still to be proved.
    ignored : Boxes
        Inputs in these boxes are ignored; `which` are their numbers in the proof.
    margin : float
        How far a bound must exceed 0, so that a checker finds it positive, too.
    tape : ndarray of uint8
        Filled with the steps.
    ties : Inputs
        Filled with inputs that the caller decides in exact arithmetic.
    limit : int
        Stop after this many boxes.

    Returns
    -------
    status, top, used, n_ties, n_boxes : int
    """
    n_boxes, n_ties, used = 0, 0, 0
    longest = 32 + net.sizes[0] // 8
    while top > 0:
        if n_boxes >= limit:
            return PAUSED, top, used, n_ties, n_boxes
        if used + longest > tape.size:
            return TAPE_FULL, top, used, n_ties, n_boxes
        if n_ties == ties.codes.shape[0]:
            return TIES_FULL, top, used, n_ties, n_boxes
        if top + 1 >= stack.allowed.shape[0]:
            return TOO_DEEP, top, used, n_ties, n_boxes
        top -= 1
        n_boxes += 1
        copy_to(space.box, stack.allowed[top])
        copy_rows(space.ends, stack.ends[top])
        around = box_around(net, space, ignored)
        if around >= 0:
            used = write(tape, used, INSIDE)
            used = write(tape, used, which[around])
            continue
        if bound_worst(net, space, True) > margin:
            used = write(tape, used, BOUND)
            continue
        feature = choose_feature(net, space)
        most, _ = evaluate_choice(net, space)
        held_by = box_of_point(net, space, ignored)
        if most < 0.0 and held_by < 0:
            return REFUTED, top, used, n_ties, n_boxes
        if feature < 0:
            used = write(tape, used, EXACT)
            note(ties, n_ties, space)
            n_ties += 1
        elif held_by >= 0:
            feature = part_outside(net, space, ignored, held_by)
            used = write(tape, used, APART)
            used = write(tape, used, which[held_by])
            used = write(tape, used, feature)
            top = push_apart(net, space, ignored, held_by, feature, stack, top)
        else:
            used = write(tape, used, SPLIT + feature)
            top, used = push_split(net, space, feature, stack, top, tape, used)
    return DONE, top, used, n_ties, n_boxes


@kernel
def write(tape, used, number):
    """Write an integer, seven bits per byte, the lowest first."""
    while number >= 128:
        tape[used] = 128 + number % 128
        number //= 128
        used += 1
    tape[used] = number
    return used + 1


@kernel
def outside(net, space, ignored, other, feature):
    """Return whether the box allows a value of a feature that another does not."""
    for column in range(net.offsets[feature], net.offsets[feature + 1]):
        if not space.box[column]:
            continue
        if not ignored.allowed[other, column]:
            return True
        if column == net.ranges[feature] and not (
            ignored.ends[other, 0, feature] <= space.ends[0, feature]
            and space.ends[1, feature] <= ignored.ends[other, 1, feature]
        ):
            return True
    return False


@inlined
def box_around(net, space, ignored):
    """Return the first of several boxes that contains the box, or -1."""
    for other in range(ignored.allowed.shape[0]):
        inside = True
        for feature in range(net.ranges.size):
            if outside(net, space, ignored, other, feature):
                inside = False
                break
        if inside:
            return other
    return -1


@inlined
def box_of_point(net, space, ignored):
    """Return the first of several boxes that contains the chosen input, or -1."""
    for other in range(ignored.allowed.shape[0]):
        allowed, ends = ignored.allowed[other], ignored.ends[other]
        if holds_point(net, allowed, ends, space.choice, space.numbers):
            return other
    return -1


@inlined
def part_outside(net, space, ignored, other):
    """Return the feature that exceeds another box and moves the bound most."""
    chosen, highest = -1, -1.0
    for feature in range(net.ranges.size):
        if outside(net, space, ignored, other, feature):
            moved = moved_by(net, space, feature)
            if chosen < 0 or moved > highest:
                chosen, highest = feature, moved
    return chosen


@inlined
def push_two(space, stack, top):
    """Put the box on the stack twice."""
    for position in range(top, top + 2):
        copy_to(stack.allowed[position], space.box)
        copy_rows(stack.ends[position], space.ends)


@inlined
def push_apart(net, space, ignored, other, feature, stack, top):
    """Split the box into the values of a feature that another allows, and the rest.

    The values that the other allows come first. If it allows all, the range comes
    before the special values, and then the lower numbers come first.
    """
    push_two(space, stack, top)
    start, stop = net.offsets[feature], net.offsets[feature + 1]
    ranged = net.ranges[feature]
    n_allowed, n_inside = 0, 0
    for column in range(start, stop):
        if space.box[column]:
            n_allowed += 1
            n_inside += ignored.allowed[other, column]
    if n_allowed > 1:
        for column in range(start, stop):
            is_first = column == ranged
            if n_inside < n_allowed:
                is_first = ignored.allowed[other, column]
            stack.allowed[top + (0 if is_first else 1), column] = False
        return top + 2
    low, high = ignored.ends[other, 0, feature], ignored.ends[other, 1, feature]
    if space.ends[0, feature] < low:
        to, at = before(low, net.whole[feature]), low
    else:
        to, at = high, behind(high, net.whole[feature])
    stack.ends[top + 1, 1, feature] = to
    stack.ends[top, 0, feature] = at
    return top + 2


@inlined
def push_split(net, space, feature, stack, top, tape, used):
    """Halve the box on a feature; for values, record which come first.

    The lower numbers of a range come first.
    """
    push_two(space, stack, top)
    start, allowed = net.offsets[feature], allowed_codes(net, space, feature)
    if allowed.size == 1:
        low, high = space.ends[0, feature], space.ends[1, feature]
        to, at = halves_of(low, high, net.whole[feature])
        stack.ends[top + 1, 1, feature] = to
        stack.ends[top, 0, feature] = at
        return top + 2, used
    order, half = by_bound(net, space, feature, allowed), (allowed.size + 1) // 2
    for byte in range((allowed.size + 7) // 8):
        tape[used + byte] = 0
    for rank in range(order.size):
        place = order[rank]
        if rank < half:
            tape[used + place // 8] += 1 << (place % 8)
        stack.allowed[top + (0 if rank < half else 1), start + allowed[place]] = False
    return top + 2, used + (allowed.size + 7) // 8
