"""Claims about a model, as values and in words.

Names and values in a claim are checked once there is a model.
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
    """Where the conditions hold, the model predicts `then`."""

    conditions: Said
    then: Value


@dataclass(frozen=True)
class Unreachable:
    """The model never predicts `label`."""

    label: Value
    within: Said = None


@dataclass(frozen=True)
class ProbabilityBetween:
    """The probability of a class is never below `low` or above `high`."""

    low: float
    high: float
    of: Value = None
    within: Said = None


@dataclass(frozen=True)
class IndependentOf:
    """Changing only these features never flips the prediction."""

    features: tuple[str, ...]
    within: Said = None


@dataclass(frozen=True)
class Monotonic:
    """Increasing only this feature never loses the prediction `toward`."""

    feature: str
    increasing: bool = True
    toward: Value = None
    within: Said = None


@dataclass(frozen=True)
class Equivalent:
    """The model predicts what rules do, including their default."""

    rules: RuleList
    within: Said = None


@dataclass(frozen=True)
class Subsumes:
    """The model predicts what rules do wherever one of them applies."""

    rules: RuleList
    within: Said = None


Claim: TypeAlias = (
    Implies
    | Unreachable
    | ProbabilityBetween
    | IndependentOf
    | Monotonic
    | Equivalent
    | Subsumes
)

CLAIMS = (
    Implies,
    Unreachable,
    ProbabilityBetween,
    IndependentOf,
    Monotonic,
    Equivalent,
    Subsumes,
)


def implies(conditions: Said, then: Value) -> Implies:
    """Claim that the model predicts `then` where conditions hold.

    Parameters
    ----------
    conditions : dict from features to values, text, or sequence of Condition
        A value or a list of values; for a range of numbers also a tuple (low, high).
    then : class label
    """
    return Implies(conditions, then)


def unreachable(label: Value, *, within: Said = None) -> Unreachable:
    """Claim that the model never predicts a class: it is not reachable."""
    return Unreachable(label, within)


def probability_between(
    low: float, high: float, *, of: Value = None, within: Said = None
) -> ProbabilityBetween:
    """Claim that the probability of a class is between two numbers.

    By default of the second of two classes.
    """
    for number in (low, high):
        if not is_number(number) or not 0 <= number <= 1:
            raise OptionError(f"a probability is a number from 0 to 1, not {number!r}")
    if low > high:
        raise OptionError(f"low={low} is above high={high}")
    return ProbabilityBetween(float(low), float(high), of, within)


def independent_of(
    features: str | Sequence[str], *, within: Said = None
) -> IndependentOf:
    """Claim that changing a feature, or several together, never flips a prediction."""
    names = (features,) if isinstance(features, str) else tuple(features)
    if not names or not all(isinstance(name, str) for name in names):
        raise OptionError(f"independent_of: {features!r}, expected names of features")
    if len(set(names)) < len(names):
        raise OptionError(f"independent_of: {features!r} names a feature twice")
    return IndependentOf(names, within)


def monotonic(
    feature: str, *, increasing: bool = True, toward: Value = None, within: Said = None
) -> Monotonic:
    """Claim monotonicity: a prediction is never lost as a feature grows.

    Increasing: where the prediction is `toward`, by default the second of two classes,
    raising only this feature never flips it. Decreasing: lowering it does not.
    """
    return Monotonic(feature, bool(increasing), toward, within)


def equivalent(rules: RuleList, *, within: Said = None) -> Equivalent:
    """Claim that the model predicts what rules do, on every input."""
    return Equivalent(_checked(rules), within)


def subsumes(rules: RuleList, *, within: Said = None) -> Subsumes:
    """Claim that the model predicts what rules do wherever one of them applies.

    Their default is not part of the claim. In a list, the first rule that covers an
    input applies; in a set, every one does.
    """
    return Subsumes(_checked(rules), within)


def _checked(rules: object) -> RuleList:
    if not isinstance(rules, RuleList):
        raise OptionError(f"expected a RuleList, not a {type(rules).__name__}")
    return rules


def claim_text(claim: Claim, domain: Domain) -> str:
    """Return a claim as text, for a domain with its features.

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
        conditions = conditions_for(domain, claim.conditions, "implies")
        return f"if {premise(domain, conditions)} then {label_text(claim.then)}"
    conditions = conditions_for(domain, claim.within, "within")
    where = f" if {premise(domain, conditions)}" if conditions else ""
    return _text_without_within(claim) + where


def _text_without_within(claim: Claim) -> str:
    if isinstance(claim, Unreachable):
        return f"never {label_text(claim.label)}"
    if isinstance(claim, ProbabilityBetween):
        of = "" if claim.of is None else f" of {label_text(claim.of)}"
        return f"probability{of} between {claim.low!r} and {claim.high!r}"
    if isinstance(claim, IndependentOf):
        return f"independent of {', '.join(map(quoted, claim.features))}"
    if isinstance(claim, Monotonic):
        way = "increasing" if claim.increasing else "decreasing"
        toward = "" if claim.toward is None else f" toward {label_text(claim.toward)}"
        return f"{way} in {quoted(claim.feature)}{toward}"
    assert isinstance(claim, Equivalent | Subsumes), "there is no other claim"
    kind = "equivalent to" if isinstance(claim, Equivalent) else "subsumes"
    return f"{kind} {count(len(claim.rules), 'rule')}"
