import math
import resource
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

import naive
from nn2rules import Layer, Network, UndecidedError
from nn2rules.network import certified, exact
from nn2rules.network.activations import ACTIVATIONS
from strategies import PIECEWISE_LINEAR, SMOOTH, THRESHOLDS, networks, plain_domain

MILD = ("integers", "signs", "zeros", "dyadic", "decimal", "cancelling")


def classified(network):
    codes = np.array(naive.inputs(network.domain.sizes))
    return certified.classify(
        network.layers, network.domain.offsets, network.threshold, codes
    ).tolist()


def one_input(*layers, threshold=0.5, features=1):
    """Return a network over a domain of one input."""
    outputs = len(layers[-1].bias)
    classes = tuple(f"class {index}" for index in range(max(2, outputs)))
    return Network(plain_domain([1] * features), layers, classes, threshold)


@settings(max_examples=600)
@given(networks(PIECEWISE_LINEAR))
def test_piecewise_linear_classes_are_those_of_fractions(network):
    expected = [naive.class_of(network, c) for c in naive.inputs(network.domain.sizes)]
    assert classified(network) == expected


@settings(max_examples=150)
@given(networks([*SMOOTH, *PIECEWISE_LINEAR], max_inputs=6, palettes=MILD))
def test_smooth_classes_are_those_of_many_digits(network):
    found = classified(network)
    for codes, answer in zip(naive.inputs(network.domain.sizes), found, strict=True):
        expected = naive.class_of(network, codes)
        if expected is not None:
            assert answer == expected
        if naive.is_piecewise_linear(network):
            assert answer != exact.UNDECIDED


@settings(max_examples=100)
@given(
    networks([*SMOOTH, "relu"], max_inputs=2, palettes=("tiny", "steep")),
)
def test_smooth_classes_of_extreme_weights(network):
    found = classified(network)
    for codes, answer in zip(naive.inputs(network.domain.sizes), found, strict=True):
        expected = naive.class_of(network, codes)
        if expected is not None and answer != exact.UNDECIDED:
            assert answer == expected


@settings(max_examples=300)
@given(networks(PIECEWISE_LINEAR))
def test_error_bound_holds_on_every_input(network):
    codes = np.array(naive.inputs(network.domain.sizes))
    values = certified.scores(network.layers, network.domain.offsets, codes)
    bound = certified.error_bound(network.layers, network.domain.offsets)
    for row, found in zip(codes.tolist(), values.tolist(), strict=True):
        for score, value, limit in zip(
            naive.scores(network, row), found, bound, strict=True
        ):
            if math.isfinite(limit):
                assert abs(score - Fraction(value)) <= Fraction(limit)


@settings(max_examples=100)
@given(networks([*SMOOTH, "relu"], max_inputs=8, palettes=MILD))
def test_error_bound_holds_for_smooth_activations(network):
    codes = np.array(naive.inputs(network.domain.sizes))
    values = certified.scores(network.layers, network.domain.offsets, codes)
    bound = certified.error_bound(network.layers, network.domain.offsets)
    with mp.workprec(400):
        for row, found in zip(codes.tolist(), values.tolist(), strict=True):
            precise = naive.smooth_scores(network, row)
            for z, value, limit in zip(precise, found, bound, strict=True):
                assert abs(z - mp.mpf(value)) <= mp.mpf(float(limit))


@pytest.mark.parametrize("name", ACTIVATIONS)
@settings(max_examples=150)
@given(y=st.floats(-60, 60) | st.floats(-1e300, 1e300))
def test_each_activation_is_as_accurate_as_it_says(name, y):
    function = ACTIVATIONS[name]
    value = float(function.floats(np.array([y]))[0])
    with mp.workprec(2500):
        if function.exact is None:
            precise = naive.SMOOTH[name](mp.mpf(y))
        else:
            twin = naive.EXACT[name](Fraction(y), Fraction(0.01))
            assert function.exact(Fraction(y)) == twin
            precise = mp.mpf(twin.numerator) / twin.denominator
        error = abs(precise - mp.mpf(value))
        unit = mp.mpf(2) ** -53
        assert error <= function.rounding * unit * (1 + abs(mp.mpf(y)))
        size = abs(function.at_zero) + function.lipschitz * abs(mp.mpf(y))
        assert abs(precise) <= size * (1 + unit)


