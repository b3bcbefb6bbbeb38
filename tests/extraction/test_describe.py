from dataclasses import replace
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from mpmath import mp
from tables import SMALL, Table, domain_of, first, network_of, tables

import naive
import ranged
from nn2rules import (
    Domain,
    Feature,
    Layer,
    Network,
    OptionError,
    RuleList,
    UndecidedError,
    extract,
)
from nn2rules.engine import Meter
from nn2rules.errors import InternalError
from nn2rules.extraction.describe import describe_search, describe_table
from nn2rules.extraction.from_table import by_table
from nn2rules.extraction.from_table.packing import DONT_CARE
from nn2rules.extraction.ordering import in_order, readable
from nn2rules.extraction.paper import by_engine
from nn2rules.language.text import condition_text
from nn2rules.rules.data_rows import GivenRows, with_rows
from strategies import PIECEWISE_LINEAR, SMOOTH, networks, rows_of, rule_lists

FORMS = ("list", "set")


# Inputs


@settings(max_examples=150)
@given(tables(shapes=SMALL, dont_care=False), st.sampled_from(FORMS), st.booleans())
def test_inputs_are_counted(table, form, ordered):
    rules = extract(network_of(table, ordered=ordered), form=form, effort=0)
    fired = first(rules.boxes, table.sizes)
    counted = [int((fired == index).sum()) for index in range(len(rules))]
    assert [rule.inputs for rule in rules.rules] == counted
    assert sum(counted) + int((fired < 0).sum()) == len(table.classes)


@settings(max_examples=100)
@given(rule_lists(max_inputs=30), st.randoms(use_true_random=False))
def test_inputs_of_any_rules_are_counted(rules, random):
    """Not only of rules that were made for the network; some inputs cannot occur."""
    rules = rules.replace(form="list")  # those of a set would be true on their own
    weights = np.zeros((int(rules.domain.offsets[-1]), len(rules.classes)))
    layer = Layer(weights, np.zeros(len(rules.classes)), "softmax")
    network = Network(rules.domain, (layer,), rules.classes)
    sizes = rules.domain.sizes
    fired = first(rules.boxes, sizes)
    possible = np.array([random.random() < 0.7 for _ in fired], dtype=np.bool_)
    answers = np.append(rules.answers, rules.classes.index(rules.default))
    for chosen in (np.ones(len(fired), dtype=np.bool_), possible):
        table = np.where(chosen, answers[fired], DONT_CARE).astype(np.uint8)
        found = describe_table(network, rules, table)
        expected = [int((fired[chosen] == i).sum()) for i in range(len(rules))]
        assert [facts.inputs for facts in found] == expected
        for facts in found:
            assert (facts.probability is None) == (facts.inputs == 0)


# Probabilities


def exact_scores(network, codes):
    """Return the scores as mpmath numbers, inside `mp.workprec`."""
    if not naive.is_piecewise_linear(network):
        return naive.smooth_scores(network, codes)
    found = naive.scores(network, codes)
    return [mp.mpf(score.numerator) / score.denominator for score in found]


def probability(network, codes, index):
    """Return the exact probability of class `index`."""
    scores = exact_scores(network, codes)
    if len(scores) == 1:
        return 1 / (1 + mp.exp(-scores[0] if index == 1 else scores[0]))
    return 1 / mp.fsum(mp.exp(score - scores[index]) for score in scores)


def check_probabilities(network, rules, slack=2**-30):
    sizes = network.domain.sizes
    fired = first(rules.boxes, sizes).tolist()
    with mp.workprec(600):
        seen = {}
        for codes, index in zip(naive.inputs(sizes), fired, strict=True):
            if index >= 0:
                value = probability(network, codes, int(rules.answers[index]))
                seen.setdefault(index, []).append(value)
        for index, found in seen.items():
            low, high = rules.rules[index].probability
            assert 0 <= low <= min(found)
            assert max(found) <= high <= 1
            if slack is not None:
                assert min(found) - low <= slack
                assert high - max(found) <= slack


MILD = ("integers", "signs", "zeros", "dyadic", "decimal")


@settings(max_examples=120)
@given(networks(PIECEWISE_LINEAR, max_inputs=12, palettes=MILD), st.sampled_from(FORMS))
def test_probabilities_are_held_and_reached(network, form):
    rules = extract(network, form=form, engine="table", effort=0)
    check_probabilities(network, rules)


@settings(max_examples=40)
@given(networks(SMOOTH, max_inputs=6, palettes=MILD), st.sampled_from(FORMS))
def test_probabilities_of_smooth_networks(network, form):
    try:
        rules = extract(network, form=form, engine="table", effort=0)
    except UndecidedError:
        reject()
    check_probabilities(network, rules)


