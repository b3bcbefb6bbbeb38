"""Adult and Contraception: two surveys, shipped as published and prepared on loading.

The tables beside this module hold every published column but one: Adult's fnlwgt says
how many people a row stands for in the census, which is nothing a model should learn
from, and would nearly double the file.
"""

import bz2
import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from nn2rules.datasets.dataset import Dataset, LabelledRows, Parts, rename_labels, split
from nn2rules.space import Domain, Feature, Value

_METHODS = {"1": "no method", "2": "long-term", "3": "short-term"}


def raw_adult() -> Parts:
    """Return Adult's published columns, but for fnlwgt; missing values are None.

    Examples
    --------
    >>> raw_adult().train.rows[0]["capital-gain"]
    2174
    """
    return Parts(_read("adult.train.csv.bz2"), _read("adult.test.csv.bz2"))


def raw_contraception() -> Parts:
    """Return Contraceptive Method Choice's published columns, split as by `load`.

    Examples
    --------
    >>> raw_contraception().train.rows[0]["num-children"]
    2
    """
    return split(_contraception())


def load_adult() -> Dataset:
    """Return Adult: whether a person earns more than 50,000 dollars a year.

    The test part is the published one, and is prepared on its own.

    Examples
    --------
    >>> load_adult().domain.sizes
    (3, 8, 3, 14, 2, 3, 3, 3, 2)
    """
    train, test = raw_adult()
    return Dataset(
        name="adult",
        title="Adult Income",
        domain=_adult_domain(),
        classes=("<=50K", ">50K"),
        train=_prepare_adult(train),
        test=_prepare_adult(test),
        source="B. Becker and R. Kohavi: Adult, UCI Machine Learning Repository, "
        "1996, https://doi.org/10.24432/C5XW20, CC BY 4.0",
    )


def load_contraception() -> Dataset:
    """Return Contraceptive Method Choice: which method a woman uses, if any.

    Education and standard of living go from 1 (low) to 4 (high).

    Examples
    --------
    >>> load_contraception().classes
    ('no method', 'long-term', 'short-term')
    """
    train, test = split(_prepare_contraception(_contraception()))
    return Dataset(
        name="contraception",
        title="Contraceptive Method Choice",
        domain=_contraception_domain(),
        classes=tuple(_METHODS.values()),
        train=train,
        test=test,
        source="T.-S. Lim: Contraceptive Method Choice, UCI Machine Learning "
        "Repository, 1997, https://doi.org/10.24432/C59W2D, CC BY 4.0",
    )


def _adult_domain() -> Domain:
    education = (
        *("Bachelors", "Doctorate", "HS-grad", "Masters", "Prof-school", "School"),
        *("Some-college", "Voc"),
    )
    occupation = (
        *("Adm-clerical", "Armed-Forces", "Craft-repair", "Exec-managerial"),
        *("Farming-fishing", "Handlers-cleaners", "Machine-op-inspct"),
        *("Other-service", "Priv-house-serv", "Prof-specialty", "Protective-serv"),
        *("Sales", "Tech-support", "Transport-moving"),
    )
    return Domain(
        (
            _bins("age", "17–41", "42–65", "66–90"),
            _named("education", education, _EDUCATION),
            _named(
                "marital-status", ("divorced", "married", "not married"), _NOT_MARRIED
            ),
            Feature("occupation", occupation),
            Feature("sex", ("Female", "Male")),
            _bins("capital-gain", "0–4385", "4386–7688", "7689–99999"),
            _bins("capital-loss", "0–1740", "1741–1977", "1978–4356"),
            _bins("hours-per-week", "1–33", "34–66", "67–99"),
            _named(
                "native-country", ("Other", "United-States"), {"Other": "elsewhere"}
            ),
        )
    )


_SCHOOL = (
    *("Preschool", "1st-4th", "5th-6th", "7th-8th"),
    *("9th", "10th", "11th", "12th"),
)
_EDUCATION = {"School": "Preschool–12th", "Voc": "Assoc-acdm/voc"}
_NOT_MARRIED = {"not married": "never-married/separated/widowed"}
_MARRIED = ("Married-AF-spouse", "Married-civ-spouse", "Married-spouse-absent")


def _prepare_adult(table: LabelledRows) -> LabelledRows:
    filled = {name: fill_missing(column) for name, column in table.columns.items()}
    education = merge_values(
        filled["education"], {"School": _SCHOOL, "Voc": ("Assoc-acdm", "Assoc-voc")}
    )
    marital_status = merge_values(
        filled["marital-status"],
        {"divorced": ("Divorced",), "married": _MARRIED},
        others="not married",
    )
    country = merge_values(
        filled["native-country"], {"United-States": ("United-States",)}, others="Other"
    )
    columns = {
        "age": _binned(filled["age"]),
        "education": education,
        "marital-status": marital_status,
        "occupation": filled["occupation"],
        "sex": filled["sex"],
        "capital-gain": _binned(filled["capital-gain"]),
        "capital-loss": _binned(filled["capital-loss"]),
        "hours-per-week": _binned(filled["hours-per-week"]),
        "native-country": country,
    }
    return LabelledRows(columns, table.labels)


