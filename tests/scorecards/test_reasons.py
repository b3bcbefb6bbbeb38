"""Reasons: no value of the feature gains more than is said, and the best one does."""

import numpy as np
import pytest

from nn2rules import Domain, Feature, OptionError, Scorecard
from nn2rules.scorecards import Card, Profile, Scale
from nn2rules.space import Range
from ranged import mixed_domain, random_network, random_rows

MIXED = mixed_domain()


def leads(card, rows, wanted, rival):
    """Return how far the printed totals of rows lead to a class."""
    totals = card.points(rows).totals
    if totals.shape[1] == 1:
        return totals[:, 0] * (1 if wanted else -1)
    return totals[:, wanted] - totals[:, rival]


@pytest.mark.parametrize("units", [0, 3])
@pytest.mark.parametrize("classes", [("no", "yes"), ("a", "b", "c")])
def test_a_reason_is_the_most_that_a_feature_alone_gains(units, classes):
    rng = np.random.default_rng(units + 7)
    network = random_network(rng, MIXED, units=max(units, 2), classes=classes)
    if units == 0:
        n = 1 if len(classes) == 2 else len(classes)
        weights = rng.normal(size=(8, n))
        weights[[0, 3]] /= [[40], [9000]]
        cards = [
            Card(base, column)
            for base, column in zip(rng.normal(size=n), weights.T, strict=True)
        ]
        card = Scorecard(MIXED, classes, cards)
    else:
        card = Scorecard.from_network(network)
    card = card.replace(scale=Scale(50.0, None, 0 if units < 2 else 2))
    rows = random_rows(rng, MIXED, 6)
    found = card.reasons(rows, wanted=classes[1], most=9)
    predicted = [classes.index(label) for label in card.predict(rows)]
    for row, reasons, own in zip(rows, found, predicted, strict=True):
        totals = card.points([row]).totals[0]
        rival = own
        if own == 1 and len(classes) > 2:
            rival = max((0, 2), key=lambda place: totals[place])
        [now] = leads(card, [row], 1, rival)
        said = {reason.feature: reason for reason in reasons}
        for feature in MIXED.features:
            tried = [
                {**row, feature.name: v} for v in feature.values[feature.n_plain :]
            ]
            if not isinstance(feature, Range):
                tried = [{**row, feature.name: value} for value in feature.values]
            else:
                low, high = feature.limits
                numbers = np.linspace(low, high, 60).round(0)
                tried += [{**row, feature.name: number} for number in (low, high)]
                tried += [{**row, feature.name: max(low, n)} for n in numbers]
            best = max(leads(card, tried, 1, rival)) - now
            reason = said.get(feature.name)
            slack = 1.5 if units < 2 else 0.05
            assert best <= (reason.points if reason else 0) + slack
            if reason is not None:
                moved = {**row, feature.name: reason.instead}
                [then] = leads(card, [moved], 1, rival)
                assert abs(then - now - reason.points) <= slack
                assert reason.value == row[feature.name]
        points = [reason.points for reason in reasons]
        assert points == sorted(points, reverse=True)


def test_reasons_lead_away_from_the_prediction_by_default():
    domain = Domain((Feature("a", ("x", "y")), Feature("b", (0, 1, 2))))
    card = Scorecard(domain, ("no", "yes"), [Card(-3.0, [0.0, 2.0, 0.0, 1.0, 3.0])])
    card = card.replace(scale=Scale(1.0))
    [low] = card.reasons({"a": "x", "b": 1})
    assert [(r.feature, r.points, r.instead) for r in low] == [
        ("a", 2, "y"),
        ("b", 2, 2),
    ]
    [high] = card.reasons({"a": "y", "b": 2})
    assert [(r.feature, r.points, r.instead) for r in high] == [
        ("b", 3, 0),
        ("a", 2, "x"),
    ]
    assert card.reasons({"a": "y", "b": 2}, wanted="yes") == [()]
    assert len(card.reasons({"a": "x", "b": 0}, most=1)[0]) == 1
    with_rows = card.replace(profile=Profile(9, ("x", 1), (1.0, 1.0)))
    [typical] = with_rows.reasons({"a": "y", "b": 2}, against="typical")
    assert [(r.feature, r.points, r.instead) for r in typical] == [
        ("a", 2, "x"),
        ("b", 2, 1),
    ]


def test_reasons_that_cannot_be_given():
    card = Scorecard(MIXED, ("no", "yes"), [Card(0, [1.0] * 8)])
    row = {"age": 20, "amount": 5.0, "job": "a"}
    with pytest.raises(OptionError, match="expected 'best' or 'typical'"):
        card.reasons(row, against="mean")
    with pytest.raises(OptionError, match="extract the card with data"):
        card.reasons(row, against="typical")
    with pytest.raises(OptionError, match="expected one of the classes no, yes"):
        card.reasons(row, wanted="maybe")
    with pytest.raises(OptionError, match="most"):
        card.reasons(row, most=-1)
