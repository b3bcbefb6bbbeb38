"""What a model does, on one page: what matters, what turns whom, what is not known.

::

    model, rows ──▶ turning   which features turn answers, the protected ones in full
               ├──▶ trends    which way the answer goes along ordered features
               ├──▶ groups    what becomes of each group of rows
               └──▶ fragile   the rows nearest to another answer
                              └──▶ Audit
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
