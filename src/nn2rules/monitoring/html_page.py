"""The HTML page of a monitoring: one file with charts as SVG, and without scripts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nn2rules.language import count, share
from nn2rules.monitoring import page
from nn2rules.monitoring.findings import level_of
from nn2rules.monitoring.result import Breakdown, Monitoring, Rate
from nn2rules.report.html import filled_page

_WIDTH, _HEIGHT = 240, 90
_MOST_BARS = 20
_MOST_LINES = 12
_MOST_FEATURES = 60


@dataclass(frozen=True, slots=True)
class Bar:
    """A cell in a chart of shares: two bars from the ground, and its words."""

    x: float
    width: float
    reference: float
    new: float
    words: str


@dataclass(frozen=True, slots=True)
class BarChart:
    """Shares of the cells of a breakdown, in the reference and among the new rows."""

    title: str
    note: str
    level: str
    bars: tuple[Bar, ...]
    table: Any


@dataclass(frozen=True, slots=True)
class Point:
    """The share of a period."""

    x: float
    y: float
    words: str


@dataclass(frozen=True, slots=True)
class LineChart:
    """A share over the periods; `before` is that of the reference, if there is one."""

    title: str
    words: str
    note: str
    points: tuple[Point, ...]
    before: float | None


def html_of(found: Monitoring, title: str = "") -> str:
    """Return the page."""
    return filled_page(
        "monitor.html.jinja",
        styles=("page.css", "monitor.css"),
        package="nn2rules.monitoring",
        title=title or "How new rows differ from the reference",
        deck=f"{count(found.n_new, 'row')} ({found.new_name}), compared with "
        f"{count(found.n_reference, 'row')} ({found.reference_name}).",
        verdict=page.verdict(found),
        found=found,
        summary=page.summary(found),
        stability=page.stability(found),
        periods=None if found.by is None else page.periods(found),
        lines=_lines(found),
        rules=_shown_rules(found),
        bands=_shown_bands(found),
        classes=_bar_chart(found, found.classes),
        features=_shown_features(found),
        outside=page.outside(found) if found.outside else None,
        definitions=page.definitions(found),
        width=_WIDTH,
        height=_HEIGHT,
    )


def _shown_rules(found: Monitoring) -> Any:
    """Return the table of rules, those with the largest shifts first."""
    if found.rules is None:
        return None
    shown = found.rules.largest_shifts(5 * page.MOST_CELLS)
    return page.cells(found, found.rules, shown)


def _shown_bands(found: Monitoring) -> Any:
    """Return the chart of the bands, and their table with rates."""
    if found.bands is None:
        return None
    table = page.cells(found, found.bands, [*range(len(found.bands.cells))])
    return _bar_chart(found, found.bands), table


def _shown_features(found: Monitoring) -> list[BarChart]:
    """Return charts of features, those with the largest shifts first."""
    listed = sorted(found.features, key=lambda one: -(one.psi() or 0.0))
    return [_bar_chart(found, one) for one in listed[:_MOST_FEATURES]]


def _bar_chart(found: Monitoring, one: Breakdown) -> BarChart:
    """Return a chart; of many cells it shows those with most rows."""
    sides = one.reference(), one.new()
    parts = [side / max(1, int(side.sum())) for side in sides]
    most = np.maximum(*parts)
    places = np.flatnonzero(most)
    n_cells = len(places)
    if n_cells > _MOST_BARS:
        order = np.argsort(-most[places], kind="stable")[:_MOST_BARS]
        places = np.sort(places[order])
    top = float(most.max(initial=0.0)) or 1.0
    width = _WIDTH / max(1, len(places))
    bars = tuple(
        Bar(
            index * width,
            width,
            _HEIGHT * float(parts[0][place]) / top,
            _HEIGHT * float(parts[1][place]) / top,
            f"{one.cells[place].name}: {_share(sides[1], place)} of the new rows, "
            f"{_share(sides[0], place)} in the reference",
        )
        for index, place in enumerate(places.tolist())
    )
    value = page.psi_text(one.psi())
    note = f"PSI {value}"
    if n_cells > len(places):
        note += f"; the {len(places)} most frequent of {n_cells:,}"
    return BarChart(
        one.name,
        note,
        level_of(one, found.thresholds) or "stable",
        bars,
        page.shares_table(one),
    )


def _share(rows: Any, place: int) -> str:
    return share(int(rows[place]), int(rows.sum()))


def _lines(found: Monitoring) -> list[LineChart]:
    """Return charts over time: rows without a prediction, then rules or bands."""
    if found.by is None or len(found.periods) < 2:
        return []
    periods, charts = range(len(found.periods)), []
    for title, ask in (
        ("not covered", found.uncovered),
        ("outside the domain", found.outside_domain),
    ):
        rates = [ask(reference=False, period=place) for place in periods]
        before = ask(reference=True)
        if any(rate.part for rate in (*rates, before)):
            charts.append(_line(title, title, found, rates, before))
    for title, kind in page.rates_of(found):
        rates = [
            found.agreement(kind, reference=False, period=place) for place in periods
        ]
        before = found.agreement(kind, reference=True)
        charts.append(_line(title, title, found, rates, before))
    one = found.rules or found.bands or found.classes
    totals = one.counts[0].sum(axis=1).tolist()
    for place in _moving(found, one):
        rows = one.counts[0, :, place].tolist()
        before, *rates = map(Rate, rows, totals)
        cell = one.cells[place]
        words = page.conditions(one, place) or cell.words
        title = f"rule {cell.name}" if words != cell.words else cell.name
        charts.append(_line(title, words, found, rates, before))
    return charts


def _moving(found: Monitoring, one: Breakdown) -> list[int]:
    """Return the cells that shift most in any period, largest first."""
    largest = [0.0] * len(one.cells)
    for period in range(len(found.periods)):
        parts = one.psi_parts(period).tolist()
        largest = [max(pair) for pair in zip(largest, parts, strict=True)]
    order = sorted(range(len(largest)), key=lambda place: -largest[place])
    return [place for place in order[:_MOST_LINES] if largest[place] > 0]


def _line(
    title: str, words: str, found: Monitoring, rates: Sequence[Rate], before: Rate
) -> LineChart:
    """Return a chart of rates over the periods; periods without rows have no point."""
    shown = [
        (place, rate, rate.share)
        for place, rate in enumerate(rates)
        if rate.share is not None
    ]
    highest = max((value for *_, value in shown), default=0.0)
    top = max(highest, before.share or 0.0) or 1.0
    step = _WIDTH / max(1, len(rates) - 1)
    points = tuple(
        Point(
            step * place,
            _HEIGHT * (1 - value / top),
            f"{found.periods[place]}: {share(rate.part, rate.whole)}",
        )
        for place, rate, value in shown
    )
    notes = [
        f"highest {share(rate.part, rate.whole)}"
        for _, rate, value in shown
        if value == highest
    ][:1]
    if before.share is not None:
        notes.append(f"reference {share(before.part, before.whole)}")
    level = None if before.share is None else _HEIGHT * (1 - before.share / top)
    return LineChart(title, words, ", ".join(notes), points, level)
