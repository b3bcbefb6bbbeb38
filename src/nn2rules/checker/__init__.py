"""AN INDEPENDENT CHECK: the same answers, worked out again by simple, separate code.

::

    compare   the rules against the network, input by input, and the report
    evaluate  the network, in float64 and in fractions
"""

from nn2rules.checker.compare import CheckReport, Counterexample, check

__all__ = ["CheckReport", "Counterexample", "check"]
