"""Audit a model on one page: what matters, what protected features do, what is unknown.

::

    model, rows ──▶ feature_effects   which features change the prediction, and how
               └──▶ rows              outcomes by group, and the most fragile rows
                                      └──▶ result: `Audit`, shown by page

`audit` asks all questions in one budget: `verify` and `explain`, which know nothing of
audits.
"""

from nn2rules.questions.audit.audit import SECONDS, audit, protected_names
from nn2rules.questions.audit.page import INFLUENCE
from nn2rules.questions.audit.result import Audit, Influence

__all__ = [
    "INFLUENCE",
    "SECONDS",
    "Audit",
    "Influence",
    "audit",
    "protected_names",
]
