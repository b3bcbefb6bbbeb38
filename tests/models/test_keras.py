"""Keras models: every answer of the network that is read is compared with theirs."""

import os

os.environ["KERAS_BACKEND"] = "torch"

import zipfile
from itertools import product

import keras
import numpy as np
import pandas as pd
import pytest
from keras import layers, ops

import nn2rules
from nn2rules import (
    Domain,
    Feature,
    FormatError,
    OptionError,
    UnsupportedModelError,
    datasets,
    extract,
    read_network,
)
from nn2rules.models.keras import load

pytestmark = pytest.mark.filterwarnings("ignore:The structure of `inputs`")

VALUES = {
    "colour": ["red", "green", "blue"],
    "on_off": ["off", "on"],
    "size": ["S", "M", "L", "XL"],
}
WORDS = Domain(tuple(Feature(name, tuple(vs)) for name, vs in VALUES.items()))
CODES = {"a": [0, 1, 2, 3], "b": [0, 1, 2], "c": [1, 2, 4]}
NUMBERS = Domain(tuple(Feature(name, tuple(vs)) for name, vs in CODES.items()))


def everything(domain):
    return np.array(list(product(*map(range, domain.sizes))))


def frame_of(domain):
    return pd.DataFrame(domain.decode(everything(domain)))


