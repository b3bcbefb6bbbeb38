"""Spellings of missing values: rules and the model predict the same row."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from nn2rules import UnsupportedModelError, extract, read_network
from nn2rules.errors import DomainError

GAPS: tuple[Any, ...] = (None, float("nan"), np.float32("nan"), pd.NA, pd.NaT)
TEXTS = ("", "missing", "NA", "nan")
WORDS = ("clerk", "cook", "judge")
TYPES = (object, object, "str", "category")


def read_gaps(rng: Generator) -> int:
    """Ask about rows with every spelling: what is predicted is the model's own class.

    A refusal is right, and so is whatever is said where the model itself fails.
    """
    rows = _rows(rng)
    labels = rng.integers(0, 2, size=len(rows))
    labels[:2] = 0, 1
    model = make_pipeline(_columns(rng), LogisticRegression(C=10.0))
    try:
        model.fit(rows, labels)
        network = read_network(model, data=rows)
        rules = extract(model, data=rows, form="rules")
    except (DomainError, UnsupportedModelError, TypeError, ValueError):
        return 1  # such data, or such a pipeline, cannot be had
    n_compared = 0
    for gap in (*GAPS, *TEXTS):
        for name in rows.columns:
            row = rows.iloc[int(rng.integers(len(rows)))].to_dict() | {name: gap}
            n_compared += _compare(model, network, rules, row)
    return n_compared


def _rows(rng: Generator) -> pd.DataFrame:
    """Return rows of two columns of words and one of numbers, with some gaps."""
    columns = {}
    for name in ("job", "home"):
        cells: list[Any] = rng.choice(WORDS, size=40).tolist()
        gap = GAPS[int(rng.integers(2))]
        for place in np.flatnonzero(rng.random(40) < rng.choice([0.0, 0.2])):
            cells[place] = gap
        columns[name] = pd.Series(cells, dtype=TYPES[int(rng.integers(len(TYPES)))])
    numbers = rng.integers(0, 4, size=40).astype(float)
    numbers[rng.random(40) < 0.2] = np.nan
    return pd.DataFrame(columns | {"age": numbers})


def _columns(rng: Generator) -> ColumnTransformer:
    fills: list[dict[str, Any]] = [
        {"strategy": "constant", "fill_value": "clerk"},
        {"strategy": "constant", "fill_value": "none"},
        {"strategy": "most_frequent"},
        {"strategy": "most_frequent", "missing_values": None},
    ]
    parts: list[Any] = []
    for name in ("job", "home"):
        steps: list[Any] = []
        if rng.random() < 0.8:
            steps.append(SimpleImputer(**fills[int(rng.integers(len(fills)))]))
        steps.append(
            [
                OneHotEncoder(handle_unknown="ignore"),
                OneHotEncoder(),
                OrdinalEncoder(),
                OrdinalEncoder(
                    handle_unknown="use_encoded_value",
                    unknown_value=-1,
                    encoded_missing_value=-2,
                ),
            ][int(rng.integers(4))]
        )
        parts.append((name, make_pipeline(*steps), [name]))
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    last = [numbers, OneHotEncoder(handle_unknown="ignore")][int(rng.integers(2))]
    return ColumnTransformer([*parts, ("age", last, ["age"])])


def _compare(model: Any, network: Any, rules: Any, row: dict[str, Any]) -> int:
    """Compare one row; the model is handed it in columns of objects."""
    frame = pd.DataFrame({n: pd.Series([c], dtype=object) for n, c in row.items()})
    try:
        [theirs] = model.predict(frame)
        [score] = np.abs(model.decision_function(frame))
    except Exception:  # noqa: BLE001  the model takes no such row
        return 0
    if score < 1e-9:  # rounding decides
        return 0
    for subject in (network, rules):
        for given in (frame, [row]):
            try:
                [ours] = subject.predict(given)
            except DomainError:
                continue
            assert ours == theirs, (
                f"{model!r}\n{row!r}: {ours!r}, and the model itself {theirs!r}"
            )
    return 1
