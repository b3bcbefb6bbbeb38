"""Predictions by the million: a Parquet or CSV file in, one with predictions out.

DuckDB reads, predicts and writes part by part, so a file may be larger than memory.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nn2rules.errors import (
    FormatError,
    OptionError,
    RowsError,
    UnknownValueError,
)
from nn2rules.export.bits import bits_of
from nn2rules.export.bulk_source import (
    Source,
    check_name,
    connected,
    import_duckdb,
    is_parquet,
    plain_errors,
    source_of,
)
from nn2rules.export.columns import Column
from nn2rules.export.program import Policy, RuleProgram, program_of
from nn2rules.export.sql_conditions import (
    OUTSIDE,
    UNCOVERED,
    column_words,
    position_of,
    predictions_at,
    prefix_for,
)
from nn2rules.export.sql_dialects import DIALECTS
from nn2rules.files import (
    Table,
    check_readable,
    check_writable,
    replacing_file,
    table_text,
)
from nn2rules.language import count, unused
from nn2rules.rules import RuleList
from nn2rules.space import Domain, Feature, Lookup

STOPPED = "a row outside the domain"
"""What the query ends with where such a row is an error."""

_DUCKDB = DIALECTS["duckdb"]
_WHOLE = {f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "BIG")}
_NUMBERS = {*_WHOLE, "INTEGER", "UINTEGER", "DOUBLE", "FLOAT"}
_KINDS = {"text": {"VARCHAR"}, "number": _NUMBERS, "truth": {"BOOLEAN"}}
_LOOKED_UP = {"VARCHAR", "BOOLEAN", "DATE", *_NUMBERS}
_PLAIN = r"-?[0-9]{1,9}(\.[0-9]{1,6})?"  # a number that DOUBLE and Decimal read alike
_MOST_KEPT = 1 << 18


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked of DuckDB, and the functions that it calls.

    Attributes
    ----------
    predictions : str
        The file's columns, the class and the rule.
    positions : str
        Position of the rule, as "k", and no more.
    functions : tuple of (name, function, type)
    """

    predictions: str
    positions: str
    functions: tuple[tuple[str, Callable[[Any], Any], str], ...]


def query_of(program: RuleProgram, source: Source, *, as_text: bool) -> Query:
    """Return the query for a file; `as_text`, classes are written as texts."""
    prefix = prefix_for(source.called)
    bits = bits_of(program)
    cells: list[str] = []
    words: list[list[str]] = [[] for _ in range(bits.n_words)]
    functions: list[tuple[str, Callable[[Any], Any], str]] = []
    for place, column in enumerate(program.columns):
        name, type_name = source.find(column.name)
        cell = f"{prefix}_x{place}"
        made = _cell(column, name, type_name, source.path)
        cells.append(f"{made} AS {cell}")
        looked = None
        if type_name not in _KINDS[column.kind]:
            looked = f"{prefix}_code{place}"
            functions.append((looked, _codes(column.feature), type_name))
            cells.append(f"{_by_lookup(column, name, type_name, looked)} AS {looked}")
        made_words = column_words(column, bits.of_column(place), cell, looked)
        for word, text in made_words.items():
            words[word].append(text)
    layers = f"SELECT *, {', '.join(cells)} FROM {source.sql}"
    sums = [f"({' | '.join(w)}) AS {prefix}_w{i}" for i, w in enumerate(words)]
    layers = f"SELECT *, {', '.join(sums)} FROM ({layers})"
    fails = f"error('{STOPPED}')" if program.outside is None else str(OUTSIDE)
    position = position_of(bits, prefix, outside=fails)
    layers = f"SELECT *, {position} AS {prefix}_k FROM ({layers})"
    kept = _selected(source, program, prefix, as_text=as_text)
    return Query(
        f"SELECT {kept} FROM ({layers})",
        f"SELECT {prefix}_k AS k FROM ({layers})",
        tuple(functions),
    )


