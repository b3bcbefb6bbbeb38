import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tables import (
    SMALL,
    Table,
    check_answers,
    check_pure,
    check_right_where_decided,
    domain_of,
    first,
    interrupting,
    members,
    network_of,
    tables,
)

import naive
import nn2rules
import ranged
from nn2rules import (
    Budget,
    BudgetExceededError,
    Domain,
    Feature,
    Layer,
    Network,
    extract,
)
from nn2rules.engine import Oracle
from nn2rules.engine.flat import empty_boxes
from nn2rules.engine.proof_or_counterexample import as_boxes
from nn2rules.extraction.from_search.covering import (
    Cover,
    cover_domain,
    cover_rows,
    find_uncovered,
)
from nn2rules.extraction.from_search.growing import Goal, Grower
from nn2rules.extraction.from_search.growth_context import Cases
from nn2rules.space import Inputs
from strategies import PIECEWISE_LINEAR, SMOOTH, networks, plain_domain, sizes

FORMS = ("list", "set")
MILD = ("integers", "signs", "zeros", "dyadic", "decimal")
SEARCHED = {"budget": Budget(memory=0)}


def check_domain(rules, table):
    default = rules.classes.index(rules.default)
    check_answers((rules.boxes, rules.answers), default, table)
    assert rules.certificate["engine"] == "search"
    assert rules.scope == "domain"
    if rules.form == "set":
        check_pure(rules.boxes, rules.answers, table)
        has_all = (first(rules.boxes, table.sizes) >= 0).all()
        assert has_all if rules.is_two_sided else default not in rules.answers
    elif len(rules):
        assert rules.answers[-1] != default


# The whole domain


@settings(max_examples=150)
@given(tables(shapes=SMALL, dont_care=False), st.sampled_from(FORMS), st.integers(0, 3))
def test_searched_rules_equal_any_table(table, form, seed):
    network = network_of(table, seed=seed)
    check_domain(extract(network, form=form, seed=seed, **SEARCHED), table)


@settings(max_examples=150)
@given(networks(PIECEWISE_LINEAR, max_inputs=20, palettes=MILD))
def test_searched_rules_equal_piecewise_linear_networks(network):
    check_searched(network)


@settings(max_examples=60)
@given(networks(PIECEWISE_LINEAR, max_inputs=8))
def test_searched_rules_equal_networks_of_extreme_weights(network):
    check_searched(network)


@settings(max_examples=25)
@given(networks(SMOOTH, max_inputs=6, palettes=MILD))
def test_searched_rules_equal_smooth_networks(network):
    check_searched(network)


def check_searched(network):
    shape = network.domain.sizes
    classes = [naive.class_of(network, codes) for codes in naive.inputs(shape)]
    assume(None not in classes)
    table = Table(np.array(classes, dtype=np.uint8), shape, len(network.classes))
    for form in FORMS:
        rules = extract(network, form=form, engine="search")
        check_domain(rules, table)
        assert rules.is_two_sided == (form == "set")


@settings(max_examples=30)
@given(tables(shapes=SMALL, max_classes=2, dont_care=False), st.integers(0, 1))
def test_a_target_is_the_class_that_has_rules(table, target):
    network = network_of(table)
    label = network.classes[target]
    rules = extract(network, form="set", target=label, engine="search")
    check_domain(rules, table)
    assert rules.default != label
    assert not rules.is_two_sided


# Rows


def plain_points(codes):
    return Inputs(codes, np.ones(codes.shape))


@settings(max_examples=100)
@given(tables(shapes=SMALL, dont_care=False), st.sampled_from(FORMS), st.data())
def test_searched_rules_cover_every_row(table, form, data):
    positions = st.integers(0, len(table.classes) - 1)
    rows = np.array(data.draw(st.lists(positions, min_size=1, max_size=12)))
    network = network_of(table)
    codes = table.inputs[rows]
    data = network.domain.decode(codes)
    rules = extract(network, form=form, scope="support", data=data, **SEARCHED)
    check_right_where_decided(rules.boxes, rules.answers, table)
    fired = first(rules.boxes, table.sizes)
    if form == "set":
        check_pure(rules.boxes, rules.answers, table)
    assert (fired[rows] >= 0).all()
    assert set(fired[rows].tolist()) == set(range(len(rules)))  # none is idle
    assert rules.predict_codes(codes).tolist() == network.predict_codes(codes).tolist()
    assert (rules.scope, rules.certificate["engine"]) == ("support", "search")
    assert "different" not in rules.certificate
    is_open = bool((fired < 0).any())
    assert ("otherwise (not proved)" in rules.text()) == is_open


