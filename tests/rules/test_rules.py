import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import nn2rules
from nn2rules import (
    CertificateWarning,
    Condition,
    Domain,
    DomainError,
    Feature,
    MissingExtraError,
    Nn2RulesError,
    OptionError,
    RowsError,
    Rule,
    RuleList,
    UncoveredRowsError,
    UncoveredRowsWarning,
    UnknownValueError,
)
from nn2rules.files import from_json, to_json
from nn2rules.language.text import condition_text
from nn2rules.rules import Facts
from nn2rules.rules.data_rows import GivenRows, with_decided
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
    assert rules.apply_codes(codes).tolist() == rules.apply(rows).tolist() == fired
    assert rules.match(codes).tolist() == fired
    answers = [naive.answer(rules, row) for row in rows]
    found = rules.predict_codes(codes).tolist()
    assert [rules.classes[position] for position in found] == answers
    assert rules.replace(scope="domain").predict(rows).tolist() == answers
    counts = [fired.count(index) for index in range(len(rules))]
    assert rules.support(rows).tolist() == counts


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
    assert rules.apply_codes(codes).tolist() == [
        naive.first_match(rules, r) for r in rows
    ]
    assert rules.predict(rows).tolist() == [naive.answer(rules, r) for r in rows]


def test_huge_domains():
    domain = plain_domain([3] * 60)
    rules = RuleList(
        domain, (Rule((Condition("f59", ("v1", "v2")),), "ripe"),), "unripe", CLASSES
    )
    codes = np.zeros((3, 60), dtype=int)
    codes[1, 59], codes[2, 58] = 2, 1
    assert rules.apply_codes(codes).tolist() == [-1, 0, -1]
    assert rules.support(domain.decode(codes)).tolist() == [1]


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
    with pytest.raises(OptionError, match="unknown: 'ignore', expected 'error', 'def"):
        RULES.apply(ROWS, unknown="ignore")


@given(rule_lists(), st.data())
def test_unknown_rows_leave_the_others_alone(rules, data):
    codes = data.draw(rows_of(rules.domain))
    marks = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(codes), max_size=len(codes))),
        dtype=bool,
    )
    rows, last = rules.domain.decode(codes), rules.domain.names[-1]
    marked = [
        {**row, last: object()} if mark else row
        for row, mark in zip(rows, marks, strict=True)
    ]
    rules = rules.replace(scope="domain")
    inside = rules.apply(rows)
    expected = np.where(marks, -2, inside).tolist()
    assert rules.apply(marked, unknown="none").tolist() == expected
    expected = np.where(marks, -1, inside).tolist()
    assert rules.apply(marked, unknown="default").tolist() == expected
    answers = rules.predict(marked, unknown="none").tolist()
    for mark, found, row in zip(marks, answers, rows, strict=True):
        assert found == (None if mark else naive.answer(rules, row))
    if not marks.any():
        assert rules.predict(marked, unknown="none").dtype == rules.predict(rows).dtype


@settings(max_examples=200)
@given(domains(max_inputs=60), st.data())
def test_sorting_by_support(domain, data):
    listed = [
        rule_of(data.draw(boxes(list(domain.sizes))), domain, "ripe")
        for _ in range(data.draw(st.integers(0, 6)))
    ]
    rules = RuleList(domain, listed, "unripe", CLASSES)
    rows = domain.decode(data.draw(rows_of(domain)))
    found = rules.sorted_by_support(rows)
    fired = [naive.first_match(rules, row) for row in rows]
    counts = [fired.count(index) for index in range(len(rules))]
    order = sorted(range(len(rules)), key=lambda index: -counts[index])
    assert [r.conditions for r in found.rules] == [
        rules.rules[index].conditions for index in order
    ]
    fired = [naive.first_match(found, row) for row in rows]
    assert [r.support for r in found.rules] == [
        fired.count(i) for i in range(len(rules))
    ]
    everything = np.array(naive.inputs(domain.sizes))
    assert (found.predict_codes(everything) == rules.predict_codes(everything)).all()


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
    assert str(rules) == "unripe  otherwise"
    assert len(rules.to_frame()) == 1


def test_a_rule_without_conditions():
    rules = RuleList(DOMAIN, (Rule((), "ripe"),), "unripe", CLASSES)
    assert str(rules) == "1  ripe    always\n   unripe  otherwise"
    assert rules.rule_text(rules[0]) == "always ripe"
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


