"""The independent check: it passes what is right, and finds every planted mistake."""

import ast
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import nn2rules
import ranged
from nn2rules import (
    Condition,
    Domain,
    DomainError,
    Feature,
    Layer,
    Network,
    OptionError,
    Rule,
    RuleList,
    UndecidedError,
    datasets,
)
from nn2rules.checker import CheckReport, check
from nn2rules.network.activations import ACTIVATIONS
from nn2rules.space import Range, parts_of
from strategies import (
    PIECEWISE_LINEAR,
    SMOOTH,
    networks,
    plain_domain,
    relu_networks,
    rule_lists,
)

compare = import_module("nn2rules.checker.compare")
evaluate = import_module("nn2rules.checker.run_network")
read = import_module("nn2rules.checker.read")
report_module = import_module("nn2rules.checker.report")
draw = import_module("nn2rules.checker.draw")
SOURCES = sorted(Path(str(compare.__file__)).parent.rglob("[a-z]*.py"))


def network_of(name: str) -> Network:
    network = nn2rules.load(datasets.network_file(name))
    assert isinstance(network, Network)
    return network


TOMATO, CAR = network_of("tomato"), network_of("car")
TOMATO_RULES = nn2rules.extract(TOMATO, form="paper")
CAR_RULES = nn2rules.extract(CAR, form="paper")
CAR_ROWS = datasets.load("car").train.rows
WIDE = plain_domain([10] * 9)  # 10 ** 9 inputs


def only_first_feature(domain: Domain, weights: list[float]) -> Network:
    """Return a network that looks at the first feature alone."""
    rest = int(domain.offsets[-1]) - len(weights)
    column = [[weight] for weight in (*weights, *[0.0] * rest)]
    return Network(domain, (Layer(column, [0.0], "sigmoid"),), ("no", "yes"))


WIDE_NETWORK = only_first_feature(WIDE, [1.0] * 5 + [-1.0] * 5)
WIDE_RULES = RuleList(
    WIDE,
    (Rule((Condition("f0", ("v0", "v1", "v2", "v3", "v4")),), "yes"),),
    "no",
    ("no", "yes"),
)


def variant(rules: RuleList, /, **fields: Any) -> RuleList:
    """Return `rules` with some of their fields replaced."""
    names = ("domain", "rules", "default", "classes", "form", "scope")
    return RuleList(**({name: getattr(rules, name) for name in names} | fields))


def table_rules(network: Network) -> RuleList:
    """Return a rule for every input, as `Network.predict` answers it."""
    (codes,) = network.domain.inputs(chunk=network.domain.n_inputs)
    rows = network.domain.decode(codes)
    rules = tuple(
        Rule(tuple(Condition(n, (v,)) for n, v in row.items()), answer)
        for row, answer in zip(rows, network.predict(rows).tolist(), strict=True)
    )
    return RuleList(network.domain, rules, network.classes[0], network.classes)


def assert_true_counterexamples(
    report: CheckReport, network: Network, rules: RuleList
) -> None:
    assert report.different > 0
    assert not report.ok
    assert 0 < len(report.counterexamples) <= 5
    for example in report.counterexamples:
        assert example.network == network.predict([example.row])[0]
        assert example.rules == rules.predict([example.row], uncovered="default")[0]
        assert example.network != example.rules
        fired = int(rules.apply([example.row])[0])
        assert example.rule == (None if fired < 0 else fired)
        assert str(example) in str(report)


# What is right passes.


@pytest.mark.parametrize("name", ["tomato", "car", "nursery"])
def test_extracted_rules_pass(name):
    network = network_of(name)
    report = check(network, nn2rules.extract(network, form="rules"))
    assert report.ok
    assert report.method == "every input"
    assert report.checked == network.domain.n_inputs
    assert report.different == report.undecided == report.uncovered == 0
    assert report.counterexamples == ()
    assert f"all {network.domain.n_inputs:,} inputs" in str(report)


def test_given_rows_are_among_all_inputs():
    report = check(CAR, CAR_RULES, rows=CAR_ROWS)
    assert report.checked == CAR.domain.n_inputs


@given(relu_networks(max_inputs=60, awkward=True))
def test_rules_of_awkward_domains_pass(network):
    assert check(network, nn2rules.extract(network, form="rules")).ok


# What is wrong is found.


def broken(rules: RuleList, index: int, rule: Rule | None) -> RuleList:
    others = list(rules.rules)
    others[index : index + 1] = [] if rule is None else [rule]
    return variant(rules, rules=tuple(others))


@pytest.mark.parametrize("index", [0, 40, 116])
def test_a_dropped_rule_is_found(index):
    rules = broken(CAR_RULES, index, None)
    report = check(CAR, rules)
    assert_true_counterexamples(report, CAR, rules)
    assert all(example.rule is None for example in report.counterexamples)
    equal = CAR_RULES.apply_codes(next(CAR.domain.inputs())) == index
    assert report.different == equal.sum()


@pytest.mark.parametrize("index", [0, 40, 116])
def test_a_changed_value_is_found(index):
    rule = CAR_RULES.rules[index]
    first = rule.conditions[0]
    values = CAR.domain.feature(first.feature).values
    other = next(value for value in values if value not in first.values)
    changed = Condition(first.feature, (other,))
    rules = broken(
        CAR_RULES, index, replace(rule, conditions=(changed, *rule.conditions[1:]))
    )
    assert_true_counterexamples(check(CAR, rules), CAR, rules)


