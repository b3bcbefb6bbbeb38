"""What sees several columns is known by its code, or refused."""

import hashlib
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    StandardScaler,
)

from nn2rules import Domain, UnsupportedModelError, extract, read_network
from nn2rules.errors import BinsWarning
from nn2rules.models.sklearn.steps import origin_of, steps_of

NAMES = ["a", "b", "c"]


def table(rows=90):
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.integers(1, 6, (rows, 3)), columns=NAMES)


ROWS = table()
LABELS = (ROWS.a > 2).to_numpy()


class OwnScaler(StandardScaler):
    """Might do anything to rows that nobody tried."""


def double(array):
    return 2 * array


def own_ufunc(number):
    return number + 1


def seen(step):
    """Return what steps see several columns, and are not known."""
    step.fit(ROWS, LABELS)
    return [s.name for s in steps_of(step, NAMES) if s.may_mix]


FUNCTION = FunctionTransformer(double)
KNOWN = {
    "scaler": StandardScaler(),
    "nothing": FunctionTransformer(),
    "numpy's": FunctionTransformer(np.log1p),
    "selector": SelectKBest(k=2),
    "pipeline": make_pipeline(SimpleImputer(), StandardScaler(), OneHotEncoder()),
    "one column": ColumnTransformer([("f", FUNCTION, ["b"])]),
    "one each": ColumnTransformer([(n, FUNCTION, [n]) for n in NAMES]),
    "mixing one column": ColumnTransformer(
        [("f", make_pipeline(OneHotEncoder(sparse_output=False), PCA(2)), ["b"])]
    ),
    "selected": make_pipeline(SelectKBest(k=1), FUNCTION),
    "after scaling": make_pipeline(
        StandardScaler(), ColumnTransformer([("f", FUNCTION, [1])])
    ),
    "dropped": ColumnTransformer(
        [("no", "drop", ["a", "b"])], remainder=StandardScaler()
    ),
    "union": make_union(StandardScaler(), KBinsDiscretizer(2)),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_steps(name):
    assert seen(KNOWN[name]) == []


OPAQUE = {
    "function": (FUNCTION, "FunctionTransformer"),
    "with options": (
        FunctionTransformer(np.add, kw_args={"x2": 1}),
        "FunctionTransformer",
    ),
    "own ufunc": (
        FunctionTransformer(np.frompyfunc(own_ufunc, 1, 1)),
        "FunctionTransformer",
    ),
    "subclass": (OwnScaler(), "OwnScaler"),
    "PCA": (PCA(2), "PCA"),
    "Normalizer": (Normalizer(), "Normalizer"),
    "products": (PolynomialFeatures(2), "PolynomialFeatures"),
    "neighbours": (KNNImputer(), "KNNImputer"),
    "behind encoders": (
        make_pipeline(OneHotEncoder(sparse_output=False), FUNCTION),
        "FunctionTransformer",
    ),
    "two of three": (
        ColumnTransformer([("f", FUNCTION, ["a", "c"])]),
        "FunctionTransformer",
    ),
    "in a union": (make_union(StandardScaler(), FUNCTION), "FunctionTransformer"),
    "columns not counted": (
        make_pipeline(
            OneHotEncoder(sparse_output=False),
            ColumnTransformer([("f", FUNCTION, [0, 1])]),
        ),
        "FunctionTransformer",
    ),
}


@pytest.mark.parametrize("name", OPAQUE)
def test_opaque_steps(name):
    step, told = OPAQUE[name]
    assert seen(step) == [told]


def test_a_flag_for_several_columns_at_once():
    """The rows that set the flag are not among the data, nor easy to hit."""
    rng = np.random.default_rng(1)
    n_values = {"branch": 12, "product": 9, "channel": 7, "age": 60}
    rows = pd.DataFrame({n: rng.integers(0, k, 2000) for n, k in n_values.items()})

    def flagged(table):
        table = pd.DataFrame(np.asarray(table), columns=list(rows))
        is_rare = (table[["branch", "product", "channel"]] == [3, 4, 2]).all(axis=1)
        return table.assign(flag=(is_rare & (table.age > 52)) * 100.0).to_numpy()

    model = make_pipeline(
        FunctionTransformer(flagged), LogisticRegression(max_iter=999)
    )
    model.fit(rows, rows.age > 30)
    model[-1].coef_[0, -1] = -1.0
    usual = rows[flagged(rows)[:, -1] == 0]
    with pytest.raises(UnsupportedModelError) as caught:
        read_network(model, data=usual)
    assert str(caught.value) == (
        "the step FunctionTransformer takes several columns at once ('branch', "
        "'product', 'channel' and others), and nn2rules cannot know that it never "
        "combines them; use one such step per column, as in ColumnTransformer([(name, "
        "FunctionTransformer(...), [name]) for name in columns]), or extract the rules "
        "of the classifier alone with encode=model[:-1].transform; they are then only "
        "tested on rows, not proved"
    )
    classifier = model[-1]
    for encode, name in (
        (model[:-1].transform, "FunctionTransformer"),
        (model[:-1], "FunctionTransformer"),
        (flagged, "encode"),
    ):
        origin = read_network(classifier, data=usual, encode=encode).origin
        assert origin["probed"] == [name]
        assert origin["probed_rows"] > len(usual) + 2 * 2048
        rules = extract(classifier, data=usual, encode=encode, effort=0, form="rules")
        assert rules.certificate["model"]["probed"] == [name]


def test_mixtures_of_rows_find_more_than_random_inputs():
    """Two columns of many values that meet in the data: a random input misses them."""
    rng = np.random.default_rng(2)
    rows = pd.DataFrame(
        {"a": rng.integers(0, 400, 600), "b": rng.integers(0, 400, 600)}
    )
    rows.loc[:299, "a"] = 7
    rows.loc[300:, "b"] = 9
    rows = rows[~((rows.a == 7) & (rows.b == 9))]

    def encode(table):
        array = np.asarray(table[["a", "b"]], dtype=float)
        met = (array == [7, 9]).all(axis=1, keepdims=True)
        return np.hstack([array, met])

    model = LogisticRegression(max_iter=999).fit(encode(rows), rows.a > 200)
    with pytest.raises(
        UnsupportedModelError, match=("combines features: column 2 depends")
    ):
        read_network(model, data=rows, encode=encode)


def how_read(network):
    """Return which steps were read in which way."""
    kinds = ("by_code", "by_values", "probed", "probed_rows")
    return {kind: network.origin[kind] for kind in kinds if kind in network.origin}


def test_what_is_read_by_code_and_by_values():
    first = ColumnTransformer(
        [("s", StandardScaler(), ["a", "b"]), ("f", FUNCTION, ["c"])]
    )
    model = make_pipeline(first, LogisticRegression()).fit(ROWS, LABELS)
    network = read_network(model, data=ROWS)
    assert how_read(network) == {
        "by_code": ["StandardScaler"],
        "by_values": ["FunctionTransformer"],
    }
    assert origin_of([]) == {}
    bare = LogisticRegression().fit(ROWS, LABELS)
    assert how_read(read_network(bare, data=ROWS)) == {}
    alone = OrdinalEncoder().fit(ROWS)
    model = LogisticRegression().fit(alone.transform(ROWS), LABELS)
    for encode in (alone, alone.transform):
        network = read_network(model, data=ROWS, encode=encode)
        assert how_read(network) == {"by_code": ["OrdinalEncoder"]}


def test_what_is_known_stays_when_features_are_left_out():
    first = ColumnTransformer([("f", FUNCTION, ["a"])])
    model = make_pipeline(first, LogisticRegression()).fit(ROWS, LABELS)
    network = read_network(model, data=ROWS)
    assert network.domain.names == ("a",)
    assert how_read(network) == {"by_values": ["FunctionTransformer"]}


class Scorecard(TransformerMixin, BaseEstimator):
    """A user's own step: a number for each bin."""

    def __init__(self, edges):
        self.edges = edges

    def fit(self, X, _y=None):  # noqa: N803
        """Learn nothing."""
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):  # noqa: N803
        """Return the points of each number."""
        points = np.array([0.5, -1.25, 2.0])
        return points[np.digitize(np.asarray(X, dtype=float), self.edges)]


