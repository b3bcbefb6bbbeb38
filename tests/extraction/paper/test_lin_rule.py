from hypothesis import given, settings
from hypothesis import strategies as st
from test_select_weights import problems

import naive
from nn2rules.extraction.paper.lin_rule import Behaviour, lin_rule


def marked(behaviour):
    return behaviour, "inactive"


def value(weights, bias, row):
    return bias + sum(bucket[c] for bucket, c in zip(weights, row, strict=True))


@settings(max_examples=300)
@given(problems(), st.integers(-3, 3), st.data())
def test_one_piece_covers_each_input_of_the_precondition(problem, shift, data):
    weights, threshold = problem
    bias = -shift
    threshold += bias
    sizes = [len(bucket) for bucket in weights]
    length = data.draw(st.integers(0, len(sizes)))
    before = tuple(data.draw(st.integers(0, size - 1)) for size in sizes[:length])
    behaviour = Behaviour(tuple(map(tuple, weights)), bias)
    pieces = lin_rule(behaviour, marked, threshold=threshold, precondition=before)
    assert all(naive.begins_with(piece.prefix, before) for piece in pieces)
    for row in naive.inputs(sizes):
        held = [p for p in pieces if naive.begins_with(row, p.prefix)]
        if not naive.begins_with(row, before):
            assert held == []
            continue
        (piece,) = held
        assert piece.active == (value(weights, bias, row) > threshold)
        assert piece.behaviour is (behaviour if piece.active else "inactive")


def test_a_tie_is_inactive():
    behaviour = Behaviour(((0, 1),), 0)
    pieces = lin_rule(behaviour, marked)
    assert [(p.prefix, p.active) for p in pieces] == [((1,), True), ((0,), False)]
    pieces = lin_rule(behaviour, marked, threshold=1)
    assert [(p.prefix, p.active) for p in pieces] == [((), False)]
    pieces = lin_rule(behaviour, marked, threshold=-1)
    assert [(p.prefix, p.active) for p in pieces] == [((), True)]
