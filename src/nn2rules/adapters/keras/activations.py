"""Activations of Keras, as layers, as functions and as operations."""

from dataclasses import replace
from typing import Any

import keras

from nn2rules.activations import ACTIVATIONS
from nn2rules.adapters.keras.graph import Handler, Walk
from nn2rules.adapters.keras.step import Step
from nn2rules.adapters.keras.tables import numpy_of
from nn2rules.adapters.tracing import Tensor
from nn2rules.errors import UnsupportedModelError

_FUNCTIONS = {
    keras.activations.elu: "elu",
    keras.activations.gelu: "gelu",
    keras.activations.hard_sigmoid: "hard_sigmoid",
    keras.activations.hard_tanh: "hard_tanh",
    keras.activations.leaky_relu: "leaky_relu",
    keras.activations.linear: "identity",
    keras.activations.log_softmax: "log_softmax",
    keras.activations.relu: "relu",
    keras.activations.sigmoid: "sigmoid",
    keras.activations.silu: "silu",
    keras.activations.softmax: "softmax",
    keras.activations.softplus: "softplus",
    keras.activations.tanh: "tanh",
}
_LAYERS = ("Activation", "ELU", "LeakyReLU", "PReLU", "ReLU", "Softmax")
_KERAS_SLOPE = 0.2  # of keras.activations.leaky_relu


def activated(
    walk: Walk, tensor: Tensor, name: str, slope: float | None = None
) -> Tensor:
    """Return an activation of every entry."""
    return walk.trace.activate(tensor, name, slope=slope)


def by_function(walk: Walk, tensor: Tensor, step: Step) -> Tensor | list[Tensor]:
    """Return the activation that a layer holds, as a function or as a layer."""
    function = step.op.activation
    if isinstance(function, keras.Layer):
        inner = replace(step, op=function, tensors=(tensor,))
        if inner.kind in _LAYERS:
            return walk.readable.layers[inner.kind](walk, inner)
    if function is keras.activations.relu6:
        return walk.trace.clip(tensor, 0.0, 6.0)
    name = _FUNCTIONS.get(function)
    if name is None:
        called = getattr(function, "__name__", type(function).__name__)
        raise _unknown_activation(called)
    slope = _KERAS_SLOPE if name == "leaky_relu" else None
    return activated(walk, tensor, name, slope)


def _unknown_activation(name: str) -> UnsupportedModelError:
    return UnsupportedModelError(
        f"the activation {name!r} is none that nn2rules reads; it reads "
        f"{', '.join(sorted(ACTIVATIONS))} and, as the last step, softmax"
    )


def activation(walk: Walk, step: Step) -> Tensor | list[Tensor]:
    """Read an Activation layer."""
    return by_function(walk, step.tensors[0], step)


def relu(walk: Walk, step: Step) -> Tensor:
    """Read a ReLU, which may leak below zero, or be cut off above."""
    layer = step.op
    if layer.threshold:
        raise UnsupportedModelError(
            f"this ReLU starts at {layer.threshold:g}, and nn2rules reads those that "
            f"start at 0"
        )
    if layer.max_value is None:
        return _leaky(walk, step.tensors[0], layer.negative_slope)
    if layer.negative_slope:
        raise UnsupportedModelError(
            "this ReLU leaks and is cut off; nn2rules reads those that do one of these"
        )
    return walk.trace.clip(step.tensors[0], 0.0, float(layer.max_value))


def _leaky(walk: Walk, tensor: Tensor, slope: Any) -> Tensor:
    number = float(slope)
    if number == 0:
        return activated(walk, tensor, "relu")
    return activated(walk, tensor, "leaky_relu", number)


def leaky_relu(walk: Walk, step: Step) -> Tensor:
    """Read a leaky ReLU."""
    return _leaky(walk, step.tensors[0], step.op.negative_slope)


def prelu(walk: Walk, step: Step) -> Tensor:
    """Read a PReLU, if all its units have one slope."""
    slopes = numpy_of(step.op.alpha)
    if (slopes != slopes.reshape(-1)[0]).any():
        raise UnsupportedModelError(
            "each unit has its own slope, and nn2rules holds layers of one activation; "
            "use LeakyReLU"
        )
    return _leaky(walk, step.tensors[0], slopes.reshape(-1)[0])


def relu6(walk: Walk, step: Step) -> Tensor:
    """Read a ReLU that is cut off at 6."""
    return walk.trace.clip(step.tensors[0], 0.0, 6.0)


def clip(walk: Walk, step: Step) -> Tensor:
    """Read numbers that are cut off at two fixed limits."""
    done = walk.elementwise(step) if len(step.tensors) == 1 else None
    if done is not None:
        return done
    low, high = (
        numpy_of(keras.ops.convert_to_tensor(limit))
        for limit in (step.op.x_min, step.op.x_max)
    )
    if low.size > 1 or high.size > 1:
        raise UnsupportedModelError("its limits are arrays; give numbers")
    return walk.trace.clip(step.tensors[0], float(low), float(high))


def elu(walk: Walk, step: Step) -> Tensor:
    """Read an ELU of alpha 1."""
    if float(step.op.alpha) != 1:
        raise UnsupportedModelError(
            f"alpha is {step.op.alpha:g}, and nn2rules reads an ELU of alpha 1"
        )
    return activated(walk, step.tensors[0], "elu")


def gelu(walk: Walk, step: Step) -> Tensor:
    """Read the exact GELU."""
    if step.op.approximate:
        raise UnsupportedModelError(
            "this GELU is the approximate one; nn2rules reads approximate=False"
        )
    return activated(walk, step.tensors[0], "gelu")


def softmax(name: str) -> Handler:
    """Return the reader of a softmax over the last axis."""

    def softmax(walk: Walk, step: Step) -> Tensor:
        axis = step.op.axis
        if axis not in (-1, len(step.tensors[0].shape)):
            raise UnsupportedModelError(
                f"a softmax over axis {axis}; nn2rules reads one over the last axis"
            )
        if walk.is_masked or len(step.tensors) > 1:
            raise UnsupportedModelError("a softmax with a mask is none of all units")
        return activated(walk, step.tensors[0], name)

    return softmax


def named(name: str) -> Handler:
    """Return the reader of an operation that is an activation without options."""
    return lambda walk, step: activated(walk, step.tensors[0], name)
