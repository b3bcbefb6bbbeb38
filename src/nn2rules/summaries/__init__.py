"""Summaries: a scorecard that imitates a model, and how often it agrees with it.

A `Summary` is not an exact description. It contains a `Scorecard`, which is an exact
description of the small network that was trained on the model's predictions, and what
was measured of the two::

    summary.predict(rows)      the summary's class of each row
    summary.agreement          with the model, on rows that the summary did not see
    summary.classes_agreement, summary.bands    the same by class, and by band of points
    summary.different          the unseen rows on which they differ, as positions
    summary.example            an input on which they differ, found by search
    summary.cut_offs           totals from which on they agree on every input, proved
    summary.card               the scorecard

`nn2rules.summarize` makes one and `nn2rules.load` reads one. `agreement` counts rows,
`summary` is the value, and `page` prints it. Imports `scorecards`, `output`, `language`
and `space`.
"""

from nn2rules.summaries.agreement import Agreement
from nn2rules.summaries.summary import Example, ProvedCutOff, Summary, clipped

__all__ = ["Agreement", "Example", "ProvedCutOff", "Summary", "clipped"]
