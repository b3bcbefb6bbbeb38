"""Merging: rules that together name every value of their last feature become one.

This is the last step of the authors' implementation. With it the result is unique:
the shortest prefixes whose every completion has the same payload.
"""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from nn2rules.extraction.paper.select_weights import Prefix

Payload = TypeVar("Payload")


def merge(
    rules: Iterable[tuple[Prefix, Payload]], sizes: Sequence[int]
) -> list[tuple[Prefix, Payload]]:
    """Merge complete groups of siblings until nothing merges; return in order.

    Parameters
    ----------
    rules : (rule, payload) pairs
        No rule may be a prefix of another. Only rules whose payloads are the same
        object, or equal, are merged.
    sizes : sequence of int
        The number of values of each feature, in the order of the rules.

    Examples
    --------
    >>> merge([((0, 0), "a"), ((0, 1), "a"), ((1, 0), "a"), ((1, 1), "b")], (2, 2))
    [((0,), 'a'), ((1, 0), 'a'), ((1, 1), 'b')]
    """
    by_length: list[dict[Prefix, Payload]] = [{} for _ in range(len(sizes) + 1)]
    for prefix, payload in rules:
        by_length[len(prefix)][prefix] = payload
    for length in range(len(sizes), 0, -1):
        level, size = by_length[length], sizes[length - 1]
        for last in [prefix for prefix in level if prefix[-1] == size - 1]:
            siblings = [(*last[:-1], code) for code in range(size)]
            if all(s in level and level[s] == level[last] for s in siblings):
                by_length[length - 1][last[:-1]] = level[last]
                for sibling in siblings:
                    del level[sibling]
    merged = ((prefix, p) for level in by_length for prefix, p in level.items())
    return sorted(merged, key=lambda rule: rule[0])
