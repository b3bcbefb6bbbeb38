from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import SHAPES, check_prime, members, tables

from nn2rules.extraction._kernels.greedy import shake
from nn2rules.extraction._kernels.improve import hull
from nn2rules.extraction._kernels.packed import (
    box_scan,
    class_at,
    clear,
    draw,
    grow,
    pick_input,
    popcount,
    tail_mask,
)
from nn2rules.extraction._kernels.rebuild import cut
from nn2rules.extraction.from_table.packing import space, state_of
from nn2rules.extraction.from_table.runs import Effort, effort_of, generator


def random_boxes(sizes, rng, n=3, share=0.6):
    """Return boxes that allow a value of every feature at least."""
    starts = np.cumsum([0, *sizes[:-1]])
    boxes = rng.random((n, sum(sizes))) < share
    boxes[:, starts + rng.integers(0, sizes)] = True
    return boxes


def seeds():
    return st.integers(0, 2**32 - 1).map(np.random.default_rng)


def scan(boxes, inputs, sets, want):
    """Weigh each box in `want`, in the order of the features."""
    words = np.empty(inputs.n_words, dtype=np.int64)
    return [
        int(box_scan(box, sets[0], sets[1], want, inputs.pack, words))
        for box in boxes[:, inputs.columns]
    ]


@settings(max_examples=300)
@given(SHAPES, seeds())
def test_a_packed_set_can_be_unpacked(sizes, rng):
    inputs = space(sizes)
    n_inputs = int(np.prod(sizes))
    chosen = rng.random(n_inputs) < 0.5
    packed = inputs.set_of(chosen)
    assert len(packed) == inputs.n_words <= n_inputs
    assert int(np.bitwise_count(packed).sum()) == chosen.sum()
    everything = inputs.set_of(np.ones(n_inputs, dtype=np.bool_))
    singles = np.zeros((n_inputs, sum(sizes)), dtype=np.bool_)
    starts = np.cumsum([0, *sizes[:-1]])
    for number, codes in enumerate(np.ndindex(*sizes)):
        singles[number, starts + np.array(codes)] = True
    found = scan(singles, inputs, (everything, everything), packed[np.newaxis])
    assert found == chosen.astype(int).tolist()


@settings(max_examples=300)
@given(SHAPES, seeds())
def test_boxes_weigh_what_their_inputs_do(sizes, rng):
    inputs, n_inputs = space(sizes), int(np.prod(sizes))
    weights = rng.integers(0, 40, n_inputs) * (rng.random(n_inputs) < 0.7)
    everything = inputs.set_of(np.ones(n_inputs, dtype=np.bool_))
    boxes = random_boxes(sizes, rng)
    planes = inputs.planes_of(weights)
    found = scan(boxes, inputs, (everything, everything), planes)
    assert found == (members(boxes, sizes) @ weights).tolist()


@settings(max_examples=300)
@given(SHAPES, seeds())
def test_a_foreign_input_that_is_open_spoils_a_box(sizes, rng):
    inputs, n_inputs = space(sizes), int(np.prod(sizes))
    mine, open_ = rng.random(n_inputs) < 0.9, rng.random(n_inputs) < 0.4
    boxes = random_boxes(sizes, rng, n=6, share=0.4)
    sets = inputs.set_of(mine), inputs.set_of(open_)
    found = scan(boxes, inputs, sets, sets[0][np.newaxis])
    inside = members(boxes, sizes)
    spoilt = (inside & open_ & ~mine).any(axis=1)
    assert found == np.where(spoilt, -1, inside @ mine.astype(int)).tolist()


@settings(max_examples=200)
@given(SHAPES, seeds())
def test_boxes_are_taken_out_of_sets(sizes, rng):
    inputs, n_inputs = space(sizes), int(np.prod(sizes))
    chosen = rng.random((2, n_inputs)) < 0.6
    sets = np.stack([inputs.set_of(row) for row in chosen])
    box = random_boxes(sizes, rng, n=1)
    words = np.empty(inputs.n_words, dtype=np.int64)
    clear(box[0, inputs.columns], sets, inputs.pack, words)
    inside = members(box, sizes)[0]
    for row, packed in zip(chosen, sets, strict=True):
        assert packed.tolist() == inputs.set_of(row & ~inside).tolist()


