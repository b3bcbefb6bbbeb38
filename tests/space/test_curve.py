"""Curves: floats that never fall, and numbers found from their values."""

import math
import pickle

import mpmath
import numpy as np
import pytest

from nn2rules.checker.curves import number_from, value_at
from nn2rules.errors import DomainError
from nn2rules.space import Curve, Domain, Feature, Shape

KNOTS = ((1.0, 0.0), (2.0, 0.25), (2.0, 0.5), (5.0, 0.75), (9.0, 1.0))

SHAPES = [
    *map(Shape, ("log", "log2", "log10", "log1p", "sqrt")),
    *(Shape("box-cox", power) for power in (0.3, -2.0, 0.0, 1e-6)),
    *(Shape("yeo-johnson", power) for power in (0.3, 3.1, 2.0, 0.0)),
    Shape("quantiles", knots=KNOTS),
]

ENDS = [(1e-9, 1e5), (1.0, 2.0), (-50.0, 40.0), (-0.9, 0.1), (0.0, 1.0), (0.5, 12.0)]


CURVES = [
    Curve(shape, ends) for shape in SHAPES for ends in ENDS if shape.takes(ends[0])
]


def numbers(curve, seed=0):
    """Return numbers of a range: anywhere, its ends, near 0, and next to some."""
    low, high = curve.ends
    rng = np.random.default_rng(seed)
    some = [*rng.uniform(low, high, 40), *np.exp(rng.uniform(-20, 0, 10)), 1.0, 2.0]
    near = [float(np.nextafter(x, way)) for x in some for way in (-np.inf, np.inf)]
    return sorted({float(min(max(x, low), high)) for x in [*some, *near, low, high]})


@pytest.mark.parametrize("curve", CURVES, ids=lambda c: f"{c.shape.kind}{c.ends}")
def test_values_do_not_fall_and_two_programs_find_the_same(curve):
    found = [curve(number) for number in numbers(curve)]
    assert found == sorted(found)
    assert found == [value_at(curve, number) for number in numbers(curve)]


@pytest.mark.parametrize("curve", CURVES, ids=lambda c: f"{c.shape.kind}{c.ends}")
def test_a_span_of_values_is_a_span_of_numbers(curve):
    low, high = curve.ends
    for number in numbers(curve)[::12]:
        value = curve(number)
        first, last = curve.first_from(value), curve.last_to(value)
        assert low <= first <= number <= last <= high
        assert curve(first) == value == curve(last)
        assert first == low or curve(curve.before(first)) < value
        assert last == high or curve(curve.after(last)) > value
        assert number_from(curve, value) == first
    assert curve.first_from(math.nextafter(curve(high), math.inf)) is None
    assert curve.last_to(math.nextafter(curve(low), -math.inf)) is None


def test_values_are_rounded_to_the_nearest_float():
    curve = Curve(Shape("log"), (0.5, 1e6))
    with mpmath.workprec(400):
        for number in numbers(curve):
            found, exact = curve(number), mpmath.log(number)
            for other in (np.nextafter(found, -np.inf), np.nextafter(found, np.inf)):
                assert abs(found - exact) <= abs(float(other) - exact)


def test_whole_numbers_have_whole_numbers_beside_them():
    curve = Curve(Shape("log10"), (1, 1000), whole=True)
    assert curve.first_from(1.5) == 32
    assert curve.last_to(1.5) == 31
    assert curve.number_at(2.0) == 100
    assert curve.number_at(1.5) is None
    assert not curve.takes(2.5)


def test_rows_have_numbers_and_the_engine_has_values():
    feature = Feature.real("pay", 1, 64, special=[999], missing=True)
    feature = feature.along(Curve(Shape("log2"), (1, 64)))
    domain = Domain((feature,))
    rows = [{"pay": cell} for cell in (8, "64", 999, None)]
    codes, values = domain.inputs_of(rows)
    assert codes.ravel().tolist() == [0, 0, 1, 2]
    assert values.ravel().tolist() == [3, 6, 1, 1]
    decoded = [row["pay"] for row in domain.decode(codes, values)]
    assert decoded == [8, 64, 999, None]
    assert domain.encode([{"pay": 65}, {"pay": 0}], unknown="mark").tolist() == [
        [-1],
        [-1],
    ]
    assert domain.uncurved == Domain(
        (Feature.real("pay", 1, 64, special=[999], missing=True),)
    )
    whole = Feature.real("pay", 1, 64, whole=True)
    whole = whole.along(Curve(Shape("log2"), (1, 64), whole=True))
    with pytest.raises(DomainError, match=r"has the value 2\.1 at no 64-bit number"):
        whole.cell_of(2.1)
    assert pickle.loads(pickle.dumps(domain)) == domain


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ({"kind": "sin"}, "a curve is one of log, log2"),
        ({"kind": "log", "power": 2.0}, "and no other, has power"),
        ({"kind": "box-cox"}, "and no other, has power"),
        ({"kind": "box-cox", "power": 1e9}, "lies between"),
        ({"kind": "quantiles"}, "and no other, has knots"),
        ({"kind": "quantiles", "knots": ((1.0, 1.0), (2.0, 0.0))}, "do not fall"),
        ({"kind": "quantiles", "knots": ((1.0, math.inf),)}, "finite"),
    ],
)
def test_what_is_no_curve_is_refused(shape, words):
    with pytest.raises(DomainError, match=words):
        Shape(**shape)


@pytest.mark.parametrize(
    ("kind", "ends"), [("log", (0, 1)), ("log1p", (-1, 1)), ("sqrt", (-1, 1))]
)
def test_a_curve_has_values_on_all_of_its_range(kind, ends):
    with pytest.raises(DomainError, match="has no value at"):
        Curve(Shape(kind), ends)
