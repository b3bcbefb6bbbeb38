"""Boxes of the network's domain, as bounds and searches use them."""

from itertools import product
from math import inf, nextafter, prod

import numpy as np
from numpy.typing import NDArray

from nn2rules.checker.read import Box, Floats, Read
from nn2rules.space import Domain

Part = tuple[NDArray[np.bool_], Floats]
"""A box of the network's domain: allowed values, and ends of ranges, (2, features)."""


def whole(domain: Domain) -> Part:
    """Return the box of all inputs."""
    return np.ones(int(domain.offsets[-1]), dtype=np.bool_), domain.limits


def part_of(
    domain: Domain, read: Read, box: Box, spans: dict[int, tuple[float, float]]
) -> Part:
    """Return a box with at most one span of numbers for each range."""
    allowed, ends = whole(domain)
    ends = ends.copy()
    for feature, own in box.items():
        start, stop = domain.offsets[feature : feature + 2].tolist()
        if feature in read.starts:
            allowed[start] = feature in spans
            allowed[start + 1 : stop] = own[len(read.starts[feature]) :]
        else:
            allowed[start:stop] = own
    for feature, span in spans.items():
        ends[:, feature] = span
    return allowed, ends


def n_parts_of(read: Read, rule: int) -> int:
    """Return how many boxes a rule is: several if its numbers lie apart."""
    return prod(len(spans) for spans in read.spans[rule].values() if spans)


def parts_of(domain: Domain, read: Read, rule: int) -> list[Part]:
    """Return the boxes of a rule."""
    box, spans = read.boxes[rule], read.spans[rule]
    ranged = sorted(feature for feature in spans if spans[feature])
    return [
        part_of(domain, read, box, dict(zip(ranged, chosen, strict=True)))
        for chosen in product(*(sorted(spans[feature]) for feature in ranged))
    ]


def nowhere(domain: Domain, read: Read) -> list[Part]:
    """Return boxes of values, of ranges along curves, that no number has."""
    found = []
    for feature, spans in read.nowhere.items():
        start, stop = domain.offsets[feature : feature + 2].tolist()
        for span in spans:
            allowed, ends = whole(domain)
            allowed[start + 1 : stop], ends = False, ends.copy()
            ends[:, feature] = span
            found.append((allowed, ends))
    return found


def middle_of(low: float, high: float, *, is_whole: bool) -> tuple[float, float]:
    """Return where the lower half of a range ends, and where the upper begins."""
    middle = 0.5 * low + 0.5 * high
    if is_whole:
        to = float(np.floor(middle))
        return to, to + 1
    return (middle, middle) if low < middle < high else (low, high)


def around(
    low: float, first: float, last: float, *, is_whole: bool
) -> tuple[float, float]:
    """Return where a range from `low` is cut: before `first`, or else behind `last`."""
    if low < first:
        return first - 1 if is_whole else nextafter(first, -inf), first
    return last, last + 1 if is_whole else nextafter(last, inf)


def by_numbers(part: Part, feature: int, to: float, at: float) -> list[Part]:
    """Part a range: numbers up to one, and from another on."""
    allowed, ends = part
    below, above = ends.copy(), ends.copy()
    below[1, feature], above[0, feature] = to, at
    return [(allowed, below), (allowed, above)]


def by_values(part: Part, columns: slice, is_first: NDArray[np.bool_]) -> list[Part]:
    """Part the values that a box allows a feature: these, and the rest."""
    allowed, ends = part
    first, second = allowed.copy(), allowed.copy()
    first[columns] &= is_first
    second[columns] &= ~is_first
    return [(first, ends), (second, ends)]
