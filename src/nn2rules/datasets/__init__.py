"""Data sets to try nn2rules on, and trained networks for some of them.

>>> from nn2rules import datasets
>>> car = datasets.load("car")
>>> car.classes, car.domain.names
(('unacc', 'acc'), ('buying', 'maint', 'doors', 'persons', 'lug_boot', 'safety'))
>>> car.train, car.test
(LabelledRows(1382 rows of 6 features), LabelledRows(346 rows of 6 features))
>>> car.train.rows[1]["safety"], car.train.labels[1]
('low', 'unacc')

The paper's four are adult, car, contraception and nursery, prepared and split as its
networks saw them (`surveys`, `dex`); the others follow from a definition (`generated`).
`dataset` has the value `Dataset`. Nothing is downloaded. Imports `space`.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Literal, get_args

from nn2rules.datasets import dex, generated, surveys
from nn2rules.datasets.dataset import (
    Dataset,
    LabelledRows,
    Parts,
    merge_classes,
    rename_labels,
)
from nn2rules.errors import OptionError

__all__ = [
    "DATASETS",
    "NETWORKS",
    "RAW",
    "TABLES",
    "Dataset",
    "LabelledRows",
    "Parts",
    "load",
    "network_file",
    "raw",
    "table_file",
]

Labels = Literal["paper", "original"]

DATASETS: dict[str, Callable[[], Dataset]] = {
    "adult": surveys.load_adult,
    "balance-scale": generated.load_balance_scale,
    "car": dex.load_car,
    "contraception": surveys.load_contraception,
    "monks-1": partial(generated.load_monks, 1),
    "monks-2": partial(generated.load_monks, 2),
    "monks-3": partial(generated.load_monks, 3),
    "nursery": dex.load_nursery,
    "tic-tac-toe": generated.load_tic_tac_toe,
    "tomato": generated.load_tomato,
}
"""What `load` knows: name → function that returns the set with its original labels."""

RAW: dict[str, Callable[[], Parts]] = {
    "adult": surveys.raw_adult,
    "contraception": surveys.raw_contraception,
}
"""What `raw` knows."""

NETWORKS = ("adult", "car", "contraception", "nursery", "tomato")
"""What `network_file` knows."""

TABLES = ("loans",)
"""What `table_file` knows."""

_PAPER_CLASSES: dict[str, dict[str, str]] = {
    "car": {"unacc": "unacc", "acc": "acc", "good": "acc", "vgood": "acc"},
    "contraception": {
        "no method": "no method",
        "long-term": "method",
        "short-term": "method",
    },
    "nursery": {
        "not_recom": "other",
        "recommend": "other",
        "very_recom": "other",
        "priority": "priority",
        "spec_prior": "priority",
    },
}


def load(name: str, *, labels: Labels = "paper") -> Dataset:
    """Return the data set called `name`.

    Parameters
    ----------
    name : str
        One of `DATASETS`.
    labels : {"paper", "original"}
        The paper makes two classes of the four of car, the three of contraception
        and the five of nursery; `"original"` keeps them apart. All other sets have
        the same labels either way.

    Raises
    ------
    OptionError
        If there is no such data set.

    Examples
    --------
    >>> nursery = load("nursery", labels="original")
    >>> nursery.classes
    ('not_recom', 'recommend', 'very_recom', 'priority', 'spec_prior')
    >>> load("nursery").classes
    ('other', 'priority')
    """
    _refuse_unknown("data set", name, DATASETS)
    _refuse_unknown("kind of labels", labels, get_args(Labels))
    dataset = DATASETS[name]()
    if labels == "paper" and name in _PAPER_CLASSES:
        return merge_classes(dataset, _PAPER_CLASSES[name])
    return dataset


def raw(name: str, *, labels: Labels = "paper") -> Parts:
    """Return the columns of a survey as published, before any preparation.

    Row for row these are the rows of ``load(name)``. Numbers are integers, and a
    missing value (`?` in the published file) is None. Adult comes without fnlwgt, a
    sampling weight.

    Parameters
    ----------
    name : str
        One of `RAW`.
    labels : {"paper", "original"}
        As for `load`.

    Returns
    -------
    train, test : LabelledRows

    Raises
    ------
    OptionError
        If no columns of that name are shipped.

    Examples
    --------
    >>> train, test = raw("contraception")
    >>> train.columns["age"][:5]
    [48, 29, 26, 25, 28]
    >>> load("contraception").train.columns["age"][:5]
    ['high', 'mid', 'low', 'low', 'mid']
    """
    _refuse_unknown("raw data set", name, RAW)
    _refuse_unknown("kind of labels", labels, get_args(Labels))
    train, test = RAW[name]()
    if labels == "paper" and name in _PAPER_CLASSES:
        merged = _PAPER_CLASSES[name]
        return Parts(rename_labels(train, merged), rename_labels(test, merged))
    return Parts(train, test)


def network_file(name: str) -> Path:
    """Return the JSON file of a network trained on the training part of `name`.

    It has two hidden layers of 6 and 3 ReLU units and one sigmoid output; tomato's is
    the network printed in the paper, with one hidden layer of 2.

    Raises
    ------
    OptionError
        If no network of that name is shipped.

    Examples
    --------
    >>> network_file("car").name
    'car.json'
    """
    _refuse_unknown("network", name, NETWORKS)
    return Path(__file__).parent / "networks" / f"{name}.json"


def table_file(name: str) -> Path:
    """Return a CSV file to try nn2rules on, as a data scientist would get it.

    `loans` has 1,200 synthetic loans: monthly income, debt, years in the present job,
    late payments and housing of a borrower, and `paid`, whether the loan was paid back.

    Raises
    ------
    OptionError
        If no table of that name is shipped.

    Examples
    --------
    >>> table_file("loans").read_text().splitlines()[0]
    'income,debt,years_in_job,late_payments,housing,paid'
    """
    _refuse_unknown("table", name, TABLES)
    return Path(__file__).parent / f"{name}.csv"


def _refuse_unknown(
    kind: str, name: str, known: Mapping[str, object] | tuple[str, ...]
) -> None:
    if name not in known:
        raise OptionError(f"there is no {kind} {name!r}; there are {', '.join(known)}")
