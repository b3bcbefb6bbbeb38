"""What every description of a network can do, whatever form it has.

A description stands for a network where people read it. A `RuleList` is one; other
forms, as a scorecard, will be. It claims something only of inputs that it covers, and
what is proved of that is in its certificate, which belongs to its digest.

A form defines the attributes, and the methods marked as abstract; all else follows.
What needs no more than this takes a `Description`; what reads single rules, as exports
do, takes a `RuleList`.
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
    """What is predicted for several inputs.

    Attributes
    ----------
    classes : ndarray of int64, shape (n_inputs,)
        The position of the class of each input; where nothing is claimed of it, that
        of the default.
    is_covered : ndarray of bool, shape (n_inputs,)
        Whether something is claimed of it.
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
        What `predict` gives, if it is asked to, where nothing is claimed; None for a
        form that has no such class.
    form : str
        What it looks like: "list" or "set", of rules.
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
        """The sha256 of all that it says, which the certificate belongs to."""

    @abstractmethod
    def predictions(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64] | None = None
    ) -> Predictions:
        """Return what is predicted for inputs that are known to lie in the domain.

        Parameters
        ----------
        codes : ndarray of int64, shape (n_inputs, n_features)
            See `Domain.encode`.
        numbers : ndarray of float64, shape (n_inputs, n_features), optional
            The numbers of ranges, where the codes do not tell all; see
            `Domain.inputs_of`.
        """

    @property
    def n_possible(self) -> int:
        """The number of inputs that can occur; those of ranges cannot be counted."""
        possible = certificate_of(self).possible
        return self.domain.n_inputs if possible is None else possible

    @property
    def is_everywhere(self) -> bool:
        """Whether every possible input is covered, as was proved."""
        return is_whole_domain(self)

    def class_support(self) -> list[int] | None:
        """Return how many rows of data it predicts each class for, if it counts them.

        None unless all of the rows are covered.
        """
        return None

    def predict_codes(
        self,
        codes: NDArray[np.integer[Any]],
        numbers: NDArray[np.float64] | None = None,
    ) -> NDArray[np.int64]:
        """Return the position of the class of each input, given as codes.

        As in `Network.predict_codes`. Where nothing is claimed it is the default's;
        `predictions` tells where.
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
        """Tell which rows are covered: of all others nothing is claimed.

        Rules of scope "domain" cover every row, those of scope "support" the rows that
        a rule decides.
        """
        codes = self.domain.encode(rows)
        return self.predictions(codes, numbers_for(self, rows)).is_covered

    def positions(self, labels: Sequence[Value], n_rows: int) -> NDArray[np.int64]:
        """Return the positions of the classes that `labels`, one a row, name.

        The text of a CSV file finds the class that it spells.
        """
        return label_positions(self.classes, labels, n_rows)

    def warnings(self) -> list[str]:
        """Return what a reader must know before trusting it, if anything."""
        return caveats_of(self)

    def text(self, *, width: int = 80) -> str:
        """Return the page that ``print`` shows, in lines of at most this width."""
        return text_of(self.document(), width)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values, as its file has them."""
        found: dict[str, Any] = json.loads(self.to_json())
        return found

    # What follows is done by packages above this one, imported when it is asked for.

    def to_json(self) -> str:
        """Return the text of the file that `save` writes."""
        text: str = import_module("nn2rules.files").to_json(self)
        return text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, whole or not at all; `nn2rules.load` reads it."""
        import_module("nn2rules.files").save(self, path)

    def export(
        self,
        format: str,  # noqa: A002  the word that users know
        path: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> str | bytes:
        """Return it in the language of another engine, or write that to a file.

        Parameters
        ----------
        format : str
            One of `nn2rules.export.EXPORTERS`, such as "sql", "dmn" or "python".
        path : str or path, optional
            Where to write it, whole or not at all.
        unknown : {"none", "default", "error"}
            What a row gets with a value outside the domain. Not every engine has
            errors; one that has none says so.
        uncovered : {"none", "default", "error"}
            What a row gets that no rule of scope "support" decides.
        tests : int, optional
            Write so many test vectors beside it: inputs, with their class and rule.
        **options
            Those of the format.

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
        made: str | bytes = import_module("nn2rules.export").export(
            self, format, path, **options
        )
        return made

    def report(self, path: str | os.PathLike[str] | None = None, **options: Any) -> Any:
        """Put all there is to know of it into one HTML page, and write it.

        ``rules.report("report.html", model=network, data=rows, labels=classes)`` says
        most. See `nn2rules.report.report` for all options, and what it returns.
        """
        return import_module("nn2rules.report").report(self, path, **options)
