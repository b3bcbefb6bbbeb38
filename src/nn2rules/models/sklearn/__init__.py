"""Fitted scikit-learn classifiers: MLPs and linear ones, with their pipelines.

`classifiers` says which are read, `columns` and `steps` what a pipeline does to its
columns, `adapter` reads the model.
"""

from nn2rules.models.sklearn.adapter import (
    columns,
    encoder,
    prepare,
    read,
    ready,
    steps_origin,
)
from nn2rules.models.sklearn.bins import edges_of
from nn2rules.models.sklearn.steps import is_known_way

__all__ = [
    "columns",
    "edges_of",
    "encoder",
    "is_known_way",
    "prepare",
    "read",
    "ready",
    "steps_origin",
]
