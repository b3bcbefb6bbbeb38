"""A search goes on where boxes become too narrow to decide, and stays right."""

from itertools import product

import numpy as np
import pytest

from nn2rules import BudgetExceededError, Domain, Feature, Layer, Network
from nn2rules.engine import Meter, borders, reaching, search
from nn2rules.engine._kernels.search import Stack
from nn2rules.space import Boxes

_TOP = 5


def shallow(empty_stack):
    """Return stacks that are full after few splits, as those of real numbers are."""
    return lambda net: Stack._make(part[:_TOP] for part in empty_stack(net))


def small_network(rng):
    """Return a network of small whole weights, so that ties are common."""
    features = tuple(Feature.real(name, -3, 4, whole=True) for name in "xyz")
    first = Layer(rng.integers(-2, 3, (3, 3)), rng.integers(-3, 4, 3), "relu")
    last = Layer(rng.integers(-2, 3, (3, 1)), rng.integers(-3, 4, 1), "sigmoid")
    return Network(Domain(features), (first, last), ("no", "yes"))


def classes_of(network):
    """Return the class of every input, by plain integers."""
    (weights, bias), (out, last) = ((la.weights, la.bias) for la in network.layers)
    inputs = np.array(list(product(range(-3, 5), repeat=3)))
    scores = np.maximum(inputs @ weights + bias, 0) @ out[:, 0] + last[0]
    return {
        tuple(row): int(score > 0) for row, score in zip(inputs, scores, strict=True)
    }


@pytest.fixture
def set_aside(monkeypatch):
    """Make stacks shallow, leave every box open, and count boxes set aside.

    Exact arithmetic decides nothing here, as for boxes that are too large for it.
    """
    counted = []
    before = borders.Borders._clear

    def counting(self, stack, top):
        n_before = self.n_set_aside
        try:
            return before(self, stack, top)
        finally:
            if self.n_set_aside > n_before:
                counted.append(top)

    make_shallow(monkeypatch)
    monkeypatch.setattr(borders.Borders, "_decide", lambda *_: None)
    monkeypatch.setattr(borders.Borders, "_clear", counting)
    return counted


def make_shallow(monkeypatch):
    monkeypatch.setattr(search, "empty_stack", shallow(search.empty_stack))
    monkeypatch.setattr(reaching, "empty_stack", shallow(reaching.empty_stack))


def test_exact_arithmetic_decides_every_border(monkeypatch):
    make_shallow(monkeypatch)
    rng = np.random.default_rng(10)
    box = np.ones(3, dtype=np.bool_)
    for index in [0, 1] * 100:
        network = small_network(rng)
        answer = search.Oracle(network).ask(box, index)
        assert answer.proved == (set(classes_of(network).values()) == {index})


def test_what_is_found_beyond_a_border_is_right(set_aside):
    rng = np.random.default_rng(8)
    found_beyond = 0
    for index in [0, 1] * 150:
        network = small_network(rng)
        truth, n_before = classes_of(network), len(set_aside)
        box = np.ones(3, dtype=np.bool_)
        try:
            answer = search.Oracle(network).ask(box, index)
        except BudgetExceededError:  # open, once everything else is settled
            assert len(set_aside) > n_before
            continue
        if answer.proved:
            assert len(set_aside) == n_before
            assert set(truth.values()) == {index}
        else:
            assert truth[tuple(answer.numbers.astype(int).tolist())] != index
            found_beyond += len(set_aside) > n_before
    assert found_beyond > 0


def test_a_class_that_is_reached_beyond_a_border_is_found(set_aside):
    rng = np.random.default_rng(9)
    found_beyond = 0
    for index in [0, 1] * 150:
        network = small_network(rng)
        truth, n_before = classes_of(network), len(set_aside)
        domain = network.domain
        whole = Boxes(np.ones((1, 3), dtype=np.bool_), domain.limits[np.newaxis])
        nothing = Boxes(whole.allowed[:0], whole.ends[:0])
        try:
            answer = reaching.find_class(network, index, whole, nothing, Meter())
        except BudgetExceededError:  # open, once everything else is settled
            assert len(set_aside) > n_before
            continue
        if answer.proved:
            assert len(set_aside) == n_before
            assert index not in truth.values()
        else:
            assert truth[tuple(answer.numbers.astype(int).tolist())] == index
            found_beyond += len(set_aside) > n_before
    assert found_beyond > 0
