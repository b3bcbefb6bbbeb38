"""Claims about a model, which `nn2rules.verify` proves or refutes.

::

    implies({...}, class)         where conditions hold, the model predicts a class
    unreachable(class)            the model never predicts a class
    probability_between(lo, hi)   the probability of a class is between two numbers
    independent_of("sex")         changing a feature alone never flips the prediction
    monotonic("income")           as a feature grows, a class is never lost
    equivalent(rules)             the model predicts what rules do, on every input
    subsumes(rules)               the model predicts what rules do where they cover

Each can be restricted to some inputs with ``within``. `read_claim` reads a claim from
text, `read_claims` several from a file. `claim` has the claims as values, and `reading`
reads them.
"""

from nn2rules.questions.claims.claim import (
    CLAIMS,
    Claim,
    Equivalent,
    Implies,
    IndependentOf,
    Monotonic,
    ProbabilityBetween,
    Subsumes,
    Unreachable,
    claim_text,
    equivalent,
    implies,
    independent_of,
    monotonic,
    probability_between,
    subsumes,
    unreachable,
)
from nn2rules.questions.claims.reading import read_claim, read_claims

__all__ = [
    "CLAIMS",
    "Claim",
    "Equivalent",
    "Implies",
    "IndependentOf",
    "Monotonic",
    "ProbabilityBetween",
    "Subsumes",
    "Unreachable",
    "claim_text",
    "equivalent",
    "implies",
    "independent_of",
    "monotonic",
    "probability_between",
    "read_claim",
    "read_claims",
    "subsumes",
    "unreachable",
]
