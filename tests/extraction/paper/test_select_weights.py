from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from nn2rules.extraction.paper.select_weights import (
    canonical,
    extensions,
    select_weights,
)

weights = st.one_of(
    st.integers(-3, 3), st.integers(-2, 0), st.just(1), st.integers(-(2**80), 2**80)
)
buckets = st.lists(st.lists(weights, min_size=1, max_size=4), min_size=1, max_size=5)
small_buckets = st.lists(
    st.lists(st.integers(-3, 3), min_size=1, max_size=3), min_size=1, max_size=4
)


@st.composite
def problems(draw, lists=buckets):
    """Draw buckets and a threshold, often equal to the sum of some itemset."""
    chosen = draw(lists)
    total = sum(draw(st.sampled_from(bucket)) for bucket in chosen)
    return chosen, total + draw(st.sampled_from([0, 0, -1, 1, 5, -5]))


def total(chosen, row):
    return sum(bucket[code] for bucket, code in zip(chosen, row, strict=True))


@settings(max_examples=600)
@given(problems(small_buckets))
def test_finds_exactly_the_shortest_prefixes(problem):
    found = select_weights(*problem)
    assert sorted(found) == naive.exceeding_prefixes(*problem)


@settings(max_examples=300)
@given(problems())
def test_every_itemset_begins_with_one_prefix_if_it_exceeds_and_with_none_if_not(
    problem,
):
    chosen, threshold = problem
    found = select_weights(chosen, threshold)
    for row in naive.inputs([len(bucket) for bucket in chosen]):
        matches = sum(naive.begins_with(row, prefix) for prefix in found)
        assert matches == int(total(chosen, row) > threshold)


@given(problems(), st.data())
def test_extensions_are_what_select_weights_finds_below_a_prefix(problem, data):
    chosen, threshold = problem
    sizes = [len(bucket) for bucket in chosen]
    length = data.draw(st.integers(0, len(sizes)))
    prefix = tuple(data.draw(st.integers(0, size - 1)) for size in sizes[:length])
    found = extensions(canonical(chosen), prefix, threshold)
    everything = select_weights(chosen, threshold)
    expected = [p for p in everything if naive.begins_with(p, prefix)]
    if any(naive.begins_with(prefix, p) for p in everything):
        expected = [prefix]
    assert sorted(found) == sorted(expected)


@given(buckets)
def test_canonical_form(chosen):
    found = canonical(chosen)
    assert found.smallest == sum(min(bucket) for bucket in chosen)
    for index, bucket in enumerate(chosen):
        assert [w + min(bucket) for w in found.by_code[index]] == bucket
        pairs = found.sorted[index]
        assert [weight for weight, _ in pairs] == sorted(
            found.by_code[index], reverse=True
        )
        assert all(found.by_code[index][code] == weight for weight, code in pairs)
        assert sorted(code for _, code in pairs) == list(range(len(bucket)))
        rest = found.by_code[index:]
        assert found.largest[index] == sum(max(weights) for weights in rest)
    assert found.largest[len(chosen)] == 0


@pytest.mark.parametrize(
    ("threshold", "expected"), [(2, [()]), (3, [(1,)]), (4, []), (5, []), (-9, [()])]
)
def test_a_total_equal_to_the_threshold_does_not_exceed_it(threshold, expected):
    assert select_weights([[1, 2], [2, 2]], threshold) == expected


def test_a_feature_of_one_value_adds_its_weight():
    assert select_weights([[5], [0, 1]], 5) == [(0, 1)]
    assert select_weights([[5], [0, 1]], 4) == [()]


def test_fractions_would_do_as_well():
    halves = [[Fraction(1, 2), Fraction(-1, 2)], [Fraction(1, 2), Fraction(0)]]
    assert select_weights(halves, Fraction(1, 2)) == [(0, 0)]
