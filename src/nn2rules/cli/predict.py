"""nn2rules predict: rows in, answers out."""

from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import typer

from nn2rules.cli.app import command, stderr
from nn2rules.errors import RowsError
from nn2rules.formats import load_rules
from nn2rules.formats.files import check_writable, write_text
from nn2rules.formats.table import CsvTable, read_table, table_text
from nn2rules.matching import NO_RULE
from nn2rules.rules import OUTSIDE, RuleList
from nn2rules.text import count, unused


@command("predict rules.json rows.csv -o answers.csv")
def predict(
    rules: Annotated[
        Path,
        typer.Argument(metavar="RULES", help="A rules file, or a decision table."),
    ],
    rows: Annotated[
        Path, typer.Argument(metavar="ROWS.csv", help="Rows with a header line.")
    ],
    unknown: Annotated[
        Literal["error", "default", "none"],
        typer.Option(
            help="A row with a value that the rules do not know: stop, answer with the "
            "default class, or leave the answer empty."
        ),
    ] = "error",
    undecided: Annotated[
        Literal["default", "none", "error"],
        typer.Option(
            help="A row that no rule of scope support decides, of which nothing is "
            "known: answer with the default class, leave the answer empty, or stop."
        ),
    ] = "default",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="ANSWERS.csv", help="Write to a file."),
    ] = None,
) -> None:
    """Answer rows: prints them with two more columns, the class and the rule.

    Rules have the names that `nn2rules extract` prints: 1, 2, …, or those of a set
    A1, A2, …
    """
    if output is not None:
        check_writable(output, keep=(rules, rows))
    loaded = load_rules(rules)
    table = read_table(rows)
    text = _answers(loaded, table, unknown, undecided)
    if output is None:
        print(text, end="")
    else:
        write_text(output, text)
        print(f"{count(len(table.rows), 'row')} written to {output}")


def _answers(rules: RuleList, table: CsvTable, unknown: str, undecided: str) -> str:
    table.check(rules.domain)
    with table.naming_lines():
        fired = rules.apply(
            table.rows, unknown="error" if unknown == "error" else "none"
        )
    shown = {i: (str(rule.then), rule.name) for i, rule in enumerate(rules)}
    nothing, default = ("", ""), (str(rules.default), "default")
    shown |= {OUTSIDE: default if unknown == "default" else nothing, NO_RULE: default}
    if rules.scope == "support":
        _tell_open(np.flatnonzero(fired == NO_RULE).tolist(), table, undecided)
        unproved = (str(rules.default), "default (not proved)")
        shown[NO_RULE] = unproved if undecided == "default" else nothing
    lines = [
        [*row.values(), *shown[index]]
        for row, index in zip(table.rows, fired.tolist(), strict=True)
    ]
    added = [unused(name, table.header) for name in ("prediction", "rule")]
    return table_text([*table.header, *added], lines)


def _tell_open(rows: list[int], table: CsvTable, undecided: str) -> None:
    """Say how many rows no rule decides, or stop at the first."""
    if not rows:
        return
    number = f"no rule decides {len(rows):,} of {count(len(table.rows), 'row')}"
    if undecided == "error":
        raise RowsError(
            f"{table.path}, line {table.lines[rows[0]]}: {number}; this is the first"
        )
    answer = "the default, which is not proved" if undecided == "default" else "empty"
    stderr.print(f"note: {number}; the answer there is {answer}")
