"""Evaluations: worked by hand, against naive loops, and against scikit-learn."""

import json
import math
import operator
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, precision_score, recall_score
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import naive
import nn2rules
from nn2rules import (
    Condition,
    Domain,
    Feature,
    Layer,
    MissingExtraError,
    Network,
    OptionError,
    RowsError,
    Rule,
    RuleList,
    UnknownValueError,
    UnsupportedModelError,
    evaluate,
    extract,
)
from nn2rules.output import result as output_result
from nn2rules.questions.evaluate import DomainFidelity, domain_fidelity
from nn2rules.space import wilson
from strategies import (
    PIECEWISE_LINEAR,
    networks,
    plain_domain,
    relu_networks,
    rows_of,
    rule_lists,
)


class Answering:
    """A model with given answers, whatever it is asked."""

    def __init__(self, answers):
        self.answers = answers

    def predict(self, _rows):
        """Return the answers."""
        return self.answers


class Lookup:
    """A model that answers by the values of a row, and wants to be given dicts."""

    def __init__(self, function):
        self.function = function

    def predict(self, rows):
        """Return an answer for each row."""
        return [self.function(row) for row in rows]


def car(kind):
    network = nn2rules.load(nn2rules.datasets.network_file("car"))
    return network if kind == "network" else nn2rules.datasets.load("car").test


def looks_at_first(shape, weights, classes=("no", "yes")):
    """Return a network that looks at the first feature alone."""
    domain = plain_domain(shape)
    column = np.zeros((int(domain.offsets[-1]), 1))
    column[: len(weights), 0] = weights
    return Network(domain, (Layer(column, [0.0], "sigmoid"),), classes)


def every(domain):
    return domain.decode(naive.inputs(domain.sizes))


TOMATOES = Domain(
    (
        Feature("color", ("red", "yellow", "green")),
        Feature("size", ("small", "medium", "big")),
    )
)
RED = Rule((Condition("color", ("red",)), Condition("size", ("medium", "big"))), "ripe")
GREEN = Rule((Condition("color", ("green",)),), "unripe")
BIG = Rule((Condition("size", ("big",)),), "ripe")
THREE = RuleList(TOMATOES, (RED, GREEN, BIG), "rotten", ("unripe", "ripe", "rotten"))
ROWS = [
    {"color": "red", "size": "big"},  # RED, and BIG holds too: ripe
    {"color": "red", "size": "medium"},  # RED: ripe
    {"color": "green", "size": "big"},  # GREEN, and BIG holds too: unripe
    {"color": "yellow", "size": "big"},  # BIG: ripe
    {"color": "yellow", "size": "small"},  # the default: rotten
]
MODEL = Answering(["ripe", "unripe", "unripe", "ripe", "unripe"])
LABELS = ["ripe", "ripe", "ripe", "ripe", "unripe"]


# By hand


def test_rows_by_hand():
    found = evaluate(MODEL, THREE, ROWS, LABELS, samples=0)
    assert found.n_rows == 5
    assert found.on_covered.fidelity == 3 / 5  # not rows 1 and 4
    assert found.on_covered.accuracy == 3 / 5  # rows 0, 1, 3
    assert found.model_accuracy == 3 / 5  # rows 0, 3, 4
    assert (found.on_covered.same_where_right, found.model_right) == (2, 3)  # rows 0, 3
    assert (found.on_covered.same_where_wrong, found.on_covered.model_wrong) == (
        1,
        2,
    )  # row 2
    assert found.on_covered.fidelity_where_right == 2 / 3
    assert found.on_covered.fidelity_where_wrong == 1 / 2
    assert found.overlap == 2 / 5
    assert found.rules_per_row == 6 / 5
    assert found.determined_share == 4 / 5
    assert found.domain is None


def test_rules_by_hand():
    found = evaluate(MODEL, THREE, ROWS, samples=0)
    assert found.n_rules == 3
    assert [one.n_rules for one in found.on_covered.by_class] == [1, 2, 0]
    assert found.conditions_per_rule == 4 / 3
    assert found.most_conditions == 2
    assert found.values_per_condition == 5 / 4


def test_first_rules_by_hand():
    found = evaluate(MODEL, THREE, ROWS, samples=0)
    assert found.determined == (0, 2, 3, 4)
    assert found.determined_by_first == {1: 2 / 5, 2: 3 / 5, 3: 4 / 5}
    assert found.determined_by(0) == 0
    assert found.determined_by(3) == found.determined_by(1000) == 4 / 5
    wanted = {0.0: 0, 0.1: 1, 0.4: 1, 0.41: 2, 0.6: 2, 0.8: 3, 0.81: None, 1.0: None}
    assert {share: found.rules_for(share) for share in wanted} == wanted


def test_classes_by_hand():
    unripe, ripe, rotten = evaluate(
        MODEL, THREE, ROWS, LABELS, samples=0
    ).on_covered.by_class
    assert unripe.label == "unripe"
    assert (unripe.n_rows, unripe.fidelity) == (3, 1 / 3)
    assert (unripe.recall, unripe.precision) == (0.0, 0.0)
    assert (ripe.n_rows, ripe.fidelity) == (2, 1.0)
    assert (ripe.recall, ripe.precision) == (3 / 4, 1.0)
    assert (rotten.n_rows, rotten.fidelity) == (0, None)
    assert (rotten.recall, rotten.precision) == (None, 0.0)


def test_without_labels_there_is_no_accuracy():
    found = evaluate(MODEL, THREE, ROWS, samples=0)
    assert found.on_covered.accuracy is found.model_accuracy is None
    assert (
        found.on_covered.fidelity_where_right
        is found.on_covered.fidelity_where_wrong
        is None
    )
    assert found.on_covered.model_wrong is found.on_covered.same_where_wrong is None
    assert {(one.recall, one.precision) for one in found.on_covered.by_class} == {
        (None, None)
    }


