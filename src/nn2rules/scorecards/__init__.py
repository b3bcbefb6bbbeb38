"""Scorecards: points for each value of each feature, a total, and a cut-off.

A `Scorecard` is the second kind of description of a network, beside the rule list: it
covers every input, and its predictions equal the network's on all of them, because it
keeps the network's own numbers and its exact arithmetic. It implements `Description`::

    card.domain, card.classes, card.threshold, card.cards   what it is made of
    card.kind                  "single", "classes", "parts" or "regions"
    card.predict(rows)         class labels; predict_proba(rows), where there are some
    card.covers(rows)          True for every row of the domain
    card.contributions(rows)   what each feature adds, in the units of the network
    card.points(rows)          the same in points as printed, which add up exactly
    card.reasons(rows)         which features cost a row most points
    card.table                 the printed card: rounded points and proved cut-offs
    card.scaled(...)           the same card, printed on another scale
    card.text(), card.document(), card.to_frame(), card.to_json(), card.save(path)
    card.digest, card.certificate   as of a rule list; `certificate_of` reads it
    card.network               the same classifier as a `Network`

`nn2rules.extract(model, form="scorecard")` makes one and `nn2rules.load` reads one. The
modules, from the value to the page::

    scorecard      `Scorecard` and `Card`: the network's numbers, and predictions
    regions        `CardRegion`: linear regions, each with its own card
    whole_arrays   whole numbers in int64 where none can overflow
    sums           sums of points in exact arithmetic, and how far they reach
    boundaries     the scores at which the class changes
    printed_card   `PointsTable`: rounded points, and cut-offs that are proved
    digits         how many digits printed points have
    scale          `Scale`: the scale of printed points, and ways to choose it
    number_bins    ranges of numbers cut into bins of points
    lines          the lines of a card, one for each value, bin or group
    reasons        `Reason`: the features that cost a row most points
    bands          how the totals of rows are distributed
    page           the printed page; `numbers` writes its numbers

Imports `rules`, `engine`, `network`, `output`, `language` and `space`.
"""

from nn2rules.scorecards.bands import PointsBand, bands_of
from nn2rules.scorecards.boundaries import is_monotonic
from nn2rules.scorecards.digits import default_table
from nn2rules.scorecards.lines import CardLine, lines_of
from nn2rules.scorecards.numbers import number_text
from nn2rules.scorecards.printed_card import Column, CutOff, PointsTable, Total
from nn2rules.scorecards.reasons import Reason
from nn2rules.scorecards.regions import (
    MOST_REGIONS,
    TOO_CLOSE,
    CardRegion,
    regions_of,
)
from nn2rules.scorecards.scale import Scale
from nn2rules.scorecards.scorecard import Card, Contributions, Profile, Scorecard

__all__ = [
    "MOST_REGIONS",
    "TOO_CLOSE",
    "Card",
    "CardLine",
    "CardRegion",
    "Column",
    "Contributions",
    "CutOff",
    "PointsBand",
    "PointsTable",
    "Profile",
    "Reason",
    "Scale",
    "Scorecard",
    "Total",
    "bands_of",
    "default_table",
    "is_monotonic",
    "lines_of",
    "number_text",
    "regions_of",
]