def _cell(column: Column, name: str, type_name: str, path: str) -> str:
    """Return a cell of the column's kind, NULL for one that is looked up."""
    if type_name in _KINDS[column.kind]:
        return f"CAST({name} AS DOUBLE)" if type_name == "FLOAT" else name
    if type_name not in _LOOKED_UP:
        raise RowsError(
            f"{path}: the column {column.name!r} is of type {type_name}, expected "
            f"{_EXPECTED[column.kind]}; change its type"
        )
    if column.kind == "number" and type_name == "VARCHAR":
        return f"CASE WHEN {_is_plain(name)} THEN TRY_CAST({name} AS DOUBLE) END"
    return f"CAST(NULL AS {_DUCKDB.types[column.kind]})"


_EXPECTED = {
    "text": "VARCHAR",
    "number": "DOUBLE or a type of integers",
    "truth": "BOOLEAN",
}


def _is_plain(name: str) -> str:
    return f"regexp_full_match({name}, '{_PLAIN}')"


def _by_lookup(column: Column, name: str, type_name: str, function: str) -> str:
    """Return the code of a cell that is looked up; NULL if the cell has it."""
    if column.kind == "number" and type_name == "VARCHAR":
        return (
            f"CASE WHEN {name} IS NULL OR NOT {_is_plain(name)} "
            f"THEN {function}({name}) END"
        )
    return f"{function}({name})"


def _selected(
    source: Source, program: RuleProgram, prefix: str, *, as_text: bool
) -> str:
    """Return the columns of the predictions."""
    kept = [
        f"{_DUCKDB.identifier(called)} AS {_DUCKDB.identifier(name or called)}"
        for called, name in zip(source.called, source.names, strict=True)
    ]
    kind = "text" if as_text else program.label_kind
    added = added_names(source, as_text=as_text)
    for made, name in zip(predictions_at(program, prefix, kind), added, strict=True):
        kept.append(f"{made} AS {_DUCKDB.identifier(name)}")
    return ", ".join(kept)


def added_names(source: Source, *, as_text: bool) -> tuple[str, str]:
    """Return what the columns of the class and the rule are called.

    In Parquet no name of another column differs from them only in case.
    """
    taken = {name if as_text else name.casefold() for name in source.names}
    label, rule = (unused(name, taken) for name in ("prediction", "rule"))
    return label, rule


def _codes(feature: Feature) -> Callable[[Any], Any]:
    """Return a function of Arrow from cells to codes, each different cell once."""
    lookup = Lookup(feature)

    def codes(cells: Any) -> Any:
        import pyarrow as pa

        if len(lookup) > _MOST_KEPT:
            lookup.clear()
        if isinstance(cells, pa.ChunkedArray):
            cells = cells.combine_chunks()
        encoded = cells.dictionary_encode()
        different: Sequence[Any] = encoded.dictionary.to_pylist()
        found = pa.array([*(lookup[cell] for cell in different), lookup[None]])
        return found.cast(pa.int32()).take(encoded.indices.fill_null(len(different)))

    return codes


_text = DIALECTS["duckdb"].text


@dataclass(frozen=True, slots=True)
class Written:
    """The number of rows that were written, and of those that no rule covers."""

    n_rows: int
    n_uncovered: int


def predict_file(
    rules: RuleList,
    rows: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    unknown: Policy = "error",
    uncovered: Policy = "none",
    memory: str | None = None,
) -> Written:
    """Predict the rows of a file; write them with the class and the rule to another.

    Parameters
    ----------
    rules : RuleList
    rows, output : str or path
        Parquet or CSV files, by their suffix; CSV that is read may be packed by gzip.
        The output is written whole or not at all.
    unknown, uncovered : {"none", "default", "error"}
        For a row outside the domain, and for one that no rule covers.
    memory : str, optional
        The most memory that DuckDB takes, such as "500MB".
    """
    check_writable(output, keep=(rows,))
    check_readable(rows)
    is_parquet(output)  # refuses other names
    check_name(output)
    program = program_of(_lenient(rules), unknown=unknown, uncovered=uncovered)
    duckdb = import_duckdb("predicting the rows of Parquet files")
    with (
        tempfile.TemporaryDirectory(prefix="nn2rules-") as spare,
        tempfile.TemporaryDirectory(prefix="nn2rules-") as links,
        connected(duckdb, **_settings(duckdb, spare, memory)) as base,
        plain_errors(rows),
    ):
        return _predicted(base, program, source_of(base, rows, links), output)