def test_a_flipped_default_is_found():
    rules = variant(TOMATO_RULES, default="ripe")
    report = check(TOMATO, rules)
    assert_true_counterexamples(report, TOMATO, rules)
    assert report.different == 4
    assert "the network predicts 'unripe', the default 'ripe'" in str(report)


def test_a_swapped_order_is_found():
    red, big = Condition("color", ("red",)), Condition("size", ("medium", "big"))
    rules = RuleList(
        TOMATO.domain,
        (Rule((Condition("color", ("yellow",)),), "unripe"), Rule((big,), "ripe")),
        "unripe",
        TOMATO.classes,
    )
    assert check(TOMATO, rules).ok
    swapped = variant(rules, rules=rules.rules[::-1])
    report = check(TOMATO, swapped)
    assert_true_counterexamples(report, TOMATO, swapped)
    assert report.different == 2
    assert str(report).splitlines() == [
        "DIFFERENT: the rules do not predict as the network does.",
        "Method: every input. Compared: all 6 inputs of the domain.",
        "Predictions compared: 6. Different: 2.",
        "  color = 'yellow', size = 'medium': the network predicts 'unripe', "
        "rule 1 'ripe'",
        "  color = 'yellow', size = 'big': the network predicts 'unripe', "
        "rule 1 'ripe'",
    ]
    ordered = variant(rules, form="set")
    assert check(TOMATO, ordered).different == 2, "in a set both rules must be right"
    assert check(TOMATO, variant(ordered, rules=(Rule((red, big), "ripe"),))).ok


@given(rule_lists(), st.data())
def test_rules_are_applied_as_the_rule_list_applies_them(rules, data):
    rules = variant(rules, form="list", scope="domain")
    units = 1 if len(rules.classes) == 2 else len(rules.classes)
    answer = data.draw(st.integers(0, len(rules.classes) - 1))
    bias = [2.0 * answer - 1] if units == 1 else np.eye(units)[answer]
    layer = Layer(
        np.zeros((int(rules.domain.offsets[-1]), units)),
        bias,
        "sigmoid" if units == 1 else "softmax",
    )
    network = Network(rules.domain, (layer,), rules.classes)
    (codes,) = rules.domain.inputs(chunk=rules.domain.n_inputs)
    fired = rules.apply_codes(codes).tolist()
    answers = [rules.default if r < 0 else rules.rules[r].then for r in fired]
    report = check(network, rules)
    assert report.different == sum(a != rules.classes[answer] for a in answers)
    assert report.unreached == len(rules) - len(set(fired) - {-1})


def test_admitted_differences_are_said_to_be_admitted():
    rules = broken(CAR_RULES, 0, None)
    rules = variant(rules, certificate={"different": 1234, "inputs": 1728})
    report = check(CAR, rules)
    assert not report.ok
    assert "say themselves that they are approximate" in str(report)
    assert "on 1,234 inputs" in str(report)


# What the rules say of themselves is not believed.

RED = Rule((Condition("color", ("red",)),), "ripe")
SMALL_RED = [{"color": ["red"], "size": ["small"]}]
CERTIFICATES: list[dict[str, Any]] = [
    {"impossible": SMALL_RED, "possible": 5},
    {"impossible": [{"color": ["red", "yellow"]}]},
    {"impossible": "a function of rows"},
    {"impossible": 3, "possible": "none", "different": "many"},
    {"different": 0, "engine": "table", "complete": True, "inputs": 0},
    {"different": 1},
]


@pytest.mark.parametrize("certificate", CERTIFICATES)
def test_no_certificate_changes_the_verdict(certificate):
    right = table_rules(TOMATO)
    wrong = RuleList(TOMATO.domain, (RED,), "unripe", TOMATO.classes)
    for rules, different in ((right, 0), (wrong, 1)):
        plain = check(TOMATO, rules)
        assert plain.different == different
        report = check(TOMATO, rules.replace(certificate=certificate))
        assert replace(report, claims=()) == plain
        assert str(report).splitlines()[0] == str(plain).splitlines()[0]


def test_a_declared_exclusion_is_counted_and_said():
    rules = RuleList(TOMATO.domain, (RED,), "unripe", TOMATO.classes)
    report = check(TOMATO, rules, impossible=SMALL_RED)
    assert report.ok
    assert (report.checked, report.impossible) == (5, 1)
    assert str(report).splitlines() == [
        "EQUAL: the rules predict as the network does on every input but the 1 "
        "declared impossible.",
        "Method: every input but those named below. Compared: 5 of the 6 inputs of the "
        "domain.",
        "Predictions compared: 5. Different: 0.",
        "Not compared, declared impossible: 1.",
    ]
    assert check(TOMATO, rules, impossible=[{"size": "small"}]).impossible == 2
    nothing = check(TOMATO, rules, impossible=[{"color": ("red", "yellow")}])
    assert not nothing.ok
    assert str(nothing).startswith("INCONCLUSIVE")


def test_what_the_rules_call_impossible_is_mentioned():
    rules = RuleList(TOMATO.domain, (RED,), "unripe", TOMATO.classes)
    claiming = rules.replace(certificate={"impossible": SMALL_RED})
    assert "declare them (impossible=, --imp" in str(check(TOMATO, claiming))
    report = check(TOMATO, claiming, impossible=SMALL_RED)
    assert report.claims == ()


