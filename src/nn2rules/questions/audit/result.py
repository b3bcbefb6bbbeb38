"""The result of an audit: values, JSON and data frames."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from nn2rules.errors import OptionError
from nn2rules.language import label_text, unused
from nn2rules.output import Backend, Document, Result, frame_of, text_of
from nn2rules.questions.audit.page import document_of, turned_by
from nn2rules.questions.explain import Explanation
from nn2rules.questions.verify import Verdict
from nn2rules.rules import RuleList
from nn2rules.space import Domain, Value

Direction: TypeAlias = Literal[
    "increasing", "decreasing", "constant", "neither", "open"
]


@dataclass(frozen=True, slots=True)
class Influence:
    """How often changing a feature alone can turn the answer.

    Attributes
    ----------
    feature : str
    status : {"dead", "turns", "open"}
        Dead: it is proved that no change of it alone ever turns an answer. Open: no
        such input was found, and none is excluded.
    inputs, of_inputs : int or None
        At how many inputs it can, and how many there are; None where nobody counted, as
        beyond a table.
    rows, of_rows : int or None
        At how many rows it can, and on how many that was counted: all, or some that
        were drawn where all would take long. None if the time ended first.
    """

    feature: str
    status: Literal["dead", "turns", "open"]
    inputs: int | None = None
    of_inputs: int | None = None
    rows: int | None = None
    of_rows: int | None = None


@dataclass(frozen=True)
class Protected:
    """What a protected feature does to answers.

    Attributes
    ----------
    feature : str
    status : {"turns", "never", "unseen", "open"}
        Never: it is proved that changing it alone never turns an answer. Unseen: it is
        a column of the data, and no feature of the model.
    verdict : Verdict or None
        What `verify` says of the claim that the model is independent of it.
    answers : mapping from values to mappings from classes to int
        Of the rows that it turns, how many would get each class if all of them had a
        value. Empty where it turns no row, and for a range of numbers.
    """

    feature: str
    status: Literal["turns", "never", "unseen", "open"]
    verdict: Verdict | None = None
    answers: Mapping[Value, Mapping[Value, int]] = field(default_factory=dict)

    @property
    def inputs(self) -> int | None:
        """At how many inputs it alone turns the answer, where they are counted."""
        return None if self.verdict is None else self.verdict.count

    @property
    def of_inputs(self) -> int | None:
        """How many inputs there are, where they are counted."""
        return None if self.verdict is None else self.verdict.total

    @property
    def rows(self) -> int | None:
        """Of how many rows it alone turns the answer."""
        return None if self.verdict is None else self.verdict.rows

    @property
    def of_rows(self) -> int | None:
        """On how many rows that was counted."""
        return None if self.verdict is None else self.verdict.total_rows

    @property
    def ways(self) -> Mapping[str, int]:
        """How many inputs it turns in each way."""
        return {} if self.verdict is None else self.verdict.ways

    @property
    def row_ways(self) -> Mapping[str, int]:
        """How many rows it turns in each way."""
        return {} if self.verdict is None else self.verdict.row_ways

    @property
    def rules(self) -> RuleList | None:
        """Rules that hold just the inputs that it turns; made when asked for.

        None where it turns none, and beyond a table.
        """
        if self.status != "turns" or self.verdict is None:
            return None
        return self.verdict.rules


@dataclass(frozen=True, slots=True)
class Trend:
    """Which way the answer goes as an ordered feature grows.

    Attributes
    ----------
    feature : str
    toward : class label
        The class that is gained or lost.
    direction : {"increasing", "decreasing", "constant", "neither", "open"}
        Increasing: growing never loses the class. Decreasing: it never gains it.
        Constant: both; neither: it does either somewhere. All of these are proved.
    increasing, decreasing : Verdict or None
        What `verify` says of both claims; None of a feature that is dead.
    """

    feature: str
    toward: Value
    direction: Direction
    increasing: Verdict | None = None
    decreasing: Verdict | None = None

    @property
    def falls(self) -> int | None:
        """In how many contexts the class is lost as the feature grows, if counted."""
        return _contexts(self.increasing)

    @property
    def rises(self) -> int | None:
        """In how many contexts the class is gained as the feature grows, if counted."""
        return _contexts(self.decreasing)

    @property
    def contexts(self) -> int | None:
        """How many contexts there are: sets of values of the other features."""
        return None if self.increasing is None else self.increasing.total_contexts


def _contexts(verdict: Verdict | None) -> int | None:
    """Return in how many contexts a claim is broken; none by a dead feature."""
    if verdict is None:
        return 0
    return 0 if verdict.status == "proved" else verdict.contexts


@dataclass(frozen=True, slots=True)
class Group:
    """The rows that share a value of a protected feature, and their classes.

    Attributes
    ----------
    value : value, or (low, high) of numbers, both included
    text : str
        The value as it is printed.
    rows : int
    classes : mapping from class labels to int
        How many of them the model answers with each class.
    labels : mapping from class labels to int, or None
        How many of them are labelled with each class, if there are labels.
    """

    value: Value | tuple[float, float]
    text: str
    rows: int
    classes: Mapping[Value, int]
    labels: Mapping[Value, int] | None = None


@dataclass(frozen=True, slots=True)
class FragileRow:
    """A row near to another answer.

    Attributes
    ----------
    place : int
        Where it comes first in the data, from 0.
    times : int
        How many rows are the same.
    explanation : Explanation
        What `explain` says of it: its answer, its margin, and the fewest changes that
        turn it.
    """

    place: int
    times: int
    explanation: Explanation


PARTS = ("influence", "monotone", "shares", "fragile")
"""What there are data frames of."""


def dict_of(audit: "Audit") -> dict[str, Any]:
    """Return what `Audit.to_dict` does."""
    return {
        "status": audit.status,
        "how": audit.how,
        "warnings": [*audit.warnings],
        "classes": [*audit.classes],
        "of_inputs": audit.domain.n_numbers,
        "of_rows": audit.rows,
        "dead": [*audit.dead],
        "open": [*audit.open],
        "protected": [_protected(one) for one in audit.protected.values()],
        "influence": [
            {
                "feature": one.feature,
                "status": one.status,
                "rows": one.rows,
                "of_rows": one.of_rows,
                "inputs": one.inputs,
                "of_inputs": one.of_inputs,
            }
            for one in audit.influence.values()
        ],
        "monotone": [
            _trend(trend) for by in audit.monotone.values() for trend in by.values()
        ],
        "shares": [
            {
                "feature": name,
                "value": list(g.value) if isinstance(g.value, tuple) else g.value,
                "text": g.text,
                "rows": g.rows,
                "answers": _counts(g.classes),
                "labels": None if g.labels is None else _counts(g.labels),
            }
            for name, groups in audit.shares.items()
            for g in groups
        ],
        "fragile": [
            {"place": one.place, "times": one.times, **one.explanation.to_dict()}
            for one in audit.fragile
        ],
    }


def _counts(found: Mapping[Value, int]) -> list[dict[str, Any]]:
    return [{"class": label, "rows": number} for label, number in found.items()]


def _protected(found: Protected) -> dict[str, Any]:
    verdict, rules = found.verdict, found.rules
    return {
        "feature": found.feature,
        "status": found.status,
        "verdict": None if verdict is None else verdict.to_dict(),
        "answers": [
            {"value": value, "answers": _counts(by_class)}
            for value, by_class in found.answers.items()
        ],
        "n_rules": None if rules is None else len(rules),
        "rules": []
        if rules is None
        else [
            {
                "way": rule.then,
                "if": {c.feature: [*c.values] for c in rule.conditions},
                "inputs": rule.inputs,
                "rows": rule.covered,
            }
            for rule in rules.rules
            if rule.covered
        ],
    }


def _trend(trend: Trend) -> dict[str, Any]:
    def told(verdict: Verdict | None) -> dict[str, Any] | None:
        return None if verdict is None else verdict.to_dict()

    return {
        "feature": trend.feature,
        "toward": trend.toward,
        "direction": trend.direction,
        "falls": trend.falls,
        "rises": trend.rises,
        "contexts": trend.contexts,
        "increasing": told(trend.increasing),
        "decreasing": told(trend.decreasing),
    }


def columns_of(audit: "Audit", part: str) -> dict[str, list[Any]]:
    """Return the columns of a part of `Audit.to_frame`."""
    return {"shares": _shares, "fragile": _fragile}.get(part, _told)(audit, part)


def _told(audit: "Audit", part: str) -> dict[str, list[Any]]:
    """Return columns of what `to_dict` has, without verdicts."""
    entries = dict_of(audit)[part]
    names = {
        "influence": ("feature", "status", "rows", "of_rows", "inputs", "of_inputs"),
        "monotone": ("feature", "toward", "direction", "falls", "rises", "contexts"),
    }
    return {name: [entry[name] for entry in entries] for name in names[part]}


def _shares(audit: "Audit", _part: str) -> dict[str, list[Any]]:
    both = [(name, group) for name, of in audit.shares.items() for group in of]
    found: dict[str, list[Any]] = {
        "feature": [name for name, _ in both],
        "value": [group.text for _, group in both],
        "rows": [group.rows for _, group in both],
    }
    for label in audit.classes:
        found[f"answered {label_text(label)}"] = [g.classes[label] for _, g in both]
    if any(group.labels is not None for _, group in both):
        for label in audit.classes:
            found[f"labelled {label_text(label)}"] = [
                None if g.labels is None else g.labels[label] for _, g in both
            ]
    return found


def _fragile(audit: "Audit", _part: str) -> dict[str, list[Any]]:
    names = audit.domain.names
    found: dict[str, list[Any]] = {
        name: [one.explanation.row[name] for one in audit.fragile] for name in names
    }
    columns: dict[str, list[Any]] = {
        "place": [one.place for one in audit.fragile],
        "times": [one.times for one in audit.fragile],
        "answer": [one.explanation.answer for one in audit.fragile],
        "margin": [one.explanation.margin for one in audit.fragile],
        "radius": [one.explanation.radius for one in audit.fragile],
        "turns with": [turned_by(one) for one in audit.fragile],
    }
    return found | {unused(name, names): column for name, column in columns.items()}


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Result):
    """What a model does, counted on rows and, where possible, on all inputs.

    Attributes
    ----------
    domain : Domain
    classes : tuple of class labels
    rows : int
        How many rows were given.
    how : {"table", "search"}
        Whether all inputs were looked at, or searched.
    influence : mapping from features to Influence
        What each feature alone can turn; the one that turns most rows comes first.
    protected : mapping from names to Protected
        What protected features do, in the order in which they were named.
    monotone : mapping from features to mappings from class labels to Trend
        Of each feature with an order which way the answer goes as it grows: toward the
        second of two classes, or toward each of more.
    shares : mapping from names to tuples of Group
        What becomes of each group of a protected feature.
    fragile : tuple of FragileRow
        The rows with the smallest margins.
    warnings : tuple of str
        What is not proved of how the model was read.
    """

    domain: Domain
    classes: tuple[Value, ...]
    rows: int
    how: Literal["table", "search"]
    influence: Mapping[str, Influence]
    protected: Mapping[str, Protected]
    monotone: Mapping[str, Mapping[Value, Trend]]
    shares: Mapping[str, tuple[Group, ...]]
    fragile: tuple[FragileRow, ...]
    warnings: tuple[str, ...] = ()

    @property
    def dead(self) -> tuple[str, ...]:
        """The features that are proved never to turn an answer."""
        return tuple(n for n, one in self.influence.items() if one.status == "dead")

    @property
    def open(self) -> tuple[str, ...]:
        """What is not known because the budget was spent, as sentences."""
        said = [
            f"whether {name} ever turns an answer"
            for name, one in self.influence.items()
            if one.status == "open"
        ]
        for name, by_class in self.monotone.items():
            if any(trend.direction == "open" for trend in by_class.values()):
                said.append(f"which way the answer goes along {name}")
        return tuple(said)

    @property
    def status(self) -> Literal["clear", "turns", "open"]:
        """Whether a protected feature turns an answer; clear: none does, proved."""
        found = {one.status for one in self.protected.values()}
        if "turns" in found:
            return "turns"
        return "open" if "open" in found else "clear"

    def document(self, top: int = 3) -> Document:
        """Return the page, with the `top` rules of each way to turn."""
        return document_of(self, top)

    def text(self, top: int = 3, *, width: int = 80) -> str:
        """Return the page.

        Parameters
        ----------
        top : int
            How many rules to show of each way in which a protected feature turns.
        width : int
            How wide lines are at most.
        """
        return text_of(self.document(top), width)

    def __repr__(self) -> str:
        return f"<Audit: {self.status}, {len(self.influence)} features>"

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values.

        Of rules those that hold a row of the data.
        """
        return dict_of(self)

    def to_frame(
        self,
        part: Literal["influence", "monotone", "shares", "fragile"] = "influence",
        backend: Backend = "pandas",
    ) -> Any:
        """Return a part as a data frame: a line for each feature, group or row.

        Parameters
        ----------
        part : {"influence", "monotone", "shares", "fragile"}
        backend : {"pandas", "polars", "pyarrow"}
            The library of the frame; it must be installed.
        """
        if part not in PARTS:
            raise OptionError(f"part: {part!r}, expected {', '.join(PARTS)}")
        return frame_of(lambda: columns_of(self, part), backend)
