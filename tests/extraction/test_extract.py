import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from nn2rules import (
    Domain,
    Feature,
    Layer,
    Network,
    OptionError,
    OverfittingWarning,
    UnsupportedModelError,
    datasets,
    extract,
    load,
)
from nn2rules.extraction import paper
from strategies import PALETTES, plain_domain, relu_networks, rows_of

TOMATO = load(datasets.network_file("tomato"))
EXACT = ("auto", "table", "search", "paper")


MILD = ("integers", "signs", "zeros", "dyadic", "decimal", "cancelling", "steep")


def check_engines(network, random):
    order = None
    if random.random() < 0.5:
        order = random.sample(network.domain.names, len(network.domain.names))
    expected = paper.paper_rules(network, order=order)
    codes = np.array(naive.inputs(network.domain.sizes))
    truth = [naive.class_of(network, row) for row in codes.tolist()]
    for engine in EXACT:
        rules = extract(network, form="paper", engine=engine, order=order)
        assert (rules.apply_codes(codes) >= 0).tolist() == [c == 1 for c in truth]
        assert rules.rules == expected.rules
        assert (rules.default, rules.classes) == (expected.default, expected.classes)


@settings(max_examples=150)
@given(relu_networks(60, palettes=MILD), st.randoms(use_true_random=False))
def test_every_engine_gives_the_papers_rules(network, random):
    check_engines(network, random)


@settings(max_examples=150)
@given(
    relu_networks(30, palettes=tuple(sorted(PALETTES.keys() - MILD))),
    st.randoms(use_true_random=False),
)
def test_every_engine_gives_the_papers_rules_for_extreme_weights(network, random):
    check_engines(network, random)


@settings(max_examples=50)
@given(relu_networks(40, palettes=MILD), st.data())
def test_every_engine_counts_support(network, data):
    rows = network.domain.decode(data.draw(rows_of(network.domain)))
    for scope in ("domain", "support"):
        expected = paper.paper_rules(network, data=rows, scope=scope)
        for engine in EXACT:
            rules = extract(
                network, form="paper", engine=engine, data=rows, scope=scope
            )
            assert rules.rules == expected.rules
            assert rules.scope == scope


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "magic"}, "engine: 'magic', expected "),
        ({"scope": "all"}, "scope: 'all', expected "),
        ({"form": "paper", "scope": "support"}, "the scope 'support' needs data"),
        (
            {"form": "paper", "order": ("color",)},
            "order must name every feature once: 'size' is",
        ),
        (
            {"approximate": "x", "engine": "paper"},
            "approximate: 'x', expected 'soft-binary'",
        ),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(OptionError) as error:
        extract(TOMATO, **options)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            "tomato.json",
            "'tomato.json' is a path; load the model first: load_model('tomato.json')",
        ),
        (
            3,
            "builtins.int is not a supported model; nn2rules reads scikit-learn",
        ),
        (None, "builtins.NoneType is not a supported model; nn2rules reads"),
        ("rows.csv", "'rows.csv' is a file of data, not a model; pass a trained model"),
        ([{"a": 1}], "list is data, not a model; pass a trained model, and the rows"),
        (np.zeros((2, 2)), "ndarray is data, not a model; pass a trained model"),
    ],
)
def test_models_that_nothing_reads(model, message):
    with pytest.raises(UnsupportedModelError) as error:
        extract(model, form="rules")
    assert str(error.value).startswith(message)


def test_a_network_has_its_own_domain():
    assert extract(TOMATO, domain=TOMATO.domain) == extract(TOMATO)
    with pytest.raises(OptionError, match="a Network has its own domain"):
        extract(TOMATO, domain=plain_domain([2, 3]))


def test_several_classes_are_refused_by_the_papers_form():
    layer = Layer([[1, 2, 3], [3, 2, 1]], [0, 0, 0], "softmax")
    network = Network(plain_domain([2]), (layer,), ("a", "b", "c"))
    for engine in EXACT:
        with pytest.raises(UnsupportedModelError):
            extract(network, form="paper", engine=engine)


def test_soft_binary_is_only_the_papers():
    layers = Layer([[2.0], [-1.0]], [0], "sigmoid"), Layer([[1]], [-0.1], "sigmoid")
    network = Network(plain_domain([2]), layers, ("a", "b"))
    rules = extract(network, form="paper", engine="paper", approximate="soft-binary")
    assert rules.certificate["different"] == 1  # sigmoid(−1) > 0.1
    assert "APPROXIMATE (soft-binary)" in str(rules)
    with pytest.raises(UnsupportedModelError, match="approximate='soft-binary'"):
        extract(network, form="paper", engine="paper")


def test_nothing_of_the_user_is_changed():
    rows = [{"color": "red", "size": "big"}]
    extract(TOMATO, data=rows, scope="support")
    assert rows == [{"color": "red", "size": "big"}]


def overfitted():
    rng = np.random.default_rng(0)
    domain = Domain(tuple(Feature(f"x{i}", ("a", "b", "c")) for i in range(13)))
    hidden = Layer(rng.normal(0, 3, (39, 8)), rng.normal(0, 1, 8), "relu")
    last = Layer(rng.normal(0, 3, (8, 1)), [0.0], "sigmoid")
    rows = domain.decode(rng.integers(0, 3, (110, 13)))
    return Network(domain, (hidden, last), ("no", "yes")), rows


def test_overfitting_is_reported():
    network, rows = overfitted()
    with pytest.warns(
        OverfittingWarning, match=r"1\.\d rows on average.*ReadableClassifier"
    ):
        rules = extract(network, rows, scope="support", form="set")
    assert 50 <= len(rules) < 110
    assert any("POSSIBLE OVERFITTING" in line for line in rules.warnings())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        few = extract(network, rows[:40], scope="support", form="set")
    assert few.warnings() == []
