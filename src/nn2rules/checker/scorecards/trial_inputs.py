"""Inputs on which a scorecard that is wrong probably differs.

Those drawn evenly, and those next to a change of class: on the way from one input to
another of a different class, feature by feature and then along a range of numbers, two
neighbours are found that differ in class.
"""

from collections.abc import Callable

import numpy as np

from nn2rules.checker.draw import Inputs, from_domain, joined
from nn2rules.checker.read import Codes, Floats
from nn2rules.checker.run_network import UNDECIDED, sure_classes
from nn2rules.network import Network
from nn2rules.space import Domain, Range

_HALVINGS = 70
_NEIGHBOURS = 3


def drawn(domain: Domain, number: int, random: np.random.Generator) -> Inputs:
    """Draw inputs: half evenly, half with values alike and numbers at ends."""
    even = from_domain(domain, number - number // 2, random)
    codes = random.integers(0, domain.sizes, (number // 2, len(domain.sizes)))
    if not domain.has_ranges:
        return distinct(joined([even, (codes, None)]))
    numbers = np.ones(codes.shape)
    for place, feature in enumerate(domain.features):
        if isinstance(feature, Range):
            ends = random.choice(np.array(feature.limits, np.float64), len(codes))
            numbers[:, place] = np.where(codes[:, place] == 0, ends, 1.0)
    return distinct(joined([even, (codes, numbers)]))


def at_borders(
    network: Network, inputs: Inputs, random: np.random.Generator
) -> Inputs | None:
    """Return inputs where the class of a network changes, between some others."""
    codes, numbers = inputs
    amounts = np.ones(codes.shape) if numbers is None else numbers

    def classes(these: Codes, those: Floats) -> Codes:
        return sure_classes(network, these, those)

    order = random.permutation(len(codes))
    first, second = (
        order[: len(order) // 2],
        order[len(order) // 2 :][: len(order) // 2],
    )
    before = classes(codes[first], amounts[first])
    after = classes(codes[second], amounts[second])
    apart = (before != after) & (before != UNDECIDED)
    if not apart.any():
        return None
    first, second, before = first[apart], second[apart], before[apart]
    walk = _Walk(
        (codes[first], amounts[first]),
        (codes[second], amounts[second]),
        np.argsort(random.random((len(first), codes.shape[1])), axis=1),
    )
    low = np.zeros(len(first), np.int64)
    high = np.full(len(first), codes.shape[1])
    while (high - low > 1).any():
        middle = (low + high) // 2
        is_same = classes(*walk.at(middle)) == before
        low, high = np.where(is_same, middle, low), np.where(is_same, high, middle)
    return _between(
        network.domain, walk.at(low), walk.at(high), before, classes, numbers
    )


class _Walk:
    """The ways from some inputs to others, one feature after the other."""

    def __init__(
        self, start: tuple[Codes, Floats], end: tuple[Codes, Floats], order: Codes
    ) -> None:
        self.start, self.end = start, end
        self.ranks = np.argsort(order, axis=1)

    def at(self, steps: Codes) -> tuple[Codes, Floats]:
        """Return the inputs after some steps."""
        is_moved = self.ranks < steps[:, np.newaxis]
        codes = np.where(is_moved, self.end[0], self.start[0])
        return codes, np.where(is_moved, self.end[1], self.start[1])


def _between(
    domain: Domain,
    low: tuple[Codes, Floats],
    high: tuple[Codes, Floats],
    before: Codes,
    classes: Callable[[Codes, Floats], Codes],
    numbers: Floats | None,
) -> Inputs:
    """Halve the numbers between inputs that differ in one feature."""
    if numbers is None:
        return distinct(joined([(low[0], None), (high[0], None)]))
    rows = np.arange(len(low[0]))
    is_other = (low[0] != high[0]) | (low[1] != high[1])
    place = is_other.argmax(axis=1)
    whole = np.array([feature.whole for feature in domain.features])[place]
    start, end = low[1][rows, place], high[1][rows, place]
    has_numbers = (low[0] == high[0]).all(axis=1)
    for _ in range(_HALVINGS):
        middle = 0.5 * start + 0.5 * end
        middle = np.where(whole, np.floor(middle), middle)
        moved = low[1].copy()
        moved[rows, place] = np.where(has_numbers, middle, start)
        is_same = classes(low[0], moved) == before
        start = np.where(is_same & has_numbers, middle, start)
        end = np.where(is_same | ~has_numbers, end, middle)
    limits = domain.limits[:, place]
    found: list[Inputs] = [(low[0], low[1]), (high[0], high[1])]
    for end_number in (start, end):
        number = end_number
        for way in (-np.inf, np.inf):
            number = end_number
            for _ in range(_NEIGHBOURS):
                moved = low[1].copy()
                kept = np.clip(number, limits[0], limits[1])
                moved[rows, place] = np.where(has_numbers, kept, low[1][rows, place])
                found.append((low[0], moved))
                following = np.nextafter(number, way)
                number = np.where(whole, number + np.sign(way), following)
    return distinct(joined(found))


def amounts_of(inputs: Inputs) -> Floats:
    """Return the amounts of inputs: numbers of ranges, and 1 elsewhere."""
    codes, numbers = inputs
    return np.ones(codes.shape) if numbers is None else numbers


def distinct(inputs: Inputs) -> Inputs:
    """Return each of some inputs once."""
    codes, numbers = inputs
    amounts = amounts_of(inputs)
    both = np.concatenate([codes.astype(np.float64), amounts], axis=1)
    _, first = np.unique(both, axis=0, return_index=True)
    first.sort()
    return codes[first], None if numbers is None else numbers[first]
