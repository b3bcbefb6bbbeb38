"""Claims about a model, proved or refuted: a validator's questions, one by one.

::

    claim, model ──▶ region ──▶ tables    every input, where they can be listed
                           └──▶ search    a proof or a counterexample elsewhere
                                          └──▶ Verdict
"""

from nn2rules.verifying.entry import verify
from nn2rules.verifying.verdict import Verdict

__all__ = ["Verdict", "verify"]
