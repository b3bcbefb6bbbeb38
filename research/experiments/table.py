"""A table, as Markdown, CSV and JSON, all from the same cells."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from nn2rules.files import table_text

Kind: TypeAlias = Literal[
    "text", "share", "count", "number", "seconds", "change", "gap"
]
"""What a cell is; a change is one of a share, a gap one of a count."""


@dataclass(frozen=True)
class Spread:
    """The same number measured on several networks; None where there is none.

    Examples
    --------
    >>> found = Spread((0.5, None, 1.0))
    >>> found.mean, found.low, found.high
    (0.75, 0.5, 1.0)
    """

    values: tuple[float | None, ...]

    @property
    def known(self) -> list[float]:
        """The values that are there."""
        return [value for value in self.values if value is not None]

    @property
    def mean(self) -> float | None:
        """Their mean."""
        return sum(self.known) / len(self.known) if self.known else None

    @property
    def low(self) -> float | None:
        """The smallest."""
        return min(self.known, default=None)

    @property
    def high(self) -> float | None:
        """The largest."""
        return max(self.known, default=None)


@dataclass(frozen=True)
class Figure:
    """A number that is of another kind than the others of its column."""

    value: float
    kind: Kind


Cell: TypeAlias = str | float | Spread | Figure | None


@dataclass(frozen=True)
class ResultColumn:
    """A column: its heading, what its cells are, and what it shares with others."""

    label: str
    kind: Kind = "text"
    group: str = ""

    @property
    def heading(self) -> str:
        """The heading on one line."""
        return ", ".join(part for part in (self.group, self.label) if part)


@dataclass(frozen=True)
class ResultTable:
    """A table with a name for its files, a title, and a caption in sentences."""

    name: str
    title: str
    caption: str
    columns: tuple[ResultColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def to_markdown(self) -> str:
        """Return the table as Markdown, with its title and caption."""
        heads = [_escaped(column.heading) for column in self.columns]
        rule = ["---" if column.kind == "text" else "---:" for column in self.columns]
        lines = [heads, rule, *([_escaped(t) for t in row] for row in self.texts())]
        body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return f"# {self.title}\n\n{body}\n\n{self.caption}\n"

    def to_csv(self) -> str:
        """Return the table as CSV: a spread gets a column each for mean and ends."""
        spread = [
            any(isinstance(row[place], Spread) for row in self.rows)
            for place in range(len(self.columns))
        ]
        header: list[str] = []
        for column, is_spread in zip(self.columns, spread, strict=True):
            header.append(column.heading)
            if is_spread:
                header += [f"{column.heading}, min", f"{column.heading}, max"]
        lines = []
        for row in self.rows:
            line: list[str] = []
            for cell, is_spread in zip(row, spread, strict=True):
                line += _csv_cells(cell, is_spread=is_spread)
            lines.append(line)
        return table_text(header, lines)

    def to_json(self) -> str:
        """Return the table as JSON; a spread has its mean, its ends, and all values."""
        document = {
            "name": self.name,
            "title": self.title,
            "caption": self.caption,
            "columns": [column.heading for column in self.columns],
            "rows": [
                {
                    column.heading: _json_cell(cell)
                    for column, cell in zip(self.columns, row, strict=True)
                }
                for row in self.rows
            ],
        }
        return json.dumps(document, ensure_ascii=False, indent=1) + "\n"

    @property
    def groups(self) -> list[tuple[str, int]]:
        """What neighbouring columns share, and how many; nothing if none share any."""
        found: list[tuple[str, int]] = []
        for column in self.columns:
            if found and column.group and found[-1][0] == column.group:
                found[-1] = (column.group, found[-1][1] + 1)
            else:
                found.append((column.group, 1))
        return found if any(group for group, _ in found) else []

    def texts(self) -> list[list[str]]:
        """Return every cell as people read it."""
        return [
            [cell_text(c, k.kind) for c, k in zip(row, self.columns, strict=True)]
            for row in self.rows
        ]


def cell_text(cell: Cell, kind: Kind) -> str:
    """Return a cell as people read it.

    Examples
    --------
    >>> cell_text(Spread((0.9, 1.0)), "share"), cell_text(0.99996, "share")
    ('0.950 (0.900–1.000)', '0.99996')
    >>> cell_text(Spread((1200, 1211)), "count"), cell_text(Spread((7, 8)), "count")
    ('1,206 (1,200–1,211)', '7.5 (7–8)')
    >>> cell_text(Spread((0.5, None)), "share")
    '0.500 [1 of 2]'
    """
    if cell is None:
        return "–"
    if isinstance(cell, str):
        return cell
    if isinstance(cell, Figure):
        return number_text(cell.value, cell.kind)
    if not isinstance(cell, Spread):
        return number_text(cell, kind)
    if cell.mean is None or cell.low is None or cell.high is None:
        return "–"
    text = number_text(cell.mean, kind)
    if cell.low != cell.high:
        text += f" ({number_text(cell.low, kind)}–{number_text(cell.high, kind)})"
    missing = len(cell.values) - len(cell.known)
    return text + (f" [{len(cell.known)} of {len(cell.values)}]" if missing else "")


def number_text(number: float, kind: Kind) -> str:
    """Return a number as people read it; a share is written 1.000 only if it is 1."""
    if kind == "share":
        digits = 3
        while number < 1 and round(number, digits) == 1 and digits < 9:
            digits += 1
        return f"{number:.{digits}f}"
    if kind == "change":
        return f"{number:+.3f}".replace("-", "−")
    if kind == "gap":
        return ("−" if number < 0 else "+") + number_text(abs(number), "count")
    if kind == "seconds":
        return f"{number:.3f}" if number < 1 else f"{number:.1f}"
    if kind == "number":
        return f"{number:,.1f}"
    is_plain = number >= 100 or float(number).is_integer()
    return f"{number:,.0f}" if is_plain else f"{number:,.1f}"


def _csv_cells(cell: Cell, *, is_spread: bool) -> list[str]:
    if isinstance(cell, Figure):
        cell = cell.value
    if not isinstance(cell, Spread):
        text = "" if cell is None else str(cell)
        return [text, "", ""] if is_spread else [text]
    return ["" if n is None else str(n) for n in (cell.mean, cell.low, cell.high)]


def _json_cell(cell: Cell) -> Any:
    if isinstance(cell, Figure):
        return cell.value
    if not isinstance(cell, Spread):
        return cell
    ends = {"mean": cell.mean, "min": cell.low, "max": cell.high}
    return {**ends, "values": list(cell.values)}


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")


def files_of(tables: Sequence[ResultTable], folder: str = "") -> dict[str, bytes]:
    """Return the files of some tables: three for each."""
    found = {}
    for table in tables:
        path = f"{folder}{table.name}"
        found[f"{path}.md"] = table.to_markdown().encode()
        found[f"{path}.csv"] = table.to_csv().encode()
        found[f"{path}.json"] = table.to_json().encode()
    return found
