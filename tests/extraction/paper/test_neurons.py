from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from nn2rules import Layer, Network, datasets, load
from nn2rules.extraction.paper import neurons
from strategies import plain_domain, relu_networks


def linear_value(rule, row):
    return rule.bias + sum(rule.weights[name][value] for name, value in row.items())


@settings(max_examples=100)
@given(relu_networks(max_inputs=60, awkward=True), st.randoms(use_true_random=False))
def test_one_rule_covers_each_input_and_has_the_neurons_value(network, random):
    order = None
    if random.random() < 0.5:
        order = random.sample(network.domain.names, len(network.domain.names))
    layers = neurons(network, order=order)
    assert [len(found) for found in layers] == [len(la.bias) for la in network.layers]
    for codes in naive.inputs(network.domain.sizes):
        row = {
            feature.name: feature.values[code]
            for feature, code in zip(network.domain.features, codes, strict=True)
        }
        outputs = naive.trace(network, codes)
        for index, found in enumerate(layers):
            for unit, neuron in enumerate(found):
                assert (neuron.layer, neuron.unit) == (index, unit)
                (rule,) = (r for r in neuron if naive.holds(r.conditions, row))
                assert linear_value(rule, row) == outputs[index][unit]
                if index < len(layers) - 1:
                    assert rule.active == (outputs[index][unit] > 0)
                else:
                    exact = outputs[index][unit]
                    assert rule.active == naive.exceeds(exact, network.threshold)


@given(relu_networks(max_inputs=20, awkward=True))
def test_text_has_a_line_for_each_rule(network):
    for layer in neurons(network):
        for neuron in layer:
            assert neuron.text().count(" then ") >= len(neuron)
            assert neuron.text(top=0).startswith("layer ")
            assert len(list(neuron)) == len(neuron)


def test_a_score_in_binary_fractions_is_not_scaled():
    layer = Layer([[0.5], [0.25]], [-0.125], "sigmoid")
    network = Network(plain_domain([2]), (layer,), ("a", "b"))
    ((neuron,),) = neurons(network)
    (rule,) = neuron
    assert rule.bias == Fraction(-1, 8)
    assert rule.weights == {"f0": {"v0": Fraction(1, 2), "v1": Fraction(1, 4)}}
    assert "0.125 + 0.25·[f0 = v0]" in str(neuron)


def test_numbers_too_large_for_a_float_are_printed():
    hidden = Layer([[1e200], [0]], [0])
    last = Layer([[1e200]], [-1], "sigmoid")
    network = Network(plain_domain([2]), (hidden, last), ("a", "b"))
    assert "1e+400" in str(neurons(network)[1][0])


def test_numbers_too_small_for_a_float_are_not_printed_as_zero():
    hidden = Layer([[1e-200], [0]], [0])
    last = Layer([[1e-200]], [0], "sigmoid")
    network = Network(plain_domain([2]), (hidden, last), ("a", "b"))
    assert "if f0 = v0 then 0\n" not in str(neurons(network)[1][0]) + "\n"


def test_soft_binary_neurons_are_0_or_1():
    layers = Layer([[2.0], [-1.0]], [0], "sigmoid"), Layer([[0.5]], [-0.25], "sigmoid")
    network = Network(plain_domain([2]), layers, ("a", "b"))
    hidden, output = neurons(network, approximate="soft-binary")
    assert [(r.bias, r.active) for r in hidden[0]] == [(1, True), (0, False)]
    assert [r.bias for r in output[0]] == [Fraction(1, 4), Fraction(-1, 4)]


def test_the_papers_tomatoes():
    tomato = load(datasets.network_file("tomato"))
    hidden, output = neurons(tomato)
    for neuron in hidden:
        assert neuron.text().partition("\n")[2] == (
            "  if color = red and size = small then 0\n"
            "  if color = red and size = medium then 1\n"
            "  if color = red and size = big then 1\n"
            "  if color = yellow then 0"
        )
    assert [rule.active for rule in hidden[0]] == [False, True, True, False]
    assert output[0].activation == "score"
    assert [rule.active for rule in output[0]] == [False, True, True, False]


def test_text_groups_equal_weights_of_features_that_are_not_fixed():
    hidden = Layer([[4], [1], [1], [2], [2]], [0])
    network = Network(
        plain_domain([2, 3]), (hidden, Layer([[1]], [0], "sigmoid")), ("a", "b")
    )
    assert str(neurons(network)[0][0]) == (
        "layer 0, neuron 0 (relu): 1 rule\n"
        "  if anything then 2 + 3·[f0 = v0] + [f1 ≠ v0]"
    )


@pytest.mark.parametrize(("top", "more"), [(3, "1 more rule"), (0, "4 more rules")])
def test_text_can_be_cut(top, more):
    tomato = load(datasets.network_file("tomato"))
    text = neurons(tomato)[0][1].text(top=top)
    assert text.endswith(f"  … and {more}")
    assert len(text.splitlines()) == top + 2
