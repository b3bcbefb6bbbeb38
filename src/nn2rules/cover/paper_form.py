"""The paper's form through the engine: the shortest prefixes that decide class 1.

With a given order of the features the paper's result is unique: the maximal prefixes
whose every completion is of class 1. On a table they are found by folding it, one
feature at a time; beyond a table, by asking about prefixes, shortest first.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nn2rules.domain import Domain
from nn2rules.engine import Oracle, Table


def table_prefixes(table: Table, order: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the prefixes of class 1, in ascending order.

    Notes
    -----
    Takes O(n_inputs): after folding away the last k features, an entry is True where
    all completions of a prefix are of class 1. A prefix is maximal where its own entry
    is True and its parent's is not.
    """
    domain = table.domain
    cube = (table.classes == 1).reshape(domain.sizes).transpose(order)
    folded = [cube]
    for _ in order:
        folded.append(folded[-1].all(axis=-1))
    folded.reverse()  # folded[k] is about prefixes of length k
    if folded[0]:
        return [()]
    found: list[tuple[int, ...]] = []
    for parents, children in pairwise(folded):
        maximal = children & ~parents[..., np.newaxis]
        found += map(tuple, np.argwhere(maximal).tolist())
    found.sort()
    return found


def search_prefixes(oracle: Oracle, order: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the prefixes of class 1, in ascending order, as they are proved."""
    domain = oracle.network.domain
    pending: list[tuple[int, ...]] = [()]
    while pending:
        prefix = pending.pop()
        box = prefix_box(domain, order, prefix)
        if oracle.ask(box, 1):
            yield prefix
        elif len(prefix) < len(order) and not oracle.ask(box, 0):
            size = domain.sizes[order[len(prefix)]]
            pending += [(*prefix, code) for code in reversed(range(size))]


def prefix_box(
    domain: Domain, order: Sequence[int], prefix: Sequence[int]
) -> NDArray[np.bool_]:
    """Return the box of the inputs that begin with `prefix`."""
    box = np.ones(int(domain.offsets[-1]), dtype=np.bool_)
    for feature, code in zip(order, prefix, strict=False):
        start, stop = domain.offsets[feature], domain.offsets[feature + 1]
        box[start:stop] = False
        box[start + code] = True
    return box
