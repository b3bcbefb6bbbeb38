"""Questions about ranges of numbers, against the judge of the fuzz script."""

import numpy as np
import pytest

from fuzz import numbers
from nn2rules import Budget, Domain, Feature, Layer, Network
from nn2rules.engine import Meter, Oracle, score_range
from nn2rules.extraction.from_search.covering import find_uncovered
from nn2rules.space import Boxes


def network_of(feature, *layers, threshold=0.5):
    return Network(Domain((feature,)), layers, ("no", "yes"), threshold)


ALL = np.array([True])


@pytest.mark.parametrize("seed", range(4))
def test_answers_about_ranges_are_right(seed):
    rngs = (np.random.default_rng([40, seed, k]) for k in range(60))
    assert sum(map(numbers.ask_numbers, rngs)) > 200


@pytest.mark.parametrize("seed", range(2))
def test_answers_about_lines_are_right_beside_every_break(seed):
    rngs = (np.random.default_rng([45, seed, k]) for k in range(100))
    assert sum(map(numbers.ask_lines, rngs)) > 1000


@pytest.mark.parametrize("seed", range(2))
def test_score_ranges_hold_and_are_reached(seed):
    rngs = (np.random.default_rng([41, seed, k]) for k in range(200))
    assert sum(map(numbers.ask_score_ranges, rngs)) > 1000


@pytest.mark.parametrize("seed", range(2))
def test_uncovered_inputs_are_found_or_there_are_none(seed):
    rngs = (np.random.default_rng([42, seed, k]) for k in range(300))
    assert sum(map(numbers.ask_uncovered, rngs)) > 500


def test_a_coefficient_that_overflows_before_a_small_number_proves_nothing():
    feature = Feature.real("x", 1e-300, 3e-300)
    first = Layer([[1e308, 0]], [0, 1e10], "relu")
    network = network_of(feature, first, Layer([[1e100], [-1e100]], [0], "sigmoid"))
    assert network.predict([{"x": 1e-300}, {"x": 3e-300}]).tolist() == ["no", "no"]
    assert not Oracle(network).ask(ALL, 1).proved


@pytest.mark.parametrize("whole", [False, True])
def test_the_last_number_before_a_border_is_found(whole):
    """Class "yes" just from 3 on: a box may end at 3, not before."""
    feature = Feature.real("x", 0, 10, whole=whole)
    last = Layer([[-1]], [3 if whole else np.nextafter(3, 4)], "sigmoid")
    network = network_of(feature, last)
    oracle = Oracle(network)
    below = 2.0 if whole else 3.0
    above = 3.0 if whole else float(np.nextafter(3, 4))
    assert oracle.ask(ALL, 1, ends=np.array([[0.0], [below]])).proved
    assert oracle.ask(ALL, 0, ends=np.array([[above], [10.0]])).proved
    for index, ends in ((1, (0.0, above)), (0, (below, 10.0))):
        answer = oracle.ask(ALL, index, ends=np.array(ends)[:, np.newaxis])
        assert not answer.proved
        [row] = network.domain.decode(
            answer.counterexample[np.newaxis], answer.numbers[np.newaxis]
        )
        assert network.predict([row]).tolist() == [("yes", "no")[index]]


def test_ties_all_over_a_range_are_decided_in_exact_arithmetic():
    """A score of 0 from 0 to 1 is class "no", but no bound is ever above 0."""
    feature = Feature.real("x", 0, 2)
    network = network_of(
        feature, Layer([[1]], [-1], "relu"), Layer([[1]], [0], "sigmoid")
    )
    tied = np.array([[0.0], [1.0]])
    assert Oracle(network, Meter(Budget(boxes=2000))).ask(ALL, 0, ends=tied).proved
    assert not Oracle(network, Meter(Budget(boxes=2000))).ask(ALL, 1, ends=tied).proved


def test_score_ranges_of_ranges_end_at_the_ends():
    network = network_of(Feature.real("x", -4, 16), Layer([[0.5]], [1], "sigmoid"))
    found = score_range(network, ALL)
    assert (found.at_low, found.at_high) == ({"x": -4}, {"x": 16})
    assert found.low[0] <= -1 <= found.low[1]
    assert found.high[0] <= 9 <= found.high[1]
    assert found.high[1] - found.high[0] < 1e-13


def test_what_is_left_beside_numbers_that_are_apart_has_a_number():
    """Boxes that share a special value and no number: the rest is looked at alone."""
    features = (Feature.real(name, 0, 3, whole=True, special=[99]) for name in "xy")
    domain = Domain(tuple(features))
    layer = Layer(np.zeros((4, 1)), [1.0], "sigmoid")
    oracle = Oracle(Network(domain, (layer,), ("no", "yes")))
    allowed = [[1, 1, 0, 1], [1, 1, 1, 0], [1, 0, 1, 1]]
    ends = [[[3, 1], [3, 2]], [[2, 1], [2, 2]], [[3, 1], [3, 3]]]
    boxes = Boxes(np.array(allowed, dtype=np.bool_), np.array(ends, dtype=np.float64))
    found = find_uncovered(oracle, boxes)
    at = numbers.Input(*(tuple(part[0].tolist()) for part in found))
    assert not any(numbers.holds(domain, boxes, which, at) for which in range(3))
