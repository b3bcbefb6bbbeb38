"""What monitoring finds: rows by rule, band, class and feature, and what to look at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.monitoring.counting import MEASURES
from nn2rules.monitoring.drift import psi, psi_by_chance, psi_parts, wilson_interval
from nn2rules.output import Backend, Document, Result, frame_of
from nn2rules.space import Value

Kind: TypeAlias = Literal["rules", "bands", "classes", "feature"]
Level: TypeAlias = Literal["moderate", "major"]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From where on a change is a warning.

    Attributes
    ----------
    psi, major_psi : float
        A population stability index from the first on is moderate, from the second on
        major.
    uncovered, outside : float
        The largest share of new rows without a prediction though they are in the
        domain, and of those outside of it.
    drop : float
        By how much the label agreement may fall.
    """

    psi: float = 0.1
    major_psi: float = 0.25
    uncovered: float = 0.1
    outside: float = 0.01
    drop: float = 0.05


DEFAULTS = Thresholds()


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of rows, with its 95% interval by Wilson; None without rows."""

    part: int
    whole: int

    @property
    def share(self) -> float | None:
        """The share."""
        return self.part / self.whole if self.whole else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson's 95% interval for it."""
        return wilson_interval(self.part, self.whole) if self.whole else None

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain values."""
        low, high = self.interval or (None, None)
        return {
            "rows": self.part,
            "of": self.whole,
            "share": self.share,
            "low": low,
            "high": high,
        }


@dataclass(frozen=True, slots=True)
class Cell:
    """One of the cells into which rows are counted, such as a rule.

    Attributes
    ----------
    name : str
        As it is printed in tables, such as A3.
    words : str
        In a sentence, such as "rule A3 (age ≥ 40 → yes)".
    """

    name: str
    words: str


@dataclass(frozen=True, eq=False)
class Breakdown:
    """Rows by cell: in the reference, among the new rows, and in each period.

    Every row is in exactly one cell. The last cells are for rows that have no place
    among the others, such as those outside the domain; their share has a threshold of
    its own, and they are left out of the PSI.

    Attributes
    ----------
    kind : {"rules", "bands", "classes", "feature"}
    name : str
        "rules", "score bands", "predicted classes", or the name of the feature.
    cells : tuple of Cell
    counts : ndarray of int64, shape (n_measures, 1 + n_periods, n_cells)
        The counts of the reference, then those of each period of the new rows; what
        is counted is in `MEASURES`. Of features only rows are counted.
    n_compared : int
        The number of cells, the first ones, that the PSI is over.
    """

    kind: Kind
    name: str
    cells: tuple[Cell, ...]
    counts: NDArray[np.int64] = field(repr=False)
    n_compared: int

    @property
    def title(self) -> str:
        """What it is called in sentences."""
        return f"feature {self.name}" if self.kind == "feature" else self.name

    def reference(self, measure: str = "rows") -> NDArray[np.int64]:
        """Return the counts of the reference, by cell."""
        counts: NDArray[np.int64] = self.counts[MEASURES.index(measure), 0]
        return counts

    def new(
        self, measure: str = "rows", period: int | None = None
    ) -> NDArray[np.int64]:
        """Return the counts of the new rows, or of one period of them, by cell."""
        counts = self.counts[MEASURES.index(measure), 1:]
        found: NDArray[np.int64] = counts.sum(axis=0)
        return found if period is None else counts[period]

    def psi(self, period: int | None = None) -> float | None:
        """Return the population stability index of the new rows, or of a period."""
        return psi(*self._compared(period))

    def _compared(self, period: int | None) -> tuple[NDArray[np.int64], ...]:
        """Return the counts that the PSI compares."""
        sides = self.reference(), self.new(period=period)
        return tuple(side[: self.n_compared] for side in sides)

    def psi_by_chance(self, period: int | None = None) -> float | None:
        """Return the PSI that chance alone exceeds in one of a thousand samples."""
        return psi_by_chance(*self._compared(period))

    def psi_parts(self, period: int | None = None) -> NDArray[np.float64]:
        """Return what each cell adds to the PSI; zeros if one side has no rows."""
        found, parts = np.zeros(len(self.cells)), psi_parts(*self._compared(period))
        if parts is not None:
            found[: self.n_compared] = parts
        return found

    def largest_shifts(self, most: int, period: int | None = None) -> list[int]:
        """Return the cells that add most to the PSI, as positions."""
        parts = self.psi_parts(period)
        order = np.argsort(-parts, kind="stable")[:most]
        return [place for place in order.tolist() if parts[place] > 0]

    def rate(
        self, kind: str, cell: int | None, *, reference: bool, period: int | None = None
    ) -> Rate:
        """Return a rate of a cell, or of all of them.

        Parameters
        ----------
        kind : {"events", "right", "same"}
            The observed rate of the target class, the label agreement, or the
            agreement with the model.
        cell : int or None
        reference : bool
            Whether of the reference, and not of the new rows.
        period : int, optional
        """
        sides = [
            self.reference(measure) if reference else self.new(measure, period)
            for measure in (kind, _WHOLE_OF[kind])
        ]
        part, whole = (
            int(side.sum() if cell is None else side[cell]) for side in sides
        )
        return Rate(part, whole)

    def to_dict(self) -> dict[str, Any]:
        """Return all counts as plain values."""
        n_periods = self.counts.shape[1] - 1
        names = MEASURES[: len(self.counts)]
        return {
            "kind": self.kind,
            "name": self.name,
            "psi": self.psi(),
            "psi_by_chance": self.psi_by_chance(),
            "psi_by_period": [self.psi(period) for period in range(n_periods)],
            "cells": [
                {
                    "name": cell.name,
                    "words": cell.words,
                    "psi": self.psi_parts()[place].item(),
                    "reference": {n: int(self.reference(n)[place]) for n in names},
                    "new": {n: int(self.new(n)[place]) for n in names},
                    "rows_by_period": self.counts[0, 1:, place].tolist(),
                    **self._rates(place),
                }
                for place, cell in enumerate(self.cells)
            ],
        }

    def _rates(self, place: int) -> dict[str, Any]:
        if self.kind == "feature":
            return {}
        return {
            name: {
                side: self.rate(kind, place, reference=side == "reference").to_dict()
                for side in ("reference", "new")
            }
            for name, kind in RATES.items()
        }


_WHOLE_OF = {"events": "labelled", "right": "judged", "same": "asked"}

RATES = {
    "observed_rate": "events",
    "label_agreement": "right",
    "model_agreement": "same",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that changed by more than its threshold.

    Attributes
    ----------
    level : {"moderate", "major"}
    about : str
        What changed: "rules", "feature job", "not covered", "label agreement", …
    text : str
        A sentence.
    value, threshold : float
    """

    level: Level
    about: str
    text: str
    value: float
    threshold: float


