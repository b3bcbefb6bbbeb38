"""Whole numbers in arrays: equal to fractions at every magnitude."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nn2rules.scorecards.whole_arrays import (
    LARGEST,
    added,
    combined,
    floats_of,
    fractions_of,
    is_at_least,
    multiplied,
    numbers_of,
    whole_array,
)

near_ends = st.sampled_from([LARGEST, 2**31, 2**53, 2**62, 2**63, 2**64]).flatmap(
    lambda end: st.integers(end - 2, end + 2) | st.integers(-end - 2, 2 - end)
)
wholes = st.integers(-20, 20) | near_ends | st.integers(-(10**30), 10**30)
decimals = st.builds(
    lambda number, digits: Fraction(number, 10**digits), wholes, st.integers(0, 12)
)
columns = st.integers(1, 3).flatmap(
    lambda n: st.lists(st.lists(wholes, min_size=n, max_size=n), min_size=1, max_size=4)
)


def array_of(rows):
    flat = whole_array([value for row in rows for value in row])
    return flat.reshape(len(rows), -1)


def is_held(values):
    """Tell whether an array keeps what it promises of int64."""
    if values.dtype == object:
        return all(type(value) is int for value in values.flat)
    return values.dtype == np.int64 and all(
        abs(value) <= LARGEST for value in values.ravel().tolist()
    )


@given(columns, st.data())
def test_weighted_sums_equal_fractions(rows, data):
    size = len(rows[0])
    weights = data.draw(
        st.lists(
            st.lists(decimals, min_size=size, max_size=size), min_size=1, max_size=3
        )
    )
    starts = data.draw(st.lists(decimals, min_size=len(weights), max_size=len(weights)))
    found, denominator = combined(array_of(rows), weights, starts)
    expected = [
        [
            start + sum(w * value for w, value in zip(own, row, strict=True))
            for own, start in zip(weights, starts, strict=True)
        ]
        for row in rows
    ]
    assert is_held(found)
    assert fractions_of(found, denominator).tolist() == expected
    if all(abs(value) < 10**300 for row in expected for value in row):
        floats = floats_of(found, denominator).tolist()
        assert floats == [[float(value) for value in row] for row in expected]
    least = data.draw(decimals)
    assert is_at_least(found, least * denominator).tolist() == [
        [value >= least for value in row] for row in expected
    ]


@given(columns, columns, wholes)
def test_sums_and_multiples_equal_python(rows, others, factor):
    one, other = (array_of(each)[:, 0] for each in (rows, others))
    size = min(len(one), len(other))
    found = added(one[:size], other[:size])
    assert is_held(found)
    both = zip(rows, others, strict=False)
    assert found.tolist() == [a[0] + b[0] for a, b in both]
    assert is_held(multiplied(one, factor))
    assert multiplied(one, factor).tolist() == [row[0] * factor for row in rows]


@given(st.lists(wholes), st.sampled_from([1, 10, 10**6, 2**53, 10**19]))
def test_numbers_are_integers_only_if_all_are(values, denominator):
    found = numbers_of(whole_array(values), denominator)
    expected = [Fraction(value, denominator) for value in values]
    if all(value.denominator == 1 for value in expected):
        assert found.tolist() == expected
        assert is_held(found)
    else:
        assert found.tolist() == [float(value) for value in expected]
