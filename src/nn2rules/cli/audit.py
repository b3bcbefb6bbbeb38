"""nn2rules audit: what a model does, on one page."""

from pathlib import Path
from typing import Annotated

import typer

import nn2rules
from nn2rules.cli.app import command, working
from nn2rules.cli.options import Help, Limits, ModelFile, ModelOptions
from nn2rules.cli.output import width
from nn2rules.models import load

_CODES = {"clear": 0, "turns": 1, "open": 3}


@command("audit model.onnx --data train.csv --labels y --protected sex")
def audit(
    model: ModelFile,
    data: Annotated[
        Path,
        typer.Option(metavar="ROWS", help="The rows that everything is counted on."),
    ],
    how: ModelOptions,
    limits: Annotated[
        Limits, Help(seconds="Seconds for all of it; by default a minute.")
    ],
    *,
    protected: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A protected feature, or a column that the model does not see. May be "
            "repeated.",
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column of the true classes."),
    ] = None,
    fragile: Annotated[
        int, typer.Option(min=0, help="How many of the most fragile rows to list.")
    ] = 5,
    top: Annotated[
        int, typer.Option(min=0, help="How many rules to print of each way to turn.")
    ] = 3,
    impossible: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="Inputs that cannot occur, as conditions. May be repeated.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Put what a model does on one page, protected features first.

    Exits with 0 if no protected feature turns an answer, 1 if one does, and 3 if that
    is open, as the time ended first.
    """
    given = how.given(data=data, labels=labels)
    loaded = load(model, given)
    with working(limits) as progress, loaded.naming_lines():
        found = nn2rules.audit(
            loaded.network,
            loaded.rows,
            protected=protected or (),
            labels=loaded.labels,
            fragile=fragile,
            impossible=impossible,
            time=limits.seconds,
            n_jobs=limits.jobs,
            progress=progress,
        )
    print(found.to_json() if as_json else found.text(top, width=width()))
    if found.status != "clear":
        raise typer.Exit(_CODES[found.status])
