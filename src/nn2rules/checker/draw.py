"""Inputs to compare if there are too many to compare them all.

A rule that is wrong about numbers is most likely wrong where a condition ends. So some
inputs have numbers drawn evenly, and others have the ends of ranges and conditions, and
their neighbors on both sides. If the network reads a range along a curve, these are the
values of numbers, because most other values do not belong to any number.
"""

import numpy as np

from nn2rules.checker.curves import value_at
from nn2rules.checker.read import Box, Codes, Floats, Read
from nn2rules.space import Curved, Domain, Feature, Range

Inputs = tuple[Codes, Floats | None]
"""Codes of the network and, where there are ranges, numbers: 1 where none is needed."""


def from_domain(domain: Domain, number: int, random: np.random.Generator) -> Inputs:
    """Draw inputs from the whole domain: values alike, numbers evenly spread.

    A whole number is as likely as a value beside its range; beside real numbers these
    have no share.
    """
    codes = random.integers(0, domain.sizes, (number, len(domain.sizes)))
    if not domain.has_ranges:
        return codes, None
    numbers = np.ones(codes.shape)
    for place, feature in enumerate(domain.features):
        if not isinstance(feature, Range):
            continue
        low, high = map(float, feature.limits)
        if low < high and not feature.whole:
            codes[:, place] = 0
        elif feature.whole:
            n_beside, n_whole = len(feature) - 1, high - low + 1
            is_beside = random.random(number) * (n_whole + n_beside) < n_beside
            beside = random.integers(0, max(1, n_beside), number) + 1
            codes[:, place] = np.where(is_beside, beside, 0)
        drawn = _even_numbers(feature, number, random)
        numbers[:, place] = np.where(codes[:, place] == 0, drawn, 1.0)
    return codes, numbers


def at_ends(
    domain: Domain, read: Read, number: int, random: np.random.Generator
) -> Inputs:
    """Draw inputs from the whole domain with numbers near the ends of conditions."""
    codes = random.integers(0, domain.sizes, (number, len(domain.sizes)))
    numbers = np.ones(codes.shape)
    for place in read.starts:
        feature = domain.features[place]
        assert isinstance(feature, Range), "only ranges are cut"
        drawn = _in_span(domain, read, place, feature.limits, number, random)
        numbers[:, place] = np.where(codes[:, place] == 0, drawn, 1.0)
    return codes, numbers


def from_box(
    domain: Domain, read: Read, rule: int, codes: Codes, random: np.random.Generator
) -> Inputs:
    """Let `codes`, drawn from the whole domain, be inputs of the box of a rule.

    One of four has numbers drawn evenly, two have all at ends of the rule's own
    conditions, and one has some of each kind.
    """
    box, number = read.boxes[rule], len(codes)
    for place, allowed in box.items():
        if place not in read.starts:
            codes[:, place] = random.choice(np.flatnonzero(allowed), number)
    if not read.starts:
        return codes, None
    numbers = np.ones(codes.shape)
    kinds = random.integers(0, 4, number)
    for place in read.starts:
        feature = domain.features[place]
        assert isinstance(feature, Range), "only ranges are cut"
        spans = read.spans[rule].get(place, [feature.limits])
        beside = _beside(box, place, len(read.starts[place]), len(feature))
        pick = random.integers(0, len(spans) + len(beside), number)
        for index, (low, high) in enumerate(spans):
            mixed = _in_span(domain, read, place, (low, high), number, random)
            end = np.where(random.random(number) < 0.5, low, high)
            even = mixed
            if not isinstance(feature, Curved):
                even = _evenly(low, high, number, random, is_whole=feature.whole)
            drawn = np.choose(kinds, [even, end, end, mixed])
            numbers[:, place] = np.where(pick == index, drawn, numbers[:, place])
        codes[:, place] = np.array([0] * len(spans) + beside)[pick]
    return codes, numbers


def _beside(box: Box, place: int, n_cells: int, size: int) -> list[int]:
    """Return the network's codes of the values beside a range that a box allows."""
    if place not in box:
        return list(range(1, size))
    return (np.flatnonzero(box[place][n_cells:]) + 1).tolist()


def _in_span(
    domain: Domain,
    read: Read,
    place: int,
    span: tuple[float, float],
    number: int,
    random: np.random.Generator,
) -> Floats:
    """Draw numbers of a span: evenly, its ends, where cells begin, and neighbours."""
    low, high = span
    if place in read.near:
        near = read.near[place]
        return random.choice(near[(low <= near) & (near <= high)], number)
    starts = read.starts[place]
    known = np.array([low, high, *starts[(low <= starts) & (starts <= high)]])
    chosen = random.choice(known, number)
    if domain.features[place].whole:
        before, after = chosen - 1, chosen + 1
    else:
        before, after = np.nextafter(chosen, -np.inf), np.nextafter(chosen, np.inf)
    is_whole = domain.features[place].whole
    even = _evenly(low, high, number, random, is_whole=is_whole)
    drawn = np.choose(random.integers(0, 4, number), [before, chosen, after, even])
    return np.asarray(np.clip(drawn, low, high))


def _evenly(
    low: float, high: float, number: int, random: np.random.Generator, *, is_whole: bool
) -> Floats:
    """Draw numbers evenly spread from `low` to `high`."""
    if is_whole:
        return random.integers(int(low), int(high) + 1, number).astype(np.float64)
    part = random.random(number)
    return np.clip((1 - part) * low + part * high, low, high)


def _even_numbers(feature: Feature, number: int, random: np.random.Generator) -> Floats:
    """Draw numbers evenly spread over a range; along a curve, their values."""
    own = feature.uncurved
    assert isinstance(own, Range), "asked only of ranges"
    drawn = _evenly(*own.limits, number, random, is_whole=own.whole)
    if not isinstance(feature, Curved):
        return drawn
    different, back = np.unique(drawn, return_inverse=True)
    values = [value_at(feature.curve, number) for number in different.tolist()]
    return np.array(values)[back]


def joined(parts: list[Inputs]) -> Inputs:
    """Return several inputs as one."""
    codes = [codes for codes, _ in parts]
    numbers = [numbers for _, numbers in parts if numbers is not None]
    joined = np.concatenate(numbers) if numbers else None
    return np.concatenate(codes or [np.zeros((0, 1), dtype=np.int64)]), joined
