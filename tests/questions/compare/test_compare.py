"""Comparisons against brute force: every input, every rule, every count."""

import itertools
import json
import pickle
import time
from dataclasses import replace

import numpy as np
import pytest

import naive
import ranged
from nn2rules import (
    Budget,
    Condition,
    Domain,
    DomainError,
    Feature,
    Layer,
    Network,
    OptionError,
    Rule,
    RuleList,
    UnsupportedModelError,
    compare,
    datasets,
    extract,
    load,
)
from nn2rules.questions.compare.by_search import _least
from nn2rules.questions.compare.canonical_form import form_of
from strategies import plain_domain

ENGINES = ["table", "search"]
CLASSES = ("a", "b", "c", "d")


def random_network(rng, domain, activation="relu", n_classes=2, units=3):
    n_columns, outputs = int(domain.offsets[-1]), 1 if n_classes == 2 else n_classes
    scores = Layer(
        rng.normal(size=(units, outputs)).round(1),
        rng.normal(size=outputs).round(1),
        "sigmoid" if outputs == 1 else "softmax",
    )
    hidden = Layer(
        rng.normal(size=(n_columns, units)).round(1),
        rng.normal(size=units).round(1),
        activation,
    )
    return Network(domain, (hidden, scores), CLASSES[:n_classes])


def large_network(rng):
    """Draw a network beyond any table, half of whose inputs are of each class."""
    domain = plain_domain([4] * 20)
    hidden = Layer(rng.normal(size=(80, 4)), rng.normal(size=4), "relu")
    last = Layer(rng.normal(size=(4, 1)), [0.0], "sigmoid")
    network = Network(domain, (hidden, last), ("a", "b"))
    scores = network.scores_codes(rng.integers(0, 4, size=(1000, 20)))
    return moved(network, -float(np.median(scores)))


def moved(network, by):
    """Return a network whose score is larger."""
    *hidden, last = network.layers
    final = Layer(last.weights, last.bias + by, last.activation)
    return replace(network, layers=(*hidden, final))


def random_domain(rng, most=5):
    return plain_domain(rng.integers(1, 5, size=rng.integers(1, most)).tolist())


def near(rng, network, size=0.3):
    """Return a network that differs a little, or not at all."""
    layers = [
        Layer(
            layer.weights + (rng.random(layer.weights.shape) < size).round() * 0.3,
            layer.bias,
            layer.activation,
        )
        for layer in network.layers
    ]
    return replace(network, layers=tuple(layers))


def random_rules(rng, domain, classes=("a", "b"), n_rules=5):
    rules = []
    for _ in range(rng.integers(0, n_rules + 1)):
        conditions = []
        for feature in domain.features:
            kept = [value for value in feature.values if rng.random() < 0.6]
            if kept and len(kept) < len(feature) and rng.random() < 0.6:
                conditions.append(Condition(feature.name, tuple(kept)))
        rules.append(Rule(tuple(conditions), str(rng.choice(classes))))
    scope = str(rng.choice(["domain", "support"]))
    return RuleList(domain, rules, str(rng.choice(classes)), classes, scope=scope)


def truth(one, rows):
    """Return the answers to rows; None where no rule holds."""
    if isinstance(one, Network):
        return one.predict(rows).tolist()
    found = [naive.first_match(one, row) for row in rows]
    rest = None if one.scope == "support" else one.default
    return [rest if index < 0 else one.rules[index].then for index in found]


