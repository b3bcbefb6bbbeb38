"""Read classifiers from ONNX models: networks, linear ones, and their preprocessing.

Such models come from scikit-learn (skl2onnx), PyTorch (torch.onnx) and Keras. These
modules, ``onnx`` and ``onnx_*``, are the only ones that import onnx.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper

from nn2rules.errors import UnsupportedModelError
from nn2rules.models.confirm import Reading
from nn2rules.models.decision import decide
from nn2rules.models.onnx.files import external_data, refuse_large
from nn2rules.models.onnx.files import load as load
from nn2rules.models.onnx.follow import follow
from nn2rules.models.onnx.graph import FLOATS, Graph, Input, fused, graph_of
from nn2rules.models.onnx.operators import IMPUTE, refuse_bfloat16, refuse_kind
from nn2rules.models.onnx.outputs import OutputNames, classes_of, output_names_of
from nn2rules.models.onnx.running import (
    Arrays,
    in_batches,
    named_runner,
    row_by_row,
    stepwise_runner,
    with_output,
)
from nn2rules.models.onnx.walk import Walk
from nn2rules.models.options import ModelOptions
from nn2rules.models.probing import Encode, probe
from nn2rules.models.source import Port, Source, known_of
from nn2rules.models.tracing import Trace, reason_in, refuse_gaps
from nn2rules.network import Network
from nn2rules.space import Rows, Value

_CHECKED_ROWS = 512

Ask: TypeAlias = Callable[[Rows], NDArray[Any]]
"""From rows to a tensor of the model, computed by the model itself."""

T = TypeVar("T")
U = TypeVar("U")


def prepare(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model, refusing one that is not valid."""
    if not isinstance(model, onnx.ModelProto):
        raise UnsupportedModelError(
            f"onnx.{type(model).__name__} is not a whole model; pass an onnx.ModelProto"
        )
    refuse_large(model)
    refuse_bfloat16(model)
    if external_data(model) is not None:
        raise UnsupportedModelError(
            "the weights of the ONNX model are in another file that was not loaded; "
            "load the model with nn2rules.load_model, or with onnx.load"
        )
    try:
        onnx.checker.check_model(model)
    except onnx.checker.ValidationError as error:
        raise UnsupportedModelError(
            f"this is not a valid ONNX model: {reason_in(error)}"
        ) from None
    return model


def columns(_model: object, encode: object = None) -> Any:
    """Return what `encode` knows of its columns; the model itself knows nothing."""
    return known_of(encode)


def read(model: onnx.ModelProto, source: Source, options: ModelOptions) -> Reading:
    """Return the network of an ONNX classifier, and how to run the model itself."""
    graph = fused(graph_of(model))
    output_names = output_names_of(graph)
    steps = graph.needed(_wanted(output_names))
    for step in steps:
        refuse_kind(step)
    names = {name for step in steps for name in step.inputs}
    inputs = [i for i in graph.inputs if i.name in names]
    if not inputs:
        raise UnsupportedModelError(
            "the ONNX model's output does not depend on any input"
        )
    encode = _encode(source, inputs)
    tensors = probe(encode, source.maker, names=_names(inputs))
    batch = next((i.batch for i in inputs if i.batch is not None), None)
    values = dict(zip([i.name for i in inputs], tensors, strict=True))
    trace = Trace(source.domain, source.ranges)
    walk = Walk(graph, trace, dict(values), batch)
    tensor = follow(walk, output_names.scores)
    ask = _asking(graph, inputs, encode, batch)
    run_by, run = ask(output_names.scores)
    walk.floats(run(source.maker.rows(np.zeros((1, len(source.domain.sizes)), int))))
    model_labels, labels = classes_of(graph, output_names, tensor, options.classes)
    refuse_gaps(source.domain, tensor, IMPUTE)
    has_classes = output_names.label is not None or output_names.classes is not None
    decision = decide(
        walk.trace, tensor, labels, options, unit=walk.unit, is_classifier=has_classes
    )
    if output_names.label is not None and options.threshold == 0.5:
        label = ask(output_names.label, stepwise=True)[1]
        _check_labels(decision.network, label, model_labels, source)

    def outputs(rows: Rows) -> NDArray[Any]:
        array = run(rows)
        return array.reshape(len(array), -1)

    origin = {"framework": "onnx", "version": onnx.__version__, "run_by": run_by}
    return Reading(decision, outputs, walk.unit, origin, frozenset(trace.nonlinear))