def _bins(name: str, *labels: str) -> Feature:
    """Return a feature of binned numbers, which says where its bins begin and end."""
    return Feature(name, BINS, ordered=True, labels=labels)


def _named(name: str, values: tuple[Value, ...], labels: Mapping[Any, str]) -> Feature:
    """Return a feature some of whose values stand for what their labels say."""
    shown = tuple(labels.get(value, str(value)) for value in values)
    return Feature(name, values, labels=shown)


def _contraception() -> LabelledRows:
    return rename_labels(_read("contraception.csv.bz2"), _METHODS)


def _contraception_domain() -> Domain:
    grades = (1, 2, 3, 4)
    return Domain(
        (
            _bins("age", "16–26", "27–38", "39–49"),
            Feature("wife-education", grades, ordered=True),
            Feature("husband-education", grades, ordered=True),
            _bins("num-children", "0–5", "6–10", "11–16"),
            _named("wife-religion", (0, 1), {0: "non-Islam", 1: "Islam"}),
            _named("wife-working", (0, 1), {0: "yes", 1: "no"}),
            Feature("husband-occupation", grades),
            Feature("standard-of-living", grades, ordered=True),
            _named("media-exposure", (0, 1), {0: "good", 1: "not-good"}),
        )
    )


def _prepare_contraception(table: LabelledRows) -> LabelledRows:
    """Bin two columns, with cuts taken from all rows: the split comes later."""
    binned = {name: _binned(table.columns[name]) for name in ("age", "num-children")}
    return LabelledRows({**table.columns, **binned}, table.labels)


def _binned(column: list[Value]) -> list[Value]:
    return bin_numbers(cast(list[int], column))


def _read(file_name: str) -> LabelledRows:
    """Return the table of a file beside this module, whose last column is `label`."""
    path = Path(__file__).with_name(file_name)
    with bz2.open(path, "rt", encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    *columns, labels = zip(*rows, strict=True)
    names = header[:-1]
    return LabelledRows(
        {name: _values(cells) for name, cells in zip(names, columns, strict=True)},
        list(labels),
    )


def _values(cells: tuple[str, ...]) -> list[Value]:
    if all(cell.isdecimal() for cell in cells):
        return [int(cell) for cell in cells]
    return [None if cell == "?" else cell for cell in cells]


# A few values for each column, as the paper prepares them

BINS = ("low", "mid", "high")
"""The values of a binned number, in order."""


def fill_missing(column: Sequence[Value]) -> list[Value]:
    """Replace None by the most frequent value of the column.

    Examples
    --------
    >>> fill_missing(["Sales", None, "Craft", "Sales"])
    ['Sales', 'Sales', 'Craft', 'Sales']
    """
    counts = Counter(value for value in column if value is not None)
    ((most_frequent, _),) = counts.most_common(1)
    return [most_frequent if value is None else value for value in column]


def cut_points(numbers: Sequence[float]) -> tuple[float, float]:
    """Return the two numbers between which a value is neither low nor high.

    Where more than a third of the numbers are the smallest one (most people have no
    capital gain), the cuts are the 33rd and 67th percentile of the others; likewise
    for the largest. Otherwise they lie at 33% and 67% of the range.

    Examples
    --------
    >>> cut_points([0, 50, 100])
    (33.0, 67.0)
    >>> cut_points([0, 0, 0, 10, 11, 12, 13])
    (10.99, 12.01)
    """
    smallest, largest = min(numbers), max(numbers)
    for extreme in (smallest, largest):
        others = [number for number in numbers if number != extreme]
        if 3 * (len(numbers) - len(others)) > len(numbers):
            first, second = np.percentile(others, (33, 67))
            return float(first), float(second)
    width = largest - smallest
    return smallest + 0.33 * width, smallest + 0.67 * width


def bin_numbers(numbers: Sequence[float]) -> list[Value]:
    """Replace numbers by low, mid and high; a number on a cut is mid.

    Examples
    --------
    >>> bin_numbers([0, 33, 67, 68, 100])
    ['low', 'mid', 'mid', 'high', 'high']
    """
    first, second = cut_points(numbers)
    low, mid, high = BINS
    return [
        low if number < first else high if number > second else mid
        for number in numbers
    ]


def merge_values(
    column: Sequence[Value],
    groups: Mapping[str, Sequence[str]],
    *,
    others: str | None = None,
) -> list[Value]:
    """Replace every value by the name of the group that lists it.

    A value that no group lists becomes `others`, or stays as it is if that is None.

    Examples
    --------
    >>> merge_values(["9th", "10th", "Masters"], {"School": ("9th", "10th")})
    ['School', 'School', 'Masters']
    """
    group_of: dict[Value, str] = {
        value: group for group, values in groups.items() for value in values
    }
    if others is None:
        return [group_of.get(value, value) for value in column]
    return [group_of.get(value, others) for value in column]
