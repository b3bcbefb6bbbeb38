import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from nn2rules import (
    Layer,
    Network,
    OptionError,
    UnknownValueError,
    UnsupportedModelError,
    datasets,
    load,
)
from nn2rules.extraction.paper import paper_rules
from nn2rules.extraction.paper.prefixes import feature_order
from strategies import layers as layer_strategy
from strategies import plain_domain, relu_networks, rows_of, sizes, thresholds

FROZEN = {
    "car": (
        117,
        "persons, safety, buying, maint, lug_boot, doors",
    ),
    "nursery": (
        452,
        "health, parents, housing, finance, social, children, form, has_nurs",
    ),
    "contraception": (
        2_821,
        "wife-education, age, wife-working, media-exposure, standard-of-living, "
        "husband-occupation, wife-religion, num-children, husband-education",
    ),
    "adult": (
        16_072,
        "capital-gain, capital-loss, marital-status, hours-per-week, age, sex, "
        "education, occupation, native-country",
    ),
}


def all_inputs(network):
    return np.array(naive.inputs(network.domain.sizes))


def conditions_of(prefix, network, order):
    """Return the conditions of a prefix; the only value of a feature is none."""
    features = [network.domain.features[index] for index in order]
    return frozenset(
        (feature.name, feature.values[code])
        for feature, code in zip(features, prefix, strict=False)
        if len(feature.values) > 1
    )


def canonical_rules(network, order, truth):
    """Return the maximal prefixes whose every completion is class 1."""
    shape = [network.domain.sizes[index] for index in order]

    def is_class_1(row):
        codes = [0] * len(order)
        for index, code in zip(order, row, strict=True):
            codes[index] = code
        return truth[tuple(codes)] == 1

    prefixes = naive.maximal_prefixes(shape, is_class_1)
    return sorted(sorted(conditions_of(p, network, order)) for p in prefixes)


def conditions(rules):
    return sorted(
        sorted((c.feature, c.values[0]) for c in rule.conditions)
        for rule in rules.rules
    )


@settings(max_examples=300)
@given(relu_networks(), st.randoms(use_true_random=False))
def test_rules_are_the_maximal_prefixes_of_class_1(network, random):
    order = None
    if random.random() < 0.5:
        order = random.sample(network.domain.names, len(network.domain.names))
    rules = paper_rules(network, order=order)
    codes = naive.inputs(network.domain.sizes)
    truth = [naive.class_of(network, row) for row in codes]

    assert (rules.apply_codes(np.array(codes)) >= 0).tolist() == [c == 1 for c in truth]
    assert rules.predict(rules.domain.decode(codes)).tolist() == [
        network.classes[index] for index in truth
    ]
    positions = (
        naive.feature_order(network)
        if order is None
        else [network.domain.names.index(name) for name in order]
    )
    known = dict(zip(codes, truth, strict=True))
    assert conditions(rules) == canonical_rules(network, positions, known)


@settings(max_examples=200)
@given(relu_networks(max_inputs=60, awkward=True))
def test_rules_name_values_and_classes_of_the_user(network):
    rules = paper_rules(network)
    rows = network.domain.decode(all_inputs(network))
    for row, codes in zip(rows, naive.inputs(network.domain.sizes), strict=True):
        expected = network.classes[naive.class_of(network, codes)]
        assert naive.answer(rules, row) == expected
        held = [rule for rule in rules.rules if naive.holds(rule.conditions, row)]
        assert len(held) <= 1
    assert rules.default == network.classes[0]
    assert {rule.then for rule in rules.rules} <= {network.classes[1]}


@settings(max_examples=200)
@given(relu_networks(max_inputs=60), st.data())
def test_support_counts_rows_and_sorts_rules(network, data):
    rows = network.domain.decode(data.draw(rows_of(network.domain)))
    plain, full = paper_rules(network), paper_rules(network, data=rows)
    support = paper_rules(network, data=rows, scope="support")
    counted = {}
    for row in rows:
        index = naive.first_match(plain, row)
        if index >= 0:
            rule = plain.rules[index].conditions
            counted[rule] = counted.get(rule, 0) + 1
    assert {r.conditions for r in full.rules} == {r.conditions for r in plain.rules}
    assert len(full) == len(plain)
    assert [r.support for r in full.rules] == [
        counted.get(r.conditions, 0) for r in full.rules
    ]
    assert [r.support for r in full.rules] == sorted(
        (r.support for r in full.rules), reverse=True
    )
    assert support.rules == tuple(r for r in full.rules if r.support)
    assert (plain.scope, full.scope, support.scope) == ("domain", "domain", "support")
    answered = support.predict(rows, uncovered="none").tolist()
    for answer, expected in zip(answered, network.predict(rows).tolist(), strict=True):
        assert answer in (None, expected)


@settings(max_examples=80)
@given(relu_networks(max_inputs=30), st.data())
def test_no_certificate_claims_more_than_is_true(network, data):
    rows = network.domain.decode(data.draw(rows_of(network.domain)))
    codes = all_inputs(network)
    truth = [naive.class_of(network, row) for row in codes.tolist()]
    for scope in ("domain", "support"):
        rules = paper_rules(network, data=rows, scope=scope)
        different = (rules.predict_codes(codes) != np.array(truth)).sum()
        assert rules.certificate["inputs"] == len(codes)
        assert rules.certificate.get("different", different) == different


