import math
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from mpmath import mp
from mpmath.ctx_iv import MPIntervalContext
from reference import (
    EVERY,
    PIECEWISE_LINEAR,
    WILD,
    binary,
    members,
    numpy_classes,
    random_network,
)

import naive
from nn2rules import Layer, UndecidedError, UnsupportedModelError
from nn2rules.engine import Oracle, build_table
from nn2rules.engine.flat import flatten
from nn2rules.engine.limits import Meter
from nn2rules.engine.table import FLOAT_UNITS, _classify, _limits
from nn2rules.network.activations import ACTIVATIONS
from nn2rules.network.exact import _ends
from strategies import networks


def all_codes(network):
    return np.array(naive.inputs(network.domain.sizes))


def classes_of(network):
    return build_table(network).classes.tolist()


# Every class, against fractions and many digits


@settings(max_examples=250)
@given(networks(PIECEWISE_LINEAR))
def test_piecewise_linear_tables_are_those_of_fractions(network):
    assert classes_of(network) == reference.truth(network)


@pytest.mark.parametrize("seed", range(6))
def test_wild_piecewise_linear_tables_are_those_of_fractions(seed):
    rng = np.random.default_rng([10, seed])
    for _ in range(50):
        network = random_network(
            rng, activations=PIECEWISE_LINEAR, palettes=WILD, max_inputs=16
        )
        assert classes_of(network) == reference.truth(network)


@pytest.mark.parametrize("activation", EVERY)
def test_tables_of_each_activation_are_those_of_many_digits(activation):
    rng, compared = np.random.default_rng([11, len(activation)]), 0
    for _ in range(25):
        network = random_network(
            rng, activations=[activation, "relu"], max_inputs=16, max_units=3
        )
        try:
            found = classes_of(network)
        except UndecidedError:
            continue
        for index, expected in zip(found, reference.truth(network), strict=True):
            if expected is not None:
                assert index == expected
                compared += 1
    assert compared > 100


@pytest.mark.parametrize("seed", range(4))
def test_mixed_tables_are_those_of_many_digits(seed):
    rng = np.random.default_rng([12, seed])
    for _ in range(25):
        network = random_network(rng, max_inputs=12, max_units=3)
        try:
            found = classes_of(network)
        except UndecidedError:
            continue
        for index, expected in zip(found, reference.truth(network), strict=True):
            assert expected in (None, index)


# Where plain float64 is wrong


def check_where_float64_is_wrong(network, expected):
    assert reference.truth(network) == expected
    assert numpy_classes(network, all_codes(network)).tolist() != expected
    table = build_table(network)
    assert table.classes.tolist() == expected
    return table


def test_a_score_of_exactly_zero_is_class_0():
    """0.1 + 0.2 - 0.3 is not 0; sums of eighths are, and numpy finds them so."""
    layer = Layer([[0.1], [0.2], [-0.3]], [0], "sigmoid")
    exact = sum(map(naive.Fraction, [0.1, 0.2, -0.3]))
    network = binary([1, 1, 1], layer)
    assert classes_of(network) == [int(exact > 0)]
    layer = Layer([[0.125], [0.25], [-0.375]], [0], "sigmoid")
    table = build_table(binary([1, 1, 1], layer))
    assert table.classes.tolist() == [0]
    assert table.n_settled == 1
    assert table.smallest_margin == 0


@pytest.mark.parametrize(("tiny", "expected"), [(1e-17, 1), (-1e-17, 0)])
def test_a_score_of_1e_17_after_a_sum_of_ones(tiny, expected):
    """1 + 1e-17 - 1: float64 says 0."""
    layers = Layer([[1.0], [tiny], [-1.0]], [0], "sigmoid")
    assert classes_of(binary([1, 1, 1], layers)) == [expected]
    if expected:
        check_where_float64_is_wrong(binary([1, 1, 1], layers), [1])


