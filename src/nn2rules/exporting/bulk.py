"""Rows by the million: a Parquet or CSV file in, one with the answers out.

DuckDB reads, decides and writes part by part, so a file may be larger than memory.
"""

import os
import shutil
import tempfile
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
from nn2rules.exporting.bulk_query import STOPPED, Query, added_names, query_of
from nn2rules.exporting.bulk_source import Source, check_name, is_parquet, source_of
from nn2rules.exporting.program import Policy, Program, program_of
from nn2rules.exporting.sql_bits import OPEN, OUTSIDE
from nn2rules.exporting.sql_dialects import DIALECTS
from nn2rules.formats.files import check_readable, check_writable, replacing_file
from nn2rules.formats.table import Table, table_text
from nn2rules.rules import RuleList
from nn2rules.text import count

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
    undecided: Policy = "none",
    memory: str | None = None,
) -> Written:
    """Answer the rows of a file, and write them with the class and the rule to another.

    Parameters
    ----------
    rules : RuleList
    rows, output : str or path
        Parquet or CSV files, by their suffix; CSV that is read may be packed by gzip.
        The output is written whole or not at all.
    unknown, undecided : {"none", "default", "error"}
        What becomes of a row off the domain, and of one that no rule decides.
    memory : str, optional
        The most memory that DuckDB takes, such as "500MB".
    """
    check_writable(output, keep=(rows,))
    check_readable(rows)
    is_parquet(output)  # refuses other names
    check_name(output)
    program = program_of(rules, unknown=unknown, undecided=undecided)
    duckdb = _duckdb()
    with (
        tempfile.TemporaryDirectory(prefix="nn2rules-") as spare,
        tempfile.TemporaryDirectory(prefix="nn2rules-") as links,
        duckdb.connect(":memory:", config=_settings(duckdb, spare, memory)) as base,
    ):
        try:
            return _predicted(base, program, source_of(base, rows, links), output)
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
        raise OptionError(
            f"memory: {memory!r}, expected a size such as 500MB"
        ) from None
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


def _predicted(base: Any, program: Program, source: Source, output: Any) -> Written:
    Table(source.path, list(source.names), [], []).check(program.rules.domain)
    as_parquet = is_parquet(output)
    query = query_of(program, source, as_text=not as_parquet)
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
    with replacing_file(output) as temporary:
        try:
            n_rows = _write(base, query, source, temporary, as_parquet=as_parquet)
        except Exception as error:
            if STOPPED not in str(error):
                raise
            _refuse_unknown(base, program, source)
    return Written(n_rows, n_open)


def _write(
    base: Any, query: Query, source: Source, path: str, *, as_parquet: bool
) -> int:
    """Write the answers to a file; return how many."""
    names = [*source.names, *added_names(source, as_text=not as_parquet)]
    is_plain = "" not in names and len({n.casefold() for n in names}) == len(names)
    if not is_plain and as_parquet:
        raise FormatError(
            f"{source.path}: a column has no name, or two have names that differ in "
            f"case alone, which DuckDB cannot write to Parquet; name them otherwise, "
            f"or write a CSV file"
        )
    if not is_plain:
        return _appended(base, query, source, path)
    form = "FORMAT parquet" if as_parquet else "FORMAT csv, HEADER true"
    target = f"{_text(path)} ({form}, USE_TMP_FILE false)"
    return int(source.ask(base, f"COPY ({query.answers}) TO {target}")[0])


def _appended(base: Any, query: Query, source: Source, path: str) -> int:
    """Write a CSV file with a header that DuckDB would change.

    A column may have no name, as pandas writes its index.
    """
    with tempfile.TemporaryDirectory(
        dir=Path(path).parent, prefix=f"{Path(path).name}."
    ) as folder:
        part = os.path.join(folder, "rows.csv")
        target = f"{_text(part)} (FORMAT csv, HEADER false)"
        found = source.ask(base, f"COPY ({query.answers}) TO {target}")
        header = table_text([*source.names, *added_names(source, as_text=True)], [])
        with open(path, "wb") as stream, open(part, "rb") as rows:
            stream.write(header.encode())
            shutil.copyfileobj(rows, stream, 1 << 20)
    return int(found[0])


def _open_rows(base: Any, program: Program, source: Source, query: Query) -> int:
    """Return how many rows no rule decides; where they are an error, refuse them."""
    try:
        n_rows, n_open = source.ask(
            base,
            f"SELECT count(*), count(*) FILTER (k = {OPEN}) FROM ({query.positions})",
        )
    except Exception as error:
        if STOPPED not in str(error):
            raise
        _refuse_unknown(base, program, source)
    if n_open and program.otherwise is None:
        first = _first(base, source, query.positions, OPEN)
        raise RowsError(
            f"{source.path}, {source.place(first)}: no rule decides {n_open:,} of "
            f"{count(n_rows, 'row')}; this is the first"
        )
    return int(n_open)


def _first(base: Any, source: Source, positions: str, wanted: int) -> int:
    """Return the number of the first row of a position, counted from 0."""
    numbered = f"SELECT k, row_number() OVER () AS n FROM ({positions})"
    found = source.ask(base, f"SELECT min(n) FROM ({numbered}) WHERE k = {wanted}")
    return int(found[0]) - 1


def _refuse_unknown(base: Any, program: Program, source: Source) -> None:
    """Say which row is the first that is off the domain, and why."""
    lenient = query_of(program_of(program.rules), source, as_text=True)
    number = _first(base, source, lenient.positions, OUTSIDE)
    names = ", ".join(source.find(column.name)[0] for column in program.columns)
    asked = f"SELECT {names} FROM {source.sql} LIMIT 1 OFFSET {number}"
    cells = source.ask(base, asked)
    row = dict(zip(program.rules.domain.names, cells, strict=True))
    try:
        program.rules.domain.encode([row])
    except UnknownValueError as error:
        place = source.place(number)
        raise RowsError(f"{source.path}, {place}: {error.fact}") from None
    raise AssertionError(f"row {number + 1} is on the domain after all")
