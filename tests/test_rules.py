import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import naive
from nn2rules import (
    Condition,
    Domain,
    DomainError,
    Feature,
    MissingExtraError,
    Nn2RulesError,
    OptionError,
    Rule,
    RuleList,
    UnknownValueError,
)
from strategies import boxes, domains, plain_domain, rows_of, rule_lists, rule_of

CLASSES = ("unripe", "ripe")
DOMAIN = Domain(
    (
        Feature("color", ("red", "yellow")),
        Feature("size", ("small", "medium", "big", "huge")),
    )
)
RIPE = Rule(
    (Condition("color", ("red",)), Condition("size", ("medium", "big"))), "ripe"
)
RULES = RuleList(DOMAIN, (RIPE,), "unripe", CLASSES)


def as_frames(rows, names):
    """Return the rows as every kind of frame; text, so that every kind can hold it."""
    table = {n: [naive.text_of(row[n]) for row in rows] for n in names}
    return [
        rows,
        [dict(reversed(row.items())) for row in rows],
        pd.DataFrame(table, dtype="str"),
        pd.DataFrame(table, dtype=object),
        pl.DataFrame(table, schema=dict.fromkeys(names, pl.String)),
        pa.table({n: pa.array(cells, pa.string()) for n, cells in table.items()}),
    ]


@settings(max_examples=300)
@given(rule_lists())
def test_apply_and_predict_equal_the_first_rule_that_holds(rules):
    codes = np.array(naive.inputs(rules.domain.sizes))
    rows = rules.domain.decode(codes)
    fired = [naive.first_match(rules, row) for row in rows]
    assert rules.apply(codes).tolist() == fired
    assert rules.match(codes).tolist() == fired
    found = rules.predict(codes).tolist()
    assert found == [naive.answer(rules, row) for row in rows]
    counts = [fired.count(index) for index in range(len(rules))]
    assert rules.support(codes).tolist() == counts


@settings(max_examples=60)
@given(rule_lists(max_inputs=50), st.data())
def test_every_kind_of_frame_gives_the_same(rules, data):
    rows = rules.domain.decode(data.draw(rows_of(rules.domain)))
    expected = [naive.first_match(rules, row) for row in rows]
    for frame in as_frames(rows, rules.domain.names):
        assert rules.apply(frame).tolist() == expected


@settings(max_examples=15)
@given(st.randoms(use_true_random=False), st.integers(65, 200))
def test_long_lists(random, n_rules):
    domain = plain_domain([4, 3, 5, 2])
    listed = []
    for _ in range(n_rules):
        box = [
            tuple(sorted(random.sample(range(n), random.randint(1, max(1, n - 1)))))
            if random.random() < 0.9
            else None
            for n in domain.sizes
        ]
        listed.append(rule_of(box, domain, random.choice(CLASSES)))
    rules = RuleList(domain, listed, "unripe", CLASSES)
    codes = np.array(naive.inputs(domain.sizes))
    rows = domain.decode(codes)
    assert rules.apply(codes).tolist() == [naive.first_match(rules, r) for r in rows]
    assert rules.predict(rows).tolist() == [naive.answer(rules, r) for r in rows]


def test_huge_domains():
    domain = plain_domain([3] * 60)
    rules = RuleList(
        domain, (Rule((Condition("f59", ("v1", "v2")),), "ripe"),), "unripe", CLASSES
    )
    codes = np.zeros((3, 60), dtype=int)
    codes[1, 59], codes[2, 58] = 2, 1
    assert rules.apply(codes).tolist() == [-1, 0, -1]
    assert rules.support(codes).tolist() == [1]


@settings(max_examples=200)
@given(domains(max_inputs=100), st.data())
def test_conditions_survive_as_boxes(domain, data):
    listed = [
        rule_of(data.draw(boxes(list(domain.sizes))), domain, "ripe") for _ in range(3)
    ]
    rules = RuleList(domain, listed, "unripe", CLASSES)
    for row in domain.decode(np.array(naive.inputs(domain.sizes))):
        for before, after in zip(listed, rules.rules, strict=True):
            held = naive.holds(before.conditions, row)
            assert naive.holds(after.conditions, row) == held
    for rule in rules.rules:
        order = [domain.names.index(c.feature) for c in rule.conditions]
        assert order == sorted(order)