def randomize(model, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    for variable in model.variables:
        values = scale * rng.normal(size=variable.shape)
        if "variance" in variable.path:
            values = rng.uniform(0.2, 3.0, size=variable.shape)
        if "seed" not in variable.path:
            variable.assign(values)
    return model


def one_hot(rows, domain=WORDS):
    columns = [
        np.array([[cell == value for value in feature.values] for cell in column])
        for feature, column in zip(
            domain.features,
            zip(*(row.values() for row in rows), strict=True),
            strict=True,
        )
    ]
    return np.hstack(columns).astype("float32")


def numbers(rows):
    return np.array([list(row.values()) for row in rows], dtype="float32")


def scores_of(model, inputs):
    """Return the scores before the last activation, as Keras computes them."""
    output = model.outputs[0]
    if isinstance(output._keras_history.operation, layers.Activation):
        output = output._keras_history.operation.input
    raw = keras.Model(model.inputs, output)
    scores = ops.convert_to_numpy(ops.cast(raw(inputs, training=False), "float64"))
    scores = scores.reshape(len(scores), -1)
    return scores[:, 0] if scores.shape[1] == 1 else scores


def fragile(network, scores):
    """Tell which inputs lie so near to a tie that rounding may decide."""
    if scores.ndim == 1:
        return np.abs(scores) <= network.model_error
    best = np.sort(scores, axis=1)
    return best[:, -1] - best[:, -2] <= 2 * network.model_error


def check_everywhere(model, network, encode, most_fragile=0.1):
    """Compare scores and answers on every input of the domain."""
    domain = network.domain
    codes = everything(domain)
    inputs = encode(domain.decode(codes))
    scores, ours = scores_of(model, inputs), network.scores_codes(codes)
    assert scores.shape == ours.shape
    assert network.model_error is not None
    assert np.abs(scores - ours).max() <= network.model_error
    answers = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
    clear = ~fragile(network, ours)
    assert clear.mean() >= 1 - most_fragile
    assert (network.predict_codes(codes)[clear] == answers[clear]).all()
    own = ops.convert_to_numpy(ops.cast(model(inputs, training=False), "float32"))
    if getattr(model.layers[-1], "activation", None) is keras.activations.sigmoid:
        assert ((own.reshape(-1) > 0.5)[clear] == answers[clear]).all()
    return answers


def sequential(hidden, units=1, last="sigmoid", width=9):
    return keras.Sequential(
        [
            keras.Input((width,)),
            *hidden,
            layers.Dense(units),
            layers.Activation(last, name="last"),
        ]
    )


ACTIVATIONS = (
    *("elu", "gelu", "hard_sigmoid", "hard_tanh", "leaky_relu", "linear", "relu"),
    *("sigmoid", "silu", "softplus", "swish", "tanh"),
)


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("units", [1, 3])
def test_every_activation(name, units):
    last = "sigmoid" if units == 1 else "softmax"
    hidden = [layers.Dense(6, activation=name), layers.Dense(4, name)]
    model = randomize(sequential(hidden, units, last), seed=units)
    network = read_network(model, domain=WORDS)
    assert len(network.layers) == (1 if name == "linear" else 3)
    check_everywhere(model, network, one_hot)


HIDDEN = {
    "ReLU": layers.ReLU,
    "ReLU that leaks": lambda: layers.ReLU(negative_slope=0.3),
    "ReLU, cut off": lambda: layers.ReLU(max_value=0.7),
    "relu6": lambda: layers.Activation("relu6"),
    "LeakyReLU": lambda: layers.LeakyReLU(negative_slope=0.1),
    "ELU": layers.ELU,
    "PReLU": lambda: layers.PReLU(shared_axes=[1]),
    "Activation": lambda: layers.Activation("relu"),
    "Dense with a layer": lambda: layers.Dense(4, layers.LeakyReLU(0.3)),
    "BatchNormalization": layers.BatchNormalization,
    "no scale": lambda: layers.BatchNormalization(scale=False),
    "no centre": lambda: layers.BatchNormalization(center=False),
    "Normalization": lambda: layers.Normalization(
        mean=[1, 2, 3, 4], variance=[4, 1, 2, 3]
    ),
    "Rescaling": lambda: layers.Rescaling(0.3, offset=-1.0),
    "Dropout": lambda: layers.Dropout(0.5),
    "noise": lambda: layers.GaussianNoise(0.9),
    "GaussianDropout": lambda: layers.GaussianDropout(0.5),
    "regularization": lambda: layers.ActivityRegularization(l2=0.1),
    "Reshape": lambda: layers.Reshape((2, 2)),
    "Permute": lambda: layers.Permute((1,)),
}


@pytest.mark.parametrize("name", HIDDEN)
@pytest.mark.parametrize("place", ["first", "inside", "before the last"])
def test_every_layer(name, place):
    if name == "Normalization" and place == "first":
        pytest.skip("its mean is that of four units")
    if name == "Reshape" and place != "inside":
        pytest.skip("nine columns are no square")
    hidden = [layers.Dense(4, "relu"), layers.Flatten(), layers.Dense(4, "relu")]
    hidden.insert(
        {"first": 0, "inside": 1, "before the last": 3}[place], HIDDEN[name]()
    )
    model = randomize(sequential(hidden), seed=4)
    network = read_network(model, domain=WORDS)
    check_everywhere(model, network, one_hot)


def test_random_nets():
    """Two or three layers of random widths, over random domains."""
    rng = np.random.default_rng(5)
    for seed in range(12):
        sizes = rng.integers(2, 6, size=int(rng.integers(1, 5)))
        domain = Domain(
            tuple(
                Feature(f"f{i}", tuple(f"v{j}" for j in range(size)))
                for i, size in enumerate(sizes)
            )
        )
        names = rng.choice(ACTIVATIONS, size=2)
        units = int(rng.choice([1, 2, 3]))
        hidden = [layers.Dense(int(rng.integers(1, 9)), str(name)) for name in names]
        hidden.insert(1, layers.BatchNormalization())
        last = "sigmoid" if units == 1 else "softmax"
        model = sequential(hidden, units, last, int(sizes.sum()))
        randomize(model, seed)
        network = read_network(model, domain=domain)
        check_everywhere(
            model, network, lambda rows, domain=domain: one_hot(rows, domain), 0.5
        )


@pytest.mark.parametrize(
    "last", ["sigmoid", "linear", "softmax", "log_softmax", "linear, 3 units"]
)
def test_endings(last):
    units = 3 if "max" in last or "3" in last else 1
    model = randomize(
        sequential([layers.Dense(5, "tanh")], units, last.partition(",")[0]), seed=1
    )
    output = "score" if last == "linear" else None
    network = read_network(model, domain=WORDS, output=output)
    assert network.is_binary == (units == 1)
    assert network.classes == tuple(range(max(units, 2)))
    answers = check_everywhere(model, network, one_hot)
    assert len(set(answers)) > 1
    labels = ("no", "yes") if units == 1 else ("a", "b", "c")
    named = read_network(model, domain=WORDS, classes=np.array(labels))
    assert named.classes == labels


def test_an_image_network_is_refused_before_its_columns_are_counted():
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(4, 3, name="conv"),
            layers.Flatten(),
            layers.Dense(2, "softmax"),
        ]
    )
    with pytest.raises(UnsupportedModelError, match=r"layer 'conv' \(Conv2D\): a conv"):
        read_network(model, data=[{"a": 0, "b": 1}, {"a": 1, "b": 0}])


def test_threshold():
    model = randomize(sequential([layers.Dense(5, "relu")]), seed=1)
    network = read_network(model, domain=WORDS, threshold=0.8)
    codes = everything(WORDS)
    probability = ops.convert_to_numpy(model(one_hot(WORDS.decode(codes))))[:, 0]
    assert network.predict_codes(codes).tolist() == (probability > 0.8).tolist()
    assert 0 < (probability > 0.8).sum() < (probability > 0.5).sum()


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16", "mixed_bfloat16"])
def test_formats(dtype):
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(dtype)
    try:
        model = sequential([layers.Dense(6, "relu"), layers.BatchNormalization()])
    finally:
        keras.config.set_dtype_policy(before)
    randomize(model, seed=2)
    network = read_network(model, domain=WORDS)
    check_everywhere(model, network, one_hot, most_fragile=1.0)
    small, large = {
        "float64": (1e-7, 1e-3),  # the sums are float32 on PyTorch
        "float16": (1e-4, 20.0),
        "bfloat16": (1e-3, 200.0),
        "mixed_bfloat16": (1e-3, 200.0),
    }[dtype]
    assert small < network.model_error < large


