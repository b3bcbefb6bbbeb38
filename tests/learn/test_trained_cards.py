"""Trained scorecards: integer points, equal to their networks on every input."""

import itertools
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

import nn2rules
from nn2rules import OptionError, ReadableClassifier
from nn2rules.learn.training.additive import (
    Additive,
    AdditivePruner,
    CardTraining,
    Questions,
    card_stages,
    curvature_of,
    loss_of,
    trained,
)
from nn2rules.learn.training.card_path import cards_of, sizes_of
from nn2rules.learn.training.columns import Cells, answer_table, columns_of
from nn2rules.learn.training.learning import first_weights
from nn2rules.learn.training.measures import measured
from nn2rules.learn.training.net import distinct_rows
from nn2rules.learn.training.points import points_of
from nn2rules.learn.training.targets import Targets

QUICK = {"form": "scorecard", "cuts": 4, "folds": 2, "max_lines": 9, "n_jobs": 1}

UNEQUAL = "folds are drawn by row, so a repeated row is not the same as a heavy one"


@parametrize_with_checks(
    [ReadableClassifier(**QUICK)],
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_dense_data": UNEQUAL
    },
)
def test_what_scikit_learn_asks_of_every_classifier(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def people(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n_rows),
            "pay": np.round(rng.normal(30, 9, n_rows), 2),
            "job": rng.choice(["clerk", "nurse", "smith", "judge"], n_rows),
            "is_new": rng.random(n_rows) < 0.5,
            "same": 7,
        }
    )
    frame.loc[rng.random(n_rows) < 0.1, "pay"] = np.nan
    frame.loc[rng.random(n_rows) < 0.1, "job"] = None
    score = frame["age"] / 10 + 2.0 * frame["job"].isin(["nurse", "judge"])
    score += 1.5 * frame["pay"].isna() + rng.normal(size=n_rows)
    return frame, np.where(score > 5.5, "good", "bad")


def kinds(frame):
    return np.where(frame["age"] < 35, "a", np.where(frame["is_new"], "b", "c"))


@pytest.fixture(scope="module", params=[2, 3], ids=["two classes", "three classes"])
def fitted(request):
    frame, labels = people()
    labels = labels if request.param == 2 else kinds(frame)
    quick = {**QUICK, "max_lines": 14}
    return ReadableClassifier(**quick).fit(frame, labels), frame, labels


def exact_class(card, codes):
    """Work out the class of an input from the points of its card, in fractions."""
    scores = [
        Fraction(one.base)
        + sum(
            Fraction(one.points[start + code])
            for start, code in zip(card.domain.offsets, codes, strict=False)
        )
        for one in card.cards
    ]
    if len(scores) == 1:
        return int(scores[0] > 0)
    return scores.index(max(scores))


def test_a_card_equals_its_network_on_every_input(fitted):
    model, frame, _ = fitted
    for point in model.path_.points:
        card, network = point.description, point.network
        assert card.network == network
        every = np.array(list(itertools.product(*map(range, network.domain.sizes))))
        expected = [exact_class(card, codes) for codes in every[:2000].tolist()]
        assert network.predict_codes(every[:2000]).tolist() == expected
        assert (card.predict(frame) == network.predict(frame)).all()
    assert (model.predict(frame) == model.scorecard_.predict(frame)).all()


def test_points_are_whole_and_two_classes_have_one_cut_off(fitted):
    model, frame, _ = fitted
    for point in model.path_.points:
        card = point.description
        table = card.table
        for column in table.columns:
            assert column.error == (0, 0)
            assert all(number.denominator == 1 for number in column.points)
        for cut in table.cut_offs:
            assert cut.at_least == cut.at_most + 1
        every = np.array(list(itertools.product(*map(range, card.domain.sizes))))[:2000]
        printed = table.predict_codes(every, None)
        exact = card.network.predict_codes(every)
        if len(card.classes) == 2:
            assert (printed == exact).all()
        else:  # only ties are too close
            assert (printed[printed >= 0] == exact[printed >= 0]).all()
            scores = np.sort(card.network.scores_codes(every), axis=1)
            assert ((printed < 0) == (scores[:, -1] == scores[:, -2])).all()
    assert (
        model.scorecard_.points(frame).totals == model.scorecard_.points(frame).sums
    ).all()


def test_no_card_has_more_lines_than_allowed(fitted):
    model, _, _ = fitted
    assert model.path_.points[0].size == 0
    sizes = [point.size for point in model.path_.points]
    assert max(sizes) <= 14
    for point in model.path_.points:
        page = point.description.text()
        assert point.size == point.description.n_lines
        points = point.description.cards[0].points
        assert len(points) == point.size or not point.size
        assert all(name in page for name in point.description.domain.names)


