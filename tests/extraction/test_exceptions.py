import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import SMALL, members, network_of, tables

from nn2rules import RuleList, check, datasets, extract, load
from nn2rules.engine import build_table
from nn2rules.errors import InternalError
from nn2rules.extraction.describe import exceptions_by_table, possible_exceptions


def wrong_and_above(rules, table, number):
    """Return the inputs of a box that are not of its class, and whom each falls to."""
    inside = members(rules.boxes, table.sizes)
    wrong = inside[number] & (table.classes != rules.answers[number])
    return wrong, inside.argmax(axis=0)[wrong]


@settings(max_examples=80)
@given(
    tables(shapes=SMALL, dont_care=False),
    st.sampled_from(["list", "set"]),
    st.sampled_from(["table", "search"]),
)
def test_a_rule_is_true_unless_one_of_its_exceptions_applies(table, form, engine):
    network = network_of(table)
    rules = extract(network, form=form, scope="domain", engine=engine, effort=0)
    inside = members(rules.boxes, table.sizes)
    for number, rule in enumerate(rules.rules):
        wrong, above = wrong_and_above(rules, table, number)
        named = [other - 1 for other in rule.unless]
        assert all(other < number for other in named)
        assert not (wrong & ~inside[named].any(axis=0)).any()
        if engine == "table":
            assert set(named) == set(above.tolist())
            assert (rule.unless == ()) == (not wrong.any())
        if form == "set":
            assert rule.unless == ()
    assert check(network, rules).ok


def test_rules_that_share_no_input_are_no_exceptions():
    network = load(datasets.network_file("car"))
    rules = extract(network, form="list", effort=0)
    exact = [facts.unless for facts in rules.facts]
    for known, met in zip(exact, possible_exceptions(rules), strict=True):
        assert set(known) <= set(met)
    assert () in exact
    assert any(exact)


def test_a_rule_of_a_set_that_is_not_true_on_its_own_is_never_returned():
    network = load(datasets.network_file("car"))
    rules = extract(network, form="list", effort=0)
    as_set = RuleList.from_boxes(
        rules.domain, rules.boxes, rules.answers, rules.default, rules.classes
    ).replace(form="set")
    with pytest.raises(InternalError):
        exceptions_by_table(as_set, build_table(network).classes)


def test_rules_of_a_short_list_have_no_exceptions():
    network = load(datasets.network_file("car"))
    short = extract(network, form="list", effort=0, max_rules=4)
    assert [facts.unless for facts in short.facts] == [None] * 4


def test_the_first_rules_of_a_list_keep_their_exceptions():
    network = load(datasets.network_file("car"))
    rules = extract(network, form="list", effort=0)
    assert rules.top(7).facts == rules.facts[:7]


def test_rows_do_not_change_the_exceptions_of_a_rule():
    network = load(datasets.network_file("car"))
    rows = datasets.load("car").train.rows[:200]
    rules = extract(network, rows, form="list", scope="domain", effort=0)
    expected = exceptions_by_table(rules, build_table(network).classes)
    assert [facts.unless for facts in rules.facts] == expected
    assert np.all([facts.support is not None for facts in rules.facts])
