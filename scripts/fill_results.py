"""Write measured figures into README and docs, from the results of benchmarks.

A page marks a figure by comments around it. It comes from `benchmarks/headline.json`,
by its keys, or from a table of `benchmarks/results.md`, by section, row and column::

    <!-- result: adult.support -->187<!-- end -->
    <!-- result: reach / units=256 / rules -->769<!-- end -->

A row is named by the cell of one column, or of several: ``units=6-3; time=120 s``. A
page cites a whole table of a section, or some of its columns, by its position::

    <!-- table: growth 1 -->
    …
    <!-- end -->
    <!-- table: explain 1: network | inputs | equal sizes -->

Run it after ``python benchmarks/run.py``. A test fails where a page differs.
"""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
HEADLINE = ROOT / "benchmarks" / "headline.json"
RESULTS = ROOT / "benchmarks" / "results.md"
FIGURE = re.compile(r"(<!-- result: (.+?) -->)(.*?)(<!-- end -->)", re.DOTALL)
TABLE = re.compile(
    r"(<!-- table: ([\w ]+?) (\d+)(?:: (.+?))? -->\n)(.*?)(<!-- end -->)", re.DOTALL
)

Table = list[dict[str, str]]


def pages() -> list[Path]:
    """Return the pages that may cite figures."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def filled(text: str) -> str:
    """Return the text of a page with each figure and table as it was measured."""
    headline = json.loads(HEADLINE.read_text("utf-8"))
    tables = tables_of(RESULTS.read_text("utf-8"))

    def figure(match: re.Match[str]) -> str:
        parts = [part.strip() for part in match[2].split(" / ")]
        in_table = len(parts) > 1
        shown = _cell(tables, *parts) if in_table else _shown(headline, parts[0])
        return f"{match[1]}{shown}{match[4]}"

    def table(match: re.Match[str]) -> str:
        rows = tables[match[2]][int(match[3]) - 1]
        columns = match[4].split(" | ") if match[4] else [*rows[0]]
        return f"{match[1]}\n{_markdown(rows, columns)}\n{match[6]}"

    return TABLE.sub(table, FIGURE.sub(figure, text))


def tables_of(text: str) -> dict[str, list[Table]]:
    """Return the tables of each section; an empty first cell repeats the one above."""
    parts = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)[1:]
    return {
        name: [_table(found[0]) for found in re.finditer(r"(?:^\|.*\n?)+", body, re.M)]
        for name, body in zip(parts[::2], parts[1::2], strict=True)
    }


def _table(text: str) -> Table:
    lines = [
        [cell.strip() for cell in line.strip()[1:-1].split("|")]
        for line in text.strip().split("\n")
    ]
    header, rows = lines[0], lines[2:]
    return [dict(zip(header, row, strict=True)) for row in rows]


def _markdown(rows: Table, columns: list[str]) -> str:
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(row[name] for name in columns) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(
    tables: dict[str, list[Table]], section: str, chosen: str, column: str
) -> str:
    """Return the cell of the only row of a section that has these values."""
    wanted = dict(part.split("=") for part in chosen.split("; "))
    found = []
    for table in tables[section]:
        shown: dict[str, str] = {}
        for row in table:
            shown |= {name: cell for name, cell in row.items() if cell}
            if wanted.items() <= (shown | {column: row.get(column, "")}).items():
                found += [row[column]] if column in row else []
    if len(found) != 1:
        raise KeyError(f"{section} / {chosen} / {column}: {len(found)} cells")
    return found[0]


def _shown(headline: object, keys: str) -> str:
    value: object = headline
    for key in keys.split("."):
        value = value[key]  # type: ignore[index]
    return f"{value:.1%}" if isinstance(value, float) else f"{value:,}"


if __name__ == "__main__":
    for page in pages():
        text = page.read_text("utf-8")
        if filled(text) != text:
            page.write_text(filled(text), "utf-8")
            print(f"filled {page.relative_to(ROOT)}")
