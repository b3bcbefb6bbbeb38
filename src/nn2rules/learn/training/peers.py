"""Other models on the same rows and folds, to see what readability costs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from nn2rules.space import Rows, picked_rows

_LEAVES = (2, 3, 5, 8, 12, 18, 27, 40, 60, 90, 135, 200)


@dataclass(frozen=True)
class Peer:
    """Another model, measured like the networks of a path.

    Attributes
    ----------
    name : str
    accuracy : float
        The share of held-out rows that it predicts correctly, as a mean over folds.
    size : int or None
        How large it is, in `unit`; None if there is nothing in it to read.
    unit : str
    """

    name: str
    accuracy: float
    size: int | None
    unit: str


def peers_of(
    rows: Rows,
    labels: NDArray[Any],
    folds: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]],
    *,
    seed: int = 0,
) -> list[Peer]:
    """Measure scikit-learn's default network, a tree and logistic regression.

    The tree has the number of leaves that is best on rows held out from its training
    rows.
    """
    measured = []
    for name, model, unit in _models(seed):
        right, sizes = [], []
        for train, test in folds:
            model.fit(picked_rows(rows, train), labels[train])
            predicted = model.predict(picked_rows(rows, test))
            right.append(float((predicted == labels[test]).mean()))
            sizes.append(_size(model[-1]))
        counted = [size for size in sizes if size is not None]
        size = round(float(np.mean(counted))) if counted else None
        measured.append(Peer(name, float(np.mean(right)), size, unit))
    return measured


def _models(seed: int) -> list[tuple[str, Any, str]]:
    tree = GridSearchCV(
        DecisionTreeClassifier(random_state=seed), {"max_leaf_nodes": _LEAVES}
    )
    linear = LogisticRegression(max_iter=1000)
    return [
        (
            "default network",
            make_pipeline(encoder(), MLPClassifier(random_state=seed)),
            "",
        ),
        ("decision tree", make_pipeline(encoder(), tree), "leaves"),
        ("logistic regression", make_pipeline(encoder(), linear), "weights"),
    ]


def encoder(scaler: Any = None) -> Any:
    """Return the usual preprocessing: scaling, one-hot encoding, imputation."""
    numbers = make_pipeline(SimpleImputer(), scaler or StandardScaler())
    words = make_pipeline(
        SimpleImputer(strategy="most_frequent"),
        OneHotEncoder(handle_unknown="ignore"),
    )
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include=np.number)),
        (words, make_column_selector(dtype_exclude=np.number)),
    )


def _size(model: Any) -> int | None:
    if isinstance(model, GridSearchCV):
        return int(model.best_estimator_.get_n_leaves())
    if isinstance(model, LogisticRegression):
        return int(model.coef_.size)
    return None