@settings(max_examples=200)
@given(SHAPES, seeds())
def test_boxes_come_back_in_the_order_of_the_features(sizes, rng):
    inputs = space(sizes)
    boxes = random_boxes(sizes, rng)
    assert (inputs.unpack(boxes[:, inputs.columns]) == boxes).all()
    assert sorted(inputs.order) == list(range(len(sizes)))
    tail = [sizes[feature] for feature in inputs.order[inputs.pack.n_head :]]
    assert int(np.prod(tail)) <= 64


def test_features_that_fill_a_word_are_found():
    assert space((3, 40, 2)).n_words == 6  # 40 values to a word; 80 would not fit
    assert space((8, 3, 8)).n_words == 3
    assert space((70,)).n_words == 70
    assert space((1, 1)).n_words == 1


@settings(max_examples=200)
@given(tables())
def test_a_state_is_the_table(table):
    state = state_of(table.classes, table.sizes)
    for index, live in enumerate(state.live):
        expected = state.space.set_of(table.classes == index)
        assert live.tolist() == expected.tolist()
    assert state.possible.tolist() == state.space.set_of(table.possible).tolist()


@settings(max_examples=300)
@given(tables(), seeds(), st.sampled_from([0.0, 0.3]))
def test_growing_ends_at_a_prime_box(table, rng, noise):
    """Also from a box of several inputs, over inputs that do not count."""
    if not table.possible.any():
        return
    state = state_of(table.classes, table.sizes)
    pack, columns = state.space.pack, state.space.columns
    words = np.empty(state.space.n_words, dtype=np.int64)
    gains = np.empty(sum(table.sizes), dtype=np.int64)
    weights = rng.integers(0, 9, len(table.classes))
    numbers = generator(3, int(rng.integers(0, 99)))
    box = np.zeros(len(columns), dtype=np.bool_)
    anything = np.ones(len(columns), dtype=np.bool_)
    word = pick_input(state.possible, numbers, pack, box)
    index = class_at(word, np.uint64(tail_mask(box, pack, -1, -1)), state.live)
    start = state.space.unpack(box[np.newaxis])
    assert members(start, table.sizes).sum() == 1
    assert table.classes[members(start, table.sizes)[0]].tolist() == [index]
    total = grow(
        box,
        anything,
        state.live[index],
        state.possible,
        state.space.planes_of(weights),
        noise,
        numbers,
        pack,
        words,
        gains,
    )
    grown = state.space.unpack(box[np.newaxis])
    inside = members(grown, table.sizes)[0]
    assert (grown | start == grown).all()
    assert set(table.classes[inside & table.possible].tolist()) == {index}
    assert total == weights[inside & (table.classes == index)].sum()
    check_prime(grown, [index], table, is_ordered=True)


@settings(max_examples=100)
@given(tables(), seeds())
def test_growing_stays_within_what_is_allowed(table, rng):
    if not table.possible.any():
        return
    state = state_of(table.classes, table.sizes)
    pack = state.space.pack
    words = np.empty(state.space.n_words, dtype=np.int64)
    numbers = generator(4, int(rng.integers(0, 99)))
    box = np.zeros(sum(table.sizes), dtype=np.bool_)
    word = pick_input(state.possible, numbers, pack, box)
    index = class_at(word, np.uint64(tail_mask(box, pack, -1, -1)), state.live)
    allowed = box | (rng.random(len(box)) < 0.5)
    grow(
        box,
        allowed,
        state.live[index],
        state.possible,
        state.possible[np.newaxis],
        0.2,
        numbers,
        pack,
        words,
        np.empty(len(box), dtype=np.int64),
    )
    assert not (box & ~allowed).any()
    grown = members(state.space.unpack(box[np.newaxis]), table.sizes)[0]
    assert set(table.classes[grown & table.possible].tolist()) == {index}


