"""NeuronRule: from the rules of a neuron's inputs to its own (section 4.4)."""

from collections.abc import Sequence
from typing import TypeAlias, TypeVar

from nn2rules.errors import BudgetExceededError
from nn2rules.extraction.paper.lin_rule import (
    Behaviour,
    Outcomes,
    Piece,
    combine,
    lin_rule,
)
from nn2rules.extraction.paper.select_weights import LARGEST_LIST, Prefix

Payload = TypeVar("Payload")

Joined: TypeAlias = tuple[Prefix, tuple[Payload, ...]]
"""A rule, and what each of the joined lists attached to it."""


def conjunction(
    lists: Sequence[Sequence[tuple[Prefix, Payload]]],
) -> list[Joined[Payload]]:
    """Join lists of rules, two at a time, as a tree.

    Parameters
    ----------
    lists : sequence of lists of (rule, payload)
        Within a list no rule may be a prefix of another.

    Returns
    -------
    list of (rule, payloads)
        Every non-empty conjunction of one rule of each list, in ascending order, with
        the payloads of those rules.

    Notes
    -----
    Takes O(p n log(p n)) steps for p lists of n rules, instead of the O(n^p) of trying
    all combinations.

    Examples
    --------
    >>> conjunction([[((0,), "red"), ((1,), "yellow")],
    ...              [((0, 0), "small"), ((0, 1), "big"), ((1,), "any")]])
    [((0, 0), ('red', 'small')), ((0, 1), ('red', 'big')), ((1,), ('yellow', 'any'))]
    """
    level: list[list[Joined[Payload]]] = [
        sorted(((rule, (payload,)) for rule, payload in rules), key=lambda r: r[0])
        for rules in lists
    ]
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=False)
        odd = [level[-1]] if len(level) % 2 else []
        level = [_join(left, right) for left, right in pairs] + odd
    return level[0]


def _join(
    left: list[Joined[Payload]], right: list[Joined[Payload]]
) -> list[Joined[Payload]]:
    """Join two sorted lists with two pointers."""
    joined = []
    i = j = 0
    while i < len(left) and j < len(right):
        (rule, payloads), (other, others) = left[i], right[j]
        shorter = min(len(rule), len(other))
        if rule[:shorter] == other[:shorter]:
            longer = rule if len(rule) > len(other) else other
            joined.append((longer, payloads + others))
            # Equal rules are done with together: no other rule extends them.
            if len(rule) >= len(other):
                i += 1
            if len(other) >= len(rule):
                j += 1
        elif rule < other:
            i += 1
        else:
            j += 1
    return joined


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
