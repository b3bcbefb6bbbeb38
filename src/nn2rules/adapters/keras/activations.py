"""Activations of Keras, as layers, as functions and as operations."""

from dataclasses import replace
from typing import Any

import keras

from nn2rules.activations import ACTIVATIONS
from nn2rules.adapters.keras.graph import Handler, Walk
from nn2rules.adapters.keras.step import Step
from nn2rules.adapters.keras.tables import numpy_of
from nn2rules.adapters.tracing import Affine, Tensor
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
    """Return an activation of every entry, and remember which it was."""
    if name in ("softmax", "log_softmax"):
        if tensor.shape[-1:] == (1,):
            raise UnsupportedModelError("the softmax of a single unit is always 1")
        walk.is_log = name == "log_softmax"
        name = "softmax"
    result = walk.trace.activate(tensor, name, slope=slope)
    walk.activations[result.level if isinstance(result, Affine) else 0] = name
    return result


def by_function(walk: Walk, tensor: Tensor, step: Step) -> Tensor | list[Tensor]:
    """Return the activation that a layer holds, as a function or as a layer."""
    function = step.op.activation
    if isinstance(function, keras.Layer):
        inner = replace(step, op=function, tensors=(tensor,))
        if inner.kind in _LAYERS:
            return walk.readable.layers[inner.kind](walk, inner)
    name = _FUNCTIONS.get(function)
    if name is None:
        called = getattr(function, "__name__", type(function).__name__)
        raise _unknown_activation(called)
    slope = _KERAS_SLOPE if name == "leaky_relu" else None
    return activated(walk, tensor, name, slope)


def _unknown_activation(name: str) -> UnsupportedModelError:
    if name == "relu6":
        return _cut_off(6)
    return UnsupportedModelError(
        f"the activation {name!r} is none that nn2rules reads; it reads "
        f"{', '.join(sorted(ACTIVATIONS))} and, as the last step, softmax"
    )


def _cut_off(largest: Any) -> UnsupportedModelError:
    return UnsupportedModelError(
        f"this ReLU is cut off at {largest:g}, and nn2rules reads plain ones only"
    )


def activation(walk: Walk, step: Step) -> Tensor | list[Tensor]:
    """Read an Activation layer."""
    return by_function(walk, step.tensors[0], step)


def relu(walk: Walk, step: Step) -> Tensor:
    """Read a ReLU, which may leak below zero, but not be cut off."""
    layer = step.op
    if layer.max_value is not None:
        raise _cut_off(layer.max_value)
    if layer.threshold:
        raise UnsupportedModelError(
            f"this ReLU starts at {layer.threshold:g}, and nn2rules reads those that "
            f"start at 0"
        )
    return _leaky(walk, step.tensors[0], layer.negative_slope)


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
