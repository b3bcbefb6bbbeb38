"""Networks that are made to be read: few questions, few units, few rules.

A table with labels becomes questions with the answers yes and no (`columns`); a small
net is trained on them (`net`), and asks ever fewer (`surgeon`, `stages`). What is left
becomes a network (`made`) with its rules, at every stage: the path (`learning`,
`path`).
"""

from nn2rules.learn.training.learning import MOST_RULES, Taught, learn
from nn2rules.learn.training.net import shares_of
from nn2rules.learn.training.path import Path, Point, chosen
from nn2rules.learn.training.stages import Schooling

__all__ = [
    "MOST_RULES",
    "Path",
    "Point",
    "Schooling",
    "Taught",
    "chosen",
    "learn",
    "shares_of",
]
