"""The page of rules: names, what is said above them, and the text of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nn2rules
from nn2rules import Condition, Domain, Feature, Rule, RuleList, extract
from nn2rules.errors import NoSuchRuleError, OptionError
from nn2rules.files import from_json, to_json
from nn2rules.output.text import cells, filled
from nn2rules.rules import Facts
from strategies import rule_lists

CLASSES = ("unripe", "ripe")
DOMAIN = Domain(
    (
        Feature("color", ("red", "yellow")),
        Feature("size", ("small", "medium", "big")),
    )
)
RED = Rule((Condition("color", ("red",)),), "ripe")
YELLOW = Rule((Condition("color", ("yellow",)),), "unripe")
SMALL = Rule((Condition("color", ("red",)), Condition("size", ("small",))), "ripe")
PROVED = {"engine": "table", "different": 0}
CONSTANT = nn2rules.Network(
    DOMAIN, (nn2rules.Layer(np.zeros((5, 1)), [-1.0], "sigmoid"),), CLASSES
)


def a_set(*rules, **options):
    options = {"certificate": PROVED, **options}
    return RuleList(DOMAIN, rules, "unripe", CLASSES, form="set", **options)


def with_facts(rules, *facts):
    certificate = {k: v for k, v in rules.certificate.items() if k != "rules"}
    return rules.replace(facts=facts, certificate=certificate)


# Names


def test_rules_of_a_list_are_numbered():
    rules = RuleList(DOMAIN, (RED, YELLOW), "unripe", CLASSES)
    assert rules.names == ("1", "2")
    assert [rule.name for rule in rules] == ["1", "2"]
    assert rules["2"] == rules[1] == rules[-1] == YELLOW


def test_rules_of_a_set_are_named_by_their_class():
    rules = a_set(YELLOW, RED, SMALL)
    assert rules.names == ("B1", "A1", "A2")  # the default class comes last
    assert rules["A2"] == SMALL
    assert [rules.names[i] for i in rules.apply([{"color": "red", "size": "big"}])] == [
        "A1"
    ]


def test_many_classes_have_two_letters():
    classes = tuple(range(30))
    domain = Domain((Feature("x", classes),))
    rules = RuleList.from_boxes(domain, np.eye(30), classes, 0, classes, form="set")
    assert rules.names[0] == "AD1"
    assert rules.names[1:4] == ("A1", "B1", "C1")
    assert rules.names[26:28] == ("Z1", "AA1")


def test_names_that_are_not_there():
    rules = a_set(RED, SMALL)
    with pytest.raises(NoSuchRuleError, match="no rule 'B1'; there are A1 to A2"):
        rules["B1"]
    with pytest.raises(NoSuchRuleError, match=r"; there are A1 to A2, B1$"):
        a_set(YELLOW, RED, SMALL)["C1"]
    with pytest.raises(NoSuchRuleError, match=r"; there is A1$"):
        a_set(RED)["A2"]
    classes = tuple(range(30))
    domain = Domain((Feature("x", classes),))
    many = RuleList.from_boxes(domain, np.eye(30), classes, 0, classes, form="set")
    with pytest.raises(NoSuchRuleError, match=r"; there are A1, …, AD1$"):
        many["A2"]
    with pytest.raises(LookupError, match="there are no rules"):
        a_set()["A1"]
    with pytest.raises(IndexError):
        rules[2]


def test_names_are_the_same_in_every_form():
    rules = a_set(YELLOW, RED, SMALL)
    assert rules.to_frame()["rule"].tolist() == [*rules.names, "default"]
    text = to_json(rules)
    assert '"name": "B1"' in text
    assert from_json(text).names == rules.names
    assert all(f" {name} " in str(rules) for name in rules.names)


def test_names_do_not_tell_rules_apart():
    assert a_set(RED)[0] == RED
    assert a_set(a_set(YELLOW, RED)[1]).names == ("A1",)


# The page of few rules


def test_a_small_list():
    network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    assert str(extract(network)).splitlines() == [
        "Proved for all 6 inputs                    inputs determined",
        "1  ripe    if color = red · size ≠ small               33.3%",
        "   unripe  otherwise                                   66.7%",
    ]


def test_a_small_set():
    assert str(a_set(RED)).splitlines() == [
        "Proved for all 6 inputs.",
        "ripe   1 rule      inputs covered",
        " A1  color = red            50.0%",
        "unripe   otherwise",
    ]


def test_nothing_is_said_to_be_proved_without_a_certificate():
    for rules in (
        a_set(RED, certificate=None),
        RuleList(DOMAIN, [RED], "ripe", CLASSES),
    ):
        assert "roved" not in str(rules)


@pytest.mark.parametrize("key", [{"different": 3}, {"approximate": True}])
def test_an_approximation_is_not_said_to_be_proved(key):
    rules = a_set(RED, certificate={**PROVED, "method": "soft-binary", **key})
    assert "roved" not in str(rules)
    assert str(rules).startswith("APPROXIMATE (soft-binary)")


# The head


ROWS = {**PROVED, "class_rows": [30, 10], "labels_agree": 39}


def test_a_set_for_every_class_decides_everything():
    text = a_set(RED, YELLOW, certificate=ROWS).text()
    assert text.splitlines()[:4] == [
        "Predicts unripe or ripe   2 features · 6 possible inputs · 40 rows",
        "The network predicts ripe for 25.0% of rows; its accuracy on all rows is "
        "97.5%.",
        "Every rule is proved and holds on its own. Together, the rules cover every",
        "possible input.",
    ]
    assert "otherwise" not in text


def test_rules_that_leave_inputs_to_the_default_say_so():
    rules = a_set(RED, YELLOW, certificate=ROWS)
    assert "otherwise" in with_facts(rules, Facts(inputs=3), Facts(inputs=2)).text()
    assert "otherwise" not in with_facts(rules, *[Facts(inputs=3)] * 2).text()


def test_a_set_for_one_class_has_a_rest():
    text = a_set(RED, certificate=ROWS).text()
    said = (
        "possible inputs that no rule covers, the network predicts unripe (also proved)"
    )
    assert said in text.replace("\n", " ")
    assert text.endswith("\nunripe   otherwise")


OPEN = {"engine": "search", "rows": 40, "rows_covered": 40}


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (
            {},
            "All 40 rows are covered: the rules were made for them. Nothing is claimed "
            "about inputs that no rule covers.",
        ),
        (
            {"uncovered": 2},
            "All 40 rows are covered: the rules were made for them. 2 possible inputs "
            "(33.3%) are not covered: nothing is claimed about them.",
        ),
        (
            {"rows_covered": 39, "uncovered": 1},
            "1 of 40 rows is not covered. 1 possible input (16.7%) is not covered: "
            "nothing is claimed about it.",
        ),
        (
            {"uncovered_at_least": 1, "uncovered_at_most": 2},
            "for them. 1 to 2 possible inputs (16.7% to 33.3%) are not covered: ",
        ),
        (
            {"uncovered_at_most": 2},
            "At most 2 possible inputs (33.3%) are not covered",
        ),
        (
            {"complete": False},
            "Extraction stopped early. All 40 rows are covered: the rules were made ",
        ),
    ],
)
def test_what_is_open_is_said(known, said):
    rules = a_set(RED, scope="support", certificate={**OPEN, **known})
    assert said in rules.text(width=200)
    assert rules.text().endswith("unripe   otherwise (not proved)")


def test_where_nothing_is_open_there_is_no_otherwise():
    rules = a_set(RED, scope="support", certificate={**OPEN, "uncovered": 0})
    assert (
        "All 40 rows are covered: the rules were made for them. Every possible input "
        "is covered." in rules.text(width=200)
    )
    assert "otherwise" not in rules.text() + rules._repr_html_()
    rules = RuleList(DOMAIN, (RED, YELLOW), "ripe", CLASSES, form="set")
    all_of_one = with_facts(
        rules.replace(answers=[1, 1], default="unripe", certificate=PROVED),
        *[Facts(inputs=3)] * 2,
    )
    assert "otherwise" not in all_of_one.text()
    assert len(extract(CONSTANT, form="set", target="unripe").text().splitlines()) == 3


def test_what_is_open_follows_from_what_rules_decide():
    known = {"engine": "search", "class_rows": [10, 30]}
    rules = a_set(RED, YELLOW, scope="support", certificate=known)
    rules = with_facts(
        rules, Facts(support=18, covered=18, inputs=3), Facts(support=10, covered=10)
    )
    assert (
        "12 of 40 rows are not covered. Nothing is claimed about inputs"
        in rules.text(width=200)
    )
    assert "ripe   75.0% of rows; 1 rule, which covers 60.0% of them" in rules.text()
    assert "unripe   25.0% of rows; 1 rule  " in rules.text()
    rules = with_facts(rules, Facts(support=18, inputs=3), Facts(support=10, inputs=1))
    assert "12 of 40 rows are not covered. 2 possible inputs (33.3%) are not" in (
        rules.text(width=200)
    )


def test_a_class_of_an_approximation_has_no_share():
    rules = a_set(RED, certificate={**PROVED, "class_inputs": [4, 2]})
    assert "ripe   33.3% of inputs; 1 rule  " in rules.text()
    wrong = {**PROVED, "class_inputs": [4, 2], "different": 1, "method": "first"}
    assert "\nripe   1 rule  " in rules.replace(certificate=wrong).text()


def test_rows_where_rules_differ_are_said():
    known = {"engine": "table", "different": 1, "rows_different": 3, "method": "first"}
    rules = a_set(RED, certificate={**known, "class_rows": [10, 30]})
    said = "The rules differ from the network on 3 of 40 rows (7.5%)."
    assert said in rules.text()


def test_what_stands_for_a_network_is_not_taken_for_it():
    known = {"engine": "paper", "different": 1, "class_inputs": [3, 3]}
    six = RuleList(DOMAIN, (RED,) * 6, "unripe", CLASSES, certificate=known)
    assert "The network predicts" not in six.text()
    known = {"engine": "table", "different": 1, "class_inputs": [3, 3]}
    assert "The network predicts unripe" not in six.text()
    assert "The network predicts ripe" in six.replace(certificate=known).text()


def test_no_rows_are_not_said_to_be_decided():
    known = {"engine": "search", "rows": 0, "rows_covered": 0, "uncovered": 6}
    text = a_set(scope="support", certificate=known).text()
    assert "There are no rules. 6 possible inputs (100%) are not covered" in text


def test_no_rules_are_not_said_to_be_proved():
    text = a_set(scope="support", certificate={**OPEN, "rows_covered": 0}).text()
    assert (
        "There are no rules. 40 of 40 rows are not covered. 6 possible inputs" in text
    )
    assert "proved" not in text.replace("(not proved)", "")
    assert (
        extract(CONSTANT, form="list").text()
        == "Proved for all 6 inputs\nunripe  always"
    )
    rows = [{"color": "red", "size": "big"}]
    text = extract(CONSTANT, data=rows, form="list").text()
    assert "\nProved: the network predicts unripe for every possible input.\n" in text
    assert text.endswith("\n\nunripe  always")


def test_inputs_declared_impossible_are_no_claim():
    network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    rows = network.domain.decode(next(network.domain.inputs()))
    never = [{"color": ["red"], "size": ["big"]}]
    said = "Nothing is claimed about the 1 input declared impossible"
    text = extract(network, impossible=never).text()
    assert "Proved for all 5 possible inputs" in text
    assert f"{said}.\n" in text
    text = extract(network, data=rows, impossible=never, scope="support").text(
        width=200
    )
    assert f"{said}, nor about rows among them.\n" in text
    assert "which cover" not in text
    assert "the first" not in text
    rules = extract(network, data=rows, impossible=never, form="list")
    rules = rules.replace(certificate={**rules.certificate, "rows_different": 1})
    end = "on 1 row among them, the rules differ from the network."
    assert f"{said}; {end}\n" in rules.text(width=200)
    assert "rows_different" not in rules.top(0).certificate


def test_rows_of_classes_follow_where_rules_decide_all():
    rules = a_set(RED, YELLOW, scope="support", certificate=OPEN)
    rules = with_facts(rules, Facts(support=30), Facts(support=10))
    text = rules.text()
    assert "The network predicts unripe for 25.0% of rows." in text
    assert "ripe   75.0% of rows; 1 rule" in text


def test_influences_are_ranked():
    influence = {"rows": 40, "of": {"color": 4, "size": 39, "shape": 3}}
    text = a_set(RED, certificate={**ROWS, "influence": influence}).text()
    assert "this feature changes:\n  size 98%   color 10%\n" in text


@pytest.mark.parametrize(
    "known",
    [
        {"class_rows": [1], "labels_agree": "all"},
        {"class_rows": "many", "influence": {"rows": 0, "of": {}}},
        {"influence": {"rows": 3, "of": {"color": "x"}}, "rows": -1},
        {"influence": [], "class_inputs": [None, 1], "rows": True},
        {"rows": "x", "uncovered": "y", "complete": 3, "possible": "z"},
    ],
)
@pytest.mark.parametrize("scope", ["domain", "support"])
def test_strange_certificates_can_be_printed(known, scope):
    rules = a_set(RED, YELLOW, certificate={**PROVED, **known}, scope=scope)
    assert "color = red" in rules.text(verbose=True)


def test_a_list_says_how_it_is_read():
    rules = RuleList(DOMAIN, (SMALL, YELLOW), "ripe", CLASSES, certificate=ROWS)
    assert "By itself, a rule may be false." in str(rules)
    one_class = RuleList(DOMAIN, (SMALL, RED), "unripe", CLASSES, certificate=ROWS)
    assert "holds on its own" in str(one_class)


def test_labels_are_said_to_be_about_the_network():
    rules = a_set(RED, YELLOW, certificate=ROWS)
    rules = with_facts(
        rules,
        Facts(support=10, covered=10, covered_agree=8),
        Facts(support=30, covered=30, covered_agree=30),
    )
    lines = rules.text(width=120).splitlines()
    assert (
        "“Labels agree” is the network's accuracy on the rows of each rule. Rules give "
        "the network's prediction even where it is wrong." in " ".join(lines)
    )
    assert [line.split("   ")[-1].strip() for line in lines if "color" in line] == [
        "80%",
        "100%",
    ]


# Rows that fit


def test_rows_that_fit_are_counted_whatever_other_rules_say():
    cars = nn2rules.datasets.load("car")
    network = nn2rules.load(nn2rules.datasets.network_file("car"))
    rows, labels = cars.train.rows, cars.train.labels
    options = {"form": "set", "target": "acc", "effort": 0}
    rules = extract(network, data=rows, labels=labels, **options)
    alone = [rules.take([index]) for index in range(len(rules))]
    assert [rule.covered for rule in rules] == [
        int(one.support(rows)[0]) for one in alone
    ]
    assert [rule.covered_agree for rule in rules] == [
        sum(
            label == rule.then
            for label, fired in zip(labels, one.apply(rows), strict=True)
            if fired == 0
        )
        for rule, one in zip(rules, alone, strict=True)
    ]
    assert any(rule.covered > rule.support for rule in rules)
    assert from_json(to_json(rules)) == rules
    frame = rules.to_frame()
    assert frame["covered"].tolist()[:-1] == [rule.covered for rule in rules]
    listed = extract(network, data=rows, labels=labels, effort=0)
    assert all(rule.covered is None for rule in listed)


def test_no_rows_fit_where_there_are_none():
    network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    rules = extract(network, data=[], form="set")
    assert [(rule.covered, rule.covered_agree) for rule in rules] == [(0, None)] * len(
        rules
    )


def test_facts_that_cannot_be():
    with pytest.raises(
        OptionError, match=r"rules\[0\].covered_agree: 3, expected at most as many"
    ):
        with_facts(a_set(RED), Facts(covered=2, covered_agree=3))
    with pytest.raises(OptionError, match=r"rules\[0\].covered: -1"):
        with_facts(a_set(RED), Facts(covered=-1))


# What is shown of many


def long_list(n_rules, supports=None, certificate=None):
    domain = Domain((Feature("x", tuple(range(n_rules))),))
    answers = np.ones(n_rules, dtype=int)
    rules = RuleList.from_boxes(domain, np.eye(n_rules), answers, "unripe", CLASSES)
    facts = None if supports is None else [Facts(support=n) for n in supports]
    return rules.replace(facts=facts, certificate=certificate)


def shown(rules, **options):
    return sum("if x" in line for line in rules.text(**options).splitlines())


def test_what_decides_most_is_shown():
    assert shown(long_list(20)) == shown(long_list(21)) == 20
    rules = long_list(100, [100] * 9 + [1] * 91)
    assert shown(rules) == 20
    assert shown(rules, top="all") == 100
    assert shown(rules, top=3) == 3
    assert shown(long_list(100, [100] * 9 + [1, *[0] * 90])) == 9
    assert shown(long_list(100, [100] * 3 + [0] * 97)) == 5


def test_what_is_hidden_is_said():
    supports = [971, *[1] * 29]
    rules = long_list(30, supports)
    assert shown(rules) == 5
    assert str(rules).startswith("30 rules, tried in order   rows determined\n")
    assert "\n…  25 more rules determine 25 rows;" in str(rules)
    assert "\n …  1 more rule determines 1 row;" in rules.text(29)
    rules = long_list(30, supports, {"class_rows": [1000, 1000]})
    assert "30 rules, tried in order   rows determined\n" in str(rules)
    assert "\n…  25 more rules determine 1.2% of rows;" in str(rules)
    rules = long_list(30, supports, {"class_rows": [200, 1000]})
    assert (
        "30 rules, tried in order; the first determines at least 80% of rows\n"
        in str(rules)
    )


@pytest.mark.parametrize("top", [-1, "few", 2.5, None])
def test_tops_that_make_no_sense(top):
    with pytest.raises(OptionError, match="top"):
        a_set(RED).text(top)


def test_widths_that_make_no_sense():
    with pytest.raises(OptionError, match="width: 59, expected 60 or more"):
        a_set(RED).text(width=59)


# Layout

HOSTILE = (
    "a\nb",
    "\u202eevil",
    "<b>bold</b>",
    "x" * 130,
    "",
    "尺寸 大",
    "a · b, c",
    "e\u0301" * 30,
)


@pytest.mark.parametrize("form", ["list", "set"])
@pytest.mark.parametrize("width", [60, 80, 120])
def test_hostile_names_stay_within_the_page(form, width):
    features = [Feature(name, (*HOSTILE, None, 7)) for name in HOSTILE]
    domain = Domain(tuple(features))
    random = np.random.default_rng(0)
    boxes = random.random((9, int(domain.offsets[-1]))) < 0.6
    boxes[:, domain.offsets[:-1]] = True
    facts = [Facts(support=10**i, accuracy=0.5) for i in range(9)]
    rules = RuleList.from_boxes(
        domain,
        boxes,
        [0, 1, 2] * 3,
        HOSTILE[3],
        HOSTILE[:5],
        form=form,
        facts=facts,
        scope="support",
        certificate={**OPEN, "class_rows": [8] * 5},
    )
    text = rules.text("all", width=width)
    assert max(cells(line) for line in text.split("\n")) <= width
    assert text.splitlines() == text.split("\n")
    assert "\u202e" not in text
    assert all(name in text for name in rules.names)


@given(rule_lists(), st.integers(80, 100))
def test_lines_are_as_wide_as_is_said(rules, width):
    lines = rules.text("all", width=width, verbose=True).split("\n")
    assert all(cells(line) <= width and line == line.rstrip() for line in lines)


@given(st.lists(st.text("ab ", max_size=9), max_size=9), st.integers(3, 20))
def test_nothing_is_lost_where_lines_are_parted(pieces, width):
    lines = filled(pieces, " · ", width)
    assert all(len(line) <= width for line in lines)
    letters = "".join(lines).replace(" ", "").replace("·", "")
    assert letters == "".join(pieces).replace(" ", "")


def test_percent_signs_stay_with_their_numbers():
    rules = a_set(RED, scope="support", certificate={**OPEN, "uncovered": 2})
    for width in range(60, 100):
        assert not any(
            line.lstrip().startswith("%")
            for line in rules.text(width=width).splitlines()
        )


def test_long_sets_of_values_stand_below():
    values = tuple(f"value-{number}" for number in range(12))
    domain = Domain((Feature("job", values), *DOMAIN.features))
    job = Condition("job", values[:6])
    rule = Rule((job, *SMALL.conditions), "ripe", support=7)
    rules = RuleList(domain, (rule,), "unripe", CLASSES)
    assert rules.text(width=60).splitlines() == [
        "                                                 rows",
        "                                           determined",
        "1  ripe    if color = red · size = small            7",
        "              job  value-0, value-1, value-2, value-3,",
        "                   value-4, value-5",
        "   unripe  otherwise",
    ]