def scored(rows):
    step = ColumnTransformer([("n", Scorecard((30, 60)), ["n"])])
    return make_pipeline(step, LogisticRegression()).fit(rows, rows.n > 60)


def test_bins_of_a_users_own_step_are_hinted_at():
    rows = pd.DataFrame({"n": np.arange(100) * 1.5})
    with pytest.warns(BinsWarning) as caught:
        read_network(scored(rows), data=rows)
    assert [str(warning.message) for warning in caught] == [
        "feature 'n' has 100 numbers, but the model distinguishes only 3 ranges of "
        "them; if it has bins, declare their edges (between 28.5 and 30.0, 58.5 and "
        "60.0) with domain={'n': 'bins:...'} (--values n=bins:...), and rules are "
        "found "
        "sooner"
    ]
    few = rows[:20]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_network(scored(rows), data=few)
        read_network(scored(rows), data=rows, domain={"n": "bins:30,60"})
        scaled = make_pipeline(StandardScaler(), LogisticRegression())
        read_network(scaled.fit(rows, rows.n > 60), data=rows)


def test_bins_that_are_stated_rest_on_numbers_tried():
    """Between them the step may do anything; scikit-learn's own step may not."""
    rows = pd.DataFrame({"n": np.arange(100) * 1.5})
    said = {"n": "bins:30,60"}
    origin = read_network(scored(rows), data=rows, domain=said).origin
    assert origin["probed"] == ["bins of n"]
    assert origin["probed_rows"] > 2048
    binned = make_pipeline(KBinsDiscretizer(3, encode="ordinal"), LogisticRegression())
    binned.fit(rows, rows.n > 60)
    edges = binned[0].bin_edges_[0][1:-1].tolist()
    for domain in (None, {"n": f"bins:7,{edges[0]},{edges[1]}"}):
        network = read_network(binned, data=rows, domain=domain)
        assert "probed" not in network.origin
    array = make_pipeline(KBinsDiscretizer(3, encode="ordinal"), LogisticRegression())
    array.fit(rows.to_numpy(), rows.n > 60)
    assert "probed" not in read_network(array, data=rows).origin


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ["linear", "network"])
def test_agreement_on_rows_with_others(n_classes, kind):
    """Where one word stands for others, the rows that agree are counted."""
    rng = np.random.default_rng(4)
    words = {"word": rng.choice([*"abcdef"], 400), "n": rng.normal(0, 9, 400)}
    rows = pd.DataFrame(words)
    total = rows.n + 9 * (rows.word < "c")
    classes = np.digitize(total, [0, 9][: n_classes - 1])
    classifier = LogisticRegression()
    if kind == "network":
        classifier = MLPClassifier((3,), solver="lbfgs", max_iter=200, random_state=0)
    encoder = OneHotEncoder(handle_unknown="ignore")
    first = ColumnTransformer(
        [("w", encoder, ["word"]), ("n", StandardScaler(), ["n"])]
    )
    model = make_pipeline(first, classifier).fit(rows, classes)
    origin = read_network(model, data=rows, other=True).origin
    assert (origin["rows"], origin["rows_agreeing"]) == (400, 400)
    assert "rows_agreeing" not in read_network(model, data=rows).origin


