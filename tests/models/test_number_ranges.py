"""Columns of numbers are ranges: the network answers as the model on every number."""

import os

os.environ["KERAS_BACKEND"] = "torch"

import re

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)

from nn2rules import (
    Domain,
    Feature,
    UnknownValueError,
    UnsupportedModelError,
    extract,
    read_network,
)
from nn2rules.models.ranges import sampled
from nn2rules.network.layer import Layer
from nn2rules.network.network import Network
from nn2rules.space import Binned, Range

ROWS = 300


def people(seed=0, rows=ROWS):
    """Return rows of a credit: whole numbers and real ones, some missing, and words."""
    rng = np.random.default_rng(seed)
    pay = np.round(rng.lognormal(7, 1, rows), 2)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, rows),
            "amount": np.round(rng.lognormal(8, 0.7, rows), 2),
            "months": rng.choice([6, 12, 18, 24, 48, 999], rows),
            "pay": np.where(rng.random(rows) < 0.2, np.nan, pay),
            "cars": np.where(
                rng.random(rows) < 0.2, np.nan, 3 * rng.integers(0, 9, rows)
            ),
            "home": rng.choice(["own", "rent", "free"], rows),
            "kids": rng.integers(0, 4, rows),
        }
    )


def labels(rows):
    return (rows.age / 20 + rows.amount / 3000 + (rows.home == "own") > 4).to_numpy()


def inside(domain, like, rows=2000, seed=5):
    """Return random rows of a domain, the ends of its ranges among them."""
    rng = np.random.default_rng(seed)
    made = {}
    for feature in domain.features:
        is_range = isinstance(feature, Range)
        values = feature.values[feature.n_plain if is_range else 0 :]
        cells = [np.nan if value is None else value for value in values]
        if is_range:
            low, high = feature.limits
            drawn = rng.uniform(low, high, rows)
            cells += [low, high, *(np.rint(drawn) if feature.whole else drawn)]
        made[feature.name] = pd.Series(rng.permutation(np.resize(cells, rows)))
    frame = pd.DataFrame(made)
    for name in like.columns.difference(frame.columns):
        frame[name] = like[name].iloc[0]
    kinds = {n: k for n, k in like.dtypes.items() if k.kind in "iu"}
    return frame[list(like)].astype(kinds)


def check_answers(network, model, like):
    """Compare answers on the rows, on others like them, and on random ones."""
    domain = network.domain
    other = people(1, 2000)[list(like)]
    is_input = (domain.encode(other, unknown="mark") >= 0).all(axis=1)
    assert is_input.mean() > 0.9
    for rows in (like, other[is_input], inside(domain, like)):
        scores = network.scores(rows)
        assert network.model_error < 1e-8
        firm = np.abs(scores) > network.model_error
        assert firm.mean() > 0.999
        answers = model.predict(rows)
        assert (network.predict(rows) == answers)[firm].all()
        shares = model.predict_proba(rows)[:, 1]
        assert np.abs(expit(scores) - shares).max() <= network.model_error + 1e-15


def limits_of(network):
    return {f.name: getattr(f, "limits", None) for f in network.domain.features}


def mlp():
    return MLPClassifier((5, 3), solver="lbfgs", max_iter=60, random_state=0)


# scikit-learn -------------------------------------------------------------------------


def test_a_usual_pipeline():
    rows = people()
    model = make_pipeline(
        make_column_transformer(
            (StandardScaler(), ["age", "amount"]),
            (
                make_pipeline(SimpleImputer(missing_values=999), StandardScaler()),
                ["months"],
            ),
            (make_pipeline(SimpleImputer(), RobustScaler()), ["pay", "cars"]),
            (OneHotEncoder(), ["home"]),
            ("passthrough", ["kids"]),
        ),
        mlp(),
    ).fit(rows, labels(rows))
    network = read_network(model, data=rows)
    assert network.domain.features == (
        Feature.real("age", 18, 79, whole=True),
        Feature.real("amount", rows.amount.min(), rows.amount.max()),
        Feature.real("months", 6, 48, whole=True, special=[999]),
        Feature.real("pay", rows.pay.min(), rows.pay.max(), missing=True),
        Feature.real("cars", 0, 24, whole=True, missing=True),
        Feature("home", ("free", "own", "rent")),
        Feature("kids", (0, 1, 2, 3), ordered=True),
    )
    assert "probed" not in network.origin
    assert "not_linear" not in network.origin
    check_answers(network, model, rows)
    with pytest.raises(UnknownValueError, match="'age' is 17, outside of 18 to 79"):
        network.predict(rows.assign(age=17))


