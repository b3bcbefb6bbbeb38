from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import naive
from nn2rules import (
    Domain,
    Feature,
    FormatError,
    Layer,
    Network,
    UnknownValueError,
    load,
    save,
)
from strategies import PIECEWISE_LINEAR, networks, plain_domain, relu_networks

DOMAIN = plain_domain([2, 1])
SIGMOID = Layer([[1], [2], [-1]], [0.5], "sigmoid")
CLASSES = ("no", "yes")


@given(networks(PIECEWISE_LINEAR))
def test_predict_gives_the_labels_of_the_exact_classes(network):
    codes = np.array(naive.inputs(network.domain.sizes))
    expected = [naive.class_of(network, row) for row in codes.tolist()]
    assert network.predict_codes(codes).tolist() == expected
    assert network.predict(network.domain.decode(codes)).tolist() == [
        network.classes[index] for index in expected
    ]


@given(relu_networks(max_inputs=30, awkward=True))
def test_rows_of_values_are_classified_as_their_codes(network):
    codes = np.array(naive.inputs(network.domain.sizes))
    rows = network.domain.decode(codes)
    answers = [network.classes[index] for index in network.predict_codes(codes)]
    assert network.predict(rows).tolist() == answers
    found, expected = network.scores(rows), network.scores_codes(codes)
    assert np.array_equal(found, expected, equal_nan=True)


def test_scores_are_before_the_sigmoid():
    network = Network(DOMAIN, (SIGMOID,), CLASSES)
    assert network.scores_codes(np.array([[0, 0], [1, 0]])).tolist() == [0.5, 1.5]
    last = Layer([[1, 2], [3, 4], [0, 1]], [0, 0], "softmax")
    network = Network(DOMAIN, (last,), CLASSES)
    assert network.scores_codes(np.array([[0, 0]])).tolist() == [[1, 3]]
    assert not network.is_binary


@pytest.mark.parametrize(
    "classes", [("no", "yes"), (0, 1), (False, True), (0.5, 1.5), ("no", 1), ("", "x")]
)
def test_labels_keep_their_types(classes):
    network = Network(DOMAIN, (Layer([[1], [-1], [0]], [0], "sigmoid"),), classes)
    found = network.predict(network.domain.decode([[0, 0], [1, 0]])).tolist()
    assert found == [classes[1], classes[0]]
    assert [type(label) for label in found] == [type(classes[1]), type(classes[0])]


@pytest.mark.parametrize(
    "classes", [("a", "a\x00"), (-1, 2**63), (-1, 2**63 + 1), (0, 2**70)]
)
def test_labels_are_never_altered(classes):
    network = Network(DOMAIN, (Layer([[1], [-1], [0]], [0], "sigmoid"),), classes)
    found = network.predict(network.domain.decode([[0, 0], [1, 0]])).tolist()
    assert repr(found) == repr([classes[1], classes[0]])


def test_predict_reads_frames_and_refuses_unknown_values():
    network = Network(DOMAIN, (SIGMOID,), CLASSES)
    frame = pd.DataFrame({"f1": ["v0", "v0"], "f0": ["v1", "v0"], "id": [1, 2]})
    assert network.predict(frame).tolist() == ["yes", "yes"]
    with pytest.raises(UnknownValueError):
        network.predict([{"f0": "v9", "f1": "v0"}])


HIDDEN = Layer(np.ones((3, 2)), [0, 0])
SOFTMAX = Layer(np.ones((3, 2)), [0, 0], "softmax")


@pytest.mark.parametrize(
    ("layers", "classes", "threshold", "message"),
    [
        ((), CLASSES, 0.5, "layers: a network needs at least one layer"),
        (
            (Layer([[1]], [0], "sigmoid"),),
            CLASSES,
            0.5,
            "layers[0].weights: 1 rows, expected 3, one for each value of the features",
        ),
        (
            (HIDDEN, SIGMOID),
            CLASSES,
            0.5,
            "layers[1].weights: 3 rows, expected 2, one for each unit of layer 0",
        ),
        (
            (SOFTMAX, Layer([[1], [1]], [0], "sigmoid")),
            CLASSES,
            0.5,
            "layers[0].activation: softmax is only for the last layer",
        ),
        ((SIGMOID,), ("a", "a"), 0.5, "classes repeats the value 'a'"),
        ((SIGMOID,), (1, True), 0.5, "classes repeats the value True"),
        ((SIGMOID,), ("a", None), 0.5, "classes: a class label cannot be missing"),
        ((SIGMOID,), ("a",), 0.5, "classes: a classifier has at least two classes"),
        (
            (SIGMOID,),
            ("a", "b", "c"),
            0.5,
            "classes: 3 classes, but the last layer has 1 unit; it needs one for each "
            "class, or a single one for two classes",
        ),
        (
            (SOFTMAX,),
            ("a", "b", "c"),
            0.5,
            "classes: 3 classes, but the last layer has 2 units",
        ),
        (
            (Layer([[1], [1], [1]], [0]),),
            CLASSES,
            0.5,
            "layers[0].activation: relu, expected sigmoid for a last layer of 1 unit",
        ),
        (
            (HIDDEN,),
            CLASSES,
            0.5,
            "layers[0].activation: relu, expected softmax for a last layer of 2 units",
        ),
        ((SOFTMAX,), CLASSES, 0.7, "threshold: only a network with one output has one"),
        ((SIGMOID,), CLASSES, 0, "threshold: 0 is not between 0 and 1 (exclusive)"),
        ((SIGMOID,), CLASSES, 1.0, "threshold: 1 is not between 0 and 1"),
        ((SIGMOID,), CLASSES, float("nan"), "threshold: nan is not finite"),
    ],
)
def test_networks_that_make_no_sense(layers, classes, threshold, message):
    with pytest.raises(FormatError) as error:
        Network(DOMAIN, layers, classes, threshold)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1]], [0], "tanhh"), "unknown activation 'tanhh'; the activations are elu"),
        (([[1]], [0], "relu", 0.1), "relu has no slope; leaky_relu has one"),
        (([[np.nan]], [0]), "weights: a number is NaN or infinite"),
        (([[1]], [np.inf]), "bias: a number is NaN or infinite"),
        (([1], [0]), "weights: an array of shape (1,), expected 2 dimensions"),
        (([[1]], [[0]]), "bias: an array of shape (1, 1), expected 1 dimension and"),
        ((np.empty((0, 1)), [0]), "weights: an array of shape (0, 1), expected 2"),
        (([[1, 2]], [0]), "bias: 1 numbers, expected 2, one for each column of"),
        (([[1], [1, 2]], [0]), "weights: "),
        (([[1]], [0], "leaky_relu", float("nan")), "slope: "),
        (([[1]], [0], "leaky_relu", float("inf")), "slope: "),
    ],
)
def test_layers_that_make_no_sense(arguments, message):
    with pytest.raises(FormatError) as error:
        Layer(*arguments)
    assert str(error.value).startswith(message)