def test_numbers_and_weights_are_those_that_the_format_holds():
    model = keras.Sequential(
        [keras.Input((1,)), layers.Dense(1, dtype="mixed_float16")]
    )
    model.layers[0].kernel.assign([[0.1]])
    network = read_network(model, domain={"x": [1.0001, 257.3]}, output="score")
    held = np.float16([1.0001, 257.3]).astype(float) * float(np.float16(0.1))
    assert network.layers[0].weights[:, 0].tolist() == held.tolist()


def embedded(mask_zero=False):
    a = keras.Input((1,), name="a", dtype="int32")
    b = keras.Input((), name="b", dtype="int32")
    c = keras.Input((1,), name="c")
    parts = [
        layers.Flatten()(layers.Embedding(4, 3, mask_zero=mask_zero)(a)),
        layers.Embedding(3, 2)(b),
        layers.Dense(2, "tanh")(c),
        layers.Rescaling(0.25)(c),
    ]
    x = layers.Dense(6, "relu")(layers.Concatenate()(parts))
    x = layers.Activation("sigmoid", name="last")(layers.Dense(1)(x))
    return randomize(keras.Model([a, b, c], x), seed=3)


@pytest.mark.parametrize("mask_zero", [False, True])
def test_named_inputs_with_embeddings(mask_zero):
    model = embedded(mask_zero)
    network = read_network(model, data=frame_of(NUMBERS)[["c", "a", "b"]])
    assert network.domain.names == ("c", "a", "b")

    def inputs(rows):
        frame = pd.DataFrame(rows)
        return [frame["a"].to_numpy(), frame["b"].to_numpy(), frame["c"].to_numpy()]

    answers = check_everywhere(model, network, inputs)
    assert len(set(answers)) == 2


def test_dict_inputs_and_encode():
    """A dict of inputs takes a dict of arrays, by name."""
    inputs = {name: keras.Input((1,), name=name) for name in ("z", "a")}
    x = layers.Concatenate()([inputs["z"], inputs["a"]])
    x = layers.Activation("softmax")(layers.Dense(3)(layers.Dense(4, "relu")(x)))
    model = randomize(keras.Model(inputs, {"out": x}), seed=1)
    domain = Domain((Feature("first", ("x", "y", "z")), Feature("second", (1, 2, 3))))

    def encode(rows):
        rows = pd.DataFrame(rows)
        return {
            "a": rows["second"].to_numpy(dtype=float)[:, None],
            "z": rows["first"].map({"x": 0.5, "y": -1.0, "z": 2.0}).to_numpy()[:, None],
        }

    network = read_network(model, domain=domain, encode=encode, classes="pqr")
    codes = everything(domain)
    own = ops.convert_to_numpy(model(encode(domain.decode(codes)))["out"])
    assert network.classes == ("p", "q", "r")
    assert network.predict_codes(codes).tolist() == own.argmax(axis=1).tolist()
    assert len(set(own.argmax(axis=1))) > 1


def test_shared_layers_nested_models_and_shortcuts():
    inputs = keras.Input((9,))
    shared = layers.Dense(4, "relu")
    inner_in = keras.Input((4,))
    inner = keras.Model(inner_in, layers.Add()([inner_in, shared(inner_in * 0.5)]))
    block = keras.Sequential([layers.Dense(4), layers.LeakyReLU(negative_slope=0.0)])
    x = layers.Dense(4, "relu")(inputs)
    x = layers.Add()([x, shared(x)])
    x = layers.Subtract()([inner(x), block(x)])
    x = layers.Average()([x, x, layers.Dense(4)(x)])
    x = layers.Activation("sigmoid", name="last")(layers.Dense(1)(x))
    model = randomize(keras.Model(inputs, x), seed=3, scale=0.6)
    network = read_network(model, domain=WORDS)
    check_everywhere(model, network, one_hot)


def test_operations_of_keras_ops():
    inputs = keras.Input((3,), name="numbers")
    a, b, c = ops.split(inputs, 3, axis=1)
    rows = np.array([[1.0, -2.0], [0.5, 0.25], [3.0, 1.0]])
    parts = ops.concatenate(
        [
            ops.one_hot(ops.cast(ops.squeeze(a, 1), "int32"), 4),
            ops.log(b + 1.0),
            -c / 2.0 + ops.square(c),
            ops.take(rows, ops.cast(inputs[:, 1], "int32"), axis=0),
        ],
        axis=-1,
    )
    x = ops.relu(ops.matmul(parts, np.linspace(-1, 1, 32).reshape(8, 4)) - 0.3)
    x = ops.stack([x, 2.0 * x], axis=1)
    x = ops.sum(x, axis=1) + ops.mean(x, axis=[1])
    x = ops.transpose(ops.reshape(x, (-1, 2, 2)), (0, 2, 1))
    x = layers.Dense(1)(layers.GlobalAveragePooling1D()(x))
    x = ops.sigmoid(x)
    pair = layers.Concatenate()([1.0 - x, x])
    for output in (x, ops.reshape(x, (-1,)), pair):
        model = randomize(keras.Model(inputs, output), seed=6)
        network = read_network(model, domain=NUMBERS, classes=("no", "yes"))
        codes = everything(NUMBERS)
        own = ops.convert_to_numpy(model(numbers(NUMBERS.decode(codes))))
        own = own[:, 1] if own.ndim > 1 and own.shape[1] == 2 else own.reshape(-1)
        ours = 1 / (1 + np.exp(-network.scores_codes(codes)))
        assert np.abs(own - ours).max() < 1e-6
        clear = ~fragile(network, network.scores_codes(codes))
        assert clear.mean() > 0.9
        assert network.is_binary
        assert (network.predict_codes(codes) == (own > 0.5))[clear].all()