def test_a_model_without_errors_has_no_fidelity_on_them():
    found = evaluate(MODEL, THREE, ROWS, MODEL.answers, samples=0)
    assert (found.on_covered.model_wrong, found.on_covered.fidelity_where_wrong) == (
        0,
        None,
    )
    found = evaluate(MODEL, THREE, ROWS, ["rotten"] * 5, samples=0)
    assert (found.model_right, found.on_covered.fidelity_where_right) == (0, None)
    assert found.on_covered.fidelity_where_wrong == found.on_covered.fidelity


def test_no_rules_and_one_row():
    nothing = THREE.take([])
    found = evaluate(Answering(["rotten"]), nothing, ROWS[:1], ["ripe"], samples=0)
    assert (found.n_rules, found.on_covered.fidelity, found.on_covered.accuracy) == (
        0,
        1.0,
        0.0,
    )
    assert found.conditions_per_rule is found.values_per_condition is None
    assert (found.overlap, found.rules_per_row, found.determined_share) == (0, 0, 0)
    assert found.determined_by_first == {}
    assert (found.rules_for(0), found.rules_for(0.5)) == (0, None)
    assert found.determined_by(5) == 0
    assert "first rules" not in str(found)


def test_a_rule_without_conditions():
    rules = RuleList(TOMATOES, (Rule((), "ripe"),), "rotten", THREE.classes)
    found = evaluate(MODEL, rules, ROWS, samples=0)
    assert found.conditions_per_rule == 0
    assert found.values_per_condition is None
    assert found.rules_for(1.0) == 1


def test_a_constant_network():
    network = looks_at_first([3, 2], [1.0, 1.0, 1.0])
    for form in ("list", "set", "paper"):
        found = evaluate(network, extract(network, form=form), every(network.domain))
        assert found.on_covered.fidelity == 1
        assert found.domain == DomainFidelity(1.0, 1.0, "counted", 6, 6)


@pytest.mark.parametrize("answers", [[1, 0], ["1", "0"], [True, False], [1.0, 0.0]])
@pytest.mark.parametrize("given_as", [list, np.array, pd.Series, pl.Series])
def test_labels_of_any_type(answers, given_as):
    domain = plain_domain([2])
    rules = RuleList(domain, (Rule((Condition("f0", ("v0",)),), 1),), 0, (0, 1))
    rows = [{"f0": "v0"}, {"f0": "v1"}]
    model, labels = Answering(given_as(answers)), given_as(answers)
    found = evaluate(model, rules, rows, labels, samples=0)
    assert (
        found.on_covered.fidelity
        == found.on_covered.accuracy
        == found.model_accuracy
        == 1
    )


def test_a_network_with_everything_in_another_order():
    network = looks_at_first([2, 3], [-1.0, 1.0])
    turned = Domain((Feature("f1", ("v2", "v0", "v1")), Feature("f0", ("v1", "v0"))))
    yes = Rule((Condition("f0", ("v1",)), Condition("f1", ("v0", "v1"))), "yes")
    rules = RuleList(turned, (yes,), "no", ("yes", "no"))
    found = evaluate(network, rules, every(network.domain), ["yes"] * 6)
    assert found.on_covered.fidelity == 5 / 6
    assert (found.domain.same, found.domain.inputs) == (5, 6)
    assert [one.n_rows for one in found.on_covered.by_class] == [3, 3]
    text = refused(RowsError, network, rules, np.zeros((2, 2), dtype=int))
    assert text.startswith("an array of rows has no names of columns; give a data fr")


# Against slow twins, and scikit-learn


@settings(max_examples=100)
@given(rule_lists(), st.data())
def test_rows_equal_the_naive_loop(rules, data):
    codes = data.draw(rows_of(rules.domain).filter(len))
    answers = [data.draw(st.sampled_from(rules.classes)) for _ in codes]
    rows = rules.domain.decode(codes)
    found = evaluate(Answering(answers), rules, rows, samples=0)
    held = [sum(naive.holds(r.conditions, row) for r in rules.rules) for row in rows]
    fired = [naive.first_match(rules, row) for row in rows]
    same = [naive.answer(rules, r) == a for r, a in zip(rows, answers, strict=True)]
    covered = [rules.scope == "domain" or f >= 0 for f in fired]
    assert found.n_covered == sum(covered)
    assert found.on_covered.same == sum(map(operator.and_, same, covered))
    whole = found.with_unproved_default
    assert (whole is None) == all(covered)
    assert whole is None or (whole.n_rows, whole.same) == (len(rows), sum(same))
    assert found.overlapping == sum(number > 1 for number in held)
    assert found.covering == sum(held)
    for k in range(len(rules) + 1):
        assert found.determined[k] == sum(0 <= f < k for f in fired)
    listed = [rule.conditions for rule in rules.rules]
    assert found.n_conditions == sum(map(len, listed))
    assert found.most_conditions == max(map(len, listed), default=0)
    assert found.n_values == sum(len(c.values) for cs in listed for c in cs)


@settings(max_examples=60)
@given(rule_lists(max_rules=4), st.data())
def test_rules_for_is_the_first_that_is_enough(rules, data):
    codes = data.draw(rows_of(rules.domain).filter(len))
    found = evaluate(
        Answering([rules.classes[0]] * len(codes)),
        rules,
        rules.domain.decode(codes),
        samples=0,
    )
    reached = [rows / found.n_rows for rows in found.determined]
    share = data.draw(st.floats(0, 1) | st.sampled_from(reached))
    enough = [k for k in range(len(rules) + 1) if found.determined_by(k) >= share]
    assert found.rules_for(share) == (enough[0] if enough else None)