@st.composite
def sigmoid_networks(draw):
    domain = plain_domain(draw(sizes(60)))
    found = draw(
        layer_strategy(
            list(domain.sizes),
            st.sampled_from(["sigmoid", "sigmoid", "relu"]),
            palettes=("integers", "signs", "dyadic", "decimal", "zeros"),
        )
    )
    return Network(domain, found, ("no", "yes"), draw(thresholds))


@settings(max_examples=200)
@given(sigmoid_networks())
def test_soft_binary_rules_say_on_how_many_inputs_they_differ(network):
    codes = naive.inputs(network.domain.sizes)
    truth = [naive.class_of(network, row) for row in codes]
    if None in truth:
        return
    rules = paper_rules(network, approximate="soft-binary")
    expected = [naive.soft_binary_class(network, row) for row in codes]
    found = [int(index >= 0) for index in rules.apply_codes(np.array(codes))]
    different = sum(a != b for a, b in zip(found, truth, strict=True))
    assert found == expected
    assert rules.certificate["different"] == different
    assert rules.certificate["inputs"] == len(codes)
    assert str(rules).startswith("APPROXIMATE (soft-binary)") == (different > 0)
    if different:
        assert f"on {different:,} of {len(codes):,} inputs" in str(rules)


@pytest.mark.parametrize("name", FROZEN)
def test_frozen_networks(name):
    n_rules, order = FROZEN[name]
    network = load(datasets.network_file(name))
    rules = paper_rules(network)
    positions = feature_order(network)
    assert ", ".join(network.domain.names[index] for index in positions) == order
    assert len(rules) == n_rules
    for codes in network.domain.inputs():
        answers = rules.match(codes) >= 0
        assert (answers == (network.predict_codes(codes) == 1)).all()


@pytest.mark.parametrize("bias", [-1, 0, 1])
@pytest.mark.parametrize("shape", [[1], [3], [2, 1, 3], [1, 1]])
def test_constant_networks_have_no_rule_or_one_without_conditions(bias, shape):
    layer = Layer(np.zeros((sum(shape), 1)), [bias], "sigmoid")
    network = Network(plain_domain(shape), (layer,), ("a", "b"))
    rules = paper_rules(network)
    assert [rule.conditions for rule in rules.rules] == ([()] if bias > 0 else [])
    last = "otherwise" if bias > 0 else "always"
    assert str(rules).endswith(f"a   {last}")


def test_dead_hidden_units_leave_the_bias():
    hidden = Layer([[-1, -1], [-2, -2]], [0, 0])
    for bias, expected in ((1, [()]), (0, []), (-1, [])):
        last = Layer([[5], [5]], [bias], "sigmoid")
        network = Network(plain_domain([2]), (hidden, last), ("a", "b"))
        assert [r.conditions for r in paper_rules(network).rules] == expected


def network_of(*layers, classes=("a", "b")):
    return Network(plain_domain([2]), layers, classes)


SIGMOID = Layer([[1]], [0], "sigmoid")


def test_several_outputs_are_refused():
    network = network_of(Layer([[1, 2], [3, 4]], [0, 0], "softmax"))
    with pytest.raises(UnsupportedModelError, match="a network with one output; this"):
        paper_rules(network)


@pytest.mark.parametrize("approximate", [None, "soft-binary"])
def test_other_activations_are_refused(approximate):
    network = network_of(Layer([[1], [2]], [0], "tanh"), SIGMOID)
    with pytest.raises(UnsupportedModelError, match=r"layers\[0\] has tanh units"):
        paper_rules(network, approximate=approximate)


def test_sigmoid_units_are_only_approximated_on_request():
    network = network_of(Layer([[1], [2]], [0], "sigmoid"), SIGMOID)
    with pytest.raises(UnsupportedModelError, match="approximate='soft-binary'"):
        paper_rules(network)


def test_options_are_checked():
    network = network_of(Layer([[1], [2]], [0]), SIGMOID)
    with pytest.raises(OptionError, match="approximate: 'hard'"):
        paper_rules(network, approximate="hard")
    with pytest.raises(OptionError, match="scope 'support' needs data"):
        paper_rules(network, scope="support")
    with pytest.raises(UnknownValueError, match="row 0: feature 'f0' has no value 'x'"):
        paper_rules(network, data=[{"f0": "x"}])


def test_approximating_nothing_is_exact():
    network = network_of(Layer([[1], [-1]], [0]), SIGMOID)
    rules = paper_rules(network, approximate="soft-binary")
    assert rules.certificate["different"] == 0
    assert rules.certificate["method"] == "exact integer arithmetic"
    assert "APPROXIMATE" not in str(rules)


def test_an_approximation_that_cannot_be_measured_is_refused():
    domain = plain_domain([2] * 27)
    layer = Layer(np.ones((54, 1)), [-100], "sigmoid")
    network = Network(domain, (layer, SIGMOID), ("a", "b"))
    with pytest.raises(OptionError, match="the domain has 134,217,728"):
        paper_rules(network, approximate="soft-binary")


def test_a_large_domain_needs_no_enumeration():
    domain = plain_domain([2] * 100)
    weights = np.zeros((200, 1))
    weights[1] = 1
    network = Network(domain, (Layer(weights, [0], "sigmoid"),), ("a", "b"))
    rules = paper_rules(network)
    assert rules.rule_text(rules["A1"]) == "if f0 = v1 then b"


def test_the_result_is_the_same_each_time():
    network = load(datasets.network_file("car"))
    assert paper_rules(network) == paper_rules(network)
    assert str(paper_rules(network)) == str(paper_rules(network))
