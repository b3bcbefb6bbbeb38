"""Models and rows on the command line."""

from pathlib import Path
from typing import Annotated

import typer

from nn2rules.cli.app import stderr
from nn2rules.extraction import other_network
from nn2rules.models import (
    Given,
    Loaded,
    class_named,
    load,
    refuse_for_network,
    typed_frame,
)
from nn2rules.network import Network
from nn2rules.rules import RuleList

__all__ = [
    "Given",
    "Loaded",
    "class_named",
    "load",
    "note_other_network",
    "refuse_for_network",
    "typed_frame",
]

ModelFile = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="A network (.json) or a model: .onnx, .keras, .skops; .pt2, .pt, .joblib "
        "and .pkl with --trust.",
    ),
]


def note_other_network(rules: RuleList, network: Network) -> None:
    """Say on standard error that rules were extracted from another network."""
    if different := other_network(rules, network):
        stderr.print(
            f"note: this is not the network that the rules were extracted from: "
            f"{different}"
        )
