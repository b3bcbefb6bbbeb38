"""The scorecard in a report: its page, how totals are distributed, and reasons.

Texts and tables are those of the library: the page of the scorecard, and its bands and
reasons. `card_data` has what a script needs to add up points as the library does: in
whole steps, as texts, because numbers of scripts are float64.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from nn2rules.language import count, label_text, share
from nn2rules.output import Grid, Part, RuleTable
from nn2rules.report.script_data import features_data
from nn2rules.report.subject import Subject
from nn2rules.rules import is_exact
from nn2rules.scorecards import (
    PointsTable,
    Scorecard,
    bands_of,
    lines_of,
    number_text,
)
from nn2rules.space import picked_rows

_MOST_REASONED = 6  # rows whose reasons are shown

_KINDS = {
    "single": "one card",
    "classes": "a column of points for each class",
    "parts": "part cards that are added up",
    "regions": "part cards, and linear regions",
}


@dataclass(frozen=True)
class CardSection:
    """What the page shows of a scorecard; a part is a paragraph or a table.

    Attributes
    ----------
    parts : tuple of Part
        The points, and what totals prove.
    bands : Grid or None
        How the totals of the rows are distributed.
    reasons : Grid or None
        What costs some of the rows most points.
    """

    parts: tuple[Part, ...]
    bands: Grid | None
    reasons: Grid | None


def card_section(subject: Subject, card: Scorecard) -> CardSection:
    """Return what the page shows of a scorecard."""
    _, *sections = card.document().sections
    parts: list[Part] = []
    for section in sections:
        assert not isinstance(section, RuleTable), "a scorecard has no rules"
        parts += section
    return CardSection(tuple(parts), _bands(subject, card), _reasons(subject, card))


def card_proof(card: Scorecard) -> str:
    """Say in plain sentences what is proved."""
    if not is_exact(card):
        return (
            "Nothing is proved about this scorecard: it may predict otherwise than the "
            "network."
        )
    return (
        "Proved: for every possible input, the scorecard predicts what the network "
        "does. Printed points are rounded; the predictions marked “proved” below are "
        "certain to be those of the model."
    )


def card_facts(card: Scorecard) -> list[tuple[str, str]]:
    """Return what is known about a scorecard, as titles and texts."""
    text = f"{count(len(lines_of(card.domain)), 'line')}, {_KINDS[card.kind]}"
    if card.regions:
        text += f": {len(card.regions):,}"
    facts = [("Scorecard", text)]
    if card.profile is not None and card.profile.between is not None:
        number, rows = card.profile.between
        close = f"{number:,} ({share(number, rows)})" if number else "none"
        facts.append(("Rows too close for the points", close))
    return facts


def _bands(subject: Subject, card: Scorecard) -> Grid | None:
    """Return how the totals of the rows are distributed."""
    rows = subject.rows
    if rows is None or not len(rows):
        return None
    found = bands_of(card, rows.codes, rows.numbers, rows.labels)
    if not found:
        return None
    label, total = label_text(card.classes[1]), len(rows)
    header = ["total", "rows", "share", f"predicted {label}"]
    header += [f"labelled {label}"] * (rows.labels is not None)
    lines = []
    for band in found:
        parts = [band.predicted, *([] if band.labelled is None else [band.labelled])]
        shares = [share(part, band.rows) if band.rows else "–" for part in parts]
        lines.append((band.text, f"{band.rows:,}", share(band.rows, total), *shares))
    return Grid(tuple(lines), (False, *(True for _ in header[1:])), tuple(header))


def _reasons(subject: Subject, card: Scorecard) -> Grid | None:
    """Return what costs some rows most points: rows all along the totals."""
    rows = subject.rows
    if rows is None or not subject.shows_rows or not len(rows):
        return None
    table = card.table
    if card.regions or len(table.totals) != 1:
        return None
    first = np.unique(rows.places, return_index=True)[1]
    inputs = rows.codes[first], None if rows.numbers is None else rows.numbers[first]
    totals = table.totals_of(table.sums_at(*inputs))[:, 0]
    order = first[np.argsort(totals, kind="stable")]
    steps = np.linspace(0, len(order) - 1, min(_MOST_REASONED, len(order)))
    chosen = order[np.unique(steps.astype(int))]
    some = picked_rows(subject.data, chosen)
    points = card.points(some).totals[:, 0].tolist()
    lines = []
    for total, label, reasons in zip(
        points, card.predict(some), card.reasons(some), strict=True
    ):
        texts = [
            f"{reason.feature}: {label_text(reason.value)}, not "
            f"{label_text(reason.instead)} ({number_text(Fraction(reason.points))})"
            for reason in reasons
        ]
        shown = "; ".join(texts) or "none: no other value gains points"
        lines.append((number_text(Fraction(total)), label_text(label), shown))
    header = ("total", "prediction", "features that cost most points")
    return Grid(tuple(lines), (True, False, False), header)


def card_data(card: Scorecard) -> dict[str, Any]:
    """Return what scripts know of a scorecard; it has no rules."""
    return {
        "features": features_data(card.domain),
        "classes": [label_text(label) for label in card.classes],
        "default": 0,
        "form": card.form,
        "scope": card.scope,
        "is_exact": True,
        "is_whole": False,  # no default decides
        "is_alone": True,
        "conditions": [],
        "rules": [],
        "card": _points_data(card),
    }


def _points_data(card: Scorecard) -> dict[str, Any]:
    """Return the printed points, counted in steps."""
    table = card.table
    names = [card.names[column.card] for column in table.columns]
    if len(table.totals) == 1 and len(table.columns) == 1 and not card.upper:
        names = ["points"]
    totals = ("total",) if len(table.totals) == 1 else card.total_names
    totals = totals[: len(table.totals)]  # regions have their own
    return {
        "digits": table.scale.digits,
        "columns": [
            {
                "name": name,
                "start": _whole(column.start, table),
                "low": _step_pair(column.low, table),
                "high": _step_pair(column.high, table),
                "below": None if column.below is None else _pair(column.below),
            }
            for name, column in zip(names, table.columns, strict=True)
        ],
        "features": [
            _feature_points(table, index) for index in range(len(table.blocks))
        ],
        "totals": [
            {
                "name": name,
                "start": _pair(total.start / table.step),
                "weights": [_pair(weight) for weight in total.weights],
            }
            for name, total in zip(totals, table.totals, strict=True)
        ],
        "cut_offs": [
            {
                "at_most": _step_pair(cut.at_most, table),
                "at_least": _step_pair(cut.at_least, table),
                "above": cut.above,
            }
            for cut in table.cut_offs
        ],
        "lowest": table.lowest_class,
        "margin": _step_pair(table.margin, table),
        "has_regions": bool(table.regions),
    }


def _feature_points(table: PointsTable, index: int) -> dict[str, Any]:
    """Return the points of each value of a feature, and of a range its slopes."""
    block = table.blocks[index]
    entry: dict[str, Any] = {
        "points": [
            ["0"] * len(table.columns)
            if place not in block.listed
            else [_whole(column.points[place], table) for column in table.columns]
            for place in range(block.start, block.stop)
        ]
    }
    if block.limits is not None:
        rates = [column.points[block.start] for column in table.columns]
        entry["rates"] = [_pair(rate / table.step) for rate in rates]
        bins = table.bins[index]
        if bins is not None:
            entry["starts"] = [float(start) for start, _ in bins]
            entry["bins"] = [
                [_whole(points, table) for points in column.bins[index] or ()]
                for column in table.columns
            ]
    return entry


def _whole(number: Fraction, table: PointsTable) -> str:
    """Return a multiple of a step, counted in steps."""
    steps = number / table.step
    assert steps.denominator == 1, "points are whole steps"
    return str(steps.numerator)


def _pair(number: Fraction) -> list[str]:
    """Return a fraction as the texts of two whole numbers."""
    return [str(number.numerator), str(number.denominator)]


def _step_pair(number: Fraction | None, table: PointsTable) -> list[str] | None:
    """Return a number counted in steps; None stays None."""
    return None if number is None else _pair(number / table.step)
