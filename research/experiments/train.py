"""One network: trained in the paper's shape, or read from the user's file."""

import os
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from nn2rules.errors import OptionError
from nn2rules.models import load_model, read_network
from nn2rules.network import Network
from nn2rules.space import Range, Value
from research.experiments.cases import Case, Part

SETTINGS: dict[str, Any] = {
    "hidden_layer_sizes": (6, 3),
    "activation": "relu",
    "solver": "adam",
    "learning_rate_init": 0.005,
    "batch_size": 64,
    "max_iter": 30,
}
"""Of scikit-learn's MLPClassifier; the sizes and the activation are the paper's."""


@dataclass(frozen=True)
class Trial:
    """A network, and the rows it was trained and is tested on.

    Attributes
    ----------
    seed : int
        Of everything random in what is measured on it.
    train, test : ndarray of int, shape (n_rows, n_features)
        The rows, in the codes of the network's domain.
    train_truth, test_truth : ndarray of int
        The position of the true class of each row.
    """

    seed: int
    network: Network
    train: NDArray[np.int64]
    test: NDArray[np.int64]
    train_truth: NDArray[np.int64]
    test_truth: NDArray[np.int64]

    @cached_property
    def train_rows(self) -> list[dict[str, Value]]:
        """The rows it was trained on, as dicts of values."""
        return self.network.domain.decode(self.train, accepted=True)

    @cached_property
    def test_rows(self) -> list[dict[str, Value]]:
        """The rows it is tested on, as dicts of values."""
        return self.network.domain.decode(self.test, accepted=True)


def trained(case: Case, seed: int) -> Trial:
    """Train a network with this seed on the training rows, and read it."""
    assert case.domain is not None, "only a given model brings its own domain"
    places = [case.classes.index(label) for label in case.train.labels]
    settings = SETTINGS | {"batch_size": min(SETTINGS["batch_size"], len(places))}
    network = MLPClassifier(random_state=seed, **settings)
    pipeline = make_pipeline(case.encoder(), network)
    # One thread, so that the number of cores does not change the order of sums.
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # 30 rounds are what is asked for
        _fit(pipeline, case.train.frame, places)
        read = read_network(pipeline, data=case.train.frame, domain=case.domain)
    return _trial(case, replace(read, classes=case.classes), seed)


def _fit(pipeline: Any, frame: Any, places: list[int]) -> None:
    """Fit a pipeline; scikit-learn takes Ctrl-C for the end of the training."""
    warnings.filterwarnings("error", message="Training interrupted by user")
    try:
        pipeline.fit(frame, places)
    except UserWarning:
        raise KeyboardInterrupt from None


def given(
    case: Case, path: str | os.PathLike[str], seed: int, *, trust: bool = False
) -> Trial:
    """Read the user's model; its features are what the data show.

    The paper counts inputs, so that numbers are those that occur, and no ranges.
    """
    import pandas as pd

    model = load_model(path, trust=trust)
    if isinstance(model, Network):
        return _trial(case, model, seed)
    both = pd.concat([case.train.frame, case.test.frame], ignore_index=True)
    network = read_network(model, data=both)
    ranges = [f.name for f in network.domain.features if isinstance(f, Range)]
    if ranges:
        listed = dict.fromkeys(ranges, "observed")
        network = read_network(model, data=both, domain=listed)
    return _trial(case, network, seed)


def _trial(case: Case, network: Network, seed: int) -> Trial:
    parts = (case.train, case.test)
    codes = [network.domain.encode(_rows(case, part)) for part in parts]
    truths = [_positions(network, part.labels) for part in parts]
    return Trial(seed, network, codes[0], codes[1], truths[0], truths[1])


def _rows(case: Case, part: Part) -> Any:
    """Return rows as the domain spells them: text, for a network from a file."""
    is_given = case.domain is None and part.rows is not None
    return part.rows if is_given else part.frame


def _positions(network: Network, labels: list[Value]) -> NDArray[np.int64]:
    """Return the positions of the classes that labels name or spell."""
    known: dict[Value, int] = {str(c): i for i, c in enumerate(network.classes)}
    known |= {label: index for index, label in enumerate(network.classes)}
    for label in labels:
        if label not in known and str(label) not in known:
            classes = ", ".join(str(label) for label in network.classes)
            raise OptionError(
                f"labels: the data have the class {str(label)!r}, which the model does "
                f"not know; its classes are {classes}"
            )
    found = [known.get(label, known.get(str(label), -1)) for label in labels]
    return np.array(found, dtype=np.int64)
