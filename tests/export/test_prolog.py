"""Rules as Prolog."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from export.cases import case
from export.engines.in_prolog import ask, goals_of
from export.executing import check_export
from export.exportable import exportable, rows_for
from nn2rules import Domain, Feature, RuleList, UnsupportedModelError
from nn2rules.export import program_of

policies = st.sampled_from(["none", "default", "error"])


@settings(max_examples=80)
@given(exportable(), policies, policies)
def test_any_rules(rules, unknown, uncovered):
    rows = rows_for(program_of(rules))
    check_export(rules, "prolog", rows, unknown=unknown, uncovered=uncovered)


@settings(max_examples=50)
@given(exportable())
def test_the_module_is_ascii(rules):
    assert rules.export("prolog").isascii()


STAR = {"shape": "star", "weight": 2, "country": None}


@pytest.mark.parametrize(
    ("row", "fact"),
    [
        ({"weight": "2"}, 'type_error(number,"2")'),
        ({"shape": 2}, "type_error(string,2)"),
        ({"weight": True}, "type_error(number,true)"),
        ({"weight": 2**53 + 1}, "representation_error(double)"),
    ],
)
def test_a_cell_of_another_type_is_an_error(row, fact):
    source = case("three classes, list").rules.export("prolog")
    [found] = ask(source, [STAR | row])
    assert found["text"] == fact


def test_a_row_without_a_column_is_an_error():
    source = case("three classes, list").rules.export("prolog")
    [found] = ask(source, [{"shape": "star", "weight": 2}])
    assert found["text"] == "existence_error(column,country)"


def test_an_error_names_the_column():
    source = case("three classes, list").rules.export("prolog", unknown="error")
    [found] = ask(source, [STAR | {"shape": "flat"}])
    assert found["text"] == 'domain_error(shape,"flat")'


def test_a_class_that_is_asked_about():
    """A class that is asked about never changes which rule determines it."""
    rules = case("three classes, list").rules
    answer = program_of(rules).predict(STAR)
    goals = "\n".join(
        f':- predict([shape-"star", weight-2.0, country-null], "{each}", R) '
        f'-> format("~w~n", [R]) ; writeln(no).'
        for each in rules.classes
    )
    found = goals_of(rules.export("prolog"), goals)
    assert found == [
        answer.rule if each == answer.label else "no" for each in rules.classes
    ]


def test_nan_is_missing_and_a_variable_is_an_error():
    rules = case("numbers, list for rows").rules
    row = '_{age: 30, amount: X, rate: 1, size: "big", job: "cook", member: true}'
    source = rules.export("prolog", uncovered="default")
    goals = "\n".join(
        f":- {given}, catch(predict({row}, C, R), error(E, _), true), "
        f"( nonvar(E) -> writeln(E) ; writeln(C-R) )."
        for given in ("X is nan", "X = null", "X = _")
    )
    nan, null, free = goals_of(source, goals)
    expected = {"age": 30, "amount": None, "rate": 1, "size": "big", "job": "cook"}
    answer = program_of(rules).predict(expected | {"member": True})
    assert nan == null == f"{answer.label}-{answer.rule}"
    assert free == "instantiation_error"


def test_numbers_that_no_double_holds_are_refused():
    rules = RuleList(Domain((Feature("n", (2**53 + 1, 3)),)), (), "no", ("no", "yes"))
    with pytest.raises(UnsupportedModelError, match="is not a 64-bit floating point"):
        rules.export("prolog")


def test_half_a_character_is_refused():
    rules = RuleList(Domain((Feature("a", ("\ud800", "x")),)), (), "no", ("no", "yes"))
    with pytest.raises(UnsupportedModelError, match="half a character"):
        rules.export("prolog")