def test_cancellation_of_1e16_and_1():
    weights = [[1e16], [-1e16], [1.0], [-1.0], [-1e16], [1e16]]
    network = binary([2, 2, 2], Layer(weights, [0], "sigmoid"))
    table = check_where_float64_is_wrong(network, reference.truth(network))
    assert table.n_settled > 0


def test_cancellation_inside_a_hidden_layer():
    """1e16 + 3 - 1e16 is 4 in float64."""
    hidden = Layer([[1e16, 1], [3, 0], [-1e16, 1]], [-2.5, 0], "relu")
    network = binary([1, 1, 1], hidden, Layer([[1.0], [-0.25]], [0], "sigmoid"))
    assert reference.scores(network, (0, 0, 0)) == [0]
    check_where_float64_is_wrong(network, [0])
    hidden = Layer([[1e16, 1], [3, 0], [-1e16, 1]], [-3.25, 0], "relu")
    network = binary([1, 1, 1], hidden, Layer([[1.0], [-0.25]], [0], "sigmoid"))
    check_where_float64_is_wrong(network, [0])


def test_many_cancellations_where_float64_is_wrong():
    rng, wrong = np.random.default_rng(13), 0
    for _ in range(60):
        network = random_network(
            rng,
            activations=["relu", "leaky_relu", "identity"],
            palettes=["cancelling"],
            max_inputs=24,
        )
        expected = reference.truth(network)
        assert classes_of(network) == expected
        wrong += numpy_classes(network, all_codes(network)).tolist() != expected
    assert wrong >= 5


def test_smooth_near_ties_where_float64_is_wrong():
    """The difference x - tanh(x) is x³/3, below the last digit of x."""
    wrong = 0
    for power in range(24, 60, 4):
        hidden = Layer([[2.0**-power]], [0], "tanh")
        for sign in (1, -1):
            last = Layer([[sign]], [-sign * 2.0**-power], "sigmoid")
            network = binary([1], hidden, last)
            expected = reference.truth(network)
            assert expected == [int(sign < 0)]
            assert classes_of(network) == expected
            wrong += numpy_classes(network, all_codes(network)).tolist() != expected
    assert wrong > 3


def test_sigmoids_next_to_one_half_where_float64_is_wrong():
    """Twice sigmoid(y) - 1/2 is y/2, of y = 1e-17: float64 says 0."""
    network = binary([2], Layer([[1e-17], [-1e-17]], [0], "sigmoid"))
    assert classes_of(network) == [1, 0]
    hidden = Layer([[1e-17], [-1e-17]], [0], "sigmoid")
    network = binary([2], hidden, Layer([[1]], [-0.5], "sigmoid"))
    check_where_float64_is_wrong(network, [1, 0])


def test_ties_of_several_classes_go_to_the_lowest_index():
    weights = [[1, 1, 0], [0, 2, 2], [2, 0, 2], [1, 1, 1]]
    network = binary([4], Layer(weights, [0, 0, 0], "softmax"))
    table = build_table(network)
    assert table.classes.tolist() == [0, 1, 0, 0]
    assert table.n_settled == 4


def test_near_ties_of_several_classes_where_float64_is_wrong():
    weights = [[1e16, 1e16, 1e16], [0, 0, 1], [-1e16, -1e16, -1e16]]
    network = binary([1, 1, 1], Layer(weights, [0, 0, 0], "softmax"))
    check_where_float64_is_wrong(network, [2])


def test_thresholds_where_float64_is_wrong():
    """A score that is the logit, rounded: below or above by a part of an ulp."""
    wrong = 0
    for threshold in np.linspace(0.01, 0.99, 40):
        with mp.workprec(200):
            score = float(naive.logit(threshold))
        layer = Layer([[score]], [0], "sigmoid")
        network = binary([1], layer, threshold=float(threshold))
        expected = reference.truth(network)
        assert classes_of(network) == expected
        wrong += numpy_classes(network, all_codes(network)).tolist() != expected
    assert wrong > 3


