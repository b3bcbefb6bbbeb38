"""Why a row gets its class, and what would turn that: `explain`.

One question is put to a table or to a search, whether a box around the row holds an
input of another class; reasons and changes are made of the answers::

    asking       the row, and questions about what is around it
    reasons      features that force the class; the smallest by hitting sets
    widening     the same as ranges and sets of values
    ladders      what changes cost
    changes      the cheapest, all of them; searching and few look for them
    nearest      numbers of ranges, moved no further than they must be
    constraints  what may change, and what cannot occur
    codes        the user's texts
    explanation  the result; wording has its words
"""

from nn2rules.questions.explain.case import margins
from nn2rules.questions.explain.explain import explain
from nn2rules.questions.explain.page import change_text
from nn2rules.questions.explain.result import (
    Explanation,
    Explanations,
    HeldRule,
    Proved,
)

__all__ = [
    "Explanation",
    "Explanations",
    "HeldRule",
    "Proved",
    "change_text",
    "explain",
    "margins",
]
