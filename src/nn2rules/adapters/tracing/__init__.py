"""Follow a model's computation from its inputs to its scores, and write it as layers.

An adapter walks through the steps of a model and calls the operations of a `Trace`,
with tensors that are known in one of two ways. As long as features have not met, every
entry of a tensor depends on one feature alone: it is a column of that feature's table
(`Columns`), and whatever the framework does to it can be done to the table. Once
features are added up, a tensor is an affine function (`Affine`) of the one-hot input or
of the units of a hidden layer; a nonlinear step on it begins the next hidden layer.

Tensors have no batch here: their `shape` is that of a single row.
"""

from nn2rules.adapters.tracing.operations import (
    ENTRYWISE,
    FIXED,
    MIXED_ROWS,
    OPERATIONS,
)
from nn2rules.adapters.tracing.step import Step, columns_of, moved, take
from nn2rules.adapters.tracing.tables import (
    Run,
    ValueRows,
    grid_of,
    mixing,
    owners_of,
    refuse_gaps,
)
from nn2rules.adapters.tracing.tensors import CONSTANT, Affine, Columns, Ending, Tensor
from nn2rules.adapters.tracing.trace import Trace

__all__ = [
    "CONSTANT",
    "ENTRYWISE",
    "FIXED",
    "MIXED_ROWS",
    "OPERATIONS",
    "Affine",
    "Columns",
    "Ending",
    "Run",
    "Step",
    "Tensor",
    "Trace",
    "ValueRows",
    "columns_of",
    "grid_of",
    "mixing",
    "moved",
    "owners_of",
    "refuse_gaps",
    "take",
]
