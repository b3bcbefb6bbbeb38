"""The baselines: trees that learn from the labels, or from the network's answers."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.baselines import DecisionTree, SimpleTrepan, Trepan
from research.experiments.lists import Seconds, timed
from research.experiments.train import Trial


def grown(trial: Trial) -> dict[str, Callable[[Seconds], Any]]:
    """Return for each method what grows its tree on the training rows."""
    network, seed = trial.network, trial.seed
    labels = [network.classes[place] for place in trial.train_truth.tolist()]
    trees: dict[str, Any] = {
        "tree-6": DecisionTree(network.domain, random_state=seed),
        "tree": DecisionTree(network.domain, max_depth="validate", random_state=seed),
        "simple-6": SimpleTrepan(network, random_state=seed),
        "simple": SimpleTrepan(network, max_depth="validate", random_state=seed),
        "trepan": Trepan(network, random_state=seed),
    }

    def grow(method: str) -> Callable[[Seconds], Any]:
        tree = trees[method]
        return lambda seconds: timed(
            lambda: tree.fit(trial.train_rows, labels), method, seconds
        )

    return {method: grow(method) for method in trees}


def tree_answers(
    tree: Any, trial: Trial, codes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the position of the class that a tree gives each row."""
    classes = trial.network.classes
    places = [classes.index(label) for label in tree.classes_.tolist()]
    return np.asarray(np.array(places)[tree.predict_codes(codes)], dtype=np.int64)
