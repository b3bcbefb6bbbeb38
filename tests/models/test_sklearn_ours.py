"""Pipelines that end in a ReadableClassifier answer as the networks read from them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    StandardScaler,
)

import nn2rules
from nn2rules import OptionError, ReadableClassifier, UnsupportedModelError

NUMBERS, WORDS = ["age", "income"], ["job", "town"]


def rows(n_rows=300):
    """Return raw rows with numbers, words and gaps, and their labels."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n_rows).astype(float),
            "income": rng.normal(3000, 900, n_rows).round(1),
            "job": rng.choice(["clerk", "cook", "judge", "nurse", "pilot"], n_rows),
            "town": rng.choice(["Ulm", "Bonn", None], n_rows),
        }
    )
    frame.loc[rng.random(n_rows) < 0.1, "income"] = np.nan
    is_paid = (frame.income.fillna(2500) > 2800) & frame.job.isin(["judge", "nurse"])
    return frame, np.where(is_paid | (frame.age > 60), "yes", "no")


FRAME, LABELS = rows()


def ours():
    return ReadableClassifier(
        form="rules", questions=5, folds=2, units=2, alpha=1, progress=False
    )


def joined(numbers, words, **options):
    return ColumnTransformer([("n", numbers, NUMBERS), ("w", words, WORDS)], **options)


FREQUENT = SimpleImputer(strategy="most_frequent")
STEPS = {
    "nothing": (["passthrough"], [*NUMBERS, *WORDS]),
    "scaler": ([StandardScaler()], NUMBERS),
    "imputer": ([SimpleImputer(), MinMaxScaler()], NUMBERS),
    "columns": ([joined(SimpleImputer(), FREQUENT)], [*NUMBERS, *WORDS]),
    "one-hot": (
        [joined(make_pipeline(SimpleImputer(), StandardScaler()), OneHotEncoder())],
        [*NUMBERS, *WORDS],
    ),
    "rest": (
        [
            ColumnTransformer(
                [("n", StandardScaler(), NUMBERS)], remainder="passthrough"
            )
        ],
        [*NUMBERS, *WORDS],
    ),
}


def around(network, frame):
    """Return rows of a frame, with numbers at and beside the edges of a network."""
    parts = [frame]
    for feature in network.domain.features:
        for edge in getattr(feature, "edges", ()):
            numbers = [float(edge)]
            numbers += [] if feature.whole else [np.nextafter(numbers[0], -np.inf)]
            parts += [frame[:20].assign(**{feature.name: n}) for n in numbers]
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize("kind", STEPS)
def test_pipelines_are_read(kind):
    steps, names = STEPS[kind]
    frame = FRAME[names]
    model = make_pipeline(*steps, ours()).fit(frame, LABELS)
    network = nn2rules.read_network(model, data=frame)
    assert all(f.edges for f in network.domain.features if f.name in NUMBERS)
    tried = around(network, frame)
    codes = network.predict_codes(*network.domain.inputs_of(tried))
    assert [network.classes[k] for k in codes] == model.predict(tried).tolist()
    verdict = nn2rules.verify(model, "never yes", frame)
    assert verdict.rows == (model.predict(frame) == "yes").sum()
    rules = nn2rules.extract(model, frame)
    assert rules.predict(frame).tolist() == model.predict(frame).tolist()


def test_a_classifier_of_ours_goes_into_every_question():
    model = Pipeline([("classifier", ours())]).fit(FRAME, LABELS)
    classifier, row = model[-1], FRAME.iloc[0]
    for given in (model, classifier):
        assert nn2rules.read_network(given) is classifier.network_
        assert nn2rules.explain(given, row).prediction == model.predict(FRAME[:1])[0]
        assert nn2rules.audit(given, FRAME, protected=["town"]).rows == len(FRAME)
        assert nn2rules.compare(given, classifier.rules_).equal
    chosen = GridSearchCV(ours(), {"units": [2]}, cv=2).fit(FRAME, LABELS)
    found = nn2rules.read_network(chosen)
    assert found is chosen.best_estimator_.network_


def test_a_threshold_around_a_classifier_of_ours():
    model = ours().fit(FRAME, LABELS)
    wrapped = FixedThresholdClassifier(
        model, threshold=0.8, response_method="predict_proba", pos_label="yes"
    ).fit(FRAME, LABELS)
    network = nn2rules.read_network(wrapped)
    codes = network.predict_codes(*network.domain.inputs_of(FRAME))
    found = [network.classes[k] for k in codes]
    assert found == wrapped.predict(FRAME).tolist()
    with pytest.raises(OptionError, match="has its own threshold"):
        nn2rules.read_network(model, threshold=0.8)


@pytest.mark.filterwarnings("ignore::nn2rules.errors.BinsWarning")
def test_bent_columns_have_the_numbers_that_occur():
    frame = FRAME[["age"]]
    model = make_pipeline(FunctionTransformer(np.log), ours()).fit(frame, LABELS)
    network = nn2rules.read_network(model, data=frame)
    [age] = network.domain.features
    assert set(age.values) == set(frame.age)
    codes = network.predict_codes(*network.domain.inputs_of(frame))
    assert [network.classes[k] for k in codes] == model.predict(frame).tolist()


def test_steps_that_mix_columns_are_refused():
    model = make_pipeline(SimpleImputer(), PCA(2), ours()).fit(FRAME[NUMBERS], LABELS)
    with pytest.raises(UnsupportedModelError, match=r"features: column 'x[01]'"):
        nn2rules.read_network(model, data=FRAME[NUMBERS])


def test_values_that_the_classifier_does_not_know_are_named():
    model = make_pipeline(StandardScaler(), ours()).fit(FRAME[["age"]], LABELS)
    gaps = FRAME[["age"]].mask(FRAME.income.isna())
    with pytest.raises(UnsupportedModelError, match="becomes 'missing' in column 'x0'"):
        nn2rules.read_network(model, data=gaps)