def many_rules(n_rules, seed):
    """Return more rules than fit in a word of bits, and rows."""
    random = np.random.default_rng(seed)
    domain = plain_domain([4, 3, 5, 2])
    boxes = random.random((n_rules, int(domain.offsets[-1]))) < 0.8
    boxes[:, domain.offsets[:-1]] = True  # no feature without a value
    answers = random.integers(0, 3, n_rules)
    rules = RuleList.from_boxes(domain, boxes, answers, "a", ("a", "b", "c"))
    return rules, random.integers(0, domain.sizes, (500, 4)), random


@pytest.mark.parametrize("n_rules", [1, 63, 64, 65, 200])
def test_many_rules_that_overlap(n_rules):
    rules, codes, _ = many_rules(n_rules, n_rules)
    found = evaluate(rules, rules, rules.domain.decode(codes), samples=0)
    held = rules.boxes[:, codes + rules.domain.offsets[:-1]].all(axis=2).sum(axis=0)
    assert found.overlapping == (held > 1).sum()
    assert found.covering == held.sum()


@pytest.mark.parametrize("seed", range(5))
def test_numbers_equal_those_of_scikit_learn(seed):
    rules, codes, random = many_rules(6, seed)
    labels, answers = random.choice(rules.classes, (2, len(codes)))
    rows = rules.domain.decode(codes)
    found = evaluate(Answering(answers), rules, rows, labels, samples=0)
    given_ = rules.predict(rows)
    assert found.on_covered.fidelity == accuracy_score(answers, given_)
    assert found.on_covered.accuracy == accuracy_score(labels, given_)
    assert found.model_accuracy == accuracy_score(labels, answers)
    right = labels == answers
    assert found.on_covered.fidelity_where_right == accuracy_score(
        answers[right], given_[right]
    )
    assert found.on_covered.fidelity_where_wrong == accuracy_score(
        answers[~right], given_[~right]
    )
    for one in found.on_covered.by_class:
        only = {"labels": [one.label], "average": None, "zero_division": np.nan}
        assert one.fidelity == recall_score(answers, given_, **only)[0]
        assert one.recall == recall_score(labels, given_, **only)[0]
        [precision] = precision_score(labels, given_, **only)
        assert one.precision == (None if math.isnan(precision) else precision)


@settings(max_examples=60)
@given(networks(PIECEWISE_LINEAR), st.data())
def test_extracted_rules_have_a_fidelity_of_one(network, data):
    rows = network.domain.decode(data.draw(rows_of(network.domain).filter(len)))
    found = evaluate(network, extract(network, effort=0, form="rules"), rows)
    n_inputs = network.domain.n_inputs
    assert found.on_covered.fidelity == 1
    assert found.domain == DomainFidelity(1.0, 1.0, "counted", n_inputs, n_inputs)
    assert all(one.fidelity in (None, 1) for one in found.on_covered.by_class)


@settings(max_examples=60)
@given(networks(PIECEWISE_LINEAR), st.data())
def test_the_count_equals_brute_force(network, data):
    domain, classes = network.domain, network.classes
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    n_rules = data.draw(st.integers(0, 4))
    boxes = random.random((n_rules, int(domain.offsets[-1]))) < 0.7
    answers = random.integers(0, len(classes), n_rules)
    rules = RuleList.from_boxes(domain, boxes, answers, classes[0], classes)
    same = 0
    for codes in naive.inputs(domain.sizes):
        held = [
            k
            for k in range(n_rules)
            if all(boxes[k, domain.offsets[f] + c] for f, c in enumerate(codes))
        ]
        answer = answers[held[0]] if held else 0
        same += answer == naive.class_of(network, codes)
    found = evaluate(network, rules, every(domain)[:1]).domain
    assert (found.same, found.inputs) == (same, domain.n_inputs)
    assert found.low == found.high == same / domain.n_inputs


# The domain: how it is known


@pytest.fixture
def beyond_counting(monkeypatch):
    """Let every domain be too large to be counted."""
    monkeypatch.setattr(domain_fidelity, "COVERED_INPUTS", 0)


