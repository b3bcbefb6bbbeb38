"""Scorecards checked: right ones are proved, and wrong ones are never."""

from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import naive
from fuzz.judge import class_of
from nn2rules import (
    Domain,
    DomainError,
    Feature,
    Layer,
    Network,
    OptionError,
    Scorecard,
    check,
)
from nn2rules.checker.run_network import exact_output, exact_sums
from nn2rules.checker.scorecards import check_scorecard
from nn2rules.checker.scorecards.page_reader import PageReader, counted
from nn2rules.checker.scorecards.printed_claims import Printed, _part_off
from nn2rules.checker.scorecards.simplex import solve
from nn2rules.network import Affine
from nn2rules.scorecards import Card, CardRegion, Scale, regions_of
from random_cards import (
    DOMAINS,
    by_hand,
    deep_network,
    inputs_near,
    scales,
    small_networks,
    stated,
)
from ranged import mixed_domain, random_network

MIXED = mixed_domain()
WORDS = DOMAINS[0]  # 12 inputs
COUNTS = Domain(tuple(Feature.real(name, 0, 3, whole=True) for name in "xyz"))


def checked(network, card, **options):
    """Check a scorecard, of which a page may be given."""
    asked = {"samples": 2000, "seed": 0, "largest": 1 << 20, "seconds": 60}
    return check_scorecard(network, card, None, **asked | options)


def statuses(report):
    return {claim.name: claim.status for claim in report.claims}


def judged(network, row):
    """Return the label that a network gives a row, in exact arithmetic; or None."""
    codes, amounts = network.domain.inputs_of([row])
    amounts = None if amounts is None else amounts[0].tolist()
    index = class_of(network, codes[0].tolist(), amounts)
    return None if index is None else network.classes[index]


@settings(deadline=None, max_examples=50)
@given(st.data())
def test_right_cards_are_proved(data):
    network = data.draw(small_networks())
    card = Scorecard.from_network(network)
    report = check(network, card.replace(scale=data.draw(scales(card))))
    assert report.ok, str(report)
    assert statuses(report) == {"Predictions": "proved", "Printed points": "proved"}
    assert str(report).startswith("PROVED: the scorecard predicts as the network does")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("classes", [("no", "yes"), ("a", "b", "c")])
def test_right_regions_are_proved(seed, classes):
    rng = np.random.default_rng(seed + 20)
    network = deep_network(rng, (3, 2), classes)
    card = Scorecard.from_network(network, regions=regions_of(network, 500))
    card = card.replace(scale=Scale([1.0, 30.0, 1000.0][seed % 3], None, seed % 2))
    report = checked(network, card)
    assert report.ok, str(report)
    assert [*statuses(report)] == ["Predictions", "Regions", "Printed points"]


@st.composite
def mutations(draw, card):
    """Change one number of a scorecard, or more than that."""
    which = draw(st.sampled_from(["points", "base", "threshold", "upper", "classes"]))
    factor = draw(st.sampled_from([0.0, -1.0, 1.001, 1 + 2**-50, 1.5]))
    shift = draw(st.sampled_from([0.0, 2**-30, 1.0]))
    if which == "classes":
        return card.replace(classes=card.classes[1:] + card.classes[:1])
    if which == "threshold":
        assume(len(card.network.layers[-1].bias) == 1)
        return card.replace(threshold=draw(st.sampled_from([0.25, 0.5, 0.7])))
    if which == "upper":
        assume(card.upper)
        [layer] = card.upper
        weights, bias = layer.weights.copy(), layer.bias.copy()
        weights[0, 0] = weights[0, 0] * factor + shift
        changed = Layer(weights, bias, layer.activation)
        return card.replace(upper=(changed,))
    place = draw(st.integers(0, len(card.cards) - 1))
    base, points = card.cards[place].base, card.cards[place].points.copy()
    if which == "base":
        base = base * factor + shift
    else:
        column = draw(st.integers(0, len(points) - 1))
        points[column] = points[column] * factor + shift
    cards = [*card.cards]
    cards[place] = Card(base, points)
    return card.replace(cards=cards)


