"""The last guard: a network that does not answer as its model is never returned."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC

import nn2rules
from nn2rules import (
    Domain,
    Feature,
    Layer,
    Network,
    UnsupportedModelError,
    read_network,
)
from nn2rules.models.confirm import Reading, confirm
from nn2rules.models.decision import Decision
from nn2rules.models.model_rows import RowMaker
from nn2rules.models.tracing import FLOAT32, FLOAT64

DOMAIN = Domain((Feature("color", ("red", "blue")), Feature("size", (1, 2, 3))))
ROWS = pd.DataFrame({"color": ["red", "blue", "red", "blue"], "size": [1, 2, 3, 3]})
LABELS = ["no", "yes", "yes", "no"]


def network(n_outputs=1):
    rng = np.random.default_rng(0)
    activation = "sigmoid" if n_outputs == 1 else "softmax"
    weights, bias = rng.normal(size=(5, n_outputs)), rng.normal(size=n_outputs)
    layer = Layer(weights, bias, activation)
    classes = ("no", "yes") if n_outputs == 1 else tuple("abc")
    return Network(DOMAIN, (layer,), classes, model_error=1e-6)


def shares(scores):
    if scores.ndim == 1:
        return 1 / (1 + np.exp(-scores))
    powers = np.exp(scores)
    return powers / powers.sum(axis=1, keepdims=True)


def confirmed(error, *, n_outputs=1, is_score=False, unit=FLOAT64, where=None):
    """Confirm a network against a model that answers it, but for an error."""
    found = network(n_outputs)

    def answer(rows):
        made = found.scores(rows)
        made = made if is_score else shares(made)
        chosen = np.ones(len(rows), bool) if where is None else where(rows)
        made[chosen] += error
        return made

    forms = ("score", "scores") if is_score else ("sigmoid", "softmax")
    decision = Decision(found, forms[n_outputs > 1])
    reading = Reading(decision, answer, unit)
    return confirm(reading, RowMaker(DOMAIN, ROWS), ROWS)


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("is_score", [False, True])
def test_rounding_is_no_difference_and_more_is_one(n_outputs, is_score):
    options = {"n_outputs": n_outputs, "is_score": is_score}
    assert confirmed(1e-12, **options) == network(n_outputs)
    assert confirmed(1e-7, unit=FLOAT32, **options) == network(n_outputs)
    with pytest.raises(UnsupportedModelError, match="differs from the model"):
        confirmed(1e-5, **options)
    with pytest.raises(UnsupportedModelError, match="differs from the model"):
        confirmed(np.nan, **options)


def test_one_wrong_input_is_found_and_shown():
    def where(rows):
        return ((rows["color"] == "blue") & (rows["size"] == 2)).to_numpy()

    with pytest.raises(UnsupportedModelError, match=r"\(color = blue, size = 2\)"):
        confirmed(0.1, where=where)


class Liar(MLPClassifier):
    """A classifier that answers something else than its weights say."""

    def predict_proba(self, X):  # noqa: N803
        """Return the probabilities the wrong way round."""
        return super().predict_proba(X)[:, ::-1]


class LinearLiar(LogisticRegression):
    """A linear classifier whose scores are not those of its coefficients."""

    def decision_function(self, X):  # noqa: N803
        """Return scores that are a little off."""
        return super().decision_function(X) + 0.001


@pytest.mark.parametrize("liar", [Liar((3,), random_state=0), LinearLiar()])
@pytest.mark.filterwarnings("ignore")
def test_models_that_answer_differently_are_refused(liar):
    model = make_pipeline(OneHotEncoder(), liar).fit(ROWS, LABELS)
    with pytest.raises(UnsupportedModelError, match="differs from the model"):
        read_network(model, data=ROWS)


@pytest.mark.filterwarnings("ignore")
def test_the_certificate_says_what_was_compared():
    model = make_pipeline(OneHotEncoder(), MLPClassifier((3,), random_state=0))
    model.fit(ROWS, LABELS)
    found = read_network(model, data=ROWS)
    assert found.origin["framework"] == "scikit-learn"
    assert found.origin["version"] == sklearn.__version__
    assert found.origin["output"] == "a probability: the second class above 0.5"
    assert found.origin["compared"] == "outputs and predictions"
    assert found.origin["compared_rows"] == {"random": 2000, "data": 4}
    assert (
        nn2rules.extract(model, data=ROWS, form="rules").certificate["model"]
        == found.origin
    )
    alone = read_network(model, domain=found.domain)
    assert alone.origin["compared_rows"] == {"random": 2000, "data": 0}
    assert alone == found


def turned(found):
    """Confirm a model whose answers its user reads the other way round."""

    class Turned(Decision):
        def predicted(self, outputs):
            return 1 - super().predicted(outputs)

    reading = Reading(Turned(found, "score"), found.scores)
    return confirm(reading, RowMaker(DOMAIN, ROWS), ROWS)


def test_answers_are_compared_and_not_numbers_alone():
    with pytest.raises(
        UnsupportedModelError, match=(r"it gives '.*', but the model gives '.*';")
    ):
        turned(network())


def test_coarse_formats_are_named_where_they_are_too_coarse():
    with pytest.raises(UnsupportedModelError, match=r"bfloat16.* to float32"):
        confirmed(0.3, unit=2.0**-8)


class Boosted(ClassifierMixin, BaseEstimator):
    """A stand-in for the classifier of a boosting library."""

    def fit(self, _X, y):  # noqa: N803
        """Learn nothing."""
        self.classes_ = np.unique(y)
        return self


@pytest.mark.parametrize(
    ("library", "name"),
    [("xgboost", "XGBoost"), ("lightgbm", "LightGBM"), ("catboost", "CatBoost")],
)
def test_trees_of_boosting_libraries(library, name, monkeypatch):
    monkeypatch.setattr(Boosted, "__module__", f"{library}.sklearn")
    message = rf"Boosted \({name}\) is an ensemble of trees, not a .*te2rules"
    fitted = Boosted().fit(ROWS, LABELS)
    for model in (fitted, make_pipeline(OneHotEncoder(), Boosted()).fit(ROWS, LABELS)):
        with pytest.raises(UnsupportedModelError, match=message):
            read_network(model, data=ROWS)
    own = type("Booster", (), {"__module__": f"{library}.core"})()
    with pytest.raises(
        UnsupportedModelError, match=rf"Booster \({name}\) is an ensemble"
    ):
        read_network(own, data=ROWS)


BITS = {"a": [0, 1], "b": [0, 1], "c": [0, 1]}
TIED = pd.DataFrame(
    {"a": [1, 1, 1, 1, 0, 0], "b": [1, 1, 1, 0, 1, 0], "c": [1, 1, 1, 0, 1, 1]}
)


def tied_model():
    model = LogisticRegression().fit(TIED, [0, 1, 0, 1, 0, 1])
    model.coef_ = np.array(
        [[4.500000000000001, 1.7803175061665255e-15, -4.500000000000003]]
    )
    model.intercept_ = np.array([0.0])
    return model


def test_rows_that_the_models_own_rounding_decides_are_counted_and_stated():
    model = tied_model()
    rules = nn2rules.extract(model, data=TIED, domain=BITS, form="rules")
    n_other = int((np.asarray(rules.predict(TIED)) != model.predict(TIED)).sum())
    assert n_other > 0
    compared = rules.certificate["model"]["compared_rows"]
    assert compared["data_rounded_differently"] == n_other
    note = f"on {n_other} of your rows (6 were compared) the model predicts another"
    assert note in " ".join(str(rules).split())
    assert note in rules._repr_html_()
    assert any(note in text for text in rules.warnings())


def test_nothing_is_stated_where_rounding_decides_nothing():
    rows = TIED[["a", "b"]]
    model = LogisticRegression().fit(rows, [1, 1, 1, 0, 0, 0])
    rules = nn2rules.extract(model, data=rows, form="rules")
    assert "data_rounded_differently" not in rules.certificate["model"]["compared_rows"]
    assert not any("rounding" in text for text in rules.warnings())


@pytest.mark.parametrize("labels", [[0, 1, 0, 1], ["b", "a", "b", "a"]])
def test_a_tie_of_libsvm_goes_where_its_own_predict_puts_it(labels):
    rows = pd.DataFrame({"a": [-1, 1, -1, 1]})
    model = SVC(kernel="linear").fit(rows, labels)
    rows = pd.DataFrame({"a": [-1, 0, 1]})
    if model.decision_function(rows)[1] != 0:
        pytest.fail("the middle is no tie, and the test shows nothing")
    rules = nn2rules.extract(model, data=rows, domain={"a": [-1, 0, 1]}, form="rules")
    assert list(rules.predict(rows)) == list(model.predict(rows))
    assert nn2rules.read_network(model, data=rows).predict(rows[1:2]) == max(labels)
    compared = rules.certificate["model"]["compared_rows"]
    assert "data_rounded_differently" not in compared


def test_a_tie_of_libsvm_that_no_row_holds_goes_there_too():
    rows = pd.DataFrame({"a": [0, 2], "b": [0, 0]})
    model = SVC(kernel="linear").fit(rows, ["n", "y"])
    domain = {"a": [0, 1, 2], "b": [0, 1]}
    rules = nn2rules.extract(model, data=rows, domain=domain, form="rules")
    tied = pd.DataFrame({"a": [1, 1], "b": [0, 1]})
    assert list(rules.predict(tied)) == list(model.predict(tied)) == ["y", "y"]
    explained = nn2rules.explain(model, tied[:1], data=rows, domain=domain)
    assert "Prediction: y" in str(explained)
