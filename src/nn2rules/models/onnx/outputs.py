"""Find the scores and the class labels among the outputs of an ONNX classifier."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto

from nn2rules.errors import OptionError, UnsupportedModelError
from nn2rules.models.onnx.graph import FLOATS, Graph, Node
from nn2rules.models.onnx.running import part_of, stepwise_runner
from nn2rules.models.tracing import Tensor
from nn2rules.space import Value

_JOINING = ("Concat", "Flatten", "Reshape", "Squeeze", "Transpose", "Unsqueeze")
_LABELS = (TensorProto.STRING, TensorProto.INT64, TensorProto.INT32)


@dataclass(frozen=True)
class OutputNames:
    """The outputs of a classifier.

    Attributes
    ----------
    scores : str
        The tensor with a score or a probability for each class, or with one number.
    label : str or None
        The tensor with the predicted class.
    classes : tuple of labels, or None
        The classes, if the graph lists them.
    """

    scores: str
    label: str | None = None
    classes: tuple[Value, ...] | None = None


def output_names_of(graph: Graph) -> OutputNames:
    """Find the scores and the label among the outputs of a graph."""
    scores, labels, classes = [], [], None
    for output in graph.model.graph.output:
        step = graph.producers.get(output.name)
        if step is not None and step.op == "ZipMap":
            scores.append(step.inputs[0])
            classes = _listed_classes(step)
        elif output.type.tensor_type.elem_type in FLOATS:
            scores.append(output.name)
        elif output.type.tensor_type.elem_type in _LABELS:
            labels.append(output.name)
        else:
            raise UnsupportedModelError(
                f"the ONNX model's output {output.name!r} is neither a score nor a "
                f"label; nn2rules reads classifiers"
            )
    if len(scores) > 1 or len(labels) > 1:
        names = ", ".join(repr(output.name) for output in graph.model.graph.output)
        raise UnsupportedModelError(
            f"the ONNX model has several outputs ({names}); export it with the class "
            f"scores alone, or with a label and its probabilities"
        )
    label = labels[0] if labels else None
    for name in scores:
        _refuse_several_questions(graph, name)
    if not scores:
        scores = [_compared(graph, label)]
    return OutputNames(scores[0], label, classes or _from_classifier(graph, scores[0]))


def _refuse_several_questions(graph: Graph, scores: str) -> None:
    """Refuse scores that are joined from several sigmoids."""
    origins, waiting = set(), [scores]
    while waiting:
        name = graph.source(waiting.pop())
        step = graph.producers.get(name)
        if step is not None and step.op in _JOINING:
            waiting += step.inputs[:1] if step.op != "Concat" else step.inputs
        elif name not in graph.constants:
            origins.add((name, None if step is None else step.op))
    if len(origins) > 1 and all(op == "Sigmoid" for _, op in origins):
        raise UnsupportedModelError(
            f"the ONNX model ends in {len(origins)} separate sigmoids, so it is a "
            f"multi-label model; export one model for each label"
        )


def _listed_classes(step: Node) -> tuple[Value, ...] | None:
    """Return the labels in the attributes of a step."""
    for name in ("classlabels_strings", "classlabels_int64s", "classlabels_ints"):
        labels = step.attributes.get(name)
        if labels:
            return tuple(_plain(label) for label in labels)
    return None


def classes_of(
    graph: Graph,
    output_names: OutputNames,
    tensor: Tensor,
    user_classes: Sequence[Any] | None,
) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """Return the model's own labels, and the labels for its classes."""
    size = int(np.prod(tensor.shape, dtype=np.int64))
    n_classes = max(size, 2)
    model_classes = output_names.classes
    if model_classes is None and output_names.label is not None:
        model_classes = _labels_of(graph, output_names.label, n_classes)
        if model_classes is None and user_classes is None:
            raise UnsupportedModelError(
                "the graph of the ONNX model does not show its labels; give classes="
            )
    numbered = tuple(range(n_classes))
    model_classes = model_classes or numbered
    if len(model_classes) != n_classes:
        raise UnsupportedModelError(
            f"the ONNX model has {size} scores for {len(model_classes)} classes, as a "
            f"multi-label model does; export one model for each label"
        )
    if user_classes is None:
        return model_classes, model_classes
    if model_classes not in (numbered, tuple(user_classes)):
        raise OptionError(
            f"the ONNX model names its classes "
            f"({', '.join(map(repr, model_classes))}); leave "
            f"out `classes`"
        )
    return model_classes, tuple(user_classes)


def _labels_of(graph: Graph, label: str, n_classes: int) -> tuple[Value, ...] | None:
    """Return the label of each class by running the steps after the largest score.

    None if the label does not come from the largest score.
    """
    steps = graph.needed([label])
    argmax = [step for step in steps if step.op == "ArgMax"]
    if len(argmax) != 1:
        return None
    place = argmax[0].outputs[0]
    after = _after(steps, place)
    names = {name for step in after for name in step.inputs if name}
    outputs = {name for step in after for name in step.outputs}
    others = names - outputs - {place}
    if not after or not others <= graph.constants.keys():
        return tuple(range(n_classes)) if not after else None
    part = part_of(
        graph.model, [s.proto for s in after], {place: TensorProto.INT64}, [label]
    )
    part.graph.initializer.extend(
        onnx.numpy_helper.from_array(graph.constants[name], name) for name in others
    )
    numbers = np.arange(n_classes)
    keeps = argmax[0].attributes.get("keepdims", 1)
    feeds = {place: numbers.reshape(-1, 1) if keeps else numbers}
    try:
        [label_array] = stepwise_runner(part, reference=True)(feeds)
    except UnsupportedModelError:
        raise
    except Exception:  # noqa: BLE001  the evaluator raises what it likes
        return None
    if label_array.size != n_classes:
        return None
    return tuple(_plain(item) for item in label_array.reshape(-1).tolist())


def _after(steps: Sequence[Node], place: str) -> list[Node]:
    """Return the steps that depend on a tensor."""
    reached, later_steps = {place}, []
    for step in steps:
        if reached.intersection(step.inputs):
            reached.update(step.outputs)
            later_steps.append(step)
    return later_steps


def _compared(graph: Graph, label: str | None) -> str:
    """Return the scores of a model whose only output is a label."""
    steps = graph.needed([label] if label else [])
    for step in reversed(steps):
        if step.op == "LinearClassifier":
            return step.outputs[1]
        if step.op == "ArgMax":
            return step.inputs[0]
        if step.op.startswith(("TreeEnsemble", "SVM")):
            return step.outputs[-1]  # refused later, by name
    raise UnsupportedModelError(
        "the ONNX model has only a label as output, and no scores; export it with the "
        "class scores"
    )


def _from_classifier(graph: Graph, scores: str) -> tuple[Value, ...] | None:
    for step in reversed(graph.needed([scores])):
        if step.op == "LinearClassifier":
            return _listed_classes(step)
    return None


def _plain(label: Any) -> Value:
    return label.decode() if isinstance(label, bytes) else label