@pytest.mark.parametrize("name", ACTIVATIONS)
@settings(max_examples=150)
@given(ends=st.tuples(st.floats(-30, 30), st.floats(-30, 30)))
def test_each_activation_is_as_steep_as_it_says(name, ends):
    function, (a, b) = ACTIVATIONS[name], map(Fraction, ends)
    with mp.workprec(300):
        if function.exact is None:
            low, high = (naive.SMOOTH[name](mp.mpf(float(y))) for y in (a, b))
        else:
            low, high = (
                mp.mpf(z.numerator) / z.denominator
                for z in (naive.EXACT[name](y, Fraction(0.01)) for y in (a, b))
            )
        distance = abs(mp.mpf(float(a)) - mp.mpf(float(b)))
        assert abs(low - high) <= function.lipschitz * distance + mp.mpf(2) ** -250


@pytest.mark.parametrize("name", SMOOTH)
@settings(max_examples=100)
@given(y=st.floats(-60, 60) | st.sampled_from([0.0, 1e-300, -1e-300, 500.0, -500.0]))
def test_intervals_enclose_smooth_activations(name, y):
    context = exact._interval_context(128)
    found = ACTIVATIONS[name].interval(context.mpf(y))
    low, high = exact._ends(found)
    with mp.workprec(2000):
        precise = naive.SMOOTH[name](mp.mpf(y))
        assert mp.mpf(low.numerator) / low.denominator <= precise
        assert precise <= mp.mpf(high.numerator) / high.denominator
        assert high - low <= Fraction(1, 2**100) * (1 + abs(Fraction(y)))


@pytest.mark.parametrize("weights", [[1e16, 1, -1e16], [1, 1e16, -1e16]])
@pytest.mark.parametrize(("bias", "expected"), [(-1, 0), (-1 + 2**-53, 1), (-2, 0)])
def test_cancellation_does_not_decide(weights, bias, expected):
    layer = Layer([[w] for w in weights], [bias], "sigmoid")
    assert classified(one_input(layer, features=3)) == [expected]


def test_a_tie_is_class_0():
    assert classified(one_input(Layer([[1]], [-1], "sigmoid"))) == [0]
    assert classified(one_input(Layer([[1]], [-1 + 2**-52], "sigmoid"))) == [1]
    assert classified(one_input(Layer([[0.1], [0.2]], [-0.3], "sigmoid"), features=2))


def test_decimal_fractions_are_the_floats_they_are_stored_as():
    score = Fraction(0.1) + Fraction(0.2) - Fraction(0.3)
    layer = Layer([[0.1], [0.2]], [-0.3], "sigmoid")
    assert classified(one_input(layer, features=2)) == [int(score > 0)]


def test_ties_of_several_classes_go_to_the_lowest_index():
    for scores, expected in ([1, 1, 1], 0), ([0, 2, 2], 1), ([2, 0, 2], 0):
        layer = Layer([scores], [0, 0, 0], "softmax")
        assert classified(one_input(layer)) == [expected]


def test_nearly_tied_classes_are_told_apart():
    layer = Layer([[1e16, 1e16], [0, 1], [-1e16, -1e16]], [0.0, 0.0], "softmax")
    assert classified(one_input(layer, features=3)) == [1]


def test_overflow_is_settled_exactly():
    layer = Layer([[1.7e308], [1.7e308], [-1.7e308]], [-1.7e308], "sigmoid")
    assert classified(one_input(layer, features=3)) == [0]
    layer = Layer([[1.7e308], [1.7e308], [-1.7e308]], [-1.69e308], "sigmoid")
    assert classified(one_input(layer, features=3)) == [1]


def test_hidden_overflow_is_settled_exactly():
    hidden = Layer([[1e300, 1e300]], [0, 0])
    middle = Layer([[1e300, 0], [0, 1e300]], [0, 1])
    last = Layer([[1], [-1]], [0], "sigmoid")
    assert classified(one_input(hidden, middle, last)) == [0]
    last = Layer([[-1], [1]], [0], "sigmoid")
    assert classified(one_input(hidden, middle, last)) == [1]


def test_underflow_in_a_hidden_layer_is_not_lost():
    hidden = Layer([[1e-200]], [0])
    middle = Layer([[1e-200]], [0])
    last = Layer([[1e300]], [-1e-200], "sigmoid")  # 1e-100 − 1e-200
    assert classified(one_input(hidden, middle, last)) == [1]


def test_subnormal_products_are_not_lost():
    hidden = Layer([[3e-160]], [0])
    middle = Layer([[3e-163]], [0])  # 9e-323 is held to one digit
    last = Layer([[1e300]], [-8.95e-23], "sigmoid")
    assert classified(one_input(hidden, middle, last)) == [1]


