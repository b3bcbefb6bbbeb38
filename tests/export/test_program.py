"""The program that all exporters start from answers as the rules do."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from export.exportable import exportable, rows_for
from nn2rules import Domain, Feature, RuleList, UnsupportedModelError
from nn2rules.export.columns import column_of
from nn2rules.export.program import DEFAULT, NO_PREDICTION, Prediction, program_of
from nn2rules.export.vectors import examples, unknown_cells
from nn2rules.rules import OUTSIDE

policies = st.sampled_from(["none", "default"])


@given(exportable(), policies, policies)
def test_program_answers_as_the_rules(rules, unknown, uncovered):
    program = program_of(rules, unknown=unknown, uncovered=uncovered)
    rows = rows_for(program)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = rules.predict(rows, unknown=unknown, uncovered=uncovered).tolist()
    fired = rules.apply(rows, unknown="none").tolist()
    for row, label, index in zip(rows, labels, fired, strict=True):
        answer = program.predict(row)
        assert answer.label == (
            str(label) if program.label_kind == "text" and label is not None else label
        )
        if index >= 0:
            assert answer.rule == rules.names[index]
        if index == OUTSIDE:
            assert answer == program.outside


@given(exportable())
def test_closed_tests_hold_only_known_cells(rules):
    program = program_of(rules)
    for row in rows_for(program):
        cells = [
            None if row[c.name] in c.gaps else row[c.name] for c in program.columns
        ]
        for branch in program.branches:
            for place, test in branch.closed.items():
                known = program.columns[place].knows(cells[place])
                is_held = branch.tests[place].matches(cells[place])
                if known:
                    assert test.matches(cells[place]) == is_held
                elif not program.columns[place].whole:
                    assert not test.matches(cells[place])


def test_errors_are_no_answer():
    domain = Domain((Feature("a", ("x", "y")),))
    rules = RuleList(domain, (), "no", ("no", "yes"), scope="support")
    program = program_of(rules, unknown="error", uncovered="none")
    assert program.predict({"a": "z"}) is None
    assert program.predict({"a": "x"}) == NO_PREDICTION
    assert program_of(rules, uncovered="error").predict({"a": "x"}) is None
    proved = RuleList(domain, (), "no", ("no", "yes"))
    assert program_of(proved).predict({"a": "x"}) == Prediction("no", DEFAULT)


def test_empty_texts_are_tried_wherever_missing_is():
    for feature in (
        Feature("a", ("x", None)),
        Feature.grouped("a", [["x", None], ["y"]]),
    ):
        cells = [cell for found in examples(column_of(feature)) for cell in found]
        assert {None, ""} <= {*cells}
    assert {None, ""} <= {*unknown_cells(column_of(Feature("a", ("x", "y"))))}


def test_an_empty_text_that_is_the_value_for_others_is_not_missing():
    domain = Domain((Feature("a", ("x", "", None), other=""),))
    rules = RuleList.from_boxes(domain, [[False, True, False]], [1], "no", ("no", "y"))
    assert rules.predict([{"a": ""}]).tolist() == ["y"]
    assert program_of(rules).predict({"a": ""}).label == "y"


def test_a_column_of_several_types_is_refused():
    domain = Domain((Feature("a", ("x", 1)),))
    rules = RuleList(domain, (), "no", ("no", "yes"))
    with pytest.raises(UnsupportedModelError, match="values of several types"):
        program_of(rules)


@pytest.mark.parametrize(
    ("values", "other"),
    [
        (("x", None), None),
        (("x", None), "x"),
        (("x", "y"), None),
        (("x", "missing"), "x"),
        (("x", "missing"), "missing"),
        (("x", ""), ""),
        (("NA", None), "NA"),
    ],
)
def test_a_text_is_missing_where_it_is_for_the_rules(values, other):
    domain = Domain((Feature("a", values, other=other),))
    boxes = np.array([[True, False], [False, True]])
    rules = RuleList.from_boxes(domain, boxes, [0, 1], "no", ("no", "yes"))
    rows = [{"a": cell} for cell in ("x", "y", "", "missing", "NA", None)]
    labels = rules.predict(rows, unknown="none").tolist()
    assert [program_of(rules).predict(row).label for row in rows] == labels


@pytest.mark.parametrize(
    "feature",
    [
        Feature("a", ("x", ""), other=""),
        Feature("a", ("NA",), other="NA"),
        Feature("a", ("x", "NA"), other="NA"),
        Feature("a", ("x", "rest", None), other="rest"),
        Feature.grouped("a", [["x"], []], other=1),
    ],
)
def test_the_name_of_others_is_read_as_the_library_reads_it(feature):
    rules = RuleList(Domain((feature,)), (), "no", ("no", "yes"))
    program = program_of(rules)
    cells = ["", "NA", "x", "rest", "other", "null", None]
    fired = rules.apply([{"a": cell} for cell in cells], unknown="none").tolist()
    for cell, index in zip(cells, fired, strict=True):
        expected = NO_PREDICTION if index == OUTSIDE else Prediction("no", DEFAULT)
        assert program.predict({"a": cell}) == expected, cell