def test_what_matters_is_found():
    frame, labels = people(800)
    model = ReadableClassifier(**QUICK).fit(frame, labels)
    assert {"age", "job"} <= set(model.network_.domain.names)
    assert model.score(frame, labels) > 0.8
    job = model.network_.domain.feature("job")
    [group] = [set(group) for group in job.groups if "judge" in group]
    assert "nurse" in group
    assert "smith" not in group


def test_questions_about_a_card_are_answered(fitted):
    model, frame, _ = fitted
    row = frame.iloc[0].to_dict()
    assert nn2rules.explain(model.network_, row).prediction == model.predict(frame)[0]
    card = nn2rules.extract(model.network_, data=frame, form="scorecard")
    assert card.table.columns == model.scorecard_.table.columns


def test_a_card_can_be_kept(fitted, tmp_path):
    model, frame, _ = fitted
    nn2rules.save(model.scorecard_, tmp_path / "card.json")
    kept = nn2rules.load(tmp_path / "card.json")
    assert kept == model.scorecard_
    assert (kept.predict(frame) == model.predict(frame)).all()


def test_same_seed_same_card(fitted):
    model, frame, labels = fitted
    quick = {**QUICK, "max_lines": 14}
    polar = ReadableClassifier(**quick).fit(pl.from_pandas(frame), labels)
    assert polar.network_ == model.network_
    assert polar.scorecard_ == model.scorecard_


def test_processes_do_not_change_the_card(monkeypatch, fitted):
    model, frame, labels = fitted
    monkeypatch.setattr("nn2rules.learn.training.learning._SMALL", 0)
    quick = {**QUICK, "max_lines": 14, "n_jobs": 2}
    again = ReadableClassifier(**quick).fit(frame, labels)
    assert again.network_ == model.network_
    assert str(again.path_) == str(model.path_)


def test_another_point_of_the_path_can_be_chosen(fitted):
    model, frame, _ = fitted
    small = model.choose(1)
    assert small.network_ == model.path_.points[1].network
    assert small.path_.chosen == 1
    assert (small.predict(frame) == small.scorecard_.predict(frame)).all()
    assert model.path_.chosen != 1 or model.network_ == small.network_
    assert model.choose(-1).path_.chosen == len(model.path_) - 1
    for place in (len(model.path_), True, "1"):
        with pytest.raises(OptionError, match=r"place: .*, expected 0 to"):
            model.choose(place)
    with pytest.raises(AttributeError, match="described by a scorecard"):
        _ = model.rules_


@pytest.mark.parametrize("sign", [1, -1])
def test_points_are_monotonic_in_a_column(sign):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"pay": rng.integers(0, 100, 400), "age": rng.random(400)})
    labels = (frame["pay"] // 25) % 2 == 1  # up and down, which is not allowed
    model = ReadableClassifier(**QUICK, monotone={"pay": sign}).fit(frame, labels)
    free = ReadableClassifier(**QUICK).fit(frame, labels)
    assert not all(is_monotonic(point.network, sign) for point in free.path_.points)
    assert all(is_monotonic(point.network, sign) for point in model.path_.points)


def is_monotonic(network, sign):
    rows = pd.DataFrame({"pay": range(-5, 105), "age": 0.5})
    return bool((sign * np.diff(network.scores(rows)) >= 0).all())


def test_weights_count_rows():
    frame, labels = people(120)
    weights = np.random.default_rng(1).integers(0, 4, 120)
    repeated = np.repeat(np.arange(120), weights)
    names = list(frame.columns)
    options = {**QUICK, "cuts": 5}
    model = ReadableClassifier(**options)
    heavy = core_cards(
        frame[weights > 0], labels[weights > 0], names, weights[weights > 0]
    )
    many = core_cards(frame.iloc[repeated], labels[repeated], names, None)
    assert [card.asked for card in heavy] == [card.asked for card in many]
    for one, other in zip(heavy, many, strict=True):
        assert (one.points.weights == other.points.weights).all()
        assert (one.points.base == other.points.base).all()
    without = model.fit(frame[weights > 0], labels[weights > 0]).network_
    again = model.fit(frame, labels, sample_weight=(weights > 0).astype(int)).network_
    assert again == without


def core_cards(frame, labels, names, weights):
    weights = None if weights is None else weights.astype(float)
    targets = Targets.of_labels((labels == "good").astype(np.int64), 2, weights)
    columns = columns_of(frame, names, targets, 5)
    questions = Questions.of_columns(columns)
    signs = np.zeros(len(questions.columns))
    data = CardTraining(answer_table(columns, frame), targets, questions, signs, 12)
    return cards_of(data, 1.0)


def test_class_weights_move_the_cut_off():
    frame, labels = people()
    plain = ReadableClassifier(**QUICK).fit(frame, labels)
    heavy = ReadableClassifier(**QUICK, class_weight={"good": 20, "bad": 1})
    heavy.fit(frame, labels)
    assert (heavy.predict(frame) == "good").sum() > (
        plain.predict(frame) == "good"
    ).sum()
    by_rows = ReadableClassifier(**QUICK).fit(
        frame, labels, sample_weight=np.where(labels == "good", 20, 1)
    )
    assert by_rows.network_ == heavy.network_


def test_a_search_over_its_options_works():
    frame, labels = people(150)
    search = GridSearchCV(ReadableClassifier(**QUICK), {"max_lines": [4, 9]}, cv=2)
    search.fit(frame, labels)
    assert search.best_score_ > 0.7


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"form": "card"},
            "form: 'card', expected one of 'auto', 'rules', 'scorecard'",
        ),
        ({"max_lines": 1}, "max_lines: 1"),
        ({"alpha": (1, -1)}, "alpha: -1, expected a number of at least 0"),
        ({"class_weight": "fair"}, "class_weight: "),
        ({"class_weight": {"good": -1, "bad": 1}}, "class_weight: row .* has -1"),
    ],
)
def test_options_make_sense(options, words):
    frame, labels = people(60)
    with pytest.raises(OptionError, match=words):
        ReadableClassifier(**{**QUICK, **options}).fit(frame, labels)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1.0] * 59 + [-2.0], "sample_weight: row 59 has -2, expected a finite number"),
        ([np.nan] * 60, "sample_weight: row 0 has nan"),
        ([0] * 60, "every weight is zero"),
        ([1] * 59, r"it has shape \(59,\), expected \(60,\)"),
        (["heavy"] * 60, "expected a number for each row"),
    ],
)
def test_weights_make_sense(weights, words):
    frame, labels = people(60)
    with pytest.raises(OptionError, match=words):
        ReadableClassifier(**QUICK).fit(frame, labels, sample_weight=weights)


