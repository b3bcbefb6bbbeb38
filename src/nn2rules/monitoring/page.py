"""The page of a monitoring, and the tables that the HTML page has, too."""

import math

from nn2rules.language import count, label_text, quoted, share
from nn2rules.monitoring.findings import level_of
from nn2rules.monitoring.result import Breakdown, Monitoring, Rate
from nn2rules.output import Document, Grid, Heading, Paragraph, Section

MOST_CELLS = 10
"""How many rules are shown: those that add most to the PSI."""

_MOST_VALUES = 5


def page_of(found: Monitoring) -> Document:
    """Return the page that text and notebooks show."""
    sections: list[Section] = [
        (
            Heading(verdict(found)),
            *(Paragraph(f.text, "warning") for f in found.findings),
        ),
        (summary(found),),
        (Heading("Population stability"), stability(found)),
    ]
    if found.by is not None:
        sections.append((Heading(f"By {found.by}"), periods(found)))
    if found.rules is not None:
        shown = found.rules.largest_shifts(MOST_CELLS)
        if shown:
            title = f"Rules with the largest shifts ({len(shown)} of "
            title += f"{count(len(found.rules.cells) - 2, 'rule')})"
            sections.append((Heading(title), cells(found, found.rules, shown)))
    if found.bands is not None:
        shown = [*range(len(found.bands.cells))]
        sections.append((Heading("Score bands"), cells(found, found.bands, shown)))
    if found.rules is None:
        shown = [*range(len(found.classes.cells))]
        sections.append(
            (Heading("Predicted classes"), cells(found, found.classes, shown))
        )
    if found.outside:
        sections.append((Heading("Values outside the domain"), outside(found)))
    sections.append(tuple(Paragraph(text, "faint") for text in definitions(found)))
    return Document(tuple(sections))


def verdict(found: Monitoring) -> str:
    """Return the outcome in a line."""
    if found.is_stable:
        return "Stable: no change is above its threshold and beyond chance"
    n_major = sum(one.level == "major" for one in found.findings)
    major = f", {n_major} major" if n_major else ""
    return f"{count(len(found.findings), 'warning')}{major}"


def definitions(found: Monitoring) -> list[str]:
    """Return how the figures are defined, in sentences."""
    limits = found.thresholds
    return [
        "PSI = Σ (q − p) · ln(q / p) over cells, with the shares p of the reference "
        "and q of the new rows; a cell that is empty on one side counts as half a row "
        "there. Rows that are not covered, or outside the domain, have thresholds of "
        "their own and are left out.",
        "Bins of numbers and score bands lie between the deciles of the reference, "
        "unless bands are given.",
        f"A PSI from {limits.psi:g} on is moderate and from {limits.major_psi:g} on "
        f"major, if it also exceeds the PSI by chance: what equal distributions "
        f"exceed in one of a thousand samples.",
        "A fall of the label agreement is a warning if the intervals of both sides do "
        "not meet and at least five labels differ. Intervals are Wilson's, 95%; for "
        "warnings by rule and band they are wider, since there are many (Bonferroni).",
    ]


def rate_text(rate: Rate, *, with_interval: bool = True) -> str:
    """Return a rate with its interval; a dash without rows."""
    if rate.interval is None:
        return "–"
    low, high = rate.interval
    text = share(rate.part, rate.whole)
    ends = math.floor(1000 * low) / 10, math.ceil(1000 * high) / 10  # never narrower
    return f"{text} ({ends[0]:.1f}–{ends[1]:.1f})" if with_interval else text


def psi_text(value: float | None) -> str:
    """Return a PSI with three digits; a dash if there is none."""
    return "–" if value is None else f"{value:.3f}"


def rates_of(found: Monitoring) -> list[tuple[str, str]]:
    """Return the titles and the names of the rates that are known."""
    rates = []
    if found.has_labels:
        rates.append(("label agreement", "right"))
        if found.target is not None:
            rates.append((f"observed {label_text(found.target)}", "events"))
    if found.has_model:
        rates.append(("model agreement", "same"))
    return rates


def summary(found: Monitoring) -> Grid:
    """Return the table of totals."""
    rows = [
        ("", "reference", "new"),
        ("rows", f"{found.n_reference:,}", f"{found.n_new:,}"),
    ]
    for title, ask in (
        ("not covered", found.uncovered),
        ("outside the domain", found.outside_domain),
    ):
        sides = ask(reference=True), ask(reference=False)
        rows.append((title, *(share(side.part, side.whole) for side in sides)))  # type: ignore[arg-type]
    for title, kind in rates_of(found):
        sides = (
            found.agreement(kind, reference=True),
            found.agreement(kind, reference=False),
        )
        rows.append((title, *map(rate_text, sides)))  # type: ignore[arg-type]
    header, *rest = rows
    return Grid(tuple(rest), (False, True, True), header)


