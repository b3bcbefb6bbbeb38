"""Rules about ranges of numbers, from the search to files and back."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

import ranged
from nn2rules import (
    Budget,
    BudgetExceededError,
    Condition,
    Domain,
    DomainError,
    Feature,
    FormatError,
    Network,
    OptionError,
    Rule,
    RuleList,
    UnknownValueError,
    UnsupportedModelError,
    evaluate,
    extract,
    load,
)
from nn2rules.engine import build_table
from nn2rules.extraction.paper import neurons
from nn2rules.files import from_json, to_json
from nn2rules.language.text import condition_text
from nn2rules.rules.volume import Volume
from nn2rules.space import parts_of
from nn2rules.space.spans import spans_of, volumes
from research.baselines import Trepan

DOMAIN = ranged.mixed_domain()
AGE, AMOUNT, JOB = DOMAIN.features
RNG = np.random.default_rng(11)
NETWORK = ranged.random_network(RNG, DOMAIN)
ROWS = ranged.random_rows(RNG, DOMAIN, 150)
RULES = extract(NETWORK, data=ROWS)


def rules_of(*conditions, **fields):
    """Return a list with one rule for each mapping of conditions."""
    listed = tuple(
        Rule(tuple(Condition(name, values) for name, values in one.items()), "yes")
        for one in conditions
    )
    return RuleList(DOMAIN, listed, "no", ("no", "yes"), **fields)


# Spans and cells


@pytest.mark.parametrize(
    ("feature", "number", "edge"),
    [(AGE, 39, 40), (AMOUNT, 2.5, math.nextafter(2.5, 3)), (AMOUNT, 0, 5e-324)],
)
def test_the_edge_after_a_span_is_the_next_number(feature, number, edge):
    assert feature.after(number) == edge


def test_cells_and_spans_are_the_same_numbers():
    cut = AMOUNT.cut([0, math.nextafter(2.5, 3), 100])
    cells = cut.spans
    assert cells[0] == (-0.5, -5e-324)
    assert cells[1:] == [
        (0, 2.5),
        (math.nextafter(2.5, 3), math.nextafter(100, 0)),
        (100, 20000),
    ]
    assert spans_of(cut, np.array([True, True, False, True, False])) == [
        (-0.5, 2.5),
        (100, 20000),
    ]


def test_edges_that_no_rule_needs_are_dropped():
    whole = rules_of({"age": ((17, 24), (25, 90))}, {"amount": ((3, 7),)})
    assert whole.domain.feature("age").edges == ()
    assert whole.domain.feature("amount").edges == (3, math.nextafter(7, 8))
    assert whole.take([0]).domain.feature("amount").edges == ()
    assert whole.take([0]) == rules_of({"age": ((17, 90),)})
    cut = DOMAIN.cut({"age": [30, 50], "amount": [1]})
    assert RuleList(cut, whole.rules, "no", ("no", "yes")) == whole
    assert RuleList(cut, whole.rules, "no", ("no", "yes")).digest == whole.digest


def test_a_span_of_one_number_and_all_beside_it():
    rules = rules_of({"age": ((25, 25),)}, {"amount": ((0.1, 0.1), None)})
    rows = [
        {"age": 25, "amount": 3, "job": "a"},
        {"age": 26, "amount": 0.1, "job": "a"},
        {"age": 999, "amount": None, "job": "a"},
        {"age": None, "amount": math.nextafter(0.1, 1), "job": "a"},
        {"age": 24, "amount": math.nextafter(0.1, 0), "job": "a"},
    ]
    assert rules.apply(rows).tolist() == [0, 1, 1, -1, -1]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (((39, 25),), "[39, 25] is reversed, expected [low, high]"),
        (((10, 25),), "[10, 25] lies outside of 17 to 90"),
        (((25, 91),), "[25, 91] lies outside of 17 to 90"),
        (((25, 39), (39, 50)), "[25, 39] and [39, 50] overlap"),
        (((25.5, 39),), "[25.5, 39], expected whole numbers"),
        (((math.nan, 39),), "[nan, 39], expected two finite numbers"),
        (((25, 39, 40),), "(25, 39, 40), expected a pair [low, high]"),
        ((("a", 39),), "['a', 39], expected two finite numbers"),
        ((25,), "has no value 25; its numbers are allowed by pairs [low, high]"),
    ],
)
def test_conditions_that_make_no_sense(values, message):
    with pytest.raises(DomainError) as caught:
        rules_of({"age": values})
    assert str(caught.value).startswith("rules[0]: feature 'age'")
    assert message in str(caught.value)


def test_boxes_of_rules_are_boxes_of_the_network():
    rules = rules_of({"age": ((17, 20), (30, 40), None), "amount": ((5, 9),)})
    parts = parts_of(rules.domain, rules.boxes[0])
    assert (
        parts.allowed.tolist() == [[True, False, True] + [True, False] + [True] * 3] * 2
    )
    assert parts.ends.tolist() == [
        [[17, 5, 1], [20, 9, 1]],
        [[30, 5, 1], [40, 9, 1]],
    ]
    beside = rules_of({"age": (None,)})
    [missing] = parts_of(beside.domain, beside.boxes[0]).allowed
    assert missing.tolist() == [False, False, True] + [True] * 5


def test_a_range_is_shown_as_it_is_made():
    for feature in (AGE, AMOUNT, AGE.cut([20]), Feature.real("x", 0.5, 2)):
        assert eval(repr(feature), {"Feature": Feature}) == feature


# Text


@pytest.mark.parametrize(
    ("feature", "values", "text"),
    [
        (AGE, ((25, 90),), "25 ≤ age ≤ 90"),
        (AGE, ((17, 39),), "age ≤ 39"),
        (AGE, ((25, 39),), "25 ≤ age ≤ 39"),
        (AGE, ((25, 25),), "age = 25"),
        (AGE, ((17, 90),), "age ≤ 90"),
        (AGE, ((17, 90), 999), "age ≠ missing"),
        (AGE, ((17, 90), None), "age ≠ 999"),
        (AGE, (None,), "age = missing"),
        (AGE, (999, None), "age in {999, missing}"),
        (AGE, ((30, 90), 999), "(age ≥ 30 or age is 999)"),
        (AGE, ((17, 20), (30, 40)), "(age ≤ 20 or 30 ≤ age ≤ 40)"),
        (AMOUNT, ((3500, 20000),), "amount ≥ 3500"),
        (AMOUNT, ((math.nextafter(2.5, 3), 20000),), "amount > 2.5"),
        (AMOUNT, ((-0.5, 2.5),), "amount ≤ 2.5"),
        (AMOUNT, ((-0.5, math.nextafter(2.5, 2)),), "amount < 2.5"),
        (AMOUNT, ((0, 0),), "amount = 0"),
        (AMOUNT, ((0, 1 / 3),), "0 ≤ amount ≤ 0.3333333333333333"),
    ],
)
def test_conditions_read_as_people_write_them(feature, values, text):
    assert condition_text(feature, values) == text


def test_printed_numbers_read_back_as_themselves():
    for number in RNG.uniform(0, 20000, 200).tolist():
        text = condition_text(AMOUNT, ((number, 20000),))
        _, sign, shown = text.split(" ")
        assert sign in "≥>"
        read = float(shown)
        assert (read if sign == "≥" else math.nextafter(read, math.inf)) == number


def test_the_header_says_which_numbers_there_are():
    text = rules_of({"age": ((25, 39),)}).text(width=99)
    assert text == (
        "Numbers: age 17 to 90 (whole), or 999, or missing; amount -0.5 to 20000, or "
        "missing.\n1  yes  if 25 ≤ age ≤ 39\n   no   otherwise"
    )


# Files


def test_rules_and_networks_are_read_as_they_were_written():
    assert from_json(to_json(NETWORK)) == NETWORK
    for rules in (RULES, extract(NETWORK, data=ROWS, form="set")):
        text = to_json(rules)
        assert from_json(text) == rules
        assert to_json(from_json(text)) == text
        assert from_json(text).certificate == rules.certificate != {}
    assert "n_inputs" not in RULES.certificate
    assert "inputs" not in RULES.certificate


def test_what_a_file_says_of_ranges():
    rules = rules_of({"age": ((25, 39), None), "amount": ((0.1, 20000),)})
    document = json.loads(to_json(rules))
    assert document["features"][:2] == [
        {"name": "age", "range": [17, 90], "whole": True, "values": [999, None]},
        {"name": "amount", "range": [-0.5, 20000], "values": [None]},
    ]
    assert document["rules"][0]["if"] == {
        "age": [[25, 39], None],
        "amount": [[0.1, 20000]],
    }


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[25, 39]", "[39, 25]", "feature 'age': [39.0, 25.0] is reversed"),
        ("[25, 39]", "[25, 139]", "lies outside of 17 to 90"),
        ("[25, 39]", "[25, 39], [30, 50]", "[25, 39] and [30, 50] overlap"),
        ("[25, 39]", "[25.5, 39]", "expected whole numbers"),
        ("[25, 39]", "[NaN, 39]", "rules[0].if.age[0][0]: the number is NaN"),
        ("[25, 39]", "[25]", "rules[0].if.age[0]: expected a pair [low, high]"),
        ("[25, 39]", "25", "its numbers are allowed by pairs [low, high]"),
        ("[25, 39]", '["a", 39]', "rules[0].if.age[0][0]: expected a number"),
        ('"range": [17, 90]', '"range": [90, 17]', "not from 90"),
        ('"range": [17, 90]', '"range": [17]', "features[0].range: expected two"),
        ('"range": [17, 90]', '"range": [17.5, 90]', "has whole ends"),
        ('"values": [999, null]', '"values": [50, null]', "50 lies in its range"),
        ('"values": [999, null]', '"values": [null, 999]', "null (missing) must be"),
        ('"whole": true', '"edges": [30]', "edges"),
    ],
)
def test_files_that_someone_edited(old, new, message):
    text = to_json(rules_of({"age": ((25, 39),)}))
    assert old in text
    with pytest.raises(FormatError) as caught:
        from_json(text.replace(old, new, 1))
    assert message in str(caught.value)


def test_a_network_has_its_ranges_in_one_piece():
    cut = DOMAIN.cut({"age": [30], "amount": []})
    with pytest.raises(FormatError, match="the range of 'age' is cut"):
        Network(cut, NETWORK.layers, NETWORK.classes)
    assert cut.uncut == DOMAIN


# Rows


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (101, "row 1: feature 'age' is 101, outside of 17 to 90"),
        ("101", "row 1: feature 'age' is 101, outside of 17 to 90"),
        (25.5, "row 1: feature 'age' is 25.5, expected a whole number from 17 to 90"),
        ("old", "row 1: feature 'age' is 'old', expected a whole number from 17 to 90"),
        (math.inf, "row 1: feature 'age' is inf, outside of 17 to 90"),
        (10**400, "outside of 17 to 90"),
        ("[17, 25)", "is '[17, 25)', expected a whole number"),
    ],
)
def test_what_is_off_the_range_is_refused_or_answered_as_chosen(cell, message):
    rules = rules_of({"age": ((25, 90),)})
    fine = {"age": 30, "amount": 1, "job": "a"}
    rows = [fine, fine | {"age": cell}]
    for answer in (rules.predict, NETWORK.predict):
        with pytest.raises(UnknownValueError) as caught:
            answer(rows)
        assert message in str(caught.value)
    assert rules.predict(rows, unknown="none").tolist() == ["yes", None]
    assert rules.predict(rows, unknown="default").tolist() == ["yes", "no"]


def test_an_empty_cell_without_a_value_for_missing():
    domain = Domain((Feature.real("age", 17, 90),))
    with pytest.raises(UnknownValueError) as caught:
        domain.encode([{"age": None}])
    assert str(caught.value) == (
        "row 0: feature 'age' has an empty cell, and no value for missing; fill the "
        "cell, or add None (missing) to the values of the feature"
    )


def test_numbers_of_more_than_64_bits_are_rounded_alike():
    domain = Domain((Feature.real("x", 0, 2.0**60),))
    rules = RuleList(
        domain,
        (Rule((Condition("x", ((2.0**53 + 2, 2.0**60),)),), 1),),
        0,
        (0, 1),
    )
    [number] = domain.numbers([{"x": 2**53 + 3}])[0]
    assert number == 2.0**53 + 4
    assert rules.predict([{"x": 2**53 + 1}, {"x": 2**53 + 2}]).tolist() == [0, 1]


# Extraction


@pytest.mark.parametrize("form", ["list", "set"])
@pytest.mark.parametrize("classes", [("no", "yes"), (0, 1, 2)])
@pytest.mark.parametrize("seed", range(3))
def test_rules_answer_as_the_network_does(form, classes, seed):
    rng = np.random.default_rng(seed)
    network = ranged.random_network(rng, DOMAIN, classes=classes)
    rows = ranged.random_rows(rng, DOMAIN, 60)
    rules = extract(network, data=rows, form=form)
    assert rules.scope == "support"
    assert rules.certificate["engine"] == "search"
    assert rules.certificate["rows_covered"] <= len(rows) == rules.certificate["rows"]
    assert ranged.same_where_decided(network, rules, rows)
    assert ranged.same_where_decided(network, rules, ranged.rows_at_ends(rng, rules))
    more = ranged.random_rows(rng, DOMAIN, 2000)
    assert ranged.same_where_decided(network, from_json(to_json(rules)), more)
    if form == "list":
        assert rules.certificate["rows_covered"] == len(rows)


def test_probabilities_hold_in_the_whole_box():
    rules = extract(NETWORK, data=ROWS, form="set")
    rows = ranged.rows_at_ends(RNG, rules) + ROWS
    shares = 1 / (1 + np.exp(-NETWORK.scores(rows)))
    fired = rules.apply(rows)
    assert (fired >= 0).any()
    for index, share in zip(fired.tolist(), shares.tolist(), strict=True):
        if index >= 0 and rules.facts[index].probability is not None:
            low, high = rules.facts[index].probability
            own = share if rules.rules[index].then == "yes" else 1 - share
            assert low - 1e-9 <= own <= high + 1e-9
    assert any(facts.probability for facts in rules.facts)
    assert all(facts.inputs is None for facts in rules.facts)


def test_the_whole_domain_of_one_range():
    domain = Domain((Feature.real("x", -30, 70, whole=True, missing=True), JOB))
    network = ranged.random_network(RNG, domain)
    rules = extract(network)
    assert rules.scope == "domain"
    assert ranged.same_where_decided(network, rules, ranged.rows_at_ends(RNG, rules))
    found = evaluate(network, rules, ranged.random_rows(RNG, domain, 20))
    assert str(found.domain) == "100% of the domain (proved)"


def test_the_whole_domain_needs_an_end():
    domain = Domain((Feature.real("x", -3, 7), Feature.real("y", 0, 1)))
    network = ranged.random_network(np.random.default_rng(2), domain)
    with pytest.raises(OptionError, match="number of 'x' may never be complete"):
        extract(network)
    rules = extract(network, max_rules=3)
    assert len(rules) <= 3
    with pytest.raises(BudgetExceededError) as caught:
        extract(network, budget=Budget(boxes=2000))
    rules = caught.value.rules
    assert rules.scope == "support"
    assert ranged.same_where_decided(network, rules, ranged.rows_at_ends(RNG, rules))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"engine": "table"},
            "a table lists every value, and feature 'age' is a range",
        ),
        ({"engine": "paper"}, "the form 'paper' lists every value, and feature 'age'"),
        ({"form": "paper"}, "use the form 'list' or 'set', or put them into bins"),
    ],
)
def test_engines_that_list_every_value_refuse_ranges(options, message):
    with pytest.raises(UnsupportedModelError, match=message):
        extract(NETWORK, data=ROWS, **options)


@pytest.mark.parametrize(
    "ask",
    [
        build_table,
        neurons,
        lambda network: Trepan(network).fit(ROWS),
    ],
)
def test_what_lists_every_value_refuses_ranges(ask):
    with pytest.raises(UnsupportedModelError, match="put them into bins, as in"):
        ask(NETWORK)


def test_impossible_boxes_hold_values_beside_ranges():
    rules = extract(NETWORK, data=ROWS, impossible=[{"age": [999], "job": ["a"]}])
    assert rules.certificate["impossible"] == [{"age": [999], "job": ["a"]}]
    for box in ({"age": [30]}, {"amount": [(1, 2)]}):
        with pytest.raises(OptionError, match="a box here can hold only special"):
            extract(NETWORK, data=ROWS, impossible=[box])


def test_fidelity_is_not_counted_of_ranges():
    with pytest.raises(OptionError, match="fidelity needs the scope"):
        extract(NETWORK, data=ROWS, fidelity=0.9)


# Volume


def test_volume_of_values_and_numbers():
    assert volumes(JOB) == [Fraction(1, 3)] * 3
    assert volumes(AGE.cut([27])) == [
        Fraction(10, 76), Fraction(64, 76), Fraction(1, 76), Fraction(1, 76)
    ]  # fmt: skip
    assert volumes(Feature.real("x", 0, 4, edges=[1], missing=True)) == [
        Fraction(1, 4), Fraction(3, 4), 0
    ]  # fmt: skip
    assert volumes(Feature.real("x", 2, 2, missing=True)) == [Fraction(1, 2)] * 2


def test_volume_of_rules():
    one = rules_of({"age": ((17, 35),), "job": ("a", "b")})
    assert one.volume.is_exact
    assert one.volume.lower == Fraction(19, 76) * Fraction(2, 3)
    apart = rules_of({"age": ((17, 35),)}, {"age": ((36, 54),)})
    assert (apart.volume.upper, str(apart.volume)) == (Fraction(1, 2), "50.0%")
    both = rules_of({"age": ((17, 54),)}, {"amount": ((-0.5, 9999.75),)})
    half = (Fraction(9999.75) + Fraction(0.5)) / (Fraction(20000) + Fraction(0.5))
    half += Fraction(math.ulp(9999.75)) / (Fraction(20000) + Fraction(0.5))
    assert both.volume.is_exact
    assert both.volume.lower == 1 - (1 - half) / 2
    assert rules_of().volume.upper == 0


def test_volume_that_is_only_bounded_says_both_ends():
    assert str(Volume(Fraction(1, 4), Fraction(1, 2))) == "25.0% to 50.0%"
    assert str(Volume(Fraction(1, 4), Fraction(1, 4) + Fraction(1, 10**6))) == "25.0%"
    assert not Volume(Fraction(1, 4), Fraction(1, 2)).is_exact


# Evaluation


def test_evaluation_with_ranges():
    found = evaluate(NETWORK, RULES, ROWS)
    assert found.on_covered.fidelity == 1
    assert found.domain is not None
    assert found.domain.how == "sampled"
    assert "inputs of" not in str(found)
    assert found.n_values >= found.n_conditions

    class Asked:
        def predict(self, rows):
            return NETWORK.predict(rows)

    asked = evaluate(Asked(), RULES, ROWS, samples=3000)
    assert asked.domain is not None
    assert asked.domain.how == "sampled"
    low, high = found.domain.low, found.domain.high
    assert asked.domain.low <= high
    assert asked.domain.high >= low


def test_evaluation_finds_rules_that_are_wrong():
    wrong = rules_of({"age": ((17, 90), 999, None)}, scope="domain")
    found = evaluate(NETWORK, wrong, ROWS)
    expected = (NETWORK.predict(ROWS) == "yes").mean()
    assert found.on_covered.fidelity == expected
    assert found.domain is not None
    assert found.domain.high < 1


def test_files_of_rules_can_be_loaded(tmp_path):
    path = tmp_path / "rules.json"
    path.write_text(to_json(RULES), encoding="utf-8")
    assert load(path) == RULES


def test_an_end_is_said_where_a_special_value_lies_beyond_it():
    late = Feature.real("late", 0, 30, whole=True, special=[-1, 999])
    assert condition_text(late, ((29, 30),)) == "29 ≤ late ≤ 30"
    assert condition_text(late, ((0, 5),)) == "0 ≤ late ≤ 5"
    assert condition_text(late, ((0, 30),)) == "0 ≤ late ≤ 30"
    assert condition_text(late, ((29, 30), 999)) == "(late ≥ 29 or late is 999)"