def test_overflow_to_infinity_is_settled():
    weights = [[1.7e308], [-1.7e308], [1.7e308], [1.0], [-1.7e308], [0.0]]
    network = binary([2, 2, 2], Layer(weights, [-1.7e308], "sigmoid"))
    assert classes_of(network) == reference.truth(network)
    hidden = Layer([[1e300, 1e300], [1, 0]], [0, 0])
    middle = Layer([[1e300, 0], [0, 1e300]], [0, 1])
    network = binary([2], hidden, middle, Layer([[1], [-1]], [0], "sigmoid"))
    assert classes_of(network) == reference.truth(network)


def test_more_classes_than_a_byte_holds():
    """The truth table must hold every class, or say that it cannot."""
    size = 300
    layer = Layer(np.eye(size), np.zeros(size), "softmax")
    network = binary([size], layer)
    with pytest.raises(UnsupportedModelError, match="at most 255 classes"):
        build_table(network)
    box = np.zeros(size, dtype=np.bool_)
    box[299] = True
    assert Oracle(network).ask(box, 299).proved
    assert not Oracle(network).ask(box, 43).proved


def test_more_features_than_an_array_has_dimensions():
    sizes = [1] * 70 + [2]
    weights = np.zeros((72, 1))
    weights[-1] = 1
    table = build_table(binary(sizes, Layer(weights, [0], "sigmoid")))
    assert table.classes.tolist() == [0, 1]
    assert len(table.fragile_inputs) == 1


# What is said beside the classes


def mild_networks(seed, number):
    rng = np.random.default_rng([14, seed])
    for _ in range(number):
        yield random_network(
            rng,
            palettes=["floats", "decimal", "integers"],
            activations=["relu", "tanh", "hard_sigmoid", "silu"],
            max_inputs=16,
            max_units=3,
        )


@pytest.mark.parametrize("seed", range(3))
def test_margins_counts_and_fragile_inputs(seed):
    for network in mild_networks(seed, 20):
        try:
            table = build_table(network)
        except UndecidedError:
            continue
        found = [
            reference.margin(network, codes) for codes in all_codes(network).tolist()
        ]
        error = 1e-12 * (1 + max(map(float, found)))
        assert table.smallest_margin == pytest.approx(float(min(found)), abs=error)
        limits = {name: framework_error(network, u) for name, u in FLOAT_UNITS.items()}
        fragile = {
            name: sum(margin <= limit for margin in found)
            for name, limit in limits.items()
        }
        near = sum(abs(margin - limits["float32"]) < 1e-9 for margin in found)
        assert abs(table.fragile["float32"] - fragile["float32"]) <= near
        assert table.fragile["float64"] >= sum(margin < 1e-16 for margin in found)
        assert table.n_settled <= table.fragile["float64"] <= table.fragile["float32"]
        counted = np.bincount(table.classes, minlength=len(network.classes))
        assert table.counts() == counted.tolist()
        if not near:
            inputs = [
                network.domain.decode([codes])[0]
                for codes, margin in zip(all_codes(network), found, strict=True)
                if margin <= limits["float32"]
            ]
            assert table.fragile_inputs == inputs[:5]


def framework_error(network, unit):
    """Bound the error of a framework by following sizes through the network."""
    offsets = network.domain.offsets
    first = network.layers[0]
    size = np.abs(first.bias)
    for start, stop in pairwise(offsets):
        size = size + np.abs(first.weights[start:stop]).max(axis=0)
    terms = len(offsets)
    error = terms * unit / (1 - terms * unit) * size
    for before, layer in pairwise(network.layers):
        function = before.function
        error = function.lipschitz * error + function.rounding * unit * (1 + size)
        size = abs(function.at_zero) + function.lipschitz * size + error
        weights = np.abs(layer.weights)
        terms = len(weights) + 2
        size = np.abs(layer.bias) + size @ weights
        error = error @ weights + terms * unit / (1 - terms * unit) * size
    if len(error) > 1:
        return 2 * (2 * float(error.max()) + 16 * unit * len(error))
    # A share is off by 16 units; the slope of the sigmoid at share p is p (1 - p).
    shares = [network.threshold + sign * 16 * unit for sign in (-1, 1)]
    slope = min(share * (1 - share) for share in shares)
    return 2 * float(error[0]) + (16 * unit / slope if slope > 0 else np.inf)


