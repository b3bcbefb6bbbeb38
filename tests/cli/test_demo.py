"""The demo prints rules that are shipped; they must be those that are extracted."""

import nn2rules
from nn2rules import datasets


def test_the_shipped_rules_are_those_of_the_shipped_network():
    path = datasets.network_file("car")
    shipped = nn2rules.load(path.with_name("car-rules.json"))
    extracted = nn2rules.extract(
        nn2rules.load(path), data=datasets.load("car").train.rows
    )
    assert shipped.rules == extracted.rules
    assert shipped.default == extracted.default
    assert shipped.certificate["network"] == extracted.certificate["network"]
