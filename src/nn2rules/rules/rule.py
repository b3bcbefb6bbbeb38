"""One rule, and what is known about it."""

from dataclasses import dataclass, field, fields

from nn2rules.space import Condition, Value


@dataclass(frozen=True, slots=True)
class Rule:
    """Conditions, and the class of inputs for which all of them are true.

    Parameters
    ----------
    conditions : tuple of Condition
        In the order of the features; a feature without one is unrestricted.
    then : str, int, float or bool
        The class label.
    support : int, optional
        The number of rows of data that the rule determines.
    inputs : int, optional
        The number of inputs of the domain that the rule determines.
    probability : (float, float), optional
        A range that contains the network's probability of the rule's class on all of
        them.
    accuracy : float, optional
        The share of the rows it determines whose label is its class.
    covered : int, optional
        For a rule of a set, the number of rows of data that it covers, regardless of
        other rules.
    covered_agree : int, optional
        How many of those have its class as label.
    unless : tuple of int, optional
        The rule holds unless one of these rules above it covers the input. They are
        numbered from 1, as in the text. Empty if the rule holds on its own.
    name : str
        Its name in the rules that it is taken from; see `RuleList.names`.
    """

    conditions: tuple[Condition, ...]
    then: Value
    support: int | None = None
    inputs: int | None = None
    probability: tuple[float, float] | None = None
    accuracy: float | None = None
    covered: int | None = None
    covered_agree: int | None = None
    unless: tuple[int, ...] | None = None
    name: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known about a rule besides its conditions and class; see `Rule`."""

    support: int | None = None
    inputs: int | None = None
    probability: tuple[float, float] | None = None
    accuracy: float | None = None
    covered: int | None = None
    covered_agree: int | None = None
    unless: tuple[int, ...] | None = None


FACTS = tuple(each.name for each in fields(Facts))
"""The names of the facts about a rule."""
