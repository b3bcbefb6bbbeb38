"""Evaluations of scorecards: by brute force over rows, and against scikit-learn."""

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score, roc_curve
from typer.testing import CliRunner

from nn2rules import Layer, Network, Scorecard, cli, evaluate, extract, save
from nn2rules.questions.evaluate import DomainFidelity, ScorecardEvaluation
from nn2rules.questions.evaluate.ranking import auc_and_ks
from nn2rules.scorecards import Card, Scale, bands_of
from ranged import mixed_domain, random_network, random_rows
from strategies import PIECEWISE_LINEAR, networks, rows_of

MIXED = mixed_domain()
ROWS = random_rows(np.random.default_rng(1), MIXED, 150)


def linear(classes=("no", "yes"), seed=0):
    rng = np.random.default_rng(seed)
    n = 1 if len(classes) == 2 else len(classes)
    weights = rng.normal(size=(8, n))
    weights[[0, 3]] /= [[20], [5000]]
    bias = rng.normal(size=n)
    last = Layer(weights, bias, "sigmoid" if n == 1 else "softmax")
    return Network(MIXED, (last,), classes)


def labels_of(network, seed):
    rng = np.random.default_rng(seed)
    labels = network.predict(ROWS).tolist()
    for place in rng.choice(len(ROWS), 40, replace=False).tolist():
        labels[place] = network.classes[int(rng.integers(len(network.classes)))]
    return labels


@pytest.mark.parametrize("classes", [("no", "yes"), ("a", "b", "c")])
@pytest.mark.parametrize("units", [0, 2])
def test_rows_are_counted_as_a_loop_does(classes, units):
    network = linear(classes)
    if units:
        rng = np.random.default_rng(2)
        network = random_network(rng, MIXED, units=units, classes=classes)
    card, labels = extract(network, ROWS, form="scorecard"), labels_of(network, 3)
    found = evaluate(network, card, ROWS, labels)
    assert isinstance(found, ScorecardEvaluation)
    right = sum(
        own == label
        for own, label in zip(network.predict(ROWS).tolist(), labels, strict=True)
    )
    assert (found.n_covered, found.n_uncovered, found.covered_share) == (150, 0, 1.0)
    assert found.with_unproved_default is None
    assert (found.model_right, found.on_covered.right) == (right, right)
    assert (found.on_covered.same, found.on_covered.fidelity) == (150, 1.0)
    assert found.domain == DomainFidelity(1.0, 1.0, "proved", None, None)
    assert (found.n_lines, found.n_regions) == (8, 0)
    printed = card.table.predict_codes(*MIXED.inputs_of(ROWS))
    assert found.too_close == sum(place < 0 for place in printed.tolist())
    assert all(one.n_rules is None for one in found.on_covered.by_class)
    assert bool(found.bands) == (len(classes) == 2)


def test_a_card_of_another_network_is_compared_on_drawn_inputs():
    network, other = linear(), linear(seed=5)
    card = extract(other, ROWS, form="scorecard")
    found = evaluate(network, card, ROWS, samples=5000, seed=7)
    same = network.predict(ROWS) == other.predict(ROWS)
    assert found.on_covered.same == same.sum() < 150
    assert found.domain.how == "sampled"
    assert 0 < found.domain.same < found.domain.inputs == 5000
    assert evaluate(network, card, ROWS, samples=0).domain is None


def test_features_in_another_order_are_translated():
    network = linear()
    card = extract(network, ROWS, form="scorecard")
    domain = type(MIXED)(tuple(reversed(MIXED.features)))
    points = card.cards[0].points
    turned = np.concatenate([points[5:], points[3:5], points[:3]])
    other = Scorecard(domain, card.classes, [Card(card.cards[0].base, turned)])
    found = evaluate(network, other, ROWS, samples=4000)
    assert found.on_covered.fidelity == 1
    assert (found.domain.how, found.domain.same) == ("sampled", 4000)


@settings(max_examples=40, deadline=None)
@given(networks(PIECEWISE_LINEAR), st.data())
def test_every_input_is_counted_where_there_are_few(network, data):
    assume(len(network.layers) < 3)
    card = Scorecard.from_network(network)
    rows = network.domain.decode(data.draw(rows_of(network.domain).filter(len)))
    n_inputs = network.domain.n_inputs
    found = evaluate(network, card.replace(scale=Scale(1.0)), rows[:5])
    assert found.domain == DomainFidelity(1.0, 1.0, "counted", n_inputs, n_inputs)
    assert evaluate(card, card, rows[:5], samples=0).on_covered.fidelity == 1


