from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from nn2rules.extraction.paper.lin_rule import Behaviour, combine, lin_rule
from nn2rules.extraction.paper.neuron_rule import neuron_rule

small = st.integers(-3, 3)


def value(behaviour, row):
    pairs = zip(behaviour.weights, row, strict=True)
    return behaviour.bias + sum(bucket[code] for bucket, code in pairs)


def behaviours(sizes):
    buckets = st.tuples(*(st.tuples(*[small] * size) for size in sizes))
    return st.builds(Behaviour, buckets, small)


@given(st.lists(st.integers(1, 3), min_size=1, max_size=3), st.data())
def test_combined_behaviours_add_up(sizes, data):
    parts = data.draw(st.lists(behaviours(sizes), min_size=1, max_size=4))
    weights = data.draw(st.lists(small, min_size=len(parts), max_size=len(parts)))
    bias = data.draw(small)
    combined = combine(weights, bias, parts)
    for row in naive.inputs(sizes):
        expected = bias + sum(
            weight * value(part, row)
            for weight, part in zip(weights, parts, strict=True)
        )
        assert value(combined, row) == expected


@settings(max_examples=300)
@given(st.lists(st.integers(1, 3), min_size=1, max_size=4), st.data())
def test_one_piece_covers_each_input_and_has_the_neurons_value(sizes, data):
    zero = Behaviour(tuple((0,) * size for size in sizes), 0)

    def relu(pre):
        return pre, zero

    first = data.draw(st.lists(behaviours(sizes), min_size=1, max_size=4))
    weights = data.draw(st.lists(small, min_size=len(first), max_size=len(first)))
    bias, threshold = data.draw(small), data.draw(small)
    inputs = [lin_rule(pre, relu) for pre in first]
    pieces = neuron_rule(weights, bias, inputs, relu, threshold=threshold)
    for row in naive.inputs(sizes):
        (piece,) = (p for p in pieces if naive.begins_with(row, p.prefix))
        hidden = [max(value(pre, row), 0) for pre in first]
        pre = bias + sum(w * x for w, x in zip(weights, hidden, strict=True))
        assert piece.active == (pre > threshold)
        assert value(piece.behaviour, row) == (pre if pre > threshold else 0)


def test_pieces_do_not_overlap():
    pre = Behaviour(((1, -1), (0, 2)), 0)
    inputs = [lin_rule(pre, lambda p: (p, Behaviour(((0, 0), (0, 0)), 0)))] * 2
    pieces = neuron_rule([1, 1], -1, inputs, lambda p: (p, p))
    prefixes = sorted(piece.prefix for piece in pieces)
    for before, after in pairwise(prefixes):
        assert not naive.begins_with(after, before)
