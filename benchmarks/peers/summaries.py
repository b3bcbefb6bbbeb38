"""Small models that resemble a network: each returns its predictions and its size."""

import numpy as np

from peers import models

LINES = 20
"""Leaves, rules or lines that a summary may have."""
DRAWN = 20_000


def network():
    """Return the network that is summarized: scikit-learn's, as it comes."""
    from sklearn.neural_network import MLPClassifier

    return MLPClassifier(random_state=0)


def tree(network, rows, categorical, _):
    """Fit a tree with at most that many leaves to the network's predictions."""
    return _tree(rows, network.predict(rows), categorical)


def drawn_tree(network, rows, categorical, _):
    """Fit a tree on the rows and on many drawn around them, as TREPAN does.

    A drawn row is a row of the data in which each column has, with probability 0.3, the
    value of another row.
    """
    import pandas as pd

    rng = np.random.default_rng(0)
    picked = rng.integers(len(rows), size=DRAWN)
    drawn = rows.iloc[picked].reset_index(drop=True)
    for name in rows:
        other = rows[name].to_numpy()[rng.integers(len(rows), size=DRAWN)]
        drawn[name] = np.where(rng.random(DRAWN) < 0.3, other, drawn[name].to_numpy())
    for name in rows:
        drawn[name] = drawn[name].astype(rows[name].dtype)
    both = pd.concat([rows, drawn], ignore_index=True)
    return _tree(both, network.predict(both), categorical)


def _tree(rows, labels, categorical):
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(max_leaf_nodes=LINES, random_state=0)
    tree = models.fitted(rows, labels, categorical, model, scaled=False)
    return tree.predict, int(model.get_n_leaves())


def logistic(network, rows, categorical, _):
    """Fit logistic regression to the network's predictions; it is no small model."""
    from sklearn.linear_model import LogisticRegression

    labels = network.predict(rows)
    if len(set(labels)) == 1:
        return lambda test: np.repeat(labels[:1], len(test)), 0
    model = models.fitted(rows, labels, categorical, LogisticRegression(max_iter=1000))
    return model.predict, int(np.count_nonzero(model[-1].coef_))


def readable(network, rows, categorical, _):
    """Fit ReadableClassifier with at most that many rules to the predictions."""
    from nn2rules import ReadableClassifier

    options = {"n_jobs": 1, "progress": False, "random_state": 0}
    model = ReadableClassifier(max_rules=LINES, **options)
    model.fit(rows, network.predict(rows))
    return lambda test: model.predict(models.known(test, rows, categorical)), (
        models.size_of(model)
    )


def summary(network, rows, categorical, _):
    """Ask nn2rules for a summary of at most that many lines."""
    import nn2rules

    if not hasattr(nn2rules, "summarize"):
        raise NotImplementedError("this nn2rules has no summarize")
    made = nn2rules.summarize(network, rows, max_lines=LINES)
    return lambda test: made.predict(models.known(test, rows, categorical)), len(made)