@settings(
    max_examples=30,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(network=relu_networks(max_inputs=40), seed=st.integers(0, 9))
def test_a_certificate_proves_and_without_it_a_sample_is_drawn(
    beyond_counting, network, seed
):
    rows, n_inputs = every(network.domain)[:1], network.domain.n_inputs
    for engine in ("auto", "search", "paper"):
        rules = extract(network, effort=0, engine=engine, form="rules")
        found = evaluate(network, rules, rows, samples=50, seed=seed).domain
        assert found == DomainFidelity(1.0, 1.0, "proved", n_inputs, n_inputs)
        bare = rules.replace(certificate={})
        found = evaluate(network, bare, rows, samples=50, seed=seed).domain
        assert (found.how, found.same, found.inputs) == ("sampled", 50, 50)
        assert (found.high, found.confidence) == (1.0, 0.95)


def test_a_large_domain_is_proved_by_its_certificate():
    network = looks_at_first([10] * 9, [1.0, -1.0] * 5)
    rules = extract(network, form="rules")
    found = evaluate(network, rules, [network.domain.input(0)], samples=200)
    assert found.domain == DomainFidelity(1.0, 1.0, "proved", 10**9, 10**9)
    assert str(found.domain) == "100% of 1,000,000,000 inputs (proved)"


def test_short_lists_have_a_proved_fidelity(beyond_counting):
    network, rows = car("network"), car("rows").rows
    rules = extract(network, effort=0, form="rules")
    for k in range(len(rules)):
        short = rules.top(k)
        found = evaluate(network, short, rows[:5], samples=500).domain
        wrong = nn2rules.check(network, short).different
        assert found.how == "proved"
        assert (found.same, found.inputs) == (1728 - wrong, 1728)
        assert found.low == found.high == (1728 - wrong) / 1728


def test_the_certificate_of_another_network_proves_nothing(beyond_counting):
    one, other = looks_at_first([3, 2], [1, -1, 1]), looks_at_first([3, 2], [1, -1, 2])
    rules, rows = extract(one, form="rules"), every(one.domain)
    assert evaluate(one, rules, rows).domain.how == "proved"
    assert evaluate(other, rules, rows).domain.how == "sampled"
    assert evaluate(other, rules, rows, samples=0).domain is None
    assert evaluate(one, rules, rows, samples=0).domain.how == "proved"


def test_a_certificate_that_claims_too_much_is_not_believed(beyond_counting):
    network = car("network")
    rules = extract(network, effort=0, form="rules")
    rows = car("rows").rows
    claimed = {k: v for k, v in rules.certificate.items() if k != "rules"}
    found = evaluate(
        network, rules.take([0, 1]).replace(certificate=claimed), rows, samples=300
    ).domain
    assert found.how == "sampled"
    assert found.same < found.inputs
    stopped = rules.replace(certificate={**rules.certificate, "complete": False})
    assert evaluate(network, stopped, rows, samples=300).domain.how == "sampled"


def test_rules_for_rows_are_proved_where_they_cover(beyond_counting):
    network, rows = car("network"), car("rows").rows[:40]
    rules = extract(network, scope="support", data=rows, effort=0)
    found = evaluate(network, rules, rows, samples=500)
    decided = 1728 - rules.certificate["uncovered"]
    assert (found.on_covered.fidelity, found.covered_share) == (1, 1)
    assert 0 < decided < 1728
    assert found.domain == DomainFidelity(
        1.0, 1.0, "proved", decided, 1728, uncovered=1728 - decided
    )
    assert str(found.domain) == (
        f"100% of {decided:,} covered inputs (proved); "
        f"{100 * decided / 1728:.1f}% of 1,728 inputs are covered"
    )
    shorter = rules.top(len(rules) - 1)
    fewer = evaluate(network, shorter, rows, samples=500).domain
    covered = int((shorter.apply(every(network.domain)) >= 0).sum())
    assert (fewer.how, fewer.low, fewer.covered) == ("proved", 1.0, covered)
    wrong = rules.replace(
        answers=1 - rules.answers,
        facts=rules.facts,
        certificate={k: v for k, v in rules.certificate.items() if k != "rules"},
    )
    assert evaluate(network, wrong, rows, samples=500).domain.how == "sampled"
    unknown = rules.replace(facts=None)
    assert evaluate(network, unknown, rows, samples=500).domain.how == "sampled"


def test_rules_for_every_row_there_is_are_proved(beyond_counting):
    network = looks_at_first([3, 2], [1, -1, 1])
    rules = extract(network, scope="support", data=every(network.domain), effort=0)
    assert rules.certificate["uncovered"] == 0
    found = evaluate(network, rules, every(network.domain)).domain
    assert found == DomainFidelity(1.0, 1.0, "proved", 6, 6)


def test_rules_for_rows_are_counted_where_they_can_be():
    network, rows = car("network"), car("rows").rows[:40]
    rules = extract(network, scope="support", data=rows, effort=0)
    found = evaluate(network, rules, rows).domain
    covered = 1728 - rules.certificate["uncovered"]
    assert (found.how, found.same, found.inputs) == ("counted", covered, 1728)
    assert (found.low, found.high, found.uncovered) == (1, 1, 1728 - covered)


# Rows that no rule covers

RED_ONLY = RuleList(TOMATOES, (RED,), "rotten", THREE.classes, scope="support")


def test_the_default_of_rules_for_rows_counts_apart():
    """On rows 0 and 1 the rule predicts ripe; the others have no prediction."""
    labels = ["ripe", "ripe", "rotten", "rotten", "rotten"]
    model = Answering(["ripe", "unripe", "rotten", "rotten", "unripe"])
    found = evaluate(model, RED_ONLY, ROWS, labels, samples=0)
    assert (found.n_rows, found.n_covered, found.n_uncovered) == (5, 2, 3)
    assert found.covered_share == 2 / 5
    assert (found.on_covered.fidelity, found.on_covered.accuracy) == (1 / 2, 1)
    assert (found.on_covered.model_accuracy, found.model_accuracy) == (1 / 2, 3 / 5)
    whole = found.with_unproved_default
    assert (whole.fidelity, whole.accuracy, whole.n_rows) == (3 / 5, 1, 5)
    rotten = found.on_covered.by_class[2]
    assert (rotten.n_rows, rotten.predicted, rotten.labelled) == (0, 0, 0)
    assert whole.by_class[2].predicted == 3
    given = RED_ONLY.predict(ROWS, uncovered="none")
    assert found.n_uncovered == sum(label is None for label in given)


def test_text_json_and_frame_name_the_default_as_unproved():
    labels = ["ripe", "ripe", "rotten", "rotten", "rotten"]
    found = evaluate(MODEL, RED_ONLY, ROWS, labels, samples=0)
    lines = dict(line.split("  ", 1) for line in str(found).splitlines()[:11])
    lines = {name: text.strip() for name, text in lines.items()}
    assert lines["covered"] == (
        "40.0% of rows (2 of 5); the other 3 have no prediction"
    )
    assert lines["fidelity"] == "50.0% of covered rows"
    assert lines["accuracy of the rules"] == "100% of covered rows"
    assert lines["accuracy of the model"] == "50.0% of covered rows; 20.0% of all rows"
    assert lines["with UNPROVED default"] == (
        "fidelity 20.0% of all rows, accuracy 100% of all rows"
    )
    document = json.loads(found.to_json())
    assert "fidelity" not in document
    assert document["scope"] == "support"
    assert document["covered_share"] == 0.4
    assert document["on_covered"]["fidelity"] == 0.5
    assert document["with_unproved_default"]["fidelity"] == 0.2
    frame = found.to_frame("polars")
    rows = dict(zip(frame["metric"], frame["value"], strict=True))
    assert not [name for name in rows if name.startswith(("fidelity", "accuracy"))]
    assert rows["on_covered.fidelity"] == 0.5
    assert rows["with_unproved_default.accuracy"] == 1
    assert rows["with_unproved_default.recall[rotten]"] == 1


def test_nothing_is_said_of_the_default_where_every_row_is_covered():
    found = evaluate(Answering(["ripe"] * 2), RED_ONLY, ROWS[:2], samples=0)
    assert found.with_unproved_default is None
    assert "UNPROVED" not in str(found)
    assert json.loads(found.to_json())["with_unproved_default"] is None


def test_no_row_is_covered():
    found = evaluate(Lookup(lambda _row: "ripe"), RED_ONLY, ROWS[-1:], ["ripe"])
    assert (found.covered_share, found.on_covered.fidelity) == (0, None)
    assert "fidelity                    – of covered rows" in str(found)
    json.loads(found.to_json())


def test_the_domain_leaves_out_what_is_not_covered():
    model = Lookup(lambda _row: "rotten")
    found = evaluate(model, RED_ONLY, ROWS).domain
    assert found == DomainFidelity(0.0, 0.0, "counted", 0, 9, uncovered=7)
    assert str(found) == (
        "0% of 2 covered inputs (counted); 22.2% of 9 inputs are covered"
    )
    drawn = evaluate(model, RED_ONLY, ROWS, samples=5).domain
    assert (drawn.how, drawn.inputs) == ("sampled", 5)
    covered = drawn.covered
    assert f"from the {covered} covered of 5 random inputs" in str(drawn)
    nothing = evaluate(model, RED_ONLY.take([]), ROWS).domain
    assert str(nothing) == "not measured: no rule covers any of 9 inputs"


def test_rules_that_do_not_cover_a_row_are_no_model_for_it():
    """Their default counted as the model's prediction."""
    text = refused(OptionError, RED_ONLY, THREE, ROWS)
    assert text == (
        "the model is a rule list that covers only 2 of 5 rows; give a model that "
        "predicts every row, or only the rows it covers"
    )
    assert evaluate(RED_ONLY, THREE, ROWS[:2]).domain is None


def test_inputs_that_cannot_occur_are_left_out(monkeypatch):
    network = car("network")
    impossible = [{"safety": ["high"], "doors": ["2", "3"]}]
    rules = extract(network, impossible=impossible, effort=0)
    rows = [row for row in car("rows").rows if row["safety"] != "high"]
    n_possible = 1728 * 5 // 6
    every_one, left_out = (n_possible, n_possible), {"impossible": 1728 - n_possible}
    found = evaluate(network, rules, rows).domain
    assert found == DomainFidelity(1.0, 1.0, "counted", *every_one, **left_out)
    assert str(found) == (
        "100% of 1,440 inputs (counted; 288 declared impossible, left out)"
    )
    origin = rules.replace(certificate={**rules.certificate, "network": "another"})
    found = evaluate(network, origin, rows).domain
    assert (found.inputs, found.impossible) == (1728, 0), "who says so is not known"
    monkeypatch.setattr(domain_fidelity, "COVERED_INPUTS", 0)
    found = evaluate(network, rules, rows, samples=2000).domain
    assert found == DomainFidelity(1.0, 1.0, "proved", *every_one, **left_out)
    assert evaluate(network, origin, rows, samples=2000).domain.inputs == 2000
    certificate = {k: v for k, v in rules.certificate.items() if k != "possible"}
    uncounted = rules.replace(certificate=certificate)
    found = evaluate(network, uncounted, rows, samples=2000).domain
    assert found.how == "sampled"
    assert found.same == found.inputs == 2000 - found.impossible < 2000
    assert "declared impossible, left out)" in str(found)


def of_network(network, **certificate):
    """Return rules that claim to be those of a network, and whatever else."""
    rules = extract(network, effort=0, form="rules")
    return rules.replace(certificate={**rules.certificate, **certificate})


def test_no_input_that_can_occur(monkeypatch):
    network = looks_at_first([3, 2], [1, -1, 1])
    rules = of_network(network, impossible=[{"f0": ["v0", "v1", "v2"]}], possible=0)
    assert evaluate(network, rules, every(network.domain)).domain is None
    monkeypatch.setattr(domain_fidelity, "COVERED_INPUTS", 0)
    assert evaluate(network, rules, every(network.domain), samples=2).domain is None


def test_rules_over_some_of_the_features():
    network = looks_at_first([3, 2, 2], [1.0, -1.0, 1.0])
    rule = Rule((Condition("f0", ("v0", "v2")),), "yes")
    rules = RuleList(plain_domain([3]), (rule,), "no", ("no", "yes"))
    found = evaluate(network, rules, every(network.domain)).domain
    assert found == DomainFidelity(1.0, 1.0, "counted", 12, 12)


def test_other_features_or_values_are_not_compared_in_the_domain():
    network = looks_at_first([3, 2], [1.0, -1.0, 1.0])
    rows = [{"f0": "v0", "f1": "v0", "f2": "v0"}]
    for shape in ([2, 2], [3, 2, 2]):
        rules = RuleList(plain_domain(shape), (), "yes", ("no", "yes"))
        found = evaluate(network, rules, rows)
        assert (found.on_covered.fidelity, found.domain) == (1.0, None)
        assert "not measured" in str(found)


def test_more_features_than_an_array_has_dimensions():
    network = looks_at_first([2] + [1] * 70, [1.0, -1.0])
    found = evaluate(
        network, extract(network, form="rules"), every(network.domain)
    ).domain
    assert found == DomainFidelity(1.0, 1.0, "counted", 2, 2)


def test_more_classes_than_a_table_holds():
    domain, classes = plain_domain([300]), tuple(range(300))
    network = Network(domain, (Layer(np.eye(300), [0.0] * 300, "softmax"),), classes)
    rules = RuleList(domain, (), 7, classes)
    found = evaluate(network, rules, [domain.input(7)], samples=1000).domain
    assert (found.how, found.inputs) == ("sampled", 1000)
    assert found.low < 1 / 300 < found.high


# Wilson's interval


@given(st.integers(1, 10**6), st.data())
def test_the_ends_are_as_far_as_95_percent_go(inputs, data):
    """They solve (share − p)² = z² p (1 − p) / n, by which Wilson defines them."""
    same = data.draw(st.integers(0, inputs))
    low, high = wilson(same, inputs)
    assert 0 <= low <= same / inputs <= high <= 1
    for end in (low, high):
        distance = (same / inputs - end) ** 2
        variance = 1.959963984540054**2 * end * (1 - end) / inputs
        assert math.isclose(distance, variance, rel_tol=1e-6, abs_tol=1e-12)
    assert (low == 0) == (same == 0)
    assert (high == 1) == (same == inputs)


def test_a_sample_of_nothing_says_nothing():
    assert wilson(0, 0) == (0.0, 1.0)


def test_the_same_seed_draws_the_same_inputs(beyond_counting):
    network = car("network")
    rules = extract(network, effort=0, form="rules").take([0]).replace(certificate={})
    rows = car("rows").rows[:3]
    found = [evaluate(network, rules, rows, samples=99, seed=s) for s in (1, 1, 2)]
    assert found[0] == found[1] != found[2]
    exact = 1 - Fraction(nn2rules.check(network, rules).different, 1728)
    assert found[0].domain.low < exact < found[0].domain.high


# Models that are no networks


def fitted(classifier):
    frame = car("rows").to_frame()
    rows, labels = frame.drop(columns="label"), frame["label"]
    return make_pipeline(OneHotEncoder(), classifier).fit(rows, labels), rows, labels


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_a_pipeline_is_compared_as_the_network_it_is():
    pipeline, rows, labels = fitted(MLPClassifier((4,), max_iter=30, random_state=0))
    found = evaluate(pipeline, extract(pipeline, effort=0, form="rules"), rows, labels)
    assert found.on_covered.fidelity == 1
    assert found.on_covered.accuracy == pipeline.score(rows, labels)
    assert found.domain == DomainFidelity(1.0, 1.0, "counted", 1728, 1728)


def test_a_model_that_no_adapter_reads_is_asked():
    tree, rows, labels = fitted(DecisionTreeClassifier(max_depth=3, random_state=0))
    rules = extract(car("network"), effort=0, form="rules")
    domain = rules.domain
    inputs = pd.DataFrame(every(domain))
    same = int((tree.predict(inputs) == rules.predict(inputs)).sum())
    found = evaluate(tree, rules, rows, labels, samples=1728)
    assert found.domain.how == "counted"
    assert (found.domain.same, found.domain.inputs) == (same, 1728)
    sampled = evaluate(tree, rules, rows, labels, samples=1000).domain
    assert (sampled.how, sampled.inputs) == ("sampled", 1000)
    assert sampled.low < same / 1728 < sampled.high
    assert evaluate(tree, rules, rows, labels, samples=0).domain is None


def test_rules_can_be_compared_with_rules():
    other = THREE.replace(default="ripe")
    for rows in (ROWS, pd.DataFrame(ROWS)):
        found = evaluate(other, THREE, rows)
        assert found.on_covered.fidelity == 4 / 5
        assert found.domain == DomainFidelity(6 / 9, 6 / 9, "counted", 6, 9)


NUMBERS = RuleList(
    Domain((Feature("size", (1, 2, None)),)),
    (Rule((Condition("size", (1,)),), "yes"),),
    "no",
    ("no", "yes"),
)


def test_inputs_are_spelled_as_the_rows_are():
    """A model of text must not be asked about numbers."""
    model = Lookup(lambda row: {"1": "yes", "2": "no", "": "yes"}[row["size"]])
    rows = [{"size": "1"}, {"size": "2"}, {"size": ""}]
    found = evaluate(model, NUMBERS, rows)
    assert found.domain == DomainFidelity(2 / 3, 2 / 3, "counted", 2, 3)
    assert evaluate(model, NUMBERS, rows[:2]).domain is None


def test_values_that_no_row_shows_are_spelled_as_in_the_domain():
    model = Lookup(lambda row: {1: "yes", 2: "no", None: "no"}[row["size"]])
    found = evaluate(model, NUMBERS, [{"size": 1}])
    assert found.domain == DomainFidelity(1.0, 1.0, "counted", 3, 3)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_are_made_like_those_given(frame):
    kinds = []

    class Model:
        def predict(self, rows):
            kinds.append((type(rows), list(rows.columns), len(rows)))
            return ["ripe"] * len(rows)

    rows = frame([{"size": "big", "color": "red"}])
    evaluate(Model(), THREE, rows)
    assert kinds == [(frame, ["size", "color"], 1), (frame, ["size", "color"], 9)]


def test_columns_that_are_no_features_cannot_be_made_up():
    for rows in ([{**ROWS[0], "id": 7}], pd.DataFrame([{**ROWS[0], "id": 7}])):
        found = evaluate(Answering(["ripe"]), THREE, rows)
        assert (found.on_covered.fidelity, found.domain) == (1.0, None)


# Text, JSON, frames


def test_the_text():
    found = evaluate(MODEL, THREE, ROWS, LABELS, samples=0)
    assert str(found).splitlines() == [
        "rules                       3; 1.3 conditions each, 2 at most; "
        "1.2 values in a condition",
        "rows                        5; 80.0% determined by a rule",
        "covered                     100% of rows",
        "overlap                     40.0% of rows; 1.2 rules cover a row",
        "fidelity                    60.0% of rows",
        "  where the model is right  66.7% of 3 rows",
        "  where it is wrong         50.0% of 2 rows",
        "  in the domain             not measured",
        "accuracy of the rules       60.0% of rows",
        "accuracy of the model       60.0% of rows",
        "",
        "class   rules  rows  fidelity  recall  precision",
        "unripe      1     3     33.3%      0%         0%",
        "ripe        2     2      100%   75.0%       100%",
        "rotten      0     0         –       –         0%",
        "",
        "first rules          1      2      3",
        "rows determined  40.0%  60.0%  80.0%",
        "",
        "rows determined  90%  95%  99%  100%",
        "rules needed       –    –    –     –",
    ]


def test_text_without_labels_has_no_accuracy():
    text = str(evaluate(MODEL, THREE, ROWS, samples=0))
    for word in ("accuracy", "recall", "where"):
        assert word not in text


def test_almost_all_rows_are_not_all():
    domain = plain_domain([2])
    rules = RuleList(domain, (), "no", ("no", "yes"))
    rows = [{"f0": "v0"}] * 3000
    answers = ["yes"] + ["no"] * 2999
    text = str(evaluate(Answering(answers), rules, rows, samples=0))
    assert "fidelity         > 99.9% of rows" in text
    assert "100" not in text.splitlines()[4]


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (DomainFidelity(0.9999, 1.0, "sampled", 7, 7, 0.95), "99.9% to 100% with"),
        (DomainFidelity(0.5, 0.99999, "sampled", 7, 9, 0.95), "50.0% to > 99.9% w"),
        (DomainFidelity(0.0, 0.0004, "sampled", 0, 9, 0.95), "0% to 0.1% with 95%"),
        (DomainFidelity(0.98765, 0.98765, "sampled", 7, 8, 0.95), "98.7% to 98.8%"),
    ],
)
def test_bounds_are_rounded_outwards(found, text):
    assert str(found).startswith(text)


