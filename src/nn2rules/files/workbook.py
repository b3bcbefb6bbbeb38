"""Excel files: their cells, validated, and a sheet as a table of rows.

Nothing in a workbook is executed. Formulas are refused, because the last value that one
showed is not reliable.
"""

import io
import os
import re
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

from nn2rules.errors import FormatError, MissingExtraError
from nn2rules.files.safe_files import MOST_CELLS, MOST_TEXT, read_small, size_text

_CODE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_MOST_ROWS = 1 << 20
_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s+ref="([^"]*)"')


def openpyxl_for(purpose: str) -> Any:
    """Return the library for Excel files, or say how to install it."""
    try:
        import openpyxl
    except ModuleNotFoundError:
        raise MissingExtraError("openpyxl", "xlsx", purpose) from None
    return openpyxl


def workbook_of(path: str, data: bytes) -> Any:
    """Open the workbook in the content of a file; its rows are read when asked for."""
    openpyxl = openpyxl_for("reading an .xlsx file")
    broken = FormatError(
        f"{path}: this Excel file (.xlsx) is damaged or truncated; save it again"
    )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            n_bytes = sum(member.file_size for member in archive.infolist())
    except zipfile.BadZipFile:
        raise broken from None
    if n_bytes > MOST_TEXT:
        raise FormatError(
            f"{path}: the file is larger than {size_text(MOST_TEXT)} when "
            f"unpacked, which is the limit"
        )
    try:
        return openpyxl.load_workbook(io.BytesIO(data), read_only=True)
    except Exception:  # noqa: BLE001  a damaged file raises anything
        raise broken from None


def bounded_rows(place: str, sheet: Any) -> Iterator[Sequence[Any]]:
    """Yield the rows of a sheet from the first on, while they are not too many."""
    sheet.reset_dimensions()  # what a file says of its size may be wrong
    n_cells = n_rows = 0
    rows = sheet.iter_rows()
    while True:
        try:
            row = next(rows, None)
        except Exception:  # noqa: BLE001  a damaged sheet raises anything
            raise FormatError(
                f"{place}: this sheet is damaged; save the file again"
            ) from None
        if row is None:
            return
        n_cells += max(len(row), 1)
        n_rows += 1
        if n_rows > _MOST_ROWS:
            raise FormatError(
                f"{place}: the sheet has more than {_MOST_ROWS:,} rows, more than "
                f"Excel can open; delete everything below the table"
            )
        if n_cells > MOST_CELLS:
            raise FormatError(
                f"{place}: the sheet has more than {MOST_CELLS:,} cells, most of them "
                f"probably empty; delete everything beyond the table"
            )
        yield row


def cell_value(place: str, cell: Any, expected: str) -> Any:
    """Return what is in a cell: text, a number, a date, or None; no formula, no error.

    `expected` says what should be there instead of these, and how to get it there.
    """
    value = cell.value
    if value is None:
        return None
    kinds = {"f": "a formula", "e": "an error of the spreadsheet"}
    if cell.data_type in kinds:
        raise FormatError(
            f"{place}, cell {cell.coordinate}: this is {kinds[cell.data_type]}, "
            f"expected {expected}"
        )
    if isinstance(value, str):
        return _CODE.sub(lambda found: chr(int(found[1], 16)), value)
    return value


def sheet_columns(
    path: str | os.PathLike[str],
) -> tuple[list[str], list[list[Any]], list[int]]:
    """Return the one table of a workbook: names, cells, the numbers of its rows."""
    data = read_small(path)
    workbook = workbook_of(str(path), data)
    found = {
        sheet.title: rows
        for sheet in workbook.worksheets
        if (rows := _filled_rows(f"{path}, sheet {sheet.title!r}", sheet))
    }
    if len(found) > 1:
        listed = ", ".join(repr(title) for title in found)
        raise FormatError(
            f"{path}: there are several sheets, {listed}, expected one; save the sheet "
            f"with the rows in a separate file, or as CSV"
        )
    for title, rows in found.items():
        place = f"{path}, sheet {title!r}"
        _refuse_merged(place, workbook[title], data)
        return _table(place, rows)
    raise FormatError(f"{path}: the workbook is empty; expected a header with names")


def _filled_rows(place: str, sheet: Any) -> list[tuple[int, list[Any]]]:
    """Return the rows in which something is, with their numbers, without empty ends."""
    expected = "a value; copy the column, and paste its values over it"
    found = []
    for number, row in enumerate(bounded_rows(place, sheet), 1):
        cells = [cell_value(place, cell, expected) for cell in row]
        while cells and cells[-1] is None:
            cells.pop()
        if cells:
            found.append((number, cells))
    return found


def _refuse_merged(place: str, sheet: Any, data: bytes) -> None:
    """Refuse merged cells: all but one of them would read as missing."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        merged = _MERGED.search(archive.read(sheet._worksheet_path))
    if merged is not None:
        raise FormatError(
            f"{place}: the cells {merged[1].decode(errors='replace')} are merged; "
            f"unmerge them, so that every row has its own cell"
        )


def _table(
    place: str, rows: list[tuple[int, list[Any]]]
) -> tuple[list[str], list[list[Any]], list[int]]:
    """Return the columns below the first row that is not empty, the header."""
    header = ["" if cell is None else str(cell) for cell in rows[0][1]]
    cells, numbers = [], []
    for number, row in rows[1:]:
        if len(row) > len(header):
            raise FormatError(
                f"{place}, row {number}: {len(row)} cells, expected {len(header)}, one "
                f"for each column of the header"
            )
        cells.append([*row, *[None] * (len(header) - len(row))])
        numbers.append(number)
    columns = [list(column) for column in zip(*cells, strict=True)]
    return header, columns or [[] for _ in header], numbers
