"""Claims about a model, proved or refuted: a validator's questions, one by one.

::

    claim, model ──▶ region ──▶ tables    every input, where they can be listed
                           └──▶ search    a proof or a counterexample elsewhere
                                          └──▶ Verdict
"""

from nn2rules.questions.verify.asking import Asker, Engine
from nn2rules.questions.verify.entry import verify
from nn2rules.questions.verify.tables import Tables
from nn2rules.questions.verify.verdict import Verdict
from nn2rules.questions.verify.wording import summary

__all__ = [
    "Asker",
    "Engine",
    "Tables",
    "Verdict",
    "summary",
    "verify",
]