AFFINE = {
    "StandardScaler": StandardScaler(),
    "no mean": StandardScaler(with_mean=False),
    "MinMaxScaler": MinMaxScaler((-1, 3)),
    "clipped": MinMaxScaler(clip=True),
    "MaxAbsScaler": MaxAbsScaler(),
    "RobustScaler": RobustScaler(),
    "nothing": FunctionTransformer(),
    "several": make_pipeline(StandardScaler(), MinMaxScaler(), "passthrough"),
    "selected": make_pipeline(StandardScaler(), VarianceThreshold(), MaxAbsScaler()),
    "two ways": make_union(StandardScaler(), MinMaxScaler()),
}


@pytest.mark.parametrize("name", AFFINE)
def test_steps_that_are_known_to_be_along_a_line(name):
    rows = people()[["age", "amount"]]
    model = make_pipeline(AFFINE[name], mlp())
    model.fit(rows, labels(people()))
    network = read_network(model, data=rows)
    assert all(limits_of(network).values())
    assert "probed" not in network.origin
    check_answers(network, model, rows)


def twice(table):
    return table * 2 + 1


def test_a_function_is_along_a_line_as_far_as_it_was_tried():
    rows = people()[["age", "amount"]]
    scaled = make_pipeline(StandardScaler(), FunctionTransformer(twice))
    first = ColumnTransformer(
        [("a", scaled, ["amount"]), ("s", StandardScaler(), ["age"])]
    )
    model = make_pipeline(first, mlp()).fit(rows, labels(people()))
    network = read_network(model, data=rows)
    assert network.origin["by_code"] == ["StandardScaler"]
    assert "by_values" not in network.origin
    assert network.origin["probed"] == ["FunctionTransformer", "range of amount"]
    assert network.origin["probed_rows"] > 0
    check_answers(network, model, rows)


BENT = {
    "curve": FunctionTransformer(np.arcsinh),
    "square": PolynomialFeatures(2),
    "power": make_pipeline(StandardScaler(), PowerTransformer()),
    "quantiles": QuantileTransformer(n_quantiles=20, output_distribution="normal"),
    "splines": SplineTransformer(4),
    "two ways": make_union(StandardScaler(), FunctionTransformer(np.log1p)),
    "own": FunctionTransformer(lambda table: np.minimum(table, 30)),
}


@pytest.mark.parametrize("name", BENT)
def test_columns_that_are_bent_have_the_numbers_that_occur(name):
    rows = people()[["age", "amount"]]
    first = ColumnTransformer(
        [("b", BENT[name], ["age"]), ("s", StandardScaler(), ["amount"])]
    )
    model = make_pipeline(first, mlp()).fit(rows, labels(people()))
    network = read_network(model, data=rows)
    age, amount = network.domain.features
    assert age.values == tuple(sorted(set(rows.age.tolist())))
    assert amount.limits == (rows.amount.min(), rows.amount.max())
    assert network.origin["not_linear"] == ["age"]
    check_answers(network, model, rows)
    with pytest.raises(UnsupportedModelError) as caught:
        read_network(model, data=rows, domain={"age": (18, 79)})
    assert str(caught.value) == (
        "feature 'age' is declared as a range, but the model is not linear in it; list "
        "the observed values instead with domain={'age': 'observed'} (--values "
        "age=observed), or give the model's bins with 'bins:...'"
    )


def test_a_clipped_column_is_a_range_where_nothing_is_cut_off():
    rows = people()[["age"]]
    model = make_pipeline(MinMaxScaler(clip=True), mlp()).fit(rows, rows.age > 40)
    assert limits_of(read_network(model, data=rows)) == {"age": (18, 79)}
    inner = read_network(model, data=rows, domain={"age": (30, 60)})
    assert limits_of(inner) == {"age": (30, 60)}
    assert "probed" not in inner.origin
    with pytest.raises(UnsupportedModelError, match="not linear in it"):
        read_network(model, data=rows, domain={"age": (18, 90)})


