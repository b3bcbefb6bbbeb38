"""Car Evaluation and Nursery, computed from the decision tables behind them.

Both sets are complete: every input occurs once, labelled by an expert system of the
DEX kind, a tree of small tables. A table maps grades (0, 1, 2, …) of its arguments to
a grade of a concept; the last concept is the class. The tables here were recovered
from the published rows. They give these back, in the published order, and are unique
up to the names of the inner grades.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nn2rules.datasets.dataset import Dataset, LabelledRows, split
from nn2rules.space import Domain, Feature


@dataclass(frozen=True)
class DexModel:
    """A tree of decision tables.

    Parameters
    ----------
    features : dict of str to str
        The values of each feature, separated by spaces, in grade order.
    classes : str
        The values of the last concept, separated by spaces.
    tables : tuple of (concept, arguments, grades)
        The grades are digits, one for each combination of the arguments, the last
        argument changing fastest. Spaces among them are for the eye.
    """

    features: dict[str, str]
    classes: str
    tables: tuple[tuple[str, str, str], ...]


_CAR = DexModel(
    features={
        "buying": "vhigh high med low",
        "maint": "vhigh high med low",
        "doors": "2 3 4 5more",
        "persons": "2 4 more",
        "lug_boot": "small med big",
        "safety": "low med high",
    },
    classes="unacc acc good vgood",
    tables=(
        ("PRICE", "buying maint", "0011 0111 1123 1233"),
        (
            "COMFORT",
            "doors persons lug_boot",
            "000 112 012  000 112 122  000 122 122  000 122 122",
        ),
        ("TECH", "COMFORT safety", "000 012 023"),
        ("CAR", "PRICE TECH", "0000 0011 0113 0123"),
    ),
)

_NURSERY = DexModel(
    features={
        "parents": "usual pretentious great_pret",
        "has_nurs": "proper less_proper improper critical very_crit",
        "form": "complete completed incomplete foster",
        "children": "1 2 3 more",
        "housing": "convenient less_conv critical",
        "finance": "convenient inconv",
        "social": "nonprob slightly_prob problematic",
        "health": "recommended priority not_recom",
    },
    classes="not_recom recommend very_recom priority spec_prior",
    tables=(
        ("EMPLOY", "parents has_nurs", "01123 11233 22333"),
        ("STRUCTURE", "form children", "0122 1122 1222 2222"),
        (
            "STRUCT_FINAN",
            "STRUCTURE housing finance",
            "01 11 11  11 11 22  12 22 22",
        ),
        ("SOC_HEALTH", "social health", "120 120 220"),
        (
            "NURSERY",
            "EMPLOY STRUCT_FINAN SOC_HEALTH",
            "013 023 033  023 023 033  033 033 034  033 034 044",
        ),
    ),
)


def load_car() -> Dataset:
    """Return Car Evaluation: whether a car is acceptable, by price and technology.

    Examples
    --------
    >>> load_car().classes
    ('unacc', 'acc', 'good', 'vgood')
    """
    return _dataset(
        _CAR,
        name="car",
        title="Car Evaluation",
        source="M. Bohanec: Car Evaluation, UCI Machine Learning Repository, 1988, "
        "https://doi.org/10.24432/C5JP48, CC BY 4.0",
    )


def load_nursery() -> Dataset:
    """Return Nursery: how urgent an application to a nursery school is.

    Examples
    --------
    >>> load_nursery().classes
    ('not_recom', 'recommend', 'very_recom', 'priority', 'spec_prior')
    """
    return _dataset(
        _NURSERY,
        name="nursery",
        title="Nursery",
        source="V. Rajkovic and others: Nursery, UCI Machine Learning Repository, "
        "1989, https://doi.org/10.24432/C5P88W, CC BY 4.0",
    )


def complete_rows(model: DexModel) -> LabelledRows:
    """Return every input of `model` with its class, the last feature fastest.

    Examples
    --------
    >>> model = DexModel(
    ...     features={"price": "high low", "speed": "slow fast"},
    ...     classes="no maybe yes",
    ...     tables=(("CAR", "price speed", "00 12"),),
    ... )
    >>> for row, label in zip(complete_rows(model).rows, complete_rows(model).labels):
    ...     print(*row.values(), label)
    high slow no
    high fast no
    low slow maybe
    low fast yes
    """
    values = {name: text.split() for name, text in model.features.items()}
    sizes = {name: len(names) for name, names in values.items()}
    inputs = np.indices(tuple(sizes.values())).reshape(len(sizes), -1)
    grades: dict[str, NDArray[np.int64]] = dict(zip(values, inputs, strict=True))
    for concept, arguments, digits in model.tables:
        names = arguments.split()
        table = np.array([int(digit) for digit in digits.replace(" ", "")])
        table = table.reshape([sizes[name] for name in names])
        grades[concept] = table[tuple(grades[name] for name in names)]
        sizes[concept] = int(table.max()) + 1
    columns = {
        name: [names[grade] for grade in grades[name]] for name, names in values.items()
    }
    classes, (last, _, _) = model.classes.split(), model.tables[-1]
    return LabelledRows(columns, [classes[grade] for grade in grades[last]])


# Only where the words say which comes first may a rule print ≤ between them.
_ORDERS = (
    ("low", "med", "high", "vhigh"),
    ("low", "med", "high"),
    ("small", "med", "big"),
    ("2", "3", "4", "5more"),
    ("2", "4", "more"),
    ("1", "2", "3", "more"),
)


def _feature(name: str, values: tuple[str, ...]) -> Feature:
    """Return a feature, its values in their natural order if they have one."""
    for order in _ORDERS:
        if set(order) == set(values):
            return Feature(name, order, ordered=True)
    return Feature(name, values)


def _dataset(model: DexModel, *, name: str, title: str, source: str) -> Dataset:
    features = (
        _feature(feature, tuple(values.split()))
        for feature, values in model.features.items()
    )
    train, test = split(complete_rows(model))
    return Dataset(
        name=name,
        title=title,
        domain=Domain(tuple(features)),
        classes=tuple(model.classes.split()),
        train=train,
        test=test,
        source=source,
    )
