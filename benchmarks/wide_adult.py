"""Adult with all its categorical columns and finer bins: more than 10^9 inputs."""

import warnings

import numpy as np
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import nn2rules

BINS = {
    "age": (20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70),
    "hours-per-week": (20, 30, 35, 40, 45, 50, 60),
    "capital-gain": (1, 5000, 10000),
    "capital-loss": (1, 1500, 2000),
}
DROPPED = ("education-num", "native-country")


def wide_adult() -> tuple[nn2rules.Network, float]:
    """Train a 6-3 ReLU network; return it with its accuracy on the test rows."""
    train, test = nn2rules.datasets.raw("adult")
    names = [name for name in train.columns if name not in DROPPED]
    model = make_pipeline(
        OneHotEncoder(handle_unknown="ignore"),
        MLPClassifier((6, 3), max_iter=30, random_state=0),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # thirty rounds are enough here
        model.fit(_table(train.columns, names), train.labels)
        accuracy = model.score(_table(test.columns, names), test.labels)
    return nn2rules.read_network(model), float(accuracy)


def _table(columns: dict[str, list[object]], names: list[str]) -> np.ndarray:
    table = np.empty((len(columns["age"]), len(names)), dtype=object)
    for index, name in enumerate(names):
        if name in BINS:
            table[:, index] = np.digitize(columns[name], BINS[name]).astype(str)
        else:
            table[:, index] = ["?" if v is None else str(v) for v in columns[name]]
    return table