def test_what_is_missing_can_be_declared_impossible():
    """Beside groups without a value for others, where `other` is None, too."""
    job = Feature.grouped("job", [["clerk", "guard"], ["nurse"]], missing=True)
    network = Network(
        Domain((job,)),
        (Layer([[-1.0], [1.0], [1.0]], [0.0], "sigmoid"),),
        ("no", "yes"),
    )
    assert job.other is None
    rule = Rule((Condition("job", ("nurse",)),), "yes")
    rules = RuleList(network.domain, (rule,), "no", network.classes)
    assert not check(network, rules).ok
    report = check(network, rules, impossible=[{"job": [None]}])
    assert report.ok
    assert report.impossible == 1
    assert read._allowed(job, ["clerk", "guard"], 0).tolist() == [True, False, False]
    assert not read._is_other(job, job.values.index(None))


def test_a_sample_without_impossible_inputs():
    wrong = Rule((Condition("f0", ("v9",)),), "yes")
    rules = variant(WIDE_RULES, rules=(wrong, *WIDE_RULES.rules))
    assert not check(WIDE_NETWORK, rules, samples=1000).ok
    declared = [{"f0": "v9"}]
    assert check(WIDE_NETWORK, rules, samples=1000, impossible=declared).is_proved
    report = check(WIDE_NETWORK, rules, samples=1000, impossible=declared, time=0)
    assert report.is_undecided
    assert report.checked + report.impossible == 2000
    assert "% of the inputs not declared impossible differ" in report.confidence
    assert "every" not in str(report)
    assert report.unreached == 1


@pytest.mark.parametrize(
    ("impossible", "message"),
    [
        ("color=red", "impossible: a str, expected a list of dicts"),
        (7, "impossible: a int, expected a list of dicts"),
        (["red"], r"impossible\[0\]: 'red', expected a dict"),
        ([{}], r"impossible\[0\]: {}, expected a dict"),
        ([{"color": ["blue"]}], "feature 'color' has no value 'blue'"),
        ([{"color": [["red"]]}], r"feature 'color' has no value \['red"),
        ([{"taste": ["sweet"]}], "there is no feature 'taste'"),
    ],
)
def test_impossible_inputs_of_the_wrong_shape_are_refused(impossible, message):
    with pytest.raises((OptionError, DomainError), match=message):
        check(TOMATO, TOMATO_RULES, impossible=impossible)


@pytest.mark.parametrize("is_bins", [True, False])
def test_cells_that_mean_other_values_are_a_difference(is_bins):
    age = Feature.bins("age", (25, 40))
    changed = Feature("age", age.values, ordered=True)
    if is_bins:
        changed = replace(age, edges=(30, 40))
    layer = Layer([[1.0], [-1.0], [1.0]], [0.0], "sigmoid")
    network = Network(Domain((age,)), (layer,), ("no", "yes"))
    rules = table_rules(network)
    assert check(network, rules).ok
    edited = variant(rules, domain=Domain((changed,)))
    with pytest.raises(DomainError, match="feature 'age': the rules have edges"):
        check(network, edited)


# A sample.


def test_a_sample_states_its_confidence():
    report = check(WIDE_NETWORK, WIDE_RULES, samples=1000, time=0)
    assert report.is_undecided
    assert report.method == "sample"
    assert report.checked == 2000
    assert "fewer than 0.30% of all inputs differ" in report.confidence
    assert "1,000 inputs drawn from the 1,000,000,000 of the domain" in str(report)
    assert "were not compared" in str(report)
    assert "every input" not in str(report)


@pytest.mark.parametrize("drawn", [1, 7, 100_000, 123_456_789])
def test_the_bound_is_never_rounded_down(drawn):
    text = report_module.confidence_text(drawn, of="all inputs", differ="differ")
    percent = float(text.partition("fewer than ")[2].partition("%")[0])
    exact = float(100 * (1 - mpmath.mpf("0.05") ** (mpmath.mpf(1) / drawn)))
    assert exact <= percent <= 1.1 * exact


def test_a_sample_finds_a_gross_error():
    rules = broken(CAR_RULES, 0, None)
    report = check(CAR, rules, largest=10)
    assert report.method == "sample"
    assert_true_counterexamples(report, CAR, rules)
    assert report.confidence == ""


def test_a_sample_tries_every_rule():
    """A rule that one input in 10 ** 9 reaches is still tried."""
    corner = tuple(Condition(name, ("v9",)) for name in WIDE.names)
    rules = variant(WIDE_RULES, rules=(*WIDE_RULES.rules, Rule(corner, "yes")))
    report = check(WIDE_NETWORK, rules, samples=1000)
    assert_true_counterexamples(report, WIDE_NETWORK, rules)
    assert set(report.counterexamples[0].row.values()) == {"v9"}
    assert report.counterexamples[0].rule == 1


def test_a_sample_reports_rules_that_it_never_reached():
    hidden = Rule((Condition("f0", ("v0",)),), "no")
    rules = variant(WIDE_RULES, rules=(*WIDE_RULES.rules, hidden))
    report = check(WIDE_NETWORK, rules, samples=1000)
    assert report.unreached == 1
    assert "Rules that no compared input reached: 1." in str(report)


