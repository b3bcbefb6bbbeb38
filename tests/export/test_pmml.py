"""Rules as rule sets of PMML."""

import re
import zipfile
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from export.cases import case
from export.engines.in_java import in_jpmml, in_pmml4s, needs_java
from export.executing import check_export
from export.exportable import all_texts, exportable, rows_for
from nn2rules import Domain, Feature, OptionError, RuleList, UnsupportedModelError
from nn2rules.export import program_of

policies = st.sampled_from(["none", "default"])


def _is_xml(text: str) -> bool:
    """Tell whether XML can hold a text."""
    return not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", text)


exports = exportable(_is_xml).filter(lambda rules: "" not in rules.domain.names)


@cache
def _schema():
    needs_java()
    spec = find_spec("jpmml_evaluator")
    folder = Path(spec.submodule_search_locations[0]) / "dependencies"
    [jar] = [p for p in folder.glob("pmml-model-*.jar") if p.stem[11].isdigit()]
    with zipfile.ZipFile(jar) as archive:
        return etree.XMLSchema(etree.parse(BytesIO(archive.read("pmml.xsd"))))


@settings(max_examples=100)
@given(exports, policies, policies)
def test_any_rules(rules, unknown, uncovered):
    rows = rows_for(program_of(rules))
    check_export(rules, "pmml", rows, unknown=unknown, uncovered=uncovered)


@settings(max_examples=50)
@given(exports, policies, policies)
def test_files_are_valid(rules, unknown, uncovered):
    made = rules.export("pmml", unknown=unknown, uncovered=uncovered)
    _schema().assertValid(etree.fromstring(made.encode()))


@pytest.mark.parametrize("unknown", ["none", "default"])
def test_texts_that_hurt(unknown):
    rules = all_texts(_is_xml)
    rows = rows_for(program_of(rules), 1_000)
    check_export(rules, "pmml", rows, unknown=unknown)


@pytest.mark.parametrize("uncovered", ["none", "default"])
@pytest.mark.parametrize("unknown", ["none", "default"])
@pytest.mark.parametrize("name", ["car set", "numbers, list for rows"])
def test_cases_under_each_policy(name, unknown, uncovered):
    rules = case(name).rules
    rows = rows_for(program_of(rules), 1_000)
    check_export(rules, "pmml", rows, unknown=unknown, uncovered=uncovered)


def test_a_rule_set_that_always_answers_stands_alone():
    rules = case("car list").rules
    assert "MiningModel" not in rules.export("pmml", unknown="default")
    assert "MiningModel" in rules.export("pmml")


def test_nan_is_missing():
    needs_java()
    domain = Domain((Feature.bins("age", [40], missing=True),))
    boxes = [[False, False, True]]
    rules = RuleList.from_boxes(domain, boxes, [1], "no", ("no", "yes"))
    made = rules.export("pmml")
    rows = [{"age": float("nan")}, {"age": None}, {"age": 1.0}]
    assert [row["prediction"] for row in in_jpmml(made, rows)] == ["yes", "yes", "no"]
    told = in_pmml4s(made, [{"age": None}, {}, {"age": 1.0}])
    assert [row["prediction"] for row in told] == ["yes", "yes", "no"]


def test_infinity_is_off_the_domain():
    needs_java()
    domain = Domain((Feature.bins("age", [40]),))
    rules = RuleList.from_boxes(domain, [[False, True]], [1], "no", ("no", "yes"))
    rows = [{"age": float("inf")}, {"age": -float("inf")}, {"age": 41.0}]
    found = in_jpmml(rules.export("pmml"), rows)
    assert [row["prediction"] == "yes" for row in found] == [False, False, True]
    assert [row["prediction"] == "no" for row in found] == [False, False, False]


@pytest.mark.parametrize("policy", ["unknown", "uncovered"])
def test_errors_are_refused(policy):
    rules = case("numbers, list for rows").rules
    with pytest.raises(OptionError, match=f"{policy}: 'error', but a rule set of PMML"):
        rules.export("pmml", **{policy: "error"})


@pytest.mark.parametrize("place", ["name", "value", "class"])
def test_what_xml_cannot_hold_is_refused(place):
    bad = "a\x00b"
    name, value, label = (bad if place == p else p for p in ("name", "value", "class"))
    domain = Domain((Feature(name, (value, "other")),))
    rules = RuleList.from_boxes(domain, [[True, False]], [1], "no", ("no", label))
    with pytest.raises(
        UnsupportedModelError, match="contains a character that XML does not"
    ):
        rules.export("pmml")


def test_a_column_without_a_name_is_refused():
    domain = Domain((Feature("", ("a", "b")),))
    rules = RuleList.from_boxes(domain, [[True, False]], [1], "no", ("no", "yes"))
    with pytest.raises(UnsupportedModelError, match="a column has no name"):
        rules.export("pmml")