def conditions_in(rules, rule):
    return [
        condition_text(rules.domain.feature(c.feature), c.values)
        for c in rule.conditions
    ]


@given(rule_lists())
def test_every_rule_has_its_line(rules):
    lines = rules.text("all", width=10_000).split("\n")
    assert len(rules.text("all", width=10_000).splitlines()) == len(lines)
    for rule in rules:
        named = [line for line in lines if line.split()[:1] == [rule.name]]
        texts = conditions_in(rules, rule)
        assert any(all(text in line for text in texts) for line in named)
    has_rest = any("otherwise" in line or "always" in line for line in lines)
    leaves_nothing = rules.is_two_sided and rules.scope == "domain"
    assert has_rest or (leaves_nothing and rules.certificate)


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
        "                                                    rows determined\n"
        "1  ripe    if color = red · size in {medium, big}             1,234\n"
        "2  unripe  always                                                 1\n"
        "   ripe    otherwise"
    )
    assert rules.text(top=1).splitlines()[2:] == [
        '…  1 more rule determines 1 row; top="all" (--all) shows it',
        "   ripe  otherwise",
    ]
    assert rules.text(top=9) == rules.text() == rules.text("all")
    assert repr(rules) == "<RuleList: 2 rules, otherwise 'ripe'>"


def test_printing_a_long_list_stops():
    rules = RuleList(DOMAIN, (RIPE,) * 101, "unripe", CLASSES)
    lines = str(rules).splitlines()
    assert len(lines) == 1 + 20 + 2
    assert lines[-2] == ' …  81 more rules; top="all" (--all) shows them'
    assert len(rules.text("all").splitlines()) == 1 + 101 + 1
    assert lines[0] == "101 rules, tried in order"
    assert lines[1].startswith(" 1  ripe    if color")


