"""nn2rules check: a second opinion on rules."""

from pathlib import Path
from typing import Annotated, Any

import typer

import nn2rules
from nn2rules.cli.app import command, note_other_network, working
from nn2rules.cli.options import SHOWING, Help, Limits, ModelFile, ModelOptions
from nn2rules.errors import FormatError, UnsupportedModelError
from nn2rules.files import load_rules, parse_json, read_text
from nn2rules.models import load


@command("check model.onnx rules.json --data train.csv")
def check(
    model: ModelFile,
    rules: Annotated[
        Path,
        typer.Argument(metavar="RULES", help="A rules file, or a decision table."),
    ],
    how: ModelOptions,
    limits: Annotated[
        Limits,
        Help(
            seconds="Seconds to prove or refute the rules by search, where not all "
            "inputs can be tried; by default a minute.",
            jobs="Workers of --cluster; by default all there are. Here one thread "
            "works.",
        ),
    ],
    *,
    data: Annotated[
        Path | None,
        typer.Option(metavar="ROWS", help="Rows on which they must agree, too."),
    ] = None,
    impossible: Annotated[
        Path | None,
        typer.Option(
            metavar="BOXES.json",
            help="Inputs that cannot occur, and are left out: a list of objects, from "
            "features to lists of values.",
        ),
    ] = None,
    default: Annotated[
        bool,
        typer.Option(
            "--default", help="Hold rules of scope support to their default, too."
        ),
    ] = False,
    proofs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Proofs of the rules, as extract --proofs writes them, to be followed "
            "step by step: on all inputs, however many there are.",
        ),
    ] = None,
    samples: Annotated[
        int, typer.Option(min=1, help="Inputs to draw where not all can be tried.")
    ] = 100_000,
    seed: Annotated[int, typer.Option(min=0, help="Of the draw.")] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON.", rich_help_panel=SHOWING)
    ] = False,
) -> None:
    """Check rules against a model with separate, simple code; exit 1 if they differ.

    Tries every input where the domain is small enough. Where it is not, it proves or
    refutes rule by rule, and exits with 3 if it could not settle all of them in time.
    """
    loaded = load_rules(rules)
    given = how.for_rules(loaded, data=data)
    try:
        found = load(model, given)
    except UnsupportedModelError as error:
        raise UnsupportedModelError(
            f"the features of these rules are not those of this model: {error}"
        ) from None
    note_other_network(loaded, found.network)
    with working(limits) as progress, found.naming_lines():
        report = nn2rules.check(
            found.network,
            loaded,
            rows=found.rows,
            impossible=() if impossible is None else _boxes(impossible),
            default=default,
            samples=samples,
            seed=seed,
            proofs=proofs,
            time=limits.seconds,
            n_jobs=limits.jobs,
            progress=progress,
        )
    print(report.to_json() if as_json else report)
    if not report.ok:
        raise typer.Exit(3 if report.is_open else 1)


def _boxes(path: Path) -> list[dict[str, list[Any]]]:
    """Read the boxes of inputs that cannot occur."""
    text = read_text(path)
    try:
        return [
            {
                name: [value.scalar() for value in values.items()]
                for name, values in box.entries()
            }
            for box in parse_json(text).items()
        ]
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None