def test_a_share_of_very_many_inputs_is_below_one(beyond_counting):
    """One in 10^20 is below what float64 tells from none."""
    network = looks_at_first([10] * 20, [1.0] * 9 + [-1.0])
    rules = extract(network, form="rules")
    cut = rules.replace(certificate={**rules.certificate, "different": 1})
    found = evaluate(network, cut, [network.domain.input(0)], samples=10).domain
    assert (found.how, found.same) == ("proved", 10**20 - 1)
    assert found.low == found.high < 1
    assert str(found).startswith("> 99.9%")


def test_json_holds_every_number():
    found = evaluate(MODEL, THREE, ROWS, LABELS, samples=0)
    text = found.to_json()
    assert text == evaluate(MODEL, THREE, ROWS, LABELS, samples=0).to_json()
    document = json.loads(text)
    assert document["n_rows"] == 5
    assert document["on_covered"]["fidelity"] == 0.6
    assert document["on_covered"]["fidelity_where_right"] == 2 / 3
    assert document["determined_by_first"] == {"1": 0.4, "2": 0.6, "3": 0.8}
    assert document["rules_for"] == {
        "0.9": None,
        "0.95": None,
        "0.99": None,
        "1.0": None,
    }
    assert document["on_covered"]["by_class"][1] == {
        "label": "ripe",
        "n_rules": 2,
        "n_rows": 2,
        "same": 2,
        "fidelity": 1.0,
        "predicted": 3,
        "labelled": 4,
        "right": 3,
        "recall": 0.75,
        "precision": 1.0,
    }
    assert document["domain"] is None


