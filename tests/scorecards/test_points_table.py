"""The printed card: whatever a reader adds up from it, the class it proves is right."""

import json
import math
from fractions import Fraction

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nn2rules import Domain, Feature, Layer, Network, OptionError, Scorecard
from nn2rules.errors import UndecidedError
from nn2rules.files import from_json, schema, to_json
from nn2rules.network.exact import exact_scores, first_values
from nn2rules.scorecards import Card, Scale, regions_of
from nn2rules.scorecards.boundaries import boundaries_of
from random_cards import (
    DOMAINS,
    by_hand,
    deep_network,
    inputs_near,
    region_by_hand,
    scales,
    small_networks,
    stated,
)
from ranged import mixed_domain, random_network, random_rows

MIXED = mixed_domain()


@settings(deadline=None, max_examples=150)
@given(st.data(), st.integers(0, 2**32))
def test_a_printed_cut_off_is_never_wrong(data, seed):
    network = data.draw(small_networks())
    card = Scorecard.from_network(network)
    scale = data.draw(scales(card))
    card = card.replace(scale=scale)
    table = card.table
    codes, amounts = inputs_near(network, np.random.default_rng(seed))
    try:
        expected = network.predict_codes(codes, amounts)
    except UndecidedError:
        return
    found = table.predict_codes(codes, amounts)
    assert (found[found >= 0] == expected[found >= 0]).all()
    for row in range(len(codes)):
        own = None if amounts is None else amounts[row]
        for rounds in (True, False, None):
            shown = stated(table, by_hand(table, codes[row], own, rounds=rounds))
            assert shown in (None, expected[row])


@settings(deadline=None, max_examples=80)
@given(
    small_networks(),
    st.sampled_from([1.0, -7.0, 1e9, 2.0**45, 1e20]),
    st.integers(0, 6),
    st.sampled_from([None, None, 4]),
    st.integers(0, 2**32),
)
def test_totals_equal_those_in_fractions(network, factor, digits, bins, seed):
    card = Scorecard.from_network(network).replace(
        scale=Scale(factor, None, digits, bins)
    )
    table = card.table
    codes, amounts = inputs_near(network, np.random.default_rng(seed), 20)
    rounds = "up" if bins is None else None
    expected = [
        by_hand(table, codes[row], own, rounds=rounds)
        for row, own in enumerate([None] * len(codes) if amounts is None else amounts)
    ]
    sums = table.sums_at(codes, amounts)
    assert (sums == table.sums_of(table.steps_of(codes, amounts))).all()
    totals = (table.totals_of(sums).astype(object) * table.step).tolist()
    assert totals == expected
    found = card.totals_codes(codes, amounts)
    is_whole = all(total.denominator == 1 for row in expected for total in row)
    assert found.tolist() == [
        [int(total) if is_whole else float(total) for total in row] for row in expected
    ]
    assert table.predict_codes(codes, amounts).tolist() == [
        -1 if each is None else each for each in (stated(table, t) for t in expected)
    ]


@pytest.mark.parametrize("factor", [1.0, 3e4, 2.0**40, 1e25])
@pytest.mark.parametrize("digits", [0, 2])
@pytest.mark.parametrize("classes", [("no", "yes"), ("a", "b", "c")])
def test_regions_are_read_as_in_fractions(factor, digits, classes):
    rng = np.random.default_rng(digits)
    network = deep_network(rng, (3, 2), classes)
    card = Scorecard.from_network(network, regions=regions_of(network, 500))
    card = card.replace(scale=Scale(factor, None, digits))
    table = card.table
    codes, amounts = inputs_near(network, rng)
    sums = table.sums_at(codes, amounts).astype(object) * table.step
    read = [region_by_hand(table, points) for points in sums.tolist()]
    assert table.predict_codes(codes, amounts).tolist() == [label for label, _ in read]
    n_totals = 1 if len(classes) == 2 else 3
    expected = [totals or [Fraction(-1)] * n_totals for _, totals in read]
    found = np.nan_to_num(card.totals_codes(codes, amounts), nan=-1.0)
    assert found.tolist() == [[float(total) for total in row] for row in expected]


@settings(deadline=None, max_examples=60)
@given(small_networks(("linear", "unit")), st.integers(0, 2**32))
def test_fine_points_tell_all_inputs_apart_that_are_not_near_a_tie(network, seed):
    if len(network.classes) > 2:
        return
    card = Scorecard.from_network(network).replace(scale=Scale(1000.0, None, 6))
    codes, amounts = inputs_near(network, np.random.default_rng(seed), 40)
    try:
        expected = network.predict_codes(codes, amounts)
    except UndecidedError:
        return
    found = card.table.predict_codes(codes, amounts)
    sums = card.table.sums_of(card.table.steps_of(codes, amounts))
    totals = card.table.totals_of(sums)[:, 0]
    for total, one, right in zip(totals.tolist(), found, expected, strict=True):
        near = any(
            abs(Fraction(total) * card.table.step - end) < Fraction(1, 10**3)
            for cut in card.table.cut_offs
            for end in (cut.at_most, cut.at_least)
        )
        assert one == right or near