def _lenient(rules: RuleList) -> RuleList:
    """Return rules that take every empty cell of a file for missing."""
    features = rules.domain.features
    if not any(feature.not_missing for feature in features):
        return rules
    domain = Domain(tuple(replace(feature, not_missing=()) for feature in features))
    return rules.replace(domain=domain)


def _settings(duckdb: Any, spare: str, memory: str | None) -> dict[str, str]:
    """Return the settings of DuckDB, after checking the limit of memory."""
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


def _predicted(base: Any, program: RuleProgram, source: Source, output: Any) -> Written:
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
    n_uncovered = 0
    if program.rules.scope == "support":
        n_uncovered = _uncovered_rows(base, program, source, query)
    with replacing_file(output) as temporary:
        try:
            n_rows = _write(base, query, source, temporary, as_parquet=as_parquet)
        except Exception as error:
            if STOPPED not in str(error):
                raise
            _refuse_unknown(base, program, source)
    return Written(n_rows, n_uncovered)


def _write(
    base: Any, query: Query, source: Source, path: str, *, as_parquet: bool
) -> int:
    """Write the predictions to a file; return how many."""
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
    return int(source.ask(base, f"COPY ({query.predictions}) TO {target}")[0])


def _appended(base: Any, query: Query, source: Source, path: str) -> int:
    """Write a CSV file with a header that DuckDB would change.

    A column may have no name, as pandas writes its index.
    """
    with tempfile.TemporaryDirectory(
        dir=Path(path).parent, prefix=f"{Path(path).name}."
    ) as folder:
        part = os.path.join(folder, "rows.csv")
        target = f"{_text(part)} (FORMAT csv, HEADER false)"
        found = source.ask(base, f"COPY ({query.predictions}) TO {target}")
        header = table_text([*source.names, *added_names(source, as_text=True)], [])
        with open(path, "wb") as stream, open(part, "rb") as rows:
            stream.write(header.encode())
            shutil.copyfileobj(rows, stream, 1 << 20)
    return int(found[0])


def _uncovered_rows(
    base: Any, program: RuleProgram, source: Source, query: Query
) -> int:
    """Return how many rows no rule covers; refuse them if they are an error."""
    try:
        n_rows, n_uncovered = source.ask(
            base,
            f"SELECT count(*), count(*) FILTER (k = {UNCOVERED}) "
            f"FROM ({query.positions})",
        )
    except Exception as error:
        if STOPPED not in str(error):
            raise
        _refuse_unknown(base, program, source)
    if n_uncovered and program.otherwise is None:
        first = _first(base, source, query.positions, UNCOVERED)
        raise RowsError(
            f"{source.path}, {source.place(first)}: no rule covers {n_uncovered:,} of "
            f"{count(n_rows, 'row')}; this is the first"
        )
    return int(n_uncovered)


def _first(base: Any, source: Source, positions: str, wanted: int) -> int:
    """Return the number of the first row of a position, counted from 0."""
    numbered = f"SELECT k, row_number() OVER () AS n FROM ({positions})"
    found = source.ask(base, f"SELECT min(n) FROM ({numbered}) WHERE k = {wanted}")
    return int(found[0]) - 1


def _refuse_unknown(base: Any, program: RuleProgram, source: Source) -> None:
    """Refuse the first row outside the domain, and say why."""
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