@settings(deadline=None, max_examples=30)
@given(st.data())
def test_changed_cards_are_refuted_by_an_input_or_equal(data):
    network = data.draw(small_networks(domains=[WORDS]))
    card = data.draw(mutations(Scorecard.from_network(network)))
    report = checked(network, card)
    rows = [
        dict(zip(WORDS.names, values, strict=True))
        for values in product(*(feature.values for feature in WORDS.features))
    ]
    truth = [(judged(network, row), judged(card.network, row)) for row in rows]
    differ = [row for row, (a, b) in zip(rows, truth, strict=True) if a != b]
    if any(None in pair for pair in truth):
        return
    status = statuses(report)["Predictions"]
    assert status == ("refuted" if differ else "proved"), (status, differ)
    assert bool(report.counterexamples) == bool(differ)
    for example in report.counterexamples:
        assert example.row in differ
        assert example.network == judged(network, example.row)
        assert example.stated == judged(card.network, example.row)


@settings(deadline=None, max_examples=12)
@given(st.data(), st.integers(0, 2**32))
def test_changed_cards_of_numbers_are_never_proved_if_wrong(data, seed):
    network = data.draw(small_networks(domains=DOMAINS[1:]))
    card = data.draw(mutations(Scorecard.from_network(network)))
    report = checked(network, card, seconds=0.3, samples=300, seed=seed % 1000)
    for example in report.counterexamples:
        if not example.where:
            expected = judged(network, example.row), judged(card.network, example.row)
            assert (example.network, example.stated) == expected
    if statuses(report)["Predictions"] == "proved":
        rng = np.random.default_rng(seed)
        for one in (network, card.network):
            for codes, amounts in zip(*inputs_near(one, rng, 20), strict=True):
                ours = naive_class(network, codes, amounts)
                assert ours in (None, naive_class(card.network, codes, amounts), ours)
                if ours is not None:
                    theirs = naive_class(card.network, codes, amounts)
                    assert theirs in (None, card_index(network, card, ours))


def naive_class(network, codes, amounts):
    return class_of(network, codes.tolist(), amounts.tolist())


def card_index(network, card, index):
    return card.classes.index(network.classes[index])


