"""Raw Adult, as a user brings it: all rows, columns as they are, default networks."""

import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
from attacks import survived
from timing import markdown

import nn2rules

NUMBERS = ["age", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
RUNS = {"6-3": (120, 300), "100": (120,), "64-32": (120,)}
HIDDEN = {"6-3": (6, 3), "100": (100,), "64-32": (64, 32)}
ATTACKED, ATTACKS = 50, 100_000


def adult() -> str:
    """Rows that rules decide in so much time, of those given and of unseen ones."""
    train, test = nn2rules.datasets.raw("adult")
    frame, unseen = pd.DataFrame(train.columns), pd.DataFrame(test.columns)
    rows = []
    for units, times in RUNS.items():
        model = trained(HIDDEN[units], frame, train.labels)
        rows += [(units, *_measured(model, frame, unseen, time_)) for time_ in times]
    header = (
        "units",
        "time",
        "took",
        "rules",
        "training rows covered",
        "test rows covered",
    )
    return (
        f"{len(frame):,} rows, {frame.shape[1]} columns, five of them ranges of "
        f"numbers. Test rows with a value that no training row has are not covered. Of "
        f"each set {ATTACKED} rules, drawn at random, were attacked with {ATTACKS:,} "
        f"inputs and 200 walks downhill each.\n\n"
        + markdown((*header, "different", "attacks survived"), rows)
    )


def _measured(
    model: Any, frame: pd.DataFrame, unseen: pd.DataFrame, seconds: float
) -> tuple[Any, ...]:
    network = nn2rules.read_network(model, data=frame)
    nn2rules.extract(network, frame[:50], time=1)  # what is compiled is compiled
    started = time.perf_counter()
    rules = nn2rules.extract(network, frame, time=seconds)
    spent = time.perf_counter() - started
    fired = rules.apply(frame)
    on_test = rules.apply(unseen, unknown="none")
    different = sum(
        int((rules.predict(part) != model.predict(part)).sum())
        for part in (frame[fired >= 0], unseen[on_test >= 0])
    )
    rng = np.random.default_rng(0)
    attacked = rng.choice(len(rules), min(ATTACKED, len(rules)), replace=False)
    attacks = sum(survived(network, rules, int(i), ATTACKS, rng) for i in attacked)
    return (
        f"{seconds} s",
        f"{spent:.1f} s",
        f"{len(rules):,}",
        f"{(fired >= 0).mean():.1%}",
        f"{(on_test >= 0).mean():.1%}",
        different,
        f"{attacks:,}",
    )


def trained(hidden: tuple[int, ...], frame: pd.DataFrame, labels: Any) -> Any:
    """Return a pipeline with a network of so many units, trained on raw rows."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    model = make_pipeline(
        make_column_transformer(
            (
                OneHotEncoder(handle_unknown="ignore"),
                make_column_selector(dtype_exclude=np.number),
            ),
            (StandardScaler(), NUMBERS),
        ),
        MLPClassifier(hidden, max_iter=60, random_state=0),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sixty rounds are enough here
        return model.fit(frame, labels)