def test_one_class_may_be_left_by_weights():
    frame, labels = people(60)
    with pytest.raises(OptionError, match="have the same class"):
        ReadableClassifier(**QUICK).fit(frame, labels, sample_weight=labels == "good")


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), unique=True, min_size=1))
def test_lines_are_those_of_the_features(pairs):
    """The lines that questions need are the values of the features they make."""
    cells = [
        Cells("a", (1, 2, 3), None, like=1),
        Cells("b", (1, 2), None),
        Cells("c", (5,), None, like=0),
    ]
    every = Questions.of_columns(cells)
    asked = np.unique([(7 * a + 3 * b) % len(every.columns) for a, b in pairs])
    weights = np.ones((len(asked), 1))
    domain, _ = first_weights(cells, asked.tolist(), weights)
    own = every.part(asked)
    assert own.n_lines == sum(domain.sizes)
    for place, saved in enumerate(own.saved().tolist()):
        rest = own.part(np.delete(np.arange(len(asked)), place))
        assert own.n_lines - rest.n_lines == saved


def test_a_category_may_be_missing_in_few_rows():
    frame, labels = people(200)
    frame["job"] = frame["job"].fillna("clerk")
    frame.loc[frame.index[:2], "job"] = None
    for form in ("scorecard", "rules"):
        quick = {**QUICK, "questions": 4, "units": 2, "form": form}
        model = ReadableClassifier(**quick).fit(frame, labels)
        for point in model.path_.points:
            assert len(point.network.predict(frame)) == 200


def test_columns_that_are_missing_in_a_fold():
    frame, labels = people(80)
    frame["rare"] = np.nan
    frame.loc[frame.index[:3], "rare"] = 1.0
    frame["text"] = None
    frame.loc[frame.index[:2], "text"] = "seen"
    model = ReadableClassifier(**QUICK).fit(frame, labels)
    assert (model.predict(frame) == model.scorecard_.predict(frame)).all()


def answered(n_rows=200, n_classes=2, seed=0):
    """Return answers to six questions about two columns, and soft targets."""
    rng = np.random.default_rng(seed)
    places = rng.integers(0, 4, (n_rows, 2))
    answers = np.hstack([places[:, [0]] > range(3), places[:, [1]] > range(3)])
    shares = rng.dirichlet(np.ones(n_classes), n_rows)
    shares[:, 0] += answers[:, 1]
    shares /= shares.sum(axis=1, keepdims=True)
    weights = rng.integers(1, 4, n_rows).astype(float)
    no = np.zeros(6, dtype=bool)
    return answers, Targets(shares, weights), Questions(np.repeat([0, 1], 3), no, no)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_training_ends_in_the_minimum(n_classes):
    answers, targets, _ = answered(n_classes=n_classes)
    rows = distinct_rows(answers, targets)
    start = Additive.constant(6, rows)
    found = trained(start, rows, 0.01)
    best = minimize(lambda v: loss_of(start.filled(v), rows, 0.01), start.vector)
    assert loss_of(found, rows, 0.01) == pytest.approx(best.fun, abs=1e-6)


