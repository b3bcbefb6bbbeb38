from hypothesis import given, settings
from hypothesis import strategies as st
from test_conjunction import rules

import naive
from nn2rules.extraction.paper.prefixes import merge


@settings(max_examples=500)
@given(st.data())
def test_equals_merging_one_group_at_a_time(data):
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    prefixes = data.draw(rules(sizes))
    payloads = st.sampled_from(["a", "a", "a", "b"])
    listed = [(prefix, data.draw(payloads)) for prefix in prefixes]
    assert merge(listed, sizes) == naive.merge(listed, sizes)


@settings(max_examples=300)
@given(st.data())
def test_gives_the_shortest_prefixes_that_agree(data):
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    rows = naive.inputs(sizes)
    answers = data.draw(
        st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))
        | st.just([True] * len(rows))
    )
    truth = dict(zip(rows, answers, strict=True))
    found = merge(((row, None) for row in rows if truth[row]), sizes)
    expected = naive.maximal_prefixes(sizes, truth.__getitem__)
    assert [prefix for prefix, _ in found] == expected


def test_everything_merges_into_the_empty_rule():
    rows = [((a, b), "x") for a in range(2) for b in range(3)]
    assert merge(rows, (2, 3)) == [((), "x")]


def test_nothing_merges_into_nothing():
    assert merge([], (2, 3)) == []