def float32_scores(network, codes):
    first = network.layers[0]
    values = first.bias.astype(np.float32)
    for start, code in zip(network.domain.offsets, codes, strict=False):
        values = values + first.weights[start + code].astype(np.float32)
    for before, layer in pairwise(network.layers):
        assert before.activation in ("relu", "leaky_relu")
        slope = np.float32(0 if before.activation == "relu" else before.slope)
        values = np.where(values > 0, values, slope * values)
        total = layer.bias.astype(np.float32)
        for value, row in zip(values, layer.weights.astype(np.float32), strict=True):
            total = total + value * row
        values = total
    return values


@pytest.mark.parametrize("scale", [1.0, 1e-20, 1e-30, 1e18, 3e25])
def test_float32_agrees_on_every_input_that_is_not_fragile(scale):
    """Also where float32 underflows to 0 or overflows to infinity."""
    rng = np.random.default_rng(15)
    differences = 0
    for _ in range(60):
        sizes = [3, 3]
        layers = [
            Layer(
                (scale * rng.normal(size=shape)).astype(np.float32),
                (scale * rng.normal(size=shape[1])).astype(np.float32)
                * np.float32(rng.integers(0, 2)),
                activation,
            )
            for shape, activation in (((6, 3), "relu"), ((3, 1), "sigmoid"))
        ]
        network = binary(sizes, *layers)
        table = build_table(network)
        rows = [tuple(row.values()) for row in table.fragile_inputs]
        differing = []
        with np.errstate(all="ignore"):
            for number, codes in enumerate(naive.inputs(sizes)):
                score = float32_scores(network, codes)[0]
                if int(score > 0) != table.classes[number]:
                    differing.append(tuple(f"v{code}" for code in codes))
        differences += len(differing)
        assert len(differing) <= table.fragile["float32"]
        if table.fragile["float32"] <= len(rows):
            assert set(differing) <= set(rows)
    if scale in (1e-30, 3e25):
        assert differences > 0


def test_a_table_of_chunks_is_the_same(monkeypatch):
    tables = []
    for chunk in (1, 7, 64, 1 << 18):
        monkeypatch.setattr("nn2rules.engine.table._CHUNK", chunk)
        for n_jobs in (1, 2):
            rng = np.random.default_rng(16)
            found = []
            for _ in range(6):
                network = random_network(
                    rng,
                    palettes=["integers", "decimal"],
                    sizes=[3, 2, 4, 3],
                    activations=["relu", "hard_tanh"],
                )
                table = build_table(network, n_jobs=n_jobs)
                found.append(
                    (
                        table.classes.tolist(),
                        table.smallest_margin,
                        table.n_settled,
                        table.fragile,
                        table.fragile_inputs,
                    )
                )
            tables.append(found)
    assert all(table == tables[0] for table in tables)
    assert any(found[2] for found in tables[0])
    assert any(found[4] for found in tables[0])


def test_threads_do_not_share_a_precision():
    """Two threads settle near-ties of gelu, one of them with more digits."""
    before, interval = mp.prec, sys.getswitchinterval()
    with mp.workprec(3000):
        exact = mp.mpf(0.75) * mp.erfc(-mp.mpf(0.75) / mp.sqrt(2)) / 2
        exact = naive.Fraction(int(mp.floor(exact * 2**2900)), 2**2900)

    def encloses(precision):
        context = MPIntervalContext()
        context.prec = precision
        low, high = _ends(ACTIVATIONS["gelu"].interval(context.mpf(0.75)))
        return low <= exact <= high + naive.Fraction(1, 2**2800)

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(encloses, [128, 2048, 128, 512] * 150))
        after = mp.prec
    finally:
        sys.setswitchinterval(interval)
        mp.prec = before
    assert all(found)
    assert after == before


