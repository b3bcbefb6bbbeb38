import math

import numpy as np
import pytest
import reference
from mpmath import mp
from reference import PIECEWISE_LINEAR, WILD, binary, whole

from nn2rules import BudgetExceededError, DomainError, Layer, OptionError
from nn2rules.engine import Budget, Meter, score_range


def exact_scores(network, box, index=0):
    """Return the exact scores of the inputs of a box, by input."""
    return {
        codes: reference.scores(network, codes)[index]
        for codes in reference.codes_in(network, box)
    }


def check_range(network, box, *, index=0, tolerance=0.0):
    """Compare with every input of the box; return the two enclosures' width."""
    ends = score_range(network, box, index=index, tolerance=tolerance)
    with mp.workprec(reference.BITS):
        values = exact_scores(network, box, index)
        low, high = (
            reference.number(z) if isinstance(z, reference.Fraction) else z
            for z in (min(values.values()), max(values.values()))
        )
        assert ends.low[0] <= low <= ends.low[1]
        assert ends.high[0] <= high <= ends.high[1]
        for row, (least, most) in ((ends.at_low, ends.low), (ends.at_high, ends.high)):
            codes = tuple(network.domain.encode([row])[0].tolist())
            assert least <= values[codes] <= most
    return ends.low[1] - ends.low[0], ends.high[1] - ends.high[0]


@pytest.mark.parametrize("seed", range(6))
def test_ranges_enclose_the_extremes(seed):
    rng = np.random.default_rng([50, seed])
    for _ in range(25):
        network = reference.random_network(
            rng, palettes=["floats", "integers", "decimal", "scaled"], max_inputs=24
        )
        box = reference.random_box(rng, network.domain.sizes)
        for index in range(len(network.layers[-1].bias)):
            widths = check_range(network, box, index=index)
            largest = np.abs(
                reference.numpy_scores(
                    network, np.array(list(reference.codes_in(network, box)))
                )
            ).max()
            sizes = [np.abs(layer.weights).sum() + 1 for layer in network.layers]
            assert max(widths) <= 1e-10 * (largest + math.prod(sizes))


@pytest.mark.parametrize("seed", range(3))
def test_ranges_of_wild_networks_enclose_the_extremes(seed):
    rng = np.random.default_rng([51, seed])
    for _ in range(60):
        network = reference.random_network(
            rng, activations=PIECEWISE_LINEAR, palettes=WILD, max_inputs=12
        )
        box = reference.random_box(rng, network.domain.sizes)
        for index in range(len(network.layers[-1].bias)):
            check_range(network, box, index=index)


def test_an_overflow_is_not_enclosed_in_infinity():
    """The scores are 2e318 and 0; float64 knows neither."""
    hidden = Layer([[1e308], [-1e308]], [1e308], "identity")
    network = binary([2], hidden, Layer([[1e10]], [0], "sigmoid"))
    for box in ([True, True], [True, False], [False, True]):
        check_range(network, np.array(box))


@pytest.mark.parametrize("tolerance", [1e-3, 0.1, 1.0, 100.0])
def test_a_tolerance_is_respected_and_saves_work(tolerance):
    rng, saved = np.random.default_rng(52), 0
    for _ in range(15):
        network = reference.random_network(
            rng,
            activations=["relu", "tanh", "silu"],
            palettes=["floats"],
            sizes=[3, 2, 3, 2],
            outputs=[1],
        )
        box = reference.random_box(rng, network.domain.sizes)
        widths = check_range(network, box, tolerance=tolerance)
        assert max(widths) <= tolerance + 1e-9
        rough, fine = Meter(), Meter()
        score_range(network, box, tolerance=tolerance, meter=rough)
        score_range(network, box, meter=fine)
        assert rough.boxes <= fine.boxes
        saved += fine.boxes - rough.boxes
    assert tolerance < 0.1 or saved > 0


@pytest.mark.parametrize("seed", range(3))
def test_the_probability_of_every_input_is_in_the_range(seed):
    rng = np.random.default_rng([53, seed])
    for _ in range(20):
        network = reference.random_network(
            rng, palettes=["floats", "steep"], activations=["relu"], outputs=[1]
        )
        box = reference.random_box(rng, network.domain.sizes)
        low, high = score_range(network, box).probability
        assert 0 <= low <= high <= 1
        with mp.workprec(300):
            for score in exact_scores(network, box).values():
                chance = 1 / (1 + mp.exp(-reference.number(score)))
                assert low <= chance <= high


@pytest.mark.parametrize("score", [-745.0, -744.0, -741.5, -710.0, 36.0, 40.0, 0.0])
def test_extreme_probabilities_are_enclosed(score):
    network = binary([1], Layer([[score]], [0], "sigmoid"))
    low, high = score_range(network, whole(network)).probability
    with mp.workprec(3000):
        assert low <= 1 / (1 + mp.exp(-mp.mpf(score))) <= high


def test_several_scores_have_a_range_each():
    weights = np.array([[1.0, 5.0, -2.0], [2.0, 4.0, 0.0]])
    network = binary([2], Layer(weights, [0, 0, 1], "softmax"))
    for index, (low, high) in enumerate([(1, 2), (4, 5), (-1, 1)]):
        ends = score_range(network, whole(network), index=index)
        assert ends.low[0] <= low <= ends.low[1] <= low + 1e-12
        assert high - 1e-12 <= ends.high[0] <= high <= ends.high[1]
    for index in (-1, 3):
        with pytest.raises(OptionError, match="index"):
            score_range(network, whole(network), index=index)


@pytest.mark.parametrize("tolerance", [-1.0, float("nan")])
def test_a_bad_tolerance_is_refused(tolerance):
    network = binary([2], Layer([[1], [2]], [0], "sigmoid"))
    with pytest.raises(OptionError, match="tolerance"):
        score_range(network, whole(network), tolerance=tolerance)


def test_an_empty_box_is_refused():
    network = binary([2], Layer([[1], [2]], [0], "sigmoid"))
    with pytest.raises(DomainError, match="empty"):
        score_range(network, np.zeros(2, dtype=np.bool_))
    with pytest.raises(DomainError):
        score_range(network, np.ones(3, dtype=np.bool_))


def test_a_budget_that_is_spent_is_an_error():
    rng = np.random.default_rng(54)
    hidden = Layer(rng.normal(size=(30, 8)), rng.normal(size=8), "tanh")
    network = binary([3] * 10, hidden, Layer(rng.normal(size=(8, 1)), [0], "sigmoid"))
    with pytest.raises(BudgetExceededError):
        score_range(network, whole(network), meter=Meter(Budget(boxes=5)))
