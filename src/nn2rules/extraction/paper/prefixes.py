"""Rules as prefixes: the order of the features, merging, and the boxes they stand for.

The paper leaves the order open; this is the authors' choice. Merging is the last step
of their implementation: rules that together name every value of their last feature
become one. With it the result is unique: the shortest prefixes whose every completion
has the same payload.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import OptionError
from nn2rules.extraction.paper.select_weights import Prefix
from nn2rules.network import Network
from nn2rules.space import Domain

Payload = TypeVar("Payload")


def feature_order(network: Network, order: Sequence[str] | None = None) -> list[int]:
    """Return the positions of the features in the order that rules fix them.

    Parameters
    ----------
    network : Network
    order : sequence of str, optional
        The name of every feature once. By default the authors' order: descending mean,
        over the neurons of the first layer, of (largest − smallest weight of the
        feature) / (number of its values); equal ones in the order of the domain.
    """
    domain = network.domain
    if order is None:
        spreads = _spreads(network)
        return sorted(range(len(spreads)), key=lambda index: -spreads[index])
    if isinstance(order, str):
        raise OptionError(f"order: a list of names, not one string {order!r}")
    names = list(order)
    problems = [
        *(f"{name!r} is missing" for name in domain.names if name not in names),
        *(f"{name!r} is not a feature" for name in names if name not in domain.names),
        *(f"{name!r} occurs twice" for name in domain.names if names.count(name) > 1),
    ]
    if problems:
        raise OptionError(f"order must name every feature once: {', '.join(problems)}")
    return [domain.index(name) for name in names]


def _spreads(network: Network) -> list[Fraction]:
    weights = network.layers[0].weights
    spreads = []
    for start, stop in pairwise(network.domain.offsets):
        block = weights[start:stop]
        ends = zip(block.max(axis=0), block.min(axis=0), strict=True)
        total = sum((Fraction(high) - Fraction(low) for high, low in ends), Fraction())
        spreads.append(total / int(stop - start))
    return spreads


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


def prefix_boxes(
    domain: Domain, order: Sequence[int], prefixes: Sequence[Prefix]
) -> NDArray[np.bool_]:
    """Return the boxes of the inputs that begin with each of `prefixes`."""
    lengths = np.array([len(prefix) for prefix in prefixes], dtype=np.int64)
    boxes = np.ones((len(prefixes), int(domain.offsets[-1])), dtype=np.bool_)
    for depth, feature in enumerate(order):
        chosen = np.flatnonzero(lengths > depth)
        start, stop = domain.offsets[feature], domain.offsets[feature + 1]
        boxes[chosen, start:stop] = False
        codes = np.array(
            [prefixes[index][depth] for index in chosen.tolist()], dtype=np.int64
        )
        boxes[chosen, start + codes] = True
    return boxes
