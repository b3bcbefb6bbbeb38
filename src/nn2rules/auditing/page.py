"""An audit as one page: sections of sentences and grids, as text and as HTML."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nn2rules.auditing.grids import Grid
from nn2rules.auditing.shown_features import influence_parts, monotone_parts
from nn2rules.auditing.shown_protected import protected_parts
from nn2rules.auditing.shown_rows import fragile_parts, shares_parts
from nn2rules.errors import OptionError
from nn2rules.markup import document, paragraph, piece, table
from nn2rules.rules.printing import cells, filled
from nn2rules.text import count, label_text
from nn2rules.values import whole_number

if TYPE_CHECKING:
    from nn2rules.auditing.report import Audit

_GAP, _NARROWEST, _ROOM = "  ", 60, 24


@dataclass(frozen=True, slots=True)
class Section:
    """A title, and what stands below it."""

    title: str
    parts: tuple[str | Grid, ...]


def sections_of(audit: "Audit", top: int) -> list[Section]:
    """Return the page, with the `top` rules of each way to turn."""
    top = whole_number("top", top)
    asked = " or ".join(label_text(label) for label in audit.classes)
    found = [
        Section(f"Audit: {asked}?", _head(audit)),
        Section("Protected features", protected_parts(audit, top)),
        Section("What can turn an answer, alone", influence_parts(audit)),
        Section("Which way the answer goes as a feature grows", monotone_parts(audit)),
        Section("What becomes of groups", shares_parts(audit)),
        Section("The most fragile rows", fragile_parts(audit)),
    ]
    return [section for section in found if section.parts]


def _head(audit: "Audit") -> tuple[str | Grid, ...]:
    """Return what was audited, and how sure it is."""
    size = [count(len(audit.domain.names), "feature")]
    inputs = audit.domain.n_numbers
    if inputs is not None:
        text = f"{inputs:,}" if inputs < 10**12 else f"{float(inputs):.1e}"
        size.append(f"{text} possible inputs")
    size.append(count(audit.rows, "row"))
    how = "All inputs were looked at: what is said of them is proved, and counted."
    if audit.how == "table" and audit.open:
        how = "There are few enough inputs to look at each, but not in this time."
    elif audit.how == "search":
        how = (
            "The inputs are too many to look at each: they were searched, so what is "
            "said of them is proved or open; rows are counted."
        )
    parts: list[str | Grid] = [*audit.warnings, " · ".join(size), how]
    if audit.open:
        parts.append(
            f"Still open (by default a minute is spent; --time or time= gives more): "
            f"{', '.join(audit.open)}."
        )
    return tuple(parts)


def text_of(sections: Sequence[Section], width: int) -> str:
    """Return a page as text, no line wider than `width` where words can be parted."""
    width = whole_number("width", width)
    if width < _NARROWEST:
        raise OptionError(f"width: {width}, expected {_NARROWEST} or more")
    return "\n\n".join("\n".join(_lines(section, width)) for section in sections)


def _lines(section: Section, width: int) -> list[str]:
    lines = [section.title]
    for part in section.parts:
        if isinstance(part, str):
            lines += filled(part.split(" "), " ", width)
        else:
            lines += _grid_lines(part, width)
    return lines


def _grid_lines(grid: Grid, width: int) -> list[str]:
    """Return a grid; its last column is parted where the line would be too long."""
    rows = [grid.header, *grid.rows] if any(grid.header) else list(grid.rows)
    last = len(grid.header) - 1
    widths = [max(cells(row[i]) for row in rows) for i in range(last)]
    room = max(_ROOM, width - sum(w + len(_GAP) for w in widths) - len(_GAP))
    lines = []
    for row in rows:
        start = "".join(
            _GAP + _padded(text, wide, is_number=grid.numbers[i])
            for i, (text, wide) in enumerate(zip(row, widths, strict=False))
        )
        wide = max(cells(each[last]) for each in rows)
        own = [_padded(row[last], wide, is_number=True)]
        if not grid.numbers[last]:
            separator = " · " if " · " in row[last] else " "
            own = filled(row[last].split(separator), separator, room)
        blank = " " * cells(start)
        lines += [
            f"{blank if i else start}{_GAP}{line}".rstrip()
            for i, line in enumerate(own)
        ]
    return lines


def _padded(text: str, width: int, *, is_number: bool) -> str:
    space = " " * (width - cells(text))
    return space + text if is_number else text + space


def html_of(sections: Sequence[Section]) -> str:
    """Return a page as HTML for notebooks."""
    parts = []
    for section in sections:
        parts.append(f"<p>{piece(section.title, 'title')}</p>")
        parts += [_html(part) for part in section.parts if part]
    return document(parts)


def _html(grid: str | Grid) -> str:
    if isinstance(grid, str):
        return paragraph(grid)
    rows = [[piece(text, "faint") for text in grid.header]] if any(grid.header) else []
    rows += [[piece(text) for text in row] for row in grid.rows]
    return table(rows, grid.numbers)
