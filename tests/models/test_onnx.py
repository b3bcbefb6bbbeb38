import os
import re
import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest

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
from nn2rules.space import Range

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from nn2rules.models.onnx import load, prepare, running  # noqa: E402
from nn2rules.models.onnx.operators import HANDLERS  # noqa: E402

DOMAIN = Domain(
    (
        Feature("colour", ("red", "green", "blue")),
        Feature("on_off", ("on", "off")),
        Feature("size", ("S", "M", "L")),
    )
)
RNG = np.random.default_rng(3)
W1 = RNG.normal(size=(8, 4)).astype(np.float32)
B1 = RNG.normal(size=4).astype(np.float32)
W2 = RNG.normal(size=(4, 3)).astype(np.float32)
B2 = RNG.normal(size=3).astype(np.float32)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def ml(op, inputs, outputs, **attributes):
    return node(op, inputs, outputs, domain="ai.onnx.ml", **attributes)


def tensor(name, kind=TensorProto.FLOAT, shape=(None, 8)):
    return helper.make_tensor_value_info(name, kind, list(shape))


def model_of(nodes, constants, inputs=None, outputs=None, opset=18):
    """Return a checked model; constants are a dict of arrays."""
    stored = [numpy_helper.from_array(np.asarray(a), n) for n, a in constants.items()]
    graph = helper.make_graph(
        nodes,
        "test",
        inputs or [tensor("x")],
        outputs or [tensor("y", shape=(None, 3))],
        stored,
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 3)]
    made = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    onnx.checker.check_model(made)
    return made


def layered(between, constants=(), opset=18, last=None):
    """Return a dense layer, the nodes `between` from h to g, and a second layer."""
    nodes = [
        node("Gemm", "x W1 B1", "h"),
        *between,
        *(last or [node("Gemm", "g W2 B2", "y")]),
    ]
    stored = {"W1": W1, "B1": B1, "W2": W2, "B2": B2, **dict(constants)}
    return model_of(nodes, stored, opset=opset)


def run(model, **feeds):
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, feeds)


def one_hot(domain=DOMAIN):
    codes = np.concatenate(list(domain.inputs()))
    made = np.zeros((len(codes), int(domain.offsets[-1])), dtype=np.float32)
    np.put_along_axis(made, codes + domain.offsets[:-1], 1.0, axis=1)
    return codes, made


def margin(network, scores):
    if scores.ndim == 1:
        return np.abs(scores)
    ranked = np.sort(scores, axis=1)
    return ranked[:, -1] - ranked[:, -2]


def check_scores(network, codes, theirs, share=1.0):
    """Compare scores on every input, and answers on those that are not fragile."""
    theirs = np.asarray(theirs, dtype=np.float64)
    ours = network.scores_codes(codes)
    assert network.model_error is not None
    assert np.abs(ours - theirs).max() <= network.model_error
    firm = margin(network, theirs) > 2 * network.model_error
    assert firm.mean() >= share
    classes = theirs.argmax(axis=1) if theirs.ndim == 2 else (theirs > 0).astype(int)
    assert (network.predict_codes(codes)[firm] == classes[firm]).all()


BETWEEN = {
    "Relu": [node("Relu", "h", "g")],
    "Sigmoid": [node("Sigmoid", "h", "g")],
    "Tanh": [node("Tanh", "h", "g")],
    "LeakyRelu": [node("LeakyRelu", "h", "g", alpha=0.3)],
    "HardSigmoid": [node("HardSigmoid", "h", "g", alpha=1 / 6)],
    "Elu": [node("Elu", "h", "g")],
    "Celu": [node("Celu", "h", "g")],
    "Softplus": [node("Softplus", "h", "g")],
    "Gelu": ([node("Gelu", "h", "g")], {}, 20),
    "Swish": ([node("Swish", "h", "g")], {}, 24),
    "PRelu": ([node("PRelu", "h slope", "g")], {"slope": np.full(1, 0.2, "f4")}),
    "hard tanh": (
        [node("Clip", "h low high", "g")],
        {"low": np.float32(-1), "high": np.float32(1)},
    ),
    "ReLU6": (
        [node("Clip", "h low high", "g")],
        {"low": np.float32(0), "high": np.float32(6)},
    ),
    "Clip from 0.7": ([node("Clip", "h low", "g")], {"low": np.float32(0.7)}),
    "Clip at 0": ([node("Clip", "h low", "g")], {"low": np.float32(0)}),
    "Clip of old": ([node("Clip", "h", "g", min=-1.0, max=1.0)], {}, 8),
    "Max": ([node("Max", "h zero", "g")], {"zero": np.zeros(1, "f4")}),
    "SiLU": [node("Sigmoid", "h", "s"), node("Mul", "h s", "g")],
    "SiLU, other order": [node("Sigmoid", "h", "s"), node("Mul", "s h", "g")],
    "Gelu by erf": (
        [
            node("Div", "h root", "a"),
            node("Erf", "a", "b"),
            node("Add", "b one", "c"),
            node("Mul", "h c", "d"),
            node("Mul", "d half", "g"),
        ],
        {
            "root": np.float32(2**0.5),
            "one": np.float32(1),
            "half": np.float32(0.5),
        },
    ),
    "Gelu by erf, other order": (
        [
            node("Mul", "root h", "a"),
            node("Erf", "a", "b"),
            node("Add", "one b", "c"),
            node("Mul", "half h", "d"),
            node("Mul", "c d", "g"),
        ],
        {
            "root": np.float32(0.5**0.5),
            "one": np.float32(1),
            "half": np.float32(0.5),
        },
    ),
    "Softplus by Where": (
        [
            node("Softplus", "h", "s"),
            node("Greater", "h limit", "c"),
            node("Where", "c h s", "g"),
        ],
        {"limit": np.float32(20)},
    ),
    "BatchNormalization": (
        [node("BatchNormalization", "h s b m v", "n"), node("Relu", "n", "g")],
        {
            "s": np.array([1, -2, 0.5, 3], "f4"),
            "b": np.array([0.1, 0.2, -0.3, 0.4], "f4"),
            "m": np.array([0.5, -0.5, 0.25, 1], "f4"),
            "v": np.array([1, 0.5, 2, 0.1], "f4"),
        },
    ),
    "Add": ([node("Add", "h c", "n"), node("Relu", "n", "g")], {"c": B1[None]}),
    "Sub from": ([node("Sub", "c h", "n"), node("Relu", "n", "g")], {"c": B1}),
    "Mul": ([node("Mul", "c h", "n"), node("Relu", "n", "g")], {"c": B1}),
    "Div": ([node("Div", "h c", "n"), node("Relu", "n", "g")], {"c": B1}),
    "Neg": [node("Neg", "h", "n"), node("Relu", "n", "g")],
    "Sum": ([node("Sum", "h c h", "n"), node("Relu", "n", "g")], {"c": B1}),
    "shortcut": [node("Relu", "h", "r"), node("Add", "h r", "g")],
    "MatMul": (
        [node("MatMul", "h M", "n"), node("Relu", "n", "g")],
        {"M": W2 @ W2.T},
    ),
    "MatMul by a vector": (
        [
            node("MatMul", "h v", "n"),
            node("Unsqueeze", "n axis", "u"),
            node("Add", "h u", "a"),
            node("Relu", "a", "g"),
        ],
        {"v": B1, "axis": np.array([1])},
    ),
    "Gemm with alpha": (
        [
            node("Gemm", "h M c", "n", alpha=0.5, beta=-2.0, transB=1),
            node("Relu", "n", "g"),
        ],
        {"M": W2 @ W2.T + np.float32(1), "c": B1[None]},
    ),
    "Gemm with rows added": [
        node("Relu", "h", "r"),
        node("Gemm", "r M r", "g", beta=0.5),
    ],
    "ReduceSum": (
        [
            node("ReduceSum", "h axis", "n"),
            node("Add", "h n", "a"),
            node("Relu", "a", "g"),
        ],
        {"axis": np.array([-1])},
    ),
    "ReduceMean": (
        [
            node("ReduceMean", "h", "n", axes=[1], keepdims=0),
            node("Unsqueeze", "n axis", "u"),
            node("Sub", "h u", "a"),
            node("Relu", "a", "g"),
        ],
        {"axis": np.array([1])},
        13,
    ),
    "Scaler": [
        ml(
            "Scaler", "h", "n", offset=[0.1, 0.2, 0.3, 0.4], scale=[1.0, 2.0, 0.5, -1.0]
        ),
        node("Relu", "n", "g"),
    ],
    "Cast to double and back": [
        node("Cast", "h", "d", to=TensorProto.DOUBLE),
        node("Relu", "d", "r"),
        node("Cast", "r", "g", to=TensorProto.FLOAT),
    ],
    "Dropout": [node("Relu", "h", "r"), node("Dropout", "r", "g")],
    "Identity": [node("Identity", "h", "i"), node("Relu", "i", "g")],
    "Reshape": (
        [
            node("Reshape", "h cube", "n"),
            node("Transpose", "n", "t", perm=[0, 2, 1]),
            node("Flatten", "t", "f"),
            node("Relu", "f", "g"),
        ],
        {"cube": np.array([-1, 2, 2])},
    ),
    "Reshape by Shape": (
        [
            node("Shape", "h", "s"),
            node("Gather", "s zero", "b", axis=0),
            node("Unsqueeze", "b zeros", "u"),
            node("Concat", "u rest", "shape", axis=0),
            node("Reshape", "h shape", "n"),
            node("Squeeze", "n two", "q"),
            node("Relu", "q", "g"),
        ],
        {
            "zero": np.array(0),
            "zeros": np.array([0]),
            "rest": np.array([-1, 1]),
            "two": np.array([2]),
        },
    ),
    "Slice and Concat": (
        [
            node("Slice", "h from to axis", "a"),
            node("Gather", "h places", "b", axis=1),
            node("Concat", "a b", "c", axis=-1),
            node("Relu", "c", "g"),
        ],
        {
            "from": np.array([2]),
            "to": np.array([4]),
            "axis": np.array([1]),
            "places": np.array([0, 3]),
        },
    ),
    "Split": (
        [
            node("Split", "h", "a b", axis=1, num_outputs=2),
            node("Concat", "b a", "c", axis=1),
            node("Relu", "c", "g"),
        ],
        {},
    ),
    "ArrayFeatureExtractor": (
        [ml("ArrayFeatureExtractor", "h places", "c"), node("Relu", "c", "g")],
        {"places": np.array([[3, 2, 1, 0]])},
    ),
    "FeatureVectorizer": [
        node("Split", "h", "a b", axis=1, num_outputs=2),
        ml("FeatureVectorizer", "a b", "c", inputdimensions=[2, 2]),
        node("Relu", "c", "g"),
    ],
    "Expand": (
        [
            node("ReduceSum", "h axis", "n"),
            node("Expand", "n wide", "w"),
            node("Relu", "w", "g"),
        ],
        {"axis": np.array([-1]), "wide": np.array([1, 4])},
    ),
    "Tile": (
        [
            node("ReduceSum", "h axis", "n"),
            node("Tile", "n wide", "w"),
            node("Relu", "w", "g"),
        ],
        {"axis": np.array([-1]), "wide": np.array([1, 4])},
    ),
    "constants joined": (
        [
            node("Shape", "h", "s"),
            node("Gather", "s zero", "b", axis=0),
            node("Concat", "b two", "shape", axis=0),
            node(
                "ConstantOfShape",
                "shape",
                "ones",
                value=helper.make_tensor("v", 1, [1], [2.0]),
            ),
            node("Slice", "h zero two axis", "a"),
            node("Concat", "a ones", "c", axis=1),
            node("Relu", "c", "g"),
        ],
        {"zero": np.array([0]), "two": np.array([2]), "axis": np.array([1])},
    ),
}


