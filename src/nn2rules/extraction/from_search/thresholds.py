"""From boxes with ranges of numbers to rules, and back.

Rules have a domain of their own: the network's, cut where their ranges begin and end.
"""

from itertools import product

import numpy as np
from numpy.typing import NDArray

from nn2rules.space import Domain, Span, edges_of, spans_of
from nn2rules.space._kernels.boxes import Boxes


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
    """Return a box of a cut domain as boxes of the network's domain.

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
        if feature.limits is None:
            blocks.append(block)
            choices.append([(1.0, 1.0)])
            continue
        spans = spans_of(feature, block)
        blocks.append(np.append(len(spans) > 0, block[feature.n_plain :]))
        choices.append(spans or [feature.limits])
    ends = np.array([*product(*choices)], dtype=np.float64).transpose(0, 2, 1)
    return Boxes(np.tile(np.hstack(blocks), (len(ends), 1)), ends.copy())
