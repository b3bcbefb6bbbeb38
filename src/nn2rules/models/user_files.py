"""Load a model and rows from the files that a user names."""

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
class ModelInput:
    """How to read a model file, and the files of rows beside it.

    `sign` is put before the names of options in messages. For `is_curved`, see
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
class LoadedModel:
    """A network, and the rows beside it.

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
        Rows on which the coverage of unseen rows is measured.
    """

    network: Network
    rows: Any = None
    labels: list[Value] | None = None
    table: Table | None = None
    test: Any = None

    def naming_lines(self) -> AbstractContextManager[None]:
        """Let errors about a row name its file and line."""
        return nullcontext() if self.table is None else self.table.naming_lines()


def load_with_rows(path: Path, inputs: ModelInput) -> LoadedModel:
    """Load a model file and the rows beside it."""
    return with_rows_beside(load_model(path, trust=inputs.trust), inputs)


def with_rows_beside(model: Any, inputs: ModelInput) -> LoadedModel:
    """Read a model as a network, and load the rows beside it."""
    if isinstance(model, Network):
        refuse_for_network(inputs)
    test = None if inputs.test is None else _rows(read_table(inputs.test), model)
    if inputs.data is None:
        if inputs.labels is not None:
            raise OptionError(
                f"{inputs.option('labels')} names a column of {inputs.option('data')}, "
                f"which is missing"
            )
        return LoadedModel(_network(model, inputs, None), test=test)
    table, labels = read_table(inputs.data), None
    if inputs.labels is not None:
        _refuse_feature(inputs.labels, model, inputs)
        labels = table.texts(inputs.labels)
        table = table.without(inputs.labels)
    rows = _rows(table, model)
    with table.naming_lines():
        network = _network(model, inputs, rows)
    table.check(network.domain)
    true_labels = (
        None if labels is None else _classes_of(labels, network, table, inputs)
    )
    return LoadedModel(network, rows, true_labels, table, test)


def _refuse_feature(labels: str, model: Any, inputs: ModelInput) -> None:
    """Refuse a column of labels that the model reads as a feature."""
    names = getattr(model, "feature_names_in_", ())
    names = model.domain.names if isinstance(model, Network) else names
    if labels in names:
        raise OptionError(
            f"{inputs.option('labels')} names the column with the true classes, but "
            f"{labels!r} is a feature of the model"
        )


def _rows(table: Table, model: Any) -> Any:
    """Return the rows of a file as a model takes them."""
    if isinstance(model, Network):
        return table.rows_in(model.domain)
    return typed_frame(table)


def _network(model: Any, inputs: ModelInput, rows: Any) -> Network:
    if isinstance(model, Network):
        return model
    domain: Any = inputs.domain
    if domain is None:
        domain = (
            dict(_feature_spec(text, inputs.sign) for text in inputs.values) or None
        )
    encode = None
    if inputs.encoder is not None:
        encode = load_model(inputs.encoder, trust=inputs.trust)
    options = ModelOptions(
        data=rows,
        domain=domain.uncut if isinstance(domain, Domain) else domain,
        encode=encode,
        classes=None if inputs.classes is None else _values(inputs.classes),
        threshold=0.5 if inputs.threshold is None else inputs.threshold,
        output=inputs.model_output,
        other=inputs.other,
        is_curved=inputs.is_curved,
    )
    return network_of(model, options)


def class_named(text: str, network: Network) -> Value:
    """Return the class with this name; None if there is none."""
    return next((c for c in network.classes if str(c) == text), None)


def _classes_of(
    cells: list[str], network: Network, table: Table, inputs: ModelInput
) -> list[Value]:
    """Return the classes that a column names, refusing any other text."""
    names = ", ".join(str(label) for label in network.classes)
    classes = {cell: class_named(cell, network) for cell in dict.fromkeys(cells)}
    if classes and all(label is None for label in classes.values()):
        shown = ", ".join(sorted(classes)[:5])
        raise OptionError(
            f"column {inputs.labels!r} holds {shown or 'nothing'}, but the model's "
            f"classes are {names}; name the classes in this order with "
            f"{inputs.option('classes')}"
        )
    for cell, label in classes.items():
        if label is None:
            place = table.place(cells.index(cell))
            what = f"holds {cell!r}, which is not a class" if cell else "is empty"
            raise RowsError(
                f"{place}: column {inputs.labels!r} {what}; the classes are {names}"
            )
    return [classes[cell] for cell in cells]


def refuse_for_network(inputs: ModelInput) -> None:
    """Refuse options for reading a model, where the file is a network."""
    for name, value in (
        ("encoder", inputs.encoder),
        ("values", inputs.values),
        ("classes", inputs.classes),
        ("other", inputs.other),
        ("threshold", inputs.threshold is not None),
        ("model_output", inputs.model_output),
    ):
        if value:
            raise OptionError(
                f"{inputs.option(name)} is for models; a network file contains it"
            )


def typed_frame(table: Table) -> Any:
    """Return rows with typed columns: a pandas frame where pandas is installed."""
    rows = table.typed()
    if importlib.util.find_spec("pandas") is None or not rows:
        return rows
    import pandas as pd

    return pd.DataFrame(rows, columns=table.header)


def _feature_spec(text: str, sign: str) -> tuple[str, Any]:
    """Return a feature's name and the specification of its values."""
    name, equals, spec = text.partition("=")
    if not equals:
        raise OptionError(
            f"{sign}values: {text!r}, expected NAME=VALUES, as in age=17..90"
        )
    is_listed = ".." not in spec and ":" not in spec
    is_listed = is_listed and spec != "observed" and not is_range(spec)
    return name, _values(spec) if is_listed else spec


def _values(text: str) -> list[Any]:
    """Split a list at its commas; numbers where all are numbers."""
    parts = [part.strip() for part in text.split(",")]
    numbers = [number_of(part) for part in parts]
    return parts if None in numbers else numbers