def test_a_sample_compares_the_given_rows():
    corner = tuple(Condition(name, ("v9",)) for name in WIDE.names)
    row = dict.fromkeys(WIDE.names, "v9")
    network = replace(
        WIDE_NETWORK,
        layers=(
            Layer(np.eye(90)[:, 9::10], [0.0] * 9, "relu"),
            Layer(np.ones((9, 1)), [-8.5], "sigmoid"),
        ),
    )
    rules = variant(WIDE_RULES, rules=())
    assert check(network, rules, samples=1000, time=0).different == 0
    assert check(network, rules, samples=1000).counterexamples[0].row == row
    report = check(network, rules, samples=1000, rows=[row], time=0)
    assert_true_counterexamples(report, network, rules)
    assert report.counterexamples[0].row == row
    assert check(network, variant(rules, rules=(Rule(corner, "yes"),)), samples=10).ok


def test_the_same_seed_draws_the_same():
    rules = broken(CAR_RULES, 0, None)
    first = check(CAR, rules, largest=10, samples=500, seed=3)
    assert first == check(CAR, rules, largest=10, samples=500, seed=3)
    assert first != check(CAR, rules, largest=10, samples=500, seed=4)


# Scope support.


def test_support_claims_nothing_of_the_default():
    rules = nn2rules.extract(CAR, data=CAR_ROWS[:300], scope="support")
    assert rules.scope == "support"
    report = check(CAR, rules)
    undecided = int((rules.apply_codes(next(CAR.domain.inputs())) < 0).sum())
    assert report.ok
    assert report.uncovered == undecided
    assert report.checked == CAR.domain.n_inputs - undecided
    assert f"Not compared, not covered: {undecided:,}." in str(report)
    assert check(CAR, rules, rows=CAR_ROWS[:300]).ok
    assert not check(CAR, variant(rules, scope="domain")).ok


def test_support_claims_nothing_of_the_given_rows_either():
    rules = variant(CAR_RULES, scope="support", rules=CAR_RULES.rules[1:])
    assert check(CAR, rules).ok
    (codes,) = CAR.domain.inputs(chunk=CAR.domain.n_inputs)
    rows = CAR.domain.decode(codes[CAR_RULES.apply_codes(codes) == 0])
    for largest in (1 << 24, 10):
        options = {"rows": rows, "largest": largest, "samples": 1000}
        report = check(CAR, rules, **options)
        assert report.ok
        assert report.rows_left == len(rows)
        assert f"{len(rows):,} given rows" in str(report)
        assert f"for the same reason: {len(rows)}." in str(report)
        report = check(CAR, rules, **options, default=True)
        assert_true_counterexamples(report, CAR, rules)
        assert report.different >= len(rows)
        assert (report.scope, report.rows_left) == ("domain", 0)


def test_support_rules_must_be_right_where_they_answer():
    wrong = Rule((Condition("color", ("red",)),), "ripe")
    rules = variant(TOMATO_RULES, scope="support", rules=(wrong,))
    report = check(TOMATO, rules)
    assert_true_counterexamples(report, TOMATO, rules)
    assert report.uncovered == 3


def test_a_set_with_rules_for_every_class_leaves_nothing():
    rules = nn2rules.extract(CAR, form="set")
    assert (rules.is_two_sided, rules.scope) == (True, "domain")
    report = check(CAR, rules)
    assert (report.ok, report.unmet) == (True, 0)
    last = [i for i, rule in enumerate(rules.rules) if rule.then == rules.default][-1]
    kept = [rule for i, rule in enumerate(rules.rules) if i != last]
    fewer = variant(rules, rules=kept)
    report = check(CAR, fewer)
    codes = next(CAR.domain.inputs())
    n_left = int((fewer.apply_codes(codes) < 0).sum())
    assert n_left > 0
    assert (report.ok, report.unmet) == (True, n_left)
    assert f"though it has rules for every class: {n_left}." in str(report)


def test_each_rule_of_a_set_is_held_to_its_word():
    """Also where another one that is right comes first."""
    rules = nn2rules.extract(CAR, form="set")
    anything = Rule((), rules.default)
    wrong = variant(rules, rules=(*rules.rules, anything))
    assert not check(CAR, wrong).ok


def test_nothing_compared_is_no_pass():
    report = check(TOMATO, variant(TOMATO_RULES, scope="support", rules=()))
    assert report.different == 0
    assert report.checked == 0
    assert not report.ok
    assert str(report).startswith("INCONCLUSIVE")


def test_support_confidence_speaks_of_decided_inputs():
    report = check(WIDE_NETWORK, variant(WIDE_RULES, scope="support"), samples=100)
    assert "are covered by a rule and differ" in report.confidence


# The network, answered again.


@given(networks(PIECEWISE_LINEAR))
@settings(max_examples=300)
def test_piecewise_linear_networks_are_answered_exactly(network):
    """Ties, overflow and underflow included; rationals need no second opinion."""
    (codes,) = network.domain.inputs(chunk=network.domain.n_inputs)
    expected = [rational_class(network, row) for row in codes]
    assert evaluate.classify(network, codes).tolist() == expected


