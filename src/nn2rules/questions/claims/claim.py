"""Claims about a model, as values and in words.

What they say is checked when a model is there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from nn2rules.errors import OptionError
from nn2rules.language import Said, conditions_for, count, label_text, premise, quoted
from nn2rules.rules import RuleList
from nn2rules.space import Domain, Value, is_number


@dataclass(frozen=True)
class Implies:
    """Wherever the conditions hold, the model answers `then`."""

    conditions: Said
    then: Value


@dataclass(frozen=True)
class Unreachable:
    """The model never answers `label`."""

    label: Value
    within: Said = None


@dataclass(frozen=True)
class ProbabilityBetween:
    """The model's probability of a class is nowhere below `low` or above `high`."""

    low: float
    high: float
    of: Value = None
    within: Said = None


@dataclass(frozen=True)
class IndependentOf:
    """Changing these features alone never changes the answer."""

    features: tuple[str, ...]
    within: Said = None


@dataclass(frozen=True)
class Monotone:
    """Increasing a feature alone never loses the answer `toward`."""

    feature: str
    increasing: bool = True
    toward: Value = None
    within: Said = None


@dataclass(frozen=True)
class Equivalent:
    """The model answers as rules do, their default included."""

    rules: RuleList
    within: Said = None


@dataclass(frozen=True)
class Subsumes:
    """The model answers as rules do wherever one of them decides."""

    rules: RuleList
    within: Said = None


Claim: TypeAlias = (
    Implies
    | Unreachable
    | ProbabilityBetween
    | IndependentOf
    | Monotone
    | Equivalent
    | Subsumes
)

CLAIMS = (
    Implies,
    Unreachable,
    ProbabilityBetween,
    IndependentOf,
    Monotone,
    Equivalent,
    Subsumes,
)


def implies(conditions: Said, then: Value) -> Implies:
    """Claim that the model answers `then` wherever conditions hold.

    Parameters
    ----------
    conditions : dict from features to values, text, or sequence of Condition
        A value, or a list of them; of a range of numbers also a tuple (low, high).
    then : class label
    """
    return Implies(conditions, then)


def unreachable(label: Value, *, within: Said = None) -> Unreachable:
    """Claim that the model never answers a class, where conditions hold."""
    return Unreachable(label, within)


def probability_between(
    low: float, high: float, *, of: Value = None, within: Said = None
) -> ProbabilityBetween:
    """Claim that the probability of a class stays between two numbers.

    Of the second of two classes, unless another is named.
    """
    for number in (low, high):
        if not is_number(number) or not 0 <= number <= 1:
            raise OptionError(f"a probability is a number from 0 to 1, not {number!r}")
    if low > high:
        raise OptionError(f"no probability is between {low} and {high}")
    return ProbabilityBetween(float(low), float(high), of, within)


def independent_of(
    features: str | Sequence[str], *, within: Said = None
) -> IndependentOf:
    """Claim that changing a feature, or some together, never changes the answer."""
    names = (features,) if isinstance(features, str) else tuple(features)
    if not names or not all(isinstance(name, str) for name in names):
        raise OptionError(f"independent_of: {features!r}, expected names of features")
    if len(set(names)) < len(names):
        raise OptionError(f"independent_of: {features!r} names a feature twice")
    return IndependentOf(names, within)


def monotone(
    feature: str, *, increasing: bool = True, toward: Value = None, within: Said = None
) -> Monotone:
    """Claim that the answer only goes one way as a feature grows.

    Increasing: once the answer is `toward`, by default the second of two classes,
    raising the feature alone never turns it to another. Decreasing: lowering it does
    not.
    """
    return Monotone(feature, bool(increasing), toward, within)


def equivalent(rules: RuleList, *, within: Said = None) -> Equivalent:
    """Claim that the model answers as rules do, on every input."""
    return Equivalent(_checked(rules), within)


def subsumes(rules: RuleList, *, within: Said = None) -> Subsumes:
    """Claim that the model answers as rules do wherever one of them decides.

    Their default is no part of the claim. The rules of a list decide from the top,
    those of a set each on its own.
    """
    return Subsumes(_checked(rules), within)


def _checked(rules: object) -> RuleList:
    if not isinstance(rules, RuleList):
        raise OptionError(f"expected a RuleList, not a {type(rules).__name__}")
    return rules


def claim_text(claim: Claim, domain: Domain) -> str:
    """Return a claim as text, over a domain that it fits.

    Examples
    --------
    >>> from nn2rules import Feature, claims
    >>> domain = Domain((Feature("color", ("red", "yellow")),))
    >>> claim_text(claims.implies({"color": "red"}, "ripe"), domain)
    'if color = red then ripe'
    >>> claim_text(claims.unreachable("ripe", within={"color": "red"}), domain)
    'never ripe if color = red'
    """
    if isinstance(claim, Implies):
        found = conditions_for(domain, claim.conditions, "implies")
        return f"if {premise(domain, found)} then {label_text(claim.then)}"
    found = conditions_for(domain, claim.within, "within")
    where = f" if {premise(domain, found)}" if found else ""
    return _said(claim) + where


def _said(claim: Claim) -> str:
    if isinstance(claim, Unreachable):
        return f"never {label_text(claim.label)}"
    if isinstance(claim, ProbabilityBetween):
        of = "" if claim.of is None else f" of {label_text(claim.of)}"
        return f"probability{of} between {claim.low!r} and {claim.high!r}"
    if isinstance(claim, IndependentOf):
        return f"independent of {', '.join(map(quoted, claim.features))}"
    if isinstance(claim, Monotone):
        way = "increasing" if claim.increasing else "decreasing"
        toward = "" if claim.toward is None else f" toward {label_text(claim.toward)}"
        return f"{way} in {quoted(claim.feature)}{toward}"
    assert isinstance(claim, Equivalent | Subsumes), "there is no other claim"
    kind = "equivalent to" if isinstance(claim, Equivalent) else "subsumes"
    return f"{kind} {count(len(claim.rules), 'rule')}"
