"""Where inputs cannot all be tried, each rule is proved or refuted by search."""

from importlib import import_module
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nn2rules
from nn2rules import Condition, Domain, Feature, Layer, Network, Rule, RuleList, check
from nn2rules.space import Range

compare = import_module("nn2rules.checker.compare")
search = import_module("nn2rules.checker.search")

LOW, HIGH = 0, 6


def drawn_network(rng: np.random.Generator) -> Network:
    """Return a network over values and ranges; half of them have ties."""
    domain = Domain(
        (
            Feature("color", ("red", "green", "blue")),
            Feature.real("size", LOW, HIGH, whole=True),
            Feature.real("age", LOW, HIGH, whole=True, special=("unknown",))
            if rng.random() < 0.5
            else Feature("shape", ("round", "flat")),
            Feature("taste", ("sweet", None)),
        )
    )
    n_columns = int(domain.offsets[-1])
    activation = str(rng.choice(["relu", "tanh", "leaky_relu"]))
    n_classes = int(rng.integers(2, 4))
    shapes = [(n_columns, 4), (4, 1 if n_classes == 2 else 3)]

    def numbers(*shape: int) -> np.ndarray:
        if is_whole:
            return rng.integers(-2, 3, shape).astype(float)
        return rng.normal(size=shape)

    is_whole = bool(rng.random() < 0.5)
    hidden = Layer(numbers(*shapes[0]), numbers(4), activation)
    last = Layer(numbers(*shapes[1]), numbers(shapes[1][1]), "sigmoid")
    if n_classes == 3:
        last = Layer(last.weights, last.bias, "softmax")
    return Network(domain, (hidden, last), ("a", "b", "c")[:n_classes])


def all_rows(domain: Domain) -> list[dict]:
    values = []
    for feature in domain.features:
        listed = list(feature.values)
        if isinstance(feature, Range):
            listed = [*range(LOW, HIGH + 1), *feature.values[1:]]
        values.append(listed)
    return [dict(zip(domain.names, row, strict=True)) for row in product(*values)]


def meets(rule: Rule, row: dict) -> bool:
    def allows(condition: Condition) -> bool:
        value = row[condition.feature]
        return any(
            isinstance(value, int) and one[0] <= value <= one[1]
            if isinstance(one, tuple)
            else value == one
            for one in condition.values
        )

    return all(allows(condition) for condition in rule.conditions)


def wrong_rules(network, rules, impossible=()) -> set:
    """Return the rules that are wrong somewhere, by trying every input."""
    rows = [
        row
        for row in all_rows(network.domain)
        if not any(
            all(row[name] in values for name, values in box.items())
            for box in impossible
        )
    ]
    found = set()
    for row, answer in zip(rows, network.predict(rows).tolist(), strict=True):
        held = [k for k, rule in enumerate(rules.rules) if meets(rule, row)]
        asked = held if rules.form == "set" else held[:1]
        if not held and rules.scope == "domain" and rules.default != answer:
            found.add(None)
        found |= {k for k in asked if rules.rules[k].then != answer}
    return found


def edited(rules: RuleList, rng: np.random.Generator) -> RuleList:
    """Return rules of which one has lost a condition, or allows more."""
    several = [list(rule.conditions) for rule in rules.rules]
    k = int(rng.integers(len(several)))
    if several[k]:
        at = int(rng.integers(len(several[k])))
        condition = several[k].pop(at)
        feature = rules.domain.feature(condition.feature)
        if isinstance(feature, Range) and rng.random() < 0.7:
            spans = [one for one in condition.values if isinstance(one, tuple)]
            beside = [one for one in condition.values if not isinstance(one, tuple)]
            wider = [(low, min(HIGH, high + 1)) for low, high in spans[-1:]]
            values = (*spans[:-1], *wider, *beside)
            several[k].insert(at, Condition(condition.feature, values))
    changed = tuple(
        Rule(tuple(conditions), rule.then)
        for conditions, rule in zip(several, rules.rules, strict=True)
    )
    return RuleList(
        rules.domain,
        changed,
        rules.default,
        rules.classes,
        form=rules.form,
        scope=rules.scope,
    )


def searched(network, rules, **options):
    """Check with as small a sample as there can be."""
    return check(network, rules, largest=0, samples=1, time=60, **options)