def test_the_bound_covers_cancellation_within_a_feature():
    """A layer on one feature alone rounds, too."""
    a, b = (keras.Input((1,), name=name) for name in "ab")
    wide = layers.Dense(30, "relu")(layers.Dense(30)(a))
    x = layers.Dense(1)(layers.Concatenate()([wide, b]))
    model = keras.Model([a, b], layers.Activation("sigmoid", name="last")(x))
    rng = np.random.default_rng(0)
    for variable in model.variables:
        values = rng.normal(size=variable.shape) * 1000
        variable.assign(values - values.mean() if len(values) > 1 else values)
    network = read_network(model, domain=Domain(NUMBERS.features[:2]))
    check_everywhere(
        model, network, lambda rows: [*numbers(rows).T[:, :, None]], most_fragile=0.5
    )


def test_the_bound_is_narrow_for_wide_one_hot_inputs():
    """Of the columns of a feature all but one are zeros, which round nothing."""
    domain = Domain(tuple(Feature(f"f{i}", tuple(range(30))) for i in range(30)))
    model = sequential([layers.Dense(32, "relu"), layers.Dense(16, "relu")], width=900)
    network = read_network(randomize(model, seed=3, scale=0.1), domain=domain)
    codes = np.random.default_rng(0).integers(30, size=(2000, 30))
    scores = scores_of(model, hot(domain, domain.decode(codes)))
    assert np.abs(scores - network.scores_codes(codes)).max() <= network.model_error
    assert fragile(network, scores).mean() < 0.02


def binned(mode="one_hot", normal=False):
    age, kind = keras.Input((1,), name="age"), keras.Input((1,), name="kind")
    bins = layers.Discretization(bin_boundaries=[18.0, 30.5, 65.0], output_mode=mode)
    x = bins(age)
    if mode == "int":
        x = layers.CategoryEncoding(4, output_mode="one_hot")(x)
    extra = [layers.Normalization(mean=40.0, variance=100.0)(age)] if normal else []
    hot = layers.CategoryEncoding(3, output_mode="one_hot")(kind)
    x = layers.Dense(5, "relu")(layers.Concatenate()([x, hot, *extra]))
    x = layers.Activation("sigmoid", name="last")(layers.Dense(1)(x))
    return randomize(keras.Model([age, kind], x), seed=8)


@pytest.mark.parametrize("mode", ["one_hot", "int", "multi_hot"])
def test_bins_of_the_model_itself(mode):
    model = binned(mode)
    rng = np.random.default_rng(1)
    data = pd.DataFrame(
        {"age": rng.uniform(0, 99, 300).round(1), "kind": rng.integers(0, 3, 300)}
    )
    network = read_network(
        model, data=data, domain={"age": "bins:18,30.5,65", "kind": [0, 1, 2]}
    )
    assert network.domain.sizes == (4, 3)
    own = ops.convert_to_numpy(model([data["age"].to_numpy(), data["kind"].to_numpy()]))
    assert network.predict(data).tolist() == (own[:, 0] > 0.5).tolist()
    assert extract(network).predict(data).tolist() == (own[:, 0] > 0.5).tolist()


@pytest.mark.parametrize("edges", ["18,30,65", "18,65", "18,30.50001,65", "18", "65"])
def test_bins_that_are_not_the_models(edges):
    with pytest.raises(UnsupportedModelError, match=r"'age'.*numbers within one bin"):
        read_network(binned(), domain={"age": f"bins:{edges}", "kind": [0, 1, 2]})


def test_bins_of_a_model_that_also_takes_the_number():
    with pytest.raises(UnsupportedModelError, match=r"'age'.*numbers within one bin"):
        read_network(
            binned(normal=True), domain={"age": "bins:18,30.5,65", "kind": [0, 1, 2]}
        )


