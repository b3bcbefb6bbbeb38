"""Rules that are made one, where one can do the work of two."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import SMALL, Table, check_pure, first, network_of, tables

from nn2rules import Budget, Domain, Feature, Layer, Network, datasets, extract, load
from nn2rules.engine import Meter, Oracle, build_table
from nn2rules.engine.flat import empty_boxes
from nn2rules.errors import BudgetExceededError, InternalError
from nn2rules.extraction.from_search.covering import Cover
from nn2rules.extraction.from_search.growing import Goal, Grower
from nn2rules.extraction.from_search.growth_context import Cases
from nn2rules.extraction.from_search.merging import merge
from nn2rules.space import Inputs
from ranged import mixed_domain, random_network, random_rows


def grower_of(table, weights=None, meter=None):
    oracle = Oracle(network_of(table), meter)
    codes = table.inputs
    points = Inputs(codes, np.ones(codes.shape))
    weights = np.ones(len(codes)) if weights is None else weights
    cases = Cases(points, weights, table.classes.astype(np.int64))
    return Grower(oracle, cases, Goal(False, 2, 0, 1))


def singles(grower):
    """Return a rule for each row."""
    boxes = [grower.hull([row]) for row in range(len(grower.cases.weights))]
    allowed, ends = (list(part) for part in zip(*boxes, strict=True))
    return Cover(allowed, ends, grower.cases.answers.tolist())


def merged(grower, cover):
    merge(grower, cover, impossible=empty_boxes(grower.oracle.nets[0], 0))
    return cover.boxes(grower.oracle.network.domain).allowed


@settings(max_examples=150)
@given(tables(shapes=SMALL, dont_care=False), st.data())
def test_rows_stay_covered_and_rules_true(table, data):
    kept = data.draw(st.lists(st.booleans(), min_size=1, max_size=len(table.classes)))
    weights = np.resize(kept, len(table.classes)).astype(np.float64)
    grower = grower_of(table, weights)
    cover = singles(grower)
    boxes = merged(grower, cover)
    check_pure(boxes, np.array(cover.answers, dtype=np.int64), table)
    fired = first(boxes, table.sizes)
    assert (fired[weights > 0] >= 0).all()
    assert len(boxes) <= np.count_nonzero(weights)


@pytest.mark.parametrize("seed", [90, 99, 167, 168, 181, *range(1000, 1030)])
def test_rules_that_overlap_are_merged_into_true_ones(seed):
    """Rows that two rules share, and no other has, stay decided when both are gone.

    And a pair that was proved before others were joined is proved again.
    """
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 7, int(rng.integers(4, 7)))
    features = [Feature(f"f{i}", range(int(size))) for i, size in enumerate(sizes)]
    domain, width = Domain(tuple(features)), int(rng.integers(3, 9))
    hidden = Layer(
        rng.normal(size=(sizes.sum(), width)), rng.normal(size=width), "relu"
    )
    last = Layer(rng.normal(size=(width, 1)), rng.normal(size=1) * 0.3, "sigmoid")
    network = Network(domain, (hidden, last), ("no", "yes"))
    n_rows = int(rng.integers(50, 400))
    codes = np.stack([rng.integers(0, size, n_rows) for size in sizes], axis=1)
    rules = extract(
        network, data=domain.decode(codes), scope="support", engine="search"
    )
    every = next(domain.inputs())
    truth = network.predict_codes(every)
    for index, answer in enumerate(rules.answers):
        assert (truth[rules.take([index]).match(every) >= 0] == answer).all()
    assert (rules.match(codes) >= 0).all()


def test_two_rules_that_can_be_one_are():
    """A box of four rows, with rules for its halves: one is left."""
    table = Table(np.array([1, 1, 0, 1, 1, 0], dtype=np.uint8), (2, 3), 2)
    grower = grower_of(table)
    cover = singles(grower)
    boxes = merged(grower, cover)
    assert sorted(cover.answers) == [0, 1]
    assert boxes.sum(axis=1).tolist() == [4, 3] or boxes.sum(axis=1).tolist() == [3, 4]


def test_a_rule_without_a_row_of_its_own_is_dropped():
    table = Table(np.array([1, 1, 1, 0], dtype=np.uint8), (4,), 2)
    grower = grower_of(table)
    whole, part, other = grower.hull([0, 1, 2]), grower.hull([1]), grower.hull([3])
    boxes = zip(part, whole, other, strict=True)
    cover = Cover(*(list(each) for each in boxes), [1, 1, 0])
    assert merged(grower, cover).tolist() == [whole[0].tolist(), other[0].tolist()]


def test_nothing_is_merged_into_nothing():
    table = Table(np.array([1, 0], dtype=np.uint8), (2,), 2)
    assert len(merged(grower_of(table), Cover())) == 0


def test_a_result_that_is_stopped_early_is_complete():
    """Whenever the budget ends, all rows are decided, by rules that are true."""
    classes = np.random.default_rng(5).integers(0, 2, 48).astype(np.uint8)
    table = Table(classes, (4, 4, 3), 2)
    lengths = set()
    for boxes in range(0, 400, 20):
        grower = grower_of(table, meter=Meter(Budget(boxes=boxes)))
        cover = singles(grower)
        try:
            merge(grower, cover, impossible=empty_boxes(grower.oracle.nets[0], 0))
        except BudgetExceededError:
            lengths.add(len(cover.answers))
        allowed = cover.boxes(grower.oracle.network.domain).allowed
        check_pure(allowed, np.array(cover.answers), table)
        assert (first(allowed, table.sizes) >= 0).all()
    assert len(lengths) > 2


@pytest.mark.parametrize("seed", range(3))
def test_sets_of_ranges_are_true_and_cover_every_row(seed):
    rng = np.random.default_rng([91, seed])
    domain = mixed_domain()
    network = random_network(rng, domain, classes=("no", "yes", "maybe"))
    rows = random_rows(rng, domain, 80)
    rules = extract(network, rows)
    assert (rules.form, rules.scope, rules.is_two_sided) == ("set", "support", True)
    assert (rules.apply(rows) >= 0).all()
    fresh = random_rows(rng, domain, 3000)
    answers = network.predict(fresh).tolist()
    codes = rules.domain.encode(fresh)
    for box, answer in zip(rules.boxes, rules.answers, strict=True):
        inside = box[codes + rules.domain.offsets[:-1]].all(axis=1)
        label = rules.classes[answer]
        assert {answers[i] for i in np.flatnonzero(inside)} <= {label}


def test_boxes_are_joined_at_their_ends():
    rng = np.random.default_rng(3)
    domain = mixed_domain()
    network = random_network(rng, domain)
    rows = [
        {"age": 20, "amount": 5.5, "job": "a"},
        {"age": 31, "amount": None, "job": "c"},
        {"age": 999, "amount": 7.0, "job": "a"},
    ]
    codes, numbers = domain.inputs_of(rows)
    cases = Cases(
        Inputs(codes, numbers), np.ones(3), network.predict_codes(codes, numbers)
    )
    grower = Grower(Oracle(network), cases, Goal(False, 1, 0, 1))
    for chosen in ([0, 1], [0, 2], [1, 2], [0, 1, 2]):
        box = grower.hull(chosen[:1])
        for row in chosen[1:]:
            box = grower.joined(box, grower.hull([row]))
        expected = grower.hull(chosen)
        assert box[0].tolist() == expected[0].tolist()
        assert box[1].tolist() == expected[1].tolist()


def test_a_rule_that_is_wrong_on_a_row_is_never_returned(monkeypatch):
    """Whatever goes wrong on the way, a set is compared with the rows."""
    table = Table(np.array([1, 0, 0, 1, 1, 0], dtype=np.uint8), (3, 2), 2)
    network = network_of(table)
    rows = network.domain.decode(table.inputs)
    options = {"scope": "support", "form": "set", "engine": "search"}
    assert len(extract(network, rows, **options)) > 2
    monkeypatch.setattr(Grower, "prove_all", lambda _, hulls, *__: [True] * len(hulls))
    monkeypatch.setattr(
        "nn2rules.extraction.from_search.merging.holds_any", lambda *_: False
    )
    with pytest.raises(InternalError, match="contradicts the network on a row"):
        extract(network, rows, **options)


@pytest.mark.parametrize("name", ["tomato", "car", "nursery", "contraception", "adult"])
def test_every_rule_for_the_rows_of_a_data_set_is_true_on_its_own(name):
    """On every input of its box, not only on those that it decides."""
    network = load(datasets.network_file(name))
    rows = datasets.load(name).train.rows
    classes = build_table(network).classes.reshape(network.domain.sizes)
    for engine in ("search", "table") if name != "adult" else ("search",):
        rules = extract(network, rows, scope="support", engine=engine, effort=1)
        assert rules.is_two_sided
        assert (rules.apply(rows) >= 0).all()
        for box, answer in zip(rules.boxes, rules.answers, strict=True):
            inside = np.ix_(*np.split(box, network.domain.offsets[1:-1]))
            assert (classes[inside] == answer).all()
        support = [facts.support for facts in rules.facts]
        assert support == sorted(support, reverse=True)
