"""Claims in words, which `read_claim` reads again."""

from nn2rules.language import conditions_for, count, label_text, premise, quoted
from nn2rules.questions.claims.claim import (
    Claim,
    Equivalent,
    Implies,
    IndependentOf,
    Monotone,
    ProbabilityBetween,
    Subsumes,
    Unreachable,
)
from nn2rules.space import Domain


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
