"""Where a column may be cut: few places, chosen with the labels, at round numbers."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_FEWEST = 5
_SHARE = 200
"""A cut leaves one row of so many, and five, on either side, and may move as far."""


def cuts_of(
    numbers: NDArray[np.float64], truth: NDArray[np.int64], most: int
) -> list[float]:
    """Return where numbers may be cut, at most so often.

    Few different numbers are all told apart. Of many, those cuts are taken that
    separate the classes best, found by a small tree on this column alone, and the
    quartiles, since what matters only together with another column has no cut there.

    Examples
    --------
    >>> ages = np.repeat(np.arange(17.0, 80), 20)
    >>> cuts_of(ages, (ages > 40.5).astype(int), most=4)
    [32, 41, 48, 64]
    """
    kept = np.unique(numbers)
    if len(kept) <= most + 1:
        pairs = zip(kept[:-1].tolist(), kept[1:].tolist(), strict=True)
        return [roundest(low, high) for low, high in pairs]
    ranked, n_rows = np.sort(numbers), len(numbers)
    found: dict[float, None] = {}
    for cut in (*_by_tree(numbers, truth, most), *_quartiles(ranked)):
        place, reach = int(np.searchsorted(ranked, cut)), max(1, n_rows // _SHARE)
        low = ranked[max(0, place - reach)]
        high = ranked[min(n_rows - 1, place + reach)]
        if low < high and len(found) < most:
            found[roundest(float(low), float(high))] = None
    return sorted(found)


def _by_tree(
    numbers: NDArray[np.float64], truth: NDArray[np.int64], most: int
) -> list[float]:
    """Return the cuts of a small tree, those that separate the classes best first."""
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(
        max_leaf_nodes=max(2, most - 1),
        min_samples_leaf=max(_FEWEST, len(numbers) // _SHARE),
        random_state=0,
    ).fit(numbers[:, np.newaxis], truth)
    inner = tree.tree_.feature >= 0  # best first: so grown, so numbered
    return [float(cut) for cut in tree.tree_.threshold[inner]]


def _quartiles(ranked: NDArray[np.float64]) -> list[float]:
    return [float(ranked[len(ranked) * part // 4]) for part in (2, 1, 3)]


def roundest(low: float, high: float) -> float:
    """Return the number above `low` and up to `high` that has the fewest digits.

    Examples
    --------
    >>> roundest(6849, 7298), roundest(-3, 2), roundest(0.123, 0.124), roundest(17, 18)
    (7000, 0, 0.124, 18)
    """
    if low < 0 <= high:
        return 0
    size = max(abs(low), abs(high))
    for digits in range(1, 18):
        unit = math.floor(math.log10(size)) - digits + 1
        for step in (5, 2, 1):
            times = math.floor(high / (step * 10.0**unit))
            for near in (times, times - 1):  # the quotient may be rounded up
                number = float(f"{near * step}e{unit}")
                if low < number <= high:
                    return int(number) if number.is_integer() else number
    return high


def class_shares(
    places: NDArray[np.int64], truth: NDArray[np.int64], n_words: int
) -> NDArray[np.float64]:
    """Return a number for each word by which those with like classes lie together.

    Of two classes it is the share of one. Of more, it is the place along the direction
    in which the shares differ most. A word of few rows is drawn towards all rows.

    Parameters
    ----------
    places : ndarray of shape (n_rows,)
        The word of each row, as its place among all.
    truth : ndarray of shape (n_rows,)
        The position of the class of each row.
    """
    counts = np.zeros((n_words, int(truth.max()) + 1))
    np.add.at(counts, (places, truth), 1.0)
    overall = counts.sum(axis=0) / counts.sum()
    shares = (counts + _DRAWN * overall) / (counts.sum(axis=1, keepdims=True) + _DRAWN)
    apart = shares - overall
    weighted = apart * np.sqrt(counts.sum(axis=1, keepdims=True))
    direction = np.linalg.svd(weighted, full_matrices=False)[2][0]
    sign = np.sign(direction[np.argmax(np.abs(direction))])
    shown: NDArray[np.float64] = apart @ (direction * sign)
    return shown


_DRAWN = 10.0
"""As if so many rows more had the classes as all rows have them."""


def rare(counts: Sequence[int], n_rows: int) -> list[bool]:
    """Tell which words have so few rows that nothing can be learnt of each alone."""
    least = max(min(_FEWEST, n_rows // 20), n_rows // (2 * _SHARE))
    return [count < least for count in counts]
