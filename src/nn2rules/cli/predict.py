"""nn2rules predict: rows in, predictions out."""

import math
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import typer

from nn2rules.cli.app import command, stderr
from nn2rules.cli.options import FILES, PERFORMANCE, DescriptionFile, option
from nn2rules.cli.output import check_printable
from nn2rules.errors import OptionError, RowsError
from nn2rules.export import predict_file
from nn2rules.files import (
    PARQUET,
    Table,
    cell_text,
    check_writable,
    load_description,
    read_table,
    table_text,
    write_text,
)
from nn2rules.language import count, unused
from nn2rules.rules import NO_RULE, OUTSIDE, RuleList
from nn2rules.scorecards import Scorecard
from nn2rules.space import UNKNOWN, picked_rows

_LARGE = 1 << 26
"""Larger CSV files, in bytes, are processed in parts."""


@command("predict rules.json rows.csv -o predictions.csv")
def predict(
    rules: DescriptionFile,
    rows: Annotated[
        Path,
        typer.Argument(
            metavar="ROWS", help="Rows with a header: CSV, Parquet or Excel (.xlsx)."
        ),
    ],
    unknown: Annotated[
        Literal["error", "default", "none"],
        option(
            None,
            "For a row with a value outside the domain: stop, predict the default "
            "class, or leave the prediction empty.",
        ),
    ] = "error",
    uncovered: Annotated[
        Literal["none", "default", "error"],
        option(
            None,
            "For a row that no rule of scope support covers: leave the prediction "
            "empty, predict the default class (which is not proved there), or stop.",
        ),
    ] = "none",
    output: Annotated[
        Path | None,
        option(
            "PREDICTIONS", "Write to a file, CSV or Parquet.", FILES, "-o", "--output"
        ),
    ] = None,
    memory: Annotated[
        str | None,
        option(
            "SIZE", "For large files: the most memory to use, as in 2GB.", PERFORMANCE
        ),
    ] = None,
) -> None:
    """Predict the class of rows with rules, and print them with class and rule.

    Rules have the names that extract prints: 1, 2, …, or those of a set A1, A2, … A
    scorecard adds the class and the total of its printed points; the class is exact,
    also where the points are too coarse to tell. With -o, Parquet and large CSV files
    are processed by DuckDB, in parts.
    """
    if output is not None:
        check_writable(output, keep=(rules, rows))
    loaded = load_description(rules)
    if output is not None and output.suffix.lower() == ".xlsx":
        raise OptionError("-o: predictions are written to CSV and Parquet files")
    is_bulk = output is not None and _is_bulk(rows, output, memory)
    if isinstance(loaded, Scorecard) and unknown == "default":
        raise OptionError("--unknown default: a scorecard has no default class")
    if output is not None and is_bulk:
        written = predict_file(
            loaded, rows, output, unknown=unknown, uncovered=uncovered, memory=memory
        )
        _note_uncovered(written.n_uncovered, written.n_rows, uncovered)
        print(f"{count(written.n_rows, 'row')} written to {output}")
        return
    table = read_table(rows)
    if isinstance(loaded, Scorecard):
        text = _scored(loaded, table, unknown)
    else:
        text = _predictions(loaded, table, unknown, uncovered)
    if output is None:
        check_printable(text, f"{rows}: cells", "predictions.csv")
        print(text, end="")
    else:
        write_text(output, text)
        print(f"{count(len(table.rows), 'row')} written to {output}")


def _is_bulk(rows: Path, output: Path, memory: str | None) -> bool:
    """Tell whether DuckDB processes the rows: Parquet, or CSV of many rows."""
    if any(path.name.lower().endswith(PARQUET) for path in (rows, output)):
        return True
    is_sheet = rows.suffix.lower() == ".xlsx"  # which DuckDB is not given
    is_large = not is_sheet and rows.is_file() and rows.stat().st_size > _LARGE
    return is_large or memory is not None


def _predictions(rules: RuleList, table: Table, unknown: str, uncovered: str) -> str:
    table.check(rules.domain)
    with table.naming_lines():
        fired = rules.apply(
            table.rows_in(rules.domain),
            unknown="error" if unknown == "error" else "none",
        )
    shown = {i: (str(rule.then), rule.name) for i, rule in enumerate(rules)}
    nothing, default = ("", ""), (str(rules.default), "default")
    shown |= {OUTSIDE: default if unknown == "default" else nothing, NO_RULE: default}
    if rules.scope == "support":
        _report_uncovered(np.flatnonzero(fired == NO_RULE).tolist(), table, uncovered)
        unproved = (str(rules.default), "default (not proved)")
        shown[NO_RULE] = unproved if uncovered == "default" else nothing
    lines = [
        [*map(cell_text, row.values()), *shown[index]]
        for row, index in zip(table.rows, fired.tolist(), strict=True)
    ]
    added = [unused(name, table.header) for name in ("prediction", "rule")]
    return table_text([*table.header, *added], lines)


def _scored(card: Scorecard, table: Table, unknown: str) -> str:
    """Return rows with their prediction, and the total of the printed points."""
    table.check(card.domain)
    with table.naming_lines():
        rows = table.rows_in(card.domain)
        codes = card.domain.encode(
            rows, unknown="error" if unknown == "error" else "mark"
        )
    inside = np.flatnonzero((codes != UNKNOWN).all(axis=1))
    names = card.points_names
    results = [[""] * (1 + len(names)) for _ in table.rows]
    if len(inside):
        known_rows = picked_rows(rows, inside)
        kind = int if card.table.has_whole_totals else float
        for place, label, points in zip(
            inside.tolist(),
            card.predict(known_rows).tolist(),
            card.points(known_rows).totals.tolist(),
            strict=True,
        ):
            shown = ["" if math.isnan(each) else str(kind(each)) for each in points]
            results[place] = [str(label), *shown]
    added = [unused(name, table.header) for name in ("prediction", *names)]
    lines = [
        [*map(cell_text, row.values()), *extra]
        for row, extra in zip(table.rows, results, strict=True)
    ]
    return table_text([*table.header, *added], lines)


def _report_uncovered(rows: list[int], table: Table, uncovered: str) -> None:
    """Note how many rows no rule covers, or stop at the first."""
    if rows and uncovered == "error":
        raise RowsError(
            f"{table.place(rows[0])}: "
            f"{_uncovered_text(len(rows), len(table.rows))}; this is the first"
        )
    _note_uncovered(len(rows), len(table.rows), uncovered)


def _note_uncovered(n_uncovered: int, n_rows: int, uncovered: str) -> None:
    """Note how many rows no rule covers, if there are any."""
    if n_uncovered:
        is_default = uncovered == "default"
        prediction = "the default class, not proved" if is_default else "empty"
        stderr.print(
            f"note: {_uncovered_text(n_uncovered, n_rows)}; their prediction is "
            f"{prediction}"
        )


def _uncovered_text(n_uncovered: int, n_rows: int) -> str:
    return f"no rule covers {n_uncovered:,} of {count(n_rows, 'row')}"
