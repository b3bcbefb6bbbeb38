"""Boxes and inputs, and what can be said of them without a network.

An input picks one value of each feature; a box keeps several of each. Both are arrays
in named tuples, which compiled code takes as they are. Boxes that have `ends` belong to
an uncut domain, in which a range of numbers is one value; in a domain whose ranges are
cut into cells, the allowed values alone make a box.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.space.domain import Domain
from nn2rules.space.feature_kinds import Range
from nn2rules.space.spans import Span, edges_of, spans_of


class Boxes(NamedTuple):
    """Several boxes.

    Attributes
    ----------
    allowed : ndarray of bool, shape (n_boxes, n_columns)
        Which values each box allows.
    ends : ndarray of float64, shape (n_boxes, 2, n_features)
        Where the numbers of a range begin and end in it; of no meaning for features
        that are none.
    """

    allowed: NDArray[np.bool_]
    ends: NDArray[np.float64]


Box: TypeAlias = tuple[NDArray[np.bool_], NDArray[np.float64]]
"""A single box: what it allows, and where its ranges of numbers begin and end."""


class Inputs(NamedTuple):
    """Several inputs.

    Attributes
    ----------
    codes : ndarray of int64, shape (n_inputs, n_features)
    numbers : ndarray of float64, shape (n_inputs, n_features)
        The numbers of ranges, and 1 for values that are a code alone.
    """

    codes: NDArray[np.int64]
    numbers: NDArray[np.float64]


def whole_boxes(domain: Domain, allowed: NDArray[np.bool_]) -> Boxes:
    """Return boxes that allow all numbers of each range, or none.

    Examples
    --------
    >>> from nn2rules.space import Feature
    >>> domain = Domain((Feature.real("age", 18, 100),))
    >>> whole_boxes(domain, np.array([[True]])).ends.tolist()
    [[[18.0], [100.0]]]
    """
    return Boxes(allowed, np.tile(domain.limits, (len(allowed), 1, 1)))


def no_boxes(domain: Domain) -> Boxes:
    """Return no box at all."""
    return whole_boxes(domain, np.zeros((0, int(domain.offsets[-1])), dtype=np.bool_))


def joined(domain: Domain, several: Sequence[Boxes]) -> Boxes:
    """Return all the boxes of several."""
    every = [no_boxes(domain), *several]
    return Boxes(
        np.concatenate([boxes.allowed for boxes in every]),
        np.concatenate([boxes.ends for boxes in every]),
    )


def inside(
    domain: Domain,
    boxes: Boxes,
    codes: NDArray[np.int64],
    numbers: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Tell which inputs lie in one of several boxes of an uncut domain.

    Examples
    --------
    >>> from nn2rules.space import Feature
    >>> domain = Domain((Feature.real("age", 18, 100),))
    >>> minors = Boxes(np.array([[True]]), np.array([[[18.0], [20.0]]]))
    >>> inside(domain, minors, np.array([[0], [0]]), np.array([[19.0], [33.0]]))
    array([ True, False])
    """
    found = np.zeros(len(codes), dtype=np.bool_)
    columns = codes + domain.offsets[:-1]
    is_number = columns == domain.ranges
    for allowed, (low, high) in zip(boxes.allowed, boxes.ends, strict=True):
        fits_in = ~is_number | ((low <= numbers) & (numbers <= high))
        found |= (allowed[columns] & fits_in).all(axis=1)
    return found


def inside_each(
    domain: Domain, allowed: NDArray[np.bool_], codes: NDArray[np.integer[Any]]
) -> Iterator[NDArray[np.bool_]]:
    """Tell for each box which inputs lie in it, by their codes alone.

    Examples
    --------
    >>> from nn2rules.space import Feature
    >>> domain = Domain((Feature("size", ("S", "M", "L")),))
    >>> small = np.array([[True, False, False]])
    >>> [held.tolist() for held in inside_each(domain, small, np.array([[0], [2]]))]
    [[True, False]]
    """
    columns = codes + domain.offsets[:-1]
    return (box[columns].all(axis=1) for box in allowed)


