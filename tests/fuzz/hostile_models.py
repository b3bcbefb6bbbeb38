"""Small model files that would need much memory: ONNX, Keras and skops."""

import io
import json
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from onnx import TensorProto, helper, numpy_helper

from fuzz.networks import pick

ROWS = "a,b\n1,2\n3,4\n0,1\n2,2\n"
WORD_ROWS = "a,b\nred fox,2\nblue cat,4\nred,1\nblue,2\n"
SIZES = (3, 1000, 10**5, 10**6, 3 * 10**7, 10**8, 10**9, 2**62)


def size(rng: Generator) -> int:
    """Return a number that is large, or just below a limit."""
    return int(pick(rng, SIZES)) + int(rng.integers(-2, 3))


def _extract(rng: Generator, folder: Path, name: str, rows: str = ROWS) -> list[str]:
    (folder / "rows.csv").write_text(rows)
    command = pick(rng, ["extract", "extract", "audit", "compare"])
    if command == "compare":
        return ["compare", name, name, "--data", "rows.csv", "--time", "5"]
    return [command, name, "--data", "rows.csv", "--time", "5"]


# ONNX


class Graph:
    """Nodes and constants of an ONNX graph in the making."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.functions: list[Any] = []

    def constant(self, values: Any, kind: Any = np.int64) -> str:
        """Store an array, and return its name."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(values, kind), name))
        return name

    def node(self, kind: str, *inputs: str, **options: Any) -> str:
        """Add a node with one output, and return the name of that."""
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **options))
        return name


def onnx_file(rng: Generator, folder: Path) -> list[str]:
    """Write an ONNX model whose steps, or whose declared sizes, are large."""
    graph = Graph()
    scores, width = "X", 2
    for _ in range(int(rng.integers(1, 4))):
        scores, width = pick(rng, STEPS)(rng, graph, scores, width)
    weights = _fill(graph, graph.constant([width, 1]), 1.0)
    graph.node("MatMul", scores, weights)
    graph.nodes[-1].output[0] = "h"
    graph.nodes.append(helper.make_node("Sigmoid", ["h"], ["Y"]))
    outputs = [helper.make_tensor_value_info("Y", TensorProto.FLOAT, [None, 1])]
    if not rng.integers(3):
        outputs.append(_label(rng, graph))
    given = pick(rng, [2, 2, 2, 2, 2, 2, 2, None, size(rng)])
    made = helper.make_graph(
        graph.nodes,
        "g",
        [helper.make_tensor_value_info("X", TensorProto.FLOAT, [None, given])],
        outputs,
        graph.constants,
    )
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]
    model = helper.make_model(
        made, opset_imports=domains, ir_version=9, functions=graph.functions
    )
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    return _extract(rng, folder, "model.onnx")


def _label(rng: Generator, graph: Graph) -> Any:
    """Add a label that takes much to make."""
    place = graph.node("ArgMax", "Y", axis=1, keepdims=0)
    shape = graph.constant([size(rng)])
    made = pick(
        rng,
        [
            lambda: graph.node("Expand", place, shape),
            lambda: graph.node("Tile", place, shape),
            lambda: graph.node("OneHot", place, shape, graph.constant([0, 1])),
        ],
    )()
    axes = graph.constant([0])
    total = graph.node("ReduceSum", made, axes, keepdims=0)
    graph.node("Add", place, total)
    graph.nodes[-1].output[0] = "L"
    return helper.make_tensor_value_info("L", TensorProto.INT64, [None])


Made = tuple[str, int]
"""A tensor of rows: its name, and how many numbers a row of it has."""


def _fill(graph: Graph, shape: str, number: float = 0.0) -> str:
    value = helper.make_tensor("v", TensorProto.FLOAT, [1], [number])
    return graph.node("ConstantOfShape", shape, value=value)


def _add_all(graph: Graph, x: str, made: str) -> str:
    """Add one number to a tensor for which all of another have to be there."""
    return graph.node("Add", x, graph.node("ReduceMax", made, keepdims=0))


