"""The result of a claim: a verdict, or several."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from nn2rules.output import Document, Heading, Part, Result, html_of, text_of
from nn2rules.questions.verify.page import book_of, parts_of, summary
from nn2rules.rules import RuleList
from nn2rules.space import Domain, Value

Status = Literal["proved", "refuted", "undecided"]

Row = dict[str, Value]


@dataclass(frozen=True, eq=False)
class Verdict(Result):
    """A claim, and whether it is proved, refuted or undecided.

    Attributes
    ----------
    claim : str
        The claim in words.
    status : {"proved", "refuted", "undecided"}
        Undecided if the budget was spent first; see `reason`.
    counterexample : dict, or two of them, or None
        An input that violates the claim. For a claim about two inputs, both of them;
        they differ only in the features of the claim. With data, it is the one that
        differs from some row in the fewest features; a search moves it towards a row.
    prediction : class label, or two of them, or None
        What the model predicts there.
    distance : int or None
        The number of features in which the counterexample, or the first of the two,
        differs from the nearest row.
    on : {"domain", "rows"}
        What the claim is about, and what `count` and `total` count.
    count, total : int or None
        How many violate the claim, and how many it is about. None if not counted: a
        search counts only if asked to. An input violates a claim about two inputs if it
        is one of two that do.
    at_least, at_most : int or None
        Certain bounds on `count`, equal where it is known.
    contexts, total_contexts : int or None
        For a claim about two inputs, how many combinations of the other features
        violate it, and how many there are.
    ways, row_ways : mapping from str to int
        How many inputs, and rows, violate the claim in each way.
    rows, total_rows : int or None
        How many rows of the data violate the claim, and how many it is about.
    reason : str
        Why it is undecided.
    boxes : int
        The number of boxes searched.
    seconds : float
    """

    claim: str
    status: Status
    counterexample: Row | tuple[Row, Row] | None = None
    prediction: Value | tuple[Value, Value] = None
    distance: int | None = None
    on: Literal["domain", "rows"] = "domain"
    count: int | None = None
    total: int | None = None
    at_least: int | None = None
    at_most: int | None = None
    contexts: int | None = None
    total_contexts: int | None = None
    ways: Mapping[str, int] = field(default_factory=dict)
    rows: int | None = None
    total_rows: int | None = None
    row_ways: Mapping[str, int] = field(default_factory=dict)
    reason: str = ""
    boxes: int = 0
    seconds: float = 0.0
    domain: Domain | None = field(default=None, repr=False)
    make_rules: Callable[[], RuleList] | None = field(default=None, repr=False)

    @cached_property
    def rules(self) -> RuleList | None:
        """Rules that cover exactly the violating inputs; made on first use.

        Their classes are the ways in which the claim is violated, and "holds" where it
        is not. None where there is no table of the inputs.
        """
        return None if self.make_rules is None else self.make_rules()

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the rules as plain values."""
        example: Any = self.counterexample
        prediction: Any = self.prediction
        return {
            "claim": self.claim,
            "status": self.status,
            "on": self.on,
            "counterexample": list(example) if isinstance(example, tuple) else example,
            "prediction": list(prediction)
            if isinstance(prediction, tuple)
            else prediction,
            "distance": self.distance,
            "count": self.count,
            "total": self.total,
            "at_least": self.at_least,
            "at_most": self.at_most,
            "contexts": self.contexts,
            "total_contexts": self.total_contexts,
            "ways": dict(self.ways),
            "rows": self.rows,
            "total_rows": self.total_rows,
            "row_ways": dict(self.row_ways),
            "reason": self.reason or None,
            "boxes": self.boxes,
            "seconds": round(self.seconds, 3),
        }

    def document(self) -> Document:
        """Return the verdict in words."""
        return Document((tuple(parts_of(self)),))


class _Book:
    """Shows several verdicts, with a summary at the end, or first in HTML."""

    def _parts(self) -> tuple[list[Part], Heading]:
        raise NotImplementedError

    def __str__(self) -> str:
        parts, total = self._parts()
        return text_of(Document(((*parts, total),)))

    def _repr_html_(self) -> str:
        parts, total = self._parts()
        return html_of(Document(((total, *parts),)))


class Verdicts(_Book, dict[str, Verdict]):
    """The verdicts of several claims, by name."""

    def _parts(self) -> tuple[list[Part], Heading]:
        return book_of(self), Heading(summary(list(self.values())))


class VerdictList(_Book, list[Verdict]):
    """The verdicts of several claims, in order, numbered from 1."""

    def _parts(self) -> tuple[list[Part], Heading]:
        book = {str(number): verdict for number, verdict in enumerate(self, 1)}
        return book_of(book), Heading(summary(self))
