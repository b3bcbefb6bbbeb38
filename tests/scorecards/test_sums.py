"""Sums of points in exact arithmetic."""

from fractions import Fraction

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from nn2rules.scorecards.sums import rounded, rounded_products

finite = st.floats(allow_nan=False, allow_infinity=False)
short = st.integers(-(10**9), 10**9).map(lambda top: top / 10**3)
bottoms = st.sampled_from([1, 8, 10, 10**6, 10**400])
rates = st.builds(Fraction, st.integers(-(10**40), 10**40), bottoms) | finite.map(
    Fraction
)


@given(rates, st.lists(finite | short, max_size=12))
@example(Fraction(5), [0.1, 0.3, 0.5, -0.1, -0.3, -0.5, 0.0, -0.0])
@example(Fraction(1), [2.0**52 + 0.5, 0.49999999999999994, -0.5, 1.5, 2.5])
@example(Fraction(10**400), [1.0, 5e-324, -1e300])
@example(Fraction(1, 10**400), [1e308])
@example(Fraction(7, 2), [1e308, 3.0, -3.0])
def test_products_are_rounded_as_fractions_are(rate, numbers):
    found = rounded_products(rate, np.array(numbers, np.float64))
    assert found == [rounded(rate * Fraction(x), Fraction(1)) for x in numbers]
    assert all(type(each) is int for each in found)