@pytest.mark.parametrize("name", ["IntegerLookup", "StringLookup", "Hashing"])
def test_lookups(name):
    """These run on TensorFlow alone, whatever the backend."""
    pytest.importorskip("tensorflow", reason=f"{name} needs TensorFlow")
    options = {"num_bins": 3} if name == "Hashing" else {"vocabulary": [1, 2, 4]}
    if name == "StringLookup":
        pytest.skip("words enter a model on the TensorFlow backend only")
    inputs = keras.Input((1,), name="c", dtype="int64")
    x = getattr(layers, name)(**options, output_mode="one_hot")(inputs)
    x = layers.Activation("sigmoid", name="last")(layers.Dense(1)(x))
    model = randomize(keras.Model(inputs, x))
    network = read_network(model, domain=Domain(NUMBERS.features[2:]))
    check_everywhere(model, network, lambda rows: numbers(rows).astype("int64"))


def test_one_embedding_for_all_columns():
    model = keras.Sequential(
        [
            keras.Input((3,)),
            layers.Embedding(5, 2),
            layers.Flatten(),
            layers.Dense(4, "relu"),
            layers.Dense(1),
            layers.Activation("sigmoid", name="last"),
        ]
    )
    randomize(model, seed=2)
    check_everywhere(model, read_network(model, domain=NUMBERS), numbers)


def test_the_model_is_left_as_it_was():
    model = embedded()
    before = [ops.convert_to_numpy(v).copy() for v in model.variables]
    config = model.to_json()
    n_nodes = [len(op._inbound_nodes) for op in model.operations]
    read_network(model, data=frame_of(NUMBERS))
    assert model.to_json() == config
    assert [len(op._inbound_nodes) for op in model.operations] == n_nodes
    for variable, array in zip(model.variables, before, strict=True):
        assert (ops.convert_to_numpy(variable) == array).all()


# Data sets -------------------------------------------------------------------------


def trained(domain, rows, labels, classes, hidden=8):
    keras.utils.set_random_seed(0)
    units = 1 if len(classes) == 2 else len(classes)
    model = keras.Sequential(
        [
            keras.Input((int(domain.offsets[-1]),)),
            layers.Dense(hidden, "relu"),
            layers.Dropout(0.1),
            layers.Dense(units, "sigmoid" if units == 1 else "softmax"),
        ]
    )
    loss = "binary_crossentropy" if units == 1 else "sparse_categorical_crossentropy"
    model.compile(keras.optimizers.Adam(0.02), loss, jit_compile=False)
    y = np.array([classes.index(label) for label in labels])
    model.fit(hot(domain, rows), y, epochs=2, batch_size=128, verbose=0)
    return model


def hot(domain, rows):
    codes = domain.encode(rows) + domain.offsets[:-1]
    made = np.zeros((len(codes), int(domain.offsets[-1])), dtype="float32")
    np.put_along_axis(made, codes, 1.0, axis=1)
    return made


def answers_of(model, array):
    own = np.concatenate(
        [ops.convert_to_numpy(model(part)) for part in np.array_split(array, 8)]
    )
    return (own[:, 0] > 0.5).astype(int) if own.shape[1] == 1 else own.argmax(axis=1)


@pytest.mark.parametrize(
    ("name", "labels", "by_width"),
    [
        ("car", "paper", True),
        ("nursery", "paper", False),
        ("nursery", "original", True),
        ("contraception", "paper", False),
    ],
)
def test_data_sets(name, labels, by_width):
    data = datasets.load(name, labels=labels)
    domain, rows = data.domain, data.train.rows
    model = trained(domain, rows, data.train.labels, data.classes)
    options = {} if by_width else {"encode": lambda rows: hot(domain, rows)}
    network = read_network(model, domain=domain, classes=data.classes, **options)
    rules = extract(network)
    classes = np.array(data.classes)
    clear = ~fragile(network, network.scores(rows))
    own = classes[answers_of(model, hot(domain, rows))]
    assert clear.mean() > 0.99
    assert (rules.predict(rows) == own)[clear].all()
    assert len(set(own)) > 1
    codes = everything(domain)
    if len(codes) > 40_000:
        codes = codes[np.random.default_rng(0).integers(len(codes), size=40_000)]
    clear = ~fragile(network, network.scores_codes(codes))
    own = answers_of(model, hot(domain, domain.decode(codes)))
    assert clear.mean() > 0.99
    assert (network.predict_codes(codes) == own)[clear].all()
    assert (rules.predict(rules.domain.decode(codes)) == classes[own])[clear].all()


def test_adult_on_some_rows():
    data = datasets.load("adult")
    rows, labels = data.train.rows[:1500], data.train.labels[:1500]
    model = trained(data.domain, rows, labels, data.classes, hidden=4)
    network = read_network(model, domain=data.domain, classes=data.classes)
    some = rows[:200]
    rules = extract(network, data=some, scope="support")
    own = np.array(data.classes)[answers_of(model, hot(data.domain, rows))]
    clear = ~fragile(network, network.scores(rows))
    assert clear.mean() > 0.99
    assert (network.predict(rows) == own)[clear].all()
    assert (rules.predict(some) == own[:200])[clear[:200]].all()


