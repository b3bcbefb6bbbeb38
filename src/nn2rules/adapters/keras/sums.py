"""Layers and operations of Keras that add up what they are given."""

from dataclasses import replace
from typing import Any

import keras
import numpy as np
from numpy.typing import NDArray

from nn2rules.adapters.keras.activations import by_function
from nn2rules.adapters.keras.graph import Handler, Walk
from nn2rules.adapters.keras.step import Step
from nn2rules.adapters.keras.tables import format_of, numpy_of
from nn2rules.adapters.tracing import CONSTANT, Columns, Tensor
from nn2rules.errors import UnsupportedModelError
from nn2rules.values import text_of

PRODUCT = (
    "multiplies two numbers that both depend on the input; nn2rules reads sums with "
    "fixed weights"
)
_ROUNDINGS = 8  # of a normalization: a sum, a root, a quotient, two products, …


def dense(walk: Walk, step: Step) -> Tensor | list[Tensor]:
    """Read a Dense layer with its activation."""
    layer = step.op
    if getattr(layer, "quantization_mode", None):
        raise UnsupportedModelError(
            "its weights are quantized, and it rounds what it is given; extract the "
            "rules before quantizing"
        )
    kernel = _weights(layer, layer.kernel)
    bias = None if layer.bias is None else _weights(layer, layer.bias)
    result = walk.trace.linear(step.tensors[0], kernel, bias)
    if format_of(layer.compute_dtype) != layer.compute_dtype:
        result = walk.trace.affine(result)
        result = replace(result, terms=result.terms + 2)  # it rounds what it is given
    return by_function(walk, result, step)


def _weights(layer: Any, variable: Any) -> NDArray[Any]:
    """Return weights as the layer uses them: rounded to its format."""
    return numpy_of(keras.ops.cast(variable, format_of(layer.compute_dtype)))


def embedding(walk: Walk, step: Step) -> Tensor | list[Tensor]:
    """Read an Embedding: Keras looks up the codes of each feature."""
    layer, columns = step.op, step.columns
    if columns is None:
        raise UnsupportedModelError(
            "takes the codes of features, and is given numbers that layers computed"
        )
    for owner, table in zip(columns[0].owners, columns[0].tables, strict=True):
        codes = np.asarray(table).astype(np.float64)
        wrong = ~((codes > -1) & (codes < layer.input_dim))
        if wrong.any():
            index, given = int(np.argmax(wrong)), "a feature"
            if owner != CONSTANT:
                feature = walk.trace.domain.features[owner]
                given = f"{feature.name!r} = {text_of(feature.values[index])}"
            raise UnsupportedModelError(
                f"takes codes from 0 to {layer.input_dim - 1}, and {given} gives "
                f"{codes[index]:g}"
            )
    walk.is_masked = walk.is_masked or bool(layer.mask_zero)
    return walk.spread(step)


def batch_normalization(walk: Walk, step: Step) -> Tensor:
    """Read a BatchNormalization, with its moving statistics."""
    layer, tensor = step.op, step.tensors[0]
    mean, variance = numpy_of(layer.moving_mean), numpy_of(layer.moving_variance)
    factor = 1 / np.sqrt(variance.astype(np.float64) + layer.epsilon)
    if layer.scale:
        factor = factor * numpy_of(layer.gamma)
    beta = numpy_of(layer.beta) if layer.center else np.zeros_like(factor)
    axis = layer.axis - 1 if layer.axis > 0 else layer.axis
    shape = [1] * len(tensor.shape)
    shape[axis] = -1
    shift, size = beta - mean * factor, np.abs(beta) + np.abs(mean * factor)
    return _scaled(walk, step, *(a.reshape(shape) for a in (factor, shift, size)))


def normalization(walk: Walk, step: Step) -> Tensor:
    """Read a Normalization."""
    layer = step.op
    mean = numpy_of(layer.mean).astype(np.float64)[0]
    variance = numpy_of(layer.variance).astype(np.float64)[0]
    spread = np.maximum(np.sqrt(variance), keras.config.epsilon())
    if layer.invert:
        return _scaled(walk, step, spread, mean, np.abs(mean))
    return _scaled(walk, step, 1 / spread, -mean / spread, np.abs(mean / spread))


def rescaling(walk: Walk, step: Step) -> Tensor:
    """Read a Rescaling."""
    factor = np.asarray(step.op.scale, dtype=np.float64)
    shift = np.asarray(step.op.offset, dtype=np.float64)
    return _scaled(walk, step, factor, shift, np.abs(shift))


def _scaled(
    walk: Walk,
    step: Step,
    factor: NDArray[np.float64],
    shift: NDArray[np.float64],
    size: NDArray[np.float64],
) -> Tensor:
    """Return ``x * factor + shift``; of features that have not met, as Keras does."""
    done, tensor = walk.elementwise(step), step.tensors[0]
    if done is not None:
        return done
    size = np.broadcast_to(size, tensor.shape)
    result = walk.trace.affine(walk.trace.scale(tensor, factor, shift, size))
    return replace(result, terms=result.terms + _ROUNDINGS)


