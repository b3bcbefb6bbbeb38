"""The explanation of one prediction, or of several: values, JSON, frame, text, HTML."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, overload

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
from nn2rules.questions.explain.page import (
    change_text,
    parts_of,
    points_texts,
    reason_text,
)
from nn2rules.space import Domain, Value

_HTML_COUNTERFACTUALS = 10  # lines that a notebook shows


@dataclass(frozen=True, slots=True)
class CoveringRule:
    """A rule that covers a row.

    Attributes
    ----------
    name, text : str
        Its name, and its conditions and class in words.
    then : class label
    determines : bool
        Whether it determines the prediction: it is the first that covers the row.
    """

    name: str
    then: Value
    text: str
    determines: bool


@dataclass(frozen=True, slots=True)
class PointsLost:
    """What a feature costs a row, in points of a scorecard.

    Attributes
    ----------
    feature : str
    value : str, int, float, bool or None
        What the row has.
    points : int or float
        How many points it would gain towards another class, all other features as they
        are, if it had `instead`.
    instead : str, int, float, bool or None
        The best value of the feature for this row, or the typical one.
    code : str or None
        The user's reason code for it.
    """

    feature: str
    value: Value
    points: float
    instead: Value
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Proved:
    """Which parts of an explanation are proved.

    Attributes
    ----------
    minimal : bool
        No feature can be left out of any reason.
    smallest : bool
        No reason has fewer features than the first; only looked for with `smallest`.
    every_reason : bool
        There are no other reasons.
    widest : bool
        No value, and no step of a range, can be added to a reason.
    fewest : bool
        No allowed change is cheaper (by default: changes fewer features); or, without
        counterfactuals, no allowed change flips the prediction.
    every_counterfactual : bool
        All counterfactuals of this cost are listed.
    nearest : bool
        Numbers of ranges move by the fewest steps.
    """

    minimal: bool = True
    smallest: bool = False
    every_reason: bool = False
    widest: bool = True
    fewest: bool = True
    every_counterfactual: bool = True
    nearest: bool = True


@dataclass(frozen=True)
class Explanation(Result):
    """Why a row gets its class, and what would flip the prediction.

    Attributes
    ----------
    row : dict
        The values of the features.
    prediction : class label
    margin : float
        How far the score is from another prediction, in float64.
    probability : float
        The network's probability of the predicted class.
    is_fragile : bool
        Whether the model that the network was read from may predict another class,
        because of rounding.
    reasons : list of dicts
        Each has features and what they may be: a value; a pair (low, high) of a range
        of numbers, both included; or a list of these. Every input that satisfies a
        reason has this class. A reason is empty only if all inputs have it.
    counterfactuals : list of dicts
        The smallest changes: each has features and new values that give another class.
        If the list is empty and `proved.fewest` is true, no allowed change does.
    outcomes : list of class labels
        The class that each counterfactual gives.
    cost : int, float or None
        The cost of each counterfactual; by default the number of features it changes.
    radius : int or None
        Changing up to this many features never flips the prediction; changing one more
        can. The number of all features if nothing flips it; None if not known.
    reason_codes : list of str
        The user's texts that apply, at most four.
    rules : list of CoveringRule, or None
        Of a set, all rules that cover the row; of a list, the one that determines its
        prediction.
    points : list of PointsLost, or None
        If the model has a scorecard: the features, at most four, that cost the row most
        points.
    points_against : {"best", "typical"}
        What each feature is compared with.
    proved : Proved
    undecided : list of str
        What is not known, as sentences: the budget was spent, or a question is too
        close to the border between two classes.
    """

    row: dict[str, Value]
    prediction: Value
    margin: float
    probability: float
    is_fragile: bool
    reasons: list[dict[str, Any]]
    counterfactuals: list[dict[str, Value]]
    outcomes: list[Value]
    cost: int | float | None
    radius: int | None
    reason_codes: list[str] | None = None
    rules: list[CoveringRule] | None = None
    points: list[PointsLost] | None = None
    points_against: Literal["best", "typical"] = "best"
    proved: Proved = field(default_factory=Proved)
    undecided: list[str] = field(default_factory=list)
    is_cost: bool = field(default=False, repr=False)
    has_counterfactuals: bool = field(default=True, repr=False)
    domain: Domain | None = field(default=None, repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; what a reason allows is always a list."""
        plain: dict[str, Any] = {
            "row": self.row,
            "prediction": self.prediction,
            "probability": self.probability,
            "margin": self.margin,
            "fragile": self.is_fragile,
            "radius": self.radius,
            "reasons": [
                {
                    name: [list(v) if isinstance(v, tuple) else v for v in as_list(of)]
                    for name, of in reason.items()
                }
                for reason in self.reasons
            ],
            "counterfactuals": self.counterfactuals,
            "outcomes": self.outcomes,
            "cost": self.cost,
        }
        if self.reason_codes is not None:
            plain["reason_codes"] = self.reason_codes
        if self.rules is not None:
            plain["rules"] = [
                {
                    "name": r.name,
                    "then": r.then,
                    "determines": r.determines,
                    "text": r.text,
                }
                for r in self.rules
            ]
        if self.points is not None:
            plain["points"] = [asdict(lost) for lost in self.points]
            plain["points_against"] = self.points_against
        plain["proved"] = {
            name: getattr(self.proved, name) for name in Proved.__slots__
        }
        plain["undecided"] = self.undecided
        return plain

    def document(self, most: int = 5) -> Document:
        """Return it in words, with at most `most` lines of counterfactuals."""
        return Document((parts_of(self, most),))

    def text(self, most: int = 5) -> str:
        """Return it in words, with at most `most` lines of counterfactuals."""
        return text_of(self.document(most))

    def _repr_html_(self) -> str:
        return html_of(self.document(_HTML_COUNTERFACTUALS))


