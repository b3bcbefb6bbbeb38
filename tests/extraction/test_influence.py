import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import nn2rules
from nn2rules import Budget, Condition, Domain, Feature, Rule, RuleList
from nn2rules.engine import Meter
from nn2rules.errors import BudgetExceededError
from nn2rules.extraction import influence as module
from nn2rules.extraction.influence import counted, influences_in_time
from nn2rules.rules.data_rows import GivenRows, given_rows
from nn2rules.space import whole_boxes
from ranged import mixed_domain, random_network, random_rows
from strategies import relu_networks, rows_of

CAR = nn2rules.load(nn2rules.datasets.network_file("car"))
CARS = nn2rules.datasets.load("car").train


def turning(network, codes, impossible=()):
    """Count by trying every value of every feature, in exact arithmetic."""
    counts = dict.fromkeys(network.domain.names, 0)
    for row in codes.tolist():
        own = naive.class_of(network, row)
        for place, (name, size) in enumerate(
            zip(network.domain.names, network.domain.sizes, strict=True)
        ):
            others = [[*row[:place], value, *row[place + 1 :]] for value in range(size)]
            counts[name] += any(
                naive.class_of(network, other) != own
                for other in others
                if tuple(other) not in impossible
            )
    return counts


@settings(max_examples=60)
@given(st.data())
def test_influences_equal_those_of_every_change(data):
    network = data.draw(relu_networks(max_inputs=60))
    codes = data.draw(rows_of(network.domain))
    rows = GivenRows(network.domain, codes)
    found = counted(network, rows, Meter())
    assert found.rows == len(codes)
    assert found.of == turning(network, codes)
    assert list(found.of.values()) == sorted(found.of.values(), reverse=True)


def test_impossible_inputs_flip_nothing():
    network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    codes = np.concatenate(list(network.domain.inputs()))
    box = np.array([[True, False, True, False, False]])  # red and small
    rows = GivenRows(network.domain, codes)
    found = counted(network, rows, Meter(), impossible=whole_boxes(network.domain, box))
    assert found.of == turning(network, codes, {(0, 0)})
    assert found.of != turning(network, codes)


@pytest.mark.parametrize("seed", range(8))
def test_ranges_flip_a_prediction_where_some_number_does(seed):
    rng = np.random.default_rng(seed)
    domain = Domain(
        (
            Feature.real("age", 17, 90, whole=True, special=[999], missing=True),
            Feature.real("half", 0, 9, whole=True),
            Feature("job", ("a", "b", "c")),
        )
    )
    network = random_network(rng, domain)
    rows = random_rows(rng, domain, 30)
    found = nn2rules.influences(network, rows)
    values = {
        "age": [*range(17, 91), 999, None],
        "half": range(10),
        "job": ("a", "b", "c"),
    }
    own = network.predict(rows)
    for name, choices in values.items():
        changed = [[{**row, name: value} for row in rows] for value in choices]
        others = np.array([network.predict(each) for each in changed])
        assert found.of[name] == int((others != own).any(axis=0).sum())
    assert found.rows == 30


def test_no_real_number_is_forgotten(monkeypatch):
    monkeypatch.setattr(module, "_TRIED", 1)
    for seed in range(6):
        rng = np.random.default_rng(seed)
        network = random_network(rng, mixed_domain())
        rows = random_rows(rng, network.domain, 20)
        found, own = nn2rules.influences(network, rows), network.predict(rows)
        grid = [*np.linspace(-0.5, 20000.0, 400).tolist(), None]
        changed = [[{**row, "amount": value} for row in rows] for value in grid]
        others = np.array([network.predict(each) for each in changed])
        assert found.rows == 20
        assert found.of["amount"] == int((others != own).any(axis=0).sum())