def _constant_of_shape(rng: Generator, graph: Graph, x: str, width: int) -> Made:
    dims = [size(rng)] if rng.integers(2) else [1000, size(rng) // 1000]
    return _add_all(graph, x, _fill(graph, graph.constant(dims))), width


def _range(rng: Generator, graph: Graph, x: str, width: int) -> Made:
    ends = [graph.constant(n, np.float32) for n in (0, size(rng), 1)]
    made = graph.node("Range", *ends)
    return graph.node("Add", x, graph.node("ReduceMin", made, keepdims=0)), width


def _tile(rng: Generator, graph: Graph, x: str, width: int) -> Made:
    n = size(rng)
    return graph.node("Tile", x, graph.constant([1, n])), width * n


def _tiled_constants(rng: Generator, graph: Graph, x: str, width: int) -> Made:
    made = graph.constant([0.0], np.float32)
    for _ in range(int(rng.integers(1, 9))):
        made = graph.node("Tile", made, graph.constant([pick(rng, [10, 100])]))
        x = _add_all(graph, x, made)
    return x, width


def _expand(rng: Generator, graph: Graph, x: str, width: int) -> Made:
    n = size(rng)
    wide = graph.node("Unsqueeze", x, graph.constant([2]))
    wide = graph.node("Expand", wide, graph.constant([1, 1, n]))
    return graph.node("Reshape", wide, graph.constant([0, -1])), width * n


def _pad(rng: Generator, graph: Graph, x: str, width: int) -> Made:
    n = size(rng)
    return graph.node("Pad", x, graph.constant([0, 0, 0, n])), width + n


def _resize(rng: Generator, graph: Graph, x: str, width: int) -> Made:
    n = size(rng)
    scales = graph.constant([1.0, float(n)], np.float32)
    return graph.node("Resize", x, "", scales, mode="nearest"), width * n


def _concat(rng: Generator, graph: Graph, x: str, width: int) -> Made:
    for _ in range(int(rng.integers(2, 40))):
        x, width = graph.node("Concat", x, x, axis=1), 2 * width
    return x, min(width, 2**62)


def _dense(rng: Generator, graph: Graph, x: str, width: int) -> Made:
    n = size(rng)
    weights = _fill(graph, graph.constant([width, n]), 0.5)
    return graph.node("Relu", graph.node("MatMul", x, weights)), n


def _stored_dense(rng: Generator, graph: Graph, x: str, width: int) -> Made:
    n = int(pick(rng, [100, 10**4, 10**5]))
    weights = graph.constant(np.ones((min(width, 100), n)), np.float32)
    return graph.node("Relu", graph.node("MatMul", x, weights)), n


def _gather(rng: Generator, graph: Graph, x: str, width: int) -> Made:
    n = size(rng)
    places = graph.node("Cast", _fill(graph, graph.constant([n])), to=TensorProto.INT64)
    return graph.node("Gather", x, places, axis=1), n


def _functions(rng: Generator, graph: Graph, x: str, width: int) -> Made:
    if graph.functions:
        return x, width
    depth = int(rng.integers(1, 60))
    inner = pick(rng, ["Relu", "F0", f"F{depth}"])
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]
    for index in range(depth + 1):
        name = f"F{index - 1}" if index else inner
        domain = "f" if name.startswith("F") else ""
        nodes = [
            helper.make_node(name, ["a"], ["t"], domain=domain),
            helper.make_node(name, ["t"], ["b"], domain=domain),
        ]
        graph.functions.append(
            helper.make_function("f", f"F{index}", ["a"], ["b"], nodes, domains)
        )
    return graph.node(f"F{depth}", x, domain="f"), width


def _loop(rng: Generator, graph: Graph, x: str, width: int) -> Made:
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["more"], ["again"]),
            helper.make_node("Concat", ["old", "old"], ["wide"], axis=0),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("more", TensorProto.BOOL, []),
            helper.make_tensor_value_info("old", TensorProto.FLOAT, None),
        ],
        [
            helper.make_tensor_value_info("again", TensorProto.BOOL, []),
            helper.make_tensor_value_info("wide", TensorProto.FLOAT, None),
        ],
    )
    times, more = graph.constant(size(rng)), graph.constant(True, np.bool_)
    start = graph.constant([0.0], np.float32)
    made = graph.node("Loop", times, more, start, body=body)
    return _add_all(graph, x, made), width


def _branch(rng: Generator, graph: Graph, x: str, width: int) -> Made:
    value = helper.make_tensor("v", TensorProto.FLOAT, [1], [0.0])
    bodies = []
    for name in ("yes", "no"):
        dims = helper.make_tensor("d", TensorProto.INT64, [1], [size(rng)])
        nodes = [
            helper.make_node("Constant", [], [f"{name}_dims"], value=dims),
            helper.make_node("ConstantOfShape", [f"{name}_dims"], [name], value=value),
        ]
        output = helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
        bodies.append(helper.make_graph(nodes, name, [], [output]))
    test = graph.constant(True, np.bool_)
    made = graph.node("If", test, then_branch=bodies[0], else_branch=bodies[1])
    return _add_all(graph, x, made), width