def stability(found: Monitoring) -> Grid:
    """Return the table of PSI: rules, bands, classes, and features by their shift."""
    first = [one for one in found.breakdowns if one.kind != "feature"]
    features = sorted(found.features, key=lambda one: -(one.psi() or 0.0))
    rows = []
    for one in (*first, *features):
        largest = one.largest_shifts(1)
        rows.append(
            (
                quoted(one.name) if one.kind == "feature" else one.name,
                psi_text(one.psi()),
                psi_text(one.psi_by_chance()),
                level_of(one, found.thresholds) or "stable",
                cell_text(one, largest[0]) if largest else "–",
            )
        )
    header = ("", "PSI", "by chance", "level", "largest shift")
    return Grid(tuple(rows), (False, True, True, False, False), header)


def cell_text(one: Breakdown, place: int) -> str:
    """Return a cell with its shares."""
    sides = one.reference(), one.new()
    before, after = (share(int(side[place]), int(side.sum())) for side in sides)
    return f"{one.cells[place].name}: {before} → {after}"


def periods(found: Monitoring) -> Grid:
    """Return a table with a row for each period."""
    first = [one for one in (found.rules, found.bands) if one is not None]
    first = first or [found.classes]
    rates = rates_of(found)
    header = (
        "",
        "rows",
        "not covered",
        "outside",
        *(f"PSI {one.name}" for one in first),
        *(title for title, _ in rates),
    )
    rows = []
    for place, name in enumerate(found.periods):
        uncovered = found.uncovered(reference=False, period=place)
        outside_rate = found.outside_domain(reference=False, period=place)
        rows.append(
            (
                name,
                f"{uncovered.whole:,}",
                rate_text(uncovered, with_interval=False),
                rate_text(outside_rate, with_interval=False),
                *(psi_text(one.psi(place)) for one in first),
                *(
                    rate_text(
                        found.agreement(kind, reference=False, period=place),
                        with_interval=False,
                    )
                    for _, kind in rates
                ),
            )
        )
    return Grid(tuple(rows), (False, *(True for _ in header[1:])), header)


def cells(found: Monitoring, one: Breakdown, shown: list[int]) -> Grid:
    """Return a table of some cells; those without a row on either side are left out."""
    rates = [each for each in rates_of(found) if not _is_all(found, each[1])]
    is_rules = one.kind == "rules"
    titles = [text for title, _ in rates for text in (f"{title}, ref.", "new")]
    last = ("conditions",) if is_rules else ()
    header = ("", "reference", "new", "PSI", *titles, *last)
    parts, rows = one.psi_parts(), []
    totals = int(one.reference().sum()), int(one.new().sum())
    for place in shown:
        sides = int(one.reference()[place]), int(one.new()[place])
        if not any(sides):
            continue
        row = [one.cells[place].name]
        row += [share(n, total) for n, total in zip(sides, totals, strict=True)]
        row.append(f"{parts[place]:.3f}")
        for _, kind in rates:
            row += [
                rate_text(one.rate(kind, place, reference=reference))
                for reference in (True, False)
            ]
        row += [conditions(one, place)] if is_rules else []
        rows.append(tuple(row))
    numbers = (False, *(True for _ in header[1:]))
    if is_rules:
        numbers = (*numbers[:-1], False)
    return Grid(tuple(rows), numbers, header)


def _is_all(found: Monitoring, kind: str) -> bool:
    """Tell whether a rate is of all rows on both sides, so that no cell differs."""
    sides = (found.agreement(kind, reference=each) for each in (True, False))
    return all(side.part == side.whole for side in sides)


def conditions(one: Breakdown, place: int) -> str:
    """Return the words of a rule without its name."""
    cell = one.cells[place]
    start = f"rule {cell.name} ("
    is_rule = cell.words.startswith(start)
    return cell.words.removeprefix(start).removesuffix(")") if is_rule else ""


def outside(found: Monitoring) -> Grid:
    """Return the table of values outside the domain, most frequent first."""
    rows = []
    for one in found.features:
        if one.name in found.outside:
            values = found.outside[one.name]
            texts = [f"{quoted(v)} ({rows_:,})" for v, rows_ in values[:_MOST_VALUES]]
            more = len(values) - _MOST_VALUES
            texts += ["…"] if more > 0 else []
            n_rows = int(one.new()[-1])
            rows.append((quoted(one.name), f"{n_rows:,}", ", ".join(texts)))
    return Grid(tuple(rows), (False, True, False), ("", "rows", "values (rows)"))


def shares_table(one: Breakdown) -> Grid:
    """Return a table of all cells with rows, without rates."""
    sides, parts = (one.reference(), one.new()), one.psi_parts()
    rows = tuple(
        (
            cell.name,
            *(share(int(side[place]), int(side.sum())) for side in sides),
            f"{parts[place]:.3f}",
        )
        for place, cell in enumerate(one.cells)
        if sides[0][place] or sides[1][place]
    )
    return Grid(rows, (False, True, True, True), ("", "reference", "new", "PSI"))
