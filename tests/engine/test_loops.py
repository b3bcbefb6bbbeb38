"""Loops that do what numpy does with whole arrays."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nn2rules.extraction._kernels.improve import nth_smallest
from nn2rules.space._kernels.loops import stable_order

NUMBERS = st.sampled_from([-np.inf, -1.5, -0.0, 0.0, 2.0, 3.0, np.inf, np.nan])


@given(st.lists(NUMBERS, max_size=70))
def test_the_order_is_that_of_a_stable_sort(numbers):
    values = np.array(numbers, dtype=np.float64)
    expected = np.argsort(values, kind="stable")
    assert stable_order(values).tolist() == expected.tolist()


@given(st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=40), st.data())
def test_a_number_is_found_by_its_rank(numbers, data):
    n = data.draw(st.integers(1, len(numbers)))
    rank = data.draw(st.integers(0, n - 1))
    values = np.array(numbers, dtype=np.int64)
    assert nth_smallest(values, n, rank) == np.sort(values[:n])[rank]
