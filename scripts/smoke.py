"""Try an installed nn2rules: ``python scripts/smoke.py sklearn onnx``.

The arguments are the extras that must be there. Whatever the versions of the
libraries, a model of each goes in, its rules come out, and they answer as it does.
``--quick`` only asks whether everything is there: no kernel is compiled.
"""

import os
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np

import nn2rules

ROWS = [
    {"color": color, "size": size}
    for color in ("red", "yellow")
    for size in ("small", "medium", "big")
] * 5
RIPE = np.array([row["color"] == "red" and row["size"] != "small" for row in ROWS])


def one_hot(rows):
    """Return rows as the columns of 0 and 1 that a model takes."""
    colors, sizes = ("red", "yellow"), ("small", "medium", "big")
    frame = [(row["color"], row["size"]) for row in _dicts(rows)]
    return np.array(
        [
            [*(c == color for c in colors), *(s == size for s in sizes)]
            for color, size in frame
        ],
        dtype=np.float32,
    )


def _dicts(rows):
    return rows if isinstance(rows, list) else rows.to_dict("records")


def without_extras():
    """Extract, check, save and load the rules of a network that comes with it."""
    network = nn2rules.load(nn2rules.datasets.network_file("car"))
    rows = nn2rules.datasets.load("car").train.rows
    for engine, scope in (("table", "domain"), ("search", "support")):
        rules = nn2rules.extract(network, data=rows, engine=engine, scope=scope)
        assert (rules.predict(rows) == network.predict(rows)).all()
        assert nn2rules.check(network, rules).ok
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules.json"
        rules.save(path)
        assert nn2rules.load(path) == rules
        car = str(nn2rules.datasets.network_file("car"))
        _command("check", car, str(path))


def quickly():
    """Load a network and answer by it, and ask every command for its help."""
    from nn2rules.cli import COMMANDS

    network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    assert (network.predict(ROWS) == np.where(RIPE, "ripe", "unripe")).all()
    for name in nn2rules.datasets.DATASETS:
        assert nn2rules.datasets.load(name).train.rows
    modules = [module.__name__.rpartition(".")[2] for module in COMMANDS]
    names = [name.replace("_", "-") for name in modules]
    for arguments in [["doctor"], *([name, "--help"] for name in names)]:
        _command(*arguments)


def _command(*arguments):
    subprocess.run(
        [sys.executable, "-m", "nn2rules", *arguments],
        check=True,
        stdout=subprocess.DEVNULL,
    )


def sklearn():
    """Read a pipeline, and a file of it; train a network made to be read."""
    import pandas as pd
    import skops.io
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    frame = pd.DataFrame(ROWS)
    mlp = MLPClassifier((3,), solver="lbfgs", random_state=0, max_iter=500)
    model = make_pipeline(OneHotEncoder(), mlp).fit(frame, RIPE)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.skops"
        skops.io.dump(model, path)
        read = nn2rules.load_model(path)
    rules = nn2rules.extract(read, data=frame)
    assert (rules.predict(frame) == model.predict(frame)).all()
    assert len(rules.to_frame()) == len(rules) + 1
    readable = nn2rules.ReadableClassifier(form="rules", questions=2).fit(frame, RIPE)
    assert (readable.predict(frame) == readable.rules_.predict(frame)).all()


def plot():
    """Draw what the first rules decide."""
    import matplotlib as mpl

    mpl.use("Agg")
    network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    assert nn2rules.extract(network, data=ROWS).plot() is not None


def onnx():
    """Read a graph."""
    from onnx import TensorProto, helper, numpy_helper

    weights = np.array([[4], [-4], [-4], [1], [1]], dtype=np.float32)
    bias = np.array([-2.5], dtype=np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("Gemm", ["x", "w", "b"], ["score"]),
            helper.make_node("Sigmoid", ["score"], ["y"]),
        ],
        "tomatoes",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 5])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, 1])],
        [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(bias, "b")],
    )
    opset = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=8)
    _answers_as(model, lambda rows: one_hot(rows) @ weights + bias > 0)


def torch():
    """Read a module."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 1), nn.Sigmoid()
    ).eval()

    def answers(rows):
        with torch.no_grad():
            return model(torch.tensor(one_hot(rows))).numpy() > 0.5

    _answers_as(model, answers, encode=lambda rows: torch.tensor(one_hot(rows)))


def keras():
    """Read a model; Keras needs a backend, and PyTorch is one."""
    os.environ.setdefault("KERAS_BACKEND", "torch")
    import keras
    from keras import layers

    keras.utils.set_random_seed(0)
    model = keras.Sequential(
        [
            keras.Input((5,)),
            layers.Dense(4, activation="relu"),
            layers.Dense(1, activation="sigmoid"),
        ]
    )
    _answers_as(model, lambda rows: model.predict(one_hot(rows), verbose=0) > 0.5)


def _answers_as(model, answers, encode=one_hot):
    import pandas as pd

    frame = pd.DataFrame(ROWS)
    rules = nn2rules.extract(
        model, data=frame, encode=encode, classes=["unripe", "ripe"]
    )
    own = np.where(answers(frame)[:, 0], "ripe", "unripe")
    assert (rules.predict(frame) == own).all()


PARTS = {
    "keras": (keras, "keras"),
    "onnx": (onnx, "onnx"),
    "plot": (plot, "matplotlib"),
    "sklearn": (sklearn, "scikit-learn"),
    "torch": (torch, "torch"),
}
"""Extra → what is tried, and the library that it is about."""


def main(extras):
    """Try nn2rules without extras, and with those named."""
    needed = ", ".join(f"{n} {version(n)}" for n in ("numba", "numpy", "typer", "rich"))
    print(f"nn2rules {nn2rules.__version__}, Python {sys.version.split()[0]}, {needed}")
    quickly()
    if extras == ["--quick"]:
        print("is all there")
        return
    without_extras()
    for extra in extras:
        attempt, library = PARTS[extra]
        attempt()
        print(f"{extra}: works with {library} {version(library)}")
    print("works")


if __name__ == "__main__":
    main(sys.argv[1:])
