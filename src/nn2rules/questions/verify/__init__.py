"""Verify claims about a model: each is proved, refuted or undecided.

::

    verify ──▶ verifier ──▶ single_inputs or pairs   what the claim asks
                      ├──▶ by_table    every input, where they can be listed
                      └──▶ by_search   a proof or a counterexample elsewhere
                                       └──▶ result: `Verdict`, shown by page

Imports `claims`, and no other question.
"""

from nn2rules.questions.verify.by_table import TableMaker
from nn2rules.questions.verify.page import summary
from nn2rules.questions.verify.result import Verdict
from nn2rules.questions.verify.verifier import Engine, Verifier
from nn2rules.questions.verify.verify import verify

__all__ = [
    "Engine",
    "TableMaker",
    "Verdict",
    "Verifier",
    "summary",
    "verify",
]
