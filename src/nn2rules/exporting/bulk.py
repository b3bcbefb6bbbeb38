"""Rows by the million: a Parquet or CSV file in, one with the answers out.

DuckDB reads, decides and writes part by part, so a file may be larger than memory.
"""

import csv
import gzip
import os
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nn2rules.errors import (
    FormatError,
    MissingExtraError,
    OptionError,
    RowsError,
    UnknownValueError,
)
from nn2rules.exporting.bulk_query import (
    OPEN,
    OUTSIDE,
    STOPPED,
    Query,
    Source,
    query_of,
)
from nn2rules.exporting.program import Policy, Program, program_of
from nn2rules.exporting.sql_dialects import DIALECTS
from nn2rules.formats.files import check_readable, check_writable, replacing_file
from nn2rules.formats.table import CsvTable
from nn2rules.rules import RuleList
from nn2rules.text import count

PARQUET = (".parquet", ".pq")
_CSV = (".csv", ".csv.gz")
_text = DIALECTS["duckdb"].text


@dataclass(frozen=True, slots=True)
class Written:
    """How many rows were written, and how many of them no rule decides."""

    n_rows: int
    n_open: int


def predict_file(
    rules: RuleList,
    rows: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    unknown: Policy = "error",
    undecided: Policy = "default",
    memory: str | None = None,
) -> Written:
    """Answer the rows of a file, and write them with the class and the rule to another.

    Parameters
    ----------
    rules : RuleList
    rows, output : str or path
        Parquet or CSV files, by their suffix; CSV that is read may be packed by gzip.
        The output is written whole or not at all.
    unknown, undecided : {"error", "default", "none"}
        What becomes of a row off the domain, and of one that no rule decides.
    memory : str, optional
        The most memory that DuckDB takes, such as "500MB".
    """
    check_writable(output, keep=(rows,))
    check_readable(rows)
    program = program_of(rules, unknown=unknown, undecided=undecided)
    duckdb = _duckdb()
    with (
        tempfile.TemporaryDirectory(prefix="nn2rules-") as spare,
        duckdb.connect(":memory:", config=_settings(duckdb, spare, memory)) as base,
    ):
        try:
            return _predicted(base, program, rows, output)
        except duckdb.Error as error:
            raise _plain(rows, error) from None
        except RuntimeError as error:  # what DuckDB makes of Ctrl-C
            if "interrupt" in str(error).lower():
                raise KeyboardInterrupt from None
            raise


def _settings(duckdb: Any, spare: str, memory: str | None) -> dict[str, str]:
    """Return the settings of DuckDB, once it is known that it takes the memory."""
    settings = {"temp_directory": spare}
    if memory is None:
        return settings
    try:
        duckdb.connect(":memory:", config={"memory_limit": memory}).close()
    except duckdb.Error:
        raise OptionError(f"memory: {memory!r}, expected a size such as 500MB") from None
    return settings | {"memory_limit": memory}


def _duckdb() -> Any:
    try:
        import duckdb
        import pyarrow as _  # noqa: F401  in which DuckDB hands over cells
    except ImportError:
        raise MissingExtraError("duckdb", "sql", "answering Parquet files") from None
    return duckdb


def _plain(path: str | os.PathLike[str], error: Exception) -> FormatError:
    """Return an error of DuckDB as one sentence."""
    line = " ".join(str(error).split("\n\n")[0].split())
    return FormatError(f"{path}: {line}")


def _predicted(base: Any, program: Program, rows: Any, output: Any) -> Written:
    source = _source(base, rows)
    CsvTable(source.path, list(source.names), [], []).check(program.rules.domain)
    is_parquet = _is_parquet(output)
    query = query_of(program, source, as_text=not is_parquet)
    for name, function, type_name in query.functions:
        base.create_function(
            name,
            function,
            [type_name],
            "INTEGER",
            type="arrow",
            null_handling="special",
        )
    n_open = 0
    if program.rules.scope == "support":
        n_open = _open_rows(base, program, source, query)
    form = "FORMAT parquet" if is_parquet else "FORMAT csv, HEADER true"
    with replacing_file(output) as temporary:
        target = f"{_text(temporary)} ({form}, USE_TMP_FILE false)"
        try:
            found = base.execute(f"COPY ({query.answers}) TO {target}").fetchone()
        except Exception as error:
            if STOPPED not in str(error):
                raise
            _refuse_unknown(base, program, source)
    return Written(int(found[0]), n_open)


