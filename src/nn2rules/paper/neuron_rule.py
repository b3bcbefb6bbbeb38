"""NeuronRule: from the rules of a neuron's inputs to its own (section 4.4)."""

from collections.abc import Sequence

from nn2rules.errors import BudgetExceededError
from nn2rules.paper.behaviour import Behaviour, Piece, combine
from nn2rules.paper.conjunction import conjunction
from nn2rules.paper.lin_rule import Outcomes, lin_rule
from nn2rules.paper.select_weights import LARGEST_LIST


def neuron_rule(
    weights: Sequence[int],
    bias: int,
    inputs: Sequence[Sequence[Piece]],
    outcomes: Outcomes,
    *,
    threshold: int = 0,
) -> list[Piece]:
    """Return the pieces of a neuron whose inputs are neurons.

    Parameters
    ----------
    weights, bias
        Of the neuron, one weight for each input.
    inputs : for each input its list of pieces
    outcomes, threshold
        As in `lin_rule`.

    Notes
    -----
    The three steps of the paper: the conjunction of the inputs' rules, the combination
    of their behaviours, and LinRule on the combination, which extends the conjunction.
    Many rules share their behaviours (a first-layer neuron has just two), so each
    combination is worked out once.
    """
    combined: dict[tuple[int, ...], Behaviour] = {}
    pieces: list[Piece] = []
    lists = [[(piece.prefix, piece.behaviour) for piece in rules] for rules in inputs]
    for precondition, behaviours in conjunction(lists):
        key = tuple(map(id, behaviours))
        if key not in combined:
            combined[key] = combine(weights, bias, behaviours)
        pieces += lin_rule(
            combined[key], outcomes, threshold=threshold, precondition=precondition
        )
        if len(pieces) > LARGEST_LIST:
            raise BudgetExceededError(f"more than {LARGEST_LIST:,} rules")
    return pieces
