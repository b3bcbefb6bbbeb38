"""nn2rules export: rules in the language of another engine."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from nn2rules.cli.app import command
from nn2rules.cli.output import check_printable, visible
from nn2rules.errors import OptionError
from nn2rules.export import EXPORTERS, options_of, tests_path
from nn2rules.export import export as export_rules
from nn2rules.files import check_writable, load_rules

Policy = Literal["none", "default", "error"]


@command("export rules.json --format sql --dialect duckdb -o rules.sql")
def export(
    rules: Annotated[
        Path | None,
        typer.Argument(metavar="RULES", help="A rules file, or a decision table."),
    ] = None,
    format_name: Annotated[
        str | None,
        typer.Option("--format", "-f", metavar="FORMAT", help="See --list."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write to a file."),
    ] = None,
    unknown: Annotated[
        Policy,
        typer.Option(help="A row off the domain: no answer, the default, or an error."),
    ] = "none",
    uncovered: Annotated[
        Policy,
        typer.Option(
            help="A row that no rule of scope support decides: no answer, the default, "
            "or an error."
        ),
    ] = "none",
    tests: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Write so many test vectors beside the file: inputs, class, rule.",
        ),
    ] = None,
    dialect: Annotated[
        str | None, typer.Option(help="Of sql: whose, such as duckdb or postgres.")
    ] = None,
    table: Annotated[
        str | None, typer.Option(help="Of sql: make a view of this table.")
    ] = None,
    answer: Annotated[
        str | None, typer.Option(help="Of sql: one expression, class or rule.")
    ] = None,
    hit_policy: Annotated[
        str | None,
        typer.Option(help="Of dmn: first, any, collect or unique."),
    ] = None,
    inputs: Annotated[
        str | None, typer.Option(help="Of onnx: values, or codes of them.")
    ] = None,
    missing: Annotated[
        str | None, typer.Option(help="Of onnx: the text that is missing.")
    ] = None,
    show_list: Annotated[
        bool, typer.Option("--list", help="List the formats, and end.")
    ] = False,
) -> None:
    """Export rules to where decisions are made: a database, a rule engine, a page."""
    if show_list:
        print(_listing())
        return
    if rules is None or format_name is None:
        raise OptionError("give a rules file and --format; --list shows the formats")
    options: dict[str, Any] = {
        "answer": answer,
        "dialect": dialect,
        "table": table,
        "hit_policy": hit_policy,
        "inputs": inputs,
        "missing": missing,
    }
    given = {name: value for name, value in options.items() if value is not None}
    if output is not None:
        check_writable(output, keep=(rules,))
    if output is not None and tests is not None:
        check_writable(tests_path(output), keep=(rules,))
    made = export_rules(
        load_rules(rules),
        format_name,
        output,
        unknown=unknown,
        uncovered=uncovered,
        tests=tests,
        **given,
    )
    if output is not None:
        print(f"written to {output}")
        if tests is not None:
            print(f"test vectors written to {tests_path(output)}")
    elif isinstance(made, bytes):
        suffix = EXPORTERS[format_name].suffix
        raise OptionError(
            f"the format {format_name!r} is no text; write it to a file: -o "
            f"rules{suffix}"
        )
    else:
        made = _printable(made, format_name)
        print(made, end="" if made.endswith("\n") else "\n")


def _printable(made: str, format_name: str) -> str:
    """Return an export as it is printed: control characters by the format's escape."""
    form = EXPORTERS[format_name]
    if form.escape:
        return visible(made, form.escape)
    check_printable(
        made, f"names or values, in the format {format_name!r},", f"rules{form.suffix}"
    )
    return made


def _listing() -> str:
    """Return the formats, a line each."""
    width = max(map(len, EXPORTERS))
    lines = []
    for name, form in EXPORTERS.items():
        flags = ["--" + option.replace("_", "-") for option in options_of(name)]
        more = f" ({', '.join(flags)})" if flags else ""
        lines.append(f"{name:<{width}}  {form.what}{more}")
    return "\n".join(lines)