def rational_class(network: Network, codes: np.ndarray) -> int:
    """Work out a class in rationals and 400 digits, from the definitions."""
    rows = network.layers[0].weights[network.domain.offsets[:-1] + codes]
    values = [Fraction(1)] * len(rows)
    for index, layer in enumerate(network.layers):
        weights = rows if index == 0 else layer.weights
        values = [
            Fraction(layer.bias[unit])
            + sum(
                Fraction(w) * v for w, v in zip(weights[:, unit], values, strict=True)
            )
            for unit in range(len(layer.bias))
        ]
        if index < len(network.layers) - 1:
            slope = Fraction(0.01 if layer.slope is None else layer.slope)
            values = [
                {
                    "relu": max(v, 0),
                    "leaky_relu": v if v > 0 else slope * v,
                    "hard_tanh": max(-1, min(1, v)),
                    "hard_sigmoid": max(0, min(1, v / 6 + Fraction(1, 2))),
                    "identity": v,
                }[layer.activation]
                for v in values
            ]
    if len(values) > 1:
        return values.index(max(values))
    with mpmath.workdps(400):
        odds = mpmath.mpf(network.threshold) / (1 - mpmath.mpf(network.threshold))
        score = mpmath.mpf(Fraction(values[0]).numerator) / values[0].denominator
        return int(score > mpmath.log(odds))


@given(networks([*PIECEWISE_LINEAR, *SMOOTH], palettes=("integers", "decimal")))
@settings(max_examples=300)
def test_networks_are_answered_as_predict_answers(network):
    (codes,) = network.domain.inputs(chunk=network.domain.n_inputs)
    try:
        expected = network.predict_codes(codes)
    except UndecidedError:
        assume(False)
    found = evaluate.classify(network, codes)
    decided = found != evaluate.UNDECIDED
    assert (found[decided] == expected[decided]).all()


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_both_arithmetics_know_every_activation(name):
    """Decimals of 50 digits, float64 and 100 digits of mpmath all agree."""
    points = [k / 8 for k in range(-80, 81)] + [-1e300, -700.0, -25.0, 25.0, 1e5]
    floats = evaluate.FLOATS[name](np.array(points), 0.01)
    for point, fast in zip(points, floats.tolist(), strict=True):
        value, error = evaluate._activate(name, 0.01, Fraction(point), Fraction(0))
        assert fast == pytest.approx(float(value), rel=1e-13, abs=1e-15)
        with mpmath.workdps(100):
            exact = true_activation(name, mpmath.mpf(point))
            ours = mpmath.mpf(value.numerator) / value.denominator
            assert abs(ours - exact) <= mpmath.mpf(float(error)) + mpmath.mpf(10) ** -90


def true_activation(name, x):
    return {
        "elu": lambda: x if x > 0 else mpmath.expm1(x),
        "gelu": lambda: x * (1 + mpmath.erf(x / mpmath.sqrt(2))) / 2,
        "hard_sigmoid": lambda: min(max(x / 6 + mpmath.mpf(1) / 2, 0), 1),
        "hard_tanh": lambda: min(max(x, -1), 1),
        "identity": lambda: x,
        "leaky_relu": lambda: x if x > 0 else mpmath.mpf(0.01) * x,
        "relu": lambda: max(x, 0),
        "sigmoid": lambda: 1 / (1 + mpmath.exp(-x)),
        "silu": lambda: x / (1 + mpmath.exp(-x)),
        "softplus": lambda: mpmath.log1p(mpmath.exp(x)) if x < 1000 else x,
        "tanh": lambda: mpmath.tanh(x),
    }[name]()


def one_unit(weights: list[float], bias: float, threshold: float = 0.5) -> Network:
    domain = plain_domain([len(weights)])
    layer = Layer([[weight] for weight in weights], [bias], "sigmoid")
    return Network(domain, (layer,), ("no", "yes"), threshold)


def classes_of(network: Network) -> list[int]:
    (codes,) = network.domain.inputs(chunk=network.domain.n_inputs)
    return evaluate.classify(network, codes).tolist()


def test_a_tie_is_class_0():
    tiny = 5e-324
    assert classes_of(one_unit([0.0, tiny, -tiny, 1.0], 0.0)) == [0, 1, 0, 1]


def test_a_tie_that_float64_misses():
    """0.1 + 0.2 - 0.3 is not 0 for the stored numbers, and has a sign."""
    domain = plain_domain([1, 1, 1])
    for numbers in ([0.1, 0.2, -0.3], [-0.1, -0.2, 0.3], [1e16, 1.0, -1e16]):
        layer = Layer([[number] for number in numbers], [0.0], "sigmoid")
        network = Network(domain, (layer,), ("no", "yes"))
        assert classes_of(network) == [int(sum(map(Fraction, numbers)) > 0)]


def test_a_tie_of_several_classes_is_the_first():
    layer = Layer([[1, 2, 2], [3, 3, 1], [0, 0, 0]], [0, 0, 0], "softmax")
    network = Network(plain_domain([3]), (layer,), ("a", "b", "c"))
    assert classes_of(network) == [1, 0, 0]
    assert check(network, table_rules(network)).ok


