"""What is known of one decision, and of several: values, JSON, frame, text, HTML."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from nn2rules.language import unused
from nn2rules.output import (
    Backend,
    Document,
    Heading,
    Result,
    frame_of,
    html_of,
    text_of,
)
from nn2rules.questions.explain.page import change_text, parts_of, reason_text
from nn2rules.space import Domain, Value

_HTML_CHANGES = 10  # are shown in a notebook


@dataclass(frozen=True, slots=True)
class HeldRule:
    """A rule that holds for a row.

    Attributes
    ----------
    name, text : str
        What it is called, and what it says.
    then : class label
    decides : bool
        Whether it is the one that answers: the first that holds.
    """

    name: str
    then: Value
    text: str
    decides: bool


@dataclass(frozen=True, slots=True)
class Proved:
    """What is proved of an explanation, part by part.

    Attributes
    ----------
    minimal : bool
        No feature can be left out of any reason.
    smallest : bool
        No reason has fewer features than the first; looked at only if asked for.
    every_reason : bool
        There are no other reasons.
    widest : bool
        No value, and no step of a range, can be added to a reason.
    fewest : bool
        No change that is allowed costs less (by default: changes fewer features); or,
        if there is no change, nothing that is allowed turns the answer.
    every_change : bool
        All changes that cost as little are listed.
    nearest : bool
        Numbers of ranges are moved by the fewest steps.
    """

    minimal: bool = True
    smallest: bool = False
    every_reason: bool = False
    widest: bool = True
    fewest: bool = True
    every_change: bool = True
    nearest: bool = True


@dataclass(frozen=True)
class Explanation(Result):
    """Why a row gets its class, and what would turn that.

    Attributes
    ----------
    row : dict
        The row, feature by feature.
    answer : class label
    margin : float
        How far the score is from another decision, in float64.
    probability : float
        What the network gives the answer.
    is_fragile : bool
        Whether the model that the network was read from may answer otherwise, because
        it rounds.
    reasons : list of dicts
        Each names features and what they may be: the row's own value; a pair (low,
        high) of a range of numbers, both included; or a list of these. Every input that
        fits is of this class. None is empty, unless all inputs are.
    changes : list of dicts
        Each names features and their new values, which give another class. An empty
        list: nothing that is allowed does, if `proved.fewest`.
    outcomes : list of class labels
        The class that each change gives.
    cost : int, float or None
        Of each change; by default the number of features.
    radius : int or None
        So many features can become whatever they like, and the answer stays; with one
        more it can turn. All features, if nothing turns it. None if not known.
    codes : list of str
        The user's texts, at most four.
    rules : list of HeldRule, or None
        Of a set all rules that hold; of a list the one that answers.
    proved : Proved
    open : list of str
        What is not known, as sentences, because the budget was spent, or because a
        question lies too near to the border between two classes.
    """

    row: dict[str, Value]
    answer: Value
    margin: float
    probability: float
    is_fragile: bool
    reasons: list[dict[str, Any]]
    changes: list[dict[str, Value]]
    outcomes: list[Value]
    cost: int | float | None
    radius: int | None
    codes: list[str] | None = None
    rules: list[HeldRule] | None = None
    proved: Proved = field(default_factory=Proved)
    open: list[str] = field(default_factory=list)
    is_cost: bool = field(default=False, repr=False)
    has_changes: bool = field(default=True, repr=False)
    domain: Domain | None = field(default=None, repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values; what reasons allow are lists."""
        found: dict[str, Any] = {
            "row": self.row,
            "answer": self.answer,
            "probability": self.probability,
            "margin": self.margin,
            "fragile": self.is_fragile,
            "radius": self.radius,
            "reasons": [
                {
                    name: [list(v) if isinstance(v, tuple) else v for v in several(of)]
                    for name, of in reason.items()
                }
                for reason in self.reasons
            ],
            "changes": self.changes,
            "outcomes": self.outcomes,
            "cost": self.cost,
        }
        if self.codes is not None:
            found["codes"] = self.codes
        if self.rules is not None:
            found["rules"] = [
                {"name": r.name, "then": r.then, "decides": r.decides, "text": r.text}
                for r in self.rules
            ]
        found["proved"] = {
            name: getattr(self.proved, name) for name in Proved.__slots__
        }
        found["open"] = self.open
        return found

    def document(self, most: int = 5) -> Document:
        """Return it in words, with so many changes at most."""
        return Document((parts_of(self, most),))

    def text(self, most: int = 5) -> str:
        """Return it in words, with so many changes at most."""
        return text_of(self.document(most))

    def _repr_html_(self) -> str:
        return html_of(self.document(_HTML_CHANGES))


