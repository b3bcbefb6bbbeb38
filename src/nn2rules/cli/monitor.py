"""nn2rules monitor: how new rows differ from those a description was made on."""

from pathlib import Path
from typing import Annotated

import typer

import nn2rules
from nn2rules.cli.app import command, note_other_network, stderr, working
from nn2rules.cli.options import (
    FILES,
    JsonOption,
    Limits,
    ModelOptions,
    number,
    option,
)
from nn2rules.errors import OptionError
from nn2rules.files import check_writable, load_description, write_text
from nn2rules.models import load_with_rows
from nn2rules.monitoring import Thresholds
from nn2rules.space import number_of

DEFAULTS = Thresholds()


@command("monitor rules.json --reference train.csv --new 2026-10.csv --by month")
def monitor(
    description: Annotated[
        Path,
        typer.Argument(
            metavar="RULES",
            help="A file of rules or of a scorecard (.json), or a decision table "
            "(.csv, .xlsx).",
        ),
    ],
    model_options: ModelOptions,
    *,
    reference: Annotated[
        Path,
        option("ROWS", "The rows of the past, such as the training rows.", FILES),
    ],
    new: Annotated[
        Path, option("ROWS", "The rows to compare with the reference.", FILES)
    ],
    labels: Annotated[
        str | None,
        option(
            "COLUMN",
            "The column of the true classes, in both files or in one; cells may be "
            "empty.",
            FILES,
        ),
    ] = None,
    by: Annotated[
        str | None,
        option("COLUMN", "The column of --new that holds the period.", FILES),
    ] = None,
    model: Annotated[
        Path | None,
        option(
            "MODEL",
            "The model: it is compared with the description on the rows that this "
            "covers, and its scores are put into bands.",
            FILES,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        option("MONITOR.html", "Also write an HTML page.", FILES, "-o", "--output"),
    ] = None,
    title: Annotated[str, option("TEXT", "The title of the page.")] = "",
    target: Annotated[
        str | None,
        option(
            "CLASS",
            "The class whose rate is observed; by default the second of two classes.",
        ),
    ] = None,
    bands: Annotated[
        str | None,
        option(
            "A,B,C",
            "Where the second to the last score band begin; by default at the deciles "
            "of the reference.",
        ),
    ] = None,
    psi: Annotated[
        float, number(help="A PSI from here on is a warning.", minimum=0)
    ] = DEFAULTS.psi,
    major_psi: Annotated[
        float, number(help="A PSI from here on is a major change.", minimum=0)
    ] = DEFAULTS.major_psi,
    uncovered: Annotated[
        float,
        number(
            help="Largest share of new rows that no rule covers.",
            metavar="0..1",
            minimum=0,
        ),
    ] = DEFAULTS.uncovered,
    outside: Annotated[
        float,
        number(
            help="Largest share of new rows outside the domain.",
            metavar="0..1",
            minimum=0,
        ),
    ] = DEFAULTS.outside,
    drop: Annotated[
        float,
        number(
            help="By how much the label agreement may fall.",
            metavar="0..1",
            minimum=0,
        ),
    ] = DEFAULTS.drop,
    as_json: JsonOption = False,
) -> None:
    """Compare new rows with a reference: drift, coverage and label agreement.

    Counts rows by rule, score band, predicted class and feature value, and compares
    them by the population stability index (PSI). CSV and Parquet files may be larger
    than memory. Exit code 0 if all is stable, 1 if a threshold is exceeded.
    """
    read = [path for path in (description, reference, new, model) if path is not None]
    if output is not None:
        check_writable(output, keep=read)
    loaded = load_description(description)
    network = None
    if model is not None:
        network = load_with_rows(model, model_options.for_rules(loaded)).network
        note_other_network(loaded, network)
    with working(Limits()) as progress:
        found = nn2rules.monitor(
            loaded,
            reference,
            new,
            labels=labels,
            by=by,
            model=network,
            target=target,
            bands=_numbers(bands),
            psi=psi,
            major_psi=major_psi,
            uncovered=uncovered,
            outside=outside,
            drop=drop,
            progress=progress,
        )
    if output is not None:
        write_text(output, found.html(title))
    print(found.to_json() if as_json else found)
    if output is not None:
        stderr.print(f"note: page written to {output}")
    if not found.is_stable:
        raise typer.Exit(1)


def _numbers(text: str | None) -> list[float] | None:
    """Read numbers with commas between them."""
    if text is None:
        return None
    numbers = [number_of(part.strip()) for part in text.split(",")]
    if None in numbers:
        raise OptionError(f"--bands: {text!r}, expected numbers such as 0.2,0.5,0.8")
    return [float(one) for one in numbers if one is not None]
