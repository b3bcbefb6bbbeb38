"""THE ONE QUESTION, whether every input in a box gets class c.

Two engines answer it, and agree: `Table` looks at every input of a domain that fits in
memory; `Oracle` searches domains of any size with certified bounds. Counting and score
ranges are made of the same parts::

    table     the class of every input
    oracle    proof or counterexample, by branch and bound
    counting  how many inputs each class has
    ranges    the smallest and the largest score of a box
    flat      networks as the kernels want them, with certified error bounds
    budget    limits, and progress
"""

from nn2rules.engine.answer import Answer, as_boxes, check_box
from nn2rules.engine.counting import Counts, count_classes
from nn2rules.engine.flat import (
    boxes_at_once,
    claim,
    lead_of,
    points,
    room,
    stack_of,
    workspace,
)
from nn2rules.engine.limits import Budget, Meter, Pace, Progress, Stop, interruptible
from nn2rules.engine.progress import Bar, Lines, Shown, teller
from nn2rules.engine.reaching import find_class, find_twins
from nn2rules.engine.score_ranges import ScoreRange, outwards, score_range
from nn2rules.engine.search import Oracle, box_of
from nn2rules.engine.session import closing_bar, session
from nn2rules.engine.table import (
    MOST_CLASSES,
    Table,
    array_obstacle,
    build_table,
    fits,
    fragile_margins,
    settle_codes,
    table_obstacle,
)

__all__ = [
    "MOST_CLASSES",
    "Answer",
    "Bar",
    "Budget",
    "Counts",
    "Lines",
    "Meter",
    "Oracle",
    "Pace",
    "Progress",
    "ScoreRange",
    "Shown",
    "Stop",
    "Table",
    "array_obstacle",
    "as_boxes",
    "box_of",
    "boxes_at_once",
    "build_table",
    "check_box",
    "claim",
    "closing_bar",
    "count_classes",
    "find_class",
    "find_twins",
    "fits",
    "fragile_margins",
    "interruptible",
    "lead_of",
    "outwards",
    "points",
    "room",
    "score_range",
    "session",
    "settle_codes",
    "stack_of",
    "table_obstacle",
    "teller",
    "workspace",
]
