"""Certificates as typed values: whatever is not of the right kind is not said."""

import dataclasses

import pytest

import nn2rules
from nn2rules import Domain, Feature, RuleList
from nn2rules.cli.extract import summary
from nn2rules.rules import Certificate, certificate_of

DOMAIN = Domain((Feature("size", ("small", "big")),))


def rules_with(**said):
    return RuleList(DOMAIN, (), "no", ("no", "yes"), certificate=said)


def test_nothing_is_said_without_one():
    assert certificate_of(rules_with()) == Certificate()
    assert not Certificate().is_exact
    with pytest.raises(dataclasses.FrozenInstanceError):
        Certificate().engine = "table"


def test_what_is_stored_stays_as_it_is():
    said = {"engine": "table", "different": "a few", "later": [1, {"x": None}]}
    rules = rules_with(**said)
    assert rules.certificate == {**said, "rules": rules.digest}
    assert rules.certificate["later"] == [1, {"x": None}]


def test_extracted_rules_say_all_of_it():
    network = nn2rules.load(nn2rules.datasets.network_file("car"))
    cars = nn2rules.datasets.load("car").train
    rules = nn2rules.extract(network, cars.rows, labels=cars.labels)
    known, stored = certificate_of(rules), rules.certificate
    assert known.is_given
    assert known.is_exact
    names = {each.name for each in dataclasses.fields(Certificate)}
    assert stored.keys() <= names
    for name in stored.keys() - {"class_inputs", "class_rows", "fragile_inputs"}:
        if name not in ("influence", "coverage"):
            assert getattr(known, name) == stored[name]
    assert list(known.class_rows) == stored["class_rows"]
    assert known.influence.rows == len(cars.rows)
    assert known.influence.of == stored["influence"]["of"]


@pytest.mark.parametrize("said", ["3", -1, True, 2.0, [3], None])
def test_a_number_is_a_whole_number(said):
    assert certificate_of(rules_with(engine="table", rows=said)).rows is None


@pytest.mark.parametrize("said", [[1], [1, 2, 3], "ab", [1, 2.0], [1, True], {0: 1}])
def test_numbers_of_classes_are_one_for_each(said):
    known = certificate_of(rules_with(engine="table", class_rows=said))
    assert known.class_rows is None


@pytest.mark.parametrize("said", ["a few", -1, {"inputs": 3}, True])
def test_a_difference_that_is_no_number_makes_rules_approximate(said):
    rules = rules_with(engine="table", different=said)
    known = certificate_of(rules)
    assert known.different is None
    assert known.is_approximate
    assert not known.is_exact
    assert "APPROXIMATE" in rules.warnings()[0]
    assert "equal to the network" not in summary(rules, 1.0)
    with pytest.raises(nn2rules.OptionError, match="already shortened"):
        RuleList(
            DOMAIN,
            (nn2rules.Rule((), "yes"),),
            "no",
            ("no", "yes"),
            certificate={"engine": "table", "different": said},
        ).top(0)


def test_coverage_is_counted_or_not():
    for found in ({"rows": 3, "covered": 4}, {"rows": "3", "covered": 1}, {"rows": 3}):
        known = certificate_of(rules_with(engine="table", coverage=found)).coverage
        assert (known.rows, known.covered) == (None, None)
        assert known.reason == "no rows were held out"
    assert certificate_of(rules_with(engine="table", coverage=3)).coverage is None


def test_influence_has_numbers_of_rows():
    found = {"rows": 9, "of": {"size": 3, "age": "many", "sex": True}}
    known = certificate_of(rules_with(engine="table", influence=found))
    assert dict(known.influence.of) == {"size": 3}
    assert certificate_of(rules_with(engine="x", influence={"of": 3})).influence is None
