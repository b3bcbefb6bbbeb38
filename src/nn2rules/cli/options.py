"""Options that many commands have: declared once, given to a command as one value.

A command that takes a parameter of one of these types gets an option for each of its
fields; `expanded` does that. A command may say in its own words what an option does:
``limits: Annotated[Limits, Help(seconds="Seconds for each claim.")]``.
"""

import csv
import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

import nn2rules
from nn2rules.errors import OptionError
from nn2rules.models import Given

READING = "Reading the model"
RULES = "Which rules"
SCALE = "The points of a scorecard"
WORK = "How, and how long"
SHOWING = "What is printed"
FILES = "Files"
"""What options are grouped by in the help."""


class Help(dict[str, str]):
    """What options do, in the words of one command, by the names of their fields."""


TrustOption = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Read files that can run code, such as pickles.",
        rich_help_panel=READING,
    ),
]


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """How to read a model."""

    values: Annotated[
        list[str] | None,
        typer.Option(
            "--values",
            metavar="NAME=WHAT",
            help="What a feature can be: range:18,100, range:18,100,missing,"
            "special:999, observed, 17..90, 0..100:2.5, quantiles:10, bins:25,40,65, a "
            "list a,b,c or ordered:a,b,c. By default what --data has: the words that "
            "occur, ranges of numbers. May be repeated.",
            rich_help_panel=READING,
        ),
    ] = None
    encoder: Annotated[
        Path | None,
        typer.Option(
            "--encoder",
            metavar="FILE",
            help="A fitted transformer (.skops, .joblib) that turns rows into what the "
            "model takes.",
            rich_help_panel=READING,
        ),
    ] = None
    classes: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="The classes, where a model does not name them.",
            rich_help_panel=READING,
        ),
    ] = None
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Class 1 if its probability is larger; for a single output.",
            rich_help_panel=READING,
        ),
    ] = None
    model_output: Annotated[
        Literal["score", "probability"] | None,
        typer.Option(
            help="What a single output without a sigmoid means: a score (class 1 above "
            "0) or a probability.",
            rich_help_panel=READING,
        ),
    ] = None
    other: Annotated[
        bool,
        typer.Option(
            "--other",
            help="Give features of words a value for all others.",
            rich_help_panel=READING,
        ),
    ] = False
    trust: TrustOption = False

    def given(self, **files: Any) -> Given:
        """Return how to read a model together with the rows beside it."""
        return Given(
            encoder=self.encoder,
            values=tuple(self.values or ()),
            classes=self.classes,
            threshold=self.threshold,
            model_output=self.model_output,
            other=self.other,
            trust=self.trust,
            **files,
        )

    def for_rules(self, rules: nn2rules.RuleList, **files: Any) -> Given:
        """Return the same for a model of rules: features are theirs by default."""
        is_said = self.values or self.other
        return self.given(domain=None if is_said else rules.domain.uncut, **files)


@dataclass(frozen=True, kw_only=True)
class Workers:
    """Who works."""

    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            help="Threads, or workers; by default all there are.",
            rich_help_panel=WORK,
        ),
    ] = None
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar="URL",
            help="Where to work: dask://HOST:PORT, ray://HOST:PORT, spark://HOST:PORT, "
            "dask://local and the like for one on this machine, or processes.",
            rich_help_panel=WORK,
        ),
    ] = None

    def at_work(self) -> AbstractContextManager[None]:
        """Let work be done where the user says, or here."""
        return nullcontext() if self.cluster is None else nn2rules.cluster(self.cluster)


@dataclass(frozen=True, kw_only=True)
class Limits(Workers):
    """Who works, and how long."""

    seconds: Annotated[
        float | None,
        typer.Option(
            "--time",
            min=0,
            metavar="SECONDS",
            help="Stop after so many seconds.",
            rich_help_panel=WORK,
        ),
    ] = None


def expanded(function: Callable[..., None]) -> Callable[..., None]:
    """Return a command with an option for each field of the values that it takes."""
    values: dict[str, Any] = {}
    options: list[inspect.Parameter] = []
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        kind, said = _kind(parameter.annotation)
        if kind is None:
            options.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
        else:
            values[parameter.name] = kind
            options += _options(kind, said)

    @wraps(function)
    def wrapped(**given: Any) -> None:
        for name, kind in values.items():
            given[name] = kind(
                **{each.name: given.pop(each.name) for each in fields(kind)}
            )
        function(**given)

    wrapped.__annotations__ = {each.name: each.annotation for each in options}
    wrapped.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    return wrapped


def _kind(annotation: Any) -> tuple[Any, Help]:
    """Return the type of a parameter that is a value of several options, or None."""
    said = Help()
    if get_origin(annotation) is Annotated:
        annotation, *notes = get_args(annotation)
        said = next((note for note in notes if isinstance(note, Help)), said)
    is_value = annotation in (ModelOptions, Workers, Limits)
    return (annotation if is_value else None), said


def _options(kind: Any, said: Help) -> Iterator[inspect.Parameter]:
    """Yield an option for each field."""
    hints = get_type_hints(kind, include_extras=True)
    for each in fields(kind):
        annotation = hints[each.name]
        if each.name in said:
            option = copy(annotation.__metadata__[0])
            option.help = said[each.name]
            annotation = Annotated[annotation.__origin__, option]
        yield inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=each.default,
            annotation=annotation,
        )


ModelFile = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="A network (.json) or a model: .onnx, .keras, .skops; .pt2, .pt, .joblib "
        "and .pkl with --trust.",
    ),
]

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