def inside_any(
    domain: Domain, allowed: NDArray[np.bool_], codes: NDArray[np.integer[Any]]
) -> NDArray[np.bool_]:
    """Tell which inputs lie in one of several boxes, by their codes alone."""
    found = np.zeros(len(codes), dtype=np.bool_)
    for held in inside_each(domain, allowed, codes):
        found |= held
    return found


def meeting(domain: Domain, boxes: Boxes, box: Box) -> NDArray[np.bool_]:
    """Tell which of several boxes have an input in common with one."""
    common = boxes.allowed & box[0]
    for feature, column in enumerate(domain.ranges.tolist()):
        if column >= 0:
            low = np.maximum(boxes.ends[:, 0, feature], box[1][0, feature])
            high = np.minimum(boxes.ends[:, 1, feature], box[1][1, feature])
            common[:, column] &= low <= high
    starts = domain.offsets[:-1]
    found: NDArray[np.bool_] = np.logical_or.reduceat(common, starts, axis=1)
    return np.asarray(found.all(axis=1))


def containing(domain: Domain, boxes: Boxes, box: Box) -> NDArray[np.bool_]:
    """Tell which of several boxes contain all of one."""
    found: NDArray[np.bool_] = np.logical_not((box[0] & ~boxes.allowed).any(axis=1))
    for feature, column in enumerate(domain.ranges.tolist()):
        if column >= 0 and box[0][column]:
            found &= boxes.ends[:, 0, feature] <= box[1][0, feature]
            found &= box[1][1, feature] <= boxes.ends[:, 1, feature]
    return found


def common_boxes(domain: Domain, one: Boxes, other: Boxes) -> Boxes:
    """Return the boxes in which a box of each lies over the other."""
    allowed, ends = [], []
    for a, a_ends in zip(one.allowed, one.ends, strict=True):
        for b, b_ends in zip(other.allowed, other.ends, strict=True):
            box, within = a & b, a_ends.copy()
            ranged = np.flatnonzero(domain.ranges >= 0)
            within[0] = np.maximum(a_ends[0], b_ends[0])
            within[1] = np.minimum(a_ends[1], b_ends[1])
            for index in ranged:
                if within[0, index] > within[1, index]:
                    box[domain.ranges[index]] = False
                    within[:, index] = domain.limits[:, index]
            kept = np.logical_or.reduceat(box, domain.offsets[:-1])
            if kept.all():
                allowed.append(box)
                ends.append(within)
    n_columns, n_features = int(domain.offsets[-1]), len(domain.sizes)
    return Boxes(
        np.array(allowed, dtype=np.bool_).reshape(-1, n_columns),
        np.array(ends, dtype=np.float64).reshape(-1, 2, n_features),
    )


# Between an uncut domain and one that is cut