def test_whole_points_have_one_cut_off():
    domain = Domain((Feature("a", ("x", "y")), Feature("b", (0, 1, 2))))
    card = Scorecard(domain, ("no", "yes"), [Card(-3.0, [0.0, 2.0, 0.0, 1.0, 3.0])])
    card = card.replace(scale=Scale(1.0))
    [cut] = card.table.cut_offs
    assert (cut.at_most, cut.at_least) == (3, 4)  # a tie is of the first class
    assert "too close" not in card.text()


def test_points_add_up_to_the_total_that_is_printed():
    rng = np.random.default_rng(3)
    network = random_network(rng, MIXED, units=3)
    card = Scorecard.from_network(network).replace(scale=Scale(37.0, None, 1))
    rows = random_rows(rng, MIXED, 50)
    found = card.points(rows)
    in_steps = np.rint(found.values * 10).astype(np.int64)
    base = np.rint(found.base * 10).astype(np.int64)
    sums = in_steps.sum(axis=2) + base
    assert (sums == np.rint(found.sums * 10)).all()
    assert np.allclose(found.sums * 10, np.rint(found.sums * 10))
    codes, amounts = MIXED.inputs_of(rows)
    for row in range(len(rows)):
        [total] = by_hand(card.table, codes[row], amounts[row], rounds=True)
        assert abs(float(total) - found.totals[row, 0]) < 0.2


@pytest.mark.parametrize("activation", ["relu", "sigmoid", "tanh", "elu", "softplus"])
@pytest.mark.parametrize("weight", [2.0, -0.5])
def test_a_cut_off_is_moved_through_an_activation(activation, weight):
    layers = (
        Layer([[1.0]], [0.0], activation),
        Layer([[weight]], [-0.3 * weight], "sigmoid"),
    )
    reach = Fraction(-9), Fraction(9)
    lowest, [boundary] = boundaries_of(layers, 0.5, reach, Fraction(1, 10**12))
    expected = {
        "relu": 0.3,
        "sigmoid": math.log(0.3 / 0.7),
        "tanh": math.atanh(0.3),
        "elu": 0.3,
        "softplus": math.log(math.exp(0.3) - 1),
    }[activation]
    assert abs(float(boundary.last) - expected) < 1e-9
    assert 0 <= boundary.first - boundary.last <= Fraction(1, 10**12)
    assert lowest == (0 if weight > 0 else 1)


def test_scales():
    rng = np.random.default_rng(8)
    card = Scorecard.from_network(random_network(rng, MIXED, units=2))
    rows = random_rows(rng, MIXED, 200)
    odds = card.scaled(points_to_double_odds=20, odds=50, base_score=600, rows=rows)
    scores = card.network.scores(rows)
    expected = 600 + 20 / math.log(2) * (scores - math.log(50))
    assert np.abs(odds.points(rows).totals[:, 0] - expected).max() < 10
    assert odds.predict(rows).tolist() == card.predict(rows).tolist()
    turned = card.scaled(points_to_double_odds=20, higher="no", rows=rows)
    assert turned.table.cut_offs[0].above == 0
    between = card.scaled(minimum=300, maximum=850, rows=rows).points(rows).totals
    assert between.min() >= 299
    assert between.max() <= 851
    fine = card.scaled(minimum=0, maximum=1, digits=4)
    assert fine.scale.digits == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "expected points_to_double_odds"),
        ({"points_to_double_odds": 0}, "more than 0"),
        ({"points_to_double_odds": 20, "odds": 2}, "belong together"),
        ({"points_to_double_odds": 20, "odds": -2, "base_score": 1}, "odds: -2"),
        ({"odds": 2}, "go with"),
        ({"minimum": 3, "maximum": 3}, "less than maximum"),
        ({"minimum": "a", "maximum": 3}, "expected a number"),
        ({"minimum": 3, "maximum": 4, "points_to_double_odds": 2}, "not both"),
        ({"minimum": 3, "maximum": 4, "higher": "x"}, "expected one of the classes"),
        ({"minimum": 3, "maximum": 4, "digits": 99}, "expected 0 to 12"),
    ],
)
def test_scales_that_make_no_sense(options, message):
    card = Scorecard(MIXED, ("no", "yes"), [Card(0, [1.0] * 8)])
    with pytest.raises(OptionError, match=message):
        card.scaled(**options)