@settings(max_examples=40)
@given(tables(shapes=SMALL, dont_care=False), st.booleans())
def test_covers_of_rows_go_on_from_what_there_is(table, is_ordered):
    network = network_of(table)
    oracle, goal = Oracle(network), Goal(is_ordered, 3, 0)
    codes, answers = table.inputs, table.classes.astype(np.int64)
    weights = np.ones(len(codes))
    half = len(codes) // 2
    seen, cover, nothing = [], Cover(), empty_boxes(oracle.nets[0], 0)
    some = Cases(plain_points(codes[:half]), weights[:half], answers[:half])
    cover_rows(Grower(oracle, some, goal), cover=cover, impossible=nothing)
    n_before = len(cover.answers)
    cover_rows(
        Grower(oracle, Cases(plain_points(codes), weights, answers), goal),
        cover=cover,
        impossible=nothing,
        on_rule=lambda *report: seen.append(report),
    )
    n_rules = len(cover.answers)
    assert [n for n, _ in seen] == list(range(n_before + 1, n_rules + 1))
    assert not seen or seen[-1][1] == 1
    boxes = cover.boxes(network.domain).allowed
    assert (first(boxes, table.sizes) >= 0).all()
    check_right_where_decided(boxes, cover.answers, table)


# Seeds and threads


@pytest.mark.parametrize("scope", ["domain", "support"])
@pytest.mark.parametrize("form", FORMS)
def test_a_seed_determines_everything(form, scope):
    classes = np.random.default_rng(8).integers(0, 3, 36).astype(np.uint8)
    table = Table(classes, (3, 4, 3), 3)
    rows = network_of(table).domain.decode(table.inputs[::2])
    options = {"form": form, "scope": scope, "data": rows, **SEARCHED}
    one, again, threads = (
        extract(network_of(table), n_jobs=n_jobs, **options) for n_jobs in (None, 1, 2)
    )
    assert one == again == threads
    assert one.boxes.tobytes() == threads.boxes.tobytes()
    assert str(one) == str(threads)
    seen = {
        extract(network_of(table), seed=seed, **options).boxes.tobytes()
        for seed in range(5)
    }
    assert len(seen) > 1


# Witnesses


@settings(max_examples=300)
@given(sizes(max_inputs=60, max_features=5), st.data())
def test_an_uncovered_input_is_found(shape, data):
    seed = data.draw(st.integers(0, 2**32 - 1))
    n_boxes = data.draw(st.integers(0, 12))
    rng = np.random.default_rng(seed)
    starts = np.cumsum([0, *shape[:-1]])
    boxes = rng.random((n_boxes, sum(shape))) < data.draw(st.floats(0.3, 1))
    for box in boxes:
        box[starts + rng.integers(0, shape)] = True
    layer = Layer(np.zeros((sum(shape), 1)), [1.0], "sigmoid")
    oracle = Oracle(Network(plain_domain(shape), (layer,), ("no", "yes")))
    found = find_uncovered(oracle, as_boxes(oracle.network.domain, boxes))
    inside = members(boxes, tuple(shape)).any(axis=0)
    if found is None:
        assert inside.all()
    else:
        [codes], [numbers] = found.codes.tolist(), found.numbers.tolist()
        assert all(0 <= code < size for code, size in zip(codes, shape, strict=True))
        assert not inside[naive.inputs(shape).index(tuple(codes))]
        assert numbers == [1.0] * len(shape)


def test_every_input_taken_out_one_by_one():
    shape = [2, 3, 2, 2]
    layer = Layer(np.zeros((sum(shape), 1)), [1.0], "sigmoid")
    oracle = Oracle(Network(plain_domain(shape), (layer,), ("no", "yes")))
    starts = np.cumsum([0, *shape[:-1]])
    boxes = np.zeros((0, sum(shape)), dtype=np.bool_)
    seen = set()
    domain = oracle.network.domain
    while (found := find_uncovered(oracle, as_boxes(domain, boxes))) is not None:
        seen.add(tuple(found.codes[0].tolist()))
        box = np.zeros((1, sum(shape)), dtype=np.bool_)
        box[0, starts + found.codes[0]] = True
        boxes = np.concatenate([boxes, box])
        assert len(boxes) == len(seen)
    assert seen == set(naive.inputs(shape))


def test_an_input_hidden_from_chance():
    """One of 3**12 inputs is of another class: no sample finds it, the search does."""
    n = 12
    weights = np.zeros((3 * n, 1))
    weights[::3] = 1.0
    hidden = Layer(weights, [1.0 - n], "relu")
    network = Network(
        plain_domain([3] * n), (hidden, Layer([[1.0]], [-0.5], "sigmoid")), ("a", "b")
    )
    rules = extract(network, form="set", target="b", engine="search")
    assert len(rules) == 1
    assert rules.predict([rules.domain.input(0)]).tolist() == ["b"]
    assert [c.values for c in rules.rules[0].conditions] == [("v0",)] * n
    rules = extract(network, engine="search")
    assert rules.predict([rules.domain.input(0)]).tolist() == ["b"]


