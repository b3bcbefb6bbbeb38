"""What an audit finds, part by part."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from nn2rules.questions.explain import Explanation
from nn2rules.questions.verify import Verdict
from nn2rules.rules import RuleList
from nn2rules.space import Value

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