def _declared(rng: Generator, graph: Graph, x: str, width: int) -> Made:
    tensor = numpy_helper.from_array(
        np.zeros(1, np.float32), f"c{len(graph.constants)}"
    )
    tensor.dims[:] = pick(
        rng, [[size(rng)], [size(rng), size(rng)], [-1], [0, size(rng)]]
    )
    if rng.integers(2):
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        place = pick(rng, ["/dev/zero", "../x", "x.bin", "model.onnx", "rows.csv", ""])
        for key, value in (("location", place), ("length", str(size(rng)))):
            tensor.external_data.add(key=key, value=value)
    graph.constants.append(tensor)
    return graph.node("Add", x, tensor.name), width


def _sparse(rng: Generator, graph: Graph, x: str, width: int) -> Made:
    values = helper.make_tensor("", TensorProto.FLOAT, [1], [0.0])
    places = helper.make_tensor("", TensorProto.INT64, [1], [0])
    made = helper.make_sparse_tensor(values, places, [size(rng)])
    name = f"n{len(graph.nodes)}"
    graph.nodes.append(helper.make_node("Constant", [], [name], sparse_value=made))
    return _add_all(graph, x, name), width


STEPS: tuple[Callable[[Generator, Graph, str, int], Made], ...] = (
    *(_constant_of_shape, _range, _tile, _tiled_constants, _expand, _pad, _resize),
    *(
        _concat,
        _dense,
        _stored_dense,
        _gather,
        _functions,
        _loop,
        _branch,
        _declared,
        _sparse,
    ),
)


# Keras


@cache
def _keras_layers() -> dict[str, bytes]:
    """Return the files of a small model, as Keras writes them."""
    import os
    import tempfile

    os.environ.setdefault("KERAS_BACKEND", "torch")
    import keras

    model = keras.Sequential(
        [
            keras.layers.Input((2,)),
            keras.layers.Dense(3, activation="relu"),
            keras.layers.Dense(1, activation="sigmoid"),
        ]
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.keras")
        model.save(path)
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}


