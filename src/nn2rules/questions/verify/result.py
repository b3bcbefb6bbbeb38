"""The result of a claim: a verdict, or several."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from nn2rules.output import Document, Heading, Part, Result, html_of, text_of
from nn2rules.questions.verify.page import book_of, parts_of, summary
from nn2rules.rules import RuleList
from nn2rules.space import Domain, Value

Status = Literal["proved", "refuted", "open"]

Row = dict[str, Value]


@dataclass(frozen=True, eq=False)
class Verdict(Result):
    """A claim, and whether it holds.

    Attributes
    ----------
    claim : str
        In words.
    status : {"proved", "refuted", "open"}
        Open if the budget was spent first; `reason` says on what.
    counterexample : dict, or two of them, or None
        An input that breaks the claim; of a claim about two inputs both, which differ
        in the features of the claim alone. Where there is data, that which differs from
        some row in the fewest features; beyond a table it is moved toward a row.
    answer : class label, or two of them, or None
        What the model answers there.
    distance : int or None
        In how many features the counterexample, or the first of the two, differs from
        the nearest row.
    on : {"domain", "rows"}
        What the claim was asked of, and what `count` and `total` count.
    count, total : int or None
        How many break the claim, and of how many it was made. None where they are not
        counted, as beyond a table unless that is asked for. An input breaks a claim
        about two if it is one of two that do.
    at_least, at_most : int or None
        Certain bounds on `count`, equal where it is known; None as there.
    contexts, total_contexts : int or None
        Of a claim about two inputs, how many sets of values of the other features
        break it, of how many.
    ways, row_ways : mapping from str to int
        How many inputs, and rows, break the claim in each way that they do.
    rows, total_rows : int or None
        How many rows of the data break the claim, and how many it was made of.
    reason : str
        Why it is open.
    boxes : int
        Boxes searched.
    seconds : float
    """

    claim: str
    status: Status
    counterexample: Row | tuple[Row, Row] | None = None
    answer: Value | tuple[Value, Value] = None
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
        """The inputs that break the claim, as rules; made when they are asked for.

        A set of boxes that holds exactly these inputs, with the way in which each
        breaks the claim for a class; "holds" is everywhere else. None where there is
        no table of the inputs.
        """
        return None if self.make_rules is None else self.make_rules()

    def to_dict(self) -> dict[str, Any]:
        """Return all but the rules as JSON has it."""
        found: Any = self.counterexample
        answer: Any = self.answer
        return {
            "claim": self.claim,
            "status": self.status,
            "on": self.on,
            "counterexample": list(found) if isinstance(found, tuple) else found,
            "answer": list(answer) if isinstance(answer, tuple) else answer,
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
    """How several verdicts are shown: how many hold is said last, or first in HTML."""

    def _parts(self) -> tuple[list[Part], Heading]:
        raise NotImplementedError

    def __str__(self) -> str:
        parts, said = self._parts()
        return text_of(Document(((*parts, said),)))

    def _repr_html_(self) -> str:
        parts, said = self._parts()
        return html_of(Document(((said, *parts),)))


class Verdicts(_Book, dict[str, Verdict]):
    """The verdicts of a book of claims, by their names."""

    def _parts(self) -> tuple[list[Part], Heading]:
        return book_of(self), Heading(summary(list(self.values())))


class VerdictList(_Book, list[Verdict]):
    """The verdicts of several claims, in their order; they are numbered from 1."""

    def _parts(self) -> tuple[list[Part], Heading]:
        book = {str(number): verdict for number, verdict in enumerate(self, 1)}
        return book_of(book), Heading(summary(self))