def parts(entry):
    if not isinstance(entry, tuple):
        return entry, {}, 18
    nodes, constants, *opset = entry
    return nodes, constants, *(opset or [18])


@pytest.mark.parametrize("name", BETWEEN)
def test_operators_where_features_have_met(name):
    nodes, constants, opset = parts(BETWEEN[name])
    model = layered(nodes, {"M": W2 @ W2.T, **constants}, opset)
    network = read_network(model, domain=DOMAIN)
    codes, x = one_hot()
    check_scores(network, codes, run(model, x=x)[0], share=0.9)


# Features that are apart ---------------------------------------------------------

MIXED = Domain(
    (
        Feature("colour", ("red", "green", "blue")),
        Feature("age", (20, 30.5, 47, None)),
        Feature("children", (0, 1, 2)),
    )
)
COLUMNS = [
    tensor("colour", TensorProto.STRING, (None, 1)),
    tensor("age", shape=(None, 1)),
    tensor("children", TensorProto.INT64, (None, 1)),
]
FILLED = ml(
    "Imputer",
    "age",
    "filled",
    imputed_value_floats=[33.0],
    replaced_value_float=float("nan"),
)
CODED = ml(
    "LabelEncoder",
    "colour",
    "code",
    keys_strings=["red", "green", "blue"],
    values_int64s=[2, 0, 1],
)
AS_FLOATS = node("Cast", "children", "many", to=TensorProto.FLOAT)
COLOURS = ml("OneHotEncoder", "colour", "hot", cats_strings=["blue", "red"], zeros=1)
FLAT = node("Flatten", "hot", "colours")
APART = {
    "OneHotEncoder": [],
    "LabelEncoder and Gather": (
        [
            CODED,
            node("Gather", "table code", "rows"),
            node("Flatten", "rows", "embedded"),
            node("Concat", "colours embedded filled many", "f", axis=1),
        ],
        {"table": W2[:3]},
    ),
    "one table for two columns": (
        [
            CODED,
            node("Concat", "code children", "both", axis=1),
            node("Gather", "table both", "rows"),
            node("Flatten", "rows", "embedded"),
            node("Concat", "embedded filled", "f", axis=1),
        ],
        {"table": W2[:3]},
    ),
    "OneHot": (
        [
            node("OneHot", "children depth values", "ones"),
            node("Flatten", "ones", "counted"),
            node("Concat", "colours counted filled", "f", axis=1),
        ],
        {"depth": np.array(3), "values": np.array([0, 1], "f4")},
    ),
    "Where and Equal": (
        [
            node("IsNaN", "age", "gap"),
            node("Where", "gap none age", "number"),
            node("GreaterOrEqual", "number limit", "old"),
            node("Cast", "old", "olds", to=TensorProto.FLOAT),
            node("Equal", "children each", "same"),
            node("Cast", "same", "sames", to=TensorProto.FLOAT),
            node("Concat", "colours olds sames number", "f", axis=1),
        ],
        {
            "none": np.float32(0),
            "limit": np.float32(30.5),
            "each": np.array([[0, 1, 2]]),
        },
    ),
    "curves of several columns": (
        [
            node("Concat", "filled many", "numbers", axis=1),
            node("Add", "numbers one", "more"),
            node("Log", "more", "logs"),
            node("Pow", "logs two", "squares"),
            node("Min", "squares cap", "capped"),
            ml("Scaler", "capped", "scaled", offset=[1.0, 0.5], scale=[2.0, -3.0]),
            ml("Binarizer", "numbers", "binary", threshold=1.5),
            node("Concat", "colours scaled binary", "f", axis=1),
        ],
        {"one": np.float32(1), "two": np.float32(2), "cap": np.array([9, 1], "f4")},
    ),
    "activations before the first layer": (
        [
            node("Concat", "filled many", "numbers", axis=1),
            node("Mul", "numbers small", "less"),
            node("Sigmoid", "less", "gates"),
            node("Mul", "less gates", "silu"),
            node("Gemm", "gates diagonal", "scaled"),
            node("Tanh", "scaled", "bent"),
            node("Concat", "colours silu bent", "f", axis=1),
        ],
        {"small": np.float32(0.05), "diagonal": np.diag([1.5, -2.5]).astype("f4")},
    ),
    "an operator that needs the whole column": (
        [
            node("ReduceMax", "colours", "largest", axes=[1]),
            node("Concat", "filled many largest", "f", axis=1),
        ],
        {},
        13,
    ),
}


def apart(name):
    nodes, constants, opset = parts(APART[name])
    if not nodes:
        nodes = [node("Concat", "colours filled many", "f", axis=1)]
    nodes = [COLOURS, FLAT, FILLED, AS_FLOATS, *nodes]
    probe = helper.make_graph(
        nodes,
        "width",
        COLUMNS,
        [onnx.ValueInfoProto(name="f")],
        [numpy_helper.from_array(np.asarray(a), n) for n, a in constants.items()],
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 3)]
    features = run(
        helper.make_model(probe, opset_imports=opsets, ir_version=9), **mixed_feeds()
    )[0]
    first = np.random.default_rng(1).normal(size=(features.shape[1], 4)).astype("f4")
    last = [
        node("Gemm", "f W B1", "h"),
        node("Relu", "h", "r"),
        node("Gemm", "r W2 B2", "y"),
    ]
    return model_of(
        [*nodes, *last],
        {**constants, "W": first / 8, "B1": B1, "W2": W2, "B2": B2},
        COLUMNS,
        opset=opset,
    )


