"""Rows part by part, so that files may be larger than memory.

A part holds columns by their distinct cells: everything about a cell is worked out once
for each of these, as `Lookup` does. Parquet files are read by DuckDB, as for
predictions in bulk; CSV files are read by Python, and Excel files whole.
"""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import OptionError, RowsError
from nn2rules.export.bulk_source import (
    connected,
    import_duckdb,
    is_parquet,
    opened_csv,
    plain_errors,
    source_of,
)
from nn2rules.files import Table, cell_text, check_readable, read_table
from nn2rules.space import (
    UNKNOWN,
    Domain,
    Feature,
    Lookup,
    Range,
    Rows,
    cells_of,
    column_names,
    did_you_mean,
    is_missing,
    listed_rows,
)

RowsOrPath: TypeAlias = Rows | str | os.PathLike[str]
"""Rows as everywhere, or the name of a CSV, Parquet or Excel file."""

PART = 1 << 16
"""The number of rows of a part."""

_PURPOSE = "monitoring the rows of Parquet files"
_MOST_KEPT = 1 << 18
_TYPES = ("BIGINT", "BOOLEAN", "DATE", "DOUBLE", "FLOAT", "HUGEINT", "INTEGER")
_MORE_TYPES = ("SMALLINT", "TINYINT", "UBIGINT", "UHUGEINT", "UINTEGER", "USMALLINT")
_KNOWN_TYPES = {*_TYPES, *_MORE_TYPES, "UTINYINT", "VARCHAR"}


@dataclass(frozen=True, slots=True)
class Column:
    """The distinct cells of a column, and which of them each row has."""

    cells: Sequence[object]
    places: NDArray[np.int64]

    def mapped(self, function: Callable[[Any], int]) -> NDArray[np.int64]:
        """Return a whole number for each row, worked out once for each cell."""
        return np.array([function(cell) for cell in self.cells], np.int64)[self.places]


@dataclass(frozen=True, slots=True)
class Part:
    """Some rows: their columns by name, and the rows themselves if they are a frame."""

    columns: dict[str, Column]
    n_rows: int
    rows: Rows = None


@dataclass(frozen=True, slots=True)
class DataSet:
    """Rows that can be read part by part, more than once.

    Attributes
    ----------
    name : str
        What messages call it: its file, or what it is.
    rows : frame, list of dicts, or path
    header : tuple of str
        The columns that there are.
    is_file : bool
        A file has one way to leave a cell empty, which every feature takes as missing.
    """

    name: str
    rows: RowsOrPath
    header: tuple[str, ...]
    is_file: bool

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        """Yield the columns called `names`, part by part."""
        if not self.is_file:
            return _parts_of_rows(self.rows, names)
        if isinstance(self.rows, Table):
            return _parts_of_rows(self.rows.rows, names)
        path = os.fspath(self.rows)
        read = _parts_of_parquet if is_parquet(path) else _parts_of_csv
        return read(path, names)

    def check(self, domain: Domain, names: Sequence[str]) -> None:
        """Refuse rows that lack the column of a feature, or one called by a name."""
        Table(self.name, [*self.header], [], []).check(domain)
        for name in names:
            if name not in self.header:
                raise OptionError(
                    f"{self.name}: there is no column {name!r}; the columns are "
                    f"{', '.join(self.header)}{did_you_mean(name, self.header)}"
                )


def data_set(name: str, rows: RowsOrPath) -> DataSet:
    """Return rows, or those of a file, after a look at the names of the columns."""
    if not isinstance(rows, str | os.PathLike):
        rows = listed_rows(rows)
        if isinstance(rows, list | tuple) and not rows:
            raise RowsError(f"{name}: there are no rows; give at least one")
        return DataSet(name, rows, tuple(column_names(rows)), is_file=False)
    check_readable(rows)
    path = os.fspath(rows)
    if Path(path).suffix.lower() == ".xlsx":
        table = read_table(path)
        return DataSet(path, table, tuple(table.header), is_file=True)
    if is_parquet(path):
        return DataSet(path, path, _parquet_names(path), is_file=True)
    with opened_csv(path) as (header, _):
        return DataSet(path, path, tuple(header), is_file=True)


def column_of(cells: Sequence[object]) -> Column:
    """Return a column by its distinct cells.

    Examples
    --------
    >>> column = column_of(["red", "green", "red"])
    >>> column.cells, column.places
    (['red', 'green'], array([0, 1, 0]))
    """
    places: dict[object, int] = {}
    try:
        found = [places.setdefault(cell, len(places)) for cell in cells]
    except TypeError:
        raise RowsError("a cell is not a single value") from None
    return Column([*places], np.array(found, dtype=np.int64))


def _columns(names: Sequence[str], cells: Sequence[Sequence[object]]) -> Any:
    columns = {}
    for name, column in zip(names, cells, strict=True):
        try:
            columns[name] = column_of(column)
        except RowsError as error:
            raise RowsError(f"column {name!r}: {error}") from None
    return columns


