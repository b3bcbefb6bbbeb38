"""Operations on boxes, compared with every input of a small domain."""

from itertools import product

import numpy as np
import pytest

from nn2rules import Domain, Feature
from nn2rules.space import (
    Boxes,
    box_sizes,
    common_boxes,
    containing,
    cut_at_ends,
    cut_codes,
    inputs_by_volume,
    inputs_in_boxes,
    inside,
    inside_any,
    inside_each,
    joined,
    meeting,
    no_boxes,
    number_size,
    number_sizes,
    parts_of,
    random_inputs,
    readable_inputs,
    whole_boxes,
)

DOMAIN = Domain(
    (
        Feature.real("age", 1, 6, whole=True, missing=True),
        Feature("job", ("a", "b", "c")),
    )
)
CODES, NUMBERS = map(
    np.array,
    zip(
        *(
            ((code, job), (float(number), 1.0))
            for (code, number), job in product(
                [*((0, n) for n in range(1, 7)), (1, 1)], range(3)
            )
        ),
        strict=True,
    ),
)


def some_boxes(seed, number):
    rng = np.random.default_rng(seed)
    allowed = np.zeros((number, 5), dtype=np.bool_)
    for box in allowed:
        while not (box[:2].any() and box[2:].any()):
            box[:] = rng.random(5) < 0.6
    ends = np.ones((number, 2, 2))
    ends[:, :, 0] = np.sort(rng.integers(1, 7, (number, 2)), axis=1)
    return Boxes(allowed, ends)


def held(boxes, which):
    """Return which inputs a box holds, one by one."""
    found = set()
    for place, ((code, job), (number, _)) in enumerate(
        zip(CODES.tolist(), NUMBERS.tolist(), strict=True)
    ):
        low, high = boxes.ends[which, :, 0]
        is_in = boxes.allowed[which, code] and boxes.allowed[which, 2 + job]
        if is_in and (code or low <= number <= high):
            found.add(place)
    return found


def places(boxes):
    return set(np.flatnonzero(inside(DOMAIN, boxes, CODES, NUMBERS)).tolist())


@pytest.mark.parametrize("seed", range(20))
def test_boxes_hold_what_each_input_says(seed):
    boxes, others = some_boxes(seed, 3), some_boxes(seed + 100, 2)
    each = [held(boxes, which) for which in range(3)]
    assert places(boxes) == set.union(*each)
    assert places(no_boxes(DOMAIN)) == set()
    assert places(joined(DOMAIN, [boxes, others])) == places(boxes) | places(others)
    assert places(common_boxes(DOMAIN, boxes, others)) == places(boxes) & places(others)
    one, box = held(others, 0), (others.allowed[0], others.ends[0])
    assert meeting(DOMAIN, boxes, box).tolist() == [bool(own & one) for own in each]
    assert number_size(DOMAIN, box) == len(one)
    if containing(DOMAIN, boxes, box).any():
        assert any(one <= own for own in each)


@pytest.mark.parametrize("seed", range(20))
def test_boxes_are_the_same_in_a_domain_that_is_cut(seed):
    boxes = some_boxes(seed, 3)
    cut, allowed = cut_at_ends(DOMAIN, boxes)
    codes = cut_codes(cut, CODES, NUMBERS)
    assert places(boxes) == set(np.flatnonzero(inside_any(cut, allowed, codes)))
    sizes = [len(held(boxes, which)) for which in range(3)]
    assert [int(each.sum()) for each in inside_each(cut, allowed, codes)] == sizes
    assert number_sizes(cut, allowed) == sizes
    for which, box in enumerate(allowed):
        assert places(parts_of(cut, box)) == held(boxes, which)


def test_a_range_without_edges_is_one_cell():
    assert (cut_codes(DOMAIN, CODES, NUMBERS) == CODES).all()
    whole = whole_boxes(DOMAIN, np.ones((1, 5), dtype=np.bool_))
    assert len(places(whole)) == len(CODES)
    assert box_sizes(DOMAIN, whole.allowed) == [6]


def test_random_inputs_are_of_the_domain():
    rng = np.random.default_rng(0)
    everything = whole_boxes(DOMAIN, np.ones((1, 5), dtype=np.bool_))
    for draw in (random_inputs, readable_inputs, inputs_by_volume):
        assert inside(DOMAIN, everything, *draw(DOMAIN, 500, rng)).all()
    boxes = some_boxes(3, 2)
    inputs = inputs_in_boxes(DOMAIN, boxes, 50, rng)
    assert len(inputs.codes) == 100
    assert inside(DOMAIN, boxes, *inputs).all()
