"""Claims about a model, proved or refuted: a validator's questions, one by one.

::

    claim, model ──▶ region ──▶ tables    every input, where they can be listed
                           └──▶ search    a proof or a counterexample elsewhere
                                          └──▶ Verdict
"""

from nn2rules.questions.verify.asker import Asker, Engine
from nn2rules.questions.verify.by_table import Tables
from nn2rules.questions.verify.page import summary
from nn2rules.questions.verify.result import Verdict
from nn2rules.questions.verify.verify import verify

__all__ = [
    "Asker",
    "Engine",
    "Tables",
    "Verdict",
    "summary",
    "verify",
]