@pytest.mark.parametrize("side", [-1, 1])
def test_thresholds_near_one_half(side):
    wrong = []
    for power in range(5, 52):
        threshold = 0.5 + side * 1.37 * 2.0**-power
        with mp.workprec(300):
            precise = naive.logit(threshold)
            middle = float((precise + certified.logit(threshold)) / 2)
        for score in (middle, np.nextafter(middle, -1), np.nextafter(middle, 1)):
            network = one_input(Layer([[score]], [0], "sigmoid"), threshold=threshold)
            if classified(network) != [naive.class_of(network, (0,))]:
                wrong.append((threshold, float(score)))
    assert wrong == []


@given(st.sampled_from(THRESHOLDS) | st.floats(1e-300, 1 - 2**-53), st.integers(-9, 9))
def test_scores_next_to_the_logit(threshold, steps):
    with mp.workprec(300):
        score = float(naive.logit(threshold))
    score += steps * math.ulp(score)
    network = one_input(Layer([[score]], [0], "sigmoid"), threshold=threshold)
    assert classified(network) == [naive.class_of(network, (0,))]


@given(
    st.sampled_from(THRESHOLDS) | st.floats(1e-300, 1 - 2**-53), st.integers(1, 2**80)
)
def test_logit_floor_is_the_largest_multiple_below(threshold, scale):
    found = exact.logit_floor(threshold, scale)
    assert (found * scale).denominator == 1
    if threshold == 0.5:
        assert found == 0
    else:
        assert not naive.exceeds(found, threshold)
        assert naive.exceeds(found + Fraction(1, scale), threshold)


@given(st.fractions(), st.sampled_from(THRESHOLDS))
def test_exceeds_logit(score, threshold):
    found = exact.exceeds_logit(score, threshold)
    assert found == naive.exceeds(score, threshold)


@given(networks(PIECEWISE_LINEAR, max_inputs=10))
def test_exact_scores_are_exact(network):
    starts = network.domain.offsets[:-1].tolist()
    for codes in naive.inputs(network.domain.sizes):
        columns = [(s + code, 1.0) for s, code in zip(starts, codes, strict=True)]
        found = exact.exact_scores(network.layers, columns)
        assert found == naive.scores(network, codes)
        settled = exact.settle(network.layers, network.threshold, columns)
        assert settled == naive.class_of(network, codes)


def test_a_negative_slope_is_not_monotone():
    hidden = Layer([[1e300], [1], [-1], [-1e300]], [0], "leaky_relu", -1.0)
    middle = Layer([[1]], [0], "tanh")  # tanh(|0|)
    last = Layer([[1]], [-0.5], "sigmoid")
    assert classified(one_input(hidden, middle, last, features=4)) == [0]


def test_tanh_is_nearer_to_zero_than_its_argument():
    for power in (30, 60, 126, 300):
        hidden = Layer([[-(2.0**-power)]], [0], "tanh")
        last = Layer([[1]], [2.0**-power], "sigmoid")  # x − tanh(x) ≈ x³/3
        network = one_input(hidden, last)
        assert naive.class_of(network, (0,)) == 1
        assert classified(network) == [1]


SATURATED = """
import sys
from nn2rules import Layer
from nn2rules.network import exact

name, weight = sys.argv[1], float(sys.argv[2])
layers = Layer([[weight]], [0], name), Layer([[1]], [0], "sigmoid")
print(exact.settle(layers, 0.5, [(0, 1.0)]))
"""


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("weight", [1e300, -1e12, -1e300])
def test_saturated_units_are_decided_or_refused_quickly(name, weight):
    run = subprocess.run(
        [sys.executable, "-c", SATURATED, name, str(weight)],
        capture_output=True,
        text=True,
        timeout=10,
        preexec_fn=_limit_memory,
        check=False,
    )
    expected = {"sigmoid": 1, "softplus": 1}.get(name, int(weight > 0))
    assert run.stderr == ""
    assert int(run.stdout) in (expected, exact.UNDECIDED)


def _limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))


