"""Models and rows on the command line: files in, a network and rows out."""

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import nn2rules
from nn2rules.domain import Domain
from nn2rules.errors import OptionError
from nn2rules.formats.table import Table, read_table
from nn2rules.model_files import load_model
from nn2rules.network import Network
from nn2rules.values import number_of

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
    ),
]
ValuesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--values",
        metavar="NAME=WHAT",
        help="What a feature can be: 17..90, 0..100:2.5, quantiles:10, bins:25,40,65 "
        "or a list a,b,c. By default what occurs in --data. May be repeated.",
    ),
]
OtherOption = Annotated[
    bool,
    typer.Option("--other", help="Give features of words a value for all others."),
]
NearestOption = Annotated[
    bool,
    typer.Option(
        "--nearest", help="Numbers that are not listed stand for the nearest that is."
    ),
]
ClassesOption = Annotated[
    str | None,
    typer.Option(metavar="A,B", help="The classes, where a model does not name them."),
]
ThresholdOption = Annotated[
    float | None,
    typer.Option(help="Class 1 if its probability is larger; for a single output."),
]
GivesOption = Annotated[
    Literal["score", "probability"] | None,
    typer.Option(
        help="What a single output without a sigmoid is: a score, class 1 above 0, or "
        "a probability."
    ),
]
TrustOption = Annotated[
    bool,
    typer.Option("--trust", help="Read files that can run code, such as pickles."),
]


@dataclass(frozen=True)
class Reading:
    """How a model is to be read."""

    data: Path | None = None
    target: str | None = None
    domain: Domain | None = None
    encoder: Path | None = None
    values: tuple[str, ...] = ()
    classes: str | None = None
    threshold: float | None = None
    gives: Literal["score", "probability"] | None = None
    other: bool = False
    nearest: bool = False
    trust: bool = False


def read(path: Path, how: Reading) -> tuple[Network, Any, list[str] | None]:
    """Return the network of a model file, the rows of the data, and their labels."""
    model = load_model(path, trust=how.trust)
    table, labels = _table(how)
    if isinstance(model, Network):
        _refuse_for_network(how)
        if table is None:
            return model, None, labels
        table.check(model.domain)
        return model, table.rows, labels
    rows = None if table is None else _frame(table)
    said: Any = how.domain
    if said is None:
        said = dict(_said(text) for text in how.values) or None
    encode = None if how.encoder is None else load_model(how.encoder, trust=how.trust)
    network = nn2rules.read_network(
        model,
        data=rows,
        domain=said,
        encode=encode,
        classes=None if how.classes is None else _values(how.classes),
        threshold=0.5 if how.threshold is None else how.threshold,
        gives=how.gives,
        other=how.other,
        nearest=how.nearest,
    )
    if table is not None:
        table.check(network.domain)
    _check_labels(network, labels, how)
    return network, rows, labels


def _check_labels(network: Network, labels: list[str] | None, how: Reading) -> None:
    """Refuse labels none of which is a class: the model does not know their names."""
    known = [str(label) for label in network.classes]
    if labels and not set(known) & set(labels):
        found = ", ".join(sorted(set(labels))[:5])
        raise OptionError(
            f"the column {how.target!r} holds {found}, and the model's classes are "
            f"{', '.join(known)}; name them, in this order, with --classes"
        )


def _table(how: Reading) -> tuple[Table | None, list[str] | None]:
    """Read the rows of the data, without the target, and the target."""
    if how.data is None:
        if how.target is not None:
            raise OptionError("--target names a column of --data; give that, too")
        return None, None
    table = read_table(how.data)
    if how.target is None:
        return table, None
    if how.target not in table.header:
        raise OptionError(
            f"{how.data}: there is no column {how.target!r}; the columns are "
            f"{', '.join(table.header)}"
        )
    return table.without(how.target), [row[how.target] for row in table.rows]


def _refuse_for_network(how: Reading) -> None:
    for name, given in (
        ("--encoder", how.encoder),
        ("--values", how.values),
        ("--classes", how.classes),
        ("--other", how.other),
        ("--nearest", how.nearest),
        ("--threshold", how.threshold is not None),
        ("--gives", how.gives),
    ):
        if given:
            raise OptionError(f"{name} is for models; a network file has it inside")


def _frame(table: Table) -> Any:
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
    is_listed = ".." not in said and ":" not in said and said != "observed"
    return name, _values(said) if is_listed else said


def _values(text: str) -> list[Any]:
    """Split a list at its commas; numbers where all are numbers."""
    parts = [part.strip() for part in text.split(",")]
    numbers = [number_of(part) for part in parts]
    return parts if None in numbers else numbers