@settings(max_examples=60)
@given(
    networks(PIECEWISE_LINEAR, max_inputs=8, palettes=("cancelling",)),
    st.sampled_from(FORMS),
)
def test_probabilities_of_scores_that_cancel(network, form):
    """Ranges may be wide here, and must still hold."""
    rules = extract(network, form=form, engine="table", effort=0)
    check_probabilities(network, rules, slack=None)


@pytest.mark.parametrize("score", [-800.0, -740.0, 740.0, 800.0])
@pytest.mark.parametrize("engine", ["table", "search"])
def test_probabilities_that_are_all_but_certain(score, engine):
    """No score makes a class impossible: the range holds 1e-348, and 1 less that."""
    layer = Layer([[score], [-score]], [0.0], "sigmoid")
    network = Network(domain_of((2,)), (layer,), ("no", "yes"))
    for target in ("no", "yes"):
        rules = extract(network, form="set", target=target, engine=engine)
        check_probabilities(network, rules)


def test_probabilities_of_equal_large_scores():
    """The three scores are equal, so each class has a third."""
    layer = Layer(np.zeros((2, 3)), [1e16, 1e16, 1e16], "softmax")
    network = Network(domain_of((2,)), (layer,), ("a", "b", "c"))
    box = np.ones((1, 2), dtype=np.bool_)
    rules = RuleList.from_boxes(network.domain, box, [0], "b", network.classes)
    low, high = describe_table(network, rules, np.zeros(2, np.uint8))[0].probability
    assert low <= Fraction(1, 3) <= high


@pytest.mark.parametrize("form", FORMS)
def test_scores_beyond_float64_have_no_narrow_range(form):
    """Two layers of 1e300 give 1e600, whose class is certain all the same."""
    one = Layer([[-1e300], [1e300], [0.0]], [1e300], "relu")
    network = Network(
        domain_of((3,)), (one, Layer([[1e300]], [0.0], "sigmoid")), ("no", "yes")
    )
    rules = extract(network, form=form, engine="table")
    codes = np.array([[0], [1], [2]])
    assert rules.predict_codes(codes).tolist() == [0, 1, 1]
    for rule in rules.rules:
        assert rule.probability is None or min(rule.probability) >= 0


@settings(max_examples=60)
@given(networks(PIECEWISE_LINEAR, max_inputs=12, palettes=MILD))
def test_searched_probabilities_hold(network):
    rules = extract(network, engine="table", effort=0)
    found = describe_search(network, rules, Meter())
    if network.is_binary:
        check_probabilities(network, rules.replace(facts=found), slack=None)
    else:
        assert all(facts.probability is None for facts in found)


# Rows


@settings(max_examples=100)
@given(rule_lists(max_inputs=30), st.data())
def test_support_and_accuracy(rules, data):
    codes = data.draw(rows_of(rules.domain))
    labels = [data.draw(st.sampled_from(rules.classes)) for _ in codes]
    rows = rules.domain.decode(codes)
    fired = [naive.first_match(rules, row) for row in rows]
    for given_labels in (None, labels):
        truth = None
        if given_labels is not None:
            truth = rules.positions(given_labels, len(codes))
        found = with_rows(rules, GivenRows(rules.domain, codes, labels=truth))
        for index, rule in enumerate(found.rules):
            own = [label for f, label in zip(fired, labels, strict=True) if f == index]
            assert rule.support == len(own)
            if given_labels is None or not own:
                assert rule.accuracy is None
            else:
                right = sum(naive.same(label, rule.then) for label in own)
                assert rule.accuracy == right / len(own)
        assert found.boxes.tolist() == rules.boxes.tolist()
        assert [r.inputs for r in found.rules] == [r.inputs for r in rules.rules]


@pytest.mark.parametrize("scope", ["domain", "support"])
def test_labels_reach_the_rules(scope):
    table = Table(np.array([1, 0, 0, 1, 1, 0], dtype=np.uint8), (3, 2), 2)
    network = network_of(table)
    codes = table.inputs[[0, 0, 0, 3, 4, 4, 1]]
    labels = ["class 1", "class 0", "class 1", "class 1", "class 0", "class 0", "0"]
    labels[-1] = "class 0"
    rows = network.domain.decode(codes)
    rules = extract(network, data=rows, labels=labels, scope=scope)
    truth = rules.positions(labels, len(codes))
    expected = with_rows(rules, GivenRows(rules.domain, codes, labels=truth))
    assert rules.facts == expected.facts
    total = sum(rule.accuracy * rule.support for rule in rules.rules if rule.support)
    fired = rules.apply(rows) >= 0
    hits = (rules.predict(rows) == np.array(labels))[fired].sum()
    assert round(total, 9) == hits
    assert "labels agree" in rules.text(width=120)


