"""Explain a prediction: why a row gets its class, and what would change that.

One question is put to a judge (`engine.judges`): does a box around the row hold an
input of another class? Reasons and counterfactuals follow from the answers::

    explain ──▶ options ──▶ row_explainer ──▶ reasons           sufficient conditions
                                         └──▶ counterfactuals   the cheapest changes

`case` is a row with the boxes around it, `change_costs` what it may change to and at
what cost, `hitting_sets` and `small_changes` look for the smallest sets of features.
`points` has what features cost in points of a scorecard, `reason_codes` the user's
texts for adverse action notices. `result` has `Explanation`, shown by `page`. Imports
no other question.
"""

from nn2rules.questions.explain.case import margins
from nn2rules.questions.explain.explain import explain
from nn2rules.questions.explain.page import change_text
from nn2rules.questions.explain.result import (
    CoveringRule,
    Explanation,
    Explanations,
    PointsLost,
    Proved,
)

__all__ = [
    "CoveringRule",
    "Explanation",
    "Explanations",
    "PointsLost",
    "Proved",
    "change_text",
    "explain",
    "margins",
]