STRADDLING = """
import sys
from nn2rules import Layer
from nn2rules.network import exact

name, weight = sys.argv[1], float(sys.argv[2])
first = Layer([[1, 1]], [0.1, 0.1], "tanh")
middle = Layer([[weight], [-weight]], [0], name), Layer([[weight]], [0], name)
print(exact.settle((first, *middle, Layer([[1]], [-1], "sigmoid")), 0.5, [(0, 1.0)]))
"""


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("weight", [1e43, 1e300])
def test_wide_intervals_of_smooth_units_cost_little(name, weight):
    run = subprocess.run(
        [sys.executable, "-c", STRADDLING, name, str(weight)],
        capture_output=True,
        text=True,
        timeout=20,
        preexec_fn=_limit_memory,
        check=False,
    )
    assert run.stderr == ""
    assert int(run.stdout) == int(name == "softplus")  # of 0, but for it


def test_saturated_units_do_not_exceed_what_they_approach():
    for name in ("sigmoid", "tanh"):
        layers = Layer([[1e43]], [0], name), Layer([[1]], [-1], "sigmoid")
        assert classified(one_input(*layers)) == [0]
    layers = Layer([[-1e43]], [0], "elu"), Layer([[-1]], [-1], "sigmoid")
    assert classified(one_input(*layers)) == [0]


@pytest.mark.parametrize("place", range(4))
def test_a_tie_of_classes_that_cannot_win_is_none(place):
    hidden = Layer([[1, 1]], [0, 0], "tanh"), Layer(np.eye(2), [0, 0], "tanh")
    weights = np.insert([[1.0, 0, 0], [0, 1, 1]], place, 0, axis=1)
    bias = np.insert([0.0, 0, 0], place, 5)
    network = one_input(*hidden, Layer(weights, bias, "softmax"))
    assert exact.settle(network.layers, 0.5, [(0, 1.0)]) == place
    bias[place] = -5
    lost = one_input(*hidden, Layer(weights, bias, "softmax"))
    assert exact.settle(lost.layers, 0.5, [(0, 1.0)]) == exact.UNDECIDED


def test_a_smooth_tie_at_zero_is_class_0():
    for name in ("tanh", "silu", "gelu", "elu"):
        hidden = Layer([[1]], [-1], name)
        last = Layer([[3]], [0], "sigmoid")
        assert classified(one_input(hidden, last)) == [0]


def test_a_smooth_tie_that_algebra_cancels_is_class_0():
    for name in SMOOTH:
        hidden = Layer([[0.7, 0.7]], [0, 0], name)
        network = one_input(hidden, Layer([[1], [-1]], [0], "sigmoid"))
        assert classified(network) == [0]
        network = one_input(hidden, Layer([[1, 0], [0, 1]], [0, 0], "softmax"))
        assert classified(network) == [0]


@settings(max_examples=150)
@given(
    st.sampled_from(SMOOTH),
    st.lists(st.sampled_from([-1.5, -1.0, 0.0, 1.0, 1.5]), min_size=4, max_size=4),
    st.lists(st.sampled_from([-2.0, -1.0, 1.0, 2.0]), min_size=4, max_size=4),
    st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0]),
)
def test_mirrored_units_are_decided_as_by_many_digits(name, weights, last, bias):
    hidden = Layer([weights], [0] * 4, name)
    network = one_input(hidden, Layer([[w] for w in last], [bias], "sigmoid"))
    expected = naive.class_of(network, (0,))
    (found,) = classified(network)
    if expected is None:  # a tie to 1,500 bits
        assert found in (0, exact.UNDECIDED)
    else:
        assert found == expected


def test_a_smooth_tie_that_nothing_decides_names_the_input():
    hidden = Layer([[1, 1]], [0, 0], "tanh")
    middle = Layer([[1, 0], [0, 1]], [0, 0], "tanh")
    last = Layer([[1], [-1]], [0], "sigmoid")
    network = one_input(hidden, middle, last)
    with pytest.raises(UndecidedError, match="f0 = 'v0'") as error:
        network.predict_codes(np.array([[0]]))
    assert error.value.row == {"f0": "v0"}


def test_many_rows_are_scored_in_chunks():
    network = one_input(Layer([[2]], [-1], "sigmoid"))
    codes = np.zeros(((1 << 16) + 3, 1), dtype=np.int64)
    found = certified.scores(network.layers, network.domain.offsets, codes)
    assert found.shape == ((1 << 16) + 3, 1)
    assert (found == 1).all()


def test_mpmath_is_left_as_it_was():
    before = mp.prec
    hidden = Layer([[1.0]], [-1.0], "gelu")
    classified(one_input(hidden, Layer([[1]], [0], "sigmoid")))
    assert mp.prec == before