@pytest.mark.parametrize("threshold", [0.25, 0.9, 1e-9, 0.5 + 2**-30])
def test_thresholds_to_the_last_bit(threshold):
    logit = mpmath.log(mpmath.mpf(threshold) / (1 - mpmath.mpf(threshold)))
    near = float(logit)
    scores = [np.nextafter(near, -99), near, np.nextafter(near, 99), near - 1, near + 1]
    with mpmath.workdps(50):
        exact = mpmath.log(mpmath.mpf(threshold) / (1 - mpmath.mpf(threshold)))
        expected = [int(mpmath.mpf(float(score)) > exact) for score in scores]
    assert classes_of(one_unit(scores, 0.0, threshold)) == expected


def test_overflow_is_settled_exactly():
    domain = plain_domain([1, 1, 2])
    weights = [[1.7e308], [1.7e308], [-1.7e308], [-1.79e308]]
    layers = (
        Layer(weights, [-1.7e308], "hard_tanh"),
        Layer([[1.0]], [0.0], "sigmoid"),
    )
    assert classes_of(Network(domain, layers, ("no", "yes"))) == [0, 0]
    layers = (Layer(weights, [-1.69e308], "relu"), *layers[1:])
    assert classes_of(Network(domain, layers, ("no", "yes"))) == [1, 0]


def test_underflow_is_settled_exactly():
    layers = (
        Layer([[1e-200], [1e-220]], [0.0], "relu"),
        Layer([[1e-200]], [0.0], "relu"),
        Layer([[1e300]], [-1e-110], "sigmoid"),
    )
    assert classes_of(Network(plain_domain([2]), layers, ("no", "yes"))) == [1, 0]


def test_a_smooth_tie_is_settled_where_it_is_exact():
    layers = (Layer([[0.0], [1e-30]], [0.0], "tanh"), Layer([[1.0]], [0.0], "sigmoid"))
    assert classes_of(Network(plain_domain([2]), layers, ("no", "yes"))) == [0, 1]


@pytest.mark.parametrize("name", ["gelu", "sigmoid", "silu", "softplus", "tanh"])
def test_smooth_units_that_cancel_are_a_tie(name):
    """f(y) and f(-y) differ by a line, so that these scores are 0 or next to it."""
    sign = 1.0 if name in ("sigmoid", "tanh") else -1.0
    bias = {"sigmoid": -1.0, "tanh": 0.0}.get(name, -2.0)
    layers = (
        Layer([[2.0, -2.0]], [0.0, 0.0], name),
        Layer([[1.0], [sign]], [bias], "sigmoid"),
    )
    assert classes_of(Network(plain_domain([1]), layers, ("no", "yes"))) == [0]
    hidden = Layer([[2.0, -2.0, 2.0**-600]], [0.0, 0.0, 0.0], name)
    last = Layer([[1.0], [sign], [2.0**-500]], [bias], "sigmoid")
    if name == "tanh":  # of the others, the third unit is not next to 0
        network = Network(plain_domain([1]), (hidden, last), ("no", "yes"))
        assert classes_of(network) == [1]


def test_too_close_to_tell_is_counted_and_no_pass():
    layers = (
        Layer([[1.0, -1.0], [3.0, -2.0]], [0.0, 0.0], "tanh"),
        Layer([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0], "tanh"),
        Layer([[1.0], [1.0]], [0.0], "sigmoid"),
    )
    network = Network(plain_domain([2]), layers, ("no", "yes"))
    rules = RuleList(
        network.domain,
        (Rule((Condition("f0", ("v1",)),), "yes"),),
        "no",
        network.classes,
    )
    report = check(network, rules)
    assert (report.checked, report.different, report.undecided) == (1, 0, 1)
    assert not report.ok
    assert "too close to a tie to tell: 1." in str(report)


# The two must be over the same features, values and classes.


def test_orders_and_types_may_differ():
    domain = Domain((Feature("n", (1, 2, None)), Feature("t", ("x", "y"))))
    layer = Layer([[1.0], [-2.0], [0.5], [0.25], [0.5]], [0.0], "sigmoid")
    network = Network(domain, (layer,), (0, 1))
    other = Domain((Feature("t", ("y", "x")), Feature("n", (None, "2", "1"))))
    rules = RuleList(
        other, (Rule((Condition("n", ("1", None)),), "1"),), "0", ("1", "0")
    )
    assert check(network, rules).ok
    wrong = variant(rules, rules=(Rule((Condition("n", ("1",)),), "1"),))
    (first, second) = check(network, wrong).counterexamples
    assert first.row == {"n": None, "t": "x"}
    assert (second.network, second.rules, second.rule) == (1, 0, None)


@pytest.mark.parametrize(
    ("features", "classes", "message"),
    [
        ({"color": "ry", "age": "ab"}, "ab", "features: the rules have 'age'"),
        ({"color": "ry"}, "ab", "features: the network has 'size', the rules have not"),
        ({"color": "ry", "size": "sml"}, "ab", "feature 'size': the rules have 'l'"),
        ({"color": "ry", "size": "s"}, "ab", "feature 'size': the network has 'm'"),
        ({"color": "ry", "size": "sm"}, "ac", "classes: the rules have 'c'"),
    ],
)
def test_what_does_not_fit_is_named(features, classes, message):
    domain = Domain((Feature("color", tuple("ry")), Feature("size", tuple("sm"))))
    network = Network(domain, (Layer([[1.0]] * 4, [0.0], "sigmoid"),), tuple("ab"))
    other = Domain(tuple(Feature(name, tuple(v)) for name, v in features.items()))
    with pytest.raises(DomainError, match=f"^{message}"):
        check(network, RuleList(other, (), classes[0], tuple(classes)))