def test_signs_are_kept_in_training():
    answers, targets, _ = answered()
    rows = distinct_rows(answers, targets)
    signs = np.array([1.0, 1.0, 0.0, -1.0, -1.0, 0.0])
    start = Additive.constant(6, rows)
    found = trained(start, rows, 0.01, signs)
    assert (found.weights[:, 0] * signs >= 0).all()
    bounds = [
        (0, None) if s > 0 else (None, 0) if s < 0 else (None, None) for s in signs
    ]
    best = minimize(
        lambda v: loss_of(start.filled(v), rows, 0.01),
        np.zeros(7),
        bounds=[*bounds, (None, None)],
    )
    assert loss_of(found, rows, 0.01) == pytest.approx(best.fun, abs=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_pruner_removes_what_costs_least(n_classes):
    """Near the minimum, costs are those of training anew without a question."""
    answers, targets, questions = answered(2000, n_classes)
    rows = distinct_rows(answers, targets)
    model = trained(Additive.constant(6, rows), rows, 0.01)
    pruner = AdditivePruner(model, curvature_of(model, rows, 0.01), questions)
    pruner.prune()
    assert len(pruner.left) < 6

    def retrained(kept):
        left = distinct_rows(answers[:, kept], targets)
        found = trained(Additive.constant(len(kept), left), left, 0.01)
        return loss_of(found, left, 0.01)

    choices = [np.delete(np.arange(6), place) for place in range(6)]
    choices += [np.arange(3), np.arange(3, 6)]
    saved = [1.0] * 6 + [4.0] * 2
    loss = loss_of(model, rows, 0.01)
    costs = [
        (retrained(kept) - loss) / n for kept, n in zip(choices, saved, strict=True)
    ]
    assert pruner.left.tolist() == choices[int(np.argmin(costs))].tolist()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_integer_points_cannot_be_improved_by_one(n_classes, seed):
    """Where the loss is a parabola, no neighbor has a smaller one."""
    answers, targets, questions = answered(300, n_classes, seed)
    rows = distinct_rows(answers, targets)
    model = trained(Additive.constant(6, rows), rows, 0.01)
    points = points_of(model, rows, questions.columns, 0.01 * rows.n_rows)
    decay = 0.01
    curvature = curvature_of(model, rows, decay)

    def bowl(candidate):
        apart = candidate.vector - model.vector
        return apart @ curvature @ apart / 2

    own = bowl(points.model)
    for place in range(points.model.vector.size):
        for step in (1, -1):
            moved = points.model.vector.copy()
            moved[place] += step / points.unit
            assert bowl(points.model.filled(moved)) >= own - 1e-12
    assert loss_of(points.model, rows, decay) <= loss_of(model, rows, decay) + max(
        0.5 / rows.n_rows, 0.01
    )


def test_a_card_learns_from_probabilities():
    """Soft targets and weights: what a summary of another model is trained on."""
    answers, targets, questions = answered(400)
    data = CardTraining(answers, targets, questions, np.zeros(6), 8)
    cards = cards_of(data, 0.01)
    assert cards[0].lines == 0
    assert len(cards) == len(sizes_of(8)) + 1
    last = cards[-1]
    predicted = 1 / (1 + np.exp(-last.scores(answers)[:, 0]))
    means = [targets.part(answers[:, 1] == yes) for yes in (False, True)]
    for yes, part in zip((False, True), means, strict=True):
        expected = part.total[1] / part.n_rows
        own = np.average(predicted[answers[:, 1] == yes], weights=part.weights)
        assert own == pytest.approx(expected, abs=0.03)
    assert len(card_stages(data, 0.01)) >= 6


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.booleans(), st.integers(1, 3)),
        min_size=2,
        max_size=30,
    )
)
def test_measures_are_those_of_scikit_learn(rows):
    scores = np.array([row[0] for row in rows]) / 5
    truth = np.array([row[1] for row in rows]).astype(np.int64)
    weights = np.array([row[2] for row in rows], dtype=float)
    targets = Targets.of_labels(truth, 2, weights)
    shares = np.stack([1 - scores, scores], axis=1)
    classes = (scores > 0.5).astype(np.int64)
    found = measured(shares, classes, targets)
    if 0 < truth.sum() < len(truth):
        expected = roc_auc_score(truth, scores, sample_weight=weights)
        assert found.auc == pytest.approx(expected)
    else:
        assert found.auc == 0.5
    assert found.accuracy == pytest.approx(
        np.average(classes == truth, weights=weights)
    )
    assert found.brier == pytest.approx(
        np.average((scores - truth) ** 2, weights=weights)
    )
