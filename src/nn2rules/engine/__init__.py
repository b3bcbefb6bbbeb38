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

from nn2rules.engine.answer import Answer
from nn2rules.engine.budget import Budget, Meter
from nn2rules.engine.counting import Counts, count_classes
from nn2rules.engine.oracle import Oracle, box_of
from nn2rules.engine.ranges import ScoreRange, score_range
from nn2rules.engine.table import Table, build_table

__all__ = [
    "Answer",
    "Budget",
    "Counts",
    "Meter",
    "Oracle",
    "ScoreRange",
    "Table",
    "box_of",
    "build_table",
    "count_classes",
    "score_range",
]
