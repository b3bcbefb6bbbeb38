"""Rules as ONNX."""

import json
import sys

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from export.cases import CASES, case
from export.engines.in_onnx import answers_of, execute_codes, session_of
from export.executing import check_export
from export.exportable import exportable, rows_for
from nn2rules import (
    Domain,
    Feature,
    MissingExtraError,
    OptionError,
    RuleList,
    UnsupportedModelError,
)
from nn2rules.export import export, program_of
from nn2rules.export.program import Prediction

policies = st.sampled_from(["none", "default"])
GAP = "\x00 no text of any test"


@settings(max_examples=100)
@given(exportable(), policies, policies)
def test_any_rules(rules, unknown, uncovered):
    rows = rows_for(program_of(rules))
    how = {"unknown": unknown, "uncovered": uncovered}
    check_export(rules, "onnx", rows, **how, missing=GAP)


@settings(max_examples=50)
@given(exportable(), policies, policies)
def test_any_rules_by_codes(rules, unknown, uncovered):
    rows = rows_for(program_of(rules))
    how = {"unknown": unknown, "uncovered": uncovered, "execute": execute_codes}
    check_export(rules, "onnx", rows, **how, inputs="codes")


@pytest.mark.parametrize("name", CASES)
def test_cases_by_codes(name):
    rules = case(name).rules
    rows = rows_for(program_of(rules), 2_000)
    check_export(rules, "onnx", rows, execute=execute_codes, inputs="codes")


def test_infinite_numbers_are_off_the_domain():
    domain = Domain((Feature.bins("a", [1.5]), Feature.bins("b", [3], whole=True)))
    rules = RuleList(domain, (), "no", ("no", "yes"))
    inf = float("inf")
    cells = [0, 0.5, inf, -inf, sys.float_info.max, -sys.float_info.max, None]
    rows = [{"a": a, "b": b} for a in cells for b in cells]
    check_export(rules, "onnx", rows)
    check_export(rules, "python", rows)
    check_export(rules, "js", rows)


def test_a_special_value_with_a_fraction_in_a_range_of_whole_numbers():
    domain = Domain((Feature.real("a", 1, 9, whole=True, special=[0.5], edges=[4]),))
    rules = RuleList.from_boxes(
        domain, np.array([[1, 0, 1]], dtype=bool), [1], "no", ("no", "yes")
    )
    rows = [{"a": a} for a in (0.5, 1, 3, 3.5, 4, 9, 9.5, 10, None, 0.25)]
    for name in ("onnx", "python", "js", "prolog"):
        check_export(rules, name, rows)


@pytest.mark.parametrize("policy", ["unknown", "uncovered"])
def test_errors_are_refused(policy):
    rules = case("numbers, list for rows").rules
    with pytest.raises(OptionError, match=f"{policy}: .*an ONNX model cannot raise"):
        rules.export("onnx", **{policy: "error"})


def test_an_error_that_cannot_occur_is_not_refused():
    assert case("car list").rules.export("onnx", uncovered="error")


@pytest.mark.parametrize("other", [None, ""])
def test_a_value_cannot_stand_for_missing(other):
    feature = Feature("a", ("", "x", None), other=other)
    rules = RuleList(Domain((feature,)), (), "no", ("no", "yes"))
    with pytest.raises(OptionError, match="missing: '' is a value of feature 'a'"):
        rules.export("onnx")
    rows = [{"a": cell} for cell in ("", "x", None, "y")]
    check_export(rules, "onnx", rows, missing="?")
    check_export(rules, "onnx", rows, execute=execute_codes, inputs="codes")


@pytest.mark.parametrize(
    ("option", "fact"),
    [
        ({"inputs": "words"}, "inputs: 'words', expected 'values' or 'codes'"),
        ({"missing": None}, "missing: None, expected a text"),
    ],
)
def test_options_are_checked(option, fact):
    with pytest.raises(OptionError, match=fact):
        case("car list").rules.export("onnx", **option)


def test_half_a_character_is_refused():
    rules = RuleList(Domain((Feature("a", ("\ud800", "x")),)), (), "no", ("no", "yes"))
    with pytest.raises(UnsupportedModelError, match="half a character"):
        rules.export("onnx")


def test_numbers_that_no_double_holds_are_refused():
    rules = RuleList(Domain((Feature("n", (2**53 + 1, 3)),)), (), "no", ("no", "yes"))
    with pytest.raises(UnsupportedModelError, match="and ONNX has no others"):
        rules.export("onnx")


def test_inputs_and_outputs_are_named_after_columns():
    """Names that outputs or nodes would have are left to the columns."""
    names = ("class", "rule", "", "constant 0", "codes", "MatMul 2")
    domain = Domain(tuple(Feature(name, ("x", "y")) for name in names))
    rules = RuleList(domain, (), "no", ("no", "yes"))
    session = session_of(rules.export("onnx"))
    inputs = [each.name for each in session.get_inputs()]
    assert inputs == ["class", "rule", "column 3", *names[3:]]
    assert [each.name for each in session.get_outputs()] == ["class_", "rule_"]
    check_export(rules, "onnx", rows_for(program_of(rules), 10))


@pytest.mark.parametrize("labels", [("\x00", "a"), ("a\x00", "b"), ("", "b")])
def test_labels_are_kept_to_their_last_sign(labels):
    domain = Domain((Feature("a", ("x\x00", "x")),))
    rules = RuleList(domain, (), labels[0], labels)
    check_export(rules, "onnx", rows_for(program_of(rules)))


def test_no_rows_and_one_row():
    rules = case("car list").rules
    session = session_of(rules.export("onnx"))
    names = [each.name for each in session.get_inputs()]
    none = {name: np.array([], dtype=object) for name in names}
    assert answers_of(session, program_of(rules), none) == []
    row = {name: np.array([None], dtype=object) for name in names}
    assert answers_of(session, program_of(rules), row) == [Prediction(None, None)]


def test_the_model_says_what_it_is():
    rules = case("car list").rules
    model = onnx.load_from_string(rules.export("onnx"))
    facts = {each.key: each.value for each in model.metadata_props}
    assert facts["digest"] == rules.digest
    assert [c["name"] for c in json.loads(facts["columns"])] == [*rules.domain.names]
    assert facts["proved"] in model.doc_string
    assert "of which '' is missing" in model.doc_string


def test_the_size_grows_with_the_rules_alone():
    """Few nodes a column, whatever the number of rules."""
    sizes = [
        len(onnx.load_from_string(case(name).rules.export("onnx")).graph.node)
        for name in ("car list", "car set")
    ]
    assert sizes[0] == sizes[1]


def test_the_library_is_asked_for(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtraError, match="exporting to ONNX needs onnx"):
        export(case("car list").rules, "onnx")