def _wanted(output_names: OutputNames) -> list[str]:
    return [output_names.scores] + ([output_names.label] if output_names.label else [])


def _encode(source: Source, inputs: Sequence[Input]) -> Encode:
    """Return the function from rows to arrays of the types that the model takes."""
    ports = [
        Port(i.name, i.width, "text" if i.kind == TensorProto.STRING else "float")
        for i in inputs
    ]
    arrays = source.arrays(ports)

    def encode(rows: Rows) -> Arrays:
        return [_typed(a, i) for a, i in zip(arrays(rows), inputs, strict=True)]

    return encode


def _typed(array: NDArray[Any], item: Input) -> NDArray[Any]:
    """Return an array of the type and the shape of an input."""
    if item.kind == TensorProto.STRING:
        typed = array.astype(str).astype(object)
    else:
        with np.errstate(all="ignore"):  # what does not fit is refused below
            typed = array.astype(helper.tensor_dtype_to_np_dtype(item.kind))
        numbers = array.astype(np.float64)
        if item.kind not in FLOATS and not (numbers == typed).all():
            wrong = numbers[numbers != typed].reshape(-1)[0]
            raise ValueError(f"input {item.name!r} takes integers, not {wrong}")
    if item.shape is None or None in item.shape:
        return typed
    shape = tuple(size or 1 for size in item.shape)
    if typed.size != len(typed) * np.prod(shape, dtype=np.int64):
        raise UnsupportedModelError(
            f"the ONNX model's input {item.name!r} takes rows of shape {shape}, but "
            f"the encoded rows have shape {typed.shape[1:]}"
        )
    return typed.reshape(len(typed), *shape)


def _names(inputs: Sequence[Input]) -> Callable[[int, int], str]:
    return lambda index, entry: f"entry {entry} of the input {inputs[index].name!r}"


def _asking(
    graph: Graph, inputs: Sequence[Input], encode: Encode, batch: int | None
) -> Callable[..., tuple[str, Ask]]:
    """Return a function that runs the model for a tensor, and the name of the runtime.

    With `stepwise`, the size of each step is limited, for steps that were not traced.
    """
    names = [i.name for i in inputs]

    def ask(name: str, *, stepwise: bool = False) -> tuple[str, Ask]:
        model = with_output(graph.model, name)
        taken = {item.name for item in model.graph.input}
        if stepwise:
            run_by, run = "onnx", stepwise_runner(model)
        else:
            run_by, run = _tried(named_runner, model)

        def run_on(*arrays: NDArray[Any]) -> Arrays:
            feeds = dict(zip(names, arrays, strict=True))
            used = {key: array for key, array in feeds.items() if key in taken}
            return _tried(run, used)

        if graph.takes_one_row:
            return run_by, lambda rows: row_by_row(run_on, encode(rows))[0]
        return run_by, lambda rows: in_batches(run_on, encode(rows), batch)[0]

    return ask


def _tried(function: Callable[[T], U], argument: T) -> U:
    """Call a function that may raise anything, as onnxruntime does."""
    try:
        return function(argument)
    except Exception as error:  # noqa: BLE001
        raise UnsupportedModelError(
            f"the ONNX model cannot be run: {reason_in(error)}"
        ) from None


def _check_labels(
    network: Network,
    ask: Ask,
    labels: Sequence[Value],
    source: Source,
) -> None:
    """Compare the model's labels with the network's, wherever rounding cannot matter.

    A model may choose its label in another way than by the largest score.
    """
    sizes, rng = np.array(source.domain.sizes), np.random.default_rng(5)
    codes = rng.integers(sizes, size=(_CHECKED_ROWS, len(sizes)))
    theirs = ask(source.maker.rows(codes, rng)).reshape(-1).tolist()
    ours = network.predict_codes(codes)
    scores = network.scores_codes(codes)
    if scores.ndim == 1:
        margin = np.abs(scores)
    else:
        ranked = np.sort(scores, axis=1)
        margin = ranked[:, -1] - ranked[:, -2]
    slack = np.inf if network.model_error is None else 2 * network.model_error
    for row in np.flatnonzero(margin > slack).tolist():
        if theirs[row] != labels[ours[row]]:
            raise UnsupportedModelError(
                f"the ONNX model predicts {theirs[row]!r} where {labels[ours[row]]!r} "
                f"has the largest score, so its label does not follow from its scores; "
                f"export it with the scores alone"
            )