def test_bins_and_encoded_numbers_stay_what_they_are():
    rows = people()[["age", "amount", "months"]]
    model = make_pipeline(
        make_column_transformer(
            (KBinsDiscretizer(3), ["age"]),
            (OneHotEncoder(), ["months"]),
            (StandardScaler(), ["amount"]),
        ),
        mlp(),
    ).fit(rows, labels(people()))
    network = read_network(model, data=rows)
    age, amount, months = network.domain.features
    assert len(age) == 3
    assert isinstance(age, Binned)
    assert months.values == (6, 12, 18, 24, 48, 999)
    assert isinstance(amount, Range)
    ordinal = make_pipeline(OrdinalEncoder(), mlp()).fit(
        rows[["months"]], rows.age > 40
    )
    [feature] = read_network(ordinal, data=rows[["months"]]).domain.features
    assert feature == months


@pytest.mark.parametrize("classifier", [mlp(), LogisticRegression()])
def test_a_single_column(classifier):
    """Its hidden layer is not folded into a table."""
    rows = people()[["amount"]]
    model = make_pipeline(StandardScaler(), classifier).fit(
        rows, rows.amount % 5000 > 2500
    )
    network = read_network(model, data=rows)
    assert network.layers[0].weights.shape[0] == 1
    check_answers(network, model, rows)


def test_what_the_user_says():
    rows = people()[["age", "amount", "months"]]
    model = make_pipeline(StandardScaler(), mlp()).fit(rows, labels(people()))
    said = {"age": (0, 120), "amount": "range:0,1e6", "months": "range:1,60,999"}
    domain = read_network(model, data=rows, domain=said).domain
    assert domain.features == (
        Feature.real("age", 0, 120, whole=True),
        Feature.real("amount", 0, 10**6),
        Feature.real("months", 1, 60, whole=True, special=[999]),
    )
    assert read_network(model, domain=domain).domain == domain
    listed = {"age": "observed", "amount": [100, 200], "months": range(1, 61)}
    assert read_network(model, data=rows, domain=listed).domain.sizes == (61, 2, 60)
    network = read_network(model, domain=domain)
    assert (network.predict(rows) == model.predict(rows)).all()


def test_special_values_have_an_offset_of_their_own():
    """999 is on the model's line, and missing is the mean: neither is multiplied."""
    rows = people()[["months", "pay"]]
    first = make_column_transformer(
        (StandardScaler(), ["months"]),
        (make_pipeline(SimpleImputer(), StandardScaler()), ["pay"]),
    )
    model = make_pipeline(first, mlp()).fit(rows, labels(people()))
    months = Feature.real("months", 6, 48, whole=True, special=[999])
    network = read_network(model, data=rows, domain={"months": months})
    assert network.domain.feature("months") == months
    assert network.layers[0].weights.shape[0] == 4
    check_answers(network, model, rows)


def test_rows_of_every_kind():
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    rows = people()[["age", "amount"]]
    model = make_pipeline(StandardScaler(), mlp()).fit(
        rows.to_numpy(), labels(people())
    )
    expected = read_network(model, data=rows)
    for data in (
        rows.to_dict("records"),
        pl.DataFrame(rows.to_dict("list")),
        pa.table(rows.to_dict("list")),
    ):
        assert read_network(model, data=data) == expected


def test_columns_of_float32():
    rows = people()[["amount", "pay"]].fillna(0.0).astype(np.float32)
    model = make_pipeline(StandardScaler(), mlp()).fit(rows, labels(people()))
    network = read_network(model, data=rows)
    for some in (rows, inside(network.domain, rows).astype(np.float32)):
        scores = network.scores(some)
        shares = model.predict_proba(some)[:, 1]
        assert np.abs(expit(scores) - shares).max() <= network.model_error
        firm = np.abs(scores) > network.model_error
        assert (network.predict(some) == model.predict(some))[firm].all()


# Other frameworks ---------------------------------------------------------------------


def check_scores(network, ask, like, most):
    """Compare scores with the model's own, on the rows and on random ones."""
    for rows in (like, inside(network.domain, like)):
        theirs = np.asarray(ask(rows), dtype=np.float64)
        ours = network.scores(rows)
        assert np.abs(ours - theirs).max() <= network.model_error < most
        firm = np.abs(theirs) > network.model_error
        assert firm.mean() > 0.9
        assert ((network.predict(rows) == 1) == (theirs > 0))[firm].all()


