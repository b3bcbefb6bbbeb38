"""One rule, and what is known of it."""

from dataclasses import dataclass, field, fields

from nn2rules.space import Condition, Value


@dataclass(frozen=True, slots=True)
class Rule:
    """Conditions that must all hold, and the class that follows.

    Parameters
    ----------
    conditions : tuple of Condition
        In the order of the features; a feature without one is unrestricted.
    then : str, int, float or bool
        The class label.
    support : int, optional
        The number of rows of data that the rule decides.
    inputs : int, optional
        The number of inputs of the domain that the rule decides.
    probability : (float, float), optional
        A range that holds the network's probability of the rule's class on all of them.
    accuracy : float, optional
        The share of the rows it decides whose label is its class.
    covered : int, optional
        Of a rule of a set, the number of rows of data for which its conditions hold,
        whatever other rules say.
    covered_agree : int, optional
        How many of those are labelled with its class.
    unless : tuple of int, optional
        What it leans on: the rule is true unless one of these rules above it holds.
        They are numbered from 1, as in the text. Empty if it is true on its own.
    name : str
        What it is called in the rules it is taken from; see `RuleList.names`.
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
    """What is known of a rule besides its conditions and class; see `Rule`."""

    support: int | None = None
    inputs: int | None = None
    probability: tuple[float, float] | None = None
    accuracy: float | None = None
    covered: int | None = None
    covered_agree: int | None = None
    unless: tuple[int, ...] | None = None


FACTS = tuple(each.name for each in fields(Facts))
"""The names of what can be known of a rule."""
