"""Books in CSV files: the table, an empty line, and what is needed to read it back.

Each row below the empty line begins with ``#`` and a key. The file begins with a byte
order mark, without which Excel misreads signs such as ≥. What European versions of
Excel write, with semicolons or tabs, is read, too.
"""

import csv
import io
from collections.abc import Sequence

from nn2rules.errors import FormatError
from nn2rules.files.decision_tables.sheets import Row, Sheets
from nn2rules.files.decision_tables.writing import BOOK, FEATURE, Book, chunks, joined

_KEY = "# "
_SEPARATORS = (",", ";", "\t")


def csv_of_book(book: Book, about: Sequence[tuple[str, str]]) -> str:
    """Return a book, and what it says of itself, as the text of a CSV file."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(book.header)
    writer.writerows(book.rows)
    stream.write("\n")
    for key, sentence in about:
        writer.writerow([_KEY + key, sentence])
    entries = [(FEATURE, feature.definition) for feature in book.features]
    parts = dict(book.parts)
    for key, text in [(BOOK, parts.pop(BOOK)), *entries, *parts.items()]:
        writer.writerow([_KEY + key, *chunks(text)])
    return "\ufeff" + stream.getvalue()


def is_book(text: str) -> bool:
    """Tell whether a text is a decision table of nn2rules."""
    return any(line.lstrip('"').startswith(_KEY + BOOK) for line in text.splitlines())


def sheets_of_csv(path: str, text: str) -> Sheets:
    """Return the cells of a CSV file."""
    first = _parsed(path, text, _SEPARATORS[0])
    for separator in _SEPARATORS:
        rows = _parsed(path, text, separator)
        if any(_key(row) == BOOK and len(row.cells) > 1 for row in rows):
            return _sheets(path, rows)
    return _sheets(path, first)


def _parsed(path: str, text: str, separator: str) -> list[Row]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[Row] = []
    try:
        rows.extend(Row(reader.line_num, tuple(cells)) for cells in reader)
    except csv.Error as error:
        if separator != _SEPARATORS[0]:
            return []
        raise FormatError(
            f"{path}, line {reader.line_num}: not readable as CSV: {error}"
        ) from None
    return rows


def _key(row: Row) -> str:
    first = row.cell(0).strip()
    return first.removeprefix(_KEY).strip() if first.startswith(_KEY) else ""


def _sheets(path: str, rows: Sequence[Row]) -> Sheets:
    table = [row for row in rows if not _key(row) and not row.is_empty]
    parts: dict[str, list[tuple[str, str]]] = {}
    for row in rows:
        if key := _key(row):
            cells = list(row.cells[1:])
            while len(cells) > 1 and not cells[-1]:
                cells.pop()
            text = joined(cells or [""])
            place = f"{path}, line {row.number}, entry {key!r}"
            parts.setdefault(key, []).append((text, place))
    return Sheets(path, table, parts)
