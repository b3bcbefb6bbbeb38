"""nn2rules summarize: a small scorecard that imitates a model, and how well it does."""

from pathlib import Path
from typing import Annotated

import typer

import nn2rules
from nn2rules.cli.app import command, working
from nn2rules.cli.options import (
    FILES,
    Help,
    JsonOption,
    LabelsOption,
    Limits,
    ModelFile,
    ModelOptions,
    SeedOption,
    number,
    option,
)
from nn2rules.cli.output import width
from nn2rules.files import check_writable
from nn2rules.models import load_with_rows

_SECONDS = 10.0


@command("summarize model.onnx --data train.csv -o summary.json")
def summarize(
    model: ModelFile,
    data: Annotated[
        Path, option("ROWS", "Rows like those the model was trained on.", FILES)
    ],
    model_options: ModelOptions,
    limits: Annotated[
        Limits,
        Help(
            seconds="Seconds for the search for an input on which the two differ; by "
            "default 10."
        ),
    ],
    *,
    labels: LabelsOption = None,
    test: Annotated[
        Path | None,
        option(
            "ROWS",
            "Rows to measure the agreement on. By default a fifth of --data is held "
            "out.",
            FILES,
        ),
    ] = None,
    max_lines: Annotated[
        int, number(help="Print at most this many lines of points.", minimum=2)
    ] = 20,
    max_parts: Annotated[
        int,
        number(
            help="At most this many columns of points. With 1, the summary is an "
            "ordinary scorecard.",
            minimum=1,
        ),
    ] = 8,
    seed: SeedOption = 0,
    output: Annotated[
        Path | None,
        option("FILE", "Also write the summary to this file.", FILES, "-o", "--output"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Summarize a model of any size by a small scorecard that imitates it.

    A summary is not an exact description. Prints how often it agrees with the model, on
    rows that it did not see.
    """
    if output is not None:
        check_writable(output)
    loaded = load_with_rows(
        model, model_options.given(data=data, labels=labels, test=test)
    )
    with working(limits) as progress, loaded.naming_lines():
        summary = nn2rules.summarize(
            loaded.network,
            loaded.rows,
            max_lines=max_lines,
            max_parts=max_parts,
            test=loaded.test,
            time=_SECONDS if limits.seconds is None else limits.seconds,
            random_state=seed,
            progress=progress,
        )
    if output is not None:
        summary.save(output)
    if as_json:
        print(summary.to_json(), end="")
    else:
        print(summary.text(width=width()))
    if output is not None:
        typer.echo(f"\nThe summary is in {output}", err=True)
