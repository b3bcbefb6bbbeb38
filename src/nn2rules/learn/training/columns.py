"""Columns as questions with the answers yes and no: the inputs of what is trained.

A column of numbers has cells between its cuts. A column of words has its words in the
order of the classes they come with, put into cells likewise. So a column is cells from
first to last, each cut asks *is the cell behind here?*, and a column of numbers with
gaps asks one thing more: *is it missing?* Training keeps few of these questions; what
they tell apart becomes the values of a feature.
"""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import RowsError
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
"""A cut leaves one row of so many, and five, on either side, and may move as far."""


def cuts_of(
    numbers: NDArray[np.float64], truth: NDArray[np.int64], most: int
) -> list[float]:
    """Return where numbers may be cut, at most so often.

    Few different numbers are all told apart. Of many, those cuts are taken that
    separate the classes best, found by a small tree on this column alone, and the
    quartiles, since what matters only together with another column has no cut there.

    Examples
    --------
    >>> ages = np.repeat(np.arange(17.0, 80), 20)
    >>> cuts_of(ages, (ages > 40.5).astype(int), most=4)
    [32, 41, 48, 64]
    """
    kept = np.unique(numbers)
    if len(kept) <= most + 1:
        pairs = zip(kept[:-1].tolist(), kept[1:].tolist(), strict=True)
        return [roundest(low, high) for low, high in pairs]
    ranked, n_rows = np.sort(numbers), len(numbers)
    found: dict[float, None] = {}
    for cut in (*_by_tree(numbers, truth, most), *_quartiles(ranked)):
        place, reach = int(np.searchsorted(ranked, cut)), max(1, n_rows // _SHARE)
        low = ranked[max(0, place - reach)]
        high = ranked[min(n_rows - 1, place + reach)]
        if low < high and len(found) < most:
            found[roundest(float(low), float(high))] = None
    return sorted(found)


def _by_tree(
    numbers: NDArray[np.float64], truth: NDArray[np.int64], most: int
) -> list[float]:
    """Return the cuts of a small tree, those that separate the classes best first."""
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(
        max_leaf_nodes=max(2, most - 1),
        min_samples_leaf=max(_FEWEST, len(numbers) // _SHARE),
        random_state=0,
    ).fit(numbers[:, np.newaxis], truth)
    inner = tree.tree_.feature >= 0  # best first: so grown, so numbered
    return [float(cut) for cut in tree.tree_.threshold[inner]]


def _quartiles(ranked: NDArray[np.float64]) -> list[float]:
    return [float(ranked[len(ranked) * part // 4]) for part in (2, 1, 3)]


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
    places: NDArray[np.int64], truth: NDArray[np.int64], n_words: int
) -> NDArray[np.float64]:
    """Return a number for each word by which those with like classes lie together.

    Of two classes it is the share of one. Of more, it is the place along the direction
    in which the shares differ most. A word of few rows is drawn towards all rows.

    Parameters
    ----------
    places : ndarray of shape (n_rows,)
        The word of each row, as its place among all.
    truth : ndarray of shape (n_rows,)
        The position of the class of each row.
    """
    counts = np.zeros((n_words, int(truth.max()) + 1))
    np.add.at(counts, (places, truth), 1.0)
    overall = counts.sum(axis=0) / counts.sum()
    shares = (counts + _DRAWN * overall) / (counts.sum(axis=1, keepdims=True) + _DRAWN)
    apart = shares - overall
    weighted = apart * np.sqrt(counts.sum(axis=1, keepdims=True))
    direction = np.linalg.svd(weighted, full_matrices=False)[2][0]
    sign = np.sign(direction[np.argmax(np.abs(direction))])
    shown: NDArray[np.float64] = apart @ (direction * sign)
    return shown


_DRAWN = 10.0
"""As if so many rows more had the classes as all rows have them."""


def rare(counts: Sequence[int], n_rows: int) -> list[bool]:
    """Tell which words have so few rows that nothing can be learnt of each alone."""
    least = max(min(_FEWEST, n_rows // 20), n_rows // (2 * _SHARE))
    return [count < least for count in counts]


class _Sign(Enum):  # a member stays itself in another process, as no plain object does
    OTHERS = "others"


OTHERS = _Sign.OTHERS
"""Stands for every word that is not listed, in a list of words."""


@dataclass(frozen=True)
class Cells:
    """The cells of one column, and the questions that tell them apart.

    Attributes
    ----------
    name : str
    cuts : tuple of numbers
        Of numbers: where each cell but the first begins. None for words.
    words : tuple of tuples
        Of words: those in each cell, OTHERS among them. None for numbers.
    like : int or None
        Of numbers with gaps: the cell that a missing one is like.
    whole : bool
        Whether the numbers are whole.
    is_ordered : bool
        Whether the order of the cells is that of numbers, or of categories.
    """

    name: str
    cuts: tuple[float, ...] | None
    words: tuple[tuple[Any, ...], ...] | None
    like: int | None = None
    whole: bool = False
    is_ordered: bool = True

    @property
    def n_cuts(self) -> int:
        """How many questions ask for a place in the order."""
        if self.cuts is not None:
            return len(self.cuts)
        assert self.words is not None, "a column has numbers or words"
        return len(self.words) - 1

    @property
    def n_questions(self) -> int:
        """How many questions there are; that for a missing number is the last."""
        return self.n_cuts + (self.like is not None)

    @property
    def answers(self) -> NDArray[np.bool_]:
        """What each cell answers to each question; a missing number's row is last."""
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
        assert self.words is not None, "a column has numbers or words"
        place_of = {word: i for i, cell in enumerate(self.words) for word in cell}
        rest = place_of.get(OTHERS, 0)  # where there are none, a fold may have fewer
        known = {
            word: place_of.get(_word(word), rest) for word in set(map(_word, column))
        }
        return np.array([known[_word(cell)] for cell in column], dtype=np.int64)

    def _of_number(self, cell: Any) -> int:
        assert self.cuts is not None, "asked only of numbers"
        if is_missing(cell):
            if self.like is None:  # nobody knows better; the middle harms least
                return (self.n_cuts + 1) // 2
            return self.n_cuts + 1
        return bisect_right(self.cuts, cell)

    def feature(self, kept: Sequence[int]) -> tuple[Feature, NDArray[np.int64]]:
        """Return a feature whose values are what the `kept` questions tell apart.

        The second is, for each of its values, the row of `answers` that it stands for.
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
        assert self.words is not None, "a column has numbers or words"
        ends = [*firsts[1:].tolist(), len(self.words)]
        groups = [
            [word for cell in self.words[first:end] for word in cell]
            for first, end in zip(firsts.tolist(), ends, strict=True)
        ]
        return _grouped(self.name, groups), firsts


def _word(cell: object) -> Value:
    return None if is_missing(cell) else value_of(cell)


def _grouped(name: str, groups: Sequence[Sequence[Any]]) -> Feature:
    """Return a feature of groups of words, one of which has OTHERS among them."""
    rest = next((place for place, group in enumerate(groups) if OTHERS in group), None)
    listed = [[word for word in group if word is not OTHERS] for group in groups]
    return Feature.grouped(name, listed, other=rest)


def columns_of(
    rows: Rows, names: Sequence[str], truth: NDArray[np.int64], most: int
) -> list[Cells]:
    """Return the cells of each column that says anything; those of others are left out.

    Parameters
    ----------
    rows : frame or list of dicts
    names : sequence of str
        The columns.
    truth : ndarray of shape (n_rows,)
        The position of the class of each row.
    most : int
        How many cuts a column may have.
    """
    listed = cells_of(rows, names)
    seen = observed_columns(rows, names)
    found = [
        _cells(name, cells, column, truth, most)
        for name, cells, column in zip(names, listed, seen, strict=True)
    ]
    return [cells for cells in found if cells.n_questions]


def _cells(
    name: str,
    cells: Sequence[object],
    column: Column,
    truth: NDArray[np.int64],
    most: int,
) -> Cells:
    present = np.array([not is_missing(cell) for cell in cells])
    values = [value_of(cell) for cell in cells]
    numbers = [value for value in values if value is not None]
    is_numeric = column.categories is None and all(map(is_number, numbers))
    if is_numeric and numbers:
        return _of_numbers(name, values, present, truth, most)
    return _of_words(name, values, column, truth, most)


def _of_numbers(
    name: str,
    values: Sequence[Value],
    present: NDArray[np.bool_],
    truth: NDArray[np.int64],
    most: int,
) -> Cells:
    numbers = np.array([v for v in values if v is not None], dtype=np.float64)
    cuts = tuple(cuts_of(numbers, truth[present], most))
    whole = are_whole(values)
    if present.all():
        return Cells(name, cuts, None, whole=whole)
    made = Cells(name, cuts, None, like=0, whole=whole)
    places = made.places(values)
    shares = [truth[places == place] for place in range(len(cuts) + 2)]
    n_classes = int(truth.max()) + 1
    means = [
        np.bincount(part, minlength=n_classes) / max(1, len(part)) for part in shares
    ]
    apart = [float(np.abs(mean - means[-1]).sum()) for mean in means[:-1]]
    return Cells(name, cuts, None, like=int(np.argmin(apart)), whole=whole)


def _of_words(
    name: str,
    values: Sequence[Value],
    column: Column,
    truth: NDArray[np.int64],
    most: int,
) -> Cells:
    """Put words into cells: in their own order, or else in that of the classes.

    Words with few rows are treated like those that nobody has seen yet.
    """
    counts = Counter(values)
    is_ordered = column.categories is not None and column.is_ordered
    listed: list[Any] = [value_of(item) for item in column.categories or ()]
    if not is_ordered:
        listed = sorted(counts, key=lambda word: (str(type(word)), str(word)))
        few = rare([counts[word] for word in listed], len(values))
        pairs = zip(listed, few, strict=True)
        listed = [word for word, is_rare in pairs if not is_rare]
    beside = [None, OTHERS] if is_ordered and counts[None] else [OTHERS]
    if all(isinstance(word, bool) for word in counts if word is not None):
        beside = []  # there is no third
        listed = sorted(counts, key=str)
    items = [*listed, *beside]
    place_of = {word: place for place, word in enumerate(items)}
    places = np.array([place_of.get(v, len(items) - 1) for v in values], dtype=np.int64)
    shares = class_shares(places, truth, len(items))
    order = [*range(len(items))]
    if not is_ordered:
        order = [int(place) for place in np.argsort(shares, kind="stable")]
        places, beside = np.argsort(order)[places], []
    inside = places < len(items) - len(beside)
    cuts = cuts_of(places[inside].astype(np.float64), truth[inside], most)
    ends = [0, *(int(np.ceil(cut)) for cut in cuts), len(items) - len(beside)]
    cells = [[items[order[p]] for p in range(a, b)] for a, b in pairwise(ends)]
    for place, word in enumerate(beside, start=len(listed)):
        nearest = int(np.argmin(np.abs(shares[: len(listed)] - shares[place])))
        cells[bisect_right(ends, nearest) - 1].append(word)
    return Cells(name, None, tuple(map(tuple, cells)), is_ordered=is_ordered)


def questions(columns: Sequence[Cells], rows: Rows) -> NDArray[np.bool_]:
    """Return what each row answers to the questions of all columns, side by side."""
    if not columns:
        raise RowsError("every column has the same value in all rows")
    listed = cells_of(rows, [column.name for column in columns])
    return np.hstack(
        [
            column.answers[column.places(cells)]
            for column, cells in zip(columns, listed, strict=True)
        ]
    )
