import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from nn2rules import (
    Budget,
    BudgetExceededError,
    Layer,
    Network,
    OptionError,
    UnsupportedModelError,
    extract,
)
from nn2rules.engine import Oracle, build_table
from nn2rules.extraction.paper.by_engine import (
    search_prefixes,
    table_prefixes,
)
from nn2rules.extraction.paper.prefixes import prefix_boxes
from strategies import PIECEWISE_LINEAR, networks, plain_domain, relu_networks


def paper_form(network, **options):
    return extract(network, form="paper", **options)


def ordered_classes(network, order):
    """Return a function from inputs in `order` to whether they are of class 1."""

    def holds(row):
        codes = [0] * len(order)
        for feature, code in zip(order, row, strict=True):
            codes[feature] = code
        return naive.class_of(network, codes) == 1

    return holds


@settings(max_examples=300)
@given(relu_networks(), st.data())
def test_all_engines_give_the_same_rules(network, data):
    order = data.draw(st.permutations(network.domain.names) | st.none())
    paper = paper_form(network, engine="paper", order=order)
    for engine in ("table", "search", "auto"):
        rules = paper_form(network, engine=engine, order=order)
        assert rules.rules == paper.rules
        assert rules.default == paper.default
        assert str(rules) == str(paper)


@settings(max_examples=60)
@given(relu_networks(max_inputs=40, awkward=True))
def test_awkward_names_make_no_difference(network):
    paper = paper_form(network, engine="paper")
    assert paper_form(network, engine="table").rules == paper.rules
    assert paper_form(network, engine="search").rules == paper.rules


@settings(max_examples=100)
@given(relu_networks(max_inputs=40), st.data())
def test_support_is_counted_alike(network, data):
    rows = network.domain.decode(naive.inputs(network.domain.sizes))
    chosen = data.draw(st.lists(st.sampled_from(rows), min_size=1, max_size=9))
    for scope in ("domain", "support"):
        paper = paper_form(network, engine="paper", data=chosen, scope=scope)
        for engine in ("table", "search"):
            rules = paper_form(network, engine=engine, data=chosen, scope=scope)
            assert rules.rules == paper.rules


@settings(max_examples=150)
@given(networks(PIECEWISE_LINEAR), st.data())
def test_prefixes_are_the_maximal_ones(network, data):
    """Also of networks that the paper's own algorithm does not read."""
    if not network.is_binary:
        return
    order = data.draw(st.permutations(range(len(network.domain.sizes))))
    sizes = [network.domain.sizes[index] for index in order]
    expected = naive.maximal_prefixes(sizes, ordered_classes(network, order))
    assert table_prefixes(build_table(network), order) == expected
    assert list(search_prefixes(Oracle(network), order)) == expected


def test_a_prefix_box_contains_the_inputs_that_begin_with_it():
    domain = plain_domain([2, 3, 2])
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        for length in range(4):
            sizes = [domain.sizes[index] for index in order]
            for prefix in naive.inputs(sizes[:length]):
                [box] = prefix_boxes(domain, order, [prefix])
                for codes in naive.inputs(domain.sizes):
                    inside = all(box[domain.offsets[:-1] + np.array(codes)])
                    row = [codes[index] for index in order]
                    assert inside == naive.begins_with(row, prefix)


# Budgets


def random_relu(seed, sizes=(3, 2, 4, 2, 3)):
    rng = np.random.default_rng([60, seed])
    hidden = Layer(rng.normal(size=(sum(sizes), 4)), rng.normal(size=4), "relu")
    weights = rng.normal(size=(4, 1))
    domain, classes = plain_domain(list(sizes)), ("no", "yes")
    network = Network(domain, (hidden, Layer(weights, [0.0], "sigmoid")), classes)
    codes = np.stack([rng.integers(0, size, 99) for size in sizes], axis=1)
    middle = np.median(network.scores_codes(codes)) + 1e-3  # no input is tied
    return Network(domain, (hidden, Layer(weights, [-middle], "sigmoid")), classes)


