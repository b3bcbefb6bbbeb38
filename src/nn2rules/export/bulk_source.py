"""Files of rows, as DuckDB reads them.

It reads Parquet itself. CSV is read by `formats.table`, so that every cell is the text
that it is everywhere in the library, and handed over part by part.
"""

import csv
import glob
import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from nn2rules.errors import FormatError, MissingExtraError, Nn2RulesError
from nn2rules.export.sql_dialects import DIALECTS
from nn2rules.files import PARQUET, read_rows

_CSV = (".csv", ".csv.gz")
_STREAM = "nn2rules_rows"
_PART = 1 << 14
_duckdb = DIALECTS["duckdb"]


def import_duckdb(purpose: str) -> Any:
    """Return the module, or say what it is needed for."""
    try:
        import duckdb
        import pyarrow as _  # noqa: F401  in which DuckDB hands over cells
    except ImportError:
        raise MissingExtraError("duckdb", "sql", purpose) from None
    return duckdb


@contextmanager
def connected(duckdb: Any, **settings: str) -> Iterator[Any]:
    """Open an empty database, which prints no progress bar of its own."""
    with duckdb.connect(":memory:", config=settings) as base:
        base.execute("SET enable_progress_bar = false")
        yield base


@contextmanager
def plain_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn errors of DuckDB about a file into one sentence."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        line = " ".join(str(error).split("\n\n")[0].split())
        raise FormatError(f"{path}: {line}") from None
    except RuntimeError as error:  # what DuckDB makes of Ctrl-C
        if "interrupt" in str(error).lower():
            raise KeyboardInterrupt from None
        raise


@dataclass(frozen=True, slots=True)
class Source:
    """Rows in a file.

    Attributes
    ----------
    path : str
    sql : str
        The text after FROM.
    names : tuple of str
        The columns of the file.
    called : tuple of str
        What they are called in a query: DuckDB changes names that differ only in case.
    types : tuple of str
        Their types there.
    """

    path: str
    sql: str
    names: tuple[str, ...]
    called: tuple[str, ...]
    types: tuple[str, ...]
    failures: list[Nn2RulesError] = field(default_factory=list)
    """Errors that occurred while DuckDB asked for rows."""

    def find(self, feature: str) -> tuple[str, str]:
        """Return what the column of a feature is called in a query, and its type."""
        place = self.names.index(feature)
        return _duckdb.identifier(self.called[place]), self.types[place]

    def ask(self, base: Any, query: str) -> Any:
        """Return the first row of a query's result."""
        if self.sql == _STREAM:
            base.register(_STREAM, _stream(self))
        try:
            return base.execute(query).fetchall()[0]
        except Exception:
            if self.failures:
                raise self.failures[0] from None
            raise

    def place(self, number: int) -> str:
        """Return where a row is, counted from 0: its line, or its number."""
        if self.sql != _STREAM:
            return f"row {number + 1}"
        with opened_csv(self.path) as (_, rows):
            return f"line {next(islice(rows, number, None))[1]}"


def is_parquet(path: str | os.PathLike[str]) -> bool:
    """Tell whether a name is that of a Parquet file, and not of a CSV file."""
    name = Path(path).name.lower()
    if name.endswith(PARQUET):
        return True
    if name.endswith(_CSV):
        return False
    raise FormatError(f"{path}: expected a name that ends with .parquet or .csv")


def source_of(base: Any, path: str | os.PathLike[str], spare: str) -> Source:
    """Return how a file is read, after checking its header.

    The folder `spare` is empty, and there for as long as the file is read.
    """
    if not is_parquet(path):
        with opened_csv(path) as (header, _):
            called = tuple(f"c{place}" for place in range(len(header)))
        types = ("VARCHAR",) * len(called)
        return Source(str(path), _STREAM, tuple(header), called, types)
    literal = _duckdb.text(_pattern(base, path, spare))
    sql = f"read_parquet({literal}, hive_partitioning=false)"
    found = base.execute(f"DESCRIBE SELECT * FROM {sql}").fetchall()
    names = tuple(row[0] for row in found)
    known = base.execute(f"SELECT name FROM parquet_schema({literal})").fetchall()
    changed = [name for name in names if (name,) not in known]
    if changed:
        raise FormatError(
            f"{path}: two columns have names that differ only in case, and "
            f"one is read as {changed[0]!r}; rename one of them"
        )
    types = tuple("VARCHAR" if r[1].startswith("ENUM") else r[1] for r in found)
    return Source(str(path), sql, names, names, types)


def _pattern(base: Any, path: str | os.PathLike[str], spare: str) -> str:
    """Return what DuckDB, which takes names for patterns, takes for this file alone.

    That is a link with a plain name, where there are links: whether DuckDB finds a file
    by a pattern depends on the names of the files beside it.
    """
    whole = os.path.realpath(path)
    try:
        meant = os.path.join(spare, "rows.parquet")
        os.symlink(whole, meant)
    except OSError:  # Windows may not let a user make links
        check_name(path)
        meant = whole
    pattern = glob.escape(meant)
    found = base.execute(f"SELECT file FROM glob({_duckdb.text(pattern)})").fetchall()
    if [os.path.realpath(file) for (file,) in found] != [whole]:
        raise FormatError(
            f"{path}: DuckDB cannot read a file of this name; rename the file"
        )
    return pattern


def check_name(path: str | os.PathLike[str]) -> None:
    """Refuse a name that is not UTF-8, which DuckDB does not take."""
    try:
        os.path.realpath(path).encode()
    except UnicodeEncodeError:
        shown = os.fspath(path).encode(errors="backslashreplace").decode()
        raise FormatError(
            f"{shown}: this name is not UTF-8, which DuckDB needs; rename the file"
        ) from None


@contextmanager
def opened_csv(
    path: str | os.PathLike[str],
) -> Iterator[tuple[list[str], Iterator[tuple[list[str], int]]]]:
    """Open a CSV file: its header and its rows; every failure gets one sentence."""
    opened: Any = gzip.open if Path(path).suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig", newline="") as stream:
            yield read_rows(str(path), stream)
    except UnicodeDecodeError:
        raise FormatError(f"{path}: this is not a text file (UTF-8)") from None
    except csv.Error as error:
        raise FormatError(f"{path}: not readable as CSV: {error}") from None
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FormatError(f"{path}: cannot be read: {reason}") from None


def _stream(source: Source) -> Any:
    """Return the rows of a CSV file as a stream of Arrow."""
    import pyarrow as pa

    schema = pa.schema([(name, pa.string()) for name in source.called])

    def parts() -> Iterator[Any]:
        try:
            with opened_csv(source.path) as (_, rows):
                while part := list(islice(rows, _PART)):
                    columns = zip(*(cells for cells, _ in part), strict=True)
                    arrays = [pa.array(cells, pa.string()) for cells in columns]
                    yield pa.record_batch(arrays, schema=schema)
        except Nn2RulesError as error:
            source.failures.append(error)
            raise

    return pa.RecordBatchReader.from_batches(schema, parts())
