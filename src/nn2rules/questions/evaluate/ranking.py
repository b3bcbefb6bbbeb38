"""How well a score ranks two labels: AUC, and Kolmogorov and Smirnov's statistic."""

import numpy as np
from numpy.typing import NDArray


def auc_and_ks(
    scores: NDArray[np.float64], is_second: NDArray[np.bool_]
) -> tuple[float | None, float | None]:
    """Return the area under the ROC curve, and the largest gap of the distributions.

    Equal scores count half. Both are None unless there are rows of both labels.

    Examples
    --------
    >>> auc_and_ks(np.array([1.0, 2.0, 2.0, 3.0]), np.array([False, False, True, True]))
    (0.875, 0.5)
    """
    _, places = np.unique(scores, return_inverse=True)
    second = np.bincount(places, is_second, minlength=1)
    first = np.bincount(places, ~is_second, minlength=1)
    n_pairs = first.sum() * second.sum()
    if not n_pairs:
        return None, None
    below = np.cumsum(first) - first
    auc = float((second * (below + first / 2)).sum() / n_pairs)
    gaps = np.cumsum(first) / first.sum() - np.cumsum(second) / second.sum()
    return auc, float(np.abs(gaps).max())
