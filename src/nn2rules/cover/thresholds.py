"""From boxes with ranges of numbers to rules: the domain, cut where ranges end."""

import math

import numpy as np
from numpy.typing import NDArray

from nn2rules.domain import Domain
from nn2rules.engine._kernels.boxes import Boxes
from nn2rules.feature import Feature
from nn2rules.values import plain_number


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
        if feature.limits is not None:
            low, high = boxes.ends[:, 0, index], boxes.ends[:, 1, index]
            found = _edges(feature, low[block[:, 0]], high[block[:, 0]])
            edges[feature.name] = [plain_number(edge) for edge in found]
            starts = np.array([feature.limits[0], *found])
            parts = (low[:, np.newaxis] <= starts) & (starts <= high[:, np.newaxis])
            block = np.hstack([parts & block[:, :1], block[:, 1:]])
        blocks.append(block)
    return domain.cut(edges), np.hstack(blocks)


def _edges(
    feature: Feature, low: NDArray[np.float64], high: NDArray[np.float64]
) -> list[float]:
    """Return where parts begin: at the low ends, and next to the high ones."""
    assert feature.limits is not None, "asked only of ranges"
    first, last = feature.limits
    found = {float(end) for end in low if end > first}
    found |= {
        end + 1.0 if feature.whole else math.nextafter(end, math.inf)
        for end in high.tolist()
        if end < last
    }
    return sorted(found)
