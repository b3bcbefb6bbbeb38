"""Books in Excel files: the sheets rules, domain and about.

Every cell is text, and formatted as such, so a spreadsheet neither runs it nor takes it
for a date, also once it is edited. The same book gives the same bytes.
"""

import io
import re
import zipfile
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from nn2rules.errors import FormatError, OptionError
from nn2rules.files.decision_tables.sheets import Row, Sheets, letter
from nn2rules.files.decision_tables.writing import (
    FEATURE,
    Book,
    Described,
    check_width,
    chunks,
    joined,
)
from nn2rules.files.workbook import bounded_rows, cell_value, openpyxl_for, workbook_of
from nn2rules.space import plain_number

_RULES, _DOMAIN, _ABOUT = "rules", "domain", "about"
_DOMAIN_HEADER = ("feature", "kind", "values", "definition")
_DATE = datetime(2000, 1, 1)
_ESCAPED = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")
_MOST_ROWS, _MOST_COLUMNS = 1_048_576, 16_384
_WIDEST, _NARROWEST = 46, 9
_LINE, _HIGHEST = 15, 405  # points


def xlsx_of_book(book: Book, about: Sequence[tuple[str, str]]) -> bytes:
    """Return a book, and what it says of itself, as an Excel file."""
    openpyxl = openpyxl_for("writing an .xlsx file")
    if len(book.rows) >= _MOST_ROWS or len(book.header) > _MOST_COLUMNS:
        raise OptionError(
            f"an Excel sheet has {_MOST_ROWS:,} rows and {_MOST_COLUMNS:,} columns, "
            f"and this table more; export to csv"
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
    workbook.properties.creator = "nn2rules"
    workbook.properties.created = workbook.properties.modified = _DATE
    stream = io.BytesIO()
    workbook.save(stream)
    return _repacked(stream.getvalue())


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
                    cell.value = _ESCAPED.sub("_x005F_", content)
                    cell.data_type = "s"  # also where it looks like a formula
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
        name: _rows(f"{path}, sheet {name!r}", workbook[name])
        for name in (_RULES, _DOMAIN, _ABOUT)
    }
    parts: dict[str, list[tuple[str, str]]] = {}
    for row in read[_ABOUT][1:]:
        place = f"{path}, sheet {_ABOUT!r}, row {row.number}"
        parts.setdefault(row.cell(0).strip(), []).append((_joined(row, 1), place))
    features = [row for row in read[_DOMAIN][1:] if not row.is_empty]
    parts[FEATURE] = [
        (_joined(row, 3), f"{path}, sheet {_DOMAIN!r}, row {row.number}")
        for row in features
    ]
    rows = [row for row in read[_RULES] if not row.is_empty]
    described = [tuple(map(row.cell, range(3))) for row in features]
    return Sheets(
        f"{path}, sheet {_RULES!r}", rows, parts, letters=True, described=described
    )


def _joined(row: Row, first: int) -> str:
    cells = list(row.cells[first:])
    while len(cells) > 1 and not cells[-1]:
        cells.pop()
    return joined(cells or [""])


def _rows(place: str, sheet: Any) -> list[Row]:
    return [
        Row(number, tuple(_text(place, cell) for cell in cells))
        for number, cells in enumerate(bounded_rows(place, sheet), start=1)
    ]


def _text(place: str, cell: Any) -> str:
    """Return what stands in a cell, as text."""
    expected = "text; format the cell as text, and write it again"
    value = cell_value(place, cell, expected)
    if isinstance(value, str | None):
        return value or ""
    if isinstance(value, bool | int | float):
        return str(value if isinstance(value, bool) else plain_number(value))
    raise FormatError(
        f"{place}, cell {cell.coordinate}: this is a date, expected {expected}"
    )
