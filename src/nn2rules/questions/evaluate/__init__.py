"""Evaluate a description: against the model, true labels, and the whole domain.

::

    rules, model, rows ──▶ evaluate          what is counted on rows
                      └──▶ domain_fidelity   counted, proved, or estimated on all inputs
                                             └──▶ result: `Evaluation`, shown by page

`predictions` asks the model; `ranking` has AUC and KS. Imports no other question.
"""

from nn2rules.questions.evaluate.evaluate import evaluate
from nn2rules.questions.evaluate.result import (
    ClassEvaluation,
    DomainFidelity,
    Evaluation,
    RowFigures,
    RuleListEvaluation,
    ScorecardEvaluation,
)

__all__ = [
    "ClassEvaluation",
    "DomainFidelity",
    "Evaluation",
    "RowFigures",
    "RuleListEvaluation",
    "ScorecardEvaluation",
    "evaluate",
]
