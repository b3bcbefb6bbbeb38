"""Training interpretable networks: few questions, few units, few rules.

A table with labels becomes yes-or-no questions (`columns`). A small net is trained on
their answers (`net`), and questions are pruned one by one (`stages`). What remains at
each stage becomes a network with its rules (`rule_path`, `rule_lists`). A scorecard
needs no hidden units (`additive`), but integer points (`points`, `card_path`). Both
make the path (`path`). `learning` has what both start from, and `targets` what they
should predict. `peers` measures other models on the same folds. A `student` imitates a
model, for summaries.
"""

from nn2rules.learn.training.card_path import learn_cards
from nn2rules.learn.training.learning import (
    Fold,
    TrainingTable,
    follows,
)
from nn2rules.learn.training.measures import Measures
from nn2rules.learn.training.net import shares_of
from nn2rules.learn.training.path import Path, Point, chosen
from nn2rules.learn.training.rule_path import learn_rules
from nn2rules.learn.training.stages import TrainingOptions
from nn2rules.learn.training.targets import Targets

__all__ = [
    "Fold",
    "Measures",
    "Path",
    "Point",
    "Targets",
    "TrainingOptions",
    "TrainingTable",
    "chosen",
    "follows",
    "learn_cards",
    "learn_rules",
    "shares_of",
]