def test_any_model_with_predict_is_compared():
    frame = pd.DataFrame(random_rows(np.random.default_rng(4), MIXED, 80))
    frame = frame.assign(age=frame.age.fillna(40), amount=frame.amount.fillna(0))
    x = frame[["age", "amount"]] / [50, 10000]
    y = np.where(x["age"] + x["amount"] > 1.5, "yes", "no")
    model = LogisticRegression().fit(x, y)
    card = extract(model, x, labels=y)
    found = evaluate(model.predict and model, card, x, y)
    assert found.on_covered.fidelity == 1
    assert found.auc == pytest.approx(roc_auc_score(y, model.decision_function(x)))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=30))
def test_ranking_is_that_of_scikit_learn(pairs):
    scores, second = map(np.array, zip(*pairs, strict=True))
    auc, ks = auc_and_ks(scores.astype(float), second.astype(bool))
    if len(set(second.tolist())) == 1:
        assert auc is ks is None
        return
    false, true, _ = roc_curve(second, scores, drop_intermediate=False)
    assert auc == pytest.approx(roc_auc_score(second, scores), abs=1e-12)
    assert ks == pytest.approx(np.abs(true - false).max(), abs=1e-12)


@pytest.mark.parametrize("factor", [100.0, -7.0, 20.0])
def test_bands_hold_what_their_edges_say(factor):
    network = linear()
    card = extract(network, ROWS, form="scorecard").replace(scale=Scale(factor))
    labels = np.array(labels_of(network, 9))
    found = bands_of(card, *MIXED.inputs_of(ROWS), (labels == "yes").astype(np.int64))
    totals = [Fraction(total) for total in card.points(ROWS).totals[:, 0].tolist()]
    is_yes = (card.predict(ROWS) == "yes").tolist()
    assert found[0].low is None is found[-1].high
    assert [one.high for one in found[:-1]] == [one.low for one in found[1:]]
    assert sum(band.rows for band in found) == 150
    assert 2 <= len(found) <= 14
    for band in found:
        inside = [
            (band.low is None or total >= band.low)
            and (band.high is None or total < band.high)
            for total in totals
        ]
        assert band.rows == sum(inside)
        assert band.predicted == sum(
            a and b for a, b in zip(inside, is_yes, strict=True)
        )
        assert band.labelled == sum(inside & (labels == "yes"))
    [cut_off] = card.table.cut_offs
    assert cut_off.at_least in [band.low for band in found]


def test_no_rows_have_no_bands_and_one_value_has_one():
    card = Scorecard(MIXED, ("no", "yes"), [Card(3.0, [0.0] * 8)])
    codes, numbers = MIXED.inputs_of(ROWS)
    assert bands_of(card, codes[:0], numbers[:0]) == ()
    [band] = bands_of(card, codes, numbers)
    assert (band.text, band.rows, band.predicted, band.labelled) == (
        "all",
        150,
        150,
        None,
    )


def test_the_page_and_the_numbers():
    network = linear()
    card = extract(network, ROWS, form="scorecard")
    found = evaluate(network, card, ROWS, labels_of(network, 3))
    text = found.text()
    assert "accuracy of the scorecard" in text
    assert "rules" not in text
    assert f"AUC {found.auc:.3f}, Gini {found.gini:.3f}, KS {found.ks:.3f}" in text
    assert all(band.text in text for band in found.bands)
    plain = json.loads(found.to_json())
    assert "n_rules" not in plain["on_covered"]["by_class"][0]
    assert plain["bands"][0]["low"] is None
    assert sum(band["rows"] for band in plain["bands"]) == 150
    metrics = found.to_frame().set_index("metric")["value"]
    assert (metrics["n_lines"], metrics["auc"]) == (8, found.auc)
    assert "labelled" not in evaluate(network, card, ROWS).text()


def test_the_command_takes_a_scorecard(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    network = linear()
    extract(network, ROWS, form="scorecard").save("card.json")

    save(network, "network.json")
    frame = pd.DataFrame(ROWS).assign(y=labels_of(network, 3))
    frame.to_csv("rows.csv", index=False)
    args = ["evaluate", "network.json", "card.json", "--data", "rows.csv"]
    result = CliRunner().invoke(cli.app, [*args, "--labels", "y"])
    assert result.exit_code == 0, result.output
    assert "100% of the domain (proved)" in result.stdout
    save(linear(seed=5), "network.json")
    result = CliRunner().invoke(cli.app, args)
    assert result.exit_code == 0, result.output
    assert "the scorecard was extracted from another network" in result.stderr
    result = CliRunner().invoke(cli.app, ["evaluate", "card.json", *args[1:]])
    assert result.exit_code == 2
