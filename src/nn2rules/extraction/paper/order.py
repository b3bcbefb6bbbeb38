"""The order in which rules fix the features.

The paper leaves it open; this is the authors' choice.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from nn2rules.errors import OptionError
from nn2rules.network import Network


def feature_order(network: Network, order: Sequence[str] | None = None) -> list[int]:
    """Return the positions of the features in the order that rules fix them.

    Parameters
    ----------
    network : Network
    order : sequence of str, optional
        Every feature's name once. By default the authors' order: descending mean, over
        the neurons of the first layer, of (largest − smallest weight of the feature) /
        (number of its values); equal ones in the order of the domain.
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
        *(f"{name!r} is no feature" for name in names if name not in domain.names),
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