def keras_file(rng: Generator, folder: Path) -> list[str]:
    """Write a Keras model whose configuration describes large layers."""
    files = dict(_keras_layers())
    config = json.loads(files["config.json"])
    layers = config["config"]["layers"]
    dense = layers[1]
    for _ in range(int(rng.integers(1, 3))):
        layers.insert(int(rng.integers(1, len(layers))), _layer(rng, dense))
    if not rng.integers(3):
        layers[0]["config"]["batch_shape"] = [None, size(rng)]
    if not rng.integers(4):
        dense["config"]["units"] = size(rng)
    if not rng.integers(4):
        inner = {**config, "config": {**config["config"], "name": "inner"}}
        layers.insert(1, json.loads(json.dumps(inner)))
    files["config.json"] = json.dumps(config).encode()
    if not rng.integers(6):
        files["model.weights.h5"] = _sparse_weights(size(rng))
    with zipfile.ZipFile(folder / "model.keras", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return _extract(rng, folder, "model.keras")


def _layer(rng: Generator, dense: Any) -> Any:
    n = size(rng)
    small = int(rng.integers(2, 3000))
    kinds: list[tuple[str, dict[str, Any]]] = [
        ("RepeatVector", {"n": n}),
        ("Reshape", {"target_shape": [n]}),
        ("Embedding", {"input_dim": n, "output_dim": small}),
        ("Embedding", {"input_dim": small, "output_dim": small * small}),
        ("UpSampling1D", {"size": n}),
        ("ZeroPadding1D", {"padding": [n, n]}),
        ("CategoryEncoding", {"num_tokens": n, "output_mode": "multi_hot"}),
        ("Hashing", {"num_bins": n, "output_mode": "one_hot"}),
        ("Discretization", {"bin_boundaries": [0.0] * small, "output_mode": "one_hot"}),
        (
            "IntegerLookup",
            {"max_tokens": n, "vocabulary": [1, 2], "output_mode": "one_hot"},
        ),
        ("StringLookup", {"vocabulary": ["a"], "num_oov_indices": n}),
        ("Dense", {**dense["config"], "units": n, "name": "wide"}),
        ("Dense", {**dense["config"], "units": small * 10, "name": "wider"}),
        ("LSTM", {"units": n}),
        ("MultiHeadAttention", {"num_heads": small, "key_dim": n}),
        ("GaussianNoise", {"stddev": 0.1, "seed": n}),
        ("EinsumDense", {"equation": "ab,bc->ac", "output_shape": [n]}),
        ("TextVectorization", {"max_tokens": n, "output_sequence_length": n}),
        ("RandomFourierFeatures", {"output_dim": n}),
    ]
    kind, options = kinds[int(rng.integers(len(kinds)))]
    return {
        "module": "keras.layers",
        "class_name": kind,
        "config": {"name": f"extra{int(rng.integers(10**6))}", **options},
        "registered_name": None,
    }


def _sparse_weights(n: int) -> bytes:
    """Return a file of weights that holds a large array of which nothing is stored."""
    import h5py

    stream = io.BytesIO()
    with h5py.File(stream, "w") as store:
        shape = (min(n, 2**40), 2)
        store.create_dataset("layers/dense/vars/0", shape, "f4", chunks=(1, 2))
    return stream.getvalue()


# scikit-learn


def skops_file(rng: Generator, folder: Path) -> list[str]:
    """Write a fitted pipeline, then give its steps options that make wide tables."""
    import skops.io

    model, is_text = _pipeline(rng)
    for step in _steps(model):
        for name, value in _options(rng, step):
            if hasattr(step, name):
                setattr(step, name, value)
    skops.io.dump(model, folder / "model.skops")
    return _extract(rng, folder, "model.skops", WORD_ROWS if is_text else ROWS)


def _pipeline(rng: Generator) -> tuple[Any, bool]:
    import pandas as pd
    from sklearn.compose import ColumnTransformer
    from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import FeatureUnion, make_pipeline
    from sklearn.preprocessing import (
        KBinsDiscretizer,
        OneHotEncoder,
        PolynomialFeatures,
        SplineTransformer,
        StandardScaler,
    )

    is_text = not rng.integers(3)
    rows = pd.read_csv(io.StringIO(WORD_ROWS if is_text else ROWS))
    steps = {
        "polynomial": lambda: PolynomialFeatures(2),
        "bins": lambda: KBinsDiscretizer(
            2, encode=pick(rng, ["onehot-dense", "ordinal"])
        ),
        "spline": lambda: SplineTransformer(n_knots=3, degree=2),
        "onehot": lambda: OneHotEncoder(handle_unknown="ignore", sparse_output=False),
        "scaler": StandardScaler,
    }
    words = pick(rng, [HashingVectorizer(n_features=8), TfidfVectorizer()])
    names = [pick(rng, [*steps]) for _ in range(rng.integers(1, 3))]
    inner = make_pipeline(*(steps[name]() for name in names))
    if not rng.integers(4):
        inner = FeatureUnion([("a", inner), ("b", StandardScaler())])
    parts: list[Any] = [("numbers", inner, ["b"] if is_text else ["a", "b"])]
    parts += [("words", words, "a")] if is_text else []
    last = pick(rng, [LogisticRegression(), MLPClassifier((2,), max_iter=3)])
    model = make_pipeline(ColumnTransformer(parts), last)
    model.fit(rows, [0, 1, 0, 1])
    return model, is_text


def _steps(model: Any) -> list[Any]:
    """Return every estimator in a model."""
    found, waiting = [], [model]
    while waiting:
        item = waiting.pop()
        if hasattr(item, "get_params"):
            found.append(item)
            waiting += vars(item).values()
        elif isinstance(item, list | tuple):
            waiting += item
    return found


def _options(rng: Generator, step: Any) -> list[tuple[str, Any]]:
    n = size(rng)
    known: dict[str, list[tuple[str, Any]]] = {
        "PolynomialFeatures": [
            ("degree", pick(rng, [n, 200, 5000])),
            ("_max_degree", pick(rng, [n, 200, 5000])),
            ("_n_out_full", n),
            ("n_output_features_", n),
        ],
        "HashingVectorizer": [
            ("n_features", n),
            ("ngram_range", (1, pick(rng, [1, n]))),
        ],
        "TfidfVectorizer": [("ngram_range", (1, n)), ("max_features", n)],
        "KBinsDiscretizer": [
            ("n_bins_", np.array([n, n])[: len(step.__dict__.get("n_bins_", [0]))])
        ],
        "SplineTransformer": [("n_knots", n), ("degree", n), ("n_features_out_", n)],
        "OneHotEncoder": [("categories_", [np.arange(pick(rng, [10, 10**6]))] * 2)],
        "LogisticRegression": [("coef_", np.zeros((1, min(n, 10**6))))],
    }
    options = known.get(type(step).__name__, [])
    return [option for option in options if rng.integers(2)]
