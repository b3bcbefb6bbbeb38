"""Printed conditions of regions: their bounds are those of every corner."""

import itertools
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from nn2rules.network import Affine
from nn2rules.scorecards.regions import CardRegion, PrintedPart, RegionPrinter

numbers = st.fractions(-5, 5, max_denominator=30)
intervals = st.tuples(numbers, numbers).map(lambda ends: (min(ends), max(ends)))
steps = st.integers(0, 3).map(lambda digits: Fraction(1, 10**digits))


@st.composite
def parts(draw, number):
    factors = st.fractions(Fraction(1, 10), 9, max_denominator=10)
    return tuple(
        PrintedPart(place, draw(factors), draw(intervals), draw(intervals), draw(steps))
        for place in range(number)
    )


@settings(deadline=None)
@given(st.data(), st.integers(1, 3))
def test_a_printed_condition_holds_only_where_the_exact_one_does(data, number):
    own = data.draw(parts(number))
    coefficients = tuple(data.draw(numbers) for _ in range(number))
    exact = Affine(coefficients, data.draw(numbers))
    printer = RegionPrinter(
        own, data.draw(steps), Fraction(1), (Fraction(0), Fraction(0))
    )
    [region] = printer.all_printed([CardRegion((exact,), None, (0,))])
    [(form, least)] = region.conditions
    in_points = [c / part.factor for c, part in zip(coefficients, own, strict=True)]
    size = max(map(abs, in_points)) or Fraction(1)
    offs = []
    for corner in itertools.product(*([*each.reach] for each in own)):
        value = sum(c * s for c, s in zip(in_points, corner, strict=True))
        for errors in itertools.product(*([*each.error] for each in own)):
            sums = [s + error for s, error in zip(corner, errors, strict=True)]
            printed = sum(w * s for w, s in zip(form.weights, sums, strict=True))
            offs.append(printed + form.start - (value + exact.constant) / size)
            assert value + exact.constant >= 0 or printed < least
    assert form.error == (min(offs), max(offs))