def test_labels_may_be_text():
    layer = Layer([[1.0], [-1.0]], [0.0], "sigmoid")
    network = Network(domain_of((2,)), (layer,), (0, 1))
    rows = network.domain.decode([[0], [0], [1]])
    rules = extract(network, data=rows, labels=["1", "0", "0"], form="rules")
    same = extract(network, data=rows, labels=[1, 0, 0], form="rules")
    assert rules.facts == same.facts


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", "a", "z"], "the label 'z' is not a class; the classes are a, b"),
        (["a", "a"], "2 labels for 3 rows, expected one for each"),
        ([], "0 labels for 3 rows, expected one for each"),
    ],
)
def test_labels_that_do_not_fit(labels, message):
    layer = Layer([[1.0], [-1.0]], [0.0], "sigmoid")
    network = Network(domain_of((2,)), (layer,), ("a", "b"))
    with pytest.raises(OptionError) as error:
        extract(
            network,
            data=network.domain.decode([[0], [0], [1]]),
            labels=labels,
            form="rules",
        )
    assert str(error.value) == message


# Reading


@settings(max_examples=200)
@given(rule_lists(max_inputs=30), st.randoms(use_true_random=False))
def test_readable_conditions_determine_the_same(rules, random):
    sizes = rules.domain.sizes
    before = first(rules.boxes, sizes)
    possible = np.array([random.random() < 0.8 for _ in before], dtype=np.bool_)
    for known in (None, possible):
        shown = readable(rules, known)
        chosen = np.ones(len(before), dtype=np.bool_) if known is None else known
        assert (first(shown.boxes, sizes) == before)[chosen].all()
        assert not (shown.boxes & ~rules.boxes).any()
        for rule, old in zip(shown.rules, rules.rules, strict=True):
            named = {condition.feature for condition in old.conditions}
            assert {condition.feature for condition in rule.conditions} <= named


def test_a_single_value_is_preferred_to_an_exclusion():
    """The second rule is only ever asked about v1."""
    domain = domain_of((3,))
    boxes = np.array([[True, False, False], [True, True, False]])
    rules = RuleList.from_boxes(domain, boxes, [1, 0], "b", ("a", "b"))
    assert readable(rules).boxes.tolist() == [
        [True, False, False],
        [False, True, False],
    ]


def test_a_range_is_preferred_to_a_set():
    domain = domain_of((5,), ordered=True)
    boxes = np.array(
        [[False, False, False, True, True], [True, True, True, False, True]]
    )
    rules = RuleList.from_boxes(domain, boxes, [1, 0], "b", ("a", "b"))
    assert readable(rules).boxes[1].tolist() == [True, True, True, False, False]


def said(feature, allowed, needed):
    """Return what a rule says that allows some values and needs fewer."""
    boxes = np.array([[value not in needed for value in feature.values]] * 2)
    boxes[1] = [value in allowed for value in feature.values]
    rules = RuleList.from_boxes(Domain((feature,)), boxes, [1, 0], "b", ("a", "b"))
    [condition] = readable(rules).rules[1].conditions
    return condition_text(feature, condition.values)


def test_the_most_readable_condition_is_chosen():
    number = Feature("x", (1, 2, 3, 4, 5, None), ordered=True)
    assert said(number, (1, 2, 3, 4), (2, 3)) == "x ≤ 3"
    assert said(number, (2, 3, 4, 5, None), (3, 4)) == "x ≥ 3"
    assert said(number, (2, 3, 4), (2, 4)) == "2 ≤ x ≤ 4"
    assert said(number, (1, 2, 3), (2,)) == "x = 2"
    assert said(number, (1, 2, 3, None), (1, 2, None)) == "(x ≤ 2 or x is missing)"
    labels = ("17–25", "26–41", "42–65", "66+")
    age = Feature("age", ("a", "b", "c", "d"), ordered=True, labels=labels)
    assert said(age, ("a", "b", "d"), ("b",)) == "age ≤ 41"
    assert said(age, ("b", "c"), ("b",)) == "26 ≤ age ≤ 41"
    word = Feature("w", ("a", "b", "c", "d", "e"))
    assert said(word, ("a", "b", "c"), ("a", "b")) == "w in {a, b}"
    assert said(word, ("a", "b", "c", "d"), ("a", "b")) == "w ≠ e"
    first = Feature("m", (None, 1, 2, 3), ordered=True)
    assert said(first, (None, 1, 2), (1, 2)) == "(m ≤ 2 or m is missing)"


# Order


