"""Read Keras 3 models, on any backend: Sequential and functional ones."""

import re
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal

import keras
import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import FormatError, UnsupportedModelError
from nn2rules.models.confirm import FLOAT64, Reading
from nn2rules.models.decision import decide
from nn2rules.models.features import labels_of
from nn2rules.models.keras.bins import finer
from nn2rules.models.keras.graph import fitted, is_graph, outputs
from nn2rules.models.keras.layers import NO_TABLES
from nn2rules.models.keras.losses import said_by_loss
from nn2rules.models.keras.step import Walk
from nn2rules.models.keras.tables import numpy_of, rounded, unit_of
from nn2rules.models.model_rows import RowMaker
from nn2rules.models.options import ModelOptions
from nn2rules.models.probing import Encode, probe
from nn2rules.models.source import Port, Source, known_of
from nn2rules.models.tracing import UNITS, Tensor, Trace, reason_in, refuse_gaps
from nn2rules.space import Rows, Value

_BATCH = 4096


def prepare(model: object) -> object:
    """Return the model, refusing one whose graph cannot be walked through."""
    if not isinstance(model, keras.Model):
        raise UnsupportedModelError(
            f"cannot read a keras {type(model).__name__}; nn2rules reads whole models: "
            f"keras.Sequential and functional ones"
        )
    if isinstance(model, keras.Sequential) and not model.built:
        raise UnsupportedModelError(
            "the Sequential model is not built, so it has no weights; call its fit "
            "method, or model.build((None, n_columns)), first"
        )
    if not is_graph(model):
        raise UnsupportedModelError(
            f"the {type(model).__name__} is a subclassed model: its computation is "
            f"Python code, which nn2rules cannot read; build it with keras.Sequential "
            f"or the functional API"
        )
    for layer in model._flatten_layers():
        reason = NO_TABLES.get(type(layer).__name__)
        if reason is not None and type(layer).__module__.partition(".")[0] == "keras":
            raise UnsupportedModelError(
                f"layer {layer.name!r} ({type(layer).__name__}): {reason}"
            )
    if len(model.outputs) > 1:
        raise UnsupportedModelError(
            f"the model has {len(model.outputs)} outputs; pick the one that tells the "
            f"classes: keras.Model(model.inputs, model.outputs[0])"
        )
    return model


def columns(_model: object, encode: object = None) -> Any:
    """Return what is known of the columns: of Keras itself, nothing."""
    return known_of(encode)


def read(model: Any, source: Source, how: ModelOptions) -> Reading:
    """Return the network of a model, with the model's own answers."""
    ports = [
        _port(symbol, name)
        for symbol, name in zip(model.inputs, _names(model), strict=True)
    ]
    encode = _encode(source.arrays(ports), model.inputs, ports)
    unit = max(unit_of(symbol.dtype) for symbol in model.inputs)
    fine = finer(source.domain, max(unit, FLOAT64))
    maker = source.maker
    if fine.domain != source.domain:
        maker = RowMaker(fine.domain, source.maker.like)
    tensors = probe(encode, maker, names=lambda i, j: _place(ports[i].name, j))
    walk = Walk(Trace(fine.domain, source.ranges))
    [scores] = outputs(walk, model, tensors)
    labels = _labels(scores, how.classes)
    try:
        decision = decide(
            walk.trace, scores, labels, how, unit=walk.unit, said=said_by_loss(model)
        )
    except FormatError:
        for tensor in tensors:
            refuse_gaps(fine.domain, tensor, "fill the gaps in encode=")
        raise
    decision = replace(decision, network=fine.put_together(decision.network))
    return Reading(
        decision,
        lambda rows: _answers(model, encode(rows)),
        walk.unit,
        {
            "framework": "keras",
            "version": keras.__version__,
            "backend": keras.backend.backend(),
        },
        frozenset(walk.trace.bent),
    )


