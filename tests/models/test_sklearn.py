"""Whatever scikit-learn trains, the network answers as it does, or says why not."""

import re
import warnings
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.compose import (
    ColumnTransformer,
    make_column_selector,
    make_column_transformer,
)
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline, make_pipeline, make_union
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import nn2rules
from nn2rules import (
    Domain,
    DomainError,
    Feature,
    OptionError,
    RowsError,
    UnknownValueError,
    UnsupportedModelError,
    datasets,
    extract,
    read_network,
)
from nn2rules.space import Intervals, Range

VALUES = {
    "colour": ["red", "green", "blue", "dark red"],
    "on_off": ["on", "off"],
    "size": ["S", "M", "L"],
}


# What is tried ----------------------------------------------------------------------


def words(values=VALUES, rows=120, seed=0):
    """Return random rows; the first values are common, the last ones rare."""
    rng = np.random.default_rng(seed)
    columns = {}
    for name, items in values.items():
        odds = np.arange(len(items), 0, -1.0) ** 2
        picks = rng.choice(len(items), rows, p=odds / odds.sum())
        picks[: len(items)] = range(len(items))
        columns[name] = [items[pick] for pick in picks]
    return columns


def people(rows=150, seed=0):
    """Return a frame with columns of every kind: numbers, words, holes."""
    rng = np.random.default_rng(seed)
    gaps = rng.random(rows) < 0.2
    levels = ["low", "mid", "high"]
    return pd.DataFrame(
        {
            "age": rng.integers(18, 40, rows),
            "pay": np.round(rng.normal(30, 8, rows)) / 2,
            "height": np.where(gaps, np.nan, rng.integers(150, 162, rows)),
            "job": rng.choice(["clerk", "nurse", "smith", "cook"], rows),
            "town": pd.Series(rng.choice(["A", "B", None], rows), dtype=object),
            "vip": rng.random(rows) < 0.3,
            "level": pd.Categorical(rng.choice(levels, rows), levels, ordered=True),
        }
    )


def labels(frame, n_classes=2):
    """Return labels that depend on every column."""
    codes = [np.unique([*map(str, frame[n])], return_inverse=True)[1] for n in frame]
    total = sum((2 * place + 1) * code for place, code in enumerate(codes))
    return np.array([f"class {number % n_classes}" for number in total])


def fitted(model, rows, answers):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(rows, answers)


def mlp(**options):
    chosen = {"hidden_layer_sizes": (4, 3), "solver": "lbfgs", "max_iter": 40}
    return MLPClassifier(**{"random_state": 0} | chosen | options)


def frame(columns):
    return pd.DataFrame({n: pd.Series(c, dtype=object) for n, c in columns.items()})


def whole_domain(values):
    rows = list(product(*values.values()))
    return {
        name: list(column)
        for name, column in zip(values, zip(*rows, strict=True), strict=True)
    }


# How it is compared -----------------------------------------------------------------


def inputs_as(rows, domain, most=20_000):
    """Return inputs of the domain as rows like the user's: all, or some of them.

    Of a bin, either its first number or its last; of a range, any number.
    """
    rng = np.random.default_rng(3)
    if domain.n_inputs <= most and not domain.has_ranges:
        codes = np.concatenate(list(domain.inputs()))
    else:
        codes = rng.integers(domain.sizes, size=(most, len(domain.sizes)))
    columns = {}
    for index, feature in enumerate(domain.features):
        cells = [_cells(feature, code) for code in range(len(feature))]
        picked = [
            cells[code][place % len(cells[code])]
            for place, code in enumerate(codes[:, index].tolist())
        ]
        columns[feature.name] = _series(picked, rows[feature.name])
    missing = {name: rows[name].iloc[0] for name in rows if name not in columns}
    return pd.DataFrame(columns).assign(**missing)[list(rows)], codes


def _cells(feature, code):
    value = feature.values[code]
    if code >= feature.n_intervals:
        return [value]
    if isinstance(feature, Range):
        return _numbers(*feature.limits, whole=feature.whole)
    ends = [-(10**9), *feature.edges, 10**9]
    if feature.whole:
        return [ends[code], ends[code + 1] - 1]
    return [ends[code], np.nextafter(ends[code + 1], -np.inf)]


def _numbers(low, high, *, whole):
    """Return the ends of a range, their neighbours, and numbers between them."""
    if whole:
        return [*range(low, high + 1)]
    near = [np.nextafter(low, np.inf), np.nextafter(high, -np.inf)]
    inside = np.random.default_rng(4).uniform(low, high, 1001).tolist()
    return [low, high, *map(float, near), *inside]


def _series(cells, like):
    if isinstance(like.dtype, pd.CategoricalDtype):
        return pd.Series(pd.Categorical(cells, dtype=like.dtype))
    gaps = like[like.isna()]
    gap = gaps.iloc[0] if len(gaps) else None
    kind = like.dtype if like.dtype == object else None
    return pd.Series([gap if cell is None else cell for cell in cells], dtype=kind)


def check_same(model, rows, network=None, **options):
    """Compare network and model: on all rows, and on the domain or much of it."""
    network = network or read_network(model, data=rows, **options)
    inputs, codes = inputs_as(rows, network.domain)
    assert (network.domain.encode(inputs) == codes).all()
    for some in (rows, inputs):
        scores = network.scores(some)
        ours, theirs = own_numbers(model, some, scores)
        assert np.abs(ours - theirs).max() <= network.model_error + 1e-15
        fragile = near_ties(network, scores)
        assert fragile.mean() < 0.01
        assert ((network.predict(some) == model.predict(some)) | fragile).all()
    return network


def own_numbers(model, rows, scores):
    """Return our and the model's scores; or shares, where it gives no scores."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if hasattr(model, "decision_function"):
            theirs = model.decision_function(rows)
            is_svc = isinstance(getattr(model, "_final_estimator", model), SVC)
            return scores, -theirs if is_svc else theirs  # libsvm gives ties to class 1
        theirs = model.predict_proba(rows)
    if scores.ndim == 1:
        return expit(scores), theirs[:, 1]
    return softmax(scores, axis=1), theirs


def near_ties(network, scores):
    """Tell which inputs are nearer to a tie than the model's own rounding."""
    if network.is_binary:
        margin = np.abs(scores)
    else:
        first, second = np.sort(scores, axis=1)[:, ::-1][:, :2].T
        margin = first - second
    return margin <= 2 * network.model_error


# Encoders of words ------------------------------------------------------------------

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
def test_one_hot_encoders_know_the_values_themselves(name, kind):
    table, every = frame(words()), frame(whole_domain(VALUES))
    rows, inputs = table, every
    if kind == "numpy":
        rows, inputs = rows.to_numpy(), inputs.to_numpy()
        every = every.set_axis(["x0", "x1", "x2"], axis=1)
    model = make_pipeline(OneHotEncoder(**ENCODERS[name]), mlp())
    fitted(model, rows, labels(table))
    network = read_network(model)
    assert list(network.domain.names) == list(every)
    assert [set(f.values) for f in network.domain.features] == [
        set(items) for items in VALUES.values()
    ]
    assert network.classes == ("class 0", "class 1")
    answers = model.predict(inputs).tolist()
    assert len(set(answers)) == 2
    assert network.predict(every).tolist() == answers
    assert extract(model, form="rules").predict(every).tolist() == answers
    ours, theirs = own_numbers(model, inputs, network.scores(every))
    assert np.abs(ours - theirs).max() <= network.model_error + 1e-15


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
        {"a": ["1", "2", "10"], "b": ["01", "1"]},
    ],
    ids=lambda values: repr(values["a"]),
)
@pytest.mark.parametrize("kind", ["object", "inferred", "array"])
@pytest.mark.parametrize("with_data", [True, False])
def test_values_of_every_type(values, kind, with_data):
    make = pd.DataFrame if kind == "inferred" else frame
    rows, inputs = make(words(values)), make(whole_domain(values))
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), mlp())
    if kind == "array":
        fitted(model, rows.to_numpy(), labels(rows))
        answers = model.predict(inputs.to_numpy())
        named = {name: f"x{index}" for index, name in enumerate(values)}
        network = read_network(model, data=rows if with_data else None)
        inputs = inputs if with_data else inputs.rename(columns=named)
    else:
        fitted(model, rows, labels(rows))
        answers = model.predict(inputs)
        network = read_network(model, data=rows if with_data else None)
    assert network.domain.sizes == tuple(len(v) for v in values.values())
    assert (network.predict(inputs) == answers).all()


