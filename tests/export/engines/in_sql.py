"""Exports that are SQL, run by DuckDB, SQLite, PostgreSQL and Spark.

A made text is a select list; `view` makes one of a view. Every other missing number is
given as NaN, where a database has it.
"""

import os
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from export.executing import needs
from nn2rules.export.card_program import CardProgram, Scored
from nn2rules.export.program import Prediction, Program
from nn2rules.language.text import unused

NAN = float("nan")
Query = Callable[[list[list[Any]]], list[tuple[Any, ...]]]


def execute(made: Any, program: Program, rows: Any) -> list[Prediction | None]:
    """Run an export in DuckDB."""
    return answers(program, rows, lambda cells: in_duckdb(made, program, cells))


def answers(
    program: Program, rows: Any, query: Query, *, has_nan: bool = True
) -> list[Prediction | None]:
    """Return the answers of a query; where it fails, those to each row alone."""
    cells = [
        [
            _cell(row[c.name], c.kind, has_nan and (n + p) % 2)
            for p, c in _places(program)
        ]
        for n, row in enumerate(rows)
    ]
    try:
        return [_answer(program, found) for found in query(cells)]
    except Exception as error:  # every database has errors of its own
        if not is_meant(error):
            raise
        if len(cells) == 1:
            return [None]
    return [answers(program, [row], query, has_nan=has_nan)[0] for row in rows]


def is_meant(error: Exception) -> bool:
    """Tell whether a query failed as it was to."""
    text = str(error)
    return "nn2rules: " in text or "malformed JSON" in text


def _places(program: Program) -> Iterator[tuple[int, Any]]:
    return iter(enumerate(program.columns))


def _cell(cell: Any, kind: str, as_nan: Any) -> Any:
    if kind == "number":
        if cell is None:
            return NAN if as_nan else None
        return float(cell)
    return cell


def _answer(program: Program, found: tuple[Any, ...]) -> Prediction:
    label, *beside = found
    if program.label_kind == "truth" and label is not None:
        label = bool(label)
    if isinstance(program, CardProgram):
        return Scored(label, None, tuple(beside))
    return Prediction(label, *beside)


def row_number(program: Program) -> str:
    """Return a name for a column that keeps the order of rows."""
    return unused("nr", {column.name.casefold() for column in program.columns})


def quoted(name: str) -> str:
    """Return a name in double quotes."""
    return '"' + name.replace('"', '""') + '"'


def _query(made: str, program: Program, quote: Callable[[str], str]) -> str:
    """Return a query for an export: a select list, or a view of the table cases."""
    order = quote(row_number(program))
    if "CREATE VIEW" not in made:
        return f"SELECT {made} FROM cases ORDER BY {order}"
    names: list[str] = [column.name.casefold() for column in program.columns]
    wanted = []
    for name in ("prediction", *program.beside):
        names.append(unused(name, names).casefold())
        wanted.append(quote(unused(name, names[:-1])))
    body = made.partition(" AS\n")[2].rstrip().rstrip(";")
    return f"SELECT {', '.join(wanted)} FROM ({body}) viewed ORDER BY {order}"


def in_duckdb(made: str, program: Program, cells: list[list[Any]]) -> list[Any]:
    """Run a select list in DuckDB."""
    base = duckdb_table(program, cells)
    return base.execute(_query(made, program, quoted)).fetchall()


def duckdb_table(program: Program, cells: list[list[Any]]) -> Any:
    """Fill a table of DuckDB, the one of all tests."""
    base = _duckdb()
    base.execute("DROP VIEW IF EXISTS cases_predicted")
    base.register("given", arrow_table(program, cells))
    base.execute("CREATE OR REPLACE TABLE cases AS SELECT * FROM given")
    base.unregister("given")
    return base


@cache
def _duckdb() -> Any:
    import duckdb

    return duckdb.connect()


def arrow_table(program: Program, cells: list[list[Any]]) -> Any:
    """Return cells as a table with columns of their types, and the number of rows."""
    import pyarrow as pa

    types = {"text": pa.string(), "number": pa.float64(), "truth": pa.bool_()}
    arrays = [
        pa.array([row[place] for row in cells], types[column.kind], from_pandas=False)
        for place, column in enumerate(program.columns)
    ]
    names = [column.name for column in program.columns]
    arrays.append(pa.array(range(len(cells))))
    return pa.table(arrays, names=[*names, row_number(program)])