def _parts_of_rows(rows: Rows, names: Sequence[str]) -> Iterator[Part]:
    """Yield parts of a frame, or of a list of dicts."""
    is_listed = isinstance(rows, list | tuple)
    frame: Any = rows if is_listed else nw.from_native(rows, eager_only=True)
    for start in range(0, len(frame), PART):
        part = frame[start : start + PART]
        native = part if is_listed else part.to_native()
        yield Part(_columns(names, cells_of(native, names)), len(part), native)


def _parts_of_csv(path: str, names: Sequence[str]) -> Iterator[Part]:
    with opened_csv(path) as (header, rows):
        places = [header.index(name) for name in names]
        while lines := [cells for cells, _ in islice(rows, PART)]:
            columns = [[cells[place] for cells in lines] for place in places]
            yield Part(_columns(names, columns), len(lines))


def _parquet_names(path: str) -> tuple[str, ...]:
    with (
        tempfile.TemporaryDirectory(prefix="nn2rules-") as links,
        connected(import_duckdb(_PURPOSE)) as base,
        plain_errors(path),
    ):
        return source_of(base, path, links).names


def _parts_of_parquet(path: str, names: Sequence[str]) -> Iterator[Part]:
    """Yield parts of a Parquet file, as DuckDB reads them."""
    with (
        tempfile.TemporaryDirectory(prefix="nn2rules-") as spare,
        tempfile.TemporaryDirectory(prefix="nn2rules-") as links,
        connected(import_duckdb(_PURPOSE), temp_directory=spare) as base,
        plain_errors(path),
    ):
        source = source_of(base, path, links)
        wanted = []
        for name in names:
            column, type_name = source.find(name)
            if type_name not in _KNOWN_TYPES and not type_name.startswith("TIMESTAMP"):
                raise RowsError(
                    f"{path}: the column {name!r} is of type {type_name}, expected "
                    f"texts, numbers, Booleans or dates; change its type"
                )
            wanted.append(column)
        query = base.sql(f"SELECT {', '.join(wanted)} FROM {source.sql}")
        reader = getattr(query, "to_arrow_reader", None) or query.fetch_arrow_reader
        for batch in reader(PART):
            columns = dict(zip(names, map(_of_arrow, batch.columns), strict=True))
            yield Part(columns, batch.num_rows)


def _of_arrow(cells: Any) -> Column:
    """Return a column of Arrow by its distinct cells; missing ones come last."""
    encoded = cells.dictionary_encode()
    distinct = encoded.dictionary.to_pylist()
    indices = encoded.indices
    if indices.null_count:
        indices, distinct = indices.fill_null(len(distinct)), [*distinct, None]
    return Column(distinct, indices.to_numpy().astype(np.int64))


@dataclass(frozen=True, slots=True)
class EncodedColumn:
    """A column of a feature: code and number of each distinct cell."""

    codes: NDArray[np.int64]
    numbers: NDArray[np.float64]
    places: NDArray[np.int64]


class Encoder:
    """Encodes parts on a domain, as `Domain.encode` and `Domain.numbers` do."""

    def __init__(self, domain: Domain, *, is_file: bool) -> None:
        self.domain, self._is_file = domain, is_file
        self._lookups = [Lookup(feature) for feature in domain.features]

    def columns(self, part: Part) -> list[EncodedColumn]:
        """Return the column of each feature."""
        return [
            self._column(feature, lookup, part.columns[feature.name])
            for feature, lookup in zip(self.domain.features, self._lookups, strict=True)
        ]

    def _column(
        self, feature: Feature, lookup: Lookup, column: Column
    ) -> EncodedColumn:
        if len(lookup) > _MOST_KEPT:
            lookup.clear()
        codes = np.array([lookup[cell] for cell in column.cells], np.int64)
        if feature.not_missing and not self._is_file:
            codes[[*map(feature.refuses, column.cells)]] = UNKNOWN
        numbers = np.ones(len(codes))
        if isinstance(feature, Range):
            numbers[:] = [lookup.number(cell) for cell in column.cells]
        return EncodedColumn(codes, numbers, column.places)


def codes_and_numbers(
    columns: Sequence[EncodedColumn], domain: Domain
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    """Return the codes of rows, `UNKNOWN` among them, and the numbers of ranges."""
    codes = np.stack([column.codes[column.places] for column in columns], axis=1)
    if not domain.has_ranges:
        return codes, None
    numbers = [column.numbers[column.places] for column in columns]
    return codes, np.stack(numbers, axis=1)


def cell_words(cell: object) -> str:
    """Return a cell as the text of a CSV file, where a missing one is "missing".

    Examples
    --------
    >>> cell_words(3.5), cell_words("2026-10"), cell_words(None), cell_words("")
    ('3.5', '2026-10', 'missing', 'missing')
    >>> cell_words(datetime(2026, 10, 1)), cell_words(date(2026, 10, 1))
    ('2026-10-01', '2026-10-01')
    """
    if cell == "" or is_missing(cell):
        return "missing"
    if (
        isinstance(cell, datetime)
        and cell.tzinfo is None
        and cell == cell.min.replace(cell.year, cell.month, cell.day)
    ):
        cell = cell.date()
    if isinstance(cell, date):
        return str(cell)
    if isinstance(cell, np.generic):
        cell = cell.item()
    return cell_text(cell)  # type: ignore[arg-type]
