"""Tables of rows in files: CSV, Parquet and Excel, all read by `read_table`.

The cells of a CSV file are text, and `Table.typed` finds out what they are. Parquet and
Excel know the types of their cells, and these are kept, in the form that a CSV file
with the same column would give: see `typed_cells`.
"""

import csv
import gzip
import io
import os
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any, BinaryIO, TextIO, TypeAlias

from nn2rules.errors import FormatError, OptionError, RowsError, UnknownValueError
from nn2rules.files.safe_files import MOST_ROWS, MOST_TEXT, read_bytes, size_text
from nn2rules.language import count
from nn2rules.space import (
    Domain,
    Value,
    did_you_mean,
    is_missing,
    is_missing_text,
    is_number,
    number_of,
    separator_hint,
)

PARQUET = (".parquet", ".pq")
_DATES = (date, datetime, time, timedelta)
_OTHER_SHEETS = (".xls", ".xlsb", ".xlsm", ".ods", ".numbers")

Columns: TypeAlias = tuple[list[str], list[list[Any]], Sequence[int]]
"""The names of columns, their cells, and the number of each row in its file."""

MOST_CSV_CELLS = 32_000_000
"""The limit of cells in a CSV file: each takes more memory than in the file."""

_MOST_SHARED = 1 << 16
"""The number of different rows that are kept, to share equal ones."""


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a file.

    Attributes
    ----------
    path : str
        Named in messages.
    header : list of str
    rows : list of dicts from the header's names to values
        Text in every cell, if the file is CSV; otherwise None for what is missing.
        Equal rows may be one dict, so none of them is ever changed.
    lines : sequence of int
        The line of the file on which each row ends, or the number of the row there.
    unit : {"line", "row"}
        What these are called.
    is_typed : bool
        Whether the file says which cells are numbers.
    """

    path: str
    header: list[str]
    rows: list[dict[str, Value]]
    lines: Sequence[int]
    unit: str = "line"
    is_typed: bool = False

    def place(self, row: int) -> str:
        """Return where a row is, counted from 0, as people find it."""
        return f"{self.path}, {self.unit} {self.lines[row]}"

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
            raise RowsError(f"{self.place(error.row)}: {error.fact}") from None

    def rows_in(self, domain: Domain) -> list[dict[str, Value]]:
        """Return the rows with missing cells as `domain` takes them.

        A file has one way to leave a cell empty, even if a model has several.
        """
        features = {f.name: f for f in domain.features if f.not_missing}
        if not features:
            return self.rows
        columns = {name: self.column(name) for name in self.header}
        for name in features.keys() & columns.keys():
            columns[name] = [*map(features[name].accepted, columns[name])]
        return list(_shared_rows(self.header, zip(*columns.values(), strict=True)))

    def column(self, name: str) -> list[Value]:
        """Return the cells of a column, which the user named."""
        if name not in self.header:
            raise OptionError(
                f"{self.path}: there is no column {name!r}; the columns are "
                f"{', '.join(self.header)}{did_you_mean(name, self.header)}"
            )
        return [row[name] for row in self.rows]

    def texts(self, name: str) -> list[str]:
        """Return the cells of a column as a CSV file has them; missing ones empty."""
        return [cell_text(cell) for cell in self.column(name)]

    def without(self, name: str) -> "Table":
        """Return the table without a column."""
        header = [known for known in self.header if known != name]
        kept = ([row[known] for known in header] for row in self.rows)
        rows = list(_shared_rows(header, kept))
        return replace(self, header=header, rows=rows)

    def typed(self) -> list[dict[str, Value]]:
        """Return the rows with numbers as numbers and empty cells as missing.

        In CSV files a column is one of numbers if every cell spells one, or is missing;
        and so are those of true and false.

        Examples
        --------
        >>> rows = [{"a": "1", "b": "x"}, {"a": "NA", "b": ""}]
        >>> table = Table("x.csv", ["a", "b"], rows, [2, 3])
        >>> table.typed()
        [{'a': 1, 'b': 'x'}, {'a': None, 'b': None}]
        """
        if self.is_typed:
            return self.rows
        columns = [_parsed_cells(self.texts(name)) for name in self.header]
        return list(_shared_rows(self.header, zip(*columns, strict=True)))


def _shared_rows(
    header: Sequence[str], rows: Iterable[Sequence[Value]]
) -> Iterator[dict[str, Value]]:
    """Yield rows as dicts; equal ones are one dict, so that a small file stays small.

    Of one column, all cells are of one type, so equal cells are the same.
    """
    known: dict[tuple[Value, ...], dict[str, Value]] = {}
    for cells in rows:
        key = tuple(cells)
        row = known.get(key)
        if row is None:
            row = dict(zip(header, cells, strict=True))
            if len(known) < _MOST_SHARED:
                known[key] = row
        yield row


def read_table(path: str | os.PathLike[str]) -> Table:
    """Read the rows of a Parquet, Excel or CSV file, the last plain or packed by gzip.

    The end of the name says which it is; anything else is CSV.
    """
    suffix = Path(path).suffix.lower()
    if suffix in PARQUET:
        from nn2rules.files.parquet import parquet_columns

        return _typed_table(path, parquet_columns(path))
    if suffix == ".xlsx":
        from nn2rules.files.workbook import sheet_columns

        return _typed_table(path, sheet_columns(path))
    if suffix in _OTHER_SHEETS:
        raise FormatError(
            f"{path}: only .xlsx spreadsheets are read; save it as .xlsx or CSV"
        )
    return _read_csv(path)


def _typed_table(path: str | os.PathLike[str], contents: Columns) -> Table:
    names, columns, numbers = contents
    check_header(str(path), names, "")
    cells = [typed_cells(column) for column in columns]
    rows = list(_shared_rows(names, zip(*cells, strict=True)))
    return Table(str(path), names, rows, numbers, "row", is_typed=True)


def typed_cells(cells: Sequence[Any]) -> list[Value]:
    """Return the cells of a column, as a CSV file with this column would be read.

    Whole numbers are integers; empty texts and NaN are missing; dates are texts. Texts
    stay texts, also where they spell numbers, unless there are numbers among them, as
    in a sheet.

    Examples
    --------
    >>> typed_cells([1.0, 2.5, float("nan")]), typed_cells(["1", "NA", ""])
    ([1, 2.5, None], ['1', 'NA', None])
    >>> typed_cells([datetime(2024, 1, 31), None])
    ['2024-01-31', None]
    >>> typed_cells([1, "NA"]), typed_cells([1, "x"]), typed_cells([True, 2])
    ([1, None], ['1', 'x'], ['True', '2'])
    """
    values = [_canonical(cell) for cell in _dates_as_text(cells)]
    kinds = {_kind(value) for value in values if value is not None}
    if len(kinds) < 2:
        return values
    return _parsed_cells([cell_text(value) for value in values])


def _dates_as_text(cells: Sequence[Any]) -> list[Any]:
    """Return dates and times as pandas writes them to CSV files."""
    moments = [cell for cell in cells if isinstance(cell, datetime)]
    if all(cell.time() == time() and cell.tzinfo is None for cell in moments):
        cells = [cell.date() if isinstance(cell, datetime) else cell for cell in cells]
    return [str(cell) if isinstance(cell, _DATES) else cell for cell in cells]


def _canonical(cell: Value) -> Value:
    if cell == "" or is_missing(cell):
        return None
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    return cell


def _kind(cell: Value) -> type:
    return float if is_number(cell) else type(cell)


def cell_text(cell: Value) -> str:
    """Return a cell as the text of a CSV file; a missing one is empty.

    Examples
    --------
    >>> cell_text(None), cell_text(True), cell_text(2.5), cell_text("x")
    ('', 'True', '2.5', 'x')
    """
    return "" if cell is None else str(cell)


def _read_csv(path: str | os.PathLike[str]) -> Table:
    try:
        with _stream(path) as stream:
            return _parse(str(path), stream)
    except (OSError, EOFError, zlib.error):
        raise FormatError(
            f"{path}: this is not a gzip file, or it is damaged or truncated"
        ) from None
    except UnicodeDecodeError:
        raise FormatError(f"{path}: this is not a text file (UTF-8)") from None
    except csv.Error as error:
        raise FormatError(f"{path}: not readable as CSV: {error}") from None


@contextmanager
def _stream(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """Open a CSV file, which may be packed by gzip; it is unpacked as it is read."""
    data = io.BytesIO(read_bytes(path, MOST_TEXT))
    if Path(path).suffix != ".gz":
        with io.TextIOWrapper(data, encoding="utf-8-sig", newline="") as stream:
            yield stream
        return
    _check_unpacked(path, data)
    with (
        gzip.GzipFile(fileobj=data) as unpacked,
        io.TextIOWrapper(unpacked, encoding="utf-8-sig", newline="") as stream,
    ):
        yield stream


def _check_unpacked(path: str | os.PathLike[str], data: BinaryIO) -> None:
    """Refuse what gzip packed if it is damaged, or too large; keep nothing of it."""
    n_bytes = 0
    with gzip.GzipFile(fileobj=data) as stream:
        while part := stream.read(1 << 20):
            n_bytes += len(part)
            if n_bytes > MOST_TEXT:
                raise FormatError(
                    f"{path}: the file is larger than {size_text(MOST_TEXT)} when "
                    f"unpacked, which is the limit"
                )
    data.seek(0)


def _parse(path: str, stream: TextIO) -> Table:
    header, rows = read_rows(path, stream)
    lines = array("q")
    n_rows = min(MOST_ROWS, MOST_CSV_CELLS // len(header))

    def cells() -> Iterator[list[str]]:
        for row, line in rows:
            if len(lines) == n_rows:
                raise FormatError(
                    f"{path}, line {line}: more than {n_rows:,} rows of "
                    f"{count(len(header), 'cell')}, which is the limit; use a "
                    f"sample of the rows"
                )
            lines.append(line)
            yield row

    return Table(path, header, list(_shared_rows(header, cells())), lines)


def read_rows(
    path: str, stream: TextIO
) -> tuple[list[str], Iterator[tuple[list[str], int]]]:
    """Return the header of a CSV file, and its rows one by one with their lines."""
    reader = csv.reader(stream, strict=True)
    header = next(reader, None)
    check_header(path, header or [], ", line 1")
    assert header is not None, "checked"
    return header, _rows(path, header, reader)


def check_header(path: str, header: list[str], place: str) -> None:
    """Refuse a file without columns, or with two of one name."""
    if not header:
        raise FormatError(
            f"{path}: the file is empty; expected a header line with column names"
        )
    for name, n_columns in Counter(header).items():
        if n_columns > 1:
            raise FormatError(f"{path}{place}: the column {name!r} occurs twice")


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
    """Refuse a file with another separator, by its header and its first row."""
    hint = separator_hint(header)
    if hint and separator_hint([",".join(cells)]) == hint:
        raise FormatError(f"{path}: {hint.removeprefix('; ')}")


_TRUTHS = {"true": True, "false": False}


def _parsed_cells(cells: list[str]) -> list[Value]:
    """Return numbers if all texts are numbers, or true and false; else the texts."""
    gaps = [is_missing_text(cell, among_numbers=True) for cell in cells]
    parsed = {cell: number_of(cell) for cell in set(cells)}
    numbers = [parsed[cell] for cell in cells]
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
