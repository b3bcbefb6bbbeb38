"""nn2rules neurons: what every neuron does."""

from pathlib import Path
from typing import Annotated

import nn2rules
from nn2rules.cli.app import command
from nn2rules.cli.options import (
    FILES,
    OUTPUT,
    ApproximateOption,
    ModelFile,
    ModelOptions,
    OrderOption,
    names_of,
    number,
    option,
)
from nn2rules.errors import OptionError
from nn2rules.models import load_with_rows


@command("neurons network.json --layer 0")
def neurons(
    model: ModelFile,
    model_options: ModelOptions,
    *,
    data: Annotated[
        Path | None,
        option(
            "ROWS",
            "Rows like those the model was trained on: the possible values of its "
            "features, if the model does not state them.",
            FILES,
        ),
    ] = None,
    layer: Annotated[
        int | None, number(help="Only this layer, counted from 0.", minimum=0)
    ] = None,
    neuron: Annotated[
        int | None, number(help="Only this neuron, counted from 0.", minimum=0)
    ] = None,
    order: OrderOption = None,
    approximate: ApproximateOption = None,
    top: Annotated[
        int,
        number(
            help="Print at most this many rules for each neuron; 0 prints all.",
            panel=OUTPUT,
            minimum=0,
        ),
    ] = 10,
) -> None:
    """Print when each neuron is active, and what it then computes."""
    network = load_with_rows(model, model_options.given(data=data)).network
    layers = nn2rules.extraction.paper.neurons(
        network, order=names_of(order, "--order"), approximate=approximate
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
            f"there is no such neuron; the layers (counted from 0) have {sizes} neurons"
        )
    print("\n\n".join(unit.text(top or None) for unit in shown))