def check(found, old, new, domain, *, covered_only=False):
    """Compare a comparison with brute force, ``==``."""
    rows = [domain.input(number) for number in range(domain.n_inputs)]
    both = [*zip(truth(old, rows), truth(new, rows), strict=True)]
    differing = {i: pair for i, pair in enumerate(both) if pair[0] != pair[1]}
    if covered_only:
        differing = {i: pair for i, pair in differing.items() if None not in pair}
    assert found.equal is (not differing)
    assert found.inputs == len(differing) == found.at_least
    assert found.n_inputs == len(rows)
    held = set()
    for rule in found.rules:
        own = [i for i, row in enumerate(rows) if naive.holds(rule.conditions, row)]
        assert all(differing.get(index) == (rule.old, rule.new) for index in own)
        assert rule.inputs == len(own)
        held |= set(own)
    assert found.complete
    assert held == set(differing)
    counts = dict.fromkeys(differing.values(), 0)
    for pair in differing.values():
        counts[pair] += 1
    assert {(c.old, c.new): c.inputs for c in found.changes} == counts
    if differing:
        index = rows.index(found.counterexample)
        assert differing[index] == found.predictions
    else:
        assert found.counterexample is found.predictions is None
    assert json.loads(found.to_json())["inputs"] == len(differing)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_two_networks_differ_just_where_brute_force_says(engine, n_classes, activation):
    rng = np.random.default_rng(n_classes)
    seen = set()
    for _ in range(25):
        domain = random_domain(rng)
        old = random_network(rng, domain, activation, n_classes)
        new = near(rng, old)
        if rng.random() < 0.3:
            new = random_network(rng, domain, "relu", n_classes)
        found = compare(old, new, engine=engine)
        check(found, old, new, domain)
        seen.add(found.equal)
    assert seen == {True, False}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_network_and_rules_in_both_orders(engine):
    rng = np.random.default_rng(1)
    for _ in range(20):
        domain = random_domain(rng)
        network = random_network(rng, domain)
        rules = random_rules(rng, domain)
        check(compare(network, rules, engine=engine), network, rules, domain)
        check(compare(rules, network, engine=engine), rules, network, domain)
        found = compare(rules, network, engine=engine, covered_only=True)
        check(found, rules, network, domain, covered_only=True)


@pytest.mark.parametrize("engine", ENGINES)
def test_two_rule_lists(engine):
    rng = np.random.default_rng(2)
    for _ in range(30):
        domain = random_domain(rng)
        old, new = (random_rules(rng, domain) for _ in range(2))
        check(compare(old, new, engine=engine), old, new, domain)
        found = compare(old, new, engine=engine, covered_only=True)
        check(found, old, new, domain, covered_only=True)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("form", ["list", "set"])
def test_extracted_rules_are_equal_to_their_network(engine, form):
    rng = np.random.default_rng(3)
    for n_classes in (2, 3, 3):
        network = random_network(rng, plain_domain([3, 4, 3]), n_classes=n_classes)
        rules = extract(network, form=form)
        assert compare(network, rules, engine=engine).equal is True
        assert compare(rules, network, engine=engine).equal is True
        assert compare(rules, rules, engine=engine).equal is True


@pytest.mark.parametrize("engine", ENGINES)
def test_constant_networks(engine):
    domain = plain_domain([2, 3])
    always, never = (
        Network(domain, (Layer(np.zeros((5, 1)), [b], "sigmoid"),), ("no", "yes"))
        for b in (1, -1)
    )
    assert compare(always, always, engine=engine).equal is True
    found = compare(never, always, engine=engine)
    check(found, never, always, domain)
    [rule] = found.rules
    assert (rule.conditions, rule.old, rule.new, rule.inputs) == ((), "no", "yes", 6)
    assert "no → yes   6 inputs, 1 rule" in str(found)
    assert " A1  always" in str(found)


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_are_counted_for_the_whole_and_for_each_rule(engine):
    network = load(datasets.network_file("car"))
    data = datasets.load("car").train.rows
    new = moved(network, 1)
    found = compare(network, new, data, engine=engine)
    differing = network.predict(data) != new.predict(data)
    assert found.rows == differing.sum() > 0
    assert found.n_rows == len(data)
    assert sum(change.rows for change in found.changes) == found.rows
    for rule in found.rules:
        fits = [naive.holds(rule.conditions, row) for row in data]
        assert rule.rows == sum(fits)
        assert all(differing[index] for index in np.flatnonzero(fits))
    assert found.counterexample in data
    assert f"on {found.rows:,} of 1,382 rows" in str(found)
    assert found.rule_list.predict(data).tolist() == [
        "unacc → acc" if is_new else "same" for is_new in differing
    ]