def as_list(allowed: Any) -> list[Any]:
    """Return what a reason allows a feature as a list."""
    return allowed if isinstance(allowed, list) else [allowed]


@dataclass(frozen=True)
class Explanations(Result, Sequence[Explanation]):
    """The explanations of several rows, in their order.

    Attributes
    ----------
    skipped : dict from int to str
        The rows that cannot be explained, by their numbers (from 0), and why; see
        `explain`.
    """

    explanations: tuple[Explanation, ...]
    skipped: Mapping[int, str] = field(default_factory=dict)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The row number (from 0) of each explanation."""
        total = len(self.explanations) + len(self.skipped)
        return tuple(row for row in range(total) if row not in self.skipped)

    def __len__(self) -> int:
        return len(self.explanations)

    @overload
    def __getitem__(self, index: int) -> Explanation: ...
    @overload
    def __getitem__(self, index: slice) -> "Explanations": ...
    def __getitem__(self, index: int | slice) -> "Explanation | Explanations":
        """Return one explanation, or several."""
        if isinstance(index, slice):
            return Explanations(self.explanations[index])
        return self.explanations[index]

    def __iter__(self) -> Iterator[Explanation]:
        return iter(self.explanations)

    def to_dict(self) -> list[dict[str, Any]]:
        """Return a list with the `Explanation.to_dict` of each row.

        A row that was left out has an object with the reason as ``error`` instead.
        """
        entries: dict[int, dict[str, Any]] = {
            row: {"error": reason} for row, reason in self.skipped.items()
        }
        for row, explanation in zip(self.numbers, self.explanations, strict=True):
            entries[row] = explanation.to_dict()
        return [entries[row] for row in sorted(entries)]

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with one line for each row: its values and explanation.

        The first reason and the first counterfactual are in words.
        """
        return frame_of(lambda: _columns(self.explanations), backend)

    def document(self, most: int = 5) -> Document:
        """Return all of them in words, one after the other."""
        return Document(
            tuple(
                (Heading(f"Row {number}"), *parts_of(explanation, most))
                for number, explanation in zip(
                    self.numbers, self.explanations, strict=True
                )
            )
        )

    def text(self, most: int = 5) -> str:
        """Return all of them in words, each with at most `most` lines of changes."""
        return text_of(self.document(most))

    def _repr_html_(self) -> str:
        if len(self.explanations) == 1:  # there is no need to say which row
            return self.explanations[0]._repr_html_()
        return html_of(self.document(_HTML_COUNTERFACTUALS))


def _columns(explanations: Sequence[Explanation]) -> dict[str, list[Any]]:
    names = list(explanations[0].row) if explanations else []
    table: dict[str, list[Any]] = {n: [e.row[n] for e in explanations] for n in names}
    columns: dict[str, list[Any]] = {
        "prediction": [e.prediction for e in explanations],
        "probability": [e.probability for e in explanations],
        "margin": [e.margin for e in explanations],
        "radius": [e.radius for e in explanations],
        "reason": [reason_text(e, e.reasons[0]) for e in explanations],
        "counterfactual": [
            change_text(e, e.counterfactuals[0]) if e.counterfactuals else None
            for e in explanations
        ],
        "n_counterfactuals": [len(e.counterfactuals) for e in explanations],
        "cost": [e.cost for e in explanations],
    }
    if any(e.reason_codes is not None for e in explanations):
        columns["reason_codes"] = [
            "; ".join(e.reason_codes or ()) for e in explanations
        ]
    if any(e.points is not None for e in explanations):
        columns["points"] = ["; ".join(points_texts(e)) for e in explanations]
    if any(e.rules is not None for e in explanations):
        columns["rules"] = [
            ", ".join(r.name for r in e.rules or ()) for e in explanations
        ]
    columns["undecided"] = [" ".join(e.undecided) or None for e in explanations]
    return table | {unused(n, names): column for n, column in columns.items()}
