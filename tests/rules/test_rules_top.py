import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from nn2rules import (
    Condition,
    Layer,
    Network,
    OptionError,
    Rule,
    RuleList,
    check,
    datasets,
    extract,
    load,
)
from strategies import PIECEWISE_LINEAR, networks, plain_domain, rows_of, rule_lists

FORMS = ("list", "set")
MILD = ("integers", "signs", "dyadic", "decimal")
TOMATO = load(datasets.network_file("tomato"))


def every_input(rules):
    return np.array(naive.inputs(rules.domain.sizes))


def differences(rules, network):
    """Count the inputs on which rules and network differ, one by one."""
    return sum(
        answer != naive.class_of(network, codes)
        for answer, codes in zip(
            rules.predict_codes(every_input(rules)).tolist(),
            naive.inputs(network.domain.sizes),
            strict=True,
        )
    )


def random_network(seed, sizes=(3, 4, 3), outputs=1):
    """Return a network of small whole numbers whose list has several rules."""
    rng = np.random.default_rng([77, seed])
    one = Layer(rng.integers(-4, 5, (sum(sizes), 5)), rng.integers(-2, 3, 5), "relu")
    last = rng.integers(-4, 5, (5, outputs))
    bias = rng.integers(-4, 5, outputs)
    two = Layer(last, bias, "sigmoid" if outputs == 1 else "softmax")
    return Network(
        plain_domain(list(sizes)), (one, two), ("a", "b", "c")[: max(2, outputs)]
    )


# top


@settings(max_examples=100)
@given(networks(PIECEWISE_LINEAR, max_inputs=12, palettes=MILD), st.sampled_from(FORMS))
def test_the_fidelity_of_the_first_rules_is_counted(network, form):
    rules = extract(network, form=form, effort=0)
    counted = []
    for k in range(len(rules) + 1):
        top = rules.top(k)
        assert len(top) == k
        assert top.boxes.tolist() == rules.boxes[:k].tolist()
        assert top.answers.tolist() == rules.answers[:k].tolist()
        assert top.facts == rules.facts[:k]
        counted.append(top.certificate["different"])
        assert counted[-1] == differences(top, network)
    assert counted == sorted(counted, reverse=True)
    assert counted[-1] == 0
    assert rules.top(len(rules) + 3) == rules


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_no_other_default_is_better(seed, outputs):
    network = random_network(seed, outputs=outputs)
    rules = extract(network, effort=0, form="rules")
    for k in range(len(rules)):
        top = rules.top(k)
        for default in rules.classes:
            other = top.replace(default=default)
            assert differences(other, network) >= top.certificate["different"]


def test_what_is_cut_short_says_so():
    network = random_network(1)
    rules = extract(network, form="rules")
    top = rules.top(1)
    assert top.certificate["method"] == f"the first 1 of {len(rules)} rules"
    different = differences(top, network)
    assert different > 0
    text = top.text(width=200).splitlines()[0]
    assert text.startswith(f"APPROXIMATE (the first 1 of {len(rules)} rules)")
    assert f"on {different} of 36 inputs" in text
    assert "APPROXIMATE" not in rules.text()


def test_rules_are_not_cut_twice():
    """What a shortened list leaves to its default is known no more."""
    rules = extract(random_network(1), effort=0, form="rules")
    top = rules.top(2)
    assert top.top(2) == top.top(9) == top
    with pytest.raises(OptionError) as error:
        top.top(1)
    assert str(error.value) == (
        "these rules are already shortened; shorten the exact list"
    )


def test_inputs_that_cannot_occur_are_not_counted():
    network = random_network(2)
    forbidden = {"f0": ["v0"], "f1": ["v1", "v2"]}
    rules = extract(network, impossible=[forbidden], effort=0)
    codes = every_input(rules)
    possible = ~((codes[:, 0] == 0) & np.isin(codes[:, 1], (1, 2)))
    truth = network.predict_codes(codes)
    assert rules.certificate["possible"] == possible.sum()
    for k in range(len(rules) + 1):
        top = rules.top(k)
        wrong = (top.predict_codes(codes) != truth) & possible
        assert top.certificate["different"] == wrong.sum()


def test_top_needs_counts_of_a_whole_domain():
    message = (
        "only rules with a certificate and the number of inputs that each determines "
        "can be shortened; rules found by search do not have it"
    )
    for rules in (
        extract(random_network(1), engine="search"),
        extract(random_network(1), form="rules").replace(certificate={}),
        RuleList(TOMATO.domain, (Rule((), "ripe"),), "unripe", TOMATO.classes),
    ):
        assert len(rules) > 0
        with pytest.raises(OptionError) as error:
            rules.top(0)
        assert str(error.value) == message
        assert rules.top(len(rules)) == rules


