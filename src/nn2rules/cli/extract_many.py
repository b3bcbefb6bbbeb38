"""nn2rules extract-many: the rules of many models, into a folder."""

from pathlib import Path
from typing import Annotated

import typer

import nn2rules
from nn2rules.batch import Report
from nn2rules.cli.app import command, stderr, working
from nn2rules.cli.options import (
    FILES,
    PERFORMANCE,
    Help,
    JsonOption,
    Limits,
    TrustOption,
    flag,
    option,
)
from nn2rules.language import count


@command("extract-many models.toml -o rules")
def extract_many(
    plan: Annotated[
        Path,
        typer.Argument(
            metavar="MODELS.toml",
            help="A table [[model]] for each model, with its name, model, data, and "
            "options of extract; [defaults] for all.",
        ),
    ],
    output: Annotated[
        Path,
        option(
            "FOLDER",
            "Gets NAME.json for each model, and report.json.",
            FILES,
            "-o",
            "--output",
        ),
    ],
    limits: Annotated[
        Limits,
        Help(
            seconds="Stop after this many seconds for each model, unless MODELS.toml "
            "has a time for it.",
            jobs="Number of models at a time; by default one on each core.",
        ),
    ],
    *,
    trust: TrustOption = False,
    again: Annotated[
        bool,
        flag(
            "--again",
            "Also redo models that are done and have not changed.",
            PERFORMANCE,
        ),
    ] = False,
    outside: Annotated[
        bool,
        flag("--outside", "Also read files outside the folder of MODELS.toml.", FILES),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Extract the rules of many models into a folder, and continue after a stop.

    An error in one model does not stop the others. Exit code 2 if there was one, 3 if
    a limit came first.
    """
    try:
        with working(limits) as progress:
            report = nn2rules.extract_many(
                plan,
                output,
                again=again,
                trust=trust,
                outside=outside,
                time=limits.seconds,
                n_jobs=limits.jobs,
                progress=progress,
            )
    except KeyboardInterrupt as stopped:
        _note_left(getattr(stopped, "report", None))
        raise
    print(report.to_json() if as_json else report)
    if not report.is_done:
        raise typer.Exit(2 if report.count("failed") else 3)


def _note_left(report: Report | None) -> None:
    """Note what is left after a stop."""
    if report is not None:
        left = count(report.count("left"), "model")
        stderr.print(f"{left} left; the same command continues from here")
