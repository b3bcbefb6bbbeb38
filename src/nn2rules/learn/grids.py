"""Few numbers of a column, and the cells of all numbers that are nearest to each."""

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from nn2rules.space import Feature, Value, is_missing, is_number, plain_number, quantile


@dataclass(frozen=True)
class Grid:
    """The numbers of a column, and cells of all numbers that are nearest to each.

    `values` has one for each value of `cells`: its number, or None for missing. It is
    coarse if the column has more numbers than these.
    """

    values: tuple[Value, ...]
    cells: Feature
    is_coarse: bool


def grid_of(name: str, cells: Sequence[Any], numbers: int) -> Grid | None:
    """Return the numbers of a column, at most so many; None if they are not numbers."""
    present = [cell for cell in cells if not is_missing(cell)]
    if not present or not all(is_number(cell) for cell in present):
        return None
    kept = sorted(set(present))
    is_coarse = len(kept) > numbers
    if is_coarse:  # each stands for as many rows as any other
        ranked, odd = sorted(present), range(1, 2 * numbers, 2)
        kept = sorted({quantile(ranked, part, 2 * numbers) for part in odd})
    has_gaps = len(present) < len(cells)
    values = (*map(plain_number, kept), *([None] if has_gaps else []))
    if len(kept) == 1:  # then no number makes a difference
        low, high = -sys.float_info.max, sys.float_info.max
        return Grid(values, Feature.real(name, low, high, missing=has_gaps), False)
    edges = tuple(_edge(low, high) for low, high in pairwise(kept))
    return Grid(values, Feature.bins(name, edges, missing=has_gaps), is_coarse)


def _edge(low: float, high: float) -> float:
    """Return the smallest number that is nearer to `high` than to `low`."""
    twice = Fraction(low) + Fraction(high)
    edge = float(twice / 2)
    return edge if 2 * Fraction(edge) > twice else math.nextafter(edge, math.inf)


def has_cells(feature: Feature, grids: Mapping[str, Grid]) -> bool:
    """Tell whether a feature lists the numbers of a grid, so that cells can do so."""
    grid = grids.get(feature.name)
    if grid is None or not grid.is_coarse:
        return False
    return feature.edges is None and feature.values == grid.values
