"""AN INDEPENDENT CHECK: the same answers, worked out again by simple, separate code.

::

    compare   the rules against the network, input by input
    draw      inputs to compare, where not all can be
    read      the rules, and what cannot occur, in the network's codes
    evaluate  the network, in float64 and in fractions
    proofs    a file of proofs, rule by rule
    search    rules proved or refuted, where inputs are too many to try
    claims    what each rule claims, as boxes
    parts     these boxes, and how they are cut
    steps     the boxes that a proof cuts, each of them settled
    bounds    the lead of a class over boxes, beyond all rounding
    lines     two lines around an activation
    report    what came of it
"""

from nn2rules.checker.compare import check
from nn2rules.checker.report import CheckReport, Counterexample

__all__ = ["CheckReport", "Counterexample", "check"]