def test_table_and_search_say_the_same_of_adult():
    network = load(datasets.network_file("adult"))
    layers = [
        Layer(layer.weights.round(3), layer.bias.round(3), layer.activation)
        for layer in network.layers
    ]
    rounded = replace(network, layers=tuple(layers))
    found = [
        compare(network, rounded, engine=engine, budget=Budget(boxes=10**9))
        for engine in ENGINES
    ]
    assert found[0].inputs == found[1].inputs == 44
    assert found[0].changes == found[1].changes
    assert all(one.complete for one in found)


# Written differently


def permuted(network, rng):
    hidden, last = network.layers
    order = rng.permutation(len(hidden.bias))
    scale = 2.0 ** rng.integers(-3, 4, size=len(order))
    return replace(
        network,
        layers=(
            Layer(hidden.weights[:, order] * scale, hidden.bias[order] * scale, "relu"),
            Layer(
                8 * last.weights[order] / scale[:, np.newaxis], 8 * last.bias, "sigmoid"
            ),
        ),
    )


def shifted(network):
    """Let a feature add to all its values what the bias no longer adds."""
    hidden, last = network.layers
    weights = hidden.weights.copy()
    weights[: network.domain.sizes[0]] += 0.25
    first = Layer(weights, hidden.bias - 0.25, hidden.activation)
    return replace(network, layers=(first, last))


def test_networks_written_differently_are_equal_however_large():
    rng = np.random.default_rng(4)
    domain = plain_domain([9] * 30)
    network = random_network(rng, domain, units=6)
    network = replace(
        network,
        layers=tuple(
            Layer(
                np.round(layer.weights * 64) / 64, layer.bias.round(), layer.activation
            )
            for layer in network.layers
        ),
    )
    assert domain.n_inputs > 10**28
    for new in (network, permuted(network, rng), shifted(network)):
        found = compare(network, new)
        assert (found.equal, found.how, found.inputs) == (True, "weights", 0)
        assert found.rules == ()
        assert str(found).endswith("which define the same function.")


def test_the_same_rules_are_equal_however_large_their_domain():
    rng = np.random.default_rng(9)
    rules = random_rules(rng, plain_domain([9] * 30), n_rules=20)
    found = compare(rules, rules.replace(form="set"), budget=Budget(boxes=1))
    assert (found.equal, found.how) == (True, "rules")
    assert str(found).endswith("by their\nrules, which are the same.")
    fewer = rules.take(range(1, len(rules)))
    assert compare(rules, fewer, budget=Budget(boxes=1)).equal is not True


def test_one_form_means_one_function():
    rng = np.random.default_rng(5)
    n_same = 0
    for _ in range(300):
        domain = plain_domain([2, 2])
        numbers = (
            rng.integers(-1, 2, size=(2, 4, 2)),
            rng.integers(-1, 2, size=(2, 2, 1)),
        )
        old, new = (
            Network(
                domain,
                (Layer(w, [0, 0], "relu"), Layer(v, [-0.5], "sigmoid")),
                ("no", "yes"),
            )
            for w, v in zip(*numbers, strict=True)
        )
        if form_of(old) == form_of(new):
            n_same += old.layers != new.layers
            assert compare(old, new, engine="table").equal
    assert n_same > 3


def test_thresholds_are_part_of_the_function():
    rng = np.random.default_rng(6)
    network = random_network(rng, plain_domain([3] * 20))
    few = Budget(boxes=100)
    new = replace(network, threshold=0.9)
    assert compare(network, new, budget=few).equal is False
    assert compare(replace(new, threshold=0.7), new, budget=few).equal is False
    assert compare(new, permuted(new, rng), budget=few).equal is not True


# Numbers


