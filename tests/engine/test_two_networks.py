"""Differences of two networks, region by region, against every input."""

import itertools
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from test_by_regions import every_input, small_domain

import naive
from engine.random_pieces import random_domain, random_input, random_pieces
from nn2rules import Domain, Feature, Layer, Network
from nn2rules.engine import Meter, find_difference

seeds = st.integers(0, 10**6)


def changed(rng, network):
    """Return a network that predicts the same, or nearly: moved, or with more units."""
    kind = int(rng.integers(4))
    *hidden, last = network.layers
    if kind == 0 and hidden:  # each last unit in two halves
        layer = hidden[-1]
        twice = Layer(
            np.hstack([layer.weights, layer.weights]),
            np.concatenate([layer.bias, layer.bias]),
            layer.activation,
            layer.slope,
        )
        halves = np.vstack([last.weights / 2, last.weights / 2])
        layers = (*hidden[:-1], twice, replace(last, weights=halves))
        return replace(network, layers=layers)
    if kind == 1:  # scaled by a power of two, which moves a threshold other than 0.5
        layer = replace(last, weights=last.weights * 2, bias=last.bias * 2)
        return replace(network, layers=(*hidden, layer))
    if kind == 2:  # a little moved
        bias = last.bias + rng.choice([0, 2.0**-20, -(2.0**-20)], size=last.bias.shape)
        return replace(network, layers=(*hidden, replace(last, bias=bias)))
    return random_pieces(
        rng, network.domain, max_layers=2, n_scores=len(last.bias), max_units=3
    )


def differences_of(network):
    return [*itertools.permutations(range(len(network.classes)), 2)]


@given(seed=seeds)
@settings(max_examples=120)
def test_differences_equal_every_input(seed):
    rng = np.random.default_rng([11, seed])
    domain = small_domain(rng)
    one = random_pieces(rng, domain, max_layers=2)
    other = changed(rng, one)
    settled = find_difference(one, other, differences_of(one), Meter())
    differing = {
        each
        for each in every_input(domain)
        if naive.class_of(one, *each) != naive.class_of(other, *each)
    }
    if settled.status == "refuted":
        codes, numbers = settled.inputs
        assert (tuple(codes[0].tolist()), tuple(numbers[0].tolist())) in differing
    elif settled.status == "proved":
        assert not differing


@given(seed=seeds)
@settings(max_examples=50)
def test_proofs_on_real_numbers_withstand_random_inputs(seed):
    rng = np.random.default_rng([12, seed])
    domain = random_domain(rng, int(rng.integers(1, 4)), ranges=0.8)
    one = random_pieces(rng, domain, max_layers=2)
    other = changed(rng, one)
    settled = find_difference(one, other, differences_of(one), Meter())
    if settled.status == "refuted":
        codes, numbers = (each[0].tolist() for each in settled.inputs)
        both = [naive.class_of(n, codes, numbers) for n in (one, other)]
        assert both[0] != both[1]
    elif settled.status == "proved":
        for _ in range(50):
            each = random_input(rng, domain)
            assert naive.class_of(one, *each) == naive.class_of(other, *each)


def test_few_differences_stay_undecided():
    statuses = []
    for seed in range(40):
        rng = np.random.default_rng([13, seed])
        one = random_pieces(rng, small_domain(rng), max_layers=2)
        other = changed(rng, one)
        found = find_difference(one, other, differences_of(one), Meter())
        statuses.append(found.status)
    assert statuses.count("undecided") <= 4
    assert min(statuses.count("proved"), statuses.count("refuted")) >= 10


def bump(width):
    """Return a network that is 1 only within a width of 0.3."""
    domain = Domain((Feature.real("x", 0, 1), Feature.real("y", 0, 1)))
    places = [0.3 - width, 0.3, 0.3 + width]
    hidden = Layer([[1, 1, 1, 1], [0, 0, 0, 1]], [-place for place in places] + [0])
    hidden = replace(hidden, activation="relu")
    last = Layer([[1], [-2], [1], [0]], [-width / 2], "sigmoid")
    return Network(domain, (hidden, last), (0, 1))


def test_a_narrow_difference_is_found():
    one, nothing = bump(2.0**-30), bump(2.0**-30)
    last = replace(nothing.layers[-1], bias=[-1])
    nothing = replace(nothing, layers=(nothing.layers[0], last))
    settled = find_difference(one, nothing, [(0, 1), (1, 0)], Meter())
    assert settled.status == "refuted"
    assert abs(settled.inputs.numbers[0, 0] - 0.3) < 2.0**-29
    same = find_difference(one, bump(2.0**-30), [(0, 1), (1, 0)], Meter())
    assert same.status == "proved"
    only = find_difference(one, nothing, [(0, 1)], Meter())
    assert only.status == "proved"