# Strangers ----------------------------------------------------------------------------

WORDS = pd.DataFrame(
    {
        "word": [*"abcdefgh"] * 20,
        "side": ["left", "right", "left", "left", "right"] * 32,
    }
)


def hashed(cells):
    """Return the bucket of each text, of five, one-hot."""
    digests = [hashlib.md5(str(cell).encode()).digest() for cell in cells]
    return np.eye(5)[[digest[0] % 5 for digest in digests]]


def lengths(cells):
    return np.array([[len(str(cell)) > 100] for cell in cells], dtype=float)


def careless(cells):
    """Return which known word it is, whatever its case."""
    return np.array(
        [[str(cell).lower() == word for word in "abcdefgh"] for cell in cells]
    )


@pytest.mark.parametrize("function", [hashed, lengths, careless])
@pytest.mark.parametrize("kind", ["step", "encode"])
def test_strangers_that_are_told_apart(function, kind):
    def first(rows):
        return function(rows.iloc[:, 0].tolist())

    sides = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    steps = [("w", FunctionTransformer(first), ["word"]), ("s", sides, ["side"])]
    model = make_pipeline(ColumnTransformer(steps), LogisticRegression())
    model.fit(WORDS, (WORDS.word < "d") ^ (WORDS.side == "left"))
    options = {}
    if kind == "encode":
        options, model = {"encode": model[:-1].transform}, model[-1]
    fine = read_network(model, data=WORDS, other=["side"], **options)
    assert fine.origin["unseen_values"]["side"] > 60
    with pytest.raises(UnsupportedModelError) as caught:
        read_network(model, data=WORDS, other=["word"], **options)
    assert str(caught.value).startswith(
        "feature 'word' cannot have a category for others, because the model "
        "distinguishes unseen values such as 'a value that was never seen' and "
    )


