import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from nn2rules import Layer, Network, OptionError
from nn2rules.extraction.paper.prefixes import feature_order
from strategies import plain_domain, relu_networks


@given(relu_networks())
def test_equals_the_definition(network):
    assert feature_order(network) == naive.feature_order(network)


@given(relu_networks(), st.randoms(use_true_random=False))
def test_a_given_order_is_kept(network, random):
    names = list(network.domain.names)
    random.shuffle(names)
    positions = feature_order(network, names)
    assert [network.domain.names[index] for index in positions] == names


def network():
    layer = Layer([[0, 0], [3, 1], [0, 0], [2, 2], [9, 9]], [0, 0])
    last = Layer([[1], [1]], [0], "sigmoid")
    return Network(plain_domain([2, 2, 1]), (layer, last), ("a", "b"))


def test_equal_features_stay_in_the_order_of_the_domain():
    assert feature_order(network()) == [0, 1, 2]


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (("f0", "f1"), "'f2' is missing"),
        (("f0", "f1", "f2", "f1"), "'f1' occurs twice"),
        (("f0", "f1", "f2", "f3"), "'f3' is not a feature"),
        (("f0", "f1", "g"), "'f2' is missing, 'g' is not a feature"),
    ],
)
def test_an_order_names_every_feature_once(order, message):
    with pytest.raises(OptionError) as error:
        feature_order(network(), order)
    assert str(error.value) == f"order must name every feature once: {message}"
