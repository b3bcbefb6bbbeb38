"""Read scikit-learn, PyTorch, Keras and ONNX models as a `Network`.

`adapters` chooses the package that reads a model: `sklearn`, `torch`, `keras` or
`onnx`, each of which traces it with `tracing`. `options` has the options and `reading`
the order of the steps; `source` is the model's input, `features` and `ranges` make
features of its columns, `probing` finds out what preprocessing does to them, and
`decision` what the outputs mean. `confirm` compares the network with the model, on rows
that `model_rows` makes, before it is used. `model_files` loads a model from a file,
`user_files` a model together with rows; `file_checks` refuses dangerous files. Imports
`files`, `scorecards`, `rules`, `network`, `language` and `space`.
"""

from nn2rules.models.adapters import network_of, read_network
from nn2rules.models.model_files import load_model
from nn2rules.models.options import ModelOptions, ModelOutput, takes_curves
from nn2rules.models.user_files import (
    LoadedModel,
    ModelInput,
    class_named,
    load_with_rows,
    refuse_for_network,
    typed_frame,
    with_rows_beside,
)
from nn2rules.rules.data_rows import (
    GivenRows,
    by_support,
    given_rows,
    needs_rows,
    with_class_rows,
    with_decided,
    with_different,
    with_rows,
)

__all__ = [
    "GivenRows",
    "LoadedModel",
    "ModelInput",
    "ModelOptions",
    "ModelOutput",
    "by_support",
    "class_named",
    "given_rows",
    "load_model",
    "load_with_rows",
    "needs_rows",
    "network_of",
    "read_network",
    "refuse_for_network",
    "takes_curves",
    "typed_frame",
    "with_class_rows",
    "with_decided",
    "with_different",
    "with_rows",
    "with_rows_beside",
]