def _open_rows(base: Any, program: Program, source: Source, query: Query) -> int:
    """Return how many rows no rule decides; where they are an error, refuse them."""
    try:
        n_rows, n_open = base.execute(
            f"SELECT count(*), count(*) FILTER (k = {OPEN}) FROM ({query.positions})"
        ).fetchone()
    except Exception as error:
        if STOPPED not in str(error):
            raise
        _refuse_unknown(base, program, source)
    if n_open and program.otherwise is None:
        first = _first(base, query.positions, OPEN)
        raise RowsError(
            f"{source.path}, row {first + 1}: no rule decides {n_open:,} of "
            f"{count(n_rows, 'row')}; this is the first"
        )
    return int(n_open)


def _first(base: Any, positions: str, wanted: int) -> int:
    """Return the number of the first row of a position, counted from 0."""
    numbered = f"SELECT k, row_number() OVER () AS n FROM ({positions})"
    found = base.execute(f"SELECT min(n) FROM ({numbered}) WHERE k = {wanted}")
    return int(found.fetchone()[0]) - 1


def _refuse_unknown(base: Any, program: Program, source: Source) -> None:
    """Say which row is the first that is off the domain, and why."""
    lenient = program_of(program.rules, unknown="none")
    number = _first(base, query_of(lenient, source, as_text=True).positions, OUTSIDE)
    names = [source.find(column.name)[0] for column in program.columns]
    cells = base.execute(
        f"SELECT {', '.join(names)} FROM {source.sql} LIMIT 1 OFFSET {number}"
    ).fetchone()
    row = dict(zip(program.rules.domain.names, cells, strict=True))
    try:
        program.rules.domain.encode([row])
    except UnknownValueError as error:
        raise RowsError(f"{source.path}, row {number + 1}: {error.fact}") from None
    raise AssertionError(f"row {number + 1} is on the domain after all")


def _is_parquet(path: str | os.PathLike[str]) -> bool:
    name = Path(path).name.lower()
    if name.endswith(PARQUET):
        return True
    if name.endswith(_CSV):
        return False
    raise FormatError(f"{path}: expected a name that ends with .parquet or .csv")


def _source(base: Any, path: str | os.PathLike[str]) -> Source:
    """Return how a file is read, once its header is known to be good."""
    literal = _text(os.fspath(path))
    if not _is_parquet(path):
        names = _header(path)
        called = tuple(f"c{place}" for place in range(len(names)))
        columns = ", ".join(f"'{name}': 'VARCHAR'" for name in called)
        listed = ", ".join(f"'{name}'" for name in called)
        sql = (
            f"read_csv({literal}, columns={{{columns}}}, force_not_null=[{listed}], "
            f"header=true, auto_detect=false, delim=',', quote='\"', escape='\"', "
            f"parallel=false)"
        )
        return Source(str(path), sql, names, called, ("VARCHAR",) * len(names))
    sql = f"read_parquet({literal}, hive_partitioning=false)"
    found = base.execute(f"DESCRIBE SELECT * FROM {sql}").fetchall()
    names = tuple(row[0] for row in found)
    known = base.execute(f"SELECT name FROM parquet_schema({literal})").fetchall()
    changed = [name for name in names if name not in {row[0] for row in known}]
    if changed:
        raise FormatError(
            f"{path}: two of its columns have names that differ in case alone, of which "
            f"one is read as {changed[0]!r}; rename one of them"
        )
    types = tuple(_type(row[1]) for row in found)
    return Source(str(path), sql, names, names, types)


def _type(name: str) -> str:
    """Return a type of DuckDB; a list of words that cells may be is a text."""
    return "VARCHAR" if name.startswith("ENUM") else name


def _header(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Return the header of a CSV file."""
    opened = gzip.open if Path(path).suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig", newline="") as stream:
            header = next(csv.reader(stream, strict=True), None)
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise FormatError(f"{path}: not readable as CSV: {error}") from None
    if not header:
        raise FormatError(
            f"{path}: the file is empty; expected a header line with column names"
        )
    for name, n_columns in Counter(header).items():
        if n_columns > 1:
            raise FormatError(f"{path}, line 1: the column {name!r} occurs twice")
    return tuple(header)
