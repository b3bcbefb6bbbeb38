"""What a user gives in files: a model and rows in, a network and rows out."""

import importlib.util
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from nn2rules.errors import OptionError, RowsError
from nn2rules.files import Table, read_table
from nn2rules.models.adapters import network_of
from nn2rules.models.model_files import load_model
from nn2rules.models.options import ModelOptions
from nn2rules.network import Network
from nn2rules.space import Domain, Value, is_range, number_of


@dataclass(frozen=True)
class Given:
    """What is given: how to read a model, and some rows.

    `sign` stands before the names of options, in messages. For `is_curved`, see
    `ModelOptions`.
    """

    data: Path | None = None
    labels: str | None = None
    test: Path | None = None
    domain: Domain | None = None
    encoder: Path | None = None
    values: tuple[str, ...] = ()
    classes: str | None = None
    threshold: float | None = None
    model_output: Literal["score", "probability"] | None = None
    other: bool = False
    trust: bool = False
    sign: str = "--"
    is_curved: bool = False

    def option(self, name: str) -> str:
        """Return how an option is written where the user gave it."""
        return f"{self.sign}{name.replace('_', '-')}" if self.sign else name


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
    table : Table or None
        The file of the rows, without the column of the labels.
    test : list of dicts of text, or frame, or None
        Rows to count on how many new ones are covered.
    """

    network: Network
    rows: Any = None
    labels: list[Value] | None = None
    table: Table | None = None
    test: Any = None

    def naming_lines(self) -> AbstractContextManager[None]:
        """Let errors about a row name the file and the line."""
        return nullcontext() if self.table is None else self.table.naming_lines()


def load(path: Path, given: Given) -> Loaded:
    """Read a model file, and the rows."""
    model = load_model(path, trust=given.trust)
    if isinstance(model, Network):
        refuse_for_network(given)
    test = None if given.test is None else _rows(read_table(given.test), model)
    if given.data is None:
        if given.labels is not None:
            raise OptionError(
                f"{given.sign}labels names a column of {given.sign}data; give that, too"
            )
        return Loaded(_network(model, given, None), test=test)
    table, labels = read_table(given.data), None
    if given.labels is not None:
        labels = table.texts(given.labels)
        table = table.without(given.labels)
    rows = _rows(table, model)
    with table.naming_lines():
        network = _network(model, given, rows)
    table.check(network.domain)
    true = None if labels is None else _classes_of(labels, network, table, given)
    return Loaded(network, rows, true, table, test)


def _rows(table: Table, model: Any) -> Any:
    """Return the rows of a file as a model takes them."""
    if isinstance(model, Network):
        return table.rows_in(model.domain)
    return typed_frame(table)


def _network(model: Any, given: Given, rows: Any) -> Network:
    if isinstance(model, Network):
        return model
    said: Any = given.domain
    if said is None:
        said = dict(_said(text, given.sign) for text in given.values) or None
    encode = None
    if given.encoder is not None:
        encode = load_model(given.encoder, trust=given.trust)
    options = ModelOptions(
        data=rows,
        domain=said.uncut if isinstance(said, Domain) else said,
        encode=encode,
        classes=None if given.classes is None else _values(given.classes),
        threshold=0.5 if given.threshold is None else given.threshold,
        output=given.model_output,
        other=given.other,
        is_curved=given.is_curved,
    )
    return network_of(model, options)


def class_named(text: str, network: Network) -> Value:
    """Return the class that a text spells; None if there is none."""
    return next((c for c in network.classes if str(c) == text), None)


def _classes_of(
    cells: list[str], network: Network, table: Table, given: Given
) -> list[Value]:
    """Return the classes that a column spells, refusing what is none."""
    known = ", ".join(str(label) for label in network.classes)
    found = {cell: class_named(cell, network) for cell in dict.fromkeys(cells)}
    if found and all(label is None for label in found.values()):
        shown = ", ".join(sorted(found)[:5])
        raise OptionError(
            f"the column {given.labels!r} holds {shown or 'nothing'}, and the model's "
            f"classes are {known}; name them, in this order, with {given.sign}classes"
        )
    for cell, label in found.items():
        if label is None:
            place = table.place(cells.index(cell))
            what = f"holds {cell!r}, which is no class" if cell else "is empty"
            raise RowsError(
                f"{place}: the column {given.labels!r} {what}; the classes are {known}"
            )
    return [found[cell] for cell in cells]


def refuse_for_network(given: Given) -> None:
    """Refuse what says how to read a model, where there is none."""
    for name, value in (
        ("encoder", given.encoder),
        ("values", given.values),
        ("classes", given.classes),
        ("other", given.other),
        ("threshold", given.threshold is not None),
        ("model_output", given.model_output),
    ):
        if value:
            raise OptionError(
                f"{given.option(name)} is for models; a network file contains it"
            )


def typed_frame(table: Table) -> Any:
    """Return rows with typed columns: a pandas frame where pandas is installed."""
    rows = table.typed()
    if importlib.util.find_spec("pandas") is None or not rows:
        return rows
    import pandas as pd

    return pd.DataFrame(rows, columns=table.header)


def _said(text: str, sign: str) -> tuple[str, Any]:
    """Return a feature's name and what it can be."""
    name, equals, said = text.partition("=")
    if not equals:
        raise OptionError(
            f"{sign}values: {text!r}, expected NAME=WHAT, as in age=17..90"
        )
    is_listed = ".." not in said and ":" not in said
    is_listed = is_listed and said != "observed" and not is_range(said)
    return name, _values(said) if is_listed else said


def _values(text: str) -> list[Any]:
    """Split a list at its commas; numbers where all are numbers."""
    parts = [part.strip() for part in text.split(",")]
    numbers = [number_of(part) for part in parts]
    return parts if None in numbers else numbers
