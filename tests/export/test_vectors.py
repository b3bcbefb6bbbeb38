"""Test vectors: read back from CSV, rules give the same class and the same rule."""

import math
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from export.card_cases import CARDS, card
from export.cases import CASES, case
from export.exportable import exportable
from nn2rules import Domain, Feature, RuleList, UnknownValueError
from nn2rules.export.card_program import card_program_of
from nn2rules.export.program import DEFAULT, NO_PREDICTION, UNPROVED, program_of
from nn2rules.export.vectors import vectors_of, vectors_text
from nn2rules.files import read_table
from nn2rules.space import Range

policies = st.sampled_from(["none", "default", "error"])


@settings(max_examples=60)
@given(exportable(), policies, policies)
def test_vectors_read_back_give_the_same_answers(
    tmp_path_factory, rules, unknown, uncovered
):
    program = program_of(rules, unknown=unknown, uncovered=uncovered)
    path = tmp_path_factory.mktemp("vectors") / "tests.csv"
    path.write_bytes(vectors_text(program, 40).encode())
    table = read_table(path)
    label_name, rule_name = table.header[-2:]
    assert len(table.rows) == 40
    for vector in table.rows:
        label, rule = vector[label_name], vector[rule_name]
        row = {name: vector[name] for name in table.header[:-2]}
        assert (label, rule) == _said(rules, row, unknown, uncovered), row


def _said(rules, row, unknown, uncovered):
    """Return what the rules say of a row, as vectors write it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            [label] = rules.predict([row], unknown=unknown, uncovered=uncovered)
        except (UnknownValueError, ValueError):
            return "", "error"
    [index] = rules.apply([row], unknown="none").tolist()
    if index >= 0:
        return str(label), rules.names[index]
    if label is None:
        return "", ""
    is_open = rules.scope == "support" and -1 not in _off(rules, row)
    return str(label), UNPROVED if is_open else DEFAULT


def _off(rules, row):
    return rules.domain.encode([row], unknown="mark")[0].tolist()


@pytest.mark.parametrize("name", CASES)
def test_every_rule_decides_a_vector(name):
    rules = case(name).rules
    program = program_of(rules)
    number = 2 * len(rules)
    found = {answer.rule for _, answer in vectors_of(program, number)}
    assert found >= {*rules.names}


def test_vectors_hold_every_end_every_gap_and_every_stranger():
    program = program_of(case("numbers, list for rows").rules, unknown="none")
    vectors = vectors_of(program, 1_000)
    ages = {row["age"] for row, _ in vectors}
    assert ages >= {17, 90, 999, None, 16, 91, 17.5}
    assert {row["size"] for row, _ in vectors} >= {"small", "big", None, "unlisted"}
    off = [answer for _, answer in vectors if answer == NO_PREDICTION]
    assert len(off) >= 1_000 // 8


def test_more_vectors_begin_with_the_same():
    program = program_of(case("numbers, set for rows").rules)
    assert vectors_of(program, 50)[:20] == vectors_of(program, 20)


def test_a_gap_that_csv_cannot_hold_is_left_out():
    domain = Domain((Feature("a", ("", "x", None)), Feature("b", ("x", None))))
    rules = RuleList(domain, (), "no", ("no", "yes"))
    rows = [row for row, _ in vectors_of(program_of(rules), 50)]
    assert {row["a"] for row in rows} == {"", "x", "unlisted", "missing"}
    assert None in {row["b"] for row in rows}


@pytest.mark.parametrize("points", ["fine", "printed"])
@pytest.mark.parametrize("name", CARDS)
def test_vectors_of_a_card_have_pairs_next_to_a_change(name, points):
    """Some numbers are the last of a class, and some the first of the next one."""
    program = card_program_of(card(name), points=points)
    vectors = vectors_of(program, 64)
    assert vectors == vectors_of(program, 64)
    sides = set()
    for row, prediction in vectors:
        assert prediction == program.predict(row)
        for column in program.columns:
            cell = row[column.name]
            if prediction.label is None or not isinstance(column.feature, Range):
                continue
            if cell is None or not _is_inside(cell, column):
                continue
            for side in (-1, 1):
                beside = cell + side
                if not column.whole:
                    beside = math.nextafter(cell, side * math.inf)
                if not _is_inside(beside, column):
                    continue
                other = program.predict({**row, column.name: beside})
                if other.label != prediction.label:
                    sides.add(side)
    assert sides == {-1, 1}


def _is_inside(number, column):
    low, high = column.feature.limits
    return low <= number <= high
