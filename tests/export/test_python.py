"""Rules as Python."""

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mypy import api

from export.cases import CASES, case
from export.executing import check_export
from export.exportable import exportable, rows_for
from nn2rules.export import program_of

policies = st.sampled_from(["none", "default", "error"])


@given(exportable(), policies, policies)
def test_any_rules(rules, unknown, uncovered):
    rows = rows_for(program_of(rules))
    check_export(rules, "python", rows, unknown=unknown, uncovered=uncovered)


def test_a_text_in_a_column_of_numbers_is_an_error():
    module: dict = {}
    exec(case("three classes, list").rules.export("python"), module)
    with pytest.raises(TypeError, match="column 'weight' has '2', expected a number"):
        module["predict"]({"shape": "star", "weight": "2", "country": None})


@pytest.mark.parametrize("cell", ["", "NA"])
def test_no_text_is_a_gap_among_numbers(cell):
    module: dict = {}
    exec(case("three classes, list").rules.export("python"), module)
    with pytest.raises(TypeError, match="expected a number"):
        module["predict"]({"shape": "star", "weight": cell, "country": None})


def test_a_row_without_a_column_is_an_error():
    module: dict = {}
    exec(case("three classes, list").rules.export("python"), module)
    with pytest.raises(KeyError, match="country"):
        module["predict"]({"shape": "star", "weight": 2})


def test_the_module_is_typed(tmp_path):
    """All cases in one run of mypy."""
    for number, name in enumerate(CASES):
        text = case(name).rules.export("python", unknown="error", uncovered="default")
        (tmp_path / f"rules_{number}.py").write_text(text)
    no_settings = ["--config-file=", f"--cache-dir={tmp_path / 'cache'}"]
    out, _, status = api.run(["--strict", *no_settings, str(tmp_path)])
    assert status == 0, out


@settings(max_examples=50)
@given(exportable())
def test_the_module_is_ascii_and_has_no_more_than_its_functions(rules):
    text = rules.export("python")
    assert text.isascii()
    found = [type(node).__name__ for node in ast.parse(text).body]
    assert found == ["Expr", *["ImportFrom"] * 2, *["FunctionDef"] * 3]


def test_rules_are_said_in_remarks():
    text = case("car list").rules.export("python")
    first = case("car list").rules
    said = first.rule_text(first.rules[0]).split(" and ")[0]
    assert f"# 1: {said}" in text
