"""The one form that every model is read into: dense layers over encoded columns.

`network` and `layer` have the values `Network` and `Layer`, and `affine` one for
affine functions. `activations` defines each activation function,
`certified` evaluates a network in float64 with a proved error bound, and `exact` in
rational arithmetic. Imports `space`, `language` and `output`.
"""

from nn2rules.network.activations import ACTIVATIONS, Activation, activation
from nn2rules.network.affine import Affine
from nn2rules.network.certified import LARGEST, UNDERFLOW, UNIT
from nn2rules.network.exact import (
    UNDECIDED,
    exact_scores,
    exceeds_logit,
    logit_floor,
    settle,
)
from nn2rules.network.layer import Layer
from nn2rules.network.network import Network, checked_classes, labels_array

__all__ = [
    "ACTIVATIONS",
    "LARGEST",
    "UNDECIDED",
    "UNDERFLOW",
    "UNIT",
    "Activation",
    "Affine",
    "Layer",
    "Network",
    "activation",
    "checked_classes",
    "exact_scores",
    "exceeds_logit",
    "labels_array",
    "logit_floor",
    "settle",
]
