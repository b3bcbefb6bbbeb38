"""Options that several commands share, declared once.

A command that takes a parameter of type `ModelOptions`, `Workers` or `Limits` gets an
option for each of its fields; `expanded` does that. A command may describe an option in
its own words: ``limits: Annotated[Limits, Help(seconds="Seconds for each claim.")]``.
"""

import csv
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Literal,
    get_args,
    get_origin,
    get_type_hints,
)

import typer

import nn2rules
from nn2rules.errors import FormatError, OptionError
from nn2rules.files import Node, parse_json, read_text
from nn2rules.models import ModelInput
from nn2rules.rules import Description

FILES = "Files"
COMMAND = "Options"
FORMATS = "Options of one format"
SCALE = "Points of a scorecard"
MODEL = "Model input"
PERFORMANCE = "Performance"
OUTPUT = "Output"
PAPER = "Method of the NN2Rules paper"

PANELS = (COMMAND, SCALE, FILES, FORMATS, MODEL, PERFORMANCE, OUTPUT, PAPER)
"""The groups of options in the help, in their order."""


class Help(dict[str, str]):
    """Help texts of one command, by the names of fields."""


def number(
    *names: str,
    help: str,  # noqa: A002
    panel: str = COMMAND,
    metavar: str = "N",
    minimum: float | None = None,
    maximum: float | None = None,
) -> Any:
    """Return an option that takes a number, within limits."""

    def check(value: Any) -> Any:
        if value is None:
            return None
        is_low = minimum is not None and not value >= minimum
        is_high = maximum is not None and not value <= maximum
        if is_low or is_high:
            expected = f"at least {minimum}" if is_low else f"at most {maximum}"
            raise typer.BadParameter(f"{value}, expected {expected}")
        return value

    return typer.Option(
        *names, metavar=metavar, help=help, rich_help_panel=panel, callback=check
    )


def flag(
    name: str,
    help: str,  # noqa: A002
    panel: str = COMMAND,
) -> Any:
    """Return an option that is there or is not."""
    return typer.Option(name, help=help, rich_help_panel=panel)


def option(
    metavar: str | None,
    help: str,  # noqa: A002
    panel: str = COMMAND,
    *names: str,
) -> Any:
    """Return an option that takes a text, a file, or one of several words."""
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel=panel)


ModelFile = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="A network (.json) or a model: .onnx, .keras or .skops; .pt2, .pt, "
        ".joblib and .pkl with --trust.",
    ),
]
DescriptionFile = Annotated[
    Path,
    typer.Argument(
        metavar="RULES",
        help="A file of rules or of a scorecard (.json), or a decision table (.csv, "
        ".xlsx).",
    ),
]
RulesFile = Annotated[
    Path,
    typer.Argument(
        metavar="RULES", help="A rules file (.json), or a decision table (.csv, .xlsx)."
    ),
]
TrustOption = Annotated[
    bool,
    flag("--trust", "Read files that can run code, such as pickles.", MODEL),
]
LabelsOption = Annotated[
    str | None,
    option("COLUMN", "The column of --data that holds the true classes.", FILES),
]
ImpossibleOption = Annotated[
    list[str] | None,
    option(
        "CONDITIONS",
        'Inputs that cannot occur, such as "age < 18 and married = yes", or a JSON '
        "file with a list of objects, from features to lists of values, and of pairs "
        "[low, high] of numbers. May be repeated.",
    ),
]
JsonOption = Annotated[bool, flag("--json", "Print JSON.", OUTPUT)]
EffortOption = Annotated[
    int,
    number(
        help="How hard to search for short lists of rules.",
        panel=PERFORMANCE,
        minimum=0,
    ),
]
SeedOption = Annotated[
    int,
    number(
        help="Seed for random choices: the same seed gives the same result.",
        panel=PERFORMANCE,
        minimum=0,
    ),
]
SamplesOption = Annotated[
    int,
    number(
        help="Number of inputs to draw if there are too many to try them all.",
        panel=PERFORMANCE,
        minimum=0,
    ),
]
OrderOption = Annotated[
    str | None,
    option(
        "A,B,C",
        "All features, in the order in which rules fix them; by default that of the "
        "paper's authors.",
        PAPER,
    ),
]
ApproximateOption = Annotated[
    str | None,
    option(
        "soft-binary",
        "Treat sigmoid units as 0 or 1, as the paper does. The rules are then no "
        "longer exact; the output states on how many inputs they differ from the "
        "network.",
        PAPER,
    ),
]


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """How to read a model."""

    values: Annotated[
        list[str] | None,
        option(
            "NAME=SPEC",
            "The possible values of a feature. SPEC is range:18,100 (also "
            "range:18,100,missing,special:999), observed, 17..90, 0..100:2.5, "
            "quantiles:10, bins:25,40,65, a list a,b,c, or ordered:a,b,c. By default "
            "as in --data: its categories, and the ranges of its numbers. May be "
            "repeated.",
            MODEL,
        ),
    ] = None
    encoder: Annotated[
        Path | None,
        option(
            "FILE",
            "A fitted transformer (.skops, .joblib) that turns rows into the model's "
            "input.",
            MODEL,
        ),
    ] = None
    classes: Annotated[
        str | None,
        option("A,B", "The classes, if the model does not name them.", MODEL),
    ] = None
    threshold: Annotated[
        float | None,
        number(
            help="Of a single output: predict the second class if its probability is "
            "above this.",
            panel=MODEL,
            metavar="0..1",
        ),
    ] = None
    model_output: Annotated[
        Literal["score", "probability"] | None,
        option(
            None,
            "What a single output without a sigmoid is: a score (second class if it "
            "is above 0), or a probability.",
            MODEL,
        ),
    ] = None
    other: Annotated[
        bool,
        flag(
            "--other",
            "Give each categorical feature a value for all other categories.",
            MODEL,
        ),
    ] = False
    trust: TrustOption = False

    def given(self, **files: Any) -> ModelInput:
        """Return how to read a model together with the rows beside it."""
        return ModelInput(
            encoder=self.encoder,
            values=tuple(self.values or ()),
            classes=self.classes,
            threshold=self.threshold,
            model_output=self.model_output,
            other=self.other,
            trust=self.trust,
            **files,
        )

    def for_rules(self, rules: Description, **files: Any) -> ModelInput:
        """Return the same for the model of some rules, which has their features."""
        is_specified = self.values or self.other
        return self.given(domain=None if is_specified else rules.domain.uncut, **files)


