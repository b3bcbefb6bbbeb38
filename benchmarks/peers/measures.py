"""Accuracy, AUC and Brier score of probabilities."""

import numpy as np
from sklearn.metrics import roc_auc_score


def measures(probabilities, truth):
    """Return the measures of probabilities, one column per class.

    The prediction is the class with the largest probability, the first of several. AUC
    is the mean over classes of one against the rest where there are more than two. The
    Brier score is half the sum over the classes of squared differences, which is the
    usual one for two classes.
    """
    probabilities = np.asarray(probabilities, dtype=float)
    n_classes = probabilities.shape[1]
    assert probabilities.shape == (len(truth), n_classes)
    assert np.isfinite(probabilities).all()
    indicators = np.eye(n_classes)[truth]
    wrong = ((probabilities - indicators) ** 2).sum(axis=1) / 2
    if n_classes == 2:
        auc = roc_auc_score(truth, probabilities[:, 1])
    else:
        one = [
            roc_auc_score(indicators[:, c], probabilities[:, c])
            for c in range(n_classes)
        ]
        auc = np.mean(one)
    return {
        "accuracy": _rounded((probabilities.argmax(axis=1) == truth).mean()),
        "auc": _rounded(auc),
        "brier": _rounded(wrong.mean()),
    }


def agreement(predicted, reference):
    """Return the share of rows with the same prediction."""
    return _rounded((np.asarray(predicted) == np.asarray(reference)).mean())


def _rounded(number):
    return round(float(number), 6)