ROWS = [
    {"color": "red", "size": "big"},
    {"color": "blue", "size": "big"},
    {"color": "yellow", "size": "big"},
]


def test_rows_outside_the_domain():
    with pytest.raises(UnknownValueError, match="row 1: feature 'color' has no value"):
        RULES.apply(ROWS)
    with pytest.raises(UnknownValueError):
        RULES.predict(ROWS)
    assert RULES.apply(ROWS, unknown="default").tolist() == [0, -1, -1]
    assert RULES.apply(ROWS, unknown="none").tolist() == [0, -2, -1]
    assert RULES.predict(ROWS, unknown="default").tolist() == [
        *("ripe", "unripe", "unripe")
    ]
    assert RULES.predict(ROWS, unknown="none").tolist() == ["ripe", None, "unripe"]
    codes = np.array([[0, 2], [-1, 2], [1, 2]])
    assert RULES.apply(codes, unknown="none").tolist() == [0, -2, -1]
    with pytest.raises(OptionError, match="unknown: 'ignore', expected 'error', 'def"):
        RULES.apply(ROWS, unknown="ignore")


@given(rule_lists(), st.data())
def test_unknown_rows_leave_the_others_alone(rules, data):
    codes = data.draw(rows_of(rules.domain))
    marks = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(codes), max_size=len(codes))),
        dtype=bool,
    )
    marked = codes.copy()
    marked[marks, -1] = -1
    inside = rules.apply(codes)
    expected = np.where(marks, -2, inside).tolist()
    assert rules.apply(marked, unknown="none").tolist() == expected
    expected = np.where(marks, -1, inside).tolist()
    assert rules.apply(marked, unknown="default").tolist() == expected
    answers = rules.predict(marked, unknown="none").tolist()
    for mark, found, row in zip(
        marks, answers, rules.domain.decode(codes), strict=True
    ):
        assert found == (None if mark else naive.answer(rules, row))
    if not marks.any():
        assert rules.predict(marked, unknown="none").dtype == rules.predict(codes).dtype


@settings(max_examples=200)
@given(domains(max_inputs=60), st.data())
def test_sorting_by_support(domain, data):
    listed = [
        rule_of(data.draw(boxes(list(domain.sizes))), domain, "ripe")
        for _ in range(data.draw(st.integers(0, 6)))
    ]
    rules = RuleList(domain, listed, "unripe", CLASSES)
    rows = data.draw(rows_of(domain))
    found = rules.sorted_by_support(rows)
    fired = [naive.first_match(rules, row) for row in domain.decode(rows)]
    counts = [fired.count(index) for index in range(len(rules))]
    order = sorted(range(len(rules)), key=lambda index: -counts[index])
    assert [r.conditions for r in found.rules] == [
        rules.rules[index].conditions for index in order
    ]
    assert [r.support for r in found.rules] == [counts[index] for index in order]
    everything = np.array(naive.inputs(domain.sizes))
    assert (found.predict(everything) == rules.predict(everything)).all()


def test_rules_of_several_classes_are_not_sorted():
    rules = RuleList(DOMAIN, (RIPE, Rule((), "unripe")), "ripe", CLASSES)
    with pytest.raises(OptionError, match="rules of several classes cannot be sorted"):
        rules.sorted_by_support(ROWS[:1])


def test_a_list_without_rules():
    rules = RuleList(DOMAIN, (), "unripe", CLASSES)
    assert len(rules) == 0
    assert rules.apply(ROWS[:1]).tolist() == [-1]
    assert rules.predict(ROWS[:1]).tolist() == ["unripe"]
    assert rules.support(ROWS[:1]).tolist() == []
    assert rules.sorted_by_support(ROWS[:1]) == rules
    assert str(rules) == "otherwise unripe"
    assert len(rules.to_frame()) == 1


