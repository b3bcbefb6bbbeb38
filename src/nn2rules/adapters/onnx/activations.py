"""The activations of ONNX that can be read where features have met."""

import math
from typing import Any

import numpy as np

from nn2rules.adapters.onnx.graph import Step
from nn2rules.adapters.onnx.walk import Fixed, Handler, Walk, first_input
from nn2rules.adapters.tracing import Tensor
from nn2rules.errors import UnsupportedModelError


def _activated(walk: Walk, step: Step, name: str, slope: float | None = None) -> Tensor:
    return walk.trace.affine(
        walk.trace.activate(first_input(walk, step), name, slope=slope)
    )


def _plain(name: str) -> Handler:
    return lambda walk, step: _activated(walk, step, name)


def _leaky_relu(walk: Walk, step: Step) -> Tensor:
    return _activated(walk, step, "leaky_relu", step.attributes.get("alpha", 0.01))


def _prelu(walk: Walk, step: Step) -> Tensor:
    slopes = walk.weights(step, 1)
    assert slopes is not None, "the checker asks for two inputs"
    if len(set(slopes.reshape(-1).tolist())) != 1:
        raise UnsupportedModelError("its units have different slopes")
    return _activated(walk, step, "leaky_relu", float(slopes.reshape(-1)[0]))


def _only(name: str, default: float = 1.0, wanted: float = 1.0) -> Handler:
    """Return the handler of an activation that is ours for one alpha only."""

    def handler(walk: Walk, step: Step) -> Tensor:
        alpha = step.attributes.get("alpha", default)
        if not math.isclose(alpha, wanted, rel_tol=1e-6):
            raise UnsupportedModelError(
                f"its alpha is {alpha:.6g}; nn2rules reads {wanted:.6g}"
            )
        if step.attributes.get("beta", 0.5) != 0.5:
            raise UnsupportedModelError("its beta is not 0.5")
        return _activated(walk, step, name)

    return handler


def _gelu(walk: Walk, step: Step) -> Tensor:
    if step.attributes.get("approximate", b"none") != b"none":
        raise UnsupportedModelError(
            "it is approximated by tanh; nn2rules reads the exact Gelu"
        )
    return _activated(walk, step, "gelu")


def _clip(walk: Walk, step: Step) -> Tensor:
    low, high = (
        _bound(walk, step, index, name) for index, name in enumerate(("min", "max"), 1)
    )
    return walk.trace.clip(first_input(walk, step), low, high)


def _bound(walk: Walk, step: Step, index: int, name: str) -> float | None:
    """Return a bound of Clip; None where there is none."""
    given: Any = walk.weights(step, index)
    if given is None:
        given = step.attributes.get(name)
    if given is None or abs(float(given)) >= float(np.finfo(np.float32).max):
        return None
    return float(given)


def _max(walk: Walk, step: Step) -> Tensor:
    fixed = [v for n in step.inputs if isinstance(v := walk.get(n), Fixed)]
    tensors = walk.tensors(step)
    if len(tensors) != 1 or len(fixed) != 1 or fixed[0].value.any():
        raise UnsupportedModelError("nn2rules reads the maximum of a number and 0 only")
    return walk.trace.activate(tensors[0], "relu")


ACTIVATIONS: dict[str, Handler] = {
    "Celu": _only("elu"),
    "Clip": _clip,
    "Elu": _only("elu"),
    "Gelu": _gelu,
    "HardSigmoid": _only("hard_sigmoid", 0.2, 1 / 6),
    "LeakyRelu": _leaky_relu,
    "Max": _max,
    "PRelu": _prelu,
    "Relu": _plain("relu"),
    "Sigmoid": _plain("sigmoid"),
    "Silu": _plain("silu"),
    "Softplus": _plain("softplus"),
    "Swish": _only("silu"),
    "Tanh": _plain("tanh"),
}
"""Every activation that can be read."""
