"""Where the bins of a column begin, after scalers and imputers, to the last bit."""

import warnings
from collections.abc import Mapping, Sequence
from decimal import ROUND_FLOOR, Context, Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.preprocessing import Binarizer, KBinsDiscretizer

from nn2rules.models.sklearn.shapes import ColumnPath

_LARGEST: dict[Any, float] = {np.float64: 1e100, np.float32: 1e30}
"""Larger numbers overflow when they are scaled."""


def edges_of(
    paths: Sequence[ColumnPath], types: Mapping[str, Any]
) -> tuple[float, ...]:
    """Return where the bins of a column begin, in its own units.

    Each edge is the smallest float in the bin above it. Scaling rounds, so the edge is
    found by bisection over all floats. For a float32 column it is the shortest number
    without a float32 between itself and that one.

    Parameters
    ----------
    paths : sequence of ColumnPath
    types : mapping from names to types of numpy
        The types of the user's columns, if they are known.
    """
    edges = set()
    for path in paths:
        kind = _kind(path, types)
        for edge in _edges(path, kind):
            edges.add(edge if kind == np.float64 else _shortest(edge))
    return tuple(sorted(edges))


def _kind(path: ColumnPath, types: Mapping[str, Any]) -> Any:
    """Return the type of the numbers that the first step of a path takes.

    scikit-learn joins the columns of a step in one array, and keeps float32.
    """
    names = getattr(path[0][0], "feature_names_in_", types)
    kinds = [types.get(str(name), np.dtype(np.float64)) for name in names]
    is_float32 = bool(kinds) and np.result_type(*kinds) == np.float32
    return np.float32 if is_float32 else np.float64


def _shortest(edge: float) -> float:
    """Return the shortest number above the float32 before an edge, up to the edge."""
    before = float(np.nextafter(np.float32(edge), np.float32(-np.inf)))
    for digits in range(1, 18):
        floor = Context(prec=digits, rounding=ROUND_FLOOR)
        number = float(floor.create_decimal(Decimal(edge)))
        if before < number <= edge:
            return number
    return edge


def _edges(path: ColumnPath, kind: Any) -> list[float]:
    """Return the smallest number of a type in each bin except the first."""
    bins = np.arange(1, _n_bins(path))
    low = np.full(len(bins), -_key(_LARGEST[kind]))
    high = np.full(len(bins), _key(_LARGEST[kind]))

    def bin_of(keys: NDArray[np.int64]) -> NDArray[Any]:
        return _bin(path, _number(keys).astype(kind))

    is_between = (bin_of(low) < bins) & (bins <= bin_of(high))
    for _ in range(64):
        middle = (low & high) + ((low ^ high) >> 1)  # half way, without overflow
        is_above = bin_of(middle) >= bins
        low, high = np.where(is_above, low, middle), np.where(is_above, middle, high)
    return [float(edge) for edge in _number(high).astype(kind)[is_between]]


def _key(number: float) -> np.int64:
    """Return the position of a float in the order of all floats, counted from 0."""
    return np.float64(number).view(np.int64)


def _number(keys: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the floats at positions; negative positions are negative floats."""
    return np.copysign(np.abs(keys).view(np.float64), keys)


def _n_bins(path: ColumnPath) -> int:
    last, position = path[-1]
    if isinstance(last, KBinsDiscretizer):
        return len(last.bin_edges_[position]) - 1
    return 2 if isinstance(last, Binarizer) else 1


def _bin(path: ColumnPath, numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the bins that a path puts numbers of the column into."""
    *before, (last, position) = path
    for step, place in before:
        if not isinstance(step, SimpleImputer):
            numbers = _scaled(step, place, numbers)
    if isinstance(last, Binarizer):
        return np.asarray(numbers > last.threshold)
    if isinstance(last, MissingIndicator):
        return np.zeros(len(numbers))
    limits = last.bin_edges_[position][1:-1]
    with np.errstate(over="ignore"):
        cells = numbers.astype(last.dtype or numbers.dtype)
    return np.searchsorted(limits, cells, side="right")


def _scaled(scaler: Any, position: int, numbers: NDArray[Any]) -> NDArray[Any]:
    rows = np.zeros((len(numbers), scaler.n_features_in_), dtype=numbers.dtype)
    rows[:, position] = numbers
    if not len(rows):
        return numbers
    with warnings.catch_warnings():  # arrays have no feature names; that is fine here
        warnings.simplefilter("ignore")
        scaled = scaler.transform(rows)
    scaled = scaled.to_numpy() if hasattr(scaled, "to_numpy") else scaled
    return np.asarray(scaled)[:, position]