def test_layers_are_copies_that_cannot_be_changed():
    weights = np.array([[1.0], [2.0]])
    layer = Layer(weights, [0])
    weights[0, 0] = 9
    assert layer.weights.tolist() == [[1.0], [2.0]]
    with pytest.raises(ValueError, match="read-only"):
        layer.weights[0, 0] = 3
    with pytest.raises(ValueError, match="read-only"):
        layer.bias[0] = 3


def test_equality_is_to_the_last_bit():
    one = Network(DOMAIN, (SIGMOID,), CLASSES)
    same = Network(DOMAIN, (Layer([[1], [2], [-1]], [0.5], "sigmoid"),), CLASSES)
    near = Network(
        DOMAIN, (Layer([[1], [2], [-1]], [0.5 + 2**-52], "sigmoid"),), CLASSES
    )
    assert one == same
    assert hash(one.layers[0]) == hash(same.layers[0])
    assert one != near
    assert one != Network(DOMAIN, (SIGMOID,), CLASSES, 0.25)
    zero = Layer([[0.0]], [-0.0])
    assert zero == Layer([[-0.0]], [0.0])
    assert Layer([[1, 2]], [0, 0]) != Layer([[1], [2]], [0])


def test_domains_decide_equality_too():
    other = Domain((Feature("f0", ("v0", "w")), Feature("f1", ("v0",))))
    assert Network(DOMAIN, (SIGMOID,), CLASSES) != Network(other, (SIGMOID,), CLASSES)


# Numbers of other types


def test_numbers_of_numpy_become_floats(tmp_path):
    hidden = Layer(np.float32([[1], [2], [-1]]), [0], "leaky_relu", np.float32(0.3))
    network = Network(
        DOMAIN, (hidden, Layer([[1]], [0], "sigmoid")), CLASSES, np.float32(0.3)
    )
    assert type(network.threshold) is type(network.layers[0].slope) is float
    assert network.threshold == float(np.float32(0.3)) != 0.3
    save(network, tmp_path / "network.json")
    assert load(tmp_path / "network.json") == network


@pytest.mark.parametrize("number", ["0.5", None, True, Fraction(1, 3), float("nan")])
def test_thresholds_and_slopes_are_numbers_that_float64_holds(number):
    with pytest.raises(FormatError, match=r"^threshold: "):
        Network(DOMAIN, (SIGMOID,), CLASSES, number)
    if number is not None:
        with pytest.raises(FormatError, match=r"^slope: "):
            Layer([[1]], [0], "leaky_relu", number)
        with pytest.raises(FormatError, match=r"^model_error: "):
            Network(DOMAIN, (SIGMOID,), CLASSES, 0.5, number)


@pytest.mark.parametrize("number", [2**53 + 1, -(2**53) - 1, 10**400, 2**80 + 1])
@pytest.mark.parametrize("beside", [0, 0.5])
def test_whole_numbers_that_float64_cannot_hold_are_refused(number, beside):
    with pytest.raises(FormatError, match=r"^weights: .* 64 bits$"):
        Layer([[number, beside]], [0, 0])
    with pytest.raises(FormatError, match=r"^bias: .* 64 bits$"):
        Layer([[1, 1]], [beside, number])


def test_large_whole_numbers_that_float64_holds_are_fine():
    with pytest.raises(FormatError, match="9007199254740993 cannot be held exactly"):
        Layer(np.array([[2**53 + 1]]), [0])
    assert Layer([[2**53 + 2, 2**80]], [-(2**60), 1e300]).weights[0, 1] == 2.0**80
