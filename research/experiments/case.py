"""What an experiment is run on: a data set with its two parts, ready for a network."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd
from sklearn.preprocessing import OneHotEncoder

from nn2rules import datasets
from nn2rules.errors import OptionError
from nn2rules.space.domain import Domain
from nn2rules.space.values import Value

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
