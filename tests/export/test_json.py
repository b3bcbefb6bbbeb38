"""Rules as JSON, and the schemas that are published for it."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

import nn2rules
from export.cases import CASES, case
from export.engines.in_nn2rules import read_back
from export.exportable import exportable
from nn2rules import FormatError, OptionError
from nn2rules.files import from_json, schema, to_json

RULES = Draft202012Validator(schema("rules"))
NETWORK = Draft202012Validator(schema("network"))
DOCS = Path(__file__).parents[2] / "docs" / "reference"


@pytest.mark.parametrize("name", ["rules", "network"])
def test_schemas_are_schemas_and_stand_in_the_docs(name):
    Draft202012Validator.check_schema(schema(name))
    published = json.loads((DOCS / f"{name}.schema.json").read_text("utf-8"))
    assert published == schema(name)


@pytest.mark.parametrize("name", CASES)
def test_files_of_cases_are_valid_and_come_back(name):
    given_case = case(name)
    made = given_case.rules.export("json")
    RULES.validate(json.loads(made))
    assert read_back(made) == given_case.rules
    NETWORK.validate(json.loads(to_json(given_case.network)))


@given(exportable())
def test_any_rules_are_valid_and_come_back(rules):
    made = rules.export("json")
    RULES.validate(json.loads(made))
    assert read_back(made) == rules


def test_networks_that_come_with_the_package_are_valid():
    for name in nn2rules.datasets.NETWORKS:
        path = nn2rules.datasets.network_file(name)
        NETWORK.validate(json.loads(path.read_text("utf-8")))


BROKEN = [
    lambda d: d.pop("default"),
    lambda d: d.update(format="nn2rules-rules/2"),
    lambda d: d.update(form="tree"),
    lambda d: d.update(scope="all"),
    lambda d: d.update(more=1),
    lambda d: d.update(classes=["no"]),
    lambda d: d.update(features=[]),
    lambda d: d["features"][0].pop("values"),
    lambda d: d["features"][0].update(colour="red"),
    lambda d: d["rules"][0].pop("then"),
    lambda d: d["rules"][0].update(support=-1),
    lambda d: d["rules"][0].update(probability=[0.5, 2]),
    lambda d: d["rules"][0].update({"if": {"safety": []}}),
    lambda d: d["rules"][0].update({"if": {"safety": [["low"]]}}),
    lambda d: d["certificate"].update(inputs="many"),
]


@pytest.mark.parametrize("number", range(len(BROKEN)))
def test_what_is_broken_is_refused_by_schema_and_reader(number):
    document = json.loads(case("car list").rules.export("json"))
    BROKEN[number](document)
    assert not RULES.is_valid(document)
    with pytest.raises((FormatError, OptionError, ValueError)):
        from_json(json.dumps(document))


def test_a_broken_network_is_refused_by_its_schema():
    path = nn2rules.datasets.network_file("tomato")
    document = json.loads(path.read_text("utf-8"))
    document["layers"][0]["activation"] = "wiggle"
    assert not NETWORK.is_valid(document)


def test_json_has_no_place_for_what_other_rows_get():
    with pytest.raises(OptionError, match="has rules only"):
        case("car list").rules.export("json", unknown="error")
