"""What the output of a model means: decided here, for every adapter.

One output can be a probability, and the second class is answered where it is larger
than the threshold; or a score, and the second class is answered above 0. The numbers
alone do not say which. So a single output is understood in three cases: it is that of
a last sigmoid; the user says that it is a score; the user says that it is a
probability. Anything else is refused with the question to answer, because a wrong guess
gives rules that are wrong on half of the inputs, and because the model may predict a
number and tell no classes apart.

Of several outputs the largest answers, unless they look like several questions.
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
    "score", "share", "sigmoid", "pair", "scores", "softmax", "log_softmax"
]
"""How a model's output is made of the scores of a network.

One output: the score itself; the threshold above it (a share that no sigmoid gave); its
sigmoid. Two: both shares of a sigmoid. One for each class: the scores themselves, their
softmax, the logarithms of that.
"""

Said: TypeAlias = Literal["score", "number"]
"""What a model itself says of its output, as by the loss that it was trained with."""

_TRIED = 2000
_NEAR = 1e-6  # constants are stored in float32
_SOLUTION = (
    "if it separates two classes, give output='score' (--model-output score) when a "
    "value above 0 means the second class, or output='probability' when a value above "
    "the threshold does"
)


@dataclass(frozen=True)
class Decision:
    """A network, and what the model's own outputs mean.

    Attributes
    ----------
    network : Network
    form : Form
    threshold : float
        What the user of the model compares a probability with.
    """

    network: Network
    form: Form
    threshold: float = 0.5

    def outputs(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what the model gives where the network has these scores."""
        if self.form == "share":
            return scores + self.threshold
        if self.form in ("sigmoid", "pair"):
            shares = ACTIVATIONS["sigmoid"].floats(scores)
            return shares if self.form == "sigmoid" else _both(shares)
        if self.form in ("softmax", "log_softmax"):
            less = scores - scores.max(axis=1, keepdims=True)
            logs = less - np.log(np.exp(less).sum(axis=1, keepdims=True))
            scores = logs if self.form == "log_softmax" else np.exp(logs)
        return scores

    def answers(self, outputs: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the classes that a user of the model takes from its outputs."""
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
    def has_shares(self) -> bool:
        """Whether the outputs lie between 0 and 1."""
        return self.form in ("share", "sigmoid", "pair", "softmax")

    @property
    def words(self) -> str:
        """How the outputs are understood, for the certificate."""
        if self.form == "score" and self.threshold == 0.5:
            return "a score: the second class above 0"
        if self.form in ("scores", "softmax", "log_softmax"):
            return "a number for each class: the largest answers"
        return f"a probability: the second class above {self.threshold:g}"


def decide(
    trace: Trace,
    tensor: Tensor,
    labels: Sequence[Value],
    how: ModelOptions,
    *,
    unit: float,
    said: Said | None = None,
    is_classifier: bool = False,
) -> Decision:
    """Return the network of a traced model, and what its output means.

    Parameters
    ----------
    trace, tensor
        What the model gives.
    labels : sequence of class labels
    how : ModelOptions
        What the user says.
    unit : float
        The unit roundoff of the framework: 2**-24 for float32.
    said : Said, optional
        What the model itself says.
    is_classifier : bool
        Whether the model itself has classes.
    """
    size = math.prod(tensor.shape)
    if how.threshold != 0.5 and size > 1 and not _is_pair(tensor):
        raise OptionError(
            "a threshold needs a model with a single probability; leave out `threshold`"
        )
    if tensor.ending is not None:
        scores, form = _before(trace, tensor, how)
    elif size > 1:
        if not is_classifier:
            _refuse_questions(trace, tensor, how, said)
        scores, form = tensor, "scores"
    else:
        meaning: ModelOutput = "score"
        if not (is_classifier and said == "score"):
            meaning = _understood(trace, tensor, how, said, has_classes=is_classifier)
        scores, form = tensor, "score"
        if meaning == "probability":
            scores, form = trace.scale(tensor, 1.0, -how.threshold), "share"
    network = trace.network(
        scores,
        labels,
        threshold=0.5 if form == "share" else how.threshold,
        unit=unit,
        has_shares=form not in ("score", "share", "scores") or how.threshold != 0.5,
    )
    return Decision(network, form, how.threshold)


def _both(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.stack([1 - shares, shares], axis=1)


def _is_pair(tensor: Tensor) -> bool:
    return tensor.ending is not None and "pair" in tensor.ending.kind


def _before(trace: Trace, tensor: Tensor, how: ModelOptions) -> tuple[Tensor, Form]:
    """Return the scores that a last step made shares of, and what it made."""
    ending, size = tensor.ending, math.prod(tensor.shape)
    assert ending is not None, "there is a last step"
    if size > 1 and ending.kind in ("sigmoid", "complement"):
        raise UnsupportedModelError(
            f"the model ends in {size} sigmoid units, so it is a multi-label model; "
            f"train one model for each label"
        )
    if how.output == "score" and not ending.is_softmax:
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
    how: ModelOptions,
    said: Said | None,
    has_classes: bool,
) -> ModelOutput:
    """Return what one output is that no sigmoid gave, or ask."""
    if how.output is not None:
        return how.output
    plain = trace.network(tensor, (0, 1), unit=2.0**-53)
    if _is_share(plain):
        raise UnsupportedModelError(
            f"the model's output lies between 0 and 1 but does not come from a final "
            f"sigmoid, so it may be a probability or a predicted number; {_SOLUTION}"
        )
    if said == "score":
        return "score"
    if said == "number":
        raise UnsupportedModelError(
            f"the model was trained with a regression loss; {_SOLUTION}"
        )
    has_classes = has_classes or how.classes is not None
    if has_classes and _has_both_signs(plain):
        return "score"
    raise UnsupportedModelError(
        f"the model ends in one number without a sigmoid, as regression models do; "
        f"{_SOLUTION}"
    )


def _refuse_questions(
    trace: Trace, tensor: Tensor, how: ModelOptions, said: Said | None
) -> None:
    """Refuse several outputs that need not be those of classes."""
    size = math.prod(tensor.shape)
    solution = (
        "if there is one output per class and the largest wins, give output='score' "
        "(--model-output score)"
    )
    if how.output is not None:
        return
    if _is_share(trace.network(tensor, tuple(range(size)), unit=2.0**-53)):
        raise UnsupportedModelError(
            f"each of the model's {size} outputs lies between 0 and 1 without a "
            f"softmax, so it may be a multi-label model; {solution}"
        )
    if said == "number" and how.classes is None:
        raise UnsupportedModelError(
            f"the model was trained to predict {size} numbers (regression loss); "
            f"{solution}"
        )


def _is_share(network: Network) -> bool:
    """Tell whether the scores of a network lie between 0 and 1 on every input.

    Bounds are passed on from layer to layer, so a yes is certain and a no is not.
    """
    first, *_ = network.layers
    blocks = np.split(first.weights, network.domain.offsets[1:-1])
    low = first.bias + sum(block.min(axis=0) for block in blocks)
    high = first.bias + sum(block.max(axis=0) for block in blocks)
    for before, layer in pairwise(network.layers):
        least = np.inf if before.activation not in ("gelu", "silu") else -0.3
        low, high = before.function.floats(low), before.function.floats(high)
        low, high = np.minimum(low, least), np.maximum(low, high)
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
    found = certified.scores(network.layers, domain.offsets, codes)
    return bool((found < 0).any() and (found > 0).any())