@pytest.mark.parametrize("seed", range(6))
def test_rules_of_a_spent_budget_are_right(seed):
    network = random_relu(seed)
    complete = paper_form(network, engine="search")
    truth = build_table(network).classes
    rows = [network.domain.input(number) for number in range(len(truth))]
    counts = []
    for boxes in (1, 5, 20, 60, 150, 10**6):
        try:
            rules = paper_form(network, engine="search", budget=Budget(boxes=boxes))
        except BudgetExceededError as error:
            rules = error.rules
            assert rules.scope == "support"
            assert rules.certificate["boxes"] == boxes + 1
        else:
            assert rules.rules == complete.rules
            assert rules.scope == "domain"
        counts.append(len(rules.rules))
        assert rules.rules == complete.rules[: len(rules.rules)]
        for row, index in zip(rows, truth, strict=True):
            if naive.first_match(rules, row) >= 0:
                assert index == 1
    assert counts == sorted(counts)
    assert counts[-1] == len(complete.rules) > counts[0]


@pytest.mark.parametrize("budget", [Budget(boxes=0), Budget(seconds=0)])
def test_without_a_budget_nothing_is_claimed(budget):
    with pytest.raises(BudgetExceededError) as error:
        paper_form(random_relu(1), engine="search", budget=budget)
    assert error.value.rules.rules == ()
    assert error.value.rules.scope == "support"


def test_without_memory_the_domain_is_searched():
    network = random_relu(2)
    rules = paper_form(network, budget=Budget(memory=0))
    assert rules.certificate["engine"] == "search"
    assert rules.rules == paper_form(network).rules
    with pytest.raises(BudgetExceededError, match="inputs"):
        paper_form(network, engine="table", budget=Budget(memory=0))


def test_a_negative_budget_is_refused():
    with pytest.raises(OptionError, match="boxes"):
        paper_form(random_relu(3), budget=Budget(boxes=-1))


def test_threads_make_no_difference(monkeypatch):
    monkeypatch.setattr("nn2rules.engine.table._CHUNK", 10)
    network = random_relu(4)
    one, two = (paper_form(network, engine="table", n_jobs=n) for n in (1, 2))
    assert one.rules == two.rules
    assert one.certificate == two.certificate


def test_progress_ends_at_the_end():
    seen = []
    network = random_relu(5)
    paper_form(network, engine="search", progress=lambda *report: seen.append(report))
    shares = [share for _, share in seen]
    assert shares == sorted(shares)
    assert all(0 <= share <= 1 for share in shares)
    assert "rules" in seen[0][0]


# Domains without a table


def test_a_domain_beyond_any_table():
    """Of 45 features four matter; the rules are those of the four."""
    small = random_relu(6, sizes=(3, 2, 2, 3))
    first = small.layers[0]
    weights = np.zeros((10 + 41 * 3, 4))
    weights[:10] = first.weights
    layers = Layer(weights, first.bias, "relu"), small.layers[1]
    large = Network(plain_domain([3, 2, 2, 3] + [3] * 41), layers, ("no", "yes"))
    found = paper_form(large)
    assert found.certificate["engine"] == "search"
    assert found.rules == paper_form(small).rules
    assert found.certificate["inputs"] == 36 * 3**41


def test_constant_networks():
    for bias, n_rules in ((1, 1), (-1, 0), (0, 0)):
        layer = Layer(np.zeros((5, 1)), [bias], "sigmoid")
        network = Network(plain_domain([2, 3]), (layer,), ("no", "yes"))
        for engine in ("table", "search", "paper"):
            rules = paper_form(network, engine=engine)
            assert len(rules.rules) == n_rules
            assert rules.default == "no"


def test_several_classes_have_no_paper_form():
    layer = Layer(np.eye(3), np.zeros(3), "softmax")
    network = Network(plain_domain([3]), (layer,), ("a", "b", "c"))
    for engine in ("auto", "table", "search"):
        with pytest.raises(UnsupportedModelError, match="two classes"):
            paper_form(network, engine=engine)
