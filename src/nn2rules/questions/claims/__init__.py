"""Claims about a model, which `nn2rules.verify` proves or refutes.

::

    implies({...}, class)         wherever conditions hold, the model answers a class
    unreachable(class)            it never answers a class
    probability_between(lo, hi)   the probability of a class stays between two numbers
    independent_of("sex")         changing a feature alone never changes the answer
    monotone("income")            the answer only goes one way as a feature grows
    equivalent(rules)             it answers as rules do
    subsumes(rules)               it answers as rules do wherever one of them decides

Each can be said to hold only ``within`` some inputs. `read_claim` reads them from text,
`read_book` from a file.
"""

from nn2rules.questions.claims.claim import (
    CLAIMS,
    Claim,
    Equivalent,
    Implies,
    IndependentOf,
    Monotone,
    ProbabilityBetween,
    Subsumes,
    Unreachable,
    claim_text,
    equivalent,
    implies,
    independent_of,
    monotone,
    probability_between,
    subsumes,
    unreachable,
)
from nn2rules.questions.claims.reading import read_book, read_claim

__all__ = [
    "CLAIMS",
    "Claim",
    "Equivalent",
    "Implies",
    "IndependentOf",
    "Monotone",
    "ProbabilityBetween",
    "Subsumes",
    "Unreachable",
    "claim_text",
    "equivalent",
    "implies",
    "independent_of",
    "monotone",
    "probability_between",
    "read_book",
    "read_claim",
    "subsumes",
    "unreachable",
]