def added(sign: int = 1) -> Handler:
    """Return the reader of sums, or with `sign` -1 of differences."""

    def add(walk: Walk, step: Step) -> Tensor:
        if not step.is_layer and (done := _constant_step(walk, step)) is not None:
            return done
        first, *rest = _operands(walk, step)
        for other in rest:
            first = walk.trace.add(first, other, sign=sign)
        return first

    return add


def average(walk: Walk, step: Step) -> Tensor:
    """Read the mean of several tensors."""
    total = added()(walk, step)
    assert not isinstance(total, list), "a sum is one tensor"
    return walk.trace.scale(total, 1 / len(step.tensors))


def multiplied(walk: Walk, step: Step) -> Tensor | list[Tensor]:
    """Read a product with a constant."""
    if (done := _constant_step(walk, step)) is not None:
        return done
    left, right = _operands(walk, step)
    if len(step.tensors) > 1 and step.columns is not None:
        return walk.spread(step, PRODUCT)
    return walk.trace.multiply(left, right)


def divided(walk: Walk, step: Step) -> Tensor | list[Tensor]:
    """Read a quotient by a constant."""
    if (done := _constant_step(walk, step)) is not None:
        return done
    left, right = _operands(walk, step)
    if not (isinstance(right, Columns) and right.is_constant):
        if step.columns is not None:
            return walk.spread(step)
        raise UnsupportedModelError("divides by a number that depends on the input")
    return walk.trace.multiply(left, walk.trace.constant(1 / right.value))


def negative(walk: Walk, step: Step) -> Tensor:
    """Read a change of sign."""
    return walk.trace.scale(step.tensors[0], -1.0)


def _constant_step(walk: Walk, step: Step) -> Tensor | None:
    """Let Keras add or multiply constants to features that have not met."""
    if len(step.tensors) != 1 or step.columns is None:
        return None
    operands = _operands(walk, step)
    shape = np.broadcast_shapes(*(operand.shape for operand in operands))
    return walk.elementwise(step) if shape == step.tensors[0].shape else None


def _operands(walk: Walk, step: Step) -> list[Tensor]:
    """Return what is added or multiplied; arrays are constants."""
    known = dict(zip(map(id, step.symbols), step.tensors, strict=True))
    rank = max(len(tensor.shape) for tensor in step.tensors)
    found: list[Tensor] = []
    for arg in keras.tree.flatten((step.args, step.kwargs)):
        if id(arg) in known:
            tensor = known[id(arg)]
            if not step.is_layer and len(tensor.shape) != rank:
                raise UnsupportedModelError("mixes rows of a batch")
            found.append(tensor)
            continue
        array = numpy_of(arg) if hasattr(arg, "dtype") else np.asarray(arg)
        if array.ndim > rank:
            if array.ndim > rank + 1 or len(array) != 1:
                raise UnsupportedModelError("mixes rows of a batch")
            array = array[0]
        found.append(walk.trace.constant(array))
    return found


def matmul(walk: Walk, step: Step) -> Tensor:
    """Read a product with a constant matrix."""
    left, right = (*step.args, *step.kwargs.values())
    if len(step.tensors) > 1 or left is not step.symbols[0]:
        raise UnsupportedModelError(PRODUCT)
    matrix = numpy_of(keras.ops.convert_to_tensor(right))
    if matrix.ndim != 2:
        raise UnsupportedModelError("multiplies with an array that is no matrix")
    result = walk.trace.affine(walk.trace.linear(step.tensors[0], matrix))
    return replace(result, terms=result.terms + 2)  # formats may differ


def reduced(*, mean: bool) -> Handler:
    """Return the reader of sums, or means, over axes of a row."""

    def reduce(walk: Walk, step: Step) -> Tensor:
        axis, rank = step.op.axis, len(step.tensors[0].shape)
        axes = [axis] if isinstance(axis, int) else list(axis or range(rank + 1))
        rows = sorted({a - 1 if a >= 0 else a + rank for a in axes})
        if rows[:1] == [-1]:
            raise UnsupportedModelError("mixes rows of a batch")
        return walk.trace.total(step.tensors[0], rows, mean=mean, keep=step.op.keepdims)

    return reduce


def pooled(walk: Walk, step: Step) -> Tensor:
    """Read a mean over the first axis of a row."""
    layer = step.op
    if walk.is_masked or layer.data_format != "channels_last":
        raise UnsupportedModelError(
            "averages over what a mask leaves; nn2rules reads an average over all"
        )
    return walk.trace.total(step.tensors[0], [0], mean=True, keep=layer.keepdims)
