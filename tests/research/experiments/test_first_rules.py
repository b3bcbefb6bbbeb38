"""What the first rules achieve, against counting one list after the other."""

import numpy as np
import pytest

import nn2rules
from research.experiments.first_rules import first_rules, fitted_default, fixed_default
from research.experiments.table import Figure, ResultColumn, ResultTable, Spread

NETWORK = nn2rules.load(nn2rules.datasets.network_file("car"))
CARS = nn2rules.datasets.load("car")
TRAIN, TEST = (NETWORK.domain.encode(part.rows) for part in (CARS.train, CARS.test))
TRUTH = np.array([NETWORK.classes.index(label) for label in CARS.test.labels])


def answered(rules, k, default, rows):
    """Answer rows by the first k rules, one by one."""
    found = []
    for row in rows:
        which = rules.match(row[np.newaxis])[0]
        found.append(rules.answers[which] if 0 <= which < k else default)
    return np.array(found)


@pytest.mark.parametrize("form", ["paper", "list"])
def test_the_first_rules_one_by_one(form):
    rules = nn2rules.extract(NETWORK, data=CARS.train.rows, form=form)
    default = fixed_default(rules)
    if form == "list":
        default = fitted_default(rules, NETWORK, TRAIN)
    answers = NETWORK.predict_codes(TEST)
    found = first_rules(rules, default, answers, TEST, TRUTH)
    for k in (0, 1, 2, 7, len(rules) - 1, len(rules)):
        given = answered(rules, k, default[k], TEST)
        assert found.same[k] == (given == answers).sum()
        assert found.right[k] == (given == TRUTH).sum()
        wrong = answers != TRUTH
        assert found.same_on_errors[k] == (given == answers)[wrong].sum()
    assert found.needed(100) <= len(rules)
    assert found.fidelity(10**6) == 1.0
    assert found.on_errors(10**6) == 1.0


def test_the_default_is_what_most_training_rows_have():
    rules = nn2rules.extract(NETWORK, data=CARS.train.rows)
    default = fitted_default(rules, NETWORK, TRAIN)
    answers = NETWORK.predict_codes(TRAIN)
    fired = rules.match(TRAIN)
    for k in range(len(rules) + 1):
        left = answers[(fired < 0) | (fired >= k)]
        counts = np.bincount(left, minlength=2)
        assert counts[default[k]] == counts.max()
    assert rules.classes[default[-1]] == rules.default


def test_without_rules_or_errors():
    rules = nn2rules.RuleList(NETWORK.domain, (), "unacc", NETWORK.classes)
    answers = np.zeros(len(TEST), dtype=np.int64)
    found = first_rules(rules, fixed_default(rules), answers, TEST, answers)
    assert found.on_errors(3) is None
    assert found.needed(100) == 0
    assert found.at_shares(np.array([0, 100])) == ([1.0, 1.0], [1.0, 1.0])


def test_a_table_in_every_form():
    columns = (
        ResultColumn("a|b"),
        ResultColumn("x", "share", "G"),
        ResultColumn("n", "count", "G"),
    )
    rows = (
        ("<i>", Spread((0.25, 0.75)), 1200),
        ("two", None, Figure(-3, "gap")),
    )
    table = ResultTable("t", "Title", "Caption.", columns, rows)
    assert table.to_markdown() == (
        "# Title\n\n| a\\|b | G, x | G, n |\n| --- | ---: | ---: |\n"
        "| <i> | 0.500 (0.250–0.750) | 1,200 |\n| two | – | −3 |\n\nCaption.\n"
    )
    assert table.to_csv() == (
        'a|b,"G, x","G, x, min","G, x, max","G, n"\n<i>,0.5,0.25,0.75,1200\ntwo,,,,-3\n'
    )
    assert '"values": [' in table.to_json()
    assert table.groups == [("", 1), ("G", 2)]
    assert ResultTable("t", "Title", "Caption.", columns[:1], ()).groups == []