def load(path: str | PathLike[str]) -> Any:
    """Return the model of a ``.keras`` file, without running code of the file.

    Raises
    ------
    FormatError
        If there is no such file, or it is damaged, or holds Python code.
    """
    name = fspath(path)
    if not Path(name).is_file():
        raise FormatError(f"{name}: there is no such file")
    if not zipfile.is_zipfile(name):
        raise FormatError(
            f"{name}: not a whole .keras file; write one with model.save('model.keras')"
        )
    try:
        return keras.saving.load_model(name, compile=False, safe_mode=True)
    except Exception as error:  # noqa: BLE001  a damaged file may raise anything
        raise FormatError(f"{name}: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    text = str(error)
    if "lambda" in text.lower():
        return (
            "the model has a Lambda layer, which is Python code, and code of files is "
            "not run; if you trust the file, load it with keras.saving.load_model"
        )
    unknown = re.search(r"Could not locate (?:class|function) '([^']*)'", text)
    if unknown:
        return (
            f"the model uses {unknown[1]}, which Keras does not know; load the file "
            f"with keras.saving.load_model and its custom_objects"
        )
    return f"the model cannot be read ({reason_in(error)})"


# Inputs --------------------------------------------------------------------------


def _names(model: Any) -> list[str]:
    """Return the names of the inputs; of a dict of inputs, its keys."""
    if not isinstance(model, keras.Sequential) and isinstance(model.input, dict):
        return sorted(model.input)
    return [symbol.name for symbol in model.inputs]


def _port(symbol: Any, name: str) -> Port:
    shape = symbol.shape[1:]
    width = None if None in shape else int(np.prod(shape, dtype=np.int64))
    kind: Literal["float", "integer", "text"] = "integer"
    if symbol.dtype in UNITS:
        kind = "float"
    elif symbol.dtype == "string":
        kind = "text"
    return Port(name, width, kind)


def _place(name: str, entry: int) -> str:
    return f"number {entry} of the input {name!r}"


def _encode(raw: Encode, symbols: Sequence[Any], ports: Sequence[Port]) -> Encode:
    """Return the function from rows to arrays in the model's own formats."""

    def encode(rows: Rows) -> list[NDArray[Any]]:
        return [
            _fitted(array, symbol, port.name)
            for array, symbol, port in zip(raw(rows), symbols, ports, strict=True)
        ]

    return encode


def _fitted(array: NDArray[Any], symbol: Any, name: str) -> NDArray[Any]:
    wanted = tuple(symbol.shape[1:])
    made = fitted(wanted)(array)
    is_fit = made.ndim == len(wanted) + 1 and all(
        want in (None, got) for want, got in zip(wanted, made.shape[1:], strict=True)
    )
    if not is_fit:
        raise UnsupportedModelError(
            f"the model's input {name!r} takes an array of shape {wanted} for each "
            f"row, and is given one of shape {array.shape[1:]}; give encode= the "
            f"function that turns your rows into what the model takes"
        )
    if symbol.dtype == "string":
        return made
    if made.dtype.kind not in "biuf":
        try:
            made = made.astype(np.float64)
        except (TypeError, ValueError):
            raise UnsupportedModelError(
                f"the model's input {name!r} takes numbers, and encode= gives words"
            ) from None
    return rounded(made, symbol.dtype)


# Outputs -------------------------------------------------------------------------


def _answers(model: Any, arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return what the model itself says, as one row of numbers for each row."""
    is_plain = isinstance(model, keras.Sequential)
    structure = model.inputs[0] if is_plain else model.input
    found = []
    for start in range(0, len(arrays[0]), _BATCH):
        parts = [array[start : start + _BATCH] for array in arrays]
        inputs = keras.tree.pack_sequence_as(structure, parts)
        [output] = keras.tree.flatten(model(inputs, training=False))
        numbers = numpy_of(output)
        found.append(numbers.reshape(len(numbers), -1))
    return np.concatenate(found)


def _labels(scores: Tensor, classes: Sequence[Any] | None) -> tuple[Value, ...]:
    """Return the classes; 0, 1, … where the user gives none."""
    size = int(np.prod(scores.shape, dtype=np.int64))
    if scores.shape[-1:] != (size,) and size > 1:
        raise UnsupportedModelError(
            f"the model answers each row with an array of shape {scores.shape}; a "
            f"classifier answers with one number, or with one for each class"
        )
    return labels_of(classes, scores.shape)
