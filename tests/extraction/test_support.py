import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import (
    DONT_CARE,
    SMALL,
    Table,
    check_not_idle,
    check_prime,
    check_pure,
    check_right_where_decided,
    extract_prime,
    first,
    network_of,
    tables,
)

from nn2rules import extract
from nn2rules.extraction.from_table.covers import support_rules
from nn2rules.extraction.from_table.runs import Effort, Work

LOW = Effort(runs=1, tries=4, steps=4, sweeps=1, rebuilds=10)
FORMS = ("list", "set")


@st.composite
def rows_of(draw, table, min_rows=1):
    """Draw the positions of rows, some several times."""
    positions = st.integers(0, len(table.classes) - 1)
    found = draw(st.lists(positions, min_size=min_rows, max_size=25))
    return np.array(found * draw(st.integers(1, 3)), dtype=np.int64)


def check_support(boxes, classes, wanted, table, rows, *, form):
    """Check rules that are to decide the rows of some classes."""
    check_right_where_decided(boxes, classes, table)
    counts = np.bincount(rows, minlength=len(table.classes))
    assert set(classes.tolist()) <= set(wanted)
    if form == "set":
        check_pure(boxes, classes, table)
    todo = (counts > 0) & table.possible & np.isin(table.classes, wanted)
    fired = first(boxes, table.sizes)
    assert (fired[todo] >= 0).all()
    check_not_idle(boxes, todo, table)


@settings(max_examples=200)
@given(
    tables(),
    st.data(),
    st.sampled_from(FORMS),
    st.sets(st.integers(0, 3), min_size=1),
)
def test_rules_cover_every_row_of_any_table(table, data, form, wanted):
    rows = data.draw(rows_of(table, min_rows=0))
    counts = np.bincount(rows, minlength=len(table.classes))
    rules = support_rules(
        table.classes,
        table.sizes,
        counts,
        Work(LOW),
        is_ordered=form == "list",
        wanted=sorted(wanted),
        default=2,
    )
    assert rules.default == 2
    fired = first(rules.boxes, table.sizes)
    check_right_where_decided(rules.boxes, rules.classes, table)
    if form == "set":
        check_pure(rules.boxes, rules.classes, table)
    todo = (counts > 0) & table.possible & np.isin(table.classes, sorted(wanted))
    assert (fired[todo] >= 0).all()


def chosen_rows(table, rows):
    return network_of(table).domain.decode(table.inputs[rows])


@settings(max_examples=150)
@given(tables(shapes=SMALL, dont_care=False), st.data(), st.sampled_from(FORMS))
def test_rules_cover_every_row_of_a_network(table, data, form):
    rows = data.draw(rows_of(table))
    network = network_of(table)
    codes = table.inputs[rows]
    data_rows = network.domain.decode(codes)
    rules = extract(network, form=form, scope="support", data=data_rows, effort=0)
    everything = range(table.n_classes)
    check_support(rules.boxes, rules.answers, everything, table, rows, form=form)
    if form == "set":
        assert rules == extract(network, scope="support", data=data_rows, effort=0)
    is_ordered = form == "list"
    prime = extract_prime(network, form=form, scope="support", data=data_rows, effort=0)
    check_prime(prime.boxes, prime.answers, table, is_ordered=is_ordered)
    uncovered = int((first(rules.boxes, table.sizes) < 0).sum())
    assert rules.certificate["uncovered"] == uncovered
    decided = int((first(rules.boxes, table.sizes)[rows] >= 0).sum())
    assert rules.certificate["rows"] == len(rows)
    assert rules.certificate["rows_covered"] == decided
    assert (rules.form, rules.scope) == (form, "support")
    assert "different" not in rules.certificate
    assert "fewest_rules" not in rules.certificate
    assert ("otherwise (not proved)" in rules.text()) == (uncovered > 0)
    # Whatever the rules leave to the default, the given rows are answered rightly.
    assert rules.predict_codes(codes).tolist() == network.predict_codes(codes).tolist()
    assert (rules.apply_codes(codes) >= 0).all()
    fired = first(rules.boxes, table.sizes)[rows]
    expected = np.bincount(fired[fired >= 0], minlength=len(rules))
    assert [rule.support for rule in rules.rules] == expected.tolist()


@settings(max_examples=60)
@given(tables(shapes=SMALL, dont_care=False), st.data())
def test_the_default_is_the_class_of_most_rows(table, data):
    rows = data.draw(rows_of(table))
    rules = extract(
        network_of(table), scope="support", data=chosen_rows(table, rows), effort=0
    )
    counts = np.bincount(table.classes[rows], minlength=table.n_classes)
    assert counts[rules.classes.index(rules.default)] == counts.max()


@settings(max_examples=60)
@given(
    tables(shapes=SMALL, max_classes=2, dont_care=False), st.data(), st.integers(0, 1)
)
def test_a_target_is_the_class_that_has_rules(table, data, target):
    rows = data.draw(rows_of(table))
    network = network_of(table)
    rules = extract(
        network,
        form="set",
        scope="support",
        data=chosen_rows(table, rows),
        target=network.classes[target],
        effort=0,
    )
    assert rules.default == network.classes[1 - target]
    check_support(rules.boxes, rules.answers, [target], table, rows, form="set")


@pytest.mark.parametrize("form", FORMS)
def test_rows_count_as_often_as_they_occur(form):
    """Three kinds of rows, and no box holds two of them: the most frequent leads."""
    classes = np.array([1, 0, 1, 0, 1, 0, 0], dtype=np.uint8)
    classes = np.concatenate([classes, 1 - classes])  # by another feature
    table = Table(classes, (2, 7), 2)
    rows = np.repeat([0, 8, 4, 3], [2, 9, 5, 30])
    rules = extract(
        network_of(table),
        form=form,
        scope="support",
        data=chosen_rows(table, rows),
        target="class 1" if form == "set" else None,
    )
    supports = [rule.support for rule in rules.rules]
    assert supports == sorted(supports, reverse=True)
    assert sum(supports) == (46 if form == "list" else 7 + 9)


@pytest.mark.parametrize("form", FORMS)
def test_the_same_seed_gives_the_same_rules(form):
    classes = np.random.default_rng(3).integers(0, 3, 48).astype(np.uint8)
    table = Table(classes, (4, 4, 3), 3)
    rows = network_of(table).domain.decode(table.inputs[::2])
    options = {"form": form, "scope": "support", "data": rows}
    one, again, threads = (
        extract(network_of(table), n_jobs=n_jobs, **options) for n_jobs in (None, 1, 2)
    )
    assert one == again == threads
    assert str(one) == str(threads)
    found = []
    for effort in (0, 1, 2):
        rules = extract(network_of(table), effort=effort, **options)
        found.append(len(rules))
    assert found == sorted(found, reverse=True)


def test_rows_that_cannot_occur_need_no_rule():
    table = Table(np.array([1, DONT_CARE, 0, 1], dtype=np.uint8), (2, 2), 2)
    counts = np.array([0, 5, 0, 0])
    for is_ordered in (True, False):
        rules = support_rules(
            table.classes,
            table.sizes,
            counts,
            Work(LOW),
            is_ordered=is_ordered,
            wanted=[0, 1],
            default=0,
        )
        assert len(rules) == 0


@pytest.mark.parametrize("engine", ["table", "search"])
@pytest.mark.parametrize("form", FORMS)
def test_no_rows_need_no_rules(form, engine):
    table = Table(np.array([0, 1, 0, 1], dtype=np.uint8), (2, 2), 2)
    rules = extract(
        network_of(table), form=form, scope="support", data=[], engine=engine
    )
    assert len(rules) == 0