def test_classes_that_do_not_fit_are_named():
    layer = Layer([[1.0, 2.0, 3.0]], [0.0] * 3, "softmax")
    network = Network(plain_domain([1]), (layer,), tuple("abc"))
    with pytest.raises(DomainError, match=r"^classes: the network has 'c', the rules"):
        check(network, RuleList(network.domain, (), "a", ("a", "b")))


def test_two_values_that_match_one_are_refused():
    layer = Layer([[1.0], [2.0]], [0.0], "sigmoid")
    network = Network(Domain((Feature("n", (1, 2)),)), (layer,), ("no", "yes"))
    other = Domain((Feature("n", (True, "1")),))
    with pytest.raises(DomainError, match=r"^feature 'n': the rules have '1' twice"):
        check(network, RuleList(other, (), "no", network.classes))


def test_no_samples_are_refused():
    with pytest.raises(OptionError, match="samples: 0, expected a whole number from 1"):
        check(TOMATO, TOMATO_RULES, samples=0)


@pytest.mark.parametrize("seed", [-1, 0.5, "3", None])
def test_a_seed_that_is_no_whole_number_is_refused(seed):
    with pytest.raises(OptionError, match=r"seed: .*, expected a whole number from 0"):
        check(TOMATO, TOMATO_RULES, seed=seed)


# It is independent.

ANY = None
ALLOWED = {
    "checker": ANY,
    "engine": {"Meter", "Progress"},
    "engine.parallel": {"is_remote", "shared_workers", "spread"},
    "errors": ANY,
    "files": {"to_json"},
    "network": {"Affine", "Layer", "Network"},
    "output": ANY,
    "rules": {"RuleList", "certificate_of"},
    "scorecards": {"CardRegion", "Column", "PointsTable", "Scorecard"},
    "space": {"Binned", "Curve", "Curved", "Domain", "Feature", "Grouped", "Range",
              "Rows", "Shape", "Value", "plain_number", "refuse_curves", "text_of",
              "whole_number"},
}  # fmt: skip
"""What the checker may use of other rooms: values, files, and who does the work."""


@pytest.mark.parametrize("largest", [1 << 24, 0])
def test_nothing_of_the_extraction_is_asked_for_an_answer(largest, monkeypatch):
    """With every other way to answer broken, the verdict is the same."""
    ranged_ = check(RANGED, RANGED_RULES, samples=100)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the checker asked someone else")

    others = ("network.certified", "network.exact", "network.activations")
    for name in (*others, "rules.matching", "engine.search", "engine.table"):
        module = import_module(f"nn2rules.{name}")
        for item in vars(module).copy():
            if callable(vars(module)[item]) and item[0].islower():
                monkeypatch.setattr(module, item, refuse)
    for name in ("predict", "predict_codes", "scores"):
        monkeypatch.setattr(Network, name, refuse, raising=False)
    assert check(CAR, CAR_RULES, largest=largest).ok
    assert check(RANGED, RANGED_RULES, samples=100) == ranged_