def test_a_rule_without_conditions():
    rules = RuleList(DOMAIN, (Rule((), "ripe"),), "unripe", CLASSES)
    assert str(rules) == "1. if anything then ripe\n   otherwise unripe"
    assert rules.predict(ROWS[:1]).tolist() == ["ripe"]


def test_no_rows():
    assert RULES.apply([]).tolist() == []
    assert RULES.predict([]).tolist() == []
    assert RULES.support([]).tolist() == [0]


@pytest.mark.parametrize(
    ("rules", "default", "message"),
    [
        ((), "green", "default: 'green' is not a class; there are 'unripe', 'ripe'"),
        ((), None, "default: a class label cannot be missing"),
        ((Rule((), "x"),), "ripe", "rules[0].then: 'x' is not a class; there are"),
        ((RIPE, Rule((), None)), "ripe", "rules[1].then: a class label cannot be"),
        (
            (Rule((Condition("shape", ("red",)),), "ripe"),),
            "ripe",
            "rules[0]: there is no feature 'shape'",
        ),
        (
            (RIPE, Rule((Condition("color", ("red", "blue")),), "ripe")),
            "ripe",
            "rules[1]: feature 'color' has no value 'blue'",
        ),
        (
            (Rule((Condition("color", ()),), "ripe"),),
            "ripe",
            "rules[0]: feature 'color' allows no value",
        ),
        (
            (Rule((Condition("color", ("red",)),) * 2, "ripe"),),
            "ripe",
            "rules[0]: feature 'color' has two conditions",
        ),
    ],
)
def test_lists_that_make_no_sense(rules, default, message):
    with pytest.raises(DomainError) as error:
        RuleList(DOMAIN, rules, default, CLASSES)
    assert str(error.value).startswith(message)


def test_options_are_checked():
    with pytest.raises(OptionError, match="form: 'tree', expected list or set"):
        RuleList(DOMAIN, (), "ripe", CLASSES, form="tree")
    with pytest.raises(OptionError, match="scope: 'all', expected domain or support"):
        RuleList(DOMAIN, (), "ripe", CLASSES, scope="all")


def test_two_equal_classes_are_refused():
    with pytest.raises(Nn2RulesError, match="repeats the value 'ripe'"):
        RuleList(DOMAIN, (), "ripe", ("ripe", "ripe"))


@given(rule_lists())
def test_every_rule_has_its_line(rules):
    assume(all(len(line.splitlines()) == 1 for line in rules.text().split("\n")))
    lines = rules.text().split("\n")
    assert len(lines) == len(rules) + 1
    assert all(" then " in line for line in lines[:-1])
    assert lines[-1].lstrip().startswith("otherwise ")


@given(domains(max_inputs=60), st.data())
def test_different_rules_read_differently(domain, data):
    rules = RuleList(
        domain,
        [rule_of(data.draw(boxes(list(domain.sizes))), domain, "ripe") for _ in "ab"],
        "unripe",
        CLASSES,
    )
    one, other = (rules.rule_text(rule) for rule in rules.rules)
    assert (one == other) == (rules.boxes[0] == rules.boxes[1]).all()


def test_text():
    rules = RuleList(
        DOMAIN,
        (Rule(RIPE.conditions, "ripe", support=1234), Rule((), "unripe", support=1)),
        "ripe",
        CLASSES,
    )
    assert rules.text() == (
        "1. if color = red and size in {medium, big} then ripe  [1,234 rows]\n"
        "2. if anything then unripe  [1 row]\n"
        "   otherwise ripe"
    )
    assert rules.text(top=1) == (
        "1. if color = red and size in {medium, big} then ripe  [1,234 rows]\n"
        "   … and 1 more rule\n"
        "   otherwise ripe"
    )
    assert rules.text(top=9) == rules.text()
    assert repr(rules) == "<RuleList: 2 rules, otherwise 'ripe'>"


def test_printing_a_long_list_stops_at_a_hundred():
    rules = RuleList(DOMAIN, (RIPE,) * 101, "unripe", CLASSES)
    lines = str(rules).splitlines()
    assert len(lines) == 102
    assert lines[-2] == "     … and 1 more rule"
    assert len(rules.text().splitlines()) == 102
    assert lines[0].startswith("  1. if color")


