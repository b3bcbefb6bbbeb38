"""nn2rules predict: rows in, answers out."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from nn2rules.cli.app import app, plain_errors
from nn2rules.formats import load_rules
from nn2rules.formats.files import check_writable, write_text
from nn2rules.formats.table import CsvTable, read_table, table_text
from nn2rules.matching import NO_RULE
from nn2rules.rules import OUTSIDE, RuleList
from nn2rules.text import count, unused


@app.command()
@plain_errors
def predict(
    rules: Annotated[Path, typer.Argument(metavar="RULES.json", help="A rules file.")],
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
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="ANSWERS.csv", help="Write to a file."),
    ] = None,
) -> None:
    """Answer rows: prints them with two more columns, the class and the rule.

    Rules are numbered as `nn2rules extract` prints them, from 1.
    """
    if output is not None:
        check_writable(output, keep=(rules, rows))
    loaded = load_rules(rules)
    table = read_table(rows)
    text = _answers(loaded, table, unknown)
    if output is None:
        print(text, end="")
    else:
        write_text(output, text)
        print(f"{count(len(table.rows), 'row')} written to {output}")


def _answers(
    rules: RuleList, table: CsvTable, unknown: Literal["error", "default", "none"]
) -> str:
    table.check(rules.domain)
    with table.naming_lines():
        fired = rules.apply(table.rows, unknown=unknown).tolist()
    answers = {index: str(rule.then) for index, rule in enumerate(rules.rules)}
    answers |= {NO_RULE: str(rules.default), OUTSIDE: ""}
    names = {NO_RULE: "default", OUTSIDE: ""}
    lines = [
        [*row.values(), answers[index], names.get(index, str(index + 1))]
        for row, index in zip(table.rows, fired, strict=True)
    ]
    added = [unused(name, table.header) for name in ("prediction", "rule")]
    return table_text([*table.header, *added], lines)
