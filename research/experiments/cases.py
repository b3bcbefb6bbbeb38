"""The data sets: two parts of rows, and how a network is trained on them.

They are the paper's four, or the user's CSV file, of which few numbers stay as they are
and many are put into bins.
"""

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder

from nn2rules import datasets
from nn2rules.errors import OptionError, RowsError
from nn2rules.files import Table, read_table
from nn2rules.language import count
from nn2rules.space import (
    Column,
    Domain,
    Feature,
    Value,
    feature_of,
    is_number,
    text_of,
)

PAPER_SETS = ("car", "nursery", "contraception", "adult")
"""The paper's data sets, the quickest first."""


@dataclass(frozen=True)
class Part:
    """Rows with their labels.

    Attributes
    ----------
    frame : pandas.DataFrame
        The features, with typed columns.
    labels : list of class labels
    rows : list of dicts, optional
        The same rows as text, where they come from a file.
    """

    frame: Any
    labels: list[Value]
    rows: list[dict[str, str]] | None = None


@dataclass(frozen=True)
class Case:
    """A data set, and how to prepare its rows for a network.

    Attributes
    ----------
    name, title : str
        For files, and for people.
    domain : Domain or None
        None where the user's model says what its features can be.
    classes : tuple of class labels
        Of two, the second is the one that the paper's rules are about.
    train, test : Part
    encoder : callable
        Returns a transformer, not fitted yet, from a frame to the network's columns.
    """

    name: str
    title: str
    domain: Domain | None
    classes: tuple[Value, ...]
    train: Part
    test: Part
    encoder: Callable[[], Any]


def paper_case(name: str) -> Case:
    """Return one of the paper's data sets, split as the shipped networks saw it."""
    data = datasets.load(name)
    values = [list(feature.values) for feature in data.domain.features]

    def encoder() -> Any:
        return OneHotEncoder(categories=values, sparse_output=False)

    train, test = (
        Part(pd.DataFrame(part.columns, dtype=object), list(part.labels))
        for part in (data.train, data.test)
    )
    return Case(name, data.title, data.domain, data.classes, train, test, encoder)


def paper_cases(names: Iterable[str]) -> list[Case]:
    """Return the data sets called `names`, each once.

    Raises
    ------
    OptionError
        If a name is not one of `PAPER_SETS`, or there is none.
    """
    known = ", ".join(PAPER_SETS)
    if isinstance(names, str):
        raise OptionError(f"datasets: {names!r} is one string, expected a list of them")
    listed = list(dict.fromkeys(names))
    for name in listed:
        if name not in PAPER_SETS:
            raise OptionError(
                f"datasets: {name!r} is not a data set of the paper; these are {known}"
            )
    if not listed:
        raise OptionError(f"datasets: none are given; there are {known}")
    return [paper_case(name) for name in listed]


FilePath: TypeAlias = str | os.PathLike[str]

MOST_NUMBERS = 12
"""A column with more different numbers is put into bins."""

N_BINS = 4
"""The bins of such a column: quarters of the training rows."""

TEST_SHARE = 0.2
LEAST_ROWS = 20
MOST_CLASSES = 20


class Binned(NamedTuple):
    """How a column of numbers is put into bins."""

    strategy: str
    edges: tuple[float, ...]
    missing: bool


@dataclass(frozen=True)
class Own:
    """What the user brings: rows, the column of their true classes, and a model."""

    data: FilePath | None
    labels: str | None
    model: FilePath | None = None
    trust: bool = False


def own_case(own: Own, seed: int) -> Case:
    """Read the user's file, split it, and say how its columns are prepared.

    Raises
    ------
    FormatError, RowsError, OptionError
        If the file cannot be read, or the labels are no column with some classes.
    """
    assert own.data is not None, "the user has rows"
    table, labels, has_model = read_table(own.data), own.labels, own.model is not None
    if labels is None:
        raise OptionError("labels: say which column of the data holds the true classes")
    table.column(labels)
    typed = table.typed()  # equal rows are one dict
    truth = [row[labels] for row in typed]
    rows = [{n: value for n, value in row.items() if n != labels} for row in typed]
    classes = _classes(table, labels, truth)
    frame = _frame(rows)
    train, test = _parts(table.without(labels), frame, truth, seed)
    binned = {} if has_model else _binned(frame, train.frame)
    domain = None if has_model else _domain(frame, binned)
    return Case(
        name="own",
        title=Path(own.data).name,
        domain=domain,
        classes=classes,
        train=train,
        test=test,
        encoder=lambda: _encoder(list(frame.columns), binned),
    )