@pytest.mark.parametrize("kind", ["str", "category", "string"])
def test_columns_of_pandas_own_types(kind):
    rows = pd.DataFrame(words()).astype(kind)
    model = fitted(make_pipeline(OneHotEncoder(), mlp()), rows, labels(rows))
    check_same(model, rows)
    check_same(model, rows, read_network(model))


# Transformers -----------------------------------------------------------------------

MISSING_WORDS = SimpleImputer(
    missing_values=None, strategy="constant", fill_value="missing"
)
MOST_COMMON = SimpleImputer(missing_values=None, strategy="most_frequent")
INFREQUENT = {"handle_unknown": "infrequent_if_exist", "min_frequency": 20}
ENCODED = {"handle_unknown": "use_encoded_value", "unknown_value": -1}

TRANSFORMERS = {
    "Binarizer": (Binarizer(threshold=12), "age pay"),
    "StandardScaler": (StandardScaler(), "age pay"),
    "MinMaxScaler": (MinMaxScaler(), "age pay"),
    "MinMaxScaler, clipped": (MinMaxScaler((-1, 3), clip=True), "age pay"),
    "MaxAbsScaler": (MaxAbsScaler(), "age pay"),
    "RobustScaler": (RobustScaler(), "age pay"),
    "FunctionTransformer": (FunctionTransformer(np.log1p), "age pay"),
    "SplineTransformer": (SplineTransformer(), "age pay"),
    "PolynomialFeatures": (PolynomialFeatures(3), "age"),
    "QuantileTransformer": (QuantileTransformer(n_quantiles=20), "age pay"),
    "PowerTransformer": (PowerTransformer(), "age pay"),
    "passthrough": ("passthrough", "age vip"),
    "numbers one-hot": (OneHotEncoder(), "age vip"),
    "numbers ordinal": (OrdinalEncoder(), "age vip"),
    "scaled, then one-hot": (make_pipeline(StandardScaler(), OneHotEncoder()), "age"),
    "OneHotEncoder": (OneHotEncoder(), "job town vip level"),
    "OneHotEncoder, infrequent": (OneHotEncoder(**INFREQUENT), "job town level"),
    "OrdinalEncoder": (OrdinalEncoder(), "job vip level"),
    "OrdinalEncoder, unknown": (OrdinalEncoder(**ENCODED), "job town"),
    "OrdinalEncoder, missing": (OrdinalEncoder(encoded_missing_value=-7), "job town"),
    "OrdinalEncoder, rare": (OrdinalEncoder(max_categories=2), "job level"),
    "TargetEncoder": (TargetEncoder(), "job town level"),
    "imputed words": (make_pipeline(MISSING_WORDS, OneHotEncoder()), "job town"),
    "common words": (make_pipeline(MOST_COMMON, OneHotEncoder()), "job town"),
    "union": (make_union(StandardScaler(), SplineTransformer()), "age pay"),
    "pipelines": (
        make_pipeline("passthrough", make_pipeline(SimpleImputer(), StandardScaler())),
        "height age",
    ),
}
for _strategy in ("mean", "median", "most_frequent", "constant"):
    for _flag in (False, True):
        _name = f"SimpleImputer, {_strategy}{', indicator' if _flag else ''}"
        _imputer = SimpleImputer(strategy=_strategy, add_indicator=_flag)
        TRANSFORMERS[_name] = (_imputer, "height age")


def behind(transformer, columns, classifier=None, **options):
    """Return a pipeline of a transformer of some columns and a classifier."""
    first = ColumnTransformer([("chosen", transformer, columns.split())], **options)
    return make_pipeline(first, classifier or LogisticRegression())


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_transformers(name):
    transformer, columns = TRANSFORMERS[name]
    rows = people()
    model = behind(transformer, columns)
    network = check_same(fitted(model, rows, labels(rows[columns.split()])), rows)
    assert set(network.domain.names) == set(columns.split())
    for feature in network.domain.features:
        cells = rows[feature.name].dropna()
        assert (None in feature.values) == rows[feature.name].isna().any()
        if not isinstance(feature, Intervals):
            assert set(feature.values) - {None} == set(cells)
            is_number = cells.dtype.kind in "if"
            assert feature.ordered == (is_number or feature.name == "level")


@pytest.mark.parametrize("frames", ["pandas", "polars"])
@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
def test_frames_of_either_kind_in_and_out(frames, output):
    rows = people()
    if frames == "polars":
        rows = pl.DataFrame(
            {n: pl.Series(rows[n].tolist()) for n in rows}
        ).with_columns(pl.col("height").fill_nan(None))
    first = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["height"]),
            ("words", OneHotEncoder(sparse_output=False), ["job", "town"]),
            ("bins", KBinsDiscretizer(3, encode="ordinal"), ["age"]),
        ]
    ).set_output(transform=output)
    answers = labels(people()[["age", "job", "town"]])
    model = fitted(make_pipeline(first, mlp()), rows, answers)
    network = read_network(model, data=rows)
    assert (network.predict(rows) == model.predict(rows)).all()
    assert network.domain.names == ("age", "height", "job", "town")
    assert network.domain.feature("height").values[-1] is None
    if frames == "pandas":
        check_same(model, rows, network)


def test_rows_as_dicts():
    rows = people()[["age", "job", "town"]]
    encoder = OneHotEncoder(handle_unknown="ignore")
    model = fitted(behind(encoder, "age job town"), rows, labels(rows))
    network = read_network(model, data=rows)
    dicts = rows.to_dict("records")
    assert read_network(model, data=dicts) == network
    assert (network.predict(dicts) == model.predict(rows)).all()


def test_what_remains_is_dropped_or_kept():
    rows = people()[["job", "age", "pay"]]
    rows["case"] = [f"number {index}" for index in range(len(rows))]
    dropped = fitted(behind(OneHotEncoder(), "job"), rows, labels(rows[["job"]]))
    assert check_same(dropped, rows).domain.names == ("job",)
    numbers = rows.drop(columns="case")
    kept = behind(OneHotEncoder(), "job", remainder="passthrough")
    network = check_same(fitted(kept, numbers, labels(numbers)), numbers)
    assert network.domain.names == ("job", "age", "pay")


@pytest.mark.parametrize(
    "columns",
    [
        "age",
        ["age", "pay"],
        [0, 1],
        slice(0, 2),
        slice("age", "pay"),
        [True, True, *[False] * 5],
        make_column_selector("^age|^pay"),
        lambda rows: [name for name in reversed(rows.columns) if name in TWO],
    ],
    ids=[
        "name",
        "names",
        "numbers",
        "slice",
        "named slice",
        "mask",
        "selector",
        "function",
    ],
)
def test_columns_are_chosen_in_every_way(columns):
    rows = people()
    step = KBinsDiscretizer(3, encode="ordinal")
    if isinstance(columns, str):
        step = FunctionTransformer(lambda column: column.to_frame() > 30)
    first = ColumnTransformer([("chosen", step, columns)])
    model = fitted(make_pipeline(first, mlp()), rows, labels(rows[["age", "pay"]]))
    network = check_same(model, rows)
    assert network.domain.names in (("age", "pay"), ("age",))