def test_an_approximation_says_so():
    certificate = {"method": "soft-binary", "different": 2, "inputs": 8}
    rules = RuleList(DOMAIN, (RIPE,), "unripe", CLASSES, certificate=certificate)
    assert rules.text(width=90).startswith(
        "APPROXIMATE (soft-binary): differs from the network on 2 of 8 inputs (25.0%)"
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
    assert table["rule"] == ["1", "2", "default"]
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
    chosen = [rules.rules[index] for index in positions]
    assert [(rule.conditions, rule.then) for rule in found.rules] == [
        (rule.conditions, rule.then) for rule in chosen
    ]
    if positions == list(range(len(positions))):
        assert found.rules == tuple(chosen)
    else:
        assert set(found.facts) == {Facts()}
    assert found.certificate == {}
    assert (found.default, found.classes) == (rules.default, rules.classes)


def test_equality():
    assert RuleList(DOMAIN, (RIPE,), "unripe", CLASSES) == RULES
    assert hash(RuleList(DOMAIN, (RIPE,), "unripe", CLASSES)) == hash(RULES)
    assert RULES.replace(default="ripe") != RULES
    assert RULES.replace(certificate={"engine": "x"}) != RULES
    counted = Rule(RIPE.conditions, "ripe", support=1)
    assert RuleList(DOMAIN, (counted,), "unripe", CLASSES) != RULES
    assert RULES != "rules"


# A certificate belongs to exact content.

KNOWN = Rule(RIPE.conditions, "ripe", support=3, inputs=2, probability=(0.7, 0.8))
PROVED = RuleList(
    DOMAIN,
    (KNOWN, Rule((Condition("color", ("red",)),), "unripe", inputs=1)),
    "unripe",
    CLASSES,
    certificate={"engine": "table", "different": 0},
)
CHANGES = {
    "default": "ripe",
    "form": "set",
    "scope": "support",
    "classes": ("unripe", "ripe", "rotten"),
    "answers": [1, 1],
    "boxes": ~PROVED.boxes,
    "domain": Domain((DOMAIN.features[0], replace(DOMAIN.features[1], ordered=True))),
}


def test_a_certificate_says_which_rules_it_is_of():
    assert PROVED.certificate["rules"] == PROVED.digest
    again = RuleList(
        DOMAIN, PROVED.rules, "unripe", CLASSES, certificate=PROVED.certificate
    )
    assert again == PROVED
    assert RULES.certificate == {}


@pytest.mark.parametrize("name", CHANGES)
def test_a_certificate_does_not_outlive_a_change(name):
    changed = PROVED.replace(**{name: CHANGES[name]})
    assert changed.certificate == {}
    assert changed.digest != PROVED.digest
    about_rules = name in ("domain", "boxes", "answers", "classes")
    assert changed.facts == ((Facts(),) * 2 if about_rules else PROVED.facts)
    old = {name: CHANGES[name], "certificate": PROVED.certificate}
    with pytest.warns(CertificateWarning, match="does not belong to these rules"):
        stale = PROVED.replace(**old)
    assert (stale.certificate, set(stale.facts)) == ({}, {Facts()})
    new = PROVED.replace(**{name: CHANGES[name], "certificate": {"different": 2}})
    assert new.certificate == {"different": 2, "rules": new.digest}


def test_what_is_said_of_rules_belongs_to_them():
    """`replace(facts=…)` is new knowledge; a list of other rules has none."""
    known = PROVED.replace(facts=[Facts(support=1), Facts()])
    assert known.certificate == {**PROVED.certificate, "rules": known.digest}
    assert known.digest != PROVED.digest
    both = PROVED.replace(facts=None, certificate={**PROVED.certificate, "rows": 3})
    assert both.certificate["rows"] == 3
    assert PROVED.take([0, 1]).facts == PROVED.facts
    assert PROVED.take([0]).facts == PROVED.facts[:1]
    assert PROVED.take([1]).facts == PROVED.take([1, 0]).facts[:1] == (Facts(),)
    assert PROVED.take([]).certificate == PROVED.take([0, 1]).certificate == {}
    with pytest.warns(CertificateWarning):
        edited = RuleList(
            DOMAIN,
            (replace(KNOWN, inputs=5), PROVED.rules[1]),
            "unripe",
            CLASSES,
            certificate=PROVED.certificate,
        )
    assert (edited.certificate, set(edited.facts)) == ({}, {Facts()})


def test_rules_of_one_class_stay_proved_when_they_are_sorted():
    rules = RuleList(
        DOMAIN, (Rule(RIPE.conditions[:1], "ripe"), RIPE), "unripe", CLASSES,
        certificate={"different": 0},
    )  # fmt: skip
    found = rules.sorted_by_support(ROWS[2:])
    assert found.certificate == {"different": 0, "rules": found.digest}


@given(rule_lists())
def test_equal_content_has_an_equal_digest(rules):
    same = RuleList.from_boxes(
        rules.domain,
        rules.boxes.tolist(),
        rules.answers.tolist(),
        rules.default,
        list(rules.classes),
        form=rules.form,
        scope=rules.scope,
        facts=rules.facts,
    )
    assert same.digest == rules.digest
    other = "set" if rules.form == "list" else "list"
    assert rules.replace(form=other).digest != rules.digest


# Open rows.

OPEN = RULES.replace(scope="support")
INSIDE = [ROWS[0], ROWS[2]]


class Model:
    """Answers, and remembers what it was asked."""

    def predict(self, rows):
        """Return the same class for each row."""
        self.rows = rows
        return ["ripe" for _ in range(len(rows))]


def test_uncovered_rows_are_none_with_a_warning():
    with pytest.warns(UncoveredRowsWarning) as found:
        assert OPEN.predict(INSIDE).tolist() == ["ripe", None]
    assert str(found[0].message) == (
        "no rule covers 1 of 2 rows; the prediction there is None (uncovered='default' "
        "gives 'unripe', which is not proved; uncovered=model asks the model)"
    )
    assert found[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert OPEN.predict(INSIDE[:1]).tolist() == ["ripe"]
        assert RULES.predict(INSIDE).tolist() == ["ripe", "unripe"]
        asked = OPEN.predict(INSIDE, uncovered="default")
        assert asked.tolist() == ["ripe", "unripe"]


def test_uncovered_rows_are_none_or_an_error():
    assert OPEN.predict(INSIDE, uncovered="none").tolist() == ["ripe", None]
    with pytest.raises(UncoveredRowsError) as error:
        OPEN.predict([*INSIDE, ROWS[2]], uncovered="error")
    assert (error.value.row, error.value.n_uncovered, error.value.n_rows) == (1, 2, 3)
    assert str(error.value) == (
        "no rule covers row 1 (2 of 3 rows are not covered), and the rules claim "
        "nothing about such rows; to get the model's prediction for them, use "
        "uncovered=model"
    )
    for uncovered in ("default", "none", "error", Model()):
        assert RULES.predict(INSIDE, uncovered=uncovered).tolist() == ["ripe", "unripe"]


def test_a_model_is_asked_about_uncovered_rows():
    for rows in as_frames(INSIDE, DOMAIN.names):
        model = Model()
        assert OPEN.predict(rows, uncovered=model).tolist() == ["ripe", "ripe"]
        assert DOMAIN.encode(model.rows).tolist() == DOMAIN.encode(INSIDE[1:]).tolist()
    network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    rules = nn2rules.extract(network).replace(scope="support").take([])
    rows = network.domain.decode(naive.inputs(network.domain.sizes))
    answers = network.predict(rows).tolist()
    assert rules.predict(rows, uncovered=network).tolist() == answers


def test_rows_outside_the_domain_are_not_uncovered():
    options = {"unknown": "default", "uncovered": "none"}
    assert OPEN.predict(ROWS, **options).tolist() == ["ripe", "unripe", None]
    options = {"unknown": "none", "uncovered": Model()}
    assert OPEN.predict(ROWS, **options).tolist() == ["ripe", None, "ripe"]


@pytest.mark.parametrize("uncovered", ["ask", 3, np.array(["none"])])
def test_what_to_do_with_uncovered_rows_is_known(uncovered):
    with pytest.raises(OptionError, match=r"uncovered: .*, expected 'none', 'default'"):
        RULES.predict(INSIDE, uncovered=uncovered)


def test_one_row():
    row = pd.DataFrame(INSIDE).iloc[0]
    assert RULES.predict(INSIDE[0]).tolist() == RULES.predict(row).tolist() == ["ripe"]
    assert OPEN.predict(INSIDE[1], uncovered=Model()).tolist() == ["ripe"]


def test_arrays_are_not_rows():
    array = pd.DataFrame(INSIDE).to_numpy()
    for method in (RULES.predict, RULES.apply, RULES.support, RULES.curve):
        with pytest.raises(RowsError, match="an array of rows has no names of columns"):
            method(array)
    for method in (RULES.predict_codes, RULES.apply_codes):
        with pytest.raises(RowsError, match="codes are whole numbers, not object"):
            method(array)
        with pytest.raises(RowsError, match="row 0: feature 'color' has no code 2"):
            method(np.array([[2, 0]]))


def test_uncovered_inputs_are_those_that_can_occur():
    rules = RuleList(DOMAIN, (), "unripe", CLASSES, scope="support")
    listed = {"impossible": [{"color": ["red"]}]}
    for certificate, uncovered in (
        ({"inputs": 8}, 8),
        ({**listed, "possible": 4}, 4),
        (listed, None),  # found by search, which does not count them
    ):
        rows = GivenRows(DOMAIN, DOMAIN.encode(ROWS[:1]))
        found = with_decided(rules.replace(certificate=certificate), rows)
        assert found.certificate.get("uncovered") == uncovered
        assert found.certificate["rows_covered"] == 0


# What cannot be rules.


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"domain": "color"}, "domain: a str, expected a Domain"),
        ({"rules": 3}, "rules: a int, expected a sequence of Rule"),
        ({"rules": ["if"]}, r"rules\[0\]: 'if', expected a Rule"),
        (
            {"rules": [Rule("red", "ripe")]},
            r"rules\[0\]: 'red', expected a tuple of Co",
        ),
        ({"rules": [Rule(("red",), "ripe")]}, r"rules\[0\]: 'red', expected a Condit"),
        (
            {"rules": [Rule((Condition("color", "red"),), "ripe")]},
            r"rules\[0\]: feature 'color' allows 'red', expected a tuple of values",
        ),
        ({"rules": [Rule((), "ripe", support="9")]}, r"rules\[0\].support: '9', expe"),
        ({"rules": [Rule((), "ripe", inputs=-1)]}, r"rules\[0\].inputs: -1, expected"),
        ({"rules": [Rule((), "ripe", accuracy=2)]}, r"rules\[0\].accuracy: 2, expect"),
        ({"rules": [Rule((), "ripe", unless=(1,))]}, r"rules\[0\].unless: \(1,\), exp"),
        (
            {"rules": [Rule((), "ripe", unless=1)]},
            r"rules\[0\].unless: 1, expected the",
        ),
        (
            {"rules": [Rule((), "ripe", probability=(0.9, 0.1))]},
            r"rules\[0\].probability: \(0.9, 0.1\), expected two numbers",
        ),
        ({"classes": 3}, "classes: 3, expected a sequence of labels"),
        ({"classes": "ab"}, "classes: 'ab', expected a sequence of labels"),
        ({"certificate": ["different"]}, "certificate: a list, expected a dict"),
    ],
)
def test_parts_of_the_wrong_type_are_refused(changed, message):
    parts = {"domain": DOMAIN, "rules": (RIPE,), "default": "unripe"}
    with pytest.raises(Nn2RulesError, match=f"^{message}"):
        RuleList(**{**parts, "classes": CLASSES, **changed})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"boxes": [[True, False]]}, "boxes: expected 6 true or false for each rule"),
        ({"boxes": [True] * 6, "answers": [2]}, "answers: expected for each of 1 rule"),
        ({"answers": []}, "answers: expected for each of 1 rules the position of its"),
        ({"answers": ["ripe"]}, "answers: expected for each of 1 rules the position"),
        ({"facts": [Facts(), Facts()]}, "facts: 2 for 1 rules, expected as many"),
        ({"facts": [3]}, r"facts\[0\]: 3, expected Facts"),
        ({"colour": "red"}, "a RuleList has no field 'colour' to replace"),
    ],
)
def test_fields_that_do_not_fit_are_refused(changed, message):
    with pytest.raises(OptionError, match=f"^{message}"):
        RULES.replace(**changed)
    with pytest.raises(
        OptionError, match=r"^take: \[7\], expected positions of 1 rules"
    ):
        RULES.take([7])