@dataclass(frozen=True, kw_only=True)
class Workers:
    """Where work is done, and by how many workers."""

    jobs: Annotated[
        int | None,
        number(
            help="Number of threads or workers; by default all there are.",
            panel=PERFORMANCE,
        ),
    ] = None
    cluster: Annotated[
        str | None,
        option(
            "URL",
            "Where to work: dask://HOST:PORT, ray://HOST:PORT or spark://HOST:PORT; "
            "dask://local and the like start one on this machine; or processes.",
            PERFORMANCE,
        ),
    ] = None

    def at_work(self) -> AbstractContextManager[None]:
        """Let work be done where the user asks for it."""
        return nullcontext() if self.cluster is None else nn2rules.cluster(self.cluster)


@dataclass(frozen=True, kw_only=True)
class Limits(Workers):
    """Where work is done, and for how long."""

    seconds: Annotated[
        float | None,
        number(
            "--time",
            help="Stop after this many seconds.",
            panel=PERFORMANCE,
            metavar="SECONDS",
            minimum=0,
        ),
    ] = None


def expanded(function: Callable[..., None]) -> Callable[..., None]:
    """Return a command with an option for each field of the values that it takes.

    Options are in the order of their panels, so that the help shows these in one order.
    """
    values: dict[str, Any] = {}
    options: list[inspect.Parameter] = []
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        kind, texts = _kind(parameter.annotation)
        if kind is None:
            options.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
        else:
            values[parameter.name] = kind
            options += _options(kind, texts)
    options = sorted(map(_with_choices, options), key=_panel)

    @wraps(function)
    def wrapped(**arguments: Any) -> None:
        for name, kind in values.items():
            arguments[name] = kind(
                **{each.name: arguments.pop(each.name) for each in fields(kind)}
            )
        function(**arguments)

    wrapped.__annotations__ = {each.name: each.annotation for each in options}
    wrapped.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    return wrapped


def _panel(parameter: inspect.Parameter) -> int:
    """Return the place of an option's panel; arguments come first."""
    panel = parameter.annotation.__metadata__[0].rich_help_panel
    return PANELS.index(panel) if panel in PANELS else -1


def _with_choices(parameter: inspect.Parameter) -> inspect.Parameter:
    """Show the words that an option takes, as in list|set|paper."""
    annotation = parameter.annotation
    info, kinds = annotation.__metadata__[0], [annotation.__origin__]
    kinds += get_args(annotation.__origin__)
    choices = [kind for kind in kinds if get_origin(kind) is Literal]
    if not choices or info.metavar is not None:
        return parameter
    info = copy(info)
    info.metavar = "|".join(get_args(choices[0]))
    return parameter.replace(annotation=Annotated[annotation.__origin__, info])


def _kind(annotation: Any) -> tuple[Any, Help]:
    """Return the type of a parameter that is a value of several options, or None."""
    texts = Help()
    if get_origin(annotation) is Annotated:
        annotation, *notes = get_args(annotation)
        texts = next((note for note in notes if isinstance(note, Help)), texts)
    is_value = annotation in (ModelOptions, Workers, Limits)
    return (annotation if is_value else None), texts


def _options(kind: Any, texts: Help) -> Iterator[inspect.Parameter]:
    """Yield an option for each field."""
    hints = get_type_hints(kind, include_extras=True)
    for each in sorted(fields(kind), key=lambda field: field.name != "seconds"):
        annotation = hints[each.name]
        if each.name in texts:
            info = copy(annotation.__metadata__[0])
            info.help = texts[each.name]
            annotation = Annotated[annotation.__origin__, info]
        yield inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=each.default,
            annotation=annotation,
        )


def names_of(text: str | None, name: str) -> list[str] | None:
    """Split a list of names at its commas; a name with a comma is in quotes.

    `name` is that of the option, for the message.
    """
    if text is None:
        return None
    try:
        return next(csv.reader([text], skipinitialspace=True, strict=True), [])
    except csv.Error as error:
        raise OptionError(f"{name}: not a list of names: {error}") from None


def read_impossible(texts: Sequence[str] | None) -> list[Any] | None:
    """Return the inputs that cannot occur: conditions as texts, boxes from files."""
    if texts is None:
        return None
    listed: list[Any] = []
    for text in texts:
        if Path(text).suffix.lower() == ".json":
            listed += read_boxes(Path(text))
        else:
            listed.append(text)
    return listed


def read_boxes(path: Path) -> list[dict[str, list[Any]]]:
    """Read boxes from a file; numbers of ranges are pairs."""
    text = read_text(path)
    try:
        return [
            {
                name: [_value(value) for value in values.items()]
                for name, values in box.entries()
            }
            for box in parse_json(text).items()
        ]
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None


def _value(node: Node) -> Any:
    if isinstance(node.value, list):
        return tuple(end.number() for end in node.items())
    return node.scalar()
