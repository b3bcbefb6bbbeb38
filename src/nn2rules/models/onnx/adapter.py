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
from nn2rules.models.onnx.answer import Answer, answer_of, classes_of
from nn2rules.models.onnx.files import external_data, refuse_large
from nn2rules.models.onnx.files import load as load
from nn2rules.models.onnx.follow import follow
from nn2rules.models.onnx.graph import FLOATS, Graph, Input, fused, graph_of
from nn2rules.models.onnx.operators import IMPUTE, refuse_bfloat16, refuse_kind
from nn2rules.models.onnx.running import (
    Arrays,
    in_batches,
    named_runner,
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
"""Rows to a tensor of the model, as the model itself computes it."""

T = TypeVar("T")
U = TypeVar("U")


def prepare(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model, refusing what is no valid one."""
    if not isinstance(model, onnx.ModelProto):
        raise UnsupportedModelError(
            f"cannot read an onnx.{type(model).__name__}; give the whole model, an "
            f"onnx.ModelProto"
        )
    refuse_large(model)
    refuse_bfloat16(model)
    if external_data(model) is not None:
        raise UnsupportedModelError(
            "the numbers of the ONNX model are in another file that was not read; read "
            "the model with nn2rules.load_model, or with onnx.load"
        )
    try:
        onnx.checker.check_model(model)
    except onnx.checker.ValidationError as error:
        raise UnsupportedModelError(
            f"this is no valid ONNX model: {reason_in(error)}"
        ) from None
    return model


def columns(_model: object, encode: object = None) -> Any:
    """Return what is known of the model's columns: what `encode` knows."""
    return known_of(encode)


def read(model: onnx.ModelProto, source: Source, how: ModelOptions) -> Reading:
    """Return the network of an ONNX classifier, with the model's own answers."""
    graph = fused(graph_of(model))
    answer = answer_of(graph)
    steps = graph.needed(_wanted(answer))
    for step in steps:
        refuse_kind(step)
    names = {name for step in steps for name in step.inputs}
    inputs = [i for i in graph.inputs if i.name in names]
    if not inputs:
        raise UnsupportedModelError("the ONNX model's answer depends on no input")
    encode = _encode(source, inputs)
    tensors = probe(encode, source.maker, names=_names(inputs))
    batch = next((i.batch for i in inputs if i.batch is not None), None)
    values = dict(zip([i.name for i in inputs], tensors, strict=True))
    trace = Trace(source.domain, source.ranges)
    walk = Walk(graph, trace, dict(values), batch)
    tensor = follow(walk, answer.scores)
    ask = _asking(graph, inputs, encode, batch)
    run_by, run = ask(answer.scores)
    walk.floats(run(source.maker.rows(np.zeros((1, len(source.domain.sizes)), int))))
    own, labels = classes_of(graph, answer, tensor, how.classes)
    refuse_gaps(source.domain, tensor, IMPUTE)
    has_classes = answer.label is not None or answer.classes is not None
    decision = decide(
        walk.trace, tensor, labels, how, unit=walk.unit, is_classifier=has_classes
    )
    if answer.label is not None and how.threshold == 0.5:
        label = ask(answer.label, stepwise=True)[1]
        _check_labels(decision.network, label, own, source)

    def outputs(rows: Rows) -> NDArray[Any]:
        found = run(rows)
        return found.reshape(len(found), -1)

    origin = {"framework": "onnx", "version": onnx.__version__, "run_by": run_by}
    return Reading(decision, outputs, walk.unit, origin, frozenset(trace.bent))


def _wanted(answer: Answer) -> list[str]:
    return [answer.scores] + ([answer.label] if answer.label else [])


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
            raise ValueError(f"input {item.name!r} takes integers, and {wrong} is none")
    if item.shape is None or None in item.shape:
        return typed
    shape = tuple(size or 1 for size in item.shape)
    if typed.size != len(typed) * np.prod(shape, dtype=np.int64):
        raise UnsupportedModelError(
            f"the ONNX model's input {item.name!r} takes rows of shape {shape}, and is "
            f"given an array of shape {typed.shape}"
        )
    return typed.reshape(len(typed), *shape)


def _names(inputs: Sequence[Input]) -> Callable[[int, int], str]:
    return lambda index, entry: f"entry {entry} of the input {inputs[index].name!r}"


def _asking(
    graph: Graph, inputs: Sequence[Input], encode: Encode, batch: int | None
) -> Callable[..., tuple[str, Ask]]:
    """Return how to ask the model itself for a tensor, given rows, and who answers.

    With `stepwise`, no step may make very much: for those that were not followed.
    """
    names = [i.name for i in inputs]

    def ask(name: str, *, stepwise: bool = False) -> tuple[str, Ask]:
        model = with_output(graph.model, name)
        taken = {item.name for item in model.graph.input}
        if stepwise:
            run_by, run = "onnx", stepwise_runner(model)
        else:
            run_by, run = _tried(named_runner, model)

        def answer(*arrays: NDArray[Any]) -> Arrays:
            feeds = dict(zip(names, arrays, strict=True))
            used = {key: array for key, array in feeds.items() if key in taken}
            return _tried(run, used)

        return run_by, lambda rows: in_batches(answer, encode(rows), batch)[0]

    return ask


def _tried(function: Callable[[T], U], argument: T) -> U:
    """Call what may raise anything, as onnxruntime does."""
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
    """Compare the model's own labels with the network's, where rounding is no excuse.

    A model may make its labels in another way than by the largest score.
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
                f"the ONNX model answers {theirs[row]!r} where {labels[ours[row]]!r} "
                f"has the largest score: it does not choose its label by that; export "
                f"it with the scores alone"
            )
