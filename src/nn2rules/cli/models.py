"""Models and rows on the command line: the options that say how to read them."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from nn2rules.cli.app import READING, stderr
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
EncoderOption = Annotated[
    Path | None,
    typer.Option(
        "--encoder",
        metavar="FILE",
        help="A fitted transformer (.skops, .joblib) that turns rows into what the "
        "model takes.",
        rich_help_panel=READING,
    ),
]
ValuesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--values",
        metavar="NAME=WHAT",
        help="What a feature can be: range:18,100, range:18,100,missing,special:999, "
        "observed, 17..90, 0..100:2.5, quantiles:10, bins:25,40,65, a list a,b,c or "
        "ordered:a,b,c. By default what --data has: the words that occur, ranges of "
        "numbers. May be repeated.",
        rich_help_panel=READING,
    ),
]
OtherOption = Annotated[
    bool,
    typer.Option(
        "--other",
        help="Give features of words a value for all others.",
        rich_help_panel=READING,
    ),
]
ClassesOption = Annotated[
    str | None,
    typer.Option(
        metavar="A,B",
        help="The classes, where a model does not name them.",
        rich_help_panel=READING,
    ),
]
ThresholdOption = Annotated[
    float | None,
    typer.Option(
        help="Class 1 if its probability is larger; for a single output.",
        rich_help_panel=READING,
    ),
]
GivesOption = Annotated[
    Literal["score", "probability"] | None,
    typer.Option(
        help="What a single output without a sigmoid is: a score, class 1 above 0, or "
        "a probability.",
        rich_help_panel=READING,
    ),
]
TrustOption = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Read files that can run code, such as pickles.",
        rich_help_panel=READING,
    ),
]


def note_other_network(rules: RuleList, network: Network) -> None:
    """Say on standard error that rules were extracted from another network."""
    if different := other_network(rules, network):
        stderr.print(
            f"note: this is not the network that the rules were extracted from: "
            f"{different}"
        )