def test_a_wide_model_with_embeddings():
    """More than 10^9 inputs: rules for some rows."""
    names = [f"column {index}" for index in range(9)]
    inputs = [keras.Input((1,), name=f"column_{i}", dtype="int32") for i in range(9)]
    parts = [layers.Flatten()(layers.Embedding(12, 2)(each)) for each in inputs]
    x = layers.Dense(6, "relu")(layers.Concatenate()(parts))
    model = randomize(keras.Model(inputs, layers.Dense(1, "sigmoid")(x)), seed=1)
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.integers(0, 12, (200, 9)), columns=names)
    network = read_network(model, data=data, domain={n: [*range(12)] for n in names})
    assert np.prod(network.domain.sizes, dtype=object) > 10**9
    rules = extract(network, data=data, scope="support")
    own = ops.convert_to_numpy(model([data[name].to_numpy() for name in names]))[:, 0]
    clear = ~fragile(network, network.scores(data))
    assert clear.mean() > 0.99
    assert (rules.predict(data) == (own > 0.5))[clear].all()
    assert len(set(rules.predict(data))) == 2


# Mistakes --------------------------------------------------------------------------


class Subclassed(keras.Model):
    """A model whose computation is Python code."""

    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(1)

    def call(self, inputs):
        """Return a score."""
        return self.dense(inputs)


class Changed(keras.Sequential):
    """A model that does something else than its graph says."""

    def call(self, inputs, training=None, mask=None):
        """Return the other share."""
        return 1 - super().call(inputs, training=training, mask=mask)


class Wrapped(layers.Dense):
    """A layer that looks like another one."""

    def call(self, inputs):
        """Return the squares."""
        return super().call(inputs) ** 2


def after_dense(layer, shape=(4,), last="sigmoid"):
    hidden = [layers.Dense(4, "relu"), layers.Reshape(shape), layer, layers.Flatten()]
    return sequential(hidden, last=last)


def two_inputs(layer):
    inputs = keras.Input((9,))
    x = layer([layers.Dense(4, "relu")(inputs), layers.Dense(4, "relu")(inputs)])
    return keras.Model(inputs, layers.Dense(1)(x))


def functional(function):
    inputs = keras.Input((9,))
    return keras.Model(inputs, function(inputs))


def subclassed():
    model = Subclassed()
    model(np.ones((2, 9)))
    return model


def quantized():
    model = sequential([layers.Dense(4, "relu")])
    model.quantize("int8")
    return model