def test_a_list_is_a_box():
    assert RULES.replace(boxes=RULES.boxes.tolist()[0]) == RULES


@pytest.mark.parametrize(
    "labels", [np.array([["ripe", "ripe"]]), "ripe", 7, [["ripe"]]]
)
def test_labels_of_the_wrong_shape_are_refused(labels):
    with pytest.raises(OptionError, match="expected one"):
        RULES.positions(labels, 1)
    assert RULES.positions((label for label in CLASSES), 2).tolist() == [0, 1]


@pytest.mark.parametrize(
    "certificate",
    [
        {"possible": "many", "different": 1},
        {"different": "none", "model": ["probed"], "impossible": 3},
        {"model": {"probed": "all"}, "different": None},
    ],
)
def test_certificates_of_the_wrong_types_can_be_printed(certificate):
    rules = PROVED.replace(certificate=certificate)
    assert rules.n_possible == 8
    assert "unripe  otherwise" in str(rules)


def test_rows_that_the_model_answers_otherwise_are_said():
    model = {"rows": 300, "rows_agreeing": 298}
    rules = RULES.replace(certificate={"different": 0, "model": model})
    assert rules.warnings() == [
        "OTHER VALUES: on 2 of 300 given rows the model itself predicts another class, "
        "because here one value stands for all categories that are not listed"
    ]
    for model in ({"rows": 300, "rows_agreeing": 300}, {"rows": "2"}, {"rows": 2}):
        assert RULES.replace(certificate={"model": model}).warnings() == []


