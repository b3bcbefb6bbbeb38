"""Arrays of whole numbers without overflow: int64, or else Python integers.

Printed points are whole numbers of steps, and the weights of columns are decimal
fractions, so totals are whole numbers over a common denominator. int64 nearly always
holds them. That is proved from the largest magnitudes before anything is multiplied or
added; where it is not, arrays hold Python integers, and still nothing is rounded.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

WholeArray: TypeAlias = NDArray[Any]
"""Whole numbers: int64 with magnitudes up to `LARGEST`, or Python integers."""

LARGEST = 2**62 - 1
"""The largest magnitude that is kept in int64: differences of two still fit."""

_LARGEST_FLOAT = 2**53
"""Up to here float64 holds all whole numbers."""


def whole_array(values: Sequence[int]) -> WholeArray:
    """Return whole numbers as an array.

    Examples
    --------
    >>> whole_array([1, -2]), whole_array([2**70])
    (array([ 1, -2]), array([1180591620717411303424], dtype=object))
    """
    fits = all(-LARGEST <= value <= LARGEST for value in values)
    return np.array(values, np.int64 if fits else object)


def as_columns(parts: Sequence[WholeArray], n_rows: int) -> WholeArray:
    """Return arrays as the columns of one; there may be none."""
    return np.stack(parts, axis=1) if parts else np.empty((n_rows, 0), np.int64)


def added(one: WholeArray, other: WholeArray) -> WholeArray:
    """Return the sum of two arrays."""
    if _largest(one) + _largest(other) > LARGEST:
        one = one.astype(object)
    return one + other


def combined(
    columns: WholeArray,
    weights: Sequence[Sequence[Fraction]],
    starts: Sequence[Fraction],
) -> tuple[WholeArray, int]:
    """Return weighted sums of columns, over a common denominator.

    Parameters
    ----------
    columns : array of whole numbers, shape (n_rows, n_columns)
    weights : sequence of sequences of Fraction
        For each sum the weights of the columns.
    starts : sequence of Fraction
        What each sum begins with.

    Returns
    -------
    sums : array of whole numbers, shape (n_rows, n_sums)
    denominator : int
        By which they are to be divided.

    Examples
    --------
    >>> combined(whole_array([3, 5])[:, np.newaxis], [[Fraction(1, 2)]], [Fraction(1)])
    (array([[5],
           [7]]), 2)
    """
    numbers = [number for own in weights for number in own] + [*starts]
    denominator = math.lcm(*(number.denominator for number in numbers))
    parts = [
        _weighted(
            columns,
            [_times(weight, denominator) for weight in own],
            _times(start, denominator),
        )
        for own, start in zip(weights, starts, strict=True)
    ]
    return as_columns(parts, len(columns)), denominator


def multiplied(values: WholeArray, factor: int) -> WholeArray:
    """Return whole numbers times another one."""
    return _weighted(values[:, np.newaxis], [factor], 0)


def is_at_least(values: WholeArray, least: Fraction) -> NDArray[np.bool_]:
    """Tell which whole numbers are at least some number."""
    found: NDArray[np.bool_] = values >= math.ceil(least)
    return found


def fractions_of(values: WholeArray, denominator: int) -> NDArray[Any]:
    """Return whole numbers over a denominator: as they are if it is 1."""
    if denominator == 1:
        return values
    divided = np.frompyfunc(lambda value: Fraction(value, denominator), 1, 1)
    found: NDArray[Any] = divided(values)
    return found


def floats_of(values: WholeArray, denominator: int) -> NDArray[np.float64]:
    """Return whole numbers over a denominator as the nearest floats."""
    if max(_largest(values), denominator) <= _LARGEST_FLOAT:
        return values.astype(np.float64) / denominator  # rounds once
    divided = [value / denominator for value in values.ravel().tolist()]
    return np.array(divided, np.float64).reshape(values.shape)


def numbers_of(values: WholeArray, denominator: int) -> NDArray[Any]:
    """Return whole numbers over a denominator: as integers if all of them are."""
    if denominator > LARGEST:
        values = values.astype(object)
    if (values % denominator).any():
        return floats_of(values, denominator)
    whole = values // denominator
    if whole.dtype == np.int64:
        return whole
    return whole_array(whole.ravel().tolist()).reshape(whole.shape)


def _largest(values: WholeArray) -> int:
    """Return the largest magnitude."""
    return max(-int(values.min()), int(values.max())) if values.size else 0


def _weighted(columns: WholeArray, weights: Sequence[int], start: int) -> WholeArray:
    """Return a weighted sum of columns."""
    sizes = (max(_largest(column), 1) for column in columns.T)
    bound = sum(abs(w) * size for w, size in zip(weights, sizes, strict=True))
    if columns.dtype == np.int64 and bound + abs(start) <= LARGEST:
        found: WholeArray = columns @ np.array(weights, np.int64) + start
    else:
        weighted = columns.astype(object) * np.array(weights, object)
        found = weighted.sum(axis=1) + start
    return found


def _times(number: Fraction, multiple: int) -> int:
    """Return a fraction times a multiple of its denominator."""
    return number.numerator * (multiple // number.denominator)
