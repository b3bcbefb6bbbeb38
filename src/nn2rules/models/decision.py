"""Decide what the output of a model means, for every adapter.

A single output can be a probability, so that the second class is predicted above the
threshold; or a score, so that the second class is predicted above 0. The numbers alone
do not show which. So a single output is accepted in three cases: it comes from a final
sigmoid, the user declares it as a score, or the user declares it as a probability.
Anything else is refused, because a wrong guess would give rules that are wrong on half
of the inputs, and because the model may be a regression model without classes.

Of several outputs the largest wins, unless they look like a multi-label model.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import OptionError, UnsupportedModelError
from nn2rules.models.options import ModelOptions, ModelOutput
from nn2rules.models.tracing import Tensor, Trace
from nn2rules.network import ACTIVATIONS, Network, certified
from nn2rules.space import Value

Form: TypeAlias = Literal[
    "score", "probability", "sigmoid", "pair", "scores", "softmax", "log_softmax"
]
"""How a model's output follows from the scores of a network.

One output: the score itself; the score plus the threshold (a probability without a
sigmoid); its sigmoid. Two: both probabilities of a sigmoid. One for each class: the
scores themselves, their softmax, the logarithm of the softmax.
"""

OutputHint: TypeAlias = Literal["score", "number"]
"""What a model shows of its output, for example by its training loss."""

_TRIED = 2000
_NEAR = 1e-6  # constants are stored in float32
_SOLUTION = (
    "if it separates two classes, give output='score' (--model-output score) when a "
    "value above 0 means the second class, or output='probability' when a value above "
    "the threshold does"
)


@dataclass(frozen=True)
class Decision:
    """A network, and the meaning of the model's own outputs.

    Attributes
    ----------
    network : Network
    form : Form
    threshold : float
        The threshold for a probability.
    """

    network: Network
    form: Form
    threshold: float = 0.5

    def outputs(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the outputs of the model for scores of the network."""
        if self.form == "probability":
            return scores + self.threshold
        if self.form in ("sigmoid", "pair"):
            probabilities = ACTIVATIONS["sigmoid"].floats(scores)
            return probabilities if self.form == "sigmoid" else _both(probabilities)
        if self.form in ("softmax", "log_softmax"):
            less = scores - scores.max(axis=1, keepdims=True)
            logs = less - np.log(np.exp(less).sum(axis=1, keepdims=True))
            scores = logs if self.form == "log_softmax" else np.exp(logs)
        return scores

    def predicted(self, outputs: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the classes that the model's outputs mean."""
        if self.form == "score" and self.threshold == 0.5:
            return (outputs > 0).astype(np.int64)
        if self.form == "score":
            outputs = ACTIVATIONS["sigmoid"].floats(outputs)
        if self.form == "pair" and self.threshold != 0.5:
            outputs = outputs[:, 1]
        if outputs.ndim == 1:
            return (outputs > self.threshold).astype(np.int64)
        return np.asarray(outputs.argmax(axis=1))

    @property
    def has_probabilities(self) -> bool:
        """Whether the outputs lie between 0 and 1."""
        return self.form in ("probability", "sigmoid", "pair", "softmax")

    @property
    def meaning(self) -> str:
        """The meaning of the outputs in words, for the certificate."""
        if self.form == "score" and self.threshold == 0.5:
            return "a score: the second class above 0"
        if self.form in ("scores", "softmax", "log_softmax"):
            return "a score for each class: the largest wins"
        return f"a probability: the second class above {self.threshold:g}"


def decide(
    trace: Trace,
    tensor: Tensor,
    labels: Sequence[Value],
    options: ModelOptions,
    *,
    unit: float,
    hint: OutputHint | None = None,
    is_classifier: bool = False,
) -> Decision:
    """Return the network of a traced model, and the meaning of its output.

    Parameters
    ----------
    trace, tensor
        The traced model, and its output.
    labels : sequence of class labels
    options : ModelOptions
        The options of the user.
    unit : float
        The unit roundoff of the framework: 2**-24 for float32.
    hint : OutputHint, optional
        What the model shows of its output.
    is_classifier : bool
        Whether the model itself names classes.
    """
    size = math.prod(tensor.shape)
    if options.threshold != 0.5 and size > 1 and not _is_pair(tensor):
        raise OptionError(
            "a threshold needs a model with a single probability; leave out `threshold`"
        )
    if tensor.ending is not None:
        scores, form = _before(trace, tensor, options)
    elif size > 1:
        if not is_classifier:
            _refuse_questions(trace, tensor, options, hint)
        scores, form = tensor, "scores"
    else:
        meaning: ModelOutput = "score"
        if not (is_classifier and hint == "score"):
            meaning = _understood(
                trace, tensor, options, hint, has_classes=is_classifier
            )
        scores, form = tensor, "score"
        if meaning == "probability":
            scores, form = trace.scale(tensor, 1.0, -options.threshold), "probability"
    network = trace.network(
        scores,
        labels,
        threshold=0.5 if form == "probability" else options.threshold,
        unit=unit,
        has_probabilities=form not in ("score", "probability", "scores")
        or options.threshold != 0.5,
    )
    return Decision(network, form, options.threshold)


def _both(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.stack([1 - probabilities, probabilities], axis=1)


def _is_pair(tensor: Tensor) -> bool:
    return tensor.ending is not None and "pair" in tensor.ending.kind


def _before(trace: Trace, tensor: Tensor, options: ModelOptions) -> tuple[Tensor, Form]:
    """Return the scores before the final step, and what that step makes of them."""
    ending, size = tensor.ending, math.prod(tensor.shape)
    assert ending is not None, "there is a last step"
    if size > 1 and ending.kind in ("sigmoid", "complement"):
        raise UnsupportedModelError(
            f"the model ends in {size} sigmoid units, so it is a multi-label model; "
            f"train one model for each label"
        )
    if options.output == "score" and not ending.is_softmax:
        raise OptionError(
            "output='score': the model ends in a sigmoid, so its output is a "
            "probability; leave out `output`"
        )
    scores = ending.scores
    if ending.kind in ("complement", "mirrored pair"):  # 1 - sigmoid(z) = sigmoid(-z)
        scores = trace.scale(scores, -1.0)
    forms: dict[str, Form] = {
        "complement": "sigmoid",
        "log_softmax": "log_softmax",
        "mirrored pair": "pair",
        "pair": "pair",
        "sigmoid": "sigmoid",
        "softmax": "softmax",
    }
    return scores, forms[ending.kind]


def _understood(
    trace: Trace,
    tensor: Tensor,
    options: ModelOptions,
    hint: OutputHint | None,
    has_classes: bool,
) -> ModelOutput:
    """Return the meaning of one output without a sigmoid, or refuse it."""
    if options.output is not None:
        return options.output
    plain = trace.network(tensor, (0, 1), unit=2.0**-53)
    if _is_probability(plain):
        raise UnsupportedModelError(
            f"the model's output lies between 0 and 1 but does not come from a final "
            f"sigmoid, so it may be a probability or a predicted number; {_SOLUTION}"
        )
    if hint == "score":
        return "score"
    if hint == "number":
        raise UnsupportedModelError(
            f"the model was trained with a regression loss; {_SOLUTION}"
        )
    has_classes = has_classes or options.classes is not None
    if has_classes and _has_both_signs(plain):
        return "score"
    raise UnsupportedModelError(
        f"the model ends in one number without a sigmoid, as regression models do; "
        f"{_SOLUTION}"
    )


def _refuse_questions(
    trace: Trace, tensor: Tensor, options: ModelOptions, hint: OutputHint | None
) -> None:
    """Refuse several outputs that may not be those of classes."""
    size = math.prod(tensor.shape)
    solution = (
        "if there is one output per class and the largest wins, give output='score' "
        "(--model-output score)"
    )
    if options.output is not None:
        return
    if _is_probability(trace.network(tensor, tuple(range(size)), unit=2.0**-53)):
        raise UnsupportedModelError(
            f"each of the model's {size} outputs lies between 0 and 1 without a "
            f"softmax, so it may be a multi-label model; {solution}"
        )
    if hint == "number" and options.classes is None:
        raise UnsupportedModelError(
            f"the model was trained to predict {size} numbers (regression loss); "
            f"{solution}"
        )


def _is_probability(network: Network) -> bool:
    """Tell whether the scores of a network lie between 0 and 1 on every input.

    Bounds are propagated from layer to layer, so True is certain and False is not.
    """
    first, *_ = network.layers
    blocks = np.split(first.weights, network.domain.offsets[1:-1])
    low = first.bias + sum(block.min(axis=0) for block in blocks)
    high = first.bias + sum(block.max(axis=0) for block in blocks)
    for before, layer in pairwise(network.layers):
        minimum = np.inf if before.activation not in ("gelu", "silu") else -0.3
        low, high = before.function.floats(low), before.function.floats(high)
        low, high = np.minimum(low, minimum), np.maximum(low, high)
        up, down = np.maximum(layer.weights, 0), np.minimum(layer.weights, 0)
        low, high = (
            layer.bias + low @ up + high @ down,
            layer.bias + high @ up + low @ down,
        )
    return bool((low >= -_NEAR).all() and (high <= 1 + _NEAR).all())


def _has_both_signs(network: Network) -> bool:
    """Tell whether an output is below 0 on some inputs and above 0 on others.

    A probability is never below 0, its logarithm never above.
    """
    domain = network.domain
    sizes = np.array(domain.sizes)
    codes = np.random.default_rng(11).integers(sizes, size=(_TRIED, len(sizes)))
    scores = certified.scores(network.layers, domain.offsets, codes)
    return bool((scores < 0).any() and (scores > 0).any())
