import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from nn2rules import Domain, Feature, Nn2RulesError, UnsupportedModelError, extract
from nn2rules.adapters import read_network

VALUES = {
    "colour": ["red", "green", "blue", "dark red"],
    "on_off": ["on", "off"],
    "size": ["S", "M", "L"],
}


def table(values=VALUES, rows=120, seed=0):
    """Return random rows; the first values are common, the last ones rare."""
    rng = np.random.default_rng(seed)
    columns = {}
    for name, items in values.items():
        odds = np.arange(len(items), 0, -1.0) ** 2
        picks = rng.choice(len(items), rows, p=odds / odds.sum())
        picks[: len(items)] = range(len(items))
        columns[name] = [items[pick] for pick in picks]
    return columns


def labels(columns, n_classes=2):
    first, *rest = columns.values()
    codes = [sorted(set(map(str, column))).index for column in columns.values()]
    total = [
        sum(
            (2 * place + 1) * code(str(cell))
            for place, (code, cell) in enumerate(zip(codes, row, strict=True))
        )
        for row in zip(first, *rest, strict=True)
    ]
    return [f"class {number % n_classes}" for number in total]


def fitted(model, rows, answers):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(rows, answers)


def mlp(**options):
    settings = {"hidden_layer_sizes": (4, 3), "solver": "lbfgs", "max_iter": 60}
    return MLPClassifier(**{"random_state": 0} | settings | options)


def frame(columns):
    return pd.DataFrame({n: pd.Series(c, dtype=object) for n, c in columns.items()})


