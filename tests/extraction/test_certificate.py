import json

import numpy as np
import pytest

import naive
from nn2rules import (
    Budget,
    FormatError,
    Layer,
    Network,
    __version__,
    datasets,
    extract,
    load,
    save,
)
from nn2rules.engine import build_table
from nn2rules.extraction.certifying import network_digest
from strategies import plain_domain

COMMON = {"engine", "method", "inputs", "network", "version"}
TABLE = {
    "class_inputs",
    "smallest_margin",
    "settled_exactly",
    "fragile",
    "fragile_inputs",
}
SEARCH = {"questions", "boxes", "settled_exactly"}


def paper_form(network, **options):
    """Extract in the form that every engine knows."""
    return extract(network, form="paper", **options)


@pytest.fixture
def tomato():
    return load(datasets.network_file("tomato"))


def random_network(seed, scale=1.0):
    rng = np.random.default_rng([70, seed])
    hidden = Layer(scale * rng.normal(size=(9, 3)), rng.normal(size=3), "relu")
    last = Layer(rng.normal(size=(3, 1)), rng.normal(size=1), "sigmoid")
    return Network(plain_domain([4, 3, 2]), (hidden, last), ("no", "yes"))


# What it says


@pytest.mark.parametrize(
    ("engine", "keys"),
    [("table", TABLE), ("search", SEARCH), ("paper", {"class_inputs"})],
)
def test_every_engine_certifies(tomato, engine, keys):
    certificate = paper_form(tomato, engine=engine).certificate
    assert certificate.keys() >= COMMON | keys
    assert certificate["engine"] == engine
    assert certificate["inputs"] == 6
    assert certificate.get("different", 0) == 0
    assert certificate["version"] == __version__
    assert certificate["network"] == network_digest(tomato)
    json.dumps(certificate, allow_nan=False)


def test_facts_of_the_table(tomato):
    certificate = paper_form(tomato, engine="table").certificate
    scores = [naive.scores(tomato, codes)[0] for codes in naive.inputs((2, 3))]
    positive = sum(score > 0 for score in scores)
    assert certificate["class_inputs"] == [6 - positive, positive]
    assert certificate["smallest_margin"] == min(map(abs, scores)) > 0
    assert certificate["settled_exactly"] == 0
    assert certificate["fragile"] == {"float32": 0, "float64": 0}
    assert certificate["fragile_inputs"] == []


@pytest.mark.parametrize("seed", range(5))
def test_facts_of_the_search(seed):
    network = random_network(seed)
    certificate = paper_form(network, budget=Budget(memory=0)).certificate
    assert certificate["engine"] == "search"
    assert certificate["questions"] > 0
    assert certificate["boxes"] > 0
    assert certificate["settled_exactly"] == 0


@pytest.mark.parametrize("seed", range(8))
def test_fragile_inputs_are_fragile(seed):
    """Tied by construction on some inputs, and listed in order."""
    rng = np.random.default_rng([71, seed])
    weights = rng.integers(-2, 3, size=(9, 1)) / 4
    layer = Layer(weights, [2.0**-30 * rng.integers(-1, 2)], "sigmoid")
    network = Network(plain_domain([4, 3, 2]), (layer,), ("no", "yes"))
    certificate = paper_form(network, engine="table").certificate
    rows = [network.domain.input(number) for number in range(24)]
    codes = naive.inputs((4, 3, 2))
    near = [
        row
        for row, code in zip(rows, codes, strict=True)
        if abs(naive.scores(network, code)[0]) < 2**-22
    ]
    assert certificate["fragile_inputs"] == near[:5]
    assert certificate["fragile"]["float32"] == len(near)
    exact = sum(naive.scores(network, code)[0] == 0 for code in codes)
    assert certificate["fragile"]["float64"] == exact
    assert certificate["settled_exactly"] == exact


def test_a_network_of_overflows_is_certified_in_json(tmp_path):
    """No NaN and no Infinity: they are not JSON."""
    layer = Layer([[1.7e308], [-1.7e308], [1.7e308], [1.0]], [0.0], "sigmoid")
    network = Network(plain_domain([2, 2]), (layer,), ("no", "yes"))
    rules = paper_form(network, engine="table")
    json.dumps(rules.certificate, allow_nan=False)
    save(rules, tmp_path / "rules.json")
    assert load(tmp_path / "rules.json").certificate == rules.certificate


