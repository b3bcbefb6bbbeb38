"""LinRule: where is one linear function above a threshold? (sections 4.2 and 4.3).

A ReLU network is piecewise linear, so on a small enough part of the domain each of
its neurons is a linear function of the one-hot input: weights and a bias. The paper
calls this the neuron's *behaviour* under the rule that describes the part.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import TypeAlias

from nn2rules.extraction.paper.select_weights import (
    Buckets,
    Prefix,
    canonical,
    extensions,
)


@dataclass(frozen=True, eq=False)
class Behaviour:
    """A linear function of the one-hot input, in whole numbers.

    Parameters
    ----------
    weights : for each feature, in the order of the rules, the weights of its values
    bias : int
    """

    weights: tuple[tuple[int, ...], ...]
    bias: int

    @cached_property
    def active_buckets(self) -> Buckets:
        """The weights as SelectWeights wants them."""
        return canonical(self.weights)

    @cached_property
    def inactive_buckets(self) -> Buckets:
        """The negated weights as SelectWeights wants them."""
        return canonical([[-weight for weight in bucket] for bucket in self.weights])


@dataclass(frozen=True, slots=True)
class Piece:
    """One tuple (rule, weights, bias) of a neuron's list.

    Attributes
    ----------
    prefix : tuple of int
        The rule: the codes of the values of the first features.
    behaviour : Behaviour
        What the neuron outputs wherever the rule holds.
    active : bool
        Whether its pre-activation exceeds the threshold there.
    """

    prefix: Prefix
    behaviour: Behaviour
    active: bool


def combine(
    weights: Sequence[int], bias: int, behaviours: Sequence[Behaviour]
) -> Behaviour:
    """Return the behaviour of a neuron that adds up its inputs' behaviours."""
    total = [[0] * len(bucket) for bucket in behaviours[0].weights]
    for weight, behaviour in zip(weights, behaviours, strict=True):
        if weight == 0:
            continue
        bias += weight * behaviour.bias
        total = [
            [t + w * b for t, w, b in zip(ts, repeat(weight), bs, strict=False)]
            for ts, bs in zip(total, behaviour.weights, strict=True)
        ]
    return Behaviour(tuple(tuple(bucket) for bucket in total), bias)


Outcomes: TypeAlias = Callable[[Behaviour], tuple[Behaviour, Behaviour]]
"""From a pre-activation to what the neuron outputs if active, and if inactive."""


def lin_rule(
    behaviour: Behaviour,
    outcomes: Outcomes,
    *,
    threshold: int = 0,
    precondition: Prefix = (),
) -> list[Piece]:
    """Split the inputs by whether a neuron is active.

    Parameters
    ----------
    behaviour : Behaviour
        The neuron's pre-activation y.
    outcomes : callable
        What the neuron outputs where it is active, and where it is inactive.
    threshold : int
        The neuron is active where y > `threshold`, and inactive where y ≤ `threshold`.
    precondition : tuple of int
        Consider only inputs that begin so.

    Returns
    -------
    list of Piece
        Exactly one of them holds for each input that meets the precondition.

    Notes
    -----
    In whole numbers y ≤ t is the same as −y > −t − 1, so SelectWeights, which knows
    only "exceeds", serves both sides, and a tie belongs to the inactive one.
    """
    active, inactive = outcomes(behaviour)
    positive = extensions(
        behaviour.active_buckets, precondition, threshold - behaviour.bias
    )
    negative = extensions(
        behaviour.inactive_buckets, precondition, behaviour.bias - threshold - 1
    )
    return [
        *(Piece(prefix, active, True) for prefix in positive),
        *(Piece(prefix, inactive, False) for prefix in negative),
    ]