@settings(deadline=None, max_examples=25)
@given(st.data())
def test_moved_cut_offs_are_refuted_by_an_input_or_right(data):
    domain = data.draw(st.sampled_from([WORDS, COUNTS]))
    network = data.draw(small_networks(domains=[domain]))
    card = Scorecard.from_network(network)
    card = card.replace(scale=data.draw(scales(card)))
    table = card.table
    moved = table.step * data.draw(st.sampled_from([1, 2, 3, 30, 1000, -1, -30]))
    if table.margin is not None:
        table = replace(table, margin=max(table.margin - moved, Fraction(0)))
    elif table.cut_offs:
        first, *rest = table.cut_offs
        kinds = {
            "at_least": replace(first, at_least=first.at_least - moved),
            "at_most": replace(first, at_most=first.at_most + moved),
            "classes": replace(first, below=first.above, above=first.below),
        }
        first = kinds[data.draw(st.sampled_from(sorted(kinds)))]
        table = replace(table, cut_offs=(first, *rest))
    else:
        other = (table.lowest_class + 1) % len(card.classes)
        table = replace(table, lowest_class=other)
    report = checked(network, card, table=table)
    assert statuses(report)["Predictions"] == "proved"
    wrong = []
    for codes, amounts in every_input(domain):
        right = class_of(network, codes, amounts)
        if right is None:
            return
        rounds = True if table.scale.bins is None else None
        shown = stated(table, by_hand(table, codes, amounts, rounds=rounds))
        if shown not in (right, None):
            wrong.append((codes, amounts))
    status = statuses(report)["Printed points"]
    if wrong:
        assert status != "proved"
    if status == "refuted":
        assert wrong
        [example] = report.counterexamples
        codes, amounts = domain.inputs_of([example.row])
        own = None if amounts is None else tuple(amounts[0].tolist())
        assert (tuple(codes[0].tolist()), own) in wrong


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["single", "classes", "parts"])
def test_cut_offs_are_proved_only_where_they_are_right(kind, seed):
    """Rounded products add up: every cut-off of a small card, against brute force."""
    rng = np.random.default_rng(seed)
    slopes = rng.choice(
        [-0.6, -0.4, 0.4, 0.45, 0.6, 1.5], (3, 2 if kind != "single" else 1)
    )
    first = Layer(slopes, rng.choice([-1.0, -0.2, 0.3], slopes.shape[1]), "sigmoid")
    layers = (first,)
    if kind != "single":
        layers = (Layer(slopes, first.bias, "softmax"),)
    if kind == "parts":
        above = Layer([[1.0], [-0.5]], [0.25], "sigmoid")
        layers = (Layer(slopes, first.bias, "relu"), above)
    network = Network(COUNTS, layers, ("no", "yes"))
    card = Scorecard.from_network(network).replace(scale=Scale(1.0))
    table, proved = card.table, 0
    if not table.cut_offs:
        return
    inputs = every_input(COUNTS)
    truth = [class_of(network, *at) for at in inputs]
    [cut] = table.cut_offs
    for step in range(-2, 6):
        for name in ("at_most", "at_least"):
            way = 1 if name == "at_most" else -1
            other = replace(cut, **{name: getattr(cut, name) + way * step})
            moved = replace(table, cut_offs=(other,))
            shown = [stated(moved, by_hand(moved, *at, rounds=True)) for at in inputs]
            is_right = all(
                one in (right, None) for one, right in zip(shown, truth, strict=True)
            )
            status = statuses(checked(network, card, table=moved))["Printed points"]
            assert status != "proved" or is_right
            proved += status == "proved"
    assert proved >= 4


def every_input(domain):
    """Return the codes and numbers of every input."""
    if domain == WORDS:
        return [(codes, None) for codes in naive.inputs(WORDS.sizes)]
    return [((0, 0, 0), tuple(map(float, n))) for n in product(range(4), repeat=3)]


@pytest.mark.parametrize("units", [2, 3])
def test_pages_with_wrong_bins_are_not_proved(units):
    network = random_network(np.random.default_rng(units), MIXED, units=units)
    card = Scorecard.from_network(network).replace(scale=Scale(1000.0, None, 0, 8))
    assert statuses(checked(network, card))["Printed points"] == "proved"
    table = card.table
    assert table.cut_offs
    [bins, *others] = table.bins
    for wrong in (bins[1:], bins[:-1], (bins[0], *bins)):
        found = checked(network, card, table=replace(table, bins=(wrong, *others)))
        assert statuses(found)["Printed points"] != "proved"
    first, *rest = table.columns
    far = tuple(points + 10**6 for points in first.bins[0])
    moved = replace(first, bins=(far, *first.bins[1:]))
    table = replace(table, columns=(moved, *rest))
    assert statuses(checked(network, card, table=table))["Printed points"] != "proved"


def broken(card, kind, rng):
    """Break one region of a scorecard, or leave it out."""
    regions = [*card.regions]
    place = int(rng.integers(len(regions)))
    region = regions[place]
    if kind == "dropped":
        del regions[place]
    elif kind == "condition":
        first, *rest = region.conditions
        shifted = Affine(first.coefficients, first.constant - 1)
        changed = (shifted, *rest)
        regions[place] = CardRegion(changed, region.scores, region.classes)
    elif kind == "class":
        others = tuple({*range(len(card.classes))} - {region.classes[0]})
        regions[place] = CardRegion(region.conditions, None, others[:1])
    else:
        form = Affine((Fraction(1),) * len(card.cards), Fraction(3))
        scores = (form,) * len(card.network.layers[-1].bias)
        classes = tuple(range(len(card.classes)))
        regions[place] = CardRegion(region.conditions, scores, classes)
    return card.replace(regions=regions)