FORBIDDEN = {
    "_boxes", "apply", "function", "match", "predict", "predict_codes", "scores",
    "sorted_by_support", "support",
}  # fmt: skip


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_it_shares_no_code_with_the_extraction(source):
    tree = ast.parse(source.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names = [node.module or ""]
            items = {alias.name for alias in node.names}
        else:
            continue
        for name in names:
            package, _, rest = name.partition(".")
            if package == "nn2rules":
                allowed = ALLOWED["checker" if rest.startswith("checker.") else rest]
                assert allowed is ANY or items <= allowed, name
            else:
                assert package in {
                    "bisect", "collections", "dataclasses", "decimal", "fractions",
                    "functools", "hashlib", "itertools", "json", "math", "numbers",
                    "numpy", "os",
                    "struct", "time", "typing", "zlib",
                }  # fmt: skip


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_it_asks_neither_the_network_nor_the_rules_for_answers(source):
    tree = ast.parse(source.read_text(encoding="utf-8"))
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    states_scores = source.parent.name == "scorecards"  # as values, in its regions
    assert not used & (FORBIDDEN - ({"scores"} if states_scores else set()))


@pytest.mark.parametrize("pair", [(TOMATO_RULES, TOMATO), (object(), TOMATO_RULES)])
def test_what_is_no_network_and_rules_is_refused(pair):
    with pytest.raises(OptionError, match="takes a Network and a RuleList or"):
        check(*pair)


# Ranges of numbers

RANGED = ranged.random_network(np.random.default_rng(5), ranged.mixed_domain())
RANGED_ROWS = ranged.random_rows(np.random.default_rng(6), RANGED.domain, 120)
RANGED_RULES = nn2rules.extract(RANGED, data=RANGED_ROWS, form="set")


def moved_ends():
    """Yield rules of which one has a condition that reaches a little further."""
    for index, rule in enumerate(RANGED_RULES.rules[:12]):
        for place, condition in enumerate(rule.conditions):
            feature = RANGED.domain.feature(condition.feature)
            is_span = isinstance(condition.values[0], tuple)
            if not isinstance(feature, Range) or not is_span:
                continue
            (low, high), *rest = condition.values
            first, last = feature.limits
            step = max(1, int((last - first) // 10))
            for span in ((max(first, low - step), high), (low, min(last, high + step))):
                changed = list(rule.conditions)
                changed[place] = Condition(feature.name, (span, *rest))
                listed = list(RANGED_RULES.rules)
                listed[index] = Rule(tuple(changed), rule.then)
                if span != (low, high):
                    yield variant(RANGED_RULES, rules=tuple(listed)), index


def test_rules_about_numbers_are_compared_where_they_end():
    assert check(RANGED, RANGED_RULES, rows=RANGED_ROWS, samples=4000).is_proved
    report = check(RANGED, RANGED_RULES, rows=RANGED_ROWS, samples=4000, time=0)
    assert report.is_undecided, report
    assert report.method == "sample"
    text = str(report)
    assert (
        "4,000 inputs drawn from the domain, numbers evenly spread; 1,000 with" in text
    )
    assert "% of all inputs, numbers evenly spread, are covered by a rule and" in text
    assert f"{RANGED.domain.n_inputs:,} of the domain" not in text


def test_ends_that_were_moved_over_the_border_are_found():
    oracle = nn2rules.engine.Oracle(RANGED)
    n_wrong = 0
    for rules, index in moved_ends():
        position = RANGED.classes.index(rules.rules[index].then)
        parts = parts_of(rules.domain, rules.boxes[index])
        is_right = all(
            oracle.ask(box, position, ends=ends).proved
            for box, ends in zip(*parts, strict=True)
        )
        report = check(RANGED, rules, samples=20_000)
        assert report.ok == is_right, report
        n_wrong += not is_right
        for example in report.counterexamples:
            assert RANGED.predict([example.row])[0] == example.network
            assert rules.rules[example.rule].then == example.rules
    assert n_wrong > 10


def test_a_border_that_is_one_number_off_is_found():
    domain = Domain((Feature.real("x", 0.0, 10.0), Feature.real("n", 0, 9, whole=True)))
    layer = Layer([[1.0], [0.0]], [-2.5], "sigmoid")
    network = Network(domain, (layer,), ("no", "yes"))
    for low, is_right in (
        (np.nextafter(2.5, 3), True),
        (2.5, False),
        (np.nextafter(2.5, 2), False),
    ):
        rule = Rule((Condition("x", ((float(low), 10),)),), "yes")
        rules = RuleList(domain, (rule,), "no", ("no", "yes"))
        report = check(network, rules, samples=500)
        assert report.ok == is_right, report
    wide = Rule((Condition("x", ((np.nextafter(2.5, 9), 10),)),), "yes")
    other = Domain((Feature.real("x", 0.0, 10.0), Feature.real("n", 0, 9)))
    with pytest.raises(
        DomainError, match="the rules have numbers from 0 to 9, the net"
    ):
        check(network, RuleList(other, (wide,), "no", ("no", "yes")))
    other = Domain((Feature.real("x", 0.0, 11.0), domain.features[1]))
    with pytest.raises(DomainError, match="the network has numbers from 0 to 10"):
        check(network, RuleList(other, (wide,), "no", ("no", "yes")))


def test_impossible_inputs_beside_ranges():
    wrong = RuleList(RANGED.domain, (), "no", ("no", "yes"))
    report = check(RANGED, wrong, impossible=[{"age": [999, None]}], samples=2000)
    assert report.impossible > 0
    assert all(e.row["age"] not in (999, None) for e in report.counterexamples)
    with pytest.raises(OptionError, match="has no value 30 beside its range"):
        check(RANGED, wrong, impossible=[{"age": [30]}])


@pytest.mark.parametrize("seed", range(3))
def test_classes_of_numbers_are_those_of_the_network(seed):
    rng = np.random.default_rng(seed)
    network = ranged.random_network(rng, ranged.mixed_domain(), classes=(0, 1, 2))
    rows = ranged.random_rows(rng, network.domain, 300)
    inputs = network.domain.inputs_of(rows)
    assert (
        evaluate.classify(network, *inputs).tolist() == network.predict(rows).tolist()
    )
    exact = [evaluate.exact_class(network, *one) for one in zip(*inputs, strict=True)]
    assert exact == network.predict(rows).tolist()


# What rules say that they lean on


def test_a_rule_that_is_not_true_on_its_own_is_found_where_it_says_so():
    rules = nn2rules.extract(CAR, form="list", effort=0)
    leaning = [index for index, facts in enumerate(rules.facts) if facts.unless]
    assert leaning
    for index in leaning:
        facts = list(rules.facts)
        facts[index] = replace(facts[index], unless=())
        report = check(CAR, rules.replace(facts=facts))
        assert not report.ok
        assert report.untrue == (index,)
        assert report.different == 0
        [example] = report.counterexamples
        assert example.rule == index
        assert CAR.predict(example.row)[0] == example.network != example.rules
        assert str(report).startswith("NOT TRUE ALONE: ")
    assert check(CAR, rules).untrue == ()


def test_rules_that_say_nothing_of_it_may_lean_on_others():
    rules = nn2rules.extract(CAR, form="list", effort=0)
    silent = [replace(facts, unless=None) for facts in rules.facts]
    assert check(CAR, rules.replace(facts=silent)).ok
