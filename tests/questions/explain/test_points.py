"""Points of a scorecard beside the reasons and counterfactuals of a row."""

import json
import pickle

import numpy as np
import pytest
from brute_force import listed_domain, random_network, ranged_domain

import nn2rules
from nn2rules import Domain, Feature, Layer, Network, OptionError, explain
from nn2rules.extraction import scorecard_lines
from nn2rules.questions.explain.points import card_reasons
from nn2rules.scorecards import Scorecard

DOMAIN = Domain(
    (
        Feature.real("income", 0, 90, whole=True, missing=True),
        Feature.grouped("job", [["clerk", "cook"], ["judge"]]),
        Feature.bins("years", (2, 5)),
    )
)
LOANS = Network(
    DOMAIN,
    (Layer(np.array([[1], [20], [-9], [0], [0], [3], [5]]), [-40], "sigmoid"),),
    ("refused", "granted"),
)
ROW = {"income": 12, "job": "cook", "years": 1}
ROWS = [{"income": i, "job": "judge", "years": 3} for i in (10, 30, 50)]


def lost(found):
    return [(each.feature, each.points, each.instead) for each in found.points]


def test_features_that_cost_most_points_come_first():
    found = explain(LOANS, ROW)
    by_card = Scorecard.from_network(LOANS).reasons([ROW])[0]
    assert lost(found) == [(r.feature, r.points, r.instead) for r in by_card]
    assert [name for name, *_ in lost(found)] == ["income", "job", "years"]
    assert found.points_against == "best"
    assert found.counterfactuals
    text = str(found)
    title = "Points that each feature costs towards another class (scorecard):"
    assert f"{title}\n  income = 12: " in text
    assert "  job ≠ judge: " in text
    assert "(best: years ≥ 5)" in text
    plain = json.loads(found.to_json())
    assert plain["points"][0]["feature"] == "income"
    assert explain(LOANS, [ROW]).to_frame()["points"][0].startswith("income = 12: ")


def test_at_most_four_features_and_none_where_nothing_costs():
    names = [f"f{index}" for index in range(6)]
    domain = Domain(tuple(Feature(name, ("a", "b")) for name in names))
    weights = np.array([[0.0], [1.0]] * 6)
    network = Network(domain, (Layer(weights, [-0.5], "sigmoid"),), ("no", "yes"))
    worst, best = dict.fromkeys(names, "a"), dict.fromkeys(names, "b")
    assert len(explain(network, worst).points) == 4
    constant = Network(domain, (Layer(0 * weights, [1], "sigmoid"),), ("no", "yes"))
    found = explain(constant, best)
    assert found.points == []
    assert "(scorecard):\n  none" in str(found)


def test_typical_values_come_from_the_data():
    found = explain(LOANS, ROW, data=ROWS, points_against="typical")
    assert [(name, instead) for name, _, instead in lost(found)] == [
        ("income", 30),
        ("job", "judge"),
        ("years", "[2, 5)"),
    ]
    assert "  income = 12: " in str(found)
    assert "(typical: income = 30)" in str(found)


def test_a_card_on_the_users_scale_gives_its_points():
    card = nn2rules.extract(LOANS, ROWS, form="scorecard")
    card = card.scaled(minimum=300, maximum=850)
    found = explain(LOANS, ROW, scorecard=card, points_against="typical")
    by_card = card.reasons([ROW], against="typical")[0]
    assert lost(found) == [(r.feature, r.points, r.instead) for r in by_card]


def test_reason_codes_stand_beside_points():
    codes = {("income", "low"): "R1", ("job", "any"): "R2", ("years", "high"): "R3"}
    found = explain(LOANS, ROW, reason_codes=codes)
    assert [each.code for each in found.points] == ["R1", "R2", None]
    assert "(best: income = 90)   R1" in str(found)
    other = explain(LOANS, ROW, reason_codes=codes, adverse="granted")
    assert [each.code for each in other.points] == [None] * 3
    high = explain(LOANS, {**ROW, "income": 88}, reason_codes=codes)
    assert high.prediction == "granted"
    assert high.points[0].code is None  # a lower income would lead to "refused"


@pytest.mark.parametrize("make", [listed_domain, ranged_domain])
def test_every_kind_of_value_has_points(make):
    rng, n_cards = np.random.default_rng(3), 0
    for _ in range(40):
        network = random_network(rng, make(rng))
        points = card_reasons(network, None, "best", None)
        assert (points is None) == (scorecard_lines(network) is None)
        if points is None:
            continue
        n_cards += 1
        domain = network.domain
        codes = rng.integers(0, domain.sizes, size=(3, len(domain.sizes)))
        numbers = np.tile(domain.limits[0], (3, 1))
        rows = domain.decode(codes, numbers)
        several = explain(network, rows, counterfactuals=False)
        for row, found in zip(rows, several, strict=True):
            [by_card] = points.card.reasons([row])
            assert lost(found) == [(r.feature, r.points, r.instead) for r in by_card]
            assert str(found)
    assert n_cards > 10


def test_workers_can_be_sent_a_card():
    points = card_reasons(LOANS, None, "best", None)
    again = pickle.loads(pickle.dumps(points))
    assert again.lost(ROW, {}) == points.lost(ROW, {})


def test_networks_without_a_card_have_no_points():
    car = nn2rules.load(nn2rules.datasets.network_file("car"))
    row = nn2rules.datasets.load("car").train.rows[0]
    found = explain(car, row)
    assert found.points is None
    assert "points" not in found.to_dict()
    assert "scorecard" not in str(found)
    with pytest.raises(OptionError, match="this model has no scorecard of one card"):
        explain(car, row, points_against="typical")
    card = Scorecard.from_network(LOANS)
    with pytest.raises(OptionError, match="scorecard: it was made from another model"):
        explain(car, row, scorecard=card)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"points_against": "mean"}, "points_against: 'mean', expected 'best' or"),
        ({"points_against": "typical"}, "only with the training rows; give them as"),
        ({"scorecard": 3}, "scorecard: a int, expected a Scorecard"),
    ],
)
def test_mistakes(options, message):
    with pytest.raises(OptionError, match=message):
        explain(LOANS, ROW, **options)
