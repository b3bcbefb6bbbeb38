"""What an ONNX classifier answers with: its scores, and the labels of its classes."""

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
class Answer:
    """Where a graph has its answer.

    Attributes
    ----------
    scores : str
        The tensor with a score, or a share, for each class; or with one number.
    label : str or None
        The tensor with the class itself.
    classes : tuple of labels, or None
        As far as the graph lists them.
    """

    scores: str
    label: str | None = None
    classes: tuple[Value, ...] | None = None


def answer_of(graph: Graph) -> Answer:
    """Find the answer of a classifier among the outputs of its graph."""
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
            f"the ONNX model has several outputs ({names}); export it with the scores "
            f"of the classes alone, or with a label and its probabilities"
        )
    label = labels[0] if labels else None
    for name in scores:
        _refuse_several_questions(graph, name)
    if not scores:
        scores = [_compared(graph, label)]
    return Answer(scores[0], label, classes or _from_classifier(graph, scores[0]))


def _refuse_several_questions(graph: Graph, scores: str) -> None:
    """Refuse scores that are put together from several sigmoids."""
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
            f"the ONNX model ends in {len(origins)} sigmoid steps side by side, so it "
            f"answers several yes-no questions at once (multi-label); export one model "
            f"for each"
        )


def _listed_classes(step: Node) -> tuple[Value, ...] | None:
    """Return the labels that a step lists in its attributes."""
    for name in ("classlabels_strings", "classlabels_int64s", "classlabels_ints"):
        labels = step.attributes.get(name)
        if labels:
            return tuple(_plain(label) for label in labels)
    return None


def classes_of(
    graph: Graph, answer: Answer, tensor: Tensor, given: Sequence[Any] | None
) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """Return the model's own labels, and those that its classes are to have."""
    size = int(np.prod(tensor.shape, dtype=np.int64))
    n_classes = max(size, 2)
    own = answer.classes
    if own is None and answer.label is not None:
        own = _labels_of(graph, answer.label, n_classes)
        if own is None and given is None:
            raise UnsupportedModelError(
                "the ONNX model's labels cannot be told from its graph; give classes="
            )
    numbered = tuple(range(n_classes))
    own = own or numbered
    if len(own) != n_classes:
        raise UnsupportedModelError(
            f"the ONNX model answers with {size} numbers for {len(own)} classes; a "
            f"model that answers several questions at once (multi-label) cannot be read"
        )
    if given is None:
        return own, own
    if own not in (numbered, tuple(given)):
        raise OptionError(
            f"the ONNX model knows its classes, {', '.join(map(repr, own))}; leave "
            f"out `classes`"
        )
    return own, tuple(given)


def _labels_of(graph: Graph, label: str, n_classes: int) -> tuple[Value, ...] | None:
    """Return the label of each class by running the steps after the largest score.

    None if the label is not found by looking for the largest score.
    """
    steps = graph.needed([label])
    argmax = [step for step in steps if step.op == "ArgMax"]
    if len(argmax) != 1:
        return None
    place = argmax[0].outputs[0]
    after = _after(steps, place)
    names = {name for step in after for name in step.inputs if name}
    made = {name for step in after for name in step.outputs}
    others = names - made - {place}
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
        [found] = stepwise_runner(part, reference=True)(feeds)
    except UnsupportedModelError:
        raise
    except Exception:  # noqa: BLE001  the evaluator raises what it likes
        return None
    if found.size != n_classes:
        return None
    return tuple(_plain(item) for item in found.reshape(-1).tolist())


def _after(steps: Sequence[Node], place: str) -> list[Node]:
    """Return the steps that depend on a tensor."""
    reached, found = {place}, []
    for step in steps:
        if reached.intersection(step.inputs):
            reached.update(step.outputs)
            found.append(step)
    return found


def _compared(graph: Graph, label: str | None) -> str:
    """Return the scores of a model that answers with a label alone."""
    steps = graph.needed([label] if label else [])
    for step in reversed(steps):
        if step.op == "LinearClassifier":
            return step.outputs[1]
        if step.op == "ArgMax":
            return step.inputs[0]
        if step.op.startswith(("TreeEnsemble", "SVM")):
            return step.outputs[-1]  # refused by its name
    raise UnsupportedModelError(
        "the ONNX model answers with a label and shows no scores; export it with the "
        "scores of the classes"
    )


def _from_classifier(graph: Graph, scores: str) -> tuple[Value, ...] | None:
    for step in reversed(graph.needed([scores])):
        if step.op == "LinearClassifier":
            return _listed_classes(step)
    return None


def _plain(label: Any) -> Value:
    return label.decode() if isinstance(label, bytes) else label