def test_arrays_with_dropped_columns():
    rows = people()[["age", "vip", "pay"]]
    array = rows.astype(float).to_numpy()
    steps = [("bins", KBinsDiscretizer(3), [2, 0])]
    model = fitted(make_pipeline(ColumnTransformer(steps), mlp()), array, labels(rows))
    network = read_network(model, data=rows)
    assert network.domain.names == ("age", "pay")
    assert all(feature.edges for feature in network.domain.features)
    assert (network.predict(rows) == model.predict(array)).all()
    named = rows.set_axis(["x0", "x1", "x2"], axis=1)[["x2", "x1", "x0"]]
    network = read_network(model, data=named)
    assert network.domain.names == ("x0", "x2")
    assert (network.predict(named) == model.predict(array)).all()


def test_a_column_of_one_hot_words_with_categories_that_never_occur():
    rows = people()[["level", "age"]]
    rows = rows[rows.level != "mid"].reset_index(drop=True)
    model = fitted(behind(OneHotEncoder(), "level age"), rows, labels(rows))
    network = read_network(model, data=rows)
    assert network.domain.feature("level").values == ("low", "high")
    assert (network.predict(rows) == model.predict(rows)).all()


def test_an_imputer_that_leaves_out_an_empty_column():
    rows = people()[["age", "pay"]].assign(empty=np.nan)[["empty", "age", "pay"]]
    steps = make_pipeline(SimpleImputer(), KBinsDiscretizer(3, encode="ordinal"))
    model = fitted(make_pipeline(steps, mlp()), rows, labels(rows[["age", "pay"]]))
    network = read_network(model, data=rows)
    assert network.domain.names == ("age", "pay")
    assert (network.predict(rows) == model.predict(rows)).all()


def test_a_selection_that_finds_no_column():
    rows = people()[["age", "pay"]]
    words = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
    steps = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["age", "pay"]),
        (words, make_column_selector(dtype_include=object)),
    )
    check_same(fitted(make_pipeline(steps, mlp()), rows, labels(rows)), rows)


def test_the_users_order_of_words_is_kept():
    rows = people()[["job", "level"]].astype({"level": object})
    jobs, levels = ["cook", "smith", "nurse", "clerk"], ["low", "mid", "high"]
    encoder = OrdinalEncoder(categories=[jobs, levels])
    model = fitted(make_pipeline(encoder, mlp()), rows, labels(rows))
    features = check_same(model, rows).domain.features
    assert [feature.values for feature in features] == [tuple(jobs), tuple(levels)]
    assert all(feature.ordered for feature in features)
    assert read_network(model).domain.features == features


def test_data_may_hold_less_than_the_encoder_knows():
    rows = people()[["job", "vip"]]
    model = fitted(make_pipeline(OneHotEncoder(), mlp()), rows, labels(rows))
    few = rows[rows.job == "cook"]
    assert read_network(model, data=few).domain == read_network(model).domain


# Bins -------------------------------------------------------------------------------


@pytest.mark.parametrize("encode", ["onehot", "onehot-dense", "ordinal"])
@pytest.mark.parametrize("strategy", ["uniform", "quantile", "kmeans"])
def test_bins_of_every_kind(encode, strategy):
    rows = people()[["age", "pay", "job"]]
    bins = KBinsDiscretizer(4, encode=encode, strategy=strategy)
    model = fitted(behind(bins, "age pay"), rows, labels(rows[["age", "pay"]]))
    network = check_same(model, rows)
    found = model[0].named_transformers_["chosen"].bin_edges_
    for feature, edges in zip(network.domain.features, found, strict=True):
        own = np.ceil(edges[1:-1]) if feature.whole else edges[1:-1]
        assert feature.edges == tuple(own.tolist())


def two_scalers(binning):
    return make_pipeline(SimpleImputer(), StandardScaler(), MinMaxScaler(), binning)


EVEN = KBinsDiscretizer(3, strategy="uniform")
BINNED = {
    "plain": EVEN,
    "float32": clone(EVEN).set_params(dtype=np.float32),
    "standardized": make_pipeline(StandardScaler(), EVEN),
    "robust": make_pipeline(RobustScaler(), EVEN),
    "largest": make_pipeline(MaxAbsScaler(), EVEN),
    "clipped": make_pipeline(MinMaxScaler(clip=True), EVEN),
    "nested": two_scalers(
        make_pipeline(KBinsDiscretizer(3, strategy="uniform", encode="ordinal"))
    ),
    "threshold": Binarizer(threshold=0.1),
    "standardized threshold": make_pipeline(StandardScaler(), Binarizer()),
    "out of reach": make_pipeline(MinMaxScaler(clip=True), Binarizer(threshold=1)),
    "two ways": make_union(
        KBinsDiscretizer(2, strategy="uniform"), make_pipeline(StandardScaler(), EVEN)
    ),
    "indicator": make_union(
        make_pipeline(SimpleImputer(), EVEN),
        MissingIndicator(features="all"),
    ),
}


@pytest.mark.parametrize("name", BINNED)
@settings(max_examples=6)
@given(
    numbers=st.lists(
        st.floats(-1e6, 1e6) | st.integers(-5, 5).map(float), min_size=6, max_size=12
    ).filter(lambda numbers: np.ptp(numbers) > 1e-3)
)
def test_edges_are_exact(name, numbers):
    """At an edge the pipeline goes to the next bin, and just below it does not."""
    rows = pd.DataFrame({"other": 1.0, "n": numbers})
    steps = fitted(BINNED[name], rows, None)
    encoded = steps.transform(rows)
    classifier = LogisticRegression(max_iter=5)
    classifier = fitted(classifier, encoded, np.arange(len(rows)) % 2)
    classifier.coef_[:] = np.arange(1, classifier.coef_.size + 1)
    network = read_network(make_pipeline(steps, classifier), data=rows)
    if name == "out of reach":
        assert network.domain.feature("n").edges == ()
        return
    edges = network.domain.feature("n").edges
    assert edges, network.domain
    below = np.nextafter(edges, -np.inf)
    for edge, before in zip(edges, below, strict=True):
        pair = steps.transform(pd.DataFrame({"other": 1.0, "n": [before, edge]}))
        pair = pair.toarray() if hasattr(pair, "toarray") else pair
        assert (pair[0] != pair[1]).any()
    every = np.concatenate([edges, below, numbers])
    table = pd.DataFrame({"other": 1.0, "n": every})
    scores = classifier.decision_function(steps.transform(table))
    assert np.abs(network.scores(table) - scores).max() <= network.model_error


@pytest.mark.parametrize(
    "steps",
    [
        (KBinsDiscretizer(4),),
        (StandardScaler(), KBinsDiscretizer(4, encode="ordinal")),
        (ColumnTransformer([("b", KBinsDiscretizer(4), [1, 0])]),),
        (
            ColumnTransformer(
                [("b", KBinsDiscretizer(4), [0, 1])], remainder="passthrough"
            ),
        ),
    ],
    ids=["plain", "scaled", "chosen", "kept"],
)
def test_bins_behind_columns_that_tell_what_is_missing(steps):
    rows = people(400)[["height", "pay"]]
    filled = SimpleImputer(add_indicator=True)
    model = make_pipeline(
        filled, *[clone(step) for step in steps], LogisticRegression()
    )
    network = check_same(fitted(model, rows, labels(rows)), rows)
    height, pay = network.domain.features
    assert (len(height.edges), height.values[-1]) == (3, None)
    assert (len(pay.edges), len(pay)) == (3, 4)


