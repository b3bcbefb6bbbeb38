"""Benchmarks of rules about ranges of numbers, on tables drawn at random."""

import time
import warnings
from typing import Any

import numpy as np
import tables
from timing import markdown

import nn2rules

TABLES = {
    "like German Credit": tables.credit,
    "like Pima": tables.health,
    "5 numbers": lambda: tables.numeric(5),
    "15 numbers": lambda: tables.numeric(15),
    "30 numbers": lambda: tables.numeric(30),
}
HIDDEN = {"6-3": (6, 3), "100": (100,)}
HEADER = (
    *(
        "table",
        "units",
        "refused",
        "rules",
        "training rows covered",
        "unseen rows covered",
    ),
    *("rows per rule", "time", "different"),
)


def numbers(seconds: float = 60.0) -> str:
    """Pipelines of default steps, 80% of the rows to train: what rules decide."""
    rows = [
        (name, units, *_measured(make(), hidden, seconds))
        for name, make in TABLES.items()
        for units, hidden in HIDDEN.items()
    ]
    return (
        f"Rules for the training rows, at most {seconds:g} s each. Refused are unseen "
        f"rows outside of the domain; different are rows, of all that are decided, to "
        f"which the rules give another class than the model.\n\n"
        + markdown(HEADER, rows)
    )


def _measured(table: Any, hidden: tuple[int, ...], seconds: float) -> tuple[Any, ...]:
    """Train a pipeline, extract, and return what is decided."""
    frame, labels = table
    order = np.random.default_rng(0).permutation(len(frame))
    n_train = 4 * len(frame) // 5
    train = frame.iloc[order[:n_train]].reset_index(drop=True)
    unseen = frame.iloc[order[n_train:]].reset_index(drop=True)
    model = pipeline(hidden)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some do not converge in 300 rounds
        model.fit(train, labels[order[:n_train]])
    started = time.perf_counter()
    rules = nn2rules.extract(model, train, scope="support", time=seconds)
    spent = time.perf_counter() - started
    known = (rules.domain.encode(unseen, unknown="mark") >= 0).all(axis=1)
    parts = [(train, rules.apply(train))]
    parts.append((unseen[known], rules.apply(unseen[known])))
    different = sum(
        int((rules.predict(part[fired >= 0]) != model.predict(part[fired >= 0])).sum())
        for part, fired in parts
        if (fired >= 0).any()
    )
    on_train, on_unseen = ((fired >= 0).sum() for _, fired in parts)
    return (
        f"{1 - known.mean():.1%}",
        len(rules),
        f"{on_train / len(train):.0%}",
        f"{on_unseen / len(unseen):.0%}",
        f"{on_train / max(len(rules), 1):.1f}",
        f"{spent:.0f} s",
        different,
    )


def pipeline(hidden: tuple[int, ...]) -> Any:
    """Return an untrained pipeline of default steps."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    is_number = make_column_selector(dtype_include=np.number)
    return make_pipeline(
        make_column_transformer(
            (StandardScaler(), is_number),
            (
                OneHotEncoder(handle_unknown="ignore"),
                make_column_selector(dtype_exclude=np.number),
            ),
        ),
        MLPClassifier(hidden, max_iter=300, random_state=0),
    )
