"""What of Keras can be read, and why the rest cannot."""

from dataclasses import replace

import keras

from nn2rules.adapters.keras import activations as activations
from nn2rules.adapters.keras import sums as sums
from nn2rules.adapters.keras.graph import Handler, Readable, Walk
from nn2rules.adapters.keras.step import Step
from nn2rules.adapters.tracing import Tensor
from nn2rules.errors import UnsupportedModelError


def _same(_walk: Walk, step: Step) -> Tensor:
    return step.tensors[0]


def _entrywise(walk: Walk, step: Step) -> Tensor:
    done = walk.elementwise(step)
    if done is None:
        raise UnsupportedModelError(
            "nn2rules cannot read this operation once features have met"
        )
    return done


def _cast(walk: Walk, step: Step) -> Tensor:
    done = walk.elementwise(step)
    if done is not None:
        return done
    if not str(step.op.dtype).startswith(("float", "bfloat")):
        raise UnsupportedModelError("rounds numbers that depend on several features")
    tensor = walk.trace.affine(step.tensors[0])
    return replace(tensor, terms=tensor.terms + 1)


_LAYERS: dict[str, Handler] = {
    "Activation": activations.activation,
    "ActivityRegularization": _same,
    "Add": sums.added(),
    "AlphaDropout": _same,
    "Average": sums.average,
    "BatchNormalization": sums.batch_normalization,
    "Dense": sums.dense,
    "Dropout": _same,
    "ELU": activations.elu,
    "Embedding": sums.embedding,
    "GaussianDropout": _same,
    "GaussianNoise": _same,
    "GlobalAveragePooling1D": sums.pooled,
    "Identity": _same,
    "LeakyReLU": activations.leaky_relu,
    "Normalization": sums.normalization,
    "PReLU": activations.prelu,
    "ReLU": activations.relu,
    "Rescaling": sums.rescaling,
    "Softmax": activations.softmax("softmax"),
    "SpatialDropout1D": _same,
    "SpatialDropout2D": _same,
    "Subtract": sums.added(-1),
}
"""Layers that are read even where features have met."""

_OPERATIONS: dict[str, Handler] = {
    "Absolute": _entrywise,
    "Add": sums.added(),
    "Cast": _cast,
    "Clip": activations.clip,
    "Divide": sums.divided,
    "Elu": activations.elu,
    "Exp": _entrywise,
    "Gelu": activations.gelu,
    "HardSigmoid": activations.named("hard_sigmoid"),
    "HardTanh": activations.named("hard_tanh"),
    "LeakyRelu": activations.leaky_relu,
    "Log": _entrywise,
    "Log1p": _entrywise,
    "LogSoftmax": activations.softmax("log_softmax"),
    "Matmul": sums.matmul,
    "Mean": sums.reduced(mean=True),
    "Multiply": sums.multiplied,
    "Negative": sums.negative,
    "ReLU": activations.relu,
    "Relu": activations.named("relu"),
    "Relu6": activations.relu6,
    "Sigmoid": activations.named("sigmoid"),
    "Silu": activations.named("silu"),
    "Softmax": activations.softmax("softmax"),
    "Softplus": activations.named("softplus"),
    "Sqrt": _entrywise,
    "Square": _entrywise,
    "Subtract": sums.added(-1),
    "Sum": sums.reduced(mean=False),
    "Tanh": activations.named("tanh"),
    "TrueDivide": sums.divided,
}
"""Operations of `keras.ops`."""

_MOVES = frozenset(
    {
        *("Concatenate", "Cropping1D", "ExpandDims", "Flatten", "Flip", "GetItem"),
        *("Moveaxis", "Permute", "Repeat", "RepeatVector", "Reshape", "Split"),
        *("Squeeze", "Stack", "Swapaxes", "Transpose"),
    }
)
"""Layers and operations that pick and place entries, and compute nothing."""


def _no_tables() -> dict[str, str]:
    reasons = {}
    for name in dir(keras.layers):
        if "Conv" in name and "LSTM" not in name:
            reasons[name] = (
                "a convolution is for images and series; nn2rules reads networks whose "
                "inputs are columns, made of Dense layers"
            )
        elif name.startswith(("LSTM", "GRU", "SimpleRNN", "RNN", "ConvLSTM")):
            reasons[name] = (
                "a recurrent layer is for series; nn2rules reads networks whose inputs "
                "are columns, made of Dense layers"
            )
    reasons["Bidirectional"] = reasons["LSTM"]
    return reasons


NO_TABLES = _no_tables()
"""Layers that say that a model is for images or for series, and why that matters."""


def _reasons() -> dict[str, str]:
    reasons = {
        "Multiply": sums.PRODUCT,
        "Lambda": "is Python code, which nn2rules cannot read; use layers of Keras",
        "HashedCrossing": "makes one number of two features, and nn2rules reads "
        "numbers that come from one feature each; cross the columns of your data",
    }
    for name in ("LayerNormalization", "GroupNormalization", "RMSNormalization"):
        reasons[name] = (
            "each unit is divided by a spread over all units, so it is no sum over the "
            "features; use BatchNormalization"
        )
    reasons["UnitNormalization"] = reasons["LayerNormalization"]
    for name in ("Maximum", "Minimum"):
        reasons[name] = "compares two numbers that both depend on the input"
    attention = [name for name in dir(keras.layers) if "Attention" in name]
    return reasons | dict.fromkeys(("Dot", *attention), sums.PRODUCT)


READABLE = Readable(_LAYERS, _OPERATIONS, _MOVES, _reasons())
"""All that this module knows."""
