"""Models and rows on the command line: files in, a network and rows out."""

import importlib.util
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import nn2rules
from nn2rules.cli.app import READING
from nn2rules.domain import Domain
from nn2rules.errors import OptionError, RowsError
from nn2rules.formats.table import CsvTable, read_table
from nn2rules.model_files import load_model
from nn2rules.network import Network
from nn2rules.values import Value, number_of

ModelFile = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="A network (.json) or a model: .onnx, .keras, .pt2, .skops; .pt, .joblib "
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
        help="What a feature can be: range:18,100, observed, 17..90, 0..100:2.5, "
        "quantiles:10, bins:25,40,65 or a list a,b,c. By default what --data has: the "
        "words that occur, ranges of numbers. May be repeated.",
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


@dataclass(frozen=True)
class Given:
    """What is given on the command line: how to read a model, and some rows."""

    data: Path | None = None
    labels: str | None = None
    domain: Domain | None = None
    encoder: Path | None = None
    values: tuple[str, ...] = ()
    classes: str | None = None
    threshold: float | None = None
    gives: Literal["score", "probability"] | None = None
    other: bool = False
    trust: bool = False


@dataclass(frozen=True)
class Loaded:
    """A network, and the rows that came with it.

    Attributes
    ----------
    network : Network
    rows : list of dicts of text, or frame, or None
        As the network, or the model it was read from, takes them.
    labels : list of class labels, or None
        The true class of each row.
    table : CsvTable or None
        The file of the rows, without the column of the labels.
    """

    network: Network
    rows: Any = None
    labels: list[Value] | None = None
    table: CsvTable | None = None

    def naming_lines(self) -> AbstractContextManager[None]:
        """Let errors about a row name the file and the line."""
        return nullcontext() if self.table is None else self.table.naming_lines()


def load(path: Path, given: Given) -> Loaded:
    """Read a model file, and the rows."""
    model = load_model(path, trust=given.trust)
    if isinstance(model, Network):
        refuse_for_network(given)
    if given.data is None:
        if given.labels is not None:
            raise OptionError("--labels names a column of --data; give that, too")
        return Loaded(_network(model, given, None))
    table, labels = read_table(given.data), None
    if given.labels is not None:
        labels = table.column(given.labels)
        table = table.without(given.labels)
    rows: Any = table.rows if isinstance(model, Network) else typed_frame(table)
    with table.naming_lines():
        network = _network(model, given, rows)
    table.check(network.domain)
    if labels is None:
        return Loaded(network, rows, None, table)
    return Loaded(network, rows, _classes_of(labels, network, table, given), table)


def _network(model: Any, given: Given, rows: Any) -> Network:
    if isinstance(model, Network):
        return model
    said: Any = given.domain
    if said is None:
        said = dict(_said(text) for text in given.values) or None
    encode = None
    if given.encoder is not None:
        encode = load_model(given.encoder, trust=given.trust)
    return nn2rules.read_network(
        model,
        data=rows,
        domain=said,
        encode=encode,
        classes=None if given.classes is None else _values(given.classes),
        threshold=0.5 if given.threshold is None else given.threshold,
        gives=given.gives,
        other=given.other,
    )


def class_named(text: str, network: Network) -> Value:
    """Return the class that a text spells; None if there is none."""
    return next((c for c in network.classes if str(c) == text), None)


def _classes_of(
    cells: list[str], network: Network, table: CsvTable, given: Given
) -> list[Value]:
    """Return the classes that a column spells, refusing what is none."""
    known = ", ".join(str(label) for label in network.classes)
    found = {cell: class_named(cell, network) for cell in dict.fromkeys(cells)}
    if found and all(label is None for label in found.values()):
        shown = ", ".join(sorted(found)[:5])
        raise OptionError(
            f"the column {given.labels!r} holds {shown or 'nothing'}, and the model's "
            f"classes are {known}; name them, in this order, with --classes"
        )
    for cell, label in found.items():
        if label is None:
            line = table.lines[cells.index(cell)]
            what = f"holds {cell!r}, which is no class" if cell else "is empty"
            raise RowsError(
                f"{table.path}, line {line}: the column {given.labels!r} {what}; the "
                f"classes are {known}"
            )
    return [found[cell] for cell in cells]


def refuse_for_network(given: Given) -> None:
    """Refuse what says how to read a model, where there is none."""
    for name, value in (
        ("--encoder", given.encoder),
        ("--values", given.values),
        ("--classes", given.classes),
        ("--other", given.other),
        ("--threshold", given.threshold is not None),
        ("--gives", given.gives),
    ):
        if value:
            raise OptionError(f"{name} is for models; a network file has it inside")


def typed_frame(table: CsvTable) -> Any:
    """Return rows with typed columns: a pandas frame where pandas is installed."""
    rows = table.typed()
    if importlib.util.find_spec("pandas") is None or not rows:
        return rows
    import pandas as pd

    return pd.DataFrame(rows, columns=table.header)


def _said(text: str) -> tuple[str, Any]:
    """Return a feature's name and what it can be."""
    name, equals, said = text.partition("=")
    if not equals:
        raise OptionError(f"--values: {text!r}, expected NAME=WHAT, as in age=17..90")
    is_listed = ".." not in said and ":" not in said
    is_listed = is_listed and said not in ("observed", "range")
    return name, _values(said) if is_listed else said


def _values(text: str) -> list[Any]:
    """Split a list at its commas; numbers where all are numbers."""
    parts = [part.strip() for part in text.split(",")]
    numbers = [number_of(part) for part in parts]
    return parts if None in numbers else numbers