def mixed_feeds():
    rows = list(product(*(feature.values for feature in MIXED.features)))
    colours, ages, children = zip(*rows, strict=True)
    return {
        "colour": np.array(colours, dtype=object).reshape(-1, 1),
        "age": np.array(ages, dtype=np.float32).reshape(-1, 1),
        "children": np.array(children, dtype=np.int64).reshape(-1, 1),
    }


@pytest.mark.parametrize("name", APART)
def test_any_operator_on_the_columns_of_one_feature(name):
    model = apart(name)
    network = read_network(model, domain=MIXED)
    codes = np.concatenate(list(MIXED.inputs()))
    check_scores(network, codes, run(model, **mixed_feeds())[0], share=0.9)
    assert len(network.layers) == 2


@pytest.mark.parametrize("name", ["OneHotEncoder", "Where and Equal"])
def test_without_onnxruntime(monkeypatch, name):
    model = apart(name)
    theirs = run(model, **mixed_feeds())[0]
    monkeypatch.setattr(running.importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(onnxruntime, "InferenceSession", None)
    network = read_network(model, domain=MIXED)
    check_scores(network, np.concatenate(list(MIXED.inputs())), theirs)


def test_a_single_feature_is_a_table():
    """No layer is needed: whatever the model does is done to each value."""
    domain = Domain((Feature("x", (-1, 1, 2, 3)),))
    model = model_of(
        [
            node("Exp", "x", "e"),
            node("MatMul", "e W", "h"),
            node("Relu", "h", "r"),
            node("ReduceSum", "r axis", "s"),
            node("Sub", "s c", "d"),
            node("Sigmoid", "d", "y"),
        ],
        {
            "W": np.array([[0.1, -0.2]], "f4"),
            "axis": np.array([1]),
            "c": np.float32(1.0),
        },
        [tensor("x", shape=(None, 1))],
        [tensor("y", shape=(None, 1))],
    )
    network = read_network(model, domain=domain)
    assert len(network.layers) == 1
    x = np.array([[-1], [1], [2], [3]], "f4")
    shares = run(model, x=x)[0][:, 0].astype(float)
    check_scores(network, np.arange(4)[:, None], np.log(shares / (1 - shares)), 0)


def test_one_input_of_words():
    model = model_of(
        [
            ml("OneHotEncoder", "x", "hot", cats_strings=["red", "on", "S", "M"]),
            node("Flatten", "hot", "f"),
            node("Gemm", "f W B2", "y"),
        ],
        {"W": np.random.default_rng(2).normal(size=(12, 3)).astype("f4"), "B2": B2},
        [tensor("x", TensorProto.STRING, (None, 3))],
    )
    network = read_network(model, domain=DOMAIN)
    rows = list(product(*(feature.values for feature in DOMAIN.features)))
    codes = np.concatenate(list(DOMAIN.inputs()))
    check_scores(network, codes, run(model, x=np.array(rows, dtype=object))[0])


# Answers -------------------------------------------------------------------------

ONE = {"W2": W2[:, :1], "B2": B2[:1]}
SIGMOID = [node("Gemm", "g W2 B2", "z"), node("Sigmoid", "z", "p")]


def headed(nodes, outputs, constants=(), opset=18, inputs=None):
    stored = {"W1": W1, "B1": B1, "W2": W2, "B2": B2, **dict(constants)}
    first = [node("Gemm", "x W1 B1", "h"), node("Relu", "h", "g")]
    return model_of([*first, *nodes], stored, inputs, outputs, opset)


def scores_of(model):
    """Return the numbers before the last step, from a model that stops there."""
    short = onnx.ModelProto()
    short.CopyFrom(model)
    del short.graph.output[:]
    short.graph.output.append(onnx.ValueInfoProto(name="z"))
    return run(short, x=one_hot()[1])[0].reshape(18, -1)


LABELS = {"labels": np.array(["low", "mid", "high"], dtype=object)}
LINEAR = {
    "classlabels_strings": ["a", "b"],
    "post_transform": "LOGISTIC",
    "coefficients": [*(-W1[:, 0]), *W1[:, 0]],
    "intercepts": [-0.3, 0.3],
}
LABEL, SHARES = tensor("label", 8, (None,)), tensor("p", shape=(None, 2))
ANSWERS = {
    "sigmoid": (SIGMOID, [tensor("p", shape=(None, 1))], ONE, (0, 1)),
    "sigmoid, squeezed": (
        [*SIGMOID, node("Squeeze", "p one", "q")],
        [tensor("q", shape=(None,))],
        {**ONE, "one": np.array([1])},
        (0, 1),
    ),
    "both shares": (
        [*SIGMOID, node("Sub", "one p", "n"), node("Concat", "n p", "q", axis=1)],
        [tensor("q", shape=(None, 2))],
        {**ONE, "one": np.float32(1)},
        (0, 1),
    ),
    "softmax": (
        [node("Gemm", "g W2 B2", "z"), node("Softmax", "z", "p")],
        [tensor("p", shape=(None, 3))],
        {},
        (0, 1, 2),
    ),
    "log of softmax": (
        [
            node("Gemm", "g W2 B2", "z"),
            node("Softmax", "z", "p", axis=1),
            node("Log", "p", "q"),
        ],
        [tensor("q", shape=(None, 3))],
        {},
        (0, 1, 2),
    ),
    "LogSoftmax": (
        [node("Gemm", "g W2 B2", "z"), node("LogSoftmax", "z", "p", axis=-1)],
        [tensor("p", shape=(None, 3))],
        {},
        (0, 1, 2),
    ),
    "shares divided by their sum": (
        [
            node("Gemm", "g W2 B2", "z"),
            node("Softmax", "z", "p"),
            ml("Normalizer", "p", "q", norm="L1"),
        ],
        [tensor("q", shape=(None, 3))],
        {},
        (0, 1, 2),
    ),
    "both shares divided by their sum": (
        [
            *SIGMOID,
            node("Sub", "one p", "n"),
            node("Concat", "n p", "q", axis=1),
            node("LpNormalization", "q", "r", p=1, axis=1),
        ],
        [tensor("r", shape=(None, 2))],
        {**ONE, "one": np.float32(1)},
        (0, 1),
    ),
    "label and scores": (
        [
            node("Gemm", "g W2 B2", "z"),
            node("ArgMax", "z", "best", axis=1),
            ml("ArrayFeatureExtractor", "labels best", "named"),
            node("Reshape", "named flat", "label"),
        ],
        [LABEL, tensor("z", shape=(None, 3))],
        {**LABELS, "flat": np.array([-1])},
        ("low", "mid", "high"),
    ),
    "label by LabelEncoder": (
        [
            node("Gemm", "g W2 B2", "z"),
            node("ArgMax", "z", "best", axis=1, keepdims=0),
            ml(
                "LabelEncoder",
                "best",
                "label",
                keys_int64s=[2, 0, 1],
                values_strings=["high", "low", "mid"],
            ),
        ],
        [LABEL, tensor("z", shape=(None, 3))],
        {},
        ("low", "mid", "high"),
    ),
    "label alone": (
        [
            node("Gemm", "g W2 B2", "z"),
            node("ArgMax", "z", "best", axis=1),
            node("Gather", "labels best", "named"),
            node("Squeeze", "named one", "label"),
        ],
        [LABEL],
        {**LABELS, "one": np.array([1])},
        ("low", "mid", "high"),
    ),
    "number alone": (
        [
            node("Gemm", "g W2 B2", "z"),
            node("Softmax", "z", "p"),
            node("ArgMax", "p", "best", axis=1, keepdims=0),
        ],
        [tensor("best", TensorProto.INT64, (None,))],
        {},
        (0, 1, 2),
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answers(name):
    nodes, outputs, constants, classes = ANSWERS[name]
    model = headed(nodes, outputs, constants)
    network = read_network(model, domain=DOMAIN)
    scores = scores_of(model)
    check_scores(network, one_hot()[0], scores[:, 0] if "W2" in constants else scores)
    assert network.classes == classes


LINEAR_CLASSIFIERS = {
    "two rows": ({}, 2),
    "one row": ({"coefficients": W1[:, 0], "intercepts": [0.3]}, 1),
    "softmax": (
        {
            "post_transform": "SOFTMAX",
            "coefficients": W1[:, :3].T.reshape(-1),
            "intercepts": B2,
            "classlabels_strings": ["a", "b", "c"],
        },
        3,
    ),
    "scores": (
        {
            "post_transform": "NONE",
            "coefficients": W1[:, :3].T.reshape(-1),
            "intercepts": B2,
            "classlabels_strings": ["a", "b", "c"],
        },
        3,
    ),
    "two scores": ({"post_transform": "NONE"}, 2),
}


def linear_classifier(**options):
    nodes = [ml("LinearClassifier", "x", "label p", **LINEAR | options)]
    outputs = [LABEL, tensor("p", shape=(None, None))]
    return model_of(nodes, {}, outputs=outputs)


@pytest.mark.parametrize("name", LINEAR_CLASSIFIERS)
def test_linear_classifiers(name):
    options, n_rows = LINEAR_CLASSIFIERS[name]
    model = linear_classifier(**options)
    network = read_network(model, domain=DOMAIN)
    codes, x = one_hot()
    options = LINEAR | options
    weights = np.array(options["coefficients"]).reshape(n_rows, 8)
    scores = x.astype(float) @ weights.T + np.array(options["intercepts"], "f4")
    if options["post_transform"] == "LOGISTIC":
        scores = scores[:, -1]
    check_scores(network, codes, scores)
    answers = network.predict(network.domain.decode(codes))
    assert answers.tolist() == run(model, x=x)[0].tolist()
    assert network.classes == tuple(options["classlabels_strings"])


def test_classes_of_the_user():
    nodes, outputs, constants, _ = ANSWERS["sigmoid"]
    model = headed(nodes, outputs, constants)
    network = read_network(model, domain=DOMAIN, classes=["no", "yes"], threshold=0.3)
    assert (network.classes, network.threshold) == (("no", "yes"), 0.3)
    with pytest.raises(OptionError, match="names its classes \\('a', 'b'"):
        read_network(linear_classifier(), domain=DOMAIN, classes=["yes", "no"])


def test_encode_of_the_user():
    """A model with two inputs, neither of which is a column of the data."""
    inputs = [
        tensor("words", TensorProto.INT64, (None, 2)),
        tensor("numbers", shape=(None, 1)),
        tensor("ignored", shape=(None, 1)),
    ]
    nodes = [
        node("Gather", "table words", "rows"),
        node("Flatten", "rows", "embedded"),
        node("Concat", "embedded numbers", "f", axis=1),
        node("Gemm", "f W B2", "y"),
        node("Identity", "ignored", "unused"),
    ]
    stored = {"table": W2[:3], "W": W1[:7, :3], "B2": B2}
    model = model_of(nodes, stored, inputs)

    def encode(rows):
        codes = DOMAIN.encode(rows)
        return {"words": codes[:, :2], "numbers": codes[:, 2:] * 0.5}

    network = read_network(model, domain=DOMAIN, encode=encode)
    codes = np.concatenate(list(DOMAIN.inputs()))
    feeds = encode(DOMAIN.decode(codes)) | {"ignored": np.zeros((18, 1), "f4")}
    feeds["numbers"] = feeds["numbers"].astype("f4")
    check_scores(network, codes, run(model, **feeds)[0])
    with pytest.raises(UnsupportedModelError, match=r"no array for .* 'numbers'"):
        read_network(model, domain=DOMAIN, encode=lambda _: {"words": codes})


def test_a_deep_model():
    """Far deeper than Python's limit on recursion."""
    names = [f"h{index}" for index in range(3000)]
    steps = [
        node("Mul", f"{a} half", b) for a, b in zip(["h", *names], names, strict=False)
    ]
    ends = [node("Identity", f"{names[-1]}", "last"), node("Add", "last h", "g")]
    model = layered([*steps, *ends], {"half": np.float32(1)})
    network = read_network(model, domain=DOMAIN)
    check_scores(network, one_hot()[0], run(model, x=one_hot()[1])[0], share=0)


@pytest.mark.parametrize("batch", [1, 4])
def test_models_with_a_fixed_batch(batch):
    """Exporters fix the batch unless told otherwise, and then reshape by it."""
    nodes = [
        node("Reshape", "g cube", "c"),
        node("Reshape", "c flat", "f"),
        node("Gemm", "f W2 B2", "y"),
    ]
    stored = {"cube": np.array([batch, 2, 2]), "flat": np.array([batch, 4])}
    shape = tensor("x", shape=(batch, 8))
    model = headed(nodes, [tensor("y", shape=(batch, 3))], stored, inputs=[shape])
    codes, x = one_hot()
    network = read_network(model, domain=DOMAIN)
    wanted = [run(model, x=np.repeat(row[None], batch, 0))[0][0] for row in x]
    check_scores(network, codes, np.array(wanted))


@pytest.mark.parametrize(("kind", "error"), [("f8", 1e-12), ("f2", 0.8)])
def test_other_precisions(kind, error):
    nodes = [node("Gemm", "g W2 B2", "y")]
    stored = {
        n: a.astype(kind) for n, a in {"W1": W1, "B1": B1, "W2": W2, "B2": B2}.items()
    }
    code = TensorProto.DOUBLE if kind == "f8" else TensorProto.FLOAT16
    model = headed(
        nodes, [tensor("y", code, (None, 3))], stored, inputs=[tensor("x", code)]
    )
    codes, x = one_hot()
    network = read_network(model, domain=DOMAIN)
    assert network.model_error < error
    check_scores(network, codes, run(model, x=x.astype(kind))[0], share=0.2)


# Exporters -----------------------------------------------------------------------


def fitted(model, rows, labels):
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(rows, labels)


def mlp(**options):
    from sklearn.neural_network import MLPClassifier

    settings = {"hidden_layer_sizes": (5, 3), "solver": "lbfgs", "max_iter": 40}
    return MLPClassifier(**{"random_state": 1} | settings | options)


def exported(model, rows, **options):
    """Return a scikit-learn model in ONNX, with an input for each column."""
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType

    kinds = {
        name: FloatTensorType([None, 1])
        if pd.api.types.is_numeric_dtype(rows[name])
        else StringTensorType([None, 1])
        for name in rows
    }
    return to_onnx(model, initial_types=list(kinds.items()), target_opset=18, **options)


def feeds_of(rows):
    """Return the arrays of a frame's columns, as a user would make them."""
    return {
        re.sub(r"\W", "_", name): rows[name].to_numpy(np.float32).reshape(-1, 1)
        if pd.api.types.is_numeric_dtype(rows[name])
        else rows[name].fillna("").to_numpy(object).reshape(-1, 1)
        for name in rows
    }


def everything(network, like, most=20_000):
    """Return inputs of the domain, all or a sample, as a frame like the user's."""
    domain = network.domain
    if domain.n_inputs <= most:
        codes = np.concatenate(list(domain.inputs()))
    else:
        rng = np.random.default_rng(0)
        codes = rng.integers(domain.sizes, size=(most, len(domain.sizes)))
    decoded = pd.DataFrame(domain.decode(codes), columns=list(domain.names))
    for name in like.columns.difference(decoded.columns):  # features that do not count
        decoded[name] = like[name].iloc[0]
    return decoded[list(like.columns)].astype(like.dtypes.to_dict())


def check_rules(network, rows, labels_of, fragile=0.02):
    """Compare network and rules with the model's labels, on data and the domain."""
    rules = extract(network, effort=0, form="rules")
    for frame in (rows, everything(network, rows)):
        theirs = np.asarray(labels_of(frame))
        scores = network.scores(frame)
        firm = margin(network, scores) > 2 * network.model_error
        assert (~firm).mean() <= fragile
        for ours in (network.predict(frame), rules.predict(frame)):
            assert (ours[firm] == theirs[firm]).all()
    return rules


def lookup(rows, labels):
    """Return the function from rows to labels that are known for each."""
    table = dict(zip(rows.itertuples(index=False, name=None), labels, strict=True))
    return lambda frame: [
        table[row] for row in frame.itertuples(index=False, name=None)
    ]


def categories(name, n_rows=1500, labels="paper"):
    data = datasets.load(name, labels=labels)
    rows = pd.DataFrame(data.train.rows[:n_rows])
    return rows, list(data.train.labels[:n_rows])


@pytest.mark.parametrize(
    ("name", "zipmap"),
    [
        ("car", True),
        ("car", False),
        ("nursery", True),
        ("contraception", False),
        ("adult", True),
    ],
)
def test_one_hot_and_mlp(name, zipmap):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    rows, labels = categories(name)
    encoder = OneHotEncoder(handle_unknown="ignore")
    sizes = (3,) if name == "adult" else (5, 3)
    model = make_pipeline(encoder, mlp(hidden_layer_sizes=sizes, alpha=1.0))
    fitted(model, rows, labels)
    graph = exported(model, rows, options={"zipmap": zipmap})
    network = read_network(graph, data=rows)
    assert network.classes == tuple(model.classes_)
    rules = check_rules(network, rows, lambda frame: run(graph, **feeds_of(frame))[0])
    assert (rules.predict(rows) == model.predict(rows)).mean() > 0.99


def test_five_classes():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    rows, labels = categories("nursery", 4000, labels="original")
    model = make_pipeline(OneHotEncoder(), mlp(activation="tanh", max_iter=60))
    graph = exported(fitted(model, rows, labels), rows)
    network = read_network(graph, data=rows)
    assert network.classes == tuple(sorted(set(labels)))
    check_rules(network, rows, lambda frame: run(graph, **feeds_of(frame))[0])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_logistic_regression(n_classes):
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    kind = "paper" if n_classes == 2 else "original"
    rows, labels = categories("contraception", labels=kind)
    rows = rows.iloc[:, :7]
    model = make_pipeline(OneHotEncoder(), LogisticRegression(max_iter=300))
    graph = exported(fitted(model, rows, labels), rows)
    network = read_network(graph, data=rows)
    assert len(network.classes) == n_classes
    check_rules(network, rows, lambda frame: run(graph, **feeds_of(frame))[0])


def raw_rows(name="contraception"):
    train, _ = datasets.raw(name)
    rows = pd.DataFrame(train.columns)[:1200]
    return rows, list(train.labels[:1200])


@pytest.mark.parametrize("scaler", ["StandardScaler", "MinMaxScaler"])
def test_columns_of_words_and_of_numbers(scaler):
    from sklearn import preprocessing
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline

    rows, labels = raw_rows()
    rows = rows.iloc[:, [0, 1, 2, 3, 6]].copy()
    numbers, words = list(rows.columns[[0, 3]]), list(rows.columns[[1, 2, 4]])
    rows[numbers] = (rows[numbers] // 4 * 4).astype(float)
    rows[words] = rows[words].astype(str)
    rows.loc[::7, numbers[0]] = np.nan
    scaled = make_pipeline(SimpleImputer(), getattr(preprocessing, scaler)())
    encoder = preprocessing.OneHotEncoder(drop="if_binary")
    steps = ColumnTransformer([("n", scaled, numbers), ("w", encoder, words)])
    model = fitted(make_pipeline(steps, mlp()), rows, labels)
    graph = exported(model, rows)
    ranges = read_network(graph, data=rows)
    assert [isinstance(f, Range) for f in ranges.domain.features] == [
        name in numbers for name in rows
    ]
    assert "probed" not in ranges.origin
    spread = rows.copy()
    rng, ends = np.random.default_rng(0), ranges.domain.feature(numbers[1]).limits
    spread[numbers[1]] = rng.uniform(*ends, len(rows))
    for some in (rows, spread):
        answers = run(graph, **feeds_of(some))[0]
        assert (ranges.predict(some) == answers).mean() > 0.99
    said = dict.fromkeys(numbers, "observed")
    network = read_network(graph, data=rows, domain=said)
    assert None in network.domain.features[0].values
    check_rules(network, rows, lambda frame: run(graph, **feeds_of(frame))[0])


def test_ordinal_encoder_and_double_precision():
    from skl2onnx import to_onnx
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder, StandardScaler

    rows, labels = categories("car")
    model = fitted(
        make_pipeline(OrdinalEncoder(), StandardScaler(), mlp()), rows, labels
    )
    check = to_onnx(model, rows[:1], target_opset=18)
    network = read_network(check, data=rows)
    check_rules(network, rows, lambda frame: run(check, **feeds_of(frame))[0])
    coded = pd.DataFrame(model[0].transform(rows), columns=rows.columns)
    array, options = coded[:1].to_numpy(), {"zipmap": False}
    double = to_onnx(model[1:], array, options=options, target_opset=18)
    network = read_network(double, data=coded)
    assert network.model_error < 1e-10
    check_rules(network, coded, lambda frame: run(double, X=frame.to_numpy())[0])


def test_numbers_as_labels():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    rows, labels = categories("car")
    numbers = [7 if label == "acc" else 3 for label in labels]
    graph = exported(fitted(make_pipeline(OneHotEncoder(), mlp()), rows, numbers), rows)
    network = read_network(graph, data=rows)
    assert network.classes == (3, 7)
    check_rules(network, rows, lambda frame: run(graph, **feeds_of(frame))[0])


def sequential():
    torch = pytest.importorskip("torch")
    nn = torch.nn
    torch.manual_seed(4)
    model = nn.Sequential(
        nn.Linear(8, 6),
        nn.BatchNorm1d(6),
        nn.SiLU(),
        nn.Dropout(),
        nn.Linear(6, 5),
        nn.Softplus(),
        nn.Linear(5, 5),
        nn.GELU(),
        nn.Linear(5, 4),
        nn.Hardtanh(),
        nn.Linear(4, 3),
        nn.Softmax(dim=1),
    )
    for _ in range(5):  # gives BatchNorm something to remember
        model(torch.randn(32, 8) * 2 + 1)
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(2)
    return model.eval()


def torch_export(model, arguments, path, *, dynamo, names, batch=True):
    import torch

    options = {}
    if batch and dynamo:
        size = torch.export.Dim("rows")
        options["dynamic_shapes"] = tuple({0: size} for _ in names)
    elif batch:
        options["dynamic_axes"] = {name: {0: "rows"} for name in names}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model,
            arguments,
            str(path),
            dynamo=dynamo,
            input_names=names,
            verbose=False,
            **options,
        )
    return load(path)


@pytest.mark.parametrize("dynamo", [True, False])
def test_torch_sequential(tmp_path, dynamo):
    import torch

    net = sequential()
    arguments, path = (torch.zeros(2, 8),), tmp_path / "net.onnx"
    model = torch_export(net, arguments, path, dynamo=dynamo, names=["x"])
    network = read_network(model, domain=DOMAIN)
    codes, x = one_hot()
    with torch.no_grad():
        scores = net[:-1](torch.tensor(x)).numpy()
    check_scores(network, codes, scores, share=0.8)
    frame = pd.DataFrame(DOMAIN.decode(codes))

    def labels_of(rows):
        made = np.zeros((len(rows), 8), dtype=np.float32)
        places = DOMAIN.encode(rows) + DOMAIN.offsets[:-1]
        np.put_along_axis(made, places, 1, axis=1)
        return run(model, x=made)[0].argmax(axis=1)

    check_rules(network, frame, labels_of, fragile=0.2)


@pytest.mark.parametrize(
    ("dynamo", "batch"), [(True, True), (False, True), (True, False)]
)
def test_torch_embeddings(tmp_path, dynamo, batch):
    torch = pytest.importorskip("torch")

    class Embedded(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.colour = torch.nn.Embedding(3, 2)
            self.size = torch.nn.Embedding(4, 2)
            self.first = torch.nn.Linear(5, 4)
            self.last = torch.nn.Linear(4, 1)

        def forward(self, colour, size, age):
            parts = [self.colour(colour), self.size(size), age.unsqueeze(-1)]
            joined = torch.cat([part.view(part.size(0), -1) for part in parts], dim=1)
            hidden = torch.relu(self.first(joined))
            return torch.sigmoid(self.last(hidden)).squeeze(-1)

    torch.manual_seed(1)
    net = Embedded().eval()
    words = [torch.zeros(2, dtype=torch.long) for _ in range(2)]
    model = torch_export(
        net,
        (*words, torch.zeros(2)),
        tmp_path / "net.onnx",
        dynamo=dynamo,
        names=["colour", "size", "age"],
        batch=batch,
    )
    rows = pd.DataFrame(
        list(product(range(3), range(4), [-1.0, 0.5, 2.0])),
        columns=["colour", "size", "age"],
    )
    plain = read_network(model, data=rows, classes=["no", "yes"])
    assert plain.domain.feature("age") == Feature.real("age", -1, 2)
    said = {"age": "observed"}
    network = read_network(model, data=rows, classes=["no", "yes"], domain=said)
    assert (plain.predict(rows) == network.predict(rows)).all()
    with torch.no_grad():
        share = (
            net(
                *(torch.tensor(rows[name].to_numpy()) for name in ("colour", "size")),
                torch.tensor(rows["age"].to_numpy(np.float32)),
            )
            .double()
            .numpy()
        )
    check_scores(network, network.domain.encode(rows), np.log(share / (1 - share)), 0.9)
    check_rules(network, rows, lookup(rows, np.where(share > 0.5, "yes", "no")))


def test_keras_export(tmp_path):
    os.environ.setdefault("KERAS_BACKEND", "torch")
    keras = pytest.importorskip("keras")
    if keras.backend.backend() != "torch":
        pytest.skip("only the torch backend exports to ONNX without tensorflow")
    keras.utils.set_random_seed(2)
    colour = keras.Input((1,), name="colour", dtype="int32")
    age = keras.Input((1,), name="age")
    table = keras.layers.Flatten()(keras.layers.Embedding(3, 2)(colour))
    hidden = keras.layers.Concatenate()([table, age])
    hidden = keras.layers.Dense(6, activation="silu")(hidden)
    hidden = keras.layers.BatchNormalization()(hidden)
    hidden = keras.layers.Dense(4, activation="tanh")(hidden)
    shares = keras.layers.Dense(3, activation="softmax")(hidden)
    net = keras.Model([colour, age], shares)
    rows = pd.DataFrame(
        list(product(range(3), [-2.0, -0.5, 1.0, 3.0])), columns=["colour", "age"]
    )
    arrays = [rows[["colour"]].to_numpy("i4"), rows[["age"]].to_numpy("f4")]
    shares = net(arrays).detach().numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        net.export(str(tmp_path / "net.onnx"), format="onnx", verbose=False)
    model = load(tmp_path / "net.onnx")
    ranges = read_network(model, data=rows)
    assert ranges.domain.feature("age") == Feature.real("age", -2, 3)
    network = read_network(model, data=rows, domain={"age": "observed"})
    scores = network.scores(rows)
    assert np.abs(scores - ranges.scores(rows)).max() <= 2 * ranges.model_error
    powers = np.exp(scores)
    assert np.allclose(powers / powers.sum(axis=1, keepdims=True), shares, atol=1e-6)
    check_rules(network, rows, lookup(rows, shares.argmax(axis=1)))


def test_a_wide_model():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    rng = np.random.default_rng(0)
    names = [f"question {i}" for i in range(14)]
    cells = rng.choice(list("abcdef"), size=(600, len(names)))
    rows = pd.DataFrame(cells, columns=names)
    labels = np.where((cells == "a").sum(axis=1) > 2, "many", "few")
    model = make_pipeline(OneHotEncoder(), mlp(hidden_layer_sizes=(4,), max_iter=25))
    graph = exported(fitted(model, rows, labels), rows)
    network = read_network(graph, data=rows)
    assert network.domain.n_inputs > 10**10
    some = rows[:200]
    rules = extract(network, data=some, scope="support")
    theirs = run(graph, **feeds_of(some))[0]
    firm = margin(network, network.scores(some)) > 2 * network.model_error
    assert firm.mean() > 0.95
    assert (rules.predict(some)[firm] == theirs[firm]).all()


@pytest.mark.parametrize("labels", ["paper", "original"])
def test_linear_support_vector_machine(labels):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.svm import LinearSVC

    rows, answers = categories("car", labels=labels)
    model = fitted(make_pipeline(OneHotEncoder(), LinearSVC()), rows, answers)
    graph = exported(model, rows, options={id(model[-1]): {}})
    network = read_network(graph, data=rows)
    check_rules(network, rows, lambda frame: run(graph, **feeds_of(frame))[0])


# Mistakes ------------------------------------------------------------------------

ROW_AXES = {"axis": np.array([0]), "flat": np.array([1, -1])}
REFUSED = {
    "an operator": (
        [node("Softsign", "h", "g", name="soft")],
        {},
        "the ONNX node 'soft' is a Softsign; once features are combined, nn2rules "
        "reads dense layers",
    ),
    "no name": ([node("Softsign", "h", "g")], {}, "the ONNX node for 'g' is a"),
    "an article": ([node("Abs", "h", "g")], {}, "is an Abs"),
    "ONNX's own slope": ([node("HardSigmoid", "h", "g")], {}, "alpha is 0.2; .*0.166"),
    "Elu": (
        [node("Elu", "h", "g", alpha=2.0)],
        {},
        "its alpha is 2; nn2rules reads an ELU with alpha=1",
    ),
    "Clip": (
        [node("Clip", "h low high", "g")],
        {"low": np.float32(2), "high": np.float32(2)},
        "its limits are 2.0 and 2.0",
    ),
    "slopes": (
        [node("PRelu", "h s", "g")],
        {"s": np.array([0.1, 0.2, 0.3, 0.4], "f4")},
        "different slopes",
    ),
    "a product": ([node("Mul", "h h", "g")], {}, "multiplies two numbers"),
    "a quotient": (
        [node("Div", "B1 h", "g")],
        {},
        "divides by a number that depends on the input",
    ),
    "zero": (
        [node("Div", "h zero", "g")],
        {"zero": np.zeros(4, "f4")},
        "divides by zero",
    ),
    "rounding": (
        [
            node("Cast", "h", "i", to=TensorProto.INT64),
            node("Cast", "i", "g", to=TensorProto.FLOAT),
        ],
        {},
        "rounds numbers to integers once features",
    ),
    "a softmax inside": ([node("Softmax", "h", "g")], {}, "result of a softmax"),
    "some shares": (
        [node("Softmax", "h", "s"), node("Gather", "s places", "g", axis=1)],
        {"places": np.array([1, 1, 2, 2])},
        "selects or reorders results of a softmax",
    ),
    "Log": ([node("Log", "h", "g")], {}, "reads Log only directly after Softmax"),
    "Max": ([node("Max", "h B1", "g")], {}, "maximum of a number and 0"),
    "a shortcut": (
        [node("Tanh", "h", "t"), node("Add", "h t", "g")],
        {},
        "ONNX node for 'g', an Add, cannot be read: .* shortcut",
    ),
    "rows summed": (
        [node("ReduceSum", "h axis", "s"), node("Add", "h s", "g")],
        ROW_AXES,
        "sums over the rows of a batch",
    ),
    "rows against columns": (
        [node("ReduceSum", "h axis", "s", keepdims=0), node("Add", "h s", "g")],
        {"axis": np.array([1])},
        "combines rows of a batch",
    ),
    "rows turned": (
        [node("Transpose", "h", "t"), node("Transpose", "t", "g")],
        {},
        "combines rows of a batch",
    ),
    "rows joined": (
        [node("Reshape", "h flat", "f"), node("Softsign", "f", "g")],
        ROW_AXES,
        "combines rows of a batch",
    ),
    "rows as weights": (
        [node("MatMul", "M h", "g")],
        {},
        "rows of the input as weights",
    ),
    "weights from rows": ([node("MatMul", "h h", "g")], {}, "weights depend on the"),
    "Gemm turned": (
        [node("Gemm", "h M", "g", transA=1)],
        {},
        "combines rows of a batch",
    ),
    "Normalizer": (
        [ml("Normalizer", "h", "g", norm="L1")],
        {},
        "divides each row by its",
    ),
    "training": (
        [node("BatchNormalization", "h B1 B1 B1 v", "g a b", training_mode=1)],
        {"v": np.ones(4, "f4")},
        "after model.eval",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_operators(name):
    nodes, constants, message = REFUSED[name]
    model = layered(nodes, {"M": W2 @ W2.T, **constants})
    with pytest.raises(UnsupportedModelError, match=message) as caught:
        read_network(model, domain=DOMAIN)
    assert "\n" not in str(caught.value)


def test_gelu_by_tanh_is_refused():
    model = layered([node("Gelu", "h", "g", approximate="tanh")], {}, 20)
    with pytest.raises(UnsupportedModelError, match="tanh approximation"):
        read_network(model, domain=DOMAIN)


def test_convolution_is_refused():
    model = model_of(
        [
            node("Unsqueeze", "x axis", "u"),
            node("Conv", "u K", "c", name="conv1"),
            node("Flatten", "c", "f"),
            node("Gemm", "f W B2", "y"),
        ],
        {
            "axis": np.array([1]),
            "K": np.ones((1, 1, 3), "f4"),
            "W": np.ones((6, 3), "f4"),
            "B2": B2,
        },
    )
    message = "the ONNX node 'conv1' is a Conv. The model is for images or sequences; "
    with pytest.raises(UnsupportedModelError, match=message):
        read_network(model, domain=DOMAIN)


def test_an_image_network_is_refused_before_its_columns_are_counted():
    nodes = [
        node("Conv", "x K", "c", name="conv1"),
        node("Flatten", "c", "f"),
        node("Gemm", "f W B2", "y"),
    ]
    arrays = {"K": np.ones((1, 1, 3, 3), "f4"), "W": np.ones((36, 3), "f4"), "B2": B2}
    image = tensor("x", shape=(None, 1, 8, 8))
    model = model_of(nodes, arrays, inputs=[image])
    with pytest.raises(UnsupportedModelError, match="for images or sequences"):
        read_network(model, data=[{"a": 0, "b": 1}, {"a": 1, "b": 0}])


def test_bfloat16_is_refused_by_name():
    model = headed([node("Gemm", "g W2 B2", "y")], [tensor("y", shape=(None, 3))])
    for item in model.graph.initializer:
        item.CopyFrom(
            helper.make_tensor(
                item.name,
                TensorProto.BFLOAT16,
                item.dims,
                onnx.numpy_helper.to_array(item).reshape(-1).tolist(),
            )
        )
    with pytest.raises(UnsupportedModelError, match=r"bfloat16 numbers; .*float32"):
        read_network(model, domain=DOMAIN)


def test_trees_are_refused():
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    rows, labels = categories("car", 200)
    model = make_pipeline(OneHotEncoder(), RandomForestClassifier(3))
    graph = exported(fitted(model, rows, labels), rows)
    with pytest.raises(
        UnsupportedModelError, match=r"TreeEnsembleClassifier. .* trees"
    ):
        read_network(graph, data=rows)


def test_several_questions_are_refused():
    shape = [tensor("p", shape=(None, 3))]
    nodes = [node("Gemm", "g W2 B2", "z"), node("Sigmoid", "z", "p")]
    with pytest.raises(UnsupportedModelError, match="3 sigmoid units"):
        read_network(headed(nodes, shape), domain=DOMAIN)
    nodes = [
        node("Gemm", "g W2 B2", "z"),
        node("Split", "z", "a b c", axis=1, num_outputs=3),
        *(node("Sigmoid", name, f"s{name}") for name in "abc"),
        node("Concat", "sa sb sc", "p", axis=1),
    ]
    with pytest.raises(UnsupportedModelError, match="3 separate sigmoids"):
        read_network(headed(nodes, shape), domain=DOMAIN)


def test_a_number_or_a_score():
    nodes = [node("Gemm", "g W2 B2", "z")]
    model = headed(nodes, [tensor("z", shape=(None, 1))], ONE)
    with pytest.raises(
        UnsupportedModelError, match=r"as regression models do; .* output='score'"
    ):
        read_network(model, domain=DOMAIN)
    network = read_network(model, domain=DOMAIN, classes=["no", "yes"], output="score")
    check_scores(network, one_hot()[0], run(model, x=one_hot()[1])[0][:, 0])


def test_labels_that_do_not_follow_the_scores():
    nodes = [
        *SIGMOID,
        node("Greater", "p limit", "is"),
        node("Cast", "is", "label", to=TensorProto.INT64),
    ]
    outputs = [
        tensor("label", TensorProto.INT64, (None, 1)),
        tensor("p", shape=(None, 1)),
    ]
    shares = 1 / (1 + np.exp(-scores_of(headed(SIGMOID, outputs[1:], ONE))))
    limit = np.float32(np.median(shares) + 0.02)
    model = headed(nodes, outputs, {**ONE, "limit": limit})
    with pytest.raises(UnsupportedModelError, match="does not show its labels"):
        read_network(model, domain=DOMAIN)
    with pytest.raises(
        UnsupportedModelError, match="label does not follow from its scores"
    ):
        read_network(model, domain=DOMAIN, classes=[0, 1])


def test_several_outputs():
    nodes = [node("Gemm", "g W2 B2", "z"), node("Softmax", "z", "p")]
    shape = (None, 3)
    model = headed(nodes, [tensor("z", shape=shape), tensor("p", shape=shape)])
    with pytest.raises(UnsupportedModelError, match=r"several outputs \('z', 'p'\)"):
        read_network(model, domain=DOMAIN)


def mixed_rows(**changes):
    rows = [
        dict(zip(MIXED.names, row, strict=True))
        for row in product(*(feature.values for feature in MIXED.features))
    ]
    return pd.DataFrame(rows).assign(**changes)


def test_a_renamed_column():
    rows = mixed_rows().rename(columns={"age": "years"})
    message = (
        "input 'age', but no column has this name; the columns are 'colour', 'years'"
    )
    with pytest.raises(UnsupportedModelError, match=message):
        read_network(apart("OneHotEncoder"), data=rows)


def test_words_where_numbers_are_needed():
    message = "takes numbers, but feature 'age' has categories such as 'old'"
    with pytest.raises(UnsupportedModelError, match=message):
        read_network(apart("OneHotEncoder"), data=mixed_rows(age="old"))


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (0.5, "'children': the model does not accept the value '0.5' .*takes integers"),
        (None, "'children' has missing values, which the model does not accept"),
    ],
)
def test_integers(number, message):
    rows = mixed_rows().astype({"children": object})
    rows.loc[3, "children"] = number
    with pytest.raises(UnsupportedModelError, match=message):
        read_network(apart("OneHotEncoder"), data=rows)


def test_missing_numbers_without_an_imputer():
    model = model_of(
        [
            AS_FLOATS,
            node("Concat", "age many", "f", axis=1),
            node("Gemm", "f W B2", "y"),
        ],
        {"W": W2[:2], "B2": B2},
        COLUMNS[1:],
    )
    message = "'age' has missing values, and the model has no step that fills"
    with pytest.raises(UnsupportedModelError, match=message):
        read_network(model, data=mixed_rows())


def test_a_category_that_the_model_does_not_know():
    model = model_of(
        [
            ml("OneHotEncoder", "x", "hot", cats_strings=["red", "green"], zeros=0),
            node("Flatten", "hot", "f"),
            node("Gemm", "f W B2", "y"),
        ],
        {"W": W2[:2], "B2": B2},
        [tensor("x", TensorProto.STRING, (None, 1))],
    )
    for value, message in (
        ("blue", "value 'blue' .Unknown"),
        (None, "'x' has missing values"),
    ):
        domain = Domain((Feature("x", ("red", "green", value)),))
        with pytest.raises(UnsupportedModelError, match=message):
            read_network(model, domain=domain)


def test_what_is_no_model(tmp_path):
    with pytest.raises(UnsupportedModelError, match=r"onnx.GraphProto is not a whole"):
        read_network(apart("OneHotEncoder").graph, domain=MIXED)
    with pytest.raises(UnsupportedModelError, match="not a valid ONNX model"):
        prepare(onnx.ModelProto())


def test_old_and_foreign_operators():
    model = layered(BETWEEN["Relu"])
    model.opset_import[0].version = 6
    with pytest.raises(UnsupportedModelError, match="opset 6; nn2rules reads opset 7"):
        read_network(model, domain=DOMAIN)
    model = layered(BETWEEN["Relu"])
    model.graph.node[1].domain = "own"
    model.opset_import.append(helper.make_opsetid("own", 1))
    with pytest.raises(UnsupportedModelError, match=r"is an? own\.Relu"):
        read_network(model, domain=DOMAIN)


def test_functions_of_the_model():
    """Exporters may write a layer as a function, called by its name."""
    body = [node("MatMul", "a w", "m"), node("Relu", "m", "r")]
    opset = helper.make_opsetid("", 18)
    layer = helper.make_function("own", "Layer", ["a", "w"], ["r"], body, [opset])
    graph = helper.make_graph(
        [
            node("Layer", "x W1", "g", domain="own"),
            node("MatMul", "g W2", "y"),
        ],
        "test",
        [tensor("x")],
        [tensor("y", shape=(None, 3))],
        [numpy_helper.from_array(a, n) for n, a in {"W1": W1, "W2": W2}.items()],
    )
    opsets = [opset, helper.make_opsetid("own", 1)]
    model = helper.make_model(
        graph, opset_imports=opsets, ir_version=9, functions=[layer]
    )
    network = read_network(model, domain=DOMAIN)
    check_scores(network, one_hot()[0], run(model, x=one_hot()[1])[0], share=0.9)


def test_a_vector_without_rows():
    model = model_of(
        [node("Add", "x b", "y")],
        {"b": B1[:1]},
        [tensor("x", shape=(8,))],
        [tensor("y", shape=(8,))],
    )
    with pytest.raises(UnsupportedModelError, match="input 'x' has no dimension for"):
        read_network(model, domain=DOMAIN)


def vector_model(*, left=True, last=(), width=4):
    """Return a model that takes one row as a vector, and the same one for rows."""
    rng = np.random.default_rng(2)
    shapes = [(7, width), (7,), (3, 7), (3,)]
    numbers = [rng.normal(size=shape).astype(np.float32) for shape in shapes]
    if not left:
        numbers = [n.T for n in numbers]
    constants = dict(zip(("V", "b", "W", "c"), numbers, strict=True))

    def product(matrix, vector, made):
        inputs = f"{matrix} {vector}" if left else f"{vector} {matrix}"
        return node("MatMul", inputs, made)

    nodes = [
        *(product("V", "x", "m"), node("Add", "m b", "h")),
        *(node("Relu", "h", "r"), product("W", "r", "n")),
        *(node("Add", "n c", "y"), *last),
    ]
    return model_of(
        nodes, constants, [tensor("x", shape=(width,))], [tensor("y", shape=(3,))]
    )


@pytest.mark.parametrize("left", [True, False])
def test_models_of_one_vector_are_read_row_by_row(left):
    model = vector_model(left=left)
    domain = {f"x{index}": (-1.0, 1.0) for index in range(4)}
    network = read_network(model, domain=domain)
    vectors = np.random.default_rng(3).uniform(-1, 1, (200, 4)).astype(np.float32)
    rows = [dict(zip(domain, vector, strict=True)) for vector in vectors.tolist()]
    theirs = np.stack([run(model, x=vector)[0] for vector in vectors])
    ours = network.scores(rows)
    assert np.abs(ours - theirs).max() <= network.model_error
    settled = np.diff(np.sort(theirs))[:, -1] > 4 * network.model_error
    assert settled.mean() > 0.9
    predicted = np.asarray(network.predict(rows))
    assert (predicted == theirs.argmax(axis=1))[settled].all()


def test_steps_between_the_entries_of_one_vector_are_refused():
    last = [node("Softmax", "y", "z", axis=0)]
    with pytest.raises(UnsupportedModelError, match="has no dimension for rows"):
        read_network(
            vector_model(last=last), domain={f"x{i}": (-1, 1) for i in range(4)}
        )


def test_files(tmp_path):
    model, path = apart("OneHotEncoder"), tmp_path / "model.onnx"
    data = model.SerializeToString()
    path.write_bytes(data)
    assert load(path) == model
    broken = {
        "damaged, or is not an ONNX model": data[: len(data) // 2],
        "is damaged, or": b"age,colour,label\n31,red,yes\n",
        "not a valid ONNX model": b"",
    }
    for message, content in broken.items():
        path.write_bytes(content)
        with pytest.raises(FormatError, match=message) as caught:
            load(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)
    with pytest.raises(FormatError, match="there is no such file"):
        load(tmp_path / "none.onnx")
    with pytest.raises(FormatError, match="this is a folder"):
        load(tmp_path)


def test_every_truncated_file_is_refused(tmp_path):
    data, path = apart("OneHotEncoder").SerializeToString(), tmp_path / "model.onnx"
    for size in range(0, len(data), 37):
        path.write_bytes(data[:size])
        with pytest.raises(FormatError):
            load(path)


def test_numbers_in_a_second_file(tmp_path):
    path, second = tmp_path / "model.onnx", tmp_path / "model.onnx.data"
    model = layered(BETWEEN["Relu"])
    onnx.save_model(
        model, path, save_as_external_data=True, location=second.name, size_threshold=0
    )
    network = read_network(load(path), domain=DOMAIN)
    check_scores(
        network, one_hot()[0], run(layered(BETWEEN["Relu"]), x=one_hot()[1])[0]
    )
    unread = onnx.load(path, load_external_data=False)
    with pytest.raises(UnsupportedModelError, match="are in another file"):
        read_network(unread, domain=DOMAIN)
    second.unlink()
    with pytest.raises(FormatError, match=r"second file, 'model.onnx.data', which is"):
        load(path)


def test_a_huge_model(tmp_path):
    stored = onnx.TensorProto(name="W1", data_type=1, dims=[8, 10**9])
    model = layered(BETWEEN["Relu"])
    model.graph.initializer[0].CopyFrom(stored)
    with pytest.raises(UnsupportedModelError, match="8,000,000,019 parameters"):
        prepare(model)
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(FormatError, match="8,000,000,019 parameters"):
        load(tmp_path / "model.onnx")


def test_the_model_is_not_changed():
    model = apart("curves of several columns")
    before = model.SerializeToString()
    read_network(model, domain=MIXED)
    assert model.SerializeToString() == before


def test_every_operator_is_tried():
    """Each operator that can be read where features have met is in some graph above."""
    nodes = [n for entry in BETWEEN.values() for n in parts(entry)[0]]
    nodes += [n for entry in ANSWERS.values() for n in entry[0]]
    tried = {n.op_type for n in nodes} | {"Gemm", "LinearClassifier"}
    assert HANDLERS.keys() - tried == {"Silu"}  # a pattern of several nodes


def bomb(nodes, constants=(), functions=(), weights="W", sparse=()):
    """Return a small model with further nodes; `weights` names what it multiplies."""
    nodes = [
        *nodes,
        helper.make_node("MatMul", ["X", weights], ["h"]),
        helper.make_node("Sigmoid", ["h"], ["Y"]),
    ]
    first = numpy_helper.from_array(np.array([[1.0], [2.0]], np.float32), "W")
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("X", TensorProto.FLOAT, [None, 2])],
        [helper.make_tensor_value_info("Y", TensorProto.FLOAT, [None, 1])],
        [first, *(numpy_helper.from_array(a, name) for name, a in constants)],
        sparse_initializer=list(sparse),
    )
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]
    return helper.make_model(
        graph, opset_imports=sets, ir_version=9, functions=list(functions)
    )


def numbers(*items, kind=np.int64):
    return np.array(items, kind)


GROWING = {
    "ConstantOfShape": (["s"], [("s", numbers(2, 3_000_000_000))], {}),
    "Expand": (["W", "s"], [("s", numbers(2, 3_000_000_000))], {}),
    "Tile": (["W", "s"], [("s", numbers(1, 3_000_000_000))], {}),
    "Pad": (["W", "s"], [("s", numbers(0, 0, 0, 3_000_000_000))], {}),
    "OneHot": (
        ["i", "s", "v"],
        [
            ("i", numbers(0, 1)),
            ("s", numbers(3_000_000_000)),
            ("v", numbers(0, 1, kind=np.float32)),
        ],
        {},
    ),
}


@pytest.mark.parametrize("op", GROWING)
def test_no_array_of_any_size_is_made_of_a_few_numbers(op):
    names, constants, options = GROWING[op]
    step = helper.make_node(op, names, ["big"], **options)
    with pytest.raises(UnsupportedModelError, match=f"a {op}, makes [0-9,]+ numbers"):
        read_network(bomb([step], constants, weights="big"), data=ROWS)


def test_steps_that_nothing_needs_are_not_run():
    step = helper.make_node("ConstantOfShape", ["s"], ["big"])
    model = bomb([step], [("s", numbers(3_000_000_000))])
    assert read_network(model, data=ROWS).classes == (0, 1)


def test_functions_that_multiply_are_counted_before_they_are_inlined():
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]

    def function(name, *called):
        names = ["a", *(f"t{i}" for i in range(len(called) - 1)), "b"]
        nodes = [
            helper.make_node(
                op, [names[i]], [names[i + 1]], domain="" if op == "Relu" else "f"
            )
            for i, op in enumerate(called)
        ]
        return helper.make_function("f", name, ["a"], ["b"], nodes, sets)

    made = [function("F0", "Relu")]
    made += [function(f"F{k}", f"F{k - 1}", f"F{k - 1}") for k in range(1, 40)]
    call = helper.make_node("F39", ["X"], ["z"], domain="f")
    with pytest.raises(UnsupportedModelError, match="more than 100,000 nodes once its"):
        read_network(bomb([call], functions=made), data=ROWS)
    few = helper.make_node("F3", ["X"], ["z"], domain="f")
    assert read_network(bomb([few], functions=made[:4]), data=ROWS).classes == (0, 1)


def test_sparse_numbers_count_as_many_as_they_stand_for():
    one = numpy_helper.from_array(np.array([1.0], np.float32), "sparse")
    place = numpy_helper.from_array(np.array([0], np.int64), "places")
    sparse = helper.make_sparse_tensor(one, place, [3_000_000_000])
    with pytest.raises(UnsupportedModelError, match=r"3,000,000,00\d parameters"):
        read_network(bomb([], sparse=[sparse]), data=ROWS)


ROWS = pd.DataFrame({"a": [1, 3, 0], "b": [2, 4, 1]})
