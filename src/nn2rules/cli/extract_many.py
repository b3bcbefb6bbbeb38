"""nn2rules extract-many: the rules of many models, into a folder."""

from pathlib import Path
from typing import Annotated

import typer

import nn2rules
from nn2rules.batch import Report
from nn2rules.cli.app import command, stderr, working
from nn2rules.cli.options import FILES, SHOWING, WORK, Help, TrustOption, Workers
from nn2rules.language import count


@command("extract-many models.toml -o rules")
def extract_many(
    plan: Annotated[
        Path,
        typer.Argument(
            metavar="MODELS.toml",
            help="A table [[model]] for each: its name, model and data, and options of "
            "extract; [defaults] for all.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            metavar="FOLDER",
            help="Gets NAME.json of each model, and report.json.",
            rich_help_panel=FILES,
        ),
    ],
    workers: Annotated[
        Workers,
        Help(jobs="How many models at a time; by default one on each core."),
    ],
    *,
    trust: TrustOption = False,
    again: Annotated[
        bool,
        typer.Option(
            "--again",
            help="Also do those again that are there, and have not changed.",
            rich_help_panel=WORK,
        ),
    ] = False,
    outside: Annotated[
        bool,
        typer.Option(
            "--outside",
            help="Also read files outside the folder of MODELS.toml.",
            rich_help_panel=FILES,
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON.", rich_help_panel=SHOWING)
    ] = False,
) -> None:
    """Extract the rules of many models into a folder, and go on where it stopped.

    An error in one does not stop the others; exit 2 then, or 3 if that
    is a limit.
    """
    try:
        with working(workers) as progress:
            report = nn2rules.extract_many(
                plan,
                output,
                again=again,
                trust=trust,
                outside=outside,
                n_jobs=workers.jobs,
                progress=progress,
            )
    except KeyboardInterrupt as stopped:
        _tell(getattr(stopped, "report", None))
        raise
    print(report.to_json() if as_json else report)
    if not report.is_done:
        raise typer.Exit(2 if report.count("failed") else 3)


def _tell(report: Report | None) -> None:
    """Say what is left after a stop."""
    if report is not None:
        left = count(report.count("left"), "model")
        stderr.print(f"{left} left; the same command goes on from here")