@pytest.mark.parametrize("seed", [1, 3, 4])
@pytest.mark.parametrize("kind", ["dropped", "condition", "class", "scores"])
def test_broken_regions_are_never_proved(kind, seed):
    rng = np.random.default_rng(seed)
    network = deep_network(rng, (4, 2), ("no", "yes"))
    card = Scorecard.from_network(network, regions=regions_of(network, 500))
    assert len(card.regions) > 1
    card = broken(card, kind, rng)
    report = checked(network, card)
    found = statuses(report)
    assert found["Predictions"] == "proved"
    if found["Regions"] == "refuted":
        [example] = report.counterexamples
        codes, amounts = MIXED.inputs_of([example.row])
        assert wrong_regions(card, codes[0], amounts[0])
    if found["Regions"] == "proved":  # where a region holds no input, nothing is wrong
        for codes, amounts in zip(*inputs_near(network, rng, 300), strict=True):
            assert not wrong_regions(card, codes, amounts)


def wrong_regions(card, codes, amounts):
    """Tell whether regions are wrong about an input, in fractions."""
    picked = [
        *zip(MIXED.offsets.tolist(), codes.tolist(), amounts.tolist(), strict=False)
    ]
    sums = [
        Fraction(one.base)
        + sum(Fraction(one.points[at + code]) * Fraction(x) for at, code, x in picked)
        for one in card.cards
    ]
    right = class_of(card.network, codes.tolist(), amounts.tolist())
    scores = naive.scores(card.network, codes.tolist(), amounts.tolist())
    held = [region for region in card.regions if region.contains(sums)]
    return not held or any(
        right not in region.classes
        or (
            (region.scores is not None)
            and [score.at(sums) for score in region.scores] != scores
        )
        for region in held
    )


def test_a_dropped_region_is_refuted_by_an_input_in_none():
    network = deep_network(np.random.default_rng(3), (3, 2), ("no", "yes"))
    card = Scorecard.from_network(network, regions=regions_of(network, 500))
    for place in range(len(card.regions)):
        regions = card.regions[:place] + card.regions[place + 1 :]
        report = checked(network, card.replace(regions=regions))
        assert not report.ok
        if report.counterexamples:
            [example] = report.counterexamples
            assert example.where == "no region"
            assert "the input is in no region" in str(report)
            return
    pytest.fail("no dropped region was refuted")


def test_features_values_and_classes_may_be_in_another_order():
    rng = np.random.default_rng(0)
    domain = Domain((Feature("a", ("x", "y", "z")), Feature.real("n", 0, 9)))
    network = random_network(rng, domain, units=2, classes=("u", "v", "w"))
    turned = Domain((Feature.real("n", 0, 9), Feature("a", ("z", "x", "y"))))
    order = [3, 2, 0, 1]
    first, last = network.layers
    cards = [
        Card(base, points[order])
        for base, points in zip(first.bias, first.weights.T, strict=True)
    ]
    card = Scorecard(turned, network.classes, cards, activation="relu", upper=(last,))
    assert check(network, card).ok
    swapped = Layer(last.weights[:, [2, 0, 1]], last.bias[[2, 0, 1]], "softmax")
    card = card.replace(classes=("w", "u", "v"), upper=(swapped,))
    report = checked(network, card)
    assert report.is_undecided
    assert report.counterexamples == ()
    assert report.differences == ("the classes are in another order",)
    card = card.replace(classes=("u", "v", "w"))
    assert statuses(checked(network, card))["Predictions"] == "refuted"


def test_other_numbers_may_mean_the_same():
    rng = np.random.default_rng(1)
    network = random_network(rng, MIXED, units=3)
    card = Scorecard.from_network(network)
    double = [Card(2 * one.base, 2 * one.points) for one in card.cards]
    report = checked(network, card.replace(cards=double))
    assert report.ok, str(report)  # relu(2 x) = 2 relu(x), and the cut-off is at 0
    assert "in the network" in report.differences[0]
    assert "which mean the same on every input" in str(report)


