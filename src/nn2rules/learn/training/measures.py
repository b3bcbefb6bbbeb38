"""How good predictions are on held-out rows: accuracy, AUC and Brier score."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn2rules.learn.training.targets import Floats, Targets


class Measures(NamedTuple):
    """How good the predictions for some rows are.

    Attributes
    ----------
    accuracy : float
        The share of rows whose class is predicted.
    auc : float
        The area under the ROC curve; of several classes, the mean over classes, each
        against the rest. 0.5 if nothing can be ranked.
    brier : float
        The mean squared error of the probabilities, summed over classes and halved.
    """

    accuracy: float
    auc: float
    brier: float


def measured(shares: Floats, classes: NDArray[np.int64], targets: Targets) -> Measures:
    """Return how good predicted probabilities and classes are.

    Parameters
    ----------
    shares : ndarray of shape (n_rows, n_classes)
        The predicted probabilities.
    classes : ndarray of shape (n_rows,)
        The position of the predicted class of each row.
    targets : Targets
        The true classes.

    Examples
    --------
    >>> shares = np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]])
    >>> targets = Targets.of_labels(np.array([0, 0, 1]))
    >>> found = measured(shares, np.array([0, 1, 1]), targets)
    >>> round(found.accuracy, 3), found.auc, round(found.brier, 3)
    (0.667, 1.0, 0.137)
    """
    weights, truth = targets.weights, targets.truth
    right = float(weights @ (classes == truth) / weights.sum())
    places = range(1, 2) if shares.shape[1] == 2 else range(shares.shape[1])
    areas = [_area(shares[:, place], truth == place, weights) for place in places]
    known = [area for area in areas if area is not None]
    errors = ((shares - np.eye(shares.shape[1])[truth]) ** 2).sum(axis=1) / 2
    return Measures(
        right,
        sum(known) / len(known) if known else 0.5,
        float(weights @ errors / weights.sum()),
    )


def _area(scores: Floats, is_true: NDArray[np.bool_], weights: Floats) -> float | None:
    """Return the area under the ROC curve; None if all rows are of one kind."""
    values, places = np.unique(scores, return_inverse=True)
    true = np.bincount(places, weights * is_true, len(values))
    rest = np.bincount(places, weights * ~is_true, len(values))
    if not true.sum() or not rest.sum():
        return None
    below = np.cumsum(rest) - rest / 2
    return float(true @ below / (true.sum() * rest.sum()))