def numbers(rows):
    return rows[["age", "amount"]].to_numpy(np.float32)


def torch_models():
    import torch
    from torch import nn

    class Normed(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.first = nn.BatchNorm1d(2), nn.Linear(2, 6)
            self.last = nn.Linear(6, 1)

        def forward(self, x):
            return self.last(torch.relu(self.first(self.norm(x))))

    class Scaled(Normed):
        def forward(self, x):
            x = (x - torch.tensor([40.0, 3000.0])) / torch.tensor([18.0, 2500.0])
            return self.last(torch.tanh(self.first(x)))

    class Towers(Normed):
        def forward(self, x):
            x = self.norm(x)
            age = torch.relu(x[:, :1] @ self.first.weight[:3, :1].T)
            amount = torch.relu(x[:, 1:] @ self.first.weight[3:, 1:].T)
            return self.last(torch.cat([age, amount], 1))

    class Bent(Normed):
        def forward(self, x):
            x = torch.stack([x[:, 0] / 40, torch.log(x[:, 1])], 1)
            return self.last(torch.relu(self.first(x)))

    class Squared(Normed):
        def forward(self, x):
            x = torch.stack([x[:, 0] / 40, x[:, 1] * x[:, 1] / 1e8], 1)
            return self.last(torch.relu(self.first(x)))

    return {
        "normed": Normed,
        "scaled": Scaled,
        "towers": Towers,
        "bent": Bent,
        "squared": Squared,
    }


@pytest.mark.parametrize("name", ["normed", "scaled", "towers", "bent", "squared"])
def test_torch(name):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    model = torch_models()[name]().eval()
    with torch.no_grad():
        model.norm.running_mean.copy_(torch.tensor([40.0, 3000.0]))
        model.norm.running_var.copy_(torch.tensor([400.0, 4e6]))
    rows = people()[["age", "amount"]]
    network = read_network(model, data=rows, output="score")
    is_bent = name in ("bent", "squared")
    assert network.domain.feature("age").limits == (18, 79)
    assert isinstance(network.domain.feature("amount"), Range) != is_bent
    assert network.origin.get("not_linear") == (["amount"] if is_bent else None)
    assert "probed" not in network.origin

    def ask(rows):
        with torch.no_grad():
            return model(torch.from_numpy(numbers(rows))).numpy()[:, 0]

    check_scores(network, ask, rows, 1e-3)


def test_torch_keeps_its_weights():
    """What a layer multiplies is its own weight, to the last bit."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(2, 5), torch.nn.ReLU(), torch.nn.Linear(5, 2)
    ).eval()
    network = read_network(model, data=people()[["age", "amount"]])
    own = model[0].weight.detach().numpy().T.astype(np.float64)
    assert (network.layers[0].weights == own).all()
    assert (network.layers[0].bias == model[0].bias.detach().numpy()).all()


@pytest.mark.parametrize("kind", ["function", "transformer"])
def test_torch_behind_encode(kind):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    rows = people()[["age", "amount", "home"]]
    first = make_column_transformer(
        (StandardScaler(), ["age", "amount"]), (OneHotEncoder(), ["home"])
    ).fit(rows)

    def own(table):
        return first.transform(table)

    encode = first if kind == "transformer" else own
    model = torch.nn.Sequential(
        torch.nn.Linear(5, 6), torch.nn.ReLU(), torch.nn.Linear(6, 1)
    ).eval()
    network = read_network(model, data=rows, encode=encode, output="score")
    assert limits_of(network)["age"] == (18, 79)
    assert limits_of(network)["home"] is None
    probed = network.origin.get("probed", [])
    ranges = ["range of age", "range of amount"]
    assert probed == ([] if kind == "transformer" else ["encode", *ranges])

    def ask(rows):
        with torch.no_grad():
            given = torch.from_numpy(first.transform(rows).astype(np.float32))
            return model(given).numpy()[:, 0]

    check_scores(network, ask, rows, 1e-3)


def test_encode_that_looks_numbers_up():
    """It takes no number but those that it knows, so that they are listed."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    rows = people()[["months", "amount"]]
    known = {months: place for place, months in enumerate([6, 12, 18, 24, 48, 999])}

    def encode(rows):
        places = [known[months] for months in rows["months"]]
        return np.stack([places, rows["amount"] / 1e4], 1).astype(np.float32)

    model = torch.nn.Linear(2, 2).eval()
    network = read_network(model, data=rows, encode=encode, output="score")
    assert network.domain.feature("months").values == tuple(known)
    assert isinstance(network.domain.feature("amount"), Range)
    assert network.origin["not_linear"] == ["months"]


def test_one_hot_columns_beside_a_number():
    """A stated domain says the order: a range has one column, that of the number."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    home = Feature("home", ("own", "rent", "free"))
    domain = Domain((Feature.real("age", 18, 79), home))
    model = torch.nn.Linear(4, 2).eval()
    network = read_network(model, domain=domain, output="score")
    assert network.domain == domain
    assert (network.layers[0].weights == model.weight.detach().numpy().T).all()


def test_keras():
    keras = pytest.importorskip("keras")
    keras.utils.set_random_seed(0)
    rows = people()[["age", "amount"]]
    norm = keras.layers.Normalization(mean=[40.0, 3000.0], variance=[400.0, 4e6])
    layers = [norm, keras.layers.Dense(6, activation="relu"), keras.layers.Dense(1)]
    model = keras.Sequential([keras.Input((2,)), *layers])
    network = read_network(model, data=rows, output="score")
    assert all(limits_of(network).values())
    assert "probed" not in network.origin

    def ask(rows):
        return np.asarray(model.predict(numbers(rows), verbose=0))[:, 0]

    check_scores(network, ask, rows, 1e-3)


def test_keras_with_bins():
    keras = pytest.importorskip("keras")
    keras.utils.set_random_seed(0)
    age, amount = (keras.Input((1,), name=name) for name in ("age", "amount"))
    cells = keras.layers.Discretization([30, 50], output_mode="one_hot")(age)
    scaled = keras.layers.Rescaling(1e-4)(amount)
    joined = keras.layers.Concatenate()([cells, scaled])
    model = keras.Model([age, amount], keras.layers.Dense(2)(joined))
    rows = people()[["age", "amount"]]
    with pytest.warns(UserWarning, match="feature 'age' has 61 numbers"):
        network = read_network(model, data=rows, output="score")
    assert not isinstance(network.domain.feature("age"), Range)
    assert isinstance(network.domain.feature("amount"), Range)
    assert network.origin["not_linear"] == ["age"]


def test_onnx():
    """A graph as skl2onnx makes it: an imputer, a scaler, a one-hot encoder, layers."""
    onnx = pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    from onnx import TensorProto, helper, numpy_helper

    rng, domain = np.random.default_rng(0), "ai.onnx.ml"
    arrays = {
        "W1": rng.normal(size=(5, 4)).astype(np.float32),
        "B1": rng.normal(size=4).astype(np.float32),
        "W2": rng.normal(size=(4, 2)).astype(np.float32),
        "B2": rng.normal(size=2).astype(np.float32),
    }
    gap, mean = float("nan"), [40.0, 1500.0]
    scale = {"offset": mean, "scale": [0.05, 0.001]}
    filled = {"imputed_value_floats": mean, "replaced_value_float": gap}
    words = {"cats_strings": ["own", "rent", "free"]}
    nodes = [
        helper.make_node("Concat", ["age", "pay"], ["x"], axis=1),
        helper.make_node("Imputer", ["x"], ["f"], domain=domain, **filled),
        helper.make_node("Scaler", ["f"], ["s"], domain=domain, **scale),
        helper.make_node("OneHotEncoder", ["home"], ["o"], domain=domain, **words),
        helper.make_node("Reshape", ["o", "flat"], ["w"]),
        helper.make_node("Concat", ["s", "w"], ["c"], axis=1),
        helper.make_node("Gemm", ["c", "W1", "B1"], ["h"]),
        helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("Gemm", ["r", "W2", "B2"], ["y"]),
    ]
    arrays["flat"] = np.array([-1, 3])
    kinds = {"age": TensorProto.FLOAT, "pay": TensorProto.FLOAT}
    kinds["home"] = TensorProto.STRING
    graph = helper.make_graph(
        nodes,
        "credit",
        [helper.make_tensor_value_info(n, k, [None, 1]) for n, k in kinds.items()],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, 2])],
        [numpy_helper.from_array(array, name) for name, array in arrays.items()],
    )
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(domain, 3)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    onnx.checker.check_model(model)
    rows = people()[["age", "pay", "home"]]
    network = read_network(model, data=rows, output="score")
    assert network.domain.features[1] == Feature.real(
        "pay", rows.pay.min(), rows.pay.max(), missing=True
    )
    assert "probed" not in network.origin
    assert "not_linear" not in network.origin
    session = runtime.InferenceSession(model.SerializeToString())
    for some in (rows, inside(network.domain, rows)):
        feeds = {n: some[[n]].to_numpy(np.float32) for n in ("age", "pay")}
        feeds["home"] = some[["home"]].to_numpy(object)
        [theirs] = session.run(None, feeds)
        assert np.abs(network.scores(some) - theirs).max() <= network.model_error
        firm = np.abs(theirs[:, 1] - theirs[:, 0]) > 2 * network.model_error
        assert firm.mean() > 0.9
        assert (network.predict(some) == theirs.argmax(axis=1))[firm].all()


# Lines --------------------------------------------------------------------------------


def table_of(domain, function, seed=0):
    """Return the samples of a domain, and a network whose rows a function makes."""
    made = sampled(domain, None)
    rng = np.random.default_rng(seed)
    rows = []
    for feature, xs in zip(made.domain.features, made.numbers, strict=True):
        slope, offset = rng.normal(size=(2, 1, 3))
        rest = len(feature) - (0 if xs is None else len(xs))
        if xs is not None:
            rows.append(function(xs[:, None], slope, offset))
        rows.append(rng.normal(size=(rest, 3)))
    first = Layer(np.concatenate(rows), rng.normal(size=3), "relu")
    last = Layer(rng.normal(size=(3, 1)), [0.5], "sigmoid")
    return made, Network(made.domain, (first, last), (0, 1), model_error=1e-12)


REAL = Domain(
    (
        Feature.real("a", -3.5, 1e4, special=[99999], missing=True),
        Feature("b", ("x", "y")),
        Feature.real("c", 0, 10**6, whole=True),
    )
)


def test_rows_along_a_line_become_one_column():
    made, network = table_of(REAL, lambda x, slope, offset: slope * x + offset)
    straight, bent = made.with_ranges(network, 2.0**-53)
    assert (straight.domain, bent) == (REAL, [])
    assert straight.layers[0].weights.shape == (3 + 2 + 1, 3)
    assert network.model_error < straight.model_error < 1e-6
    for code in range(2, 4):
        codes = np.array([[len(made.numbers[0]) + code - 2, 1, 0]])
        real = np.array([[code - 1, 1, 0]])
        [score] = network.scores_codes(codes)
        [own] = straight.scores_codes(real, np.array([[1.0, 1.0, 0.0]]))
        assert abs(score - own) <= straight.model_error


@pytest.mark.parametrize(
    "function",
    [
        lambda x, slope, offset: slope * np.abs(x) ** 1.001 + offset,
        lambda x, slope, offset: slope * (x > 5e5) + offset,
        lambda x, slope, offset: slope * np.maximum(x, 1.0) + offset,
        lambda x, slope, offset: slope * x + 1e-4 * np.abs(x - 100) + offset,
    ],
)
def test_rows_off_a_line_are_named(function):
    made, network = table_of(REAL, function)
    _, bent = made.with_ranges(network, 2.0**-53)
    assert "c" in bent


def test_what_a_model_rounds_is_part_of_its_error():
    """A model that rounds its numbers to float32 is off the line by that much."""

    def rounded(x, slope, offset):
        return slope * x.astype(np.float32).astype(np.float64) + offset

    domain = Domain((Feature.real("a", 1e6, 1e6 + 3), Feature("b", ("x", "y"))))
    made, network = table_of(domain, rounded)
    straight, bent = made.with_ranges(network, 2.0**-24)
    assert not bent
    assert 0.01 < straight.model_error < 10
    xs = np.random.default_rng(1).uniform(1e6, 1e6 + 3, 1000)
    slope, offset = np.random.default_rng(0).normal(size=(2, 1, 3))
    first, last = network.layers
    before = rounded(xs[:, None], slope, offset) + first.bias + first.weights[-2]
    theirs = (np.maximum(before, 0) @ last.weights + last.bias)[:, 0]
    codes = np.zeros((1000, 2), dtype=np.int64)
    ours = straight.scores_codes(codes, np.stack([xs, np.ones(1000)], 1))
    assert 0 < np.abs(ours - theirs).max() <= straight.model_error


def test_samples_have_the_ends_and_the_kind_of_a_range():
    rows = people()
    domain = Domain.from_data(rows[["age", "amount", "pay"]])
    made = sampled(domain, rows)
    for feature, xs in zip(domain.features, made.numbers, strict=True):
        assert (xs[0], xs[-1]) == feature.limits
        assert len(xs) > 50
        assert len(set(xs) & set(rows[feature.name])) > 40
    ages = made.domain.feature("age").values
    assert all(type(age) is int for age in ages)
    [single] = sampled(Domain((Feature.real("a", 7, 7),)), None).numbers
    assert single.tolist() == [7.0]


def test_rows_are_examples_of_what_occurs_together():
    """Of a number the nearest sample; of missing and special values, these."""
    rows = people()[["amount", "months", "pay", "home"]]
    months = Feature.real("months", 6, 48, whole=True, special=[999])
    made = sampled(Domain.from_data(rows, {"months": months}), rows)
    codes = made.codes_of(rows)
    assert (codes >= 0).all()
    decoded = pd.DataFrame(made.domain.decode(codes))
    assert (decoded.home == rows.home).all()
    assert (decoded.months == rows.months).all()
    assert (decoded.pay.isna() == rows.pay.isna()).all()
    for name, xs in (("amount", made.numbers[0]), ("pay", made.numbers[2])):
        known = rows[name].notna()
        gaps = np.abs(rows[name][known].to_numpy()[:, None] - xs).min(axis=1)
        assert np.allclose(np.abs(decoded[name] - rows[name])[known], gaps, atol=1e-9)
    assert (made.codes_of(rows.assign(amount=-1.0))[:, 0] == -1).all()


def test_columns_that_meet_in_rows_alone_are_found():
    """Random rows do not show what these columns do to each other; mixtures do."""
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    base = rng.uniform(0, 100, (400, 1))
    cells = base + rng.uniform(0, 1, (400, 12))
    rows = pd.DataFrame(cells, columns=[f"c{i}" for i in range(12)])

    def encode(table):
        array = table.to_numpy()
        is_near = array.max(axis=1) - array.min(axis=1) < 2
        return np.where(is_near[:, None], array[:, ::-1], array).astype(np.float32)

    with pytest.raises(UnsupportedModelError, match="combines features"):
        read_network(torch.nn.Linear(12, 2).eval(), data=rows, encode=encode)


def test_an_error_that_is_no_matter_of_ranges_is_raised_as_it_is():
    torch = pytest.importorskip("torch")
    rows = people()[["amount", "pay"]]
    model = torch.nn.Linear(7, 2).eval()
    message = "takes 7 numbers for each row, but the data have 2 features with 3 values"
    with pytest.raises(UnsupportedModelError, match=re.escape(message)):
        read_network(model, data=rows, output="score")


@pytest.mark.parametrize("cell", [7, "x"])
def test_a_column_of_one_value_has_no_other(cell):
    """The model may look at it, and answer otherwise to another value."""
    rows = pd.DataFrame({"score": np.arange(300, 800, 25), "const": cell})
    step = StandardScaler() if cell == 7 else OneHotEncoder(handle_unknown="ignore")
    model = make_pipeline(
        make_column_transformer((StandardScaler(), ["score"]), (step, ["const"])),
        LogisticRegression(),
    ).fit(rows, rows.score > 500)
    network = read_network(model, data=rows)
    assert network.domain.names == ("score", "const")
    with pytest.raises(UnknownValueError):
        network.predict(rows.assign(const=8 if cell == 7 else "y"))


def test_a_range_of_one_number_refuses_the_rows():
    rows = pd.DataFrame({"score": np.arange(300, 800, 25), "age": np.arange(20)})
    model = make_pipeline(StandardScaler(), LogisticRegression())
    model.fit(rows, rows.score > 500)
    with pytest.raises(UnknownValueError, match="outside of 5 to 5"):
        extract(model, data=rows, domain={"age": (5, 5)}, form="rules")
