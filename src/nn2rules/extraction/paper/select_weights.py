"""SelectWeights: every way to exceed a threshold by picking weights (section 4.3).

There is a *bucket* of weights for each feature, with a weight for each of its values.
A *prefix* picks a value from each of the first k buckets. SelectWeights finds the
shortest prefixes whose every completion weighs more than the threshold.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeAlias

from nn2rules.errors import BudgetExceededError

Prefix: TypeAlias = tuple[int, ...]
"""The codes of the values of the first features, in the order of the buckets."""

LARGEST_LIST = 1 << 21
"""The most rules of one neuron; a list that outgrows it would not fit in memory."""


@dataclass(frozen=True, slots=True)
class Buckets:
    """Weights in the paper's canonical form: non-negative and in descending order.

    Attributes
    ----------
    sorted : for each bucket its (weight, code) pairs, largest weight first
        The smallest weight of the bucket has been subtracted from each.
    by_code : for each bucket the same weights, in the order of the codes
    largest : for each k the sum of the largest weights of the buckets from k on
    smallest : int
        The sum of what was subtracted.
    """

    sorted: tuple[tuple[tuple[int, int], ...], ...]
    by_code: tuple[tuple[int, ...], ...]
    largest: tuple[int, ...]
    smallest: int


def canonical(weights: Sequence[Sequence[int]]) -> Buckets:
    """Bring buckets of weights into canonical form.

    Examples
    --------
    >>> canonical([[1, 4], [2, 1]])
    Buckets(sorted=(((3, 1), (0, 0)), ((1, 0), (0, 1))), by_code=((0, 3), (1, 0)),
            largest=(4, 1, 0), smallest=2)
    """
    by_code = tuple(tuple(w - min(bucket) for w in bucket) for bucket in weights)
    in_order = tuple(
        tuple(sorted(zip(bucket, range(len(bucket)), strict=True), key=lambda p: -p[0]))
        for bucket in by_code
    )
    maxima = [max(bucket) for bucket in by_code]
    largest = tuple(accumulate(reversed(maxima), initial=0))[::-1]
    return Buckets(in_order, by_code, largest, sum(min(b) for b in weights))


def select_weights(weights: Sequence[Sequence[int]], threshold: int) -> list[Prefix]:
    """Return the shortest prefixes whose every completion exceeds `threshold`.

    Parameters
    ----------
    weights : for each feature, in the order of the rules, the weights of its values
    threshold : int
        The paper's τ.

    Returns
    -------
    list of prefixes
        None is a prefix of another; an input exceeds the threshold if and only if it
        begins with one of them. ``[()]`` if every input does.

    Raises
    ------
    BudgetExceededError
        If there are more than `LARGEST_LIST`.

    Notes
    -----
    The paper's second base case reads Σ min(W) ≥ τ; it must be > τ, or an input whose
    score is exactly the threshold is counted as exceeding it.

    Examples
    --------
    The paper's first neuron, n₁ = 4 red + yellow + small + 2 medium + 2 big − 5, is
    active for red tomatoes that are medium (code 1) or big (code 2):

    >>> select_weights([[4, 1], [1, 2, 2]], 5)
    [(0, 1), (0, 2)]
    """
    buckets = canonical(weights)
    return extensions(buckets, (), threshold)


def extensions(buckets: Buckets, prefix: Prefix, threshold: int) -> list[Prefix]:
    """Return the prefixes found by `select_weights` that extend `prefix`.

    If a part of `prefix` already exceeds the threshold, the answer is `prefix` itself.
    """
    picked = sum(
        bucket[code] for bucket, code in zip(buckets.by_code, prefix, strict=False)
    )
    left = threshold - buckets.smallest - picked
    return [prefix + suffix for suffix, _ in _select(buckets, len(prefix), left)]


def _select(buckets: Buckets, k: int, threshold: int) -> list[tuple[Prefix, int]]:
    """Solve SelectWeights for the buckets from `k` on; return prefixes and weights."""
    if buckets.largest[k] <= threshold:
        return []  # no rule is valid
    if threshold < 0:
        return [((), 0)]  # any rule is valid: the smallest weights are all 0
    rules = []
    preconditions: list[tuple[Prefix, int]] = [((), 0)]  # without their leading value
    for weight, code in buckets.sorted[k]:
        grown = []
        for tail, tail_weight in preconditions:
            left = threshold - weight - tail_weight
            for suffix, suffix_weight in _select(buckets, k + 1 + len(tail), left):
                grown.append((tail + suffix, tail_weight + suffix_weight))
        rules += [((code, *tail), weight + w) for tail, w in grown]
        if len(rules) > LARGEST_LIST:
            raise BudgetExceededError(f"more than {LARGEST_LIST:,} rules")
        preconditions = grown
    return rules