@pytest.mark.parametrize("seed", [2, 4, 5])
def test_ranges_of_numbers_by_search(seed):
    rng = np.random.default_rng(seed)
    domain = ranged.mixed_domain()
    old = ranged.random_network(rng, domain)
    new = moved(old, 0.5)
    rows = ranged.random_rows(rng, domain, 500)
    found = compare(old, new, rows, budget=Budget(boxes=3000))
    differing = old.predict(rows) != new.predict(rows)
    assert found.rows == differing.sum()
    assert found.inputs is found.n_inputs is None
    assert found.equal is False
    assert found.rule_list is not None
    for rule in found.rules:
        alone = RuleList(domain, (Rule(rule.conditions, "yes"),), "no", ("no", "yes"))
        assert rule.rows == (alone.predict(rows) == "yes").sum()
    assert max(rule.rows for rule in found.rules) > 0
    tried = ranged.rows_at_ends(rng, found.rule_list, 3000)
    answers = [*zip(old.predict(tried), new.predict(tried), strict=True)]
    for index, pair in zip(found.rule_list.apply(tried), answers, strict=True):
        if index >= 0:
            rule = found.rules[index]
            assert (rule.old, rule.new) == pair
        elif found.complete:
            assert pair[0] == pair[1]


def whole_domain():
    age = Feature.real("age", 17, 40, whole=True, special=[999])
    return Domain((age, Feature("job", ("a", "b", "c"))))


@pytest.mark.parametrize("seed", range(6))
def test_whole_numbers_are_counted_one_by_one(seed):
    rng = np.random.default_rng(seed)
    domain = whole_domain()
    old, new = (ranged.random_network(rng, domain) for _ in range(2))
    rows = [{"age": age, "job": job} for age in (*range(17, 41), 999) for job in "abc"]
    rules = extract(new, scope="domain")
    assert compare(new, rules).equal is True
    differing = old.predict(rows) != new.predict(rows)
    for one in (new, rules):
        found = compare(old, one)
        assert found.n_inputs == len(rows)
        assert found.equal is (not differing.any())
        assert found.inputs == differing.sum()
        if found.rule_list is not None:
            same = found.rule_list.predict(rows) == "same"
            assert (same != differing).all()
            assert [rule.inputs for rule in found.rules] == [
                sum(naive_holds(rule.conditions, row) for row in rows)
                for rule in found.rules
            ]