@dataclass(frozen=True, eq=False)
class Monitoring(Result):
    """How new rows differ from the reference, as rules or a scorecard see them.

    Attributes
    ----------
    form : str
        The kind of description: "list", "set" or "scorecard".
    reference_name, new_name : str
        What the rows are called: their files, or "reference" and "new".
    n_reference, n_new : int
        The numbers of rows.
    by : str or None
        The column of the periods.
    periods : tuple of str
        The periods of the new rows, in order; a single one without `by`.
    target : class label or None
        The class whose rate is observed.
    score : str or None
        What the bands are of: "points" of a scorecard, or "score" of the model.
    rules, bands, classes : Breakdown or None
    features : tuple of Breakdown
    outside : mapping
        For each feature with values outside the domain: these values of the new rows,
        most frequent first, with their rows.
    has_labels, has_model : bool
    thresholds : Thresholds
    findings : tuple of Finding
        What to look at, major changes first.
    """

    form: str
    reference_name: str
    new_name: str
    n_reference: int
    n_new: int
    by: str | None
    periods: tuple[str, ...]
    target: Value
    score: str | None
    rules: Breakdown | None
    bands: Breakdown | None
    classes: Breakdown
    features: tuple[Breakdown, ...]
    outside: Mapping[str, tuple[tuple[str, int], ...]]
    has_labels: bool
    has_model: bool
    thresholds: Thresholds
    findings: tuple[Finding, ...] = ()

    @property
    def is_stable(self) -> bool:
        """Whether nothing changed by more than its threshold."""
        return not self.findings

    @cached_property
    def breakdowns(self) -> tuple[Breakdown, ...]:
        """All of them: rules, bands, classes, then features."""
        first = (self.rules, self.bands, self.classes)
        return (*(one for one in first if one is not None), *self.features)

    def covered(self, *, reference: bool, period: int | None = None) -> Rate:
        """Return the share of rows with a prediction."""
        rows = self._rows(reference, period)
        return Rate(int(rows[:-2].sum()), int(rows.sum()))

    def uncovered(self, *, reference: bool, period: int | None = None) -> Rate:
        """Return the share of rows in the domain without a prediction."""
        rows = self._rows(reference, period)
        return Rate(int(rows[-2]), int(rows.sum()))

    def outside_domain(self, *, reference: bool, period: int | None = None) -> Rate:
        """Return the share of rows with a value outside the domain."""
        rows = self._rows(reference, period)
        return Rate(int(rows[-1]), int(rows.sum()))

    def _rows(self, reference: bool, period: int | None) -> NDArray[np.int64]:
        classes = self.classes
        return classes.reference() if reference else classes.new(period=period)

    def agreement(
        self, kind: str, *, reference: bool, period: int | None = None
    ) -> Rate:
        """Return a rate over all rows; see `Breakdown.rate`."""
        return self.classes.rate(kind, None, reference=reference, period=period)

    def document(self) -> Document:
        """Return the page that text and notebooks show."""
        document: Document = import_module("nn2rules.monitoring.page").page_of(self)
        return document

    def html(self, title: str = "") -> str:
        """Return one self-contained HTML page, with charts."""
        page: str = import_module("nn2rules.monitoring.html_page").html_of(self, title)
        return page

    def to_dict(self) -> dict[str, Any]:
        """Return all counts and findings as plain values."""
        sides = {"reference": True, "new": False}
        shares = {
            "covered": self.covered,
            "not_covered": self.uncovered,
            "outside_domain": self.outside_domain,
        }
        return {
            "stable": self.is_stable,
            "findings": [
                {
                    "level": one.level,
                    "about": one.about,
                    "text": one.text,
                    "value": one.value,
                    "threshold": one.threshold,
                }
                for one in self.findings
            ],
            "thresholds": {
                name: getattr(self.thresholds, name)
                for name in Thresholds.__dataclass_fields__
            },
            "form": self.form,
            "reference": {"name": self.reference_name, "rows": self.n_reference},
            "new": {"name": self.new_name, "rows": self.n_new},
            "by": self.by,
            "periods": [
                {"name": name, "rows": int(self.classes.new(period=place).sum())}
                for place, name in enumerate(self.periods)
            ],
            "target": self.target,
            "score": self.score,
            **{
                name: {
                    side: ask(reference=is_reference).to_dict()
                    for side, is_reference in sides.items()
                }
                for name, ask in shares.items()
            },
            **{
                name: {
                    side: self.agreement(kind, reference=is_reference).to_dict()
                    for side, is_reference in sides.items()
                }
                for name, kind in RATES.items()
            },
            "outside_values": {
                name: [{"value": value, "rows": rows} for value, rows in values]
                for name, values in self.outside.items()
            },
            "breakdowns": [one.to_dict() for one in self.breakdowns],
        }

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each cell of each breakdown.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            The library of the frame; it must be installed.
        """
        return frame_of(lambda: _frame_columns(self.breakdowns), backend)


def _frame_columns(breakdowns: Sequence[Breakdown]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {
        name: [] for name in ("of", "cell", "reference", "new", "psi")
    }
    for one in breakdowns:
        columns["of"] += [one.title] * len(one.cells)
        columns["cell"] += [cell.name for cell in one.cells]
        columns["reference"] += one.reference().tolist()
        columns["new"] += one.new().tolist()
        columns["psi"] += one.psi_parts().tolist()
    return columns
