"""python -m research: the paper's experiments, run anew."""

from pathlib import Path
from typing import Annotated

import typer

from nn2rules.cli.app import Command, plain_errors, progress_bar
from nn2rules.cli.options import TrustOption

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.command(cls=Command, epilog="Example: python -m research -o results")
@plain_errors
def paper(
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            metavar="FOLDER",
            help="Where tables, figures and index.html go: a new or empty folder, or "
            "an earlier result.",
        ),
    ],
    seeds: Annotated[
        int, typer.Option(help="How many networks to train for each data set.")
    ] = 5,
    seed: Annotated[
        int, typer.Option(help="Of the first; the same seed gives the same files.")
    ] = 0,
    datasets: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Some of car, nursery, contraception and adult; by default all.",
        ),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(metavar="ROWS", help="Your own rows instead.")
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="The column of --data that holds the true classes."
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL",
            help="Your own model for --data; otherwise one is trained.",
        ),
    ] = None,
    trust: TrustOption = False,
) -> None:
    """Repeat the paper's experiments, or run them on your own data.

    Trains networks, extracts rules, compares them with trees, and writes tables,
    figures and a page to a folder.
    """
    names = None
    if datasets is not None:
        names = [name.strip() for name in datasets.split(",") if name.strip()]
    from research.experiments import run

    with progress_bar() as progress:
        page = run(
            output,
            datasets=names,
            seeds=seeds,
            seed=seed,
            progress=progress,
            data=data,
            labels=labels,
            model=model,
            trust=trust,
        )
    print(f"written to {page}")


if __name__ == "__main__":
    app(prog_name="python -m research")