def test_an_imputer_of_a_number_makes_no_bins():
    """What it takes for missing looks like any other number of a bin."""
    rows = people()[["age", "pay"]]
    steps = make_pipeline(SimpleImputer(missing_values=18), KBinsDiscretizer(3))
    model = fitted(make_pipeline(steps, LogisticRegression()), rows, labels(rows))
    network = check_same(model, rows)
    assert all(
        not isinstance(feature, Intervals) for feature in network.domain.features
    )


def test_bins_of_whole_numbers_have_whole_edges():
    rows = people()[["age", "pay"]]
    first = KBinsDiscretizer(4, strategy="uniform", encode="ordinal")
    model = fitted(make_pipeline(first, LogisticRegression()), rows, labels(rows))
    age, pay = check_same(model, rows).domain.features
    edges = model[0].bin_edges_[0][1:-1]
    assert any(edge % 1 for edge in edges)
    assert age.edges == tuple(np.ceil(edges).astype(int).tolist())
    assert (age.whole, pay.whole) == (True, False)
    rules = extract(model, data=rows, form="rules")
    assert not re.search(r"age [<≥] \d+\.", str(rules))
    with pytest.raises(
        UnknownValueError, match="because its numbers are whole; it has"
    ):
        rules.predict(rows[:1].assign(age=20.5))
    assert read_network(model, data=rows.astype(float)).domain.feature("age").edges == (
        tuple(edges.tolist())
    )


@pytest.mark.parametrize("kind", ["frame", "array", "mixed"])
@pytest.mark.parametrize("seed", range(5))
def test_bins_of_float32_columns(kind, seed):
    """scikit-learn scales float32 in float32: an edge is where that says so."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(rng.normal(30, 9, (300, 2)), columns=["a", "b"])
    rows = rows.astype({"a": np.float32, "b": float if kind == "mixed" else np.float32})
    steps = make_pipeline(StandardScaler(), KBinsDiscretizer(5, encode="ordinal"))
    given = rows.to_numpy() if kind == "array" else rows
    model = fitted(make_pipeline(steps, LogisticRegression()), given, rows.a > rows.b)
    network = read_network(model, data=rows)
    assert (network.predict(rows) == model.predict(given)).all()
    for feature in network.domain.features:
        for edge in feature.edges:
            kind_of = rows[feature.name].dtype.type
            upper = kind_of(edge)
            if float(upper) < edge:
                upper = np.nextafter(upper, kind_of(np.inf))
            cells = [np.nextafter(upper, kind_of(-np.inf)), upper]
            pair = rows[:2].assign(**{feature.name: np.array(cells, dtype=kind_of)})
            pair = pair.to_numpy() if kind == "array" else pair
            made = steps.transform(pair)[:, list(rows).index(feature.name)]
            assert made[0] + 1 == made[1]
            if kind_of is np.float32 and kind != "mixed":
                assert len(str(edge).replace("-", "")) <= 11


def test_a_column_that_is_binned_and_also_not_keeps_its_numbers():
    rows = people()[["age"]]
    union = make_union(StandardScaler(), KBinsDiscretizer(3))
    feature = check_same(
        fitted(make_pipeline(union, mlp()), rows, labels(rows)), rows
    ).domain.features[0]
    assert not isinstance(feature, Intervals)
    assert feature.values == tuple(sorted(set(rows.age)))


# Classifiers ------------------------------------------------------------------------


@pytest.mark.parametrize("activation", ["identity", "logistic", "relu", "tanh"])
@pytest.mark.parametrize("sizes", [(), (3,), (4, 2)])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_networks_of_every_shape(activation, sizes, n_classes):
    rows = people()[["age", "job", "vip"]]
    model = behind(
        make_pipeline(OneHotEncoder()),
        "job vip age",
        mlp(activation=activation, hidden_layer_sizes=sizes),
    )
    network = check_same(fitted(model, rows, labels(rows, n_classes)), rows)
    n_layers = 1 if activation == "identity" else len(sizes) + 1
    assert len(network.layers) == n_layers
    assert len(network.classes) == n_classes


def test_a_network_in_float32():
    rows = people()[["age", "vip"]].astype(np.float32)
    model = fitted(mlp(solver="adam"), rows, labels(rows))
    assert model.coefs_[0].dtype == np.float32
    network = read_network(model, data=rows)
    assert 1e-9 < network.model_error < 1e-2
    fragile = near_ties(network, network.scores(rows))
    assert ((network.predict(rows) == model.predict(rows)) | fragile).all()
    assert fragile.mean() < 0.05


LINEAR = {
    "LogisticRegression": LogisticRegression(),
    "LinearSVC": LinearSVC(),
    "SGDClassifier": SGDClassifier(random_state=0),
    "RidgeClassifier": RidgeClassifier(),
    "Perceptron": Perceptron(random_state=0),
    "LinearDiscriminantAnalysis": LinearDiscriminantAnalysis(),
    "SVC": SVC(kernel="linear"),
}


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_linear_classifiers(name, n_classes):
    rows = people()[["age", "pay", "vip"]].astype({"vip": int})
    model = make_pipeline(StandardScaler(), LINEAR[name])
    fitted(model, rows, labels(rows[["age", "vip"]], n_classes))
    if name == "SVC" and n_classes > 2:
        with pytest.raises(UnsupportedModelError, match="LinearSVC"):
            read_network(model, data=rows)
        return
    network = check_same(model, rows)
    assert len(network.layers) == 1
    assert len(network.classes) == n_classes


def test_linear_classifiers_of_sparse_columns():
    rows = people()[["job", "town", "age"]]
    model = fitted(
        behind(OneHotEncoder(), "job town age", SVC(kernel="linear")),
        rows,
        labels(rows),
    )
    check_same(model, rows)


def test_classifiers_alone_take_numbers():
    rows = people()[["age", "pay", "vip"]]
    model = fitted(LogisticRegression(), rows, labels(rows))
    assert check_same(model, rows).domain.names == ("age", "pay", "vip")
    array = fitted(LogisticRegression(), rows.to_numpy(dtype=float), labels(rows))
    network = read_network(array, data=rows)
    assert (network.predict(rows) == array.predict(rows.to_numpy(dtype=float))).all()


@pytest.mark.parametrize("classes", [(0, 1), (False, True), ("no", "yes"), (2, 7)])
def test_class_labels(classes):
    rows = frame(words())
    answers = [classes[int(label[-1])] for label in labels(rows)]
    model = fitted(make_pipeline(OneHotEncoder(), mlp()), rows, answers)
    network = read_network(model)
    assert network.classes == classes
    assert [type(c) for c in network.classes] == [type(c) for c in classes]
    check_same(model, rows, network)


def test_the_best_of_a_grid_search():
    rows = people()[["age", "job"]]
    pipeline = behind(OneHotEncoder(handle_unknown="ignore"), "age job")
    grid = {"logisticregression__C": [0.1, 10]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(rows, labels(rows))
    check_same(search.best_estimator_, rows, read_network(search, data=rows))


def test_threshold():
    rows = people()[["age", "job"]]
    model = fitted(behind(OneHotEncoder(), "age job"), rows, labels(rows))
    network = read_network(model, data=rows, threshold=0.7)
    likely = model.predict_proba(rows)[:, 1] > 0.7
    assert (network.predict(rows) == np.where(likely, "class 1", "class 0")).all()
    for other in (LinearSVC(), RidgeClassifier()):
        model = fitted(behind(OneHotEncoder(), "age job", other), rows, labels(rows))
        with pytest.raises(OptionError, match="has no probability to compare"):
            read_network(model, data=rows, threshold=0.7)


@pytest.mark.parametrize("limit", [0.2, 0.5, 0.7, "auto"])
@pytest.mark.parametrize("positive", [None, "class 0", "class 1"])
@pytest.mark.parametrize("where", ["outside", "inside", "frozen"])
def test_classifiers_with_a_threshold_of_their_own(limit, positive, where):
    rows = people()[["age", "job"]]
    model = behind(OneHotEncoder(), "age job")
    options = {"threshold": limit, "pos_label": positive}
    if where == "inside":
        model = make_pipeline(model[0], FixedThresholdClassifier(model[1], **options))
    elif where == "outside":
        model = FixedThresholdClassifier(model, **options)
    else:
        fitted(model, rows, labels(rows))
        model = FixedThresholdClassifier(FrozenEstimator(model), **options)
    fitted(model, rows, labels(rows))
    network = read_network(model, data=rows)
    inputs, _ = inputs_as(rows, network.domain)
    assert (network.predict(inputs) == model.predict(inputs)).all()
    assert len(set(network.predict(inputs))) == 2
    with pytest.raises(OptionError, match="has its own threshold; leave out"):
        read_network(model, data=rows, threshold=0.7)


def test_a_tie_at_a_threshold_of_its_own_is_the_class_it_is_for():
    """scikit-learn's classifiers exceed a half; this one begins there."""
    rows = pd.DataFrame({"a": [0.0, 1.0] * 4})
    inner = fitted(LogisticRegression(fit_intercept=False), rows, rows.a > 0)
    for positive, answers in ((None, [True, True]), (False, [False, True])):
        model = FixedThresholdClassifier(
            FrozenEstimator(inner), threshold=0.5, pos_label=positive
        ).fit(rows, rows.a > 0)
        assert model.predict(rows[:2]).tolist() == answers
        assert read_network(model, data=rows).predict(rows[:2]).tolist() == answers


