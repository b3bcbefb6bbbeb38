"""nn2rules neurons: what every neuron does."""

from pathlib import Path
from typing import Annotated

import typer

import nn2rules
from nn2rules.cli.app import command
from nn2rules.cli.options import (
    FILES,
    ApproximateOption,
    ModelFile,
    ModelOptions,
    OrderOption,
    names_of,
)
from nn2rules.errors import OptionError
from nn2rules.models import load


@command("neurons network.json --layer 0")
def neurons(
    model: ModelFile,
    how: ModelOptions,
    *,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="ROWS",
            help="Rows as the model was trained on: what its features can be, where "
            "the model does not say it.",
            rich_help_panel=FILES,
        ),
    ] = None,
    layer: Annotated[
        int | None, typer.Option(min=0, help="Only this layer, counted from 0.")
    ] = None,
    neuron: Annotated[
        int | None, typer.Option(min=0, help="Only this neuron, counted from 0.")
    ] = None,
    order: OrderOption = None,
    approximate: ApproximateOption = None,
    top: Annotated[
        int, typer.Option(min=0, help="Print so many rules a neuron; 0 prints all.")
    ] = 10,
) -> None:
    """Print what every neuron does: where it is active, and what it then computes."""
    network = load(model, how.given(data=data)).network
    layers = nn2rules.extraction.paper.neurons(
        network, order=names_of(order), approximate=approximate
    )
    shown = [
        unit
        for units in layers
        for unit in units
        if layer in (None, unit.layer) and neuron in (None, unit.unit)
    ]
    if not shown:
        sizes = ", ".join(str(len(units)) for units in layers)
        raise OptionError(
            f"there is no such neuron; the layers, from 0, have {sizes} neurons"
        )
    print("\n\n".join(unit.text(top or None) for unit in shown))