def test_searches_that_take_too_long_leave_their_rows_out(monkeypatch):
    monkeypatch.setattr(module, "_BOXES", 0)
    rng = np.random.default_rng(0)
    network = random_network(rng, mixed_domain())
    rows = random_rows(rng, network.domain, 40)
    everything = nn2rules.influences(network, rows)
    assert 0 < everything.rows < 40
    assert all(number <= everything.rows for number in everything.of.values())


def test_equal_rows_count_as_often_as_they_occur():
    once = nn2rules.influences(CAR, CARS.rows[:50])
    thrice = nn2rules.influences(CAR, CARS.rows[:50] * 3)
    assert thrice.rows == 150
    assert thrice.of == {name: 3 * number for name, number in once.of.items()}


def test_rows_are_drawn_where_all_would_take_long(monkeypatch):
    monkeypatch.setattr(module, "_WORK", 1)
    assert nn2rules.influences(CAR, CARS.rows).rows == 1
    monkeypatch.setattr(module, "_WORK", 10**6)
    found = nn2rules.influences(CAR, CARS.rows, seed=3)
    assert 100 < found.rows < 1000
    assert found == nn2rules.influences(CAR, CARS.rows, seed=3)
    assert found != nn2rules.influences(CAR, CARS.rows, seed=4)


def test_no_rows():
    rows = GivenRows(CAR.domain, np.zeros((0, 6), dtype=np.int64))
    found = counted(CAR, rows, Meter())
    assert (found.rows, set(found.of.values())) == (0, {0})


def test_a_budget_is_an_error_only_where_it_was_asked_for():
    with pytest.raises(BudgetExceededError):
        nn2rules.influences(CAR, CARS.rows, budget=Budget(seconds=0))
    rows, meter = given_rows(CAR, CARS.rows), Meter(Budget(seconds=0))
    assert influences_in_time(CAR, rows, meter) is None
    assert "influence" not in nn2rules.extract(CAR).certificate


def test_a_short_time_is_not_spent_on_influences(monkeypatch):
    monkeypatch.setattr(module, "_WORK", 10**6)
    rows = given_rows(CAR, CARS.rows)
    found = influences_in_time(CAR, rows, Meter(Budget(seconds=20)))
    assert found is not None
    assert found.rows == 300


def test_extraction_certifies_the_predictions_on_rows(tmp_path):
    rules = nn2rules.extract(CAR, CARS.rows, labels=CARS.labels)
    answers = CAR.predict(CARS.rows)
    found = nn2rules.influences(CAR, CARS.rows)
    certificate = rules.certificate
    assert certificate["influence"] == {"rows": 1382, "of": found.of}
    assert certificate["class_rows"] == [
        int((answers == label).sum()) for label in CAR.classes
    ]
    assert certificate["labels_agree"] == int((answers == CARS.labels).sum())
    nn2rules.save(rules, tmp_path / "rules.json")
    assert nn2rules.load(tmp_path / "rules.json") == rules
    assert nn2rules.check(CAR, rules).ok
    assert rules.top(3).certificate["influence"] == certificate["influence"]
    plain = nn2rules.extract(CAR).certificate
    assert not plain.keys() & {"influence", "class_rows", "labels_agree"}


def test_conditions_stand_in_the_order_of_influence():
    domain = Domain(tuple(Feature(name, ("x", "y", "z")) for name in "abc"))
    rule = Rule(tuple(Condition(name, ("x",)) for name in "abc"), 1)
    rules = RuleList(domain, [rule], 0, (0, 1))
    assert rules.rule_text(rule) == "if a = x and b = x and c = x then 1"
    said = {"influence": {"rows": 9, "of": {"c": 5, "b": 9}}}
    known = rules.replace(certificate=said)
    assert known.rule_text(rule) == "if b = x and c = x and a = x then 1"
    for odd in (["a"], {"of": ["a"]}, {"of": {"c": "5"}}):
        unread = rules.replace(certificate={"influence": odd})
        assert unread.rule_text(rule) == rules.rule_text(rule)
