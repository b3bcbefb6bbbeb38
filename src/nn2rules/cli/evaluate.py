"""nn2rules evaluate: how good rules are, on rows."""

from pathlib import Path
from typing import Annotated

import typer

import nn2rules
from nn2rules.cli.app import command, note_other_network
from nn2rules.cli.options import FILES, SHOWING, WORK, ModelFile, ModelOptions
from nn2rules.files import load_rules
from nn2rules.models import load


@command("evaluate model.onnx rules.json --data test.csv --labels y")
def evaluate(
    model: ModelFile,
    rules: Annotated[Path, typer.Argument(metavar="RULES", help="A rules file.")],
    data: Annotated[
        Path,
        typer.Option(
            metavar="ROWS",
            help="Rows to compare them on, such as test rows.",
            rich_help_panel=FILES,
        ),
    ],
    how: ModelOptions,
    *,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column of --data that holds the true classes.",
            rich_help_panel=FILES,
        ),
    ] = None,
    samples: Annotated[
        int,
        typer.Option(
            min=0,
            help="Inputs to draw where not all can be tried.",
            rich_help_panel=WORK,
        ),
    ] = 100_000,
    seed: Annotated[
        int, typer.Option(min=0, help="Of the draw.", rich_help_panel=WORK)
    ] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON.", rich_help_panel=SHOWING)
    ] = False,
) -> None:
    """Measure rules on rows: coverage, fidelity to the model, accuracy on labels.

    Fidelity and accuracy are of the rows that the rules cover. What the default would
    add for others is not proved, and shown apart. Also shown: how many rules decide how
    many rows, and on what share of the covered domain rules and model agree.
    """
    loaded = load_rules(rules)
    given = how.for_rules(loaded, data=data, labels=labels)
    found = load(model, given)
    note_other_network(loaded, found.network)
    with found.naming_lines():
        report = nn2rules.evaluate(
            loaded,
            found.network,
            found.rows,
            found.labels,
            samples=samples,
            seed=seed,
        )
    print(report.to_json() if as_json else report)
