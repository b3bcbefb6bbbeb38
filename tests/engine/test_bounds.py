"""Bounds hold: on every pre-activation of every layer, and every line of `relax`."""

from fractions import Fraction

import numpy as np
import pytest
import reference
from mpmath import mp
from reference import EVERY, MILD, PIECEWISE_LINEAR, SLOPES, WILD, binary, whole

import naive
from nn2rules import Layer
from nn2rules.engine._kernels.bounds import (
    activation_range,
    bound_layers,
    bound_worst,
    is_negative,
    relax,
    score_lower,
)
from nn2rules.engine._kernels.network import activate
from nn2rules.engine.flat import KINDS, claim, flatten, workspace
from nn2rules.network.activations import activation
from nn2rules.network.certified import UNIT

# Layers


def bounded(network, box):
    """Return the bounds of each layer's pre-activations, as the kernels find them."""
    net = flatten(network.layers, network.domain)
    space = workspace(net)
    space.box[:] = box
    bound_layers(net, space, True)
    ends = []
    for layer in range(len(network.layers) - 1):
        units = slice(net.unit_at[layer], net.unit_at[layer] + net.sizes[layer + 1])
        ends.append((space.low[units].copy(), space.high[units].copy()))
    last = slice(net.unit_at[-1], None)
    scores = range(len(network.layers[-1].bias))
    with np.errstate(all="ignore"):
        low = [score_lower(net, space, k, 1.0) for k in scores] - net.slack[last]
        high = [-score_lower(net, space, k, -1.0) for k in scores] + net.slack[last]
    ends.append((low, high))
    worst = bound_worst(net, space, True)
    return ends, worst, is_negative(net, space)


def check_bounds(network, box):
    """Compare with the extremes of all inputs; return how many ends are finite."""
    ends, worst, negative = bounded(network, box)
    finite = 0
    with mp.workprec(reference.BITS):
        values = [
            reference.pre_activations(network, codes)
            for codes in reference.codes_in(network, box)
        ]
        for layer, (low, high) in enumerate(ends):
            for unit in range(len(low)):
                exact = [value[layer][unit] for value in values]
                if np.isfinite(low[unit]):
                    assert as_number(low[unit], exact) <= min(exact)
                    finite += 1
                if np.isfinite(high[unit]):
                    assert as_number(high[unit], exact) >= max(exact)
                    finite += 1
        exact = [score for value in values for score in value[-1]]
        if np.isfinite(worst):
            assert as_number(worst, exact) <= min(exact)
        assert not worst > 0 or min(exact) > 0
        highest = [max(column) for column in zip(*(v[-1] for v in values), strict=True)]
        assert not negative or min(highest) < 0
    return finite


def as_number(value, others):
    return Fraction(value) if isinstance(others[0], Fraction) else mp.mpf(float(value))


@pytest.mark.parametrize("palette", WILD)
def test_bounds_of_piecewise_linear_networks_hold(palette):
    rng, finite = np.random.default_rng([20, len(palette)]), 0
    for _ in range(40):
        network = reference.random_network(
            rng, activations=PIECEWISE_LINEAR, palettes=[palette], max_inputs=24
        )
        for _ in range(3):
            finite += check_bounds(
                network, reference.random_box(rng, network.domain.sizes)
            )
    assert finite > (10 if palette == "largest" else 50)  # most of them overflow


@pytest.mark.parametrize("name", EVERY)
def test_bounds_of_each_activation_hold(name):
    rng, finite = np.random.default_rng([21, len(name)]), 0
    for _ in range(40):
        network = reference.random_network(
            rng, activations=[name], palettes=MILD, max_inputs=12, max_units=3
        )
        finite += check_bounds(network, reference.random_box(rng, network.domain.sizes))
    assert finite > 150


