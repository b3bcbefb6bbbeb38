"""Decision tables in CSV and Excel files: their cells as texts, with their places.

A CSV file holds the table, an empty line, and what is needed to read it back: each row
below the empty line begins with ``#`` and a key. The file begins with a byte order
mark, without which Excel misreads signs such as ≥. What European versions of Excel
write, with semicolons or tabs, is read, too.

An Excel file has the sheets rules, domain and about. Every cell is text, and formatted
as such, so a spreadsheet neither runs it nor takes it for a date, also once it is
edited. The same book gives the same bytes.
"""

import csv
import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from nn2rules.errors import FormatError, OptionError
from nn2rules.files.decision_tables.writing import (
    BOOK,
    FEATURE,
    Book,
    Described,
    check_width,
    chunks,
    joined,
)
from nn2rules.files.workbook import bounded_rows, cell_value, openpyxl_for, workbook_of
from nn2rules.space import plain_number


@dataclass(frozen=True)
class Row:
    """The cells of a row, and the number by which people find it."""

    number: int
    cells: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Whether it has no text."""
        return not any(cell.strip() for cell in self.cells)

    def cell(self, index: int) -> str:
        """Return a cell; rows may end before the header does."""
        return self.cells[index] if index < len(self.cells) else ""


@dataclass(frozen=True)
class Sheets:
    """A decision table as it is in a file.

    Attributes
    ----------
    path : str
    rows : list of Row
        The table; the first is the header.
    parts : mapping from keys to pairs of a text and its place
        The entries beside it.
    letters : bool
        Whether cells are called by letters and numbers, as in Excel files.
    described : list of tuples of texts
        For each feature its description, if there is one: name, kind, values.
    """

    path: str
    rows: list[Row]
    parts: Mapping[str, list[tuple[str, str]]] = field(default_factory=dict)
    letters: bool = False
    described: list[tuple[str, ...]] = field(default_factory=list)

    def place(self, row: Row, index: int) -> str:
        """Return the place of a cell, as people find it."""
        title = self.rows[0].cell(index).strip()
        named = f" ({title})" if title else ""
        if self.letters:
            return f"{self.path}, cell {letter(index)}{row.number}{named}"
        called = f"column {title!r}" if title else f"column {index + 1}"
        return f"{self.path}, line {row.number}, {called}"

    def error(self, row: Row, index: int, message: str) -> FormatError:
        """Return an error with a message about a cell."""
        return FormatError(f"{self.place(row, index)}: {message}")


def letter(index: int) -> str:
    """Return what a spreadsheet calls a column.

    Examples
    --------
    >>> letter(0), letter(25), letter(26)
    ('A', 'Z', 'AA')
    """
    text, number = "", index + 1
    while number:
        number, place = divmod(number - 1, 26)
        text = chr(ord("A") + place) + text
    return text


_KEY = "# "
_SEPARATORS = (",", ";", "\t")


def csv_of_book(book: Book, about: Sequence[tuple[str, str]]) -> str:
    """Return a book, and facts about it, as the text of a CSV file."""
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


_RULES, _DOMAIN, _ABOUT = "rules", "domain", "about"
_DOMAIN_HEADER = ("feature", "kind", "values", "definition")
_DATE = datetime(2000, 1, 1)
_ESCAPED = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")
_MOST_ROWS, _MOST_COLUMNS = 1_048_576, 16_384
_WIDEST, _NARROWEST = 46, 9
_LINE, _HIGHEST = 15, 405  # points


def xlsx_of_book(book: Book, about: Sequence[tuple[str, str]]) -> bytes:
    """Return a book, and facts about it, as an Excel file."""
    openpyxl = openpyxl_for("writing an .xlsx file")
    if len(book.rows) >= _MOST_ROWS or len(book.header) > _MOST_COLUMNS:
        raise OptionError(
            f"this table is larger than an Excel sheet ({_MOST_ROWS:,} rows, "
            f"{_MOST_COLUMNS:,} columns); export to csv"
        )
    workbook = openpyxl.Workbook()
    rules = workbook.active
    rules.title = _RULES
    for row in book.rows:
        for cell, column in zip(row, book.header, strict=True):
            check_width(str(cell), str(row[0]), column)
    _fill(rules, book.header, book.rows, wrap=len(book.header))
    domain = [_described(feature) for feature in book.features]
    _fill(workbook.create_sheet(_DOMAIN), _DOMAIN_HEADER, domain, wrap=3)
    lines = [*about, *((key, *chunks(text)) for key, text in book.parts)]
    _fill(workbook.create_sheet(_ABOUT), ("entry", "text"), lines, wrap=1)
    return workbook_bytes(workbook)


def workbook_bytes(workbook: Any) -> bytes:
    """Return a workbook as a file, the same for the same content."""
    workbook.properties.creator = "nn2rules"
    workbook.properties.created = workbook.properties.modified = _DATE
    stream = io.BytesIO()
    workbook.save(stream)
    return _repacked(stream.getvalue())


def set_text(cell: Any, text: str) -> None:
    """Give a cell a text, also where it looks like a formula."""
    cell.value = _ESCAPED.sub("_x005F_", text)
    cell.data_type = "s"


def _described(feature: Described) -> tuple[str, ...]:
    return feature.name, feature.kind, feature.values, *chunks(feature.definition)


def _fill(
    sheet: Any, header: Sequence[str], rows: Sequence[Sequence[Any]], *, wrap: int
) -> None:
    """Fill a sheet: a header that stays in sight, filters, texts that wrap.

    The first `wrap` columns do; those behind them are for machines.
    """
    from openpyxl.styles import Alignment, Border, Font, PatternFill, Side

    line = Border(bottom=Side(style="hair", color="BBBBBB"))
    sides = [
        Alignment(vertical="top", wrap_text=True),
        Alignment(vertical="top"),
        Alignment(vertical="top", horizontal="right", indent=1),
    ]
    title = Font(name="Calibri", size=11, bold=True, color="FFFFFF")
    filling = PatternFill("solid", fgColor="2F5D8A")
    widths = _widths([header, *rows], wrap)
    for number, row in enumerate([header, *rows], start=1):
        for index, content in enumerate(row, start=1):
            cell = sheet.cell(number, index)
            if isinstance(content, int):
                cell.value = content
                cell.alignment = sides[2]
            else:
                if content != "":
                    set_text(cell, content)
                cell.number_format = "@"
                cell.alignment = sides[0 if index <= wrap else 1]
            cell.border = line
            if number == 1:
                cell.font, cell.fill = title, filling
        sheet.row_dimensions[number].height = _height(row[:wrap], widths)
    for index, width in enumerate(widths):
        sheet.column_dimensions[letter(index)].width = width
    sheet.freeze_panes = "B2"
    sheet.auto_filter.ref = f"A1:{letter(len(header) - 1)}{len(rows) + 1}"
    sheet.page_setup.orientation = "landscape"
    sheet.page_setup.fitToHeight = 0
    sheet.sheet_properties.pageSetUpPr.fitToPage = True
    sheet.print_title_rows = "1:1"


def _widths(rows: Sequence[Sequence[Any]], wrap: int) -> list[int]:
    """Return how wide columns are: as their texts are, within reason."""
    longest = [0] * max(map(len, rows))
    for row in rows:
        for index, content in enumerate(row):
            longest[index] = max(longest[index], len(str(content)))
    return [
        min(max(length + 4, _NARROWEST), _WIDEST if index < wrap else 2 * _WIDEST)
        for index, length in enumerate(longest)
    ]


def _height(row: Sequence[Any], widths: Sequence[int]) -> int:
    """Return how high a row is, so that all of its wrapped texts are seen."""
    both = zip(row, widths, strict=False)
    lines = max(-(-len(str(content)) // (width - 4)) for content, width in both)
    return min(_LINE * max(lines, 1), _HIGHEST)


def _repacked(data: bytes) -> bytes:
    """Return the same archive without the time at which it was made."""
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as old,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in sorted(old.namelist(), key=lambda n: (n != _FIRST, n)):
            content = old.read(name)
            if name == "docProps/core.xml":
                content = _TIME.sub(rb"\g<1>2000-01-01T00:00:00Z<", content)
            member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            member.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(member, content)
    return stream.getvalue()


_FIRST = "[Content_Types].xml"
_TIME = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*<")


def sheets_of_xlsx(path: str, data: bytes) -> Sheets:
    """Return the cells of an Excel file."""
    workbook = workbook_of(path, data)
    for name in (_RULES, _DOMAIN, _ABOUT):
        if name not in workbook.sheetnames:
            raise FormatError(
                f"{path}: there is no sheet {name!r}; a decision table has the sheets "
                f"{_RULES}, {_DOMAIN} and {_ABOUT}, as rules.export writes them"
            )
    read = {
        name: _sheet_rows(f"{path}, sheet {name!r}", workbook[name])
        for name in (_RULES, _DOMAIN, _ABOUT)
    }
    parts: dict[str, list[tuple[str, str]]] = {}
    for row in read[_ABOUT][1:]:
        place = f"{path}, sheet {_ABOUT!r}, row {row.number}"
        parts.setdefault(row.cell(0).strip(), []).append((_cells_joined(row, 1), place))
    features = [row for row in read[_DOMAIN][1:] if not row.is_empty]
    parts[FEATURE] = [
        (_cells_joined(row, 3), f"{path}, sheet {_DOMAIN!r}, row {row.number}")
        for row in features
    ]
    rows = [row for row in read[_RULES] if not row.is_empty]
    described = [tuple(map(row.cell, range(3))) for row in features]
    return Sheets(
        f"{path}, sheet {_RULES!r}", rows, parts, letters=True, described=described
    )


def _cells_joined(row: Row, first: int) -> str:
    cells = list(row.cells[first:])
    while len(cells) > 1 and not cells[-1]:
        cells.pop()
    return joined(cells or [""])


def _sheet_rows(place: str, sheet: Any) -> list[Row]:
    return [
        Row(number, tuple(_text(place, cell) for cell in cells))
        for number, cells in enumerate(bounded_rows(place, sheet), start=1)
    ]


def _text(place: str, cell: Any) -> str:
    """Return the text of a cell."""
    expected = "text; format the cell as text, and enter it again"
    value = cell_value(place, cell, expected)
    if isinstance(value, str | None):
        return value or ""
    if isinstance(value, bool | int | float):
        return str(value if isinstance(value, bool) else plain_number(value))
    raise FormatError(
        f"{place}, cell {cell.coordinate}: this is a date, expected {expected}"
    )
