"""Rules as boxes beside scorecards: what each covers, and how long it takes."""

import time
import warnings
from typing import Any

import numpy as np
from peers.tables import Table, load_tables
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from timing import markdown

import nn2rules
from nn2rules import Network, RuleList
from nn2rules.rules import certificate_of
from nn2rules.scorecards import lines_of
from nn2rules.space import UNKNOWN

NAMES = ("german-credit", "pima", "heart", "saheart", "mroz", "vehicle")
UNITS = (1, 2, 4, 8)
SECONDS = 10.0
HEADER = (
    *("table", "model", "accuracy on unseen rows", "scorecard: lines"),
    *("scorecard: unseen rows covered", "scorecard: too close for the points"),
    *("rules", "rules: training rows covered", "rules: unseen rows covered"),
    "time of rules / scorecard",
)


def forms() -> str:
    """Extract rules and a scorecard from the same models of real tables."""
    rows = [row for table in load_tables(NAMES) for row in _of_table(table)]
    return (
        "Rules and scorecards of the same models on real tables: four fifths of the "
        "rows to train on, one fifth unseen; numbers standardized, texts one-hot. "
        "Coverage is of the unseen rows that lie in the ranges and have the categories "
        f'of the training rows. Rules (`form="set"`) have {SECONDS:.0f} s, so their '
        "times are cut there; times are ratios in one run, on a busy machine.\n\n"
        + markdown(HEADER, rows)
    )


def _of_table(table: Table) -> list[tuple[Any, ...]]:
    place = np.arange(len(table.labels))
    train, test = train_test_split(
        place, test_size=0.2, random_state=0, stratify=table.labels
    )
    words = table.words
    numbers = [name for name in table.rows if name not in words]
    fill = {name: table.rows[name].iloc[train].median() for name in numbers}
    rows = table.rows.fillna(fill)
    rows[words] = rows[words].fillna("none")
    found = []
    for name, model in _models():
        columns = make_column_transformer(
            (make_pipeline(SimpleImputer(), StandardScaler()), numbers),
            (OneHotEncoder(handle_unknown="ignore"), words),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some do not converge in their rounds
            pipeline = make_pipeline(columns, model)
            pipeline.fit(rows.iloc[train], table.labels[train])
            network = nn2rules.read_network(pipeline, data=rows.iloc[train])
            measured = _measured(network, rows.iloc[train], rows.iloc[test])
        accuracy = pipeline.score(rows.iloc[test], table.labels[test])
        found.append((table.name, name, f"{accuracy:.1%}", *measured))
        print(*found[-1], sep=" | ", flush=True)
    return found


def _models() -> list[tuple[str, Any]]:
    networks = [
        (f"{n} ReLU", MLPClassifier((n,), random_state=0, max_iter=1000)) for n in UNITS
    ]
    return [("logistic regression", LogisticRegression(max_iter=1000)), *networks]


def _measured(network: Network, train: Any, test: Any) -> tuple[Any, ...]:
    """Return what a scorecard and rules cover, and the ratio of their times."""
    codes = network.domain.encode(test, unknown="mark")
    inside = test[(codes != UNKNOWN).all(axis=1)]
    started = time.perf_counter()
    card = nn2rules.extract(network, train, form="scorecard")
    seconds = time.perf_counter() - started
    close = card.table.predict_codes(*card.domain.inputs_of(inside)) < 0
    started = time.perf_counter()
    rules = nn2rules.extract(
        network, train, form="set", scope="support", time=SECONDS, progress=False
    )
    ratio = (time.perf_counter() - started) / seconds
    assert isinstance(rules, RuleList), "a set was asked for"
    known = certificate_of(rules)
    covered = (known.rows_covered or 0) / (known.rows or 1)
    return (
        f"{len(lines_of(card.domain)):,}",
        f"{card.covers(inside).mean():.1%}",
        f"{close.mean():.1%}",
        f"{len(rules):,}",
        f"{covered:.1%}",
        f"{rules.covers(inside).mean():.1%}",
        f"{ratio:.0f}",
    )
