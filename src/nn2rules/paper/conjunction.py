"""Conjunction: where do the rules of several lists hold together? (section 4.5).

Rules are prefixes in one order of the features. So the conjunction of two rules is
the longer one if the shorter is a prefix of it, and empty otherwise; and two sorted
lists are joined in one pass with two pointers.
"""

from collections.abc import Sequence
from typing import TypeAlias, TypeVar

from nn2rules.paper.select_weights import Prefix

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
