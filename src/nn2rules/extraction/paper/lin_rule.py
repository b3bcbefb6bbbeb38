"""LinRule: where is one linear function above a threshold? (section 4.3)."""

from collections.abc import Callable
from typing import TypeAlias

from nn2rules.extraction.paper.behaviour import Behaviour, Piece
from nn2rules.extraction.paper.select_weights import Prefix, extensions

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
