from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import reference
from reference import binary

import ranged
from nn2rules import (
    Domain,
    DomainError,
    Feature,
    Layer,
    Network,
    OptionError,
    UndecidedError,
)
from nn2rules.engine import Budget, Meter, build_table, count_classes, counting


def searched(boxes=None):
    """Return a meter that leaves no memory for a table."""
    return Meter(Budget(memory=0, boxes=boxes))


@pytest.mark.parametrize("seed", range(6))
def test_counts_by_search_are_those_of_the_table(seed):
    rng, compared = np.random.default_rng([40, seed]), 0
    for _ in range(50):
        network = reference.mixed_network(rng)
        try:
            table = build_table(network)
            counts = count_classes(network, meter=searched())
        except UndecidedError:
            continue
        assert counts.is_exact
        assert list(counts.lower) == table.counts()
        assert counts.classes == network.classes
        assert sum(counts.lower) == network.domain.n_inputs
        total = network.domain.n_inputs
        for (low, high), count in zip(counts.probability, table.counts(), strict=True):
            assert low <= Fraction(count, total) <= high
            assert high - low < 1e-9
        compared += 1
    assert compared > 40


def test_counts_of_a_table_need_no_boxes():
    rng = np.random.default_rng(41)
    network = reference.random_network(rng, palettes=["floats"], sizes=[3, 4, 2])
    counts = count_classes(network)
    assert counts.boxes == 0
    assert list(counts.lower) == build_table(network).counts()
    total = network.domain.n_inputs
    for (low, high), count in zip(counts.probability, counts.lower, strict=True):
        assert low == high == count / total


@pytest.mark.parametrize("outputs", [1, 3])
def test_bounds_enclose_the_truth_and_tighten(outputs):
    rng, loose = np.random.default_rng([42, outputs]), 0
    for _ in range(10):
        network = reference.random_network(
            rng,
            activations=["relu", "tanh"],
            palettes=["floats"],
            sizes=[3, 2, 4, 3, 2],
            outputs=[outputs],
        )
        exact = build_table(network).counts()
        total, widths = network.domain.n_inputs, []
        for boxes in (0, 1, 3, 10, 30, 100, 10**5):
            counts = count_classes(network, meter=searched(boxes))
            for low, count, high in zip(counts.lower, exact, counts.upper, strict=True):
                assert 0 <= low <= count <= high <= total
            for (low, high), count in zip(counts.probability, exact, strict=True):
                assert low <= Fraction(count, total) <= high
            width = sum(counts.upper) - sum(counts.lower)
            widths.append(width)
            loose += width > 0
        assert widths == sorted(widths, reverse=True)
        assert widths[-1] == 0
    assert loose > 10


def brute_force(network, probabilities):
    """Return the probability of each class, summed input by input."""
    classes = build_table(network).classes
    totals = [Fraction(0)] * len(network.classes)
    chances = []
    for feature in network.domain.features:
        own = probabilities.get(feature.name)
        if own is None:
            chances.append([Fraction(1, len(feature))] * len(feature))
        else:
            chances.append([Fraction(own.get(v, 0)) for v in feature.values])
    for index, choice in zip(classes, product(*chances), strict=True):
        mass = Fraction(1)
        for chance in choice:
            mass *= chance
        totals[index] += mass
    return totals


@pytest.mark.parametrize("seed", range(4))
def test_probabilities_are_those_of_brute_force(seed):
    rng = np.random.default_rng([43, seed])
    for _ in range(15):
        network = reference.random_network(
            rng, activations=["relu", "silu"], palettes=["floats", "dyadic"]
        )
        probabilities = {}
        for feature in network.domain.features:
            if rng.integers(0, 3):
                parts = rng.multinomial(64, np.ones(len(feature)) / len(feature))
                probabilities[feature.name] = {
                    value: int(part) / 64
                    for value, part in zip(feature.values, parts, strict=True)
                    if part
                }
        try:
            expected = brute_force(network, probabilities)
        except UndecidedError:
            continue
        for meter in (None, searched(), searched(4)):
            counts = count_classes(network, probabilities=probabilities, meter=meter)
            for (low, high), chance in zip(counts.probability, expected, strict=True):
                assert low <= chance <= high
                assert meter is not None or high - low < 1e-9
            if counts.is_exact:
                assert list(counts.lower) == build_table(network).counts()


@pytest.mark.parametrize(
    ("probabilities", "message"),
    [
        ({"f0": {"v0": 0.5, "v1": 0.4}}, "add up to 0.9"),
        ({"f0": {"v0": 1.5, "v1": -0.5}}, "expected 0 to 1"),
        ({"f0": {"v0": float("nan"), "v1": 1.0}}, "expected 0 to 1"),
        ({"f0": {"v7": 1.0}}, "no value 'v7'"),
        ({"f9": {"v0": 1.0}}, "no feature 'f9'"),
        ({"f0": {}}, "add up to 0"),
    ],
)
def test_bad_probabilities_are_refused(probabilities, message):
    network = binary([2, 2], Layer([[1], [-1], [0], [0]], [0], "sigmoid"))
    with pytest.raises(DomainError, match=message):
        count_classes(network, probabilities=probabilities)


