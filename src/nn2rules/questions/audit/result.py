"""The result of an audit: values, JSON and data frames."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from nn2rules.errors import OptionError
from nn2rules.language import label_text, unused
from nn2rules.output import Backend, Document, Result, frame_of, text_of
from nn2rules.questions.audit.page import document_of, flip_text
from nn2rules.questions.explain import Explanation
from nn2rules.questions.verify import Verdict
from nn2rules.rules import RuleList
from nn2rules.space import Domain, Value

Effect: TypeAlias = Literal["independent", "flips", "undecided"]
Direction: TypeAlias = Literal[
    "increasing", "decreasing", "constant", "neither", "undecided"
]


@dataclass(frozen=True, slots=True)
class Influence:
    """How often changing only this feature flips the prediction.

    Attributes
    ----------
    feature : str
    status : {"independent", "flips", "undecided"}
        Independent: it is proved that changing only this feature never flips a
        prediction. Undecided: no such input was found, but there may be one.
    inputs, of_inputs : int or None
        For how many inputs it does, and how many there are; None if not counted, such
        as by a search.
    rows, of_rows : int or None
        For how many rows it does, and how many were counted: all, or a sample if that
        would take long. None if the time ended first.
    """

    feature: str
    status: Effect
    inputs: int | None = None
    of_inputs: int | None = None
    rows: int | None = None
    of_rows: int | None = None


@dataclass(frozen=True)
class Protected:
    """The effect of a protected feature on predictions.

    Attributes
    ----------
    feature : str
    status : {"flips", "independent", "unseen", "undecided"}
        Independent: it is proved that changing only this feature never flips a
        prediction. Unseen: it is a column of the data, but not a feature of the model.
    verdict : Verdict or None
        The verdict of `verify` that the prediction is independent of it.
    predictions : mapping from values to mappings from classes to int
        How many of the rows that it flips would get each class if all of them had a
        value. Empty if it flips no row, and for a range of numbers.
    """

    feature: str
    status: Literal["flips", "independent", "unseen", "undecided"]
    verdict: Verdict | None = None
    predictions: Mapping[Value, Mapping[Value, int]] = field(default_factory=dict)

    @property
    def inputs(self) -> int | None:
        """For how many inputs it alone flips the prediction, if counted."""
        return None if self.verdict is None else self.verdict.count

    @property
    def of_inputs(self) -> int | None:
        """How many inputs there are, if counted."""
        return None if self.verdict is None else self.verdict.total

    @property
    def rows(self) -> int | None:
        """For how many rows it alone flips the prediction."""
        return None if self.verdict is None else self.verdict.rows

    @property
    def of_rows(self) -> int | None:
        """How many rows were counted."""
        return None if self.verdict is None else self.verdict.total_rows

    @property
    def ways(self) -> Mapping[str, int]:
        """How many inputs it flips in each way."""
        return {} if self.verdict is None else self.verdict.ways

    @property
    def row_ways(self) -> Mapping[str, int]:
        """How many rows it flips in each way."""
        return {} if self.verdict is None else self.verdict.row_ways

    @property
    def rules(self) -> RuleList | None:
        """Rules that cover exactly the inputs that it flips; made on first use.

        None if it flips none, and without a table.
        """
        if self.status != "flips" or self.verdict is None:
            return None
        return self.verdict.rules


@dataclass(frozen=True, slots=True)
class Trend:
    """The monotonicity of the model in an ordered feature.

    Attributes
    ----------
    feature : str
    toward : class label
        The class that is gained or lost as the feature grows.
    direction : {"increasing", "decreasing", "constant", "neither", "undecided"}
        Increasing: growing never loses the class. Decreasing: growing never gains it.
        Constant: both. Neither: it does either somewhere. All of these are proved.
    increasing, decreasing : Verdict or None
        The verdicts of `verify` on both claims; None if the model is independent of it.
    """

    feature: str
    toward: Value
    direction: Direction
    increasing: Verdict | None = None
    decreasing: Verdict | None = None

    @property
    def falls(self) -> int | None:
        """For how many combinations of the others the class is lost, if counted."""
        return _contexts(self.increasing)

    @property
    def rises(self) -> int | None:
        """For how many combinations of the others the class is gained, if counted."""
        return _contexts(self.decreasing)

    @property
    def contexts(self) -> int | None:
        """How many combinations of the other features there are."""
        return None if self.increasing is None else self.increasing.total_contexts


def _contexts(verdict: Verdict | None) -> int | None:
    """Return in how many contexts a claim is violated."""
    if verdict is None:
        return 0
    return 0 if verdict.status == "proved" else verdict.contexts


@dataclass(frozen=True, slots=True)
class Group:
    """The rows that share a value of a protected feature, and their outcomes.

    Attributes
    ----------
    value : value, or (low, high) of numbers, both included
    text : str
        The value as it is printed.
    rows : int
    classes : mapping from class labels to int
        The number of rows with each predicted class.
    labels : mapping from class labels to int, or None
        The number of rows with each true class, if there are labels.
    """

    value: Value | tuple[float, float]
    text: str
    rows: int
    classes: Mapping[Value, int]
    labels: Mapping[Value, int] | None = None


@dataclass(frozen=True, slots=True)
class FragileRow:
    """A row that is close to another prediction.

    Attributes
    ----------
    number : int
        The number of the first such row in the data, from 0.
    count : int
        The number of equal rows.
    explanation : Explanation
        Its prediction, its margin and its counterfactuals, from `explain`.
    """

    number: int
    count: int
    explanation: Explanation


PARTS = ("influence", "monotonicity", "groups", "fragile")
"""The parts that `Audit.to_frame` returns."""


def dict_of(audit: "Audit") -> dict[str, Any]:
    """Return the result of `Audit.to_dict`."""
    return {
        "status": audit.status,
        "how": audit.how,
        "warnings": [*audit.warnings],
        "classes": [*audit.classes],
        "of_inputs": audit.domain.n_numbers,
        "of_rows": audit.rows,
        "independent_of": [*audit.independent_of],
        "undecided": [*audit.undecided],
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
        "monotonicity": [
            _trend(trend) for by in audit.monotonicity.values() for trend in by.values()
        ],
        "groups": [
            {
                "feature": name,
                "value": list(g.value) if isinstance(g.value, tuple) else g.value,
                "text": g.text,
                "rows": g.rows,
                "predictions": _counts(g.classes),
                "labels": None if g.labels is None else _counts(g.labels),
            }
            for name, groups in audit.groups.items()
            for g in groups
        ],
        "fragile": [
            {"number": one.number, "count": one.count, **one.explanation.to_dict()}
            for one in audit.fragile
        ],
    }


def _counts(counts: Mapping[Value, int]) -> list[dict[str, Any]]:
    return [{"class": label, "rows": number} for label, number in counts.items()]


def _protected(effect: Protected) -> dict[str, Any]:
    verdict, rules = effect.verdict, effect.rules
    return {
        "feature": effect.feature,
        "status": effect.status,
        "verdict": None if verdict is None else verdict.to_dict(),
        "predictions": [
            {"value": value, "predictions": _counts(by_class)}
            for value, by_class in effect.predictions.items()
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
    def verdict_dict(verdict: Verdict | None) -> dict[str, Any] | None:
        return None if verdict is None else verdict.to_dict()

    return {
        "feature": trend.feature,
        "toward": trend.toward,
        "direction": trend.direction,
        "falls": trend.falls,
        "rises": trend.rises,
        "contexts": trend.contexts,
        "increasing": verdict_dict(trend.increasing),
        "decreasing": verdict_dict(trend.decreasing),
    }


def columns_of(audit: "Audit", part: str) -> dict[str, list[Any]]:
    """Return the columns of a part of `Audit.to_frame`."""
    return {"groups": _shares, "fragile": _fragile}.get(part, _columns_of_dict)(
        audit, part
    )


def _columns_of_dict(audit: "Audit", part: str) -> dict[str, list[Any]]:
    """Return the columns of a part from `to_dict`, without verdicts."""
    entries = dict_of(audit)[part]
    names = {
        "influence": ("feature", "status", "rows", "of_rows", "inputs", "of_inputs"),
        "monotonicity": (
            "feature",
            "toward",
            "direction",
            "falls",
            "rises",
            "contexts",
        ),
    }
    return {name: [entry[name] for entry in entries] for name in names[part]}


def _shares(audit: "Audit", _part: str) -> dict[str, list[Any]]:
    rows = [(name, group) for name, of in audit.groups.items() for group in of]
    columns: dict[str, list[Any]] = {
        "feature": [name for name, _ in rows],
        "value": [group.text for _, group in rows],
        "rows": [group.rows for _, group in rows],
    }
    for label in audit.classes:
        columns[f"predicted {label_text(label)}"] = [g.classes[label] for _, g in rows]
    if any(group.labels is not None for _, group in rows):
        for label in audit.classes:
            columns[f"labelled {label_text(label)}"] = [
                None if g.labels is None else g.labels[label] for _, g in rows
            ]
    return columns


def _fragile(audit: "Audit", _part: str) -> dict[str, list[Any]]:
    names = audit.domain.names
    cells: dict[str, list[Any]] = {
        name: [one.explanation.row[name] for one in audit.fragile] for name in names
    }
    columns: dict[str, list[Any]] = {
        "number": [one.number for one in audit.fragile],
        "count": [one.count for one in audit.fragile],
        "prediction": [one.explanation.prediction for one in audit.fragile],
        "margin": [one.explanation.margin for one in audit.fragile],
        "radius": [one.explanation.radius for one in audit.fragile],
        "counterfactual": [flip_text(one) for one in audit.fragile],
    }
    return cells | {unused(name, names): column for name, column in columns.items()}


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Result):
    """The audit of a model, counted on rows and, if possible, on all inputs.

    Attributes
    ----------
    domain : Domain
    classes : tuple of class labels
    rows : int
        The number of rows.
    how : {"table", "search"}
        Whether every input was evaluated, or inputs were searched.
    influence : mapping from features to Influence
        The influence of each feature; the one that flips most rows comes first.
    protected : mapping from names to Protected
        The effects of protected features, in the order given.
    monotonicity : mapping from features to mappings from class labels to Trend
        The monotonicity in each ordered feature: for the second of two classes, or for
        each of more.
    groups : mapping from names to tuples of Group
        The outcomes of each group of a protected feature.
    fragile : tuple of FragileRow
        The rows with the smallest margins.
    warnings : tuple of str
        What is not proved about how the model was read.
    """

    domain: Domain
    classes: tuple[Value, ...]
    rows: int
    how: Literal["table", "search"]
    influence: Mapping[str, Influence]
    protected: Mapping[str, Protected]
    monotonicity: Mapping[str, Mapping[Value, Trend]]
    groups: Mapping[str, tuple[Group, ...]]
    fragile: tuple[FragileRow, ...]
    warnings: tuple[str, ...] = ()

    @property
    def independent_of(self) -> tuple[str, ...]:
        """The features that are proved never to turn an answer."""
        return tuple(
            n for n, one in self.influence.items() if one.status == "independent"
        )

    @property
    def undecided(self) -> tuple[str, ...]:
        """What is not known because the budget was spent, as sentences."""
        sentences = [
            f"whether {name} ever flips a prediction"
            for name, one in self.influence.items()
            if one.status == "undecided"
        ]
        for name, by_class in self.monotonicity.items():
            if any(trend.direction == "undecided" for trend in by_class.values()):
                sentences.append(f"whether the prediction is monotonic in {name}")
        return tuple(sentences)

    @property
    def status(self) -> Literal["clear", "flips", "undecided"]:
        """Whether a protected feature flips a prediction; clear: none does (proved)."""
        statuses = {one.status for one in self.protected.values()}
        if "flips" in statuses:
            return "flips"
        return "undecided" if "undecided" in statuses else "clear"

    def document(self, top: int = 3) -> Document:
        """Return the page, with the `top` rules of each way to flip."""
        return document_of(self, top)

    def text(self, top: int = 3, *, width: int = 80) -> str:
        """Return the page.

        Parameters
        ----------
        top : int
            The number of rules to show for each way in which a protected feature flips.
        width : int
            The maximum width of lines.
        """
        return text_of(self.document(top), width)

    def __repr__(self) -> str:
        return f"<Audit: {self.status}, {len(self.influence)} features>"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, with the rules that cover a row."""
        return dict_of(self)

    def to_frame(
        self,
        part: Literal["influence", "monotonicity", "groups", "fragile"] = "influence",
        backend: Backend = "pandas",
    ) -> Any:
        """Return a part as a data frame, with a row for each feature, group or row.

        Parameters
        ----------
        part : {"influence", "monotonicity", "groups", "fragile"}
        backend : {"pandas", "polars", "pyarrow"}
            The library of the frame; it must be installed.
        """
        if part not in PARTS:
            raise OptionError(f"part: {part!r}, expected {', '.join(PARTS)}")
        return frame_of(lambda: columns_of(self, part), backend)