def check_equal(model, network, rows, inputs, tolerance=1e-9):
    """Compare probabilities and answers on `rows`, which the model reads itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        probability = model.predict_proba(rows)
        answers = model.predict(rows)
    scores = network.scores(inputs)
    if network.is_binary:
        positive = 1 / (1 + np.exp(-scores))
        found = np.stack([1 - positive, positive], axis=1)
    else:
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        found = powers / powers.sum(axis=1, keepdims=True)
    assert np.allclose(found, probability, rtol=0, atol=tolerance)
    assert network.predict(inputs).tolist() == answers.tolist()


def whole_domain(values):
    rows = list(product(*values.values()))
    return {
        name: list(column)
        for name, column in zip(values, zip(*rows, strict=True), strict=True)
    }


ENCODERS = {
    "plain": {},
    "dense": {"sparse_output": False},
    "first dropped": {"drop": "first"},
    "binary dropped": {"drop": "if_binary"},
    "some dropped": {"drop": ["green", "on", "S"]},
    "rare grouped": {"min_frequency": 20},
    "at most": {"max_categories": 2},
    "rare and dropped": {"min_frequency": 20, "drop": "first"},
    "at most and binary dropped": {"max_categories": 2, "drop": "if_binary"},
    "ignore": {"handle_unknown": "ignore"},
    "rare if exist": {"handle_unknown": "infrequent_if_exist", "min_frequency": 20},
    "given categories": {"categories": [*map(list, VALUES.values())]},
    "float32": {"dtype": np.float32},
}


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("kind", ["pandas", "numpy"])
def test_pipelines(name, kind):
    columns, everything = table(), whole_domain(VALUES)
    rows, inputs = frame(columns), frame(everything)
    if kind == "numpy":
        rows, inputs = rows.to_numpy(), inputs.to_numpy()
    model = make_pipeline(OneHotEncoder(**ENCODERS[name]), mlp())
    fitted(model, rows, labels(columns))
    network = read_network(model)
    names = list(VALUES) if kind == "pandas" else ["x0", "x1", "x2"]
    assert list(network.domain.names) == names
    assert [set(f.values) for f in network.domain.features] == [
        set(items) for items in VALUES.values()
    ]
    assert network.classes == ("class 0", "class 1")
    read = [
        dict(zip(names, row, strict=True))
        for row in zip(*everything.values(), strict=True)
    ]
    tolerance = 1e-4 if name == "float32" else 1e-9
    check_equal(model, network, inputs, read, tolerance)
    rules = extract(model)
    answers = model.predict(inputs).tolist()
    assert rules.predict(read).tolist() == answers
    assert len(set(answers)) == 2


def test_output_as_pandas():
    columns = table()
    encoder = OneHotEncoder(sparse_output=False).set_output(transform="pandas")
    model = fitted(make_pipeline(encoder, mlp()), frame(columns), labels(columns))
    inputs = frame(whole_domain(VALUES))
    check_equal(model, read_network(model), inputs, inputs)


@pytest.mark.parametrize(
    "values",
    [
        {"a": [1, 2, 3], "b": [10, 20]},
        {"a": [1.5, 2.5, -3.0], "b": [0.0, 1.0]},
        {"a": [True, False], "b": [1, 2, 3]},
        {"a": ["x", "y", None], "b": ["p", "q"]},
        {"a": ["x", "y", np.nan], "b": ["p", "q"]},
        {"a": [1.0, 2.0, np.nan], "b": [3.0, 4.0]},
        {"a": ["", " ", "a_b", "a"], "b_": ["x_1", "1"]},
        {"a": ["only"], "b": ["p", "q", "r"]},
    ],
    ids=["int", "float", "bool", "none", "nan", "float nan", "awkward", "single"],
)
@pytest.mark.parametrize("drop", [None, "first"])
def test_values_of_every_type(values, drop):
    columns = table(values)
    rows, inputs = pd.DataFrame(columns), pd.DataFrame(whole_domain(values))
    model = make_pipeline(OneHotEncoder(drop=drop), mlp())
    fitted(model, rows, labels(columns))
    network = read_network(model)
    assert network.domain.sizes == tuple(len(items) for items in values.values())
    check_equal(model, network, inputs, inputs)


@pytest.mark.parametrize("kind", ["str", "category", "string"])
def test_columns_of_pandas_own_types(kind):
    columns = table()
    rows = pd.DataFrame(columns).astype(kind)
    model = fitted(make_pipeline(OneHotEncoder(), mlp()), rows, labels(columns))
    inputs = pd.DataFrame(whole_domain(VALUES)).astype(kind)
    check_equal(model, read_network(model), inputs, inputs)


@pytest.mark.parametrize("activation", ["identity", "logistic", "relu", "tanh"])
@pytest.mark.parametrize("sizes", [(), (3,), (4, 2)])
def test_activations_and_depths(activation, sizes):
    columns = table()
    model = make_pipeline(
        OneHotEncoder(), mlp(activation=activation, hidden_layer_sizes=sizes)
    )
    fitted(model, frame(columns), labels(columns))
    network = read_network(model)
    assert len(network.layers) == len(sizes) + 1
    inputs = frame(whole_domain(VALUES))
    check_equal(model, network, inputs, inputs)


@pytest.mark.parametrize("classes", [(0, 1), (False, True), ("no", "yes"), (2, 7)])
def test_class_labels(classes):
    columns = table()
    answers = [classes[int(label[-1])] for label in labels(columns)]
    model = fitted(make_pipeline(OneHotEncoder(), mlp()), frame(columns), answers)
    network = read_network(model)
    assert network.classes == classes
    assert [type(c) for c in network.classes] == [type(c) for c in classes]
    inputs = frame(whole_domain(VALUES))
    check_equal(model, network, inputs, inputs)


def test_several_classes_are_read_but_not_by_the_papers_engine():
    columns = table()
    model = make_pipeline(OneHotEncoder(), mlp())
    fitted(model, frame(columns), labels(columns, 3))
    network = read_network(model)
    assert network.classes == ("class 0", "class 1", "class 2")
    inputs = frame(whole_domain(VALUES))
    check_equal(model, network, inputs, inputs)
    with pytest.raises(UnsupportedModelError):
        extract(model, engine="paper", form="paper")


def bare():
    """Return an encoder and a classifier, fitted one after the other."""
    columns = table()
    rows = frame(columns)
    encoder = OneHotEncoder(sparse_output=False).fit(rows)
    model = fitted(mlp(), encoder.transform(rows), labels(columns))
    return encoder, model


def test_a_classifier_with_its_encoder():
    encoder, model = bare()
    inputs = frame(whole_domain(VALUES))
    network = read_network(model, domain=encoder)
    check_equal(model, network, encoder.transform(inputs), inputs)


def test_a_classifier_with_a_domain():
    encoder, model = bare()
    domain = Domain(
        tuple(
            Feature(name, tuple(items))
            for name, items in zip(VALUES, encoder.categories_, strict=True)
        )
    )
    inputs = frame(whole_domain(VALUES))
    network = read_network(model, domain=domain)
    assert network.domain == domain
    check_equal(model, network, encoder.transform(inputs), inputs)


def test_a_classifier_alone_is_refused():
    _, model = bare()
    with pytest.raises(
        UnsupportedModelError, match="give domain= the fitted OneHotEnc"
    ):
        read_network(model)
    with pytest.raises(UnsupportedModelError, match="domain= is a Domain or a fitted"):
        read_network(model, domain=["colour"])


def test_columns_that_do_not_fit_are_refused():
    _, model = bare()
    other = OneHotEncoder().fit(frame({"a": ["x", "y"]}))
    with pytest.raises(
        UnsupportedModelError, match="makes 2 columns, but the MLPClass"
    ):
        read_network(model, domain=other)
    domain = Domain((Feature("a", ("x", "y")),))
    with pytest.raises(UnsupportedModelError, match="the domain has 2 values, but the"):
        read_network(model, domain=domain)


def test_unfitted_models_are_refused():
    for model in (mlp(), make_pipeline(OneHotEncoder(), mlp())):
        with pytest.raises(UnsupportedModelError, match="is not fitted; call its fit"):
            read_network(model)
    _, model = bare()
    with pytest.raises(UnsupportedModelError, match="OneHotEncoder is not fitted"):
        read_network(model, domain=OneHotEncoder())


def test_other_estimators_are_refused():
    columns = table()
    rows, answers = frame(columns), labels(columns)
    encoded = OneHotEncoder(sparse_output=False).fit_transform(rows)
    forest = LogisticRegression().fit(encoded, answers)
    with pytest.raises(UnsupportedModelError, match="cannot read a LogisticRegression"):
        read_network(forest)
    regressor = fitted(
        MLPRegressor(hidden_layer_sizes=(2,), max_iter=5),
        encoded,
        np.arange(len(answers), dtype=float),
    )
    with pytest.raises(UnsupportedModelError, match="cannot read a MLPRegressor"):
        read_network(regressor)
    with pytest.raises(UnsupportedModelError, match="cannot read a Pipeline of OneHot"):
        read_network(
            make_pipeline(OneHotEncoder(), LogisticRegression()).fit(rows, answers)
        )
    scaled = make_pipeline(StandardScaler(), mlp())
    with pytest.raises(
        UnsupportedModelError, match="a Pipeline of StandardScaler, MLP"
    ):
        read_network(fitted(scaled, encoded, answers))


def test_steps_that_do_nothing_are_skipped():
    columns = table()
    steps = [("encode", OneHotEncoder()), ("nothing", "passthrough"), ("mlp", mlp())]
    model = fitted(Pipeline(steps), frame(columns), labels(columns))
    inputs = frame(whole_domain(VALUES))
    check_equal(model, read_network(model), inputs, inputs)


def test_multi_label_is_refused():
    encoder, _ = bare()
    columns = table()
    answers = np.random.default_rng(0).integers(0, 2, (len(columns["size"]), 2))
    model = fitted(mlp(), encoder.transform(frame(columns)), answers)
    with pytest.raises(
        UnsupportedModelError, match="this MLPClassifier is multi-label"
    ):
        read_network(model, domain=encoder)


def test_one_class_is_refused():
    columns = table()
    model = make_pipeline(OneHotEncoder(), mlp())
    fitted(model, frame(columns), ["same"] * len(columns["size"]))
    with pytest.raises(Nn2RulesError, match="at least two classes"):
        read_network(model)


def test_categories_that_mean_the_same_are_refused():
    columns = table({"b": ["p", "q"]})
    rows = frame({"a": ["x", None] * 60, "b": columns["b"]})
    rows.loc[3, "a"] = np.nan
    model = make_pipeline(OneHotEncoder(), mlp())
    fitted(model, rows, labels(columns))
    with pytest.raises(Nn2RulesError, match="feature 'a' repeats the value None"):
        read_network(model)


def test_categories_that_are_no_values_are_refused():
    rows = frame({"a": [(1, 2), (3, 4)] * 20})
    encoder = OneHotEncoder(sparse_output=False)
    with pytest.raises((UnsupportedModelError, TypeError, ValueError)):
        read_network(fitted(make_pipeline(encoder, mlp()), rows, ["n", "y"] * 20))


def test_reading_changes_nothing_of_the_model():
    encoder, model = bare()
    before = [matrix.copy() for matrix in model.coefs_]
    network = read_network(model, domain=encoder)
    for old, new in zip(before, model.coefs_, strict=True):
        assert (old == new).all()
    model.coefs_[0][:] = 0
    assert network.layers[0].weights.any()
