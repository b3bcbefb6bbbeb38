"""What every description of a network can do, regardless of its form.

A description stands in for a network where people read it: a `RuleList`, or another
form such as a scorecard. It makes claims only about inputs that it covers. What is
proved about them is in its certificate, which contains its digest.

A form defines the attributes and the abstract methods; everything else follows. Code
that needs no more than this takes a `Description`; code that reads single rules takes
a `RuleList`.
"""

import json
import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.output import Result, text_of
from nn2rules.rules.certificate import certificate_of
from nn2rules.rules.facts import is_whole_domain
from nn2rules.rules.predicting import (
    Uncovered,
    Unknown,
    label_positions,
    numbers_for,
    predicted_labels,
)
from nn2rules.rules.wording import caveats_of
from nn2rules.space import Domain, Rows, Value

Scope: TypeAlias = Literal["domain", "support"]


class Predictions(NamedTuple):
    """The predictions for several inputs.

    Attributes
    ----------
    classes : ndarray of int64, shape (n_inputs,)
        The position of the class of each input; that of the default where it is not
        covered.
    is_covered : ndarray of bool, shape (n_inputs,)
        Whether it is covered.
    """

    classes: NDArray[np.int64]
    is_covered: NDArray[np.bool_]


class Description(Result):
    """A classifier that people read in place of a network.

    Attributes
    ----------
    domain : Domain
    classes : tuple of class labels
    default : class label or None
        What `predict` gives on request where an input is not covered; None for a form
        without such a class.
    form : str
        The kind of description: "list" or "set" of rules, …
    scope : {"domain", "support"}
        Whether every input of the domain is covered, or only some are.
    certificate : mapping
        What was proved, and how; `certificate_of` reads it.
    """

    __slots__ = ()
    domain: Domain
    classes: tuple[Value, ...]
    default: Value = None
    form: str
    scope: Scope
    certificate: Mapping[str, Any]
    needs_numbers: ClassVar[bool] = False
    """Whether predictions need the numbers of ranges, beside the codes."""

    @property
    @abstractmethod
    def digest(self) -> str:
        """The sha256 of everything it states; its certificate contains it."""

    @abstractmethod
    def predictions(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64] | None = None
    ) -> Predictions:
        """Return the predictions for inputs that are known to be in the domain.

        Parameters
        ----------
        codes : ndarray of int64, shape (n_inputs, n_features)
            See `Domain.encode`.
        numbers : ndarray of float64, shape (n_inputs, n_features), optional
            The numbers of ranges, if the codes are not enough; see
            `Domain.inputs_of`.
        """

    @property
    def n_possible(self) -> int:
        """The number of inputs that can occur; with ranges, that of their cells."""
        possible = certificate_of(self).possible
        return self.domain.n_inputs if possible is None else possible

    @property
    def is_everywhere(self) -> bool:
        """Whether it is certified that every possible input is covered."""
        return is_whole_domain(self)

    def class_support(self) -> list[int] | None:
        """Return for how many rows of data it predicts each class, if that is known.

        None unless all of the rows are covered.
        """
        return None

    def predict_codes(
        self,
        codes: NDArray[np.integer[Any]],
        numbers: NDArray[np.float64] | None = None,
    ) -> NDArray[np.int64]:
        """Return the position of the class of each input, given as codes.

        As in `Network.predict_codes`. Where an input is not covered it is that of the
        default; `predictions` tells where.
        """
        return self.predictions(self.domain.checked_codes(codes), numbers).classes

    def predict(
        self,
        rows: Rows,
        *,
        unknown: Unknown = "error",
        uncovered: Uncovered | Any = None,
    ) -> NDArray[Any]:
        """Return the class label of each row.

        Parameters
        ----------
        rows : frame, list of dicts, or one row as a dict
            See `Domain.encode`.
        unknown : {"error", "default", "none"}
            A row with a value outside the domain raises `UnknownValueError`, or gets
            the default class, or None.
        uncovered : {"none", "default", "error"}, or a model with predict, optional
            What to do with a row that is not covered, as rules of scope "support" leave
            some. By default it gets None, with an `UncoveredRowsWarning` that counts
            such rows; "none" does the same without the warning. "default" gives it the
            default class, which is not proved there; "error" raises
            `UncoveredRowsError`; a model is asked for its prediction.
        """
        return predicted_labels(self, rows, unknown, uncovered)

    def covers(self, rows: Rows) -> NDArray[np.bool_]:
        """Tell which rows are covered; nothing is claimed about the others.

        With scope "domain" every row is covered, with scope "support" the rows that a
        rule covers.
        """
        codes = self.domain.encode(rows)
        return self.predictions(codes, numbers_for(self, rows)).is_covered

    def positions(self, labels: Sequence[Value], n_rows: int) -> NDArray[np.int64]:
        """Return the position of the class that each of `labels` names, one per row.

        Text from a CSV file matches the class that reads the same.
        """
        return label_positions(self.classes, labels, n_rows)

    def warnings(self) -> list[str]:
        """Return what to know before trusting it, if anything."""
        return caveats_of(self)

    def text(self, *, width: int = 80) -> str:
        """Return the page that ``print`` shows, with lines of at most this width."""
        return text_of(self.document(), width)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values, as its file has them."""
        values: dict[str, Any] = json.loads(self.to_json())
        return values

    # The following uses packages above this one, imported when called: the only place.

    def to_json(self) -> str:
        """Return the text of the file that `save` writes."""
        text: str = import_module("nn2rules.files").to_json(self)
        return text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, completely or not at all; `nn2rules.load` reads it."""
        import_module("nn2rules.files").save(self, path)

    def export(
        self,
        format: str,  # noqa: A002  the word that users know
        path: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> str | bytes:
        """Export it to another language or format, or write that to a file.

        Parameters
        ----------
        format : str
            One of `nn2rules.export.EXPORTERS`, such as "sql", "dmn" or "python".
        path : str or path, optional
            Where to write it, completely or not at all.
        unknown : {"none", "default", "error"}
            What a row with a value outside the domain gets. Not every format supports
            errors; it says so.
        uncovered : {"none", "default", "error"}
            What a row gets that no rule of scope "support" covers.
        tests : int, optional
            Write this many test vectors beside it: inputs with their class and rule.
        **options
            Options of the format.

        Examples
        --------
        >>> from nn2rules import Domain, Feature, RuleList
        >>> domain = Domain((Feature("color", ("red", "yellow")),))
        >>> text = RuleList(domain, (), "ripe", ("unripe", "ripe")).export("python")
        >>> module = {}
        >>> exec(text, module)
        >>> module["predict"]({"color": "red"})
        'ripe'
        """
        exported: str | bytes = import_module("nn2rules.export").export(
            self, format, path, **options
        )
        return exported

    def report(self, path: str | os.PathLike[str] | None = None, **options: Any) -> Any:
        """Write a self-contained HTML report.

        ``rules.report("report.html", model=network, data=rows, labels=classes)`` shows
        most. See `nn2rules.report.report` for the options and the result.
        """
        return import_module("nn2rules.report").report(self, path, **options)
