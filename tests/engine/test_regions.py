"""Linear regions: they hold every input, and say what the network says there."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import strategies
from engine.random_pieces import (
    first_sums,
    next_to,
    random_domain,
    random_input,
    random_pieces,
)
from nn2rules import Budget, Domain, Feature, Layer, Network
from nn2rules.engine import Meter, linear_regions
from nn2rules.engine.linear_programs import Hull
from nn2rules.errors import BudgetExceededError, UnsupportedModelError

seeds = st.integers(0, 10**6)


def check_input(network, regions, codes, numbers):
    """Compare the regions that hold an input with the network; return how many."""
    sums = first_sums(network, codes, numbers)
    holding = [region for region in regions if region.contains(sums)]
    assert holding, "no region holds the input"
    scores = naive.scores(network, codes, numbers)
    for region in holding:
        assert naive.class_of(network, codes, numbers) in region.classes
        if region.scores is not None:
            assert [score.at(sums) for score in region.scores] == scores
    return len(holding)


@pytest.mark.parametrize("one_class", [True, False])
@given(seed=seeds)
@settings(max_examples=150)
def test_regions_hold_every_input_and_have_its_scores(one_class, seed):
    rng = np.random.default_rng([1, seed])
    network = random_pieces(rng, random_domain(rng, int(rng.integers(1, 5))))
    regions = linear_regions(network, one_class=one_class, max_regions=5000)
    forms = [side.form for region in regions for side in region.conditions]
    forms += [score for region in regions for score in region.scores or ()]
    for _ in range(20):
        codes, numbers = random_input(rng, network.domain)
        check_input(network, regions, codes, numbers)
        for one in next_to(rng, network, codes, numbers, forms[:10]):
            check_input(network, regions, *one)


@given(data=st.data())
@settings(max_examples=100)
def test_regions_hold_every_input_of_categories_with_awkward_weights(data):
    network = data.draw(strategies.networks(strategies.PIECEWISE_LINEAR, max_inputs=20))
    regions = linear_regions(network, max_regions=5000)
    for codes in naive.inputs(network.domain.sizes):
        check_input(network, regions, codes, [1.0] * len(codes))


@given(seed=seeds)
@settings(max_examples=100)
def test_regions_of_a_box_hold_every_input_of_the_box(seed):
    rng = np.random.default_rng([2, seed])
    domain = random_domain(rng, 3)
    network = random_pieces(rng, domain, max_layers=2)
    codes, numbers = random_input(rng, domain)
    allowed = rng.random(int(domain.offsets[-1])) < 0.5
    allowed[domain.offsets[:-1] + codes] = True
    ends = domain.limits.copy()
    is_number = domain.offsets[:-1] + codes == domain.ranges
    side = int(rng.integers(2))
    ends[side, is_number] = np.array(numbers)[is_number]
    regions = linear_regions(network, box=(allowed, ends), max_regions=5000)
    check_input(network, regions, codes, numbers)


@pytest.mark.parametrize("n_units", [1, 4, 9])
def test_kinks_along_a_line_cut_it_into_that_many_regions(n_units):
    domain = Domain((Feature.real("x", -1, n_units),))
    kinks = np.arange(n_units, dtype=float)
    hidden = Layer(np.ones((1, n_units)), -kinks, "relu")
    signs = (-1.0) ** np.arange(n_units)[:, np.newaxis]
    network = Network(domain, (hidden, Layer(signs, [0.25], "sigmoid")), (0, 1))
    regions = linear_regions(network, one_class=False)
    assert len(regions) == n_units + 1
    assert len({region.pieces for region in regions}) == n_units + 1


def test_a_kink_that_is_only_touched_does_not_split():
    """Both units are 0 just in one corner, and nowhere below."""
    domain = Domain((Feature.real("x", 0, 2), Feature.real("y", 0, 2)))
    hidden = Layer([[1, 3], [1, 1]], [0, 0], "relu")
    network = Network(domain, (hidden, Layer([[1], [1]], [-1], "sigmoid")), (0, 1))
    [region] = linear_regions(network)
    assert region.pieces == ((1, 1),)
    assert region.conditions == ()
    assert region.classes == (0, 1)


def test_a_kink_that_is_touched_within_a_region_does_not_split():
    """Where x >= 1/3 the second unit is at least 0, and 0 at the border."""
    domain = Domain((Feature.real("x", -3, 3),))
    hidden = Layer([[3, 7 / 5]], [-1, -7 / 15], "relu")
    exact = Fraction(7 / 5) / 3 + Fraction(-7 / 15)
    assert exact != 0, "floats round"
    network = Network(domain, (hidden, Layer([[1], [1]], [-1], "sigmoid")), (0, 1))
    assert len(linear_regions(network, one_class=False)) == 3
    hidden = Layer([[3, 7.5]], [-1, -2.5], "relu")
    network = Network(domain, (hidden, Layer([[1], [1]], [-1], "sigmoid")), (0, 1))
    assert len(linear_regions(network, one_class=False)) == 2


def test_regions_of_one_class_are_joined():
    domain = Domain((Feature.real("x", -2, 2), Feature.real("y", -2, 2)))
    hidden = Layer([[1, 0], [0, 1]], [0, 0], "relu")
    last = Layer([[1], [1]], [-1], "sigmoid")
    network = Network(domain, (hidden, last), (0, 1))
    apart = linear_regions(network, one_class=False)
    assert [region.classes for region in apart] == [(0,), (0, 1), (0, 1), (0, 1)]
    never = Network(domain, (hidden, Layer([[1], [1]], [1], "sigmoid")), (0, 1))
    [only] = linear_regions(never)
    assert (only.conditions, only.scores, only.classes) == ((), None, (1,))
    assert len(linear_regions(never, one_class=False)) == 4


def test_a_network_without_hidden_layers_is_one_region():
    domain = Domain((Feature("f", ("a", "b")),))
    network = Network(domain, (Layer([[1], [-1]], [0], "sigmoid"),), (0, 1))
    [region] = linear_regions(network)
    assert (region.pieces, region.conditions) == ((), ())
    assert region.scores[0].at([Fraction(5)]) == 5


def test_too_many_regions_are_refused_with_their_number():
    rng = np.random.default_rng(0)
    domain = Domain(tuple(Feature.real(f"f{i}", -1, 1) for i in range(6)))
    hidden = Layer(rng.normal(size=(6, 40)), rng.normal(size=40) / 4, "relu")
    last = Layer(rng.normal(size=(40, 1)), [0], "sigmoid")
    network = Network(domain, (hidden, last), (0, 1))
    message = r"^\d+ linear regions were found when .* at most 20 are allowed$"
    with pytest.raises(BudgetExceededError, match=message):
        linear_regions(network, max_regions=20)
    with pytest.raises(BudgetExceededError, match="seconds is spent"):
        linear_regions(network, meter=Meter(Budget(seconds=0)))


def test_curved_units_are_refused():
    domain = Domain((Feature("f", ("a", "b")),))
    hidden = Layer([[1], [-1]], [0], "tanh")
    network = Network(domain, (hidden, Layer([[1]], [0], "sigmoid")), (0, 1))
    with pytest.raises(UnsupportedModelError, match="tanh units are not piecewise"):
        linear_regions(network)


# Bounds


def random_program(rng):
    """Draw a network, its hull, and functions of its first sums."""
    domain = random_domain(rng, int(rng.integers(1, 5)))
    network = random_pieces(rng, domain)
    every = np.ones(int(domain.offsets[-1]), dtype=bool)
    hull = Hull(network, (every, domain.limits))
    n_sums, n_rows = len(network.layers[0].bias), int(rng.integers(2, 7))
    rows = rng.integers(-5, 6, size=(n_rows, n_sums + 1)).tolist()
    return network, hull, rows


def height(row, sums):
    return sum((a * y for a, y in zip(row[:-1], sums, strict=True)), Fraction(row[-1]))


@given(seed=seeds)
def test_bounds_hold_for_all_inputs_that_meet_the_constraints(seed):
    rng = np.random.default_rng([3, seed])
    network, hull, (row, *rows) = random_program(rng)
    sides = [hull.function(side) for side in rows]
    bound = hull.bound(hull.function(row), sides, [0])
    for _ in range(30):
        sums = first_sums(network, *random_input(rng, network.domain))
        if all(height(side, sums) >= 0 for side in rows):
            assert bound.value is not None
            assert height(row, sums) <= bound.value


@given(seed=seeds)
def test_wrong_certificates_prove_nothing(seed):
    """Any multipliers of at least 0 give a true bound, and no others are taken."""
    rng = np.random.default_rng([4, seed])
    network, hull, (row, *rows) = random_program(rng)
    function, sides = hull.function(row), [hull.function(side) for side in rows]
    inputs = [random_input(rng, network.domain) for _ in range(20)]
    sums = [first_sums(network, *one) for one in inputs]
    kept = [one for one in sums if all(height(side, one) >= 0 for side in rows)]
    for _ in range(10):
        drawn = rng.normal(size=len(rows)) * 10.0 ** rng.integers(-3, 4)
        multipliers = [Fraction(float(number)) for number in drawn]
        is_proof = all(number >= 0 for number in multipliers)
        assert not (hull.proves_empty(sides, multipliers) and (kept or not is_proof))
        positive = [abs(number) for number in multipliers]
        assert not (hull.proves_empty(sides, positive) and kept)
        limit = hull.weighed(function, sides, positive)
        assert all(height(row, one) <= limit for one in kept)


def test_an_empty_part_is_proved_empty_and_a_touching_one_is_not():
    domain = Domain((Feature.real("x", 0, 1), Feature("f", ("a", "b"))))
    network = Network(domain, (Layer([[1], [0], [1]], [0], "sigmoid"),), (0, 1))
    hull = Hull(network, (np.ones(3, dtype=bool), domain.limits))
    upwards = hull.function([1, 0])
    empty = [hull.function([1, -3]), hull.function([-1, 1])]
    assert hull.bound(upwards, empty).value is None
    touching = [hull.function([1, -2])]
    assert hull.bound(upwards, touching).value == 2
    assert hull.bound(hull.function([-1, 2]), touching, [0]).value == 0
