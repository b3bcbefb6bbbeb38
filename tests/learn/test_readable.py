"""Networks made to be read: small, and their rules equal to them on every input."""

import itertools
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import nn2rules
from nn2rules import OptionError, ReadableClassifier, UnknownValueError
from nn2rules.learn.training import Measures, Path, Point, chosen, follows

FAST = {"form": "rules", "folds": 3, "units": 2, "alpha": 1}
QUICK = {"form": "rules", "questions": 6, "cuts": 4, "units": 3, "folds": 3, "alpha": 1}


UNEQUAL = "folds are drawn by row, so a repeated row is not the same as a heavy one"


@parametrize_with_checks(
    [ReadableClassifier(**QUICK, n_jobs=1)],
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_dense_data": UNEQUAL
    },
)
def test_what_scikit_learn_asks_of_every_classifier(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def people(n_rows=400, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n_rows),
            "pay": np.round(rng.normal(30, 9, n_rows), 2),
            "job": rng.choice(["clerk", "nurse", "smith", "judge"], n_rows),
            "children": rng.integers(0, 4, n_rows),
            "is_new": rng.random(n_rows) < 0.5,
            "same": 7,
            "id": [f"p{number}" for number in range(n_rows)],
        }
    )
    frame.loc[rng.random(n_rows) < 0.1, "pay"] = np.nan
    frame.loc[rng.random(n_rows) < 0.1, "job"] = None
    is_good = (frame["age"] > 40) & (frame["job"].isin(["nurse", "judge"]))
    is_good |= frame["pay"].isna() & (frame["children"] > 1)
    return frame, np.where(is_good, "good", "bad")


@pytest.fixture(scope="module")
def fitted():
    frame, labels = people()
    return (
        ReadableClassifier(**FAST, questions=9, n_jobs=1).fit(frame, labels),
        frame,
        labels,
    )


def every_input(domain):
    return np.array(list(itertools.product(*map(range, domain.sizes))))


def test_rules_equal_the_network_on_every_input_and_row(fitted):
    model, frame, _ = fitted
    for point in model.path_.points:
        codes = every_input(point.network.domain)
        rules = point.description
        told = np.append(rules.answers, rules.classes.index(rules.default))
        assert (told[rules.match(codes)] == point.network.predict_codes(codes)).all()
        assert (rules.predict(frame) == point.network.predict(frame)).all()
    assert (model.predict(frame) == model.rules_.predict(frame)).all()
    assert nn2rules.check(model.network_, model.rules_).ok


def test_what_matters_is_found_and_the_rest_vanishes(fitted):
    model, frame, labels = fitted
    assert set(model.network_.domain.names) == {"age", "pay", "job", "children"}
    assert model.score(frame, labels) > 0.97
    job = model.network_.domain.feature("job")
    assert {"judge", "nurse"} in [set(group) for group in job.groups]
    assert model.network_.domain.feature("age").edges[0] in range(38, 44)


def test_unseen_words_and_numbers_are_answered(fitted):
    model, frame, _ = fitted
    rows = frame.head(3).assign(job="astronaut", age=[-5, 200, 41], id="new")
    assert set(model.predict(rows)) <= {"good", "bad"}
    one = frame.head(1).assign(age=np.nan)
    with pytest.raises(UnknownValueError, match="age"):
        model.predict(one)


def test_there_is_no_third_truth_and_the_classifier_is_read(fitted):
    frame, labels = people(200)
    labels = np.where(frame["is_new"] & (frame["age"] > 40), "good", "bad")
    model = ReadableClassifier(**QUICK, n_jobs=1).fit(frame, labels)
    with pytest.raises(UnknownValueError, match="is_new"):
        model.predict(frame.head(1).assign(is_new="maybe"))
    assert nn2rules.read_network(model) is model.network_
    assert nn2rules.explain(model, frame.iloc[0]).prediction == model.predict(frame)[0]


def test_probabilities_belong_to_the_answers(fitted):
    model, frame, _ = fitted
    shares = model.predict_proba(frame)
    assert shares.sum(axis=1) == pytest.approx(1)
    assert (model.classes_[shares.argmax(axis=1)] == model.predict(frame)).all()