@settings(max_examples=400)
@given(rule_lists(max_inputs=30), st.data())
def test_order_never_changes_a_prediction(rules, data):
    weights = np.array([data.draw(st.integers(0, 5)) for _ in rules.boxes], dtype=float)
    moved = in_order(rules, weights)
    every = np.array(naive.inputs(rules.domain.sizes))
    assert moved.predict_codes(every).tolist() == rules.predict_codes(every).tolist()
    kept = sorted(zip(map(bytes, moved.boxes), moved.answers.tolist(), strict=True))
    given_ = sorted(zip(map(bytes, rules.boxes), rules.answers.tolist(), strict=True))
    assert kept == given_


@settings(max_examples=200)
@given(rule_lists(max_inputs=30), st.data())
def test_rules_move_as_far_as_they_may(rules, data):
    """A rule behind a lighter one must not overtake, or must wait for one that may."""
    weights = np.array([data.draw(st.integers(0, 5)) for _ in rules.boxes], dtype=float)
    with patch.object(RuleList, "take", lambda _rules, positions: positions):
        order = in_order(rules, weights)
    sizes = rules.domain.sizes
    from_ = {place: index for index, place in enumerate(order)}
    inside = [
        {i for i, codes in enumerate(naive.inputs(sizes)) if _holds(rules, r, codes)}
        for r in range(len(rules))
    ]
    for later in range(len(rules)):
        for sooner in range(later):
            if rules.answers[later] != rules.answers[sooner] and (
                inside[later] & inside[sooner]
            ):
                assert from_[sooner] < from_[later]
    for place in range(len(order) - 1):
        one, two = order[place], order[place + 1]
        if weights[one] < weights[two]:
            assert one < two
            assert rules.answers[one] != rules.answers[two]
            assert inside[one] & inside[two]


def _holds(rules, index, codes):
    columns = rules.domain.offsets[:-1] + np.array(codes)
    return bool(rules.boxes[index][columns].all())


def test_rules_that_determine_most_come_first():
    """Nothing stands between these rules of one class."""
    classes = np.array([1] * 1 + [0] + [1] * 3 + [0] + [1] * 4, dtype=np.uint8)
    table = Table(np.concatenate([classes, 1 - classes, classes]), (3, 10), 2)
    rules = extract(network_of(table), form="set")
    inputs = [rule.inputs for rule in rules.rules]
    assert inputs[0] == max(inputs)
    assert len(inputs) > 1
    rows = network_of(table).domain.decode(table.inputs[[1, 1, 1, 5, 11, 12]])
    rules = extract(network_of(table), form="set", target="class 0", data=rows)
    support = [rule.support for rule in rules.rules]
    assert support[0] == max(support) > 0


# The check of the result


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scope", ["domain", "support"])
def test_rules_that_are_wrong_are_never_returned(form, scope, monkeypatch):
    """Whatever goes wrong on the way, the result is compared with the table."""
    table = Table(np.array([1, 0, 0, 1, 1, 0], dtype=np.uint8), (3, 2), 2)
    network = network_of(table)
    rows = network.domain.decode(table.inputs)
    extract(network, rows, form=form, scope=scope)

    def broken(*args):
        found = cover(*args)
        return replace(found, classes=1 - found.classes)

    cover = by_table._cover
    monkeypatch.setattr(by_table, "_cover", broken)
    with pytest.raises(InternalError, match="this is a bug in nn2rules"):
        extract(network, rows, form=form, scope=scope)


def test_papers_rules_that_are_wrong_are_never_returned(monkeypatch):
    network = network_of(Table(np.array([1, 0, 0, 1], dtype=np.uint8), (2, 2), 2))
    monkeypatch.setattr(by_engine, "table_prefixes", lambda *_: [(0,)])
    with pytest.raises(InternalError, match="the rules and the network disagree"):
        extract(network, form="paper", engine="table")


def test_questions_are_counted_by_search():
    table = Table(np.array([1, 0, 0, 1, 1, 0], dtype=np.uint8), (3, 2), 2)
    rows = network_of(table).domain.decode(table.inputs)
    rules = extract(network_of(table), rows, scope="support", engine="search")
    assert rules.certificate["questions"] > 0


@pytest.mark.parametrize("seed", [2, 4])
def test_probabilities_of_proved_rules_are_on_their_side_of_the_threshold(seed):
    """Bounds alone are too wide for that, as a rule may end near to a tie."""
    domain = ranged.mixed_domain()
    network = ranged.random_network(np.random.default_rng(seed), domain, units=12)
    rows = ranged.random_rows(np.random.default_rng(6), domain, 60)
    rules = extract(network, rows, scope="support", progress=False)
    assert {rule.then for rule in rules} == set(network.classes)
    for rule in rules:
        low, high = rule.probability
        assert np.nextafter(0.5, 0) <= low <= high