@settings(max_examples=50)
@given(rule_lists(), st.data())
def test_json_text_and_frame_of_anything(rules, data):
    codes = data.draw(rows_of(rules.domain).filter(len))
    labels = data.draw(st.none() | st.just([rules.classes[0]] * len(codes)))
    model = Lookup(lambda _row: rules.classes[0])
    found = evaluate(model, rules, rules.domain.decode(codes), labels)
    document = json.loads(found.to_json())
    assert [one["label"] for one in document["on_covered"]["by_class"]] == list(
        rules.classes
    )
    assert document["domain"]["how"] == "counted"
    assert "NaN" not in found.to_json()
    frame = found.to_frame("polars")
    assert frame["metric"].is_unique().all()
    assert len(str(found).splitlines()) >= 7 + len(rules.classes)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames(backend):
    found = evaluate(THREE, THREE, ROWS, LABELS)
    frame = found.to_frame(backend)
    assert type(frame).__module__.partition(".")[0] == backend
    rows = dict(zip(*(list(map(plain, frame[c])) for c in COLUMNS), strict=True))
    assert rows["on_covered.fidelity"] == 1
    assert rows["on_covered.accuracy"] == 0.6
    assert rows["n_rules"] == 3
    assert rows["determined_by_first[2]"] == 0.6
    assert rows["on_covered.recall[ripe]"] == 0.75
    assert rows["domain_low"] == rows["domain_confidence"] == 1
    missing = rows["on_covered.recall[rotten]"]
    assert missing is None or math.isnan(missing)