@pytest.mark.parametrize("k", [-1, 0.5, "3", None, True, np.float64(2)])
def test_so_many_rules_is_a_whole_number(k):
    rules = extract(TOMATO)
    for refuse in (rules.top, rules.text):
        if k is None and refuse == rules.text:
            continue
        with pytest.raises(OptionError) as error:
            refuse(k)
        assert str(error.value) == f"top: {k!r}, expected a whole number from 0 on"
    assert rules.top(np.int64(0)).top(0) == rules.top(0)


def test_the_first_rules_for_rows_are_as_right_as_before():
    network = random_network(1)
    rows = network.domain.decode(every_input(extract(network, form="rules"))[:20])
    rules = extract(network, scope="support", data=rows, effort=0)
    assert len(rules) > 2
    top = rules.top(2)
    assert top.boxes.tolist() == rules.boxes[:2].tolist()
    assert (top.default, top.scope) == (rules.default, "support")
    assert top.certificate["network"] == rules.certificate["network"]
    assert not top.certificate.keys() & {"uncovered", "rows", "rows_covered"}
    assert check(network, top).ok


# extract(max_rules=..., fidelity=...)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(3))
def test_at_most_so_many_rules(seed, form):
    network = random_network(seed)
    rules = extract(network, form=form, effort=0)
    for k in range(len(rules) + 2):
        short, first = extract(network, form=form, effort=0, max_rules=k), rules.top(k)
        if form == "set" or k >= len(rules):
            assert short == first
        assert short.certificate["different"] <= first.certificate["different"]
        assert len(short) <= k
        assert short.certificate["different"] == differences(short, network)


def shortest(rules, network, enough):
    """Return the smallest k whose first rules are right on enough inputs."""
    total = network.domain.n_inputs
    for k in range(len(rules) + 1):
        if total - differences(rules.top(k), network) >= enough:
            return k
    raise AssertionError("all rules are right everywhere")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(2))
def test_the_shortest_list_of_a_fidelity(seed, form):
    network = random_network(seed)
    rules = extract(network, form=form, effort=0)
    for share in (0.0, 0.3, 0.5, 0.75, 0.9, 0.97, 0.999, 1.0):
        short = extract(network, form=form, effort=0, fidelity=share)
        assert len(short) <= shortest(rules, network, share * 36)
        assert differences(short, network) <= (1 - share) * 36
        if form == "set":
            assert len(short) == shortest(rules, network, share * 36)
            assert short == rules.top(len(short))


def test_a_fidelity_that_is_just_reached_is_enough():
    """Nine of ten inputs are 0.9 of them, whatever 1 − 0.9 is in float64."""
    for n_values in range(3, 60):
        weights = np.ones((n_values, 1))
        weights[0] = -1.0
        layer = Layer(weights, [0.0], "sigmoid")
        network = Network(plain_domain([n_values]), (layer,), ("a", "b"))
        share = (n_values - 1) / n_values
        short = extract(network, effort=0, fidelity=share)
        assert len(short) == 0, n_values
    assert len(extract(network, effort=0, fidelity=share + 1e-9)) == 1


def test_at_most_so_many_rules_for_rows():
    network = random_network(1)
    rows = network.domain.decode(every_input(extract(network, form="rules")))
    rules = extract(network, scope="support", data=rows, effort=0)
    for k in range(len(rules) + 2):
        short = extract(network, scope="support", data=rows, effort=0, max_rules=k)
        assert short.boxes.tolist() == rules.boxes[:k].tolist()
        uncovered = int((short.apply(rows) < 0).sum())
        assert short.certificate["uncovered"] == uncovered
        assert short.certificate["rows"] == len(rows)
        assert short.certificate["rows_covered"] == len(rows) - uncovered
    with pytest.raises(OptionError) as error:
        extract(network, scope="support", data=rows, effort=0, max_rules=-1)
    assert "expected 0 or more" in str(error.value)


def test_a_limit_on_rules_comes_before_fidelity():
    network = random_network(0)
    short = extract(network, max_rules=1, fidelity=1.0)
    assert len(short) == 1
    assert len(extract(network, max_rules=99, fidelity=0.0)) == 0


