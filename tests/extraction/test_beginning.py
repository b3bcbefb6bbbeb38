import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import (
    SMALL,
    check_answers,
    check_pure,
    first,
    network_of,
    tables,
)

from nn2rules import Budget, datasets, extract, load
from nn2rules.engine import Meter
from nn2rules.extraction.from_table.beginning import MORE_RULES, with_row_rules
from nn2rules.extraction.from_table.covers import decision_list
from nn2rules.extraction.from_table.runs import Effort, Work


@settings(max_examples=200)
@given(tables(), st.integers(0, 2**32 - 1), st.integers(0, 2), st.integers(0, 30))
def test_a_list_for_rows_is_as_right_as_the_list_it_is_made_from(
    table, seed, sweeps, n_more
):
    """Rules that say nothing new make the list long, so that some can go before it."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 5, len(table.classes)) * (rng.random() < 0.9)
    work = Work(Effort(1, 4, 4, sweeps, 10), seed % 3)
    rules = decision_list(table.classes, table.sizes, work)
    longer = rules.boxes[:1].repeat(n_more, axis=0)
    answers = rules.classes[:1].repeat(n_more)
    rules = type(rules)(
        np.concatenate([longer, rules.boxes]),
        np.concatenate([answers, rules.classes]),
        rules.default,
    )
    given_tables = []

    def tidy(left, rest):
        given_tables.append(left)
        return rest

    found = with_row_rules(rules, table.classes, table.sizes, counts, work, tidy)
    check_answers((found.boxes, found.classes), found.default, table)
    assert len(found) <= (1 + MORE_RULES) * len(rules)
    if given_tables and found is not rules:
        left = given_tables[-1]
        gone = (left != table.classes).nonzero()[0]
        start = set(first(found.boxes, table.sizes)[gone].tolist()) - {-1}
        check_pure(found.boxes[list(start)], found.classes[list(start)], table)


@settings(max_examples=60)
@given(tables(shapes=SMALL, dont_care=False), st.data(), st.integers(0, 2))
def test_a_list_with_data_equals_the_network(table, data, effort):
    network = network_of(table)
    positions = st.integers(0, len(table.classes) - 1)
    rows = data.draw(st.lists(positions, min_size=1, max_size=25))
    decoded = network.domain.decode(table.inputs[rows])
    rules = extract(network, decoded, scope="domain", form="list", effort=effort)
    plain = extract(network, scope="domain", form="list", effort=effort)
    default = rules.classes.index(rules.default)
    check_answers((rules.boxes, rules.answers), default, table)
    assert len(rules) <= (1 + MORE_RULES) * len(plain)


@pytest.fixture(scope="module")
def contraception():
    data = datasets.load("contraception")
    return load(datasets.network_file("contraception")), data.train.rows


def test_a_list_begins_with_the_rules_that_cover_most_rows(contraception):
    """In the order of a list made without rows the first ten determine 55%."""
    network, rows = contraception
    rules = extract(network, rows, scope="domain", form="list", effort=0)
    plain = extract(network, scope="domain", form="list", effort=0)
    assert rules.support(rows)[:10].sum() >= 0.7 * len(rows)
    assert len(plain) < len(rules) <= (1 + MORE_RULES) * len(plain)
    classes = network.predict_codes(network.domain.encode(rows))
    codes = network.domain.encode(rows) + network.domain.offsets[:-1]
    for box, answer in zip(rules.boxes[:5], rules.answers[:5], strict=True):
        assert (classes[box[codes].all(axis=1)] == answer).all()


def test_a_budget_that_is_spent_leaves_the_list_as_it_was(contraception, monkeypatch):
    network, rows = contraception
    plain = extract(network, scope="domain", form="list", effort=0)
    monkeypatch.setattr(
        "nn2rules.extraction.from_table.by_table.with_row_rules", _spent
    )
    rules = extract(network, rows, scope="domain", form="list", effort=0)
    assert len(rules) == len(plain)
    assert rules.certificate["different"] == 0


def _spent(*_):
    Meter(Budget(boxes=0)).spend(1)
