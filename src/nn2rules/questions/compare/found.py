"""What an engine finds when it compares two sides."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.space import Domain

Pair: TypeAlias = tuple[int, int]
"""The answers of the old side and of the new one, which are not the same."""

Point: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float64] | None]
"""Inputs, or one: codes of the uncut domain and, where there are ranges, numbers."""


@dataclass(frozen=True, eq=False)
class Covering:
    """Boxes on which two sides differ.

    Attributes
    ----------
    domain : Domain
        Its ranges are cut where the boxes need it.
    boxes : ndarray of bool, shape (n_boxes, n_columns)
    pairs : list of Pair
        The answers to all inputs of a box.
    is_complete : bool
        Whether the boxes hold every input on which the two differ.
    """

    domain: Domain
    boxes: NDArray[np.bool_]
    pairs: list[Pair]
    is_complete: bool


@dataclass(frozen=True, eq=False)
class Found:
    """Whether two sides are equal, and where they are not.

    Attributes
    ----------
    equal : bool or None
        None if the budget was spent before that was known.
    how : {"table", "search", "weights", "rules"}
        How it was found out.
    inputs : dict from Pair to int, or None
        On how many inputs the answers differ so; None where nobody knows.
    at_least : int
        At least so many inputs differ.
    example : Point or None
        An input on which they differ.
    covering : callable
        Returns boxes on which they differ, which may take a while.
    """

    equal: bool | None
    how: str
    inputs: dict[Pair, int] | None
    at_least: int
    example: Point | None
    covering: Callable[[], Covering]


def nothing(domain: Domain, equal: bool | None, how: str) -> Found:
    """Return a result without a difference: there is none, or none was found."""
    boxes = np.zeros((0, int(domain.offsets[-1])), dtype=np.bool_)
    covering = Covering(domain, boxes, [], equal is True)
    return Found(equal, how, {} if equal else None, 0, None, partial(ready, covering))


def ready(covering: Covering) -> Covering:
    """Return boxes that are there already; by name, so that it can be pickled."""
    return covering
