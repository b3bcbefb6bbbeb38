"""Training interpretable networks: few questions, few units, few rules.

A table with labels becomes yes-or-no questions (`columns`). A small net is trained on
their answers (`net`), and questions are pruned one by one (`stages`). What remains at
each stage becomes a network with its rules (`learning`): the path (`path`). `peers`
measures other models on the same folds.
"""

from nn2rules.learn.training.learning import MOST_RULES, TrainingTable, learn
from nn2rules.learn.training.net import shares_of
from nn2rules.learn.training.path import Path, Point, chosen
from nn2rules.learn.training.stages import TrainingOptions

__all__ = [
    "MOST_RULES",
    "Path",
    "Point",
    "TrainingOptions",
    "TrainingTable",
    "chosen",
    "learn",
    "shares_of",
]
