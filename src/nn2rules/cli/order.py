"""Options of the paper's method, which two commands have."""

import csv
from typing import Annotated

import typer

from nn2rules.errors import OptionError

OrderOption = Annotated[
    str | None,
    typer.Option(
        "--order",
        metavar="A,B,C",
        help="All features in the order in which rules fix them; by default that of "
        "the paper's authors.",
    ),
]
ApproximateOption = Annotated[
    str | None,
    typer.Option(
        "--approximate",
        metavar="soft-binary",
        help="Treat sigmoid units as 0 or 1, as the paper does. No longer exact: the "
        "output says on how many inputs it differs from the network.",
    ),
]


def names_of(order: str | None) -> list[str] | None:
    """Split a list of names at its commas; a name with a comma stands in quotes."""
    if order is None:
        return None
    try:
        return next(csv.reader([order], skipinitialspace=True, strict=True), [])
    except csv.Error as error:
        raise OptionError(f"--order: not a list of names: {error}") from None