REFUSED = {
    "unbuilt": (
        lambda: keras.Sequential([layers.Dense(1)]),
        r"not built.* call its fit method, or model\.build",
    ),
    "a layer": (lambda: layers.Dense(1), "keras Dense is not a model"),
    "subclassed": (subclassed, "subclassed model.*build it with keras.Sequential"),
    "changed": (
        lambda: Changed([keras.Input((9,)), layers.Dense(1, "sigmoid")]),
        "Changed is a subclassed model",
    ),
    "several outputs": (
        lambda: functional(lambda x: [layers.Dense(1)(x), layers.Dense(1)(x)]),
        r"has 2 outputs.*model.outputs\[0\]",
    ),
    "LayerNormalization": (
        lambda: after_dense(layers.LayerNormalization(name="norm")),
        r"layer 'norm' \(LayerNormalization\): it divides each unit by the spread",
    ),
    "UnitNormalization": (
        lambda: after_dense(layers.UnitNormalization()),
        "divides each unit by the spread",
    ),
    "Conv1D": (
        lambda: after_dense(layers.Conv1D(2, 2, name="conv"), (4, 1)),
        r"layer 'conv' \(Conv1D\): a convolution",
    ),
    "LSTM": (lambda: after_dense(layers.LSTM(2), (4, 1)), "a recurrent layer"),
    "Bidirectional": (
        lambda: after_dense(layers.Bidirectional(layers.GRU(2)), (4, 1)),
        "a recurrent layer",
    ),
    "attention": (
        lambda: two_inputs(
            lambda pair: layers.Attention()([layers.Reshape((2, 2))(x) for x in pair])
        ),
        "multiplies two numbers that both depend on the input",
    ),
    "Multiply": (
        lambda: two_inputs(layers.Multiply()),
        "multiplies two numbers that both depend on the input",
    ),
    "product": (
        lambda: two_inputs(lambda pair: pair[0] * pair[1]),
        r"operation 'multiply\w*' \(Multiply\).*both depend on the input",
    ),
    "quotient": (
        lambda: two_inputs(lambda pair: pair[0] / (pair[1] + 1.0)),
        "divides by a number that depends on the input",
    ),
    "Maximum": (lambda: two_inputs(layers.Maximum()), "compares two numbers"),
    "Lambda": (
        lambda: after_dense(layers.Lambda(lambda x: x**2)),
        "is Python code",
    ),
    "custom layer": (
        lambda: after_dense(Wrapped(3)),
        r"\(Wrapped\): nn2rules cannot read it once features are combined; it reads "
        r"Acti",
    ),
    "pooling": (
        lambda: after_dense(layers.MaxPooling1D(2), (4, 1)),
        r"\(MaxPooling1D\): nn2rules cannot read it once features are combined",
    ),
    "operation": (
        lambda: functional(lambda x: layers.Dense(1)(ops.sin(layers.Dense(2)(x)))),
        r"operation 'sin\w*' \(Sin\): nn2rules cannot read this operation",
    ),
    "known operation": (
        lambda: functional(lambda x: layers.Dense(1)(ops.square(layers.Dense(2)(x)))),
        r"\(Square\): nn2rules cannot read this operation once features are combined",
    ),
    "whole numbers": (
        lambda: functional(lambda x: ops.cast(layers.Dense(1)(x), "int32")),
        "rounds numbers",
    ),
    "Embedding inside": (
        lambda: after_dense(layers.Embedding(9, 2)),
        "must take the codes of features",
    ),
    "batch": (
        lambda: functional(lambda x: layers.Dense(1)(x - ops.mean(x, axis=0))),
        "sums over the rows of a batch",
    ),
    "ReLU, cut off": (
        lambda: after_dense(layers.ReLU(max_value=5, negative_slope=0.1)),
        "leaky and has a maximum",
    ),
    "ReLU, later": (
        lambda: after_dense(layers.ReLU(threshold=1.0)),
        "has the threshold 1",
    ),
    "PReLU": (lambda: randomize(after_dense(layers.PReLU())), "different slopes"),
    "ELU": (lambda: after_dense(layers.ELU(alpha=0.5)), "alpha is 0.5"),
    "selu": (
        lambda: after_dense(layers.Activation("selu")),
        "'selu' is not supported; nn2rules reads elu, gelu",
    ),
    "own function": (
        lambda: after_dense(layers.Activation(lambda x: x**3)),
        "the activation '<lambda>' is not supported",
    ),
    "approximate GELU": (
        lambda: functional(lambda x: layers.Dense(1)(ops.gelu(layers.Dense(2)(x)))),
        "tanh approximation",
    ),
    "multi-label": (
        lambda: keras.Sequential([keras.Input((9,)), layers.Dense(2, "sigmoid")]),
        "2 sigmoid units.*multi-label",
    ),
    "softmax of one unit": (
        lambda: keras.Sequential([keras.Input((9,)), layers.Dense(1, "softmax")]),
        "softmax of a single score is always 1",
    ),
    "softmax inside": (
        lambda: sequential([layers.Dense(3, "softmax")]),
        "computes with the result of a softmax",
    ),
    "part of a softmax": (
        lambda: functional(lambda x: layers.Dense(3, "softmax")(x)[:, 1:2]),
        "results of a softmax",
    ),
    "softmax along another axis": (
        lambda: after_dense(layers.Softmax(axis=1), (2, 2)),
        "over the last axis",
    ),
    "one of two sigmoid units": (
        lambda: functional(lambda x: layers.Dense(2, "sigmoid")(x)[:, 1:]),
        "between 0 and 1",
    ),
    "mean of two sigmoids": (
        lambda: functional(
            lambda x: layers.Average()(
                [layers.Dense(1, "sigmoid")(x), layers.Dense(1, "sigmoid")(x)]
            )
        ),
        "between 0 and 1",
    ),
    "hard sigmoid": (
        lambda: keras.Sequential([keras.Input((9,)), layers.Dense(1, "hard_sigmoid")]),
        "between 0 and 1",
    ),
    "many answers": (
        lambda: functional(lambda x: layers.Reshape((2, 2))(layers.Dense(4)(x))),
        "has the shape",
    ),
    "units side by side": (
        lambda: functional(
            lambda x: layers.Dense(1)(
                ops.concatenate([layers.Dense(2, f)(x) for f in ("relu", "tanh")])
            )
        ),
        "relu and tanh units in the same layer",
    ),
    "another width": (
        lambda: sequential([layers.Dense(2)], width=5),
        "takes 5 numbers for each row, but the data have 3 features with 9 values",
    ),
    "quantized": (quantized, "it is quantized"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    make, message = REFUSED[name]
    with pytest.raises(UnsupportedModelError, match=message):
        read_network(make(), domain=WORDS)


MIXING = {
    "LayerNormalization": (
        layers.LayerNormalization,
        "divides each unit by the spread",
    ),
    "multi-hot": (
        lambda: layers.CategoryEncoding(5, output_mode="multi_hot"),
        r"\(CategoryEncoding\).*combines the features 'a' and 'b' and 'c'",
    ),
    "own layer": (
        lambda: Wrapped(2),
        r"\(Wrapped\).*is Python code.*\('a', 'b'",
    ),
    "Lambda": (lambda: layers.Lambda(lambda x: x * x[:, :1]), "is Python code"),
    "rows": (lambda: layers.Lambda(lambda x: ops.cumsum(x, 0)), "mixes rows|is Python"),
}


@pytest.mark.parametrize("name", MIXING)
def test_layers_that_mix_features(name):
    make, message = MIXING[name]
    with pytest.raises(UnsupportedModelError, match=message):
        read_network(sequential([make()], width=3), domain=NUMBERS)


def test_layers_of_any_kind_that_keep_features_apart():
    """LayerNormalization of one-hot columns divides by a spread that is fixed."""
    norm = layers.LayerNormalization(center=False, scale=False)
    model = sequential([norm, layers.Dense(4, "relu")])
    network = read_network(randomize(model, seed=2), domain=WORDS)
    check_everywhere(model, network, one_hot)


def test_own_code_that_sees_several_features_is_refused():
    """A flag for one combination of values would be missed by any sample of rows."""
    flag = layers.Lambda(lambda x: x + 50 * ops.prod(x, axis=1, keepdims=True) * 0)
    with pytest.raises(UnsupportedModelError, match="takes several features at once"):
        read_network(sequential([flag], width=3), domain=NUMBERS)


def test_own_code_may_see_one_feature():
    own = layers.Lambda(lambda x: ops.sin(x) + x**2)
    model = randomize(sequential([own, layers.Dense(3, "relu")], width=1), seed=2)
    domain = Domain((Feature("a", (0.5, 1, 2, 7)),))
    network = read_network(model, domain=domain)
    check_everywhere(model, network, lambda rows: np.array([[r["a"]] for r in rows]))


def test_wrong_classes():
    model = sequential([])
    with pytest.raises(OptionError, match="3 are given, but the model has one output"):
        read_network(model, domain=WORDS, classes=("a", "b", "c"))
    model = sequential([], 3, "softmax")
    with pytest.raises(OptionError, match="2 are given, but the model has 3 outputs"):
        read_network(model, domain=WORDS, classes=("a", "b"))


def test_words_need_encode():
    model = sequential([], width=3)
    with pytest.raises(
        UnsupportedModelError, match=(r"'colour' has categories.*encode=")
    ):
        read_network(model, domain=WORDS)
    with pytest.raises(
        UnsupportedModelError, match="takes numbers, but encode= returns"
    ):
        read_network(model, domain=WORDS, encode=lambda rows: rows[:])
    with pytest.raises(UnsupportedModelError, match=r"shape \(3,\).*shape \(2,\)"):
        read_network(model, domain=WORDS, encode=lambda rows: np.zeros((len(rows), 2)))


def test_inputs_that_are_no_columns():
    data = frame_of(NUMBERS).rename(columns={"b": "other"})
    with pytest.raises(UnsupportedModelError, match="an input 'b', but no column"):
        read_network(embedded(), data=data)


def test_missing_numbers():
    model = randomize(sequential([], width=3))
    gaps = {"a": [1, 2], "b": [1, None], "c": [0, 1]}
    with pytest.raises(UnsupportedModelError, match="'b' has missing values"):
        read_network(model, domain=gaps)
    filled = read_network(
        model, domain=gaps, encode=lambda rows: pd.DataFrame(rows).fillna(0.5)
    )
    assert filled.domain.features[1].values == (1, None)


def test_codes_that_an_embedding_does_not_have():
    data = frame_of(NUMBERS).replace({"b": {1: 7}})
    with pytest.raises(UnsupportedModelError, match="from 0 to 2, but 'b' = 7 has"):
        read_network(embedded(), data=data)


# Files -----------------------------------------------------------------------------


def test_load(tmp_path):
    model = embedded()
    model.save(tmp_path / "model.keras")
    data = frame_of(NUMBERS)
    network = read_network(load(tmp_path / "model.keras"), data=data)
    assert network == read_network(model, data=data)


def test_files_that_are_not_models(tmp_path):
    path = tmp_path / "model.keras"
    with pytest.raises(FormatError, match=r"model\.keras: there is no such file"):
        load(path)
    embedded().save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FormatError, match=r"damaged, or is not a \.keras file"):
        load(str(path))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", "{}")
    with pytest.raises(FormatError, match="cannot be loaded"):
        load(path, trust=True)
    with zipfile.ZipFile(tmp_path / "model.zip", "w") as archive:
        archive.writestr("config.json", "{}")
    with pytest.raises(FormatError, match="cannot be loaded"):
        load(tmp_path / "model.zip", trust=True)


def test_files_that_hold_code(tmp_path):
    after_dense(layers.Lambda(lambda x: x + 1)).save(tmp_path / "lambda.keras")
    with pytest.raises(FormatError, match="Lambda layer, which is Python code"):
        load(tmp_path / "lambda.keras", trust=True)
    after_dense(Wrapped(3)).save(tmp_path / "own.keras")
    with pytest.raises(
        FormatError, match="the model uses Wrapped, which is not part of Keras"
    ):
        load(tmp_path / "own.keras", trust=True)


def test_extract_takes_a_model():
    model = randomize(sequential([layers.Dense(4, "relu")]), seed=1)
    rules = nn2rules.extract(model, domain=WORDS)
    codes = everything(WORDS)
    own = ops.convert_to_numpy(model(one_hot(WORDS.decode(codes))))[:, 0]
    assert rules.predict(rules.domain.decode(codes)).tolist() == (own > 0.5).tolist()
