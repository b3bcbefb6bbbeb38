"""Rules as JavaScript."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from export.cases import case
from export.engines.in_node import ask
from export.executing import check_export
from export.exportable import exportable, rows_for
from nn2rules import Domain, Feature, RuleList, UnsupportedModelError
from nn2rules.export import program_of

policies = st.sampled_from(["none", "default", "error"])


@given(exportable(), policies, policies)
def test_any_rules(rules, unknown, uncovered):
    rows = rows_for(program_of(rules))
    check_export(rules, "js", rows, unknown=unknown, uncovered=uncovered)


@settings(max_examples=50)
@given(exportable())
def test_the_module_is_ascii_and_may_stand_in_a_page(rules):
    text = rules.export("js")
    assert text.isascii()
    assert "</" not in text
    assert "<!" not in text
    assert "<script" not in text.lower()


def test_undefined_and_nan_are_missing():
    source = case("three classes, list").rules.export("js")
    row = {"shape": "star", "weight": 2, "country": None}
    rows = [{**row, "country": gap} for gap in (["undefined"], ["nan"], None, "")]
    expected = program_of(case("three classes, list").rules).predict(row)
    assert ask(source, rows) == [[expected.label, expected.rule, True]] * 4


@pytest.mark.parametrize(
    ("row", "fact"),
    [
        ({"weight": "2"}, 'column "weight" has a string, expected a number'),
        ({"shape": 2}, 'column "shape" has a number, expected a string'),
        ({"weight": True}, 'column "weight" has a boolean, expected a number'),
    ],
)
def test_a_cell_of_another_type_is_an_error(row, fact):
    source = case("three classes, list").rules.export("js")
    [found] = ask(source, [{"shape": "star", "weight": 2, "country": None} | row])
    assert found == {"name": "TypeError", "message": fact}


def test_a_row_without_a_column_is_an_error():
    source = case("three classes, list").rules.export("js")
    [found] = ask(source, [{"shape": "star", "weight": 2}])
    assert found["message"] == 'the row has no column "country"'


@pytest.mark.parametrize("name", ["__proto__", "constructor", "toString"])
def test_names_that_every_object_has(name):
    domain = Domain((Feature(name, ("toString", "x")),))
    rules = RuleList(domain, (), "no", ("no", "yes"))
    rows = [{name: "x"}, {name: "toString"}, {name: "y"}, {name: None}]
    check_export(rules, "js", rows)
    [found] = ask(rules.export("js"), [{}])
    assert found["name"] == "TypeError"


@pytest.mark.parametrize("values", [(2**53 + 1, 3), (10**400, 3)])
def test_numbers_that_no_double_holds_are_refused(values):
    rules = RuleList(Domain((Feature("n", values),)), (), "no", ("no", "yes"))
    with pytest.raises(UnsupportedModelError, match="is not a 64-bit floating point"):
        rules.export("js")
    labels = RuleList(Domain((Feature("n", (1, 3)),)), (), values[0], values)
    with pytest.raises(UnsupportedModelError, match="the classes: "):
        labels.export("js")
