"""What is written for letters: in the words of rules, and read again as meant."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nn2rules import Domain, Feature, Layer, Network, audit, compare, explain, verify
from nn2rules.language import read_conditions
from nn2rules.questions.explain.page import reason_text
from nn2rules.questions.explain.result import as_list

DOMAIN = Domain(
    (
        Feature.bins("income", (2800, 5000), missing=True),
        Feature.grouped("job", [["clerk", "cook"], ["judge"], ["nurse"]], other=2),
        Feature("size", ("small", "medium", "big"), ordered=True),
        Feature("age", ("low", "high"), True, ("17–41", "42–90")),
    )
)


@st.composite
def random_networks(draw):
    """Networks over bins, groups, ordered words and labels."""
    size = int(DOMAIN.offsets[-1])
    numbers = st.lists(st.integers(-3, 3), min_size=size, max_size=size)
    weights = np.array([draw(numbers), draw(numbers)], float).T
    bias, last = draw(st.integers(-3, 3)), draw(st.integers(-2, 2))
    layers = (
        Layer(weights, [bias, -bias], "relu"),
        Layer([[1.0], [last]], [-1.5], "sigmoid"),
    )
    return Network(DOMAIN, layers, ("no", "yes"))


def meant(text):
    """Return what a text says, as a mapping from features to values."""
    return {c.feature: c.values for c in read_conditions(text, DOMAIN)}


@settings(max_examples=60)
@given(random_networks(), st.integers(0, 10**6))
def test_changes_are_read_again(network, place):
    codes = np.unravel_index(place % 72, [len(f) for f in DOMAIN.features])
    [row] = DOMAIN.decode(np.array([codes]))
    found = explain(network, row)
    lines = [line for line in found.text(most=99).split("\n") if " → " in line]
    read = []
    for line in lines:
        change, _, outcome = line.strip().rpartition("   ")
        now, _, then = change.partition(" → ")
        new = meant(then)
        assert meant(now) == {name: (row[name],) for name in new}
        single = [dict(zip(new, values, strict=True)) for values in product(new)]
        read += [(each, outcome) for each in single]
    both = zip(found.counterfactuals, found.outcomes, strict=True)
    expected = [(change, f"({label})") for change, label in both]
    assert sorted(read, key=str) == sorted(expected, key=str)
    for reason in found.reasons if found.reasons[0] else []:
        assert meant(reason_text(found, reason)) == {
            name: tuple(as_list(allowed)) for name, allowed in reason.items()
        }


def product(new):
    """Return the ways to choose one of the values of each feature."""
    grid = np.indices([len(values) for values in new.values()]).reshape(len(new), -1)
    return [
        [values[i] for values, i in zip(new.values(), column, strict=True)]
        for column in grid.T
    ]


def example_of(text):
    """Return the lines of a verdict's counterexample, as one text each."""
    lines = text.split("\n")
    starts = [n for n, line in enumerate(lines) if line.startswith("  counterexample")]
    return [line.strip() for line in lines[starts[0] + 1 :]]


@given(random_networks())
def test_counterexamples_are_read_again(network):
    found = verify(network, "never yes")
    if found.status == "refuted":
        shown = meant(" ".join(example_of(str(found))))
        assert shown == {name: (v,) for name, v in found.counterexample.items()}
    found = verify(network, "increasing in income if income is a number")
    if found.status == "refuted":
        *shared, one, other = example_of(str(found))
        for text, row in zip((one, other), found.counterexample, strict=True):
            said = f"{' '.join(shared)} · {text.rpartition(':')[0]}"
            assert meant(said) == {name: (value,) for name, value in row.items()}


@settings(max_examples=30)
@given(random_networks(), random_networks())
def test_examples_of_comparisons_are_read_again(one, other):
    found = compare(one, other)
    if found.counterexample is not None:
        [said] = re.findall(r"For example, (.*?): \w+ → \w+\.", joined(str(found)))
        expected = {name: (v,) for name, v in found.counterexample.items()}
        assert meant(said) == expected


def joined(text):
    """Return the lines of a page as one."""
    return " ".join(text.split())


@pytest.fixture(scope="module")
def network():
    weights = np.zeros((int(DOMAIN.offsets[-1]), 1))
    weights[:3, 0], weights[4, 0] = [0, 2, 4], 2
    return Network(DOMAIN, (Layer(weights, [-3.0], "sigmoid"),), ("no", "yes"))


ROW = {"income": 2000, "job": "cook", "size": "big", "age": "low"}


def test_no_text_shows_the_names_of_bins(network):
    found = explain(network, ROW)
    assert "  income < 2800 → income ≥ 2800   (yes)" in str(found)
    assert found.counterfactuals == [
        {"income": "[2800, 5000)"},
        {"income": "[5000, inf)"},
    ]
    independent = verify(network, "independent of income", [ROW])
    texts = [
        str(found),
        found._repr_html_(),
        str(independent),
        "".join(independent.ways),
        str(verify(network, "never yes")),
        str(audit(network, [ROW], protected=["income", "job"])),
        str(compare(network, flipped(network))),
    ]
    for text in texts:
        assert "inf" not in text
        assert "[5000" not in text
    assert "job in {clerk, cook}" in texts[4] or "job = judge" in texts[4]
    assert "inf" in found.to_json()


def flipped(network):
    """Return a network that answers otherwise."""
    [layer] = network.layers
    return Network(
        DOMAIN, (Layer(-layer.weights, -layer.bias, "sigmoid"),), network.classes
    )
