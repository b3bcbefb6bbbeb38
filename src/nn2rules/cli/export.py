"""nn2rules export: rules and scorecards in the language of another engine."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from nn2rules.cli.app import command
from nn2rules.cli.options import COMMAND, FILES, FORMATS, OUTPUT, flag, number, option
from nn2rules.cli.output import check_printable, visible
from nn2rules.errors import OptionError
from nn2rules.export import EXPORTERS, CardProgram, RuleProgram, options_of, tests_path
from nn2rules.export import export as export_rules
from nn2rules.files import check_writable, load_description

Policy = Literal["none", "default", "error"]


@command("export rules.json --format sql --dialect duckdb -o rules.sql")
def export(
    rules: Annotated[
        Path | None,
        typer.Argument(
            metavar="RULES",
            help="Rules or a scorecard (.json), or a decision table (.csv, .xlsx).",
        ),
    ] = None,
    format_name: Annotated[
        str | None,
        option("FORMAT", "The format; --list shows all.", COMMAND, "--format", "-f"),
    ] = None,
    output: Annotated[
        Path | None,
        option("FILE", "Write to a file.", FILES, "-o", "--output"),
    ] = None,
    unknown: Annotated[
        Policy,
        option(
            None,
            "For a row with a value outside the domain: no prediction, the default "
            "class, or an error.",
        ),
    ] = "none",
    uncovered: Annotated[
        Policy,
        option(
            None,
            "For a row that no rule of scope support covers: no prediction, the "
            "default class (which is not proved there), or an error.",
        ),
    ] = "none",
    points: Annotated[
        Literal["fine", "printed"] | None,
        option(
            None,
            "Scorecards: the points of the network, as fine as sums are exact (the "
            "default), or as printed.",
        ),
    ] = None,
    between: Annotated[
        Literal["none", "nearest", "error"] | None,
        option(
            None,
            "Scorecards: for a row that is too close to a cut-off for rounded points: "
            "no prediction (the default), the nearest class (which is not proved "
            "there), or an error.",
        ),
    ] = None,
    tests: Annotated[
        int | None,
        number(
            help="Write N test vectors beside the file: inputs with their class and "
            "rule.",
            panel=FILES,
        ),
    ] = None,
    dialect: Annotated[
        str | None,
        option("NAME", "sql: the dialect, such as duckdb or postgres.", FORMATS),
    ] = None,
    table: Annotated[
        str | None, option("NAME", "sql: create a view of this table.", FORMATS)
    ] = None,
    only: Annotated[
        str | None,
        option("class|rule|total", "sql: write a single expression.", FORMATS),
    ] = None,
    features: Annotated[
        bool, flag("--features", "sql: add the points of each feature.", FORMATS)
    ] = False,
    hit_policy: Annotated[
        str | None,
        option("first|any|collect|unique", "dmn: the hit policy.", FORMATS),
    ] = None,
    inputs: Annotated[
        str | None,
        option("values|codes", "onnx: take values, or their codes.", FORMATS),
    ] = None,
    missing: Annotated[
        str | None,
        option("TEXT", "onnx: the text that stands for a missing value.", FORMATS),
    ] = None,
    show_list: Annotated[bool, flag("--list", "List the formats and exit.", OUTPUT)] = (
        False
    ),
) -> None:
    """Export rules or a scorecard to a database, an engine, a program or a document."""
    if show_list:
        print(_listing())
        return
    if rules is None or format_name is None:
        raise OptionError("RULES and --format are needed; --list shows the formats")
    options: dict[str, Any] = {
        "uncovered": None if uncovered == "none" else uncovered,
        "points": points,
        "between": between,
        "only": only,
        "features": features or None,
        "dialect": dialect,
        "table": table,
        "hit_policy": hit_policy,
        "inputs": inputs,
        "missing": missing,
    }
    chosen = {name: value for name, value in options.items() if value is not None}
    if output is not None:
        check_writable(output, keep=(rules,))
    if output is not None and tests is not None:
        check_writable(tests_path(output), keep=(rules,))
    text = export_rules(
        load_description(rules),
        format_name,
        output,
        unknown=unknown,
        tests=tests,
        **chosen,
    )
    if output is not None:
        print(f"written to {output}")
        if tests is not None:
            print(f"test vectors written to {tests_path(output)}")
    elif isinstance(text, bytes):
        suffix = EXPORTERS[format_name].suffix
        raise OptionError(
            f"the format {format_name!r} is not text; write it to a file with -o "
            f"rules{suffix}"
        )
    else:
        text = _printable(text, format_name)
        print(text, end="" if text.endswith("\n") else "\n")


def _printable(text: str, format_name: str) -> str:
    """Return an export as it is printed: control characters by the format's escape."""
    form = EXPORTERS[format_name]
    if form.escape:
        return visible(text, form.escape)
    check_printable(
        text, f"names or values, in the format {format_name!r},", f"rules{form.suffix}"
    )
    return text


def _listing() -> str:
    """Return the formats, a line each."""
    width = max(map(len, EXPORTERS))
    lines = []
    for name, form in EXPORTERS.items():
        found = [option for kind in form.writers for option in options_of(name, kind)]
        flags = ["--" + each.replace("_", "-") for each in dict.fromkeys(found)]
        more = f" ({', '.join(flags)})" if flags else ""
        if CardProgram.kind not in form.writers:
            more += f"; {RuleProgram.kind} only"
        lines.append(f"{name:<{width}}  {form.what}{more}")
    return "\n".join(lines)