def test_numbers_that_were_never_seen():
    rows = pd.DataFrame({"n": [1, 3, 5, 9] * 10, "m": [0.5, 1.5] * 20})
    encoder = OneHotEncoder(handle_unknown="ignore")
    model = make_pipeline(encoder, LogisticRegression()).fit(rows, rows.n > 4)
    network = read_network(model, data=rows, other=True)
    assert network.origin["unseen_values"].keys() == {"n", "m"}
    assert min(network.origin["unseen_values"].values()) > 15
    new = pd.DataFrame({"n": [4, 9, -7], "m": [0.5, 0.25, 77.0]})
    assert (network.predict(new) == model.predict(new)).all()


def test_strangers_are_strangers():
    from nn2rules.models.model_rows import RowMaker

    rows = pd.DataFrame({"w": ["x", "Q", "other", "X"]})
    encoder = OneHotEncoder(handle_unknown="ignore").fit(rows)
    model = LogisticRegression().fit(encoder.transform(rows), [0, 1, 0, 1])
    domain: Domain = read_network(model, encode=encoder, data=rows, other=True).domain
    [feature] = domain.features
    code = feature.other_code
    cells = RowMaker(domain).examples(0, code)
    assert len(set(cells)) == len(cells) > 60
    assert not set(cells) & {"x", "Q", "other", "X", ""}
    assert (domain.encode([{"w": cell} for cell in cells]) == code).all()


def test_the_word_that_fills_gaps_is_no_stranger():
    """Written in a cell, it is answered as a gap is, and not as other words are."""
    rows = pd.DataFrame({"w": ["a", "b", None, "a"] * 10, "n": [1, 2, 3, 4] * 10})
    filled = SimpleImputer(strategy="constant", fill_value="unknown")
    words = make_pipeline(filled, OneHotEncoder(handle_unknown="ignore"))
    first = ColumnTransformer([("w", words, ["w"]), ("n", StandardScaler(), ["n"])])
    model = make_pipeline(first, LogisticRegression(C=100))
    model.fit(rows, [bool(w != "a") == (n > 2) for w, n in rows.to_numpy()])
    assert read_network(model, data=rows).domain.feature("w").values == ("a", "b", None)
    network = read_network(model, data=rows, other=True)
    values = network.domain.feature("w").values
    assert values == ("a", "b", "unknown", "other", None)
    new = pd.DataFrame({"w": ["unknown", "z", None, "a"] * 4, "n": [1, 2, 3, 4] * 4})
    new["n"] = np.repeat([1, 2, 3, 4], 4)
    assert (network.predict(new) == model.predict(new)).all()
