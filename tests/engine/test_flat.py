"""Certified errors: what float64 gets wrong is within the bounds of `flatten`."""

from fractions import Fraction

import numpy as np
import pytest
import reference
from mpmath import mp
from reference import EVERY, PIECEWISE_LINEAR, WILD, binary

import naive
from nn2rules import Layer
from nn2rules.engine._kernels.network import point_scores
from nn2rules.engine.flat import KINDS, claim, flatten, workspace
from nn2rules.network.activations import ACTIVATIONS


def float_scores(net, codes):
    """Evaluate an input with the compiled kernel."""
    space = workspace(net)
    space.choice[:] = codes
    point_scores(
        net, space.choice, space.numbers, space.first, space.hidden, space.scores
    )
    return space.scores.tolist()


def check_errors(network):
    """Compare every score with the exact one; return the largest error / bound."""
    net = flatten(network.layers, network.domain)
    used = 0.0
    with mp.workprec(reference.BITS):
        for codes in naive.inputs(network.domain.sizes):
            exact = reference.scores(network, codes)
            found = float_scores(net, codes)
            for z, score, limit in zip(exact, found, net.error.tolist(), strict=True):
                if not np.isfinite(limit):
                    continue
                number = Fraction(score) if isinstance(z, Fraction) else mp.mpf(score)
                error = abs(z - number)
                assert error <= (Fraction(limit) if isinstance(z, Fraction) else limit)
                used = max(used, float(error) / limit)
    return used


def test_every_activation_has_a_kind():
    assert KINDS.keys() == ACTIVATIONS.keys() | {"softmax"}
    assert len(set(KINDS.values())) == len(ACTIVATIONS)


@pytest.mark.parametrize("palette", WILD)
def test_errors_of_piecewise_linear_scores_are_bounded(palette):
    rng = np.random.default_rng([30, len(palette)])
    for _ in range(40):
        check_errors(
            reference.random_network(
                rng, activations=PIECEWISE_LINEAR, palettes=[palette], max_inputs=16
            )
        )


@pytest.mark.parametrize("name", EVERY)
def test_errors_of_each_activation_are_bounded(name):
    rng, used = np.random.default_rng([31, len(name)]), 0.0
    for _ in range(30):
        network = reference.random_network(
            rng, activations=[name], max_inputs=12, max_units=3
        )
        used = max(used, check_errors(network))
    assert used > 1e-4, "the bound is so loose that this test cannot fail"


@pytest.mark.parametrize("name", EVERY)
def test_errors_are_bounded_in_spite_of_cancellation(name):
    """What one layer rounds the next one blows up."""
    rng = np.random.default_rng([32, len(name)])
    for _ in range(25):
        base = rng.normal(size=(3, 4)) * 10.0 ** rng.integers(-3, 2)
        first = np.concatenate([base, -base, rng.normal(size=(2, 4)) * 1e-9])
        layers = [Layer(first, np.zeros(4), name)]
        last = rng.normal(size=(4, 1)) * 10.0 ** rng.integers(0, 12)
        last[2:] = -last[:2]
        layers.append(Layer(last, [0.0], "sigmoid"))
        check_errors(binary([3, 3, 2], *layers))


def test_a_long_sum_uses_much_of_the_bound():
    """Rounding always up: the bound is not pessimistic by more than a factor of 10."""
    n_features = 64
    weights = np.full((n_features, 1), 1.0 + 2.0**-52)
    network = binary([1] * n_features, Layer(weights, [2.0**53], "sigmoid"))
    assert check_errors(network) > 0.01


def test_an_overflow_has_an_unbounded_error():
    huge = Layer([[1.7e308], [1.7e308]], [0], "relu")
    network = binary([1, 1], huge, Layer([[1]], [0], "sigmoid"))
    net = flatten(network.layers, network.domain)
    assert not np.isfinite(net.error).any()
    assert not np.isfinite(net.slack).any()


@pytest.mark.parametrize("seed", range(3))
def test_claims_score_the_lead_of_a_class(seed):
    rng = np.random.default_rng([33, seed])
    for _ in range(40):
        network = reference.random_network(
            rng, activations=PIECEWISE_LINEAR, palettes=WILD, max_inputs=8
        )
        if network.threshold != 0.5:
            continue
        for index in range(len(network.classes)):
            net = claim(network, index)
            for codes in naive.inputs(network.domain.sizes):
                exact = reference.scores(network, codes)
                if len(exact) == 1:
                    leads = [exact[0] if index else -exact[0]]
                else:
                    others = exact[:index] + exact[index + 1 :]
                    leads = [exact[index] - other for other in others]
                found = float_scores(net, codes)
                for lead, score, error in zip(leads, found, net.error, strict=True):
                    if np.isfinite(error):
                        assert abs(lead - Fraction(score)) <= Fraction(float(error))


@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.5 + 2**-30, 0.5 - 2**-45, 1e-9])
def test_claims_allow_for_the_rounding_of_the_logit(threshold):
    with mp.workprec(300):
        limit = naive.logit(threshold)
        for score in (float(limit), float(limit) / 2, 1e-3):
            layer = Layer([[score]], [0.0], "sigmoid")
            network = binary([1], layer, threshold=threshold)
            for index, sign in ((0, -1), (1, 1)):
                net = claim(network, index)
                found = float_scores(net, [0])[0]
                assert abs(sign * (mp.mpf(score) - limit) - found) <= net.error[0]


def test_a_workspace_has_room_for_the_widest_layer():
    network = binary(
        [2, 3],
        Layer(np.zeros((5, 2)), np.zeros(2)),
        Layer(np.zeros((2, 7)), np.zeros(7)),
        Layer(np.zeros((7, 1)), [0.0], "sigmoid"),
    )
    net = flatten(network.layers, network.domain)
    space = workspace(net)
    assert space.work.shape == (3, 7)
    assert space.hidden.shape == (2, 7)
    assert len(space.low) == len(space.high) == len(space.lines) == 10
    assert space.first.shape == (2,)