def test_probabilities_that_add_up_roughly_keep_bounds_in_order():
    network = binary([2], Layer([[1], [-1]], [0], "sigmoid"))
    for half in (0.5 + 2e-10, 0.5 - 2e-10):
        chances = {"f0": {"v0": half, "v1": half}}
        counts = count_classes(network, probabilities=chances)
        for low, high in counts.probability:
            assert low <= 0.5 <= high
            assert high - low < 1e-8


@pytest.mark.parametrize("outputs", [1, 3])
def test_more_inputs_than_an_integer_holds(outputs):
    """Of 70 features only three matter."""
    rng = np.random.default_rng([44, outputs])
    for _ in range(5):
        small = reference.random_network(
            rng,
            activations=["relu", "tanh"],
            palettes=["floats"],
            sizes=[2, 2, 2],
            outputs=[outputs],
            max_hidden=2,
        )
        first = small.layers[0]
        weights = np.zeros((140, first.weights.shape[1]))
        for place, feature in enumerate((5, 33, 69)):
            weights[2 * feature : 2 * feature + 2] = first.weights[2 * place :][:2]
        layers = (
            Layer(weights, first.bias, first.activation, first.slope),
            *small.layers[1:],
        )
        large = binary([2] * 70, *layers, threshold=small.threshold)
        counts = count_classes(large, meter=Meter(Budget(boxes=10_000)))
        expected = [count << 67 for count in build_table(small).counts()]
        assert list(counts.lower) == list(counts.upper) == expected
        assert sum(counts.lower) == 2**70


def test_a_small_budget_on_a_large_domain():
    rng = np.random.default_rng(45)
    hidden = Layer(rng.normal(size=(210, 5)), rng.normal(size=5), "relu")
    network = binary([3] * 70, hidden, Layer(rng.normal(size=(5, 1)), [0], "sigmoid"))
    widths = []
    for boxes in (10, 1_000, 5_000):
        counts = count_classes(network, meter=Meter(Budget(boxes=boxes)))
        assert all(
            0 <= a <= b <= 3**70
            for a, b in zip(counts.lower, counts.upper, strict=True)
        )
        assert not counts.is_exact
        assert sum(counts.lower) <= 3**70 <= sum(counts.upper)
        widths.append(counts.upper[0] - counts.lower[0])
    assert widths == sorted(widths, reverse=True)


@pytest.mark.parametrize("seed", range(3))
def test_shares_of_whole_numbers_are_those_of_enumeration(seed):
    rng = np.random.default_rng([47, seed])
    age = Feature.real("age", 17, 40, whole=True, special=[99], missing=True)
    number = Feature.real("n", 0, 3, whole=True)
    domain = Domain((age, Feature("job", ("a", "b", "c")), number))
    listed = [*range(17, 41), 99, None]
    rows = [
        {"age": one, "job": job, "n": n}
        for one, job, n in product(listed, "abc", range(4))
    ]
    for classes in (("no", "yes"), ("a", "b", "c")):
        network = ranged.random_network(rng, domain, classes=classes)
        answers, widths = network.predict(rows).tolist(), []
        for boxes in (0, 5, 50, 10**6):
            counts = count_classes(network, meter=searched(boxes))
            assert (counts.lower, counts.upper) == (None, None)
            assert not counts.is_exact
            for label, (low, high) in zip(classes, counts.probability, strict=True):
                assert low <= Fraction(answers.count(label), len(rows)) <= high
            widths.append(sum(high - low for low, high in counts.probability))
        assert widths == sorted(widths, reverse=True)
        assert widths[-1] < 1e-9


@pytest.mark.parametrize("limits", [(-1.0, 3.0), (-1.7e308, 1.7e308), (0.25, 0.25)])
def test_shares_of_real_numbers_come_as_close_as_asked(limits):
    """Half of the numbers are above 1, or above 0, or none is."""
    domain = Domain((Feature.real("x", *limits, missing=True),))
    middle = Fraction(limits[0]) / 2 + Fraction(limits[1]) / 2
    layer = Layer([[1.0], [5.0]], [-float(middle)], "sigmoid")
    network = Network(domain, (layer,), ("low", "high"))
    share = Fraction(1, 2)  # missing counts half beside a single number
    found = count_classes(network, meter=searched(2_000))
    for low, high in found.probability:
        assert low <= share <= high
        assert limits[1] > 1e300 or high - low < 1e-6
    with pytest.raises(OptionError, match="feature 'x' is a range of real numbers"):
        count_classes(network)


def test_chances_of_numbers_cannot_be_given():
    domain = Domain((Feature.real("x", 0, 9, whole=True),))
    network = Network(domain, (Layer([[1.0]], [-4.5], "sigmoid"),), ("low", "high"))
    with pytest.raises(DomainError, match="'x' is a range of numbers, which"):
        count_classes(network, probabilities={"x": {3: 1.0}})


def test_bounds_of_a_search_that_is_stopped_are_not_those_of_one_corner(monkeypatch):
    rng, widths = np.random.default_rng(48), []
    hidden = Layer(rng.normal(size=(48, 3)), rng.normal(size=3), "relu")
    network = binary([2] * 24, hidden, Layer(rng.normal(size=(3, 1)), [0.2], "sigmoid"))
    for splits in (counting._FIRST_SPLITS, 100):
        monkeypatch.setattr(counting, "_FIRST_SPLITS", splits)
        counts = count_classes(network, meter=searched(20_000))
        widths.append(counts.upper[0] - counts.lower[0])
    assert 0 < widths[0] < 0.8 * widths[1]
