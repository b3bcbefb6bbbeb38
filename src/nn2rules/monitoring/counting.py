"""Counts of rows by cell and period, part by part, in memory that does not grow."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import OptionError
from nn2rules.monitoring.bins import FeatureCells, band_of
from nn2rules.monitoring.predicting import NOTHING, Modelled, Predicted
from nn2rules.monitoring.reading import Column, Part, cell_words
from nn2rules.rules import Description
from nn2rules.space import UNKNOWN, Feature, is_missing, is_missing_text, number_of

MEASURES = (
    "rows",
    "labelled",
    "events",
    "judged",
    "right",
    "asked",
    "same",
)
"""What is counted in each cell: rows; those with a label; those whose label is the
target; those with a label and a prediction, and with equal ones; those covered rows of
which the model was asked, and those where it predicts the same."""

MOST_PERIODS = 1000
_MOST_VALUES = 10_000


@dataclass(slots=True)
class Counts:
    """Counts of one data set: for each kind of cell, measure and period.

    Attributes
    ----------
    sizes : mapping
        The number of cells of each kind.
    cells : mapping
        For each kind an array of shape (n_measures, n_periods, n_cells); of features
        only rows are counted.
    periods : mapping
        The place of each period, by its name.
    n_rows : int
    outside : mapping
        For each feature the values outside of the domain, with their rows.
    """

    sizes: dict[str, int]
    cells: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    periods: dict[str, int] = field(default_factory=dict)
    n_rows: int = 0
    outside: dict[str, dict[str, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for kind, size in self.sizes.items():
            n_measures = 1 if kind.startswith("feature ") else len(MEASURES)
            self.cells[kind] = np.zeros((n_measures, 0, size), np.int64)

    def period_of(self, column: Column | None, n_rows: int) -> NDArray[np.int64]:
        """Return the place of the period of each row."""
        if column is None:
            self.periods.setdefault("", 0)
            return np.zeros(n_rows, np.int64)
        places = column.mapped(
            lambda cell: self.periods.setdefault(cell_words(cell), len(self.periods))
        )
        if len(self.periods) > MOST_PERIODS:
            raise OptionError(
                f"by: more than {MOST_PERIODS:,} different values, expected a column "
                f"of periods, such as months"
            )
        return places

    def add(
        self,
        kind: str,
        periods: NDArray[np.int64],
        places: NDArray[np.int64],
        masks: tuple[NDArray[np.bool_], ...] = (),
    ) -> None:
        """Count the rows of a part by period and cell; all, and those of each mask."""
        counts, size = self.cells[kind], self.sizes[kind]
        n_more = len(self.periods) - counts.shape[1]
        if n_more:
            counts = np.pad(counts, ((0, 0), (0, n_more), (0, 0)))
            self.cells[kind] = counts
        flat, n_flat = periods * size + places, counts.shape[1] * size
        counted = (flat, *(flat[mask] for mask in masks))
        for index, each in enumerate(counted):
            found = np.bincount(each, minlength=n_flat)
            counts[index] += found.reshape(counts.shape[1:])

    def add_outside(
        self, feature: Feature, column: Column, codes: NDArray[np.int64]
    ) -> None:
        """Count the values of a feature that are outside of the domain.

        After `_MOST_VALUES` different ones, no more are remembered.
        """
        places = np.flatnonzero(codes == UNKNOWN)
        if not len(places):
            return
        rows = np.bincount(column.places, minlength=len(codes))
        values = self.outside.setdefault(feature.name, {})
        for place in places.tolist():
            words = cell_words(column.cells[place])
            if feature.has_numbers and (number := number_of(words)) is not None:
                words = str(number)  # 91.0 is 91
            if rows[place] and (words in values or len(values) < _MOST_VALUES):
                values[words] = values.get(words, 0) + int(rows[place])


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is known of the rows of a part besides their prediction."""

    labels: NDArray[np.int64] | None
    modelled: Modelled | None
    target: int | None

    def masks(self, predicted: Predicted) -> tuple[NDArray[np.bool_], ...]:
        """Return which rows each of `MEASURES`, but the first, is about."""
        none = np.zeros(len(predicted.classes), dtype=np.bool_)
        is_covered = predicted.classes != NOTHING
        labelled = events = judged = right = asked = same = none
        if self.labels is not None:
            labelled = self.labels != NOTHING
            if self.target is not None:
                events = self.labels == self.target
            judged = labelled & is_covered
            right = judged & (self.labels == predicted.classes)
        if self.modelled is not None:
            asked = is_covered & (self.modelled.classes != NOTHING)
            same = asked & (self.modelled.classes == predicted.classes)
        return labelled, events, judged, right, asked, same


def count_part(
    counts: Counts,
    part: Part,
    columns: list[Any],
    cells: list[FeatureCells],
    predicted: Predicted,
    outcome: Outcome,
    bands: tuple[tuple[float, ...], NDArray[np.float64]] | None,
    by: str | None,
) -> None:
    """Add the rows of a part."""
    counts.n_rows += part.n_rows
    periods = counts.period_of(part.columns[by] if by else None, part.n_rows)
    masks = outcome.masks(predicted)
    if predicted.rules is not None:
        counts.add("rules", periods, predicted.rules, masks)
    counts.add("classes", periods, predicted.groups, masks)
    if bands is not None:
        edges, scores = bands
        counts.add("bands", periods, band_of(edges, scores), masks)
    for feature_cells, column in zip(cells, columns, strict=True):
        name = feature_cells.feature.name
        places = feature_cells.of(column)[column.places]
        counts.add(f"feature {name}", periods, places)
        counts.add_outside(feature_cells.feature, part.columns[name], column.codes)


def labels_of(description: Description, column: Column, where: str) -> Any:
    """Return the position of the class of each row; `NOTHING` where it is missing."""

    def position(cell: object) -> int:
        is_gap = is_missing(cell) or (
            isinstance(cell, str)
            and is_missing_text(cell, among_numbers=True)
            and cell not in map(str, description.classes)
        )
        if is_gap:
            return NOTHING
        try:
            return int(description.positions([cell], 1)[0])  # type: ignore[list-item]
        except OptionError as error:
            raise OptionError(f"{where}: {error}") from None

    return column.mapped(position)


def in_order(periods: Iterable[str]) -> list[str]:
    """Return names of periods in order: numbers by size, and a missing one last.

    Examples
    --------
    >>> in_order(["10", "9", "missing"]), in_order(["2026-10", "2026-09"])
    (['9', '10', 'missing'], ['2026-09', '2026-10'])
    """

    def key(name: str) -> tuple[bool, float, str]:
        number = number_of(name)
        return name == "missing", math.inf if number is None else number, name

    return sorted(periods, key=key)