@contextmanager
def sqlite(program: Program, cells: list[list[Any]]) -> Iterator[Any]:
    """Fill a table of SQLite."""
    types = {"text": "TEXT", "number": "REAL", "truth": "INTEGER"}
    columns = ", ".join(f"{quoted(c.name)} {types[c.kind]}" for c in program.columns)
    number = quoted(row_number(program))
    holes = ", ".join("?" * (len(program.columns) + 1))
    base = sqlite3.connect(":memory:")
    try:
        base.execute(f"CREATE TABLE cases ({columns}, {number} INTEGER)")
        numbered = [[*row, n] for n, row in enumerate(cells)]
        base.executemany(f"INSERT INTO cases VALUES ({holes})", numbered)
        yield base
    finally:
        base.close()


def in_sqlite(made: str, program: Program, cells: list[list[Any]]) -> list[Any]:
    """Run a select list in SQLite."""
    with sqlite(program, cells) as base:
        return base.execute(_query(made, program, quoted)).fetchall()


@contextmanager
def postgres() -> Iterator[Any]:
    """Start a server that listens on a socket of its own, and stop it afterwards."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    needs(bool(found), "PostgreSQL", "install Debian's package postgresql")
    import psycopg

    as_owner = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    folder = found[-1].parent
    with tempfile.TemporaryDirectory(prefix="pg", dir="/tmp") as given:
        home = Path(given)
        home.chmod(0o711)
        for name in ("data", "sock"):
            (home / name).mkdir()
        if as_owner:
            subprocess.run(["chown", "-R", "postgres", given], check=True)
        options = f"-k {home}/sock -c listen_addresses='' -c fsync=off"
        init = ["initdb", "-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8"]
        control = [*as_owner, str(folder / "pg_ctl"), "-D", f"{home}/data", "-w"]

        def run(*command: str) -> None:
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/")

        initdb = [str(folder / init[0]), *init[1:], "--locale=C.UTF-8"]
        run(*as_owner, *initdb, "-D", f"{home}/data")
        run(*control, "-l", f"{home}/data/log", "-o", options, "start")
        try:
            with psycopg.connect(f"host={home}/sock user=postgres") as base:
                yield base
        finally:
            run(*control, "-m", "immediate", "stop")


@contextmanager
def postgres_table(base: Any, program: Program, cells: Any) -> Iterator[None]:
    """Fill a table of PostgreSQL, and take it back afterwards."""
    types = {"text": "TEXT", "number": "DOUBLE PRECISION", "truth": "BOOLEAN"}
    columns = ", ".join(f"{quoted(c.name)} {types[c.kind]}" for c in program.columns)
    number = quoted(row_number(program))
    try:
        base.execute(f"CREATE TEMP TABLE cases ({columns}, {number} INTEGER)")
        with base.cursor().copy("COPY cases FROM STDIN") as copy:
            for n, row in enumerate(cells):
                copy.write_row([*row, n])
        yield
    finally:
        base.rollback()


def in_postgres(base: Any, made: str, program: Program, cells: Any) -> list[Any]:
    """Run a select list in PostgreSQL."""
    with postgres_table(base, program, cells):
        return base.execute(_query(made, program, quoted)).fetchall()


@cache
def spark() -> Any:
    """Return the session of all tests."""
    import shutil

    needs(shutil.which("java") is not None, "Java", "install default-jre-headless")
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.driver.memory": "512m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.warehouse.dir": f"{tempfile.gettempdir()}/nn2rules-spark",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    builder = SparkSession.builder.master("local[1]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def spark_frame(program: Program, cells: list[list[Any]]) -> Any:
    """Return cells as a frame of Spark, in one part, so that rows keep their order."""
    from pyspark.sql import types as t

    kinds = {"text": t.StringType(), "number": t.DoubleType(), "truth": t.BooleanType()}
    fields = [t.StructField(c.name, kinds[c.kind]) for c in program.columns]
    fields.append(t.StructField(row_number(program), t.IntegerType()))
    numbered = [[*row, n] for n, row in enumerate(cells)]
    return spark().createDataFrame(numbered, t.StructType(fields)).coalesce(1)


def view_in_spark(made: str, program: Program, cells: Any) -> list[Any]:
    """Run the query of a view in Spark."""
    spark_frame(program, cells).createOrReplaceTempView("cases")
    query = _query(made, program, lambda name: f"`{name.replace('`', '``')}`")
    return [tuple(row) for row in spark().sql(query).collect()]


def in_spark(made: tuple[str, str], program: Program, cells: Any) -> list[Any]:
    """Run two column expressions in Spark: the class, and the rule."""
    from pyspark.sql.functions import expr

    frame = spark_frame(program, cells)
    label, rule = (expr(each) for each in made)
    return [tuple(row) for row in frame.select(label, rule).collect()]