def cut_codes(
    domain: Domain, codes: NDArray[np.integer[Any]], numbers: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return the codes of inputs of an uncut domain in this one, whose ranges are cut.

    Examples
    --------
    >>> from nn2rules.space import Feature
    >>> domain = Domain((Feature.real("age", 18, 100, edges=[30.0], missing=True),))
    >>> codes, numbers = np.array([[0], [0], [1]]), np.array([[20.0], [30.0], [1.0]])
    >>> cut_codes(domain, codes, numbers).ravel()
    array([0, 1, 2])
    """
    found = codes.astype(np.int64)
    for index, feature in enumerate(domain.features):
        if not isinstance(feature, Range):
            continue
        edges = np.array(feature.edges, dtype=np.float64)
        part = np.searchsorted(edges, numbers[:, index], side="right")
        is_number = codes[:, index] == 0
        found[:, index] = np.where(is_number, part, codes[:, index] + len(edges))
    return found


def cut_at_ends(domain: Domain, boxes: Boxes) -> tuple[Domain, NDArray[np.bool_]]:
    """Return the domain cut at the ends of the boxes' ranges, and the boxes there.

    Each end becomes an edge, so every box is made of whole parts.
    """
    if not domain.has_ranges:
        return domain, boxes.allowed
    edges: dict[str, list[float]] = {}
    blocks = []
    for index, feature in enumerate(domain.features):
        start, stop = int(domain.offsets[index]), int(domain.offsets[index + 1])
        block = boxes.allowed[:, start:stop]
        if isinstance(feature, Range):
            low, high = boxes.ends[:, 0, index], boxes.ends[:, 1, index]
            has_numbers = block[:, 0]
            both = zip(
                low[has_numbers].tolist(), high[has_numbers].tolist(), strict=True
            )
            found = edges[feature.name] = edges_of(feature, both)
            starts = np.array([feature.limits[0], *found])
            parts = (low[:, np.newaxis] <= starts) & (starts <= high[:, np.newaxis])
            block = np.hstack([parts & block[:, :1], block[:, 1:]])
        blocks.append(block)
    return domain.cut(edges), np.hstack(blocks)


def parts_of(domain: Domain, box: NDArray[np.bool_]) -> Boxes:
    """Return a box of a cut domain as boxes of the uncut one, which are apart.

    Several if it allows a feature several ranges of numbers that are apart.

    Parameters
    ----------
    domain : Domain
        Of rules.
    box : ndarray of bool, shape (n_columns,)
        Of a rule.
    """
    blocks: list[NDArray[np.bool_]] = []
    choices: list[list[Span]] = []
    parts = np.split(box, domain.offsets[1:-1])
    for feature, block in zip(domain.features, parts, strict=True):
        if not isinstance(feature, Range):
            blocks.append(block)
            choices.append([(1.0, 1.0)])
            continue
        spans = spans_of(feature, block)
        blocks.append(np.append(len(spans) > 0, block[feature.n_cells :]))
        choices.append(spans or [feature.limits])
    ends = np.array([*product(*choices)], dtype=np.float64).transpose(0, 2, 1)
    return Boxes(np.tile(np.hstack(blocks), (len(ends), 1)), ends.copy())


# How many inputs


def box_sizes(domain: Domain, boxes: NDArray[np.bool_]) -> list[int]:
    """Return the number of inputs in each of `boxes`, exactly; cells count as one."""
    allowed = np.add.reduceat(boxes.astype(np.int64), domain.offsets[:-1], axis=1)
    if domain.n_inputs < 1 << 62:
        return [int(size) for size in allowed.prod(axis=1)]
    return [math.prod(row) for row in allowed.tolist()]


def number_sizes(domain: Domain, boxes: NDArray[np.bool_]) -> list[int] | None:
    """Return how many inputs boxes hold, each whole number counted; None if real."""
    counts = [feature.counts for feature in domain.features]
    listed = [own for own in counts if own is not None]
    if len(listed) < len(counts):
        return None
    blocks = [
        boxes[:, start:stop].astype(object) @ np.array(own, dtype=object)
        for own, start, stop in zip(
            listed, domain.offsets[:-1], domain.offsets[1:], strict=True
        )
    ]
    return [math.prod(row) for row in zip(*blocks, strict=True)]


def number_size(domain: Domain, box: Box) -> int | None:
    """Return how many inputs a box of an uncut domain holds; None if real."""
    sizes = []
    for index, feature in enumerate(domain.features):
        block = box[0][domain.offsets[index] : domain.offsets[index + 1]]
        size = int(block.sum())
        if isinstance(feature, Range) and not feature.whole:
            return None
        if isinstance(feature, Range) and block[0]:
            low, high = box[1][:, index].tolist()
            size += int(high) - int(low)
        sizes.append(size)
    return math.prod(sizes)