def test_scales_that_a_model_does_not_have():
    linear = Scorecard(
        MIXED, ("no", "yes"), [Card(0, [1.0] * 8)], has_probabilities=False
    )
    with pytest.raises(OptionError, match="not log-odds"):
        linear.scaled(points_to_double_odds=20)
    three = Scorecard(MIXED, ("a", "b", "c"), [Card(n, [n] * 8) for n in range(3)])
    with pytest.raises(OptionError, match="only the differences"):
        three.scaled(minimum=0, maximum=1)
    with pytest.raises(OptionError, match="for two classes"):
        three.scaled(points_to_double_odds=20, higher="a")
    assert three.scaled(points_to_double_odds=20).scale.offset is None
    one = Scorecard.from_network(
        Network(
            MIXED,
            (Layer(np.ones((8, 1)), [0.0], "tanh"), Layer([[1.0]], [0.0], "sigmoid")),
            ("no", "yes"),
        )
    )
    with pytest.raises(OptionError, match="hidden unit"):
        one.scaled(points_to_double_odds=20)
    page = one.scaled(minimum=0, maximum=100).text()
    assert "Every total: predict yes" in page


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("classes", [("no", "yes"), ("a", "b", "c")])
def test_regions_hold_every_input_and_what_they_print_is_right(seed, classes):
    rng = np.random.default_rng(seed)
    network = deep_network(rng, (3, 2), classes)
    card = Scorecard.from_network(network, regions=regions_of(network, 500))
    card = card.replace(scale=Scale([1.0, 30.0, 1000.0][seed % 3], None, seed % 2))
    assert from_json(to_json(card)) == card
    jsonschema.validate(json.loads(to_json(card)), schema("scorecard"))
    codes, amounts = inputs_near(network, rng)
    expected = network.predict_codes(codes, amounts)
    found = card.table.predict_codes(codes, amounts)
    assert (found[found >= 0] == expected[found >= 0]).all()
    if seed % 3 == 2:
        assert (found >= 0).mean() > 0.5
    starts = MIXED.offsets[:-1]
    for row in range(len(codes)):
        picks = list(
            zip((starts + codes[row]).tolist(), amounts[row].tolist(), strict=True)
        )
        sums = first_values(network.layers[0], picks)
        scores = exact_scores(network.layers, picks)
        own = [region for region in card.regions if region.contains(sums)]
        assert own
        for region in own:
            assert expected[row] in region.classes
            if region.scores is not None:
                assert [score.at(sums) for score in region.scores] == scores
    assert f"The {len(card.regions)} regions below are grouped in blocks" in " ".join(
        card.text().split()
    )


def test_bins_are_the_fewest_that_tell_rows_apart():
    domain = Domain((Feature.real("n", 0, 12, whole=True), Feature("c", ("u", "v"))))
    card = Scorecard(domain, ("no", "yes"), [Card(-3.0, [0.5, 1.0, 0.0])])
    rows = [{"n": n, "c": c} for n in range(13) for c in "uv"]
    binned = card.scaled(bins="auto", rows=rows)
    assert binned.scale.bins == 20  # a bin for each number: 5 and 10 leave some between
    assert (binned.predict(rows) == card.predict(rows)).all()
    assert binned.scaled(bins=13).scale.bins == 13
    assert from_json(to_json(binned)) == binned
    jsonschema.validate(json.loads(to_json(binned)), schema("scorecard"))
    fine = Feature.real("x", 0, 1)
    sums = Domain((fine, Feature.real("y", 0, 1)))
    slanted = Scorecard(sums, ("no", "yes"), [Card(-1.0, [1.0, 1.0])])
    near = [{"x": x / 200, "y": 1 - x / 200} for x in range(201)]
    with pytest.raises(OptionError, match="100% of the rows would lie between"):
        slanted.scaled(bins="auto", rows=near)
    with pytest.raises(OptionError, match="has none"):
        Scorecard(DOMAINS[0], ("no", "yes"), [Card(0.0, [1.0] * 7)]).scaled(bins=5)
    with pytest.raises(OptionError, match="expected a number or 'auto'"):
        slanted.scaled(bins="few")


def test_reasons_with_bins_name_what_a_bin_would_gain():
    domain = Domain((Feature.real("n", 0, 100, whole=True), Feature("c", ("u", "v"))))
    card = Scorecard(domain, ("no", "yes"), [Card(-30.0, [1.0, 5.0, 0.0])])
    rows = [{"n": n, "c": "v"} for n in range(101)]
    binned = card.scaled(bins=50, rows=rows)
    [[first, second]] = binned.reasons([{"n": 3, "c": "v"}])
    now = binned.points([{"n": 3, "c": "v"}]).totals[0, 0]
    then = binned.points([{"n": first.instead, "c": "v"}]).totals[0, 0]
    assert (first.feature, then - now) == ("n", first.points)
    assert second.feature == "c"