def test_a_threshold_that_was_tuned():
    rows = people(300)[["age", "job"]]
    answers = np.where(labels(rows, 3) == "class 0", "no", "yes")
    inner = behind(OneHotEncoder(handle_unknown="ignore"), "age job")
    scorer = make_scorer(f1_score, pos_label="no")
    model = TunedThresholdClassifierCV(inner, scoring=scorer, random_state=0)
    fitted(model, rows, answers)
    assert model.best_threshold_ not in (0.5, 0, 1)
    network = read_network(model, data=rows)
    inputs, _ = inputs_as(rows, network.domain)
    assert (network.predict(inputs) == model.predict(inputs)).all()


def test_thresholds_that_cannot_be_read():
    rows = people()[["age", "job"]]
    scored = FixedThresholdClassifier(behind(OneHotEncoder(), "age job", LinearSVC()))
    fitted(scored, rows, labels(rows))
    network = read_network(scored, data=rows)
    assert (network.predict(rows) == scored.predict(rows)).all()
    for options, told in (
        ({"threshold": 0.3}, "something other than a sigmoid probability with 0.3"),
        ({"threshold": 1.5}, "with 1.5; nn2rules reads thresholds on probabilities"),
    ):
        model = fitted(clone(scored).set_params(**options), rows, labels(rows))
        assert told in sentence(model, rows)
    model = FixedThresholdClassifier(behind(OneHotEncoder(), "age job"), threshold=1.5)
    assert sentence(fitted(model, rows, labels(rows)), rows) == (
        "the FixedThresholdClassifier has the threshold 1.5, so it predicts one class "
        "for all rows; expected a threshold between 0 and 1"
    )


def test_steps_that_do_nothing_are_skipped():
    rows = frame(words())
    steps = [("encode", OneHotEncoder()), ("nothing", "passthrough"), ("mlp", mlp())]
    check_same(fitted(Pipeline(steps), rows, labels(rows)), rows)
    array = OneHotEncoder(sparse_output=False).fit_transform(rows)
    nothing = Pipeline([("nothing", "passthrough"), ("mlp", mlp())])
    numbers = pd.DataFrame(array, columns=[f"is {n}" for n in range(array.shape[1])])
    check_same(fitted(nothing, numbers, labels(rows)), numbers)


def bare():
    """Return an encoder and a classifier, fitted one after the other."""
    rows = frame(words())
    encoder = OneHotEncoder(sparse_output=False).fit(rows)
    return encoder, fitted(mlp(), encoder.transform(rows), labels(rows))


def test_a_classifier_with_its_encoder():
    encoder, model = bare()
    inputs = frame(whole_domain(VALUES))
    for encode in (encoder, encoder.transform):
        network = read_network(model, encode=encode, data=frame(words()))
        answers = model.predict(encoder.transform(inputs))
        assert (network.predict(inputs) == answers).all()
    assert read_network(model, encode=encoder).domain.names == tuple(VALUES)


def test_a_classifier_with_a_domain():
    encoder, model = bare()
    features = [
        Feature(name, tuple(items))
        for name, items in zip(VALUES, encoder.categories_, strict=True)
    ]
    domain, inputs = Domain(features), frame(whole_domain(VALUES))
    network = read_network(model, domain=domain)
    assert network.domain == domain
    answers = model.predict(encoder.transform(inputs))
    assert (network.predict(inputs) == answers).all()


def test_reading_changes_nothing_of_the_model():
    encoder, model = bare()
    before = [matrix.copy() for matrix in model.coefs_]
    network = read_network(model, encode=encoder)
    for old, new in zip(before, model.coefs_, strict=True):
        assert (old == new).all()
    model.coefs_[0][:] = 0
    assert network.layers[0].weights.any()


# What the user says of columns ------------------------------------------------------

AGES = {"age": [20, 30, 30, 30, 45, 60], "job": ["cook", "smith", "cook"] * 2}


def scaled():
    """Return rows and a pipeline in which every number counts."""
    rows = pd.DataFrame(AGES)
    first = ColumnTransformer(
        [("n", StandardScaler(), ["age"]), ("w", OneHotEncoder(), ["job"])]
    )
    model = make_pipeline(first, LogisticRegression(C=100))
    return rows, fitted(model, rows, [0, 0, 1, 0, 1, 1])


@pytest.mark.parametrize(
    ("said", "values"),
    [
        ([20, 60], (20, 60)),
        ([60, 20], (60, 20)),
        (np.array([20.0, 60.0]), (20, 60)),
        (range(20, 23), (20, 21, 22)),
        (Feature("age", [45, 20]), (45, 20)),
        ("58..60", (58, 59, 60)),
        ("20..30:2.5", (20, 22.5, 25, 27.5, 30)),
        ("quantiles:2", (20, 30, 60)),
        ("observed", (20, 30, 45, 60)),
        ([20, None], (20, None)),
    ],
    ids=repr,
)
def test_numbers_are_what_the_user_says(said, values):
    rows, model = scaled()
    if None in values:
        rows.loc[6] = [None, "cook"]
        model = model.set_params(columntransformer__n=SimpleImputer())
        model = fitted(model, rows, [0, 0, 1, 0, 1, 1, 0])
    network = read_network(model, data=rows, domain={"age": said})
    assert network.domain.feature("age").values == values
    inputs, codes = inputs_as(rows, network.domain)
    assert (
        network.predict(network.domain.decode(codes)) == model.predict(inputs)
    ).all()


def test_quantiles_are_those_of_the_rows():
    rows, model = scaled()
    rows = pd.concat([rows, *[rows[rows.age == 20]] * 20], ignore_index=True)
    network = read_network(model, data=rows, domain={"age": "quantiles:2"})
    assert network.domain.feature("age").values == (20, 60)