def _classes(table: Table, name: str, labels: Sequence[Value]) -> tuple[Value, ...]:
    """Return the classes in ascending order, refusing a column that has none."""
    place = f"{table.path}: the column {name!r}"
    if len(labels) < LEAST_ROWS:
        raise RowsError(
            f"{table.path}: {count(len(labels), 'row')}, expected {LEAST_ROWS} or more"
        )
    if None in labels:
        row = table.place(labels.index(None))
        raise RowsError(f"{row}: the column {name!r} is empty, expected a class")
    found = sorted(set(labels), key=lambda v: (not is_number(v), v))
    if not 2 <= len(found) <= MOST_CLASSES:
        raise RowsError(
            f"{place} has {count(len(found), 'different value')}, expected 2 to "
            f"{MOST_CLASSES} classes"
        )
    for label in found:
        if labels.count(label) < 2:
            raise RowsError(f"{place} has the class {text_of(label)!r} in one row only")
    if len(table.header) == 1:
        raise RowsError(f"{table.path}: there is no column besides {name!r}")
    return tuple(found)


def _frame(rows: list[dict[str, Value]]) -> Any:
    """Return typed columns: floats where all cells are numbers, objects elsewhere."""
    columns = {}
    for name in rows[0]:
        cells = [row[name] for row in rows]
        present = [cell for cell in cells if cell is not None]
        numbers = bool(present) and all(is_number(cell) for cell in present)
        columns[name] = pd.Series(cells, dtype=np.float64 if numbers else object)
    return pd.DataFrame(columns)


def _parts(
    table: Table, frame: Any, labels: list[Value], seed: int
) -> tuple[Part, Part]:
    """Split the rows, four fifths to train on, each class in proportion."""
    numbers = np.arange(len(labels))
    texts = [text_of(label) for label in labels]
    try:
        split = train_test_split(
            numbers, test_size=TEST_SHARE, random_state=seed, stratify=texts
        )
    except ValueError:  # fewer test rows than classes
        raise RowsError(
            f"{table.path}: {count(len(labels), 'row')} are too few for "
            f"{len(set(labels))} classes"
        ) from None
    train, test = (
        Part(
            frame.iloc[chosen].reset_index(drop=True),
            [labels[index] for index in chosen],
            [table.rows[index] for index in chosen],
        )
        for chosen in map(sorted, split)
    )
    return train, test


def _binned(frame: Any, train: Any) -> dict[str, Binned]:
    """Return how each column that has too many numbers is put into bins."""
    found = {}
    for name in frame.columns:
        if frame[name].dtype != np.float64 or frame[name].nunique() <= MOST_NUMBERS:
            continue
        missing = bool(frame[name].isna().any())
        for strategy in ("quantile", "uniform"):  # quarters may all have one edge
            step = _fitted(_bins(strategy, missing=missing), train[[name]])
            bins = step.transformer_list[0][1][-1] if missing else step
            edges = tuple(float(edge) for edge in bins.bin_edges_[0][1:-1])
            if edges:
                found[str(name)] = Binned(strategy, edges, missing)
                break
    return found


def _bins(strategy: str, *, missing: bool) -> Any:
    """Return what puts a column into bins; a missing number gets its own column."""
    bins = KBinsDiscretizer(
        N_BINS,
        encode="onehot-dense",
        strategy=strategy,
        quantile_method="averaged_inverted_cdf",
    )
    if not missing:
        return bins
    filled = make_pipeline(SimpleImputer(strategy="median"), bins)
    return FeatureUnion(
        [("bins", filled), ("missing", MissingIndicator(features="all"))]
    )


def _fitted(transformer: Any, cells: Any) -> Any:
    with warnings.catch_warnings():  # bins without width are left out, as they should
        warnings.simplefilter("ignore")
        return transformer.fit(cells)


def _domain(frame: Any, binned: dict[str, Binned]) -> Domain:
    features: list[Feature] = []
    for name in frame.columns:
        if name in binned:
            known = binned[name]
            features.append(Feature.bins(name, known.edges, missing=known.missing))
        else:
            column = Column(frame[name].unique().tolist())
            features.append(feature_of(name, column, listed=True))
    return Domain(tuple(features))


def _encoder(names: Sequence[str], binned: dict[str, Binned]) -> Any:
    """Return the preprocessing: bins for some columns, a column a value for others."""
    steps: list[tuple[str, Any, list[str]]] = [
        (f"bins {place}", _bins(known.strategy, missing=known.missing), [name])
        for place, (name, known) in enumerate(binned.items())
    ]
    others = [name for name in names if name not in binned]
    if others:
        values = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        steps.append(("values", values, others))
    return ColumnTransformer(steps)
