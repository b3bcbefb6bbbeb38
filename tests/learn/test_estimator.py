"""The meta-estimator answers as what it trained does, and has good manners."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import nn2rules
from nn2rules import OptionError, RuleList, UnknownValueError, UnsupportedModelError
from nn2rules.learn import RuleListClassifier
from nn2rules.space import Intervals
from nn2rules.version import install_command

CHECKED = [
    RuleListClassifier(LogisticRegression(), numbers=6, effort=0),
    RuleListClassifier(
        make_pipeline(
            StandardScaler(),
            MLPClassifier((5,), solver="lbfgs", max_iter=60, random_state=0),
        ),
        scope="support",
    ),
]


@parametrize_with_checks(CHECKED)
def test_what_scikit_learn_asks_of_every_classifier(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def people(n_rows=200, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, n_rows),
            "pay": np.where(
                rng.random(n_rows) < 0.1, np.nan, rng.normal(30, 9, n_rows)
            ),
            "job": rng.choice(["clerk", "nurse", "smith"], n_rows),
            "children": rng.integers(0, 4, n_rows),
        }
    )


def answers(frame):
    is_old = (frame.age > 45) ^ (frame.job == "clerk")
    return np.where(is_old & (frame.children < 2), "yes", "no")


def pipeline(handle_unknown="ignore", classifier=None):
    steps = [
        (
            "numbers",
            make_pipeline(SimpleImputer(), StandardScaler()),
            make_column_selector(dtype_include="number"),
        ),
        (
            "words",
            OneHotEncoder(handle_unknown=handle_unknown),
            make_column_selector(dtype_exclude="number"),
        ),
    ]
    return make_pipeline(ColumnTransformer(steps), classifier or LogisticRegression())


def whole_domain(classifier, frame):
    """Return every input as a frame that the trained model takes.

    Where numbers are in cells, those that the model was trained on.
    """
    domain, moved = classifier.domain_, classifier.moved(frame)
    codes = np.concatenate(list(domain.inputs()))
    columns = {}
    for index, feature in enumerate(domain.features):
        cells = list(feature.values)
        if isinstance(feature, Intervals):
            seen = domain.encode(moved)[:, index]
            cells = [moved[feature.name][seen == c].iloc[0] for c in range(len(cells))]
        columns[feature.name] = [cells[code] for code in codes[:, index]]
    made = pd.DataFrame(columns)
    for name in frame.columns.difference(made.columns):  # what the model does not use
        made[name] = frame[name].iloc[0]
    return made[list(frame)], codes


def check_equal_everywhere(classifier, frame):
    """Compare the rules with the model they come from, on every input."""
    inputs, codes = whole_domain(classifier, frame)
    answers = classifier.estimator_.predict(inputs)
    assert (classifier.rules_.predict(inputs) == answers).all()
    assert (classifier.domain_.encode(inputs) == codes).all()


@pytest.mark.parametrize("numbers", [3, 6])
def test_rules_equal_the_model_on_frames(numbers):
    rows = people()
    y = answers(rows)
    mlp = MLPClassifier((4,), solver="lbfgs", max_iter=80, random_state=0)
    classifier = RuleListClassifier(pipeline(classifier=mlp), numbers=numbers).fit(
        rows, y
    )
    moved = classifier.moved(rows)
    assert (moved.nunique() <= max(numbers, 4)).all()
    assert (moved.dtypes == rows.dtypes).all()
    assert (moved.pay.isna() == rows.pay.isna()).all()
    assert (classifier.predict(rows) == classifier.estimator_.predict(moved)).all()
    assert set(classifier.predict(rows)) == {"no", "yes"}
    assert classifier.rules_.scope == "domain"
    assert isinstance(classifier.rules_, RuleList)
    assert classifier.domain_ == classifier.rules_.domain
    check_equal_everywhere(classifier, rows)


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC(random_state=0)])
def test_the_model_answers_what_no_rule_decides(model):
    rows = people()
    some = rows[:25]
    classifier = RuleListClassifier(pipeline(classifier=model), numbers=20)
    classifier.set_params(scope="support").fit(some, answers(some))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, shares = classifier.predict(rows), classifier.predict_proba(rows)
    moved = classifier.moved(rows)
    is_open = classifier.rules_.apply(moved) < 0
    assert is_open.any()
    assert (found == classifier.estimator_.predict(moved)).all()
    by_default = classifier.rules_.predict(moved, uncovered="none") == found
    assert (by_default != is_open).all()
    assert (classifier.classes_[shares.argmax(axis=1)] == found).all()
    if hasattr(model, "predict_proba"):
        own = classifier.estimator_.predict_proba(moved)
        assert (shares[is_open] == own[is_open]).all()


def test_rules_for_the_rows_alone():
    rows = people()
    classifier = RuleListClassifier(pipeline(), numbers=20, scope="support")
    classifier.fit(rows, answers(rows))
    moved = classifier.moved(rows)
    assert (classifier.predict(rows) == classifier.estimator_.predict(moved)).all()
    assert classifier.rules_.scope == "support"


def test_numbers_are_moved_to_the_nearest_quantile():
    rows = pd.DataFrame({"n": [1, 1, 1, 1, 2, 3, 10, 20], "m": [0.5, 1.5] * 4})
    classifier = RuleListClassifier(LogisticRegression(), numbers=4)
    classifier.fit(rows, rows.n > 2)
    assert classifier.moved(rows).n.tolist() == [1, 1, 1, 1, 2, 2, 10, 10]
    new = pd.DataFrame({"n": [-9, 6, 7, 99], "m": [0.4, 1.0, 1.1, 9.0]})
    moved = classifier.moved(new)
    assert moved.n.tolist() == [1, 2, 10, 10]
    assert moved.m.tolist() == [0.5, 0.5, 1.5, 1.5]
    assert (classifier.predict(new) == classifier.estimator_.predict(moved)).all()


def test_the_model_is_trained_on_moved_numbers():
    rows = people()[["age", "children"]]
    model = make_pipeline(StandardScaler(), LogisticRegression())
    classifier = RuleListClassifier(model, numbers=3).fit(rows, rows.age > 40)
    scaler = classifier.estimator_[0]
    assert np.allclose(scaler.mean_, classifier.moved(rows).mean())
    assert not np.allclose(scaler.mean_, rows.mean())


def test_a_column_of_few_numbers_stays_as_it_is():
    rows = people()
    classifier = RuleListClassifier(pipeline(), numbers=5).fit(rows, answers(rows))
    assert (classifier.moved(rows).children == rows.children).all()
    assert classifier.domain_.feature("children").values == (0, 1, 2, 3)


def test_bins_of_the_model_are_seen():
    rows = people()[["age", "children"]]
    model = make_pipeline(KBinsDiscretizer(3), LogisticRegression())
    classifier = RuleListClassifier(model, numbers=20).fit(rows, rows.age > 40)
    assert isinstance(classifier.domain_.feature("age"), Intervals)
    check = classifier.predict(rows) == classifier.estimator_.predict(
        classifier.moved(rows)
    )
    assert check.all()


def test_arrays_are_frames_without_names():
    rows = people()[["age", "children"]]
    y = (rows.age > 40).to_numpy()
    of_frame = RuleListClassifier(LogisticRegression()).fit(rows, y)
    of_array = RuleListClassifier(LogisticRegression()).fit(rows.to_numpy(), y)
    assert (of_frame.predict(rows) == of_array.predict(rows.to_numpy())).all()
    assert of_array.domain_.names == ("x0", "x1")
    assert not hasattr(of_array, "feature_names_in_")
    assert of_frame.feature_names_in_.tolist() == ["age", "children"]
    assert of_frame.n_features_in_ == of_array.n_features_in_ == 2
    moved = of_array.moved(rows.to_numpy())
    assert (
        of_array.estimator_.predict(moved) == of_array.predict(rows.to_numpy())
    ).all()


def test_arrays_of_words():
    rows = people()[["job", "age"]].to_numpy(dtype=object)
    y = [age > 40 for age in rows[:, 1]]
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    classifier = RuleListClassifier(model, numbers=4).fit(rows, y)
    assert [len(feature) for feature in classifier.domain_.features] == [4, 5]
    moved = classifier.moved(rows)
    assert (classifier.predict(rows) == classifier.estimator_.predict(moved)).all()
    assert len(set(classifier.predict(rows))) == 2


def test_polars_frames():
    rows = people().drop(columns="pay")
    y = answers(rows)
    steps = [
        ("numbers", StandardScaler(), ["age", "children"]),
        ("words", OneHotEncoder(), ["job"]),
    ]
    model = make_pipeline(ColumnTransformer(steps), LogisticRegression())
    of_pandas = RuleListClassifier(model).fit(rows, y)
    polars = pl.from_pandas(rows)
    of_polars = RuleListClassifier(model).fit(polars, y)
    assert isinstance(of_polars.moved(polars), pl.DataFrame)
    assert str(of_polars.rules_) == str(of_pandas.rules_)
    assert (of_polars.predict(polars) == of_pandas.predict(rows)).all()


def test_the_index_of_a_frame_does_not_matter():
    rows = people()
    shuffled = rows.set_index(np.random.default_rng(1).permutation(len(rows)))
    first = RuleListClassifier(pipeline()).fit(rows, answers(rows))
    second = RuleListClassifier(pipeline()).fit(shuffled, answers(rows))
    assert first.rules_ == second.rules_
    assert (first.predict(rows) == second.predict(shuffled)).all()
    assert second.moved(shuffled).index.equals(shuffled.index)


def test_words_that_were_never_seen():
    rows = people()
    y = answers(rows)
    new = rows.assign(job="king")
    open_ = RuleListClassifier(pipeline(), numbers=4).fit(rows, y)
    assert open_.domain_.feature("job").other == "other"
    answered = open_.estimator_.predict(open_.moved(new))
    assert (open_.predict(new) == answered).all()
    strict = RuleListClassifier(pipeline("error"), numbers=4).fit(rows, y)
    with pytest.raises(
        UnknownValueError, match="'job' has no value 'king'; it has 'cl"
    ):
        strict.predict(new)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("scope", ["domain", "support"])
def test_probabilities_are_the_middle_of_what_a_rule_knows(n_classes, scope):
    rows = people()[["age", "children"]]
    y = (rows.age // 16 + rows.children) % n_classes
    model = make_pipeline(StandardScaler(), LogisticRegression())
    classifier = RuleListClassifier(model, numbers=6, scope=scope).fit(rows, y)
    shares = classifier.predict_proba(rows)
    assert shares.shape == (len(rows), n_classes)
    assert np.allclose(shares.sum(axis=1), 1)
    assert (
        classifier.classes_[shares.argmax(axis=1)] == classifier.predict(rows)
    ).all()
    own = classifier.estimator_.predict_proba(classifier.moved(rows))
    rules = classifier.rules_
    for row, index in enumerate(rules.apply(rows)):
        answer = classifier.classes_.tolist().index(
            rules.predict(rows[row : row + 1])[0]
        )
        known = None if index < 0 else rules.facts[index].probability
        low, high = known or (1 / n_classes, 1)
        assert shares[row, answer] == pytest.approx((low + high) / 2)
        assert low <= own[row, answer] <= high
        rest = np.delete(shares[row], answer)
        assert np.allclose(rest, rest[0])


def test_labels_keep_their_type():
    rows = people()[["age", "children"]]
    for labels in (["a", "b"], [0, 1], [2, 7], [False, True]):
        y = np.array(labels)[(rows.age > 40).astype(int)]
        classifier = RuleListClassifier(LogisticRegression()).fit(rows, y)
        assert classifier.predict(rows).dtype == y.dtype
        assert classifier.classes_.tolist() == labels
        assert classifier.score(rows, y) > 0.9


def test_search_and_cross_validation():
    rows = people()
    y = answers(rows)
    mlp = MLPClassifier((3,), solver="lbfgs", max_iter=40, random_state=0)
    model = RuleListClassifier(pipeline(classifier=mlp), numbers=4, effort=0)
    grid = {"estimator__mlpclassifier__alpha": [1e-4, 10], "numbers": [2, 4]}
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(rows, y)
    assert search.best_estimator_.rules_.rules
    assert cross_val_score(model, rows, y, cv=2, error_score="raise").mean() > 0.6


def test_copies():
    rows = people()
    model = RuleListClassifier(pipeline(), numbers=3, form="set", seed=7, max_rules=2)
    copy = clone(model)
    assert copy.get_params()["seed"] == 7
    assert not hasattr(copy, "rules_")
    fitted = model.fit(rows, answers(rows))
    read = pickle.loads(pickle.dumps(fitted))
    assert read.rules_ == fitted.rules_
    assert (read.predict(rows) == fitted.predict(rows)).all()
    assert len(fitted.rules_.rules) <= 2
    assert fitted.rules_.form == "set"


def test_mistakes():
    rows = people()
    with pytest.raises(NotFittedError):
        RuleListClassifier(pipeline()).predict(rows)
    with pytest.raises(OptionError, match="numbers: 0, expected at least 1"):
        RuleListClassifier(pipeline(), numbers=0).fit(rows, answers(rows))
    tree = RuleListClassifier(DecisionTreeClassifier())
    with pytest.raises(
        UnsupportedModelError, match="DecisionTreeClassifier is not a neural network"
    ):
        tree.fit(rows[["age"]], answers(rows))
    with pytest.raises(ValueError, match="y has only one class"):
        RuleListClassifier(pipeline()).fit(rows, ["same"] * len(rows))
    fitted = RuleListClassifier(pipeline(), numbers=3).fit(rows, answers(rows))
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(rows.rename(columns={"job": "work"}))
    with pytest.raises(UnknownValueError, match="'age' has an empty cell"):
        fitted.predict(rows.assign(age=None))


def test_the_package_has_it():
    assert nn2rules.RuleListClassifier is RuleListClassifier


def test_a_missing_library_gives_the_command():
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import nn2rules\n"
        "try:\n    import nn2rules.learn\n"
        "except nn2rules.MissingExtraError as error:\n    print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == (
        "nn2rules.learn needs scikit-learn, which is not installed; install it "
        f"with: {install_command('sklearn')}"
    )