def test_bins_that_the_model_makes_may_be_said():
    rows = people()[["age", "job"]]
    bins = make_pipeline(MinMaxScaler(), KBinsDiscretizer(3))
    model = fitted(behind(bins, "age"), rows, labels(rows))
    [feature] = read_network(model, data=rows).domain.features
    edges = ",".join(map(str, feature.edges))
    said = read_network(model, data=rows, domain={"age": f"bins:{edges}"})
    assert said.domain.features == (feature,)
    finer = read_network(model, data=rows, domain={"age": f"bins:1,{edges}"})
    assert len(finer.domain.features[0]) == len(feature) + 1


@pytest.mark.parametrize("saved", [False, True])
def test_numbers_off_the_grid(saved, tmp_path):
    rows, model = scaled()
    new = pd.DataFrame({"age": [29.9, 52, 53, 1e6, -3, 30], "job": "cook"})
    rules = extract(model, data=rows, domain={"age": "observed"}, form="rules")
    if saved:
        nn2rules.save(rules, tmp_path / "rules.json")
        rules = nn2rules.load(tmp_path / "rules.json")
    message = "row 0: feature 'age' has no value 29.9; it has 20, 30, 45, 60"
    with pytest.raises(UnknownValueError, match=re.escape(message)):
        rules.predict(new)
    assert rules.predict(new, unknown="none").tolist()[:5] == [None] * 5
    assert rules.predict(new[5:]).tolist() == model.predict(new[5:]).tolist()


def test_data_off_the_grid():
    rows, model = scaled()
    with pytest.raises(UnknownValueError, match="'age' has no value 20; it has 25, 50"):
        extract(model, data=rows, domain={"age": [25, 50]}, form="rules")


@pytest.mark.parametrize("saved", [False, True])
def test_words_that_were_never_seen(saved, tmp_path):
    rows = people()[["job", "town", "age"]]
    encoder = OneHotEncoder(handle_unknown="ignore", drop="if_binary")
    steps = [("w", encoder, ["job", "town"]), ("n", KBinsDiscretizer(2), ["age"])]
    model = make_pipeline(ColumnTransformer(steps), LogisticRegression(C=100))
    fitted(model, rows, labels(rows))
    rules = extract(model, data=rows, other=True, form="rules")
    assert [feature.other for feature in rules.domain.features] == ["other"] * 2 + [
        None
    ]
    few = extract(model, data=rows, other=["job"], form="rules")
    assert [feature.other for feature in few.domain.features] == ["other", None, None]
    if saved:
        nn2rules.save(rules, tmp_path / "rules.json")
        rules = nn2rules.load(tmp_path / "rules.json")
    new = frame({"job": ["king", "queen"] * 75, "town": ["C", "A", None] * 50})
    new["age"] = rows.age
    assert (rules.predict(new) == model.predict(new)).all()
    assert (rules.predict(rows) == model.predict(rows)).all()
    with pytest.raises(UnknownValueError, match="'town' has no value 'C'"):
        few.predict(new)
    assert few.predict(new[:1], unknown="none").tolist() == [None]


def test_a_word_that_is_called_other():
    rows = people()[["job", "age"]].replace({"job": {"cook": "other"}})
    encoder = OneHotEncoder(handle_unknown="ignore")
    model = fitted(behind(encoder, "job"), rows, labels(rows))
    feature = read_network(model, data=rows, other=True).domain.features[0]
    assert feature.values == ("clerk", "nurse", "other", "smith", "other_")
    assert feature.other == "other_"


# Data sets of the paper, and a raw table --------------------------------------------


@pytest.mark.parametrize("name", ["adult", "car", "contraception", "nursery", "five"])
def test_trained_models_of_the_papers_data_sets(name):
    """Rules equal the model on every input of the domain, tens of thousands each."""
    kind = {"labels": "original"} if name == "five" else {}
    data = datasets.load("nursery" if name == "five" else name, **kind)
    table = data.train.to_frame()
    rows, answers = table[list(data.domain.names)], data.train.labels
    encoder = OneHotEncoder(handle_unknown="ignore")
    classifier = MLPClassifier(
        (6,), learning_rate_init=0.02, max_iter=20, random_state=1
    )
    model = fitted(make_pipeline(encoder, classifier), rows[:6000], answers[:6000])
    rules = extract(model, data=rows, effort=0, form="rules")
    assert rules.scope == "domain"
    assert (rules.predict(rows) == model.predict(rows)).all()
    assert len(set(rules.predict(rows))) > (2 if name == "five" else 1)
    network = read_network(model, data=rows)
    for codes in network.domain.inputs():
        columns = zip(network.domain.features, codes.T, strict=True)
        inputs = pd.DataFrame({f.name: np.array(f.values)[c] for f, c in columns})
        fragile = near_ties(network, network.scores_codes(codes))
        assert fragile.mean() < 1e-3
        answers = rules.predict(rules.domain.decode(codes))
        assert ((answers == model.predict(inputs)) | fragile).all()


def adult_model(rows, answers):
    """Return a pipeline on the raw columns: scaled, one-hot, imputed."""
    numbers = [name for name in rows if rows[name].dtype.kind in "if"]
    others = [name for name in rows if name not in numbers]
    filled = SimpleImputer(strategy="most_frequent")
    onehot = OneHotEncoder(handle_unknown="ignore")
    steps = [
        ("numbers", StandardScaler(), numbers),
        ("words", make_pipeline(filled, onehot), others),
    ]
    classifier = MLPClassifier(
        (4,), learning_rate_init=0.02, max_iter=20, random_state=0
    )
    return fitted(make_pipeline(ColumnTransformer(steps), classifier), rows, answers)


def test_a_wide_pipeline_on_raw_columns():
    table = datasets.raw("adult").train.to_frame()[:3000]
    rows = table.drop(columns="label")
    model = adult_model(rows, table.label)
    some = rows[::60].reset_index(drop=True)
    rules = extract(model, data=some, other=True, effort=0, form="rules")
    assert rules.scope == "support"
    assert (rules.predict(some) == model.predict(some)).all()
    decided = rows[rules.apply(rows, unknown="none") >= 0]
    assert len(decided) > 2 * len(some)
    assert set(rules.predict(decided)) == {"<=50K", ">50K"}
    assert (rules.predict(decided) == model.predict(decided)).all()


# Mistakes ---------------------------------------------------------------------------

TWO = people()[["age", "pay"]]
READS = (
    "From scikit-learn, nn2rules reads MLPClassifier and linear classifiers, alone or "
    "at the end of a Pipeline."
)


def trained(classifier, rows=TWO, *steps):
    answers = labels(rows[rows.columns[:1]])
    return fitted(
        make_pipeline(*(steps or [StandardScaler()]), classifier), rows, answers
    )


def sentence(model, rows=TWO, error=UnsupportedModelError, **options):
    """Return what the user is told."""
    with pytest.raises(error) as caught:
        read_network(model, data=rows, **options)
    return str(caught.value)


def test_unfitted_models():
    search = GridSearchCV(mlp(), {"alpha": [1, 2]})
    half = Pipeline([("scale", StandardScaler().fit(TWO)), ("mlp", mlp())])
    for name, model in {
        "MLPClassifier": mlp(),
        "Pipeline": half,
        "GridSearchCV": search,
    }.items():
        assert sentence(model) == f"the {name} is not fitted; call its fit method first"
    _, model = bare()
    told = sentence(model, frame(words()), encode=OneHotEncoder())
    assert told == "the OneHotEncoder is not fitted; call its fit method first"


def test_a_search_that_kept_no_model():
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    grid = {"logisticregression__C": [1, 2]}
    search = GridSearchCV(pipeline, grid, cv=2, refit=False).fit(TWO, TWO.age > 30)
    assert sentence(search) == "the GridSearchCV has no fitted model; use refit=True"


