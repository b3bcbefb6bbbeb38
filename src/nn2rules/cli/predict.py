"""nn2rules predict: rows in, answers out."""

from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import typer

from nn2rules.cli.app import command, stderr
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
"""CSV files of more bytes are answered part by part."""


@command("predict rules.json rows.csv -o answers.csv")
def predict(
    rules: Annotated[
        Path,
        typer.Argument(
            metavar="RULES",
            help="A file of rules or of a scorecard, or a decision table.",
        ),
    ],
    rows: Annotated[
        Path,
        typer.Argument(
            metavar="ROWS", help="Rows with a header: CSV, Parquet or Excel (.xlsx)."
        ),
    ],
    unknown: Annotated[
        Literal["error", "default", "none"],
        typer.Option(
            help="A row with a value that the rules do not know: stop, answer with the "
            "default class, or leave the answer empty."
        ),
    ] = "error",
    uncovered: Annotated[
        Literal["none", "default", "error"],
        typer.Option(
            help="A row that no rule of scope support covers, of which nothing is "
            "proved: leave the prediction empty, give the default class, or stop."
        ),
    ] = "none",
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="ANSWERS", help="Write to a file, CSV or Parquet."
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="Of large files: the most memory, such as 2GB."
        ),
    ] = None,
) -> None:
    """Answer rows: prints them with two more columns, the class and the rule.

    With a scorecard these are the class and the total of its printed points.

    Rules have the names that `nn2rules extract` prints: 1, 2, …, or those of a set
    A1, A2, … With -o, Parquet and large CSV files go through DuckDB, part by part.
    """
    if output is not None:
        check_writable(output, keep=(rules, rows))
    loaded = load_description(rules)
    if output is not None and output.suffix.lower() == ".xlsx":
        raise OptionError("-o: predictions are written to CSV and Parquet files")
    is_bulk = output is not None and _is_bulk(rows, output, memory)
    if is_bulk and isinstance(loaded, Scorecard):
        raise OptionError(
            "a scorecard predicts rows of CSV files that fit into memory, not Parquet"
        )
    if output is not None and is_bulk and isinstance(loaded, RuleList):
        written = predict_file(
            loaded, rows, output, unknown=unknown, uncovered=uncovered, memory=memory
        )
        _note_open(written.n_open, written.n_rows, uncovered)
        print(f"{count(written.n_rows, 'row')} written to {output}")
        return
    table = read_table(rows)
    if isinstance(loaded, Scorecard):
        text = _scored(loaded, table, unknown)
    else:
        text = _answers(loaded, table, unknown, uncovered)
    if output is None:
        check_printable(text, f"{rows}: cells", "answers.csv")
        print(text, end="")
    else:
        write_text(output, text)
        print(f"{count(len(table.rows), 'row')} written to {output}")


def _is_bulk(rows: Path, output: Path, memory: str | None) -> bool:
    """Tell whether rows go through DuckDB: Parquet, or CSV of many rows."""
    if any(path.name.lower().endswith(PARQUET) for path in (rows, output)):
        return True
    is_sheet = rows.suffix.lower() == ".xlsx"  # which DuckDB is not given
    is_large = not is_sheet and rows.is_file() and rows.stat().st_size > _LARGE
    return is_large or memory is not None


def _answers(rules: RuleList, table: Table, unknown: str, uncovered: str) -> str:
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
        _tell_open(np.flatnonzero(fired == NO_RULE).tolist(), table, uncovered)
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
    if unknown == "default":
        raise OptionError("--unknown default: a scorecard has no default class")
    table.check(card.domain)
    with table.naming_lines():
        rows = table.rows_in(card.domain)
        codes = card.domain.encode(
            rows, unknown="error" if unknown == "error" else "mark"
        )
    inside = np.flatnonzero((codes != UNKNOWN).all(axis=1))
    shown = [[""] * (1 + len(card.table.totals)) for _ in table.rows]
    if len(inside):
        known = picked_rows(rows, inside)
        totals = card.points(known).totals
        for place, label, points in zip(
            inside.tolist(), card.predict(known).tolist(), totals.tolist(), strict=True
        ):
            shown[place] = [str(label), *map(str, points)]
    names = ["points"]
    if len(card.table.totals) > 1:
        names = [f"points {label}" for label in card.classes]
    added = [unused(name, table.header) for name in ("prediction", *names)]
    lines = [
        [*map(cell_text, row.values()), *extra]
        for row, extra in zip(table.rows, shown, strict=True)
    ]
    return table_text([*table.header, *added], lines)


def _tell_open(rows: list[int], table: Table, uncovered: str) -> None:
    """Say how many rows no rule decides, or stop at the first."""
    if rows and uncovered == "error":
        raise RowsError(
            f"{table.place(rows[0])}: "
            f"{_uncovered(len(rows), len(table.rows))}; this is the first"
        )
    _note_open(len(rows), len(table.rows), uncovered)


def _note_open(n_open: int, n_rows: int, uncovered: str) -> None:
    """Say how many rows no rule decides, if there are any."""
    if n_open:
        is_default = uncovered == "default"
        answer = "the default, which is not proved" if is_default else "empty"
        stderr.print(
            f"note: {_uncovered(n_open, n_rows)}; the answer there is {answer}"
        )


def _uncovered(n_open: int, n_rows: int) -> str:
    return f"no rule decides {n_open:,} of {count(n_rows, 'row')}"