@pytest.mark.parametrize("fidelity", [-0.1, 1.1, 99, float("nan")])
def test_a_fidelity_is_a_share(fidelity):
    with pytest.raises(OptionError) as error:
        extract(TOMATO, fidelity=fidelity)
    assert str(error.value) == f"fidelity: {fidelity}, expected 0 to 1"


# curve


@settings(max_examples=150)
@given(rule_lists(max_inputs=30), st.data())
def test_the_curve_is_that_of_the_first_rules(rules, data):
    codes = data.draw(rows_of(rules.domain))
    labels = [data.draw(st.sampled_from(rules.classes)) for _ in codes]
    rows = rules.domain.decode(codes)
    whole = [naive.answer(rules, row) for row in rows]
    with_labels, without = rules.curve(rows, labels), rules.curve(rows)
    assert "accuracy" not in without
    n_rows = max(len(rows), 1)
    for k in range(len(rules) + 1):
        short = rules.take(range(k))
        fired = [naive.first_match(short, row) for row in rows]
        left = [answer for f, answer in zip(fired, whole, strict=True) if f < 0]
        most = max(rules.classes, key=left.count)  # the first of equals
        given_ = [
            most if f < 0 else answer for f, answer in zip(fired, whole, strict=True)
        ]
        assert with_labels["rules"][k] == k
        assert with_labels["covered"][k] == (n_rows - len(left)) / n_rows * bool(rows)
        if rules.scope == "support":
            same = [naive.same(a, b) for a, b in zip(whole, labels, strict=True)]
            right = sum(s for s, f in zip(same, fired, strict=True) if f >= 0)
            decided, found = len(rows) - len(left), with_labels["accuracy_on_covered"]
            assert math.isnan(found[k]) if not decided else found[k] == right / decided
            assert not {"fidelity", "accuracy"} & with_labels.keys()
            continue
        assert (
            with_labels["fidelity"][k] == sum(map(naive.same, given_, whole)) / n_rows
        )
        assert (
            with_labels["accuracy"][k] == sum(map(naive.same, given_, labels)) / n_rows
        )
    for name, column in without.items():
        assert len(column) == len(rules) + 1
        assert column.tolist() == with_labels[name].tolist()


def test_the_curve_does_not_count_the_default_of_rules_for_rows():
    """The last of its shares was 1, also where rules decide few rows."""
    rule = Rule((Condition("f0", ("v0",)),), 1)
    rules = RuleList(plain_domain([2]), (rule,), 0, (0, 1), scope="support")
    curve = rules.curve(rules.domain.decode([[0], [1], [1], [1]]), [1, 0, 0, 0])
    assert curve["covered"].tolist() == [0, 0.25]
    assert sorted(curve) == ["accuracy_on_covered", "covered", "rules"]
    assert curve["accuracy_on_covered"][1] == 1


def test_a_curve_of_rows_from_a_file():
    network = random_network(3)
    rows = network.domain.decode(every_input(extract(network, form="rules")))
    rules = extract(network, data=rows, form="rules")
    curve = rules.curve(rows, network.predict(rows).tolist())
    assert curve["fidelity"][-1] == 1
    assert curve["accuracy"].tolist() == curve["fidelity"].tolist()
    assert (np.diff(curve["covered"]) >= 0).all()


def test_labels_of_a_curve_are_read_like_those_of_extract():
    """A file gives text; the classes are numbers."""
    domain = plain_domain([2])
    rule = Rule((Condition("f0", ("v0",)),), 1)
    rules = RuleList(domain, (rule,), 0, (0, 1))
    rows = domain.decode([[0], [1], [1]])
    assert (
        rules.curve(rows, ["1", "0", "1"])["accuracy"].tolist()
        == rules.curve(rows, [1, 0, 1])["accuracy"].tolist()
    )


def test_labels_and_rows_go_together():
    with pytest.raises(OptionError) as error:
        extract(TOMATO).curve(TOMATO.domain.decode([[0, 0], [1, 1]]), ["ripe"])
    assert str(error.value) == "1 labels for 2 rows, expected one for each"


def test_a_short_list_says_on_how_many_rows_it_differs():
    network = random_network(2)
    rows = network.domain.decode(every_input(extract(network, form="rules"))[::3])
    whole = extract(network, data=rows, effort=0, form="rules")
    for k in range(len(whole)):
        short = extract(network, data=rows, effort=0, max_rules=k)
        wrong = int((short.predict(rows) != network.predict(rows)).sum())
        assert short.certificate.get("rows_different", 0) == wrong