@pytest.mark.parametrize(
    "regressor",
    [LinearRegression(), MLPRegressor(hidden_layer_sizes=(2,), max_iter=3)],
    ids=lambda model: type(model).__name__,
)
def test_regressors(regressor):
    model = fitted(make_pipeline(StandardScaler(), regressor), TWO, TWO.age)
    assert sentence(model) == (
        f"{type(regressor).__name__} predicts a number. nn2rules reads classifiers, "
        f"such as MLPClassifier."
    )


@pytest.mark.parametrize(
    "classifier",
    [
        RandomForestClassifier(3),
        GradientBoostingClassifier(n_estimators=2),
        HistGradientBoostingClassifier(max_iter=2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_trees(classifier):
    assert sentence(trained(classifier)) == (
        f"{type(classifier).__name__} is an ensemble of trees, not a neural network. "
        f"Extract rules with a package for trees, such as te2rules."
    )
    assert sentence(trained(DecisionTreeClassifier())) == (
        "DecisionTreeClassifier is not a neural network. Its paths already are rules; "
        "print them with sklearn.tree.export_text."
    )


@pytest.mark.parametrize(
    "classifier",
    [
        VotingClassifier([("a", mlp()), ("b", mlp(random_state=1))]),
        StackingClassifier([("a", mlp()), ("b", LogisticRegression())], cv=2),
        BaggingClassifier(mlp(), 2),
        AdaBoostClassifier(n_estimators=2),
        OneVsRestClassifier(mlp()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_models_that_are_made_of_several(classifier):
    assert sentence(trained(classifier)) == (
        f"{type(classifier).__name__} combines the predictions of several models, "
        f"which no single network does. Extract the rules of each of them, such as "
        f"model.estimators_[0]."
    )


@pytest.mark.parametrize("model", [mlp(), LogisticRegression(), LinearSVC()], ids=repr)
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_weights_that_are_no_numbers(model, number):
    model = fitted(clone(model), TWO, labels(TWO))
    weights = model.coefs_[1] if hasattr(model, "coefs_") else model.coef_
    weights[0, 0] = number
    assert sentence(model) == (
        f"a weight of the {type(model).__name__} is {number}: its training diverged; "
        f"train it again with scaled columns or a lower learning rate"
    )


@pytest.mark.parametrize(
    "model",
    [GaussianNB(), SVC(), KMeans(2)],
    ids=lambda model: type(model).__name__,
)
def test_other_estimators(model):
    assert (
        sentence(trained(model)) == f"{type(model).__name__} is not supported. {READS}"
    )


def test_a_pipeline_without_a_classifier():
    model = fitted(make_pipeline(StandardScaler(), MinMaxScaler()), TWO, None)
    assert sentence(model) == f"MinMaxScaler is not supported. {READS}"


def test_an_svc_of_several_classes():
    model = make_pipeline(StandardScaler(), SVC(kernel="linear"))
    assert sentence(fitted(model, TWO, labels(TWO, 3))) == (
        "an SVC with more than two classes votes between pairs of them, which a "
        "network cannot do; train a LinearSVC instead"
    )


def test_calibration():
    assert sentence(trained(CalibratedClassifierCV(LogisticRegression(), cv=2))) == (
        "CalibratedClassifierCV averages calibrated classifiers, which no single "
        "network does. Extract the rules of the classifier inside it: "
        "model.calibrated_classifiers_[0].estimator."
    )


@pytest.mark.parametrize("classifier", [mlp(), RidgeClassifier()], ids=["mlp", "ridge"])
def test_multi_label(classifier):
    answers = np.random.default_rng(0).integers(0, 2, (len(TWO), 3))
    model = fitted(make_pipeline(StandardScaler(), classifier), TWO, answers)
    assert sentence(model) == (
        f"this {type(classifier).__name__} is multi-label. Train one classifier for "
        f"each label."
    )


def test_one_class():
    model = fitted(make_pipeline(StandardScaler(), mlp()), TWO, ["same"] * len(TWO))
    assert sentence(model) == (
        "the MLPClassifier has only one class, 'same'; train it on rows of at least "
        "two classes"
    )


@pytest.mark.parametrize(
    ("step", "column"),
    [
        (PCA(2), "pca0"),
        (PolynomialFeatures(2), "age pay"),
        (PolynomialFeatures(2, interaction_only=True), "age pay"),
        (Normalizer(), "age"),
    ],
    ids=repr,
)
def test_steps_that_mix_columns(step, column):
    assert sentence(trained(mlp(), TWO, step)) == (
        f"the preprocessing combines features: {column!r} depends on 'age', 'pay'. "
        f"Here, nn2rules reads steps that treat each column separately. Linear steps "
        f"such as PCA can be read as a layer if you export the whole model to ONNX; "
        f"leave out others, such as products of columns."
    )


@pytest.mark.parametrize(
    "function", [lambda x: x - x.mean(), lambda x: x.rank()], ids=["mean", "rank"]
)
def test_steps_that_look_at_other_rows(function):
    assert sentence(trained(mlp(), TWO, FunctionTransformer(function))) == (
        "the preprocessing of a row depends on other rows: column 0 is not the same "
        "each time; use a step that learns when it is fitted, such as StandardScaler"
    )


def test_columns_that_are_missing_or_renamed():
    model = trained(mlp())
    for rows, found in (
        (TWO[["age"]], "'age'"),
        (TWO.rename(columns={"pay": "salary"}), "'age', 'salary'"),
    ):
        assert sentence(model, rows, RowsError) == (
            f"the data do not match the model: the feature 'pay' is missing; the "
            f"columns found are {found}"
        )


def test_more_columns_in_another_order_are_no_mistake():
    rows = TWO.assign(label="yes")[["label", "pay", "age"]]
    network = read_network(trained(mlp()), data=rows)
    assert network.domain.names == ("age", "pay")
    assert (network.predict(rows) == trained(mlp()).predict(TWO)).all()


def test_words_in_a_column_of_numbers():
    model, cells = trained(mlp()), TWO.pay.tolist()
    assert sentence(model, TWO.assign(pay=["much", *cells[1:]])) == (
        "feature 'pay': the model does not accept the value 'much' (could not convert "
        "string to float: 'much'); leave out the rows that have it"
    )
    assert sentence(model, TWO.assign(pay="much")) == (
        "the preprocessing fails on the row (age = 18, pay = much): could not convert "
        "string to float: 'much'; give values like those the model was trained on"
    )


def test_arrays():
    array = TWO.to_numpy()
    assert sentence(trained(mlp()), array, RowsError) == (
        "data is an array, so its columns have no names; pass a data frame, such as "
        "pandas.DataFrame(X, columns=[...])"
    )
    model = fitted(make_pipeline(StandardScaler(), mlp()), array, labels(TWO))
    assert sentence(model, TWO.assign(label="yes"), RowsError) == (
        "the model was trained on an array of 2 columns, but the data have 3: 'age', "
        "'pay', 'label'; give only the columns of the array, in the same order"
    )


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (StandardScaler(), "it becomes nan"),
        (KBinsDiscretizer(3), "Input X contains NaN"),
        (
            OneHotEncoder(),
            "Found unknown categories [np.float64(nan)] in column 1 during transform",
        ),
    ],
    ids=["scaler", "bins", "encoder"],
)
def test_missing_values_without_an_imputer(step, reason):
    rows = TWO.assign(pay=[None, *TWO.pay.tolist()[1:]])
    assert sentence(trained(mlp(), TWO, step), rows) == (
        f"feature 'pay' has missing values, which the model does not accept "
        f"({reason}); leave out those rows, or add an imputer to the pipeline"
    )


def test_too_many_numbers():
    rows = pd.DataFrame({"income": np.arange(1500) * 1.5, "age": 1})
    model = make_pipeline(FunctionTransformer(np.sqrt), LogisticRegression())
    fitted(model, rows, rows.income > 700)
    assert sentence(model, rows, DomainError) == (
        "column 'income' has 1,500 distinct numbers, and cannot be a range, because "
        "the model is not linear in it; put them into bins in the model, leave out the "
        "non-linear step, or choose a few of them, by "
        "domain={'income': 'quantiles:20'} (--values income=quantiles:20)"
    )
    network = read_network(model, data=rows, domain={"income": "quantiles:20"})
    assert len(network.domain.features[0]) == 21


def test_identifiers():
    rows = pd.concat([people()[["job"]]] * 10, ignore_index=True)
    rows["case"] = [f"number {index}" for index in range(len(rows))]
    unused = fitted(behind(OneHotEncoder(), "job"), rows, labels(rows[["job"]]))
    assert read_network(unused, data=rows).domain.names == ("job",)
    used = fitted(behind(OneHotEncoder(), "job case"), rows, labels(rows[["job"]]))
    assert sentence(used, rows, DomainError) == (
        "column 'case' has 1,500 distinct values, like a name or an id; train without "
        "it, or list its values by domain= (--values)"
    )


def test_no_rows():
    assert sentence(trained(mlp()), TWO[:0], RowsError) == (
        "the data have no rows; give rows like those the model was trained on"
    )


def test_dates():
    rows = people()[["job"]].assign(day=pd.Timestamp("2020-02-02"))
    rows.loc[0, "day"] = pd.Timestamp("2020-02-03")
    model = fitted(behind(OneHotEncoder(), "job day"), rows, labels(rows))
    told = sentence(model, rows)
    assert re.fullmatch(
        r"column 'day': a date \(.*\) cannot be a value, as nothing says in which unit "
        r"it is a number; convert the column before training, as in (.*), and give "
        r"these numbers as data",
        told,
    )
    unused = fitted(behind(OneHotEncoder(), "job"), rows, labels(rows))
    assert read_network(unused, data=rows).domain.names == ("job",)


def test_words_that_the_encoder_never_saw():
    rows = people()[["job", "age"]]
    model = fitted(behind(OneHotEncoder(), "job age"), rows, labels(rows))
    new = rows.assign(job=["king", *rows.job[1:]])
    assert sentence(model, new) == (
        "feature 'job': the model does not accept the value 'king' (Found unknown "
        "categories ['king'] in column 0 during transform); leave out the rows that "
        "have it"
    )
    assert sentence(model, rows, OptionError, other=True) == (
        "other: no feature can have a category for others, because no encoder accepts "
        "values that it was not trained on; use OneHotEncoder(handle_unknown='ignore')"
    )
    assert sentence(model, rows, other=["job"]) == (
        "feature 'job' cannot have a category for others, because the model accepts "
        "only values that it was trained on (Found unknown categories ['a value that "
        "was never seen'] in column 0 during transform); leave it out of other="
    )


def test_categories_that_mean_the_same():
    rows = frame({"a": ["x", None] * 60, "b": words()["size"]})
    rows.loc[3, "a"] = np.nan
    model = fitted(make_pipeline(OneHotEncoder(), mlp()), rows, labels(rows))
    assert sentence(model, rows) == (
        "column 'a': its encoder has both None and NaN as categories, and both mean "
        "missing; replace one by the other before training"
    )


def test_a_classifier_whose_columns_are_unknown():
    _, model = bare()
    with pytest.raises(UnsupportedModelError) as caught:
        read_network(model)
    assert str(caught.value) == (
        "the model does not name its columns; give data= (--data), rows like those it "
        "was trained on, or domain="
    )
    with pytest.raises(UnsupportedModelError) as caught:
        read_network(trained(mlp()))
    assert str(caught.value) == (
        "the model does not know the values of its column 'age'; give data= (--data), "
        "rows like those it was trained on, or domain={'age': [...]}, or a range of "
        "numbers, (low, high)"
    )


def test_an_encoder_that_does_not_fit():
    _, model = bare()
    other = OneHotEncoder().fit(frame({"colour": ["x", "y"]}))
    rows = frame({"colour": ["x", "y"]})
    assert sentence(model, rows, encode=other) == (
        "the preprocessing makes 2 columns, but the MLPClassifier was trained on 9"
    )


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"classes": [1, 2]}, "a scikit-learn model names its classes; leave out"),
        ({"encode": StandardScaler().fit(TWO)}, "a Pipeline encodes its own rows"),
        ({"encode": "x"}, "encode= must be a function of rows or a fitted transformer"),
        ({"domain": ["age"]}, "domain= is a Domain, or a dict from features to their"),
        (
            {"domain": {"agee": [1]}},
            "there is no column 'agee'; the columns are 'age',",
        ),
        (
            {"domain": {"age": "17-90"}},
            "feature 'age': invalid specification '17-90'; expected",
        ),
        (
            {"domain": {"age": 7}},
            "feature 'age': invalid specification 7; expected a list",
        ),
        ({"other": ["age"]}, "other: 'age' is not a categorical feature"),
    ],
    ids=str,
)
def test_options_that_make_no_sense(options, told):
    assert sentence(trained(mlp()), TWO, OptionError, **options).startswith(told)


