"""Predictions by the million: a Parquet or CSV file in, one with predictions out.

DuckDB reads, predicts and writes part by part, so a file may be larger than memory.
"""

import os
import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nn2rules.errors import FormatError, OptionError, RowsError, UnknownValueError
from nn2rules.export.bulk_query import STOPPED, Asker, CardAsker, Query, RuleAsker
from nn2rules.export.bulk_source import (
    Source,
    check_name,
    connected,
    import_duckdb,
    is_parquet,
    plain_errors,
    source_of,
)
from nn2rules.export.program import Policy, program_of
from nn2rules.export.sql_conditions import OUTSIDE, UNCOVERED
from nn2rules.export.sql_dialects import DIALECTS
from nn2rules.files import (
    Table,
    check_readable,
    check_writable,
    replacing_file,
    table_text,
)
from nn2rules.language import count
from nn2rules.rules import RuleList
from nn2rules.scorecards import Scorecard
from nn2rules.space import Domain

_text = DIALECTS["duckdb"].text


@dataclass(frozen=True, slots=True)
class Written:
    """The number of rows that were written, and of those that no rule covers."""

    n_rows: int
    n_uncovered: int


def predict_file(
    description: RuleList | Scorecard,
    rows: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    unknown: Policy = "error",
    uncovered: Policy = "none",
    memory: str | None = None,
) -> Written:
    """Predict the rows of a file, and write them with their predictions to another.

    Rules add the class and the name of the rule, a scorecard the class and the total
    of its printed points, or a total for each class. Both are those of `predict` and
    `points`: no row is left without a class for being close to a cut-off.

    Parameters
    ----------
    description : RuleList or Scorecard
    rows, output : str or path
        Parquet or CSV files, by their suffix; CSV that is read may be packed by gzip.
        The output is written whole or not at all.
    unknown, uncovered : {"none", "default", "error"}
        For a row outside the domain, and for one that no rule covers. A scorecard has
        no default class, and covers every row.
    memory : str, optional
        The most memory that DuckDB takes, such as "500MB".
    """
    check_writable(output, keep=(rows,))
    check_readable(rows)
    is_parquet(output)  # refuses other names
    check_name(output)
    asker: Asker
    if isinstance(description, Scorecard):
        asker = CardAsker(description.replace(domain=_lenient(description)), unknown)
    else:
        rules = description.replace(domain=_lenient(description))
        asker = RuleAsker(program_of(rules, unknown=unknown, uncovered=uncovered))
    duckdb = import_duckdb("predicting the rows of Parquet files")
    with (
        tempfile.TemporaryDirectory(prefix="nn2rules-") as spare,
        tempfile.TemporaryDirectory(prefix="nn2rules-") as links,
        connected(duckdb, **_settings(duckdb, spare, memory)) as base,
        plain_errors(rows),
    ):
        return _predicted(base, asker, source_of(base, rows, links), output)


def _lenient(description: RuleList | Scorecard) -> Domain:
    """Return a domain that takes every empty cell of a file for missing."""
    features = description.domain.features
    return Domain(tuple(replace(feature, not_missing=()) for feature in features))


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


def _predicted(base: Any, asker: Asker, source: Source, output: Any) -> Written:
    Table(source.path, list(source.names), [], []).check(asker.domain)
    as_parquet = is_parquet(output)
    query = asker.ask(source, as_text=not as_parquet)
    for name, function, type_name, returned in query.functions:
        base.create_function(
            name,
            function,
            [type_name],
            returned,
            type="arrow",
            null_handling="special",
        )
    n_uncovered = 0
    if asker.has_uncovered:
        n_uncovered = _uncovered_rows(base, asker, source, query)
    with replacing_file(output) as temporary:
        try:
            n_rows = _write(base, query, source, temporary, as_parquet=as_parquet)
        except Exception as error:
            if STOPPED not in str(error):
                raise
            _refuse_unknown(base, asker, source, query)
    return Written(n_rows, n_uncovered)


def _write(
    base: Any, query: Query, source: Source, path: str, *, as_parquet: bool
) -> int:
    """Write the predictions to a file; return how many."""
    names = [*source.names, *query.added]
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
        header = table_text([*source.names, *query.added], [])
        with open(path, "wb") as stream, open(part, "rb") as rows:
            stream.write(header.encode())
            shutil.copyfileobj(rows, stream, 1 << 20)
    return int(found[0])


def _uncovered_rows(base: Any, asker: Asker, source: Source, query: Query) -> int:
    """Return how many rows no rule covers; refuse them if they are an error."""
    n_rows, n_outside, n_uncovered = source.ask(
        base,
        f"SELECT count(*), count(*) FILTER (k = {OUTSIDE}), "
        f"count(*) FILTER (k = {UNCOVERED}) FROM ({query.positions})",
    )
    if n_outside and asker.refuses_unknown:
        _refuse_unknown(base, asker, source, query)
    if n_uncovered and asker.refuses_uncovered:
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


def _refuse_unknown(base: Any, asker: Asker, source: Source, query: Query) -> None:
    """Refuse the first row outside the domain, and say why."""
    number = _first(base, source, query.positions, OUTSIDE)
    names = ", ".join(source.find(name)[0] for name in asker.domain.names)
    asked = f"SELECT {names} FROM {source.sql} LIMIT 1 OFFSET {number}"
    cells = source.ask(base, asked)
    row = dict(zip(asker.domain.names, cells, strict=True))
    try:
        asker.domain.encode([row])
    except UnknownValueError as error:
        place = source.place(number)
        raise RowsError(f"{source.path}, {place}: {error.fact}") from None
    raise AssertionError(f"row {number + 1} is on the domain after all")