def test_same_seed_same_network_whatever_holds_the_rows(fitted):
    model, frame, labels = fitted
    again = ReadableClassifier(**FAST, questions=9, n_jobs=2).fit(frame, labels)
    assert again.network_ == model.network_
    assert again.rules_ == model.rules_
    assert [p.accuracy for p in again.path_.points] == [
        p.accuracy for p in model.path_.points
    ]
    polar = ReadableClassifier(**FAST, questions=9, n_jobs=1).fit(
        pl.from_pandas(frame), labels
    )
    assert polar.network_ == model.network_


def test_processes_do_not_change_the_result(monkeypatch, fitted):
    model, frame, labels = fitted
    monkeypatch.setattr("nn2rules.learn.training.learning._SMALL", 0)
    again = ReadableClassifier(**FAST, questions=9, n_jobs=2).fit(frame, labels)
    assert again.network_ == model.network_


def test_it_can_be_kept(fitted, tmp_path):
    model, frame, _ = fitted
    kept = pickle.loads(pickle.dumps(model))
    assert (kept.predict(frame) == model.predict(frame)).all()
    nn2rules.save(model.network_, tmp_path / "network.json")
    nn2rules.save(model.rules_, tmp_path / "rules.json")
    assert nn2rules.load(tmp_path / "network.json") == model.network_
    rules = nn2rules.load(tmp_path / "rules.json")
    assert (rules.predict(frame) == model.predict(frame)).all()


def test_weights_have_few_digits(fitted):
    for point in fitted[0].path_.points:
        for layer in point.network.layers[1:]:
            assert (np.round(layer.weights, 6) == layer.weights).all()


def test_it_works_in_a_pipeline_and_a_search():
    frame, labels = people(150)
    quick = ReadableClassifier(**QUICK, n_jobs=1)
    search = GridSearchCV(
        make_pipeline(FunctionTransformer(), quick),
        {"readableclassifier__units": [1, 3]},
        cv=2,
    ).fit(frame, labels)
    assert search.best_score_ > 0.7


def test_several_classes_and_labels_of_any_kind():
    frame, _ = people(300)
    labels = np.where(frame["age"] < 30, 3, np.where(frame["children"] > 1, 1, 2))
    model = ReadableClassifier(**QUICK, n_jobs=1).fit(frame, labels)
    assert model.classes_.tolist() == [1, 2, 3]
    assert model.score(frame, labels) > 0.95
    assert model.predict_proba(frame).shape == (300, 3)
    assert (model.rules_.predict(frame) == model.predict(frame)).all()


