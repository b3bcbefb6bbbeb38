"""What differs between a network and the one that rules were extracted from."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import nn2rules
from nn2rules import Domain, Feature, Layer, Network, OptionError, RuleList, extract
from nn2rules.extraction.other_network import other_network
from nn2rules.models import read_network


@pytest.fixture(scope="module")
def read_twice():
    """Return a model, and its rows in two parts with other ranges and categories."""
    random = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "age": random.integers(20, 60, 200).astype(float),
            "job": random.choice(["clerk", "driver", "nurse"], 200),
        }
    )
    labels = np.where((rows["age"] > 35) & (rows["job"] != "nurse"), "good", "bad")
    steps = make_column_transformer(
        (StandardScaler(), ["age"]), (OneHotEncoder(handle_unknown="ignore"), ["job"])
    )
    network = MLPClassifier((3,), solver="lbfgs", max_iter=200, random_state=0)
    model = make_pipeline(steps, network).fit(rows, labels)
    older = rows.assign(age=rows["age"] + 7)
    return model, rows, older


def test_the_same_network_has_no_difference(read_twice):
    model, rows, _ = read_twice
    network = read_network(model, data=rows)
    rules = extract(network, data=rows, effort=0, form="rules")
    assert other_network(rules, network) is None
    assert other_network(rules, replace(network, origin=None)) is None
    assert other_network(rules.replace(certificate={}), network) is None


def test_the_same_model_read_with_other_rows_names_the_range(read_twice):
    model, rows, older = read_twice
    rules = extract(read_network(model, data=rows), data=rows, effort=0, form="rules")
    other = read_network(model, data=older)
    said = other_network(rules, other)
    assert said.startswith(
        "its domain differs (age 20 to 59 in the rules, 27 to 66 in the model), and it "
        "has weights that are not identical to the last bit: it is another model, or "
        "this model was read with other rows; read the model once"
    )
    with pytest.raises(OptionError, match="age 20 to 59") as error:
        rules.report(model=other)
    assert str(error.value).startswith("model: this is not the network that the rules")
    with pytest.raises(OptionError, match="age 20 to 59"):
        nn2rules.explain(other, older[:1], rules=rules)


def network_of(domain, weights, classes=("no", "yes")):
    column = np.array(weights, dtype=float)[:, np.newaxis]
    return Network(domain, (Layer(column, [0.25], "sigmoid"),), classes)


TWO = Domain((Feature("size", ("S", "L")), Feature.real("age", 18, 60)))
NETWORK = network_of(TWO, [-1, 2, 0.1])
RULES = extract(
    NETWORK, data=[{"size": "S", "age": 20}, {"size": "L", "age": 30}], form="rules"
)


@pytest.mark.parametrize(
    ("features", "weights", "text"),
    [
        (
            (Feature("size", ("S", "L")), Feature.real("age", 18, 70)),
            [-1, 2, 0.1],
            "its weights are the same, but its domain differs (age 18 to 60 in the "
            "rules, 18 to 70 in the model); read the model once",
        ),
        (
            (Feature("size", ("S", "M", "L")), Feature.real("age", 18, 60)),
            [-1, 5, 2, 0.1],
            "its weights are the same, but its domain differs (size: M only in the "
            "model)",
        ),
        (
            (Feature("size", ("S", "M", "L")), Feature.real("age", 18, 60)),
            [-1, 5, 3, 0.1],
            "its domain differs (size: M only in the model), and it has other weights",
        ),
        (
            (Feature("size", ("S",)), Feature.real("age", 18, 60)),
            [-1, 0.1],
            "its domain differs (size: L only in the rules); read the model once",
        ),
        (
            (Feature("size", ("S", "L")), Feature("age", (18, 60))),
            [-1, 2, 0.1, 0.2],
            "its domain differs (age is a range in the rules, a list of values in the "
            "model); ",
        ),
        (
            (Feature.real("age", 18, 60), Feature("size", ("S", "L"))),
            [0.1, -1, 2],
            "its weights are the same, but its domain differs (the order of the "
            "features differs); ",
        ),
        (
            (Feature("size", ("S", "L")), Feature("job", ("a", "b"))),
            [-1, 2, 3, 4],
            "only the rules have age; only the model has job; use the model that the ",
        ),
        (
            TWO.features,
            [-1, 2, 0.2],
            "it has the features and classes of the rules, but other weights; use",
        ),
    ],
)
def test_what_differs(features, weights, text):
    said = other_network(RULES, network_of(Domain(tuple(features)), weights))
    assert said.startswith(text)


def test_other_classes():
    said = other_network(RULES, network_of(TWO, [-1, 2, 0.1], ("bad", "yes")))
    assert said == (
        "the classes are no, yes in the rules, bad, yes in the model; use the model "
        "that the rules were extracted from"
    )


def test_of_many_differences_some_are_named():
    domain = Domain(tuple(Feature(f"f{i}", ("a", "b")) for i in range(9)))
    wider = Domain(tuple(Feature(f"f{i}", tuple("abcdefg")) for i in range(9)))
    rules = RuleList(domain, (), "no", ("no", "yes"))
    said = other_network(rules, network_of(wider, range(63)))
    assert "(f0: c, d, e and 2 more only in the model; f1: " in said
    assert "; and 6 more); " in said
