"""CSV files: rows of text under a header line."""

import csv
import gzip
import io
import os
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from nn2rules.domain import Domain
from nn2rules.errors import FormatError, OptionError, RowsError, UnknownValueError
from nn2rules.formats.files import MOST_TEXT, read_bytes, size_text
from nn2rules.frames import separator_hint
from nn2rules.text import count
from nn2rules.values import Value, is_missing_text, number_of


@dataclass(frozen=True, slots=True)
class CsvTable:
    """The rows of a CSV file, as text.

    Attributes
    ----------
    path : str
        Named in messages.
    header : list of str
    rows : list of dicts from the header's names to text
    lines : list of int
        The line of the file on which each row ends.
    """

    path: str
    header: list[str]
    rows: list[dict[str, str]]
    lines: list[int]

    def check(self, domain: Domain) -> None:
        """Refuse a header that does not fit `domain`; `naming_lines` does the rest."""
        try:
            domain.encode([dict.fromkeys(self.header)], unknown="mark")
        except RowsError as error:
            fact = str(error).removeprefix("row 0: ")
            raise RowsError(f"{self.path}: {fact}") from None

    @contextmanager
    def naming_lines(self) -> Iterator[None]:
        """Let an error about a row of this table name the file and the line."""
        try:
            yield
        except UnknownValueError as error:
            if error.row is None:
                raise
            line = self.lines[error.row]
            raise RowsError(f"{self.path}, line {line}: {error.fact}") from None

    def column(self, name: str) -> list[str]:
        """Return the cells of a column, which the user named."""
        if name not in self.header:
            raise OptionError(
                f"{self.path}: there is no column {name!r}; the columns are "
                f"{', '.join(self.header)}"
            )
        return [row[name] for row in self.rows]

    def without(self, name: str) -> "CsvTable":
        """Return the table without a column."""
        header = [known for known in self.header if known != name]
        rows = [{known: row[known] for known in header} for row in self.rows]
        return CsvTable(self.path, header, rows, self.lines)

    def typed(self) -> list[dict[str, Value]]:
        """Return the rows with numbers as numbers and empty cells as missing.

        A column is one of numbers if every cell spells one, or is missing; and so are
        those of true and false.

        Examples
        --------
        >>> rows = [{"a": "1", "b": "x"}, {"a": "NA", "b": ""}]
        >>> table = CsvTable("x.csv", ["a", "b"], rows, [2, 3])
        >>> table.typed()
        [{'a': 1, 'b': 'x'}, {'a': None, 'b': None}]
        """
        columns = [_typed([row[name] for row in self.rows]) for name in self.header]
        return [
            dict(zip(self.header, cells, strict=True))
            for cells in zip(*columns, strict=True)
        ]


def read_table(path: str | os.PathLike[str]) -> CsvTable:
    """Read a CSV file, plain or compressed by gzip; everything stays text."""
    data = read_bytes(path, MOST_TEXT)
    try:
        if Path(path).suffix == ".gz":
            data = _unpacked(path, data)
        text = data.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error):
        raise FormatError(
            f"{path}: this is not a gzip file, or it is damaged or cut short"
        ) from None
    except UnicodeDecodeError:
        raise FormatError(f"{path}: this is not a text file (UTF-8)") from None
    try:
        return _parse(str(path), text)
    except csv.Error as error:
        raise FormatError(f"{path}: not readable as CSV: {error}") from None


def _unpacked(path: str | os.PathLike[str], data: bytes) -> bytes:
    """Unpack what gzip packed, and stop where it grows out of hand."""
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
        unpacked = stream.read(MOST_TEXT + 1)
    if len(unpacked) > MOST_TEXT:
        raise FormatError(
            f"{path}: the file is larger than {size_text(MOST_TEXT)} once it is "
            f"unpacked, the most that is read"
        )
    return unpacked


def _parse(path: str, text: str) -> CsvTable:
    header, found = read_rows(path, io.StringIO(text, newline=""))
    rows: list[dict[str, str]] = []
    lines: list[int] = []
    for cells, line in found:
        rows.append(dict(zip(header, cells, strict=True)))
        lines.append(line)
    return CsvTable(path, header, rows, lines)


def read_rows(
    path: str, stream: TextIO
) -> tuple[list[str], Iterator[tuple[list[str], int]]]:
    """Return the header of a CSV file, and its rows one by one with their lines."""
    reader = csv.reader(stream, strict=True)
    header = next(reader, None)
    if not header:
        raise FormatError(
            f"{path}: the file is empty; expected a header line with column names"
        )
    for name, n_columns in Counter(header).items():
        if n_columns > 1:
            raise FormatError(f"{path}, line 1: the column {name!r} occurs twice")
    return header, _rows(path, header, reader)


def _rows(path: str, header: list[str], reader: Any) -> Iterator[tuple[list[str], int]]:
    is_first = True
    for cells in reader:
        if is_first:
            _refuse_separator(path, header, cells)
        if not cells and len(header) > 1:  # an empty line
            continue
        if len(cells) != len(header) and (cells or len(header) > 1):
            raise FormatError(
                f"{path}, line {reader.line_num}: {count(len(cells), 'cell')}, "
                f"expected {len(header)}, one for each column of the header"
            )
        is_first = False
        yield cells or [""], reader.line_num


def _refuse_separator(path: str, header: list[str], cells: list[str]) -> None:
    """Refuse a file that is split at other signs, in its header and its first row."""
    hint = separator_hint(header)
    if hint and separator_hint([",".join(cells)]) == hint:
        raise FormatError(f"{path}: {hint.removeprefix('; ')}")


_TRUTHS = {"true": True, "false": False}


def _typed(cells: list[str]) -> list[Value]:
    gaps = [is_missing_text(cell, among_numbers=True) for cell in cells]
    numbers = [number_of(cell) for cell in cells]
    if numbers.count(None) == sum(gaps) < len(cells):
        return list(numbers)
    truths = [_TRUTHS.get(cell.lower()) for cell in cells]
    if truths.count(None) == sum(gaps) < len(cells):
        return list(truths)
    return [cell or None for cell in cells]


def table_text(header: list[str], rows: list[list[str]]) -> str:
    r"""Return a table as CSV text.

    Examples
    --------
    >>> table_text(["a", "b"], [["x", "\r"]])
    'a,b\nx,"\r"\n'
    """
    return "".join(map(_line, (header, *rows)))


def _line(cells: list[str]) -> str:
    """Return one line; a writer with another end would leave a CR without quotes."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\r\n").writerow(cells)
    return stream.getvalue().removesuffix("\r\n") + "\n"
