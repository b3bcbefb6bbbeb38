"""Columns as yes-or-no questions: the inputs of the nets that are trained.

A column of numbers has cells between its cuts. The categories of a column are ordered
by the classes they occur with and put into cells, too. So a column is a sequence of
cells. Each cut is a question, *is the cell behind this cut?*, and a column of numbers
with gaps has one more: *is it missing?* Training keeps few of these questions. What
they tell apart becomes the values of a feature.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import RowsError
from nn2rules.learn.training.targets import Floats, Targets
from nn2rules.space import (
    Column,
    Feature,
    Rows,
    Value,
    are_whole,
    cells_of,
    is_missing,
    is_number,
    observed_columns,
    value_of,
)

_FEWEST = 5
_SHARE = 200
"""A cut leaves this share of the rows, and five, on each side, and may move as far."""


def cuts_of(numbers: Floats, targets: Targets, most: int) -> list[float]:
    """Return where numbers may be cut, with at most this many cuts.

    If there are few different numbers, all are told apart. Otherwise the cuts are those
    that separate the classes best, found by a small tree on this column alone, and the
    quartiles, since a column may matter only together with another one.

    Examples
    --------
    >>> ages = np.repeat(np.arange(17.0, 80), 20)
    >>> cuts_of(ages, Targets.of_labels((ages > 40.5).astype(int)), most=4)
    [32, 41, 48, 64]
    """
    kept = np.unique(numbers)
    if len(kept) <= most + 1:
        pairs = zip(kept[:-1].tolist(), kept[1:].tolist(), strict=True)
        return [roundest(low, high) for low, high in pairs]
    ranked = _Ranked.of(numbers, targets.weights)
    reach, cuts = max(1.0, ranked.total // _SHARE), dict[float, None]()
    for cut in (*_by_tree(numbers, targets, most), *ranked.quartiles()):
        place = ranked.weight_below(cut)
        low, high = ranked.number_at(place - reach), ranked.number_at(place + reach)
        if low < high and len(cuts) < most:
            cuts[roundest(low, high)] = None
    return sorted(cuts)


class _Ranked(NamedTuple):
    """Numbers in ascending order, and the weight of the rows up to each."""

    numbers: Floats
    passed: Floats

    @classmethod
    def of(cls, numbers: Floats, weights: Floats) -> "_Ranked":
        order = np.argsort(numbers, kind="stable")
        return cls(numbers[order], np.cumsum(weights[order]))

    @property
    def total(self) -> float:
        return float(self.passed[-1])

    def weight_below(self, number: float) -> float:
        """Return the weight of the rows with smaller numbers."""
        place = int(np.searchsorted(self.numbers, number))
        return float(self.passed[place - 1]) if place else 0.0

    def number_at(self, weight: float) -> float:
        """Return the first number up to which the rows have more than this weight."""
        place = int(np.searchsorted(self.passed, max(0.0, weight), side="right"))
        return float(self.numbers[min(place, len(self.numbers) - 1)])

    def quartiles(self) -> list[float]:
        return [self.number_at(self.total * part // 4) for part in (2, 1, 3)]


def _by_tree(numbers: Floats, targets: Targets, most: int) -> list[float]:
    """Return the cuts of a small tree, best first."""
    from sklearn.tree import DecisionTreeRegressor

    total = targets.n_rows
    fewest = max(_FEWEST, total // _SHARE) - _ROUNDING
    tree = DecisionTreeRegressor(
        max_leaf_nodes=max(2, most - 1),
        min_weight_fraction_leaf=min(0.5, fewest / total),
        random_state=0,
    ).fit(numbers[:, np.newaxis], targets.shares, targets.weights)
    inner = tree.tree_.feature >= 0  # best first: so grown, so numbered
    return [float(cut) for cut in tree.tree_.threshold[inner]]


_ROUNDING = 1e-6
"""More than the rounding error of a sum of weights."""


def roundest(low: float, high: float) -> float:
    """Return the number above `low` and up to `high` that has the fewest digits.

    Examples
    --------
    >>> roundest(6849, 7298), roundest(-3, 2), roundest(0.123, 0.124), roundest(17, 18)
    (7000, 0, 0.124, 18)
    """
    if low < 0 <= high:
        return 0
    size = max(abs(low), abs(high))
    for digits in range(1, 18):
        unit = math.floor(math.log10(size)) - digits + 1
        for step in (5, 2, 1):
            times = math.floor(high / (step * 10.0**unit))
            for near in (times, times - 1):  # the quotient may be rounded up
                number = float(f"{near * step}e{unit}")
                if low < number <= high:
                    return int(number) if number.is_integer() else number
    return high


def class_shares(
    places: NDArray[np.int64], targets: Targets, n_categories: int
) -> Floats:
    """Return a number for each category that orders them by their classes.

    With two classes it is the share of one. With more, it is the position along the
    direction in which the shares differ most. A category with few rows is shrunk
    towards the average.

    Parameters
    ----------
    places : ndarray of shape (n_rows,)
        The category of each row, as its position.
    targets : Targets
    """
    counts = np.zeros((n_categories, targets.n_classes))
    np.add.at(counts, places, targets.shares * targets.weights[:, np.newaxis])
    overall = counts.sum(axis=0) / counts.sum()
    totals = counts.sum(axis=1, keepdims=True)
    shares = (counts + _PRIOR_ROWS * overall) / (totals + _PRIOR_ROWS)
    apart = shares - overall
    weighted = apart * np.sqrt(totals)
    direction = np.linalg.svd(weighted, full_matrices=False)[2][0]
    sign = np.sign(direction[np.argmax(np.abs(direction))])
    shown: Floats = apart @ (direction * sign)
    return shown


_PRIOR_ROWS = 10.0
"""As if this many more rows had the average classes."""


def rare(counts: Sequence[float], n_rows: float) -> list[bool]:
    """Tell which categories have too few rows to learn anything about each."""
    least = max(min(_FEWEST, n_rows // 20), n_rows // (2 * _SHARE))
    return [count < least for count in counts]


class _Sign(Enum):  # a member stays itself in another process, as no plain object does
    OTHERS = "others"


OTHERS = _Sign.OTHERS
"""Stands for every category that is not listed."""


@dataclass(frozen=True)
class Cells:
    """The cells of one column, and the questions that tell them apart.

    Attributes
    ----------
    name : str
    cuts : tuple of numbers
        For numbers: where each cell but the first begins. None for categories.
    categories : tuple of tuples
        For categories: those in each cell, including OTHERS. None for numbers.
    like : int or None
        For numbers with gaps: the cell whose classes are most like those of missing.
    whole : bool
        Whether the numbers are whole.
    is_ordered : bool
        Whether the order of the cells is that of numbers, or of categories.
    """

    name: str
    cuts: tuple[float, ...] | None
    categories: tuple[tuple[Any, ...], ...] | None
    like: int | None = None
    whole: bool = False
    is_ordered: bool = True

    @property
    def n_cuts(self) -> int:
        """The number of questions about the order."""
        if self.cuts is not None:
            return len(self.cuts)
        assert self.categories is not None, "a column has numbers or categories"
        return len(self.categories) - 1

    @property
    def n_questions(self) -> int:
        """The number of questions; the one about missing is the last."""
        return self.n_cuts + (self.like is not None)

    @property
    def answers(self) -> NDArray[np.bool_]:
        """The answer of each cell to each question; the row of missing is last."""
        rows = np.tri(self.n_cuts + 1, self.n_cuts, -1, dtype=np.bool_)
        if self.like is None:
            return rows
        rows = np.vstack([rows, rows[self.like]])
        asked = np.zeros((len(rows), 1), dtype=np.bool_)
        asked[-1] = True
        return np.hstack([rows, asked])

    def places(self, column: Sequence[object]) -> NDArray[np.int64]:
        """Return the cell of each row."""
        if self.cuts is not None:
            return np.array([self._of_number(cell) for cell in column], dtype=np.int64)
        assert self.categories is not None, "a column has numbers or categories"
        place_of = {
            category: i for i, cell in enumerate(self.categories) for category in cell
        }
        rest = place_of.get(OTHERS, 0)  # where there are none, a fold may have fewer
        known = {
            category: place_of.get(_category(category), rest)
            for category in set(map(_category, column))
        }
        return np.array([known[_category(cell)] for cell in column], dtype=np.int64)

    def _of_number(self, cell: Any) -> int:
        assert self.cuts is not None, "asked only of numbers"
        if is_missing(cell):
            if self.like is None:  # no rows to learn from; the middle does least harm
                return (self.n_cuts + 1) // 2
            return self.n_cuts + 1
        return bisect_right(self.cuts, cell)

    def feature(self, kept: Sequence[int]) -> tuple[Feature, NDArray[np.int64]]:
        """Return a feature whose values are what the `kept` questions tell apart.

        The second result is the row of `answers` for each of its values.
        """
        cuts = [question for question in kept if question < self.n_cuts]
        firsts = np.array([0, *(cut + 1 for cut in cuts)], dtype=np.int64)
        if self.cuts is not None:
            edges = tuple(self.cuts[cut] for cut in cuts)
            has_gaps = self.like is not None
            if has_gaps:
                firsts = np.append(firsts, self.n_cuts + 1)
            if not edges:  # only whether it is missing matters
                return _grouped(self.name, [[OTHERS], [None]]), firsts
            whole = self.whole and all(isinstance(edge, int) for edge in edges)
            feature = Feature.bins(self.name, edges, missing=has_gaps, whole=whole)
            return feature, firsts
        assert self.categories is not None, "a column has numbers or categories"
        ends = [*firsts[1:].tolist(), len(self.categories)]
        groups = [
            [category for cell in self.categories[first:end] for category in cell]
            for first, end in zip(firsts.tolist(), ends, strict=True)
        ]
        return _grouped(self.name, groups), firsts


def _category(cell: object) -> Value:
    return None if is_missing(cell) else value_of(cell)


def _grouped(name: str, groups: Sequence[Sequence[Any]]) -> Feature:
    """Return a feature of groups of categories, one of which includes OTHERS."""
    rest = next((place for place, group in enumerate(groups) if OTHERS in group), None)
    listed = [
        [category for category in group if category is not OTHERS] for group in groups
    ]
    return Feature.grouped(name, listed, other=rest)


def columns_of(
    rows: Rows, names: Sequence[str], targets: Targets, most: int
) -> list[Cells]:
    """Return the cells of each column with at least one question.

    Parameters
    ----------
    rows : frame or list of dicts
    names : sequence of str
        The columns.
    targets : Targets
    most : int
        The maximum number of cuts per column.
    """
    listed = cells_of(rows, names)
    seen = observed_columns(rows, names)
    listed_columns = [
        _cells(name, cells, column, targets, most)
        for name, cells, column in zip(names, listed, seen, strict=True)
    ]
    return [cells for cells in listed_columns if cells.n_questions]


def _cells(
    name: str,
    cells: Sequence[object],
    column: Column,
    targets: Targets,
    most: int,
) -> Cells:
    present = np.array([not is_missing(cell) for cell in cells])
    values = [value_of(cell) for cell in cells]
    numbers = [value for value in values if value is not None]
    is_numeric = column.categories is None and all(map(is_number, numbers))
    if is_numeric and numbers:
        return _of_numbers(name, values, present, targets, most)
    return _of_categories(name, values, column, targets, most)


def _of_numbers(
    name: str,
    values: Sequence[Value],
    present: NDArray[np.bool_],
    targets: Targets,
    most: int,
) -> Cells:
    numbers = np.array([v for v in values if v is not None], dtype=np.float64)
    cuts = tuple(cuts_of(numbers, targets.part(present), most))
    whole = are_whole(values)
    if present.all():
        return Cells(name, cuts, None, whole=whole)
    made = Cells(name, cuts, None, like=0, whole=whole)
    places = made.places(values)
    parts = [targets.part(places == place).total for place in range(len(cuts) + 2)]
    means = [part / max(part.sum(), _ROUNDING) for part in parts]
    apart = [float(np.abs(mean - means[-1]).sum()) for mean in means[:-1]]
    return Cells(name, cuts, None, like=int(np.argmin(apart)), whole=whole)


def _of_categories(
    name: str,
    values: Sequence[Value],
    column: Column,
    targets: Targets,
    most: int,
) -> Cells:
    """Put categories into cells: in their own order, or else ordered by class.

    Categories with few rows are treated like unseen ones.
    """
    counts = _weights_of(values, targets.weights)
    is_ordered = column.categories is not None and column.is_ordered
    listed: list[Any] = [value_of(item) for item in column.categories or ()]
    if not is_ordered:
        listed = sorted(
            counts, key=lambda category: (str(type(category)), str(category))
        )
        few = rare([counts[category] for category in listed], targets.n_rows)
        pairs = zip(listed, few, strict=True)
        listed = [category for category, is_rare in pairs if not is_rare]
    beside = [None, OTHERS] if is_ordered and None in counts else [OTHERS]
    if all(isinstance(category, bool) for category in counts if category is not None):
        beside = []  # there is no third value
        listed = sorted(counts, key=str)
    items = [*listed, *beside]
    place_of = {category: place for place, category in enumerate(items)}
    places = np.array([place_of.get(v, len(items) - 1) for v in values], dtype=np.int64)
    shares = class_shares(places, targets, len(items))
    order = [*range(len(items))]
    if not is_ordered:
        order = [int(place) for place in np.argsort(shares, kind="stable")]
        places, beside = np.argsort(order)[places], []
    inside = places < len(items) - len(beside)
    cuts = cuts_of(places[inside].astype(np.float64), targets.part(inside), most)
    ends = [0, *(int(np.ceil(cut)) for cut in cuts), len(items) - len(beside)]
    cells = [[items[order[p]] for p in range(a, b)] for a, b in pairwise(ends)]
    for place, category in enumerate(beside, start=len(listed)):
        nearest = int(np.argmin(np.abs(shares[: len(listed)] - shares[place])))
        cells[bisect_right(ends, nearest) - 1].append(category)
    if None in counts and not any(None in cell for cell in cells):
        # Too few rows to learn from; but missing is not one of the other categories.
        next(cell for cell in cells if OTHERS in cell).append(None)
    return Cells(name, None, tuple(map(tuple, cells)), is_ordered=is_ordered)


def _weights_of(values: Sequence[Value], weights: Floats) -> dict[Value, float]:
    """Return the weight of the rows that have each value."""
    totals: dict[Value, float] = {}
    for value, weight in zip(values, weights.tolist(), strict=True):
        totals[value] = totals.get(value, 0.0) + weight
    return totals


def answer_table(columns: Sequence[Cells], rows: Rows) -> NDArray[np.bool_]:
    """Return the answers of each row to the questions of all columns."""
    if not columns:
        raise RowsError("every column has the same value in all rows")
    listed = cells_of(rows, [column.name for column in columns])
    return np.hstack(
        [
            column.answers[column.places(cells)]
            for column, cells in zip(columns, listed, strict=True)
        ]
    )
