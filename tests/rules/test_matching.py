import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from nn2rules.rules import matching
from strategies import boxes, plain_domain, rows_of, sizes


def as_array(listed, shape):
    """Return boxes as one row of booleans each."""
    rows = [
        [a is None or c in a for a, n in zip(box, shape, strict=True) for c in range(n)]
        for box in listed
    ]
    return np.array(rows, dtype=np.bool_).reshape(len(listed), sum(shape))


def matched(listed, codes, shape):
    bits = matching.bit_rows(as_array(listed, shape))
    offsets = np.cumsum([0, *shape])
    return matching.first_match(bits, np.array(codes, dtype=np.int64), offsets)


@settings(max_examples=300)
@given(st.data())
def test_first_match_equals_trying_each_box(data):
    shape = data.draw(sizes(300))
    listed = data.draw(st.lists(boxes(shape), max_size=10))
    codes = naive.inputs(shape)
    expected = [naive.first_matching_box(listed, row) for row in codes]
    assert matched(listed, codes, shape).tolist() == expected


@pytest.mark.parametrize("n_rules", [1, 63, 64, 65, 127, 128, 129, 200])
def test_many_rules_use_several_words(n_rules):
    shape = [n_rules + 1, 2]
    listed = [[(rule,), None] for rule in range(n_rules)]
    codes = naive.inputs(shape)
    expected = [code if code < n_rules else -1 for code, _ in codes]
    assert matched(listed, codes, shape).tolist() == expected
    last = [[(n_rules - 1, n_rules), (1,)]]
    found = matched([*listed[:-1], *last], codes, shape).tolist()
    boxes_ = [*listed[:-1], *last]
    assert found == [naive.first_matching_box(boxes_, row) for row in codes]


@settings(max_examples=30)
@given(st.randoms(use_true_random=False), st.integers(60, 200))
def test_many_random_rules(random, n_rules):
    shape = [3, 4, 2, 3]
    listed = [
        [(random.randrange(n),) if random.random() < 0.8 else None for n in shape]
        for _ in range(n_rules)
    ]
    codes = naive.inputs(shape)
    expected = [naive.first_matching_box(listed, row) for row in codes]
    assert matched(listed, codes, shape).tolist() == expected


@pytest.mark.parametrize("n_features", [61, 62, 63, 70])
def test_domains_too_large_to_be_numbered(n_features):
    shape = [2] * n_features
    listed = [[None] * (n_features - 1) + [(1,)], [(1,)] + [None] * (n_features - 1)]
    codes = np.zeros((4, n_features), dtype=np.int64)
    codes[1, -1] = codes[2, 0] = codes[3, 5] = 1
    assert matched(listed, codes, shape).tolist() == [-1, 0, 1, -1]


@given(st.data())
def test_the_order_and_repetition_of_rows_do_not_matter(data):
    domain = plain_domain(data.draw(sizes(50)))
    shape = list(domain.sizes)
    listed = data.draw(st.lists(boxes(shape), min_size=1, max_size=5))
    codes = data.draw(rows_of(domain))
    expected = [naive.first_matching_box(listed, row) for row in codes.tolist()]
    assert matched(listed, codes, shape).tolist() == expected


def test_more_rows_than_a_chunk():
    shape = [200, 300]
    codes = np.array(naive.inputs(shape))
    listed = [[(199,), None], [None, (0, 299)]]
    found = matched(listed, codes, shape)
    expected = np.where(
        codes[:, 0] == 199, 0, np.where(np.isin(codes[:, 1], [0, 299]), 1, -1)
    )
    assert (found == expected).all()


def test_no_rules_and_no_rows():
    shape = [2, 3]
    assert matched([], naive.inputs(shape), shape).tolist() == [-1] * 6
    assert matched([[None, None]], np.empty((0, 2)), shape).tolist() == []