def linear(slope=0.01, **fields):
    domain = Domain(
        (
            Feature("color", ("red", "yellow")),
            Feature.real("weight", 50, 250, whole=True, missing=True),
        )
    )
    points = [1.5, -1.0, slope, 0.25]
    return Scorecard(domain, ("unripe", "ripe"), [Card(-2.0, points)], **fields)


def test_a_card_that_differs_for_one_number_is_refuted():
    card = linear()
    assert checked(card.network, linear(0.0101)).ok  # no whole weight is between
    report = checked(card.network, linear(0.0099))
    assert str(report).splitlines()[0] == (
        "DIFFERENT: the scorecard does not predict as the network does."
    )
    assert [str(example) for example in report.counterexamples] == [
        "color = 'red', weight = 50: the network predicts 'ripe', the scorecard "
        "'unripe'"
    ]
    assert "card 1, weight, slope: 0.0099, in the network 0.01" in str(report)


def test_cards_of_other_models_are_refused():
    card = linear()
    other = Domain((Feature("color", ("red", "blue")), card.domain.features[1]))
    network = Network(other, card.network.layers, card.classes)
    with pytest.raises(DomainError, match="the scorecard has 'yellow'"):
        check(network, card)
    labels = Network(card.domain, card.network.layers, ("unripe", "rotten"))
    with pytest.raises(DomainError, match="classes: the scorecard has 'ripe'"):
        check(labels, card)
    wider = Domain((card.domain.features[0], Feature.real("weight", 50, 300)))
    layers = (Layer(np.ones((3, 1)), [0.0], "sigmoid"),)
    with pytest.raises(DomainError, match="whole numbers from 50 to 250, the network"):
        check(Network(wider, layers, card.classes), card)


@pytest.mark.parametrize(
    "options", [{"impossible": [{"color": "red"}]}, {"default": True}, {"proofs": "x"}]
)
def test_options_of_rules_are_refused(options):
    card = linear()
    with pytest.raises(OptionError, match="is for rules"):
        check(card.network, card, **options)


def test_nothing_that_makes_scorecards_is_asked_for_an_answer(monkeypatch):
    """With all that a scorecard is worked out by broken, the verdict is the same."""
    network = deep_network(np.random.default_rng(1), (3, 2), ("no", "yes"))
    card = Scorecard.from_network(network, regions=regions_of(network, 500))
    table = card.table

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the checker asked someone else")

    others = ("boundaries", "digits", "printed_card", "regions", "scorecard", "sums")
    modules = [f"scorecards.{name}" for name in others]
    modules += ["network.certified", "network.exact", "network.activations"]
    for name in modules:
        module = import_module(f"nn2rules.{name}")
        for item in vars(module).copy():
            if callable(vars(module)[item]) and item[0].islower():
                monkeypatch.setattr(module, item, refuse)
    for name in ("predict", "predict_codes", "scores", "scores_codes"):
        monkeypatch.setattr(Network, name, refuse, raising=False)
    for name in ("predictions", "network", "points", "contributions", "table"):
        monkeypatch.setattr(Scorecard, name, refuse)
    monkeypatch.setattr(Affine, "at", refuse)
    monkeypatch.setattr(CardRegion, "contains", refuse)
    report = checked(network, card, table=table)
    assert report.ok, str(report)


def test_given_rows_are_compared():
    card = linear()
    rows = [{"color": "red", "weight": 50}, {"color": "yellow", "weight": None}]
    report = check(card.network, card, rows=rows)
    assert (report.rows, report.rows_different) == (2, 0)
    assert "Given rows compared: 2. Different: 0." in str(report)
    report = check(card.network, linear(0.0099), rows=rows)
    assert report.rows_different == 1


def test_a_time_limit_leaves_regions_undecided():
    network = deep_network(np.random.default_rng(4), (4, 3), ("no", "yes"))
    card = Scorecard.from_network(network, regions=regions_of(network, 500))
    report = check(network, card, time=0)
    assert report.is_undecided
    assert statuses(report)["Predictions"] == "proved"
    assert "Stopped by the time limit" in str(report)
    assert report.to_dict()["ok"] is False


