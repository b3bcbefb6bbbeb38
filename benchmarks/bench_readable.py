"""Networks made to be read, beside other models, and networks that cannot be read."""

import importlib.util
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import tables
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.tree import DecisionTreeClassifier
from timing import markdown

import nn2rules
from nn2rules.learn.training.peers import encoder

FIGURE = Path(__file__).parents[1] / "docs" / "explanation" / "path.svg"
SETS = ("car", "nursery", "contraception", "contraception, raw", "adult, raw")
LEAVES = (2, 3, 5, 8, 12, 18, 27, 40, 60, 90, 135, 200)
SECONDS = 30


def readable() -> str:
    """Accuracy on test rows, and size, of several models on the same rows."""
    rows = []
    for name in SETS:
        train, y, test, truth = _split(name)
        started = time.perf_counter()
        model = nn2rules.ReadableClassifier(form="rules").fit(train, y)
        spent = time.perf_counter() - started
        told = model.predict(test)
        assert (model.rules_.predict(test) == told).all()
        assert nn2rules.check(model.network_, model.rules_).ok
        size = (
            f"{len(model.rules_)} rules, {len(model.network_.domain.features)} columns"
        )
        measured = [("`ReadableClassifier`", (told == truth).mean(), size, spent)]
        measured += [_peer(peer, train, y, test, truth) for peer in _peers(name)]
        rows += [
            (
                name if place == 0 else "",
                who,
                f"{100 * right:.1f}%",
                size,
                f"{t:.1f} s",
            )
            for place, (who, right, size, t) in enumerate(measured)
        ]
        if name == "adult, raw":
            _draw(model, measured)
    header = ("data", "model", "test accuracy", "size", "training time")
    return (
        "All models learn from the same rows; the rules of `ReadableClassifier` equal "
        "their networks on every input, by `check`. The tree has as many leaves as are "
        "best in cross-validation; RIPPER is that of wittgenstein, where it is "
        "installed, with two classes and up to 20,000 rows.\n\n"
        + markdown(header, rows)
    )


def _split(name: str) -> tuple[pd.DataFrame, Any, pd.DataFrame, Any]:
    base, _, kind = name.partition(", ")
    data: Any = nn2rules.datasets.raw(base) if kind else nn2rules.datasets.load(base)
    train, test = pd.DataFrame(data.train.columns), pd.DataFrame(data.test.columns)
    return train, np.array(data.train.labels), test, np.array(data.test.labels)


def _peers(name: str) -> list[tuple[str, Any]]:
    tree = GridSearchCV(
        DecisionTreeClassifier(random_state=0), {"max_leaf_nodes": LEAVES}
    )
    found = [
        ("default network", MLPClassifier(random_state=0)),
        ("decision tree", tree),
        ("logistic regression", LogisticRegression(max_iter=1000)),
    ]
    has_ripper = importlib.util.find_spec("wittgenstein") is not None
    return [*found, ("RIPPER", None)] if has_ripper and name != "adult, raw" else found


def _peer(
    peer: tuple[str, Any], train: pd.DataFrame, y: Any, test: pd.DataFrame, truth: Any
) -> tuple[str, float, str, float]:
    name, model = peer
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two hundred rounds are the default
        if model is None:
            return _ripper(train, y, test, truth)
        pipeline = make_pipeline(encoder(), model).fit(train, y)
    spent = time.perf_counter() - started
    right = float((pipeline.predict(test) == truth).mean())
    return name, right, _size(pipeline[-1]), spent


def _size(model: Any) -> str:
    if isinstance(model, GridSearchCV):
        return f"{model.best_estimator_.get_n_leaves()} leaves"
    if isinstance(model, LogisticRegression):
        return f"{model.coef_.size} weights"
    return f"{sum(part.size for part in model.coefs_):,} weights"


def _ripper(
    train: pd.DataFrame, y: Any, test: pd.DataFrame, truth: Any
) -> tuple[str, float, str, float]:
    import wittgenstein

    rare = min(set(y), key=list(y).count)
    model = wittgenstein.RIPPER(random_state=0)
    started = time.perf_counter()
    model.fit(train, y=y == rare, pos_class=True)
    spent = time.perf_counter() - started
    told = np.array(model.predict(test))
    return (
        "RIPPER",
        float((told == (truth == rare)).mean()),
        (f"{len(model.ruleset_.rules)} rules"),
        spent,
    )


def _draw(model: Any, measured: list[Any]) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "nn2rules"  # the same figure, byte for byte
    axes = model.path_.plot()
    for place, (name, right, size, _) in enumerate(measured[1:]):
        number, _, unit = size.partition(" ")
        colour, label = f"C{place}", f"{name}, test rows ({size})"
        if unit == "weights":
            axes.axhline(100 * right, color=colour, ls=":", label=label)
        else:
            axes.plot([int(number)], [100 * right], "s", color=colour, label=label)
    axes.legend(frameon=False, fontsize="small")
    axes.figure.savefig(FIGURE, metadata={"Date": None})


def overfitted() -> str:
    """Rules that networks need which were trained in one way or another."""
    rows = []
    for name, (frame, labels) in _tables().items():
        train, test, y, truth = train_test_split(
            frame, labels, test_size=0.2, random_state=0, stratify=labels
        )
        for place, (how, model) in enumerate(_ways()):
            row = _overfitted(model, train, y, test, truth)
            rows.append((name if place == 0 else "", how, *row))
    header = (
        "data",
        "network",
        "training accuracy",
        "test accuracy",
        "rules",
        "rows per rule",
    )
    return (
        f"Rules that cover the training rows, proved in {SECONDS} s at most; for the "
        f"last network of each table they equal it on every input.\n\n"
        + markdown((*header, "test rows covered"), rows)
    )


def _tables() -> dict[str, tuple[pd.DataFrame, Any]]:
    train, _ = nn2rules.datasets.raw("contraception")
    credit, labels = tables.credit()
    return {
        "contraception, raw": (pd.DataFrame(train.columns), np.array(train.labels)),
        "generated credit": (credit, labels),
    }


def _ways() -> list[tuple[str, Any]]:
    small = {"hidden_layer_sizes": (6, 3), "max_iter": 500, "random_state": 0}
    return [
        ("default", make_pipeline(encoder(), MLPClassifier(random_state=0))),
        (
            "default, stopped early",
            make_pipeline(
                encoder(), MLPClassifier(early_stopping=True, random_state=0)
            ),
        ),
        ("6-3, alpha = 3", make_pipeline(encoder(), MLPClassifier(alpha=3, **small))),
        (
            "6-3, alpha = 3, three bins per number",
            make_pipeline(
                encoder(KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf")),
                MLPClassifier(alpha=3, **small),
            ),
        ),
        ("`ReadableClassifier`", nn2rules.ReadableClassifier(form="rules")),
    ]


def _overfitted(
    model: Any, train: Any, y: Any, test: Any, truth: Any
) -> tuple[Any, ...]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(train, y)
        if isinstance(model, nn2rules.ReadableClassifier):
            rules = model.rules_
        else:
            rules = nn2rules.extract(model, train, form="rules", time=SECONDS)
        decided = rules.apply(train) >= 0 if rules.scope == "support" else np.array([1])
        unseen = rules.apply(test, unknown="none") >= 0
    if rules.scope == "domain":
        unseen = np.array([True])
    n_decided = decided.mean() * len(train)
    return (
        f"{(model.predict(train) == y).mean():.1%}",
        f"{(model.predict(test) == truth).mean():.1%}",
        f"{len(rules):,}",
        f"{n_decided / max(1, len(rules)):.1f}",
        f"{unseen.mean():.1%}",
    )