def test_bins_that_the_model_does_not_make():
    assert sentence(trained(mlp()), TWO, domain={"age": "bins:25,30"}) == (
        "feature 'age': the model distinguishes numbers within one bin; give the bins "
        "of the model itself, a range (low, high), or a list of numbers"
    )


class Doubled(BaseEstimator):
    """A sampler as those of imbalanced-learn: it has no transform."""

    def fit_resample(self, X, y):  # noqa: D102, N803
        return pd.concat([X, X]), np.concatenate([y, y])


class SamplingPipeline(Pipeline):
    """As imblearn.pipeline.Pipeline: samplers work in fit, and predict skips them."""

    def fit(self, X, y):  # noqa: D102, N803
        for _, step in self.steps[:-1]:
            if hasattr(step, "fit_resample"):
                X, y = step.fit_resample(X, y)  # noqa: N806
            else:
                X = step.fit_transform(X)  # noqa: N806
        self.steps[-1][1].fit(X, y)
        return self

    def predict(self, X):  # noqa: D102, N803
        for _, step in self.steps[:-1]:
            X = X if hasattr(step, "fit_resample") else step.transform(X)  # noqa: N806
        return self.steps[-1][1].predict(X)


def sampled(pipeline, sampler):
    rows = pd.DataFrame({"job": ["clerk", "cook", "judge", "cook"] * 6})
    steps = [("resample", sampler), ("encode", OneHotEncoder())]
    model = pipeline([*steps, ("last", LogisticRegression())])
    model.fit(rows, np.array([0, 1, 0, 1] * 5 + [0, 0, 0, 1]))
    return model, rows


def test_samplers_are_passed_over_as_their_own_predict_does():
    model, rows = sampled(SamplingPipeline, Doubled())
    rules = nn2rules.extract(model, data=rows, form="rules")
    assert list(rules.predict(rows)) == list(model.predict(rows))


def test_pipelines_of_imbalanced_learn():
    reason = "imbalanced-learn is not installed; a stand-in is tested above"
    pipelines = pytest.importorskip("imblearn.pipeline", reason=reason)
    over = pytest.importorskip("imblearn.over_sampling", reason=reason)
    sampler = over.RandomOverSampler(random_state=0)
    model, rows = sampled(pipelines.Pipeline, sampler)
    rules = nn2rules.extract(model, data=rows, form="rules")
    assert list(rules.predict(rows)) == list(model.predict(rows))