@pytest.mark.parametrize("name", EVERY)
def test_bounds_hold_in_spite_of_cancellation(name):
    """Narrow intervals, far from zero or next to it, and large weights behind."""
    rng = np.random.default_rng([22, len(name)])
    for _ in range(150):
        scale = 10.0 ** rng.uniform(-18, 1)
        place = float(rng.choice([0.0, 1e-8, 0.3, 1.0, 3.0, 20.0, 300.0]))
        steep = 10.0 ** rng.uniform(0, 8)
        first = np.concatenate(
            [
                scale * rng.normal(size=(4, 3)),
                place + scale * rng.normal(size=(2, 3)),
                np.full((1, 3), 1e3 * place),
            ]
        )
        layers = (
            Layer(first, np.full(3, -1e3 * place), name),
            Layer(steep * rng.normal(size=(3, 3)), np.zeros(3), name),
            Layer(steep * rng.choice([-1.0, 1.0], size=(3, 1)), [0.0], "sigmoid"),
        )
        if name not in PIECEWISE_LINEAR and steep > 1e3:
            layers = (layers[0], layers[2])
        check_bounds(binary([4, 2, 1], *layers), np.ones(7, dtype=np.bool_))


@pytest.mark.parametrize("name", EVERY)
def test_bounds_of_single_inputs_are_tight(name):
    """On one input, bounds are off by little more than the slack."""
    rng = np.random.default_rng([23, len(name)])
    for _ in range(30):
        network = reference.random_network(
            rng, activations=[name], palettes=["floats"], max_hidden=3
        )
        net = flatten(network.layers, network.domain)
        box = np.zeros(len(whole(network)), dtype=np.bool_)
        box[network.domain.offsets[:-1]] = True
        ends, _, _ = bounded(network, box)
        for layer, (low, high) in enumerate(ends):
            slack = net.slack[net.unit_at[layer] :][: len(low)]
            assert (high - low <= 1e4 * slack).all()
            assert (high > low).all()
            assert (slack < 1e-7).all()