@settings(max_examples=100)
@given(SHAPES, seeds())
def test_every_input_of_a_set_is_picked(sizes, rng):
    inputs, n_inputs = space(sizes), int(np.prod(sizes))
    chosen = np.zeros(n_inputs, dtype=np.bool_)
    chosen[rng.integers(0, n_inputs, 3)] = True
    numbers, box = generator(0, 1), np.zeros(sum(sizes), dtype=np.bool_)
    seen = np.zeros(n_inputs, dtype=np.bool_)
    for _ in range(150):
        assert pick_input(inputs.set_of(chosen), numbers, inputs.pack, box) >= 0
        seen |= members(inputs.unpack(box[np.newaxis]), sizes)[0]
    assert (seen & ~chosen).sum() == 0
    assert seen.any()
    if inputs.n_words == 1:  # then every input has the same chance
        assert (seen == chosen).all()
    nothing = inputs.set_of(np.zeros(n_inputs, dtype=np.bool_))
    assert pick_input(nothing, numbers, inputs.pack, box) == -1


@settings(max_examples=100)
@given(SHAPES, seeds())
def test_hulls_are_the_smallest_boxes(sizes, rng):
    inputs, n_inputs = space(sizes), int(np.prod(sizes))
    chosen = rng.random(n_inputs) < rng.choice([0, 0.02, 0.3])
    box = np.zeros(sum(sizes), dtype=np.bool_)
    assert hull(inputs.set_of(chosen), inputs.pack, box) == chosen.any()
    expected = np.zeros(sum(sizes), dtype=np.bool_)
    starts = np.cumsum([0, *sizes[:-1]])
    for codes, inside in zip(np.ndindex(*sizes), chosen, strict=True):
        if inside:
            expected[starts + np.array(codes)] = True
    assert (inputs.unpack(box[np.newaxis])[0] == expected).all()


@settings(max_examples=100)
@given(SHAPES, seeds())
def test_common_parts_of_boxes(sizes, rng):
    inputs = space(sizes)
    one, two = random_boxes(sizes, rng, n=2, share=0.3)
    part = np.zeros_like(one)
    columns = inputs.columns
    common = cut(one[columns], two[columns], inputs.pack, part)
    both = members(np.stack([one, two]), sizes).all(axis=0)
    assert common == both.any()
    if common:
        held = members(inputs.unpack(part[np.newaxis]), sizes)[0]
        assert (held == both).all()


@settings(max_examples=100)
@given(SHAPES, seeds())
def test_a_shaken_box_keeps_a_value_of_every_feature(sizes, rng):
    inputs = space(sizes)
    box = random_boxes(sizes, rng, n=1)[0, inputs.columns]
    for share in (0.0, 0.5, 1.0):
        shaken = box.copy()
        shake(shaken, share, generator(1, 1), inputs.pack)
        assert not (shaken & ~box).any()
        assert members(inputs.unpack(shaken[np.newaxis]), sizes).any()
        if share == 0.0:
            assert (shaken == box).all()
        if share == 1.0:
            assert shaken.sum() == len(sizes)


@given(st.integers(0, 2**64 - 1))
def test_ones_are_counted(word):
    assert popcount(np.uint64(word)) == word.bit_count()


# Effort and chance


def test_numbers_are_drawn_evenly_between_0_and_1():
    state = generator(0, 0)
    drawn = np.array([draw(state) for _ in range(4000)])
    assert ((drawn >= 0) & (drawn < 1)).all()
    assert np.histogram(drawn, bins=10, range=(0, 1))[0].min() > 300
    again = generator(0, 0)
    assert drawn[:9].tolist() == [draw(again) for _ in range(9)]


def test_generators_differ_by_seed_and_by_run():
    states = {int(generator(seed, run)[0]) for seed in range(9) for run in range(9)}
    assert len(states) == 81


@pytest.mark.parametrize("n_inputs", [1, 15_000, 15_001, 50_000, 50_001, 10**7])
def test_higher_levels_do_what_lower_ones_do_and_more(n_inputs):
    levels = [effort_of(level, n_inputs) for level in range(5)]
    assert levels[0].runs == 1
    assert levels[0].sweeps == 0
    for lower, higher in pairwise(levels):
        assert (lower.tries, lower.steps) == (higher.tries, higher.steps)
        assert lower.rebuilds == higher.rebuilds
        assert lower.runs <= higher.runs
        assert lower.sweeps < higher.sweeps
    assert isinstance(levels[0], Effort)