@given(st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_the_verdict_on_each_rule_is_that_of_every_input(seed):
    rng = np.random.default_rng(seed)
    network = drawn_network(rng)
    rows = list(rng.choice(all_rows(network.domain), 30, replace=False))
    form, scope = (
        str(rng.choice(["list", "set"])),
        str(rng.choice(["support", "domain"])),
    )
    impossible = [{"color": ["red"], "taste": ["sweet"]}] if rng.random() < 0.3 else []
    rules = nn2rules.extract(
        network, rows, form=form, scope=scope, impossible=impossible, engine="search"
    )
    for some in (rules, edited(rules, rng) if len(rules) else rules):
        report = searched(network, some, impossible=impossible)
        wrong = wrong_rules(network, some, impossible)
        assert report.search.undecided == ()
        assert report.search.ties == 0
        listed = {k for k in report.search.refuted if not report.untrue}
        assert listed == wrong or report.untrue
        assert report.ok == (not wrong and not report.untrue and report.checked > 0)
        assert bool(report.different) == bool(wrong)
        for example in report.counterexamples:
            assert network.predict([example.row])[0] == example.network


def credit() -> tuple[Network, RuleList]:
    domain = Domain(
        (
            Feature.real("age", 18, 90, whole=True),
            Feature.real("amount", 0, 20000),
            Feature("job", ("none", "some", "good")),
        )
    )
    weights = [[0.05, -0.02], [-0.0002, 0.0001], [-1, 1], [0, 0], [1, -0.5]]
    layers = (Layer(weights, [0.5, 1], "relu"), Layer([[2], [-3]], [-1], "sigmoid"))
    network = Network(domain, layers, ("refuse", "grant"))
    rows = [
        {"age": age, "amount": amount, "job": job}
        for age, amount, job in product(
            (20, 40, 60), (500, 5000, 15000), ("none", "good")
        )
    ]
    return network, nn2rules.extract(network, rows, form="set")


def test_right_rules_about_numbers_are_proved():
    network, rules = credit()
    report = check(network, rules)
    assert report.ok
    assert report.is_proved
    assert report.search.proved == tuple(range(len(rules)))
    assert str(report).startswith("PROVED: ")


def test_an_emptied_cell_is_found_however_few_inputs_it_concerns():
    """One input of 64**6 is wrong: no sample would meet it."""
    domain = Domain(tuple(Feature.real(f"n{k}", 0, 63, whole=True) for k in range(6)))
    layer = Layer([[1.0]] * 6, [-6 * 63 + 0.5], "sigmoid")
    network = Network(domain, (layer,), ("no", "yes"))
    right = Rule((Condition("n0", ((0, 62),)),), "no")
    rules = RuleList(domain, (right,), "no", network.classes, scope="support")
    assert check(network, rules, time=30).ok
    emptied = RuleList(
        domain, (Rule((), "no"),), "no", network.classes, scope="support"
    )
    report = searched(network, emptied)
    assert not report.ok
    assert not report.is_undecided
    assert report.search.refuted == (0,)
    assert report.counterexamples[0].row == dict.fromkeys(domain.names, 63)


def test_a_sample_alone_is_no_pass():
    network, rules = credit()
    report = check(network, rules, time=0)
    assert report.different == 0
    assert not report.ok
    assert report.is_undecided
    assert "This is not a proof." in str(report)


def test_what_time_leaves_is_open():
    network, rules = credit()
    report = check(network, rules, time=1e-9)
    assert report.search.undecided == tuple(range(len(rules)))
    assert report.is_undecided
    assert "Undecided, because time ran out: rules " in str(report)


def test_an_interrupt_leaves_what_was_established():
    network, rules = credit()
    shares = []

    def stop(what: str, share: float) -> None:
        shares.append((what, share))
        if len(shares) == 2:
            raise KeyboardInterrupt

    report = check(network, rules, progress=stop)
    assert report.search.proved == (0, 1)
    assert report.search.stopped
    assert report.is_undecided
    assert "Undecided, because of Ctrl-C: rules " in str(report)
    assert shares[0] == ("proving rule by rule", 1 / len(rules))


@pytest.mark.parametrize("time", [-1, "long", True, float("nan")])
def test_a_time_that_is_none_is_refused(time):
    network, rules = credit()
    with pytest.raises(nn2rules.OptionError, match=r"time: .*, expected seconds"):
        check(network, rules, time=time)


def test_what_a_rule_leans_on_is_searched_too():
    domain = Domain((Feature.real("n", 0, 9), Feature("a", ("x", "y"))))
    layer = Layer([[1.0], [0.0], [0.0]], [-5.0], "sigmoid")
    network = Network(domain, (layer,), ("no", "yes"))
    first = Rule((Condition("n", ((0, 5),)),), "no")
    for unless, is_true in (((), False), ((1,), True)):
        rules = RuleList(
            domain, (first, Rule((), "yes", unless=unless)), "no", network.classes
        )
        report = searched(network, rules)
        assert report.different == 0
        assert report.ok == is_true
        assert report.untrue == (() if is_true else (1,))
