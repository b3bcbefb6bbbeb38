"""Trace a model's computation from its inputs to its scores, and write it as layers.

An adapter goes through the steps of a model. For each it states which of `OPERATIONS`
it is, where its options are, and how the framework itself runs it; `take` does the
rest. Steps act on tensors of two kinds. As long as features are not combined, every
entry of a tensor depends on one feature alone. It is then a column of that feature's
table (`Columns`), and every step of the framework can be run on the table. Once
features are combined, a tensor is an affine function (`Affine`) of the one-hot input or
of the units of a hidden layer, made by a `Trace`. A nonlinear step on it starts the
next hidden layer.

Tensors (`tensors`) have no batch here: their `shape` is that of a single row. `step`
has `take`, and `operations` has `OPERATIONS`; `trace` makes the layers.
"""

from nn2rules.models.tracing.operations import (
    ENTRYWISE,
    FIXED,
    MIXED_ROWS,
    OPERATIONS,
    SEVERAL,
    operands_of,
    unbatched,
)
from nn2rules.models.tracing.step import (
    Run,
    Step,
    ValueRows,
    columns_of,
    mixing,
    moved,
    owners_of,
    reason_in,
    refuse_gaps,
    take,
)
from nn2rules.models.tracing.tensors import (
    CONSTANT,
    FLOAT32,
    FLOAT64,
    UNITS,
    Affine,
    Columns,
    Tensor,
)
from nn2rules.models.tracing.trace import Trace

__all__ = [
    "CONSTANT",
    "ENTRYWISE",
    "FIXED",
    "FLOAT32",
    "FLOAT64",
    "MIXED_ROWS",
    "OPERATIONS",
    "SEVERAL",
    "UNITS",
    "Affine",
    "Columns",
    "Run",
    "Step",
    "Tensor",
    "Trace",
    "ValueRows",
    "columns_of",
    "mixing",
    "moved",
    "operands_of",
    "owners_of",
    "reason_in",
    "refuse_gaps",
    "take",
    "unbatched",
]
