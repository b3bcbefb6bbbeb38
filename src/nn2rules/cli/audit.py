"""nn2rules audit: what a model does, on one page."""

from pathlib import Path
from typing import Annotated

import typer

import nn2rules
from nn2rules.cli.app import command, working
from nn2rules.cli.options import (
    FILES,
    OUTPUT,
    Help,
    ImpossibleOption,
    JsonOption,
    LabelsOption,
    Limits,
    ModelFile,
    ModelOptions,
    number,
    option,
    read_impossible,
)
from nn2rules.cli.output import width
from nn2rules.models import load_with_rows

_CODES = {"clear": 0, "flips": 1, "undecided": 3}


@command("audit model.onnx --data train.csv --labels y --protected sex")
def audit(
    model: ModelFile,
    data: Annotated[
        Path, option("ROWS", "The rows on which everything is counted.", FILES)
    ],
    model_options: ModelOptions,
    limits: Annotated[
        Limits,
        Help(seconds="Stop after this many seconds for the whole page; by default 60."),
    ],
    *,
    protected: Annotated[
        list[str] | None,
        option(
            "NAME",
            "Protected attribute to audit: a model feature or any other column of "
            "--data. May be repeated.",
        ),
    ] = None,
    labels: LabelsOption = None,
    fragile: Annotated[
        int,
        number(help="How many of the most fragile rows to list.", minimum=0),
    ] = 5,
    impossible: ImpossibleOption = None,
    top: Annotated[
        int,
        number(
            help="Print at most this many rules for each way a prediction can flip.",
            panel=OUTPUT,
            minimum=0,
        ),
    ] = 3,
    as_json: JsonOption = False,
) -> None:
    """Audit a model on one page: fairness, feature importance, monotonicity.

    Exit code 0 if no protected attribute alone flips a prediction, 1 if one does, 3 if
    that is undecided because a limit came first.
    """
    loaded = load_with_rows(model, model_options.given(data=data, labels=labels))
    with working(limits) as progress, loaded.naming_lines():
        page = nn2rules.audit(
            loaded.network,
            loaded.rows,
            protected=protected or (),
            labels=loaded.labels,
            fragile=fragile,
            impossible=read_impossible(impossible),
            time=limits.seconds,
            n_jobs=limits.jobs,
            progress=progress,
        )
    print(page.to_json() if as_json else page.text(top, width=width()))
    if page.status != "clear":
        raise typer.Exit(_CODES[page.status])
