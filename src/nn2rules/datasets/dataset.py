"""What a data set is: a domain, classes, and rows with labels in two parts.

Rows are kept by column, because preparation and data frames work on columns; the
list of dicts that the rest of nn2rules reads is made from them on demand.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nn2rules.errors import MissingExtraError
from nn2rules.space import Domain, Value

if TYPE_CHECKING:
    import pandas as pd

# The shuffle that the shipped networks were trained on. `RandomState` and not
# `default_rng`: NumPy promises never to change the stream of the former.
_SPLIT_SEED = 123


@dataclass(frozen=True, repr=False)
class LabelledRows:
    """Rows of data and the class label of each.

    Parameters
    ----------
    columns : dict of str to list
        The values of each feature, one for each row. No label is among them.
    labels : list of str
        The class label of each row.

    Examples
    --------
    >>> part = LabelledRows({"color": ["red", "yellow"]}, ["ripe", "unripe"])
    >>> part
    LabelledRows(2 rows of 1 feature)
    >>> part.rows
    [{'color': 'red'}, {'color': 'yellow'}]
    >>> len(part), part.labels
    (2, ['ripe', 'unripe'])
    """

    columns: dict[str, list[Value]]
    labels: list[str]

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        rows, features = len(self), len(self.columns)
        return (
            f"LabelledRows({rows} row{'s' * (rows != 1)} "
            f"of {features} feature{'s' * (features != 1)})"
        )

    @cached_property
    def rows(self) -> list[dict[str, Value]]:
        """The rows as dicts from feature to value, without the labels."""
        names = tuple(self.columns)
        values = zip(*self.columns.values(), strict=True)
        return [dict(zip(names, row, strict=True)) for row in values]

    def to_frame(self) -> "pd.DataFrame":
        """Return a pandas data frame of the features, with a last column `label`.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.

        Examples
        --------
        >>> part = LabelledRows({"color": ["red", "yellow"]}, ["ripe", "unripe"])
        >>> part.to_frame()
            color   label
        0     red    ripe
        1  yellow  unripe
        """
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtraError("pandas", "pandas", "to_frame()") from None
        return pd.DataFrame({**self.columns, "label": self.labels})


class Parts(NamedTuple):
    """The training part and the test part of a data set."""

    train: LabelledRows
    test: LabelledRows


@dataclass(frozen=True)
class Dataset:
    """A data set, ready for a network over categorical features.

    Parameters
    ----------
    name, title : str
        What `load` calls it, and what people call it.
    domain : Domain
        Every feature with every value it can take, whether it occurs or not.
    classes : tuple of str
        The class labels. Of two classes, the first is what the paper calls 0.
    train, test : LabelledRows
        The two parts.
    source : str
        Whom to cite, and the licence.

    Examples
    --------
    >>> from nn2rules.datasets import load
    >>> tomato = load("tomato")
    >>> tomato.title, tomato.classes, tomato.train
    ('Ripe tomatoes', ('unripe', 'ripe'), LabelledRows(6 rows of 2 features))
    """

    name: str
    title: str
    domain: Domain
    classes: tuple[str, ...]
    train: LabelledRows
    test: LabelledRows
    source: str


def rows_of(names: Sequence[str], rows: Iterable[Sequence[Value]]) -> LabelledRows:
    """Return `rows`, each its values in the order of `names` and then its label.

    Examples
    --------
    >>> rows_of(["color"], [("red", "ripe"), ("yellow", "unripe")]).columns
    {'color': ['red', 'yellow']}
    """
    *values, labels = zip(*rows, strict=True)
    columns = {name: list(column) for name, column in zip(names, values, strict=True)}
    return LabelledRows(columns, [str(label) for label in labels])


def split(data: LabelledRows) -> Parts:
    """Shuffle `data`, always the same way; give 80% to training, the rest to test.

    Examples
    --------
    >>> data = rows_of(["number"], [(n, "even" if n % 2 == 0 else "odd")
    ...                             for n in range(10)])
    >>> train, test = split(data)
    >>> train.columns, test.columns
    ({'number': [4, 0, 7, 5, 8, 3, 1, 6]}, {'number': [9, 2]})
    """
    order = np.random.RandomState(_SPLIT_SEED).permutation(len(data)).tolist()
    n_train = len(data) * 4 // 5
    return Parts(_take(data, order[:n_train]), _take(data, order[n_train:]))


def _take(data: LabelledRows, indices: Sequence[int]) -> LabelledRows:
    columns = {
        name: [column[index] for index in indices]
        for name, column in data.columns.items()
    }
    return LabelledRows(columns, [data.labels[index] for index in indices])


def rename_labels(data: LabelledRows, renamed: Mapping[str, str]) -> LabelledRows:
    """Return the same rows with the label that `renamed` gives for each label.

    Examples
    --------
    >>> part = LabelledRows({"color": ["red", "green"]}, ["good", "bad"])
    >>> rename_labels(part, {"bad": "no", "good": "yes"}).labels
    ['yes', 'no']
    """
    return LabelledRows(data.columns, [renamed[label] for label in data.labels])


def merge_classes(dataset: Dataset, merged: Mapping[str, str]) -> Dataset:
    """Return `dataset` with every class replaced by the one that `merged` gives.

    The classes of the result are in the order in which `merged` first names them.

    Examples
    --------
    >>> from nn2rules.datasets import load
    >>> scale = load("balance-scale")
    >>> merge_classes(
    ...     scale, {"balanced": "level", "left": "tips", "right": "tips"}
    ... ).classes
    ('level', 'tips')
    """
    return replace(
        dataset,
        classes=tuple(dict.fromkeys(merged.values())),
        train=rename_labels(dataset.train, merged),
        test=rename_labels(dataset.test, merged),
    )
