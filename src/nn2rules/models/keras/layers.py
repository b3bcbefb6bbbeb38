"""What each layer and operation of Keras does, and why some cannot be read."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import keras
import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import UnsupportedModelError
from nn2rules.models.keras.calls import Call, Walk, format_of, numpy_of, plain, spread
from nn2rules.models.tracing import (
    CONSTANT,
    ENTRYWISE,
    FIXED,
    OPERATIONS,
    SEVERAL,
    Step,
    Tensor,
    columns_of,
    take,
)
from nn2rules.network import ACTIVATIONS
from nn2rules.space import text_of

Options: TypeAlias = Callable[[Walk, Call], dict[str, Any]]

_NORMALIZING = 8
"""The roundings of a normalization: a sum, a root, a quotient, two products, …"""


def _at(**attributes: str) -> Options:
    """Find options by the attributes of a layer or an operation."""
    return lambda _walk, call: {
        name: plain(getattr(call.op, attribute))
        for name, attribute in attributes.items()
    }


def _softmax(walk: Walk, call: Call) -> dict[str, Any]:
    if walk.is_masked or len(call.tensors) > 1:
        raise UnsupportedModelError(
            "its softmax has a mask; nn2rules reads a softmax over all units"
        )
    return {"axis": call.op.axis}


def _clip(_walk: Walk, call: Call) -> dict[str, Any]:
    """Find the limits, as Keras rounds them."""
    limits = (keras.ops.convert_to_tensor(x) for x in (call.op.x_min, call.op.x_max))
    return dict(zip(("low", "high"), map(numpy_of, limits), strict=True))


def _cast(_walk: Walk, call: Call) -> dict[str, Any]:
    return {"is_float": str(call.op.dtype).startswith(("float", "bfloat"))}


def _matmul(_walk: Walk, call: Call) -> dict[str, Any]:
    left, right = (*call.args, *call.kwargs.values())
    if len(call.tensors) > 1 or left is not call.symbols[0]:
        raise UnsupportedModelError(FIXED)
    matrix = numpy_of(keras.ops.convert_to_tensor(right))
    return {"weights": matrix, "roundings": 2}  # formats may differ


def _batch_normalization(_walk: Walk, call: Call) -> dict[str, Any]:
    layer = call.op
    return {
        "mean": numpy_of(layer.moving_mean),
        "variance": numpy_of(layer.moving_variance),
        "epsilon": layer.epsilon,
        "scale": numpy_of(layer.gamma) if layer.scale else None,
        "shift": numpy_of(layer.beta) if layer.center else None,
        "axis": layer.axis,
        "roundings": _NORMALIZING // 2,
    }


def _normalization(_walk: Walk, call: Call) -> dict[str, Any]:
    mean, variance = (
        numpy_of(numbers).astype(np.float64)[0]
        for numbers in (call.op.mean, call.op.variance)
    )
    spread = np.maximum(np.sqrt(variance), keras.config.epsilon())
    factor, shift = 1 / spread, -mean / spread
    if call.op.invert:
        factor, shift = spread, mean
    return {"factor": factor, "shift": shift, "roundings": _NORMALIZING}


def _rescaling(_walk: Walk, call: Call) -> dict[str, Any]:
    options = {"factor": call.op.scale, "shift": call.op.offset}
    return {**options, "roundings": _NORMALIZING}


_KEPT = (
    *("ActivityRegularization", "AlphaDropout", "Dropout", "GaussianDropout"),
    *("GaussianNoise", "Identity", "SpatialDropout1D", "SpatialDropout2D"),
)
_ALPHA, _SLOPE = _at(alpha="alpha"), _at(slope="negative_slope")
_REDUCED = _at(axes="axis", keep="keepdims")

READABLE: dict[str, tuple[str, Options]] = {
    **dict.fromkeys(_KEPT, ("identity", _at())),
    **dict.fromkeys(
        ("Absolute", "Exp", "Log", "Log1p", "Sqrt", "Square"), ("each", _at())
    ),
    "Add": ("add", _at()),
    "Average": ("average", _at()),
    "BatchNormalization": ("normalize", _batch_normalization),
    "Cast": ("cast", _cast),
    "Clip": ("clip", _clip),
    "Divide": ("divide", _at()),
    "ELU": ("elu", _ALPHA),
    "Elu": ("elu", _ALPHA),
    "Gelu": ("gelu", _at(approximate="approximate")),
    "HardSigmoid": ("hard_sigmoid", _at()),
    "HardTanh": ("hard_tanh", _at()),
    "LeakyReLU": ("leaky_relu", _SLOPE),
    "LeakyRelu": ("leaky_relu", _SLOPE),
    "LogSoftmax": ("log_softmax", _softmax),
    "Matmul": ("linear", _matmul),
    "Mean": ("mean", _REDUCED),
    "Multiply": ("multiply", _at()),
    "Negative": ("negative", _at()),
    "Normalization": ("scale", _normalization),
    "PReLU": ("prelu", _at(slopes="alpha")),
    "ReLU": (
        "relu",
        _at(slope="negative_slope", most="max_value", start="threshold"),
    ),
    "Relu": ("relu", _at()),
    "Relu6": ("relu6", _at()),
    "Rescaling": ("scale", _rescaling),
    "Sigmoid": ("sigmoid", _at()),
    "Silu": ("silu", _at()),
    "Softmax": ("softmax", _softmax),
    "Softplus": ("softplus", _at()),
    "Subtract": ("subtract", _at()),
    "Sum": ("sum", _REDUCED),
    "Tanh": ("tanh", _at()),
    "TrueDivide": ("divide", _at()),
}
"""From each one that a network can express to its operation and options."""

MOVES = (
    *("Concatenate", "Cropping1D", "ExpandDims", "Flatten", "Flip", "GetItem"),
    *("Moveaxis", "Permute", "Repeat", "RepeatVector", "Reshape", "Split"),
    *("Squeeze", "Stack", "Swapaxes", "Transpose"),
)
"""Layers and operations that only rearrange entries."""


_PRODUCT = (
    "it multiplies two numbers that both depend on the input; nn2rules reads weighted "
    "sums with fixed weights"
)

_FUNCTIONS: dict[Any, tuple[str, dict[str, Any]]] = {
    getattr(keras.activations, name): (name, {})
    for name in (
        *("elu", "gelu", "hard_sigmoid", "hard_tanh", "log_softmax", "relu", "relu6"),
        *("sigmoid", "silu", "softmax", "softplus", "tanh"),
    )
} | {
    keras.activations.leaky_relu: ("leaky_relu", {"slope": 0.2}),
    keras.activations.linear: ("identity", {}),
}
"""From the activation functions of layers to operations with options."""


def read(walk: Walk, call: Call) -> list[Tensor]:
    """Take a step that other frameworks also have."""
    kind, options = READABLE[call.name]
    several = call.operands(walk.trace) if kind in SEVERAL else None

    def read() -> Tensor:
        if kind not in OPERATIONS:
            raise UnsupportedModelError(
                "nn2rules cannot read this operation once features are combined"
            )
        operands = several or call.tensors[:1]
        return OPERATIONS[kind](walk.trace, *operands, **options(walk, call))

    is_sum = kind in OPERATIONS and kind not in ENTRYWISE
    run = None if is_sum else call.run
    return take(walk.trace, Step(kind, call.tensors, run, read))


def _dense(walk: Walk, call: Call) -> list[Tensor]:
    """Read a Dense layer with its activation."""
    layer = call.op
    if getattr(layer, "quantization_mode", None):
        raise UnsupportedModelError(
            "it is quantized, so it rounds its weights and inputs; extract the rules "
            "before quantizing"
        )
    kernel = _weights(layer, layer.kernel)
    bias = None if layer.bias is None else _weights(layer, layer.bias)
    result = walk.trace.linear(call.tensors[0], kernel, bias)
    if format_of(layer.compute_dtype) != layer.compute_dtype:
        result = walk.trace.rounded(result, 2)  # it rounds its input
    return _activation(walk, replace(call, tensors=(result,)))


def _weights(layer: Any, variable: Any) -> NDArray[Any]:
    """Return weights as the layer uses them, rounded to its format."""
    return numpy_of(keras.ops.cast(variable, format_of(layer.compute_dtype)))


def _activation(walk: Walk, call: Call) -> list[Tensor]:
    """Read the activation of a layer, which is a function or a layer."""
    function = call.op.activation
    inner = replace(call, op=function)
    if isinstance(function, keras.Layer) and inner.name in READABLE:
        kind, options = READABLE[inner.name]
        return [OPERATIONS[kind](walk.trace, *call.tensors, **options(walk, inner))]
    if function not in _FUNCTIONS:
        called = getattr(function, "__name__", type(function).__name__)
        raise UnsupportedModelError(
            f"the activation {called!r} is not supported; nn2rules reads "
            f"{', '.join(sorted(ACTIVATIONS))} and, as the last step, softmax"
        )
    name, fixed_options = _FUNCTIONS[function]
    return [OPERATIONS[name](walk.trace, *call.tensors, **fixed_options)]


def _embedding(walk: Walk, call: Call) -> list[Tensor]:
    """Read an Embedding: Keras looks up the codes of each feature."""
    layer, columns = call.op, columns_of(call.tensors)
    if columns is None:
        raise UnsupportedModelError(
            "it must take the codes of features, but gets numbers that layers computed"
        )
    [codes] = columns
    for owner, table in zip(codes.owners, codes.tables, strict=True):
        numbers = np.asarray(table).astype(np.float64)
        wrong = ~((numbers > -1) & (numbers < layer.input_dim))
        if wrong.any():
            index, subject, name = int(np.argmax(wrong)), "a feature", None
            if owner != CONSTANT:
                feature = walk.trace.domain.features[owner]
                name = feature.name
                subject = f"{name!r} = {text_of(feature.values[index])}"
            raise UnsupportedModelError(
                f"it takes codes from 0 to {layer.input_dim - 1}, but {subject} has "
                f"the "
                f"code {numbers[index]:g}",
                feature=name,
            )
    walk.is_masked = walk.is_masked or bool(layer.mask_zero)
    return [*spread(walk.trace.domain, [codes], call.run)]


def _pooled(walk: Walk, call: Call) -> list[Tensor]:
    """Read a mean over the first axis of a row."""
    layer = call.op
    if walk.is_masked or layer.data_format != "channels_last":
        raise UnsupportedModelError(
            "it averages over the entries that a mask leaves; nn2rules reads an "
            "average "
            "over all entries"
        )
    mean = OPERATIONS["mean"]
    return [mean(walk.trace, call.tensors[0], axes=1, keep=layer.keepdims)]


OWN: dict[str, Callable[[Walk, Call], list[Tensor]]] = {
    "Activation": _activation,
    "Dense": _dense,
    "Embedding": _embedding,
    "GlobalAveragePooling1D": _pooled,
}
"""Layers that only Keras has."""


def _no_tables() -> dict[str, str]:
    reasons = {}
    for name in dir(keras.layers):
        if "Conv" in name and "LSTM" not in name:
            reasons[name] = (
                "a convolution is for images and sequences; nn2rules reads networks "
                "for tabular data, made of Dense layers"
            )
        elif name.startswith(("LSTM", "GRU", "SimpleRNN", "RNN", "ConvLSTM")):
            reasons[name] = (
                "a recurrent layer is for sequences; nn2rules reads networks for "
                "tabular data, made of Dense layers"
            )
    reasons["Bidirectional"] = reasons["LSTM"]
    return reasons


NO_TABLES = _no_tables()
"""Layers of models for images or sequences, and why these are refused."""


def _reasons() -> dict[str, str]:
    reasons = {
        "Lambda": "it is Python code, which nn2rules cannot read; use Keras layers",
        "HashedCrossing": "it makes one number from two features, but nn2rules reads "
        "numbers that come from one feature each; cross the columns of your data",
    }
    for name in ("LayerNormalization", "GroupNormalization", "RMSNormalization"):
        reasons[name] = (
            "it divides each unit by the spread of all units, which is not a weighted "
            "sum "
            "of the features; use BatchNormalization"
        )
    reasons["UnitNormalization"] = reasons["LayerNormalization"]
    for name in ("Maximum", "Minimum"):
        reasons[name] = "it compares two numbers that both depend on the input"
    attention = [name for name in dir(keras.layers) if "Attention" in name]
    return reasons | dict.fromkeys(("Dot", *attention), _PRODUCT)


REFUSED = _reasons()
"""Why some layers cannot be read once features are combined."""
