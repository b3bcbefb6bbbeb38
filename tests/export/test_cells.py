"""What stands in a cell of a decision table is read back, and mistakes are named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from export.exportable import HOSTILE_TEXTS, exportable
from language.test_reading import conditions, features
from nn2rules import Condition, Domain, DomainError, Feature
from nn2rules.files.decision_tables.cells import (
    condition_cell,
    may_change,
    name_cell,
    read_cell,
    text_in_cell,
    value_cell,
)
from nn2rules.space.conditions import boxes_of, conditions_of
from nn2rules.space.values import number_of
from strategies import domains

FORMULA = tuple("=+-@|%\t\r\n'")


def _check(domain: Domain, found: tuple[Condition, ...]) -> None:
    for condition in found:
        feature = domain.feature(condition.feature)
        text = condition_cell(feature, condition.values)
        assert text.isprintable()
        assert not text.startswith(FORMULA) or number_of(text) is not None
        assert read_cell(feature, text) == condition


@given(st.data())
def test_conditions_on_every_kind_of_feature(data):
    domain = Domain(tuple(data.draw(features(name)) for name in ("age", "size")))
    given_conditions = data.draw(conditions(domain))
    cut, boxes = boxes_of(domain, [given_conditions])
    _check(domain, conditions_of(cut, boxes)[0])


@given(st.data())
def test_conditions_on_awkward_words(data):
    domain = data.draw(domains())
    given_conditions = data.draw(conditions(domain))
    cut, boxes = boxes_of(domain, [given_conditions])
    _check(domain, conditions_of(cut, boxes)[0])


@given(exportable())
def test_conditions_of_exports(rules):
    for rule in rules.rules:
        _check(rules.domain, rule.conditions)


@given(st.one_of(st.sampled_from(HOSTILE_TEXTS), st.text()))
def test_names_are_spelt_so_that_nothing_acts(text):
    for spell in (name_cell, value_cell):
        made = spell(text)
        assert text_in_cell(made) == text
        assert made.isprintable()
        assert made
        assert not made.startswith(FORMULA) or number_of(made) is not None
        for piece in made.split(";")[1:]:
            assert not piece.lstrip("\"' ").startswith(FORMULA[:6])


def test_groups_may_be_named_by_words_or_by_names():
    job = Feature.grouped("job", [["other", "cook"], ["judge"]], other=1, missing=True)
    for values in (job.values[:1], job.values[1:2], job.values[1:], job.values[::2]):
        assert read_cell(job, condition_cell(job, values)).values == values
    with pytest.raises(
        DomainError, match=r"cook is only a part of the group {other, cook}"
    ):
        read_cell(job, "cook")
    with pytest.raises(DomainError, match="has no value cok; it has other, cook"):
        read_cell(job, "cok")


COLOR = Feature("color", ("red", "green", "blue", 'a "b", c'))
SIZE = Feature("size", ("small", "medium", "big"), ordered=True)
AGE = Feature.real("age", 17, 90, whole=True, special=[999], missing=True)
RATE = Feature.bins("rate", [0.1, 2.5], missing=True)
TRUTH = Feature("member", (False, True))
PLAIN = Feature("doors", (2, 3, 4.5))


@pytest.mark.parametrize(
    ("feature", "text", "values"),
    [
        (COLOR, "red", ("red",)),
        (COLOR, " red ,blue ", ("red", "blue")),
        (COLOR, '"red", green', ("red", "green")),
        (COLOR, r'"a \"b\", c"', ('a "b", c',)),
        (COLOR, "red or blue", ("red", "blue")),
        (COLOR, "all but red, green", ("blue", 'a "b", c')),
        (COLOR, "≠ red", ("green", "blue", 'a "b", c')),
        (COLOR, "in {red, green}", ("red", "green")),
        (COLOR, "all but {red}", ("green", "blue", 'a "b", c')),
        (COLOR, "= red", ("red",)),
        (SIZE, ">= medium", ("medium", "big")),
        (SIZE, "<medium", ("small",)),
        (SIZE, "between medium and big", ("medium", "big")),
        (AGE, "≥ 25 and < 40", ((25, 39),)),
        (AGE, ">=25 and <=39 or missing", ((25, 39), None)),
        (AGE, "20, 30", ((20, 20), (30, 30))),
        (AGE, "999", (999,)),
        (AGE, "> 24.5 or 999", ((25, 90), 999)),
        (AGE, "a number", ((17, 90),)),
        (RATE, "< 0.1 or is missing", ("(-inf, 0.1)", None)),
        (TRUTH, "TRUE", (True,)),
        (TRUTH, "false", (False,)),
        (PLAIN, "2.0, 4.50", (2, 4.5)),
    ],
)
def test_cells_as_people_write_them(feature, text, values):
    assert read_cell(feature, text) == Condition(feature.name, values)


@pytest.mark.parametrize("text", ["", "  ", "anything"])
def test_empty_cells_allow_everything(text):
    assert read_cell(COLOR, text) is None
    assert read_cell(TRUTH, "True, False") is None


@pytest.mark.parametrize(
    ("feature", "text", "reason"),
    [
        (COLOR, "gren", "'gren' is not a value of this column; did you mean green?"),
        (
            COLOR,
            "purple",
            "'purple' is not a value of this column; it has red, green",
        ),
        (COLOR, "red,", "a value is missing next to a comma"),
        (
            COLOR,
            "red or",
            "a value is missing next to a comma, or next to the word 'or'",
        ),
        (COLOR, '"red', "a quotation mark is not closed"),
        (COLOR, '"re\\d"', "write a backslash twice"),
        (COLOR, "> red", "feature 'color' has no order"),
        (COLOR, "missing", "'missing' is not a value of this column"),
        (PLAIN, "2,5", "'2,5' is ambiguous; write a number with a point"),
        (AGE, "≥ 1,5", "'1,5' is ambiguous"),
        (AGE, "1.500,25", "'1.500,25' is ambiguous"),
        (AGE, "≥ 40 and < 25", "allows no value .*; are its ends the wrong way round"),
        (AGE, "between 40 and 25", "are its ends the wrong way round"),
        (AGE, "> 95 and < 99", "allows no value of this column"),
        (AGE, "young", "'young' is not a number of this column: age 17 to 90"),
        (AGE, "16", "'16' is not a number of this column: age 17 to 90"),
        (AGE, "≥ x", "'x' is not a number of this column"),
        (RATE, "≥ 1", "1 lies inside a bin of feature 'rate'"),
        (RATE, "0.05", "which has bins; write ≥ and < with the edges"),
        (SIZE, "≥ 5", "feature 'size' has words, not numbers"),
        (SIZE, "≥ middle", "'middle' is not a value of this column"),
        (COLOR, 'all but red, green, blue, "a \\"b\\", c"', "allows no value"),
    ],
)
def test_mistakes_are_named(feature, text, reason):
    with pytest.raises(DomainError, match=reason):
        read_cell(feature, text)


def test_what_a_spreadsheet_would_change_is_in_quotation_marks():
    for text in ("=1", "+1", "-x", "@a", "007", "1-2", "3/4", "1e5", "2 May", "10:30"):
        assert may_change(text), text
        assert value_cell(text).startswith('"'), text
    for text in ("2", "-5", "0.25", "5more", ">50K", "<=50K", "car (new)", "17–41"):
        assert value_cell(text) == text
