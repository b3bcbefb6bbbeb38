"""The independent checker: it predicts again, with separate and simple code.

::

    compare      `check`; compares rules with the network, input by input
    pair         applies the rules to some inputs
    draw         draws inputs where there are too many to compare them all
    read         writes rules and impossible inputs in the network's codes
    run_network  evaluates the network, in float64 and in fractions
    curves       evaluates ranges that the network reads along a curve
    proofs       follows a file of proofs, rule by rule
    search       proves or refutes rules where inputs are too many to try
    claims       states what each rule claims, as boxes
    parts        boxes of the domain, and how they are split
    bounds       bounds the lead of a class over boxes, with outward rounding
    report       the result
    scorecards   checks scorecards in place of rules

Imports `engine`, `files`, `network`, `output`, `rules`, `scorecards` and `space`: only
values, files, and what distributes work; `tests/checker/test_check.py` has each name.
"""

from nn2rules.checker.compare import check
from nn2rules.checker.report import CheckReport, Counterexample

__all__ = ["CheckReport", "Counterexample", "check"]
