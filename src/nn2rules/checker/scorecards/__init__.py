"""Scorecards, checked against the network by code that has no part in making them.

::

    check_scorecard   the steps of a check; read this first
    read_card         the numbers of a scorecard, in the order of the network
    sums              sums of points in whole numbers, and how small they can be
    multipliers       proofs that a sum is at least 0 where others are
    linear_parts      parts of the domain on which networks are affine
    simplex           suggests multipliers, which must then prove something
    decisions         which class wins
    equality          the scorecard predicts as the network does
    region_claims     regions are right, and hold every input
    printed_claims    printed points prove what the page says
    page_reader       a printed page, read for single inputs
    trial_inputs      inputs that find mistakes
    card_report       what came of it
"""

from nn2rules.checker.scorecards.card_report import (
    CardClaim,
    CardDifference,
    ScorecardReport,
)
from nn2rules.checker.scorecards.check_scorecard import check_scorecard

__all__ = ["CardClaim", "CardDifference", "ScorecardReport", "check_scorecard"]