def test_an_approximation_says_so():
    certificate = {"method": "soft-binary", "different": 2, "inputs": 8}
    rules = RuleList(DOMAIN, (RIPE,), "unripe", CLASSES, certificate=certificate)
    assert str(rules).startswith(
        "APPROXIMATE (soft-binary): not the network's answer on 2 of 8 inputs (25.0 %)"
    )


def test_a_strange_certificate_can_still_be_printed():
    for certificate in ({"different": 3}, {"different": "many", "inputs": None}):
        rules = RuleList(DOMAIN, (RIPE,), "unripe", CLASSES, certificate=certificate)
        assert "color = red" in str(rules)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_to_frame(backend):
    listed = Rule(RIPE.conditions, "ripe", support=3), Rule((), "unripe")
    rules = RuleList(DOMAIN, listed, "unripe", CLASSES)
    frame = rules.to_frame(backend)
    table = frame.to_pydict() if backend == "pyarrow" else None
    if backend == "pandas":
        assert isinstance(frame, pd.DataFrame)
        table = {name: frame[name].tolist() for name in frame.columns}
    elif backend == "polars":
        assert isinstance(frame, pl.DataFrame)
        table = frame.to_dict(as_series=False)
    assert list(table) == ["rule", "color", "size", "then", "support"]
    assert table["rule"] == [0, 1, -1]
    assert table["color"] == ["= red", "", ""]
    assert table["size"] == ["in {medium, big}", "", ""]
    assert table["then"] == ["ripe", "unripe", "unripe"]
    assert table["support"][0] == 3


def test_to_frame_keeps_features_with_the_names_of_its_own_columns():
    domain = Domain((Feature("then", ("x", "y")), Feature("rule", ("p", "q"))))
    rule = Rule((Condition("then", ("x",)), Condition("rule", ("q",))), "ripe")
    frame = RuleList(domain, (rule,), "unripe", CLASSES).to_frame()
    cells = {str(cell) for cell in frame.to_numpy().ravel()}
    assert {"= x", "= q", "ripe", "unripe"} <= cells


def test_to_frame_without_the_library(monkeypatch):
    def refuse(*_, **__):
        raise ModuleNotFoundError

    monkeypatch.setattr("narwhals.from_dict", refuse)
    with pytest.raises(MissingExtraError, match="pip install"):
        RULES.to_frame("pandas")


def test_a_list_cannot_be_changed():
    with pytest.raises(AttributeError):
        RULES.default = "ripe"
    with pytest.raises(ValueError, match="read-only"):
        RULES.boxes[0, 0] = False
    rules = RuleList(DOMAIN, (RIPE,), "unripe", CLASSES)
    with pytest.raises(ValueError, match="read-only"):
        rules.answers[0] = 0


def test_boxes_of_the_user_are_copied():
    mask = np.ones((1, 6), dtype=bool)
    rules = RuleList.from_boxes(DOMAIN, mask, [1], "unripe", CLASSES)
    mask[:] = False
    assert rules.predict(ROWS[:1]).tolist() == ["ripe"]


@given(rule_lists(), st.randoms(use_true_random=False))
def test_taking_rules(rules, random):
    positions = random.sample(range(len(rules)), random.randint(0, len(rules)))
    found = rules.take(positions)
    assert found.rules == tuple(rules.rules[index] for index in positions)
    assert (found.default, found.classes) == (rules.default, rules.classes)


def test_equality():
    assert RuleList(DOMAIN, (RIPE,), "unripe", CLASSES) == RULES
    assert hash(RuleList(DOMAIN, (RIPE,), "unripe", CLASSES)) == hash(RULES)
    assert RULES.replace(default="ripe") != RULES
    assert RULES.replace(certificate={"engine": "x"}) != RULES
    counted = Rule(RIPE.conditions, "ripe", support=1)
    assert RuleList(DOMAIN, (counted,), "unripe", CLASSES) != RULES
    assert RULES != "rules"