def test_what_was_read_by_probing_is_said():
    model = {"probed": ["scale", "flags"], "probed_rows": 2048}
    certificate = {"different": 0, "model": model}
    rules = RULES.replace(certificate=certificate)
    assert rules.warnings() == [
        "READ BY PROBING (scale, flags): that it transforms each column on its own was "
        "tested on 2,048 rows, and is not proved"
    ]
    assert str(rules).startswith("READ BY PROBING")
    assert RULES.replace(certificate={"model": {"probed": []}}).warnings() == []


# What a rule leans on.


@pytest.mark.parametrize(
    ("unless", "text"),
    [
        (None, ""),
        ((), ""),
        ((4,), " unless 4"),
        ((1, 4), " unless 1 or 4"),
        ((1, 4, 5), " unless 1, 4 or 5"),
        ((1, 2, 4, 5), " unless 1, 2 or 2 others above"),
    ],
)
def test_a_rule_says_what_it_leans_on(unless, text):
    below = Rule((), "ripe", support=2, unless=unless)
    rules = RuleList(DOMAIN, (RIPE,) * 5 + (below,), "unripe", CLASSES)
    assert rules.rule_text(rules.rules[5]) == f"always ripe{text}"
    assert rules.rules[5].unless == rules.facts[5].unless == unless
    stored = from_json(to_json(rules))
    assert stored == rules
    assert stored.digest == rules.digest
    silent = [replace(facts, unless=None) for facts in rules.facts]
    assert (rules.replace(facts=silent).digest == rules.digest) == (unless is None)
    shown = rules.to_frame()
    assert ("unless" in shown) == (unless is not None)
    if unless is not None:
        assert shown["unless"][5] == ", ".join(map(str, unless))
