"""How far two distributions differ: the population stability index, and intervals.

The population stability index (PSI) of counts in cells is ``Σ (q − p) · ln(q / p)``,
with the shares p of the reference and q of the new rows. A cell that is empty in one
of them counts as half a row there; a cell that is empty in both counts nothing.
"""

import math
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.space import wilson

_HALF = 0.5
"""The rows of a cell that is empty on one side only."""

_CHANCE = 0.999
"""How certain a PSI must be to exceed what chance alone gives."""


def psi_parts(
    reference: NDArray[np.int64], new: NDArray[np.int64]
) -> NDArray[np.float64] | None:
    """Return what each cell adds to the PSI; None if one side has no rows.

    Examples
    --------
    >>> parts = psi_parts(np.array([50, 50, 0]), np.array([75, 25, 0]))
    >>> [round(part, 4) for part in parts.tolist()]
    [0.1014, 0.1733, 0.0]
    """
    totals = int(reference.sum()), int(new.sum())
    if not all(totals):
        return None
    is_used = (reference > 0) | (new > 0)
    p = np.where(reference > 0, reference, _HALF) / totals[0]
    q = np.where(new > 0, new, _HALF) / totals[1]
    return np.where(is_used, (q - p) * np.log(q / p), 0.0)


def psi(reference: NDArray[np.int64], new: NDArray[np.int64]) -> float | None:
    """Return the population stability index; None if one side has no rows.

    Examples
    --------
    >>> round(psi(np.array([50, 50]), np.array([75, 25])), 4)
    0.2747
    """
    parts = psi_parts(reference, new)
    return None if parts is None else math.fsum(parts.tolist())


def psi_by_chance(reference: NDArray[np.int64], new: NDArray[np.int64]) -> float | None:
    """Return the PSI that chance alone exceeds in one of a thousand samples.

    If both sides are drawn from one distribution, the PSI is about chi-squared, with a
    degree of freedom less than there are cells, times ``1/n + 1/m``. The quantile is
    that of Wilson and Hilferty.

    Examples
    --------
    >>> few, many = np.array([5, 5]), np.array([5000, 5000])
    >>> round(psi_by_chance(many, few), 2), round(psi_by_chance(many, many), 4)
    (1.12, 0.0022)
    """
    totals = int(reference.sum()), int(new.sum())
    if not all(totals):
        return None
    free = int(((reference > 0) | (new > 0)).sum()) - 1
    if free == 0:
        return 0.0
    spread = 2 / (9 * free)
    root = 1 - spread + NormalDist().inv_cdf(_CHANCE) * math.sqrt(spread)
    return float(free * root**3 * (1 / totals[0] + 1 / totals[1]))


def wilson_interval(
    part: int, whole: int, confidence: float = 0.95
) -> tuple[float, float]:
    """Return Wilson's interval for a share.

    Examples
    --------
    >>> low, high = wilson_interval(8, 10)
    >>> round(low, 4), round(high, 4)
    (0.4902, 0.9433)
    """
    return wilson(part, whole, NormalDist().inv_cdf((1 + confidence) / 2))


def shares(counts: NDArray[np.int64]) -> list[float | None]:
    """Return counts as shares of their sum; None if there are no rows."""
    total = int(counts.sum())
    plain: list[Any] = counts.tolist()
    return [count / total if total else None for count in plain]