COLUMNS = ("metric", "value")


def plain(cell):
    return cell.as_py() if hasattr(cell, "as_py") else cell


def test_frames_of_other_libraries(monkeypatch):
    found = evaluate(MODEL, THREE, ROWS, samples=0)
    with pytest.raises(OptionError) as error:
        found.to_frame("excel")
    assert str(error.value) == (
        "backend: 'excel', expected 'pandas', 'polars' or 'pyarrow'"
    )

    def absent(*_args, **_options):
        raise ModuleNotFoundError

    monkeypatch.setattr(output_result.nw, "from_dict", absent)
    with pytest.raises(MissingExtraError) as missing:
        found.to_frame("polars")
    assert 'pip install ".[polars]"' in str(missing.value)


# Mistakes


def refused(kind, *args, **options):
    with pytest.raises(kind) as error:
        evaluate(*args, **options)
    return str(error.value)


@pytest.mark.parametrize("rows", [[], pd.DataFrame(columns=["color", "size"])])
def test_no_rows(rows):
    assert refused(RowsError, MODEL, THREE, rows) == (
        "there are no rows to evaluate; give at least one"
    )


def test_rows_that_do_not_fit():
    text = refused(RowsError, MODEL, THREE, [{"color": "red"}])
    assert text == (
        "row 0: the feature 'size' is missing; the columns found are 'color'"
    )
    refused(UnknownValueError, MODEL, THREE, [{"color": "blue", "size": "big"}])
    network = looks_at_first([2], [1.0, -1.0], THREE.classes[:2])
    assert "'f0' is missing" in refused(RowsError, network, THREE, ROWS)