def naive_holds(conditions, row):
    return all(
        any(
            value[0] <= row[c.feature] <= value[1] and row[c.feature] != 999
            if isinstance(value, tuple)
            else value == row[c.feature]
            for value in c.values
        )
        for c in conditions
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_rules_with_ranges_cut_at_different_numbers(engine):
    domain = whole_domain()

    def rules(*spans):
        listed = [
            Rule((Condition("age", (span,)), Condition("job", ("a", "b"))), "yes")
            for span in spans
        ]
        return RuleList(domain, listed, "no", ("no", "yes"))

    found = compare(rules((17, 25), (30, 35)), rules((20, 32)), engine=engine)
    ages = {17, 18, 19, *range(33, 36)}, set(range(26, 30))
    assert found.inputs == 2 * (len(ages[0]) + len(ages[1]))
    assert {(c.old, c.new): c.inputs for c in found.changes} == {
        ("yes", "no"): 12,
        ("no", "yes"): 8,
    }
    assert compare(rules((17, 25)), rules((17, 20), (21, 25)), engine=engine).equal


# Open


def numbers_network(*, whole):
    """Draw a network over three ranges of 100 numbers, and rows for it."""
    rng = np.random.default_rng(3)
    features = [Feature.real(f"n{index}", 0, 99, whole=whole) for index in range(3)]
    hidden = Layer(rng.normal(size=(3, 8)) / 20, rng.normal(size=8), "relu")
    last = Layer(rng.normal(size=(8, 1)), [0.0], "sigmoid")
    network = Network(Domain(features), (hidden, last), ("no", "yes"))
    drawn = rng.integers(0, 100, size=(20, 3)).tolist()
    rows = [dict(zip(network.domain.names, row, strict=True)) for row in drawn]
    scores = network.scores_codes(*network.domain.inputs_of(rows))
    return moved(network, -float(np.median(scores))), rows


@pytest.mark.parametrize("boxes", [20, 60, 200])
def test_at_least_counts_the_rules_of_a_search_that_was_cut_short(boxes):
    """Rules cover more than the pieces that were found before the budget ended."""
    network, rows = numbers_network(whole=True)
    new = moved(network, 1.0)
    budget = Budget(boxes=boxes)
    found = compare(network, new, rows, engine="search", budget=budget)
    assert (found.equal, found.complete, found.inputs) == (False, False, None)
    held = np.zeros((100, 100, 100), dtype=bool)
    for rule in found.rules:
        spans = {c.feature: c.values for c in rule.conditions}
        sides = [spans.get(name, ((0, 99),)) for name in network.domain.names]
        for (a, b), (c, d), (e, f) in itertools.product(*sides):
            held[a : b + 1, c : d + 1, e : f + 1] = True
    assert held.sum() >= len(found.rules) > 0
    assert found.at_least >= held.sum()
    assert f"Different on at least {found.at_least:,} of 1,000,000 inputs" in str(found)
    numbers = np.argwhere(np.ones_like(held)).astype(float)
    codes = np.zeros(numbers.shape, dtype=int)
    answers = [side.predict_codes(codes, numbers) for side in (network, new)]
    assert found.at_least <= (answers[0] != answers[1]).sum()


def test_inputs_in_rules_are_counted_where_a_range_is_cut_evenly():
    cut = Domain((Feature.real("n", 0, 9, whole=True, edges=[5]),))
    assert _least({}, cut, np.array([[True, False]])) == 5


def test_real_numbers_are_never_counted_in_at_least():
    network, rows = numbers_network(whole=False)
    budget = Budget(boxes=200)
    found = compare(network, moved(network, 1.0), rows, engine="search", budget=budget)
    assert (found.equal, found.complete) == (False, False)
    assert found.rules
    assert found.at_least == 1
    assert "inputs that cannot be counted" in str(found)


def test_a_budget_that_ends_first_leaves_it_open_and_says_so():
    rng = np.random.default_rng(7)
    network = large_network(rng)
    found = compare(network, moved(network, 2.0**-45), budget=Budget(boxes=50))
    assert found.equal is None
    assert (found.inputs, found.rules, found.complete) == (None, (), False)
    assert found.counterexample is None
    assert str(found).startswith("Undecided: the budget was spent before")
    tables = compare(network, network, engine="search", time=0)
    assert tables.equal is True  # by their weights, which takes no time


def test_no_time_for_a_table_leaves_it_open():
    network = load(datasets.network_file("adult"))
    found = compare(network, replace(network, threshold=0.6), time=0)
    assert found.equal is None


def test_differences_of_rows_become_proved_rules_beyond_a_table():
    rng = np.random.default_rng(8)
    old = large_network(rng)
    new, domain = moved(old, 0.5), old.domain
    codes = rng.integers(0, 4, size=(300, 20))
    rows = domain.decode(codes)
    found = compare(old, new, rows, budget=Budget(boxes=4000))
    assert found.equal is False
    assert found.inputs is None
    assert found.at_least >= 1
    assert not found.complete
    differing = old.predict(rows) != new.predict(rows)
    assert found.rows == differing.sum() > 0
    assert "Incomplete: each rule below is proved" in str(found)
    fired = found.rule_list.apply(rows)
    assert (fired[~differing] == -1).all()
    assert (fired[differing] >= 0).any()
    for rule, box in zip(found.rules, found.rule_list.boxes, strict=True):
        parts = np.split(box, domain.offsets[1:-1])
        drawn = np.stack(
            [rng.choice(np.flatnonzero(part), size=500) for part in parts], axis=1
        )
        for one, answer in ((old, rule.old), (new, rule.new)):
            assert (one.predict_codes(drawn) == one.classes.index(answer)).all()


# Bad input, and what is said


def test_no_rule_is_an_answer_of_its_own():
    domain = plain_domain([2, 2])
    some = RuleList(
        domain,
        (Rule((Condition("f0", ("v0",)),), "yes"),),
        "no",
        ("no", "yes"),
        form="set",
        scope="support",
    )
    all_ = RuleList(domain, some.rules, "no", ("no", "yes"))
    found = compare(some, all_)
    [rule] = found.rules
    assert (rule.old, rule.new, rule.inputs) == (None, "no", 2)
    assert "no rule → no   2 inputs, 1 rule" in str(found)
    assert "count as “no rule”" in found.notes[0]
    assert compare(some, some).equal is True


def test_rules_for_rows_are_proved_wherever_they_decide():
    rng = np.random.default_rng(10)
    network = large_network(rng)
    rows = network.domain.decode(rng.integers(0, 4, size=(40, 20)))
    rules = extract(network, rows, scope="support", effort=0)
    found = compare(network, rules, rows, covered_only=True)
    assert (found.equal, found.how, found.rows) == (True, "search", 0)
    assert found.notes == (
        "Inputs that the new rules do not cover are left out: the rules claim nothing "
        "about them.",
    )
    assert str(found).startswith("Equal on every input that a rule covers: proved")
    wrong = rules.replace(answers=1 - rules.answers)
    assert compare(network, wrong, covered_only=True, time=1).equal is False


def test_classes_that_one_does_not_have_are_said():
    domain = plain_domain([2])
    old = RuleList(domain, (), "no", ("no", "yes"))
    new = RuleList(domain, (), "maybe", ("no", "maybe"))
    found = compare(old, new)
    check(found, old, new, domain)
    assert "Only the old one has the class yes." in str(found)
    assert "Only the new one has the class maybe." in str(found)
    with pytest.raises(DomainError, match="no class in common: no, yes in the old one"):
        compare(old, RuleList(domain, (), 1, (0, 1)))


def test_classes_that_read_the_same_are_the_same():
    domain = plain_domain([2])
    old = RuleList(domain, (), 1, (0, 1))
    new = RuleList(domain, (), "1", ("1", "0"))
    assert compare(old, new).equal is True


def test_engines_and_options_are_checked():
    network = load(datasets.network_file("tomato"))
    with pytest.raises(OptionError, match="engine: 'paper', expected"):
        compare(network, network, engine="paper")
    numbers = ranged.random_network(np.random.default_rng(0), ranged.mixed_domain())
    with pytest.raises(UnsupportedModelError, match="use engine='search'"):
        compare(numbers, numbers, engine="table")
    with pytest.raises(OptionError, match="expected 'pandas', 'polars' or 'pyarrow'"):
        compare(network, network).to_frame("excel")


def test_a_comparison_as_frame_and_html():
    domain = plain_domain([2, 2])
    old = RuleList(domain, (), "no", ("no", "yes"))
    new = RuleList(
        domain, (Rule((Condition("f1", ("v0",)),), "yes"),), *("no", ("no", "yes"))
    )
    found = compare(old, new, domain.decode([[0, 0], [0, 1], [0, 0]]))
    assert found.to_frame("pandas").to_dict("records") == [
        {
            "rule": "A1",
            "f0": "",
            "f1": "= v0",
            "old": "no",
            "new": "yes",
            "inputs": 2,
            "rows": 2,
        }
    ]
    assert "no → yes" in found._repr_html_()
    assert len(compare(old, old).to_frame("polars")) == 0


def attacks(rng, domain, box, number=300):
    """Draw inputs of a box, and others that differ from one of it in one feature."""
    parts = np.split(box, domain.offsets[1:-1])
    inside = np.stack([rng.choice(np.flatnonzero(p), number) for p in parts], axis=1)
    near_by = inside.copy()
    for row, feature in enumerate(rng.integers(0, len(parts), number).tolist()):
        near_by[row, feature] = rng.integers(0, len(parts[feature]))
    return inside, near_by


@pytest.mark.parametrize("seed", range(4))
def test_rules_beyond_a_table_withstand_attacks(seed):
    rng = np.random.default_rng(seed)
    old = large_network(rng)
    new = moved(old, 0.3) if seed % 2 else near(rng, old, size=0.05)
    found = compare(old, new, budget=Budget(boxes=3000), progress=False)
    assert (found.equal, found.how, found.complete) == (False, "search", False)
    rules = found.rule_list
    pairs = [(rule.old, rule.new) for rule in found.rules]
    assert pairs
    for box, pair in zip(rules.boxes, pairs, strict=True):
        inside, near_by = attacks(rng, old.domain, box)
        for network, label in zip((old, new), pair, strict=True):
            answers = network.predict_codes(inside)
            assert {network.classes[k] for k in answers.tolist()} == {label}
        held = box[near_by + old.domain.offsets[:-1]].all(axis=1)
        differs = old.predict_codes(near_by) != new.predict_codes(near_by)
        assert differs[held].all()
    codes = old.domain.encode([found.counterexample])
    assert old.predict_codes(codes) != new.predict_codes(codes)


@pytest.mark.parametrize("n_fixed", [12, 17, 19])
def test_what_is_proved_equal_beyond_a_table_withstands_attacks(n_fixed):
    rng = np.random.default_rng(5)
    old = large_network(rng)
    fixed = old.domain.features[:n_fixed]
    conditions = tuple(Condition(f.name, (f.values[0],)) for f in fixed)
    answer = old.classes[int(old.predict_codes(np.zeros((1, 20), np.int64))[0])]
    rule = Rule(conditions, answer)
    rules = RuleList(old.domain, (rule,), answer, old.classes, scope="support")
    found = compare(old, rules, covered_only=True, progress=False)
    assert found.equal is not None
    inputs = rng.integers(0, 4, (5000, 20))
    inputs[:, :n_fixed] = 0
    is_broken = (old.predict_codes(inputs) != old.classes.index(answer)).any()
    if found.equal:
        assert not is_broken
    else:
        codes = old.domain.encode([found.counterexample])
        assert not codes[0, :n_fixed].any()
        assert old.classes[int(old.predict_codes(codes)[0])] != answer


@pytest.mark.parametrize("engine", ENGINES)
def test_comparisons_can_be_pickled(engine):
    rng = np.random.default_rng(3)
    domain = random_domain(rng)
    old = random_network(rng, domain)
    new = near(rng, old, size=2.0)
    found = compare(old, new, engine=engine)
    again = pickle.loads(pickle.dumps(found))
    assert again.to_dict() == found.to_dict()
    assert str(again) == str(found)


def test_long_lists_keep_the_time():
    rng = np.random.default_rng(0)
    edges = [*range(1, 99)]
    numbers = [Feature.real(f"n{i}", 0, 100, edges=edges) for i in range(6)]
    domain = Domain(tuple(numbers))
    lists = []
    for _ in range(2):
        boxes = np.zeros((8000, 6, 99), dtype=np.bool_)
        boxes[rng.random(boxes.shape) < 0.03] = True
        boxes = np.logical_or.accumulate(boxes, axis=2)
        boxes[..., -1] = True
        answers = rng.integers(0, 2, len(boxes))
        flat = boxes.reshape(len(boxes), -1)
        lists.append(RuleList.from_boxes(domain, flat, answers, "a", ("a", "b")))
    compare(lists[0].take([0]), lists[1].take([1]), engine="search", progress=False)
    began = time.monotonic()
    found = compare(*lists, engine="search", time=0.2, progress=False)
    assert time.monotonic() - began < 2.5
    assert found.equal is not True