@pytest.mark.parametrize("sign", [1, -1])
def test_an_answer_follows_a_column_one_way(sign):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"pay": rng.integers(0, 100, 500), "age": rng.random(500)})
    labels = (frame["pay"] // 25) % 2 == 1  # up and down, which is not allowed
    model = ReadableClassifier(
        **FAST, questions=5, monotone={"pay": sign}, n_jobs=1
    ).fit(frame, labels)
    free = ReadableClassifier(**FAST, questions=5, n_jobs=1).fit(frame, labels)
    for point in model.path_.points:
        assert follows(point.network, "pay", sign)
    assert not all(follows(point.network, "pay", sign) for point in free.path_.points)
    for age in (0.1, 0.9):
        rows = pd.DataFrame({"pay": range(100), "age": age})
        steps = np.diff(model.predict(rows).astype(int))
        assert (sign * steps >= 0).all()


def test_categories_in_order_are_followed():
    rng = np.random.default_rng(4)
    sizes = pd.CategoricalDtype(["small", "medium", "big", "huge"], ordered=True)
    frame = pd.DataFrame(
        {"size": rng.choice(sizes.categories, 300), "x": rng.random(300)}
    )
    frame["size"] = frame["size"].astype(sizes)
    labels = np.where(frame["size"].cat.codes + frame["x"] > 1.8, "yes", "no")
    model = ReadableClassifier(**FAST, questions=5, monotone={"size": 1}, n_jobs=1).fit(
        frame, labels
    )
    assert model.score(frame, labels) > 0.9
    told = model.predict(pd.DataFrame({"size": sizes.categories, "x": 0.5}))
    assert (np.diff((told == "yes").astype(int)) >= 0).all()


def point(rules, *right):
    network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    made = nn2rules.extract(network)
    many = made.replace(
        boxes=np.repeat(made.boxes, rules, axis=0),
        answers=np.repeat(made.answers, rules),
        facts=made.facts * rules,
    )
    return Point(1, tuple(Measures(share, 0.5, 0.25) for share in right), network, many)


def test_the_fewest_rules_that_are_good_enough_are_chosen():
    points = [
        point(0, 0.70, 0.70),
        point(1, 0.80, 0.70),
        point(4, 0.94, 0.853),
        point(9, 0.95, 0.85),
        point(6, 0.93, 0.84),
    ]
    assert points[3].accuracy == pytest.approx(0.9)
    assert points[3].error == pytest.approx(0.05)
    assert chosen(points, None, None) == 3
    assert chosen(points, 0.01, None) == 2
    assert chosen(points, 0.2, None) == 0
    assert chosen(points, 0.0, 6) == 2
    assert chosen(points, None, 1) == 1
    assert chosen(points, None, 0) == 0
    assert chosen([point(3, 0.9, 0.8), point(3, 0.9, 0.81)], None, None) == 1
    worse = [point(0, 0.9, 0.9), point(2, 0.95, 0.84)]
    assert chosen(worse, None, None) == 0
    ranking = replace(worse[1], measures=(Measures(0.9, 0.9, 0.1),) * 2)
    assert chosen([worse[0], ranking], None, None) == 1


def test_the_path_is_shown(fitted):
    model, frame, labels = fitted
    path = model.path_
    frame_of = path.to_frame()
    assert frame_of["chosen"].sum() == 1
    assert len(str(path).splitlines()) == len(path) + 1
    assert "← chosen" in str(path).splitlines()[path.chosen + 1]
    axes = path.plot(peers=model.peers(frame.drop(columns="id"), labels))
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert any("decision tree" in text for text in texts)
    assert isinstance(path, Path)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"units": 0}, "units: 0"),
        ({"units": (2, "4")}, "units: .4."),
        ({"units": []}, "units: .."),
        ({"folds": 1}, "folds: 1"),
        ({"alpha": -1}, "alpha: -1"),
        ({"tolerance": "small"}, "tolerance: 'small'"),
        ({"max_rules": 1.5}, "max_rules: 1.5"),
        ({"monotone": {"wage": 1}}, "no column 'wage'"),
        ({"monotone": {"age": 2}}, "'age' has 2"),
        ({"monotone": {"job": 1}}, "'job' has categories without an order"),
    ],
)
def test_what_is_asked_for_makes_sense(options, words):
    frame, labels = people(60)
    with pytest.raises(OptionError, match=words):
        ReadableClassifier(n_jobs=1, **options).fit(frame, labels)


def test_what_cannot_be_learnt_is_said():
    frame, labels = people(60)
    with pytest.raises(ValueError, match="only one class"):
        ReadableClassifier().fit(frame, ["a"] * 60)
    with pytest.raises(OptionError, match="this is regression"):
        ReadableClassifier().fit(frame, np.arange(60))
    with pytest.raises(OptionError, match="nothing to learn from"):
        ReadableClassifier().fit(frame[["same", "id"]], labels)
    with pytest.raises(OptionError, match="a list of dicts, expected a frame"):
        ReadableClassifier().fit(frame.to_dict("records"), labels)
    with pytest.raises(OptionError, match="'b' has a single row"):
        ReadableClassifier().fit(frame, ["a"] * 59 + ["b"])
    with pytest.raises(OptionError, match="two classes"):
        ReadableClassifier(monotone={"age": 1}).fit(frame, ["a", "b", "c"] * 20)


def test_more_columns_than_rows_and_empty_columns():
    rng = np.random.default_rng(5)
    array = rng.random((24, 60))
    array[:, 7] = np.nan
    labels = (array[:, 3] > 0.5).astype(int)
    model = ReadableClassifier(**QUICK, n_jobs=1).fit(array, labels)
    assert (model.rules_.predict(model._rows(array)) == model.predict(array)).all()
    assert "x7" not in model.network_.domain.names