# Questions about boxes


@pytest.mark.parametrize("seed", range(3))
def test_a_table_looks_at_every_input(seed):
    rng = np.random.default_rng([17, seed])
    for _ in range(60):
        network = random_network(
            rng, activations=PIECEWISE_LINEAR, max_hidden=1, max_inputs=100
        )
        table = build_table(network)
        for _ in range(5):
            box = reference.random_box(rng, network.domain.sizes)
            inside = members(network, box)
            for index in range(len(network.classes)):
                answer = table.ask(box, index)
                wrong = np.flatnonzero(inside & (table.classes != index))
                assert answer.proved == (len(wrong) == 0)
                if not answer.proved:
                    number = reference.number_of(network, answer.counterexample)
                    assert number == wrong[0]


def test_strides_find_inputs():
    network = binary([2, 1, 3, 4], Layer(np.zeros((10, 1)), [0], "sigmoid"))
    table = build_table(network)
    for codes in naive.inputs([2, 1, 3, 4]):
        assert table.strides @ codes == reference.number_of(network, codes)
    assert math.prod(network.domain.sizes) == len(table.classes)


@pytest.mark.parametrize("name", ["tanh", "sigmoid", "elu", "silu", "gelu"])
def test_dead_units_before_a_smooth_layer_leave_a_tie_that_is_decided(name):
    """All smooth units are at 0, where their values are rational."""
    dead = Layer([[-1.0], [-2.0]], [0.0], "relu")
    middle = Layer([[1.0, 3.0]], [0.0, 0.0], name)
    network = binary([2], dead, middle, Layer([[1], [-1]], [0], "sigmoid"))
    assert classes_of(network) == [0, 0]


def test_an_undecided_tie_names_the_input():
    hidden = Layer([[1, 2]], [0, 0], "tanh")
    middle = Layer([[1, 1], [1, 1]], [0, 0], "tanh")
    network = binary([1], hidden, middle, Layer([[1], [-1]], [0], "sigmoid"))
    with pytest.raises(UndecidedError) as error:
        build_table(network)
    assert error.value.row == {"f0": "v0"}


_MANY_VALUES = [[300], [2, 700, 3], [3, 2, 300], [17, 16, 4], [2] * 9]


@pytest.mark.parametrize("sizes", _MANY_VALUES, ids=str)
@pytest.mark.parametrize("seed", range(2))
def test_any_part_of_a_table_is_what_it_is_in_the_whole(sizes, seed):
    """Bit for bit, wherever a part begins; the last feature may have many values."""
    rng = np.random.default_rng([seed, *sizes])
    network = random_network(rng, activations=PIECEWISE_LINEAR, sizes=sizes)
    net, (limit, fragile) = flatten(network.layers, network.domain), _limits(network)
    fragile = np.append(fragile, 0.1)

    def part(start, stop):
        return _classify((net, network, limit, fragile), (start, stop), Meter())

    total = network.domain.n_inputs
    classes, _, smallest, n_fragile, _ = part(0, total)
    assert np.array_equal(network.predict_codes(all_codes(network)), classes)
    for _ in range(10):
        drawn = rng.integers(0, total, rng.integers(9)).tolist()
        parts = [part(*ends) for ends in pairwise(sorted({0, *drawn, total}))]
        assert np.array_equal(np.concatenate([found[0] for found in parts]), classes)
        assert min(found[2] for found in parts) == smallest
        assert sum(found[3] for found in parts).tolist() == n_fragile.tolist()
