"""Boxes made disjoint hold the same inputs, each in one piece."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nn2rules import BudgetExceededError
from nn2rules.export.cells import Cells, Interval, complement
from nn2rules.export.disjoint import disjoint


@st.composite
def box_lists(draw):
    """Draw boxes, empty ones excepted, over few features."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    offsets = [0, *np.cumsum(sizes).tolist()]
    parts = st.tuples(*(st.integers(1, 2**size - 1) for size in sizes))
    boxes = [
        [
            bool(part >> bit & 1)
            for part, n in zip(row, sizes, strict=True)
            for bit in range(n)
        ]
        for row in draw(st.lists(parts, max_size=6))
    ]
    return np.array(boxes, dtype=bool).reshape(len(boxes), offsets[-1]), offsets


def _inputs(offsets):
    sizes = np.diff(offsets).tolist()
    return [np.array(codes) + offsets[:-1] for codes in np.ndindex(*sizes)]


@given(box_lists())
def test_every_input_is_in_one_piece_of_the_first_box_that_has_it(drawn):
    boxes, offsets = drawn
    found = disjoint(boxes, offsets, limit=10_000)
    assert len(found) == len(boxes)
    for places in _inputs(offsets):
        owners = [i for i, box in enumerate(boxes) if box[places].all()][:1]
        holders = [i for i, ps in enumerate(found) for p in ps if p[places].all()]
        assert holders == owners


@given(box_lists())
def test_no_piece_is_empty(drawn):
    boxes, offsets = drawn
    for pieces in disjoint(boxes, offsets, limit=10_000):
        for start, stop in pairwise(offsets):
            assert pieces[:, start:stop].any(axis=1).all()


def test_too_many_pieces_are_refused():
    boxes = np.array([[1, 0, 1, 0, 1, 0], [1] * 6], dtype=bool)
    assert [len(p) for p in disjoint(boxes, [0, 2, 4, 6], limit=4)] == [1, 3]
    with pytest.raises(BudgetExceededError, match="consists of more than 2 pieces"):
        disjoint(boxes, [0, 2, 4, 6], limit=3)


ends = st.one_of(st.none(), st.integers(0, 6))


@st.composite
def cell_sets(draw):
    """Draw cells of a column of numbers, or of words."""
    words = tuple(draw(st.lists(st.integers(0, 6), unique=True, max_size=3)))
    missing = draw(st.booleans())
    if draw(st.booleans()):
        return Cells(words=words, missing=missing, negated=draw(st.booleans()))
    made = []
    for _ in range(draw(st.integers(1, 3))):
        low, high = draw(ends), draw(ends)
        if low is not None and high is not None and low >= high:
            low = None
        made.append(Interval(low, high, draw(st.booleans()), draw(st.booleans())))
    return Cells(words, tuple(made), missing)


@given(cell_sets())
def test_a_cell_is_either_meant_or_not(cells):
    rest = complement(cells)
    for cell in (None, *(half / 2 for half in range(-2, 16))):
        assert rest.matches(cell) != cells.matches(cell), cell