def test_a_certificate_travels_with_the_rules(tmp_path, tomato):
    for engine in ("table", "search", "paper"):
        rules = paper_form(tomato, engine=engine)
        save(rules, tmp_path / "rules.json")
        assert load(tmp_path / "rules.json").certificate == rules.certificate


# The digest


def test_one_ulp_changes_the_digest():
    network = random_network(1)
    seen = {network_digest(network)}
    for number, layer in enumerate(network.layers):
        for name in ("weights", "bias"):
            numbers = getattr(layer, name)
            for place in (0, numbers.size - 1):
                moved = numbers.copy()
                moved.flat[place] = np.nextafter(moved.flat[place], np.inf)
                parts = {"weights": layer.weights, "bias": layer.bias, name: moved}
                layers = list(network.layers)
                layers[number] = Layer(**parts, activation=layer.activation)
                other = Network(network.domain, tuple(layers), network.classes)
                seen.add(network_digest(other))
    assert len(seen) == 8  # the last bias has one place only


def test_everything_else_changes_the_digest():
    network = random_network(2)
    hidden, last = network.layers
    domain, classes = network.domain, network.classes
    leaky = Layer(hidden.weights, hidden.bias, "leaky_relu")
    steep = Layer(hidden.weights, hidden.bias, "leaky_relu", 0.25)
    others = [
        network,
        Network(domain, network.layers, classes, 0.5 + 2**-52),
        Network(domain, network.layers, ("yes", "no")),
        Network(domain, (leaky, last), classes),
        Network(domain, (steep, last), classes),
        Network(plain_domain([3, 4, 2]), network.layers, classes),
    ]
    assert len({network_digest(other) for other in others}) == len(others)


@pytest.mark.parametrize("options", [{"indent": 4}, {"separators": (",", ":")}, {}])
def test_formatting_does_not_change_the_digest(tmp_path, options):
    network = random_network(3)
    save(network, tmp_path / "network.json")
    document = json.loads((tmp_path / "network.json").read_text())
    reversed_keys = dict(reversed(document.items()))
    (tmp_path / "other.json").write_text(json.dumps(reversed_keys, **options))
    other = load(tmp_path / "other.json")
    assert network_digest(other) == network_digest(network)
    assert len(network_digest(other)) == 64


def test_minus_zero_is_zero():
    layers = [Layer([[zero], [1.0]], [zero], "sigmoid") for zero in (0.0, -0.0)]
    one, two = (Network(plain_domain([2]), (x,), ("no", "yes")) for x in layers)
    assert network_digest(one) == network_digest(two)


# Decisions that make no sense


@pytest.mark.parametrize("threshold", [0.0, 1.0, -0.5, 1.5, float("nan")])
def test_a_threshold_outside_0_to_1_is_refused(threshold):
    layer = Layer([[1.0], [-1.0]], [0.0], "sigmoid")
    with pytest.raises(FormatError, match="threshold"):
        Network(plain_domain([2]), (layer,), ("no", "yes"), threshold)


def test_softmax_has_no_threshold():
    layer = Layer(np.eye(2), np.zeros(2), "softmax")
    with pytest.raises(FormatError, match="threshold"):
        Network(plain_domain([2]), (layer,), ("no", "yes"), 0.25)


def test_an_unknown_activation_is_refused():
    with pytest.raises(FormatError, match="unknown activation 'swish'"):
        Layer([[1.0]], [0.0], "swish")


@pytest.mark.parametrize("threshold", [5e-324, 1e-300, 2**-53, 1 - 2**-53])
def test_the_smallest_and_largest_thresholds(threshold):
    layer = Layer([[-800.0], [-40.0], [0.0], [36.0], [40.0]], [0.0], "sigmoid")
    network = Network(plain_domain([5]), (layer,), ("no", "yes"), threshold)
    expected = [naive.class_of(network, (code,)) for code in range(5)]
    assert build_table(network).classes.tolist() == expected
    for engine in ("table", "search"):
        rules = paper_form(network, engine=engine)
        found = [naive.answer(rules, {"f0": f"v{code}"}) for code in range(5)]
        assert found == [network.classes[index] for index in expected]


def test_a_margin_that_is_not_a_number_is_not_certified(tmp_path):
    layer = Layer([[1.7e308], [1.7e308], [1.7e308], [1.7e308]], [0.0], "sigmoid")
    network = Network(plain_domain([2, 2]), (layer,), ("no", "yes"))
    rules = paper_form(network, engine="table")
    assert "smallest_margin" not in rules.certificate
    save(rules, tmp_path / "rules.json")
    assert load(tmp_path / "rules.json").certificate == rules.certificate