def test_ctrl_c_leaves_what_was_proved():
    network = deep_network(np.random.default_rng(4), (4, 3), ("no", "yes"))
    card = Scorecard.from_network(network, regions=regions_of(network, 500))

    def progress(what, share):
        if what == "verifying regions" and share > 0.3:
            raise KeyboardInterrupt

    report = check(network, card, progress=progress)
    assert statuses(report) == {
        "Predictions": "proved",
        "Regions": "undecided",
        "Printed points": "undecided",
    }
    assert "Stopped by Ctrl-C" in str(report)


@pytest.mark.parametrize("seed", range(20))
def test_the_simplex_method_suggests_multipliers_that_hold(seed):
    rng = np.random.default_rng(seed)
    starts = [0, 2, 5]
    table = rng.integers(-5, 6, (4, 9)).astype(object)
    exact = np.array([[Fraction(v) for v in row] for row in table], dtype=object)
    found = solve(exact, starts, exact=True)
    floats = solve(table.astype(np.float64), starts, exact=False)
    assert found.is_feasible == floats.is_feasible
    left = exact[0] * int(found.is_feasible)
    for multiplier, row in zip(found.multipliers, exact[1:], strict=True):
        assert multiplier >= 0
        left = left - multiplier * row
    least = left[-1] + sum(
        min(left[a:b]) for a, b in zip(starts, [*starts[1:], 8], strict=True)
    )
    if found.is_feasible:
        assert least == found.least
        assert abs(float(found.least) - floats.least) < 1e-9
        sums = exact[1:, :-1] @ found.weights + exact[1:, -1]
        assert all(value >= 0 for value in sums)
    else:
        assert least > 0


@pytest.mark.parametrize("seed", range(30))
def test_a_part_is_off_by_no_more_than_its_bound(seed):
    rng = np.random.default_rng(seed)
    name = ["relu", "leaky_relu", "hard_tanh", "hard_sigmoid"][seed % 4]
    weights = rng.choice([-1.0, -0.3, 0.2, 0.7, 1.1], (3, 2))
    first = Layer(weights, rng.choice([-2.0, 0.1, 1.0], 2), name)
    layers = (first, Layer([[1.0], [-0.7]], [0.0], "sigmoid"))
    network = Network(COUNTS, layers, ("no", "yes"))
    card = Scorecard.from_network(network)
    table = card.replace(scale=Scale(2.0, None, int(rng.integers(0, 2)))).table
    ends = sorted(Fraction(int(n), 2) for n in rng.integers(-4, 5, 2))
    columns = tuple(
        replace(column, low=ends[0], high=ends[1]) for column in table.columns
    )
    table = replace(table, columns=columns)
    printed, reader = Printed(network, table), PageReader(COUNTS, table)
    for place, column in enumerate(columns):
        factor, scale = Fraction(3, 2), Fraction(int(rng.integers(-3, 4)), 2)
        low, high = _part_off(printed, place, Fraction(1), factor, scale)
        found = []
        for codes, amounts in every_input(COUNTS):
            exact = exact_sums(network, np.array(codes), np.array(amounts))[column.card]
            points = counted(column, reader._sum(column, codes, amounts))
            found.append(points - factor * exact_output(first, exact))
        own = [Fraction(at == place) for at in range(len(columns))]
        least, most = printed.off(own, printed.sums.unit(column.card), scale)
        first_end, last_end = printed.reach(column.card)
        for _ in range(200):  # what the bound is a bound of: sums and differences
            d = least + (most - least) * Fraction(int(rng.integers(0, 9)), 8)
            share = Fraction(int(rng.integers(0, 17)), 16)
            s = first_end + (last_end - first_end) * share
            if scale and rng.integers(0, 2):
                s = (ends[int(rng.integers(0, 2))] - d) / scale
            if first_end <= s <= last_end:
                points = counted(column, scale * s + d)
                found.append(points - factor * exact_output(first, s))
        assert low <= min(found)
        assert max(found) <= high