# Budgets


def noisy(seed=0, shape=(3, 4, 3)):
    classes = np.random.default_rng(seed).integers(0, 2, int(np.prod(shape)))
    return Table(classes.astype(np.uint8), shape, 2)


def check_partial(rules, table):
    check_right_where_decided(rules.boxes, rules.answers, table)
    assert rules.scope == "support"
    assert rules.certificate["complete"] is False
    assert "different" not in rules.certificate
    is_open = rules.certificate.get("uncovered") != 0
    assert ("otherwise (not proved)" in rules.text()) == is_open
    if rules.form == "set":
        check_pure(rules.boxes, rules.answers, table)


@pytest.mark.parametrize("scope", ["domain", "support"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("left", [0, 1, 2, 3])
def test_interrupted_searches_leave_rules_that_are_right(form, scope, left):
    table = noisy()
    with pytest.raises(KeyboardInterrupt) as error:
        extract(
            network_of(table),
            form=form,
            scope=scope,
            data=network_of(table).domain.decode(table.inputs),
            engine="search",
            progress=interrupting(left),
        )
    assert len(error.value.rules) == left + 1
    check_partial(error.value.rules, table)


@pytest.mark.parametrize("scope", ["domain", "support"])
@pytest.mark.parametrize("form", FORMS)
def test_no_time_at_all(form, scope):
    table = noisy()
    with pytest.raises(BudgetExceededError, match="0 seconds") as error:
        extract(
            network_of(table),
            form=form,
            scope=scope,
            data=network_of(table).domain.decode(table.inputs),
            engine="search",
            budget=Budget(seconds=0),
        )
    assert len(error.value.rules) == 0
    check_partial(error.value.rules, table)


@pytest.mark.parametrize("form", FORMS)
def test_boxes_are_counted_and_limited(form):
    table = noisy()
    network = network_of(table)
    rules = extract(network, form=form, engine="search")
    spent = rules.certificate["boxes"]
    assert spent > 0
    with pytest.raises(BudgetExceededError, match="boxes") as error:
        extract(network, form=form, engine="search", budget=Budget(boxes=spent // 2))
    assert len(error.value.rules) > 0
    check_partial(error.value.rules, table)
    with pytest.raises(BudgetExceededError, match="boxes") as error:
        extract(network, form=form, engine="search", budget=Budget(boxes=0))
    check_partial(error.value.rules, table)


def test_a_cover_that_is_stopped_is_the_cover_so_far():
    table = noisy(1)
    seen = []

    def stop(n_rules, share):
        seen.append(share)
        if n_rules == 3:
            raise BudgetExceededError("enough")

    cover, oracle = Cover(), Oracle(network_of(table))
    with pytest.raises(BudgetExceededError):
        cover_domain(
            oracle,
            Goal(True, 2, 0),
            cover=cover,
            impossible=empty_boxes(oracle.nets[0], 0),
            on_rule=stop,
        )
    boxes = cover.boxes(oracle.network.domain).allowed
    assert len(boxes) == len(cover.answers) == 3
    check_right_where_decided(boxes, cover.answers, table)
    assert seen == sorted(seen)


# Domains without a table


def wide_network(n_features=40, n_relevant=5, seed=0):
    """Return a network over 2**n_features inputs in which few features matter."""
    rng = np.random.default_rng(seed)
    weights = np.zeros((2 * n_features, 4))
    weights[: 2 * n_relevant] = rng.integers(-8, 9, (2 * n_relevant, 4))
    bias, last = rng.integers(-4, 5, 4), rng.integers(-4, 5, (4, 1)) / 4
    layers = Layer(weights, bias, "relu"), Layer(last, [0.5], "sigmoid")
    return Network(domain_of((2,) * n_features), layers, ("no", "yes"))


def relevant_table(network, n_relevant=5):
    """Return the table of the features that matter, the others at their first value."""
    codes = np.array(naive.inputs([2] * n_relevant))
    rest = np.zeros((len(codes), len(network.domain.sizes) - n_relevant), dtype=int)
    answers = [
        naive.class_of(network, row) for row in np.hstack([codes, rest]).tolist()
    ]
    return np.array(answers)


@pytest.mark.parametrize("seed", [0, 1, 3])
@pytest.mark.parametrize("form", FORMS)
def test_a_domain_beyond_any_table(form, seed):
    network = wide_network(seed=seed)
    truth = relevant_table(network)
    assert 0 < truth.sum() < len(truth)
    rng = np.random.default_rng([seed, 1])
    rows = rng.integers(0, 2, (300, 40))
    data = network.domain.decode(rows)
    rules = extract(network, form=form, scope="support", data=data)
    assert rules.certificate["engine"] == "search"
    assert rules.certificate["inputs"] == 2**40
    place = 2 ** np.arange(4, -1, -1)
    for chosen in (rows, rng.integers(0, 2, (3000, 40))):
        fired = rules.apply_codes(chosen)
        decided = fired >= 0
        assert (
            rules.answers[fired[decided]] == truth[chosen[:, :5] @ place][decided]
        ).all()
    expected = truth[rows[:, :5] @ place]
    assert rules.predict_codes(rows).tolist() == expected.astype(int).tolist()
    if form == "list":
        assert (rules.apply_codes(rows) >= 0).all()
    assert len(rules) <= 32
    supports = rules.support(data)
    assert [rule.support for rule in rules.rules] == supports.tolist()


@pytest.mark.parametrize("form", FORMS)
def test_a_whole_domain_beyond_any_table(form):
    """Only the five features that matter may be mentioned."""
    network = wide_network(seed=1)
    truth = relevant_table(network)
    rules = extract(network, form=form)
    assert (rules.certificate["engine"], rules.scope) == ("search", "domain")
    assert not {c.feature for r in rules.rules for c in r.conditions} - {
        f"f{index}" for index in range(5)
    }
    codes = np.array(naive.inputs([2] * 5))
    rows = np.hstack([codes, np.ones((32, 35), dtype=int)])
    assert rules.predict_codes(rows).tolist() == truth.astype(int).tolist()


def test_rules_by_search_keep_ranges_of_numbers():
    """A box has neighbouring numbers only; missing and other features are free."""
    rng = np.random.default_rng(5)
    features = (
        Feature("age", (*range(20), None), ordered=True),
        Feature.bins("income", tuple(range(9))),
        Feature("word", ("a", "b", "c", "d", "e")),
    )
    domain = Domain(features)
    layers = (
        Layer(rng.normal(size=(int(domain.offsets[-1]), 5)), rng.normal(size=5)),
        Layer(rng.normal(size=(5, 1)), [0.1], "sigmoid"),
    )
    network = Network(domain, layers, ("no", "yes"))
    rules = extract(network, engine="search")
    assert nn2rules.check(network, rules).ok
    for feature, stop in ((0, 20), (1, 10)):
        start = int(domain.offsets[feature])
        block = rules.boxes[:, start : start + stop].astype(int)
        ends = np.abs(np.diff(block, axis=1, prepend=0, append=0)).sum(axis=1)
        assert (ends <= 2).all()
    assert len(rules) > 3


# Rows in ranges of numbers


@pytest.fixture(scope="module")
def ranged_rows():
    rng = np.random.default_rng(6)
    network = ranged.random_network(rng, ranged.mixed_domain(), units=8)
    return network, ranged.random_rows(rng, network.domain, 150)


@pytest.mark.parametrize("form", FORMS)
def test_the_number_of_threads_changes_nothing(ranged_rows, form):
    network, rows = ranged_rows
    found = [extract(network, rows, form=form, n_jobs=n) for n in (1, 2, None)]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("form", FORMS)
def test_a_time_that_is_over_leaves_rules_that_are_right(ranged_rows, form):
    network, rows = ranged_rows
    nothing = extract(network, rows, form=form, time=0)
    assert len(nothing) == 0
    assert nothing.certificate["complete"] is False
    assert nothing.certificate["rows_covered"] == 0
    done = extract(network, rows, form=form, time=1000)
    assert "complete" not in done.certificate
    assert done == extract(network, rows, form=form)


def test_no_rule_of_a_set_is_needless(ranged_rows):
    network, rows = ranged_rows
    rules = extract(network, rows, form="set")
    held = np.stack([rules.take([i]).apply(rows) >= 0 for i in range(len(rules))])
    gained = np.diff(np.logical_or.accumulate(held).sum(axis=1), prepend=0)
    assert (gained > 0).all()
    assert (np.diff(gained) <= 0).all()


def test_rules_of_the_domain_stay_without_rows():
    rng = np.random.default_rng(7)
    domain = Domain((Feature.real("age", 18, 90, whole=True, missing=True),))
    network = ranged.random_network(rng, domain)
    rows = [{"age": age} for age in (*range(18, 91), None)]
    for seed in range(4):
        rules = extract(network, rows[seed : seed + 1], form="set", scope="domain")
        assert rules.scope == "domain"
        assert (rules.predict(rows) == network.predict(rows)).all()