def several(allowed: Any) -> list[Any]:
    """Return what a reason allows a feature as a list, whatever its form."""
    return allowed if isinstance(allowed, list) else [allowed]


@dataclass(frozen=True)
class Explanations(Result, Sequence[Explanation]):
    """The explanations of several rows, in their order.

    Attributes
    ----------
    skipped : dict from int to str
        The rows that were left out because they cannot be explained, by their numbers
        (from 0), and why; see `explain`.
    """

    found: tuple[Explanation, ...]
    skipped: Mapping[int, str] = field(default_factory=dict)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The number (from 0) of the row that each explanation is of."""
        total = len(self.found) + len(self.skipped)
        return tuple(row for row in range(total) if row not in self.skipped)

    def __len__(self) -> int:
        return len(self.found)

    @overload
    def __getitem__(self, index: int) -> Explanation: ...
    @overload
    def __getitem__(self, index: slice) -> "Explanations": ...
    def __getitem__(self, index: int | slice) -> "Explanation | Explanations":
        """Return one of them, or some."""
        if isinstance(index, slice):
            return Explanations(self.found[index])
        return self.found[index]

    def __iter__(self) -> Iterator[Explanation]:
        return iter(self.found)

    def to_dict(self) -> list[dict[str, Any]]:
        """Return a list of what `Explanation.to_dict` gives.

        It has an entry for each row: of one that was left out, an object with the
        reason, as ``error``.
        """
        entries: dict[int, dict[str, Any]] = {
            row: {"error": reason} for row, reason in self.skipped.items()
        }
        for row, explanation in zip(self.numbers, self.found, strict=True):
            entries[row] = explanation.to_dict()
        return [entries[row] for row in sorted(entries)]

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a line for each row: its cells, and what was found.

        The first reason and the first change are in words.
        """
        return frame_of(lambda: _columns(self.found), backend)

    def document(self, most: int = 5) -> Document:
        """Return all of them in words, below each other."""
        return Document(
            tuple(
                (Heading(f"Row {number}"), *parts_of(explanation, most))
                for number, explanation in zip(self.numbers, self.found, strict=True)
            )
        )

    def text(self, most: int = 5) -> str:
        """Return all of them in words, with so many changes of each at most."""
        return text_of(self.document(most))

    def _repr_html_(self) -> str:
        if len(self.found) == 1:  # which row it is goes without saying
            return self.found[0]._repr_html_()
        return html_of(self.document(_HTML_CHANGES))


def _columns(found: Sequence[Explanation]) -> dict[str, list[Any]]:
    names = list(found[0].row) if found else []
    table: dict[str, list[Any]] = {n: [e.row[n] for e in found] for n in names}
    columns: dict[str, list[Any]] = {
        "answer": [e.answer for e in found],
        "probability": [e.probability for e in found],
        "margin": [e.margin for e in found],
        "radius": [e.radius for e in found],
        "reason": [reason_text(e, e.reasons[0]) for e in found],
        "change": [change_text(e, e.changes[0]) if e.changes else None for e in found],
        "n_changes": [len(e.changes) for e in found],
        "cost": [e.cost for e in found],
    }
    if any(e.codes is not None for e in found):
        columns["codes"] = ["; ".join(e.codes or ()) for e in found]
    if any(e.rules is not None for e in found):
        columns["rules"] = [", ".join(r.name for r in e.rules or ()) for e in found]
    columns["open"] = [" ".join(e.open) or None for e in found]
    return table | {unused(n, names): column for n, column in columns.items()}