@pytest.mark.parametrize("seed", range(3))
def test_bounds_of_stable_networks_are_exact(seed):
    """When no relu changes sign the bound is the minimum, but for the slack."""
    rng = np.random.default_rng([24, seed])
    for _ in range(30):
        first = Layer(rng.normal(size=(7, 3)), np.full(3, 20.0), "relu")
        middle = Layer(rng.normal(size=(3, 2)), np.full(2, -300.0), "leaky_relu", 0.3)
        network = binary(
            [3, 4], first, middle, Layer(rng.normal(size=(2, 1)), [0.0], "sigmoid")
        )
        box = reference.random_box(rng, [3, 4])
        ends, worst, _ = bounded(network, box)
        exact = [
            float(reference.scores(network, codes)[0])
            for codes in reference.codes_in(network, box)
        ]
        assert ends[-1][0][0] == pytest.approx(min(exact), abs=1e-9)
        assert ends[-1][1][0] == pytest.approx(max(exact), abs=1e-9)
        assert worst == pytest.approx(min(exact), abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_claims_are_positive_just_where_a_class_wins(seed):
    rng, n_positive = np.random.default_rng([25, seed]), 0
    for _ in range(40):
        network = reference.random_network(
            rng, activations=PIECEWISE_LINEAR, palettes=WILD, max_inputs=12
        )
        box = reference.random_box(rng, network.domain.sizes)
        classes = {
            reference.class_of(network, codes)
            for codes in reference.codes_in(network, box)
        }
        for index in range(len(network.classes)):
            net = claim(network, index)
            space = workspace(net)
            space.box[:] = box
            if bound_worst(net, space, True) > 0:
                assert classes == {index}
                n_positive += 1
            if is_negative(net, space):
                assert index not in classes
    assert n_positive > 5


# Lines


def intervals(rng, number):
    """Draw intervals: ordinary, narrow, wide, far from zero, and denormal."""
    found = []
    for _ in range(number):
        kind = rng.integers(0, 7)
        if kind == 0:
            ends = rng.normal(size=2) * 3
        elif kind == 1:  # a few ulps
            low = rng.normal() * 10.0 ** rng.integers(-3, 3)
            ends = [low, low + rng.integers(1, 9) * np.spacing(abs(low))]
        elif kind == 2:
            low = rng.normal() * 3
            ends = [low, low + 10.0 ** rng.uniform(-15, -3)]
        elif kind == 3:
            ends = rng.normal(size=2) * 10.0 ** rng.uniform(2, 300)
        elif kind == 4:
            low = rng.choice([-1, 1]) * 10.0 ** rng.uniform(1, 3)
            ends = [low, low + rng.random()]
        elif kind == 5:
            ends = rng.normal(size=2) * 10.0 ** rng.uniform(-323, -300)
        else:
            ends = [rng.normal() * 1e-3, rng.normal() * 10.0 ** rng.uniform(0, 6)]
        low, high = sorted(map(float, ends))
        found.append((low, high))
    return found


def points_of(rng, low, high):
    """Return points of an interval, in places where lines may fail."""
    special = [0.0, -1.0, 1.0, -3.0, 3.0, -1.2784645427610738, -0.7517915246935645]
    points = [low, high, low / 2 + high / 2, *special]
    points += (low + (high - low) * rng.random(6)).tolist()
    points += [low + (high - low) * 10.0**-k for k in (3, 9)]
    points += [high - (high - low) * 10.0**-k for k in (3, 9)]
    points += (rng.normal(size=4) * 3).tolist()
    return [point for point in points if low <= point <= high]


def exact_value(name, slope, point):
    if name in naive.SMOOTH:
        return naive.SMOOTH[name](mp.mpf(point))
    slope = Fraction(0.01 if slope is None else slope)
    return reference.number(naive.EXACT[name](Fraction(point), slope))


CASES = [(name, None) for name in EVERY if name != "leaky_relu"]
CASES += [("leaky_relu", slope) for slope in SLOPES]


@pytest.mark.parametrize(("name", "slope"), CASES)
def test_lines_hold_the_activation(name, slope):
    rng = np.random.default_rng([26, len(name)])
    kind, function = KINDS[name], activation(name, slope)
    number = 0.01 if slope is None else slope
    lines, points = np.zeros(4), 0
    with mp.workprec(200):
        for low, high in intervals(rng, 300):
            relax(kind, number, low, high, lines)
            largest = max(abs(low), abs(high))
            if not np.isfinite(lines).all():
                assert largest > 1e100
                continue
            rounding = 8 * (function.rounding + 4) * UNIT * (1 + largest)
            a, b, c, d = map(mp.mpf, lines.tolist())
            for point in points_of(rng, low, high):
                value = exact_value(name, slope, point)
                assert a * point + b <= value + rounding, (low, high, point)
                assert c * point + d >= value - rounding, (low, high, point)
                points += 1
            assert abs(lines[0]) <= function.lipschitz
            assert abs(lines[2]) <= function.lipschitz
    assert points > 3000


@pytest.mark.parametrize(("name", "slope"), CASES)
def test_lines_are_close_to_the_activation(name, slope):
    """The gap shrinks with the interval, so that splitting boxes gets somewhere."""
    rng = np.random.default_rng([27, len(name)])
    number = 0.01 if slope is None else slope
    lines = np.zeros(4)
    for low in rng.normal(size=50) * 3:
        for width in (4.0, 1.0, 0.1):
            relax(KINDS[name], number, low, low + width, lines)
            for point in (low, low + width):
                gap = (lines[2] - lines[0]) * point + lines[3] - lines[1]
                assert 0 <= gap + 1e-12 <= 1.2 * max(1, abs(number)) * width


@pytest.mark.parametrize(("name", "slope"), CASES)
def test_ranges_hold_the_activation(name, slope):
    rng = np.random.default_rng([28, len(name)])
    kind, function = KINDS[name], activation(name, slope)
    number = 0.01 if slope is None else slope
    with mp.workprec(200):
        for low, high in intervals(rng, 100):
            least, most = activation_range(kind, number, low, high)
            rounding = (
                8 * (function.rounding + 4) * UNIT * (1 + max(abs(low), abs(high)))
            )
            for point in points_of(rng, low, high):
                value = exact_value(name, slope, point)
                assert least <= value + rounding
                assert most >= value - rounding


@pytest.mark.parametrize(("name", "slope"), CASES)
def test_compiled_activations_are_as_accurate_as_they_say(name, slope):
    rng = np.random.default_rng([29, len(name)])
    kind, function = KINDS[name], activation(name, slope)
    number = 0.01 if slope is None else slope
    points = [0.0, -0.0, 1.0, -1.0, 3.0, -3.0, 5e-324, -5e-324, 745.2, -745.2]
    points += (rng.normal(size=150) * 3).tolist()
    points += (rng.normal(size=100) * 10.0 ** rng.uniform(-300, 200, size=100)).tolist()
    points += rng.uniform(-40, 40, size=100).tolist()
    with mp.workprec(200):
        for point in points:
            error = abs(activate(kind, number, point) - exact_value(name, slope, point))
            allowed = function.rounding * UNIT * (1 + abs(point)) + 1e-300
            assert error <= allowed, point
