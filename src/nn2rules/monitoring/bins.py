"""Into which cells rows are counted: values, bins of numbers, and score bands.

Numbers are put into bins between the deciles of the reference, rounded to four digits,
so that what is printed is where the bin begins.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nn2rules.language import label_text, value_words
from nn2rules.monitoring.reading import EncodedColumn
from nn2rules.space import UNKNOWN, Feature, Intervals, Range, is_number, plain_number

OUTSIDE = "outside the domain"
NO_SCORE = "no score"

MOST_DISTINCT = 1 << 18
"""With more distinct numbers, deciles are those of some, chosen by a hash."""

_MOST_LISTED = 20
"""A feature with more numbers than this is put into bins."""

_DIGITS = 4


class Quantiles:
    """Collects numbers with their counts, in limited memory, for their quantiles.

    Of more than `MOST_DISTINCT` distinct numbers only every second one is kept, chosen
    by a hash, or every fourth, and so on. What is kept does not depend on the order of
    the numbers.
    """

    def __init__(self) -> None:
        self._values = [np.empty(0)]
        self._counts = [np.empty(0, np.int64)]
        self._pending = self._level = 0

    def add(self, values: NDArray[np.float64], counts: NDArray[np.int64]) -> None:
        """Add numbers; each of them so often."""
        is_kept = self._is_kept(values) & (counts > 0)
        self._values.append(values[is_kept] + 0.0)
        self._counts.append(counts[is_kept])
        self._pending += int(is_kept.sum())
        if self._pending > MOST_DISTINCT:
            self._merge()

    def _is_kept(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Tell which numbers are kept, by the last bits of a hash (splitmix64)."""
        bits = (values + 0.0).view(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
        bits ^= bits >> np.uint64(31)
        return np.asarray(bits & np.uint64((1 << self._level) - 1) == 0)

    def _merge(self) -> None:
        values, places = np.unique(np.concatenate(self._values), return_inverse=True)
        counts = np.zeros(len(values), np.int64)
        np.add.at(counts, places, np.concatenate(self._counts))
        while len(values) > MOST_DISTINCT:
            self._level += 1
            is_kept = self._is_kept(values)
            values, counts = values[is_kept], counts[is_kept]
        self._values, self._counts, self._pending = [values], [counts], 0

    def edges(self) -> tuple[float, ...]:
        """Return the deciles, rounded, at which the second to the last bin begin.

        No bin is empty on either side of all numbers.

        Examples
        --------
        >>> numbers = Quantiles()
        >>> numbers.add(np.arange(20.0), np.ones(20, np.int64))
        >>> numbers.edges()
        (2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0)
        """
        self._merge()
        values, counts = self._values[0], self._counts[0]
        if not len(values):
            return ()
        ends = np.cumsum(counts)
        ranks = [int(ends[-1]) * tenth // 10 for tenth in range(1, 10)]
        found = values[np.searchsorted(ends, ranks, side="right")]
        rounded = {float(f"{number:.{_DIGITS}g}") for number in found.tolist()}
        return tuple(sorted(e for e in rounded if values[0] < e <= values[-1]))


def bin_words(edges: Sequence[float]) -> list[str]:
    """Return the words of bins.

    Examples
    --------
    >>> bin_words([25, 40.5]), bin_words([])
    (['below 25', '25 to below 40.5', '40.5 and above'], ['all numbers'])
    """
    if not edges:
        return ["all numbers"]
    texts = [str(plain_number(edge)) for edge in edges]
    middle = [f"{low} to below {high}" for low, high in pairwise(texts)]
    return [f"below {texts[0]}", *middle, f"{texts[-1]} and above"]


@dataclass(frozen=True, slots=True)
class FeatureCells:
    """The cells of a feature: its values, or bins of its numbers; then all others.

    Attributes
    ----------
    feature : Feature
    edges : tuple of float, or None
        Where bins of numbers begin; None if every value is a cell.
    """

    feature: Feature
    edges: tuple[float, ...] | None

    @property
    def words(self) -> list[str]:
        """What the cells are called; the last is for values outside the domain."""
        feature = self.feature
        if self.edges is None:
            texts = [value_words(feature, value) for value in feature.values]
            return [*texts, OUTSIDE]
        beside = feature.values[feature.n_plain :]
        return [*bin_words(self.edges), *map(label_text, beside), OUTSIDE]

    def of(self, column: EncodedColumn) -> NDArray[np.int64]:
        """Return the cell of each distinct cell of a column."""
        is_unknown = column.codes == UNKNOWN
        if self.edges is None:
            return np.where(is_unknown, len(self.feature), column.codes)
        numbers = _numbers(self.feature, column)
        bins = np.searchsorted(np.array(self.edges), numbers, side="right")
        n_plain, n_bins = self.feature.n_plain, len(self.edges) + 1
        beside = column.codes - n_plain + n_bins
        n_cells = n_bins + len(self.feature) - n_plain
        found = np.where(column.codes < n_plain, bins, beside)
        return np.where(is_unknown, n_cells, found)


def is_binned(feature: Feature) -> bool:
    """Tell whether a feature has too many numbers to count each, so bins are used."""
    if isinstance(feature, Range):
        return True
    plain = feature.values[: feature.n_plain]
    is_listed = not isinstance(feature, Intervals) and all(map(is_number, plain))
    return is_listed and len(plain) > _MOST_LISTED


def collect(quantiles: Quantiles, feature: Feature, column: EncodedColumn) -> None:
    """Add the numbers of a column."""
    counts = np.bincount(column.places, minlength=len(column.codes))
    is_plain = (column.codes >= 0) & (column.codes < feature.n_plain)
    quantiles.add(_numbers(feature, column)[is_plain], counts[is_plain])


def _numbers(feature: Feature, column: EncodedColumn) -> NDArray[np.float64]:
    """Return the number of each distinct cell; anything where there is none."""
    if isinstance(feature, Range):
        return column.numbers
    plain = feature.values[: feature.n_plain]
    numbers = np.array([float(value) for value in plain])  # type: ignore[arg-type]
    return numbers[np.clip(column.codes, 0, len(plain) - 1)]


def band_of(edges: Sequence[float], scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the band of each score; the last is for rows without one (NaN).

    Examples
    --------
    >>> band_of([0.5], np.array([0.2, 0.5, np.nan]))
    array([0, 1, 2])
    """
    found = np.searchsorted(np.array(edges, np.float64), scores, side="right")
    return np.where(np.isnan(scores), len(edges) + 1, found)
