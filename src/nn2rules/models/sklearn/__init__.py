"""Fitted scikit-learn classifiers: MLPs and linear ones, with their pipelines.

`classifiers` decides which are supported, `columns` and `steps` follow the columns
through a pipeline (`shapes` and `bins` of numbers), `adapter` reads the model, and
`own_classifiers` those of nn2rules. `files` loads a model safely.
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
from nn2rules.models.sklearn.steps import is_known_path

__all__ = [
    "columns",
    "edges_of",
    "encoder",
    "is_known_path",
    "prepare",
    "read",
    "ready",
    "steps_origin",
]
