"""A summary as a value: a scorecard, and what was measured of it and the model."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.output import Document, Result, text_of
from nn2rules.scorecards import Scorecard
from nn2rules.space import Domain, Range, Rows, Value, cells_of, is_number, listed_rows
from nn2rules.summaries.agreement import Agreement


@dataclass(frozen=True, slots=True)
class Example:
    """An input on which the model and the summary differ.

    Attributes
    ----------
    row : mapping
        A value for each feature of the model.
    model, summary : class label
        What they predict.
    """

    row: Mapping[str, Value]
    model: Value
    summary: Value


@dataclass(frozen=True, slots=True)
class ProvedCutOff:
    """Inputs on which the model and the summary agree, all of them: by their totals.

    Attributes
    ----------
    label : class label
        What both predict.
    total : float
        Printed totals from this one on.
    is_least : bool
        Whether totals of at least `total` are meant, or of at most `total`.
    inputs, of_inputs : int
        The number of inputs with such totals, and of all inputs.
    """

    label: Value
    total: float
    is_least: bool
    inputs: int
    of_inputs: int


@dataclass(frozen=True, eq=True)
class Summary(Result):
    """A scorecard that imitates a model, and how often it agrees with the model.

    It is not an exact description: where the two differ, only the model is right about
    itself.

    Attributes
    ----------
    card : Scorecard
        It describes the summary's own small network exactly, not the model.
    model : str
        The kind of the model.
    rows : int
        The number of rows that the summary was trained on, besides rows drawn around
        them.
    agreement : Agreement
        On rows that the summary did not see.
    is_test : bool
        Whether these rows were given, or else held out.
    classes_agreement : mapping
        The agreement where the model predicts each class.
    bands : mapping
        The agreement in bands of printed totals, if there is one total.
    different : tuple of int
        The unseen rows on which the two differ: positions in the rows that were given.
    example : Example, optional
        An input on which they differ.
    notes : tuple of str
        What was not measured, and why.
    cut_offs : tuple of ProvedCutOff
    """

    card: Scorecard
    model: str
    rows: int
    agreement: Agreement
    is_test: bool
    classes_agreement: Mapping[Value, Agreement] = field(hash=False)
    bands: Mapping[str, Agreement] = field(hash=False)
    different: tuple[int, ...]
    example: Example | None = field(default=None, hash=False)
    notes: tuple[str, ...] = ()
    cut_offs: tuple[ProvedCutOff, ...] = ()

    @property
    def domain(self) -> Domain:
        """The features of the summary, with their values."""
        return self.card.domain

    @property
    def classes(self) -> tuple[Value, ...]:
        """The class labels."""
        return self.card.classes

    def __len__(self) -> int:
        """Return the number of lines."""
        return int(self.domain.offsets[-1])

    def predict(self, rows: Rows) -> NDArray[Any]:
        """Return the summary's class of each row.

        A number outside the range of the training rows counts as the nearest number in
        it, and a category that they do not have as one of the group of others.
        """
        return self.card.predict(clipped(self.domain, rows))

    def predict_proba(self, rows: Rows) -> NDArray[np.float64]:
        """Return the summary's probability of each class for each row."""
        return self.card.predict_proba(clipped(self.domain, rows))

    def text(self, *, width: int = 80) -> str:
        """Return the page that ``print`` shows, with lines of at most this width."""
        return text_of(self.document(), width)

    def document(self) -> Document:
        """Return the page that text and notebooks show."""
        from nn2rules.summaries.page import page_of

        return page_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values, as its file has them."""
        values: dict[str, Any] = import_module("nn2rules.files").summary_object(self)
        return values

    def to_json(self) -> str:
        """Return the text of the file that `save` writes."""
        text: str = import_module("nn2rules.files").to_json(self)
        return text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, completely or not at all; `nn2rules.load` reads it."""
        import_module("nn2rules.files").save(self, path)

    def __repr__(self) -> str:
        return (
            f"<Summary of a {self.model}: {len(self)} lines, agrees on "
            f"{self.agreement.text} of unseen rows>"
        )


def clipped(domain: Domain, rows: Rows) -> list[dict[str, Any]]:
    """Return rows with numbers moved into the ranges of a domain.

    Examples
    --------
    >>> from nn2rules.space import Feature
    >>> age = Feature.real("age", 17, 90)
    >>> clipped(Domain((age,)), [{"age": 12}, {"age": 30.5}])
    [{'age': 17}, {'age': 30.5}]
    """
    columns = []
    for feature, cells in zip(
        domain.features, cells_of(listed_rows(rows), domain.names), strict=True
    ):
        column = list(cells)
        if isinstance(feature, Range):
            low, high = feature.limits
            column = [
                _between(low, cell, high) if is_number(cell) else cell
                for cell in column
            ]
        columns.append(column)
    return [
        dict(zip(domain.names, row, strict=True)) for row in zip(*columns, strict=True)
    ]


def _between(low: float, cell: Any, high: float) -> Any:
    return low if cell < low else high if cell > high else cell