def test_labels_that_do_not_fit():
    assert refused(OptionError, MODEL, THREE, ROWS, LABELS[:4]) == (
        "y: 4 labels for 5 rows, expected one for each"
    )
    assert refused(OptionError, MODEL, THREE, ROWS, [*LABELS[:4], "blue"]) == (
        "y: the label 'blue' is not a class; the classes are unripe, ripe, rotten"
    )
    assert refused(OptionError, MODEL, THREE, ROWS, np.array([LABELS])) == (
        "y: an array of shape (1, 5), expected one class label for each row"
    )
    assert refused(OptionError, MODEL, THREE, ROWS, "ripe!") == (
        "y: a string, expected one class label for each row"
    )
    assert refused(OptionError, MODEL, THREE, ROWS, [[label] for label in LABELS]) == (
        "y: row 0 has ['ripe'], expected one label"
    )


def test_answers_that_do_not_fit():
    assert refused(OptionError, Answering(["ripe"] * 4), THREE, ROWS) == (
        "the model's predictions: 4 labels for 5 rows, expected one for each"
    )
    text = refused(OptionError, Answering(np.array([0.5] * 5)), THREE, ROWS)
    assert text == (
        "the model's predictions: the label 0.5 is not a class; "
        "the classes are unripe, ripe, rotten"
    )
    text = refused(OptionError, Answering(np.ones((5, 3))), THREE, ROWS)
    assert "an array of shape (5, 3), expected one class label" in text
    network = Network(TOMATOES, looks_at_first([3, 3], [1]).layers, ("ripe", "raw"))
    assert "the label 'raw' is not a class" in refused(
        OptionError, network, THREE, ROWS
    )


@pytest.mark.parametrize("model", ["network.json", None, [1, 2, 3, 4, 5]])
def test_models_without_predict(model):
    assert refused(UnsupportedModelError, model, THREE, ROWS) == (
        f"the model is a {type(model).__name__}, which has no predict method; give a "
        f"Network, or a model whose predict(X) returns class labels"
    )


def test_options_that_make_no_sense():
    assert refused(OptionError, THREE, car("network"), ROWS) == (
        "rules: a Network, expected a RuleList or a Scorecard; evaluate takes the "
        "model, then its description, then the rows"
    )
    for name in ("samples", "seed"):
        text = refused(OptionError, MODEL, THREE, ROWS, **{name: -1})
        assert text == f"{name}: -1, expected a whole number from 0 on"
    found = evaluate(MODEL, THREE, ROWS, samples=0)
    for share in (-0.1, 1.1, math.nan):
        with pytest.raises(OptionError, match="expected 0 to 1"):
            found.rules_for(share)
    for k in (-1, 0.5, "2"):
        with pytest.raises(OptionError, match="expected a whole number from 0 on"):
            found.determined_by(k)


@pytest.mark.parametrize(
    "listed", [[{"taste": ["sweet"]}], ["v0"], [{"f0": 3}], [{"f0": ["blue"]}], [[1]]]
)
def test_impossible_inputs_of_another_domain_are_refused(listed):
    network = looks_at_first([3, 2], [1, -1, 1])
    rules = of_network(network, impossible=listed)
    text = refused(OptionError, network, rules, every(network.domain))
    assert "impossible inputs that are not of their domain" in text


def test_labels_may_be_a_generator():
    found = evaluate(MODEL, THREE, ROWS, (label for label in LABELS), samples=0)
    assert found.on_covered.accuracy == 0.6
    assert refused(OptionError, MODEL, THREE, ROWS, 7) == (
        "y: a int, expected one class label for each row"
    )


# Certificates


def test_no_part_of_a_list_is_proved(beyond_counting):
    """An empty list was "100% of 100,000,000 inputs (proved)"."""
    network = looks_at_first([10] * 8, [1.0, -1.0] * 5)
    rules, rows = extract(network, form="rules"), [network.domain.input(0)]
    assert evaluate(network, rules, rows, samples=50).domain.how == "proved"
    edited = (
        rules.take([]),
        rules.take([0]) if len(rules) > 1 else rules.replace(boxes=~rules.boxes),
        rules.replace(default="yes" if rules.default == "no" else "no"),
        rules.replace(answers=1 - rules.answers),
        rules.replace(boxes=np.ones_like(rules.boxes)),
        rules.replace(scope="support"),
    )
    for other in edited:
        assert other.certificate == {}
        assert evaluate(network, other, rows, samples=50).domain.how == "sampled"
        assert evaluate(network, other, rows, samples=0).domain is None
